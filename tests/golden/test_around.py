"""The golden net over `around.py`: seeded runs leave the models and ledgers that they left before."""

from __future__ import annotations

import pytest

from tests.golden.net import group, measured, message, moved, stored

CASES = group("around")


@pytest.mark.parametrize("name", CASES)
def test_nothing_moved(name: str) -> None:
    parts = moved(name, measured(name), stored())
    assert not parts, message({name: parts}, stored())
