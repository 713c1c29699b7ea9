"""What a replay keeps of a fit, and holds a fit to a neighbour against."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
from scipy.special import gammainc

from tacit.arrays import Floats, Ints
from tacit.curator.gate import Question
from tacit.curator.rows import HandedOnError
from tacit.curator.tape import Diverged, Tape
from tacit.privacy.charges import Gaussian, Laplace
from tacit.queries.joint_bound import JointBound, JointHistogram

SLACK = 1e-9
"""Relative, for floating point in precisions."""

TELLING_BITS = 32.0
"""Two vectors of noise of so much entropy are not the same by chance; a coordinate of scale s has about log2(3.5 s)."""

TOO_RARE = 1e-6
"""Noise of so few draws, or of so small ones, is no chance."""


@final
@dataclass(frozen=True)
class Part:
    """A part of releases that are bounded together: its precision, and that of one release of each part."""

    bound: int
    index: int
    precision: float
    total: float


@final
@dataclass(frozen=True, eq=False)
class Sight:
    """What is seen of a release beside what leaves.

    Attributes:
        exact: what the rows say, in integer units: an answer, or scores of shape ``(nodes, candidates)``.
        allowed: how far one protected unit may move ``exact``: its L1 and squared L2 distance of an answer, twice the
            spread of scores of a choice; None of a cover.
        noise: what was added, in integer units; None where nothing is.
        scale: that the noise needs for this charge at this sensitivity, in integer units.
        part: of a release whose rows are bounded over several.
    """

    exact: Ints | None
    allowed: tuple[int, int] | None = None
    noise: Ints | None = None
    scale: float = 0.0
    part: Part | None = None


@final
@dataclass
class Watch:
    """Records what passes the curator and what rows say, or, in a replay ``beside`` a neighbour, forces what left.

    ``tightest`` is the largest distance of exact answers as a share of what is declared.
    """

    tape: Tape = field(default_factory=Tape)
    sights: list[Sight] = field(default_factory=list)
    beside: str = ""
    faults: list[str] = field(default_factory=list)
    tightest: float = 0.0
    _parts: dict[tuple[int, int], tuple[float, Part]] = field(default_factory=dict)
    _bounds: list[JointBound] = field(default_factory=list)
    _secrets: list[Ints] = field(default_factory=list)
    _at_the_gate: bool = False

    sees_exact_answers: ClassVar[bool] = True
    follows_views: ClassVar[bool] = False

    def replay(self, beside: str) -> Watch:
        """A watch over a fit to a neighbour of this name."""
        return Watch(self.tape.played(), self.sights, beside)

    def fault(self, text: str) -> None:
        """Something is wrong."""
        self.faults.append(f"{self.beside}: {text}" if self.beside else text)

    # See :class:`tacit.curator.gate.Witness`.

    def table(self, table: Any) -> Any:
        """The rows, with a fault for every answer that no verb of the curator asks for."""
        return _SeenTable(table, self)

    def release(self, questions: Sequence[Question], make: Callable[[], list[Any]]) -> list[Any]:
        """What leaves: what is made; on a neighbour what was recorded."""
        if any(question.verb == "keys" for question in questions):
            raise HandedOnError("it looks for values that nobody declared")
        self._secrets, self._at_the_gate = [], True
        try:
            made = make()
        finally:
            self._at_the_gate = False
        exact: Sequence[Ints | None] = self._secrets or [None] * len(questions)  # a cover shows none
        if not self.beside:
            self.sights += [self._sight(*each) for each in zip(questions, exact, made, strict=True)]
            return [value.copy() for value in self.tape.release(questions, lambda: made)]
        return [self._forced(*each) for each in zip(questions, exact, made, strict=True)]

    def drawn(self, question: Question, exact: Ints, noise: Ints | None) -> None:
        """Keeps an exact answer; its noise is what the release differs from it by."""
        del question, noise
        self._secrets.append(exact.copy())

    def saw(self, what: str) -> None:
        """An answer was given; a fault if no verb asked for it."""
        if not self._at_the_gate:
            self.fault(f"rows were asked past the curator: {what}")

    def _sight(self, question: Question, exact: Ints | None, released: Ints) -> Sight:
        moved, charge, asked = question.sensitivity, question.charge, question.asked
        noise, scale = None, 0.0  # worked out here once more, and not from what the curator drew, nor at its scale
        if exact is not None and isinstance(charge, Gaussian | Laplace):
            noise = released - exact
            scale = charge.noise_multiplier * (moved.l2 if isinstance(charge, Gaussian) else moved.l1)
        part = self._part(asked) if isinstance(asked, JointHistogram) else None
        return Sight(exact, None if exact is None else (moved.l1, moved.l2_squared), noise, scale, part)

    def _part(self, asked: JointHistogram) -> Part:
        bound = asked.bound
        place = next((k for k, known in enumerate(self._bounds) if known is bound), len(self._bounds))
        if place == len(self._bounds):
            self._bounds.append(bound)
        index = next(k for k, part in enumerate(bound.parts) if part.cells is asked.histogram.cells)
        return Part(place, index, bound.parts[index].precision, sum(part.precision for part in bound.parts))

    def _forced(self, question: Question, exact: Ints | None, made: Ints) -> Any:
        """What left of the recorded fit, whose answers are held against those of the neighbour."""
        try:
            released = self.tape.answer_to(question)
        except Diverged as error:
            self.fault(f"{error}: rows steer the fit")
            raise
        before, now = self.sights[self.tape.position - 1], self._sight(question, exact, made)
        if before.exact is not None and now.exact is not None:
            for wrong in self._apart(question, before, now):
                self.fault(f"{question.verb} {str(question.label)!r}: {wrong}")
        return released

    def finish(self) -> None:
        """What can be judged at the end of a replay only."""
        for steered in (self.tape.unasked, *self.tape.doubts):
            if steered:
                self.fault(f"{steered}: rows steer the fit")
        together: dict[int, float] = defaultdict(float)
        totals = {part.bound: part.total for _, part in self._parts.values()}
        for shift, part in self._parts.values():
            together[part.bound] += shift
        for bound, shift in together.items():
            for wrong in self._within(shift, totals[bound], "the shift of joint releases, in their noise,"):
                self.fault(wrong)

    def _apart(self, question: Question, earlier: Sight, now: Sight) -> Iterator[str]:
        """What is wrong with the distance of two exact answers, or of the scores of a choice."""
        before, after, allowed = earlier.exact, now.exact, now.allowed
        assert before is not None
        assert after is not None
        assert allowed is not None
        if before.shape != after.shape:
            yield f"answers of shape {before.shape} became {after.shape}"
            return
        change = (after - before).astype(object)
        if question.verb == "select":
            spread = int((change.max(axis=1) - change.min(axis=1)).sum())
            yield from self._within(spread, allowed[0], "the spread of scores")
            return
        l1, l2 = int(abs(change).sum()), int((change * change).sum())
        if now.part is not None:
            laplace = isinstance(question.charge, Laplace)
            shift = now.part.precision * (l1 / allowed[0] if laplace else l2 / allowed[1])
            key = now.part.bound, now.part.index
            self._parts[key] = max(shift, self._parts.get(key, (0.0, now.part))[0]), now.part
            return
        yield from self._within(l1, allowed[0], "the L1 distance")
        yield from self._within(math.sqrt(l2), math.sqrt(allowed[1]), "the L2 distance")

    def _within(self, distance: float, allowed: float, what: str) -> Iterator[str]:
        self.tightest = max(self.tightest, distance / allowed if allowed else 0.0)
        if distance > allowed * (1 + SLACK):
            yield f"{what} is {distance:.6g}, where at most {allowed:.6g} is declared"


class _SeenTable:
    """A sealed table whose answers are seen; in all else the table."""

    def __init__(self, table: Any, watch: Watch) -> None:
        self._table, self._watch = table, watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def answer(self, query: Any) -> Any:
        """See ``SealedTable``."""
        self._watch.saw(type(query).__name__)
        return self._table.answer(query)

    def answer_all(self, queries: Sequence[Any]) -> Any:
        """See ``SealedTable``."""
        self._watch.saw(", ".join(type(query).__name__ for query in queries))
        return self._table.answer_all(queries)

    def open_cover(self, candidates: Any) -> Any:
        """See ``SealedTable``."""
        self._watch.saw("a cover")
        return self._table.open_cover(candidates)


def noise_faults(watches: Sequence[Watch]) -> list[str]:
    """What is wrong with the noise of recorded fits: none, the same twice in a fit, or too little in all."""
    faults: list[str] = []
    drawn: dict[type, list[float]] = {
        Gaussian: [0.0, 0.0],
        Laplace: [0.0, 0.0],
    }  # draws, and the sum of what should be 1 on average
    for watch in watches:
        seen: dict[bytes, str] = {}
        for passage, sight in zip(watch.tape.passages, watch.sights, strict=True):
            if sight.noise is None or sight.scale == 0:
                continue
            noise, kind, name = sight.noise.ravel(), type(passage.charge), str(passage)
            drawn[kind][0] += noise.size
            drawn[kind][1] += float(_relative(noise, sight.scale, kind).sum())
            if noise.size * math.log2(max(3.5 * sight.scale, 1.0)) < TELLING_BITS:
                continue
            if not noise.any():
                faults.append(f"{name} has no noise")
            elif (known := seen.setdefault(noise.tobytes(), name)) is not name:
                faults.append(f"{name} has the noise of {known}")
    for kind, (draws, total) in drawn.items():
        halves = 2 if kind is Gaussian else 1  # squares: chi-squared; magnitudes: gamma
        if draws and gammainc(draws / halves, total / halves) < TOO_RARE:
            share = math.sqrt(total / draws) if kind is Gaussian else total / draws
            faults.append(f"{kind.__name__} noise has {share:.2f} of the scale that its charges need ({draws:g} draws)")
    return faults


def _relative(noise: Ints, scale: float, kind: type) -> Floats:
    """Squares, or magnitudes of Laplace noise, that are 1 on average if the scale is right; on the integers, too."""
    if kind is Gaussian:
        return np.asarray((noise / scale) ** 2)
    return np.asarray(np.abs(noise) * math.sinh(1 / scale))
