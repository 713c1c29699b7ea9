"""The golden net: seeded runs leave the models and ledgers that they left before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.golden.arithmetic import here, is_of
from tests.golden.net import Digests, Server, all_cases, message, moved, stored


@pytest.fixture(scope="module")
def before() -> Digests:
    """The digests in the file, read once: it has a line for every case."""
    return stored()[0]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """The process that runs the cases, each in the time of its own test."""
    server, (_, made_with) = Server(), stored()
    try:
        if not is_of(made_with) or (not here().items() <= made_with.items() and server.probe != made_with["probe"]):
            pytest.skip(
                f"digests are of {made_with}, whose arithmetic is not that of {here()}: compare two trees by hand"
            )
        yield server
    finally:
        server.close()


@pytest.mark.parametrize("name", all_cases())
def test_nothing_moved(name: str, server: Server, before: Digests) -> None:
    digests = server.digests(name)
    assert "error" not in digests, digests["error"]
    parts = moved(name, digests, before)
    assert not parts, message({name: parts}, before)
