"""What travels to sites: every kind of question arrives as it was sent, and what could read beyond a row is refused."""

from __future__ import annotations

import gc
from itertools import product
from typing import Any, TypeVar

import msgpack
import numpy as np
import numpy.typing as npt
import pytest
from typing_extensions import TypeAliasType

from tacit.arrays import Ints
from tacit.curator.sites.coordinator import JoinedTable
from tacit.engines.blocks import MemoryTable
from tacit.engines.dense import DenseRows
from tacit.engines.joined.admit import SiteTables
from tacit.engines.joined.wire import Sender, WireError, _check_children, _fits
from tacit.engines.passes.base import SumsOf
from tacit.engines.passes.dense import CoverSums
from tacit.models.tree import complete_shape, threshold_sets
from tacit.privacy.charges import Gaussian
from tacit.queries.cells import OneCell, ProductCells, column_cells, mapped_cells
from tacit.queries.covers.candidates import Conjunctions, FirstMatch, StreamedConjunctions
from tacit.queries.dense.halfspace_log import (
    RADIUS_16,
    HalfspaceLog,
    Levels,
    MarginCounts,
    MeasureSize,
)
from tacit.queries.dense.moments import MomentSum, ShortenedSquares
from tacit.queries.dense.vector_sum import VectorSum
from tacit.queries.histogram import Histogram, ReleaseMap, ResidualLevels, ScoreHistogram
from tacit.queries.joint_bound import JointBound, JointHistogram, JointPart
from tacit.queries.margins import Margins, Scores
from tacit.queries.rules import (
    LEVELS,
    N_LEVELS,
    LabelWeights,
    RowRule,
    class_count_rule,
    count_rule,
    level_weights,
    signed_margin_rule,
    weighted_rule,
)
from tacit.queries.score_rules import LevelRule, LogLink, ResidualRule, SoftmaxRule, TargetScale
from tacit.queries.tree_cells import SplitHistogram, TreeCells, class_weight_rule
from tests.queries.dense_margins import fixed_margins

ROWS = 400
CODES = (7, 30, 5)


def rows(seed: int = 0) -> tuple[list[Any], Any, Any]:
    draw = np.random.default_rng(seed)
    columns = [draw.integers(0, codes, ROWS).astype(np.uint8) for codes in CODES]
    return columns, draw.integers(0, 2, ROWS).astype(np.uint8), draw.integers(0, 1 << 24, ROWS).astype(np.int32)


WIDTH, RADIUS = 6, RADIUS_16


def vectors(part: slice = slice(None)) -> MemoryTable:
    """The same rows as vectors, and nothing else."""
    values = np.random.default_rng(5).normal(0, RADIUS / 6, (ROWS, WIDTH)).astype(np.int16)
    return MemoryTable([], rows()[1][part], (), 2, dense=DenseRows(values[part], RADIUS, WIDTH))


def table(part: slice = slice(None), numbers: bool = False) -> MemoryTable:
    columns, labels, targets = rows()
    if numbers:
        return MemoryTable([c[part] for c in columns], labels[part] * 0, CODES, 1, targets=targets[part])
    return MemoryTable([c[part] for c in columns], labels[part], CODES, 2)


class Here:
    """Two sites in this process; all that is asked goes through bytes."""

    def __init__(self, numbers: bool = False) -> None:
        self.sender, self.shares = Sender(), None
        self.numbers = numbers
        parts = (slice(0, 130), slice(130, None))
        self.tables = [SiteTables(lambda dense, part=part: self.made(dense, part), numbers) for part in parts]
        self.told: list[Any] = []
        self.bytes = 0

    def made(self, dense: Any, part: slice = slice(None)) -> MemoryTable:
        return vectors(part) if dense else table(part, self.numbers)

    def tell(self, what: dict[str, Any]) -> None:
        self.told.append(what)

    def ask(self, what: dict[str, Any]) -> Ints:
        body = msgpack.packb({"gone": self.sender.gone(), "tell": self.told, **what})
        self.told, self.bytes = [], len(body)
        total: Any = 0
        for tables in self.tables:
            message = msgpack.unpackb(body)
            tables.forget(message["gone"])
            for each in message["tell"]:
                tables.tell(each)
            total = total + tables.answer(tables.look(message))
        return np.asarray(total)

    def joined(self, dense: Any = None) -> JoinedTable:
        return JoinedTable(self, self.made(dense).layout, dense)


def margin_rule() -> RowRule:
    return signed_margin_rule(lambda m: 1 / (1 + np.exp(m)))


def log_of(cells: Any) -> Margins:
    log = Margins()
    log.add(cells, np.linspace(-1, 1, cells.size))
    return log


TREE = TreeCells(complete_shape([0, 1, 1], threshold_sets([2, 10, 20])))


def level_rule(n_labels: int) -> LevelRule:
    table = np.arange(n_labels * LEVELS * 2) % 999 - 500
    return LevelRule(table.reshape(n_labels, LEVELS, 2).astype(np.int32), 500)


def one_score() -> Scores:
    scores = Scores(1)
    scores.add(column_cells(0, 7), np.linspace(-9, 9, 7)[:, None])
    return scores


def of_labels() -> list[Any]:
    log = log_of(TREE)
    pair = ProductCells((0, 1), (np.arange(7) // 2, np.arange(30) // 10), (4, 3))
    scores = Scores(2)
    scores.add(TREE, np.linspace(-1, 1, 8).reshape(4, 2))
    weights = LabelWeights(np.arange(2, dtype=np.uint8), np.array([100, 32768], np.int64))
    identity = ReleaseMap.from_floats(np.eye(7))
    return [
        Histogram(OneCell(), count_rule(2)),
        Histogram(column_cells(1, 30), class_count_rule(2)),
        Histogram(mapped_cells(0, np.arange(7) // 2), margin_rule(), log),
        Histogram(column_cells(0, 7), margin_rule(), log, identity),
        Histogram(pair, margin_rule(), log),
        Histogram(TREE, margin_rule(), log),
        ScoreHistogram(column_cells(2, 5), SoftmaxRule(2), scores),
        ScoreHistogram(TREE, SoftmaxRule(2, 2, 3), scores, None, weights),
        ScoreHistogram(column_cells(2, 5), level_rule(2), one_score()),
        ScoreHistogram(TREE, level_rule(2), one_score(), None, weights),
        SplitHistogram(TREE, (0, 1), (7, 30), class_weight_rule(lambda m: 1 / (1 + np.exp(m)), split=False), log),
    ]


def of_numbers() -> list[Any]:
    scores, scale = Scores(1), TargetScale(1 << 23, 1 << 20)
    scores.add(column_cells(0, 7), np.linspace(-1, 1, 7)[:, None])
    halves = LabelWeights.of([1.0], np.array([0.5]))
    return [
        ScoreHistogram(column_cells(2, 5), ResidualRule(scale, 0, -4096, 4096, 7), scores),
        ScoreHistogram(OneCell(), ResidualRule(scale, 0, -4096, 4096, 7, LogLink(1.5, 3000)), scores),
        ResidualLevels(scale, np.array([-1000, 0, 1000]), scores),
        ResidualLevels(scale, np.array([-1000, 0, 1000]), scores, link=LogLink(1.0, 3000)),
        ResidualLevels(scale, np.array([-300, 0, 300]), scores, halves, LogLink(1.0, 3000), weighted_first=True),
        Histogram(column_cells(1, 30), count_rule(1)),
    ]


def test_every_question_is_answered_as_by_all_rows_in_one_place() -> None:
    here = Here()
    joined, whole = here.joined(), table()
    for _ in range(2):  # the second time nearly nothing is sent
        for query in of_labels():
            np.testing.assert_array_equal(joined.answer(query), whole.answer(query), err_msg=type(query).__name__)
    products = [
        Histogram(ProductCells((a, b), (np.arange(CODES[a]), np.arange(CODES[b])), (CODES[a], CODES[b])), rule, log)
        for rule, log in [(margin_rule(), log_of(OneCell()))]
        for a, b in [(0, 1), (1, 2)]
    ]
    for one, other in zip(joined.answer_all(products), whole.answer_all(products), strict=True):
        np.testing.assert_array_equal(one, other)


def test_every_question_about_numbers() -> None:
    joined, whole = Here(numbers=True).joined(), table(numbers=True)
    for query in of_numbers():
        np.testing.assert_array_equal(joined.answer(query), whole.answer(query), err_msg=type(query).__name__)


def halfspaces(n_features: int = WIDTH, radius: int = RADIUS) -> HalfspaceLog:
    log = HalfspaceLog(n_features, radius)
    log.add(np.linspace(-1, 1, n_features), 0.7)
    return log


def of_vectors(log: HalfspaceLog) -> list[Any]:
    levels = Levels.covering(4.0, 64)
    table = np.arange(64, dtype=np.int64)
    return [
        VectorSum(log, levels, table, 64),
        MeasureSize(log, levels, table, 64),
        MarginCounts(log, levels),
        MomentSum(1, log.n_features, log.radius),
        MomentSum(2, log.n_features, log.radius),
        ShortenedSquares(log.n_features, log.radius, 1000),
        Histogram(OneCell(), class_count_rule(2)),
    ]


def test_every_question_about_vectors() -> None:
    here = Here()
    joined, whole, log = here.joined(dense=True), vectors(), halfspaces()
    for _ in range(3):  # a log that grows
        for query in of_vectors(log):
            np.testing.assert_array_equal(joined.answer(query), whole.answer(query), err_msg=type(query).__name__)
        log.add(np.linspace(1, -2, WIDTH) ** 3)
    joined.answer(MarginCounts(log, Levels.covering(4.0, 64)))
    for tables in here.tables:  # one log, and of each of its steps one copy
        [known] = [each for each in tables._receiver._known.values() if isinstance(each, HalfspaceLog)]
        assert len(known.steps) == len(log.steps) == 4
        assert (
            fixed_margins(known, np.eye(WIDTH, dtype=np.int64) * RADIUS).tolist()
            == fixed_margins(log, np.eye(WIDTH, dtype=np.int64) * RADIUS).tolist()
        )


LITERALS = ((0, 1, (0, 2)), (np.arange(7) > 2, np.arange(30) % 2 == 0, np.indices((7, 5)).sum(axis=0) < 4))
LISTED = Conjunctions(*LITERALS, np.array([[-1, -1], [0, 1], [2, 1], [0, -1], [2, -1]], np.int32))


def streamed(k: int = 2) -> StreamedConjunctions:
    return StreamedConjunctions(*LITERALS, k, True, 2)


def test_covers_are_counted_as_in_one_place() -> None:
    here = Here()
    joined, whole = here.joined(), table()
    flow = streamed()
    for order in ((1, 4, 0), (3, 2, 0)):
        covers = [each.open_cover(LISTED) for each in (joined, whole)]
        flowing, alone = joined.open_cover(flow), table().open_cover(flow.listed())
        for chosen in order:
            np.testing.assert_array_equal(covers[0].counts, covers[1].counts)
            assert covers[0].counts.sum() > 0
            blocks = [flowing.block(block) for block in range(flow.n_blocks)]
            np.testing.assert_array_equal(np.concatenate(blocks), alone.counts)
            for each in (*covers, flowing, alone):
                each.remove(chosen)
        np.testing.assert_array_equal(covers[0].counts, np.zeros((5, 2)))  # the constant has left
    decided = Histogram(FirstMatch(LISTED.take([2, 1])), class_count_rule(2))
    np.testing.assert_array_equal(joined.answer(decided), whole.answer(decided))


def test_a_cover_that_goes_on_is_one_release() -> None:
    """And one that begins again, or that forgets a rule, is another."""
    tables, sender = SiteTables(lambda _: table(), False), Sender()
    tables.tell({"do": "seal", "table": 1})

    def releases(look: Any) -> int:
        made = tables.look(msgpack.unpackb(msgpack.packb({"table": 1, "look": sender.plain(look)})))
        tables.answer(made)
        return tables.sums_of(made)

    other = LISTED.take([0, 1])
    assert [
        releases(CoverSums(LISTED, (), 0)),
        releases(CoverSums(LISTED, (2,), 0)),
        releases(CoverSums(LISTED, (2, 1, 0), 0)),
        releases(CoverSums(LISTED, (2, 1, 0), 0)),
        releases(CoverSums(LISTED, (2,), 0)),
        releases(CoverSums(LISTED, (1,), 0)),
        releases(CoverSums(other, (1,), 0)),
        releases(SumsOf(Histogram(OneCell(), count_rule(2)))),
    ] == [1, 0, 0, 0, 1, 1, 1, 1]


def test_codes_that_change_begin_a_cover_anew() -> None:
    result = table()
    result.open_cover(LISTED).remove(1)
    before = result.total(CoverSums(LISTED, (1,), 0))
    result.coarsen(0, np.arange(7)[::-1].copy())
    turned = [rows()[0][0] * 0 + 6 - rows()[0][0], *rows()[0][1:]]
    expected = MemoryTable(turned, rows()[1], CODES, 2).total(CoverSums(LISTED, (1,), 0))
    np.testing.assert_array_equal(result.total(CoverSums(LISTED, (1,), 0)), expected)
    assert not np.array_equal(before, expected)


def test_logs_codes_and_bounds_change_as_in_one_place() -> None:
    here = Here()
    joined, whole = here.joined(), table()
    log, fine = Margins(), column_cells(1, 30)
    log.add(fine, np.linspace(-1, 1, 30))
    first = Histogram(OneCell(), margin_rule(), log)
    np.testing.assert_array_equal(joined.answer(first), whole.answer(first))
    for each in (joined, whole):
        each.derive(fine)
    log.add(fine, np.linspace(1, -2, 30))
    mapping = np.arange(30) // 6
    for each in (joined, whole):
        each.coarsen(1, mapping)
    assert joined.layout == whole.layout
    log.add(mapped_cells(1, np.arange(5)), np.linspace(0, 1, 5))
    coarse = Histogram(column_cells(1, 5), margin_rule(), log)
    for query in (first, coarse, Histogram(fine, class_count_rule(2)), Histogram(column_cells(1, 5), count_rule(2))):
        np.testing.assert_array_equal(joined.answer(query), whole.answer(query))
    part = JointPart("a", column_cells(0, 7), ReleaseMap.from_floats(np.diag(np.arange(1.0, 8))), Gaussian(1.0))
    bound = JointBound((part,), 1 << 26)
    for each in (joined, whole):
        each.bind(bound, 1)
    weighted = weighted_rule(margin_rule(), (1.0, 1.0), level_weights())
    query = JointHistogram(Histogram(column_cells(0, 7), weighted, log, part.release_map), bound)
    np.testing.assert_array_equal(joined.answer(query), whole.answer(query))


def test_what_was_sent_is_not_sent_again_and_is_forgotten() -> None:
    here = Here()
    joined = here.joined()
    rule, log = margin_rule(), log_of(OneCell())
    joined.answer(Histogram(column_cells(0, 7), rule, log))
    first = here.bytes
    joined.answer(Histogram(column_cells(0, 7), rule, log))
    assert here.bytes < first / 10
    del rule, log
    gc.collect()
    joined.answer(Histogram(OneCell(), count_rule(2)))
    assert len(here.tables[0]._receiver._known) == 1
    del joined
    gc.collect()
    assert here.told == [{"do": "unseal", "table": here.told[0]["table"]}]


def test_only_totals_are_to_be_had() -> None:
    joined = Here().joined()
    with pytest.raises(TypeError):
        joined.each(None)


# What a site refuses.


def asked(query: Any, change: Any = None, numbers: bool = False) -> None:
    """Asks a site, after changing what is on its way."""
    here, sender = Here(numbers), Sender()
    tables = SiteTables(here.made, numbers)
    tables.tell({"do": "seal", "table": 1, "recipe": isinstance(query, ABOUT_VECTORS)})
    look = sender.plain(query if isinstance(query, CoverSums) else SumsOf(query))
    if change is not None:
        change(look)
    message = msgpack.unpackb(msgpack.packb({"table": 1, "look": look}))
    tables.answer(tables.look(message))


ABOUT_VECTORS = (VectorSum, MeasureSize, MarginCounts, MomentSum, ShortenedSquares)


def test_what_is_well_is_answered() -> None:
    asked(CoverSums(LISTED, (3, 1), 0))
    asked(CoverSums(streamed(), (3, 1), 6))
    for query in of_vectors(halfspaces()):
        asked(query)
    for query in of_labels():
        if not isinstance(query, JointHistogram):
            asked(query)


def score_rule(n: int) -> ScoreHistogram:
    scores = Scores(n)
    return ScoreHistogram(OneCell(), SoftmaxRule(n), scores)


def bad_literals(column: int, n_codes: int) -> Conjunctions:
    return Conjunctions((column,), (np.ones(n_codes, np.bool_),), np.zeros((1, 1), np.int32))


BEYOND = {
    "a column that is not there": Histogram(column_cells(3, 5), count_rule(2)),
    "a column before the first": Histogram(column_cells(-1, 5), count_rule(2)),
    "too few codes": Histogram(column_cells(1, 29), count_rule(2)),
    "a rule for fewer labels": Histogram(OneCell(), count_rule(1)),
    "a rule with weights for labels without": Histogram(OneCell(), count_rule(2 * N_LEVELS)),
    "an update of other codes": Histogram(OneCell(), margin_rule(), log_of(column_cells(1, 20))),
    "too many cells": Histogram(
        ProductCells((1, 1), (np.full(30, 0), np.full(30, 0)), (1 << 12, 1 << 12)), count_rule(2)
    ),
    "a tree over no column": Histogram(TreeCells(complete_shape([9], threshold_sets([2]))), count_rule(2)),
    "levels of fewer classes than labels have": ScoreHistogram(OneCell(), level_rule(1), Scores(1)),
    "residuals of classes": ResidualLevels(TargetScale(0, 1), np.array([0]), Scores(1)),
    "weights of fewer labels": ScoreHistogram(
        OneCell(), SoftmaxRule(2), Scores(2), None, LabelWeights(np.zeros(1, np.uint8), np.zeros(1, np.int64))
    ),
    "a class that no rule knows": ScoreHistogram(
        OneCell(), SoftmaxRule(2), Scores(2), None, LabelWeights(np.array([0, 7], np.uint8), np.zeros(2, np.int64))
    ),
    "splits of fewer codes": SplitHistogram(
        TREE, (1,), (29,), class_weight_rule(lambda m: 0 * m, split=False), log_of(OneCell())
    ),
    "a halfspace of fewer coordinates": MarginCounts(halfspaces(WIDTH - 1), Levels(3, 64)),
    "an update of first matches of fewer codes": Histogram(
        OneCell(), margin_rule(), log_of(FirstMatch(bad_literals(1, 29)))
    ),
    "moments of more coordinates": MomentSum(2, WIDTH + 1, RADIUS),
    "rows that left with no conjunction": CoverSums(LISTED, (5,), 0),
    "rows that left before the first": CoverSums(LISTED, (-1,), 0),
    "rows that left twice": CoverSums(LISTED, (1, 1), 0),
    "a block that is not there": CoverSums(streamed(), (), 7),
    "a block of what is listed": CoverSums(LISTED, (), 1),
    "a literal on no column": CoverSums(bad_literals(3, 5), (), 0),
    "a literal on fewer codes": CoverSums(bad_literals(1, 29), (), 0),
    "the first match of literals on fewer codes": Histogram(FirstMatch(bad_literals(1, 29)), count_rule(2)),
    "joint sums of rows that nobody bounded": JointHistogram(
        Histogram(OneCell(), RowRule(np.ones((2 * N_LEVELS, LEVELS, 1), np.int32), 1), Margins()),
        JointBound((JointPart("a", OneCell(), ReleaseMap.from_floats(np.eye(1)), Gaussian(1.0)),), 1 << 26),
    ),
}


@pytest.mark.parametrize("what", list(BEYOND))
def test_what_could_read_beyond_the_rows_is_refused(what: str) -> None:
    with pytest.raises((WireError, KeyError)):
        asked(BEYOND[what])


def first_array(data: Any, dtype: str) -> dict[str, Any]:
    """The first array of a type in plain data."""
    if isinstance(data, dict):
        if data.get("array") == dtype:
            return data
        data = list(data.values())
    result = [first_array(each, dtype) for each in data] if isinstance(data, list) else []
    return next((each for each in result if each), {})


def changing(dtype: str, **facts: Any) -> Any:
    return lambda look: first_array(look, dtype).update(facts)


def _circle(look: Any) -> None:
    array = first_array(look["of"]["query"]["of"]["cells"]["of"]["shape"]["of"]["children"], "<i8")
    array["bytes"] = np.array([[0, -1], [-2, -3], [-4, -1]]).tobytes()


Item = TypeVar("Item", bound=np.generic)
Array = TypeAliasType("Array", np.ndarray[Any, np.dtype[Item]], type_params=(Item,))


@pytest.mark.parametrize("arrays", [npt.NDArray, Array], ids=["of numpy", "an alias of its own"])
def test_arrays_are_of_the_annotated_type_however_numpy_names_it(arrays: Any) -> None:
    """Since 2.5 it has an alias of its own on Python 3.12 and newer, and sites refused all that they were asked."""
    for hint in (arrays[np.int32], arrays[np.int32] | None, tuple[arrays[np.int32], ...]):
        for value, fits in ((np.zeros(2, np.int32), True), (np.zeros(2, np.int64), False), ([0, 0], False)):
            assert _fits((value,) if hint == tuple[arrays[np.int32], ...] else value, hint) == fits
    assert _fits(None, arrays[np.int32] | None)
    assert not _fits(None, arrays[np.int32])


def test_children_come_after_their_parents() -> None:
    """Of two splits: the second below the first, or neither below another; leaves are numbered from -1 to -3."""
    for children in product(range(-4, 3), repeat=4):
        array = np.array(children).reshape(2, 2)
        if all(-3 <= child <= -1 for child in children[2:]) and all(-3 <= c <= -1 or c == 1 for c in children[:2]):
            _check_children(array)
        else:
            with pytest.raises(WireError, match="numbered wrongly"):
                _check_children(array)


DAMAGED: dict[str, Any] = {
    "an object array": changing("<i4", array="|O"),
    "a date array": changing("<i4", array="<M8[s]"),
    "floats for whole numbers": changing("<i4", array="<f8"),
    "a shorter array": changing("<i4", bytes=b"1234"),
    "a negative shape": changing("<i4", shape=[-1, -1]),
    "a kind that nobody knows": lambda look: look["of"]["query"].update({"is": "eval"}),
    "a query in the place of a look": lambda look: look.update(look["of"]["query"]),
    "a part too many": lambda look: look["of"]["query"]["of"].update({"more": 1}),
    "a part too few": lambda look: look["of"]["query"]["of"].pop("rule"),
    "a number for cells": lambda look: look["of"]["query"]["of"].update({"cells": 3}),
    "a reference to nothing": lambda look: look["of"]["query"]["of"].update({"rule": {"known": 99}}),
    "a log that begins in the middle": lambda look: look["of"]["query"]["of"]["margins"].update({"from": 1}),
    "no log": lambda look: look["of"]["query"]["of"]["margins"].update({"is": "no"}),
    "a log of numbers too many": lambda look: look["of"]["query"]["of"]["margins"].update({"numbers": [2]}),
    "a log of too many scores": lambda look: look["of"]["query"]["of"]["margins"].update(
        {"is": "Scores", "numbers": [257]}
    ),
    "a log of scores": lambda look: look["of"]["query"]["of"]["margins"].update({"is": "Scores", "numbers": [1]}),
    "a circle": _circle,
}


@pytest.mark.parametrize("what", list(DAMAGED))
def test_what_is_damaged_is_refused(what: str) -> None:
    query = Histogram(TREE, margin_rule(), log_of(OneCell()))
    asked(query)
    with pytest.raises(WireError):
        asked(query, DAMAGED[what])


OUT_OF_RANGE: dict[str, Any] = {
    "a shift of too many bits": lambda facts: facts["log"]["new"][0]["of"].update({"shift": 63}),
    "a shift the other way": lambda facts: facts["log"]["new"][0]["of"].update({"shift": -1}),
    "a multiplier too large": lambda facts: facts["log"]["new"][0]["of"].update({"multiplier": (1 << 24) + 1}),
    "a step of no length": lambda facts: facts["log"]["new"][0]["of"].update({"limit": 0}),
    "a step too long": lambda facts: facts["log"]["new"][0]["of"].update({"limit": 1 << 27}),
    "a vector too long": lambda facts: first_array(facts["log"]["new"], "<i2").update(
        bytes=np.full(WIDTH, 30_000, np.int16).tobytes()
    ),
    "an entry of another log": lambda facts: facts["log"]["new"][0].update({"is": "OneCell", "of": {}}),
    "rows of another length": lambda facts: facts["log"].update({"numbers": [WIDTH, RADIUS - 1]}),
    "more coordinates than rows have": lambda facts: facts["log"].update({"numbers": [WIDTH + 1, RADIUS]}),
    "levels of too many bits": lambda facts: facts["levels"]["of"].update({"shift": 63}),
}


@pytest.mark.parametrize("what", list(OUT_OF_RANGE))
def test_halfspaces_out_of_range_are_refused(what: str) -> None:
    query = VectorSum(halfspaces(), Levels.covering(4.0, 64), np.arange(64, dtype=np.int64), 64)
    asked(query)
    with pytest.raises(ValueError):
        asked(query, lambda look: OUT_OF_RANGE[what](look["of"]["query"]["of"]))


@pytest.mark.parametrize("facts", [{"k": 65}, {"k": 0}, {"n_labels": 0}, {"n_labels": 257}])
def test_conjunctions_that_a_site_would_make_without_end_are_refused(facts: dict[str, int]) -> None:
    with pytest.raises(WireError, match="too many literals"):
        asked(CoverSums(streamed(), (), 0), lambda look: look["of"]["candidates"]["of"].update(facts))


@pytest.mark.parametrize("again", [1, 2])
def test_a_log_stays_with_its_table(again: int) -> None:
    """Updates for 3 codes were applied to rows of 200, and read beyond their values: into the memory of a site."""

    def made(n: int) -> MemoryTable:
        return MemoryTable([(np.arange(ROWS) % n).astype(np.uint8)], rows()[1], (n,), 2)

    tables, sender = SiteTables(made, False), Sender()
    log = log_of(column_cells(0, 3))

    def looked(number: int, n: int) -> Any:
        query = Histogram(column_cells(0, n), margin_rule(), log)
        return tables.answer(tables.look({"table": number, "look": sender.plain(SumsOf(query))}))

    tables.tell({"do": "seal", "table": 1, "recipe": 3})
    looked(1, 3)
    looked(1, 3)
    if again == 1:  # another table under the number of the first
        tables.tell({"do": "unseal", "table": 1})
    tables.tell({"do": "seal", "table": again, "recipe": 200})
    with pytest.raises(WireError, match="of another table"):
        looked(again, 200)


def test_codes_that_change_leave_no_update_behind() -> None:
    """Cells made for 30 codes of a column are refused once it has 5, also in updates that are to come."""
    tables, sender = SiteTables(lambda _: table(), False), Sender()
    cells = column_cells(1, 30)

    def looked(query: Any) -> None:
        tables.look({"table": 1, "look": {"is": "SumsOf", "of": {"query": sender.plain(query)}}})

    tables.tell({"do": "seal", "table": 1, "recipe": {}})
    looked(Histogram(cells, count_rule(2)))
    tables.tell({"do": "coarsen", "table": 1, "logs": [], "column": 1, "mapping": sender.plain(np.arange(30) // 6)})
    for query in (Histogram(cells, count_rule(2)), Histogram(OneCell(), margin_rule(), log_of(column_cells(1, 30)))):
        with pytest.raises(WireError, match="another number of codes"):
            looked(query)


@pytest.mark.parametrize(
    "what",
    [
        {"do": "seal", "table": 1, "recipe": {}},
        {"do": "coarsen", "table": 1, "column": 9, "mapping": Sender().plain(np.zeros(5, np.int64))},
        {"do": "coarsen", "table": 1, "column": 0, "mapping": Sender().plain(np.zeros(7))},
        {"do": "coarsen", "table": 1, "column": 0, "mapping": Sender().plain(np.zeros(3, np.int64))},
        {"do": "coarsen", "table": 2, "column": 0, "mapping": Sender().plain(np.zeros(7, np.int64))},
        {"do": "coarsen", "table": 1, "column": 0, "mapping": None},
        {"do": "coarsen", "table": 1, "column": 0, "mapping": [0, 1]},
        {"do": "coarsen", "table": 1, "column": 0},
        {"do": "derive", "table": 1, "cells": Sender().plain(column_cells(8, 3))},
        {"do": "run", "table": 1},
        {"do": "seal"},
        "seal",
    ],
)
def test_what_cannot_be_done_is_refused(what: Any) -> None:
    tables = SiteTables(lambda _: table(), False)
    tables.tell({"do": "seal", "table": 1, "recipe": {}})
    with pytest.raises(ValueError):
        tables.tell(what)


def test_what_does_not_travel_is_no_query() -> None:
    with pytest.raises(TypeError, match="does not travel"):
        Sender().plain(object())
