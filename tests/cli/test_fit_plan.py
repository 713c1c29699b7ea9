"""A plan holds the options of a fit: what is written is what is read, and the command line overrides it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import Run

DRY = ("fit", "data.csv", "--schema", "schema.toml", "--dry-run", "--json")


def test_a_plan_is_read_as_it_was_written(folder: Path, tacit: Run) -> None:
    more = "--tape fit.tape --epsilon 0.25 --set n_trees=7 --learner trees --neighbouring replace_one"
    options = more.split()
    tacit(*DRY, *options, "--save-plan", "plan.toml", code=0)
    assert tomllib.loads(Path("plan.toml").read_text()) == {
        "schema": "schema.toml",
        "epsilon": 0.25,
        "delta": 1e-6,
        "encoding": "utf-8",
        "set": ["n_trees=7"],
        "learner": "trees",
        "neighbouring": "replace_one",
    }
    planned = tacit("fit data.csv --plan plan.toml --dry-run --json").json
    assert planned == tacit(*DRY, *options).json
    assert (planned["epsilon"], planned["neighbouring"]) == (0.25, "replace_one")


@pytest.mark.parametrize(
    ("url", "fine"),
    [
        ("postgresql://me:secret@127.0.0.1:1/d", False),
        ("postgresql://me@127.0.0.1:1/d?password=secret", False),
        ("postgresql://me@127.0.0.1:1/d?sslpassword=secret", False),
        ("postgresql://me@127.0.0.1:1/d", True),
        ("sqlite:///nowhere.db", True),
    ],
)
def test_no_plan_holds_a_password(url: str, fine: bool, folder: Path, tacit: Run) -> None:
    run = tacit(*DRY, "--account", url, "--dataset", "d", "--save-plan", "plan.toml", code=2)
    assert Path("plan.toml").exists() is fine
    assert ("--save-plan: the URL of --account holds a password" in run.words) is not fine
    assert "secret" not in run.output


def test_the_command_line_overrides_a_plan(folder: Path, tacit: Run) -> None:
    Path("plan.toml").write_text('schema = "schema.toml"\nepsilon = 0.25\ndelta = 0\n')
    dry = ("fit", "data.csv", "--dry-run", "--json", "--plan", "plan.toml", "--epsilon", "2")
    planned = tacit(*dry).json
    assert (planned["epsilon"], planned["delta"]) == (2.0, 0.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("epsilonn = 1", "did you mean epsilon?"),
        ('data = "other.csv"', "'data' is not an option of a plan"),
        ("force = true", "'force' is not an option of a plan"),
        ('model = "m.json"', "'model' is not an option of a plan"),
        ('tape = "fit.tape"', "'tape' is not an option of a plan"),
        ("epsilon = ", "is not TOML"),
        ("epsilon = " + "[" * 5000, "is not TOML: it is nested too deeply"),
        ('learner = "tree"', "'tree' is not one of"),
        ('epsilon = "much"', "is not a number"),
    ],
)
def test_a_plan_that_says_something_else_is_refused(text: str, words: str, folder: Path, tacit: Run) -> None:
    Path("plan.toml").write_text(text)
    result = tacit(*DRY, "--plan", "plan.toml", code=2)
    assert words in result.json["error"]["message"]


def test_a_plan_that_is_not_there_is_refused(folder: Path, tacit: Run) -> None:
    result = tacit(*DRY, "--plan", "plan.toml", code=2)
    assert "No such file" in result.json["error"]["message"]
