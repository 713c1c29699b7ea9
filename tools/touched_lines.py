"""A plugin of pytest that notes which lines of some files every test runs, and how long every test takes.

    python -m pytest -p tools.touched_lines --lines-of src/tacit/theory/trees.py --lines-to FILE tests/theory

``FILE`` is JSON: by test its ``seconds``, whether it ``failed``, and by file its ``lines``. Lines that compiled code or
another process runs are not seen, nor those that run when a module is imported.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """What is noted, and where."""
    parser.addoption("--lines-of", action="append", default=[], help="a file, from the root; may be given again")
    parser.addoption("--lines-to", type=Path, help="the file of what was noted")


def pytest_configure(config: pytest.Config) -> None:
    """Starts to note."""
    if config.option.lines_to is not None:
        config.pluginmanager.register(TouchedLines(config.rootpath, config.option.lines_of, config.option.lines_to))


class TouchedLines:
    """Which lines of ``files`` below ``root`` every test runs."""

    def __init__(self, root: Path, files: list[str], target: Path) -> None:
        self.target = target
        self._files = {str(root / file): file for file in files}
        self._lines: set[tuple[str, int]] = set()
        self._tests: dict[str, dict[str, Any]] = {}
        self._failed: set[str] = set()

    def _called(self, frame: FrameType, _event: str, _argument: object) -> Any:
        return self._ran if frame.f_code.co_filename in self._files else None

    def _ran(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            self._lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._ran

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """One test, with what it makes ready."""
        self._lines = set()
        start = time.monotonic()
        threading.settrace(self._called)
        sys.settrace(self._called)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]  # as the documentation has it
            lines: dict[str, list[int]] = {}
            for path, line in sorted(self._lines):
                lines.setdefault(self._files[path], []).append(line)
            self._tests[item.nodeid] = {"seconds": time.monotonic() - start, "lines": lines}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Whether a part of a test failed."""
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Writes what was noted."""
        for name, test in self._tests.items():
            test["failed"] = name in self._failed
        self.target.write_text(json.dumps(self._tests), "utf-8")
