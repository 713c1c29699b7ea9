"""`tacit fit` from folders, patterns and databases: the model of the file in memory, and mistakes in one sentence."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

import distributed
import pytest

from tests.cli.conftest import Run

SAME = ("--schema", "schema.toml", "--random-state", "1", "--epsilon", "2")


def model(path: Path) -> Any:
    written = json.loads(path.read_text())
    return {key: value for key, value in written.items() if key != "certificate"}


@pytest.fixture
def expected(folder: Path, tacit: Run) -> Any:
    """The model of the file in memory."""
    tacit("fit data.csv", *SAME, "--model", "usual.json", code=0)
    return model(folder / "usual.json")


def cut(folder: Path) -> None:
    """The file in three, the last one compressed."""
    head, *lines = (folder / "data.csv").read_text().splitlines()
    (folder / "rows").mkdir()
    for number, part in enumerate((lines[:7], lines[7:300], lines[300:])):
        text = "\n".join([head, *part]) + "\n"
        if number < 2:
            (folder / "rows" / f"{number}.csv").write_text(text)
        else:
            (folder / "rows" / f"{number}.csv.gz").write_bytes(gzip.compress(text.encode()))


def filled(folder: Path) -> str:
    head, *lines = (folder / "data.csv").read_text().splitlines()
    with sqlite3.connect(folder / "rows.db") as connection:
        connection.execute(f"CREATE TABLE people ({head})")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", [line.split(",") for line in lines])
    return f"sqlite:///{folder / 'rows.db'}"


def test_every_place_gives_the_model_of_the_file(folder: Path, tacit: Run, expected: Any) -> None:
    cut(folder)
    ways = [
        ("rows",),
        ("rows/*.csv*",),
        ("data.csv", "--engine", "streamed", "--directory", "files"),
        ("data.csv", "--engine", "memory"),
        (filled(folder), "--query", "people"),
        (filled_again(folder), "--query", "SELECT age, colour, bought FROM people"),
    ]
    for number, way in enumerate(ways):
        tacit("fit", *way, *SAME, "--model", f"{number}.json", code=0)
        assert model(folder / f"{number}.json") == expected
    assert list((folder / "files").iterdir()) == []


def test_a_cluster_gives_the_model_of_the_file(folder: Path, tacit: Run, expected: Any) -> None:
    cut(folder)
    with distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=None) as there:
        way = ("rows", "--engine", "dask", "--cluster", there.scheduler_address)
        result = tacit("fit", *way, *SAME, "--model", "there.json")
    assert result.exit_code == 0, result.output
    assert model(folder / "there.json") == expected


def filled_again(folder: Path) -> str:
    return f"sqlite:///{folder / 'rows.db'}"


def test_kept_files_stay(folder: Path, tacit: Run, expected: Any) -> None:
    cut(folder)
    for number in (1, 2):
        out = f"{number}.json"
        tacit("fit rows", *SAME, "--directory", "kept", "--keep", "--model", out, code=0)
        assert model(folder / out) == expected
    assert len(list((folder / "kept").iterdir())) == 1


MISTAKES = {
    "rows": (("rows",), "needs a --schema"),
    "no query": (("sqlite:///rows.db", "--schema", "schema.toml"), "needs a query"),
    "query of a file": (("data.csv", "--query", "people", "--schema", "schema.toml"), "a query is for a database"),
    "no file": (("nothing/*.csv", "--schema", "schema.toml"), "no file matches"),
    "keep": (("data.csv", "--schema", "schema.toml", "--keep"), "add --engine streamed"),
    "keep nowhere": (("rows", "--schema", "schema.toml", "--keep"), "needs the directory"),
    "cluster": (("data.csv", "--schema", "schema.toml", "--cluster", "tcp://1.2.3.4:5"), "--engine dask runs"),
    "no cluster": (
        ("rows", "--schema", "schema.toml", "--engine", "dask", "--cluster", "none"),
        "no scheduler at none",
    ),
    "engine": (("data.csv", "--schema", "schema.toml", "--engine", "fast"), "is not one of 'memory'"),
    "batches": (("rows", "--schema", "schema.toml", "--batches"), "files in memory"),
}


@pytest.mark.parametrize("name", list(MISTAKES))
def test_mistakes_are_one_sentence_and_cost_nothing(name: str, folder: Path, tacit: Run) -> None:
    cut(folder)
    arguments, words = MISTAKES[name]
    label = () if "--schema" in arguments else ("--target", "bought", "--classes", "no,yes")
    result = tacit("fit", *arguments, *label, "--model", "out.json", code=2, says=words)
    assert "Traceback" not in result.output
    assert not (folder / "out.json").exists()


def test_a_dry_run_of_a_folder_reads_names_alone(folder: Path, tacit: Run) -> None:
    cut(folder)
    dry = ("fit", "rows", "--schema", "schema.toml", "--dry-run", "--json")
    header = (folder / "rows" / "1.csv").read_text().splitlines()[0]
    (folder / "rows" / "1.csv").write_text(f"{header}\n1,2\n")
    result = tacit(*dry, code=0)
    assert json.loads(result.output)["columns"] == ["age", "colour"]
    (folder / "rows" / "1.csv").write_text(f"{header.replace('colour', 'color')}\n1,2,3\n")
    result = tacit(*dry, code=2)
    assert "1.csv has no column 'colour'; did you mean 'color'?" in json.loads(result.output)["error"]["message"]
    result = tacit(*dry, "--unit", "id")
    assert "1.csv has no column 'colour'; did you mean 'color'?" in json.loads(result.output)["error"]["message"]
    result = tacit(*dry, "--unit", "id", "--engine", "streamed", code=2)
    assert "the schema declares a unit, and rows" in json.loads(result.output)["error"]["message"]


def test_a_folder_is_checked_evaluated_and_discovered_as_its_rows_in_one_file(
    folder: Path, tacit: Run, expected: Any
) -> None:
    cut(folder)
    said: dict[str, list[Any]] = {"data.csv": [], "rows": [], "rows/*": []}
    for data, found in said.items():
        for command in (
            ("check", data, "--schema", "schema.toml", "--json"),
            ("evaluate", "usual.json", data, "--epsilon", "1", "--random-state", "1", "--json"),
        ):
            result = tacit(*command, code=0)
            found.append(result.json)
        discover = f"schema discover {data} --target bought --epsilon 9 --random-state 1 --force -o found.toml"
        tacit(discover, code=0)
        found.append(Path("found.toml").read_text())
    assert said["rows"] == said["rows/*"] == said["data.csv"]


def test_a_folder_is_read_into_memory_where_a_person_has_several_rows(folder: Path, tacit: Run) -> None:
    data = (folder / "data.csv").read_text()
    for number in range(2):  # a person is in both files
        (folder / "data.csv").write_text(data)
        (folder / "many").mkdir(exist_ok=True)
        (folder / f"many/{number}.csv").write_bytes(data.replace("\n", ("\n", "\r\n")[number]).encode())
    (folder / "data.csv").write_text(data + data.partition("\n")[2])
    unit = ("--unit", "id", "--max-rows", "1", "--interactions", "false")
    for place, name in (("data.csv", "one.json"), ("many", "folder.json")):
        tacit("fit", place, *SAME, *unit, "--model", name, code=0)
        tacit("fit", place, *SAME, *unit, "--dry-run", code=0)
    assert model(folder / "folder.json") == model(folder / "one.json")
    refused = tacit("fit many", *SAME, *unit, "--engine", "streamed", "--model", "no.json")
    assert "rows that are read in chunks are protected one by one: read them into one table" in " ".join(
        refused.stderr.split()
    )
    (folder / "many/2.csv").write_text("age,bought\n1,no\n")
    assert "many/2.csv has no column 'colour'" in tacit("check many --schema schema.toml").stderr
