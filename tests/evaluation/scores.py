"""Worlds with a known truth: scores, labels, and a classifier that answers with the scores; and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from tacit.curator.measurement import Measurement
from tacit.engines.blocks import MemoryTable
from tacit.evaluation.private_selection import PrivateSelection
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.unit import Neighbouring


class Known:
    """A classifier whose probabilities stand in the data."""

    def __init__(self, classes: tuple[Any, ...] = (0, 1)) -> None:
        self.classes_ = np.array(classes)

    def predict_proba(self, rows: Any) -> np.ndarray:
        if len(self.classes_) > 2:
            return np.stack([np.asarray(rows[f"p{k}"]) for k in range(len(self.classes_))], axis=1)
        positive = np.asarray(rows["p"], np.float64)
        return np.stack([1 - positive, positive], axis=1)


def world(n: int, seed: int, steep: float = 1.0, shift: float = 0.0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Rows whose true log-odds are normal around -0.8, and what a model says that is steeper and shifted."""
    generator = np.random.default_rng(seed)
    odds = generator.normal(-0.8, 1.3, n)
    labels = (generator.random(n) < expit(odds)).astype(np.int64)
    return {"p": expit(steep * odds + shift), "g": generator.choice(["a", "b", "c"], n, p=[0.5, 0.4, 0.1])}, labels


def refused(message: str, folder: Path, ask: Callable[..., Any], *rows: Any, **arguments: Any) -> None:
    """Asserts that what is asked is refused with such a message, says that nothing was spent, and spends nothing."""
    account = PrivacyAccount.create(f"sqlite:///{folder}/a.db", "people", 5.0, 1e-6)
    with pytest.raises(ValueError, match=message) as caught:
        ask(*rows, **{"account": account} | arguments)
    assert "othing was spent" in str(caught.value)
    assert account.spent == 0


def search(X: Any, y: Any, **arguments: Any) -> PrivateSelection:
    """A fitted search."""
    return PrivateSelection(**arguments).fit(X, y)


class Recorder:
    """A curator that keeps the question and answers exactly, or 0 without a table."""

    def __init__(self, table: MemoryTable | None = None) -> None:
        self.table = table

    def measure(self, query: Any, charge: Any, label: str) -> Measurement:
        self.query = query
        value = np.zeros(query.shape) if self.table is None else self.table.answer(query) / query.unit
        return Measurement(label, value, 0.0, charge, "")


def check_sensitivity(query: Any, rows: list[list[int]], sizes: list[int], labels: tuple[int, ...]) -> None:
    """No two rows move a query by more than it states, under both relations, and adding one reaches the bounds."""
    kinds = [np.uint16] + [np.uint8 if size < 100 else np.uint16 for size in sizes[1:]]
    answers = []
    for row in rows:
        columns = [np.array([code], kind) for code, kind in zip(row, kinds, strict=True)]
        answers += [
            MemoryTable(columns, np.array([label], np.uint8), sizes, 2).answer(query).ravel() for label in labels
        ]
    exact = np.array([*answers, np.zeros_like(answers[0])])
    for relation, moves in (
        (Neighbouring.ADD_OR_REMOVE_ONE, exact),
        (Neighbouring.REPLACE_ONE, (exact[:, None] - exact[None]).reshape(-1, exact.shape[1])),
    ):
        declared = query.sensitivity(relation)
        sums, squares = np.abs(moves).sum(axis=1).max(), (moves**2).sum(axis=1).max()
        assert sums <= declared.l1
        assert squares <= declared.l2_squared
        if relation is Neighbouring.ADD_OR_REMOVE_ONE:
            assert sums > 0.9 * declared.l1
            assert squares > 0.81 * declared.l2_squared


def watched(kind: type[Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The ``interactions`` of every fit of estimators of a kind, as they are made."""
    records: list[Any] = []
    fit = kind.fit

    def watching(self: Any, *rows: Any, **more: Any) -> Any:
        records.append(self.interactions)
        return fit(self, *rows, **more)

    monkeypatch.setattr(kind, "fit", watching)
    return records
