"""`tacit fit --resumable` and `tacit resume`: a fit that was interrupted goes on as it was asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tacit.cli.fit as fit_command
import tacit.privacy.account as accounts
from tests.cli.conftest import Run

PAID = ("--account", "sqlite:///budget.db", "--dataset", "people")
FIT = ("fit", "data.csv", "--schema", "schema.toml", "--learner", "trees", "--model", "model.json", *PAID)


@pytest.fixture
def opened(folder: Path, tacit: Run) -> Any:
    """An account."""
    tacit("budget create", *PAID, "--epsilon", "9", "--delta", "1e-5")
    return accounts.PrivacyAccount("sqlite:///budget.db", "people")


def interrupted(tacit: Run, monkeypatch: pytest.MonkeyPatch, at: int, *arguments: str) -> Any:
    """A command that is interrupted before a release."""

    def watching(*_: Any) -> Callable[[Any], None]:
        def step(told: Any) -> None:
            if told.releases == at:
                raise KeyboardInterrupt

        return step

    with monkeypatch.context() as patch:
        patch.setattr(fit_command, "watching", watching)
        return tacit(*arguments)


def test_an_interrupted_fit_goes_on(folder: Path, tacit: Run, opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    result = interrupted(tacit, monkeypatch, 20, *FIT, "--set", "n_trees=30", "--resumable", "--tape", "fit.tape")
    assert result.exit_code == 130
    assert "see tacit resume" in result.stderr
    assert not (folder / "model.json").exists()
    spent, [kept] = opened.spent, opened.kept()
    assert 0 < kept.releases < 20
    listed = tacit("resume", *PAID, "--json")
    assert json.loads(listed.output)["fits"] == [
        {"number": 1, "label": "fit of BoostedTreesClassifier", "releases": kept.releases}
    ]
    assert json.loads(listed.output)["ended"] == []
    assert "tacit resume 1 goes on" in " ".join(tacit("budget show", *PAID).output.split())
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    there = ("--account", "sqlite:///../budget.db", "--dataset", "people")
    again = tacit("resume 1", *there, "--json", code=0)
    assert json.loads(again.output)["releasable"] is True
    model = json.loads((folder / "model.json").read_text())
    assert len(model["model"]["trees"]) == 30
    # what was kept before the end and what came after it are on one tape
    tacit("verify", folder / "model.json", "--tape", folder / "fit.tape", code=0)
    assert opened.spent == spent
    assert [line.status for line in opened.reservations()] == ["completed"]
    tacit("resume 2", *there, code=2, says="no fit 2 that can go on (there are: none)")


def test_a_model_that_was_lost_after_its_fit_had_ended_is_made_again(folder: Path, tacit: Run, opened: Any) -> None:
    tacit(*FIT, "--set", "n_trees=5", "--resumable", code=0)
    before, spent, path = json.loads((folder / "model.json").read_text()), opened.spent, folder / "model.json"
    there = tacit("resume 1", *PAID, code=2)
    assert f"{path} exists; move it away to have the model of fit 1 there" in there.stderr.replace("\n", "")
    path.unlink()
    listed = " ".join(tacit("resume", *PAID).output.split())
    assert "0 fits can go on" in listed
    assert "1: their models can be made again, at no charge" in listed
    tacit("resume 1", *PAID, code=0)
    after = json.loads(path.read_text())
    assert after["model"] == before["model"]
    assert {**after["certificate"], "created": "", "digest": ""} == {
        **before["certificate"],
        "created": "",
        "digest": "",
    }
    assert opened.spent == spent
    assert [line.status for line in opened.reservations()] == ["completed"]


def test_a_fit_that_is_not_resumable_keeps_nothing(
    folder: Path, tacit: Run, opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = interrupted(tacit, monkeypatch, 5, *FIT)
    assert result.exit_code == 130
    assert "resume" not in result.stderr
    assert opened.kept() == ()
    assert [line.status for line in opened.reservations()] == ["failed"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (FIT[:-4], "give --account and --dataset"),
        ((*FIT, "--random-state", "1"), "its noise has a seed already"),
        (("fit", "-", *FIT[2:]), "standard input cannot be read again"),
        (("fit", "postgresql://me:secret@host/x", "--query", "t", *FIT[2:]), "may hold a password"),
    ],
)
def test_what_cannot_go_on_is_refused_and_costs_nothing(
    arguments: tuple[str, ...], message: str, folder: Path, tacit: Run, opened: Any
) -> None:
    tacit(*arguments, "--resumable", code=2, says=message)
    assert opened.spent == 0


def test_rows_that_changed_are_refused(folder: Path, tacit: Run, opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(tacit, monkeypatch, 20, *FIT, "--resumable")
    with (folder / "data.csv").open("a") as file:
        file.write("33,red,yes,999\n")
    tacit("resume 1", *PAID, code=2, says="fit 1 began with other rows")


def test_a_fit_from_python_goes_on_there(folder: Path, tacit: Run, opened: Any) -> None:
    from tacit.privacy.charges import Gaussian
    from tacit.privacy.progress import Beginning
    from tacit.privacy.unit import Neighbouring

    beginning = Beginning("rows", "learner", b"s" * 32)
    opened.reserve_kept([Gaussian(9.0)], "a fit", Neighbouring.ADD_OR_REMOVE_ONE, None, beginning)
    tacit("resume 1", *PAID, code=2, says="options(resume=1)")
