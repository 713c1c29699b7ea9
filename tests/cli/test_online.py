"""`tacit online`: one charge for a stream of several files, on disk before its first row; outputs and refusals."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit import PrivacyAccount, Schema
from tacit.curator.streams.winnow import _Winnow
from tacit.models.files import load_with_schema
from tacit.online import Winnow
from tacit.online.suspended import read_secrets, write_secrets
from tests.cli.conftest import Run

ACCOUNT = ("--account", "sqlite:///a.db", "--dataset", "d")
BEGIN = ("--schema", "schema.toml", "--horizon", "1000", "--random-state", "3")


@pytest.fixture
def account(folder: Path, tacit: Run) -> Callable[[], float]:
    """What is left of an account of epsilon 5."""
    tacit("budget create", *ACCOUNT, "--epsilon", "5", "--delta", "1e-5", code=0)
    return lambda: float(PrivacyAccount("sqlite:///a.db", "d").remaining)


def stream(folder: Path) -> tuple[Winnow, Any, list[Any]]:
    """The learner that the command makes, and the rows, labels that are none as None."""
    learner = Winnow(2.0, horizon=1000, schema=str(folder / "schema.toml"), invalid="null", seed=3)
    frame = pd.read_csv(folder / "data.csv")
    return learner, frame[["age", "colour"]], [y if y in ("yes", "no") else None for y in frame["bought"]]


def predictions(path: Path) -> list[str]:
    return path.read_text().replace('"', "").split()[1:]


def test_a_stream_of_two_files_is_charged_once_and_learns_as_one(
    folder: Path, tacit: Run, account: Callable[[], float]
) -> None:
    lines = (folder / "data.csv").read_text().replace(",no,3\n", ",perhaps,3\n").splitlines(keepends=True)
    (folder / "data.csv").write_text("".join(lines))
    (folder / "one.csv").write_text("".join(lines[:151]))
    (folder / "two.csv").write_text("".join([lines[0], *lines[151:]]))
    outputs = ("--state", "s.json", "--predictions", "p.csv", "--model", "m.json", "--json")
    tacit("online one.csv", *BEGIN, "--epsilon", "2", *ACCOUNT, *outputs, code=0)
    left, before = account(), predictions(folder / "p.csv")
    assert left < 5
    second = tacit("online two.csv", *outputs, "--certificate", "c.json", "--force").json
    assert account() == left
    assert (second["rows"], second["rounds"], second["horizon"], second["epsilon"]) == (250, 400, 1000, 2.0)

    learner, rows, labels = stream(folder)
    assert learner.predict_then_learn(rows[:150], labels[:150]).tolist() == before
    with pytest.warns(UserWarning, match="secrets"):
        learner.suspend(folder / "mine.json")  # the noise of a seed begins anew where a stream goes on
    learner = Winnow.resume(folder / "mine.json")
    assert learner.predict_then_learn(rows[150:], labels[150:]).tolist() == predictions(folder / "p.csv")
    model, certificate, schema = load_with_schema(folder / "m.json")
    assert model.predict(rows).tolist() == learner.predict_many(rows).tolist()
    assert schema == Schema.from_toml(folder / "schema.toml")
    assert certificate is not None
    assert certificate == json.loads((folder / "c.json").read_text())
    assert certificate["schema_fingerprint"] == schema.fingerprint()
    assert (certificate["epsilon"], certificate["target"], certificate["releasable"]) == (2.0, "bought", False)
    tacit("verify m.json", code=0)
    for secret in ("s.json", "s.json.used", "p.csv", "m.json"):
        assert stat.S_IMODE((folder / secret).stat().st_mode) == 0o600


def test_the_charge_is_on_disk_before_a_row_is_taken(
    folder: Path, tacit: Run, account: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies at the first row has paid, and leaves no state."""
    left: list[float] = []

    def die(self: Any, *rows: Any) -> Any:
        left.append(account())
        raise KeyboardInterrupt

    monkeypatch.setattr(_Winnow, "feed", die)
    result = tacit("online data.csv", *BEGIN, "--epsilon", "2", *ACCOUNT, "--state", "s.json")
    assert (result.exit_code, len(left)) == (130, 1)
    assert left[0] < 5
    assert account() == left[0]
    assert not (folder / "s.json").exists()


CATEGORIES = [f"{a}{b}" for a in "abcdefghijklmnop" for b in "qrstuvwxyzABCDEF"]
CONTINUED = ("online", "data.csv", "--state", "s.json")
REFUSED = {
    ("online", "data.csv", *BEGIN): "give --model, --predictions or --state",
    ("online", "data.csv", *BEGIN[2:], "--state", "new.json"): "new.json does not exist, and a new stream needs --sch",
    ("online", "data.csv", *BEGIN[:2], "--model", "m.json"): "a new stream needs --horizon, the max",
    ("online", "data.csv", "--schema", "schema.toml", "--horizon", "399", "--model", "m.json"): "399 rounds",
    ("online", "data.csv", *BEGIN, "--model", "m.json", "--set", "labels=[0,1]"): "no parameter 'labels'",
    ("online", "data.csv", *BEGIN, "--model", "m.json", "--set", "invalid=error"): "no parameter 'invalid'",
    ("online", "data.csv", *BEGIN, "--model", "m.json", "--set", "horizon=5"): "option of its own: --horizon",
    ("online", "data.csv", *BEGIN, "--model", "m.json", "--set", "margin=2"): "margin must",
    ("online", "data.csv", *BEGIN, "--predictions", "p.xlsx"): "--predictions: p.xlsx would not be what its name says",
    ("online", "data.csv", *BEGIN, "--model", "data.csv"): "--model: data.csv is the data",
    ("online", "data.csv", "--state", "schema.toml"): "--state: schema.toml holds no stream to continue",
    ("online", "data.csv", *BEGIN, "--state", "n", "--model", "n"): "--model: n is the state",
    ("online", "none.csv", *BEGIN, "--model", "m.json"): "none.csv does not exist",
    ("online", "data.csv", *BEGIN, "--model", "m.json", "--epsilon", "0"): "epsilon must be a positive number",
    ("online", "data.csv", *BEGIN, "--model", "m.json", "--account", "sqlite:///a.db"): "belong together",
    ("online", "data.csv", "--state", "other.json"): "other.json holds no stream to continue",
    (*CONTINUED, "--epsilon", "9", "--set", "bins=4"): "--epsilon, --set: settled when the stream in s.json began",
    (*CONTINUED, *BEGIN): "--schema, --horizon, --random-state: settled",
    ("online", "long.csv", "--state", "s.json"): "400 were taken and 700 more would be too many",
    ("online", "few.csv", "--state", "s.json"): "colour",
}


def test_refusals_spend_nothing_and_leave_the_stream_where_it_was(
    folder: Path, tacit: Run, account: Callable[[], float]
) -> None:
    lines = (folder / "data.csv").read_text().splitlines(keepends=True)
    (folder / "long.csv").write_text("".join([*lines, *lines[1:301]]))
    (folder / "few.csv").write_text("age,bought\n30,yes\n")
    (folder / "other.json").write_text('{"format": "tacit model"}')
    tacit("online data.csv", *BEGIN, *ACCOUNT, "--state", "s.json", code=0)
    left, state, files = account(), (folder / "s.json").read_bytes(), {path.name for path in folder.iterdir()}
    for command, message in REFUSED.items():
        result = tacit(*command, code=2, says=message)
        assert "Nothing was spent" in result.output or "as it was" in result.output, command
    assert (account(), (folder / "s.json").read_bytes()) == (left, state)
    assert {path.name for path in folder.iterdir()} - files <= {"s.json.used"}
    unpaid = tacit("online data.csv", *BEGIN, "--epsilon", "50", *ACCOUNT, "--state", "new.json")
    assert (unpaid.exit_code, account(), (folder / "new.json").exists()) == (3, left, False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": None}, "declares no [label]"),
        ({"classes": ["no", "yes", "maybe"], "positive": None}, "tells two classes apart"),
        ({"categories": CATEGORIES}, "column 'colour': a model has at most 254 categories"),
        ({"unit": True}, "a stream protects single rows"),
    ],
)
def test_schemas_that_no_stream_or_model_holds_are_refused_before_a_charge(
    folder: Path, tacit: Run, account: Callable[[], float], changes: dict[str, Any], message: str
) -> None:
    text = (folder / "schema.toml").read_text()
    if "label" in changes:
        text = text[text.index("[columns.age]") :]
    if "classes" in changes:
        text = text.replace('["no", "yes"]', json.dumps(changes["classes"])).replace('positive = "yes"\n', "")
    if "categories" in changes:
        text = text.replace('["red", "green"]', json.dumps(changes["categories"]))
    if "unit" in changes:
        text += '\n[unit]\ncolumn = "id"\nmax_rows = 2\n'
    (folder / "schema.toml").write_text(text)
    left = account()
    result = tacit("online data.csv", *BEGIN, *ACCOUNT, "--model", "m.json")
    assert (result.exit_code, account()) == (2, left)
    assert message in result.words
    assert not (folder / "m.json").exists()


def test_no_row_stops_a_stream(folder: Path, tacit: Run) -> None:
    """Odd values, and labels of no class, are rounds like others; what is not releasable may be read by its owner."""
    (folder / "odd.csv").write_text('age,colour,bought\nabc,,\n1e999,red,maybe\n-5,"b,c",yes\n,green,no\n')
    outputs = ("--predictions", "p.parquet", "--model", "m.json")
    tacit("online odd.csv --schema schema.toml --horizon 4", *outputs, code=0)
    assert pd.read_parquet(folder / "p.parquet")["prediction"].tolist() == ["no"] * 4  # of weights 0
    model, certificate, _ = load_with_schema(folder / "m.json")
    assert certificate is not None
    assert certificate["releasable"]
    chances = model.predict_proba(pd.DataFrame({"age": [20.0, np.nan], "colour": ["red", "green"]}))  # type: ignore[attr-defined]
    assert chances.shape == (2, 2)


def test_a_state_without_a_label_goes_on_in_python(folder: Path, tacit: Run) -> None:
    tacit("online data.csv", *BEGIN, "--state", "s.json", code=0)
    content = read_secrets(folder / "s.json")
    write_secrets(folder / "u.json", content | {"files": 1.5})
    assert "u.json holds no stream to continue" in tacit("online data.csv --state u.json").stderr
    del content["schema"]["label"]
    write_secrets(folder / "t.json", content)
    tacit("online data.csv --state t.json", code=2, says="has no schema with a label")


def test_no_row_of_a_file_is_learned_from_twice(folder: Path, tacit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not after a run that wrote its state alone, not in another order, and not after an interruption amid the rows."""
    lines = (folder / "data.csv").read_text().splitlines()
    for name, own in (
        ("one", lines[1:101]),
        ("two", lines[101:201]),
        ("few", lines[201:211]),
        ("late", lines[211:311]),
    ):
        (folder / f"{name}.csv").write_text("\n".join([lines[0], *own]) + "\n")
        (folder / f"{name}-back.csv").write_text("\n".join([lines[0], *own[::-1]]) + "\n")
    tacit("online one.csv", *BEGIN, "--state", "s.json", code=0)
    state = (folder / "s.json").read_bytes()
    for again in ("one.csv", "one-back.csv"):
        tacit("online", again, "--state", "s.json", code=2, says=["has learned from these rows", "Nothing was spent"])
    assert (folder / "s.json").read_bytes() == state
    take = Winnow._follow

    def interrupted(self: Any, *asked: Any) -> None:
        take(self, *asked)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Winnow, "_follow", interrupted)
        tacit("online two.csv --state s.json", code=130)
    assert "has learned from these rows" in tacit("online two.csv --state s.json").stderr
    monkeypatch.setattr(Winnow, "_check_rounds", lambda *_: (_ for _ in ()).throw(ValueError("too many")))
    assert "too many" in tacit("online late.csv --state s.json").stderr
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    for name in ("late", "few", "few-back"):  # one that was refused, and one of rows that may be equal by chance
        tacit("online", f"{name}.csv", "--state", "s.json", code=0)
