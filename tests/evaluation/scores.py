"""Worlds with a known truth: scores, labels, and a classifier that answers with the scores; and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from tacit.evaluation.private_selection import PrivateSelection
from tacit.privacy.account import PrivacyAccount


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


def refused_search(arguments: Mapping[str, Any], rows: tuple[Any, Any], message: str, folder: Path) -> None:
    """Asserts that a search is refused with this message, says that nothing was spent, and spends nothing.

    Args:
        arguments: of the search, but for the account.
        rows: data and labels.
        message: a pattern.
        folder: where the account may lie.
    """
    account = PrivacyAccount.create(f"sqlite:///{folder}/a.db", "people", 5.0, 1e-6)
    with pytest.raises(ValueError, match=message) as caught:
        PrivateSelection(**{"account": account} | arguments).fit(*rows)
    assert "Nothing was spent" in str(caught.value)
    assert account.spent == 0


def watched(kind: type[Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The ``interactions`` of every fit of estimators of a kind, as they are made."""
    seen: list[Any] = []
    fit = kind.fit

    def watching(self: Any, *rows: Any, **more: Any) -> Any:
        seen.append(self.interactions)
        return fit(self, *rows, **more)

    monkeypatch.setattr(kind, "fit", watching)
    return seen
