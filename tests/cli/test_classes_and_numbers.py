"""The commands with several classes, and with a number to predict."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit.privacy.account import PrivacyAccount

FEATURES = """
[columns.age]
kind = "numeric"
lower = 0
upper = 100

[columns.colour]
kind = "categorical"
categories = ["red", "green"]
"""
LABELS = {
    "classes": '[label]\ncolumn = "y"\nkind = "classes"\nclasses = ["low", "middle", "high"]\n',
    "number": '[label]\ncolumn = "y"\nkind = "numeric"\nlower = 0\nupper = 20\n',
}


@pytest.fixture(params=sorted(LABELS))
def task(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A table and a schema in the working directory; the kind of its label."""
    monkeypatch.chdir(tmp_path)
    lines = ["age,colour,y"]
    for i in range(900):
        age, colour = (i * 7) % 101, ("red", "green")[i % 2]
        value = age / 10 + 3 * (colour == "red") + (i % 5) / 5
        label = ("low", "middle", "high")[min(int(value / 5), 2)] if request.param == "classes" else f"{value:.2f}"
        lines.append(f"{age},{colour},{label if i % 50 else ''}")
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "schema.toml").write_text(LABELS[request.param] + FEATURES)
    return str(request.param)


def test_from_a_table_to_predictions(task: str, tacit: Callable[..., Any]) -> None:
    fit = ("fit", "data.csv", "--schema", "schema.toml", "--epsilon", "4", "--model", "m.json", "--report", "r.html")
    for command in (fit, ("verify", "m.json"), ("predict", "m.json", "data.csv", "-o", "p.csv"), ("report", "m.json")):
        done = tacit(*command)
        assert done.exit_code == 0, done.output
    page = Path("r.html").read_text()
    with Path("p.csv").open() as file:
        predictions = list(csv.DictReader(file))
    assert len(predictions) == 900
    if task == "classes":
        assert list(predictions[0]) == ["prediction", "proba_low", "proba_middle", "proba_high"]
        assert sum(float(predictions[5][f"proba_{name}"]) for name in ("low", "middle", "high")) == pytest.approx(1.0)
        assert "A private model of y: low, middle or high" in page
        assert "Most evidence for" in page
    else:
        assert list(predictions[0]) == ["prediction"]
        assert float(predictions[0]["prediction"]) < 8 < float(predictions[14]["prediction"])
        assert "A private model of y" in page
        assert "0 to 20" in page


@pytest.mark.parametrize("task", ["classes"], indirect=True)
def test_classes_in_their_order(task: str, tacit: Callable[..., Any]) -> None:
    fit = ("fit", "data.csv", "--schema", "schema.toml", "--epsilon", "4", "--set", "ordered=true", "--model", "m.json")
    evaluate = ("evaluate", "m.json", "data.csv", "--schema", "schema.toml", "--epsilon", "2", "--json")
    predict = ("predict", "m.json", "data.csv", "-o", "p.csv")
    for command in (fit, ("verify", "m.json"), predict, ("report", "m.json", "-o", "r.html"), evaluate):
        done = tacit(*command)
        assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["overall"]["accuracy"]["value"] > 0.6
    assert json.loads(Path("m.json").read_text())["kind"] == "additive_ordered"
    ask = ("evaluate", "m.json", "data.csv", "--epsilon", "2", "--metrics", "ranked_probability_score,accuracy")
    assert "ranked probability score" in tacit(*ask).stdout
    said = json.loads(tacit(*ask, "--json").stdout)["overall"]["ranked_probability_score"]
    assert 0 <= said["low"] <= said["value"] <= said["high"] <= 1
    with Path("p.csv").open() as file:
        assert list(next(csv.DictReader(file))) == ["prediction", "proba_low", "proba_middle", "proba_high"]
    assert "low &lt; middle &lt; high" in Path("r.html").read_text()


def test_evaluation(task: str, tacit: Callable[..., Any]) -> None:
    tacit("fit", "data.csv", "--schema", "schema.toml", "--epsilon", "4", "--model", "m.json")
    done = tacit("evaluate", "m.json", "data.csv", "--schema", "schema.toml", "--epsilon", "2", "--json")
    if task == "classes":
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["overall"]["accuracy"]["value"] > 0.6
        done = tacit(
            "evaluate", "m.json", "data.csv", "--schema", "schema.toml", "--epsilon", "2", "--metrics", "auc,accuracy"
        )
        for words in ("auc, low", "auc, middle", "auc, high", "accuracy"):
            assert words in done.stdout
        assert "positives" not in done.stdout
        return
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["overall"]["mae"]["value"] < 2.5
    assert facts["overall"]["mae"]["low"] < facts["overall"]["mae"]["high"]
    assert 0.5 < facts["error_clip"] < 20
    done = tacit(
        "evaluate", "m.json", "data.csv", "--schema", "schema.toml", "--epsilon", "2", "--metrics", "pinball,mae",
        "--quantile", "0.9", "--subgroups", "colour", "--certificate", "c.json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    for words in ("pinball", "quantile", "errors above", "colour = red", "epsilon 2"):
        assert words in done.stdout
    assert tacit("verify", "c.json").exit_code == 0
    for wrong, message in (
        (("--metrics", "auc"), "metrics are among mae"),
        (("--cost", "1,5"), "about classes"),
        (("--error-clip", "21"), "error_clip must lie"),
        (("--quantile", "1"), "quantile must be a number in (0, 1)"),
    ):
        done = tacit("evaluate", "m.json", "data.csv", "--schema", "schema.toml", "--epsilon", "2", *wrong)
        assert done.exit_code == 2
        assert message in " ".join(done.stderr.split())
        assert "Nothing was spent" in done.stderr


def test_batches_from_files_share_one_charge(task: str, tacit: Callable[..., Any]) -> None:
    lines = Path("data.csv").read_text().splitlines()
    for name, part in (("one.csv", lines[1:451]), ("two.csv", lines[451:])):
        Path(name).write_text("\n".join([lines[0], *part]) + "\n")
    PrivacyAccount.create("sqlite:///b.db", "people", 3.0, 1e-6)
    asked = ("--schema", "schema.toml", "--epsilon", "2", "--account", "sqlite:///b.db", "--dataset", "people")
    done = tacit("fit", "one.csv", *asked, "--model", "m1.json", "--batches")
    assert done.exit_code == 0, done.output
    done = tacit("fit", "two.csv", *asked, "--model", "m2.json", "--adds-to", "m1.json", "--report", "r.html")
    assert done.exit_code == 0, done.output
    assert "this one was not charged" in " ".join(done.stdout.split())
    assert PrivacyAccount("sqlite:///b.db", "people").spent < 2.001
    commands = (("verify", "m2.json"), ("predict", "m2.json", "data.csv", "-o", "p.csv"), ("report", "m2.json"))
    for command in (*commands, ("evaluate", "m2.json", "data.csv", "--schema", "schema.toml", "--epsilon", "2")):
        done = tacit(*command)
        assert done.exit_code == 0, done.output
    for wrong, message in (
        (("--schema", "schema.toml", "--epsilon", "2.5", "--adds-to", "m1.json"), "keep them"),
        (("--schema", "schema.toml", "--epsilon", "2", "--adds-to", "m9.json"), "m9.json"),
        (("--schema", "schema.toml", "--batches", "--learner", "halfspace"), "--"),
        (("--schema", "schema.toml", "--batches"), "--account"),
    ):
        done = tacit("fit", "two.csv", "--model", "m3.json", *wrong)
        assert done.exit_code == 2, done.output
        assert message in done.stderr
        assert not Path("m3.json").exists()


def test_a_dry_run_names_the_right_estimator(task: str, tacit: Callable[..., Any]) -> None:
    done = tacit("fit", "data.csv", "--schema", "schema.toml", "--dry-run", "--json")
    wanted = "AdditiveBoostClassifier" if task == "classes" else "AdditiveBoostRegressor"
    assert json.loads(done.stdout)["estimator"] == wanted


@pytest.mark.parametrize("task", ["number"], indirect=True)
def test_a_quantile_without_a_schema(task: str, tacit: Callable[..., Any]) -> None:
    fit = ("fit", "data.csv", "--target", "y", "--loss", "quantile", "--quantile", "0.8", "--target-bounds", "0,20")
    done = tacit(*fit, "--model", "m.json", "--epsilon", "4")
    assert done.exit_code == 0, done.output
    model = json.loads(Path("m.json").read_text())["model"]
    assert (model["loss"], model["quantile"], model["upper"]) == ("quantile", 0.8, 20.0)


def test_a_plan_is_for_the_label_of_the_schema(task: str, tacit: Callable[..., Any]) -> None:
    """The plan of a number was refused: classes cannot be learned from it."""
    done = tacit("plan", "--schema", "schema.toml", "--epsilon", "2")
    assert done.exit_code == 0, done.output
    assert "epsilon 2, delta 1e-06, add_or_remove_one: strong" in done.stdout
    asked = tacit("plan", "--schema", "schema.toml", "--learner", "forest")
    assert (task == "number") == ("learns classes, and the label is a number" in " ".join(asked.stderr.split()))


def test_an_evaluation_goes_by_the_schema_of_the_model(task: str, tacit: Callable[..., Any]) -> None:
    """Persons of a fit with --unit, and values of a boolean column, asked for a schema that the model file has."""
    lines = Path("data.csv").read_text().splitlines()
    more = ["person,smokes", *(f"{i // 2},{'yes' if i % 3 else 'no'}" for i in range(len(lines) - 1))]
    Path("data.csv").write_text("\n".join(f"{a},{b}" for a, b in zip(lines, more, strict=True)) + "\n")
    written = Path("schema.toml").read_text() + '[columns.smokes]\nkind = "boolean"\n'
    Path("schema.toml").write_text(written)
    unit = ("--unit", "person", "--max-rows", "2", "--epsilon", "4", "--model", "m.json")
    assert tacit("fit", "data.csv", "--schema", "schema.toml", *unit).exit_code == 0
    Path("schema.toml").unlink()
    done = tacit("evaluate", "m.json", "data.csv", "--epsilon", "8", "--subgroups", "smokes", "--certificate", "c.json")
    assert done.exit_code == 0, done.output
    certificate = json.loads(Path("c.json").read_text())
    assert (certificate["unit"], certificate["rows_per_unit"]) == ("person", 2)
    assert "smokes = True" in done.stdout
    Path("bare.toml").write_text(written)
    done = tacit("evaluate", "m.json", "data.csv", "--epsilon", "8", "--schema", "bare.toml")
    assert "this evaluation would protect 1" in " ".join(done.stderr.split())
