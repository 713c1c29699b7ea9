"""The example for MLflow, with a stand-in for the names of MLflow that it uses: its predictions, and its tags."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit import RandomTreesClassifier, load_model, save
from tacit.examples import hospital

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/mlflow_model.py"


def test_the_example_predicts_as_the_model_does_and_tags_its_promise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, schema = hospital(2000)
    fitted = RandomTreesClassifier(epsilon=1.0, schema=schema, random_state=0).fit(X, y)
    save(fitted, tmp_path / "model.json")
    registered: list[Any] = []
    models = SimpleNamespace(set_model=registered.append)
    stand_in = SimpleNamespace(pyfunc=SimpleNamespace(PythonModel=object), models=models)
    monkeypatch.setitem(sys.modules, "mlflow", stand_in)
    names = runpy.run_path(str(EXAMPLE))
    (model,) = registered
    model.load_context(SimpleNamespace(artifacts={"model": str(tmp_path / "model.json")}))
    rows = pd.DataFrame(X)[:50]
    predictions = model.predict(None, rows)
    assert list(predictions) == ["proba_no", "proba_yes"]
    np.testing.assert_array_equal(predictions.to_numpy(), load_model(tmp_path / "model.json")[0].predict_proba(rows))  # type: ignore[attr-defined]
    certificate = fitted.certificate_
    assert names["tags"](certificate.to_dict()) == {
        "tacit.epsilon": "1.0",
        "tacit.delta": str(certificate.delta),
        "tacit.unit": certificate.protected,
        "tacit.releasable": "False",
        "tacit.certificate_sha256": certificate.digest,
    }
