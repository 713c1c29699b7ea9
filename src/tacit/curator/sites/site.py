"""A site's side of a joined fit: it agrees to a charge, pays for it, and answers with shares of sums.

A site decides for itself. It knows what it agreed to spend, charges its own account before its rows are asked, enters
every release that the coordinator announces, and answers no more sums than there are releases in its ledger.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, final

import numpy as np

from tacit.arrays import Ints
from tacit.curator.options import chosen_source
from tacit.curator.recipes import Columns
from tacit.curator.sites.channel import Channel, Gone, hello, packed
from tacit.curator.sites.memory import Gathering, Memory, digest_of
from tacit.curator.sites.parties import Parties, SitesError
from tacit.curator.sites.shared_noise import ShareOfNoise, seed_of
from tacit.curator.sites.shares import PairKey, Transcript, recipe_of, share
from tacit.curator.source_rows import PreparedSource
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.engines.blocks import BlockTable
from tacit.engines.joined.admit import SiteTables
from tacit.engines.joined.wire import WireError
from tacit.errors import TacitError
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import Charge, charge_from_dict
from tacit.privacy.label import Label
from tacit.privacy.ledger import Reservation
from tacit.privacy.noise_shares import NoiseShares
from tacit.privacy.promised_budget import EphemeralAccount
from tacit.privacy.unit import Neighbouring
from tacit.schema import Schema

ROWS_KEY = b"tacit rows of a site"  # what the key is for that digests of rows are made with
KEY_WORDS = b"tacit pair key\0"  # what a signed key begins with: a signature of anything else is no signature of a key


@final
@dataclass(frozen=True)
class Agreement:
    """What a site is ready to take part in."""

    epsilon: float = 1.0  # the most that one fit may cost
    delta: float = 1e-6  # with this slack
    neighbouring: Neighbouring = Neighbouring.ADD_OR_REMOVE_ONE  # the relation
    # so many sites, this one among them, draw their noise as agreed and do not tell it: totals are noisy before anybody
    # sees them. None: the coordinator is trusted with exact totals, and draws the noise.
    honest: int | None = None
    account: PrivacyAccount | None = None  # pays as well; None for no account
    # whether noise that somebody can repeat is agreed to: a test, whose model must not be released
    allow_seeded: bool = False
    allow_changed_parties: bool = False  # whether a fit of other sites than those of earlier fits is agreed to
    allow_changed_rows: bool = False  # whether a fit to other rows than those of earlier fits is
    record: Path | None = None  # a file that gets a line for every answer; None for none


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
    share: ShareOfNoise | None = None


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
        with channel, self._stack:
            try:
                channel.send(packed(hello(self._parties, self._schema.fingerprint())))
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
            reply = self._answer(message, body)
        except TacitError as error:
            words = error.message
        except (ValueError, RuntimeError) as error:
            words = str(error)
        except (TypeError, KeyError, AttributeError, IndexError, OverflowError):
            words = "the coordinator says something that is no message"
        else:
            channel.send(packed(reply))
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
        self._fit = _Fit(Transcript(session), session, share=self._share(message))
        self._fit.transcript.add(body)
        self.visit.algorithm = str(message.get("algorithm"))[:200]
        public = self._fit.key.public
        reply = {"ready": public, "signature": self._parties.sign(self._key_words(self._parties.name, public))}
        return reply | ({"rows": self._n_rows()} if agreed.neighbouring is Neighbouring.REPLACE_ONE else {})

    def _share(self, message: dict[str, Any]) -> ShareOfNoise | None:
        """This site's part in the noise; None where the coordinator draws it."""
        agreed, honest = self._agreement, message.get("honest")
        if agreed.honest is None:
            if honest is not None:
                raise SitesError("the coordinator leaves the noise to the sites: start this one with --trust none, too")
            return None
        if type(honest) is not int or not 1 <= honest <= agreed.honest:
            demand = "would draw the noise itself" if honest is None else f"asks for --honest {honest!s:.20}"
            raise SitesError(f"this site trusts nobody (--honest {agreed.honest}), and the coordinator {demand}")
        seed = message.get("seed") if message.get("seeded") is not False else None
        noise = chosen_source(None if seed is None else seed_of(int(seed), self._parties.name))
        return ShareOfNoise(NoiseShares(len(self._parties.sites), honest), agreed.neighbouring, noise)

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
        if fit.share is None:
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
        how = self._gathering if fit.share is None else "noise in shares"
        agreed, label = self._agreement, f"joined {str(message['begin'])[:200]}: {how}"
        payer = self._limit if agreed.account is None else agreed.account
        fit.paid = payer.reserve(fit.charges, label, agreed.neighbouring)
        self._stack.enter_context(fit.paid)
        self.visit.spent = True
        if fit.share is None:
            self._memory.write(self._gathering)
            self._check_gathering()  # once more: another fit may have begun since
        return {"begun": True}

    def _check_gathering(self) -> None:
        """Raises :class:`SitesError` if sites or rows are others than in earlier fits, and nobody allowed that."""
        agreed = self._agreement
        self._memory.check(self._gathering, agreed.allow_changed_parties, agreed.allow_changed_rows)

    def _asked(self, message: dict[str, Any], fit: _Fit, transcript: bytes) -> dict[str, Any]:
        reservation, number = fit.paid, message["ask"]
        if reservation is None or number != self.visit.answers + 1:
            raise WireError(f"answer {number} is asked for, and {self.visit.answers} were given")
        for entry in message["entries"]:
            charge = charge_from_dict(entry["charge"])
            reservation.record(charge, Label.from_dict(entry), str(entry["theorem"]))
            if fit.share is not None:
                fit.share.announced(charge)
        self.visit.releases += len(message["entries"])
        self._tables.forget(message["gone"])
        for what in message["tell"]:
            self._tables.tell(what)
        sums = self._exact(message) if fit.share is None else self._noisy(message, fit.share)
        hidden = share(sums, self._parties.name, fit.secrets, transcript)
        return {"answer": number, "array": "<u8", "shape": list(sums.shape), "bytes": hidden.astype("<u8").tobytes()}

    def _exact(self, message: dict[str, Any]) -> Ints:
        """The exact sums of this site, for a coordinator that is trusted with the total."""
        look = self._tables.look(message)
        self._asked_for += self._tables.sums_of(look)
        if self._asked_for > self.visit.releases:
            raise SitesError("more is asked than was charged")
        self.visit.answers += 1
        sums = np.ascontiguousarray(self._tables.answer(look), np.int64)
        queries = look.queries if hasattr(look, "queries") else (getattr(look, "query", look),)
        self._write(message["entries"], queries, sums.size)
        return sums

    def _noisy(self, message: dict[str, Any], share: ShareOfNoise) -> Ints:
        """Answers to queries, one after the other, with this site's share of the noise."""
        questions = self._tables.questions(message)
        scales = [share.scale(query, charge) for query, charge in questions]
        self.visit.answers += 1
        exact = self._tables.answers([query for query, _ in questions])
        sums = [share.noisy(each, scale).reshape(-1) for each, scale in zip(exact, scales, strict=True)]
        self._write(message["entries"], [query for query, _ in questions], sum(map(len, sums)), scales)
        return np.concatenate(sums)

    def _write(
        self, entries: Sequence[Mapping[str, Any]], queries: Sequence[Any], sums: int, noise: Sequence[float] = ()
    ) -> None:
        """A line of the record: what was asked, and never what was answered."""
        if self._agreement.record is None:
            return
        line = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "answer": self.visit.answers,
            "asked": [type(query).__name__ for query in queries],
            "sums": sums,
            "entered": [{"label": entry["label"], "charge": entry["charge"]} for entry in entries],
            **({"noise": list(noise)} if noise else {}),
        }
        with self._agreement.record.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
