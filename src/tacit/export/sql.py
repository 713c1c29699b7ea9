"""A model as one SQL query of plain CASE expressions, in the dialects that sqlglot writes.

The query has common table expressions, a level each: what several expressions use is a column of an earlier level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.export import expression as ex
from tacit.export.programs import program_of
from tacit.export.sql_values import SqlValues
from tacit.export.statement import Subject, needed, statement_of

DIALECTS = {
    "postgresql": "postgres",
    "duckdb": "duckdb",
    "sqlite": "sqlite",
    "bigquery": "bigquery",
    "snowflake": "snowflake",
    "sqlserver": "tsql",
    "spark": "spark",
}
"""Our names of the dialects, and sqlglot's."""

MATERIALIZED = ("sqlite", "postgres")
"""Dialects that are told to compute a level once: SQLite would write it out wherever it is used."""

MOST_TERMS = 24
"""Terms of a sum that stand in one expression: databases bound how deep one may be."""

DEPTH = 8
"""Levels of a tree in one expression."""

CASELESS = ("duckdb", "sqlite", "bigquery", "tsql", "spark")
"""Dialects in which names of columns that differ in case alone are one, even in quotes."""

LONGEST_NAME = 63
"""Bytes of a name of PostgreSQL, which cuts longer ones."""


def to_sql(subject: Any, dialect: str = "duckdb", table: str = "data", keep: Sequence[str] = ()) -> str:
    """A query that says for every row of a table what a model says.

    Args:
        subject: a model, or a fitted estimator: then the digest of its certificate is in the comment on top.
        dialect: ``postgresql``, ``duckdb``, ``sqlite``, ``bigquery``, ``snowflake``, ``sqlserver`` or ``spark``.
        table: name of the table; a schema or catalogue stands before a point.
        keep: columns of the table that stand beside the predictions, such as a key.

    Raises:
        ExportError: for an unknown dialect, names of columns that are one in the dialect, or a model that has no such
            form.
        TacitError: without the package sqlglot.
    """
    if dialect not in DIALECTS:
        raise ex.ExportError(f"unknown dialect {dialect!r}; known: {', '.join(DIALECTS)}")
    sqlglot = needed("sqlglot")
    about = Subject.of(subject)
    query = _Query(sqlglot.exp, DIALECTS[dialect]).of(about, table, keep)
    comment = "".join(f"-- {line}\n" for line in statement_of(about))
    return comment + str(query.sql(dialect=DIALECTS[dialect], pretty=True)) + "\n"


class _Query(SqlValues):
    """Writes a program as a query of sqlglot."""

    def __init__(self, exp: Any, dialect: str) -> None:
        super().__init__(exp, dialect)
        self.levels: list[list[Any]] = []
        self.named: dict[ex.Expression, tuple[Any, int]] = {}
        self.prefix = "tacit_"

    def of(self, about: Subject, table: str, keep: Sequence[str]) -> Any:
        """The query."""
        program = program_of(about.model)
        keep = tuple(dict.fromkeys(keep))
        self._require_distinct([*dict.fromkeys(column.name for column in program.columns)], "columns of the model")
        self._require_distinct([*keep, *(name for name, _ in program.outputs)], "columns of the result")
        own = [*keep, *(column.name for column in program.columns), *table.split(".")]
        while any(name.lower().startswith(self.prefix) for name in own):
            self.prefix += "_"
        uses: dict[ex.Expression, int] = {}
        nodes = program.nodes()
        for node in nodes:
            for part in node.inside:
                uses[part] = uses.get(part, 0) + _times(node)
        for node in nodes:
            shared = uses.get(node, 0) > 1 and not isinstance(
                node, ex.Number | ex.Known | ex.Among | ex.AtLeast | ex.All
            )
            if isinstance(node, ex.Column) or shared:  # of tests SQL Server makes no column
                self._name(node)
        outputs = [self.exp.alias_(self._write(node)[0], name, quoted=True) for name, node in program.outputs]
        source = self._table(table)
        beside = [self._column(name) for name in keep]
        query = self.exp.select(*beside, *outputs)
        for place, level in enumerate(self.levels):
            before = [self.exp.Star()] if place else beside  # other columns of the table could have names of ours
            inside = self.exp.select().select(*before, *level, copy=False).from_(source, copy=False)
            materialized = True if self.dialect in MATERIALIZED else None
            query = query.with_(f"{self.prefix}level_{place + 1}", as_=inside, materialized=materialized, copy=False)
            source = self.exp.to_table(f"{self.prefix}level_{place + 1}")
        return query.from_(source, copy=False)

    def _table(self, name: str) -> Any:
        """A table by its name, whatever characters are in it; a schema and a catalogue stand before points."""
        parts = name.split(".")
        if not all(parts) or len(parts) > 3:
            raise ex.ExportError(f"a table is called NAME, SCHEMA.NAME or CATALOGUE.SCHEMA.NAME, got {name!r}")
        return self.exp.table_(*reversed(parts), quoted=True)

    def _require_distinct(self, names: Sequence[str], whose: str) -> None:
        seen: dict[Any, str] = {}
        for name in names:
            key = name.lower() if self.dialect in CASELESS else name.encode()
            key = key[:LONGEST_NAME] if self.dialect == "postgres" else key
            if key in seen:
                raise ex.ExportError(
                    f"{whose} are called {seen[key]!r} and {name!r}, one name in this dialect: rename one"
                )
            seen[key] = name

    def _name(self, node: ex.Expression) -> tuple[Any, int]:
        """Makes a node a column of a level of its own."""
        expression, level = self._write(node)
        while len(self.levels) <= level:
            self.levels.append([])
        name = f"{self.prefix}{len(self.named)}"
        self.levels[level].append(self.exp.alias_(expression, name, quoted=True, copy=False))
        self.named[node] = self._column(name), level + 1
        return self.named[node]

    def _write(self, node: ex.Expression) -> tuple[Any, int]:
        """An expression, and the level at which all that it needs is there."""
        if node in self.named:
            column, level = self.named[node]
            return column.copy(), level
        if isinstance(node, ex.Sum) and len(node.terms) > MOST_TERMS:
            first = ex.Sum(node.terms[: -MOST_TERMS + 1])
            return self._write(ex.Sum((_Named(*self._name(first)), *node.terms[-MOST_TERMS + 1 :])))
        if isinstance(node, _Named):
            return node.column.copy(), node.level
        inside = [self._write(part) for part in node.inside]
        level = max((level for _, level in inside), default=0)
        return self._written(node, [part for part, _ in inside]), level

    def _written(self, node: ex.Expression, inside: list[Any]) -> Any:
        if isinstance(node, ex.Number):
            return self._number(node.value)
        if isinstance(node, ex.Column):
            return self._value(node)
        of_one: dict[type[ex.Expression], Any] = {
            ex.Steps: self._steps,
            ex.Words: self._places,
            ex.Truths: self._places,
        }
        of_one |= {ex.Known: self._known, ex.Take: self._take, ex.Among: self._among}
        if type(node) in of_one:
            return of_one[type(node)](node, inside[0])
        if isinstance(node, ex.AtLeast):
            return self.exp.GTE(this=self._paren(inside[0]), expression=self._paren(inside[1]))
        if isinstance(node, ex.All):
            return self.exp.and_(*inside)
        if isinstance(node, ex.Where):
            rest = inside[2]
            if isinstance(rest, self.exp.Case):
                more = [(branch.this, branch.args["true"]) for branch in rest.args["ifs"]]
                return self._case([(inside[0], inside[1]), *more], rest.args["default"])
            return self._case([(inside[0], inside[1])], rest)
        if isinstance(node, ex.Leaves):
            return self._tree(node, dict(zip(node.shape.used_columns, inside, strict=True)), 0)
        return self._arithmetic(node, inside)

    def _known(self, node: ex.Known, value: Any) -> Any:
        del node
        return self._finite(value)

    def _among(self, node: ex.Among, index: Any) -> Any:
        members = [self._integer(k) for k in np.flatnonzero(node.members).tolist()]
        return self.exp.In(this=index, expressions=members or [self._integer(-1)])

    def _arithmetic(self, node: ex.Expression, inside: list[Any]) -> Any:
        exp = self.exp
        if isinstance(node, ex.Sum):
            total = inside[0]
            for term in inside[1:]:
                total = exp.Add(this=total, expression=self._grouped(term))
            return total
        assert isinstance(node, ex.Apply)
        two = {"sub": exp.Sub, "mul": exp.Mul, "div": exp.Div}
        if node.name in two:
            return two[node.name](this=self._paren(inside[0]), expression=self._paren(inside[1]))
        if node.name == "truncate":
            return self._case([(exp.LT(this=inside[0], expression=self._integer(0)), self._call("Ceil", inside[0]))],
                              self._call("Floor", inside[0]))  # fmt: skip
        if node.name in ("max", "min"):
            compare = exp.GT if node.name == "max" else exp.LT
            return self._case(
                [(compare(this=self._paren(inside[0]), expression=self._paren(inside[1])), inside[0])], inside[1]
            )
        if node.name in ("cos", "sin"):
            return exp.Anonymous(this=node.name.upper(), expressions=[inside[0].copy()])
        return self._call({"exp": "Exp", "log": "Ln", "sqrt": "Sqrt", "abs": "Abs"}[node.name], inside[0])

    # Tables and trees.

    def _take(self, node: ex.Take, index: Any) -> Any:
        floats = node.table.dtype.kind == "f"
        write = self._number if floats else self._integer
        starts = [0, *(np.flatnonzero(node.table[1:] != node.table[:-1]) + 1).tolist()]
        values = [write(node.table[start].item()) for start in starts]
        if len(values) == 1:
            return values[0]
        tests = [self.exp.LT(this=index.copy(), expression=self._integer(stop)) for stop in starts[1:]]
        case = self._case(list(zip(tests, values[:-1], strict=True)), values[-1])
        return self.exp.cast(case, "double") if floats else case

    def _tree(self, node: ex.Leaves, codes: dict[int, Any], root: int) -> Any:
        return self.exp.cast(self._below(node, codes, root), "double", copy=False)

    def _below(self, node: ex.Leaves, codes: dict[int, Any], split: int) -> Any:
        if split < 0:
            return self._number(float(node.values[-1 - split]))
        shape = node.shape
        goes, (left, right) = shape.goes_right(split), shape.children[split].tolist()
        index, last = codes[int(shape.columns[split])], int(shape.thresholds[split])
        if 0 <= last < len(goes) - 1:
            test = self.exp.GT(this=index.copy(), expression=self._integer(last))
        else:
            members = [self._integer(k) for k in np.flatnonzero(goes).tolist()] or [self._integer(-1)]
            test = self.exp.In(this=index.copy(), expressions=members)
        branch = self.exp.If(this=test, true=self._below(node, codes, right))
        return self.exp.Case(ifs=[branch], default=self._below(node, codes, left))  # copies at each depth take minutes


class _Named(ex.Expression):
    """A node that is a column of a level already."""

    def __init__(self, column: Any, level: int) -> None:
        self.column, self.level = column, level


def _times(node: ex.Expression) -> int:
    """How often a node writes each of those inside it."""
    if isinstance(node, ex.Apply) and node.name in ("truncate", "max", "min"):
        return 2
    return 2 if isinstance(node, ex.Take | ex.Leaves) else 1
