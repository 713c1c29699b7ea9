"""`from_theorem`: the rows that it names, what it settles, runs at exactly these rows, and when it is withdrawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.models.evidence import ErrorPromise
from tacit.privacy.request import RequestError
from tacit.queries.dense.halfspace_log import HalfspaceLog
from tacit.theory.averaged_noise import REACH
from tacit.theory.halfspaces import printed_run, run_for_signs, violating_share

FROM = HalfspaceBoostClassifier.from_theorem
ON_TRAINING = {"errors_on": "training_rows", "random_state": 0, "classes": (0, 1)}


def needed(*promise: float, **more: Any) -> int:
    """The number of rows that the refusal of one row names."""
    with pytest.raises(RequestError, match=r"n = 1 is too small.* (\d+) rows would do") as caught:
        FROM(*promise, n=1, **more)
    return int(str(caught.value).split(": ")[1].split()[0])


def hard_rows(n: int, margin: float, violating: int, seed: int, width: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """A fifth on the other side of the centre, at exactly the margin, and as many of the worst rows as are allowed."""
    rng = np.random.default_rng(seed)
    side = np.where(rng.random(n) < 0.2, -1.0, 1.0)
    rows = np.zeros((n, width))
    rows[:, 0], rows[:, 1] = margin, side * math.sqrt(1 - margin**2) * 0.9999
    rows[:violating] = -np.eye(width)[0]
    labels = rng.integers(0, 2, n)
    return rows * (2 * labels - 1)[:, None], labels


def test_rows_at_alpha_tenth_and_tau_half() -> None:
    """They were 266,290 for errors on the training rows, and 566,953 for new ones."""
    assert needed(0.1, 0.05, 0.5, **ON_TRAINING) == pytest.approx(1530, abs=20)
    assert needed(0.1, 0.05, 0.5) == pytest.approx(32_300, abs=400)
    assert needed(0.1, 0.05, 0.5, columns=10) < 18_000
    assert needed(0.1, 0.05, 0.5, epsilon=0.1) > 2 * needed(0.1, 0.05, 0.5)
    assert needed(0.1, 0.05, 0.5, epsilon=0.1, **ON_TRAINING) > 8 * needed(0.1, 0.05, 0.5, **ON_TRAINING)
    with pytest.raises(RequestError, match="too small"):
        FROM(0.1, 0.05, 0.5, n=needed(0.1, 0.05, 0.5) - 1)
    with pytest.raises(RequestError, match=r"margins generalise, by PAC-Bayes: \d+.*label noise is tolerated: 8414"):
        FROM(0.1, 0.05, 0.5, n=1000, epsilon=math.inf)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((1.1, 0.1, 0.5), "alpha"), ((0.1, 0.0, 0.5), "beta"), ((0.1, 0.1, 1.0), "margin"), ((0.1, 0.1, 0.05), "too"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("errors_on", ["new_rows", "training_rows"])
def test_what_no_theorem_is_about_is_refused(given: tuple[float, ...], message: str, errors_on: str) -> None:
    with pytest.raises(RequestError, match=message):
        FROM(*given, n=10**9, errors_on=errors_on)


def test_other_mistakes_are_refused() -> None:
    for wrong, message in (
        ({"delta": 0.0}, "positive delta"), ({"errors_on": "old_rows"}, "new_rows"), ({"columns": 0}, "columns"),
    ):  # fmt: skip
        with pytest.raises(RequestError, match=message):
            FROM(0.1, 0.1, 0.5, n=10**9, **wrong)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match=r"alpha=0.001 and margin=0.5 are too small together"):
        FROM(0.001, 0.1, 0.5, n=10**9)


@pytest.mark.parametrize("analysis", ["sharp", "paper"])
def test_what_it_settles(analysis: Any) -> None:
    n = needed(0.3, 0.2, 0.8, analysis=analysis, **ON_TRAINING)
    model = FROM(0.3, 0.2, 0.8, n=n, analysis=analysis, **ON_TRAINING)
    run = printed_run(0.3, 0.2, 0.8) if analysis == "paper" else run_for_signs(0.3, 0.2, 0.8, 0.3)
    settled = (model.rounds, model.density, model.learning_rate, model.divisor)
    assert settled == (run.rounds, run.density, run.learning_rate, run.divisor)
    assert (model.measure, model.scaling, model.calibrate, model.fit_intercept) == ("lazy_bregman", False, False, False)
    assert model.promise == {
        "error": 0.3, "failure": 0.2, "margin": 0.8, "violating": violating_share(0.3, 0.8),
        "errors_on": "training_rows", "rows": n, "columns": None,
    }  # fmt: skip


@pytest.mark.parametrize(("neighbouring", "seed"), [("add_or_remove_one", 0), ("replace_one", 1)])
def test_runs_at_exactly_these_rows_keep_the_promise(neighbouring: str, seed: int) -> None:
    alpha, margin = 0.3, 0.6
    how = {**ON_TRAINING, "neighbouring": neighbouring, "random_state": seed}
    n = needed(alpha, 0.2, margin, **how)
    model = FROM(alpha, 0.2, margin, n=n, **how)
    rows, labels = hard_rows(n, margin, int(violating_share(alpha, margin) * n), seed)
    model.fit(rows, labels)
    assert (model.predict(rows) != labels).mean() <= alpha
    run = run_for_signs(alpha, 0.2, margin, alpha)
    noises = [each.noise_sd * run.divisor for each in model.ensemble_.hypotheses]
    assert len(noises) == run.rounds
    assert 0.95 * run.sigma < max(noises) <= run.sigma * (1 + 1e-9)  # as much noise as the theorem allows, no more
    assert min(noises) == max(noises)  # of the declared number of rows, whatever was counted
    reach = (run.rounds + 9 * max(noises) * math.sqrt(run.rounds)) / run.divisor
    assert reach <= REACH


def test_more_columns_than_promised_are_refused() -> None:
    labels = np.tile([0, 1], 10)
    model = FROM(0.5, 0.3, 0.9, n=10**6, columns=4, random_state=0, classes=(0, 1))
    with pytest.raises(RequestError, match="5 columns, and the promise is for at most 4"):
        model.fit(np.ones((20, 5)), labels)
    schema = {
        "columns": {"a": {"kind": "categorical", "categories": ["x", "y", "z", "u", "v"]}},
        "label": {"column": "y", "classes": [0, 1]},
    }
    wide = FROM(0.5, 0.3, 0.9, n=10**6, columns=4, random_state=0, schema=schema)
    with pytest.raises(RequestError, match="columns, and the promise is for at most 4"):
        wide.fit({"a": ["x"] * 20}, labels)
    free = FROM(0.5, 0.3, 0.9, n=10**6, epsilon=math.inf, **ON_TRAINING)
    free.fit(np.ones((20, 2000)) / 50, labels)  # the theorem about training rows has no such limit


@pytest.mark.parametrize(("share", "stands"), [(0.7, False), (1.0, True), (1.9, True), (2.4, False)])
def test_a_number_of_rows_that_is_not_the_declared_one_withdraws_the_promise(
    share: float, stands: bool, tmp_path: Any
) -> None:
    n = 2000
    model = FROM(0.5, 0.3, 0.9, n=n, epsilon=20.0, **ON_TRAINING)
    rows, labels = hard_rows(int(share * n), 0.9, 0, 0)
    model.fit(rows, labels)
    said, certificate = model.summary_, model.certificate_
    assert model.model_.promise.is_withdrawn is not stands
    if stands:
        assert any("errs on at most 50 %: proved, with confidence 0.7" in words for words in said.sentences)
        assert not said.concerns
        assert "Error: at most 0.5 on training rows with probability 0.7" in certificate.summary()
    else:
        assert any("is withdrawn: it was for 2,000 to 4,000 rows" in words for words in said.concerns)
        assert certificate.parameters["promise"] is None
        assert "Error:" not in certificate.summary()
    assert certificate.verify() == []
    tacit.save(model, tmp_path / "model.json")
    again = tacit.load(tmp_path / "model.json")
    assert again.model_.promise == model.model_.promise
    assert (again.promise is not None) is stands


def test_noise_in_the_count_withdraws_nothing() -> None:
    facts = (0.1, 0.05, 0.5, 0.003, "new_rows", 1000)
    for counted, withdrawn in ((970.1, False), (969.9, True), (2029.9, False), (2030.1, True)):
        assert ErrorPromise(*facts, counted=counted, sd=10.0).is_withdrawn is withdrawn
    assert "on all but 3 of them" in str(ErrorPromise(*facts, counted=1000.0, sd=1.0))


def test_persons_of_several_rows_are_refused() -> None:
    schema = {
        "columns": {"a": {"kind": "numeric", "lower": -1, "upper": 1}}, "label": {"column": "y", "classes": [0, 1]},
        "unit": {"column": "who", "max_rows": 2},
    }  # fmt: skip
    model = FROM(0.5, 0.3, 0.9, n=10**6, errors_on="training_rows", schema=schema)
    with pytest.raises(RequestError, match="persons of one row each"):
        model.fit({"a": [0.0] * 20, "who": list(range(20))}, np.tile([0, 1], 10))


def test_no_margin_of_its_run_is_clipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The theorem is about the released halfspace, not about votes of clipped ones."""
    n = needed(0.5, 0.3, 0.9, **ON_TRAINING)
    logs: list[HalfspaceLog] = []
    whole = HalfspaceLog.add_whole
    monkeypatch.setattr(HalfspaceLog, "add_whole", lambda log, direction: (logs.append(log), whole(log, direction))[1])
    model = FROM(0.5, 0.3, 0.9, n=n, **ON_TRAINING)
    rows, labels = hard_rows(n, 0.9, 0, 0)
    model.fit(rows, labels)
    assert len(logs) == model.rounds
    assert len(logs[0].steps) >= 2 * model.rounds
    lengths = [np.linalg.norm(each.direction) for each in model.ensemble_.hypotheses]
    assert min(lengths) > 5  # clipped at 1 they would be other ones
    assert logs[0].reach >= sum(lengths)
