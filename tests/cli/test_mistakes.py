"""Public mistakes: one message that names the culprit and says what was spent, exit code 2, no traceback, no file."""

from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit import PrivacyAccount
from tacit.cli.console import visible

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


def test_target_that_is_no_column(folder: Path, tacit: Callable[..., Any]) -> None:
    Path("schema.toml").write_text(
        Path("schema.toml").read_text().split("[columns.age]")[1].join(["[columns.age]", ""])
    )
    refused(tacit(*FIT, "--target", "bougth"), "bougth", "bought")


def test_target_that_is_not_the_label(folder: Path, tacit: Callable[..., Any]) -> None:
    refused(tacit(*FIT, "--target", "colour"), "'colour'", "'bought'")


def test_no_target_at_all(folder: Path, tacit: Callable[..., Any]) -> None:
    refused(tacit("fit", "data.csv", "--model", "out.json"), "--target")


def test_missing_column(folder: Path, tacit: Callable[..., Any]) -> None:
    edited("schema.toml", "columns.age", "columns.aeg")
    refused(tacit(*FIT), "'aeg'", "age")


def test_column_in_other_letters(folder: Path, tacit: Callable[..., Any]) -> None:
    edited("data.csv", "age,colour", "AGE,colour")
    refused(tacit(*FIT), "did you mean 'AGE'?")


def test_folder_and_pattern_without_rows(folder: Path, tacit: Callable[..., Any]) -> None:
    (folder / "parts").mkdir()
    refused(
        tacit("check", "parts", "--schema", "schema.toml"), "parts holds no files of rows; they end in", spends=False
    )
    refused(tacit("check", "parts/*.csv", "--schema", "schema.toml"), "no file matches 'parts/*.csv'", spends=False)


def test_dry_run_reads_names_as_the_fit_would(folder: Path, tacit: Callable[..., Any]) -> None:
    Path("data.csv").write_bytes(Path("data.csv").read_text().replace("colour", "größe").encode("latin-1"))
    dry = ("fit", "data.csv", "--dry-run", "--target")
    refused(tacit(*dry, "bought"), "give its encoding, such as windows-1252")
    done = tacit(*dry, "bought", "--encoding", "latin-1", "--json")
    assert json.loads(done.output)["columns"] == ["age", "größe", "id"]
    refused(tacit(*dry, "BOUGHT", "--encoding", "latin-1"), "did you mean 'bought'?")


def test_dry_run_looks_for_the_columns_of_the_schema(folder: Path, tacit: Callable[..., Any]) -> None:
    dry = ("fit", "data.csv", "--schema", "schema.toml", "--dry-run")
    assert tacit(*dry).exit_code == 0
    edited("data.csv", "age,colour", "AGE,colour")
    refused(tacit(*dry), "did you mean 'AGE'?")
    edited("data.csv", "AGE,colour", "age,colour")
    edited("data.csv", "bought", "sold")
    refused(tacit(*dry), "data.csv has no column 'bought'")
    edited("data.csv", "sold", "bought,bought")
    refused(tacit(*dry), "two columns named 'bought'")
    refused(tacit("fit", "gone.csv", *dry[2:]), "gone.csv does not exist")


def test_dry_run_looks_for_the_column_of_the_unit(folder: Path, tacit: Callable[..., Any]) -> None:
    dry = ("fit", "data.csv", "--schema", "schema.toml", "--dry-run", "--unit")
    done = tacit(*dry, "id")
    assert done.exit_code == 0
    assert "one id, at most one row" in done.stdout
    refused(tacit(*dry, "person"), "data.csv has no column 'person'")


def test_a_full_disk_names_the_file(folder: Path, tacit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = tacit("fit", "data.csv", "--schema", "schema.toml", "--learner", "trees", "--certificate", "paid.json")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: paid.json: No space left on device. The fit was done"), done.stderr


def test_bounds_reversed(folder: Path, tacit: Callable[..., Any]) -> None:
    edited("schema.toml", "upper = 90", "upper = 9")
    refused(tacit(*FIT), "'age'", "lower")


def test_schema_that_is_no_toml(folder: Path, tacit: Callable[..., Any]) -> None:
    Path("schema.toml").write_text("[label")
    refused(tacit(*FIT), "schema.toml")


def test_schema_that_is_not_there(folder: Path, tacit: Callable[..., Any]) -> None:
    refused(tacit("fit", "data.csv", "--schema", "none.toml", "--model", "out.json"), "none.toml")


@pytest.mark.parametrize("epsilon", ["0", "nan"])
def test_epsilon_that_is_not_positive(folder: Path, tacit: Callable[..., Any], epsilon: str) -> None:
    refused(tacit(*FIT, "--epsilon", epsilon), "epsilon")


@pytest.mark.parametrize("delta", ["1", "-0.1"])
def test_delta_out_of_range(folder: Path, tacit: Callable[..., Any], delta: str) -> None:
    refused(tacit(*FIT, "--delta", delta), "delta")


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
def test_a_command_line_that_cannot_be_read_is_one_line(
    folder: Path, tacit: Callable[..., Any], line: tuple[str, ...]
) -> None:
    """In plain text, and as JSON; a number that overflows is not taken for ``inf``, which means no privacy."""
    spends = line[0] in ("fit", "plan")
    said = refused(tacit(*line), spends=spends)
    assert said.startswith(f"error: {UNREAD[line]}"), said
    assert said.count("\n") == 1
    assert said.endswith(". Nothing was spent.\n" if spends else ".\n")
    in_json = tacit(*line, "--json")
    if line[-1] != "--dataset":
        assert json.loads(in_json.stdout)["error"]["message"] == said.removeprefix("error: ").rstrip("\n")


def test_a_command_without_arguments_shows_its_help(tacit: Callable[..., Any]) -> None:
    for line in ((), ("budget",)):
        done = tacit(*line)
        assert done.exit_code == 2
        assert "Usage:" in done.output
        assert "error" not in done.stderr


def test_negative_seed(folder: Path, tacit: Callable[..., Any]) -> None:
    refused(tacit(*FIT, "--random-state", "-3"), "random_state")


def test_file_that_is_not_there(folder: Path, tacit: Callable[..., Any]) -> None:
    refused(tacit("fit", "dta.csv", "--schema", "schema.toml", "--model", "out.json"), "dta.csv")


def test_empty_file(folder: Path, tacit: Callable[..., Any]) -> None:
    Path("data.csv").write_text("")
    refused(tacit(*FIT), "data.csv", "empty")


def test_truncated_gz(folder: Path, tacit: Callable[..., Any]) -> None:
    whole = gzip.compress(Path("data.csv").read_bytes())
    Path("data.csv.gz").write_bytes(whole[: len(whole) // 2])
    refused(tacit("fit", "data.csv.gz", *FIT[2:]), "data.csv.gz", "truncated")


def test_parquet_with_a_wrong_dtype(folder: Path, tacit: Callable[..., Any]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns = {"age": [["a"], ["b"]], "colour": ["red", "green"], "bought": ["no", "yes"]}
    parquet.write_table(pa.table(columns), "data.parquet")
    refused(tacit("fit", "data.parquet", *FIT[2:]), "'age'")


def test_files_that_are_not_what_their_name_says(folder: Path, tacit: Callable[..., Any]) -> None:
    for name, what in (("data.parquet", "Parquet"), ("data.csv.gz", "gzip")):
        Path(name).write_text(Path("data.csv").read_text())
        refused(tacit("fit", name, *FIT[2:]), name, what)


def test_a_column_without_a_name(folder: Path, tacit: Callable[..., Any]) -> None:
    Path("indexed.csv").write_text(",age,bought\n0,30,0\n1,40,1\n")
    refused(tacit("fit", "indexed.csv", "--target", "bought", "--model", "out.json"), "no name", "index")


def test_outputs_that_cannot_be_written(folder: Path, tacit: Callable[..., Any]) -> None:
    refused(tacit(*FIT[:-1], "nowhere/out.json"), "--model", "nowhere")
    refused(tacit(*FIT, "--report", "."), "--report")
    refused(tacit(*FIT, "--report", "out.json"), "--report", "what --model writes")
    refused(tacit(*FIT[:-1], "data.csv"), "the data")
    refused(tacit(*FIT[:-1], "./schema.toml"), "the schema")
    refused(tacit(*FIT[:4]), "--model")
    assert Path("data.csv").read_text().startswith("age,colour")


@pytest.mark.parametrize("force", [False, True])
def test_a_model_that_another_fit_wrote_meanwhile_is_kept(
    folder: Path, tacit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, force: bool
) -> None:
    """Two fits into one file, both of which were paid for: the later one had overwritten the earlier."""
    import tacit.cli.fit as command

    monkeypatch.setattr(command, "_key", lambda _: Path("m.json").write_text("of another fit") and None)
    done = tacit(*FIT[:-1], "m.json", "--json", *(["--force"] if force else []))
    place = "m.json" if force else "m-2.json"
    assert json.loads(done.stdout)["written"]["model"] == place
    assert json.loads(Path(place).read_text())["format"] == "tacit model"
    assert (Path("m.json").read_text() == "of another fit") is not force


@pytest.mark.parametrize("option", ["--model", "--report", "--certificate"])
@pytest.mark.parametrize("ending", ["", "-wal"])
def test_outputs_that_would_destroy_the_account(
    folder: Path, tacit: Callable[..., Any], option: str, ending: str
) -> None:
    account = ("--account", "sqlite:///b.tacit.db", "--dataset", "d")
    assert tacit("budget", "create", *account, "--epsilon", "2", "--delta", "0").exit_code == 0
    asked = ("fit", "data.csv", "--schema", "schema.toml", "--epsilon", "1", "--delta", "0")
    refused(tacit(*asked, option, f"b.tacit.db{ending}", *account), option, "the account")
    assert "spent" in tacit("budget", "show", *account).output
    found = ("schema", "discover", "data.csv", "--target", "bought", "--epsilon", "1", "--delta", "0")
    refused(tacit(*found, "--force", "-o", f"b.tacit.db{ending}", *account), "the account")
    assert tacit("fit", "data.csv", "--schema", "schema.toml", "--epsilon", "1", "--model", "m.json").exit_code == 0
    asked = ("evaluate", "m.json", "data.csv", "--target", "bought", "--epsilon", "1", "--certificate")
    refused(tacit(*asked, f"b.tacit.db{ending}", *account), "the account")


def test_outputs_that_would_destroy_what_they_are_made_of(folder: Path, tacit: Callable[..., Any]) -> None:
    assert tacit(*FIT[:-1], "m.json", "--epsilon", "1").exit_code == 0
    kept = Path("m.json").read_text()
    refused(tacit("report", "m.json", "-o", "m.json"), "the model", spends=False)
    refused(tacit("predict", "m.json", "data.csv", "-o", "m.json"), "the model", spends=False)
    assert Path("m.json").read_text() == kept
    refused(
        tacit("schema", "init", "data.csv", "--target", "bought", "-o", "data.csv", "--force"),
        "the sample",
        spends=False,
    )
    assert Path("data.csv").read_text().startswith("age,colour")


def test_account_without_its_data_set(folder: Path, tacit: Callable[..., Any]) -> None:
    refused(tacit(*FIT, "--account", "sqlite:///b.tacit.db"), "--dataset")
    edited("schema.toml", "upper = 90", "upper = 9")  # what options alone tell comes before any file is read
    refused(tacit(*FIT, "--account", "sqlite:///b.tacit.db"), "--dataset")


def test_account_that_is_not_there(folder: Path, tacit: Callable[..., Any]) -> None:
    refused(tacit(*FIT, "--account", "sqlite:///b.tacit.db", "--dataset", "shop"), "b.tacit.db")


def test_exhausted_budget(folder: Path, tacit: Callable[..., Any]) -> None:
    account = ("--account", "sqlite:///b.tacit.db", "--dataset", "shop")
    assert tacit("budget", "create", *account, "--epsilon", "0.5", "--delta", "1e-6").exit_code == 0
    refused(tacit(*FIT, "--epsilon", "1", *account), "0.5", code=3)
    shown = json.loads(tacit("budget", "show", *account, "--json").stdout)
    assert shown["spent"] == 0
    assert shown["reservations"] == []


def test_account_of_another_relation(folder: Path, tacit: Callable[..., Any]) -> None:
    account = ("--account", "sqlite:///b.tacit.db", "--dataset", "shop")
    made = tacit("budget", "create", *account, "--epsilon", "5", "--delta", "1e-6", "--neighbouring", "replace_one")
    assert made.exit_code == 0
    refused(tacit(*FIT, *account), "replace_one", "add_or_remove_one")


def test_account_made_twice(folder: Path, tacit: Callable[..., Any]) -> None:
    account = ("--account", "sqlite:///b.tacit.db", "--dataset", "shop")
    create = ("budget", "create", *account, "--epsilon", "1", "--delta", "0")
    assert tacit(*create).exit_code == 0
    refused(tacit(*create), "shop", spends=False)


def test_model_from_a_newer_version(fitted: Path, folder: Path, tacit: Callable[..., Any]) -> None:
    model = json.loads((fitted / "model.json").read_text())
    model["version"] += 1
    Path("newer.json").write_text(json.dumps(model))
    for command in (
        ("predict", "newer.json", "data.csv", "-o", "p.csv"),
        ("report", "newer.json"),
        ("verify", "newer.json"),
    ):
        refused(tacit(*command), "newer.json", "newer", spends=False)
    assert not Path("p.csv").exists()
    assert not Path("newer.html").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "something"}', "\x00\x01"])
def test_model_that_is_none(folder: Path, tacit: Callable[..., Any], text: str) -> None:
    Path("m.json").write_text(text)
    refused(tacit("predict", "m.json", "data.csv", "-o", "p.csv"), "m.json", spends=False)
    refused(tacit("report", "m.json"), "m.json", spends=False)


def test_model_that_is_damaged(fitted: Path, folder: Path, tacit: Callable[..., Any]) -> None:
    model = json.loads((fitted / "model.json").read_text())
    del model["model"]["intercept"]
    Path("m.json").write_text(json.dumps(model))
    refused(
        tacit("predict", "m.json", "data.csv", "-o", "p.csv"),
        "the certificate belongs to another",
        code=4,
        spends=False,
    )
    Path("m.json").write_text(json.dumps({**model, "certificate": None}))
    refused(tacit("predict", "m.json", "data.csv", "-o", "p.csv"), "damaged", "intercept", spends=False)


def test_prediction_without_a_column(fitted: Path, folder: Path, tacit: Callable[..., Any]) -> None:
    Path("new.csv").write_text("age\n40\n")
    refused(tacit("predict", fitted / "model.json", "new.csv", "-o", "p.csv"), "colour", spends=False)
    assert not Path("p.csv").exists()


def test_prediction_over_its_input(fitted: Path, folder: Path, tacit: Callable[..., Any]) -> None:
    refused(tacit("predict", fitted / "model.json", "data.csv", "-o", "data.csv"), "overwrite", spends=False)


def test_what_rows_hold_is_no_mistake(folder: Path, tacit: Callable[..., Any]) -> None:
    """Unknown labels, one class, texts among numbers, no row at all: there is a model, if need be the prior."""
    contents = (
        "age,colour,bought\n40,red,maybe\n",
        "age,colour,bought\nold,red,yes\n1e99,green,yes\n",
        "age,colour,bought\n",
    )
    for text in contents:
        Path("data.csv").write_text(text)
        assert tacit(*FIT).exit_code == 0
        assert Path("out.json").exists()
        Path("out.json").unlink()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--classes", "no,yes"), ("--classes", "declares it")),
        (("--target-bounds", "0,1"), ("--target-bounds",)),
        (("--quantile", "0.9"), ("--quantile", "--loss quantile")),
    ],
)
def test_options_that_would_be_ignored(
    folder: Path, tacit: Callable[..., Any], options: tuple[str, str], words: tuple[str, ...]
) -> None:
    refused(tacit(*FIT, *options), *words)


def test_outputs_that_are_no_files(folder: Path, tacit: Callable[..., Any]) -> None:
    """Put in place of a device or a pipe, a file would be all that is left of it."""
    os.mkfifo("pipe")
    for option in ("--report", "--certificate"):
        refused(tacit(*FIT, option, "pipe"), option, "pipe")
    assert Path("pipe").is_fifo()


def test_links_are_followed(folder: Path, tacit: Callable[..., Any]) -> None:
    Path("kept").mkdir()
    Path("out.json").symlink_to(Path("kept") / "model.json")
    Path("report.html").symlink_to(Path("kept") / "report.html")
    done = tacit(*FIT, "--report", "report.html")
    assert done.exit_code == 0, done.output
    assert Path("out.json").is_symlink()
    assert sorted(path.name for path in Path("kept").iterdir()) == ["model.json", "report.html"]


def test_a_terminal_that_lacks_a_character_hides_nothing(folder: Path) -> None:
    """What was paid for is shown, if need be as \\u0142, and nobody is told that nothing was spent."""
    Path("data.csv").write_text(Path("data.csv").read_text().replace("colour", "p\u0142e\u0107", 1))
    edited("schema.toml", "columns.colour", 'columns."p\u0142e\u0107"')
    command = [sys.executable, "-c", "from tacit.cli.main import main; main()", *FIT, "--epsilon", "20"]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "latin-1"}, check=False)
    assert done.returncode == 0, done.stderr
    assert b"spent" in done.stdout
    assert b"Nothing was spent" not in done.stderr


def test_a_table_in_place_of_a_model(folder: Path, tacit: Callable[..., Any]) -> None:
    for command in (("predict", "data.csv", "data.csv", "-o", "p.csv"), ("verify", "data.csv")):
        done = tacit(*command)
        assert (done.exit_code, "it is not valid JSON (line 1).\n" in done.stderr) == (2, True), done


def test_all_options_that_are_wrong_are_said_at_once(folder: Path, tacit: Callable[..., Any]) -> None:
    said = refused(
        tacit("fit", "nofile.csv", "--schema", "none.toml", "--epsilon", "-1", "--delta", "3", "--set", "n_treees=4",
              "--model", "none/x.json", "--report", "none/y.html", "--sign", "none.key"),
        "7 problems:", "--model: the folder none", "--report: the folder none", "none.toml: cannot be read",
        "epsilon must be", "delta must be", "no parameter 'n_treees'", "nofile.csv does not exist", "none.key",
    )  # fmt: skip
    assert said.count("spent") == 1
    refused(tacit("plan", "--schema", "none.toml", "--delta", "2", "--rows", "-4"), "3 problems:", "--rows", "delta")
    checked = tacit("check", "nofile.csv", "--schema", "none.toml")
    refused(checked, "2 problems:", "none.toml", "nofile.csv", spends=False)
    assert "problems" not in refused(tacit("fit", "nofile.csv", "--schema", "schema.toml", "--model", "out.json"))


HOSTILE = "\x1b[2J\x1b[31mowned\x1b]0;title\x07\x9b31m\u202eright to left\x08\x7f\x85"


def test_no_name_speaks_to_the_terminal(folder: Path, tacit: Callable[..., Any]) -> None:
    """Words of other parties and of files are shown as escapes, in messages, tables and findings."""
    assert visible("né\tz\n\x1b[2J\r\u202e") == "né\tz\n\\x1b[2J\\r\\u202e"
    PrivacyAccount.create("b.db", "d", 1.0, 0.0).note(f"joined {HOSTILE}")
    edited("schema.toml", "[columns.colour]", f"[columns.{json.dumps(HOSTILE)}]")
    shown = [tacit("budget", "show", "--account", "b.db", "--dataset", "d"), tacit(*FIT)]
    edited("data.csv", "colour", f'"{HOSTILE}"')
    shown.append(tacit("check", "data.csv", "--schema", "schema.toml"))
    for result in shown:
        assert all(sign.isprintable() or sign == "\n" for sign in result.output)
        assert "owned" in result.output
    assert [result.exit_code for result in shown] == [0, 2, 0]


def test_a_value_that_is_nested_too_deeply_is_no_value(folder: Path, tacit: Callable[..., Any]) -> None:
    refused(tacit(*FIT, "--set", "interactions=" + "[" * 9000))
