"""The pages of the documentation run: every block of code, in order, in a directory of its own."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import tomllib
from collections import defaultdict
from pathlib import Path

from tacit.schema import Schema
from tests import forked
from tests.joining import free_port

ROOT = Path(__file__).parents[1]
BLOCKS = re.compile(r"^```(\w*|\{[\w-]+\}[^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def everywhere() -> list[Path]:
    """All pages of the repository, but those of packages that were installed in it (``.venv``, ``.venv-lowest``)."""
    installed = re.compile(r"\.venv|node_modules")
    return [page for page in ROOT.rglob("*.md") if not any(map(installed.match, page.relative_to(ROOT).parts))]


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """Language and text of each block of a page, without the directives of the site."""
    return [block for block in BLOCKS.findall(page.read_text("utf-8")) if not block[0].startswith("{")]


def pages() -> list[str]:
    """The pages that have any, but the README: it begins with a shell (``test_readme.py``)."""
    results = [page for page in everywhere() if page != ROOT / "README.md" and blocks_of(page)]
    return sorted(page.relative_to(ROOT).as_posix() for page in results)


def run_page(page: Path, folder: Path) -> None:
    """Runs a page in a directory; fails where a block does, or prints other than the ``text`` block below it.

    An example goes on where the one before ended. Blocks of ``toml`` are parts of schemas. Ports of this machine are
    those that are free, so that two runs of a page do not meet.
    """
    ports: dict[str, str] = defaultdict(lambda: f"127.0.0.1:{free_port()}")
    names: dict[str, object] = {"__name__": "__main__"}
    printed: str | None = None
    before = Path.cwd()
    os.chdir(folder)
    try:
        for language, block in blocks_of(page):
            text = re.sub(r"127\.0\.0\.1:\d+", lambda address: ports[address[0]], block)
            if language == "text":
                assert printed is not None, "a block of text shows what the one above prints"
                assert printed == text
            else:
                printed = _run(language, text, str(page), names)
    finally:
        os.chdir(before)


def _run(language: str, text: str, page: str, names: dict[str, object]) -> str:
    if language == "python":
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, page, "exec"), names)
        return printed.getvalue()
    if language == "sh":
        result = subprocess.run(
            ["bash", "-euc", text], env=forked.environment(), capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr
        return result.stdout
    assert language == "toml", f"nobody knows how to run a block of {language or 'no language'}"
    part = tomllib.loads(text)
    Schema.from_dict({"label": {"column": "y", "classes": [0, 1]}, **part})
    return ""
