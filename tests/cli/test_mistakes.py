"""Public mistakes: one message that names the culprit and says what was spent, exit code 2, no traceback, no file."""

from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tacit import PrivacyAccount
from tacit.cli.console import visible
from tests.cli.conftest import Run

FIT = ("fit", "data.csv", "--schema", "schema.toml", "--model", "out.json")


def refused(result: Any, *words: str, code: int = 2, spends: bool = True) -> str:
    """The one message of a refusal; it says what was spent if the command can spend, and only then."""
    assert result.exit_code == code, result.output
    message: str = result.stderr
    assert message.startswith("error: ")
    assert message.count("error: ") == 1
    assert "Traceback" not in result.output
    assert (" spent" in message) is spends, message
    assert not Path("out.json").exists()
    for word in words:
        assert word in message, message
    return message


def edited(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


def written(folder: Path, fitted: Path) -> None:
    """Files beside the data, most of them spoiled."""
    text, schema = (folder / "data.csv").read_text(), (folder / "schema.toml").read_text()
    model = json.loads((fitted / "model.json").read_text())
    damaged = {**model, "model": {name: part for name, part in model["model"].items() if name != "intercept"}}
    texts = {
        "upper.csv": text.replace("age,colour", "AGE,colour"), "empty.csv": "", "indexed.csv": ",age,bought\n0,30,0\n",
        "sold.csv": text.replace("bought", "sold"), "twice.csv": text.replace("bought", "bought,bought"),
        "text.parquet": text, "text.csv.gz": text, "one.csv": "age\n40\n",
        "bare.toml": schema[schema.index("[columns.age]") :], "aeg.toml": schema.replace("columns.age", "columns.aeg"),
        "turned.toml": schema.replace("upper = 90", "upper = 9"), "broken.toml": "[label",
        "newer.json": json.dumps({**model, "version": model["version"] + 1}), "damaged.json": json.dumps(damaged),
        "unclaimed.json": json.dumps({**damaged, "certificate": None}), "m.json": json.dumps(model),
        **{f"none{place}.json": text for place, text in enumerate(("", "{", "[]", '{"format": "x"}', "\x00\x01"))},
    }  # fmt: skip
    for name, each in texts.items():
        (folder / name).write_text(each)
    whole = gzip.compress(text.encode())
    (folder / "half.csv.gz").write_bytes(whole[: len(whole) // 2])
    lists = {"age": [["a"], ["b"]], "colour": ["red", "green"], "bought": ["no", "yes"]}
    parquet.write_table(pa.table(lists), folder / "lists.parquet")
    (folder / "parts").mkdir()
    os.mkfifo(folder / "pipe")
    shop = PrivacyAccount.create("sqlite:///b.db", "shop", 0.5, 1e-6, "replace_one")
    assert shop.spent == 0


USUAL = "fit data.csv --schema schema.toml --model out.json"
PAID = "--account sqlite:///b.db --dataset shop"
MISTAKES = {
    "fit data.csv --schema bare.toml --model out.json --target bougth": ("bougth", "bought"),
    f"{USUAL} --target colour": ("'colour'", "'bought'"),
    "fit data.csv --model out.json": ("--target",),
    "fit data.csv --schema aeg.toml --model out.json": ("'aeg'", "age"),
    "fit upper.csv --schema schema.toml --model out.json": ("did you mean 'AGE'?",),
    "fit data.csv --schema turned.toml --model out.json": ("'age'", "lower"),
    "fit data.csv --schema broken.toml --model out.json": ("broken.toml",),
    "fit data.csv --schema none.toml --model out.json": ("none.toml",),
    **{f"{USUAL} --epsilon {epsilon}": ("epsilon",) for epsilon in ("0", "nan")},
    **{f"{USUAL} --delta {delta}": ("delta",) for delta in ("1", "-0.1")},
    f"{USUAL} --random-state -3": ("random_state",),
    "fit data.csv --schema schema.toml": ("--model",),
    "fit data.csv --schema schema.toml --model nowhere/out.json": ("--model", "nowhere"),
    "fit data.csv --schema schema.toml --model data.csv": ("the data",),
    "fit data.csv --schema schema.toml --model ./schema.toml": ("the schema",),
    f"{USUAL} --report .": ("--report",),
    f"{USUAL} --report out.json": ("--report", "what --model writes"),
    f"{USUAL} --account sqlite:///b.db": ("--dataset",),  # before any file is read
    "fit data.csv --schema turned.toml --model out.json --account sqlite:///b.db": ("--dataset",),
    "fit upper.csv --schema schema.toml --dry-run": ("did you mean 'AGE'?",),
    "fit sold.csv --schema schema.toml --dry-run": ("sold.csv has no column 'bought'",),
    "fit twice.csv --schema schema.toml --dry-run": ("two columns named 'bought'",),
    "fit gone.csv --schema schema.toml --dry-run": ("gone.csv does not exist",),
    "fit data.csv --schema schema.toml --dry-run --unit person": ("data.csv has no column 'person'",),
    f"{USUAL} --set interactions={'[' * 9000}": (),
    "fit dta.csv --schema schema.toml --model out.json": ("dta.csv does not exist",),
    "fit empty.csv --schema schema.toml --model out.json": ("empty.csv", "empty"),
    "fit half.csv.gz --schema schema.toml --model out.json": ("half.csv.gz", "truncated"),
    "fit lists.parquet --schema schema.toml --model out.json": ("'age'",),
    "fit text.parquet --schema schema.toml --model out.json": ("text.parquet", "Parquet"),
    "fit text.csv.gz --schema schema.toml --model out.json": ("text.csv.gz", "gzip"),
    "fit indexed.csv --target bought --model out.json": ("no name", "index"),
    f"{USUAL} --classes no,yes": ("--classes", "declares it"),
    f"{USUAL} --target-bounds 0,1": ("--target-bounds",),
    f"{USUAL} --quantile 0.9": ("--quantile", "--loss quantile"),
    f"{USUAL} --account sqlite:///gone.db --dataset shop": ("gone.db",),
    f"{USUAL} {PAID}": ("replace_one", "add_or_remove_one"),
    f"{USUAL} {PAID} --neighbouring replace_one --epsilon 1": ("0.5",),
    f"budget create {PAID} --epsilon 1 --delta 0": ("shop",),
    **{f"{USUAL} {option} pipe": (option, "pipe") for option in ("--report", "--certificate")},
    "check parts --schema schema.toml": ("parts holds no files of rows; they end in",),
    "check parts/*.csv --schema schema.toml": ("no file matches 'parts/*.csv'",),
    **{f"{command} newer.json{rest}": ("newer.json", "newer")
       for command, rest in (("predict", " data.csv -o p.csv"), ("report", ""), ("verify", ""))},
    **{f"predict none{place}.json data.csv -o p.csv": (f"none{place}.json",) for place in range(5)},
    **{f"report none{place}.json": (f"none{place}.json",) for place in range(5)},
    "predict damaged.json data.csv -o p.csv": ("the certificate belongs to another",),
    "predict unclaimed.json data.csv -o p.csv": ("damaged", "intercept"),
    "predict m.json one.csv -o p.csv": ("colour",),
    "predict m.json data.csv -o data.csv": ("overwrite",),
    "predict data.csv data.csv -o p.csv": ("it is not valid JSON (line 1).\n",),
    "verify data.csv": ("it is not valid JSON (line 1).\n",),
}  # fmt: skip
"""Command lines, and words of the one message."""


def test_a_mistake_is_one_message(folder: Path, fitted: Path, tacit: Run) -> None:
    written(folder, fitted)
    before = {path.name for path in folder.iterdir()}
    for line, words in MISTAKES.items():
        code = 4 if "damaged.json" in line else 3 if "--epsilon 1" in line and line.startswith("fit") else 2
        refused(tacit(line), *words, code=code, spends=line.startswith("fit"))
        assert {path.name for path in folder.iterdir()} <= before | {"b.db.key"}, line
    assert Path("pipe").is_fifo()
    account = PrivacyAccount("sqlite:///b.db", "shop")
    assert (account.spent, account.reservations()) == (0, ())


def test_dry_run_reads_names_as_the_fit_would(folder: Path, tacit: Run) -> None:
    Path("data.csv").write_bytes(Path("data.csv").read_text().replace("colour", "größe").encode("latin-1"))
    dry = ("fit", "data.csv", "--dry-run", "--target")
    refused(tacit(*dry, "bought"), "give its encoding, such as windows-1252")
    result = tacit(*dry, "bought", "--encoding", "latin-1", "--json")
    assert json.loads(result.output)["columns"] == ["age", "größe", "id"]
    refused(tacit(*dry, "BOUGHT", "--encoding", "latin-1"), "did you mean 'bought'?")


def test_a_full_disk_names_the_file(folder: Path, tacit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result = tacit("fit data.csv --schema schema.toml --learner trees --certificate paid.json", code=2)
    assert result.stderr.startswith("error: paid.json: No space left on device. The fit was done"), result.stderr


UNREAD = {
    (*FIT, "--epsilon", "0,5"): "--epsilon: '0,5' is not a number, such as 0.5",
    (*FIT, "--epsilon", ""): "--epsilon: '' is not a number, such as 0.5",
    (*FIT, "--epsilon", "1e400"): "--epsilon: 1e400 is too large; inf means no noise and no privacy",
    (*FIT, "--delta", "small"): "--delta: 'small' is not a number, such as 0.5",
    (*FIT, "--neighbouring", "swap"): "--neighbouring: 'swap' is not one of 'add_or_remove_one', 'replace_one'",
    (*FIT, "--random-state", "1.5"): "--random-state: '1.5' is not a whole number, such as 3",
    (*FIT, "--plan", "nowhere.toml"): "--plan: nowhere.toml: No such file or directory",
    (*FIT, "--epsilom", "1"): "no such option: --epsilom (Possible options: --epsilon); see tacit fit -h",
    (*FIT, "more.csv"): "got unexpected extra argument(s) (more.csv); see tacit fit -h",
    ("predict", "m", "d.csv", "-o", "o", "--threshold", "high"): "--threshold: 'high' is not a number, such as 0.5",
    ("plan", "--rows", "ten"): "--rows: 'ten' is not a whole number, such as 3",
    ("export", "m.json", "--to", "pdf"): "--to: 'pdf' is not one of 'sql', 'onnx', 'json-schema', 'excel'",
    ("export", "m.json"): "missing option '--to'. Choose from: sql, onnx, json-schema, excel; see tacit export -h",
    ("explain", "m.json", "d.csv", "--row", "0"): "--row: '0' is too small: give 1 or more",
    ("predict", "m.json"): "missing argument 'data'; see tacit predict -h",
    ("budget", "create", "--dataset"): "option '--dataset' requires an argument",
    ("budget", "destroy"): "no such command 'destroy'; see tacit budget -h",
    ("fitt",): "no such command 'fitt'",
    ("erasure", "m.json"): "missing option '--sign'; see tacit erasure -h",
}
"""Command lines that cannot be read, and the whole of what is said of them."""


@pytest.mark.parametrize("line", UNREAD, ids=lambda line: " ".join(line[:1] + line[-2:]))
def test_a_command_line_that_cannot_be_read_is_one_line(folder: Path, tacit: Run, line: tuple[str, ...]) -> None:
    """In plain text, and as JSON; a number that overflows is not taken for ``inf``, which means no privacy."""
    spends = line[0] in ("fit", "plan")
    said = refused(tacit(*line), spends=spends)
    assert said.startswith(f"error: {UNREAD[line]}"), said
    assert said.count("\n") == 1
    assert said.endswith(". Nothing was spent.\n" if spends else ".\n")
    in_json = tacit(*line, "--json")
    if line[-1] != "--dataset":
        message = said.removeprefix("error: ").rstrip("\n")
        assert in_json.json == {"error": {"kind": "usage", "exit_code": 2, "message": message}}


def test_a_command_without_arguments_shows_its_help(tacit: Run) -> None:
    for line in ((), ("budget",)):
        result = tacit(*line, code=2, says="Usage:")
        assert "error" not in result.stderr


def test_what_rows_hold_is_no_mistake(folder: Path, tacit: Run) -> None:
    """Unknown labels, one class, texts among numbers, no row at all: there is a model, if need be the prior."""
    contents = (
        "age,colour,bought\n40,red,maybe\n",
        "age,colour,bought\nold,red,yes\n1e99,green,yes\n",
        "age,colour,bought\n",
    )
    for text in contents:
        Path("data.csv").write_text(text)
        tacit(*FIT, code=0)
        assert Path("out.json").exists()
        Path("out.json").unlink()


def test_links_are_followed(folder: Path, tacit: Run) -> None:
    Path("kept").mkdir()
    Path("out.json").symlink_to(Path("kept") / "model.json")
    Path("report.html").symlink_to(Path("kept") / "report.html")
    tacit(*FIT, "--report", "report.html", code=0)
    assert Path("out.json").is_symlink()
    assert sorted(path.name for path in Path("kept").iterdir()) == ["model.json", "report.html"]


def test_a_terminal_that_lacks_a_character_hides_nothing(folder: Path) -> None:
    """What was paid for is shown, if need be as \\u0142, and nobody is told that nothing was spent."""
    Path("data.csv").write_text(Path("data.csv").read_text().replace("colour", "p\u0142e\u0107", 1))
    edited("schema.toml", "columns.colour", 'columns."p\u0142e\u0107"')
    command = [sys.executable, "-c", "from tacit.cli.main import main; main()", *FIT, "--epsilon", "20"]
    result = subprocess.run(
        command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "latin-1"}, check=False
    )
    assert result.returncode == 0, result.stderr
    assert b"spent" in result.stdout
    assert b"Nothing was spent" not in result.stderr


def test_all_options_that_are_wrong_are_said_at_once(folder: Path, tacit: Run) -> None:
    line = "fit nofile.csv --schema none.toml --epsilon -1 --delta 3 --set n_treees=4 --model none/x.json"
    said = refused(
        tacit(f"{line} --report none/y.html --sign none.key"),
        "7 problems:", "--model: the folder none", "--report: the folder none", "none.toml: cannot be read",
        "epsilon must be", "delta must be", "no parameter 'n_treees'", "nofile.csv does not exist", "none.key",
    )  # fmt: skip
    assert said.count("spent") == 1
    refused(tacit("plan --schema none.toml --delta 2 --rows -4"), "3 problems:", "--rows", "delta")
    checked = tacit("check nofile.csv --schema none.toml")
    refused(checked, "2 problems:", "none.toml", "nofile.csv", spends=False)
    assert "problems" not in refused(tacit("fit nofile.csv --schema schema.toml --model out.json"))


HOSTILE = "\x1b[2J\x1b[31mowned\x1b]0;title\x07\x9b31m\u202eright to left\x08\x7f\x85"


def test_no_name_speaks_to_the_terminal(folder: Path, tacit: Run) -> None:
    """Words of other parties and of files are shown as escapes, in messages, tables and findings."""
    assert visible("né\tz\n\x1b[2J\r\u202e") == "né\tz\n\\x1b[2J\\r\\u202e"
    PrivacyAccount.create("b.db", "d", 1.0, 0.0).note(f"joined {HOSTILE}")
    edited("schema.toml", "[columns.colour]", f"[columns.{json.dumps(HOSTILE)}]")
    shown = [tacit("budget show --account b.db --dataset d"), tacit(*FIT)]
    edited("data.csv", "colour", f'"{HOSTILE}"')
    shown.append(tacit("check data.csv --schema schema.toml"))
    for result in shown:
        assert all(sign.isprintable() or sign == "\n" for sign in result.output)
        assert "owned" in result.output
    assert [result.exit_code for result in shown] == [0, 2, 0]
