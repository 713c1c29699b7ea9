"""What a query may not do if every row it gives is to depend on one row of the data base.

The promise is about the rows that a query gives. It is one about the rows of the data base only where one of these
moves at most one of those: under ``LIMIT`` or a window function one person decides which others are there, and a join
may give a person many rows. What the text of a query shows is refused; what it does not (a key that is not unique, a
view whose text the data base does not tell) is for whoever writes it: see ``docs/scale.md``.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from tacit.errors import missing

DIALECTS = {"postgresql": "postgres", "mssql": "tsql", "mariadb": "mysql"}
"""Names of SQLAlchemy for what sqlglot calls otherwise."""

_PLAIN = "age btrim elt field initcap julianday num_nonnulls printf quote to_days to_number unixepoch width_bucket"
_OF_ONE_ROW = frozenset(_PLAIN.split())
"""Functions of one row that sqlglot does not know. Other unknown ones may aggregate, count, or give several rows."""

_CHANGES = "uses values that change whenever it is read"
_SPREADS = "makes several rows of one"


def fault_of(query: str, dialect: str, view_of: Callable[[str], str | None]) -> str:
    """Why the rows of a query are not rows of the data base one by one; empty where its text does not show it.

    Args:
        query: one statement.
        dialect: SQLAlchemy's name of the data base.
        view_of: the statement that makes the view of a name; None where there is no such view.
    """
    tree = _parsed(query, dialect)
    if tree is None:
        return "cannot be read as one statement that selects: give the name of a table"
    trees, seen = [tree], set()
    for each in trees:  # grows by the views that are named
        for name in _tables(each):
            text = None if name in seen else view_of(name)
            seen.add(name)
            view = None if text is None else _parsed(text, dialect)
            trees.extend([] if view is None else [view])
    for each in trees:
        for fault in _faults(each):
            return fault
    twice = [name for name, count in Counter(name for each in trees for name in _tables(each)).items() if count > 1]
    return f"reads '{twice[0]}' more than once, so that a row of it counts several times" if twice else ""


def _parsed(query: str, dialect: str) -> Any:
    """The tree of a statement that selects; None where it is none."""
    try:
        import sqlglot
        from sqlglot import exp
    except ModuleNotFoundError:
        raise missing("sqlglot", "sql") from None

    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of syntax that it passes on
    for language in (DIALECTS.get(dialect, dialect), None):
        try:
            statements = sqlglot.parse(query, read=language)
        except (sqlglot.errors.SqlglotError, ValueError, RecursionError):  # unknown language, or no SQL
            continue
        tree = statements[0] if len(statements) == 1 else None
        tree = tree.expression if isinstance(tree, exp.Create) else tree
        return tree if isinstance(tree, exp.Query) else None
    return None


def _tables(tree: Any) -> list[str]:
    """The tables, views and parts of WITH that a statement names, as often as it does."""
    from sqlglot import exp

    return [table.name.lower() for table in tree.find_all(exp.Table) if table.name]


def _faults(tree: Any) -> Iterator[str]:
    """What is wrong with a statement, one sentence without a subject for each."""
    from sqlglot import exp

    kinds = (
        (
            (exp.Limit, exp.Offset, exp.Fetch),
            "has LIMIT, OFFSET or FETCH, so that one row decides whether others are there",
        ),
        ((exp.Window, exp.Qualify), "has a window function, in which rows decide about one another"),
        ((exp.AggFunc, exp.Group, exp.Having), "aggregates: its rows are made of several"),
        (exp.TableSample, "draws a sample, another one whenever it is read"),
        ((exp.Rand, exp.Uuid, exp.NextValueFor, exp.Parameter, exp.SessionParameter), _CHANGES),
        ((exp.JSONArrayAgg, exp.JSONObjectAgg), "aggregates: its rows are made of several"),
        (exp.Connect, "has CONNECT BY"),
        (exp.Lock, "locks rows, and so may leave out what others hold"),
        ((exp.Unnest, exp.Lateral, exp.Explode, exp.ExplodingGenerateSeries, exp.Pivot, exp.MatchRecognize), _SPREADS),
    )
    for node in tree.walk():
        yield from (said for kind, said in kinds if isinstance(node, kind))
        if isinstance(node, exp.Distinct) and node.args.get("on"):
            yield "has DISTINCT ON, so that one row decides whether others are there"
        elif isinstance(node, exp.Column) and node.name.lower() in ("rownum", "ctid") and not node.this.quoted:
            yield "counts its rows, so that one row decides whether others are there"
        elif isinstance(node, exp.Anonymous) and node.name.lower() not in _OF_ONE_ROW:
            yield (
                f"calls {node.name}, and nothing tells whether that looks at one row at a time, gives one value, and "
                "always the same: make a column of it"
            )
        elif isinstance(node, exp.With) and node.args.get("recursive"):
            yield "has WITH RECURSIVE"
        elif isinstance(node, exp.Join) and not _matches(node):
            yield "joins without JOIN ... ON a.key = b.key, so that one row may meet all others"
        elif _spreads(node):
            yield _SPREADS
        elif _is_condition(node):
            yield "has a subquery among its conditions or values, so that one row may decide about many"


def _spreads(node: Any) -> bool:
    """Whether a table is a function of other tables' columns."""
    from sqlglot import exp

    return isinstance(node, exp.Table) and isinstance(node.this, exp.Func) and node.this.find(exp.Column) is not None


def _matches(join: Any) -> bool:
    """Whether a join asks for equal values of columns on both sides."""
    from sqlglot import exp

    if join.args.get("kind") in ("SEMI", "ANTI", "CROSS") or join.args.get("method") in ("POSITIONAL", "ASOF"):
        return False
    if join.args.get("using") or join.args.get("method") == "NATURAL":
        return True
    condition = join.args.get("on")
    terms = [] if condition is None else list(condition.flatten()) if isinstance(condition, exp.And) else [condition]
    pairs = [[term.left, term.right] for term in terms if isinstance(term, exp.EQ)]
    tables = [{side.table for side in pair if isinstance(side, exp.Column)} for pair in pairs]
    return any(len(names) == 2 for names in tables)


def _is_condition(node: Any) -> bool:
    """Whether a query stands where a condition or a value does."""
    from sqlglot import exp

    places = (exp.From, exp.Join, exp.SetOperation, exp.CTE, exp.Subquery, exp.Create)
    return isinstance(node, exp.Query) and node.parent is not None and not isinstance(node.parent, places)
