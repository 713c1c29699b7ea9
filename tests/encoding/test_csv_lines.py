"""CSV is read line by line: no line of a file decides how another is read, or whether it is there."""

from __future__ import annotations

import codecs
import encodings
import gzip
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.encoding import csv_lines
from tacit.encoding import read as reading
from tacit.encoding.errors import DataError
from tacit.encoding.read import structure
from tacit.encoding.read_table import csv_format
from tacit.encoding.source import read_source
from tacit.schema.csv_format import CsvFormat

Cells = list[tuple[str, str]]

pieces = st.sampled_from([b"a", b"b", b"7", b",", b",", b'"', b'"', b'""', b" ", b"\xc3\xa9", b"\x0b", b"\x85"[:0]])
honest = st.sampled_from([b"1,u", b'2,"v, w"', b'"3","x ""y"""', b",", b'"",""'])
lines_of_files = st.lists(st.one_of(honest, st.lists(pieces, max_size=6).map(b"".join)), max_size=6)
endings = st.sampled_from([b"\n", b"\r\n", b"\r"])


def rows_of(path: Path) -> Cells | None:
    """The rows that all readers of files see, None where they refuse the file."""
    try:
        table = tacit.read_table(path)
    except DataError:
        with pytest.raises(DataError):
            list(read_source(path).reader.chunks(["a", "b"], frozenset()))
        return None
    rows = list(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))
    chunks = list(read_source(path).reader.chunks(["a", "b"], frozenset()))
    streamed = [
        (a, b) for c in chunks for a, b in zip(c.column("a").to_pylist(), c.column("b").to_pylist(), strict=True)
    ]
    assert streamed == rows
    return rows


@settings(max_examples=80, deadline=None)
@given(lines=lines_of_files, ends=st.lists(endings, min_size=7, max_size=7), last=st.booleans(), cut=st.integers(0, 99))
def test_a_file_is_its_lines(
    lines: list[bytes], ends: list[bytes], last: bool, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Its rows are those of every line alone, and it is refused where a line alone is: so one line moves no other."""
    folder = tmp_path_factory.getbasetemp()
    alone = []
    for line in lines:
        (folder / "one.csv").write_bytes(b"a,b\n" + line + b"\n")
        alone.append(rows_of(folder / "one.csv"))
    content = b"a,b" + ends[-1] + b"".join(line + end for line, end in zip(lines, ends, strict=False))
    if lines and not last:
        content = content.removesuffix(ends[len(lines) - 1])
    (folder / "all.csv").write_bytes(content)
    place = 4 + cut % max(len(content) - 4, 1)
    (folder / "all.csv.gz").write_bytes(gzip.compress(content[:place]) + gzip.compress(content[place:]))
    expected = None if None in alone else [row for rows in alone if rows for row in rows]
    assert rows_of(folder / "all.csv") == expected
    assert rows_of(folder / "all.csv.gz") == expected


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('44,"u', "a quoted cell without its closing quote in line 3; if cells may hold line breaks, give multiline"),
        ('44,"', "without its closing quote in line 3"),
        ('"44,u', "without its closing quote in line 3"),
        ('44,"u""', "without its closing quote in line 3"),
        ('44,"u"s', "text after a closing quote in line 3"),
        ('"44" ,u', "text after a closing quote in line 3"),
        ('"44"",u', "without its closing quote in line 3"),
        ('44,u"', "a quote inside an unquoted cell in line 3"),
        ("6' 2\",u", "a quote inside an unquoted cell in line 3"),
        ('44, "u"', "a quote inside an unquoted cell in line 3"),
        ("44,u,v", "a row with 3 cells where its header has 2 (line 3)"),
        ("44", "a row with 1 cell where its header has 2 (line 3)"),
    ],
)
@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz"])
def test_one_line_is_refused_and_named(line: str, fault: str, name: str, tmp_path: Path) -> None:
    content = ("a,b\r\n1,u\r\n" + line + "\r\n" + '2,"v"\r\n' * 40).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(DataError, match=re.escape(fault)) as caught:
        tacit.read_table(tmp_path / name)
    assert "44" not in str(caught.value).replace(str(tmp_path), "")
    with pytest.raises(DataError, match=re.escape(fault)):
        list(read_source(tmp_path).reader.chunks(["a"], frozenset()))
    result = structure(tmp_path / name)
    assert (result.n_faults, len(result.faults)) == (1, 1)
    assert fault in result.faults[0]


def test_line_breaks_where_they_are_allowed(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_bytes(b'a,b\n1,"two\r\nlines"\n"th\nr\nee",4\n5,6\n')
    for read in (tacit.read_table, lambda path: list(read_source(path).reader.chunks(["a"], frozenset()))):
        with pytest.raises(DataError, match=r"in line 2; .*multiline=True \(--multiline\)"):
            read(tmp_path / "d.csv")
    table = tacit.read_table(tmp_path / "d.csv", multiline=True)
    assert table.to_pydict() == {"a": ["1", "th\nr\nee", "5"], "b": ["two\r\nlines", "4", "6"]}
    [chunk] = read_source(tmp_path / "d.csv", multiline=True).reader.chunks(["b"], frozenset())
    assert chunk.column("b").to_pylist() == table["b"].to_pylist()
    result = structure(tmp_path / "d.csv", CsvFormat(multiline=True))
    assert (result.rows, result.breaks, result.faults) == (3, 2, [])
    for more, fault in ((b'7,"8\n9,"x",\n', "text after a closing quote in line 9"), (b'7,"8\n', "never ends")):
        (tmp_path / "d.csv").write_bytes((tmp_path / "d.csv").read_bytes().partition(b"7")[0] + more)
        with pytest.raises(DataError, match=fault):
            tacit.read_table(tmp_path / "d.csv", multiline=True)


def test_rows_with_line_breaks_are_taken_apart_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where blocks end in quoted cells, a reader that knows nothing of line breaks would begin anew in longer ones."""
    path, blocks = tmp_path / "d.csv", []
    taken_apart = reading._csv_blocks
    path.write_text("a,b\n" + "".join(f'{i},"{"x" * (i % 90)}\nof {i}"\n' for i in range(200)))

    def counted(*asked: Any) -> Any:
        blocks.append(asked[4])
        return taken_apart(*asked)

    monkeypatch.setattr(reading, "_csv_blocks", counted)
    monkeypatch.setattr(reading, "BLOCK_BYTES", 512)
    table = tacit.read_table(path, multiline=True)
    assert table["b"].to_pylist() == ["x" * (i % 90) + f"\nof {i}" for i in range(200)]
    assert blocks == [512]


def test_line_breaks_are_not_allowed_unless_somebody_says_so() -> None:
    assert CsvFormat().multiline is False
    assert csv_format().multiline is False


def test_all_faults_of_a_file_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"a,b\n" + b'1,2\n3\n4,"5\n6,7"\n8,"9"x,"\n1,2\n' * 7
    (tmp_path / "d.csv").write_bytes(content)
    for block in (1 << 22, 5, 1):
        monkeypatch.setattr(csv_lines, "_BLOCK", block)
        result = structure(tmp_path / "d.csv")
        assert result.n_faults == 28
        lines = [int(re.findall(r"line (\d+)", fault)[0]) for fault in result.faults]
        assert lines == [3, 4, 5, 6, 9, 10, 11, 12, 15, 16]


def test_a_fault_is_found_wherever_blocks_end(tmp_path: Path) -> None:
    """The scanner goes on where the last block ended, within a cell, a quote, or the end of a line."""
    content = b'a,b\r\n1,"2 ""x"""\r\n"3",4\r\n'
    for cut in range(1, len(content)):
        scanner = csv_lines.Scanner(",", False, "d.csv")
        for block in (content[:cut], content[cut:], b'5,"6', b'7"', b"\r"):
            scanner.check(block)
        assert scanner.rows == 3
        with pytest.raises(DataError, match="text after a closing quote in line 5"):
            scanner.check(b'\n8,"9"0\r')


def test_encodings_that_are_no_text_or_reach_over_lines_are_refused(tmp_path: Path) -> None:
    """Of every codec of Python: it is refused, or a line is read as it is alone, whatever stands before it."""
    path = tmp_path / "d.csv"
    names = sorted(
        {module.name for module in pkgutil.iter_modules(encodings.__path__)} | {"hex", "zip", "rot13", "base64"}
    )
    usable = 0
    for name in names:
        try:
            csv_format(name)
        except DataError:
            continue
        usable += 1
        if codecs.lookup(name).name == "utf-8":
            continue
        for before in (b"", b"\x0e", b"\x1b$B", b"~{", b"+AGE", b"\\", b"\x81", b"\xff"):
            mark = "\ufeff".encode(name) if name in ("utf_16", "utf_32") else b""
            text = [part.encode(name).removeprefix(mark) for part in ("a,b\n1,", "\n2,v\n")]
            path.write_bytes(mark + text[0] + before + text[1])
            try:
                table = tacit.read_table(path, encoding=name)
            except DataError:
                continue
            assert (table["a"].to_pylist()[-1], table["b"].to_pylist()[-1]) == ("2", "v"), (name, before)
    assert usable > 60
    refused = (
        "rot13 hex zip punycode idna base64 uu bz2 utf-7 iso2022_jp hz undefined unicode_escape raw_unicode_escape"
    )
    for name in (*refused.split(), "", "no such"):
        with pytest.raises(DataError, match=f"encoding '{name}' is not one of text files.*Nothing was spent"):
            csv_format(name)
