"""Digests are those of RFC 8785, computed again in JavaScript."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.privacy.canonical import MOST, canonical_json, finite, read_json, sha256

SCRIPT = Path(__file__).parents[2] / "examples" / "digests.mjs"
NODE = shutil.which("node")
FINITE = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MOST, MOST)
    | FINITE
    | st.text(st.characters(codec="utf-8"), max_size=4)
    | st.lists(FINITE, max_size=5)
    | st.lists(st.integers(-MOST, MOST), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=3), inner, max_size=4)
    ),
    max_leaves=20,
)
SAID = {
    4.77e-05: "0.0000477", 1e-6: "0.000001", 1e-7: "1e-7", 1.0: "1", -0.0: "0", 1e20: "100000000000000000000",
    1e21: "1e+21", 0.1: "0.1", 5e-324: "5e-324", -1.5e300: "-1.5e+300", 333333333.33333329: "333333333.3333333",
    2.0**53: "9007199254740992",
}  # fmt: skip
"""Numbers, with the text that ECMAScript gives them."""


@pytest.mark.parametrize("number", SAID)
def test_a_number_is_written_as_javascript_does(number: float) -> None:
    assert canonical_json([number]) == f"[{SAID[number]}]".encode()
    assert read_json(SAID[number]) == number


def test_keys_are_in_the_order_of_utf_16() -> None:
    """The example of section 3.2.3: its own order is neither that of code points nor that of UTF-8."""
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    order = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical_json(dict.fromkeys(keys, 0)))) == order


@given(PLAIN)
@settings(max_examples=50, deadline=None)
def test_plain_data_has_one_digest_however_it_is_laid_out(data: Any) -> None:
    again = read_json(json.dumps(data, indent=2))
    assert sha256(again) == sha256(read_json(canonical_json(data).decode())) == sha256(data)
    assert canonical_json(data) == rfc8785.dumps(data)


@pytest.mark.skipif(NODE is None, reason="no node on this machine: digests are not computed a second time")
def test_javascript_computes_the_same_digests(tmp_path: Path) -> None:
    rows: list[Any] = [list(SAID), [10.0**k * 1.7 for k in range(-323, 308)], {"\U0001f600": 1, "\ufb33": [None, True]}]
    rows += ['"\\/\b\f\n\r\t\x00\x1f\x7f\u2028é', {"": {}, "b": [], "a": [[0.5, 1e-9]]}, [2**53 - 1, -(2**53) + 1]]
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    script = f"""import {{digest}} from {json.dumps(str(SCRIPT))}; import {{readFileSync}} from "node:fs";
    const rows = JSON.parse(readFileSync({json.dumps(str(tmp_path / "rows.json"))}, "utf-8"));
    for (const row of rows) console.log(digest(row));"""
    assert NODE is not None
    told = subprocess.run([NODE, "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    assert told.stdout.split() == [sha256(row) for row in rows]


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, MOST + 1, "\ud800"])
def test_data_that_readers_take_in_two_ways_have_no_digest(wrong: Any) -> None:
    for other in (0.5, 1, "1"):
        with pytest.raises(ValueError):
            sha256({"values": [other, wrong]})


@pytest.mark.parametrize("text", ["9007199254740993", "-9007199254740993", "123456789012345678901", "1" * 400])
def test_an_integer_that_no_double_equals_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no double"):
        read_json(f'{{"values": [1, {text}]}}')


@pytest.mark.parametrize("number", [2**53, -(2**53), 10**20, 10**300, 10**400])
def test_large_integers_of_a_certificate_are_doubles(number: int) -> None:
    said = finite({"grid": [number]})["grid"][0]
    assert isinstance(said, float)
    assert said == float(min(number, 1.7976931348623157e308))
    assert sha256(said)
