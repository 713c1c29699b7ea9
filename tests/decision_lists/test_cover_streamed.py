"""Candidates that are made block by block: the same candidates, counts and law as listed ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit import DecisionListClassifier, Schema
from tacit.curator.curator import Curator
from tacit.decision_lists import literals
from tacit.decision_lists.literals import candidates, length_prior
from tacit.encoding.grid import NumericGrid
from tacit.encoding.values import BooleanIndex, CategoryIndex
from tacit.engines.blocks import MemoryTable
from tacit.noise import SeededSource
from tacit.privacy.charges import NonPrivate
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.queries.covers.candidates import Conjunctions, StreamedConjunctions, TooManyCandidates
from tacit.queries.covers.cover import Cover, CoverStep

ENCODERS = (NumericGrid(0, 10, 5), CategoryIndex(("a", "b")), BooleanIndex())


def both(k: int, constant: bool = True) -> tuple[Conjunctions, StreamedConjunctions]:
    listed = candidates(ENCODERS, k, 16, 2, constant).conjunctions
    assert isinstance(listed, Conjunctions)
    return listed, StreamedConjunctions(listed.columns, listed.truths, k, constant, 2)


def small_table(n: int, seed: int = 0) -> MemoryTable:
    generator = np.random.default_rng(seed)
    sizes = [encoder.n_codes for encoder in ENCODERS]
    columns = [generator.integers(0, size, n).astype(np.uint8) for size in sizes]
    labels = ((columns[0] > 2) ^ (generator.random(n) < 0.2)).astype(np.uint8)
    return MemoryTable(columns, labels, sizes, 2, threads=2)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("constant", [False, True])
def test_blocks_hold_the_listed_candidates(k: int, constant: bool) -> None:
    listed, streamed = both(k, constant)
    assert len(streamed) == len(listed)
    blocks = [streamed.members(block) for block in range(streamed.n_blocks)]
    assert [len(block) for block in blocks] == [streamed.size(block) for block in range(streamed.n_blocks)]
    assert np.array_equal(np.concatenate(blocks), listed.members)
    assert streamed.constant.tolist() == listed.constant.tolist()
    places = list(range(0, len(listed), 7))
    assert [streamed.literals_of(place) for place in places] == [listed.literals_of(place) for place in places]
    assert np.array_equal(streamed.take(places).members, listed.take(places).members)
    by_block = length_prior(streamed, 2)
    spread = np.concatenate([np.full(streamed.size(b), by_block[b]) for b in range(streamed.n_blocks)])
    assert spread == pytest.approx(length_prior(listed, 2))


def test_counts_are_those_of_listed_candidates() -> None:
    listed, streamed = both(2)
    table = small_table(300)
    one, two = table.open_cover(listed), table.open_cover(streamed)
    for chosen in (40, 3, 77):
        counts = np.concatenate([two.block(block) for block in range(streamed.n_blocks)])
        assert np.array_equal(one.counts, counts)
        one.remove(chosen)
        two.remove(chosen)


def rules_of(conjunctions: Conjunctions | StreamedConjunctions, steps: tuple[CoverStep, ...], seed: int, **parameters):
    curator = Curator(
        small_table(60), Reservation([NonPrivate()], Neighbouring.ADD_OR_REMOVE_ONE, "x"), SeededSource(seed)
    )
    return curator.cover(Cover(conjunctions, 2, steps, **parameters), "rules")


def test_the_best_rules_are_the_same() -> None:
    listed, streamed = both(2)
    steps = (CoverStep(math.inf, 8, 9),) * 6
    for parameters in ({}, {"idle_score": 30}, {"idle_score": 0, "constant_last": True}):
        assert rules_of(listed, steps, 0, **parameters) == rules_of(streamed, steps, 0, **parameters)
    ends = (*steps[:2], CoverStep(math.inf, 1, 1, ending=True))
    for parameters in ({}, {"constant_last": True}):
        one, two = rules_of(listed, ends, 0, **parameters), rules_of(streamed, ends, 0, **parameters)
        assert one == two
        assert one.rules[-1][0] == 0


class Quantiles:
    """A source that draws the candidate at a given quantile of the law, so that equal laws give equal draws."""

    name, releasable = "quantiles", False

    def __init__(self, quantiles: list[float]) -> None:
        self.quantiles = quantiles

    def exponential(self, scores: np.ndarray, scale: float) -> int:
        weights = np.exp((scores - scores.max()) / scale)
        return int(np.searchsorted(np.cumsum(weights), self.quantiles.pop(0) * weights.sum()))

    def exponential_place(self, blocks: Any, scale: float) -> tuple[int, int]:
        made = [blocks[block] for block in range(len(blocks))]
        place = self.exponential(np.concatenate(made), scale)
        block = int(np.searchsorted(np.cumsum([len(scores) for scores in made]), place, side="right"))
        return block, place - sum(len(scores) for scores in made[:block])


@pytest.mark.parametrize("constant_last", [False, True])
def test_the_law_is_the_same(constant_last: bool) -> None:
    steps = (*(CoverStep(0.05, 1, 2),) * 5, CoverStep(0.05, 1, 1, ending=True))
    table, generator, lengths = small_table(60), np.random.default_rng(3), set()
    for _ in range(60):
        quantiles = generator.random(6).tolist()
        results = []
        for conjunctions in both(2):
            reservation = Reservation([NonPrivate()], Neighbouring.ADD_OR_REMOVE_ONE, "x")
            prior = length_prior(conjunctions, 2)
            cover = Cover(conjunctions, 2, steps, 0, prior, constant_last)
            results.append(Curator(table, reservation, Quantiles(quantiles.copy())).cover(cover, "rules"))  # type: ignore[arg-type]
        assert results[0] == results[1]
        lengths.add(len(results[0].rules))
    assert len(lengths) > 2  # "no rule" and the constant were among those that were drawn


def test_the_estimator_streams_what_is_too_much_to_list(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema.from_dict(
        {
            "label": {"column": "y", "classes": [0, 1], "positive": 1},
            "columns": {f"x{j}": {"kind": "boolean"} for j in range(8)},
        }
    )
    generator = np.random.default_rng(0)
    rows = pd.DataFrame(generator.random((4_000, 8)) < 0.5, columns=[f"x{j}" for j in range(8)])
    labels = ((rows["x1"] & rows["x2"] & ~rows["x5"]) | rows["x3"]).to_numpy().astype(int)
    monkeypatch.setattr(literals, "MOST_RULES", 1_000)
    model = DecisionListClassifier(epsilon=4.0, schema=schema, k=3, max_rules=4, random_state=1).fit(rows, labels)
    assert model.score(rows, labels) > 0.9
    assert len(model.model_.rules) <= 5
    errors = DecisionListClassifier(schema=schema, k=3, max_rules=4, objective="errors", counts_share=0.0)
    assert errors.fit(rows, labels).model_.rules[-1].conditions == ()


def test_too_much_to_stream_is_refused() -> None:
    truths = (np.array([False, True]),) * 400
    with pytest.raises(TooManyCandidates, match="shorter conjunctions"):
        StreamedConjunctions(tuple(range(400)), truths, 4, constant_first=True, n_labels=2)
    schema = Schema.from_dict(
        {"label": {"column": "y", "classes": [0, 1]}, "columns": {f"x{j}": {"kind": "boolean"} for j in range(200)}}
    )
    rows = pd.DataFrame(np.zeros((3, 200), bool), columns=[f"x{j}" for j in range(200)])
    with pytest.raises(RequestError, match="lower k"):
        DecisionListClassifier(schema=schema, k=4).fit(rows, [0, 1, 0])
