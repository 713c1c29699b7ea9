"""What an audit found, and what that means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from textwrap import wrap
from typing import Any, Self, final

from tacit.audit.bound import Counts

NEARLY = 1 - 1e-6
"""A bound that is found by bisection is by so much too small at most."""

NOT_PRIVATE = "It was computed from given rows without any privacy: it is for their holder only"
"""Said of an audit whose tables were not made from a schema."""


@final
@dataclass(frozen=True)
class GaussianFinding:
    """What the same fits show of a claim that rests on Gaussian noise alone.

    Attributes:
        counts: of the guess that was chosen for this bound.
        epsilon_lower: a lower bound on the epsilon of what is mu-Gaussian private for some mu, at the claim's delta.
        usual: what the best attack on noise of just this claim shows on average with so many fits.
        evidence: the logarithm of the evidence against the claim (:func:`tacit.audit.bound.log_evidence`).

    Example:
        >>> from tacit import RandomTreesClassifier
        >>> from tacit.audit import audit_estimator
        >>> schema = {"label": {"column": "sick", "classes": ["no", "yes"]}, "columns": {"smokes": {"kind": "boolean"}}}
        >>> trees = RandomTreesClassifier(schema=schema, n_trees=1)
        >>> audit = audit_estimator(trees, trials=20, random_state=0)
        >>> print(audit.gaussian.epsilon_lower <= 1)
        True
    """

    counts: Counts
    epsilon_lower: float
    usual: float = 0.0
    evidence: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; infinity is a word."""
        return {
            **self.counts.to_dict(),
            "epsilon_lower": _plain(self.epsilon_lower),
            "usual": _plain(self.usual),
            "evidence": self.evidence,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`to_dict`."""
        return cls(_counts(data), float(data["epsilon_lower"]), float(data["usual"]), float(data["evidence"]))


@final
@dataclass(frozen=True)
class Audit:
    """A lower bound on the privacy parameter of an estimator, from fits to two neighbouring tables.

    Attributes:
        estimator: its class.
        epsilon, delta: what it claims.
        neighbouring: the relation of the claim: the canary comes and goes, or its label changes.
        rows_per_unit: of how many rows the canary is, where the schema protects units.
        trials: fits to each of the two tables, until the claim was refuted or there were as many as asked for.
        confidence: with which all bounds hold together.
        counts: of guesses that were chosen on earlier fits.
        epsilon_lower: the lower bound, without an assumption.
        provable: what a guess that is always right would have shown with so many fits.
        usual: what the best attack on a learner that uses up its claim shows on average with so many fits.
        evidence: the logarithm of the evidence against the claim, of this audit alone.
        refuted: whether the evidence, with that of earlier audits, is as large as the confidence asks for.
        gaussian: the same for the Gaussian claim, if the certificates of the fits name Gaussian noise alone.
        from_rows: whether rows were given; then none of this is private.
        leak: what models of the table with the canary spell out and others do not, if that was the guess.

    Example:
        >>> from tacit import RandomTreesClassifier
        >>> from tacit.audit import audit_estimator
        >>> schema = {"label": {"column": "sick", "classes": ["no", "yes"]}, "columns": {"smokes": {"kind": "boolean"}}}
        >>> trees = RandomTreesClassifier(schema=schema, n_trees=1)
        >>> audit = audit_estimator(trees, trials=20, random_state=0)
        >>> print(audit.refuted)
        False
    """

    estimator: str
    epsilon: float
    delta: float
    neighbouring: str
    rows_per_unit: int
    trials: int
    confidence: float
    counts: Counts
    epsilon_lower: float
    provable: float
    usual: float = 0.0
    evidence: float = 0.0
    refuted: bool = False
    gaussian: GaussianFinding | None = None
    from_rows: bool = False
    leak: str | None = None

    @property
    def hits(self) -> int:
        """Fits to the table with the canary that were told to be so, of ``counts.trials``."""
        return self.counts.hits

    @property
    def false_alarms(self) -> int:
        """Fits to the table without the canary that were taken for the other, of ``counts.trials``."""
        return self.counts.false_alarms

    @property
    def holds(self) -> bool:
        """Whether nothing contradicts the claim, or the certificate's Gaussian charges. True is no proof."""
        return not self.refuted

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; infinity is a word."""
        facts = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "counts"}
        bounds = {name: _plain(facts[name]) for name in ("epsilon_lower", "provable", "usual")}
        gaussian = None if self.gaussian is None else self.gaussian.to_dict()
        return {**facts, **bounds, "counted": self.counts.to_dict(), "gaussian": gaussian, "holds": self.holds}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`to_dict`.

        Raises:
            ValueError: for what is no audit of this version.
        """
        try:
            gaussian = None if data["gaussian"] is None else GaussianFinding.from_dict(data["gaussian"])
            facts = {item.name: data[item.name] for item in fields(cls) if item.name not in ("counts", "gaussian")}
            facts |= {name: float(facts[name]) for name in ("epsilon_lower", "provable", "usual", "evidence")}
            return cls(counts=_counts(data["counted"]), gaussian=gaussian, **facts)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"this is no audit: {type(error).__name__}: {error}") from None

    @property
    def meaning(self) -> str:
        """What was found, in a few sentences for people."""
        claim = f"epsilon {self.epsilon:g} at delta {self.delta:g}"
        if self.holds:
            text = (
                f"Nothing found that contradicts {claim}. That is no proof: an attack that nobody tried might do "
                "better. The proof is in the certificate"
            )
            usual = self.usual if self.gaussian is None else max(self.usual, self.gaussian.usual)
            text += (
                f". With so many fits the best attack on a learner that uses up its claim shows epsilon {usual:.2g} on "
                "average"
            )
        elif self.epsilon_lower >= self.epsilon * NEARLY:
            text = f"The claim of {claim} is VIOLATED: what was seen in {self.trials} fits each needs a larger epsilon"
            if self.leak is not None:
                text += f". Models of the table with the canary spell it out: {self.leak}"
        elif self.gaussian is None or self.gaussian.epsilon_lower < self.epsilon * NEARLY:
            text = f"The claim of {claim} is VIOLATED: what was seen in this audit and in earlier ones contradicts it"
        else:
            text = (
                f"The Gaussian charges of the certificates are VIOLATED: noise as they name it would need a larger "
                f"epsilon, of at least {self.gaussian.epsilon_lower:.3g}, and {claim} is claimed"
            )
        return f"{text}. {NOT_PRIVATE}." if self.from_rows else f"{text}."

    def __str__(self) -> str:
        canary = "1 row" if self.rows_per_unit == 1 else f"1 unit of {self.rows_per_unit} rows"
        change = "with and without" if self.neighbouring == "add_or_remove_one" else "with one and another label of"
        confident = f"{100 * self.confidence:g} % confidence"
        lines = [
            f"{self.estimator}: {self.trials} fits each {change} a canary of {canary}, {confident}",
            f"  claimed         epsilon {self.epsilon:g}, delta {self.delta:g}, {self.neighbouring}",
            f"  at least        epsilon {self.epsilon_lower:.3g} ({_told(self.counts)})",
            f"  could show      epsilon {self.provable:.3g} at most, with so many fits and guesses that are all right",
        ]
        if self.gaussian is not None:
            finding = self.gaussian
            lines.append(f"  if Gaussian     epsilon {finding.epsilon_lower:.3g} at least ({_told(finding.counts)})")
        return "\n".join([*lines, *wrap(self.meaning, 110, initial_indent="  ", subsequent_indent="  ")])


def _told(counts: Counts) -> str:
    return f"{counts.hits} hits and {counts.false_alarms} false alarms in {counts.trials} fits each"


def _counts(data: Mapping[str, Any]) -> Counts:
    return Counts(int(data["hits"]), int(data["false_alarms"]), int(data["trials"]), int(data["both"]))


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


MOST_FAULTS = 20
"""More are not kept: the first ones say where to look."""


@final
@dataclass(frozen=True)
class Replay:
    """What a replay audit found.

    Attributes:
        estimator: its class.
        neighbouring: the relation of its claim.
        runs: fits that were recorded.
        neighbours: tried with each of them.
        releases: that were recorded.
        tightest: how far exact answers moved, as a share of what is declared.
        faults: what is wrong, the first ones.
        from_rows: whether rows were given; then none of this is private.

    Example:
        >>> from tacit import RandomTreesClassifier
        >>> from tacit.audit import replay_audit
        >>> schema = {"label": {"column": "sick", "classes": ["no", "yes"]}, "columns": {"smokes": {"kind": "boolean"}}}
        >>> replay = replay_audit(RandomTreesClassifier(schema=schema, n_trees=2), neighbours=2)
        >>> print(replay.faults, replay.neighbours)
        () 2
    """

    estimator: str
    neighbouring: str
    runs: int
    neighbours: int
    releases: int = 0
    tightest: float = 0.0
    faults: tuple[str, ...] = ()
    from_rows: bool = False

    @property
    def holds(self) -> bool:
        """Whether nothing was found. True is no proof."""
        return not self.faults

    def and_faults(self, faults: Iterable[str]) -> Replay:
        """With these faults as well."""
        distinct = dict.fromkeys([*self.faults, *faults])
        return replace(self, faults=tuple(distinct)[:MOST_FAULTS])

    def and_more(self, recording: Any, from_rows: bool) -> Replay:
        """With what was seen as well of a recorded fit, or of one to a neighbour."""
        recorded = 0 if recording.beside else recording.releases
        tightest = max(self.tightest, recording.tightest)
        more = replace(self, releases=self.releases + recorded, tightest=tightest, from_rows=from_rows)
        return more.and_faults(recording.faults)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {**{item.name: getattr(self, item.name) for item in fields(self)}, "faults": list(self.faults),
                "holds": self.holds}  # fmt: skip

    @property
    def meaning(self) -> str:
        """What was found, in a few sentences for people."""
        if self.holds:
            text = (
                "All that rows did went through the curator, and answers moved no further than declared. That is no "
                "proof: other rows might do more"
            )
        else:
            text = "The claim is VIOLATED: what follows reaches the result past the releases, or is not paid for"
        return f"{text}. {NOT_PRIVATE}." if self.from_rows else f"{text}."

    def __str__(self) -> str:
        lines = [
            f"{self.estimator}: {self.runs} fits, each repeated on {self.neighbours} neighbours, {self.neighbouring}",
            f"  releases        {self.releases}",
            f"  answers moved   {self.tightest:.0%} of what is declared at most",
            *wrap(self.meaning, 110, initial_indent="  ", subsequent_indent="  "),
        ]
        for fault in self.faults:
            lines += wrap(fault, 110, initial_indent="  - ", subsequent_indent="    ")
        return "\n".join(lines)
