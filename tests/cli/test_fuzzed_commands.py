"""Random command lines: each does what it says or ends in one clear message; no traceback, no foreign exit code."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from tacit.cli.main import app

LONG = {"demo", "audit", "join", "site", "party"}
"""Commands that take long, or wait for others."""

CODES = {0, 1, 2, 3, 4}

_VALUES = """
data.csv schema.toml model.json certificate.json report.html none.csv out.json out.csv . - folder/x.json empty.csv
bytes.csv 0 1 -1 0.5 1e-6 2 inf nan -inf 1e400 1e-300 7 1000000 99999999999999999999 1,2 0,100 no,yes yes
bought age colour id x additive linear squared poisson quantile add_or_remove_one replace_one sqlite:///a.db sqlite://none/a.db
numeric a%b [bold] *.csv --
http://x , ; tab . utf-8 latin-1 rot13 utf-16 true false n_trees=3 nothing=1 = n_trees=many id=1 classes
"""
VALUES = [*_VALUES.split(), "", " ", "é", "x" * 500, "duckdb:///none.db", "select 1"]


def _commands(group: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Every command with its words, but for the long ones."""
    results: dict[tuple[str, ...], Any] = {}
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            results |= _commands(command, (*path, name))
        elif name not in LONG:
            results[(*path, name)] = command
    return results


USUAL = {
    "--schema": "schema.toml",
    "--target": "bought",
    "--model": "out.json",
    "--output": "out.csv",
    "--account": "sqlite:///a.db",
    "--dataset": "d",
    "--epsilon": "1",
    "--delta": "1e-6",
    "data": "data.csv",
    "model": "model.json",
    "file": "model.json",
    "schema": "schema.toml",
}


def _random_line(draw: random.Random, commands: dict[tuple[str, ...], Any]) -> list[str]:
    words, command = draw.choice(sorted(commands.items(), key=lambda pair: pair[0]))
    line = list(words)
    for parameter in command.params:
        name, argument = parameter.opts[0], parameter.param_type_name == "argument"
        needed = argument or parameter.required or name in ("--schema", "--target", "--model")
        if name == "--help" or draw.random() > (0.95 if needed else 0.05):
            continue
        value = USUAL.get(name, "x") if draw.random() < 0.9 else draw.choice(VALUES)
        line += [] if argument else [name]
        line += [] if getattr(parameter, "is_flag", False) else [value]
    if draw.random() < 0.05:
        line.insert(draw.randrange(len(line) + 1), draw.choice(["--none", "-x", *VALUES]))
    return line


def run(seeds: range, folder: Path, fitted: Path) -> Counter[str]:
    """Runs a random command line per seed in a fresh folder, and counts the exit codes."""
    commands, counts = _commands(get_command(app)), Counter[str]()
    for seed in seeds:
        place = folder / str(seed)
        shutil.copytree(fitted, place)
        (place / "empty.csv").touch()
        (place / "bytes.csv").write_bytes(bytes(range(256)))
        os.chdir(place)
        line = _random_line(random.Random(seed), commands)
        result: Any = CliRunner().invoke(app, line, catch_exceptions=True)
        fault = result.exception if not isinstance(result.exception, SystemExit) else None
        assert fault is None, (seed, line, repr(fault))
        assert result.exit_code in CODES, (seed, line, result.output)
        assert "Traceback" not in result.output, (seed, line, result.output)
        if result.exit_code == 2:
            assert result.output.strip(), (seed, line)
        counts[f"exit code {result.exit_code}"] += 1
        shutil.rmtree(place, ignore_errors=True)
    return counts


@pytest.fixture
def home() -> Any:
    """The working directory is as before when the test ends."""
    before = Path.cwd()
    yield
    os.chdir(before)


def test_random_command_lines_end_in_one_message(tmp_path: Path, fitted: Path, home: None) -> None:
    counts = run(range(40), tmp_path, fitted)
    assert counts["exit code 0"] > 3
    assert counts["exit code 2"] > 8


@pytest.mark.slow
def test_a_thousand_more(tmp_path: Path, fitted: Path, home: None) -> None:
    assert run(range(1000, 2000), tmp_path, fitted).total() == 1000
