"""The worked examples of docs/halfspaces.md run and print what the page shows."""

from __future__ import annotations

from tests.pages import prints_what_it_shows


def test_the_examples_print_what_the_page_shows() -> None:
    prints_what_it_shows("halfspaces.md", 2, together=False)
