"""The curator: the only holder of both the rows and the noise.

Every verb keeps one order: validate, charge, aggregate, add noise, release. A question is *validated* when its
sensitivity and the scale of its noise are known; *charged* to a reservation that is durable already; *aggregated* over
the rows in exact integers; given integer *noise*; and *released* through the gate. A learner holds a curator and asks;
it never sees a row, an exact answer, or a draw of noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np

from tacit.arrays import Ints
from tacit.curator.cover import Covering, run_cover
from tacit.curator.gate import NOBODY, Gate, Question, SharedNoise, Witness
from tacit.curator.joint_clipping import JointReleases, JointWeights
from tacit.curator.measurement import Measurement, integer_noise, integer_scale, noise_sd
from tacit.curator.select import Choice, select
from tacit.engines.blocks import SealedTable
from tacit.noise import NoiseSource, PublicChoices
from tacit.privacy.charges import Charge, Gaussian, Laplace, NonPrivate
from tacit.privacy.label import Label
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import Cells
from tacit.queries.covers.charges import Accounting
from tacit.queries.covers.cover import Cover
from tacit.queries.histogram import Histogram, ScoreHistogram
from tacit.queries.joint_bound import JointBound, JointHistogram, JointPart, joint_sensitivity
from tacit.queries.margins import Margins, Scores
from tacit.queries.query import Layout, Query, Sensitivity
from tacit.queries.rules import RowRule
from tacit.queries.score_rules import ScoreRule
from tacit.queries.selection import Selection


@dataclass(frozen=True, eq=False)
class _JointQuestion:
    """What is asked of a part that is bounded together with others, and the scale of the noise that goes with it.

    The bound that it follows from is not kept alive: labels would be with it. The sensitivity is that of all parts
    together.
    """

    bound: ReferenceType[JointBound]
    rule: RowRule | ScoreRule
    state: Margins | Scores
    histogram: Histogram | ScoreHistogram
    sensitivity: Sensitivity
    scale: float

    def is_of(self, bound: JointBound, rule: RowRule | ScoreRule, state: Margins | Scores) -> bool:
        return self.bound() is bound and self.rule is rule and self.state is state


class Curator:
    """The only access to one sealed table: every release is checked against the reservation, which is durable already.

    ``rows_per_unit``, how many rows one protected unit may hold, multiplies every sensitivity. ``witness`` sees what
    leaves. ``choices``: the public ones of the fit; always the same where none are given.
    """

    def __init__(
        self,
        table: SealedTable,
        reservation: Reservation,
        noise: NoiseSource,
        rows_per_unit: int = 1,
        witness: Witness = NOBODY,
        choices: PublicChoices | None = None,
    ) -> None:
        self._gate = Gate(reservation, noise, rows_per_unit, witness)
        self._table = witness.table(table)
        self._choices = PublicChoices(b"") if choices is None else choices
        self._joint_questions: WeakKeyDictionary[JointPart, _JointQuestion] = WeakKeyDictionary()
        if witness.shared_noise is not None:
            self.shared_noise = witness.shared_noise

    @property
    def neighbouring(self) -> Neighbouring:
        """The relation every guarantee here is about."""
        return self._gate.reservation.neighbouring

    @property
    def weighs_rows(self) -> bool:
        """Whether rows have weights of their own; public."""
        return self._own_levels > 1

    @property
    def layout(self) -> Layout:
        """What is public about the table: columns, codes, labels; never a number of rows."""
        return self._table.layout

    @property
    def public_generator(self) -> np.random.Generator:
        """Randomness for choices that protect nobody."""
        return self._choices.generator()

    def measure(self, query: Query, charge: Charge, label: Label | str) -> Measurement:
        """Releases a noisy answer.

        Args:
            query: what to ask; states its own sensitivity under each relation.
            charge: ``Gaussian`` or ``Laplace`` with the noise multiplier to use, or ``NonPrivate``.
            label: what this is, for the ledger and reports; words alone are of no stage.

        Raises:
            BudgetExceeded: if the reservation does not cover it; nothing is read then.
        """
        return self.measure_all([(query, charge, label)])[0]

    def measure_all(self, asks: Sequence[tuple[Query, Charge, Label | str]]) -> list[Measurement]:
        """Releases noisy answers to several queries, none of which waits for another's answer.

        Each has its own charge, entry in the ledger and noise, as in :meth:`measure`; what they share is the pass over
        the rows.

        Args:
            asks: query, charge and label of each.

        Raises:
            BudgetExceeded: if the reservation does not cover all of them; nothing is read then.
        """
        questions = [self._question(query, charge, label) for query, charge, label in asks]
        for question in questions:
            self._gate.charge(question)
        return self._released(questions, self._table.answer_all)

    shared_noise: SharedNoise | None = None  # sites that draw the noise themselves, if that is how these rows answer

    def _of_a_unit(self, one_row: Sensitivity) -> Sensitivity:
        """How far one protected unit moves an answer, with the whole claim for the ledger."""
        moved = one_row.times(self._gate.rows_per_unit)
        return (
            moved
            if self.shared_noise is None
            else replace(moved, theorem=moved.theorem + self.shared_noise.shares.claim)
        )

    def _scale(self, charge: Gaussian | Laplace, moved: Sensitivity) -> float:
        scale = integer_scale(charge, moved)
        return scale if self.shared_noise is None else self.shared_noise.shares.total(scale)

    def _question(self, query: Query, charge: Charge, label: Label | str) -> Question:
        """A validated question: how far one unit moves the answer, and the noise that the charge asks for then."""
        if not isinstance(charge, Gaussian | Laplace | NonPrivate):
            raise TypeError(f"measure takes a Gaussian, Laplace or NonPrivate charge, got {type(charge).__name__}")
        sensitivity = self._of_a_unit(query.sensitivity(self.neighbouring))
        scale = 0.0 if isinstance(charge, NonPrivate) else self._scale(charge, sensitivity)
        words = f"{type(query).__name__} {query.shape}"
        return Question("measure", query, charge, label, sensitivity, scale, words, self._gate.rows_per_unit)

    def _released(self, questions: Sequence[Question], answers: Callable[[list[Any]], list[Ints]]) -> list[Measurement]:
        """Aggregates, adds noise, releases: questions that are charged become measurements."""

        def noisy() -> list[Ints]:
            if self.shared_noise is not None:
                return self.shared_noise.answers(questions)
            exact = answers([question.asked for question in questions])
            return [self._noisy(question, answer) for question, answer in zip(questions, exact, strict=True)]

        released = self._gate.release(questions, noisy)
        return [_measurement(question, value) for question, value in zip(questions, released, strict=True)]

    def _noisy(self, question: Question, exact: Ints) -> Ints:
        """An exact answer and its noise, in integers; exact where no privacy was asked for."""
        noise = None
        if isinstance(question.charge, Gaussian | Laplace):
            size = math.prod(question.asked.shape)
            noise = integer_noise(self._gate.noise, question.charge, question.scale, size).reshape(exact.shape)
        self._gate.drawn(question, exact, noise)
        return exact if noise is None else exact + noise

    def open_jointly(self, bound: JointBound, rounds: int, stage: str = "", before: int = 0) -> JointReleases:
        """Releases of several weighted histograms over which every row is bounded together.

        Guarantee: that of :class:`tacit.queries.joint_bound.JointBound`. Every release that may come is recorded now,
        before the first row is read; those that are not made are paid for all the same.

        Args:
            bound: the parts, with the charge of one release of each, and what no row exceeds.
            rounds: how often each part may be released.
            stage: of the fit, for the ledger.
            before: how many rounds of the stage there were before these, under bounds of their own; for the ledger.

        Raises:
            BudgetExceeded: if the reservation does not cover it; nothing is read then.
        """
        opened = JointReleases(bound, rounds, stage, self._release_jointly, before)
        theorem = self._of_a_unit(joint_sensitivity(bound, (1, 1), self.neighbouring)).theorem
        for charge, label in opened.charges():
            self._gate.reservation.record(charge, label, theorem, kept=True)
        self._table.bind(bound, self._own_levels)
        return opened

    @property
    def _own_levels(self) -> int:
        """How many levels of weight the table's labels hold beside the class."""
        return 1

    @cached_property
    def _weigh(self) -> JointWeights:
        """How rows that are bounded together count."""
        return JointWeights((1.0,) * self.layout.n_labels)

    def _release_jointly(
        self, bound: JointBound, part: JointPart, rule: RowRule | ScoreRule, state: Margins | Scores, label: Label
    ) -> Measurement:
        """An answer that is paid for, with noise."""
        self._gate.reservation.require_own_process(label)
        joint = self._joint_question(bound, part, rule, state)
        query = JointHistogram(joint.histogram, bound)
        # releases that are bounded together are paid for together, so the bound must be the same in all of them
        words = f"{type(query).__name__} {query.shape}, bounded as {bound.digest}"
        units = self._gate.rows_per_unit
        question = Question("joint", query, part.charge, label, joint.sensitivity, joint.scale, words, units)
        return self._released([question], lambda _: [self._table.answer(query)])[0]

    def _joint_question(
        self, bound: JointBound, part: JointPart, rule: RowRule | ScoreRule, state: Margins | Scores
    ) -> _JointQuestion:
        """The question, kept for as long as the part lives: it comes back once a sweep."""
        joint = self._joint_questions.get(part)
        if joint is None or not joint.is_of(bound, rule, state):
            histogram = self._weigh.histogram(part, rule, state)
            query = JointHistogram(histogram, bound)
            moved = self._of_a_unit(query.joint_sensitivity(self.neighbouring))
            joint = _JointQuestion(ref(bound), rule, state, histogram, moved, self._scale(part.charge, moved))
            self._joint_questions[part] = joint
        return joint

    def select(self, selection: Selection, charge: Charge, label: Label | str) -> Choice:
        """Chooses, in each node of a selection, a candidate with (about) the highest score.

        Guarantee: the exponential mechanism, ``P(i) ~ exp(charge.range * score_i / range)`` independently in every
        node, with ``range`` what one row can move (one unit: times the rows it may hold). It is bounded range in
        ``charge.range``, hence pure ``charge.range`` and ``charge.range**2 / 8``-zCDP, for all nodes together (Dong,
        Durfee, Rogers 2020).

        Args:
            selection: the candidates, and how their scores follow from exact histograms.
            charge: ``BoundedRange``, or ``NonPrivate`` for the first highest score.
            label: what this is, for the ledger.

        Raises:
            BudgetExceeded: if the reservation does not cover it; nothing is read then.
        """
        return select(self._table, self._gate, selection, charge, label)

    def cover(
        self, cover: Cover, label: Label | str, accounting: Accounting = Accounting.MOMENTS, delta: float = 0.0
    ) -> Covering:
        """Chooses rules one after the other, each of which removes the rows it covers: EM-cover, whole.

        Guarantee: :func:`tacit.queries.covers.charges.cover_charge` of the steps under the relation of the reservation,
        recorded before the first row is read. Only the chosen rules leave.

        Args:
            cover: the candidates and the steps.
            label: what this is, for the ledger.
            accounting: which proof the charge stands on.
            delta: for ``Accounting.PAPER`` only.

        Raises:
            ValueError: if that analysis does not apply; nothing was spent.
            BudgetExceeded: if the reservation does not cover it; nothing is read then.
        """
        return run_cover(self._table, self._gate, cover, label, accounting, delta)

    def coarsen(self, column: int, mapping: Ints) -> None:
        """Replaces a column's codes by a public map of them. Releases nothing; the map is released already."""
        self._table.coarsen(column, mapping)

    def derive(self, cells: Cells) -> None:
        """Keeps the codes of ``cells`` inside the curator for as long as the object lives. Releases nothing."""
        self._table.derive(cells)


def _measurement(question: Question, released: Ints) -> Measurement:
    """A noisy answer in natural units, and what is known about its noise."""
    unit = float(question.asked.unit)
    sd = noise_sd(question.charge, question.scale) / unit
    return Measurement(str(question.label), released / unit, sd, question.charge, question.sensitivity.theorem)
