"""Where accounts are kept: what is read from and added to the tables of a database.

Loaded only when an account is used: SQLAlchemy is slow to import. Every operation opens its own connection, so a store
can be used from forked and spawned processes and from threads.

Every reservation is written with the total that it makes, so that the next one reads that line and not the history.
The total costs what the history costs, bit by bit, as long as an account has at most :data:`MOST_VALUES` different
costs; beyond, small numbers are rounded up, and it costs a little more, never less (``docs/theory/running_totals.md``).
"""

from __future__ import annotations

import getpass
import hashlib
import json
import math
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, exists, func, insert, select
from sqlalchemy.exc import IntegrityError

from tacit.privacy.charges import ApproxDP, Charge, PrivacyLoss, Renyi, charge_from_dict
from tacit.privacy.composition import Sums, exact_sum
from tacit.privacy.database import Database
from tacit.privacy.label import Label
from tacit.privacy.ledger import AccountError, Entry
from tacit.privacy.store_records import (
    ACCOUNTS,
    BATCHES,
    CLOSINGS,
    CURVES,
    ENTRIES,
    LONGEST_LABEL,
    RESERVATIONS,
    Facts,
    Line,
    names_alike,
    read_charges,
    read_facts,
    unit_name_of,
    unit_of,
    write_unit,
)
from tacit.schema import Unit

MOST_VALUES = 256
"""Different costs that a total tells apart exactly; accountants compose no more than so many on a grid either."""

DIGITS = 8
"""Binary digits of a cost where there are more than that: at most 128 in every doubling, at most 1/128 too large."""


def rounded_up(value: float) -> float:
    """The smallest number of :data:`DIGITS` binary digits that is not below ``value >= 0``."""
    if value == 0 or not math.isfinite(value):
        return value
    mantissa, power = math.frexp(value)
    return math.ldexp(math.ceil(math.ldexp(mantissa, DIGITS)), power - DIGITS)


def bounded(total: Sums) -> Sums:
    """A total of few different costs that is at least as expensive: larger ones in place of many different ones."""
    if len(total.pure) + len(total.ranges) + len(total.approx) <= MOST_VALUES:
        return total
    larger = total.plus(())
    larger.pure, larger.ranges, larger.approx = Counter(), Counter(), Counter()
    for epsilon, times in total.pure.items():
        larger.pure[rounded_up(epsilon)] += times
    for span, times in total.ranges.items():
        larger.ranges[rounded_up(span)] += times
    for charge, times in total.approx.items():
        larger.approx[ApproxDP(rounded_up(charge.epsilon), min(rounded_up(charge.delta), 1 - 2.0**-53))] += times
    return larger


def digest(curve: Charge) -> str:
    """What a curve is called in a total: curves are long, and are kept once."""
    return hashlib.sha256(json.dumps(curve.to_dict(), sort_keys=True).encode()).hexdigest()


def curves_of(total: Sums) -> list[Renyi | PrivacyLoss]:
    """The curves that a total refers to."""
    return [*total.renyi, *total.losses]


def write_total(total: Sums) -> str:
    """A total as text; its curves are named by their digests."""
    few = bounded(total)
    return json.dumps(
        {
            "unlimited": few.unlimited,
            "precisions": exact_sum(few.precisions),
            "rhos": exact_sum(few.rhos),
            "pure": list(few.pure.items()),
            "ranges": list(few.ranges.items()),
            "approx": [[charge.epsilon, charge.delta, times] for charge, times in few.approx.items()],
            "curves": [[digest(curve), times] for curve, times in (*few.renyi.items(), *few.losses.items())],
        }
    )


def read_total(text: Any, curves: Callable[[Iterable[str]], Mapping[str, Any]]) -> Sums:
    """The inverse; ``curves`` gives the texts of curves by their digests.

    Raises ``AccountError`` if it is no total: what was spent is then unknown, and nothing can be paid.
    """
    total = Sums()
    try:
        data = json.loads(text)
        total.unlimited = data["unlimited"] is not False
        total.precisions, total.rhos = _costs(data["precisions"]), _costs(data["rhos"])
        total.pure.update({_cost(value): _times(times) for value, times in data["pure"]})
        total.ranges.update({_cost(value): _times(times) for value, times in data["ranges"]})
        total.approx.update({ApproxDP(epsilon, delta): _times(times) for epsilon, delta, times in data["approx"]})
        texts = curves([name for name, _ in data["curves"]]) if data["curves"] else {}
        for name, times in data["curves"]:
            total.add(_curve(name, texts[name]), _times(times))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise AccountError(f"the budget store is damaged: its total cannot be read ({reason:.100})") from None
    return total


def _curve(name: str, text: str) -> Charge:
    curve = charge_from_dict(json.loads(text))
    if digest(curve) != name:
        raise ValueError("a curve is not what it is called")
    return curve


def _costs(values: Any) -> list[float]:
    """Floats that add up to a cost: each may be negative, their sum is not."""
    costs = [float(value) for value in values]
    if not all(map(math.isfinite, costs)) or math.fsum(costs) < 0:
        raise ValueError("costs that are none")
    return costs


def _cost(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ValueError("a cost that is none")
    return float(value)


def _times(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("a number of uses that is none")
    return value


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _holder() -> str:
    return f"{_user()}@{platform.node()}:{os.getpid()}"


def _user() -> str:
    """Who opens a reservation, for people: nothing is proved by it."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a process that no user's name belongs to
        return f"user {os.getuid()}"


def _is_gone(holder: str) -> bool:
    """Whether the process that opened a reservation has ended, as far as this machine can tell."""
    where, _, process = holder.rpartition(":")
    node = where.rpartition("@")[2]
    if node != platform.node():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


class Store(Database):
    """The tables behind accounts."""

    def create_account(self, dataset: str, facts: Facts, unit: Unit | str | None = None) -> None:
        """Writes a new account, and its unit if there is one yet."""
        row = {"dataset": dataset, "epsilon": facts.epsilon, "delta": facts.delta, "created": _now()}

        def add(connection: Connection) -> None:
            if alike := names_alike(connection, dataset):
                raise AccountError(
                    f"{self.name} has an account for {alike!r}, which reads like {dataset!r}: use that one"
                )
            try:
                connection.execute(insert(ACCOUNTS).values(neighbouring=str(facts.neighbouring), **row))
            except IntegrityError:
                raise AccountError(
                    f"{self.name} already has an account for {dataset!r}; a budget cannot be replaced: open it with "
                    f"PrivacyAccount(url, {dataset!r}), or see tacit budget show"
                ) from None
            if unit is not None:
                write_unit(connection, dataset, unit)

        self.prepare()
        self.write(add)

    def unit(self, dataset: str) -> tuple[str, int] | None:
        """What the account protects; None if no fit has said so yet."""
        with self.read() as connection:
            return unit_of(connection, dataset)

    def unit_name(self, dataset: str) -> str:
        """What one unit is called; empty if no schema said so."""
        with self.read() as connection:
            return unit_name_of(connection, dataset)

    def take_batch(self, dataset: str, fingerprint: str, first: str) -> None:
        """Writes down that a batch was learned from, of the series whose first reservation is called ``first``."""
        self.write(
            lambda connection: write_batch(connection, dataset, fingerprint, first),
            "the reservation keeps its full charge",
            repeatable=True,
        )

    def datasets(self) -> tuple[str, ...]:
        """The names of all accounts."""
        with self.read() as connection:
            return tuple(connection.execute(select(ACCOUNTS.c.dataset).order_by(ACCOUNTS.c.dataset)).scalars())

    def facts(self, dataset: str) -> Facts:
        """What the account promises."""
        with self.read() as connection:
            row = connection.execute(select(ACCOUNTS).where(ACCOUNTS.c.dataset == dataset)).one_or_none()
            if row is None:
                names = ", ".join(connection.execute(select(ACCOUNTS.c.dataset)).scalars()) or "none"
                raise AccountError(
                    f"{self.name} has no account for {dataset!r} (there are: {names}); create it with "
                    f"PrivacyAccount.create, or tacit budget create"
                )
            return read_facts(row.epsilon, row.delta, row.neighbouring)

    def total(self, dataset: str) -> Sums:
        """All that was ever reserved, whatever became of the reservation, as far as its cost depends on it."""
        with self.read() as connection:
            return _total(connection, dataset)

    def charges(self, dataset: str) -> tuple[Charge, ...]:
        """The same in full: reads the history."""
        query = select(RESERVATIONS.c.charges).where(RESERVATIONS.c.dataset == dataset).order_by(RESERVATIONS.c.id)
        with self.read() as connection:
            return tuple(charge for text in connection.execute(query).scalars() for charge in read_charges(text))

    def reserve(
        self,
        dataset: str,
        label: str,
        unit: Unit | str | None,
        decide: Callable[[Held], Sequence[Charge]],
        also: Callable[[Connection, int], None] | None = None,
    ) -> tuple[int, tuple[Charge, ...]]:
        """Adds a reservation in one durable write: of what ``decide`` says on all so far, unless it raises.

        No other process can reserve between the decision and the write, and both read one line of the history
        (``docs/theory/running_totals.md``). The first reservation fixes the account's unit, and
        the first that names the unit fixes its name. ``also`` writes more about the reservation of that number in the
        same transaction: both are there, or neither.

        Returns:
            The reservation's identifier, and its charges.
        """
        if len(label) > LONGEST_LABEL:
            raise AccountError(f"a label has at most {LONGEST_LABEL} characters, and {label:.40}... {len(label)}")
        row = {"dataset": dataset, "label": label, "holder": _holder(), "created": _now()}

        def add(connection: Connection) -> tuple[int, tuple[Charge, ...]]:
            if connection.execute(select(ACCOUNTS.c.dataset).where(ACCOUNTS.c.dataset == dataset)).scalar() is None:
                raise AccountError(f"{self.name} has lost its account for {dataset!r}")
            state = Held(connection, dataset)
            charges = tuple(decide(state))
            write_unit(connection, dataset, unit)
            total = state.total.plus(charges)
            _write_curves(connection, total)
            texts = {"charges": json.dumps([charge.to_dict() for charge in charges]), "total": write_total(total)}
            # under the lock, and not from a sequence: one that is set back would hide the lines of higher numbers
            identifier = (connection.execute(select(func.max(RESERVATIONS.c.id))).scalar() or 0) + 1
            connection.execute(insert(RESERVATIONS).values(id=identifier, **texts, **row))
            if also is not None:
                also(connection, identifier)
            return identifier, charges

        return self.write(add)

    def close(self, identifier: int, entries: Sequence[Entry], outcome: str, *, timeless: bool = False) -> None:
        """Adds the entries and the outcome of a reservation; ``timeless``: and not when it ended."""
        rows = [
            {
                "reservation": identifier,
                "sequence": entry.sequence,
                "label": entry.label,
                "charge": json.dumps(entry.charge.to_dict()),
                "theorem": entry.theorem,
            }
            for entry in entries
        ]
        end = {"reservation": identifier, "outcome": outcome, "closed": "" if timeless else _now()}

        def add(connection: Connection) -> None:
            if connection.execute(select(CLOSINGS).where(CLOSINGS.c.reservation == identifier)).first() is not None:
                return
            if rows:
                connection.execute(insert(ENTRIES), rows)
            connection.execute(insert(CLOSINGS).values(**end))

        self.write(add, "the reservation keeps its full charge", repeatable=True)

    def lines(self, dataset: str) -> tuple[Line, ...]:
        """The history of an account, oldest first."""
        mine = select(RESERVATIONS.c.id).where(RESERVATIONS.c.dataset == dataset)
        with self.read() as connection:
            entries: dict[int, list[Entry]] = {}
            query = select(ENTRIES).where(ENTRIES.c.reservation.in_(mine)).order_by(ENTRIES.c.sequence)
            for row in connection.execute(query):
                [charge] = read_charges(f"[{row.charge}]")
                entry = Entry(row.sequence, Label.of(row.label), charge, row.theorem)
                entries.setdefault(row.reservation, []).append(entry)
            joined = RESERVATIONS.outerjoin(CLOSINGS, CLOSINGS.c.reservation == RESERVATIONS.c.id)
            columns = (RESERVATIONS, CLOSINGS.c.outcome, CLOSINGS.c.closed)
            statement = select(*columns).select_from(joined).where(RESERVATIONS.c.dataset == dataset)
            rows = connection.execute(statement.order_by(RESERVATIONS.c.id)).all()
        return tuple(
            Line(
                identifier=row.id,
                label=row.label,
                charges=read_charges(row.charges),
                status=row.outcome or ("interrupted" if _is_gone(row.holder) else "open"),
                created=row.created,
                closed=row.closed or None,
                entries=tuple(entries.get(row.id, ())),
                by=row.holder.rpartition(":")[0],
            )
            for row in rows
        )


class Held:
    """What an account holds when a reservation is decided on, asked within the transaction that reserves."""

    def __init__(self, connection: Connection, dataset: str) -> None:
        self._connection, self._dataset = connection, dataset
        self.unit = unit_of(connection, dataset)  # what reservations protect, None if nobody said
        self.total = _total(connection, dataset)  # of all reservations so far, whatever became of them

    def charges_of(self, label: str) -> list[tuple[Charge, ...]]:
        """What was reserved under a label, each time."""
        mine = RESERVATIONS.c.dataset == self._dataset, RESERVATIONS.c.label == label
        query = select(RESERVATIONS.c.charges).where(*mine).order_by(RESERVATIONS.c.id)
        return [read_charges(text) for text in self._connection.execute(query).scalars()]

    def has_batch(self, fingerprint: str) -> bool:
        """Whether the rows of this fingerprint were learned from."""
        return _seen(self._connection, self._dataset, fingerprint)

    def has_series(self, first: str, key: str) -> bool:
        """Whether the first batch of a series has a fingerprint that was made with a key of this name."""
        mine = BATCHES.c.dataset == self._dataset, BATCHES.c.first == first
        query = select(BATCHES.c.fingerprint).where(*mine, BATCHES.c.fingerprint.startswith(key, autoescape=True))
        return self._connection.execute(query.limit(1)).first() is not None


def write_batch(connection: Connection, dataset: str, fingerprint: str, first: str) -> None:
    """Writes down that a batch was learned from."""
    if not _seen(connection, dataset, fingerprint):
        connection.execute(insert(BATCHES).values(dataset=dataset, fingerprint=fingerprint, first=first))


def _total(connection: Connection, dataset: str) -> Sums:
    mine = select(RESERVATIONS.c.total).where(RESERVATIONS.c.dataset == dataset)
    text = connection.execute(mine.order_by(RESERVATIONS.c.id.desc()).limit(1)).scalar()

    def curves(digests: Iterable[str]) -> dict[str, str]:
        query = select(CURVES.c.digest, CURVES.c.charge).where(CURVES.c.digest.in_(list(digests)))
        return {row.digest: row.charge for row in connection.execute(query)}

    return Sums() if text is None else read_total(text, curves)


def _write_curves(connection: Connection, total: Sums) -> None:
    for curve in curves_of(total):
        name = digest(curve)
        if not connection.execute(select(exists().where(CURVES.c.digest == name))).scalar():
            connection.execute(insert(CURVES).values(digest=name, charge=json.dumps(curve.to_dict())))


def _seen(connection: Connection, dataset: str, fingerprint: str) -> bool:
    mine = BATCHES.c.dataset == dataset, BATCHES.c.fingerprint == fingerprint
    return connection.execute(select(BATCHES.c.dataset).where(*mine)).first() is not None
