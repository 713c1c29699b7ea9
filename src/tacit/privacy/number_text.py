"""Texts of many numbers at once: what ``repr`` makes of each, with commas between.

A decimal ``d / 10**k``, ``d`` and ``10**k`` being doubles without error, is read as the quotient of the two as a
machine divides. So whether it stands for a float is decided by one division; where ``d`` is below ``2**52`` no other
decimal of ``k`` places does, and the least such ``k`` gives the shortest text, which is that of ``repr``. Floats that
need longer numbers than that are left to ``repr`` itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numba as nb
import numpy as np

from tacit.arrays import Floats, Ints

MOST_PLACES = 22
"""``10**22`` is the largest power of ten that is a double without error."""

LARGEST = 2.0**52

_POWERS = 10.0 ** np.arange(MOST_PLACES + 1)
_POWERS.flags.writeable = False

LONGEST = 32
"""More than any text takes, comma included."""

TEN = np.uint64(10)

ZERO, POINT, COMMA, MINUS, EXPONENT = (np.uint8(ord(character)) for character in "0.,-e")


@nb.njit(nogil=True, cache=True)
def _reads_back(number, places):  # type: ignore[no-untyped-def]
    """The ``d`` of ``d / 10**places`` that is read as ``number`` (positive), or 0 where that is not known."""
    scaled = np.rint(number * _POWERS[places])
    if scaled < LARGEST and scaled / _POWERS[places] == number:
        return np.int64(scaled)
    return np.int64(0)


@nb.njit(nogil=True, cache=True)
def _shortest(number, places):  # type: ignore[no-untyped-def]
    """The ``d`` and the least ``places`` of a positive number, found from a guess of the latter; ``d`` may be 0."""
    whole = _reads_back(number, places)
    if whole:
        while places > 0:
            fewer = _reads_back(number, places - 1)
            if not fewer:
                break
            whole, places = fewer, places - 1
        return whole, places
    while not whole and places < MOST_PLACES:
        places += 1
        whole = _reads_back(number, places)
    return whole, places


@nb.njit(nogil=True, cache=True)
def _write_plain(digits, count, places, text, at):  # type: ignore[no-untyped-def]
    """Writes digits (the last one first) with a point before the last ``places``; returns where the text ends."""
    if count <= places:
        text[at], text[at + 1] = ZERO, POINT
        at += 2
    for _ in range(places - count):
        text[at] = ZERO
        at += 1
    for k in range(count - 1, -1, -1):
        text[at] = digits[k]
        at += 1
        if k == places and k > 0:
            text[at] = POINT
            at += 1
    if places == 0:
        text[at], text[at + 1] = POINT, ZERO
        at += 2
    return at


@nb.njit(nogil=True, cache=True)
def _write_with_exponent(digits, count, power, text, at):  # type: ignore[no-untyped-def]
    """Writes digits (the last one first) with a point behind the first, times ``10**-power``."""
    for k in range(count - 1, -1, -1):
        text[at] = digits[k]
        at += 1
        if k == count - 1 and k > 0:
            text[at] = POINT
            at += 1
    text[at], text[at + 1] = EXPONENT, MINUS
    text[at + 2], text[at + 3] = ZERO + np.uint8(power // 10), ZERO + np.uint8(power % 10)
    return at + 4


@nb.njit(nogil=True, cache=True)
def write_floats(numbers, start, text, whole_numbers):  # type: ignore[no-untyped-def]
    """Writes numbers from position ``start`` on into ``text``, each with a comma behind it; whole ones without a point.

    Returns how many bytes were written, and the position of the first number that was not: the end, or one that is not
    finite or needs more digits.
    """
    at, guess, digits = 0, 0, np.empty(20, np.uint8)
    for position in range(start, len(numbers)):
        number = abs(numbers[position])
        whole, places = np.int64(0), 0
        if number != 0.0:
            if not number < LARGEST:
                return at, position
            if whole_numbers:
                whole = np.int64(number)
            else:
                whole, places = _shortest(number, guess)
            if not whole:
                return at, position
            guess = places  # neighbours are often of a kind
        if np.signbit(numbers[position]):
            text[at] = MINUS
            at += 1
        count = 0
        rest = np.uint64(whole)  # unsigned: numba tests signed ones for rounding down
        while rest or count == 0:
            digits[count] = ZERO + np.uint8(rest % TEN)
            rest //= TEN
            count += 1
        if count - places < -3:  # as repr: 0.0001, but 1e-05
            at = _write_with_exponent(digits, count, places - count + 1, text, at)
        else:
            at = _write_plain(digits, count, -1 if whole_numbers else places, text, at)
        text[at] = COMMA
        at += 1
    return at, len(numbers)


@nb.njit(nogil=True, cache=True)
def write_arrays(numbers, ends, whole_numbers, text, upto):  # type: ignore[no-untyped-def]
    """Writes arrays that stand one behind another, and where each text ends into ``upto``.

    An array with a number that :func:`write_floats` does not write has no text.
    """
    at, start = 0, 0
    for array in range(len(ends)):
        written, position = write_floats(numbers[: ends[array]], start, text[at:], whole_numbers[array])
        if position == ends[array]:
            at += written
        upto[array], start = at, ends[array]


def array_texts(arrays: Sequence[Floats | Ints]) -> list[str]:
    """The texts of the numbers of each array, with commas between; empty for those that take more than the kernel."""
    numbers = np.concatenate(arrays, dtype=np.float64)
    ends, upto = np.cumsum([len(array) for array in arrays]), np.empty(len(arrays), np.int64)
    text = np.empty(LONGEST * len(numbers), np.uint8)
    write_arrays(numbers, ends, np.array([array.dtype.kind == "i" for array in arrays]), text, upto)
    whole, stops = text[: upto[-1]].tobytes().decode("ascii"), upto.tolist()
    return [whole[start : max(stop - 1, start)] for start, stop in zip([0, *stops], stops, strict=False)]


def floats_text(numbers: Sequence[float]) -> str:
    """The texts of floats, with commas between."""
    array = np.asarray(numbers, np.float64)
    text, parts, position, refused = np.empty(LONGEST * len(array), np.uint8), [], 0, 0
    while position < len(array):
        written, position = write_floats(array, position, text, False)
        parts.append(text[:written].tobytes())
        if position < len(array):
            refused += 1
            many = 8 * refused > position + 8  # as of numbers with all their digits: the kernel would stop at each
            rest = array[position:] if many else array[position : position + 1]
            parts.append((",".join(map(repr, rest.tolist())) + ",").encode("ascii"))
            position += len(rest)
    return b"".join(parts)[:-1].decode("ascii")


def ints_text(numbers: Sequence[int]) -> str:
    """The texts of whole numbers, with commas between."""
    try:
        array = np.asarray(numbers, np.float64)
    except OverflowError:  # beyond all floats
        array = np.array([np.inf])
    text = np.empty(LONGEST * len(array), np.uint8)
    written, position = write_floats(array, 0, text, True)
    if position < len(array):  # one is beyond the whole numbers that floats know
        return ",".join(map(str, numbers))
    return text[: written - 1].tobytes().decode("ascii")
