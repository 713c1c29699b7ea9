"""What a foreign learner is shown: rows that count, and null rows in the place of the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.curator.rows import PrivateRows
from tacit.curator.trusted import run_trusted
from tacit.encoding.dense import RowEncoder
from tacit.encoding.frames import columns_of
from tacit.encoding.values import LabelIndex
from tacit.privacy.charges import Charge, Pure
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.schema import Schema

SCHEMA = Schema.from_dict({"columns": {"x": {"kind": "numeric", "lower": 0, "upper": 1}}})


class Looking:
    """Keeps what it is shown."""

    name = "looking"

    def declared_charge(self, neighbouring: Neighbouring) -> tuple[Charge, ...]:
        return (Pure(1.0),)

    def learn(self, rows: Any, labels: Any) -> Looking:
        self.rows, self.labels = rows, labels
        return self

    def predict(self, rows: Any) -> Any:
        return rows[:, 0] > 0


def test_rows_that_do_not_count_are_null_rows_of_the_first_class() -> None:
    """A child of a view holds the rows that were not drawn, too, without a label: they must not be seen."""
    frame = columns_of({"x": np.array([0.9, 0.9, 0.1, 0.9])})
    reservation = Reservation([Pure(1.0)], Neighbouring.REPLACE_ONE)
    rows = PrivateRows(frame, ["yes", None, "no", "other"], reservation, 0)
    learner = Looking()
    model = run_trusted(rows, learner, RowEncoder.of(SCHEMA), LabelIndex(("no", "yes")), "a look")
    assert learner.labels.tolist() == [1, 0, 0, 0]
    assert learner.rows[[1, 3]].tolist() == [[0.0], [0.0]]
    assert learner.rows[0] > 0.5 > -0.5 > learner.rows[2]
    assert model.predict_proba(frame).tolist() == [[0, 1], [0, 1], [1, 0], [0, 1]]
    assert [str(entry) for entry in reservation.entries] == ["a look"]
