"""What an export says of where it came from: the digests of the model and of its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Self

from tacit.errors import missing
from tacit.export.expression import ExportError
from tacit.models.base import Model
from tacit.models.binding import model_digest
from tacit.privacy.certificate import Certificate


def needed(name: str) -> Any:
    """A module of a package that only exports need; :class:`TacitError` without it."""
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise missing(package, "export") from None


@dataclass(frozen=True)
class Subject:
    """What is exported: a model, and its certificate if there is one."""

    model: Model
    certificate: Certificate | None

    @classmethod
    def of(cls, subject: Any) -> Self:
        """Of a model, of a fitted estimator, or of itself."""
        if isinstance(subject, cls):
            return subject
        model = subject if isinstance(subject, Model) else getattr(subject, "model_", None)
        if not isinstance(model, Model):
            raise ExportError(f"a {type(subject).__name__} is neither a model nor a fitted estimator")
        certificate = getattr(subject, "certificate_", None)
        return cls(model, certificate if isinstance(certificate, Certificate) else None)

    @property
    def facts(self) -> dict[str, str]:
        """The digests, and the promise of the certificate."""
        facts = {"tacit.model_digest": model_digest(self.model), "tacit.kind": self.model.kind}
        if self.certificate is not None:
            facts |= {
                "tacit.certificate_digest": self.certificate.digest,
                "dp.epsilon": f"{self.certificate.epsilon!r}",
                "dp.delta": f"{self.certificate.delta!r}",
                "dp.unit": self.certificate.protected,
                "dp.releasable": str(self.certificate.releasable).lower(),
            }
        return facts


def statement_of(about: Subject) -> list[str]:
    """The facts as lines of text without line breaks."""
    return [" ".join(f"{name}: {value}".split()) for name, value in about.facts.items()]
