"""The passes over dense and sparse fixed-point rows. Integer throughout; every kernel releases the interpreter lock.

The 16-bit kernels keep their running sums in 32 bits, which doubles the lanes of a vector instruction. They cannot
overflow: a partial product sum of a row of length ``radius < 2**15`` and a vector of length ``< 2**15`` is below
``2**30`` by Cauchy and Schwarz, and a column sum is moved to 64 bits before ``group`` rows could fill it.

They also read on beyond the end of a row, up to whole lanes: then no element is left over from the vector instructions,
and what is read there is multiplied by zero, or added to sums that nobody looks at. The last rows, which have nothing
behind them, are read element by element. Inner loops are plain LLVM, 16 or 32 numbers at a time, because the compiler
makes no vector instructions of short loops by itself; they take addresses, and the caller sees to it that so many
numbers lie there.
"""

from __future__ import annotations

# ruff: noqa: ARG001 (numba reads the names of arguments that only the emitted code uses)
from collections.abc import Callable, Sequence
from typing import Any

import numba as nb
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

ROWS = 4
"""Rows that are added up before the sums are written back."""

INT16, INT32 = ir.IntType(16), ir.IntType(32)


def _read(builder: Any, address: Any, lanes: int) -> Any:
    """So many 16-bit numbers from an address on, widened to 32 bits."""
    narrow = builder.load(builder.inttoptr(address, ir.VectorType(INT16, lanes).as_pointer()), align=2)
    return builder.sext(narrow, ir.VectorType(INT32, lanes))


def _pick(builder: Any, vector: Any, places: Sequence[int]) -> Any:
    """A vector of the numbers at some places of another."""
    mask = ir.Constant(ir.VectorType(INT32, len(places)), list(places))
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), mask)


def _dot(lanes: int) -> Callable[..., Any]:
    """Makes the inner product of ``count`` (at least 1) times ``lanes`` numbers at two addresses."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        *addresses, count = arguments
        half, bytes_ = ir.VectorType(INT32, lanes // 2), ir.Constant(count.type, 2 * lanes)
        before, loop, behind = builder.block, builder.append_basic_block(), builder.append_basic_block()
        builder.branch(loop)
        builder.position_at_end(loop)
        position, sums = builder.phi(count.type), builder.phi(half)
        shift = builder.mul(position, bytes_)
        terms = builder.mul(*(_read(builder, builder.add(address, shift), lanes) for address in addresses))
        pairs = builder.add(_pick(builder, terms, range(0, lanes, 2)), _pick(builder, terms, range(1, lanes, 2)))
        total, next_ = builder.add(sums, pairs), builder.add(position, ir.Constant(count.type, 1))
        builder.cbranch(builder.icmp_unsigned("<", next_, count), loop, behind)
        for variable, first, later in (
            (position, ir.Constant(count.type, 0), next_),
            (sums, ir.Constant(half, None), total),
        ):
            variable.add_incoming(first, before)
            variable.add_incoming(later, loop)
        builder.position_at_end(behind)
        return _sum(builder, total, lanes // 2)

    return emit


def _sum(builder: Any, vector: Any, size: int) -> Any:
    """The sum of a vector's numbers."""
    while size > 1:
        size //= 2
        vector = builder.add(_pick(builder, vector, range(size)), _pick(builder, vector, range(size, 2 * size)))
    return builder.extract_element(vector, ir.Constant(INT32, 0))


def _add_rows(lanes: int) -> Callable[..., Any]:
    """Makes the addition of weighted rows, some bytes apart, to sums: reads and writes the sums once."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del signature
        address, size, *weights, sums = arguments
        wide = ir.VectorType(INT32, lanes)
        place = builder.inttoptr(sums, wide.as_pointer())
        total = builder.load(place, align=4)
        for weight in weights:
            one = builder.insert_element(ir.Constant(wide, ir.Undefined), weight, ir.Constant(INT32, 0))
            total = builder.add(total, builder.mul(_read(builder, address, lanes), _pick(builder, one, [0] * lanes)))
            address = builder.add(address, size)
        builder.store(total, place, align=4)
        return context.get_dummy_value()

    return emit


def instruction(make: Callable[..., Any]) -> Callable[..., Any]:
    """An intrinsic of numba: ``make`` is given the types of the arguments, and returns a signature and what to emit."""
    return intrinsic(make)


@instruction
def add_rows_16(typing, row, size, a, b, c, d, sums):  # type: ignore[no-untyped-def]
    """Adds four weighted rows of 16 numbers, ``size`` bytes apart, to sums."""
    return types.void(types.uintp, types.uintp, *[types.int32] * ROWS, types.uintp), _add_rows(16)


@instruction
def add_rows_32(typing, row, size, a, b, c, d, sums):  # type: ignore[no-untyped-def]
    """Adds four weighted rows of 32 numbers, ``size`` bytes apart, to sums."""
    return types.void(types.uintp, types.uintp, *[types.int32] * ROWS, types.uintp), _add_rows(32)


@instruction
def add_row_32(typing, row, size, a, sums):  # type: ignore[no-untyped-def]
    """Adds one weighted row of 32 numbers to sums."""
    return types.void(types.uintp, types.uintp, types.int32, types.uintp), _add_rows(32)


@instruction
def dot_16(typing, row, vector, count):  # type: ignore[no-untyped-def]
    """The inner product of ``count`` times 16 numbers, int32."""
    return types.int32(types.uintp, types.uintp, types.uintp), _dot(16)


@instruction
def dot_32(typing, row, vector, count):  # type: ignore[no-untyped-def]
    """The inner product of ``count`` times 32 numbers, int32."""
    return types.int32(types.uintp, types.uintp, types.uintp), _dot(32)


LANES, WIDE_LANES = 16, 32
"""16-bit numbers that are read at a time: of rows that are no longer, and of longer ones."""

NARROW = 128
"""Columns up to which rows are added four at a time; of wider ones, reading four at once slows the memory down."""

COLUMNS = 4096
"""Columns whose 32-bit sums stay in the first-level cache."""


@nb.njit(nogil=True, cache=True)
def longest_dense(values):  # type: ignore[no-untyped-def]
    """The largest squared length of a row."""
    longest = np.int64(0)
    for i in range(values.shape[0]):
        length = np.int64(0)
        for j in range(values.shape[1]):
            length += np.int64(values[i, j]) * np.int64(values[i, j])
        longest = max(longest, length)
    return longest


@nb.njit(nogil=True, cache=True)
def longest_sparse(values, indptr):  # type: ignore[no-untyped-def]
    """The largest squared length of a row, if no column repeats within a row."""
    longest = np.int64(0)
    for i in range(len(indptr) - 1):
        length = np.int64(0)
        for k in range(indptr[i], indptr[i + 1]):
            length += np.int64(values[k]) * np.int64(values[k])
        longest = max(longest, length)
    return longest


@nb.njit(nogil=True, cache=True)
def products_int16(flat, vector, width, products, start, stop):  # type: ignore[no-untyped-def]
    """Writes the product of each row with ``vector``, from the first place of ``products`` on.

    ``flat`` holds rows of ``width`` one after the other; ``vector`` is filled up with zeros to whole lanes.
    """
    padded = len(vector)
    safe = max(start, min(stop, (len(flat) - padded) // width + 1))
    first, behind, size = nb.uintp(start), nb.uintp(safe), nb.uintp(2 * width)
    rows, other = nb.uintp(flat.ctypes.data), nb.uintp(vector.ctypes.data)
    if padded == LANES:
        for i in range(first, behind):
            products[i - first] = dot_16(rows + i * size, other, nb.uintp(1))
    else:
        count = nb.uintp(padded // WIDE_LANES)
        for i in range(first, behind):
            products[i - first] = dot_32(rows + i * size, other, count)
    for i in range(safe, stop):
        product = np.int32(0)
        for j in range(width):
            product = np.int32(product + np.int32(flat[i * width + j]) * np.int32(vector[j]))
        products[i - start] = product


@nb.njit(nogil=True, cache=True)
def advance_int16(flat, width, vectors, sizes, products, sums, start, stop):  # type: ignore[no-untyped-def]
    """Adds the clipped, scaled products of each row with some vectors to its margin.

    ``vectors`` are as in :func:`products_int16`, a line each; ``sizes`` are their multipliers, shifts and limits.
    """
    first = nb.uintp(start)
    for k in range(len(vectors)):
        products_int16(flat, vectors[k], width, products, start, stop)
        multiplier, shift, limit = np.int64(np.int32(sizes[k, 0])), sizes[k, 1], sizes[k, 2]
        for i in range(first, nb.uintp(stop)):
            sums[i] += max(min((np.int64(products[i - first]) * multiplier) >> shift, limit), -limit)


@nb.njit(nogil=True, cache=True)
def advance_int32(values, vector, multiplier, shift, limit, sums, start, stop):  # type: ignore[no-untyped-def]
    """As :func:`advance_int16`, with 64-bit products."""
    for i in range(start, stop):
        product = np.int64(0)
        row = values[i]
        for j in range(len(vector)):
            product += np.int64(row[j]) * np.int64(vector[j])
        sums[i] += max(min((product * multiplier) >> shift, limit), -limit)


@nb.njit(nogil=True, cache=True)
def advance_sparse(values, indices, indptr, vector, multiplier, shift, limit, sums, start, stop):  # type: ignore[no-untyped-def]
    """As :func:`advance_int32`, over the stored values of CSR rows."""
    for i in range(start, stop):
        product = np.int64(0)
        for k in range(indptr[i], indptr[i + 1]):
            product += np.int64(values[k]) * np.int64(vector[indices[k]])
        sums[i] += max(min((product * multiplier) >> shift, limit), -limit)


@nb.njit(nogil=True, cache=True)
def count_levels(sums, signs, shift, half, levels, counts, start, stop):  # type: ignore[no-untyped-def]
    """Writes the level of each row's signed margin and counts the levels."""
    top = 2 * half - 1
    for i in range(nb.uintp(start), nb.uintp(stop)):
        levels[i] = max(min(((signs[i] * sums[i]) >> shift) + half, top), 0)
    for i in range(nb.uintp(start), nb.uintp(stop)):
        counts[levels[i]] += 1


@nb.njit(nogil=True, cache=True)
def signed_weights(sums, signs, shift, half, table, weights, start, stop):  # type: ignore[no-untyped-def]
    """Writes ``sign * table[level of the signed margin]`` for each row, from the first place of ``weights`` on."""
    top, first = 2 * half - 1, nb.uintp(start)
    for i in range(first, nb.uintp(stop)):
        level = max(min(((signs[i] * sums[i]) >> shift) + half, top), 0)
        weights[i - first] = signs[i] * table[nb.uintp(level)]


@nb.njit(nogil=True, cache=True)
def add_int16(flat, width, weights, offset, group, sums, start, stop):  # type: ignore[no-untyped-def]
    """Adds ``weights[i - offset] * row i``, in 32 bits for up to ``group`` rows at a time.

    Of rows of more than ``COLUMNS`` columns, so many columns at a time.
    """
    if width > COLUMNS:
        add_wide_int16(flat, width, weights, offset, group, sums, start, stop)
        return
    padded = LANES if width <= LANES else -(-width // WIDE_LANES) * WIDE_LANES
    partial = np.zeros(padded, np.int32)
    safe = max(start, min(stop, (len(flat) - padded) // width + 1))
    for first in range(start, stop, group):
        partial[:] = 0
        last = min(first + group, stop)
        whole = first + max(0, min(last, safe) - first) // ROWS * ROWS
        add_whole_int16(flat, width, weights, offset, partial, first, whole)
        for i in range(whole, last):
            a = weights[i - offset]
            row = flat[i * width : (i + 1) * width]
            for j in range(width):
                partial[j] = np.int32(partial[j] + np.int32(row[j]) * a)
        for j in range(width):
            sums[j] += partial[j]


@nb.njit(nogil=True, cache=True)
def add_whole_int16(flat, width, weights, offset, partial, start, stop):  # type: ignore[no-untyped-def]
    """Adds weighted rows, a multiple of ``ROWS`` of them, to 32-bit sums of whole lanes."""
    size, more, parts = nb.uintp(2 * width), nb.uintp(offset), nb.uintp(len(partial) // WIDE_LANES)
    step, to_step = nb.uintp(2 * WIDE_LANES), nb.uintp(4 * WIDE_LANES)
    rows, to = nb.uintp(flat.ctypes.data), nb.uintp(partial.ctypes.data)
    if width > NARROW:
        for i in range(nb.uintp(start), nb.uintp(stop)):
            weight = weights[i - more]
            for part in range(parts):
                add_row_32(rows + i * size + part * step, size, weight, to + part * to_step)
        return
    for i in range(nb.uintp(start), nb.uintp(stop), nb.uintp(ROWS)):
        k = i - more
        a, b = weights[k], weights[k + nb.uintp(1)]
        c, d = weights[k + nb.uintp(2)], weights[k + nb.uintp(3)]
        if width <= LANES:
            add_rows_16(rows + i * size, size, a, b, c, d, to)
        else:
            for part in range(parts):
                add_rows_32(rows + i * size + part * step, size, a, b, c, d, to + part * to_step)


@nb.njit(nogil=True, cache=True)
def add_wide_int16(flat, width, weights, offset, group, sums, start, stop):  # type: ignore[no-untyped-def]
    """As :func:`add_int16`, ``COLUMNS`` columns at a time: for rows that are wider."""
    partial = np.zeros(COLUMNS, np.int32)
    for begin in range(0, width, COLUMNS):
        size = min(COLUMNS, width - begin)
        for first in range(start, stop, group):
            partial[:size] = 0
            for i in range(first, min(first + group, stop)):
                weight = weights[i - offset]
                if weight != 0:
                    row = flat[i * width + begin : i * width + begin + size]
                    for j in range(size):
                        partial[j] = np.int32(partial[j] + np.int32(row[j]) * weight)
            for j in range(size):
                sums[begin + j] += partial[j]


@nb.njit(nogil=True, cache=True)
def add_int32(values, weights, offset, sums, start, stop):  # type: ignore[no-untyped-def]
    """Adds ``weights[i - offset] * values[i]`` in 64 bits."""
    for i in range(start, stop):
        weight = np.int64(weights[i - offset])
        if weight != 0:
            row = values[i]
            for j in range(values.shape[1]):
                sums[j] += np.int64(row[j]) * weight


@nb.njit(nogil=True, cache=True)
def add_sparse(values, indices, indptr, weights, offset, sums, start, stop):  # type: ignore[no-untyped-def]
    """Adds ``weights[i - offset] * values[i]`` over stored values in 64 bits."""
    for i in range(start, stop):
        weight = np.int64(weights[i - offset])
        if weight != 0:
            for k in range(indptr[i], indptr[i + 1]):
                sums[indices[k]] += np.int64(values[k]) * weight


@nb.njit(nogil=True, cache=True)
def capped_weights(levels, signs, table, cut, full_rows, step, partial, seen, weights, start, stop):  # type: ignore[no-untyped-def]
    """Writes ``sign * units`` per row, from the first place of ``weights`` on.

    At level ``cut`` the first rows of the table, in order, get ``step`` or ``partial`` more; ``seen`` of them come
    before ``start``. Returns how many come before ``stop``.
    """
    here, first, behind = 0, nb.uintp(start), nb.uintp(stop)
    for i in range(first, behind):
        here += levels[i] == cut
    if seen > full_rows or seen + here <= full_rows:
        more = step if seen <= full_rows else 0
        for i in range(first, behind):
            level = levels[i]
            weights[i - first] = signs[i] * (table[level] + (more if level == cut else 0))
        return seen + here
    for i in range(first, behind):
        level = levels[i]
        units = table[level]
        if level == cut:
            if seen < full_rows:
                units += step
            elif seen == full_rows:
                units += partial
            seen += 1
        weights[i - first] = signs[i] * units
    return seen


@nb.njit(nogil=True, cache=True)
def level_pass_int16(flat, width, vectors, sizes, block, sums, signs, shift, half, levels, counts, start, stop):  # type: ignore[no-untyped-def]
    """A pass that brings margins up to date, writes every row's level and counts them; ``block`` rows at a time."""
    products = np.empty(block, np.int32)
    for low in range(start, stop, block):
        high = min(low + block, stop)
        advance_int16(flat, width, vectors, sizes, products, sums, low, high)
        count_levels(sums, signs, shift, half, levels, counts, low, high)


@nb.njit(nogil=True, cache=True)
def stateless_pass_int16(  # type: ignore[no-untyped-def]
    flat, width, vectors, sizes, block, margins, signs, shift, half, table, group, sums, start, stop
):
    """A pass that brings margins up to date and adds rows up, each by the weight that its level has in ``table``."""
    products, weights = np.empty(block, np.int32), np.empty(block, np.int32)
    for low in range(start, stop, block):
        high = min(low + block, stop)
        advance_int16(flat, width, vectors, sizes, products, margins, low, high)
        signed_weights(margins, signs, shift, half, table, weights, low, high)
        add_int16(flat, width, weights, low, group, sums, low, high)


@nb.njit(nogil=True, cache=True)
def capped_pass_int16(  # type: ignore[no-untyped-def]
    flat, width, block, levels, signs, table, cut, full_rows, step, partial, seen, group, sums, start, stop
):
    """A pass that adds rows up by the weights of :func:`capped_weights`."""
    weights = np.empty(block, np.int32)
    for low in range(start, stop, block):
        high = min(low + block, stop)
        seen = capped_weights(levels, signs, table, cut, full_rows, step, partial, seen, weights, low, high)
        add_int16(flat, width, weights, low, group, sums, low, high)
