"""Where the product is held: the witness of its gate, and the verbs of streams and views, for the time of one run.

All that these tests know of the product's modules stands in the imports here.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

import tacit.curator.views.view as view_verb
import tacit.estimators.batchwise as batchwise
from tacit.curator.cover import cover_scale
from tacit.curator.rows import PrivateRows
from tacit.curator.streams.open import Stream
from tacit.curator.streams.open import _Gate as StreamGate
from tacit.curator.views.relabel import Chosen, Relabel, RelabelPart
from tacit.curator.views.resample import MeasureSample, SmoothSample
from tacit.curator.views.view import Parts, Sample
from tacit.encoding.values import DROPPED
from tacit.evaluation import private_selection
from tacit.noise.above_threshold import AboveThreshold
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.charges import ApproxDP, BoundedRange, Gaussian, Laplace
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.dense.vector_sum import WEIGHT_BITS
from tacit.queries.keys import KEY_UNIT
from tests.replay.engine import LATTICE, SLACK, Group, Tape

CAP = 1 << WEIGHT_BITS


@dataclass(frozen=True)
class Apart:
    """Which rows of a table differ from the recorded ones.

    Attributes:
        moved: their positions, in the longer table.
        count: how many of them count; a dropped row is like one that is not there.
    """

    moved: tuple[int, ...]
    count: int


class Seams:
    """The wrappers of one run."""

    def __init__(self, tape: Tape, patch: pytest.MonkeyPatch) -> None:
        self.tape, self.patch = tape, patch
        self.owned: list[list[Any]] = []  # verbs that answer for every draw that is made inside them
        self.paid: Any = None  # the reservation and the charge of the last line of a ledger
        self.last: Any = None
        self.children: list[tuple[Any, Apart]] = []  # which rows of a child differ, by its reservation
        self.differing: list[tuple[Any, Apart]] = []  # the same by the rows of the child
        self.choice: dict[str, Any] | None = None
        self.bounds: list[Any] = []
        self.testers: list[tuple[Any, dict[str, Any]]] = []
        self.period = 0
        self.periods: set[int] = set()  # of a stream, in which a row moves anything

    @contextmanager
    def owner(self) -> Iterator[list[Any]]:
        inside: list[Any] = []
        self.owned.append(inside)
        try:
            yield inside
        finally:
            self.owned.pop()

    def apart(self) -> Apart:
        """Which rows of the table in question differ: the one whose reservation paid last."""
        whole = Apart(self.tape.moved, 1)  # a row, or a person
        return next((apart for reservation, apart in self.children if reservation is self.paid), whole)

    def moved(self) -> tuple[int, ...]:
        return self.apart().moved

    def factor(self) -> int:
        """How often what is declared of one row may be seen."""
        return max(self.apart().count, 1)

    def wrap(self, place: Any, name: str, make: Any) -> None:
        self.patch.setattr(place, name, make(getattr(place, name)))

    def install(self) -> None:
        self.wrap(Reservation, "record", self.record)
        for kind in ("gaussian", "laplace"):
            self.wrap(SeededSource, kind, lambda old, kind=kind: self.noise(old, kind))
        self.wrap(SeededSource, "exponential", self.exponential)
        self.wrap(SeededSource, "exponential_place", self.exponential_place)
        self.wrap(SeededSource, "exponential_runs", self.exponential_runs)
        self.wrap(SeededSource, "words", self.words)
        self.wrap(private_selection, "random_part", self.holdout)
        self.patch.setattr(PrivateRows, "witness", self)
        self.wrap(AboveThreshold, "_begin", self.begin)
        self.wrap(AboveThreshold, "test", lambda old: self.test(old, many=False))
        self.wrap(AboveThreshold, "test_many", lambda old: self.test(old, many=True))
        self.wrap(Stream, "renew", self.renew)
        self.wrap(StreamGate, "choose", self.gate_choose)
        for view in (Sample, Parts, MeasureSample, SmoothSample, Relabel):
            self.wrap(view, "open", self.open)
        self.wrap(MeasureSample, "weights", lambda old: self.weights(old, self.judge_slick))
        self.wrap(SmoothSample, "weights", lambda old: self.weights(old, self.judge_own))
        self.wrap(SmoothSample, "_ends", self.ends)
        self.wrap(Relabel, "choose", self.relabel)
        self.wrap(RelabelPart, "choose", self.relabel)
        self.wrap(view_verb, "_child", self.child)
        self.patch.setattr(batchwise, "new_series", lambda: "series 0")  # a name made of the time

    # ---- ledger and noise

    def record(self, old: Any) -> Any:
        def record(reservation: Any, charge: Any, label: str, theorem: str, kept: bool = False) -> Any:
            entry = old(reservation, charge, label, theorem, kept)
            self.tape.passage("charge", (str(charge), label, theorem), None, None)
            self.tape.entered(charge, label, theorem)
            self.paid, self.last = reservation, charge
            return entry

        return record

    def noise(self, old: Any, kind: str) -> Any:
        def draw(source: Any, scale: float, size: int) -> Any:
            found = old(source, scale, size)
            if self.owned:
                self.owned[-1].append((kind, scale))
            else:
                self.tape.drawn(kind, float(scale), int(size))
            return found

        return draw

    def words(self, old: Any) -> Any:
        def words(source: Any, size: int) -> Any:
            found = old(source, size)
            if not self.owned:
                self.tape.fault("random words were drawn outside every verb that is known")
            elif self.owned[-1] is not None and "view" in self.owned[-1]:
                return self._coins(found)
            return found

        return words

    def holdout(self, old: Any) -> Any:
        def part(source: Any, rate: float, size: int) -> Any:
            with self.owner() as inside:
                inside.append("view")
                return old(source, rate, size)

        return part

    def _coins(self, found: Any) -> Any:
        """Coins of rows: those that stay keep theirs."""
        tape = self.tape
        if not tape.replaying:
            return tape.passage("coins", (), None, found)
        old = tape.passage("coins", (), None, found)
        if len(old) == len(found):
            return old
        moved = self.moved()
        if abs(len(old) - len(found)) != len(moved):
            tape.diverge(f"{len(found)} coins were thrown, and {len(old)} on the recorded table")
        if len(old) > len(found):
            return np.delete(old, moved)
        kept = np.delete(np.arange(len(found)), moved)
        found = found.copy()
        found[kept] = old
        return found

    # ---- the gate: see tacit.curator.gate.Witness

    sees_exact_answers = follows_views = True

    def table(self, table: Any) -> Any:
        return table

    def release(self, questions: Any, make: Any) -> Any:
        self.secrets: list[tuple[Any, Any]] = []
        verb, facts = questions[0].verb if questions else "", nullcontext()
        if verb == "select":
            (asked,) = questions
            declared = asked.sensitivity.l1
            facts = self.choosing(
                verb=f"select {asked.label} {declared} {asked.charge}", declared=declared, last=asked.charge
            )
        if verb in ("view", "choose"):  # judged where the rows of a child, or the pattern, are made
            return make()
        if verb == "cover":
            facts = self.covering(questions[0])
        with facts, self.owner() if verb == "keys" else nullcontext():
            released = make()
        if verb in ("select", "cover"):
            self.tape.pays(questions[0].charge, questions[0].label, questions[0].sensitivity.theorem)
            return released
        passed = self.keys if verb == "keys" else self.sum
        return [
            passed(question, *secret, value)
            for question, secret, value in zip(questions, self.secrets, released, strict=True)
        ]

    def drawn(self, question: Any, exact: Any, noise: Any) -> None:
        self.secrets.append((exact.copy(), noise))

    def sum(self, question: Any, exact: Any, noise: Any, value: Any) -> Any:
        """A noisy answer of ``measure``, or of a part of joint releases."""
        tape, charge, label, query = self.tape, question.charge, question.label, question.asked
        joint, scale, sensitivity = question.verb == "joint", question.scale, question.sensitivity
        if noise is not None:
            kind = "gaussian" if isinstance(charge, Gaussian) else "laplace"
            tape.claim(kind, float(scale), exact.size, noise, f"{label!r} (passage {len(tape.seen_noise)})")
            if not np.array_equal(value, exact + noise):
                tape.fault(f"{label!r} is not the exact answer and its noise")
        tape.pays(charge, label, sensitivity.theorem)
        allowed = (sensitivity.l1, sensitivity.l2_squared)
        public = (question.verb, type(query).__name__, tuple(query.shape), query.unit, scale, str(charge), allowed,
                  sensitivity.theorem, label)  # fmt: skip
        factor = self.factor()

        def judge(before: Any, after: Any) -> Iterator[str]:
            if before.shape != after.shape:
                yield f"shape {before.shape} became {after.shape}"
                return
            l1, l2 = distances(before, after)
            if joint:
                self.jointly(query, scale, l1 / factor, l2 / factor**2)
            else:
                yield from self.judge_noise(charge, scale, allowed, l1, l2, factor)

        return tape.passage("release", public, exact, value.copy(), judge).copy()

    def judge_noise(
        self, charge: Any, scale: float, allowed: tuple[int, int], l1: int, l2: int, factor: int = 1
    ) -> Iterator[str]:
        """Distances against what is declared, and the scale against what is charged for."""
        self.tape.tightest = max(self.tape.tightest, l1 / (allowed[0] * factor) if isinstance(charge, Laplace)
                                 else math.sqrt(l2 / allowed[1]) / factor)  # fmt: skip
        if l1 > allowed[0] * factor:
            yield f"L1 distance {l1}, declared {allowed[0] * factor}"
        if l2 > allowed[1] * factor**2:
            yield f"L2 distance {math.sqrt(l2):.6g}, declared {math.sqrt(allowed[1]) * factor:.6g}"
        if isinstance(charge, Gaussian) and l2 > factor**2 * shift_allowed(charge, scale):
            yield f"L2 distance {math.sqrt(l2):.6g} in noise of scale {scale:.6g} costs more than {charge}"
        if isinstance(charge, Laplace) and l1 * (1 - SLACK) > factor * scale / charge.noise_multiplier:
            yield f"L1 distance {l1} in noise of scale {scale:.6g} costs more than {charge}"

    def jointly(self, query: Any, scale: float, l1: float, l2: float) -> None:
        """Per part the largest shift; they are summed when the run is over."""
        number = next((k for k, bound in enumerate(self.bounds) if bound is query.bound), len(self.bounds))
        if number == len(self.bounds):
            self.bounds.append(query.bound)
        group = self.tape.groups.setdefault(number, Group(sum(part.precision for part in query.bound.parts)))
        part = next(k for k, part in enumerate(query.bound.parts) if part.cells is query.histogram.cells)
        laplace = isinstance(query.bound.parts[part].charge, Laplace)
        shift = l1 / scale if laplace else l2 / (scale**2 - LATTICE)
        group.parts[part] = max(group.parts.get(part, 0.0), shift)

    # ---- choices

    def exponential(self, old: Any) -> Any:
        def exponential(source: Any, scores: Any, scale: float) -> Any:
            return self.chosen(np.asarray(scores).copy(), scale, old(source, scores, scale))

        return exponential

    def exponential_place(self, old: Any) -> Any:
        def exponential_place(source: Any, blocks: Any, scale: float) -> Any:
            scores = [blocks[k] for k in range(len(blocks))]
            ends = np.cumsum([len(block) for block in scores])
            place, index = old(source, blocks, scale)
            flat = self.chosen(np.concatenate(scores), scale, int(ends[place] - len(scores[place]) + index))
            place = int(np.searchsorted(ends, flat, side="right"))
            return place, int(flat - ends[place] + len(scores[place]))

        return exponential_place

    def exponential_runs(self, old: Any) -> Any:
        def exponential_runs(source: Any, scores: Any, lengths: Any, scale: float) -> int:
            if not self.owned or "view" not in self.owned[-1]:
                self.tape.fault("a candidate in runs was drawn outside every verb that is known")
            return int(old(source, scores, lengths, scale))

        return exponential_runs

    def chosen(self, scores: Any, scale: float, index: int) -> int:
        if self.owned and "view" in self.owned[-1]:
            return index  # a choice that stays behind the gate; its verb judges it
        choice = self.choice or {"verb": "choose", "last": self.last}

        def judge(before: Any, after: Any) -> Iterator[str]:
            change = after - before
            if "shifts" in choice:
                if scale not in choice["shifts"]:
                    yield f"a rule was drawn at scale {scale}, which no step of the cover has"
                    return
                yield from self.judge_cover(choice["shifts"][scale], change)
                return
            spread = int(change.max() - change.min())
            if "declared" in choice:
                choice["spread"] += spread
                self.tape.within(choice["spread"], choice["declared"] * self.factor(), "spread of scores")
            charge = choice["last"]
            paid = charge.range if isinstance(charge, BoundedRange) else 0.0
            if paid:
                self.tape.tightest = max(self.tape.tightest, spread / (paid * scale))
            if spread > paid * scale * self.factor() * (1 + SLACK):
                yield f"scores move {spread} apart at scale {scale:.6g}, which costs more than {charge}"

        return int(self.tape.passage("choice", (choice["verb"], scores.shape, scale), scores, index, judge))

    def judge_cover(self, shifts: tuple[float, float], change: Any) -> Iterator[str]:
        """Adding a row moves all scores within the same bounds; removing one moves them back; replacing does both."""
        low, high = min(shifts[0], 0.0), max(shifts[1], 0.0)
        least, most = int(change.min()), int(change.max())
        if (low <= least and most <= high) or (-high <= least and most <= -low):
            return
        if self.paid.neighbouring is Neighbouring.REPLACE_ONE and low - high <= least and most <= high - low:
            return
        yield f"scores move by {least} to {most}, where a row moves them by {low} to {high}"

    @contextmanager
    def choosing(self, **facts: Any) -> Iterator[None]:
        before, self.choice = self.choice, {"spread": 0, **facts}
        try:
            yield
        finally:
            self.choice = before

    def covering(self, question: Any) -> Any:
        """The choices of a cover, each at the scale of a step."""
        rows, shifts = question.rows_per_unit, {}
        for step in question.asked.steps:
            low, high = shifts.get(cover_scale(step), (0.0, 0.0))
            shifts[cover_scale(step)] = (min(low, rows * step.shifts.low), max(high, rows * step.shifts.high))
        return self.choosing(verb=f"cover {question.label} {shifts}", shifts=shifts)

    # ---- keys

    def keys(self, question: Any, held: Any, noise: Any, released: Any) -> Any:
        del noise
        charge, moved, label, asked = question.charge, question.sensitivity, question.label, question.asked
        public = ("keys", str(label), str(charge), str(asked), question.scale, moved.theorem)
        self.tape.pays(charge, f"{label}: counts", moved.theorem)
        self.tape.pays(ApproxDP(0.0, asked.delta), f"{label}: which are there", moved.theorem)

        def judge(before: Any, after: Any) -> Iterator[str]:
            both = sorted(before.keys() & after.keys())
            own = before.keys() ^ after.keys()
            moves = [np.array([table[key] for key in both], np.int64) for table in (before, after)]
            l1, l2 = distances(*moves)
            yield from self.judge_noise(charge, question.scale, (moved.l1, moved.l2_squared), l1, l2)
            if any(max(before.get(key, 0), after.get(key, 0)) > KEY_UNIT * question.rows_per_unit for key in own):
                yield "a key of one table alone has more rows than one unit"
            recorded = self.tape.events[self.tape.position - 1].released
            if own & set(recorded):
                yield f"released keys {sorted(own & set(recorded))} that only one of the tables holds"

        return self.tape.passage("keys", public, held, released, judge)

    # ---- streams

    def renew(self, old: Any) -> Any:
        def renew(stream: Any, spec: Any) -> None:
            old(stream, spec)
            self.period += 1
            self.tape.passage("period", str(spec), None, None)

        return renew

    def in_one_period(self) -> Iterator[str]:
        self.periods.add(self.period)
        if len(self.periods) > 1:
            yield f"a row moves something in periods {sorted(self.periods)}"

    def begin(self, old: Any) -> Any:
        def begin(tester: Any) -> None:
            with self.owner():
                old(tester)
            facts = next((facts for known, facts in self.testers if known is tester), None)
            if facts is None:
                facts = {"number": len(self.testers), "epochs": 0, "moved": set(), "signs": set()}
                self.testers.append((tester, facts))
            facts["epochs"] += 1
            self.tape.passage(
                "epoch", (facts["number"], facts["epochs"], tester.threshold, str(tester._scales)), None, None
            )

        return begin

    def test(self, old: Any, many: bool) -> Any:
        def test(tester: Any, values: Any) -> Any:
            with self.owner():
                answer = old(tester, values)
            facts = next(facts for known, facts in self.testers if known is tester)
            exact = np.atleast_1d(np.asarray(values, np.int64)).copy()

            def judge(before: Any, after: Any) -> Iterator[str]:
                released = self.tape.events[self.tape.position - 1].released
                end = len(before) if not many or released is None else released + 1  # later ones are not looked at
                change = after[:end] - before[:end]
                if not change.any():
                    return
                yield from self.in_one_period()
                facts["moved"].add(facts["epochs"])
                facts["signs"] |= set(np.sign(change).tolist()) - {0}
                self.tape.within(int(np.abs(change).max()), 1, "shift of a tested count")
                if len(facts["moved"]) > 1 or len(facts["signs"]) > 1:
                    yield f"a row is counted in epochs {sorted(facts['moved'])}, in directions {sorted(facts['signs'])}"

            released = self.tape.passage("test", (facts["number"], many, len(exact)), exact, answer, judge)
            tester._stopped = released is not None if many else bool(released)
            return released

        return test

    def gate_choose(self, old: Any) -> Any:
        def choose(stream: Any, scores: Any, score_range: int, charge: Any, size: int = 1) -> Any:
            with self.choosing(verb=f"stream {score_range} {charge}", last=charge):
                drawn = old(stream, scores, score_range, charge, size)
            exact = np.asarray(scores).copy()

            def judge(before: Any, after: Any) -> Iterator[str]:
                change = after - before
                self.tape.within(int(change.max() - change.min()), score_range, "spread of scores")
                yield from self.in_one_period() if change.any() else ()

            self.tape.passage("stream choice", (score_range, str(charge), size), exact, None, judge)
            return drawn

        return choose

    # ---- views

    def open(self, old: Any) -> Any:
        def open_view(view: Any, rows: Any, neighbouring: Any, noise: Any) -> Any:
            with self.owner() as inside:
                inside.append("view")
                opened = old(view, rows, neighbouring, noise)
            contents = [contents_of(child) for child in opened]
            factor = self.factor()
            independent = isinstance(view, MeasureSample | SmoothSample) or getattr(view, "replacement", False)

            def judge(before: Any, after: Any) -> Iterator[str]:
                apart = [self.rows_apart(a, b) for a, b in zip(before, after, strict=True)]
                self.differing += list(zip(opened, apart, strict=True))
                if not independent and sum(child.count for child in apart) > factor:
                    yield f"of the children {apart} differ, where {factor} rows of the parent do"

            self.tape.passage("view", (type(view).__name__, len(opened)), contents, None, judge)
            return opened

        return open_view

    def rows_apart(self, before: list[tuple[Any, ...]], after: list[tuple[Any, ...]]) -> Apart:
        """What of a child differs."""
        longer, shorter = (before, after) if len(before) >= len(after) else (after, before)
        moved = self.moved() if len(longer) > len(shorter) else ()
        kept = [k for k in range(len(longer)) if k not in set(moved)]
        if len(kept) != len(shorter):
            self.tape.diverge("a child has another number of rows")
        changed = tuple(k for k, row in zip(kept, shorter, strict=True) if apart(longer[k], row))
        return Apart(tuple(moved) + changed, len(changed) + sum(longer[k][0] != DROPPED for k in moved))

    def child(self, old: Any) -> Any:
        def child(parent: Any, rows: Any, label_index: Any, reservation: Any) -> Any:
            found = next((apart for known, apart in self.differing if known is rows), Apart((), 0))
            self.children.append((reservation, found))
            return old(parent, rows, label_index, reservation)

        return child

    def weights(self, old: Any, judge: Any) -> Any:
        def weights(view: Any, rows: Any) -> Any:
            exact = old(view, rows)
            return self.tape.passage("weights", (type(view).__name__, view.size), exact, exact, judge).copy()

        return weights

    def judge_slick(self, before: Any, after: Any) -> Iterator[str]:
        """One replaced row moves the distribution by at most one row of full weight in all."""
        same = np.ones(len(before), bool)
        same[list(self.moved())] = False
        nobody = abs(int(before.sum()) - int(after.sum()))
        moved = int(np.abs(before - after)[same].sum() + before[~same].sum() + after[~same].sum()) + nobody
        self.tape.within(moved, 2 * CAP * self.factor(), "weight that moved")
        yield from ()

    def judge_own(self, before: Any, after: Any) -> Iterator[str]:
        """A row's weight depends on that row alone."""
        apart = set(np.flatnonzero(before != after).tolist())
        self.tape.tightest = max(self.tape.tightest, int(np.abs(before - after).max(initial=0)) / CAP)
        if not apart <= set(self.moved()) or max(before.max(initial=0), after.max(initial=0)) > CAP:
            yield f"the weights of rows {sorted(apart)} changed with those of {self.moved()}"

    def ends(self, old: Any) -> Any:
        def ends(view: Any, units: int, noise: Any) -> Any:
            with self.owner() as inside:
                answer = old(view, units, noise)

            def judge(before: int, after: int) -> Iterator[str]:
                self.tape.within(abs(before - after), CAP, "shift of the measure's size")
                yield from ()

            # the size is of the weights on this table: those that are forced are the recorded ones
            return self.tape.passage(
                "end test", (view.threshold, [d for d in inside if d != "view"]), units, answer, judge
            )

        return ends

    def relabel(self, old: Any) -> Any:
        """The pattern is not released. On a neighbour the one that says the same of all rows in common is taken."""

        def choose(view: Any, rows: Any, noise: Any) -> Any:
            with self.owner() as inside:
                inside.append("view")
                chosen = old(view, rows, noise)
            tape, n = self.tape, len(rows.labels)
            if view.public and chosen.candidates.lengths is not None:
                return self.runs(view, chosen)
            if not tape.replaying:
                tape.passage(
                    "pattern", (view.epsilon, view.span, view.theorem), pattern(chosen, chosen.index, n), chosen.index
                )
                return chosen
            event = tape.events[tape.position]
            index = tape.passage("pattern", (view.epsilon, view.span, view.theorem), None, None)
            if view.public:
                found = [index]
            else:
                found = [
                    k
                    for k in range(len(chosen.candidates.scores))
                    if self.agrees(event.exact[0], pattern(chosen, k, n)[0])
                ]
            if not found:
                tape.diverge("no pattern on the neighbour agrees with the recorded one on the rows in common")
            scores = [int(chosen.candidates.scores[k]) for k in found]
            one = self.paid.neighbouring is Neighbouring.ADD_OR_REMOVE_ONE
            apart = min(abs(score - event.exact[1]) for score in scores)
            tape.within(apart, (1 if one else 2) * self.factor(), "shift of a pattern's errors")
            return Chosen(found[scores.index(min(scores))], chosen.candidates, chosen.kept, chosen.place)

        return choose

    def runs(self, view: Any, chosen: Any) -> Any:
        """A public candidate, chosen among runs of equal scores: how far apart scores move, over all candidates."""
        found, tape = chosen.candidates, self.tape
        exact = (list(accumulate(int(length) for length in found.lengths)), found.scores.tolist())
        declared = 1 if self.paid.neighbouring is Neighbouring.ADD_OR_REMOVE_ONE else 2
        inside = self.owned and "view" in self.owned[-1]  # then the choice is paid for with the child
        paid = view.span if inside else self.last.range

        def judge(before: Any, after: Any) -> Iterator[str]:
            cuts = sorted({*before[0], *after[0]} - {0})
            change = [at(after, cut - 1) - at(before, cut - 1) for cut in cuts]
            spread = max(change) - min(change)
            tape.within(spread, declared * self.factor(), "spread of scores")
            if spread > paid * (2 / view.epsilon) * self.factor() * (1 + SLACK):
                yield f"scores move {spread} apart at epsilon {view.epsilon}, which costs more than a range of {paid}"

        public = (view.epsilon, view.span, view.theorem, exact[0][-1])
        index = tape.passage("choice in runs", public, exact, chosen.index, judge)
        return Chosen(index, found, chosen.kept, chosen.place)

    def agrees(self, before: Any, after: Any) -> bool:
        moved = list(self.moved())
        if len(before) != len(after):
            before, after = (np.delete(side, moved) if len(side) == max(len(before), len(after)) else side
                             for side in (before, after))  # fmt: skip
        else:
            before, after = np.delete(before, moved), np.delete(after, moved)
        return bool(np.array_equal(before, after))


def pattern(chosen: Any, index: int, n: int) -> tuple[Any, int]:
    """What a pattern says of every row (-1 of those that are dropped), and its score."""
    said = np.full(n, -1, np.int64)
    said[chosen.kept] = np.asarray(chosen.candidates.labels(index))[chosen.place]
    return said, int(chosen.candidates.scores[index])


def at(runs: Any, number: int) -> int:
    """The score of a candidate, from where runs end and what they score."""
    return int(runs[1][bisect_right(runs[0], number)])


def apart(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
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


def shift_allowed(charge: Gaussian, scale: float) -> float:
    """The largest squared shift at which integer noise of this scale costs no more than the charge."""
    return (scale**2 - LATTICE) * (1 + SLACK) / charge.noise_multiplier**2


@contextmanager
def seams(tape: Tape) -> Iterator[None]:
    """Holds the verbs of the curator to a tape."""
    with pytest.MonkeyPatch.context() as patch:
        Seams(tape, patch).install()
        yield
