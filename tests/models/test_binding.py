"""Model, schema and certificate are one: what was made together is accepted, and nothing else is."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

import tacit
from tacit.models.base import ModelError, checked_file
from tacit.models.binding import ClaimError, model_digest
from tacit.models.claims import WITHOUT_SCHEMA, claim_of_model, read_claim
from tacit.models.files import load_model, save_model
from tacit.privacy.canonical import canonical_json
from tacit.privacy.certificate import OF_NO_MODEL, Certificate
from tacit.privacy.verification import CertificateError
from tacit.report.page import render_claim

SCHEMA = {
    "label": {"column": "bought", "kind": "classes", "classes": ["no", "yes"], "positive": "yes"},
    "columns": {
        "age": {"kind": "numeric", "lower": 18, "upper": 90, "bins": 8, "description": "in years"},
        "colour": {"kind": "categorical", "categories": ["red", "green"]},
    },
}
NUMBERS = {"label": {"column": "price", "kind": "numeric", "lower": 0, "upper": 100}, "columns": SCHEMA["columns"]}


EXAMPLES, NODE = Path(__file__).parents[2] / "examples", shutil.which("node")


def rows(seed: int = 0, n: int = 300) -> tuple[dict[str, Any], Any]:
    source = np.random.default_rng(seed)
    X = {"age": source.integers(18, 91, n).astype(float), "colour": source.choice(["red", "green"], n)}
    return X, np.where(X["age"] + 20 * (X["colour"] == "red") > 60, "yes", "no")


def additive(epsilon: float = 1.0, **more: Any) -> Any:
    return tacit.AdditiveBoostClassifier(epsilon=epsilon, schema=SCHEMA, interactions=False, **more).fit(*rows())


LEARNERS: dict[str, Callable[[], Any]] = {
    "additive": additive,
    "additive, weighted": lambda: additive(class_weight={"no": 1.0, "yes": 2.0}),
    "trees": lambda: tacit.BoostedTreesClassifier(schema=SCHEMA, n_trees=5).fit(*rows()),
    "random trees": lambda: tacit.RandomTreesClassifier(schema=SCHEMA, n_trees=5).fit(*rows()),
    "halfspace": lambda: tacit.HalfspaceBoostClassifier(schema=SCHEMA, rounds=5).fit(*rows()),
    "decision list": lambda: tacit.DecisionListClassifier(schema=SCHEMA).fit(*rows()),
    "number": lambda: tacit.AdditiveBoostRegressor(schema=NUMBERS, interactions=False).fit(rows()[0], rows()[0]["age"]),
    "batches": lambda: tacit.BatchwiseClassifier(tacit.AdditiveBoostClassifier(schema=SCHEMA, interactions=False)).fit(
        *rows()
    ),
    "search": lambda: tacit.PrivateSelection(
        [tacit.AdditiveBoostClassifier(schema=SCHEMA, interactions=False), tacit.RandomTreesClassifier(schema=SCHEMA)]
    ).fit(*rows()),
    "found": lambda: tacit.AdditiveBoostClassifier(epsilon=50.0, interactions=False, dtypes="public").fit(
        rows()[0]["age"][:, None], rows()[1]
    ),
}


@pytest.fixture(scope="module", params=LEARNERS, ids=list(LEARNERS))
def learner(request: pytest.FixtureRequest) -> Any:
    return LEARNERS[request.param]()


def test_what_a_fit_made_comes_back_whole(learner: Any, tmp_path: Path) -> None:
    """`save` and `load`: predictions, certificate, schema and parameters are those of the fit."""
    path = tmp_path / "model.json"
    tacit.save(learner, path)
    again = tacit.load(path)
    fitted = getattr(learner, "best_", learner)
    X = rows(1, 20)[0] if fitted.n_features_in_ > 1 else rows(1, 20)[0]["age"][:, None]
    assert type(again) is type(fitted)
    assert np.array_equal(again.predict(X), fitted.predict(X))
    if hasattr(fitted, "predict_proba"):
        assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
        assert again.classes_.tolist() == fitted.classes_.tolist()
    assert again.certificate_ == learner.certificate_
    assert again.certificate_.verify() == []
    assert again.schema_ == fitted.schema_
    assert model_digest(again.model_) == model_digest(learner.model_) == learner.certificate_.model_digest
    mine, its = fitted.get_params(deep=False), again.get_params(deep=False)
    for name in set(mine) - {"schema", "account", "random_state", "estimator"}:
        assert its[name] == mine[name], name
    tacit.save(again, tmp_path / "twice.json")
    assert (tmp_path / "twice.json").read_bytes() == path.read_bytes()


def test_a_certificate_of_another_model_is_refused(tmp_path: Path) -> None:
    """The story: an epsilon-1 certificate is put beside a model made without privacy."""
    honest, bare = additive(), additive(math.inf)
    path = tmp_path / "model.json"
    for certificate in (honest.certificate_, honest.certificate_.to_dict()):
        with pytest.raises(ClaimError, match="the certificate belongs to another"):
            save_model(bare.model_, path, certificate)
    assert not path.exists()
    save_model(bare.model_, path, bare.certificate_)
    file = json.loads(path.read_text())
    path.write_text(json.dumps({**file, "certificate": honest.certificate_.to_dict()}))
    for read in (load_model, tacit.load):
        with pytest.raises(ClaimError, match="the certificate belongs to another"):
            read(path)
    assert not read_claim(path).holds


def test_a_certificate_of_no_model_is_refused(tmp_path: Path) -> None:
    model = additive()
    score = tacit.private_score(model, *rows(2), epsilon=1.0)
    with pytest.raises(ClaimError, match="belongs to no model, but to"):
        save_model(model.model_, tmp_path / "model.json", score.certificate)


def test_edits_that_somebody_sealed_again_are_found(tmp_path: Path) -> None:
    """Entries emptied, delta .999, body edited: found by what they say, not by a digest that anybody can compute."""
    made = additive()
    path = tmp_path / "model.json"
    tacit.save(made, path)
    certificate, file = made.certificate_, json.loads(path.read_text())

    def problems(changed: Certificate, **more: Any) -> str:
        changed = replace(changed, ledger_digest=changed._computed_ledger_digest())
        sealed = replace(changed, digest=changed._computed_digest())
        path.write_text(json.dumps({**file, "certificate": sealed.to_dict(), **more}))
        return "; ".join(read_claim(path).problems)

    assert problems(certificate) == ""
    assert "lists no release" in problems(replace(certificate, entries=()))
    assert "promises nothing" in problems(replace(certificate, delta=0.999))
    assert "belongs to another model" in problems(certificate, model={**file["model"], "intercept": 3.0})
    assert "cannot be read" in problems(certificate, model={})
    assert "belongs to another schema" in problems(certificate, schema={**file["schema"], "label": None})


PARTS = ["model", "schema", "certificate"]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A model file, as it is written."""
    path = tmp_path_factory.mktemp("written") / "model.json"
    tacit.save(additive(), path)
    return path.read_bytes()


def part_of(text: bytes, part: str) -> tuple[int, int]:
    """Where a part begins and ends in a file."""
    inner = json.dumps(json.loads(text)[part]).encode()
    start = text.index(inner)
    return start, start + len(inner)


def says_the_same(text: bytes, changed: bytes) -> bool:
    """Whether an edit is one of the layout alone."""
    try:
        return canonical_json(json.loads(changed)) == canonical_json(json.loads(text))
    except (ValueError, RecursionError):
        return False


def accepted(path: Path) -> bool:
    try:
        return read_claim(path).holds
    except ModelError:
        return False


def in_red(path: Path) -> bool:
    """Whether a report of a file is red, or cannot be made because no model can be read from it at all."""
    try:
        claim = claim_of_model(checked_file(path))
    except ModelError:
        return True
    page = render_claim(claim)
    return '<div class="verdict no">' in page and "Does not hold" in page and '<div class="verdict yes">' not in page


def caught(text: bytes, part: str, edits: int, path: Path) -> int:
    """How many of so many random edits of one byte are refused by all that reads a file, and are red in a report."""
    start, end = part_of(text, part)
    tried: list[bool] = []

    @settings(max_examples=edits, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(place=st.integers(start, end - 1), byte=st.integers(0, 255))
    def each(place: int, byte: int) -> None:
        changed = text[:place] + bytes([byte]) + text[place + 1 :]
        assume(not says_the_same(text, changed))
        path.write_bytes(changed)
        refused = not accepted(path) and in_red(path)
        if len(tried) % 10 == 0:
            for read in (load_model, tacit.load):
                with pytest.raises(ModelError):
                    read(path)
        tried.append(refused)
        assert refused, changed[max(start, place - 100) : place + 100]

    each()
    assert len(tried) == edits
    return sum(tried)


@pytest.mark.parametrize("part", PARTS)
def test_every_edit_of_a_byte_is_found(part: str, written: bytes, tmp_path: Path) -> None:
    assert caught(written, part, 50, tmp_path / "model.json") == 50


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_a_thousand_edits_of_a_byte_are_found(part: str, written: bytes, tmp_path: Path) -> None:
    assert caught(written, part, 1000, tmp_path / "model.json") == 1000


@pytest.mark.parametrize(
    ("there", "beside"),
    [
        ('"model": ', '"model": {"intercept": 9.5}, '),
        ('"certificate": ', '"certificate": null, '),
        ('"epsilon": ', '"epsilon": 0.01, '),
        ('"entries": ', '"entries": [], '),
    ],
)
def test_files_that_say_one_thing_twice_are_refused(there: str, beside: str, learner: Any, tmp_path: Path) -> None:
    """People and other readers take the first, Python takes the last: what was verified is not what they read."""
    path, alone = tmp_path / "model.json", tmp_path / "certificate.json"
    tacit.save(learner, path)
    alone.write_text(json.dumps(learner.certificate_.to_dict()))
    for file in (path, alone):
        text = json.dumps(json.loads(file.read_bytes()))
        if there not in text:
            continue
        file.write_text(text.replace(there, beside + there, 1))
        with pytest.raises(ModelError, match="says one thing twice"):
            read_claim(file)
    for read in (load_model, tacit.load):
        with pytest.raises(ModelError, match="says one thing twice"):
            read(path)
    if there in alone.read_text():
        with pytest.raises(CertificateError, match="says one thing twice"):
            Certificate.from_json(alone.read_text())


def test_files_that_nobody_edited_are_accepted(learner: Any, tmp_path: Path) -> None:
    """In whatever layout; and the page of each says so."""
    path = tmp_path / "model.json"
    tacit.save(learner, path)
    file = json.loads(path.read_bytes())
    for text in (path.read_text(), json.dumps(file), json.dumps(file, indent=3, sort_keys=True)):
        path.write_text(text)
        assert accepted(path)
        assert '<div class="verdict yes">' in render_claim(claim_of_model(checked_file(path)))


def test_a_file_without_the_schema_that_its_certificate_names_is_said_to_be(learner: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    tacit.save(learner, path)
    assert WITHOUT_SCHEMA not in read_claim(path).remarks
    file = json.loads(path.read_bytes())
    del file["schema"]
    path.write_text(json.dumps(file))
    assert WITHOUT_SCHEMA in read_claim(path).remarks


def test_a_certificate_of_its_own_is_checked_against_a_model(tmp_path: Path) -> None:
    made, other = additive(), additive(2.0)
    tacit.save(made, tmp_path / "made.json")
    tacit.save(other, tmp_path / "other.json")
    (tmp_path / "certificate.json").write_text(made.certificate_.to_json())
    assert read_claim(tmp_path / "certificate.json", tmp_path / "made.json").holds
    assert not read_claim(tmp_path / "certificate.json", tmp_path / "other.json").holds


def test_what_was_never_fitted_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="Call fit first"):
        tacit.save(tacit.AdditiveBoostClassifier(), tmp_path / "model.json")
    save_model(additive().model_, tmp_path / "model.json")
    with pytest.raises(ModelError, match="holds no certificate"):
        tacit.load(tmp_path / "model.json")


def test_neither_a_seed_nor_an_account_is_written(tmp_path: Path) -> None:
    account = tacit.PrivacyAccount.create(str(tmp_path / "secret_place.db"), "shop", 2.0, 1e-5)
    tacit.save(additive(account=account, random_state=987654321), tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    assert "987654321" not in text
    assert "secret_place" not in text
    assert tacit.load(tmp_path / "model.json").certificate_.dataset == "shop"


def test_what_is_of_no_model_says_so(tmp_path: Path) -> None:
    """A certificate of a score must not pass for that of the model it judged: it costs less."""
    rows = {"x": np.linspace(0, 1, 60)}
    schema = {"columns": {"x": {"kind": "numeric", "lower": 0, "upper": 1}}}
    fitted = tacit.RandomTreesClassifier(epsilon=4.0, n_trees=1, schema=schema, classes=(0, 1)).fit(
        rows, np.arange(60) % 2
    )
    stream = tacit.online.Winnow(epsilon=1.0)
    stream.learn_one({"x": True}, True)
    for certificate in (
        tacit.private_score(fitted, rows, np.arange(60) % 2, 0.5).certificate,
        tacit.discover_schema({**rows, "y": np.arange(60) % 2}, "y", epsilon=1.0)[1],
        stream.certificate_,
    ):
        assert certificate.verify() == []
        path = tmp_path / "certificate.json"
        path.write_text(certificate.to_json())
        claim = read_claim(path)
        assert (claim.holds, claim.remarks) == (True, (OF_NO_MODEL,))
        tacit.save(fitted, tmp_path / "m.json")
        assert not read_claim(path, tmp_path / "m.json").holds
        with pytest.raises(ValueError, match="no model"):
            tacit.save_model(fitted.model_, tmp_path / "n.json", certificate)
    assert fitted.certificate_.remarks == ()


@pytest.mark.skipif(NODE is None, reason="no node on this machine: digests are not computed a second time")
@pytest.mark.parametrize("name", ["additive", "halfspace"])
def test_javascript_finds_the_digests_of_a_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    tacit.save(LEARNERS[name](), path)
    script, text = str(EXAMPLES / "digests.mjs"), path.read_text()
    assert NODE is not None
    told = subprocess.run([NODE, script, str(path)], capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split()[0] for line in told] == ["model", "schema", "ledger", "certificate"]
    for old, new in (('"lower": 18', '"lower": 17'), ('"charge"', '"charged"'), ('"delta": 1e-06', '"delta": 1.1e-06')):
        assert old in text
        path.write_text(text.replace(old, new, 1))
        assert subprocess.run([NODE, script, str(path)], capture_output=True, check=False).returncode == 4
