"""From labels to signs: a public rule per label, the same for one label and for many."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.online.rows import RowError


def sign_of(label: Any, classes: tuple[Any, ...]) -> int:
    """1, -1, or 0 for what is neither class.

    Args:
        label: as declared, or 1 against -1 or 0.
        classes: what the two classes are called, the positive one last.
    """
    if label is None:
        return 0
    value = label.item() if isinstance(label, np.generic) else label
    if value == classes[1]:
        return 1
    if value == classes[0]:
        return -1
    return (1 if value == 1 else -1 if value in (0, -1) else 0) if isinstance(value, int | float) else 0


def signs_of(labels: Any, classes: tuple[Any, ...], n: int) -> npt.NDArray[np.int8]:
    """:func:`sign_of` every label, shape ``(n,)``.

    Raises:
        RowError: if there are not ``n`` of them; public.
    """
    values = np.asarray(labels)
    if values.shape != (n,):
        raise RowError(f"there must be a label per row, got shape {values.shape} for {n} rows")
    if values.dtype.kind == "b" and set(classes) == {False, True}:
        return np.where(values == classes[1], 1, -1).astype(np.int8)
    if values.dtype == np.int8 and set(classes) <= {-1, 0, 1}:
        known = (values == 1) | (values == 0) | (values == -1)
        return np.where(values == 1, 1, np.where(known, -1, 0)).astype(np.int8)
    distinct, place = np.unique(values, return_inverse=True)
    return np.array([sign_of(value, classes) for value in distinct], np.int8)[place.reshape(-1)]
