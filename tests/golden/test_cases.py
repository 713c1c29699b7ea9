"""The golden net: seeded runs leave the models and ledgers that they left before."""

from __future__ import annotations

import pytest

from tests.golden.arithmetic import here
from tests.golden.net import Digests, all_cases, measured, message, moved, stored


@pytest.fixture(scope="module")
def before() -> Digests:
    """The digests in the file, read once: it has a line for every case."""
    return stored()[0]


@pytest.fixture(scope="module")
def now(request: pytest.FixtureRequest) -> Digests:
    """The digests of the cases that this run asked for, made by one process: each pays for imports and kernels."""
    _, made_with = stored()
    if not here().items() <= made_with.items() and measured([])[1] != made_with["probe"]:
        pytest.skip(f"digests are of {made_with}, whose arithmetic is not that of {here()}: compare two trees by hand")
    items = [item for item in request.session.items if item.path == request.path]
    found, _ = measured([item.callspec.params["name"] for item in items if isinstance(item, pytest.Function)])
    return found


@pytest.mark.parametrize("name", all_cases())
def test_nothing_moved(name: str, now: Digests, before: Digests) -> None:
    assert "error" not in now[name], now[name]["error"]
    parts = moved(name, now[name], before)
    assert not parts, message({name: parts}, before)
