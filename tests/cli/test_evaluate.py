"""`tacit evaluate` and `tacit schema discover`: what they write, and one message for every public mistake."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tacit.cli.evaluate import _few, _words
from tacit.evaluation.performance import Estimate
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.certificate import Certificate
from tacit.schema import Schema
from tests.cli.conftest import Run


def test_evaluate_prints_figures_and_certifies_them(fitted: Path, folder: Path, tacit: Run) -> None:
    evaluate = f"evaluate {fitted}/model.json data.csv --schema schema.toml --epsilon 2"
    result = tacit(f"{evaluate} --subgroups colour --cost 1,4 --certificate c.json", code=0)
    for words in ("auc", "accuracy", "log loss", "calibration", "least costly threshold", "colour = red", "epsilon 2"):
        assert words in result.stdout
    assert Certificate.from_json(Path("c.json").read_text()).verify() == []
    result = tacit("evaluate", fitted / "model.json", "data.csv", "--target", "bought", "--epsilon", "inf", "--json")
    facts = result.json
    assert facts["overall"]["rows"]["value"] == 400
    assert facts["overall"]["accuracy"]["value"] > 0.7
    assert facts["releasable"] is False


def test_subgroups_of_a_column_of_the_model_need_no_schema(fitted: Path, folder: Path, tacit: Run) -> None:
    evaluate = f"evaluate {fitted}/model.json data.csv --target bought --epsilon inf --json"
    result = tacit(f"{evaluate} --subgroups colour")
    groups = result.json["subgroups"]
    assert {name: round(group["rows"]["value"]) for name, group in groups.items()} == {
        "red": 134, "green": 133, "(other)": 133, "(missing)": 0,
    }  # fmt: skip


def test_evaluate_pays_from_an_account(fitted: Path, folder: Path, tacit: Run) -> None:
    account = PrivacyAccount.create("sqlite:///b.db", "people", 1.0, 1e-6)
    arguments = ["evaluate", fitted / "model.json", "data.csv", "--target", "bought", "--epsilon", "0.8"]
    paid = [*arguments, "--account", "sqlite:///b.db", "--dataset", "people"]
    tacit(*paid, code=0)
    assert 0.7 < account.spent < 0.9
    result = tacit(*paid, code=3)
    assert "nothing was spent" in result.stderr.lower()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data.csv", "--epsilon", "1", "--target", "bough"], "no column 'bough'"),
        (["data.csv", "--epsilon", "0", "--target", "bought"], "epsilon must be a positive number"),
        (["data.csv", "--epsilon", "1", "--target", "bought", "--cost", "3"], "--cost"),
        (["data.csv", "--epsilon", "1", "--target", "bought", "--threshold", "1"], "threshold must lie"),
        (["data.csv", "--epsilon", "1", "--target", "bought", "--subgroups", "age"], "need declared categories"),
        (["data.csv", "--epsilon", "1", "--target", "bought", "--account", "sqlite:///x.db"], "belong together"),
        (["none.csv", "--epsilon", "1", "--target", "bought"], "none.csv does not exist"),
    ],
)
def test_mistakes_of_evaluate(fitted: Path, folder: Path, tacit: Run, arguments: list[str], message: str) -> None:
    tacit("evaluate", fitted / "model.json", *arguments, code=2, says=[message, "Nothing was spent"])


def test_a_figure_that_noise_hides_is_none(fitted: Path, folder: Path, tacit: Run) -> None:
    """An AUC of .1392 (0 to 1) was told with four digits."""
    asked = ("evaluate", fitted / "model.json", "data.csv", "--epsilon", "0.001")
    text = " ".join(tacit(*asked).stdout.split())
    assert "auc inconclusive (noise too large)" in text
    assert "calibration inconclusive (noise too large)" in text
    figure = tacit(*asked, "--json").json["overall"]["auc"]
    assert (figure["low"], figure["high"]) == (0.0, 1.0)
    assert "not known" not in tacit(*asked[:-1], "inf").stdout


@pytest.mark.parametrize(
    ("metric", "figure", "words"),
    [
        ("log_loss", Estimate(0.0, 0.0, 0.6426), "inconclusive (noise too large): at most 0.6426"),
        ("calibration", Estimate(0.0, 0.0, 0.2), "inconclusive (noise too large): at most 0.2"),
        ("calibration", Estimate(0.3, 0.0, 1.0), "inconclusive (noise too large)"),
        ("mae", Estimate(0.0, 0.0, 12.0), "inconclusive (noise too large): at most 12"),
        ("log_loss", Estimate(0.5, 0.4, 0.6), "0.5 (0.4 to 0.6)"),
        ("calibration", Estimate(0.01, 0.0, 0.02), "0.01 (0 to 0.02)"),
        ("r2", Estimate(0.0, 0.0, 0.1), "0 (0 to 0.1)"),
    ],
)
def test_a_loss_cut_off_at_zero_is_no_figure(metric: str, figure: Estimate, words: str) -> None:
    assert _words(metric, figure) == words


def test_noise_does_not_say_that_there_are_no_rows() -> None:
    assert _few(Estimate(0.0, 0.0, 0.0), exact=False) == "too few rows to report: about 0 (0 to 0)"
    assert _few(Estimate(0.0, 0.0, 0.0), exact=True) == "no rows"


def test_a_subgroup_without_rows_has_no_figures(fitted: Path, folder: Path, tacit: Run) -> None:
    """It was told as "log loss 0 (0 to 4.605)"."""
    asked = ("evaluate", fitted / "model.json", "data.csv", "--subgroups", "colour", "--epsilon")
    text = " ".join(tacit(*asked, "30").stdout.split())
    assert "(0 to 4.605)" not in text
    assert re.search(r"colour = \(missing\) too few rows to report: about \d+ \(0 to \d+\)", text), text
    assert re.search(r"colour = red auc [\d.]+ \(.* log loss [\d.]+ \(", text), text
    assert "colour = (missing) no rows" in " ".join(tacit(*asked, "inf").stdout.split())


def test_the_model_remembers_what_it_predicts(fitted: Path, folder: Path, tacit: Run) -> None:
    tacit("evaluate", fitted / "model.json", "data.csv", "--epsilon", "1", code=0)
    model = json.loads((fitted / "model.json").read_text())
    (folder / "bare.json").write_text(json.dumps({**model, "certificate": None}))
    tacit("evaluate bare.json data.csv --epsilon 1", code=2, says="which column is to be predicted")


def test_discover_writes_a_schema_that_a_fit_can_use(folder: Path, tacit: Run) -> None:
    discover = "schema discover data.csv --target bought --epsilon 20 -o found.toml --ignore id"
    tacit(f"{discover} --certificate c.json", code=0)
    schema = Schema.from_toml("found.toml")
    assert schema.to_dict()["columns"] == {
        "age": {"kind": "numeric", "lower": 16, "upper": 128},
        "colour": {"kind": "categorical", "categories": ["blue", "green", "red"]},
        "id": {"kind": "ignore"},
    }
    assert schema.label is not None
    assert schema.label.classes == ("no", "yes")
    assert Path("found.toml").read_text().startswith("# Found in private rows at a cost of epsilon 20")
    assert Certificate.from_json(Path("c.json").read_text()).verify() == []
    tacit("fit data.csv --schema found.toml --model m.json", code=0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "bough"], "no column 'bough'"),
        (["--target", "bought", "--numeric", "agee"], "no column 'agee'"),
        (["--target", "bought", "--numeric", "age", "--categories", "age"], "listed twice"),
        (["--target", "bought", "--delta", "0"], "positive delta"),
        (["--target", "bought", "-o", "schema.toml"], "schema.toml exists"),
        (["--target", "bought", "--unit", "person"], "no column 'person'"),
    ],
)
def test_mistakes_of_discover(folder: Path, tacit: Run, arguments: list[str], message: str) -> None:
    tacit("schema discover data.csv --epsilon 1 -o new.toml", *arguments, code=2, says=[message, "Nothing was spent"])
    assert not Path("new.toml").exists()
