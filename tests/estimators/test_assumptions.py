"""What a fit took as public, or was done around it, is in its certificate; where nobody answers for it, it stays in."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, StandardScaler
from typer.testing import CliRunner

import tacit
from tacit.cli.main import app
from tacit.online import Winnow
from tacit.privacy.assumptions import Assumption
from tacit.privacy.certificate import Certificate
from tacit.report.page import render

pytestmark = pytest.mark.filterwarnings("ignore")

COLUMNS = {name: {"kind": "numeric", "lower": -3, "upper": 3} for name in ("x0", "x1")}
SCHEMA = {"columns": COLUMNS}
NUMBER = {"columns": COLUMNS, "label": {"column": "t", "kind": "numeric", "lower": 0, "upper": 1}}
X = np.random.default_rng(0).uniform(size=(100, 2))
y = (X[:, 0] > 0.5).astype(int)


def learner(**more: Any) -> Any:
    return tacit.DecisionListClassifier(**{"schema": SCHEMA, "classes": (0, 1), **more})


def reasons(certificate: Certificate) -> str:
    """Why it may not be released; the certificate holds, as it says so itself."""
    assert certificate.verify() == []
    assert certificate.releasable == (not certificate.reasons)
    assert Certificate.from_json(certificate.to_json()) == certificate
    return "; ".join(certificate.reasons)


def columns_of(part: Any, columns: Any = (0, 1), **more: Any) -> Any:
    return ColumnTransformer([("part", part, columns)], **more)


# What comes before a fit.


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (StandardScaler(), "StandardScaler"),
        (make_pipeline(Normalizer(), MinMaxScaler()), "MinMaxScaler"),
        (FeatureUnion([("a", Normalizer()), ("b", StandardScaler())]), "StandardScaler"),
        (columns_of(StandardScaler(), [0]), "StandardScaler"),
        (columns_of("passthrough", [0], remainder=MinMaxScaler()), "MinMaxScaler"),
        (columns_of("passthrough", make_column_selector(dtype_include=float)), "make_column_selector"),
        (FunctionTransformer(lambda rows: rows - rows.mean(axis=0)), "FunctionTransformer"),
    ],
    ids=lambda value: re.sub(r" at 0x\w+|\s+", " ", str(value)),
)
def test_a_step_that_may_have_read_the_rows_voids_the_claim(step: Any, name: str) -> None:
    table = pd.DataFrame(X, columns=["x0", "x1"])
    fitted = make_pipeline(step, learner(schema=None)).fit(table, y)[-1]
    assert f"the step {name}" in reasons(fitted.certificate_)


@pytest.mark.parametrize(
    "step",
    [Normalizer(), FunctionTransformer(np.log1p), FunctionTransformer(), columns_of("passthrough"), "passthrough"],
    ids=lambda value: re.sub(r" at 0x\w+|\s+", " ", str(value)),
)
def test_a_step_that_changes_each_row_by_itself_does_not(step: Any) -> None:
    assert reasons(make_pipeline(step, learner()).fit(X, y)[-1].certificate_) == ""


def test_a_changed_target_voids_the_claim_unless_value_by_value() -> None:
    number = tacit.AdditiveBoostRegressor(schema=NUMBER, interactions=False)
    scaled = TransformedTargetRegressor(number, transformer=MinMaxScaler()).fit(X, X[:, 0])
    assert "transforms the target" in reasons(scaled.regressor_.certificate_)
    log = TransformedTargetRegressor(number, func=np.log1p, inverse_func=np.expm1).fit(X, X[:, 0])
    assert reasons(log.regressor_.certificate_) == ""


# What fits more than once.


@pytest.mark.parametrize(("search", "more"), [(GridSearchCV, {}), (RandomizedSearchCV, {"n_iter": 2, "n_jobs": 2})])
def test_the_best_of_a_search_says_how_many_fits_there_were(search: Any, more: dict[str, int], tmp_path: Path) -> None:
    account = tacit.PrivacyAccount.create(str(tmp_path / "b.db"), "x", 100.0, 1e-4) if more else None
    model = search(learner(account=account), {"k": [1, 2]}, cv=2, **more).fit(X, y)
    assert f"{search.__name__} fits this learner 5 times" in reasons(model.best_estimator_.certificate_)


class Meta(BaseEstimator):
    """What somebody wrote, and nobody else knows."""

    def fit(self, rows: Any, labels: Any) -> Meta:
        self.inner_ = learner().fit(rows - rows.mean(axis=0), labels)
        return self


@pytest.mark.parametrize(
    ("outer", "fitted"),
    [
        (lambda: cross_validate(learner(), X, y, cv=2, return_estimator=True), lambda done: done["estimator"][0]),
        (lambda: BaggingClassifier(learner(), 2).fit(X, y), lambda done: done.estimators_[0]),
        (lambda: BaggingClassifier(learner(), 2, bootstrap=False).fit(X, y), lambda done: done.estimators_[0]),
        (lambda: VotingClassifier([("one", learner())]).fit(X, y), lambda done: done.estimators_[0]),
        (lambda: OneVsRestClassifier(learner()).fit(X, y), lambda done: done.estimators_[0]),
        (
            lambda: CalibratedClassifierCV(learner(), cv=2).fit(X, y),
            lambda done: done.calibrated_classifiers_[0].estimator,
        ),
        (lambda: Meta().fit(X, y), lambda done: done.inner_),
    ],
)
def test_what_calls_a_fit_is_in_its_certificate(outer: Any, fitted: Any) -> None:
    assert reasons(fitted(outer()).certificate_)


def test_a_fit_that_nothing_calls_may_be_released() -> None:
    class Derived(tacit.DecisionListClassifier):  # still a learner of this library
        pass

    for each in (learner(), clone(learner()), Derived(schema=SCHEMA, classes=(0, 1))):
        assert reasons(each.fit(X, y).certificate_) == ""


def test_a_private_search_answers_for_its_own_fits_alone() -> None:
    search = tacit.PrivateSelection.over_grid(learner(), {"k": [1, 2]}, epsilon=2.0)
    assert reasons(clone(search).fit(X, y).certificate_) == ""
    assert "StandardScaler" in reasons(make_pipeline(StandardScaler(), search).fit(X, y)[-1].certificate_)


# What is taken from a table.

PERSONS = "".join(f"{20 + i % 60},{i % 7},{('no', 'yes')[i % 60 > 30]}\n" for i in range(120))


@pytest.mark.parametrize("one_more", ["", "unknown,0,no\n", "44,,no\n", "2024-01-01,3,yes\n"])
def test_dtypes_of_a_table_are_answered_for_or_it_stays_in(one_more: str) -> None:
    table = pd.read_csv(io.StringIO(f"age,x,sick\n{PERSONS}{one_more}"))
    rows, labels = table[["age", "x"]], table["sick"]
    for dtypes, releasable in ((None, False), ("public", True)):
        fitted = tacit.AdditiveBoostClassifier(dtypes=dtypes, interactions=False).fit(rows, labels)
        said = fitted.certificate_
        assert bool(reasons(said)) is not releasable
        assert [each.accepted for each in said.assumptions if each.subject == "dtypes"] == [releasable]
        assert releasable or "the dtypes of the columns and the label" in said.reasons[0]


def test_what_a_schema_declares_is_not_assumed() -> None:
    declared = {**SCHEMA, "label": {"column": "y", "kind": "classes", "classes": [0, 1]}}
    assert learner(schema=declared, classes=None).fit(X, y).certificate_.assumptions == ()
    open_label = tacit.AdditiveBoostClassifier(schema=SCHEMA, interactions=False)
    assert "the dtypes of the label were" in reasons(open_label.fit(X, y).certificate_)
    assert "the dtypes of the columns were" in reasons(learner(schema=None).fit(X, y).certificate_)


def test_numbers_of_rows_and_weights_that_are_public_are_listed() -> None:
    weighing = tacit.AdditiveBoostClassifier(
        schema=SCHEMA, classes=(0, 1), interactions=False, neighbouring="replace_one"
    )
    made = weighing.fit(X, y, sample_weight=np.full(len(y), 0.5)).certificate_
    assert [(each.subject, each.accepted) for each in made.assumptions] == [("weights", True), ("rows", True)]
    assert reasons(made) == ""


def test_dtypes_are_public_or_nothing() -> None:
    with pytest.raises(ValueError, match=r"dtypes must be None or 'public'.*Nothing was spent"):
        learner(dtypes="private").fit(X, y)


def test_a_schema_found_answers_for_its_dtypes() -> None:
    table = pd.read_csv(io.StringIO(f"age,x,sick\n{PERSONS}"))
    results = {dtypes: tacit.discover_schema(table, "sick", dtypes=dtypes)[1] for dtypes in (None, "public")}
    assert "the dtypes of the columns" in reasons(results[None])
    assert reasons(results["public"]) == ""
    kinds = {"age": "numeric", "x": "numeric", "sick": "categories"}
    assert reasons(tacit.discover_schema(table, "sick", kinds=kinds)[1]) == ""


@pytest.mark.parametrize("name", ["patient_id", "CustomerID", "MRN", "e-mail"])
def test_an_identifier_that_no_schema_declares_is_not_released(name: str) -> None:
    table = pd.DataFrame({"age": X[:, 0], name: np.arange(len(X))})
    fitted = tacit.AdditiveBoostClassifier(classes=(0, 1), dtypes="public", interactions=False)
    assert f"the column {name!r} was learned from" in reasons(fitted.fit(table, y).certificate_)
    assert reasons(fitted.fit(table.rename(columns={name: "dose"}), y).certificate_) == ""


@pytest.mark.parametrize(
    ("more", "rows", "reason"),
    [
        ({}, [{"age": 4.0}], "as the first row had them"),
        ({}, pd.DataFrame({"age": [4.0]}), ""),
        ({}, pd.DataFrame({"patient_no": [4.0]}), "the column 'patient_no' was learned from"),
        ({"columns": ("age",)}, [{"age": 1}], ""),
        ({"columns": ("userid",)}, [{"userid": 1}], "the column 'userid' was learned from"),
        ({"schema": SCHEMA}, [{"x0": 1.0}], ""),
    ],
    ids=str,
)
def test_names_of_the_first_row_of_a_stream_are_answered_for(more: Any, rows: Any, reason: str) -> None:
    stream = Winnow(labels=("no", "yes"), **more)
    if isinstance(rows, list):
        stream.learn_one(rows[0], "yes")
    else:
        stream.learn_many(rows, ["yes"])
    said = reasons(stream.certificate_)
    assert (reason in said) if reason else not said


# What a certificate with assumptions says.


def test_a_claim_cannot_be_released_with_an_open_assumption() -> None:
    closed = learner().fit(X, y).certificate_
    opened = closed.assuming(Assumption("dtypes", "they were read", accepted=False))
    assert (opened.releasable, opened.reasons) == (False, ("they were read",))
    assert opened.digest != closed.digest
    assert opened.assuming(*opened.assumptions) == opened
    forged = opened.to_dict() | {"releasable": True, "reasons": []}
    assert any("says it is releasable, but they were read" in each for each in Certificate.from_dict(forged).verify())
    for wrong in ([{}], [{"subject": "dtypes", "text": "x", "accepted": 1}], ["dtypes"], None):
        with pytest.raises(tacit.privacy.certificate.CertificateError):
            Certificate.from_dict(closed.to_dict() | {"assumptions": wrong})


def test_batches_and_recalibration_keep_what_was_assumed() -> None:
    declared = {**SCHEMA, "label": {"column": "y", "kind": "classes", "classes": [0, 1]}}
    child = tacit.AdditiveBoostClassifier(schema=declared, interactions=False)
    batches = make_pipeline(StandardScaler(), tacit.BatchwiseClassifier(child)).fit(X, y)[-1]
    assert "StandardScaler" in reasons(batches.certificate_)
    model = make_pipeline(StandardScaler(), clone(child)).fit(X, y)[-1]
    assert "StandardScaler" in reasons(tacit.recalibrate(model, X, y, epsilon=1.0).combined)


def test_the_page_and_the_command_say_why(tmp_path: Path) -> None:
    fitted, place = make_pipeline(StandardScaler(), learner()).fit(X, y)[-1], tmp_path / "m.json"
    tacit.save(fitted, place)
    page = render(fitted.model_, fitted.certificate_.to_dict())
    assert 'class="verdict no"' in page
    assert "the step StandardScaler" in page
    summary = json.loads(CliRunner().invoke(app, ["verify", str(place), "--json"]).output)
    assert (summary["releasable"], summary["strength"]) == (False, None)
    assert "the step StandardScaler" in summary["reasons"][0]


def test_a_csv_file_has_no_dtypes_and_a_parquet_file_has(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(f"age,x,sick\n{PERSONS}")
    pd.read_csv(tmp_path / "d.csv").to_parquet(tmp_path / "d.parquet")
    public = ["--set", "dtypes=public"]
    for name, more, releasable in (("d.csv", [], True), ("d.parquet", [], False), ("d.parquet", public, True)):
        arguments = ["fit", str(tmp_path / name), "--target", "sick", "--epsilon", "1", "--json", "--force"]
        result = CliRunner().invoke(app, [*arguments, "--model", str(tmp_path / "m.json"), *more])
        assert json.loads(result.stdout)["releasable"] is releasable, name
    for more, releasable in (([], False), (["--dtypes", "public"], True)):
        arguments = ["schema", "discover", str(tmp_path / "d.parquet"), "--target", "sick", "--epsilon", "1", "--json"]
        result = CliRunner().invoke(app, [*arguments, "--force", "-o", str(tmp_path / "s.toml"), *more])
        assert json.loads(result.stdout)["releasable"] is releasable
