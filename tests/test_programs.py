"""Stored results say which program made them, and what is shown says so where it is another one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import accuracy_page, accuracy_report, program, store
from benchmarks.lines import Lines

GOLDEN = """
[cases]
"Forest: two classes" = { model = "aa", ledger = "bb" }
"Forest: no rows" = { model = "cc", ledger = "dd" }
"Tree: two classes" = { model = "ee", ledger = "ff" }
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of results, and golden fits of two learners."""
    (tmp_path / "results").mkdir()
    monkeypatch.setattr(store, "HERE", tmp_path)
    monkeypatch.setattr(program, "PROGRAMS", tmp_path / "results" / "programs.json")
    become(tmp_path, GOLDEN, monkeypatch)
    return tmp_path


def become(place: Path, golden: str, patch: pytest.MonkeyPatch) -> None:
    """The tree gets other golden fits."""
    (place / "digests.toml").write_text(golden)
    patch.setattr(program, "GOLDEN", place / "digests.toml")
    program.current.cache_clear()


@pytest.fixture(autouse=True)
def _afresh() -> Any:
    yield
    program.current.cache_clear()


def test_a_line_is_of_another_program_once_the_golden_fits_of_its_learner_change(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add("runs", {"auc": 0.5})
    store.write("runs", store.read("runs"))
    store.fresh_path("runs").unlink()
    [line] = store.read("runs")
    assert program.made_by(line) == program.made_by(line, "Forest") == program.THIS
    assert program.made_by({"auc": 0.5}) == program.made_by({"program": "?"}, "Forest") == program.UNKNOWN
    become(place, GOLDEN.replace("cc", "c0"), monkeypatch)
    assert program.made_by(line) == program.made_by(line, "Forest") == program.ANOTHER
    assert program.made_by(line, "Tree") == program.THIS
    store.add("runs", {"auc": 0.6})
    assert [program.made_by(line) for line in store.read("runs")] == [program.ANOTHER, program.THIS]
    assert len(json.loads(program.PROGRAMS.read_text())) == 2


def test_results_that_are_shown_again_say_once_that_they_are_old(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Lines("runs")
    assert [lines.run({"seed": seed}, lambda: {"auc": 0.5}) for seed in (0, 1)] == 2 * [{"auc": 0.5}]
    Lines("runs").run({"seed": 0}, dict)
    assert capsys.readouterr().err == ""
    become(place, GOLDEN.replace("ee", "e0"), monkeypatch)
    again = Lines("runs")
    for seed in (0, 1):
        again.run({"seed": seed}, dict)
    assert capsys.readouterr().err.count("another program") == 1


def test_the_accuracy_page_says_of_which_program_our_figures_are() -> None:
    assert set(accuracy_report.CLASSES.values()) <= program.current().keys()
    words = accuracy_page._programs({"programs": {"trees": {program.UNKNOWN: 1200, program.THIS: 3}}})
    assert "1,200 runs of a program that was not recorded, 3 runs of this program" in words
    assert accuracy_page._programs({}) == ""
