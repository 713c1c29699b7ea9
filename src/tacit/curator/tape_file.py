"""Tapes as files: Parquet, a row for every release, and beside them what is public of the fit. docs/tape.md shows both.

Every row holds a part of the hash of all rows up to it, so that a changed row is named. Nobody is kept from computing
all hashes anew: the certificate names the last one, and a model that is learned again from the tape shows the rest.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any, final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tacit.curator.tape import Answer, Passage, Tape
from tacit.errors import TacitError
from tacit.privacy.canonical import finite, infinite
from tacit.privacy.charges import charge_from_dict
from tacit.whole_files import write_with

FORMAT, VERSION = "tacit tape", 1
HEADER = b"tacit tape"  # where the metadata of the Parquet file keep the `Beginning`, as JSON
LINK_BYTES = 8  # of every hash so much is written, to say which row was changed

ROWS = pa.schema(
    [
        ("verb", pa.string()),
        ("label", pa.string()),
        ("charge", pa.string()),
        ("words", pa.string()),
        ("question", pa.binary()),
        ("shape", pa.list_(pa.int32())),
        ("integers", pa.list_(pa.int64())),
        ("texts", pa.list_(pa.string())),
        ("link", pa.binary()),
    ]
)


class TapeError(TacitError):
    """A file that is no tape, or a damaged one."""


@final
@dataclass(frozen=True)
class Beginning:
    """What a fit began with beside its schema and its parameters, and what it ended in. All of it is public."""

    public_seed: str  # of the public random choices, in hexadecimal digits
    rows: int | None  # the number of rows, where the relation makes it public; None where it is private
    weighted: bool  # whether rows had weights, which were declared public
    releasable: bool  # whether the model may be released, and the tape with it
    reasons: tuple[str, ...]  # why not
    model: str  # SHA-256 of the model
    versions: dict[str, str]  # of the libraries


@final
@dataclass(frozen=True, eq=False)
class TapeFile:
    """A tape as it was read; ``problems`` names what was changed after it was written."""

    beginning: Beginning
    tape: Tape
    problems: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """That of the tape as it is in the file."""
        begun = self.beginning
        return digest_of(self.tape, bytes.fromhex(begun.public_seed), begun.rows, begun.weighted)


def digest_of(tape: Tape, public_seed: bytes, rows: int | None, weighted: bool) -> str:
    """SHA-256 of a tape and of the public facts that a fit that plays it begins with: what the certificate names."""
    facts = json.dumps([public_seed.hex(), rows, weighted]).encode()
    return hashlib.sha256(tape.link + facts).hexdigest()


def write_tape(path: str | os.PathLike[str], beginning: Beginning, tape: Tape) -> None:
    """Writes a tape, whole or not at all.

    That of a fit whose noise has a seed holds exact answers for whoever knows or guesses the seed: where the model may
    not be released, nobody but the owner may read the file.
    """
    rows: list[dict[str, Any]] = []
    link = b""
    for passage in tape.passages:
        link = passage.link(link)
        rows.append(_row(passage, link))
    metadata = {HEADER: _header(beginning)}
    table = pa.Table.from_pylist(rows, schema=ROWS.with_metadata(metadata))

    def fill(place: IO[bytes]) -> None:
        words = ["verb", "charge", "words"]
        pq.write_table(table, place, compression="zstd", compression_level=12, use_dictionary=words,
                       column_encoding={"integers.list.element": "DELTA_BINARY_PACKED"})  # fmt: skip

    write_with(path, fill, private=not beginning.releasable)


def read_tape(path: str | os.PathLike[str]) -> TapeFile:
    """Reads a tape. What was changed in it is listed: a fit that plays it shows what comes of that.

    Raises:
        TapeError: for what is no tape of a format that this version reads.
        OSError: if there is no such file.
    """
    content = Path(path).read_bytes()
    try:
        file = pq.ParquetFile(pa.BufferReader(content))  # not by its name, which may look like a partition
        table = file.read()
        beginning = _beginning(json.loads(file.metadata.metadata[HEADER]))
        passages, problems = _passages(table)
        # a file has its header twice, and readers differ in which they take
        copies = (table.schema.metadata, file.schema_arrow.metadata)
        if any(copy != {HEADER: _header(beginning)} for copy in copies) or _parts(file) != len(content):
            problems.append("the file holds more than a tape, and nothing says what the rest is")
    except (pa.ArrowException, OSError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError,
            RecursionError, MemoryError) as error:  # fmt: skip
        if isinstance(error, TapeError):
            raise TapeError(f"{path}: {error.message}") from None
        raise TapeError(f"{path} is no tape, or a damaged one; give the file that a fit with a tape wrote") from None
    return TapeFile(beginning, Tape(passages), tuple(problems))


def _header(beginning: Beginning) -> bytes:
    facts = {"format": FORMAT, "version": VERSION, **asdict(beginning), "reasons": [*beginning.reasons]}
    return json.dumps(facts, allow_nan=False).encode()


def _row(passage: Passage, link: bytes) -> dict[str, Any]:
    answer, texts, shape = passage.answer, None, None
    if isinstance(answer, dict):
        texts, integers = sorted(answer), [answer[text] for text in sorted(answer)]
    else:
        shape, integers = list(answer.shape), answer.ravel().tolist()
    charge = json.dumps(finite(passage.charge.to_dict()), sort_keys=True)
    return {"verb": passage.verb, "label": passage.label, "charge": charge, "words": passage.words,
            "question": passage.question, "shape": shape, "integers": integers, "texts": texts,
            "link": link[:LINK_BYTES]}  # fmt: skip


def _parts(file: pq.ParquetFile) -> int:
    """How many bytes the parts of a Parquet file have."""
    metadata = file.metadata
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    columns = [group.column(place) for group in groups for place in range(group.num_columns)]
    marks = 12  # "PAR1" at both ends, and the length of the last part
    return marks + int(metadata.serialized_size) + sum(int(column.total_compressed_size) for column in columns)


def _beginning(header: Mapping[str, Any]) -> Beginning:
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise TapeError(
            f"its format is {header.get('format')!r} {header.get('version')!r}, not {FORMAT!r} {VERSION}: verify "
            "a tape with the version of tacit that wrote it"
        )
    facts = {each.name: header[each.name] for each in fields(Beginning)}
    facts["public_seed"] = bytes.fromhex(facts["public_seed"]).hex()
    if facts["rows"] is not None and not (isinstance(facts["rows"], int) and 0 <= facts["rows"] < 1 << 53):
        raise TapeError("its number of rows is no number")
    if not (isinstance(facts["weighted"], bool) and isinstance(facts["releasable"], bool)):
        raise TapeError("it does not say by true or false if rows had weights and if it may be released")
    facts |= {"reasons": tuple(map(str, facts["reasons"])), "model": str(facts["model"]),
              "versions": {str(key): str(value) for key, value in facts["versions"].items()}}  # fmt: skip
    return Beginning(**facts)


def _passages(table: pa.Table) -> tuple[list[Passage], list[str]]:
    """The releases, and the first whose hash does not fit: it was changed, or another was put before it."""
    if table.schema.names != ROWS.names:
        raise TapeError(f"its columns are {table.schema.names}, not {ROWS.names}")
    passages: list[Passage] = []
    problems: list[str] = []
    link = b""
    for row in table.cast(ROWS).to_pylist():
        passage = _passage(row)
        link = passage.link(link)
        passages.append(passage)
        if row != _row(passage, link) and not problems:
            problems.append(f"release {len(passages)} of the tape is not as it was written: {passage}")
    return passages, problems


def _passage(row: Mapping[str, Any]) -> Passage:
    integers = row["integers"]
    if row["texts"] is None:
        answer: Answer = np.array(integers, np.int64).reshape(tuple(row["shape"]))
    else:
        answer = dict(zip(row["texts"], integers, strict=True))
    charge = charge_from_dict(infinite(json.loads(row["charge"])))
    return Passage(row["verb"], row["label"], charge, row["words"], row["question"], answer)
