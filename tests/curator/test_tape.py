"""Tapes: what is on them, what is not, and what a damaged file comes to."""

from __future__ import annotations

import base64
import json
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.curator.gate import SECRETS, Question, Witness, check_may_watch
from tacit.curator.options import chosen_source
from tacit.curator.rows import PrivateRows
from tacit.curator.tape import Diverged, Tape
from tacit.curator.tape_file import HEADER, ROWS, Beginning, TapeError, read_tape, write_tape
from tacit.encoding.frames import columns_of
from tacit.privacy.charges import ApproxDP, Gaussian
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.query import Sensitivity
from tests.replay.neighbours import schema_of, table_of

CHARGE = Gaussian(3.0)


PAID = Reservation([], Neighbouring.ADD_OR_REMOVE_ONE, "test")


def question(asked: Any = (1, 2), label: str = "counts", words: str = "histogram (2,)") -> Question:
    return Question("measure", asked, CHARGE, label, Sensitivity(1, 1, "by theorem"), 3.0, words, 1)


def begun(**more: Any) -> Beginning:
    facts = {"rows": None, "weighted": False, "releasable": True, "reasons": (), "model": "ab", "versions": {"a": "2"}}
    return Beginning(**{"public_seed": "07" * 32, **facts, **more})


def recorded(*answers: Any) -> Tape:
    tape = Tape()
    for number, answer in enumerate(answers):
        [released] = tape.release(PAID, [question(number)], lambda answer=answer: [answer])
        assert released is answer
    return tape


ANSWERS = (np.array([[3, -4], [1 << 62, 0]]), np.zeros(0, np.int64), {"flu": 12, "": -3}, np.array(7))


def test_what_left_is_written_and_read_again(tmp_path: Path) -> None:
    tape = recorded(*ANSWERS)
    write_tape(tmp_path / "a.tape", begun(rows=5, weighted=True), tape)
    result = read_tape(tmp_path / "a.tape")
    assert result.beginning == begun(rows=5, weighted=True)
    assert result.problems == ()
    assert result.tape.link == tape.link
    for passage, again, answer in zip(tape.passages, result.tape.passages, ANSWERS, strict=True):
        assert passage.facts == again.facts
        assert passage.question == again.question
        assert (again.answer == answer) if isinstance(answer, dict) else np.array_equal(again.answer, answer)


def test_a_tape_that_plays_makes_nothing_and_answers_in_order() -> None:
    playing = recorded(*ANSWERS).played()

    def never() -> list[Any]:
        raise AssertionError("rows were asked")

    for number, answer in enumerate(ANSWERS):
        [released] = playing.release(PAID, [question(number)], never)
        assert np.array_equal(released, answer)
    assert (playing.unasked, playing.doubts) == ("", [])
    with pytest.raises(Diverged, match="ends after 4 releases, and the learner asks for measure 'counts'"):
        playing.release(PAID, [question(9)], never)


def test_an_answer_that_is_changed_by_its_receiver_stays_on_the_tape() -> None:
    tape = recorded(np.array([1, 2]))
    for _ in range(2):
        [answer] = tape.played().release(PAID, [question(0)], list)
        answer += 5
    assert tape.passages[0].answer.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (question(0, label="sums"), "release 1 of the tape is measure 'counts', and the learner asks measure 'sums'"),
        (question(0, words="histogram (3,)"), "histogram .3,."),
    ],
)
def test_another_question_ends_the_fit(asked: Question, words: str) -> None:
    with pytest.raises(Diverged, match=words):
        recorded(np.array([1])).played().release(PAID, [asked], list)


def test_a_question_of_the_same_words_is_answered_and_told_of() -> None:
    playing = recorded(np.array([1]), np.array([2])).played()
    playing.release(PAID, [question((4, 4))], list)
    playing.release(PAID, [question((4, 5))], list)
    assert len(playing.doubts) == 1
    assert "from release 1 on" in playing.doubts[0]


def test_every_part_of_a_passage_moves_the_hash_of_the_tape() -> None:
    one = np.array([1, 2])
    different: list[list[Any]] = [
        [one],
        [np.array([1, 3])],
        [one[None]],
        [{"a": 1}],
        [{"b": 1}],
        [{"a": 2}],
        [one, one],
    ]
    links = {recorded(*answers).link for answers in different}
    for asked in (question(1), question(0, label="sums"), question(0, words="other")):
        tape = Tape()
        tape.release(PAID, [asked], lambda: [np.array([1, 2])])
        links.add(tape.link)
    assert len(links) == 10


def test_a_tape_holds_these_facts_and_no_others(tmp_path: Path) -> None:
    """No exact answer, no noise, no number of rows, no time: another fact on a tape needs a proof of its own."""
    rows = table_of("two")
    tacit.BoostedTreesClassifier(schema=schema_of("two"), n_trees=2).fit(rows.X, rows.y, tape=tmp_path / "a.tape")
    table = pq.read_table(tmp_path / "a.tape")
    assert table.schema.names == ["verb", "label", "charge", "words", "question", "shape", "integers", "texts", "link"]
    header = json.loads(table.schema.metadata[HEADER])
    assert set(header) == {
        "format", "version", "public_seed", "rows", "weighted", "releasable", "reasons", "model", "versions"
    }  # fmt: skip
    assert header["rows"] is None
    assert not Tape.sees_exact_answers


@pytest.mark.parametrize("name", SECRETS)
def test_a_witness_of_secrets_is_refused_where_noise_may_be_released(name: str) -> None:
    curious = type("Curious", (Witness,), {name: lambda *_: None})()
    with pytest.raises(TypeError, match="only where noise has a seed"):
        check_may_watch(curious, chosen_source(None))
    check_may_watch(curious, chosen_source(3))
    check_may_watch(Tape(), chosen_source(None))


def test_below_the_threshold_a_value_is_on_no_tape() -> None:
    paid = Reservation([CHARGE, ApproxDP(0.0, 1e-6)], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    values = np.array(["flu"] * 500 + ["the only one"], object)
    tape = Tape()
    keys = PrivateRows(columns_of({"x": values}), values, paid, None).with_witness(tape).keys("x", CHARGE, 1e-6, "x")
    assert keys.keys == ("flu",)
    assert list(tape.passages[0].answer) == ["flu"]
    assert "the only one" not in str(tape.passages)


@pytest.mark.parametrize(("releasable", "mode"), [(True, 0o644), (False, 0o600)])
def test_only_what_may_be_released_is_for_others_to_read(releasable: bool, mode: int, tmp_path: Path) -> None:
    """Whoever guesses a seed takes the noise off again."""
    write_tape(tmp_path / "a.tape", begun(releasable=releasable), recorded(*ANSWERS))
    assert stat.S_IMODE((tmp_path / "a.tape").stat().st_mode) == mode


def header(**changes: Any) -> Any:
    def change(table: pa.Table) -> pa.Table:
        told = json.loads(table.schema.metadata[HEADER]) | changes
        return table.replace_schema_metadata({HEADER: json.dumps(told)})

    return change


def column(name: str, value: Any) -> Any:
    def change(table: pa.Table) -> pa.Table:
        rows = table.to_pylist()
        rows[1][name] = value
        return pa.Table.from_pylist(rows, ROWS.with_metadata(table.schema.metadata))

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.replace_schema_metadata({}),
        lambda table: table.replace_schema_metadata({HEADER: "["}),
        lambda table: table.drop_columns("verb"),
        lambda table: table.set_column(6, "integers", pa.array(["x"] * len(table))),
        header(format="tacit model"),
        header(public_seed="no seed"),
        header(rows="many"),
        header(rows=-1),
        header(weighted="no"),
        header(releasable=None),
        header(versions=None),
        header(reasons=3),
        column("charge", "{}"),
        column("charge", "no JSON"),
        column("charge", None),
        column("shape", [3]),
        column("shape", None),
        column("integers", [None]),
        column("integers", None),
        column("question", None),
        column("texts", ["a", "b", "c"]),
    ],
)
def test_a_damaged_file_is_refused_in_words(change: Any, tmp_path: Path) -> None:
    place = tmp_path / "a.tape"
    write_tape(place, begun(), recorded(*ANSWERS))
    table = pq.read_table(place)
    pq.write_table(change(table), place)
    with pytest.raises(TapeError, match=r"a\.tape"):
        read_tape(place)


@pytest.mark.parametrize(
    "change",
    [
        header(note="the exact answers are 17 and 4"),
        header(public_seed=" " + begun().public_seed),
        lambda table: table.replace_schema_metadata({**table.schema.metadata, "note": "17 and 4"}),
        lambda table: table.replace_schema_metadata({HEADER: table.schema.metadata[HEADER] + b" "}),
        lambda table: table.replace_schema_metadata({HEADER: b'{"rows": 7, ' + table.schema.metadata[HEADER][1:]}),
        column("charge", json.dumps(CHARGE.to_dict(), indent=17)),
        column("shape", [-1, 1]),
    ],
)
def test_what_is_no_part_of_a_tape_is_named(change: Any, tmp_path: Path) -> None:
    place = tmp_path / "a.tape"
    write_tape(place, begun(), recorded(*ANSWERS))
    pq.write_table(change(pq.read_table(place)), place)
    [problem] = read_tape(place).problems
    assert "holds more than a tape" in problem or "is not as it was written" in problem


def _fault(place: Path) -> str:
    """What is wrong with a tape, in words."""
    try:
        return read_tape(place).problems[0]
    except TapeError as error:
        return error.message


def test_bytes_beside_a_tape_are_named_and_no_bytes_end_in_another_error(tmp_path: Path) -> None:
    place = tmp_path / "month=5" / "a.tape"
    place.parent.mkdir()
    write_tape(place, begun(), recorded(*ANSWERS))
    whole = place.read_bytes()
    assert read_tape(place).problems == ()
    place.write_bytes(whole + whole)
    assert "holds more than a tape" in read_tape(place).problems[0]
    wrong = [b"", b"PAR1 no more", whole[:-1], whole + b"PAR1", b"x" + whole, whole[: len(whole) // 2] + whole[-8:]]
    wrong += [whole[:start] + whole[start + 9 :] for start in range(0, len(whole) - 9, 40)]
    for content in wrong:
        place.write_bytes(content)
        assert any(words in _fault(place) for words in ("no tape", "holds more than a tape"))  # pyarrow 20 reads some


def test_both_copies_of_the_header_are_read(tmp_path: Path) -> None:
    """Parquet files of Arrow keep it beside the description of the columns, and within: readers differ in which."""
    place = tmp_path / "a.tape"
    write_tape(place, begun(), recorded(*ANSWERS))
    whole, stored = place.read_bytes(), pq.ParquetFile(place).metadata.metadata[b"ARROW:schema"]
    schema = base64.b64decode(stored)
    changed = base64.b64encode(schema.replace(b'"weighted": false', b'"weighted":  true'))
    assert changed != stored
    place.write_bytes(whole.replace(stored, changed))
    assert "holds more than a tape" in read_tape(place).problems[0]


def test_a_tape_of_another_version_and_a_missing_one_are_named(tmp_path: Path) -> None:
    write_tape(tmp_path / "a.tape", begun(), recorded(*ANSWERS))
    pq.write_table(header(version=2)(pq.read_table(tmp_path / "a.tape")), tmp_path / "a.tape")
    with pytest.raises(TapeError, match="'tacit tape' 2, not 'tacit tape' 1: verify a tape with the version of tacit"):
        read_tape(tmp_path / "a.tape")
    with pytest.raises(FileNotFoundError):
        read_tape(tmp_path / "b.tape")
