"""A model as one SQL query of plain CASE expressions, in the dialects that sqlglot writes.

The query has common table expressions, a level each: what several expressions use is a column of an earlier level.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tacit.export import expression as ex
from tacit.export.programs import program_of
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

NAN_TESTS = {"duckdb": "ISNAN", "spark": "ISNAN", "bigquery": "IS_NAN", "postgres": "", "snowflake": ""}
"""How NaN is told: by a function, or as equal to itself; the other dialects have none."""

MATERIALIZED = ("sqlite", "postgres")
"""Dialects that are told to compute a level once: SQLite would write it out wherever it is used."""

MOST_TERMS = 24
"""Terms of a sum that stand in one expression: databases bound how deep one may be."""

DEPTH = 8
"""Levels of a tree in one expression."""

LARGEST = 1.7976931348623157e308

FIRST_MONDAY = dt.date(1, 1, 1)

EXACT_DIGITS = 15
"""Digits of a decimal that SQLite reads without an error."""


def to_sql(subject: Any, dialect: str = "duckdb", table: str = "data", keep: Sequence[str] = ()) -> str:
    """A query that says for every row of a table what a model says.

    Args:
        subject: a model, or a fitted estimator: then the digest of its certificate is in the comment on top.
        dialect: ``postgresql``, ``duckdb``, ``sqlite``, ``bigquery``, ``snowflake``, ``sqlserver`` or ``spark``.
        table: name of the table; a schema or catalogue stands before a point.
        keep: columns of the table that stand beside the predictions, such as a key.

    Raises:
        ExportError: for an unknown dialect, or a model that has no such form.
        TacitError: without the package sqlglot.
    """
    if dialect not in DIALECTS:
        raise ex.ExportError(f"unknown dialect {dialect!r}; known: {', '.join(DIALECTS)}")
    sqlglot = needed("sqlglot")
    about = Subject.of(subject)
    query = _Query(sqlglot.exp, DIALECTS[dialect]).of(about, table, keep)
    comment = "".join(f"-- {line}\n" for line in statement_of(about))
    return comment + str(query.sql(dialect=DIALECTS[dialect], pretty=True)) + "\n"


class _Query:
    """Writes a program as a query of sqlglot."""

    def __init__(self, exp: Any, dialect: str) -> None:
        self.exp = exp
        self.dialect = dialect
        self.levels: list[list[Any]] = []
        self.named: dict[ex.Expression, tuple[Any, int]] = {}

    def of(self, about: Subject, table: str, keep: Sequence[str]) -> Any:
        """The query."""
        program = program_of(about.model)
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
        source = self.exp.to_table(table)
        for part in source.find_all(self.exp.Identifier):
            part.set("quoted", True)
        query = self.exp.select(*[self._column(name) for name in keep], *outputs)
        for place, level in enumerate(self.levels):
            inside = self.exp.select(self.exp.Star(), *level).from_(source)
            materialized = True if self.dialect in MATERIALIZED else None
            query = query.with_(f"level_{place + 1}", as_=inside, materialized=materialized)
            source = self.exp.to_table(f"level_{place + 1}")
        return query.from_(source)

    def _name(self, node: ex.Expression) -> tuple[Any, int]:
        """Makes a node a column of a level of its own."""
        written, level = self._write(node)
        while len(self.levels) <= level:
            self.levels.append([])
        name = f"tacit_{len(self.named)}"
        self.levels[level].append(self.exp.alias_(written, name, quoted=True))
        self.named[node] = self._column(name), level + 1
        return self.named[node]

    def _column(self, name: str) -> Any:
        return self.exp.column(name, quoted=True)

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
                total = exp.Add(this=total, expression=self._paren(term))
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

    def _call(self, name: str, inside: Any) -> Any:
        return getattr(self.exp, name)(this=inside.copy())

    def _paren(self, written: Any) -> Any:
        simple = (self.exp.Literal, self.exp.Column, self.exp.Case, self.exp.Cast, self.exp.Func, self.exp.Paren)
        return written.copy() if isinstance(written, simple) else self.exp.Paren(this=written.copy())

    def _integer(self, value: float) -> Any:
        return self.exp.Literal.number(int(value)) if value >= 0 else self.exp.Neg(this=self._integer(-value))

    def _number(self, value: float) -> Any:
        """A float, to the last bit; the exponent says that it is no decimal of fixed point."""
        exp = self.exp
        if value < 0:
            return exp.Paren(this=exp.Neg(this=self._number(-value)))
        text = repr(value)
        digits = text.partition("e")[0].replace(".", "").strip("0")
        if self.dialect == "sqlite" and value != LARGEST and (len(digits) > EXACT_DIGITS or not 1e-6 < value < 1e15):
            mantissa, exponent = math.frexp(value)
            whole = int(mantissa * 2**53)
            if value and abs(exponent) < 900:  # SQLite reads powers of two and integers without error, not all decimals
                power, times = 53 - exponent, exp.Div if exponent < 53 else exp.Mul
                return exp.Paren(this=times(this=self._real(whole), expression=self._real(2 ** abs(power))))
        return exp.Literal.number(text if "e" in text else f"{text}e0")

    def _real(self, whole: int) -> Any:
        if whole < 2**63:
            return self.exp.cast(self.exp.Literal.number(whole), "double")
        half = self._real(2**62)
        return self.exp.Paren(this=self.exp.Mul(this=half, expression=self._real(whole // 2**62)))

    def _case(self, branches: Sequence[tuple[Any, Any]], default: Any) -> Any:
        case = self.exp.Case()
        for test, value in branches:
            case.append("ifs", self.exp.If(this=test.copy(), true=value.copy()))
        case.set("default", default.copy())
        return case

    # Columns.

    def _value(self, column: ex.Column) -> Any:
        exp, own = self.exp, self._column(column.name)
        if self.dialect == "sqlite":
            if column.kind in (ex.DATE, ex.WEEKDAY):
                day = exp.Substring(this=self._call("Trim", own), start=self._integer(1), length=self._integer(10))
                is_date = exp.EQ(this=exp.Anonymous(this="DATE", expressions=[day]), expression=day.copy())
                return self._case([(is_date, day)], exp.null())
            return exp.Trim(this=own) if column.kind == ex.TEXT else own
        kinds = {ex.NUMBER: "double", ex.DATE: "date", ex.WEEKDAY: "date"}
        if column.kind in kinds:
            return exp.cast(own, kinds[column.kind])
        return (
            exp.Trim(this=exp.cast(own, "text") if self.dialect == "duckdb" else own) if column.kind == ex.TEXT else own
        )

    def _finite(self, value: Any) -> Any:
        low, high = self._number(-LARGEST), self._number(LARGEST)
        return self.exp.Between(this=value.copy(), low=low, high=high)

    def _gone(self, value: Any) -> Any:
        """Whether a number is missing or NaN."""
        exp = self.exp
        gone = exp.Is(this=value.copy(), expression=exp.null())
        if self.dialect not in NAN_TESTS:
            return gone
        name = NAN_TESTS[self.dialect]
        nan = exp.cast(exp.Literal.string("NaN"), "double")
        is_nan = (
            exp.Anonymous(this=name, expressions=[value.copy()]) if name else exp.EQ(this=value.copy(), expression=nan)
        )
        return exp.or_(gone, is_nan)

    def _steps(self, node: ex.Steps, value: Any) -> Any:
        exp, kind = self.exp, node.column.kind
        if kind == ex.WEEKDAY:
            gone = exp.Is(this=value.copy(), expression=exp.null())
            value = self._weekday(value)
        else:
            usual = kind == ex.NUMBER and node.bounded
            gone = exp.Not(this=self._finite(value)) if usual else self._gone(value) if kind == ex.NUMBER else None
            if kind == ex.DATE or usual:
                missing = exp.Is(this=value.copy(), expression=exp.null())
                gone = missing if gone is None else exp.or_(missing, gone)
        missing_value = self._integer(node.missing)
        branches = [(gone, missing_value)]
        for (edge, following), own in zip(_paired(node.edges), node.values, strict=False):
            del following
            branches.append((exp.LT(this=value.copy(), expression=self._edge(edge, kind)), self._integer(own)))
        return self._case(branches, self._integer(node.values[-1]))

    def _edge(self, edge: float, kind: str) -> Any:
        if kind == ex.WEEKDAY:
            return self._integer(edge)
        if kind == ex.DATE:
            return self._date(dt.date(1970, 1, 1) + dt.timedelta(days=int(edge)))
        return self._number(edge)

    def _date(self, date: dt.date) -> Any:
        text = self.exp.Literal.string(date.isoformat())
        return text if self.dialect == "sqlite" else self.exp.cast(text, "date")

    def _weekday(self, value: Any) -> Any:
        """Days since a Monday."""
        exp = self.exp
        if self.dialect == "sqlite":
            days = [
                exp.Anonymous(this="JULIANDAY", expressions=[day]) for day in (value.copy(), self._date(FIRST_MONDAY))
            ]
            between = exp.cast(exp.Paren(this=exp.Sub(this=days[0], expression=days[1])), "bigint")
        elif self.dialect == "postgres":
            between = exp.Paren(this=exp.Sub(this=value.copy(), expression=self._date(FIRST_MONDAY)))
        else:
            between = exp.DateDiff(this=value.copy(), expression=self._date(FIRST_MONDAY), unit=exp.var("DAY"))
        return exp.Mod(this=between, expression=self._integer(7))

    def _places(self, node: ex.Words | ex.Truths, value: Any) -> Any:
        exp = self.exp
        gone = exp.Is(this=value.copy(), expression=exp.null())
        branches: list[tuple[Any, Any]] = []
        if isinstance(node, ex.Truths):
            branches.append((gone, self._integer(node.missing)))
            for truth, place in ((False, node.false), (True, node.true)):
                comparison = exp.EQ(this=value.copy(), expression=exp.Boolean(this=truth))
                branches.append((comparison, self._integer(place)))
            return self._case(branches, self._integer(node.other))
        blank = exp.EQ(this=value.copy(), expression=exp.Literal.string(""))
        branches.append((exp.or_(gone, blank), self._integer(node.missing)))
        for text, place in node.places:
            branches.append((exp.EQ(this=self._exact(value), expression=self._text(text)), self._integer(place)))
        for text, place in node.truths:
            lower = exp.Lower(this=value.copy())
            branches.append((exp.EQ(this=lower, expression=self._text(text)), self._integer(place)))
        return self._case(branches, self._integer(node.other))

    def _text(self, text: str) -> Any:
        national = self.dialect == "tsql" and not text.isascii()
        return self.exp.National(this=text) if national else self.exp.Literal.string(text)

    def _exact(self, value: Any) -> Any:
        """A text whose case counts; SQL Server's usual collations tell none apart."""
        if self.dialect != "tsql":
            return value.copy()
        return self.exp.Collate(this=value.copy(), expression=self.exp.var("Latin1_General_100_BIN2"))

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
        return self.exp.cast(self._below(node, codes, root), "double")

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
        return self._case([(test, self._below(node, codes, right))], self._below(node, codes, left))


class _Named(ex.Expression):
    """A node that is a column of a level already."""

    def __init__(self, column: Any, level: int) -> None:
        self.column, self.level = column, level


def _times(node: ex.Expression) -> int:
    """How often a node writes each of those inside it."""
    if isinstance(node, ex.Apply) and node.name in ("truncate", "max", "min"):
        return 2
    return 2 if isinstance(node, ex.Take | ex.Leaves) else 1


def _paired(edges: Sequence[float]) -> list[tuple[float, float]]:
    return list(pairwise([*edges, math.inf]))
