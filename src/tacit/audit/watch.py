"""The witness of an audit: writes to a :class:`~tacit.audit.recording.Recording` what passes the gate of a fit.

It sees exact answers and draws, so noise must have a seed. On a neighbour it forces what was recorded, and holds exact
answers, scales and charges against each other; what stays behind the gate is judged in :mod:`tacit.audit.inside`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.audit.inside import Apart, Inside, Tester, distances
from tacit.audit.recording import SLACK, Group, Noise, Recording
from tacit.curator.cover import cover_scale
from tacit.curator.gate import Question, Witness
from tacit.privacy.charges import ApproxDP, BoundedRange, Charge, Gaussian, Laplace, NonPrivate
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.digest import Digests
from tacit.queries.joint_bound import JointBound
from tacit.queries.keys import KEY_UNIT

LATTICE = 9.0
"""An integer Gaussian of scale sigma is charged as a continuous one of variance ``sigma**2 - 9``."""


@final
@dataclass
class Opening:
    """A release that is being made: what pays for it, its questions, their exact answers, and draws for it alone."""

    reservation: Reservation
    questions: Sequence[Question]
    secrets: list[tuple[Any, Any]] = field(default_factory=list)
    draws: list[tuple[str, float]] = field(default_factory=list)
    spread: int = 0

    @property
    def verb(self) -> str:
        """Of the questions: they have the same one."""
        return self.questions[0].verb if self.questions else ""

    @property
    def draws_inside(self) -> bool:
        """Whether draws are judged with the step that they are made for."""
        chooses = self.verb == "choose" and not isinstance(self.questions[0].asked, tuple)
        return chooses or self.verb == "view"


class Watch(Witness):
    """Records a fit in a recording, or holds it against a recorded one."""

    sees_exact_answers: ClassVar[bool] = True

    def __init__(self, recording: Recording | None = None) -> None:
        self.recording = Recording() if recording is None else recording
        self.opening: Opening | None = None
        self.stream_charge: Charge | None = None  # of choices inside a stream
        self.is_quiet = False  # whether draws are judged with the test of a stream that they are made for
        self._digests = Digests()
        self._bounds: list[JointBound] = []
        self._children: list[tuple[Reservation, Apart]] = []
        self._inside = Inside(self)

    @property
    def apart(self) -> Apart:
        """Which rows of the table in question differ: the one whose reservation pays."""
        whole = Apart(self.recording.moved, 1)  # a row, or a person
        if self.opening is None:
            return whole
        paying = self.opening.reservation
        return next((apart for reservation, apart in self._children if reservation is paying), whole)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Draws in here are judged by the caller."""
        before, self.is_quiet = self.is_quiet, True
        try:
            yield
        finally:
            self.is_quiet = before

    # See :class:`tacit.curator.gate.Witness`.

    def table(self, table: Any) -> Any:
        """The rows, with a fault for every answer that no verb of the curator asks for."""
        return _SeenTable(table, self)

    def source(self, noise: Any) -> Any:
        """The source, whose draws must be seen in a release."""
        return noise if isinstance(noise, _SeenSource) else _SeenSource(noise, self)

    def tester(self, tester: Any) -> Any:
        """The above-threshold, whose answers are forced on a neighbour."""
        return Tester(tester, self, self._inside)

    def drawn(self, question: Question, exact: Any, noise: Ints | None) -> None:
        """Keeps an exact answer and its noise."""
        del question
        assert self.opening is not None
        self.opening.secrets.append((exact.copy(), noise))

    def inside(self, step: str, about: Any, exact: Any, value: Any) -> Any:
        """See :mod:`tacit.audit.inside`."""
        return self._inside.steps[step](about, exact, value)

    def child(self, rows: Any, reservation: Reservation) -> None:
        """A child of a view: which of its rows differ was seen when the view was opened."""
        self._children.append((reservation, self._inside.apart_of(rows)))

    def release(
        self, reservation: Reservation, questions: Sequence[Question], make: Callable[[], list[Any]]
    ) -> list[Any]:
        """What leaves: what is made; on a neighbour what was recorded."""
        before, self.opening = self.opening, Opening(reservation, questions)
        opening = self.opening
        try:
            for question in questions:
                self._pays(reservation, question)
            answers = make()
            self.recording.releases += len(answers)
            if opening.verb in ("view", "choose", "select", "cover"):  # forced where the draw is made
                return answers
            passes = self._keys if opening.verb == "keys" else self._answer
            triples = zip(questions, opening.secrets, answers, strict=True)
            return [passes(question, *secret, value) for question, secret, value in triples]
        finally:
            self.opening = before

    def _pays(self, reservation: Reservation, question: Question) -> None:
        charge, label, theorem = question.charge, question.label, question.sensitivity.theorem
        if question.verb != "keys" or isinstance(charge, NonPrivate):
            self.recording.pays(reservation, charge, label, theorem)
            return
        self.recording.pays(reservation, charge, f"{label}: counts", theorem)
        claim = ApproxDP(0.0, question.asked.delta)
        self.recording.pays(reservation, claim, f"{label}: which are there", theorem)

    def _facts(self, question: Question) -> tuple[Any, bytes]:
        """What must be the same when it is asked again, in words and whole."""
        moved = question.sensitivity
        words = f"{question.words}, {moved.theorem}, moves {moved.l1} and {moved.l2_squared}, scale {question.scale!r}"
        facts = words, question.rows_per_unit, question.charge.to_dict(), question.asked
        return (str(question.label), words, str(question.charge)), self._digests.of(facts)

    # ---- answers with noise

    def _answer(self, question: Question, exact: Any, noise: Any, value: Any) -> Any:
        """A noisy answer of ``measure``, or of a part of joint releases."""
        charge, scale, moved = question.charge, question.scale, question.sensitivity
        if isinstance(charge, Gaussian | Laplace):
            self._claim(question, exact, noise, value)
        allowed, factor = (moved.l1, moved.l2_squared), self.apart.factor

        def judge(before: Any, after: Any) -> Iterator[str]:
            if before.shape != after.shape:
                yield f"answers of shape {before.shape} became {after.shape}"
                return
            l1, l2 = distances(before, after)
            if question.verb == "joint":
                self._jointly(question.asked, scale, l1 / factor, l2 / factor**2)
            else:
                yield from self._judge(charge, scale, allowed, l1, l2, factor)

        public, digest = self._facts(question)
        return self.recording.event(question.verb, public, exact, value.copy(), judge, digest).copy()

    def _claim(self, question: Question, exact: Any, noise: Any, value: Any) -> None:
        """Noise must have been drawn, be used once, and make all the difference."""
        charge, moved, recording = question.charge, question.sensitivity, self.recording
        what = f"{question.verb} {str(question.label)!r}"
        added = np.asarray(value - exact)  # worked out here once more
        if noise is None or not np.array_equal(added, noise):
            recording.fault(f"{what} is not the exact answer and its noise")
        kind = "gaussian" if isinstance(charge, Gaussian) else "laplace"
        recording.claim(kind, float(question.scale), added, what)
        assert isinstance(charge, Gaussian | Laplace)
        required_scale = charge.noise_multiplier * (moved.l2 if isinstance(charge, Gaussian) else moved.l1)
        if required_scale > 0 and not recording.beside:
            recording.noises.append(Noise(added.ravel(), required_scale, type(charge)))

    def _judge(
        self, charge: Any, scale: float, allowed: tuple[int, int], l1: int, l2: int, factor: int = 1
    ) -> Iterator[str]:
        """Distances against what is declared, and the scale against what is charged for."""
        within = self.recording.within
        most = math.sqrt(allowed[1]) * factor
        if isinstance(charge, Laplace):
            yield from within(l1, allowed[0] * factor, "the L1 distance")
            if l2 > allowed[1] * factor**2:
                yield f"the L2 distance is {math.sqrt(l2):.6g}, where at most {most:.6g} is declared"
            if l1 * (1 - SLACK) > factor * scale / charge.noise_multiplier:
                yield f"an L1 distance of {l1} in noise of scale {scale:.6g} costs more than {charge}"
            return
        if l1 > allowed[0] * factor:
            yield f"the L1 distance is {l1}, where at most {allowed[0] * factor} is declared"
        yield from within(math.sqrt(l2), most, "the L2 distance")
        if isinstance(charge, Gaussian) and l2 > factor**2 * shift_allowed(charge, scale):
            yield f"an L2 distance of {math.sqrt(l2):.6g} in noise of scale {scale:.6g} costs more than {charge}"

    def _jointly(self, query: Any, scale: float, l1: float, l2: float) -> None:
        """Per part the largest shift; they are summed when the fit is over."""
        number = next((k for k, bound in enumerate(self._bounds) if bound is query.bound), len(self._bounds))
        if number == len(self._bounds):
            self._bounds.append(query.bound)
        parts = query.bound.parts
        group = self.recording.groups.setdefault(number, Group(sum(part.precision for part in parts)))
        place = next(k for k, part in enumerate(parts) if part.cells is query.histogram.cells)
        shift = l1 / scale if isinstance(parts[place].charge, Laplace) else l2 / (scale**2 - LATTICE)
        group.parts[place] = max(group.parts.get(place, 0.0), shift)

    def _keys(self, question: Question, exact: Any, noise: Any, released: Any) -> Any:
        """Values that nobody declared: those of one table alone must not leave."""
        del noise
        charge, moved = question.charge, question.sensitivity

        def judge(before: Any, after: Any) -> Iterator[str]:
            both, own = sorted(before.keys() & after.keys()), before.keys() ^ after.keys()
            l1, l2 = distances(*(np.array([table[key] for key in both], np.int64) for table in (before, after)))
            yield from self._judge(charge, question.scale, (moved.l1, moved.l2_squared), l1, l2)
            if any(max(before.get(key, 0), after.get(key, 0)) > KEY_UNIT * question.rows_per_unit for key in own):
                yield "a key of one table alone has more rows than one unit"
            if alone := own & set(self.recording.forced().released):
                yield f"released keys {sorted(alone)} that only one of the tables holds"

        public, digest = self._facts(question)
        return dict(self.recording.event("keys", public, exact, dict(released), judge, digest))

    # ---- draws, from the source of noise

    def drew(self, kind: str, scale: float, noise: Ints) -> Ints:
        """A vector of noise was drawn."""
        if self.opening is not None and self.opening.verb in ("view", "keys"):
            self.opening.draws.append((kind, scale))
        elif not self.is_quiet:
            self.recording.drew(kind, float(scale), noise.size)
        return noise

    def threw(self, words: Any) -> Any:
        """Coins were thrown."""
        if self.opening is not None and self.opening.verb == "view":
            return self._inside.coins(None, None, words)
        if not self.is_quiet:
            self.recording.fault("random words were drawn outside every verb that is known")
        return words

    def chose(self, scores: Ints, scale: float, index: int) -> int:
        """A candidate was drawn, by scores that stay inside."""
        opening, recording = self.opening, self.recording
        if opening is not None and opening.draws_inside:
            return index  # a choice that stays behind the gate; its verb judges it
        if opening is None and self.stream_charge is None:
            recording.fault("a candidate was drawn outside every verb that is known")
            return index
        question = opening.questions[0] if opening is not None else None
        charge = self.stream_charge if question is None else question.charge
        factor = self.apart.factor

        def judge(before: Any, after: Any) -> Iterator[str]:
            change = after - before
            if question is not None and question.verb == "cover":
                yield from self._judge_cover(question, scale, change)
                return
            spread = int(change.max() - change.min())
            if question is not None and question.verb == "select":
                assert opening is not None
                opening.spread += spread
                yield from recording.within(opening.spread, question.sensitivity.l1 * factor, "the spread of scores")
            span = charge.range if isinstance(charge, BoundedRange) else 0.0
            if span:
                recording.tightest = max(recording.tightest, spread / (span * scale))
            if spread > span * scale * factor * (1 + SLACK):
                yield f"scores move {spread} apart at scale {scale:.6g}, which costs more than {charge}"

        public, digest = (str(charge), b"") if question is None else self._facts(question)
        return int(recording.event("choice", (public, scores.shape, scale), scores, index, judge, digest))

    def _judge_cover(self, question: Question, scale: float, change: Ints) -> Iterator[str]:
        """Adding a row moves all scores within the same bounds; removing one moves them back; replacing does both."""
        steps = [step for step in question.asked.steps if cover_scale(step) == scale]
        if not steps:
            yield f"a rule was drawn at scale {scale}, which no step of the cover has"
            return
        low = min(0.0, *(question.rows_per_unit * step.shifts.low for step in steps))
        high = max(0.0, *(question.rows_per_unit * step.shifts.high for step in steps))
        least, most = int(change.min()), int(change.max())
        if (low <= least and most <= high) or (-high <= least and most <= -low):
            return
        assert self.opening is not None
        both = self.opening.reservation.neighbouring is Neighbouring.REPLACE_ONE
        if both and low - high <= least and most <= high - low:
            return
        yield f"scores move by {least} to {most}, where a row moves them by {low} to {high}"


def shift_allowed(charge: Gaussian, scale: float) -> float:
    """The largest squared shift at which integer noise of this scale costs no more than the charge."""
    return (scale**2 - LATTICE) * (1 + SLACK) / charge.noise_multiplier**2


class _SeenTable:
    """A sealed table whose answers are seen; in all else the table."""

    def __init__(self, table: Any, watch: Watch) -> None:
        self._table, self._watch = table, watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def answer(self, query: Any) -> Any:
        """See ``SealedTable``."""
        self._see(type(query).__name__)
        return self._table.answer(query)

    def answer_all(self, queries: Sequence[Any]) -> Any:
        """See ``SealedTable``."""
        self._see(", ".join(type(query).__name__ for query in queries))
        return self._table.answer_all(queries)

    def open_cover(self, candidates: Any) -> Any:
        """See ``SealedTable``."""
        self._see("a cover")
        return self._table.open_cover(candidates)

    def _see(self, what: str) -> None:
        if self._watch.opening is None:
            self._watch.recording.fault(f"rows were asked past the curator: {what}")


class _SeenSource:
    """A source of noise whose draws are seen."""

    def __init__(self, source: Any, watch: Watch) -> None:
        self._source, self._watch = source, watch
        self.name, self.releasable = source.name, source.releasable

    def gaussian(self, scale: float, size: int) -> npt.NDArray[np.int64]:
        """See ``NoiseSource``."""
        return self._watch.drew("gaussian", scale, self._source.gaussian(scale, size))

    def laplace(self, scale: float, size: int) -> npt.NDArray[np.int64]:
        """See ``NoiseSource``."""
        return self._watch.drew("laplace", scale, self._source.laplace(scale, size))

    def words(self, size: int) -> npt.NDArray[np.uint64]:
        """See ``NoiseSource``."""
        words: npt.NDArray[np.uint64] = self._watch.threw(self._source.words(size))
        return words

    def exponential(self, scores: npt.NDArray[np.int64], scale: float) -> int:
        """See ``NoiseSource``."""
        return self._watch.chose(np.array(scores), scale, self._source.exponential(scores, scale))

    def exponential_place(self, blocks: Any, scale: float) -> tuple[int, int]:
        """See ``NoiseSource``; judged as a choice among the scores of all blocks."""
        scores = [blocks[k] for k in range(len(blocks))]
        ends = np.cumsum([len(block) for block in scores])
        place, index = self._source.exponential_place(blocks, scale)
        flat = self._watch.chose(np.concatenate(scores), scale, int(ends[place] - len(scores[place]) + index))
        place = int(np.searchsorted(ends, flat, side="right"))
        return place, int(flat - ends[place] + len(scores[place]))

    def exponential_runs(self, scores: npt.NDArray[np.int64], lengths: npt.NDArray[np.uint64], scale: float) -> int:
        """See ``NoiseSource``; views alone draw so, and judge it."""
        if self._watch.opening is None or not self._watch.opening.draws_inside:
            self._watch.recording.fault("a candidate in runs was drawn outside every verb that is known")
        return int(self._source.exponential_runs(scores, lengths, scale))
