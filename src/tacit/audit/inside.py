"""What an audit sees of views and streams, whose secrets stay behind the gate: who gets which rows, and what is tested.

On a neighbour a secret is forced to what it was on the recorded table, for the rows that both have: then what follows
differs by the neighbouring row alone, and can be judged.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, final

import numpy as np

from tacit.arrays import Ints
from tacit.audit.recording import SLACK, Recording
from tacit.curator.views.resample import CAP
from tacit.encoding.values import DROPPED
from tacit.privacy.charges import BoundedRange
from tacit.privacy.unit import Neighbouring


@final
@dataclass(frozen=True)
class Apart:
    """Which rows of a table differ from the recorded ones."""

    moved: tuple[int, ...]  # their positions, in the longer table
    count: int  # how many of them count; a dropped row is like one that is not there

    @property
    def factor(self) -> int:
        """How often what is declared of one row may be seen."""
        return max(self.count, 1)


class Inside:
    """Judges the secret steps of views and streams; see :meth:`tacit.curator.gate.Witness.inside`."""

    def __init__(self, watch: Any) -> None:  # a Watch, whose module imports this one
        self._watch = watch
        self._differing: list[tuple[Any, Apart]] = []  # of the rows of children
        self._period = 0
        self._periods: set[int] = set()  # of a stream, in which a row moves anything
        self.testers = 0
        self.steps: dict[str, Callable[[Any, Any, Any], Any]] = {
            "weights": self._weights,
            "end test": self._end_test,
            "pattern": self._pattern,
            "coins": self.coins,
            "view": self._view,
            "stream choice": self._stream_choice,
            "period": self._renew,
        }

    @property
    def recording(self) -> Recording:
        """What is written to."""
        recording: Recording = self._watch.recording
        return recording

    @property
    def _moved(self) -> tuple[int, ...]:
        moved: tuple[int, ...] = self._watch.apart.moved
        return moved

    @property
    def _factor(self) -> int:
        """How often what is declared of one row may be seen."""
        factor: int = self._watch.apart.factor
        return factor

    @property
    def _one(self) -> bool:
        """Whether a neighbour has a row more or less, and no other one."""
        assert self._watch.opening is not None
        return bool(self._watch.opening.reservation.neighbouring is Neighbouring.ADD_OR_REMOVE_ONE)

    def apart_of(self, rows: Any) -> Apart:
        """Which rows of a child differ."""
        return next((apart for child, apart in self._differing if child is rows), Apart((), 0))

    # ---- views

    def coins(self, about: Any, exact: Any, value: Any) -> Any:
        """Coins of rows: those of rows that stay are the recorded ones."""
        del about, exact
        recorded = self.recording.event("coins", (), None, value)
        if not self.recording.beside or len(recorded) == len(value):
            return recorded
        moved = self._moved
        if abs(len(recorded) - len(value)) != len(moved):
            self.recording.diverge(f"{len(value)} coins were thrown, and {len(recorded)} on the recorded table")
        if len(recorded) > len(value):
            return np.delete(recorded, moved)
        forced = value.copy()
        forced[np.delete(np.arange(len(value)), moved)] = recorded
        return forced

    def _view(self, about: Any, exact: Any, value: Any) -> Any:
        """Rows of children: a row that differs is one child's, unless rows are drawn by themselves."""
        del exact
        contents = [contents_of(child) for child in value]
        factor = self._factor
        independent = hasattr(about, "size") or getattr(about, "replacement", False)

        def judge(before: Any, after: Any) -> Iterator[str]:
            apart = [self._rows_apart(a, b) for a, b in zip(before, after, strict=True)]
            self._differing += list(zip(value, apart, strict=True))
            if not independent and sum(child.count for child in apart) > factor:
                yield f"of the children {apart} differ, where {factor} rows of the parent do"

        self.recording.event("view", (type(about).__name__, len(value)), contents, None, judge)
        return value

    def _rows_apart(self, before: Sequence[tuple[Any, ...]], after: Sequence[tuple[Any, ...]]) -> Apart:
        longer, shorter = (before, after) if len(before) >= len(after) else (after, before)
        moved = self._moved if len(longer) > len(shorter) else ()
        common = [k for k in range(len(longer)) if k not in set(moved)]
        if len(common) != len(shorter):
            self.recording.diverge("a child has another number of rows")
        changed = tuple(k for k, row in zip(common, shorter, strict=True) if differ(longer[k], row))
        return Apart(tuple(moved) + changed, len(changed) + sum(longer[k][0] != DROPPED for k in moved))

    def _weights(self, about: Any, exact: Any, value: Any) -> Any:
        """Weights that rows are drawn by."""
        judge = self._judge_own if hasattr(about, "table") else self._judge_slick
        return self.recording.event("weights", (type(about).__name__, about.size), exact, value, judge).copy()

    def _judge_slick(self, before: Any, after: Any) -> Iterator[str]:
        """One replaced row moves the distribution by at most one row of full weight in all."""
        same = np.ones(len(before), bool)
        same[list(self._moved)] = False
        nobody = abs(int(before.sum()) - int(after.sum()))
        moved = int(np.abs(before - after)[same].sum() + before[~same].sum() + after[~same].sum()) + nobody
        yield from self.recording.within(moved, 2 * CAP * self._factor, "the weight that moved")

    def _judge_own(self, before: Any, after: Any) -> Iterator[str]:
        """A row's weight depends on that row alone."""
        changed = set(np.flatnonzero(before != after).tolist())
        share = int(np.abs(before - after).max(initial=0)) / CAP
        self.recording.tightest = max(self.recording.tightest, share)
        if not changed <= set(self._moved) or max(before.max(initial=0), after.max(initial=0)) > CAP:
            yield f"the weights of rows {sorted(changed)} changed with those of {self._moved}"

    def _end_test(self, about: Any, exact: int, value: bool) -> Any:
        """A noisy size; it is of the weights on this table, and those that are forced are the recorded ones."""
        assert self._watch.opening is not None

        def judge(before: int, after: int) -> Iterator[str]:
            yield from self.recording.within(abs(before - after), CAP, "the shift of the measure's size")

        public = about.threshold, list(self._watch.opening.draws)
        return self.recording.event("end test", public, exact, value, judge)

    def _pattern(self, about: Any, exact: int, value: Any) -> Any:
        """A pattern is not released. On a neighbour the one that says the same of all rows in common is taken."""
        recording, n = self.recording, exact
        if about.public and value.candidates.lengths is not None:
            return self._runs(about, value)
        public = about.epsilon, about.span, about.theorem
        index = recording.event("pattern", public, pattern(value, value.index, n), value.index)
        if not recording.beside:
            return value
        labels, errors = recording.forced().exact
        candidates = range(len(value.candidates.scores))
        same = [index] if about.public else [k for k in candidates if self._agree(labels, pattern(value, k, n)[0])]
        if not same:
            recording.diverge("no pattern on the neighbour agrees with the recorded one on the rows in common")
        scores = [int(value.candidates.scores[k]) for k in same]
        shift = min(abs(score - errors) for score in scores)
        for wrong in recording.within(shift, (1 if self._one else 2) * self._factor, "the shift of a pattern's errors"):
            recording.fault(wrong)
        return replace(value, index=same[scores.index(min(scores))])

    def _runs(self, about: Any, value: Any) -> Any:
        """A public candidate, chosen among runs of equal scores: how far apart scores move, over all candidates."""
        assert self._watch.opening is not None
        candidates, opening, recording = value.candidates, self._watch.opening, self.recording
        exact = (list(accumulate(int(length) for length in candidates.lengths)), candidates.scores.tolist())
        declared = (1 if self._one else 2) * self._factor
        charge = opening.questions[0].charge  # in a view the choice is paid for with the child
        span = about.span if opening.verb == "view" or not isinstance(charge, BoundedRange) else charge.range
        allowed = span * (2 / about.epsilon) * self._factor * (1 + SLACK)

        def judge(before: Any, after: Any) -> Iterator[str]:
            cuts = sorted({*before[0], *after[0]} - {0})
            change = [score_at(after, cut - 1) - score_at(before, cut - 1) for cut in cuts]
            spread = max(change) - min(change)
            yield from recording.within(spread, declared, "the spread of scores")
            if spread > allowed:
                yield f"scores move {spread} apart at epsilon {about.epsilon}, which costs more than a range of {span}"

        public = about.epsilon, about.span, about.theorem, exact[0][-1]
        return replace(value, index=recording.event("choice in runs", public, exact, value.index, judge))

    def _agree(self, before: Ints, after: Ints) -> bool:
        moved, length = list(self._moved), max(len(before), len(after))
        both = len(before) == len(after)
        before, after = (np.delete(side, moved) if both or len(side) == length else side for side in (before, after))
        return bool(np.array_equal(before, after))

    # ---- streams

    def _renew(self, about: Any, exact: Any, value: Any) -> Any:
        """A new period of a stream."""
        del exact
        self._period += 1
        return self.recording.event("period", str(about), None, value)

    def _stream_choice(self, about: Any, exact: Any, value: Any) -> Any:
        """Scores that the machine of a stream chooses by."""
        score_range, self._watch.stream_charge, size = about

        def judge(before: Any, after: Any) -> Iterator[str]:
            change = after - before
            spread = int(change.max() - change.min())
            yield from self.recording.within(spread, score_range, "the spread of scores")
            yield from self.in_one_period() if change.any() else ()

        public = score_range, str(self._watch.stream_charge), size
        return self.recording.event("stream choice", public, np.array(exact), value, judge)

    def in_one_period(self) -> Iterator[str]:
        """A row moves something in one period of a stream alone."""
        self._periods.add(self._period)
        if len(self._periods) > 1:
            yield f"a row moves something in periods {sorted(self._periods)}"


class Tester:
    """An above-threshold whose answers are forced on a neighbour; see :class:`tacit.curator.streams.open.Tester`."""

    def __init__(self, tester: Any, watch: Any, inside: Inside) -> None:
        self._tester, self._watch, self._inside = tester, watch, inside
        self._number, inside.testers = inside.testers, inside.testers + 1
        self._epochs, self._moved_epochs = 0, set[int]()
        self._signs = set[int]()
        recording = watch.recording
        (kind, scale, size), recording.draws = recording.draws[-1], recording.draws[:-1]  # of the noisy threshold
        recording.unclaimed[kind, scale, size] -= 1
        self._begin()

    def _begin(self) -> None:
        self._epochs += 1
        public = self._number, self._epochs, self._tester.threshold, str(self._tester.charge)
        self._watch.recording.event("epoch", public, None, None)

    @property
    def stopped(self) -> bool:
        """Whether a test was above."""
        return bool(self._tester.stopped)

    def test(self, value: int) -> bool:
        """Whether the next query is about above the threshold."""
        with self._watch.quiet():
            answer = self._tester.test(value)
        return bool(self._forced(np.array([value], np.int64), answer, many=False))

    def test_many(self, values: Ints) -> int | None:
        """The index of the first query of a run that is; None if none is."""
        with self._watch.quiet():
            answer = self._tester.test_many(values)
        first: int | None = self._forced(values.copy(), answer, many=True)
        return first

    def _forced(self, exact: Ints, answer: Any, many: bool) -> Any:
        recording = self._watch.recording

        def judge(before: Any, after: Any) -> Iterator[str]:
            released = recording.forced().released
            end = len(before) if not many or released is None else released + 1  # later ones are not looked at
            change = after[:end] - before[:end]
            if not change.any():
                return
            yield from self._inside.in_one_period()
            self._moved_epochs.add(self._epochs)
            self._signs |= set(np.sign(change).tolist()) - {0}
            yield from recording.within(int(np.abs(change).max()), 1, "the shift of a tested count")
            if len(self._moved_epochs) > 1 or len(self._signs) > 1:
                yield f"a row is counted in epochs {sorted(self._moved_epochs)}, in directions {sorted(self._signs)}"

        released = recording.event("test", (self._number, many, len(exact)), exact, answer, judge)
        stopped = released is not None if many else bool(released)
        self._tester.restore({**self._tester.secrets(), "stopped": stopped})
        return released

    def restart(self) -> None:
        """Begins the next epoch."""
        with self._watch.quiet():
            self._tester.restart()
        self._begin()

    def secrets(self) -> dict[str, int | bool]:
        """What has to be kept to go on elsewhere."""
        secrets: dict[str, int | bool] = self._tester.secrets()
        return secrets

    def restore(self, secrets: dict[str, int | bool]) -> None:
        """Goes on from secrets."""
        self._tester.restore(secrets)


def pattern(choice: Any, index: int, n: int) -> tuple[Ints, int]:
    """What a pattern says of every row (-1 of those that are dropped), and its score."""
    labels = np.full(n, -1, np.int64)
    labels[choice.kept] = np.asarray(choice.candidates.labels(index))[choice.place]
    return labels, int(choice.candidates.scores[index])


def score_at(runs: Any, number: int) -> int:
    """The score of a candidate, from where runs end and what they score."""
    return int(runs[1][bisect_right(runs[0], number)])


def differ(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Whether two rows of a child differ in what counts."""
    return a != b and (a[0], b[0]) != (DROPPED, DROPPED)


def contents_of(rows: Any) -> list[tuple[Any, ...]]:
    """The rows of a child, label code first, as texts that compare by content."""
    columns = [[repr(value) for value in np.asarray(rows.frame.column(name)).tolist()] for name in rows.frame.names]
    return [(int(label), *row) for label, row in zip(rows.labels, zip(*columns, strict=True), strict=True)]


def distances(before: Any, after: Any) -> tuple[int, int]:
    """L1 distance and squared L2 distance, exact."""
    change = [abs(int(value)) for value in (after - before).ravel() if value]
    return sum(change), sum(value * value for value in change)
