"""Fits over sites that keep their rows: `join_sites` for the one who learns, `serve_site` for those who have rows."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np

from tacit.curator.rows import PrivateRows
from tacit.curator.sites.channel import Channel, address_of, connected
from tacit.curator.sites.coordinator import Session
from tacit.curator.sites.parties import COORDINATOR, Parties, Sites, SitesError
from tacit.curator.sites.shared_noise import refused_charges
from tacit.curator.sites.site import Agreement, Site, Visit
from tacit.curator.source_rows import prepare
from tacit.encoding.frames import Frame
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.source import DeclaredSource, Source, read_source
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.learning.declared import Declared
from tacit.learning.learner import FINE_CELLS, Learner, Task
from tacit.learning.supply import ReadySupply
from tacit.learning.tables import check_labels
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.assumptions import Assumption
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import Reservation
from tacit.privacy.noise_shares import NoiseShares
from tacit.privacy.request import Request, RequestError, declared_schema
from tacit.privacy.spending import check_account
from tacit.privacy.unit import Neighbouring
from tacit.queries.score_rules import TARGET_BITS
from tacit.schema import Label, Schema
from tacit.schema.identifiers import refuse_identifiers

Place = str | os.PathLike[str]

BETWEEN = 0.2  # seconds between two tries to connect


def join_sites(
    listen: str, *, parties: Place, key: Place, honest: int | None = None, wait: float = 600.0, patience: float = 600.0
) -> Sites:
    """Sites that will join a fit: give it to ``fit`` in the place of a table.

    The model is that of all their rows together, bit by bit if the noise is the same. The coordinator, which is whoever
    calls ``fit``, learns no site's own sums. It learns exact totals over all sites before it adds noise; with
    ``honest``, sites draw the noise, and nobody learns those (docs/many_sites.md).

    Args:
        listen: ``HOST:PORT`` where sites connect; ``0.0.0.0:PORT`` for all networks.
        parties: the folder of certificates of all who take part; ``coordinator.pem`` is that of this party.
        key: its private key.
        honest: sites draw the noise, and the shares of so many of them are enough. None: the coordinator draws it.
        wait: seconds until all sites must be there.
        patience: seconds that an answer of a site may take.

    Raises:
        SitesError: for an address, a folder or a key that is none.
    """
    address_of(listen)
    members = Parties(Path(parties), Path(key))
    if members.name != COORDINATOR:
        raise SitesError(f"the key is that of {members.name!r}, and it is the coordinator who joins sites")
    return Sites(listen, members, wait, patience, None if honest is None else _shares(members, honest))


def _shares(parties: Parties, honest: Any) -> NoiseShares:
    if isinstance(honest, bool) or not isinstance(honest, int):
        raise SitesError(f"honest is a number of sites, got {honest!r}")
    try:
        return NoiseShares(len(parties.sites), honest)
    except ValueError as error:
        raise SitesError(str(error)) from None


@final
class SitesSupply:
    """Rows of sites that keep them: everything has to be declared, and the learner is one that joins."""

    in_memory: ClassVar[bool] = False

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        names = ", ".join(sites.parties.sites)
        self.assumed: tuple[Assumption, ...] = (Assumption("sites", f"which sites take part: {names}", accepted=True),)
        if (shares := sites.shares) is not None:
            missing = shares.sites - shares.honest
            others = f", alone or with {missing} of the sites" if missing else ""
            text = (
                f"{shares.honest} of the {shares.sites} sites draw their shares of the noise as agreed and keep them "
                f"secret: the promise then holds towards the coordinator, too{others}"
            )
            self.assumed += (Assumption("honest sites", text, accepted=True),)

    def task(self, declared: Declared, learner: Learner) -> Task:
        schema = _joinable(learner, declared)
        if self._sites.shares is not None and not learner.joins_noisy:
            raise RequestError(
                f"{learner.name} does not learn from sites that draw the noise: docs/many_sites.md says which learners "
                "do; the others need a coordinator that is trusted with exact totals"
            )
        self.features = Frame({name: np.empty(0) for name in schema.features}, 0)
        return Task(schema, schema.features, declared.label, TableEncoding.of(schema, FINE_CELLS))

    @contextmanager
    def ready(self, task: Task, learner: Learner) -> Iterator[ReadySupply]:
        """See :class:`tacit.learning.supply.Supply`.

        Raises:
            SitesError: if sites do not agree, or one drops out; it says whether the charge was made.
        """
        assert task.schema is not None
        with Session(self._sites, task.schema) as session:
            rows = session.invite(learner.request, learner.name)
            yield _ReadySites(replace(task, public_rows=rows), learner, session)


@final
class _ReadySites(ReadySupply):
    """Sites that have come together. Each pays from its own account, too."""

    def __init__(self, task: Task, learner: Learner, session: Session) -> None:
        self.task, self._learner, self._session = task, learner, session

    def agree(self, charges: Sequence[Charge]) -> None:
        if self._session.shares is not None and (why := refused_charges(charges)):
            raise RequestError(f"this fit of {self._learner.name} cannot have its noise from the sites: {why}")
        self._session.propose(charges)

    def sealed(self, reservation: Reservation) -> PrivateRows:
        return self._session.rows(reservation, self._learner.request.random_state, self.task.label_codes)

    def end(self, certificate: Certificate) -> None:
        self._session.end(certificate.to_json())


def supply_of(sites: Sites, y: Any, row_weights: Any) -> SitesSupply:
    """Sites as a supply; refuses labels and weights beside them."""
    if y is not None or row_weights is not None:
        raise RequestError("sites hold their labels, and their rows have no weights: leave y and sample_weight out")
    return SitesSupply(sites)


def _joinable(learner: Learner, declared: Declared) -> Schema:
    schema = declared.schema
    if not learner.joins:
        raise RequestError(f"{learner.name} does not learn from sites: docs/many_sites.md says which learners do")
    if learner.refuses_sites:
        raise RequestError(learner.refuses_sites)
    if schema is None or schema.label is None:
        what = "a schema" if schema is None else "a schema with a [label]"
        raise RequestError(f"sites need {what}: nothing about their columns may come from their rows")
    if schema.unit is not None:
        raise RequestError("sites protect rows, and the schema declares a unit of several: one may be at two sites")
    return schema


def serve_site(
    data: Any,
    schema: Any,
    *,
    connect: str,
    parties: Place,
    key: Place,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    neighbouring: str = "add_or_remove_one",
    honest: int | None = None,
    account: PrivacyAccount | None = None,
    record: Place | None = None,
    allow_seeded: bool = False,
    allow_changed_parties: bool = False,
    allow_changed_rows: bool = False,
    proxy: str | None = None,
    wait: float = 600.0,
) -> Visit:
    """Takes part in one fit with the rows of this site, which stay here.

    Args:
        data: what :func:`tacit.read_source` takes or makes.
        schema: of the rows; the coordinator must have the same.
        connect: ``HOST:PORT`` of the coordinator.
        parties: the folder of certificates of all who take part.
        key: the private key of this site.
        epsilon: the most that this site lets the fit cost.
        delta: with this slack.
        neighbouring: the relation that is agreed to.
        honest: this site trusts nobody but so many of the sites, itself among them, and adds its share of the noise to
            all that it sends. None: the coordinator is trusted with exact totals, and draws the noise.
        account: pays as well; None for no account.
        record: a file that gets a line for every answer: what was asked and charged, never what was answered.
        allow_seeded: whether noise that somebody could repeat is agreed to; for tests.
        allow_changed_parties: whether to take part with other sites than in earlier fits: the coordinator can then tell
            what the difference of the sites contributed (docs/many_sites.md).
        allow_changed_rows: whether to take part with other rows than in earlier fits, likewise.
        proxy: ``http://HOST:PORT`` of a proxy to go through (HTTP ``CONNECT``); it reads nothing.
        wait: seconds until the coordinator must be there.

    Returns:
        What the fit was to this site, with its certificate.

    Raises:
        ValueError: for public mistakes, or files that cannot be read; nothing was spent.
        SitesError: if the fit does not end well; it says whether the charge of this site was made.
    """
    members = Parties(Path(parties), Path(key))
    if members.name == COORDINATOR:
        raise SitesError("the key is that of the coordinator, and a site serves")
    request, declared = Request.of(epsilon, delta, neighbouring, None), declared_schema(schema)
    check_account(account)
    if declared is None or declared.label is None or declared.unit is not None:
        raise RequestError("a site needs a schema with a [label], and without a [unit]")
    refuse_identifiers(declared)
    if honest is not None:
        _shares(members, honest)
    lines = None if record is None else Path(record)
    agreement = Agreement(
        request.epsilon, request.delta, request.neighbouring, honest, account,
        allow_seeded, allow_changed_parties, allow_changed_rows, lines,
    )  # fmt: skip
    _check_agreement(agreement)
    source = DeclaredSource(data if isinstance(data, Source) else read_source(data), declared)
    encoding, index = TableEncoding.of(declared, FINE_CELLS), _checked_labels(source, declared.label)
    with prepare(source, encoding, index) as ready:
        site = Site(ready, encoding, index, lambda: source.n_rows, declared, members, agreement)
        return site.take_part(_reached(connect, members, wait, proxy))


def _checked_labels(source: DeclaredSource, label: Label) -> LabelIndex | NumericLabelIndex:
    """How labels are read, after a look at what is public about them."""
    if label.is_numeric:
        return NumericLabelIndex.of(label, TARGET_BITS)
    index = LabelIndex.of(label)
    check_labels(source.labels(source.without_rows), index, label.column, "a site")
    return index


def _check_agreement(agreement: Agreement) -> None:
    account = agreement.account
    if account is not None and account.neighbouring is not Neighbouring(agreement.neighbouring):
        raise RequestError(
            f"the account is about {account.neighbouring}, and the agreement about {agreement.neighbouring}"
        )


def _reached(connect: str, parties: Parties, wait: float, proxy: str | None) -> Channel:
    """A channel to the coordinator, as soon as it listens."""
    context, deadline = parties.context(), time.monotonic() + wait
    address_of(connect)
    while True:
        try:
            channel = connected(connect, parties, context, max(deadline - time.monotonic(), 1.0), proxy)
            break
        except OSError as error:
            if time.monotonic() > deadline:
                way = "" if proxy is None else " through the proxy"
                raise SitesError(f"nobody was reached at {connect}{way}: {error.strerror or error}") from None
            time.sleep(BETWEEN)
    if channel.peer != COORDINATOR:
        channel.close()
        raise SitesError(f"{channel.peer!r} listens at {connect}, and not the coordinator")
    channel.wait(None)
    return channel
