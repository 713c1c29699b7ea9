"""TabPATE's idea as a peer: its noise, and that its student learns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks import tabpate
from benchmarks.data import Table
from tacit.privacy.budget import Allowance
from tacit.schema import Schema

pytestmark = pytest.mark.slow  # of the benchmarks, which are not shipped


@pytest.mark.parametrize(("columns", "epsilon"), [(1, 1.0), (14, 4.0), (100, 0.1)])
def test_both_releases_together_spend_the_allowance(columns: int, epsilon: float) -> None:
    of_count, of_votes = tabpate.noises(columns, epsilon, 1e-6)
    spent = columns / of_count**2 + tabpate.QUERIES / of_votes**2  # squared sensitivities over variances
    assert spent == pytest.approx(Allowance.of(epsilon, 1e-6).mu ** 2, rel=1e-9)


def test_the_student_learns_with_much_epsilon_and_nothing_with_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabpate, "TEACHERS", 10)
    monkeypatch.setattr(tabpate, "QUERIES", 500)
    generator = np.random.default_rng(0)
    columns = {name: {"kind": "numeric", "lower": 0.0, "upper": 1.0} for name in "ab"}
    label = {"column": "target", "kind": "classes", "classes": [0, 1], "positive": 1}
    cells = generator.random((2000, 2))
    whole = Table("made_up", pd.DataFrame(cells, columns=["a", "b"]), (cells[:, 0] > cells[:, 1]).astype(int),
                  Schema.from_dict({"label": label, "columns": columns}))  # fmt: skip
    train, test = whole.rows(np.arange(1600)), whole.rows(np.arange(1600, 2000))
    auc = [roc_auc_score(test.y, tabpate.tabpate(train, test, epsilon, 1e-6, 1)) for epsilon in (1e4, 1e-2)]
    assert auc[0] > 0.95
    assert auc[1] < 0.9
