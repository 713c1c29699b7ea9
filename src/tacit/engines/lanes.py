"""Rows, 16 or 32 numbers at a time: of short loops the compiler makes no vector instructions by itself.

Plain LLVM, so whatever the processor has is used. Rows and sums are given by their addresses: the caller sees to it
that so many numbers lie there. Sums are in 32 bits, and wrap around where they do not fit.
"""

# ruff: noqa: ARG001 (numba reads the names of arguments that only the emitted code uses)

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
    """Makes the inner product of ``count`` (at least 1) times ``lanes`` numbers at two addresses."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        *addresses, count = arguments
        half, bytes_ = ir.VectorType(INT32, lanes // 2), ir.Constant(count.type, 2 * lanes)
        before, loop, behind = builder.block, builder.append_basic_block(), builder.append_basic_block()
        builder.branch(loop)
        builder.position_at_end(loop)
        done, sums = builder.phi(count.type), builder.phi(half)
        shift = builder.mul(done, bytes_)
        terms = builder.mul(*(_read(builder, builder.add(address, shift), lanes) for address in addresses))
        pairs = builder.add(_pick(builder, terms, range(0, lanes, 2)), _pick(builder, terms, range(1, lanes, 2)))
        total, next_ = builder.add(sums, pairs), builder.add(done, ir.Constant(count.type, 1))
        builder.cbranch(builder.icmp_unsigned("<", next_, count), loop, behind)
        for variable, first, later in (
            (done, ir.Constant(count.type, 0), next_),
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
