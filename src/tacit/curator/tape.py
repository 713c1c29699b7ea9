"""The tape of a fit: its questions and what was released in answer, as the gate saw them.

A learner's model is a function of what was released and of public facts, so a fit that gets its answers from a tape
ends in the same model without a row (docs/theory/open_tape.md). A tape holds no exact answer and no noise: a recorder
is shown neither.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, final

import numpy as np

from tacit.arrays import Ints
from tacit.curator.gate import Question, SharedNoise, Witness
from tacit.privacy.canonical import finite
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import Reservation
from tacit.privacy.noise_shares import shares_of
from tacit.queries.digest import Digests

Answer = Ints | dict[str, int]
"""What leaves: noisy integers or choices; of values that nobody declared each with its noisy count."""


class Diverged(BaseException):
    """The fit left the path of the tape; nothing that follows can be compared. No ``except Exception`` stops it."""


@final
@dataclass(frozen=True, eq=False)
class Passage:
    """One release, as it left."""

    verb: str  # as `Question` has it
    label: str  # what it is
    charge: Charge  # what it cost
    words: str  # the question in words, its theorem and the scale of its noise
    question: bytes  # a digest of the whole question, with all that it is made of
    answer: Answer  # what left

    def __str__(self) -> str:
        return f"{self.verb} {self.label!r}"

    @property
    def facts(self) -> tuple[Any, ...]:
        """What must be the same when it is asked again, beside the question itself."""
        return self.verb, self.label, self.charge, self.words

    @property
    def size(self) -> int:
        """How many integers left."""
        return len(self.answer) if isinstance(self.answer, dict) else self.answer.size

    def copied(self) -> Any:
        """The answer, for whoever may change it."""
        return self.answer.copy()

    def link(self, before: bytes) -> bytes:
        """SHA-256 of this passage and of the link before it: the last one is that of the whole tape."""
        digest = hashlib.sha256(before + self.question)
        plain = [self.verb, self.label, finite(self.charge.to_dict()), self.words]
        digest.update(json.dumps(plain, sort_keys=True).encode())
        if isinstance(self.answer, dict):
            digest.update(json.dumps(sorted(self.answer.items())).encode())
        else:
            digest.update(f"{self.answer.shape}".encode() + self.answer.astype("<i8").tobytes())
        return digest.digest()


def _on_the_tape(questions: Sequence[Question]) -> list[Ints]:
    raise TypeError(f"{len(questions)} questions are answered by the tape alone")


@final
@dataclass
class Tape(Witness):
    """Passages in their order: a witness that records, or ``playing`` one that answers with what was recorded."""

    passages: list[Passage] = field(default_factory=list)  # what left, in order
    playing: bool = False  # whether it answers
    doubts: list[str] = field(default_factory=list)  # the first question that is another one in all but its words
    position: int = 0  # how many of the passages were played
    _digests: Digests = field(default_factory=Digests)

    def played(self) -> Tape:
        """The same tape from its beginning, answering."""
        return Tape(self.passages, playing=True)

    @property
    def shared_noise(self) -> SharedNoise | None:
        """What a tape that plays says of noise that sites drew: the scales of its questions are those of all shares."""
        theorem = self.passages[0].words.rpartition(", moves ")[0] if self.playing and self.passages else ""
        shares = shares_of(theorem)
        return None if shares is None else SharedNoise(shares, _on_the_tape)

    @property
    def link(self) -> bytes:
        digest = b""
        for passage in self.passages:
            digest = passage.link(digest)
        return digest

    def release(
        self, reservation: Reservation, questions: Sequence[Question], make: Callable[[], list[Any]]
    ) -> list[Any]:
        """What leaves: what is made; from a tape that plays what was recorded, and nothing is made."""
        del reservation
        if self.playing:
            return [self.answer_to(question) for question in questions]
        answers = make()
        self.passages += [self.passage(*pair) for pair in zip(questions, answers, strict=True)]
        return answers

    def passage(self, question: Question, answer: Answer) -> Passage:
        """A release as it is kept."""
        moved = question.sensitivity
        words = f"{question.words}, {moved.theorem}, moves {moved.l1} and {moved.l2_squared}, scale {question.scale!r}"
        facts = (question.verb, words, question.rows_per_unit, question.charge.to_dict(), question.asked)
        digest = self._digests.of(facts)
        return Passage(question.verb, str(question.label), question.charge, words, digest, answer.copy())

    def answer_to(self, question: Question) -> Any:
        """The recorded answer to a question."""
        passage = self.passage(question, np.zeros(0, np.int64))
        if self.position == len(self.passages):
            self.diverge(f"the tape ends after {self.position} releases, and the learner asks for {passage}")
        recorded = self.passages[self.position]
        self.position += 1
        for one, other in zip(recorded.facts, passage.facts, strict=True):
            if one != other:
                words = f"{recorded}" if str(recorded) != str(passage) else f"{recorded}: {one}"
                self.diverge(f"release {self.position} of the tape is {words}, and the learner asks "
                             f"{passage if str(recorded) != str(passage) else other}")  # fmt: skip
        if recorded.question != passage.question and not self.doubts:
            self.doubts.append(
                f"from release {self.position} on, {recorded}, the questions of the tape are others of the same "
                "words, as after a change of what was released before, or in another version"
            )
        return recorded.copied()

    def diverge(self, text: str) -> NoReturn:
        raise Diverged(text)

    @property
    def unasked(self) -> str:
        """The first release that nobody asked for, in words; empty if there is none."""
        if self.position == len(self.passages):
            return ""
        return f"release {self.position + 1} of the tape, {self.passages[self.position]}, is one that nobody asks for"
