"""The documentation site builds offline without a warning, and its pages load nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tacit

ROOT = Path(__file__).parents[1]
FOREIGN = re.compile(r"""<(?:script|img|link)[^>]*(?:src|href)="https?://""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, *f"-m sphinx -q -W --keep-going -d {folder}/trees docs {folder}".split()]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert result.returncode == 0, result.stderr
    return folder


def test_every_public_name_has_a_page(site: Path) -> None:
    pages = {page.stem for page in (site / "reference" / "generated").glob("*.html")}
    assert {f"tacit.{name}" for name in tacit.PUBLIC} <= pages


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 80
    assert [page.name for page in pages if FOREIGN.search(page.read_text("utf-8"))] == []


def test_the_search_index_knows_the_pages(site: Path) -> None:
    index = (site / "searchindex.js").read_text("utf-8")
    assert "epsilon" in index
    assert "tutorial" in index
