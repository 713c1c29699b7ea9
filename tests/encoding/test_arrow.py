"""Arrays read from Arrow's buffers are what pyarrow itself says they are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.encoding.arrow import floats, positions

CELLS = st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), max_size=40)
TEXTS = st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", ""])), max_size=40)


@settings(deadline=None)  # pyarrow loads pandas at its first array
@given(CELLS, st.integers(0, 12), st.integers(0, 40))
def test_floats_with_nulls_of_any_slice(cells: list[float | None], start: int, length: int) -> None:
    array = pa.array(cells, pa.float64()).slice(min(start, len(cells)), length)
    np.testing.assert_array_equal(floats(array), array.to_numpy(zero_copy_only=False))


@settings(deadline=None)  # pyarrow loads pandas at its first array
@given(TEXTS, st.integers(0, 12), st.integers(0, 40))
def test_positions_point_into_the_dictionary(texts: list[str | None], start: int, length: int) -> None:
    coded = pa.array(texts, pa.string()).dictionary_encode().slice(min(start, len(texts)), length)
    table = [*coded.dictionary.to_pylist(), None]
    assert [table[place] for place in positions(coded, len(table) - 1)] == coded.to_pylist()
