"""What a replay keeps of a fit, and holds a fit to a neighbour against."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn, final

import numpy as np
from scipy.special import gammainc

from tacit.arrays import Floats, Ints
from tacit.curator.gate import Question
from tacit.curator.rows import HandedOnError
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
class Passage:
    """One release.

    Attributes:
        verb: as :class:`tacit.curator.gate.Question` has it.
        public: what must be the same on a neighbour: what was asked, its label, charge, sensitivity and theorem.
        exact: what the rows say, in integer units: an answer, or scores of shape ``(nodes, candidates)``.
        released: what comes out: noisy integers, or chosen indices.
        allowed: how far one protected unit may move ``exact``: its L1 and squared L2 distance of an answer, twice the
            spread of scores of a choice; None of a cover.
        noise: what was added, in integer units; None where nothing is.
        scale: that the noise needs for this charge at this sensitivity, in integer units.
        part: of a release whose rows are bounded over several.
    """

    verb: str
    public: tuple[Any, ...]
    exact: Ints | None
    released: Any
    allowed: tuple[int, int] | None = None
    noise: Ints | None = None
    scale: float = 0.0
    part: Part | None = None


class Diverged(BaseException):
    """The fit left the recorded path; nothing that follows can be compared. No ``except Exception`` stops it."""


@final
@dataclass
class Tape:
    """Records what passes the curator, or, in a replay ``beside`` a neighbour, forces it.

    ``tightest`` is the largest distance of exact answers as a share of what is declared.
    """

    passages: list[Passage] = field(default_factory=list)
    beside: str = ""
    faults: list[str] = field(default_factory=list)
    tightest: float = 0.0
    _position: int = 0
    _parts: dict[tuple[int, int], tuple[float, Part]] = field(default_factory=dict)
    _bounds: list[JointBound] = field(default_factory=list)
    _secrets: list[Ints] = field(default_factory=list)
    _at_the_gate: bool = False

    sees_exact_answers: ClassVar[bool] = True
    follows_views: ClassVar[bool] = False

    def replay(self, beside: str) -> Tape:
        """A tape for a fit to a neighbour of this name."""
        return Tape(self.passages, beside)

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
        return [self._passed(self._passage(*each)) for each in zip(questions, exact, made, strict=True)]

    def drawn(self, question: Question, exact: Ints, noise: Ints | None) -> None:
        """Keeps an exact answer; its noise is what the release differs from it by."""
        del question, noise
        self._secrets.append(exact.copy())

    def saw(self, what: str) -> None:
        """An answer was given; a fault if no verb asked for it."""
        if not self._at_the_gate:
            self.fault(f"rows were asked past the curator: {what}")

    def _passage(self, question: Question, exact: Ints | None, released: Ints) -> Passage:
        verb, moved, charge, asked = question.verb, question.sensitivity, question.charge, question.asked
        allowed = None if exact is None else (moved.l1, moved.l2_squared)
        public = (type(asked).__name__, str(question.label), charge, moved.theorem, question.words, question.scale,
                  allowed)  # fmt: skip
        noise, scale = None, 0.0  # worked out here once more, and not from what the curator drew, nor at its scale
        if exact is not None and isinstance(charge, Gaussian | Laplace):
            noise = released - exact
            scale = charge.noise_multiplier * (moved.l2 if isinstance(charge, Gaussian) else moved.l1)
        part = self._part(asked) if isinstance(asked, JointHistogram) else None
        return Passage(verb, public, exact, released.copy(), allowed, noise, scale, part)

    def _part(self, asked: JointHistogram) -> Part:
        bound = asked.bound
        place = next((k for k, known in enumerate(self._bounds) if known is bound), len(self._bounds))
        if place == len(self._bounds):
            self._bounds.append(bound)
        index = next(k for k, part in enumerate(bound.parts) if part.cells is asked.histogram.cells)
        return Part(place, index, bound.parts[index].precision, sum(part.precision for part in bound.parts))

    def _passed(self, passage: Passage) -> Any:
        if not self.beside:
            self.passages.append(passage)
            return passage.released.copy()
        asked = f"{passage.verb} {passage.public[:3]}"
        if self._position == len(self.passages):
            self._diverge(f"the fit goes on with {asked}, where the recorded one had ended")
        before = self.passages[self._position]
        self._position += 1
        if (before.verb, before.public) != (passage.verb, passage.public):
            self._diverge(f"release {self._position} is {passage.verb} {passage.public}, and was {before.verb} "
                          f"{before.public}: rows steer the fit")  # fmt: skip
        if passage.exact is not None and before.exact is not None:
            for wrong in self._apart(passage, before.exact, passage.exact):
                self.fault(f"{asked}: {wrong}")
        return before.released.copy()

    def finish(self) -> None:
        """What can be judged at the end of a replay only."""
        if self._position < len(self.passages):
            left = self.passages[self._position]
            self.fault(f"the fit ended before {left.verb} {left.public[:3]}: rows steer it")
        together: dict[int, float] = defaultdict(float)
        totals = {part.bound: part.total for _, part in self._parts.values()}
        for shift, part in self._parts.values():
            together[part.bound] += shift
        for bound, shift in together.items():
            for wrong in self._within(shift, totals[bound], "the shift of joint releases, in their noise,"):
                self.fault(wrong)

    def _diverge(self, text: str) -> NoReturn:
        self.fault(text)
        raise Diverged(text)

    def _apart(self, passage: Passage, before: Ints, after: Ints) -> Iterator[str]:
        """What is wrong with the distance of two exact answers, or of the scores of a choice."""
        if before.shape != after.shape:
            yield f"answers of shape {before.shape} became {after.shape}"
            return
        assert passage.allowed is not None
        change = (after - before).astype(object)
        if passage.verb == "select":
            spread = int((change.max(axis=1) - change.min(axis=1)).sum())
            yield from self._within(spread, passage.allowed[0], "the spread of scores")
            return
        l1, l2 = int(abs(change).sum()), int((change * change).sum())
        if passage.part is not None:
            laplace = isinstance(passage.public[2], Laplace)
            shift = passage.part.precision * (l1 / passage.allowed[0] if laplace else l2 / passage.allowed[1])
            key = passage.part.bound, passage.part.index
            self._parts[key] = max(shift, self._parts.get(key, (0.0, passage.part))[0]), passage.part
            return
        yield from self._within(l1, passage.allowed[0], "the L1 distance")
        yield from self._within(math.sqrt(l2), math.sqrt(passage.allowed[1]), "the L2 distance")

    def _within(self, distance: float, allowed: float, what: str) -> Iterator[str]:
        self.tightest = max(self.tightest, distance / allowed if allowed else 0.0)
        if distance > allowed * (1 + SLACK):
            yield f"{what} is {distance:.6g}, where at most {allowed:.6g} is declared"


class _SeenTable:
    """A sealed table whose answers a tape sees; in all else the table."""

    def __init__(self, table: Any, tape: Tape) -> None:
        self._table, self._tape = table, tape

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def answer(self, query: Any) -> Any:
        """See ``SealedTable``."""
        self._tape.saw(type(query).__name__)
        return self._table.answer(query)

    def answer_all(self, queries: Sequence[Any]) -> Any:
        """See ``SealedTable``."""
        self._tape.saw(", ".join(type(query).__name__ for query in queries))
        return self._table.answer_all(queries)

    def open_cover(self, candidates: Any) -> Any:
        """See ``SealedTable``."""
        self._tape.saw("a cover")
        return self._table.open_cover(candidates)


def noise_faults(tapes: Sequence[Tape]) -> list[str]:
    """What is wrong with the noise of recorded fits: none, the same twice in a fit, or too little in all."""
    faults: list[str] = []
    drawn: dict[type, list[float]] = {
        Gaussian: [0.0, 0.0],
        Laplace: [0.0, 0.0],
    }  # draws, and the sum of what should be 1 on average
    for tape in tapes:
        seen: dict[bytes, str] = {}
        for passage in tape.passages:
            if passage.noise is None or passage.scale == 0:
                continue
            noise, kind = passage.noise.ravel(), type(passage.public[2])
            drawn[kind][0] += noise.size
            drawn[kind][1] += float(_relative(noise, passage.scale, kind).sum())
            if noise.size * math.log2(max(3.5 * passage.scale, 1.0)) < TELLING_BITS:
                continue
            name = f"{passage.verb} {passage.public[:3]}"
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
