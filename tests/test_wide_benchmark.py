"""The benchmark of very many columns and very few positives: its tables are what its page says."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import peers, wide

pytestmark = pytest.mark.slow  # of the benchmarks, which are not shipped


def test_flags_are_rare_and_thirty_of_them_say_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wide, "WIDE", (4000, 1000))
    train, test = wide.made("500 flags")
    assert (train.X.shape, test.X.shape) == ((4000, 500), (1000, 500))
    shares = train.X.mean().to_numpy()
    assert 0.002 < shares.min() < 0.02 < 0.2 < shares.max() < 0.35
    signs = np.abs([np.corrcoef(train.X[name], train.y)[0, 1] for name in train.X])
    assert signs[: wide.TELLING].mean() > 2 * signs[wide.TELLING :].mean()


def test_one_row_in_500_is_positive_and_columns_tell_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wide, "RARE", (60_000, 20_000))
    train, test = wide.made("1 in 500")
    assert len(train.y) == 60_000
    assert 0.0015 < train.y.mean() < 0.0027
    result = wide.measured("logistic", None, train, test)
    assert result["auc"] > 0.85
    assert result["log_loss"] < wide.measured("prior", None, train, test)["log_loss"]


def test_the_class_shares_are_those_of_the_training_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wide, "WIDE", (400, 100))
    train, test = wide.made("500 flags")
    said = peers.prior(train, test, 0.0, 0.0, 0)
    assert 1 / (1 + np.exp(-said)) == pytest.approx(np.full(100, train.y.mean()))
