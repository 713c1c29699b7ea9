"""The coordinator's side of a joined fit: it gathers the sites, agrees with them, and asks them all the same.

What it receives of an answer are shares (:mod:`tacit.curator.sites.shares`): it learns the total over all sites, and
adds the noise before anything leaves it.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, NoReturn, Self
from weakref import finalize

import numpy as np

from tacit.arrays import Ints
from tacit.curator.options import fresh_key
from tacit.curator.recipes import Recipe
from tacit.curator.rows import PrivateRows
from tacit.curator.sites.channel import HANDSHAKE, Channel, Gone, Reception, hello, packed
from tacit.curator.sites.parties import COORDINATOR, Sites, SitesError
from tacit.curator.sites.shared_noise import NoisyRows
from tacit.curator.sites.shares import opened, plain_recipe
from tacit.curator.source_rows import Labels, RemoteTable, SourceRows
from tacit.engines.joined.wire import Sender, WireError, array_of
from tacit.engines.passes.base import Look
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import Entry, Reservation
from tacit.privacy.noise_shares import NoiseShares
from tacit.privacy.request import Request
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import Cells
from tacit.queries.joint_bound import JointBound
from tacit.queries.query import Layout
from tacit.schema import Schema


class JoinedTable(RemoteTable):
    """Rows at sites. Only sums over all of them are to be had: not the answer of one site, and no order of the rows."""

    def __init__(self, sites: Session, layout: Layout, recipe: dict[str, Any]) -> None:
        super().__init__(layout)
        self._sites = sites
        sites.tell({"do": "seal", "table": self._number, "recipe": recipe})
        finalize(self, sites.tell, {"do": "unseal", "table": self._number}).atexit = False

    def each(self, looks: Look | Sequence[Look]) -> NoReturn:
        """Not over sites: the answer of a single site must not be seen."""
        del looks
        raise TypeError("sites are asked for sums over all rows alone")

    def total(self, look: Look) -> Ints:
        """The sum of what a look says of the rows of every site."""
        if self._sites.shares is not None:
            raise TypeError("sites that trust nobody answer queries with noise, and no others")
        return self._sites.ask({"table": self._number, "look": self._sites.sender.plain(look)})

    def noisy(self, pairs: Sequence[tuple[Any, Charge]]) -> list[Ints]:
        if not pairs:
            return []
        plain = [{"query": self._sites.sender.plain(query), "charge": charge.to_dict()} for query, charge in pairs]
        total = self._sites.ask({"table": self._number, "questions": plain})
        shapes = [query.shape for query, _ in pairs]
        ends = np.cumsum([math.prod(shape) for shape in shapes])
        if total.shape != (ends[-1],):
            raise SitesError("the answers of the sites have another length than was asked for")
        return [part.reshape(shape) for part, shape in zip(np.split(total, ends[:-1]), shapes, strict=True)]

    def coarsen(self, column: int, mapping: Ints) -> None:
        super().coarsen(column, mapping)
        logs, plain = self._sites.sender.open_logs(), self._sites.sender.plain(mapping)
        self._tell("coarsen", logs=logs, column=column, mapping=plain)

    def derive(self, cells: Cells) -> None:
        super().derive(cells)
        self._tell("derive", cells=self._sites.sender.plain(cells))

    def bind(self, bound: JointBound, own_levels: int) -> None:
        if own_levels != 1:
            raise TypeError("rows at sites have no weights of their own")
        self._tell("bind", bound=self._sites.sender.plain(bound))

    def _tell(self, what: str, **facts: Any) -> None:
        self._sites.tell({"do": what, "table": self._number, **facts})


class Session:
    """One fit with all sites, of one schema. A context manager: on leaving, sites are told how it ended."""

    def __init__(self, sites: Sites, schema: Schema) -> None:
        self._sites, self._schema = sites, schema
        self._channels: dict[str, Channel] = {}
        self._said: dict[str, dict[str, Any]] = {}
        self._pending: list[dict[str, Any]] = []
        self._sender, self._lock = Sender(maps=sites.shares is not None), threading.Lock()
        self._paid: Reservation | None = None
        self._reception: Reception | None = None
        self._told = self._asked = 0
        self._ended = False

    def __enter__(self) -> Self:
        try:
            self._gather()
        except BaseException as error:
            self._hang_up(error.message if isinstance(error, SitesError) else "the fit did not begin")
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        del kind
        # what failed is said in general words: a message of another fault might quote what nobody need know
        words = error.message if isinstance(error, SitesError) else "the fit failed" if error else "the fit did not end"
        self._hang_up(words)

    @property
    def shares(self) -> NoiseShares | None:
        """How sites share the noise; None where it is drawn here."""
        return self._sites.shares

    # Coming together.

    def _gather(self) -> None:
        parties, deadline = self._sites.parties, time.monotonic() + self._sites.wait
        self._reception = Reception(self._sites.listen, parties)
        while missing := [name for name in parties.sites if name not in self._channels]:
            arrival = self._reception.next(deadline - time.monotonic())
            if arrival is not None:
                self._welcome(*arrival)
            elif time.monotonic() > deadline:
                raise SitesError(f"no word from {', '.join(missing)} in {self._sites.wait:g} seconds")
        self._check_agreed()

    def _welcome(self, channel: Channel, message: dict[str, Any]) -> None:
        name = channel.peer
        if name == COORDINATOR:
            channel.close()
            return
        if name in self._channels:  # it has come back
            self._channels[name].close()
        channel.wait(self._sites.patience)
        self._channels[name], self._said[name] = channel, message

    def _check_agreed(self) -> None:
        """Raises :class:`SitesError` unless all sites agree with what is declared here; the sites learn of it, too."""
        own = hello(self._sites.parties, self._schema.fingerprint())
        words = {
            "hello": "speaks another protocol",
            "version": f"has another version of tacit, and here is {own['version']}: take one",
            "parties": "has another list of parties: all need the same certificates in their folders",
            "schema": "has another schema: all need the same",
        }
        for name in self._sites.parties.sites:
            for what, mine in own.items():
                if self._said[name].get(what) != mine:
                    raise SitesError(f"site {name!r} {words[what]}")

    def invite(self, request: Request, algorithm: str) -> int | None:
        """Tells the sites what is planned, and takes their keys; returns the number of rows where it is public."""
        self._session = fresh_key()
        replies = self._all(
            {
                "invite": self._session,
                "algorithm": algorithm,
                "epsilon": request.epsilon,
                "delta": request.delta,
                "neighbouring": str(request.neighbouring),
                "seeded": request.random_state is not None,
                **self._trust(request),
            },
            "ready",
        )
        self._keys = {name: [answer["ready"], answer.get("signature")] for name, answer in replies.items()}
        if request.neighbouring is not Neighbouring.REPLACE_ONE:
            return None
        total = 0
        for name, answer in replies.items():
            count = answer.get("rows")
            if not isinstance(count, int) or count < 0:
                raise SitesError(f"site {name!r} does not say how many rows it has")
            total += count
        return total

    def _trust(self, request: Request) -> dict[str, Any]:
        """What sites that trust nobody are told: how many honest ones suffice, and the seed of a test."""
        if self.shares is None:
            return {}
        seed = request.random_state
        return {"honest": self.shares.honest, **({} if seed is None else {"seed": seed})}

    def propose(self, charges: Sequence[Charge]) -> None:
        """Shows the sites the keys of all, and what the fit is to cost; each agrees or refuses."""
        self._all({"keys": self._keys, "charges": [charge.to_dict() for charge in charges]}, "agreed")

    # Asking.

    def rows(self, reservation: Reservation, random_state: int | None, label_index: Labels) -> PrivateRows:
        """The rows of all sites, once the charge is durable here; it becomes so at the sites now."""
        self._all({"begin": reservation.label}, "begun")
        self._paid = reservation

        def table(recipe: Recipe, labels: Labels) -> JoinedTable:
            if labels != label_index:
                raise TypeError("sites seal their rows with the label of their schema, and without weights")
            layout = Layout(recipe.n_codes, labels.n_classes, recipe.n_dense)
            return JoinedTable(self, layout, plain_recipe(recipe, self._schema))

        kind = SourceRows if self.shares is None else NoisyRows
        rows = kind(self._schema, table, reservation, random_state, whose="sites")
        if isinstance(rows, NoisyRows) and self.shares is not None:
            rows.shares = self.shares
        return rows

    @property
    def sender(self) -> Sender:
        return self._sender

    def tell(self, what: dict[str, Any]) -> None:
        """Tells the sites something to do before they answer next."""
        self._pending.append(what)

    def ask(self, what: dict[str, Any]) -> Ints:
        """The sum of the answers of all sites, modulo ``2**64``."""
        with self._lock:
            assert self._paid is not None
            entries = self._paid.entries[self._told :]
            self._told += len(entries)
            self._asked += 1
            pending, self._pending = self._pending, []
            message = {
                "ask": self._asked,
                "entries": [_plain(entry) for entry in entries],
                "gone": self._sender.gone(),
                "tell": pending,
                **what,
            }
            replies = self._all(message, "answer")
            return _total(replies, self._asked)

    def end(self, certificate: str) -> None:
        """Tells the sites that the fit is done, and gives them its certificate."""
        if not self._ended:
            self._ended = True
            self._farewell({"end": True, "certificate": certificate})

    # Messages.

    def _all(self, message: dict[str, Any], expected: str) -> dict[str, dict[str, Any]]:
        """Sends all sites the same, and returns what each says."""
        body = packed(message)
        for name, channel in self._channels.items():
            try:
                channel.send(body)
            except Gone as gone:
                raise self._lost(name, gone) from None
        replies = {}
        for name, channel in self._channels.items():
            try:
                answer = channel.receive()[0]
            except Gone as gone:
                raise self._lost(name, gone) from None
            if "refused" in answer:
                raise SitesError(f"site {name!r} refuses: {str(answer['refused'])[:500]}")
            if expected not in answer:
                raise SitesError(f"site {name!r} says something else than was asked")
            replies[name] = answer
        return replies

    def _lost(self, name: str, gone: Gone) -> SitesError:
        answers = max(self._asked - 1, 0)
        lost = "" if self.shares is None else ", and without its share of the noise no further total can be had"
        return SitesError(f"site {name!r} dropped out after {answers} answers ({gone}): the fit ends here{lost}")

    def _hang_up(self, words: str) -> None:
        if not self._ended:
            self._ended = True
            self._farewell({"end": False, "words": words})

    def _farewell(self, message: dict[str, Any]) -> None:
        body = packed(message)
        for channel in self._channels.values():
            with channel:
                channel.wait(HANDSHAKE)
                with suppress(Gone):
                    channel.send(body)
        if self._reception is not None:
            self._reception.close()


def _plain(entry: Entry) -> dict[str, Any]:
    return {"label": entry.label, **entry.what.facts(), "charge": entry.charge.to_dict(), "theorem": entry.theorem}


def _total(replies: dict[str, dict[str, Any]], number: int) -> Ints:
    shares, shapes = [], set()
    for name, answer in replies.items():
        try:
            share = array_of(answer)
        except WireError as error:
            raise SitesError(f"site {name!r}: {error.message}") from None
        if answer.get("answer") != number or share.dtype != np.uint64:
            raise SitesError(f"site {name!r} answers something else than was asked")
        shares.append(share.reshape(-1))
        shapes.add(share.shape)
    if len(shapes) > 1:
        raise SitesError("answers of the sites are not of one shape")
    return opened(shares).reshape(shapes.pop())
