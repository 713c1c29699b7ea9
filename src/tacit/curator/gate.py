"""The gate that every release passes: charged before it reads a row, and seen by whoever stands beside it.

The verbs of the curator (:mod:`tacit.curator.curator`, ``select``, ``cover``, ``keys``) state a :class:`Question`,
charge it, and hand the gate a function that answers it with noise. What comes back is what leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, final

from tacit.arrays import Ints
from tacit.engines.blocks import SealedTable
from tacit.noise.source import NoiseSource
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label
from tacit.privacy.ledger import Released, Reservation
from tacit.privacy.noise_shares import NoiseShares
from tacit.queries.query import Sensitivity

T = TypeVar("T")


@final
@dataclass(frozen=True, eq=False)
class Question:
    """One release, validated: what is asked, for which charge, by which theorem. All of it is public."""

    verb: str  # `"measure"`, `"joint"`, `"select"`, `"cover"` or `"keys"`
    asked: Any  # the query, the selection, the cover, or what a key must reach
    charge: Charge  # what the release costs
    label: Label | str  # what it is, for the ledger
    # how far one protected unit moves the exact integers, and by which theorem. Of a choice: the spread of the scores
    # in both norms; of a cover the theorem alone, with zeros.
    sensitivity: Sensitivity
    # of the integer noise, or of the choice, in the integers' units; 0 without privacy, and of a cover, whose steps
    # have scales of their own
    scale: float
    words: str  # the question in words: a fit that goes on must ask the same
    rows_per_unit: int  # rows that one protected unit may hold; counted in `sensitivity` already

    def __str__(self) -> str:
        return f"{self.words}, {self.charge}, {self.label}"


@final
@dataclass(frozen=True, eq=False)
class SharedNoise:
    """Rows at sites whose answers come with noise: nobody, the curator included, sees an exact one."""

    shares: NoiseShares  # how many sites draw the noise, and how many suffice
    answers: Callable[[Sequence[Question]], list[Ints]]  # noisy totals


class Witness:
    """Stands beside the gate: an audit, a test, or a recorder. It is told of every release, and decides what leaves.

    This one is the witness of an ordinary fit: what is made leaves, and nobody sees an exact answer.
    """

    sees_exact_answers: ClassVar[bool] = False
    """Whether it is shown what stays behind the gate: only where the noise has a seed, so that nothing is releasable.
    It must say so if it has any method of :data:`SECRETS` of its own; :func:`check_may_watch` looks."""

    @property
    def shared_noise(self) -> SharedNoise | None:
        """Noise that sites drew, where answers are not made of rows at hand; None if the curator draws it."""
        return None

    def table(self, table: SealedTable) -> SealedTable:
        """The sealed rows as a curator asks them: these, or a stand-in that tells of questions past the gate."""
        return table

    def source(self, noise: NoiseSource) -> NoiseSource:
        """Where noise comes from: this source, or a stand-in that tells of draws."""
        return noise

    def tester(self, tester: Any) -> Any:
        """An above-threshold as the machine of a stream asks it: this one, or a stand-in that tells of its tests."""
        return tester

    def release(
        self, reservation: Reservation, questions: Sequence[Question], make: Callable[[], list[Released]]
    ) -> list[Released]:
        """What leaves in answer to questions that are paid for, one value for each: noisy integers, or choices.

        ``make`` reads the rows and draws the noise. A witness that forces recorded values need not call it.
        """
        del reservation, questions
        return make()

    def drawn(self, question: Question, exact: Any, noise: Ints | None) -> None:
        """Is told, while ``make`` runs, an exact answer and its noise (None where none is added). Both are secret."""

    def inside(self, step: str, about: Any, exact: Any, value: T) -> T:
        """A secret step of a view or a stream: its value, or, on a neighbour, the one that was recorded.

        Args:
            step: ``"weights"``, ``"end test"``, ``"pattern"``, ``"coins"``, ``"view"``, ``"stream choice"`` or
                ``"period"``.
            about: what is public about it: the view, the spec of a period, or the range, charge and number of choices.
            exact: what the rows say.
            value: what follows from it.
        """
        del step, about, exact
        return value

    def child(self, rows: Any, reservation: Reservation) -> None:
        """Is told which of the rows that a view made a child learner gets, and what pays for it."""


SECRETS = ("source", "tester", "drawn", "inside", "child")
"""Methods of a witness that are given what stays behind the gate."""

NOBODY = Witness()


def check_may_watch(witness: Witness, noise: NoiseSource) -> None:
    """Raises TypeError for a witness of exact answers beside noise that may be released."""
    sees = witness.sees_exact_answers or any(
        getattr(type(witness), name) is not getattr(Witness, name) for name in SECRETS
    )
    if sees and noise.releasable:
        raise TypeError("exact answers are shown only where noise has a seed, and nothing is releasable")


@final
@dataclass(frozen=True, eq=False)
class Gate:
    """The way out of the sealed rows: a reservation that is durable already, a source of noise, and a witness.

    Raises:
        TypeError: for a witness of exact answers beside noise that may be released.
    """

    reservation: Reservation  # pays for every release, and keeps those of a fit that may go on
    noise: NoiseSource  # where noise comes from
    rows_per_unit: int = 1  # rows that one protected unit may hold; multiplies every sensitivity
    witness: Witness = NOBODY  # sees what leaves

    def __post_init__(self) -> None:
        check_may_watch(self.witness, self.noise)

    def charge(self, question: Question) -> None:
        """Enters a question into the ledger, before it reads anything.

        Raises:
            BudgetExceeded: if what is left of the reservation does not cover it; nothing may be read then.
        """
        self.reservation.record(question.charge, question.label, question.sensitivity.theorem, kept=True)

    def release(self, questions: Sequence[Question], make: Callable[[], list[Released]]) -> list[Released]:
        """What leaves in answer to questions that are charged; a fit that goes on takes what it kept."""

        def kept() -> list[Released]:
            return self.reservation.release(lambda: "; ".join(map(str, questions)), make)

        return self.witness.release(self.reservation, questions, kept)

    def drawn(self, question: Question, exact: Any, noise: Ints | None = None) -> None:
        """Tells a witness who may know it what rows say, and what is added."""
        if self.witness.sees_exact_answers:
            self.witness.drawn(question, exact, noise)
