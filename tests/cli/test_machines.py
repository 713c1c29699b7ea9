"""For programs that call the command line: exit codes, JSON, streams, other encodings, parameters."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import parquet

from tacit import PrivacyAccount
from tacit.schema import Unit
from tests.cli.conftest import Run

FIT = ("fit", "data.csv", "--schema", "schema.toml", "--model", "m.json")
COMMAND = [sys.executable, "-c", "from tacit.cli.main import main; main()"]


def test_help_is_text_beside_json(tacit: Run) -> None:
    tacit("fit --json --help", code=0)
    assert tacit("fit --json --help").stdout.lstrip().startswith("Usage")


def test_accounts_are_listed(folder: Path, tacit: Run) -> None:
    store = ("--account", "sqlite:///b.tacit.db")
    for name, epsilon in (("shop", "1"), ("clinic", "2")):
        create = ("budget", "create", *store, "--dataset", name, "--epsilon", epsilon, "--delta", "1e-6")
        tacit(*create, *(("--unit", "patient_id", "--max-rows", "3") if name == "clinic" else ()), code=0)
    result = tacit("budget list", *store, "--json").json["accounts"]
    assert {line["dataset"]: line["remaining"] for line in result} == {"shop": 1.0, "clinic": 2.0}
    assert {line["dataset"]: line["protected"] for line in result}[
        "clinic"
    ] == "all rows with one patient_id, at most 3"
    assert "clinic" in tacit("budget list", *store).stdout
    unit = Unit("patient_id", 3, "patient")
    PrivacyAccount("sqlite:///b.tacit.db", "clinic").note("a line", unit)
    shown = " ".join(tacit("budget show", *store, "--dataset", "clinic").stdout.split())
    assert "protects one patient: all rows with one patient_id, at most 3" in shown


def test_predictions_keep_an_identifier_and_go_to_parquet(fitted: Path, folder: Path, tacit: Run) -> None:
    predict = ("predict", fitted / "model.json", "data.csv")
    tacit(*predict, "-o", "p.parquet", "--keep", "id,age", code=0)
    table = parquet.read_table("p.parquet")
    assert table.column_names == ["id", "age", "prediction", "proba_no", "proba_yes"]
    assert table["id"].to_pylist() == [str(i) for i in range(400)]
    tacit(*predict, "-o", "p.csv", "--keep", "id", code=0)
    with Path("p.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["id"] for line in lines] == [str(i) for i in range(400)]
    assert [line["prediction"] for line in lines] == table["prediction"].to_pylist()
    tacit(*predict, "-o", "q.csv", "--keep", "idd", code=2)


def test_a_dash_is_a_stream_on_both_sides(fitted: Path, folder: Path, tacit: Run) -> None:
    tacit("predict", fitted / "model.json", "data.csv", "-o", "p.csv", code=0)
    result = subprocess.run(
        [*COMMAND, "predict", str(fitted / "model.json"), "-", "-o", "-"],
        input=Path("data.csv").read_bytes(), capture_output=True, check=True, env=dict(os.environ),
    )  # fmt: skip
    assert result.stdout == Path("p.csv").read_bytes()
    tacit("predict", fitted / "model.json", "data.csv", "-o", "-", "--json", code=2)


def test_the_model_remembers_target_data_and_descriptions(folder: Path, tacit: Run) -> None:
    schema = Path("schema.toml").read_text().replace("lower = 18", 'lower = 18\ndescription = "in years"')
    Path("schema.toml").write_text(schema)
    tacit(*FIT, "--name", "Shop 2026", code=0)
    certificate = json.loads(Path("m.json").read_text())["certificate"]
    assert (certificate["target"], certificate["data"]) == ("bought", "Shop 2026")
    tacit("report m.json", code=0)
    page = Path("m.html").read_text()
    assert "<h1>A private model of bought: no or yes</h1>" in page
    assert "in years" in page
    assert "Shop 2026" in page


def test_every_parameter_can_be_set(folder: Path, tacit: Run) -> None:
    tacit(*FIT, "--interactions", "false", "--set", 'class_weight={"no": 1, "yes": 2}', code=0)
    said = json.loads(Path("m.json").read_text())["certificate"]["parameters"]
    assert said["interactions"] is False
    assert said["class_weight"] == {"mapping": [["no", 1], ["yes", 2]]}
    trees = (*FIT, "--force", "--learner", "trees", "--set")
    tacit(*trees, "nonsense=1", code=2, says="no parameter 'nonsense'")
    for wrong in ("epsilon=2", "no_equals"):
        tacit(*trees, wrong, code=2)


@pytest.mark.parametrize(
    "line",
    [
        ("verify", "m.json", "--model", "--json"),
        ("predict", "m.json", "data.csv", "-o", "--json"),
        (*FIT, "--name", "--json"),
    ],
)
def test_an_option_is_not_taken_for_another_ones_value(line: tuple[str, ...], folder: Path, tacit: Run) -> None:
    result = tacit(*line, code=2)
    assert f"{line[-1]} is an option" in " ".join((result.stdout + result.stderr).split())
    assert not Path(line[-1]).exists()
    if line[-1] == "--json":
        assert result.json["error"]["kind"] == "usage"
