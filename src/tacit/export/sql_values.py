"""Literals and the values of columns in SQL, each as its dialect has it."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from typing import Any

from tacit.export import expression as ex

NAN_TESTS = {"duckdb": "ISNAN", "spark": "ISNAN", "bigquery": "IS_NAN", "postgres": "", "snowflake": ""}
"""How NaN is told: by a function, or as equal to itself; the other dialects have none."""

INFINITE_DATES = ("postgres", "duckdb")
"""Dialects in which dates may be infinite, or before the year 1."""

LARGEST = 1.7976931348623157e308

FIRST_MONDAY = dt.date(1, 1, 1)

EXACT_DIGITS = 15
"""Digits of a decimal that SQLite reads without an error."""

CONTROLS = (*range(9, 14), *range(28, 32))
"""Blanks that a text literal shows badly: tab, line ends, separators."""

BLANKS = " \u0085\u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
"""The other blanks."""

BEGINS = 10
"""Characters of the date in a text such as ``2020-03-31 12:00``."""


class SqlValues:
    """Writes numbers, texts and dates, and the code of a column's value, as expressions of sqlglot (``exp``)."""

    def __init__(self, exp: Any, dialect: str) -> None:
        self.exp = exp
        self.dialect = dialect

    def _column(self, name: str) -> Any:
        return self.exp.column(name, quoted=True)

    def _call(self, name: str, inside: Any) -> Any:
        return getattr(self.exp, name)(this=inside.copy())

    def _paren(self, expression: Any) -> Any:
        return self._grouped(expression.copy())

    def _grouped(self, expression: Any) -> Any:
        simple = (self.exp.Literal, self.exp.Column, self.exp.Case, self.exp.Cast, self.exp.Func, self.exp.Paren)
        return expression if isinstance(expression, simple) else self.exp.Paren(this=expression)

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
        own = self._column(column.name)
        if column.kind == ex.TRUTH:
            return own
        if column.kind == ex.TEXT:
            return self._trimmed(self.exp.cast(own, "text") if self.dialect == "duckdb" else own)
        return self._as_number(own, column.marks) if column.kind == ex.NUMBER else self._as_date(own)

    def _as_number(self, own: Any, marks: Sequence[float]) -> Any:
        """A column as doubles; NULL for numbers that say that the value is missing."""
        number = self._in_sqlite(own) if self.dialect == "sqlite" else self.exp.cast(own, "double")
        if not marks:
            return number
        marked = self.exp.In(this=number, expressions=[self._number(mark) for mark in marks])
        return self._case([(marked, self.exp.null())], number)

    def _as_date(self, own: Any) -> Any:
        exp = self.exp
        if self.dialect in INFINITE_DATES:
            day = exp.cast(own, "date")
            return self._case([(exp.Anonymous(this="ISFINITE", expressions=[day]), day)], exp.null())
        if self.dialect != "sqlite":
            return exp.cast(own, "date")
        text = self._trimmed(own)
        day, beyond = (
            exp.Substring(this=text.copy(), start=self._integer(start), length=self._integer(length))
            for start, length in ((1, BEGINS), (BEGINS + 1, 1))
        )
        no_days = exp.Literal.string("+0 days")  # without it SQLite takes 30 February as it is
        tests = [
            exp.EQ(this=exp.Anonymous(this="DATE", expressions=[day, no_days]), expression=day.copy()),
            exp.GTE(this=day.copy(), expression=self._date(FIRST_MONDAY)),  # SQLite has a year 0
            exp.In(this=beyond, expressions=[exp.Literal.string(text) for text in ("", " ", "T")]),
        ]
        return self._case([(exp.and_(*tests), day)], exp.null())

    def _in_sqlite(self, value: Any) -> Any:
        """A number as a real one, also where SQLite's import of a CSV file made it a text; other texts as they are."""
        exp = self.exp
        ends = [exp.cast(self._number(end), "double") for end in (-LARGEST, LARGEST)]
        number = exp.Between(
            this=value.copy(), low=ends[0], high=ends[1]
        )  # casts: a text that is a number counts as it
        rest = exp.Nullif(this=self._trimmed(value.copy()), expression=exp.Literal.string(""))
        return self._case([(number, exp.cast(value.copy(), "double"))], rest)

    def _trimmed(self, text: Any) -> Any:
        """A text without the blanks around it, whatever Unicode calls so."""
        exp, blanks = self.exp, self._text(BLANKS)
        for control in CONTROLS:
            blanks = exp.DPipe(this=blanks, expression=exp.Chr(expressions=[self._integer(control)]))
        return exp.Trim(this=text, expression=blanks)

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
        for edge, own in zip(node.edges, node.values, strict=False):
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
        day = exp.Mod(this=between, expression=self._integer(7))
        if self.dialect not in INFINITE_DATES:
            return day
        return exp.Mod(this=exp.Paren(this=exp.Add(this=day, expression=self._integer(7))), expression=self._integer(7))

    def _places(self, node: ex.Words | ex.Truths, value: Any) -> Any:
        exp = self.exp
        gone = exp.Is(this=value.copy(), expression=exp.null())
        if self.dialect == "sqlite" and isinstance(node, ex.Truths):
            gone = exp.or_(gone, exp.EQ(this=self._trimmed(value.copy()), expression=exp.Literal.string("")))
        branches: list[tuple[Any, Any]] = []
        if isinstance(node, ex.Truths):
            branches.append((gone, self._integer(node.missing)))
            for truth, place in ((False, node.false), (True, node.true)):
                comparison = exp.EQ(this=value.copy(), expression=exp.Boolean(this=truth))
                if self.dialect == "sqlite":  # which has none: numbers, or texts of an imported file
                    texts = [exp.Literal.string(text) for text in node.texts(truth)]
                    comparison = exp.In(this=exp.Lower(this=self._trimmed(value.copy())), expressions=texts)
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
