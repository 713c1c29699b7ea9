"""The page about a learner of one's own shows what its example prints."""

from __future__ import annotations

from tests.pages import prints_what_it_shows


def test_the_example_prints_what_the_page_shows() -> None:
    prints_what_it_shows("extending.md", 1)
