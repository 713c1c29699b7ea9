"""The worked examples of docs/online.md run and print what the page shows."""

from __future__ import annotations

from tests.pages import prints_what_it_shows


def test_the_examples_print_what_the_page_shows() -> None:
    prints_what_it_shows("online.md", 2)
