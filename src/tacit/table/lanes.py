"""Short rows, 16 or 32 numbers at a time: the compiler makes no vector instructions of loops that short by itself.

Plain LLVM, so whatever the processor has is used. Rows and sums are given by their addresses: the caller sees to it
that so many numbers lie there. Sums are in 32 bits, and wrap around where they do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
    """Makes ``dot(row, vector)``: the inner product of the numbers at two addresses, int32."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        sums = builder.mul(*(_read(builder, address, lanes) for address in arguments))
        sums = builder.add(_pick(builder, sums, range(0, lanes, 2)), _pick(builder, sums, range(1, lanes, 2)))
        size = lanes // 2
        while size > 1:
            size //= 2
            sums = builder.add(_pick(builder, sums, range(size)), _pick(builder, sums, range(size, 2 * size)))
        return builder.extract_element(sums, ir.Constant(INT32, 0))

    def dot(typing: Any, row: Any, vector: Any) -> Any:
        del typing, row, vector
        return types.int32(types.uintp, types.uintp), emit

    return intrinsic(dot)


def _add_rows(lanes: int) -> Callable[..., Any]:
    """Makes ``add_rows(row, size, a, b, c, d, sums)``: adds four weighted rows, ``size`` bytes apart, to sums."""

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

    def add_rows(typing: Any, row: Any, size: Any, a: Any, b: Any, c: Any, d: Any, sums: Any) -> Any:
        del typing, row, size, a, b, c, d, sums
        return types.void(types.uintp, types.uintp, *[types.int32] * ROWS, types.uintp), emit

    return intrinsic(add_rows)


dot_16, dot_32 = _dot(16), _dot(32)
add_rows_16, add_rows_32 = _add_rows(16), _add_rows(32)
