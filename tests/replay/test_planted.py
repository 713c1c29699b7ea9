"""Faults that are planted on purpose: the net must find each, or it is no net."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.closure import FiniteClassClassifier, Thresholds
from tests.replay import product
from tests.replay.cases import CASES, requests
from tests.replay.held import record, replay
from tests.replay.neighbours import Neighbour, Rows, neighbours, persons, rounds, schema_of, table_of

REQUEST: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6, "random_state": 1}


def gate_of(rows: Rows, seed: int = 1) -> Any:
    """A curator over column ``c``, with a reservation that is large enough."""
    return product.curator_of(rows.X[["c"]], rows.y, schema_of("two"), seed)


def counts(gate: Any, label: str = "counts", multiplier: float = 3.0) -> Any:
    return gate.measure(product.COUNTS, product.Gaussian(multiplier), label)


def exact(gate: Any) -> np.ndarray:
    return np.asarray(getattr(gate._table, "_table", gate._table).answer(product.COUNTS))


def faults_of(run: Callable[[Rows], Any], rows: Rows | None = None, count: int = 9, many: Any = None) -> list[str]:
    """What is found in a run, on the recorded table or on some neighbour."""
    rows = table_of("two") if rows is None else rows
    recorded = record(run, rows)
    results = list(recorded.faults)
    beside: Any = neighbours(rows, False, 0) if many is None else many
    for _, other in zip(range(count), beside, strict=False):
        results += replay(recorded, run, other).faults
        if results:
            break
    return results


def honest(rows: Rows) -> Any:
    return counts(gate_of(rows)).value


def test_an_honest_run_has_no_fault() -> None:
    assert faults_of(honest) == []


FOLLOWING: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a scale": (lambda gate: counts(gate, multiplier=2.0 + 1e-4 * exact(gate).sum()).value, "rows steer the fit"),
    "a number of releases": (lambda gate: [counts(gate, f"round {k}").value for k in range(exact(gate).sum() % 5)], ""),
    "a label": (lambda gate: counts(gate, f"counts of {exact(gate).sum()}").value, "rows steer the fit"),
    "a result": (lambda gate: [counts(gate).value, exact(gate).max()], "what the fit shows differs"),
}


@pytest.mark.parametrize("what", FOLLOWING)
def test_what_follows_the_rows_is_found(what: str) -> None:
    run, words = FOLLOWING[what]
    assert any(words in fault for fault in faults_of(lambda rows: run(gate_of(rows))))


@pytest.mark.parametrize(("beyond", "count", "words"), [(1, 9, "goes on with"), (0, 30, "ended before")])
def test_a_branch_on_exact_answers_is_found(beyond: int, count: int, words: str) -> None:
    """One that is taken beside the recorded table alone, and one that is taken on it."""
    rows = table_of("two")
    limit = int(exact(gate_of(rows)).max()) + beyond

    def run(rows: Rows) -> Any:
        gate = gate_of(rows)
        return [counts(gate).value, counts(gate, "more").value if exact(gate).max() >= limit else None]

    assert any(words in fault for fault in faults_of(run, rows, count))


def test_a_branch_on_released_answers_is_none() -> None:
    def run(rows: Rows) -> Any:
        gate = gate_of(rows)
        first = counts(gate)
        return [first.value, counts(gate, "more").value if first.value.max() > 10 else None]

    assert faults_of(run) == []


def test_a_warning_about_rows_is_found() -> None:
    import warnings

    rows = table_of("two")
    total = int(exact(gate_of(rows)).sum())

    def run(rows: Rows) -> Any:
        gate = gate_of(rows)
        if exact(gate).sum() != total:
            warnings.warn("an unusual table", UserWarning, stacklevel=1)
        return counts(gate).value

    assert any("what the fit shows differs" in fault for fault in faults_of(run, rows))


def test_an_error_about_rows_is_found() -> None:
    rows = table_of("two")
    total = int(exact(gate_of(rows)).sum())

    def run(rows: Rows) -> Any:
        gate = gate_of(rows)
        if exact(gate).sum() > total:
            raise ValueError("too many rows")
        return counts(gate).value

    assert any("failed on a neighbour" in fault for fault in faults_of(run, rows))


def test_noise_that_is_used_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stock:
        """A source whose Gaussian vectors are kept, and handed out again."""

        def __init__(self, source: Any) -> None:
            self.source, self.kept = source, {}

        def __getattr__(self, name: str) -> Any:
            return getattr(self.source, name)

        def gaussian(self, *key: Any) -> Any:
            return self.kept[key] if key in self.kept else self.kept.setdefault(key, self.source.gaussian(*key))

    init = product.gate.Curator.__init__
    monkeypatch.setattr(
        product.gate.Curator,
        "__init__",
        lambda self, table, reservation, noise, *more: init(self, table, reservation, Stock(noise), *more),
    )

    def run(rows: Rows) -> Any:
        gate = gate_of(rows)
        return [counts(gate, "one").value, counts(gate, "two").value]

    assert any("not drawn for it" in fault for fault in faults_of(run, count=0))


def test_a_source_that_repeats_itself_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def repeats(self: Any, purpose: int) -> np.random.Generator:
        return np.random.default_rng(self._seed)

    monkeypatch.setattr(product.SeededSource, "_generator", repeats)

    def run(rows: Rows) -> Any:
        gate = gate_of(rows)
        return [counts(gate, "one", 30.0).value, counts(gate, "two", 30.0).value]

    assert any("has the noise of" in fault for fault in faults_of(run, count=0))


def test_noise_that_is_drawn_and_left_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    noisy = product.gate.Curator._noisy
    monkeypatch.setattr(
        product.gate.Curator, "_noisy", lambda self, question, exact: 0 * noisy(self, question, exact) + exact
    )
    assert any("not the exact answer and its noise" in fault for fault in faults_of(honest, count=0))


def test_a_smaller_scale_than_is_charged_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    scale = product.gate.integer_scale
    monkeypatch.setattr(product.gate, "integer_scale", lambda charge, sensitivity: 0.9 * scale(charge, sensitivity))
    assert any("costs more than" in fault for fault in faults_of(honest))


def smaller(place: Any, name: str, patch: pytest.MonkeyPatch) -> None:
    """Sensitivities a tenth too small."""
    declared = getattr(place, name)

    def tenth_off(*asked: Any) -> Any:
        result = declared(*asked)
        return replace(result, l1=int(result.l1 * 0.9), l2_squared=int(result.l2_squared * 0.81))

    patch.setattr(place, name, tenth_off)


LEARNERS: dict[str, Callable[[Rows], Any]] = {
    "additive": lambda rows: tacit.AdditiveBoostClassifier(schema=schema_of("two"), **REQUEST).fit(rows.X, rows.y),
    "trees": lambda rows: tacit.RandomTreesClassifier(schema=schema_of("two"), n_trees=3, **REQUEST).fit(
        rows.X, rows.y
    ),
    "halfspace": lambda rows: tacit.HalfspaceBoostClassifier(schema=schema_of("two"), **REQUEST).fit(rows.X, rows.y),
    "list": lambda rows: tacit.DecisionListClassifier(schema=schema_of("two"), **REQUEST).fit(rows.X, rows.y),
}


def fitted(name: str) -> Callable[[Rows], Any]:
    return lambda rows: LEARNERS[name](rows).model_.to_dict(None)


@pytest.mark.parametrize(
    ("name", "query", "method"),
    [
        ("additive", "Histogram", "sensitivity"),
        ("trees", "Histogram", "sensitivity"),
        ("halfspace", "VectorSum", "sensitivity"),
    ],
)
def test_a_sensitivity_a_tenth_too_small_is_found(
    name: str, query: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    smaller(getattr(product, query), method, monkeypatch)
    assert any("declared" in fault for fault in faults_of(fitted(name), count=12))


def test_a_joint_bound_a_tenth_too_small_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    joint = product.JointHistogram.joint_sensitivity
    assert faults_of(fitted("additive"), count=6) == []
    monkeypatch.setattr(product.JointHistogram, "joint_sensitivity", lambda *asked: replace(
        joint(*asked), l2_squared=int(joint(*asked).l2_squared * 0.81)))  # fmt: skip
    assert any("joint releases" in fault for fault in faults_of(fitted("additive"), count=12))


def test_a_selection_at_too_large_a_range_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    scale = product.selecting.selection_scale
    monkeypatch.setattr(product.selecting, "selection_scale", lambda movement, charge: 0.9 * scale(movement, charge))
    run = lambda rows: FiniteClassClassifier(  # noqa: E731
        Thresholds("a"), schema=schema_of("two"), **REQUEST).fit(rows.X, rows.y).model_.to_dict(None)  # fmt: skip
    assert any("apart" in fault for fault in faults_of(run, count=12))


def test_a_choice_among_all_floats_at_too_large_a_range_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    run, rows, _ = case_of("finite class, raw")
    assert faults_of(run, rows) == []
    epsilon = product.finite.selection_epsilon
    monkeypatch.setattr(product.finite, "selection_epsilon", lambda *asked: epsilon(*asked) / 0.9)
    assert any("apart" in fault for fault in faults_of(run, rows, 12))


def test_scores_of_which_a_row_moves_some_twice_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    run, rows, _ = case_of("finite class, raw")
    completions = product.raw.raw_completions

    def doubled(function: Any, sets: Any, public: bool, points: Any) -> Any:
        result = completions(function, sets, public, points)
        return replace(result, scores=np.where(result.falling, 2, 1) * result.scores)

    monkeypatch.setattr(product.raw, "raw_completions", doubled)
    assert any("spread of scores" in fault for fault in faults_of(run, rows, 12))


def case_of(name: str) -> tuple[Callable[[Rows], Any], Rows, dict[str, Any]]:
    """A case of the net, at its first request."""
    case = next(case for case in CASES if case.name == name)
    request = requests(case, "replace_one" in case.relations[:1])[0]
    return case.make(request), table_of(case.kind, case.n), request


def test_a_cover_at_too_small_a_scale_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    scale = product.covering.cover_scale
    monkeypatch.setattr(product.covering, "cover_scale", lambda step: 0.9 * scale(step))
    run, rows, _ = case_of("decision list")
    assert any("no step of the cover" in fault for fault in faults_of(run, rows))


def test_a_winnow_whose_range_is_too_small_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product.WinnowStream, "score_range", property(lambda self: 1))
    run, rows, _ = case_of("Winnow")
    assert any("spread of scores" in fault for fault in faults_of(run, rows, 6, rounds(rows, 0)))


def test_a_period_that_remembers_the_one_before_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    begin, before = product._Winnow.__init__, []

    def remembering(machine: Any, spec: Any, gate: Any) -> None:
        begin(machine, spec, gate)
        if spec.released:
            machine._sums += before[-1]._sums
        before.append(machine)

    monkeypatch.setattr(product._Winnow, "__init__", remembering)
    run, rows, _ = case_of("Winnow with periods")
    assert any("in periods [" in fault for fault in faults_of(run, rows, 6, rounds(rows, 0)))


def test_parts_by_position_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_position(view: Any, rows: Any, *_: Any) -> Any:
        part = np.arange(len(rows.labels)) % len(view.children)
        return [
            product.Rows(rows.frame, np.where(part == k, rows.labels, np.uint8(255))) for k in range(len(view.children))
        ]

    monkeypatch.setattr(product.Parts, "open", by_position)
    run, rows, _ = case_of("composed, best of two runs")
    assert any("of the children" in fault for fault in faults_of(run, rows))


def test_a_measure_that_is_rescaled_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that are brought to their total in floating point move with every row."""
    weights = product.MeasureSample.weights

    def rescaled(view: Any, rows: Any) -> Any:
        firsts = int(np.count_nonzero(rows.labels == 0))
        scaled = weights(view, replace(rows, witness=product.NOBODY)) * 3 // (2 + firsts % 2)
        return rows.witness.inside("weights", view, scaled, scaled)

    monkeypatch.setattr(product.MeasureSample, "weights", rescaled)
    run, rows, _ = case_of("resampled, lazy Bregman")
    assert any("weight that moved" in fault for fault in faults_of(run, rows, 6, neighbours(rows, True, 0)))


def test_units_that_count_as_rows_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    times = product.Sensitivity.times
    monkeypatch.setattr(product.Sensitivity, "times", lambda self, rows: times(self, max(rows - 1, 1)))
    rows = table_of("two", unit=True)
    run = lambda rows: tacit.RandomTreesClassifier(  # noqa: E731
        schema=schema_of("two", True), n_trees=2, **REQUEST).fit(rows.X, rows.y).model_.to_dict(None)  # fmt: skip
    assert any("declared" in fault for fault in faults_of(run, rows, 6, persons(rows, False, 0)))


def test_a_bound_that_is_read_from_the_rows_is_found() -> None:
    def run(rows: Rows) -> Any:
        schema = schema_of("two")
        seen = rows.X["a"][np.isfinite(rows.X["a"])]
        columns = {
            **schema["columns"],
            "a": {"kind": "numeric", "lower": float(seen.min()), "upper": float(seen.max())},
        }
        learner = tacit.RandomTreesClassifier(schema={**schema, "columns": columns}, n_trees=2, **REQUEST)
        return learner.fit(rows.X, rows.y).model_.to_dict(None)

    assert faults_of(run)


def test_a_category_that_is_read_from_the_rows_is_found() -> None:
    def run(rows: Rows) -> Any:
        schema = schema_of("two")
        seen = sorted({value for value in rows.X["c"] if isinstance(value, str)})
        columns = {**schema["columns"], "c": {"kind": "categorical", "categories": seen}}
        learner = tacit.AdditiveBoostClassifier(schema={**schema, "columns": columns}, **REQUEST)
        return learner.fit(rows.X, rows.y).model_.to_dict(None)

    assert faults_of(run)


def test_a_release_that_is_not_in_the_ledger_is_found() -> None:
    class Silent:
        neighbouring = product.Neighbouring.ADD_OR_REMOVE_ONE
        entries = ()

        def record(self, *line: Any, **facts: Any) -> None:
            """Enters nothing."""

        def release(self, _: str, make: Any) -> Any:
            return make()

    def run(rows: Rows) -> Any:
        gate = gate_of(rows)
        gate._gate = replace(gate._gate, reservation=Silent())
        return counts(gate).value

    assert any("without a line in the ledger" in fault for fault in faults_of(run, count=0))


def test_a_key_of_one_row_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table_of("two")
    alone = Neighbour("alone", rows.with_row(0, {"a": 0.0, "b": 1.0, "c": "only here", "d": "no"}, "yes", 1.0), (0,))
    monkeypatch.setattr(product.KeyCounts, "threshold", staticmethod(lambda *_: -(1 << 40)))
    run = lambda rows: tacit.discover_schema(rows.X.assign(label=rows.y), "label", **REQUEST)[0].to_dict()  # noqa: E731
    back = Neighbour("back", rows, (0,))
    assert any("only one of the tables" in fault for fault in faults_of(run, alone.rows, 1, [back]))
