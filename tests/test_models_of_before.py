"""Additive models as version 3805dc5 wrote them still load, and say what they said then.

The files are whole models of small made-up tables, but for trees, of which two at most are kept.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.encoding.frames import columns_of
from tacit.models.files import model_from_dict

WRITTEN = sorted((Path(__file__).parent / "written_by_3805dc5").glob("*.json"))


def read(path: Path) -> tuple[Any, dict[str, Any], pd.DataFrame]:
    data = json.loads(path.read_text(encoding="utf-8"))
    return model_from_dict(data["model"]), data["said"], pd.DataFrame(data["said"]["rows"])


def test_all_kinds_are_there() -> None:
    kinds = {json.loads(path.read_text(encoding="utf-8"))["model"]["kind"] for path in WRITTEN}
    assert kinds == {"additive", "additive_classes", "additive_regression"}
    bodies = [json.loads(path.read_text(encoding="utf-8"))["model"]["model"] for path in WRITTEN]
    assert any(body.get("fourier") for body in bodies)
    assert any(body.get("trees") for body in bodies)
    assert any(body.get("scores", {}).get("trees") for body in bodies)
    assert any(body.get("pairs") for body in bodies)
    assert any(body.get("scores", {}).get("pairs") for body in bodies)


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_it_says_what_it_said(path: Path) -> None:
    model, said, rows = read(path)
    frame = columns_of(rows)
    predictions = model.predict(frame) if model.kind == "additive_regression" else model.predict_proba(frame)
    np.testing.assert_allclose(predictions, said["predictions"], rtol=1e-9)
    several = model.kind == "additive_classes"
    variances = model.log_odds_variance(frame) if several else model.score_variance(frame)
    np.testing.assert_allclose(variances, said["variances"], rtol=1e-9)
    np.testing.assert_allclose(model.contributions(frame)[1], said["contributions"], rtol=1e-9, atol=1e-12)
    found = model.importance()
    assert list(found) == list(said["importance"])
    np.testing.assert_allclose(list(found.values()), list(said["importance"].values()), rtol=1e-9)


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_it_is_written_again_as_it_was(path: Path) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))["model"]
    assert json.loads(json.dumps(model_from_dict(data).to_dict(None))) == data
