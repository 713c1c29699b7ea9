"""A site's side of a joined fit: it agrees to a charge, pays for it, and answers with shares of sums.

A site decides for itself. It knows what it agreed to spend, charges its own account before its rows are asked, enters
every release that the coordinator announces, and answers no more sums than there are releases in its ledger.

It remembers the fits that it took part in: who the sites were, and what its rows were known by.
The first questions of two fits are the same. The exact totals of a fit of three sites, minus those of a later one of
two of them, are the sums of the third alone; the totals before and after one site gained a row differ by that row. A
site therefore notices both, and takes part again only if it is told to. It remembers in its account, or without one in
a file beside its private key. Digests of rows are keyed with that private key: the memory tells nobody which rows.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from tacit.curator.recipes import Columns
from tacit.curator.sites.channel import PROTOCOL, Channel, Gone, packed
from tacit.curator.sites.parties import Parties, SitesError
from tacit.curator.sites.shares import PairKey, Transcript, recipe_of, share
from tacit.curator.source_rows import PreparedSource
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.table import TableEncoding, fingerprint
from tacit.encoding.values import LabelIndex
from tacit.engines.blocks import BlockTable
from tacit.engines.joined.admit import SiteTables
from tacit.engines.joined.wire import WireError
from tacit.errors import TacitError
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import Charge, charge_from_dict
from tacit.privacy.label import Label
from tacit.privacy.ledger import Reservation
from tacit.privacy.promised_budget import EphemeralAccount
from tacit.privacy.signatures import library_version
from tacit.privacy.unit import Neighbouring
from tacit.schema import Schema

LINE = re.compile(r"sites ([0-9a-f]{64}), rows ([0-9a-f]{64})$")
"""How one fit is written down, at the end of the label of its reservation, or on a line of the file."""


@final
@dataclass(frozen=True)
class Gathering:
    """Who took part in a fit, and with which rows of this site.

    Attributes:
        sites: digest of the names and certificates of all sites.
        rows: keyed digest of the rows of this one.
    """

    sites: str
    rows: str

    @classmethod
    def read(cls, line: str) -> Self | None:
        """What the end of a line says; None of a line that is about something else."""
        found = LINE.search(line)
        return None if found is None else cls(*found.groups())

    def __str__(self) -> str:
        return f"sites {self.sites}, rows {self.rows}"


def digest_of(blocks: Iterable[Sequence[npt.NDArray[Any]]], key: bytes) -> str:
    """A keyed digest of rows, as the codes of their columns by block; their order within a block does not count."""
    digest = hmac.new(key, digestmod=hashlib.sha256)
    for arrays in blocks:
        digest.update(bytes.fromhex(fingerprint([np.asarray(array) for array in arrays], key)))
    return digest.hexdigest()


@final
@dataclass(frozen=True)
class Memory:
    """Where a site remembers: its account; without one a ``file``, which its owner alone may read."""

    account: PrivacyAccount | None
    file: Path

    def gatherings(self) -> list[Gathering]:
        """All fits that this site began, oldest first."""
        if self.account is not None:
            lines = [line.label for line in self.account.reservations()]
        else:
            lines = self.file.read_text("utf-8").splitlines() if self.file.exists() else []
        return [found for line in lines if (found := Gathering.read(line)) is not None]

    def write(self, gathering: Gathering) -> None:
        """Remembers a fit, durably; in an account its reservation does that by its label.

        Raises:
            SitesError: if the file cannot be written; nothing was answered.
        """
        if self.account is not None:
            return
        try:
            with os.fdopen(os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
                file.write(f"{gathering}\n".encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise SitesError(f"{self.file}, where this site remembers its fits: {error.strerror}") from None

    def check(self, now: Gathering, changed_parties: bool, changed_rows: bool) -> None:
        """Raises unless a fit is like all earlier ones, or what is other is allowed.

        Raises:
            SitesError: says what changed, and what the coordinator would learn.
        """
        earlier = self.gatherings()
        if not changed_parties and any(each.sites != now.sites for each in earlier):
            raise SitesError(
                "this site took part in a fit of other sites before: from exact totals of both fits the coordinator "
                "could tell what the difference contributed. allow_changed_parties (--allow-changed-parties) accepts "
                "that"
            )
        if not changed_rows and any(each.rows != now.rows for each in earlier):
            raise SitesError(
                "this site took part in a fit with other rows before: from exact totals of both fits the coordinator "
                "could tell what rows that came or went contributed. allow_changed_rows (--allow-changed-rows) accepts "
                "that"
            )


ROWS_KEY = b"tacit rows of a site"
"""What the key is for that digests of rows are made with."""

KEY_WORDS = b"tacit pair key\0"
"""What a signed key begins with: a signature of anything else is no signature of a key."""


@final
@dataclass(frozen=True)
class Agreement:
    """What a site is ready to take part in.

    Attributes:
        epsilon: the most that one fit may cost.
        delta: with this slack.
        neighbouring: the relation.
        account: pays as well; None for no account.
        allow_seeded: whether noise that somebody can repeat is agreed to: a test, whose model must not be released.
        allow_changed_parties: whether a fit of other sites than those of earlier fits is agreed to.
        allow_changed_rows: whether a fit to other rows than those of earlier fits is.
        record: a file that gets a line for every answer; None for none.
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    neighbouring: Neighbouring = Neighbouring.ADD_OR_REMOVE_ONE
    account: PrivacyAccount | None = None
    allow_seeded: bool = False
    allow_changed_parties: bool = False
    allow_changed_rows: bool = False
    record: Path | None = None


@dataclass
class Visit:
    """What a fit was to a site: who learned, how many sums were given, and how many releases announced and entered.

    The certificate is JSON, and empty where the fit did not end well: ``words`` say how then, ``spent`` whether its
    charge was made.
    """

    algorithm: str = ""
    answers: int = 0
    releases: int = 0
    certificate: str = ""
    spent: bool = False
    words: str = ""


@dataclass
class _Fit:
    """What a site knows of the fit it is in."""

    transcript: Transcript
    session: bytes
    key: PairKey = field(default_factory=PairKey)
    secrets: Mapping[str, bytes] = field(default_factory=dict)
    charges: tuple[Charge, ...] = ()
    paid: Reservation | None = None


class Site:
    """The rows of a site, encoded and ready for one fit: nothing of them leaves but shares of sums.

    ``n_rows`` counts them, where the relation makes their number public.
    """

    def __init__(
        self,
        ready: PreparedSource,
        encoding: TableEncoding,
        label_index: LabelIndex | NumericLabelIndex,
        n_rows: Callable[[], int],
        schema: Schema,
        parties: Parties,
        agreement: Agreement,
    ) -> None:
        def seal(recipe: Any) -> BlockTable:
            return ready.table(recipe_of(recipe, schema, encoding), label_index)

        rows = digest_of(ready.encoded(Columns(encoding), label_index), parties.secret(ROWS_KEY))
        self._gathering = Gathering(parties.sites_digest, rows)
        self._memory = Memory(agreement.account, parties.key.with_name(f"{parties.key.name}.fits"))
        self._tables = SiteTables(seal, isinstance(label_index, NumericLabelIndex))
        self._n_rows, self._schema, self._parties, self._agreement = n_rows, schema, parties, agreement
        self._limit = EphemeralAccount(agreement.epsilon, agreement.delta, agreement.neighbouring)
        self._stack = ExitStack()
        self._fit: _Fit | None = None
        self._asked_for = 0
        self.visit = Visit()

    def take_part(self, channel: Channel) -> Visit:
        """Takes part in one fit, from the first word to the last.

        Raises:
            SitesError: if the fit does not end well; it says what stays charged.
        """
        hello = {
            "hello": PROTOCOL,
            "version": library_version(),
            "parties": self._parties.digest,
            "schema": self._schema.fingerprint(),
        }
        with channel, self._stack:
            try:
                channel.send(packed(hello))
                while not self._ended(*channel.receive(), channel):
                    pass
            except Gone as gone:
                raise SitesError(f"the coordinator is gone after {self.visit.answers} answers ({gone})") from None
        return self.visit

    def _ended(self, message: dict[str, Any], body: bytes, channel: Channel) -> bool:
        """Answers one message; whether it was the last."""
        if "end" in message:
            if message["end"] is not True:
                raise SitesError(f"the coordinator ended the fit: {str(message.get('words'))[:500]}")
            if self._fit is None or self._fit.paid is None:
                raise SitesError("the coordinator ended a fit that had not begun")
            self.visit.certificate = str(message.get("certificate", ""))
            return True
        try:
            said = self._answer(message, body)
        except TacitError as error:
            words = error.message
        except (ValueError, RuntimeError) as error:
            words = str(error)
        except (TypeError, KeyError, AttributeError, IndexError, OverflowError):
            words = "the coordinator says something that is no message"
        else:
            channel.send(packed(said))
            return False
        channel.send(packed({"refused": words}))
        raise SitesError(f"this site refused: {words}")

    def _answer(self, message: dict[str, Any], body: bytes) -> dict[str, Any]:
        if "invite" in message:
            return self._invited(message, body)
        if self._fit is None:
            raise WireError("there was no invitation")
        transcript = self._fit.transcript.add(body)
        if "keys" in message:
            return self._proposed(message, self._fit)
        if "begin" in message:
            return self._begun(message, self._fit)
        if "ask" in message:
            return self._asked(message, self._fit, transcript)
        raise WireError("the coordinator says something that is no message")

    def _invited(self, message: dict[str, Any], body: bytes) -> dict[str, Any]:
        session, agreed = message["invite"], self._agreement
        if self._fit is not None or not isinstance(session, bytes) or len(session) != 32:
            raise WireError("this is no invitation to one fit")
        if message.get("neighbouring") != str(agreed.neighbouring):
            raise SitesError(f"this site agreed to {agreed.neighbouring}")
        if message.get("seeded") is not False and not agreed.allow_seeded:
            raise SitesError("the noise would be seeded: whoever knows the seed could take it away")
        self._fit = _Fit(Transcript(session), session)
        self._fit.transcript.add(body)
        self.visit.algorithm = str(message.get("algorithm"))[:200]
        public = self._fit.key.public
        said = {"ready": public, "signature": self._parties.sign(self._key_words(self._parties.name, public))}
        return said | ({"rows": self._n_rows()} if agreed.neighbouring is Neighbouring.REPLACE_ONE else {})

    def _key_words(self, name: str, public: bytes) -> bytes:
        assert self._fit is not None
        return KEY_WORDS + self._fit.session + self._parties.digest.encode() + name.encode() + b"\0" + public

    def _proposed(self, message: dict[str, Any], fit: _Fit) -> dict[str, Any]:
        keys = message["keys"]
        if fit.secrets or not isinstance(keys, dict) or sorted(keys) != list(self._parties.sites):
            raise WireError("the keys are not those of the sites that this one knows")
        if not all(isinstance(pair, list) and list(map(type, pair)) == [bytes, bytes] for pair in keys.values()):
            raise WireError("a key comes with its signature")
        for name, (public, signature) in keys.items():
            if not self._parties.signed_by(name, self._key_words(name, public), signature):
                raise SitesError(f"the key of {name!r} was not signed by it")
        own = self._parties.name
        if keys[own][0] != fit.key.public:
            raise SitesError("somebody else's key came for this site")
        others = {name: public for name, (public, _) in keys.items() if name != own}
        fit.secrets = fit.key.secrets(own, others, fit.session)
        fit.charges = tuple(charge_from_dict(charge) for charge in message["charges"])
        agreed = self._agreement
        self._check_gathering()
        if not self._limit.covers(fit.charges):
            raise SitesError(
                f"this site agreed to epsilon {agreed.epsilon:g}, delta {agreed.delta:g}, and this is more"
            )
        if agreed.account is not None and not agreed.account.covers(fit.charges):
            raise SitesError("the account of this site does not pay for this")
        return {"agreed": True}

    def _begun(self, message: dict[str, Any], fit: _Fit) -> dict[str, Any]:
        if not fit.secrets or fit.paid is not None:
            raise WireError("a fit begins once, when all have agreed")
        agreed, label = self._agreement, f"joined {str(message['begin'])[:200]}: {self._gathering}"
        payer = self._limit if agreed.account is None else agreed.account
        fit.paid = payer.reserve(fit.charges, label, agreed.neighbouring)
        self._stack.enter_context(fit.paid)
        self.visit.spent = True
        self._memory.write(self._gathering)
        self._check_gathering()  # once more: another fit may have begun since
        return {"begun": True}

    def _check_gathering(self) -> None:
        """Raises :class:`SitesError` if sites or rows are others than in earlier fits, and nobody allowed that."""
        agreed = self._agreement
        self._memory.check(self._gathering, agreed.allow_changed_parties, agreed.allow_changed_rows)

    def _asked(self, message: dict[str, Any], fit: _Fit, transcript: bytes) -> dict[str, Any]:
        paid, number = fit.paid, message["ask"]
        if paid is None or number != self.visit.answers + 1:
            raise WireError(f"answer {number} is asked for, and {self.visit.answers} were given")
        for entry in message["entries"]:
            paid.record(charge_from_dict(entry["charge"]), Label.from_dict(entry), str(entry["theorem"]))
        self.visit.releases += len(message["entries"])
        self._tables.forget(message["gone"])
        for what in message["tell"]:
            self._tables.tell(what)
        look = self._tables.look(message)
        self._asked_for += self._tables.sums_of(look)
        if self._asked_for > self.visit.releases:
            raise SitesError("more is asked than was charged")
        self.visit.answers += 1
        sums = np.ascontiguousarray(self._tables.answer(look), np.int64)
        self._write(number, message["entries"], look, sums.shape)
        hidden = share(sums, self._parties.name, fit.secrets, transcript)
        return {"answer": number, "array": "<u8", "shape": list(sums.shape), "bytes": hidden.astype("<u8").tobytes()}

    def _write(self, number: int, entries: Sequence[Mapping[str, Any]], look: Any, shape: tuple[int, ...]) -> None:
        """A line of the record: what was asked, and never what was answered."""
        if self._agreement.record is None:
            return
        queries = look.queries if hasattr(look, "queries") else (getattr(look, "query", look),)
        line = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "answer": number,
            "asked": [type(query).__name__ for query in queries],
            "sums": int(np.prod(shape)),
            "entered": [{"label": entry["label"], "charge": entry["charge"]} for entry in entries],
        }
        with self._agreement.record.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
