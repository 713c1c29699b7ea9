"""`tacit fit --progress`: plain lines, and Ctrl-C in the middle of a fit."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import tacit as library
from tests.cli.conftest import Run

LINE = re.compile(r"^.+: release \d+, \d+% of the budget, \d+ s(, about \d+ s left)?$")


def test_lines_of_progress(folder: Path, tacit: Run) -> None:
    fit = ("fit", "data.csv", "--schema", "schema.toml", "--model", "m.json", "--force")
    done = tacit(*fit, "--progress", "--json")
    assert done.exit_code == 0
    lines = done.stderr.splitlines()
    assert lines
    assert all(LINE.match(line) for line in lines), lines
    json.loads(done.stdout)
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
