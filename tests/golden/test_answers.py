"""The golden net over `answers.py`: seeded runs leave the models and ledgers that they left before."""

from __future__ import annotations

import pytest

from tests.golden.net import Digests, group, message, moved, stored


@pytest.mark.parametrize("name", group("answers"))
def test_nothing_moved(name: str, now: Digests) -> None:
    assert "error" not in now[name], now[name]["error"]
    before, _ = stored()
    parts = moved(name, now[name], before)
    assert not parts, message({name: parts}, before)
