"""Fits that go on after their process has ended: the model of the whole fit, one charge, and no release made twice."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
import tacit.additive.sweeps as sweeps
import tacit.curator.rows as curator_rows
import tacit.learning.supply as going_on
from tacit.additive.joint_clipping import Lengths
from tacit.additive.sweeps import GRID
from tacit.closure import FiniteClassClassifier, Thresholds
from tacit.curator.joint_clipping import JointReleases
from tacit.noise import NoiseSource, SystemSource
from tacit.privacy.charges import Gaussian
from tacit.privacy.ledger import AccountError, BudgetExceeded, Reservation
from tacit.privacy.progress import Beginning
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tests.estimators.test_sources import LEARNERS, declared, written
from tests.golden.case import Seen
from tests.golden.tables import table

ROWS = 3000

FEW: dict[str, Any] = {"n_trees": 20}
SHORT = {"trees": FEW, "halfspaces, capped": {"rounds": 20}}
"""Fits of some dozen releases: where one is stopped there are some before and some after."""


class Stopped(Exception):  # noqa: N818 - no fault
    """The end of a process, for as long as it is not one."""


class Silent(SystemSource):
    """No noise, and a count of what was drawn: releases of two runs are the same, and nobody mistakes one for two."""

    def __init__(self, drawn: list[str]) -> None:
        super().__init__()
        self.drawn = drawn

    def gaussian(self, scale: float, size: int) -> Any:
        self.drawn.append("gaussian")
        return np.zeros(size, np.int64)

    def laplace(self, scale: float, size: int) -> Any:
        self.drawn.append("laplace")
        return np.zeros(size, np.int64)

    def exponential(self, scores: Any, scale: float) -> int:
        self.drawn.append("exponential")
        return int(scores.argmax())

    def exponential_place(self, blocks: Any, scale: float) -> tuple[int, int]:
        self.drawn.append("exponential place")
        best = max(
            (int(blocks[block].max()), -block, -int(blocks[block].argmax()))
            for block in range(len(blocks))
            if len(blocks[block])
        )
        return -best[1], -best[2]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was drawn, without noise; public choices follow from one seed."""
    records: list[str] = []

    def silent(_: Any) -> NoiseSource:
        return Silent(records)

    monkeypatch.setattr(curator_rows, "chosen_source", silent)
    monkeypatch.setattr(going_on, "fresh_key", lambda: b"k" * 32)
    return records


def account(place: Path, name: str = "people", neighbouring: str = "add_or_remove_one") -> Any:
    return tacit.PrivacyAccount.create(str(place / "account.db"), name, 1000.0, 1e-4, neighbouring)


def made(name: str, payer: Any, **more: Any) -> Any:
    estimator, kind, asked = LEARNERS[name]
    return estimator(schema=declared(kind), account=payer, **{**asked, **more})


def rows_of(name: str) -> tuple[Any, Any]:
    return table(ROWS).X, getattr(table(ROWS), LEARNERS[name][1])


def stopping(at: int) -> Callable[[Any], None]:
    """Ends a fit before a release."""

    def step(told: Any) -> None:
        if told.releases >= at:
            raise Stopped

    return step


def stopped(estimator: Any, at: int, *rows: Any) -> None:
    with pytest.raises(Stopped), tacit.options(resumable=True, progress=stopping(at)):
        estimator.fit(*rows)


def gone_on(estimator: Any, number: int, *rows: Any) -> Any:
    with tacit.options(resume=number):
        return estimator.fit(*rows)


# The whole fit, once.


LONG = [name for name in LEARNERS if name.startswith("additive") or name in SHORT]
"""Hundreds of releases, each of which is on the disk before the next."""


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_a_long_fit_that_goes_on_is_the_whole_fit(name: str, drawn: list[str], tmp_path: Path) -> None:
    goes_on(name, drawn, tmp_path)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_fit_that_goes_on_is_the_whole_fit(name: str, drawn: list[str], tmp_path: Path) -> None:
    goes_on(name, drawn, tmp_path, **SHORT.get(name, {}))


def goes_on(name: str, drawn: list[str], tmp_path: Path, **more: Any) -> None:
    relation = LEARNERS[name][2].get("neighbouring", "add_or_remove_one")
    payer = account(tmp_path, neighbouring=relation)
    with tacit.options(resumable=True):
        whole = Seen.of(made(name, payer, **more).fit(*rows_of(name)))
    once = len(drawn)
    releases = len(payer.reservations()[-1].entries)
    spent, payer = payer.spent, account(tmp_path, "others", relation)
    drawn.clear()
    stopped(made(name, payer, **more), max(2, releases * 2 // 3), *rows_of(name))
    [kept] = payer.kept()
    assert payer.spent == pytest.approx(spent)
    fitted = gone_on(made(name, payer, **more), kept.identifier, *rows_of(name))
    seen = Seen.of(fitted)
    assert seen.model == whole.model
    assert len(drawn) == once
    assert payer.spent == pytest.approx(spent)
    assert [line.status for line in payer.reservations()] == ["completed"]
    assert len(payer.reservations()[-1].entries) == releases
    assert payer.kept() == ()
    assert fitted.certificate_.verify() == []


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_fit_that_has_ended_releases_nothing_more(drawn: list[str], tmp_path: Path) -> None:
    payer = account(tmp_path)
    with tacit.options(resumable=True):
        whole = Seen.of(made("m-alpha", payer).fit(*rows_of("m-alpha"))).model
    once, [line] = len(drawn), payer.reservations()
    assert payer.kept() == ()
    [kept] = payer.kept(ended=True)
    assert Seen.of(gone_on(made("m-alpha", payer), kept.identifier, *rows_of("m-alpha"))).model == whole
    assert (len(drawn), payer.reservations()) == (once, (line,))
    beginning = Beginning(kept.rows, kept.learner, kept.seed)
    again = payer.go_on(kept.identifier, kept.charges, kept.label, beginning)
    again._sequence = kept.releases  # a learner that would ask for more than it did
    with pytest.raises(AccountError, match="was not made before it ended"):
        again.release(lambda: "more", lambda: [np.array([0])])


@pytest.mark.parametrize("name", ["m-alpha", "lists", "halfspaces, smooth"])
def test_a_fit_may_be_stopped_anywhere_and_often(name: str, drawn: list[str], tmp_path: Path) -> None:
    payer = account(tmp_path)
    with tacit.options(resumable=True):
        whole = Seen.of(made(name, payer).fit(*rows_of(name))).model
    once, last = len(drawn), len(payer.reservations()[-1].entries)
    drawn.clear()
    stopped(made(name, payer), 1, *rows_of(name))
    [kept] = payer.kept()
    for at in sorted({2, last // 2, last - 1, last}):
        with pytest.raises(Stopped), tacit.options(resume=kept.identifier, progress=stopping(at)):
            made(name, payer).fit(*rows_of(name))
    assert Seen.of(gone_on(made(name, payer), kept.identifier, *rows_of(name))).model == whole
    assert len(drawn) == once


def test_files_go_on_as_tables_do(drawn: list[str], tmp_path: Path) -> None:
    payer, folder = account(tmp_path), written(tmp_path / "rows", "two")
    with tacit.options(resumable=True):
        whole = Seen.of(made("m-alpha", payer).fit(*rows_of("m-alpha"))).model
    stopped(made("m-alpha", payer), 10, tacit.read_source(folder))
    [kept] = payer.kept()
    again = gone_on(made("m-alpha", payer), kept.identifier, tacit.read_source(folder))
    assert Seen.of(again).model == whole


def test_noise_is_fresh_where_nothing_was_kept(tmp_path: Path) -> None:
    """Two fits that go on from copies of one store release the same up to where they were stopped, and then differ."""
    payer = account(tmp_path)
    stopped(made("forest", payer), 3, *rows_of("forest"))
    for name in ("", ".key"):
        shutil.copy(tmp_path / f"account.db{name}", tmp_path / f"copy.db{name}")
    copied = tacit.PrivacyAccount(str(tmp_path / "copy.db"), "people")
    models = [gone_on(made("forest", each), 1, *rows_of("forest")).model_.to_dict() for each in (payer, copied)]
    assert models[0] != models[1]
    with sqlite3.connect(tmp_path / "account.db") as one, sqlite3.connect(tmp_path / "copy.db") as two:
        values = [dict(each.execute("SELECT sequence, value FROM tacit_kept_releases")) for each in (one, two)]
    assert values[0].keys() == values[1].keys()
    assert [values[0][place] == values[1][place] for place in sorted(values[0])][:2] == [True, True]
    assert sum(values[0][place] == values[1][place] for place in values[0]) == 2


SCRIPT = """
import os, signal, sys, warnings
import tacit
from tests.estimators.test_going_on import made, rows_of
def step(told):
    if told.releases == 15:
        os.kill(os.getpid(), signal.SIGKILL)
warnings.simplefilter("ignore")
payer = tacit.PrivacyAccount(sys.argv[1], "people")
with tacit.options(resumable=True, progress=step):
    made("trees", payer, n_trees=20).fit(*rows_of("trees"))
"""


def test_a_killed_process_has_kept_its_releases(tmp_path: Path) -> None:
    payer = account(tmp_path)
    root = Path(__file__).parents[2]
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "account.db")],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))},
        check=False,
    )
    assert result.returncode == -signal.SIGKILL
    assert [line.status for line in payer.reservations()] == ["interrupted"]
    [kept] = payer.kept()
    assert kept.releases == 14
    spent = payer.spent
    fitted = gone_on(made("trees", payer, **FEW), kept.identifier, *rows_of("trees"))
    assert payer.spent == spent
    assert fitted.certificate_.verify() == []


def test_no_charge_without_what_it_goes_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reservation and what makes it resumable are one write: Ctrl-C leaves both, or neither."""
    import tacit.privacy.kept_releases as kept

    def stops(*_: Any) -> None:
        raise KeyboardInterrupt

    payer = account(tmp_path)
    monkeypatch.setattr(kept, "keep", stops)
    with pytest.raises(KeyboardInterrupt):
        payer.reserve_kept(
            [Gaussian(1.0)], "a fit", Neighbouring.ADD_OR_REMOVE_ONE, None, Beginning("rows", "learner", b"s" * 32)
        )
    assert payer.spent == 0
    assert payer.reservations() == ()


# No release is made twice.


def two_of(place: Path) -> tuple[Reservation, Reservation]:
    payer = account(place)
    beginning = Beginning("rows", "learner", b"s" * 32)
    first = payer.reserve_kept([Gaussian(1.0)], "a fit", Neighbouring.ADD_OR_REMOVE_ONE, None, beginning)
    return first, payer.go_on(payer.kept()[0].identifier, [Gaussian(1.0)], "a fit", beginning)


def test_of_two_processes_the_second_takes_what_the_first_has_kept(tmp_path: Path) -> None:
    first, second = two_of(tmp_path)
    one = first.release(lambda: "what", lambda: [np.arange(6).reshape(2, 3), np.array([7])])
    two = second.release(lambda: "what", lambda: [np.zeros((2, 3), np.int64), np.array([0])])
    assert [part.tolist() for part in one] == [part.tolist() for part in two] == [[[0, 1, 2], [3, 4, 5]], [7]]


def test_another_question_in_the_place_of_one_is_refused(tmp_path: Path) -> None:
    first, second = two_of(tmp_path)
    first.release(lambda: "what", lambda: [np.array([1])])
    with pytest.raises(AccountError, match="release 1 of fit 1 was another one"):
        second.release(lambda: "what else", lambda: [np.array([2])])


def check_goes_on_only_as_it_began(
    payer: tacit.PrivacyAccount,
    asked: dict[str, Any],
    half_way: Callable[[JointReleases], bool],
    moved: tuple[Any, str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> Seen:
    """Stops a fit where ``half_way`` says so: it is refused where something has ``moved``, and goes on without."""
    made_before, estimator = JointReleases.measure, made("additive", payer, **asked)

    def one(self: JointReleases, part: int, *asked: Any) -> Any:
        if half_way(self):
            raise Stopped
        return made_before(self, part, *asked)

    with monkeypatch.context() as patch, tacit.options(resumable=True):
        patch.setattr(JointReleases, "measure", one)
        with pytest.raises(Stopped):
            estimator.fit(*rows_of("additive"))
    [kept] = payer.kept()
    with monkeypatch.context() as patch:
        patch.setattr(*moved)
        with pytest.raises(AccountError, match="was another one when it began"):
            gone_on(made("additive", payer, **asked), kept.identifier, *rows_of("additive"))
    return Seen.of(gone_on(made("additive", payer, **asked), kept.identifier, *rows_of("additive")))


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_rows_are_bounded_as_they_were_when_it_began(
    delta: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another machine a last bit may move the limit: a sweep half of which is under either is not paid for."""
    payer, asked = account(tmp_path), {"epsilon": 0.5, "delta": delta}
    with tacit.options(resumable=True):
        whole = Seen.of(made("additive", payer, **asked).fit(*rows_of("additive")))
    of = Lengths.of

    def half_way(releases: JointReleases) -> bool:
        return sum(releases._made.values()) == 1

    def longer(*asked: Any) -> Lengths:
        result = of(*asked)
        return Lengths(result.limit * 1.01, result.seen)

    again = check_goes_on_only_as_it_began(payer, asked, half_way, (Lengths, "of", longer), monkeypatch)
    assert again.model == whole.model


@pytest.mark.usefixtures("drawn")
def test_shares_that_follow_what_is_known_are_those_of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a bound with shares of its own, half under these and half under others would cost more than is recorded."""
    payer, asked = account(tmp_path), {"epsilon": 0.5}
    with tacit.options(resumable=True):
        whole = Seen.of(made("additive", payer, **asked).fit(*rows_of("additive")))
    spent, payer = payer.spent, account(tmp_path, "others")
    of = sweeps.shares_of_rest

    def half_way(releases: JointReleases) -> bool:
        return releases._labels[0][0].round != 1 and sum(releases._made.values()) == 1

    moved = sweeps, "shares_of_rest", lambda *asked: of(*asked) - 1 / GRID
    again = check_goes_on_only_as_it_began(payer, asked, half_way, moved, monkeypatch)
    assert again.model == whole.model
    assert payer.spent == spent


def test_what_cannot_be_kept_does_not_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = two_of(tmp_path)

    def broken(*_: Any) -> Any:
        raise AccountError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(type(first), "_write", broken)
        with pytest.raises(AccountError, match="the disk is full"):
            first.release(lambda: "what", lambda: [np.array([1])])
    assert second.release(lambda: "what", lambda: [np.array([2])])[0].tolist() == [2]


def test_what_was_kept_cannot_be_changed(tmp_path: Path) -> None:
    first, _ = two_of(tmp_path)
    first.release(lambda: "what", lambda: [np.array([1])])
    for change in ("UPDATE tacit_kept_releases SET sequence = 5", "DELETE FROM tacit_kept_releases"):
        with sqlite3.connect(tmp_path / "account.db") as connection, pytest.raises(sqlite3.Error, match="append-only"):
            connection.execute(change)


def test_after_a_failure_nothing_more_is_released_here(tmp_path: Path) -> None:
    first, second = two_of(tmp_path)
    with pytest.raises(Stopped), first:
        raise Stopped
    with pytest.raises(BudgetExceeded, match="after its reservation was closed"):
        first.record(Gaussian(2.0), "what", "", kept=True)
    second.record(Gaussian(2.0), "what", "", kept=True)


def test_ways_out_that_keep_nothing_are_closed(tmp_path: Path) -> None:
    first, _ = two_of(tmp_path)
    with pytest.raises(TypeError, match="cannot go on later"):
        first.record(Gaussian(2.0), "what a stream answers", "")


# What is refused, and what it costs.


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"account": None}, "it needs an account"),
        ({"epsilon": float("inf")}, "without privacy"),
        ({"random_state": 1}, "its noise has a seed"),
        ({"schema": None}, "it needs a schema"),
    ],
)
def test_fits_that_cannot_go_on_are_refused_before_they_cost_anything(
    more: dict[str, Any], message: str, tmp_path: Path
) -> None:
    payer = account(tmp_path)
    arguments = {"account": payer, "schema": declared("two"), **more}
    X, y = rows_of("trees")
    with tacit.options(resumable=True), pytest.raises(RequestError, match=message) as failed:
        tacit.BoostedTreesClassifier(**arguments).fit(X[["a", "b"]] if arguments["schema"] is None else X, y)
    assert not failed.value.spent
    assert payer.spent == 0


def test_learners_that_release_in_other_ways_are_refused(tmp_path: Path) -> None:
    payer = account(tmp_path)
    learner = FiniteClassClassifier(Thresholds("a"), schema=declared("two"), account=payer)
    with tacit.options(resumable=True), pytest.raises(RequestError, match="releases in other ways"):
        learner.fit(*rows_of("trees"))
    assert payer.spent == 0


def test_what_is_no_fit_is_not_kept(tmp_path: Path) -> None:
    payer, X, y = account(tmp_path), *rows_of("trees")
    rule = tacit.AdditiveBoostClassifier(schema=declared("two")).fit(X, y)
    with tacit.options(resumable=True), pytest.raises(RequestError, match="cannot go on after its process has ended"):
        tacit.private_score(rule, X, y, epsilon=1.0, account=payer)
    with tacit.options(resumable=True), pytest.raises(RequestError, match="cannot go on after its process has ended"):
        tacit.BatchwiseClassifier(made("trees", payer)).fit(X, y)
    assert payer.spent == 0


def test_other_rows_other_parameters_and_no_fit_are_refused(tmp_path: Path) -> None:
    payer = account(tmp_path)
    X, y = rows_of("trees")
    stopped(made("trees", payer, **FEW), 10, X, y)
    [kept] = payer.kept()
    with pytest.raises(AccountError, match="began with other rows"):
        gone_on(made("trees", payer, **FEW), kept.identifier, X.iloc[1:], y[1:])
    with pytest.raises(AccountError, match="of other parameters"):
        gone_on(made("trees", payer, **FEW, epsilon=2.0), kept.identifier, X, y)
    with pytest.raises(AccountError, match="of other parameters"):  # of the same cost
        gone_on(made("trees", payer, **FEW, max_depth=4), kept.identifier, X, y)
    with pytest.raises(AccountError, match=r"no fit 7 that can go on \(there are: 1\)"):
        gone_on(made("trees", payer, **FEW), 7, X, y)
    spent = payer.spent
    gone_on(made("trees", payer, **FEW), kept.identifier, X, y)
    assert payer.spent == spent


def test_rows_of_units_must_be_the_same_persons_and_the_first_the_same(tmp_path: Path) -> None:
    """Only the first rows of a unit count: were they others now, a person would have a part in twice as many."""
    schema = {
        "label": {"column": "y", "classes": ["no", "yes"]},
        "columns": {"a": {"kind": "numeric", "lower": 0, "upper": 400}, "who": {"kind": "id"}},
        "unit": {"column": "who", "max_rows": 1},
    }
    rows = np.arange(400)
    X, y = pd.DataFrame({"a": rows, "who": rows // 2}), np.where(rows % 3 == 0, "yes", "no")
    payer = account(tmp_path)

    def learner() -> Any:
        return tacit.BoostedTreesClassifier(schema=schema, account=payer, **FEW)

    stopped(learner(), 10, X, y)
    [kept] = payer.kept()
    with pytest.raises(AccountError, match="began with other rows"):
        gone_on(learner(), kept.identifier, X[::-1], y[::-1])
    with pytest.raises(AccountError, match="began with other rows"):  # the same rows count, and are other persons'
        gone_on(learner(), kept.identifier, X.assign(who=np.roll(X["who"], 2)), y)
    order = np.lexsort((rows % 2, -(rows // 2)))  # the persons in another order, and of each the same row first
    gone_on(learner(), kept.identifier, X.iloc[order], y[order])
