"""Fragments of the changelog: each has a kind and a text, and a release moves them into the page, in their order."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KINDS = ["privacy", "breaking", "added", "fixed"]
NAME = re.compile(r"[a-z0-9-]+\.(" + "|".join(KINDS) + r")\.md")


def faults(folder: Path) -> list[str]:
    """Files that a release would leave lying, or that say nothing."""
    results = [path for path in folder.iterdir() if path.name != "README.md"]
    return sorted(path.name for path in results if not NAME.fullmatch(path.name) or not path.read_text("utf-8").strip())


def test_every_fragment_has_a_kind_and_a_text() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
    assert [kind["directory"] for kind in told["type"]] == KINDS
    assert faults(ROOT / "changelog.d") == []


def test_a_fragment_without_kind_or_text_is_found(tmp_path: Path) -> None:
    for name, text in {"a.added.md": "Text.", "b.md": "Text.", "c.other.md": "Text.", "d.fixed.md": " \n"}.items():
        (tmp_path / name).write_text(text)
    assert faults(tmp_path) == ["b.md", "c.other.md", "d.fixed.md"]


def test_a_release_moves_fragments_into_the_page(tmp_path: Path) -> None:
    """What is privacy comes first, older releases stay below, and the fragments go."""
    pytest.importorskip("towncrier")
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    folder = tmp_path / "changelog.d"
    folder.mkdir()
    (folder / "README.md").write_text("stays")
    for kind in reversed(KINDS):
        (folder / f"words-of.{kind}.md").write_text(f"What is {kind}, and [where](docs/claims.md).\n")
    command = [sys.executable, "-m", "towncrier", "build", "--version", "9.8.7", "--date", "a day", "--yes"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    page = (tmp_path / "CHANGELOG.md").read_text("utf-8")
    before = (ROOT / "CHANGELOG.md").read_text("utf-8")
    places = [page.index(f"What is {kind}, and [where](docs/claims.md).") for kind in KINDS]
    assert page.index("## 9.8.7 (a day)") < places[0]
    assert places == sorted(places)
    assert places[-1] < page.index("## 0.1.0")
    assert page.endswith(before[before.index("## 0.1.0") :])
    assert [path.name for path in folder.iterdir()] == ["README.md"]
