"""Models learned again from their tapes, without a row; and every planted change, named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit import registry
from tacit.audit import verify_tape
from tacit.closure import AgnosticClassifier, ComposedClassifier, FiniteClassClassifier, Thresholds
from tacit.curator.tape_file import HEADER, read_tape
from tacit.errors import TacitError
from tacit.learning.tapes import Taping
from tacit.models.binding import model_digest
from tacit.privacy.canonical import sha256
from tests.contracts.examples import CLASSES, examples, rows_of
from tests.replay.neighbours import schema_of, table_of

ESTIMATORS = registry.of_the_library(registry.estimators())

NOT_ON_A_TAPE = {
    "BatchwiseClassifier": "its model is the mean of those of its batches, each of which is a fit of its own",
    "BatchwiseRegressor": "likewise",
    "PrivateSelection": "the runs that lost are no release",
}
"""Why no tape is offered: docs/tape.md says the same."""

IN_NO_FILE = (AgnosticClassifier, ComposedClassifier, FiniteClassClassifier)
"""Their concept classes are no plain data: whoever verifies gives the estimator."""

pytestmark = pytest.mark.usefixtures("few_rounds")


def recorded(place: Path, estimator: Any, X: Any, y: Any, **more: Any) -> tuple[Path, Path]:
    """A model file and its tape."""
    estimator.fit(X, y, tape=place / "fit.tape", **more)
    tacit.save(estimator, place / "model.json")
    return place / "model.json", place / "fit.tape"


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name.rpartition(".")[2] not in NOT_ON_A_TAPE])
def test_every_estimator_is_learned_again_from_its_tape(name: str, tmp_path: Path) -> None:
    kind = ESTIMATORS[name]
    [estimator] = examples(kind, seed=None)
    X, y = rows_of(kind, 60)
    own = examples(kind, seed=None)[0] if kind in IN_NO_FILE else None
    verdict = verify_tape(*recorded(tmp_path, estimator, X, y), own)
    assert (verdict.problems, verdict.remarks) == ((), ())
    assert verdict.releases > 0
    assert verdict.integers > 0


def test_those_without_a_tape_take_none() -> None:
    for name in NOT_ON_A_TAPE:
        [estimator] = examples(next(kind for full, kind in ESTIMATORS.items() if full.endswith(name)))
        with pytest.raises(TypeError, match="tape"):
            estimator.fit(*rows_of(type(estimator), 60), tape="fit.tape")


ADDITIVE, NUMBER, TREES = tacit.AdditiveBoostClassifier, tacit.AdditiveBoostRegressor, tacit.BoostedTreesClassifier
FEW: dict[str, Any] = {"n_trees": 2, "max_depth": 2}
REPLACE = {"neighbouring": "replace_one"}
KINDS: dict[str, tuple[str, type[Any], dict[str, Any]]] = {
    "delta 0": ("two", ADDITIVE, {"delta": 0.0}),
    "pairs": ("two", ADDITIVE, {"interactions": "pairs"}),
    "trees that follow": ("two", ADDITIVE, {"epsilon": 95.0}),
    "three classes": ("three", ADDITIVE, {}),
    "ordered": ("three", ADDITIVE, {"ordered": True}),
    "quantile": ("number", NUMBER, {"loss": "quantile", "quantile": 0.8}),
    "poisson": ("count", NUMBER, {"loss": "poisson"}),
    "replace_one": ("two", ADDITIVE, REPLACE),
    "trees of three classes": ("three", TREES, FEW),
    "calibrated": ("two", tacit.MAlphaBoostClassifier, {"alpha": "calibrated", **FEW}),
    "exponential": ("two", tacit.RandomTreesClassifier, {"n_trees": 2, "mechanism": "exponential"}),
    "list of three classes": ("three", tacit.DecisionListClassifier, {}),
    "lazy Bregman": ("two", tacit.HalfspaceBoostClassifier, {"measure": "lazy_bregman", **REPLACE}),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_label_and_loss_is_learned_again(name: str, tmp_path: Path) -> None:
    label, kind, more = KINDS[name]
    rows = table_of(label)
    files = recorded(tmp_path, kind(schema=schema_of(label), **{"epsilon": 1.0, **more}), rows.X, rows.y)
    assert verify_tape(*files).problems == ()
    public = read_tape(files[1]).beginning.rows
    assert public == (len(rows) if "neighbouring" in more else None)


@pytest.mark.parametrize(("unit", "label"), [(True, "two"), (False, "number")])
def test_persons_and_weights_are_learned_again(unit: bool, label: str, tmp_path: Path) -> None:
    rows = table_of(label, unit=unit)
    weights = {} if unit else {"sample_weight": rows.w}
    estimator = (ADDITIVE if label == "two" else NUMBER)(schema=schema_of(label, unit))
    assert verify_tape(*recorded(tmp_path, estimator, rows.X, rows.y, **weights)).problems == ()


def test_a_view_that_ends_by_a_private_test_ends_again(tmp_path: Path) -> None:
    """Whether the run goes on is released, so a tape says it: without rows the test would come out otherwise."""
    rows, rounds = table_of("two"), {"rounds": 2, "density": 0.2, "sample_size": 15, "measure": "smooth"}
    estimator = tacit.ResampledBoostClassifier(TREES(**FEW), schema=schema_of("two"), epsilon=60.0, **REPLACE, **rounds)
    files = recorded(tmp_path, estimator, rows.X, rows.y)
    assert verify_tape(*files).problems == ()
    views = [passage.answer.tolist() for passage in read_tape(files[1]).tape.passages if passage.verb == "view"]
    assert views in ([[0]], [[1], [0]], [[1], [1]])


def test_other_rows_give_the_same_model(tmp_path: Path) -> None:
    """The tape is a function of what was released: where releases are forced, other rows change nothing of it."""
    rows, other = table_of("two"), table_of("two", 40, seed=5)
    [model, tape] = recorded(tmp_path, ADDITIVE(schema=schema_of("two")), rows.X, rows.y)
    again = ADDITIVE(schema=schema_of("two")).fit(other.X, other.y[::-1], tape=Taping(played=read_tape(tape)))
    assert model_digest(again.model_) == model_digest(tacit.load(model).model_)
    assert again.certificate_.ledger_digest == tacit.load(model).certificate_.ledger_digest


SEEDED = TREES(schema=schema_of("two"), epsilon=4.0, random_state=1, **FEW)
"""So that what a change comes to is no matter of chance."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    rows = table_of("two", 400)
    return recorded(tmp_path_factory.mktemp("tape"), SEEDED, rows.X, rows.y)


Change = Callable[[list[dict[str, Any]]], Any]


def changed(tape: Path, to: Path, change: Change, **header: Any) -> Path:
    """The tape after a change of its rows, or of what it says of itself."""
    table = pq.read_table(tape)
    rows = table.to_pylist()
    change(rows)
    told = json.loads(table.schema.metadata[HEADER]) | header
    pq.write_table(pa.Table.from_pylist(rows, table.schema.with_metadata({HEADER: json.dumps(told)})), to)
    return to


def more(rows: list[dict[str, Any]]) -> None:
    rows[7]["integers"][0] += 1 << 40


def one_more(rows: list[dict[str, Any]]) -> None:
    rows[7]["integers"][0] += 1


PLANTED: dict[str, tuple[Change, str]] = {
    "one integer": (one_more, "release 8 of the tape is not as it was written: measure 'tree"),
    "a query is added": (lambda rows: rows.insert(5, rows[2]), "release 6 of the tape is not as it was written"),
    "a query is left out": (lambda rows: rows.pop(5), "release 6 of the tape is not as it was written"),
    "a query comes at the end": (lambda rows: rows.append(rows[-1]), "is one that nobody asks for"),
    "the end is missing": (lambda rows: rows.pop(), "the learner asks for measure"),
    "two change places": (lambda rows: rows.insert(3, rows.pop(8)), "and the learner asks"),
    "a charge": (
        lambda rows: rows[4].update(charge=rows[4]["charge"].replace('noise_multiplier": ', 'noise_multiplier": 1')),
        "release 5 of the tape",
    ),
    "a label": (lambda rows: rows[4].update(label="number of rows"), "'number of rows', and the learner asks"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_change_of_the_tape_is_named(name: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    change, words = PLANTED[name]
    problems = verify_tape(files[0], changed(files[1], tmp_path / "changed.tape", change)).problems
    assert any(words in problem for problem in problems), problems
    assert "the tape is not the one that the certificate names" in problems


def written_anew(tape: Path, to: Path, change: Change) -> str:
    """The same by somebody who computes all hashes anew; returns the digest."""
    played = read_tape(changed(tape, to, change))
    links, link = [], b""
    for passage in played.tape.passages:
        link = passage.link(link)
        links.append(link[:8])
    changed(to, to, lambda rows: [row.update(link=link) for row, link in zip(rows, links, strict=True)])
    anew = read_tape(to)
    assert anew.problems == ()
    return anew.digest


def test_an_integer_changed_by_a_careful_hand_gives_another_model(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Every hash and digest is computed anew, in the certificate as well: the model does not follow from the tape."""
    model = json.loads(files[0].read_text())
    model["certificate"]["tape"] = written_anew(files[1], tmp_path / "changed.tape", more)
    certificate = {key: value for key, value in model["certificate"].items() if key not in ("digest", "format")}
    model["certificate"]["digest"] = sha256(certificate)
    (tmp_path / "model.json").write_text(json.dumps(model))
    assert tacit.load(tmp_path / "model.json").certificate_.verify() == []  # nothing else tells
    [problem] = verify_tape(tmp_path / "model.json", tmp_path / "changed.tape").problems
    assert problem.startswith("the model is not the one that the tape gives: model.")


def leaves(data: Any, place: str = "model") -> Any:
    """All numbers with a fraction in plain data: place, holder and key."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        inner = f"{place}.{key}" if isinstance(data, dict) else f"{place}[{key}]"
        yield from [(inner, data, key)] if isinstance(value, float) else leaves(value, inner)


def test_one_changed_leaf_is_named_by_its_place(files: tuple[Path, Path], tmp_path: Path) -> None:
    for number in (0, 5, -1):
        data = json.loads(files[0].read_text())
        place, holder, key = list(leaves(data["model"]))[number]
        before, holder[key] = holder[key], holder[key] + 0.125
        data["certificate"]["model_digest"] = sha256({"kind": data["kind"], "model": data["model"]})
        (tmp_path / "model.json").write_text(json.dumps(data))
        problems = verify_tape(tmp_path / "model.json", files[1]).problems
        told = f"gives: {place} is {holder[key]!r} in the file, and {before!r}"
        assert any(told in problem for problem in problems)
        assert any("(1 places differ)" in each for each in problems)


def test_rounding_is_a_remark_and_more_is_a_problem(files: tuple[Path, Path], tmp_path: Path) -> None:
    for change, problems, remarks in ((1e-12, 0, 2), (1e-6, 1, 1)):  # one that the noise has a seed
        data = json.loads(files[0].read_text())
        _, holder, key = list(leaves(data["model"]))[5]
        holder[key] *= 1 + change
        (tmp_path / "model.json").write_text(json.dumps(data))
        verdict = verify_tape(tmp_path / "model.json", files[1])
        assert (len(verdict.problems), len(verdict.remarks)) == (problems, remarks)


def test_other_versions_are_named_where_something_differs(files: tuple[Path, Path], tmp_path: Path) -> None:
    made = {**read_tape(files[1]).beginning.versions, "numpy": "1.99", "python": "3.9"}
    told = "the tape names other versions of libraries than the certificate"
    for change, problems in ((lambda rows: None, 1), (one_more, 5)):
        verdict = verify_tape(files[0], changed(files[1], tmp_path / "changed.tape", change, versions=made))
        assert told in verdict.problems
        assert len(verdict.problems) <= problems
        assert verdict.remarks[-1].startswith(f"the fit had numpy 1.99 (here {np.__version__}): arithmetic")


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"public_seed": "00" * 32}, "not the one that the certificate names"),
        ({"weighted": True}, "not the one that the certificate names"),
        ({"rows": 400}, "private under add_or_remove_one"),
        ({"releasable": True, "reasons": []}, "says otherwise than the certificate if it may be released"),
        ({"model": "00"}, "that of another model"),
    ],
)
def test_what_a_tape_says_of_itself_is_named_by_the_certificate(
    header: dict[str, Any], words: str, files: tuple[Path, Path], tmp_path: Path
) -> None:
    """Also where a model does not hang on it, as few do on the public seed."""
    problems = verify_tape(files[0], changed(files[1], tmp_path / "changed.tape", lambda rows: None, **header)).problems
    assert any(words in problem for problem in problems), problems


def test_parameters_that_were_changed_ask_otherwise(files: tuple[Path, Path], tmp_path: Path) -> None:
    data = json.loads(files[0].read_text())
    data["certificate"]["parameters"]["n_trees"] = 3
    (tmp_path / "model.json").write_text(json.dumps(data))
    assert any("asks" in each for each in verify_tape(tmp_path / "model.json", files[1]).problems)
    problems = verify_tape(*files, TREES(schema=schema_of("two"), epsilon=4.0, n_trees=2, max_depth=3)).problems
    assert "the estimator has other parameters than the certificate lists" in problems


def test_an_account_is_never_charged_by_verifying(tmp_path: Path) -> None:
    account = tacit.PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "survey", 1.0, 1e-6)
    X, y = rows_of(FiniteClassClassifier, 60)
    estimator = FiniteClassClassifier(Thresholds("a"), schema=CLASSES, bins=8, epsilon=1.0, delta=1e-6, account=account)
    verdict = verify_tape(*recorded(tmp_path, estimator, X, y), estimator)
    assert verdict.problems == ()
    assert len(account.reservations()) == 1


def test_a_seeded_fit_says_that_its_tape_may_not_be_released(tmp_path: Path) -> None:
    rows = table_of("two")
    verdict = verify_tape(*recorded(tmp_path, TREES(schema=schema_of("two"), random_state=1, **FEW), rows.X, rows.y))
    assert verdict.problems == ()
    assert "may NOT be released" in verdict.remarks[0]


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (TREES(epsilon=np.inf, schema=CLASSES), "exact answers"),
        (TREES(classes=("no", "yes")), "takes a schema"),
        (ADDITIVE(schema={"columns": CLASSES["columns"]}), "takes a schema"),
    ],
)
def test_what_no_tape_can_hold_is_refused_before_anything_is_spent(estimator: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(TacitError, match=f"(?s){words}") as refused:
        estimator.fit(*rows_of(TREES, 60), tape=tmp_path / "fit.tape")
    assert not refused.value.spent
    assert not (tmp_path / "fit.tape").exists()
    with pytest.raises(TacitError, match="no file can be written"):
        TREES(schema=CLASSES).fit(*rows_of(TREES, 60), tape=tmp_path / "nowhere" / "fit.tape")
