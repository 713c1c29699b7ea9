"""Models and certificates as version 3805dc5 wrote them: they load, verify, and say what they said then.

Additive models are whole models of small made-up tables, but for trees, of which two at most are kept. Those of all
other learners (``whole``) are its files as they were, with their certificates.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.encoding.frames import columns_of
from tacit.models.claims import read_claim
from tacit.models.files import kinds, load_model, model_from_dict
from tacit.privacy.certificate import UNBOUND, Certificate

OLD = Path(__file__).parent / "written_by_3805dc5"
WRITTEN = sorted(OLD.glob("additive*.json"))
WHOLE = sorted((OLD / "whole").glob("*.json"))
NEWER = {"additive_ordered", "tree_classes"}
"""Kinds that it did not have."""


def read(path: Path) -> tuple[Any, dict[str, Any], pd.DataFrame]:
    data = json.loads(path.read_text(encoding="utf-8"))
    return model_from_dict(data["model"]), data["said"], pd.DataFrame(data["said"]["rows"])


def test_all_kinds_are_there() -> None:
    found = {json.loads(path.read_text(encoding="utf-8"))["model"]["kind"] for path in WRITTEN}
    assert found == {"additive", "additive_classes", "additive_regression"}
    found |= {json.loads(path.read_text(encoding="utf-8"))["kind"] for path in WHOLE}
    assert found == kinds().keys() - NEWER
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


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_a_file_with_its_certificate_holds_and_says_what_it_said(path: Path, tmp_path: Path) -> None:
    said = json.loads((OLD / "said.json").read_text(encoding="utf-8"))
    claim = read_claim(path)
    assert (claim.holds, claim.remarks) == (True, (UNBOUND,))
    model, written = load_model(path)
    assert written is not None
    certificate = Certificate.from_dict(written)
    assert certificate.verify() == []
    assert certificate.to_dict() == written
    frame = columns_of(pd.DataFrame(said["rows"]))
    predictions = model.predict(frame) if model.kind == "mean_number" else model.predict_proba(frame)
    np.testing.assert_allclose(predictions, said["predictions"][path.stem], rtol=1e-9)
    tacit.save_model(model, tmp_path / "again.json", certificate)
    assert (
        json.loads((tmp_path / "again.json").read_text("utf-8"))["model"]
        == json.loads(path.read_text("utf-8"))["model"]
    )


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_a_smaller_epsilon_than_it_promised_does_not_hold(path: Path, tmp_path: Path) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    data["certificate"]["epsilon"] *= 0.9
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(data), encoding="utf-8")
    assert not read_claim(forged).holds
