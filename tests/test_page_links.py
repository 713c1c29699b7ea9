"""Every link of every page leads somewhere: to a file of the repository, and to a heading that is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.pages import BLOCKS, ROOT, everywhere

LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")
FRAGMENTS = ROOT / "changelog.d"
"""Their links are those of the changelog, which a release moves them into."""


def anchors(page: Path) -> set[str]:
    """The names by which headings are linked to: lower case, words joined by hyphens, no other marks."""
    lines = BLOCKS.sub("", page.read_text("utf-8")).splitlines()
    headings = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#")) for line in lines if line.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def dead_links(page: Path, folder: Path) -> list[str]:
    """Links of a page that lead nowhere, read as relative to a folder."""
    dead = []
    for link in LINK.findall(BLOCKS.sub("", page.read_text("utf-8"))):
        name, _, heading = link.partition("#")
        place = folder / name if name else page
        if not place.exists() or (heading and place.suffix == ".md" and heading not in anchors(place)):
            dead.append(link)
    return dead


def test_every_link_leads_somewhere() -> None:
    pages = list(everywhere())
    assert len(pages) > 50
    dead = {
        page.relative_to(ROOT).as_posix(): dead_links(page, ROOT if FRAGMENTS in page.parents else page.parent)
        for page in pages
    }
    assert not {page: links for page, links in dead.items() if links}


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One way, `and` another\n[a](page.md) [b](#one-way-and-another) [c](gone.md) [d](#gone)\n")
    assert dead_links(page, tmp_path) == ["gone.md", "#gone"]
