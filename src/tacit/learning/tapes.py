"""Fits whose releases go onto a tape, or come from one: the same fit, with a tape beside the gate."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, final

from tacit.curator.rows import PrivateRows
from tacit.curator.tape import Tape
from tacit.curator.tape_file import Beginning, TapeFile, digest_of, write_tape
from tacit.errors import STANDS
from tacit.learning.learner import Learner, Task
from tacit.privacy.certificate import Certificate
from tacit.privacy.request import RequestError

ENDINGS = (".tape", ".parquet")
"""How the names of tapes end, if they have an ending."""


def check_name(path: Path) -> None:
    """Raises :class:`RequestError` for a name that says of a tape, which is a Parquet file, that it is another."""
    if path.suffix and path.suffix.lower() not in ENDINGS:
        endings = " or ".join(ENDINGS)
        raise RequestError(f"tape: {path} would hold Parquet, whatever its name says: let it end in {endings}")


@final
class Taping:
    """A tape beside one fit: one that is recorded, into the file at ``path`` if any, or one that is ``played``.

    Raises :class:`RequestError` if no file can be made there. Nothing was spent.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, played: TapeFile | None = None) -> None:
        self.path, self.played = None if path is None else Path(path), played
        self.tape = Tape() if played is None else played.tape.played()
        self._seed, self._weighted = b"", False
        self._rows: int | None = None
        self._beginning: Beginning | None = None
        if self.path is not None:
            check_name(self.path)
        if self.path is not None and (self.path.is_dir() or not os.access(self.path.resolve().parent, os.W_OK)):
            raise RequestError(f"tape: no file can be written to {self.path}: give a file in a folder that is there")

    @property
    def digest(self) -> str:
        """SHA-256 of the tape, as the certificate has it."""
        if self.played is not None:
            return self.played.digest
        return digest_of(self.tape, self._seed, self._rows, self._weighted)

    def task(self, task: Task, learner: Learner) -> Task:
        """The task as it was recorded; raises :class:`RequestError` for a fit that no tape can hold."""
        reason = None
        if not learner.request.allowance.is_private:
            reason = "without privacy (epsilon=inf) it would hold exact answers of the rows"
        elif learner.takes_on_trust:
            reason = "a foreign learner sees rows, and what it releases passes no gate"
        elif task.encoding is None or task.undeclared is not None:
            reason = "it takes a schema with all columns and the label: types of columns are public there alone"
        if reason is not None:
            raise RequestError(f"tape: this fit cannot be put onto a tape: {reason}")
        return task if self.played is None else replace(task, public_rows=self.played.beginning.rows)

    def rows(self, rows: PrivateRows, task: Task) -> PrivateRows:
        """Private rows with the tape beside them."""
        if self.played is None:
            self._seed, self._rows, self._weighted = rows.public_seed, task.public_rows, rows.has_row_weights
            return rows.with_witness(self.tape)
        return rows.with_witness(self.tape).with_choices(bytes.fromhex(self.played.beginning.public_seed))

    def end(self, certificate: Certificate) -> None:
        """Takes down what the fit ended in, and writes the tape if it is recorded into a file.

        Raises:
            OSError: if it cannot be written; the fit is done, and its charge stands.
        """
        self._beginning = Beginning(
            public_seed=self._seed.hex(),
            rows=self._rows,
            weighted=self._weighted,
            releasable=certificate.releasable,
            reasons=certificate.reasons,
            model=certificate.model_digest or "",
            versions=dict(certificate.versions),
        )
        if self.path is not None:
            try:
                self.write(self.path)
            except OSError as error:
                error.add_note(f"the fit is done, and its tape was not written. {STANDS}")
                raise

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the tape of a fit that has ended."""
        assert self._beginning is not None
        write_tape(path, self._beginning, self.tape)


def taping_of(tape: Any) -> Taping:
    """What ``fit`` was given: the path of a file to record into, or a tape that plays."""
    return tape if isinstance(tape, Taping) else Taping(tape)
