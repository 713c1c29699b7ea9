"""The worked example of docs/audit.md runs and prints what the page shows."""

from __future__ import annotations

from tests.pages import prints_what_it_shows


def test_the_example_prints_what_the_page_shows() -> None:
    prints_what_it_shows("audit.md", 1)
