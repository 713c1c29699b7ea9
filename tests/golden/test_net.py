"""The net itself: it is whole, notices the least change, and knows the library by its public names in one place."""

from __future__ import annotations

import ast
import copy
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
import tests.golden.__main__ as command
from tests.golden.arithmetic import LIBRARIES, here
from tests.golden.case import Seen, canonical, run
from tests.golden.net import GROUPS, ROOT, Server, all_cases, group, message, moved, stored

HERE = Path(__file__).parent

NOT_RUN = {
    "BudgetExceeded", "Certificate", "DeclaredEncoder", "DeclaredScaler", "EXPECTED_FAILED_CHECKS", "Neighbouring",
    "Schema", "SchemaError",
    "cite", "load", "load_model", "merge", "options", "ranked_probability_score", "read_table", "save", "save_model",
}  # fmt: skip
"""Public names that draw no noise of their own."""

ONE = "RandomTreesClassifier: epsilon 1"


def test_every_case_is_stored_and_every_stored_one_is_run() -> None:
    assert sum(len(group(each)) for each in GROUPS) == len(all_cases()), "two groups have a case of the same name"
    assert set(stored()[0]) == set(all_cases())


def test_every_public_name_has_cases() -> None:
    rooms = [getattr(tacit, room) for room in ("closure", "online", "audit", "resampling")]
    learners = [n for room in rooms for n in room.__all__ if hasattr(getattr(room, n), "fit") or n.endswith("Winnow")]
    elsewhere = {"read_source", "serve_site"}  # their cases are those of "streamed" and "join_sites"
    wanted = {*tacit.PUBLIC, *learners, "audit_estimator", "streamed"} - NOT_RUN - elsewhere
    assert wanted == {name.split(":")[0] for name in all_cases()}


def test_only_one_file_imports_the_library() -> None:
    importing = {
        path.name
        for path in HERE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for module in (
            [a.name for a in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", None)]
        )
        if module is not None and module.split(".")[0] == "tacit"
    }
    assert importing == {"names.py", "test_net.py"}


@pytest.fixture(scope="module")
def seen() -> Seen:
    return run(all_cases()[ONE])


def leaves(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """Everything in plain data that is no list and no dict, and where it is."""
    if isinstance(data, dict | list):
        items = data.items() if isinstance(data, dict) else enumerate(data)
        return [leaf for key, value in items for leaf in leaves(value, (*path, key))]
    return [(path, data)]


def changed(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value in one place."""
    found = inner = copy.deepcopy(data)
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return found


def test_a_last_bit_moves_the_model_alone(seen: Seen) -> None:
    path, value = next(leaf for leaf in leaves(seen.model) if isinstance(leaf[1], float))
    after = Seen(changed(seen.model, path, float(np.nextafter(value, 9.0))), seen.ledger).digests()
    assert moved(ONE, after, {ONE: seen.digests()}) == ["model"]


@pytest.mark.parametrize("place", [0, 2], ids=["label", "theorem"])
def test_a_letter_of_an_entry_moves_the_ledger_alone(seen: Seen, place: int) -> None:
    entry = seen.ledger["entries"][0]
    after = Seen(seen.model, changed(seen.ledger, ("entries", 0, place), entry[place] + ".")).digests()
    assert moved(ONE, after, {ONE: seen.digests()}) == ["ledger"]


def test_a_charge_moves_the_ledger_alone(seen: Seen) -> None:
    path, value = next(leaf for leaf in leaves(seen.ledger["charges"]) if isinstance(leaf[1], float))
    after = Seen(seen.model, changed(seen.ledger, ("charges", *path), value * (1 + 1e-15))).digests()
    assert moved(ONE, after, {ONE: seen.digests()}) == ["ledger"]


def test_the_message_says_what_moved_and_how_to_accept_it() -> None:
    said = message({"a case": ["model"], "another": ["model", "ledger"]}, ["a case"])
    assert "  model: a case" in said
    assert "  new case: another" in said
    assert "python -m tests.golden --show 'a case'" in said
    assert "python -m tests.golden --write" in said


def printed(
    capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch, *arguments: str, names: Sequence[str] = ()
) -> str:
    """The output of the command of the net, run here: the tests of cases run it in a process of its own."""
    patch.setattr(command, "is_pinned", lambda: True)
    patch.setattr("sys.argv", ["tests.golden", *arguments])
    patch.setattr("sys.stdin", io.StringIO("".join(json.dumps(name) + "\n" for name in names)))
    assert command.main() == 0
    return capsys.readouterr().out


def test_what_a_case_is_made_of_can_be_shown(
    seen: Seen, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = json.loads(printed(capsys, monkeypatch, "--show", ONE))
    assert shown["ledger"] == seen.ledger
    assert {path for path, _ in leaves(shown["model"])} == {path for path, _ in leaves(seen.model)}


def test_a_case_that_fails_says_so_and_the_next_one_is_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = printed(capsys, monkeypatch, "--serve", names=["no such case", ONE]).splitlines()
    _, failed, digests = map(json.loads, lines)
    assert "KeyError" in failed["error"]
    assert set(digests) == {"model", "ledger"}


def test_a_process_that_ends_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.golden.net.ROOT", HERE)  # from where no tests can be imported
    with pytest.raises(RuntimeError, match=r"has ended:\n.*No module named"):
        Server()


def test_the_digests_are_of_locked_versions() -> None:
    """Elsewhere the net may be skipped: where the lock is made anew, so are the digests."""
    locked = (ROOT / "requirements" / "dev.lock").read_text("utf-8").split()
    _, made_with = stored()
    assert {*here(), "probe"} == set(made_with)
    for name in LIBRARIES:
        assert f"{name}=={made_with[name]}" in locked, "run `python -m tests.golden --write` with the new lock"


def test_digests_know_nothing_of_how_the_code_is_laid_out() -> None:
    """No module of the library is named in what a digest is made of."""
    for name in (ONE, "BatchwiseClassifier: two classes", "AgnosticClassifier: epsilon 1"):
        text = canonical(run(all_cases()[name]).__dict__)
        assert "tacit." not in text
        assert "object at 0x" not in text
