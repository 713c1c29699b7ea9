"""What the certificate, the schema, audits and evaluations of a model say under the headings of a dossier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.privacy.strength import attack_risks, percent, strength_of
from tacit.report.budget import checked_share
from tacit.report.page import limits
from tacit.report.paperwork import Paperwork

NOT_EVALUATED = "No evaluation was given: run tacit evaluate --json on rows that the model was not trained on."
NOT_AUDITED = "No audit was given: tacit audit --json attacks the learner, replay_audit repeats its fits."
MOST_NAMED = 12


@dataclass(frozen=True)
class Answers:
    """Sentences under the headings; each property is one answer."""

    papers: Paperwork

    @property
    def minimisation(self) -> str:
        """Which part of the data the fit could use."""
        certificate, names = self.papers.certificate, self.papers.model.feature_names
        shown = ", ".join(names[:MOST_NAMED]) + (
            f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        )
        dropped = (
            ""
            if certificate.unit is None
            else f" Of each {certificate.unit} at most {certificate.rows_per_unit} rows were used."
        )
        return (
            f"The model uses {len(names)} columns: {shown}. Values outside of the declared bounds and categories are "
            f"clipped or treated as missing.{dropped} Only noisy statistics left the table."
        )

    @property
    def method(self) -> str:
        """How the model was trained."""
        certificate = self.papers.certificate
        return (
            f"{certificate.algorithm} asked for {certificate.releases:,} statistics of the table; each was answered "
            "with noise, and the model was computed from the answers alone. The order and the number of the questions "
            "do not depend on the rows except through earlier answers."
        )

    @property
    def outputs(self) -> str:
        """Why predictions need no protection of their own."""
        return (
            "The model, its predictions and its report are functions of the noisy answers. They need no further "
            "protection, whatever is computed from them and however often."
        )

    @property
    def analysis(self) -> str:
        """What was checked about the model without attacking it."""
        certificate = self.papers.certificate
        share = checked_share(certificate.entries, certificate.charges, certificate.delta)
        return (
            "The certificate was checked when this document was made: the model belongs to it, the charges cost at "
            f"most what is promised, and they pay for every release. Sensitivities behind {share:.0%} of the charges "
            f"rest on machine-checked lemmas. {self._replays}"
        )

    @property
    def attacks(self) -> str:
        """Bounds on attacks, and what audits measured."""
        (one,) = attack_risks(self.papers.certificate.charges, (1,))
        return (
            f"A membership inference attack on one person has an advantage of at most {percent(one.advantage)}, and "
            f"detects at most {percent(one.true_positives_at_1_percent)} of those present if 1 % of those absent are "
            "accused. A secret that is one of ten equally likely values is guessed at most "
            f"{percent(one.reconstruction)} of the time. {self._audits}"
        )

    @property
    def _audits(self) -> str:
        lines = [_audit(audit) for audit in self.papers.audits if "epsilon_lower" in audit]
        return " ".join(lines) or NOT_AUDITED

    @property
    def _replays(self) -> str:
        return " ".join(_replay(audit) for audit in self.papers.audits if "runs" in audit)

    @property
    def logic(self) -> str:
        """What kind of model it is."""
        kind = self.papers.model.kind.replace("_", " ")
        return f"The model is of the kind “{kind}”. Its report (tacit report) shows all of it, with the uncertainty."

    @property
    def architecture(self) -> str:
        """What runs the model."""
        versions = ", ".join(f"{name} {version}" for name, version in sorted(self.papers.certificate.versions.items()))
        return (
            f"One JSON file without executable code, made with {versions}. Training and predictions need one computer."
        )

    @property
    def data(self) -> str:
        """What is stated about the data."""
        return f"The data are not part of the model. Public and not protected: {self.papers.unprotected}"

    @property
    def changes(self) -> str:
        """What a change of the model costs."""
        return (
            "The model does not learn in use. A new fit to the same data is a release of its own, and its cost adds up."
        )

    @property
    def evaluation(self) -> str:
        """The figures of an evaluation."""
        score = self.papers.evaluation
        if score is None:
            return NOT_EVALUATED
        cost = (
            f"epsilon {score['epsilon']:.4g}, delta {score['delta']:g}" if "epsilon" in score else "a charge of its own"
        )
        return f"On held-out rows: {_figures(score['overall'])}. The evaluation was a noisy release itself, for {cost}."

    @property
    def groups(self) -> str:
        """The figures of subgroups."""
        score = self.papers.evaluation
        if score is None:
            return NOT_EVALUATED
        if not score.get("subgroups"):
            return f"{self.evaluation} Subgroups were not evaluated: tacit evaluate --subgroups COLUMN does so."
        lines = [f"{name}: {_figures(figures)}" for name, figures in score["subgroups"].items()]
        return f"{self.evaluation} By subgroup: {'; '.join(lines)}."

    @property
    def security(self) -> str:
        """What secures the file."""
        signed = "is signed" if self.papers.certificate.signature is not None else "is not signed"
        return f"The model file contains no code. Digests reveal every change; the certificate {signed}."

    @property
    def limits(self) -> str:
        """What a reader must not conclude."""
        return " ".join(limits(self.papers.certificate))

    @property
    def inputs(self) -> str:
        """What the model reads."""
        schema, names = self.papers.schema, self.papers.model.feature_names
        if schema is None:
            return f"Columns: {', '.join(names)}."
        columns = [f"{name} ({schema.columns[name].kind})" for name in names if name in schema.columns]
        return f"Columns, as the schema declares them: {', '.join(columns)}."

    @property
    def parameters(self) -> str:
        """Epsilon and delta, and how strong they are."""
        certificate = self.papers.certificate
        strength = strength_of(certificate)
        warned = "".join(f" Warning: {words}." for words in strength.warnings)
        return (
            f"Epsilon {certificate.epsilon:.6g}, delta {certificate.delta:g}: the guarantee is {strength.word}.{warned}"
        )

    @property
    def unit(self) -> str:
        """Who is protected."""
        return f"Protected: {self.papers.certificate.protected}. {self.papers.adjacent}"

    @property
    def composition(self) -> str:
        """What adds up."""
        name = self.papers.certificate.dataset
        paid = f"Paid from the account “{name}”, which adds up releases." if name else "Paid from no account."
        return f"{self.papers.accounting} {paid}"

    @property
    def bounds_of_rows(self) -> str:
        """How far one person can move an answer."""
        count = len({entry.theorem for entry in self.papers.certificate.entries})
        return (
            f"Bounds and categories are declared in the schema; {count} theorems bound how far one row moves an answer."
        )

    @property
    def implementation(self) -> str:
        """How noise is drawn."""
        certificate = self.papers.certificate
        return (
            f"Sums are integers and noise is drawn exactly on the integers ({certificate.noise_source}), from the "
            "randomness of the operating system. No floating-point number is noised."
        )

    @property
    def side_channels(self) -> str:
        """What is not covered."""
        return (
            "Errors and warnings do not depend on the contents of rows. Timing and memory of the fit are not protected."
        )

    @property
    def checks(self) -> str:
        """How an output checker checks a model."""
        return "Commands: tacit verify MODEL.json --key SIGNER.pub, and tacit report MODEL.json for people."

    @property
    def by_hand(self) -> str:
        """Why a model file may leave although nobody reads its numbers."""
        return (
            "A model has more numbers than a person can check. Its certificate takes the place of that check: it "
            "bounds what all numbers together reveal about one person, including memorised records."
        )


def _figures(group: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {figure['value']:.4g} ({figure['low']:.4g} to {figure['high']:.4g})"
        for name, figure in group.items()
        if isinstance(figure, Mapping) and {"value", "low", "high"} <= set(figure)
    )


def _audit(audit: Mapping[str, Any]) -> str:
    verdict = "does not contradict" if audit["holds"] else "CONTRADICTS"
    return (
        f"An audit of {audit['estimator']} shows an epsilon of at least {_number(audit['epsilon_lower'])} at "
        f"{100 * audit['confidence']:g} % confidence, which {verdict} the claim of {audit['epsilon']:g}."
    )


def _replay(audit: Mapping[str, Any]) -> str:
    verdict = "no fault" if audit["holds"] else f"faults: {'; '.join(map(str, audit['faults']))}"
    fits = f"{audit['runs']} fits of {audit['estimator']}"
    return f"A replay of {fits} on {audit['neighbours']} neighbouring tables each found {verdict}."


def _number(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) else str(value)
