"""What the commands do when all is well."""

from __future__ import annotations

import csv
import json
import re
import shutil
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from tacit.cli.demo import auc_error
from tests.cli.conftest import Run


def test_fit_leaves_model_certificate_and_report(fitted: Path) -> None:
    model = json.loads((fitted / "model.json").read_text())
    certificate = json.loads((fitted / "certificate.json").read_text())
    assert model["format"] == "tacit model"
    assert model["certificate"] == certificate
    assert "<!doctype html>" in (fitted / "report.html").read_text()[:20]
    assert [p.name for p in fitted.iterdir() if p.name.startswith(".")] == []


def test_predictions_need_no_data_but_their_own(fitted: Path, folder: Path, tacit: Run) -> None:
    Path("new.csv").write_text("colour,age\nred,80\ngreen,20\nblue,\n")
    tacit(f"predict {fitted}/model.json new.csv -o p.csv", code=0)
    with Path("p.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 3
    assert list(lines[0]) == ["prediction", "proba_no", "proba_yes"]
    for line in lines:
        assert float(line["proba_no"]) + float(line["proba_yes"]) == pytest.approx(1.0)
        assert line["prediction"] == ("yes" if float(line["proba_yes"]) > 0.5 else "no")
    assert float(lines[0]["proba_yes"]) > float(lines[1]["proba_yes"])


def test_no_number_of_rows_is_printed_but_the_released_one(folder: Path, tacit: Run) -> None:
    result = tacit("fit data.csv --schema schema.toml --model m.json --epsilon 2 --delta 1e-5 --json", code=0)
    assert (result.json["releasable"], result.json["delta"], result.json["written"]) == (
        True,
        1e-5,
        {"model": "m.json"},
    )
    assert result.json["epsilon"] <= 2
    assert set(result.json["importance"]) >= {"age", "colour"}
    rows = result.json["summary"]["rows"]
    model = json.loads(Path("m.json").read_text())["model"]
    assert rows["value"] == pytest.approx(sum(model["mains"][0]["counts"]))
    assert 0 < abs(rows["value"] - 400) < 6 * rows["sd"]
    said = result.stdout.replace(str(rows["value"]), "")
    alone = re.compile(r"(?<![\w.])400(?:\.0+)?(?![\w.])")  # among digits of other numbers it may be by chance
    assert alone.search('"rows": 400,')
    assert alone.search("400.0\n")
    assert not alone.search(said)


def test_dry_run_reads_no_row_and_charges_nothing(folder: Path, tacit: Run) -> None:
    account = ("--account", "sqlite:///b.tacit.db", "--dataset", "shop")
    tacit("budget create", *account, "--epsilon", "3", "--delta", "1e-6", code=0)
    Path("data.csv").write_text("age,colour,bought\n" + "not a table at all, because nobody will look\n" * 3)
    result = tacit("fit data.csv --schema schema.toml --dry-run", *account, code=0, says="nothing was charged")
    assert "warning" not in result.stdout
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines()[1:] if " " in line.strip())
    assert lines["protects"].strip() == "one row"
    assert lines["account"].startswith("shop in sqlite:///b.tacit.db")
    assert lines["remaining"].strip() == "epsilon 3; enough for this fit"
    assert tacit("budget show", *account, "--json").json["spent"] == 0


def test_dry_run_warns_of_what_the_fit_would(folder: Path, tacit: Run) -> None:
    dry = ("fit", "data.csv", "--schema", "schema.toml", "--dry-run", "--delta", "0.01", "--json")
    (warned,) = tacit(*dry).json["warnings"]
    assert "with that probability nothing is promised about one row" in warned


def test_fits_share_an_account(folder: Path, tacit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "alice")
    account = ("--account", "sqlite:///b.tacit.db", "--dataset", "shop")
    tacit("budget create", *account, "--epsilon", "1", "--delta", "1e-6", code=0)
    fit = ("fit", "data.csv", "--schema", "schema.toml", "--model", "m.json", "--epsilon", "0.6", *account)
    tacit(*fit, code=0)
    spent = tacit("budget show", *account, "--json").json
    (line,) = spent["reservations"]
    assert line["epsilon"] == pytest.approx(spent["spent"])
    assert line["created"] <= line["closed"]
    assert 0.59 < spent["spent"] <= 0.6
    assert line["by"].startswith("alice@")
    shown = " ".join(tacit("budget show", *account).stdout.split())
    assert f", by {line['by']}" in shown
    assert "largest next fit epsilon 0." in shown
    assert "(more than what remains, because composed costs are smaller than their sum)" in shown
    assert [line["status"] for line in spent["reservations"]] == ["completed"]
    tacit(*fit, code=2)  # m.json is there
    fit = (*fit, "--force")
    tacit(*fit, code=0)  # two of .6 compose to less than 1
    refused = tacit(*fit, "--json", code=3)
    error = refused.json["error"]
    assert (error["kind"], error["exit_code"]) == ("budget", 3)
    assert "nothing was spent" in error["message"]
    for more in ((), ("--json",)):
        tacit(*fit, "--dry-run", *more, code=3)


def test_verify_accepts_what_holds_and_names_what_does_not(fitted: Path, folder: Path, tacit: Run) -> None:
    for file in ("certificate.json", "model.json"):
        result = tacit("verify", fitted / file, code=0, says="the claim holds")
    forged = json.loads((fitted / "certificate.json").read_text())
    forged["epsilon"] = 0.01
    Path("forged.json").write_text(json.dumps(forged))
    result = tacit("verify forged.json --json", code=4)
    assert result.json["holds"] is False


def test_report_beside_the_model(fitted: Path, folder: Path, tacit: Run) -> None:
    Path("m.json").write_text((fitted / "model.json").read_text())
    tacit("report m.json", code=0)
    assert "<h1>A private model of bought: no or yes</h1>" in Path("m.html").read_text()


def test_plan_needs_no_data(folder: Path, tacit: Run) -> None:
    Path("data.csv").unlink()
    said = tacit("plan --schema schema.toml --epsilon 1 --json").json
    assert said["columns"] == ["age", "colour"]
    assert 0.5 < said["best_guess"] < 0.6
    assert "Nothing was spent" in tacit("plan").stdout


def test_plan_says_what_so_many_rows_can_teach(folder: Path, tacit: Run) -> None:
    ask = ("plan", "--schema", "schema.toml", "--epsilon", "1", "--rows")
    few, many = (" ".join(tacit(*ask, count).stdout.split()) for count in ("50", "1000000"))
    assert "With 50 rows the signal-to-noise ratio per column is" in few
    assert "The model will use single columns." in few
    assert "worse than the class shares alone" in few
    assert "The model will use single columns and pairs, trees or both." in many
    assert "If the rarer class has less than 0.01 % of the rows," in many
    assert tacit(*ask, "50", "--json").json["forecast"]["sure"] is False
    pure = " ".join(tacit(*ask, "60", "--delta", "0").stdout.split())
    assert "With 60 rows the signal-to-noise ratio of all rows is 42.4 (700 or more is enough)." in pure
    assert "at least 280 rows are advisable. A larger epsilon also helps." in pure
    pure = " ".join(tacit(*ask, "5000", "--delta", "0").stdout.split())
    assert "With 5,000 rows the signal-to-noise ratio per column is 1,768 (100 or more is enough)." in pure
    for wrong in (("plan", "--rows", "50"), (*ask, "0"), (*ask, "50", "--learner", "trees")):
        tacit(*wrong, code=2, says="Nothing was spent")


def test_help_lists_every_command(tacit: Run) -> None:
    said = tacit("--help").stdout
    for command in ("fit", "online", "predict", "report", "verify", "budget", "schema", "check", "plan", "demo"):
        assert command in said
    for words in ("2 invalid input", "3 insufficient budget", "4 a claim that does not hold"):
        assert words in " ".join(said.split())


def test_demo_replaces_an_earlier_demo_and_nothing_else(tmp_path: Path, tacit: Run) -> None:
    (demo := tmp_path / "demo").mkdir()
    (demo / "stays.csv").write_text("a table of the user's\n")
    assert "stays.csv exists" in tacit("demo --folder", demo).stderr
    shutil.copy(str(resources.files("tacit.examples") / "hospital.toml"), demo / "schema.toml")
    said = tacit("demo --folder", demo, "--json").json
    assert 0.6 < said["private_auc"] <= 1
    assert said["non_private_auc"] > 0.7
    for path in said["written"].values():
        assert Path(path).stat().st_size > 100


def test_error_of_an_auc_by_chance_is_that_of_a_rank_sum() -> None:
    """At AUC 1/2 the formula is Wilcoxon's variance but for ties of order 1/n."""
    answers = np.array(["yes"] * 40 + ["no"] * 60)
    assert auc_error(0.5, answers) == pytest.approx((101 / (12 * 40 * 60)) ** 0.5, rel=0.01)


def test_a_csv_with_texts_needs_no_schema(folder: Path, tacit: Run) -> None:
    rows = [
        f"{18 + (i * 7) % 72},{('red', 'green')[i % 2]},{'yes' if (i * 7) % 72 > 32 else 'no'}" for i in range(4000)
    ]
    Path("texts.csv").write_text("\n".join(["age,colour,bought", *rows]) + "\n")
    fit = ("fit", "texts.csv", "--target", "bought", "--epsilon", "4")
    dry = tacit(*fit, "--dry-run")
    assert "bounds and categories" in dry.stdout
    assert "3 times epsilon 0, delta" in dry.words  # two columns, and the classes
    tacit(*fit, "--model", "m.json", "--report", "r.html", code=0, says="1 numeric, 1 categorical; classes no, yes")
    spent = {entry["label"] for entry in json.loads(Path("m.json").read_text())["certificate"]["entries"]}
    assert {"whether age holds numbers", "bounds of age", "categories of colour: counts", "classes: counts"} <= spent
    assert "categories and classes" in Path("r.html").read_text()
    tacit("verify m.json", code=0)
    tacit("predict m.json texts.csv -o p.csv", code=0)
    with Path("p.csv").open() as file:
        said = [line["prediction"] for line in csv.DictReader(file)]
    assert np.mean([line.endswith(guess) for line, guess in zip(rows, said, strict=True)]) > 0.85
    pure = (*fit, "--delta", "0", "--model", "pure.json")
    tacit(*pure, code=2)
    assert "read as numbers" in tacit(*pure, "--classes", "no,yes").stdout


def test_predictions_at_a_threshold_and_by_costs(fitted: Path, folder: Path, tacit: Run) -> None:
    model = fitted / "model.json"

    def said(*options: str) -> list[dict[str, str]]:
        tacit("predict", model, "data.csv", "-o", "p.csv", "--force", *options, code=0)
        with Path("p.csv").open() as file:
            return list(csv.DictReader(file))

    for options, threshold in ((("--threshold", "0.2"), 0.2), (("--cost", "1,4"), 0.2), (("--cost", "3,1"), 0.75)):
        for line in said(*options):
            assert line["prediction"] == ("yes" if float(line["proba_yes"]) >= threshold else "no")
    for wrong in (("--threshold", "2"), ("--cost", "1"), ("--cost", "0,0"), ("--threshold", "0.2", "--cost", "1,4")):
        tacit("predict", model, "data.csv", "-o", "q.csv", *wrong, code=2)
    assert not Path("q.csv").exists()
