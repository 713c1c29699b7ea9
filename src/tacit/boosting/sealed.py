"""Sealed rows and tables, for boosting with a measure and a weak learner of one's own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.curator.budget import Budget
from tacit.curator.rows import PrivateRows
from tacit.encoding.dense import RowClipper
from tacit.encoding.frames import Frame, columns_of
from tacit.encoding.inputs import label_vector
from tacit.encoding.matrix_rows import ROWS, MatrixEncoder, matrix_frame
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.errors import spending
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import Request, RequestError, declared_schema
from tacit.privacy.spending import certified, reserve
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import OneCell
from tacit.queries.dense.halfspace_log import DENSE_COUNT_UNIT, RADIUS_16, HalfspaceLog
from tacit.queries.histogram import Histogram
from tacit.queries.rules import RowRule
from tacit.schema import CategoricalColumn

NAME = "boosting"  # what accounts and certificates call a block
CELLS = 64  # cells of the grid of a number between its bounds, in a sealed table


@dataclass(eq=False)
class SealedRows:
    """Rows of two classes in a ball, sealed by the curator, and a budget. Made by :func:`private_rows`.

    There is no way to look at a row.

    Attributes:
        budget: answers queries for shares of the budget; its ``curator`` is what :func:`tacit.boosting.boost` takes.
        width: number of columns.
        certificate: what was released, by which theorem; None until the ``with`` block has ended.

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import private_rows
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(4000, 3))
        >>> X /= np.linalg.norm(X, axis=1, keepdims=True)
        >>> y = X[:, 0] > 0
        >>> with private_rows(X, y, row_norm=1.0, epsilon=1.0) as rows:
        ...     print(type(rows).__name__, rows.width)
        SealedRows 3
    """

    budget: Budget
    width: int
    certificate: Certificate | None = field(default=None)

    def log(self) -> HalfspaceLog:
        """An empty log of released halfspaces over these rows."""
        return HalfspaceLog(self.width, RADIUS_16)

    def charge(self, share: float) -> Charge:
        """What one release costs that takes this share of the budget."""
        return self.budget.charge(share)

    def count(self, share: float) -> float:
        """The noisy number of rows, at least 1; one release, of sensitivity 1."""
        rule = RowRule(np.full((self.budget.layout.n_labels, 1, 1), DENSE_COUNT_UNIT, np.int32), DENSE_COUNT_UNIT)
        release = self.budget.measure(Histogram(OneCell(), rule), share, Label(Stage.COUNTS, "number of rows"))
        return max(1.0, float(release.value[0, 0]))


@contextmanager
def private_rows(
    X: Any,
    y: Any,
    *,
    row_norm: float,
    epsilon: float,
    delta: float = 1e-6,
    neighbouring: str | Neighbouring = Neighbouring.ADD_OR_REMOVE_ONE,
    account: PrivacyAccount | None = None,
    random_state: int | None = None,
) -> Iterator[SealedRows]:
    """Reserves a budget, seals rows, and certifies what was released when the block ends.

    Formal guarantee: whatever the block asks of ``budget``, and makes of the answers, is (epsilon, delta)-
    differentially private under ``neighbouring``, if its queries say their sensitivity right, as the library's do. A
    release that the budget does not cover is refused before a row is read.

    Args:
        X: a numeric matrix, shape ``(rows, columns)``; longer rows are shortened to ``row_norm``, NaN counts as 0.
        y: labels 0 and 1; rows with another label do not count.
        row_norm: a public bound on the length of a row. Answers are in units of it.
        epsilon: privacy parameter.
        delta: in [0, 1); 0 for Laplace noise throughout.
        neighbouring: the relation.
        account: an account that pays; None for a budget of this block alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.

    Raises:
        RequestError: for arguments that make no sense; nothing was spent.
        BudgetExceeded: from the account, or from a release that the budget does not cover.

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import private_rows
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(4000, 3))
        >>> X /= np.linalg.norm(X, axis=1, keepdims=True)
        >>> y = X[:, 0] > 0
        >>> with private_rows(X, y, row_norm=1.0, epsilon=1.0) as rows:
        ...     count = rows.count(1.0)
        >>> print(abs(count - 4000) < 100, rows.certificate.epsilon)
        True 1.0
    """
    request = Request.of(epsilon, delta, neighbouring, random_state)
    if not (math.isfinite(row_norm) and row_norm > 0):
        raise RequestError(f"row_norm must be a positive number, got {row_norm!r}")
    frame, labels = matrix_frame(X), label_vector(y)
    check_lengths(frame, labels)
    encoder = MatrixEncoder(int(frame.column(ROWS).shape[1]), RowClipper(float(row_norm), RADIUS_16))
    allowance = request.allowance
    with spending():
        with reserve(account, request, [allowance.whole], NAME, None) as reservation:
            private = PrivateRows(frame, labels, reservation, request.random_state)
            rows = SealedRows(Budget(private.seal_rows(encoder, LabelIndex((0, 1))), allowance), encoder.width)
            yield rows
        rows.certificate = certified(account, request, reservation, private, NAME)


def check_lengths(frame: Frame, labels: Any) -> None:
    """Raises :class:`RequestError` unless there are as many labels as rows."""
    if len(labels) != frame.n_rows:
        raise RequestError(f"X and y must have the same number of rows, got {frame.n_rows} and {len(labels)}")


@dataclass(eq=False)
class SealedCells:
    """Rows of a table of two classes as codes, sealed by the curator, and a budget. Made by :func:`private_table`.

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import private_table
        >>> a = np.arange(2000) / 1000 - 1
        >>> schema = {"columns": {"a": {"kind": "numeric", "lower": -1, "upper": 1}}}
        >>> with private_table({"a": a}, a > 0, schema=schema, epsilon=1.0) as rows:
        ...     print(type(rows).__name__)
        SealedCells
    """

    budget: Budget  # answers queries for shares of the budget; its `curator` is what `boost` takes
    encoding: TableEncoding  # columns to codes; public
    orders: tuple[bool, ...]  # whether the codes of a column stand in an order
    # what was released, by which theorem; None until the `with` block has ended
    certificate: Certificate | None = field(default=None)

    def charge(self, share: float) -> Charge:
        """What one release costs that takes this share of the budget."""
        return self.budget.charge(share)


@contextmanager
def private_table(
    X: Any,
    y: Any,
    *,
    schema: Any,
    epsilon: float,
    delta: float = 1e-6,
    neighbouring: str | Neighbouring = Neighbouring.ADD_OR_REMOVE_ONE,
    account: PrivacyAccount | None = None,
    random_state: int | None = None,
) -> Iterator[SealedCells]:
    """As :func:`private_rows`, over the columns that a schema declares; the person it protects may have several rows.

    Args:
        X: a table with the schema's columns.
        y: labels 0 and 1; rows with another label do not count.
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file.
        epsilon: privacy parameter.
        delta: in [0, 1); 0 for Laplace noise throughout.
        neighbouring: the relation.
        account: an account that pays; None for a budget of this block alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.

    Raises:
        RequestError: for arguments that make no sense; nothing was spent.
        BudgetExceeded: from the account, or from a release that the budget does not cover.

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import private_table
        >>> a = np.arange(2000) / 1000 - 1
        >>> schema = {"columns": {"a": {"kind": "numeric", "lower": -1, "upper": 1}}}
        >>> with private_table({"a": a}, a > 0, schema=schema, epsilon=1.0) as rows:
        ...     print(rows.orders)
        (True,)
    """
    request, declared = Request.of(epsilon, delta, neighbouring, random_state), declared_schema(schema)
    if declared is None:
        raise RequestError("a table is sealed under a schema: nothing about its columns is looked for in the rows")
    frame, labels = columns_of(X), label_vector(y)
    check_lengths(frame, labels)
    encoding, unit = TableEncoding.of(declared, CELLS), declared.unit
    encoding.check(frame)
    ordered = tuple(not isinstance(declared.columns[name], CategoricalColumn) for name in encoding.names)
    allowance = request.allowance
    with spending():
        with reserve(account, request, [allowance.whole], NAME, unit) as reservation:
            private = PrivateRows(frame, labels, reservation, request.random_state, unit)
            rows = SealedCells(Budget(private.seal(encoding, LabelIndex((0, 1))), allowance), encoding, ordered)
            yield rows
        rows.certificate = certified(account, request, reservation, private, NAME, declared)
