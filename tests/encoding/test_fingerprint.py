"""Fingerprints of batches: the sums that are authenticated, written once more in Python's own integers."""

from __future__ import annotations

import hashlib
import hmac

import numpy as np
import pytest

from tacit.encoding.table import fingerprint

KEY = bytes(range(32))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int64])
def test_a_fingerprint_is_the_hash_of_sorted_words(dtype: type) -> None:
    columns = [np.array(codes, dtype) for codes in ([3, 0, 7, 3, 90], [200, 1, 0, 2, 5], [1, 0, 0, 1, 1])]
    digests = [hmac.digest(KEY, b"column %d" % place, "sha256") for place in range(3)]
    factors = [int.from_bytes(digest[:8], "little") | 1 for digest in digests]
    words = sorted(
        sum(f * int(c) for f, c in zip(factors, row, strict=True)) % 2**64 for row in zip(*columns, strict=True)
    )
    expected = hmac.new(KEY, b"".join(word.to_bytes(8, "little") for word in words), hashlib.sha256)
    assert fingerprint(columns, KEY) == expected.hexdigest()


def test_no_columns_and_no_rows_have_one_too() -> None:
    expected = hmac.new(KEY, b"", hashlib.sha256).hexdigest()
    assert fingerprint([], KEY) == fingerprint([np.zeros(0, np.uint8)], KEY) == expected
