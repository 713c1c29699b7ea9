"""A site's side of :mod:`tacit.engines.joined.table`: carries out commands on its rows, after checking them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np

from tacit.arrays import Ints
from tacit.engines.blocks import BlockTable
from tacit.engines.joined.admit import Admission
from tacit.engines.joined.wire import LOGS, LOOKS, Log, Receiver, WireError, array_of
from tacit.engines.margin_rows import MarginRows
from tacit.engines.passes.cover import CoverSums
from tacit.engines.rows import Rows
from tacit.engines.score_rows import ScoreRows
from tacit.queries.cells import OneCell, ProductCells
from tacit.queries.dense.halfspace_log import HalfspaceLog
from tacit.queries.joint_bound import JointBound
from tacit.queries.margins import Margins, Scores


@dataclass(frozen=True, eq=False)
class CatchUp:
    """Applies what is new in a log to a block of rows, as their codes are now."""

    log: Margins | Scores

    def __call__(self, rows: Rows) -> Ints:
        if isinstance(self.log, Scores):
            ScoreRows.of(rows).caught_up(self.log)
        else:
            MarginRows.of(rows).caught_up(self.log)
        return np.zeros(0, np.int64)


class SiteTables:
    """The sealed rows of a site, as the coordinator knows them; ``seal`` makes a table of a recipe in plain data."""

    def __init__(self, seal: Callable[[Any], BlockTable], has_targets: bool) -> None:
        self._seal, self._has_targets = seal, has_targets
        self._tables: dict[int, BlockTable] = {}
        self._current: tuple[BlockTable, Admission] | None = None
        self._cover: CoverSums | None = None
        self._homes: WeakKeyDictionary[Margins | Scores, ReferenceType[BlockTable]] = WeakKeyDictionary()
        self._receiver = Receiver(self._admit, self._catch_up)

    def forget(self, numbers: Any) -> None:
        """Lets go of what the coordinator no longer refers to."""
        self._receiver.forget(numbers)

    def tell(self, what: Any) -> None:
        """Does what is no question.

        Raises:
            WireError, ValueError, RuntimeError: for what cannot be done; nothing depends on what rows hold.
        """
        if not isinstance(what, dict) or not isinstance(what.get("table"), int):
            raise WireError("something came that is nothing to do")
        do, number = what.get("do"), what["table"]
        if do == "seal":
            if number in self._tables:
                raise WireError("a table came under a number that is taken")
            self._tables[number] = self._seal(what.get("recipe"))
        elif do == "unseal":
            self._tables.pop(number, None)
        elif do == "coarsen":
            table, _ = self._use(number)
            for log in what.get("logs", ()):
                self._receiver.object(log, tuple(LOGS))
            column, mapping = what.get("column"), array_of(what.get("mapping", {}))
            if not isinstance(column, int) or not 0 <= column < table.layout.n_columns or mapping.dtype != np.int64:
                raise WireError("there is no such column")
            table.coarsen(column, mapping)
        elif do == "derive":
            table, admission = self._use(number)
            cells = self._receiver.object(what.get("cells"), (ProductCells, OneCell))
            admission.cells(cells)
            table.derive(cells)
        elif do == "bind":
            table, admission = self._use(number)
            bound = self._receiver.object(what.get("bound"), (JointBound,))
            admission.bound(bound)
            table.bind(bound, 1)
        else:
            raise WireError(f"nobody knows how to {str(do)[:20]!r}")

    def look(self, what: dict[str, Any]) -> Any:
        """The look that was asked for, checked; see :meth:`answer`.

        Raises:
            WireError: if it is none that may be asked.
        """
        _, admission = self._use(what.get("table"))
        look = self._receiver.object(what.get("look"), LOOKS)
        admission.look(look)
        return look

    def sums_of(self, look: Any) -> int:
        """How many releases a look that may be asked is for: none more if it goes on with the last cover."""
        if not isinstance(look, CoverSums):
            return len(look.queries) if hasattr(look, "queries") else 1
        last, self._cover = self._cover, look
        goes_on = last is not None and last.candidates is look.candidates
        return 0 if goes_on and last is not None and look.removed[: len(last.removed)] == last.removed else 1

    def answer(self, look: Any) -> Ints:
        """The exact sums over the rows of this site."""
        table, _ = self._of_use()
        return table.total(look)

    def _use(self, number: Any) -> tuple[BlockTable, Admission]:
        if not isinstance(number, int) or number not in self._tables:
            raise WireError("there is no such table")
        table = self._tables[number]
        self._current = (table, Admission(table, self._has_targets))
        return self._current

    def _of_use(self) -> tuple[BlockTable, Admission]:
        if self._current is None:
            raise WireError("no table was named")
        return self._current

    def _admit(self, value: Any) -> None:
        table, admission = self._of_use()
        home = self._homes.get(value) if isinstance(value, Margins | Scores) else None
        if home is not None and home() is not table:  # its updates were checked against the codes of that one
            raise WireError("a log of updates came that is of another table")
        admission.part(value)

    def _catch_up(self, log: Log) -> None:
        if not isinstance(log, HalfspaceLog):  # those are of rows whose numbers stay what they are
            table, _ = self._of_use()
            self._homes[log] = ref(table)
            table.total(CatchUp(log))
