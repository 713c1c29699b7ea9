"""The commands with several classes, and with a number to predict."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tacit.privacy.account import PrivacyAccount
from tests.cli.conftest import Run

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


def test_from_a_table_to_predictions(task: str, tacit: Run) -> None:
    fit = ("fit", "data.csv", "--schema", "schema.toml", "--epsilon", "4", "--model", "m.json", "--report", "r.html")
    for command in (fit, ("verify", "m.json"), ("predict", "m.json", "data.csv", "-o", "p.csv"), ("report", "m.json")):
        tacit(*command, code=0)
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
def test_classes_in_their_order(task: str, tacit: Run) -> None:
    fit = ("fit", "data.csv", "--schema", "schema.toml", "--epsilon", "4", "--set", "ordered=true", "--model", "m.json")
    evaluate = ("evaluate", "m.json", "data.csv", "--schema", "schema.toml", "--epsilon", "2", "--json")
    predict = ("predict", "m.json", "data.csv", "-o", "p.csv")
    for command in (fit, ("verify", "m.json"), predict, ("report", "m.json", "-o", "r.html"), evaluate):
        result = tacit(*command, code=0)
    assert result.json["overall"]["accuracy"]["value"] > 0.6
    assert json.loads(Path("m.json").read_text())["kind"] == "additive_ordered"
    ask = ("evaluate", "m.json", "data.csv", "--epsilon", "2", "--metrics", "ranked_probability_score,accuracy")
    assert "ranked probability score" in tacit(*ask).stdout
    said = tacit(*ask, "--json").json["overall"]["ranked_probability_score"]
    assert 0 <= said["low"] <= said["value"] <= said["high"] <= 1
    with Path("p.csv").open() as file:
        assert list(next(csv.DictReader(file))) == ["prediction", "proba_low", "proba_middle", "proba_high"]
    assert "low &lt; middle &lt; high" in Path("r.html").read_text()


def test_evaluation(task: str, tacit: Run) -> None:
    tacit("fit data.csv --schema schema.toml --epsilon 4 --model m.json")
    result = tacit("evaluate m.json data.csv --schema schema.toml --epsilon 2 --json")
    if task == "classes":
        assert result.exit_code == 0, result.output
        assert result.json["overall"]["accuracy"]["value"] > 0.6
        result = tacit("evaluate m.json data.csv --schema schema.toml --epsilon 2 --metrics auc,accuracy")
        for words in ("auc, low", "auc, middle", "auc, high", "accuracy"):
            assert words in result.stdout
        assert "positives" not in result.stdout
        return
    assert result.exit_code == 0, result.output
    facts = result.json
    assert facts["overall"]["mae"]["value"] < 2.5
    assert facts["overall"]["mae"]["low"] < facts["overall"]["mae"]["high"]
    assert 0.5 < facts["error_clip"] < 20
    more = ("--metrics", "pinball,mae", "--quantile", "0.9", "--subgroups", "colour", "--certificate", "c.json")
    result = tacit("evaluate m.json data.csv --schema schema.toml --epsilon 2", *more, code=0)
    for words in ("pinball", "quantile", "errors above", "colour = red", "epsilon 2"):
        assert words in result.stdout
    tacit("verify c.json", code=0)
    for wrong, message in (
        (("--metrics", "auc"), "metrics are among mae"),
        (("--cost", "1,5"), "about classes"),
        (("--error-clip", "21"), "error_clip must lie"),
        (("--quantile", "1"), "quantile must be a number in (0, 1)"),
    ):
        result = tacit(
            "evaluate m.json data.csv --schema schema.toml --epsilon 2",
            *wrong,
            code=2,
            says=[message, "Nothing was spent"],
        )


def test_batches_from_files_share_one_charge(task: str, tacit: Run) -> None:
    lines = Path("data.csv").read_text().splitlines()
    for name, part in (("one.csv", lines[1:451]), ("two.csv", lines[451:])):
        Path(name).write_text("\n".join([lines[0], *part]) + "\n")
    PrivacyAccount.create("sqlite:///b.db", "people", 3.0, 1e-6)
    asked = ("--schema", "schema.toml", "--epsilon", "2", "--account", "sqlite:///b.db", "--dataset", "people")
    tacit("fit one.csv", *asked, "--model", "m1.json", "--batches", code=0)
    tacit(
        "fit two.csv",
        *asked,
        "--model",
        "m2.json",
        "--adds-to",
        "m1.json",
        "--report",
        "r.html",
        code=0,
        says="this one was not charged",
    )
    assert PrivacyAccount("sqlite:///b.db", "people").spent < 2.001
    commands = (("verify", "m2.json"), ("predict", "m2.json", "data.csv", "-o", "p.csv"), ("report", "m2.json"))
    for command in (*commands, ("evaluate", "m2.json", "data.csv", "--schema", "schema.toml", "--epsilon", "2")):
        tacit(*command, code=0)
    for wrong, message in (
        (("--schema", "schema.toml", "--epsilon", "2.5", "--adds-to", "m1.json"), "keep them"),
        (("--schema", "schema.toml", "--epsilon", "2", "--adds-to", "m9.json"), "m9.json"),
        (("--schema", "schema.toml", "--batches", "--learner", "halfspace"), "--"),
        (("--schema", "schema.toml", "--batches"), "--account"),
    ):
        tacit("fit two.csv --model m3.json", *wrong, code=2, says=message)
        assert not Path("m3.json").exists()


def test_a_dry_run_names_the_right_estimator(task: str, tacit: Run) -> None:
    result = tacit("fit data.csv --schema schema.toml --dry-run --json")
    wanted = "AdditiveBoostClassifier" if task == "classes" else "AdditiveBoostRegressor"
    assert result.json["estimator"] == wanted


@pytest.mark.parametrize("task", ["number"], indirect=True)
def test_a_quantile_without_a_schema(task: str, tacit: Run) -> None:
    fit = ("fit", "data.csv", "--target", "y", "--loss", "quantile", "--quantile", "0.8", "--target-bounds", "0,20")
    tacit(*fit, "--model", "m.json", "--epsilon", "4", code=0)
    model = json.loads(Path("m.json").read_text())["model"]
    assert (model["loss"], model["quantile"], model["upper"]) == ("quantile", 0.8, 20.0)


def test_a_plan_is_for_the_label_of_the_schema(task: str, tacit: Run) -> None:
    """The plan of a number was refused: classes cannot be learned from it."""
    tacit("plan --schema schema.toml --epsilon 2", code=0, says="epsilon 2, delta 1e-06, add_or_remove_one: strong")
    asked = tacit("plan --schema schema.toml --learner forest")
    assert (task == "number") == ("learns classes, and the label is a number" in asked.words)


def test_an_evaluation_goes_by_the_schema_of_the_model(task: str, tacit: Run) -> None:
    """Persons of a fit with --unit, and values of a boolean column, asked for a schema that the model file has."""
    lines = Path("data.csv").read_text().splitlines()
    more = ["person,smokes", *(f"{i // 2},{'yes' if i % 3 else 'no'}" for i in range(len(lines) - 1))]
    Path("data.csv").write_text("\n".join(f"{a},{b}" for a, b in zip(lines, more, strict=True)) + "\n")
    written = Path("schema.toml").read_text() + '[columns.smokes]\nkind = "boolean"\n'
    Path("schema.toml").write_text(written)
    unit = ("--unit", "person", "--max-rows", "2", "--epsilon", "4", "--model", "m.json")
    tacit("fit data.csv --schema schema.toml", *unit, code=0)
    Path("schema.toml").unlink()
    result = tacit("evaluate m.json data.csv --epsilon 8 --subgroups smokes --certificate c.json", code=0)
    certificate = json.loads(Path("c.json").read_text())
    assert (certificate["unit"], certificate["rows_per_unit"]) == ("person", 2)
    assert "smokes = True" in result.stdout
    Path("bare.toml").write_text(written)
    result = tacit("evaluate m.json data.csv --epsilon 8 --schema bare.toml")
    assert "this evaluation would protect 1" in result.words
