"""Boolean functions as users write them: a name, an expression, a table, or a Python function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from tacit.errors import UNSPENT, TacitError
from tacit.theory.closure.formula import TruthTable, named_function

NAMES = ("or", "and", "majority", "maj", "xor")
Function = str | TruthTable | Sequence[int] | Callable[..., int]


def truth_table(function: Function, arity: int) -> TruthTable:
    """The truth table of a function of ``arity`` concepts.

    Args:
        function: ``"or"``, ``"and"``, ``"majority"`` or ``"xor"``; an expression in ``x1, x2, ..`` with ``and``,
            ``or``, ``not``, ``^`` and parentheses; a :class:`TruthTable` or its ``2^k`` values, index ``sum of x_(i+1)
            2^i``; or a Python function of k bits.
        arity: number of concepts.

    Raises:
        ValueError: if the function does not have that many inputs, or cannot be read. Nothing was spent.
    """
    if isinstance(function, str):
        table = named_function(function, arity) if function.lower() in NAMES else _expression(function, arity)
    elif isinstance(function, TruthTable):
        table = function
    else:
        table = _table_of(function, arity)
    if table.arity != arity:
        raise TacitError(f"the function has {table.arity} inputs, and there are {arity} concepts", UNSPENT)
    return table


def _table_of(function: Sequence[int] | Callable[..., int], arity: int) -> TruthTable:
    """The table of a Python function, or of listed values."""
    try:
        if callable(function):
            return TruthTable.of(lambda bits: function(*bits), arity)
        return TruthTable(tuple(int(value) for value in function))
    except TacitError:
        raise
    except Exception as error:
        kind = "cannot be asked about" if callable(function) else "cannot be read as a function of"
        raise TacitError(
            f"{function!r} {kind} {arity} concepts ({type(error).__name__}: {error}): give a name, an expression, the "
            "2^k values of its table, or a Python function of k bits",
            UNSPENT,
        ) from error


def in_words(function: Function, arity: int) -> str:
    """The function with ``x1, x2, ..`` for the concepts."""
    names = [f"x{i + 1}" for i in range(arity)]
    if isinstance(function, str):
        key = function.lower()
        if key in ("or", "and", "xor"):
            return f" {key} ".join(names)
        return f"the majority of {', '.join(names)}" if key in NAMES else function
    return f"a function of {', '.join(names)}"


def _expression(text: str, arity: int) -> TruthTable:
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise _unreadable(text, arity) from None
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    known = {f"x{i + 1}" for i in range(arity)}
    if used != known:
        raise TacitError(
            f"the expression {text!r} uses {', '.join(sorted(used)) or 'no inputs'}, and there are {arity} concepts: "
            f"it should use {', '.join(sorted(known))}",
            UNSPENT,
        )

    def value(bits: tuple[int, ...]) -> int:
        named = {f"x{i + 1}": bool(bit) for i, bit in enumerate(bits)}
        return int(_value(tree, named, text, arity))

    return TruthTable.of(value, arity)


def _value(node: ast.expr, named: Mapping[str, bool], text: str, arity: int) -> bool:
    match node:
        case ast.Name(id=name):
            return named[name]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, named, text, arity)
        case ast.BoolOp(op=op, values=values):
            parts = [_value(part, named, text, arity) for part in values]
            return all(parts) if isinstance(op, ast.And) else any(parts)
        case ast.BinOp(left=left, op=ast.BitXor(), right=right):
            return _value(left, named, text, arity) != _value(right, named, text, arity)
    raise _unreadable(text, arity)


def _unreadable(text: str, arity: int) -> TacitError:
    return TacitError(
        f"cannot read {text!r} as a function of {arity} concepts: give 'or', 'and', 'majority', 'xor', or an "
        "expression such as 'x1 and (x2 or not x3)'",
        UNSPENT,
    )
