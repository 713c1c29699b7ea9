"""The words of pages and of ``--help``: spelling, and the English of the field instead of a private one."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tacit.cli.main import app

ROOT = Path(__file__).parents[1]
PLACES = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "docs",
    "examples",
    "changelog.d",
    "predict",
    "src",
)
NAMES = "atleast,nd,somme,notin,nin,uper,coo,thirdparty,categor,abd,zar,cliente,ond"
"""Words of other languages and of code."""

SKIP = "*.nb*,*.js,*/schema/identifier_names.py,*/schema/times.py"
"""Files that are compiled, or that list names of columns in several languages."""

DIALECT = {
    r"\bdata base": "database, or data",
    r"\bby chance\b": "at random, or of a coin flip",
    r"\b(?:sweeps?|heard|purse|rooms?)\b": "round, received, budget, package",
    r"\bthis many\b": "the number of",
    r"\bOf an? [\w ]{1,20}:": "a whole sentence",
    r"(?:^|[.:;] +)(?:Whether|What|Whos?e?|How (?:much|many|far|long)) [^.?|]{3,120}\.(?=\s|$)": "a noun as subject",
}
"""Patterns that no native reader would write, and what to write."""


def pages() -> Iterator[tuple[str, str]]:
    """The prose of the pages, without code; decisions are records and stay."""
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        if "decisions" not in path.parts:
            text = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
            yield str(path.relative_to(ROOT)), re.sub(r"`[^`]*`|\]\([^)]*\)", "X", text)


def helps(command: Any, name: str = "tacit") -> Iterator[tuple[str, str]]:
    """The help of a command, of its options, and of the commands below it."""
    yield name, command.help or ""
    yield from ((f"{name} {option.name}", getattr(option, "help", None) or "") for option in command.params)
    for below, each in getattr(command, "commands", {}).items():
        yield from helps(each, f"{name} {below}")


def test_pages_and_code_are_spelled_right() -> None:
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words-list", NAMES, "--skip", SKIP, *PLACES]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.parametrize("pattern", DIALECT)
def test_pages_and_help_speak_the_english_of_the_field(pattern: str) -> None:
    texts = [*pages(), *helps(typer.main.get_command(app))]
    assert len(texts) > 300
    results = [f"{name}: {match[0]!r}" for name, text in texts for match in re.finditer(pattern, text, re.MULTILINE)]
    assert results == [], f"write {DIALECT[pattern]}"
