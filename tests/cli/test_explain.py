"""`tacit explain`: one prediction, on the terminal, as JSON and as a page."""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path

import pytest

import tacit as library
from tests.cli.conftest import Run

ROWS = "colour,age\nred,80\ngreen,20\nblue,\n"


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(ROWS)
    return tmp_path


def test_the_terminal_says_what_moved_the_row(fitted: Path, rows: Path, tacit: Run) -> None:
    result = tacit("explain", str(fitted / "model.json"), "rows.csv", "--row", "3", code=0)
    assert result.stdout.startswith("Row 3: ")
    [colour] = [line for line in result.stdout.splitlines() if line.split()[0] == "colour"]
    assert colour.split()[1] == "blue"
    [age] = [line for line in result.stdout.splitlines() if line.split()[0] == "age"]
    assert age.split()[1] == "missing"
    assert "within two standard deviations of the noise)" in result.stdout
    assert result.stdout.splitlines()[1].split()[:4] == ["term", "value", "log-odds", "odds"]


@pytest.mark.parametrize("row", [1, 2, 3])
def test_json_adds_up_to_what_predict_says(fitted: Path, rows: Path, tacit: Run, row: int) -> None:
    model, _ = library.load_model(fitted / "model.json")
    told = tacit("explain", str(fitted / "model.json"), "rows.csv", "--row", str(row), "--json").json
    chance = model.predict_proba(library.read_table(rows / "rows.csv"))[row - 1, 1]  # type: ignore[attr-defined]
    total = sum(line["contribution"] for line in told["contributions"])
    assert 1 / (1 + math.exp(-total)) == pytest.approx(chance)
    assert {line["row"] for line in told["contributions"]} == {row}


def test_a_page_is_its_owners_alone(fitted: Path, rows: Path, tacit: Run) -> None:
    before = os.umask(0o022)
    try:
        result = tacit("explain", str(fitted / "model.json"), "rows.csv", "--row", "2", "--html", "out.html")
    finally:
        os.umask(before)
    assert result.exit_code == 0, result.output
    page = (rows / "out.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "Row 2" in page
    assert "green" in page
    certificate = json.loads((fitted / "model.json").read_text())["certificate"]
    assert f"SHA-256 of the model: {certificate['model_digest']}" in page
    assert f"<h2>A prediction of {certificate['target']} explained</h2>" in page
    assert stat.S_IMODE((rows / "out.html").stat().st_mode) == 0o600


def test_mistakes_are_named(fitted: Path, rows: Path, tacit: Run) -> None:
    model = str(fitted / "model.json")
    for arguments, words in (
        (["--row", "4"], "the data have 3 rows"),
        (["--row", "0"], "--row"),
        (["--html", "rows.csv"], "overwrite"),
        (["--html", "none/out.html"], "does not exist"),
    ):
        tacit("explain", model, "rows.csv", *arguments, code=2, says=words)
    assert (rows / "rows.csv").read_text() == ROWS


def test_a_list_of_rules_is_no_sum(rows: Path, tacit: Run) -> None:
    schema = {
        "label": {"column": "y", "classes": [0, 1]},
        "columns": {"age": {"kind": "numeric", "lower": 0, "upper": 9}},
    }
    learner = library.DecisionListClassifier(schema=schema, random_state=0)
    library.save(learner.fit({"age": list(range(10))}, [0, 1] * 5), rows / "list.json")
    tacit("explain list.json rows.csv", code=2, says="no sum of terms")
