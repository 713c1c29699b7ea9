"""Commands in processes of their own: closed streams, readers that go away, Ctrl-C, and what a command loads."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tacit as library
from tacit.cli.main import app
from tests.cli.conftest import Run

SCHEMA = """
[label]
column = "y"
kind = "classes"
classes = ["no", "yes"]
[columns.age]
kind = "numeric"
lower = 18
upper = 90
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    rows = "".join(f"{20 + i % 60},older,{i},{('no', 'yes')[i % 60 > 30]}\n" for i in range(120))
    (folder / "d.csv").write_text(f"age,prediction,proba_yes,y\n{rows}")
    (folder / "s.toml").write_text(SCHEMA)
    with contextlib.chdir(folder):
        assert CliRunner().invoke(app, [*FIT.split(), "m.json"]).exit_code == 0
    return folder


def run(place: Path, command: str, shell: str = "{}", **more: Any) -> subprocess.CompletedProcess[str]:
    whole = shell.format(f"{sys.executable} -m tacit {command}")
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", whole], cwd=place, capture_output=True, text=True, check=False, **more
    )


FIT = "fit d.csv --schema s.toml --learner forest --epsilon 8 --force --model"


@pytest.mark.parametrize("shell", ["{} <&- >&- 2>&-", "{} --json --progress 2>&1 | head -c 1"])
def test_a_fit_ends_well_whoever_reads(shell: str, place: Path) -> None:
    name = f"m{abs(hash(shell))}.json"
    result = run(place, f"{FIT} {name}", shell)
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    model = json.loads((place / name).read_text())
    assert model["certificate"]["outcome"] == "completed"


def test_a_reader_who_has_gone_changes_no_exit_code(place: Path) -> None:
    assert run(place, "check d.csv --schema nowhere.toml", "{} 2>&1 | true").returncode == 2


@pytest.mark.parametrize("command", ["--version", f"{FIT} full.json --json", "predict m.json d.csv -o -"])
def test_a_full_disk_is_one_line(command: str, place: Path) -> None:
    result = run(place, command, "{} > /dev/full")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert "No space left on device" in result.stderr
    assert (place / "full.json").exists() or "full.json" not in command


def test_no_stream_can_be_written(place: Path) -> None:
    assert run(place, "--version", "{} > /dev/full 2> /dev/full").returncode == 2


def test_predictions_end_where_nobody_reads_on(place: Path) -> None:
    result = run(place, "predict m.json d.csv -o -", "{} | head -n 1")
    assert (result.returncode, result.stdout.count("\n")) == (0, 1)


def test_predictions_to_a_closed_stream_are_a_mistake(place: Path) -> None:
    result = run(place, "predict m.json d.csv -o -", "{} >&-")
    assert result.returncode == 2
    assert "standard output is closed" in result.stderr


def test_a_kept_column_is_never_overwritten(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    predict = ["predict", "m.json", "d.csv", "-o", "kept.csv", "--keep"]
    for kept in ("prediction", "age,prediction", "proba_yes"):
        result = CliRunner().invoke(app, [*predict, kept])
        assert result.exit_code == 2
        assert f"the predictions have a column '{kept.rpartition(',')[2]}' of their own" in result.stderr
        assert not (place / "kept.csv").exists()
    assert CliRunner().invoke(app, [*predict, "age,y"]).exit_code == 0
    assert (place / "kept.csv").read_text().startswith('"age","y","prediction"')


LINE = re.compile(r"^.+: release \d+, \d+% of the budget, \d+ s(, about \d+ s left)?$")


def test_lines_of_progress(folder: Path, tacit: Run) -> None:
    fit = ("fit", "data.csv", "--schema", "schema.toml", "--model", "m.json", "--force")
    result = tacit(*fit, "--progress", "--json")
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert lines
    assert all(LINE.match(line) for line in lines), lines
    json.loads(result.stdout)
    assert tacit(*fit).stderr == ""


def test_an_interrupted_fit_leaves_a_valid_ledger(folder: Path) -> None:
    """The signal comes when the first release is told of; thousands would follow."""
    library.PrivacyAccount.create("sqlite:///b.db", "rows", 3.0, 1e-6)
    fit = ("fit", "data.csv", "--schema", "schema.toml", "--model", "m.json", "--progress")
    fit = (*fit, "--learner", "trees", "--set", "n_trees=5000")
    paid = ("--account", "sqlite:///b.db", "--dataset", "rows")
    process = subprocess.Popen(
        [sys.executable, "-m", "tacit", *fit, *paid], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    first = process.stderr.readline()
    assert LINE.match(first.rstrip())
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "stays charged" in " ".join(err.split())
    [line] = library.PrivacyAccount("sqlite:///b.db", "rows").reservations()
    assert line.status == "failed"
    assert line.entries
    assert not Path("m.json").exists()


SLOW = ("sklearn", "pandas", "scipy.stats", "scipy.optimize", "dp_accounting", "sqlalchemy", "pyarrow.parquet")

SCRIPT = f"""
import sys
from tacit.cli.main import app
try:
    app()
except SystemExit as end:
    assert not end.code, end.code
print([name for name in {SLOW!r} if name in sys.modules])
"""


def test_a_fit_from_a_csv_file_waits_for_nothing_it_does_not_use(folder: Path) -> None:
    fit = ["fit", "data.csv", "--schema", "schema.toml", "--model", "m.json", "--report", "m.html"]
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, *fit], capture_output=True, text=True, cwd=folder, check=True
    )
    assert result.stdout.splitlines()[-1] == "[]"
