"""Files that are neither CSV nor Parquet, or text of another encoding than was said, told from their first bytes."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Mapping, Sequence

from tacit.encoding.errors import DataError

START = 512
"""Bytes by which a file is told."""

TAR = (257, b"ustar")
"""Where an archive of tar says that it is one, and how."""

_SHEET = "a zip archive or a spreadsheet"
_KINDS: Mapping[bytes, str] = {
    b"PK\x03\x04": _SHEET,
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "a spreadsheet",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ\x00": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"\x04\x22\x4d\x18": "compressed with lz4",
    b"\xff\x06\x00\x00sNaPpY": "compressed with snappy",
    b"\x5d\x00\x00\x80\x00": "compressed with lzma",
    b"LZIP\x01": "compressed with lzip",
    b"\x1f\x9d\x90": "compressed with compress",
    b"Rar!\x1a\x07": "a RAR archive",
    b"RDX3\n": "a file of R",
    b"RDX2\n": "a file of R",
    b"X\n\x00\x00\x00": "a file of R",
    b"\x93NUMPY": "an array of numpy",
    b"\x00" * 12 + b"\xc2\xea\x81\x60": "a SAS file",
    b"HEADER RECORD*******": "a SAS file",
    b"-----BEGIN PGP": "encrypted with PGP",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"ARROW1": "an Arrow or Feather file",
    b"ORC": "an ORC file",
    b"Obj\x01": "an Avro file",
    b"\x89HDF\r\n": "an HDF5 file",
    b"SQLite format 3\x00": "an SQLite database",
    b"<stata_dta>": "a Stata file",
    b"$FL2": "an SPSS file",
    b"%PDF-": "a PDF document",
    b"\x80\x04\x95": "a pickle",
    b"\x80\x05\x95": "a pickle",
}
"""First bytes of files that are often named like a table."""

_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before those of UTF-16, which it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ZEROS = (
    (b"[^\\0]\\0\\0\\0", "utf-32-le"),
    (b"\\0\\0\\0[^\\0]", "utf-32-be"),
    (b"[^\\0]\\0[^\\0]", "utf-16-le"),
    (b"\\0[^\\0]", "utf-16-be"),
)
"""How the first two characters of the alphabet stand in the first bytes where no mark says it."""

_ASCII = re.compile(rb"[\t\r\n -~]*[,;\t\r\n][\t\r\n -~]*")
_JSON = re.compile(r"\ufeff?\s*(?:\{\s*(?:[\"}]|$)|\[\s*(?:[\[{\"\]]|$))")
_MARKUP = re.compile(r"\ufeff?\s*<(?:\?xml|!doctype|html|table|workbook)\b", re.IGNORECASE)


_PACKED = {b"\x1f\x8b": "packed with gzip twice", b"PAR1": "a Parquet file that was packed with gzip"}
"""First bytes inside a packed file, which alone are those of files that are read."""


def check_start(where: str, start: bytes, packed: bool = False) -> None:
    """Raises :class:`DataError` for a file of another kind; ``packed``: inside of one that gzip has packed."""
    if start[TAR[0] :].startswith(TAR[1]):
        raise DataError(f"{where} is an archive of tar; unpack it, and read the files of rows in it")
    for sign, what in _PACKED.items():
        if packed and start.startswith(sign):
            raise DataError(f"{where} is {what}: unpack it once")
    for sign, what in _KINDS.items():
        if start.startswith(sign) and (len(sign) > 3 or b"," not in start):
            raise DataError(f"{where} is {what}; save the table as CSV (gzip is read, too) or Parquet")


def check_unicode(where: str, start: bytes, encoding: str) -> None:
    """Raises :class:`DataError` for text of UTF-16 or UTF-32 that is read as anything else."""
    marked = next((name for mark, name in _ORDER_MARKS if start.startswith(mark)), "")
    bare = "" if marked else next((name for zeros, name in _ZEROS if re.match(zeros, start, re.DOTALL)), "")
    right = marked or bare
    if right and encoding != right:
        what = f"{right[:6].upper()} text{' without a byte order mark' if bare else ''}"
        raise DataError(f"{where} is {what}; give encoding '{right}' (--encoding {right}), or save it as UTF-8")
    if not right and encoding.startswith(("utf-16", "utf-32")) and _ASCII.fullmatch(start):
        raise DataError(f"{where} is no {encoding[:6].upper()} text; leave encoding (--encoding) out, or give its own")


def check_markup(where: str, line: str) -> None:
    """Raises :class:`DataError` for a first line of JSON, XML or HTML; nothing of it is shown."""
    what = "JSON" if _JSON.match(line) else "XML or HTML" if _MARKUP.match(line) else ""
    if what:
        raise DataError(
            f"{where} holds {what}, which no fit reads: its rows would say what types columns have. Write them as "
            "Parquet with declared types, or as CSV"
        )


def check_visible(name: str, present: Sequence[str], where: str) -> None:
    """Raises :class:`DataError` where a column has the name but for characters that nobody sees, such as a BOM."""
    for other in present:
        hidden = [character for character in other if unicodedata.category(character) == "Cf"]
        if hidden and "".join(character for character in other if character not in hidden).strip() == name:
            raise DataError(
                f"{where} has an invisible character (U+{ord(hidden[0]):04X}) in the name of the column '{name}': "
                "remove it"
            )
