"""The matrix of Pythons: its rows follow from pyproject.toml, and every row says what became of it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools import test_matrix as matrix


def test_rows_are_the_supported_versions_and_the_lowest_of_all() -> None:
    rows = matrix.rows_of((matrix.ROOT / "pyproject.toml").read_text("utf-8"))
    assert [row.name for row in rows] == ["3.11", "3.12", "3.13", "3.14", "lowest"]
    assert (rows[-1].python, rows[-1].resolution) == ("3.11", "lowest-direct")


def test_counts_are_those_of_the_last_line() -> None:
    line = "1 failed, 10,5 warnings, 71 passed, 2 skipped, 3 errors, 1 xfailed in 457.50s"
    assert matrix.counts_of(line) == {"failed": 1, "passed": 71, "skipped": 2, "error": 3, "xfailed": 1}


def test_an_environment_that_cannot_be_made_is_a_row_that_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_python(*_: Any, **__: Any) -> None:
        raise subprocess.CalledProcessError(2, "uv", stderr="error: No interpreter found\ncause: x")

    monkeypatch.setattr(matrix, "PLACE", tmp_path)
    monkeypatch.setattr(matrix, "made", no_python)
    monkeypatch.setattr("sys.argv", ["test_matrix", "--only", "3.13"])
    assert matrix.main() == 1
    assert (
        "| 3.13 |  |  | 0 | 0 | 0 | 0 | 0 | 0 | no environment: error: No interpreter found |"
        in capsys.readouterr().out
    )
