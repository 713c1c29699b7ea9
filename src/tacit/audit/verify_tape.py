"""Does a model follow from a tape? It is learned again from the tape alone, without a row, and compared."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from tacit.audit.plan import copied
from tacit.curator.tape import Diverged
from tacit.curator.tape_file import TapeFile, read_tape
from tacit.encoding.frames import Frame
from tacit.errors import TacitError
from tacit.estimators.binding import public_parameters
from tacit.estimators.files import learner_in
from tacit.learning.tapes import Taping
from tacit.models.base import Model, checked_file
from tacit.models.files import schema_of
from tacit.privacy.canonical import finite
from tacit.privacy.certificate import Certificate
from tacit.privacy.verification import CertificateError, versions
from tacit.schema import Schema

ROUNDING = 1e-9
"""Numbers that differ by no more than this part of them differ by rounding."""


@final
@dataclass(frozen=True)
class TapeVerdict:
    """What came of learning a model again from its tape.

    Attributes:
        problems: what is wrong, in sentences; empty if the model follows from the tape.
        remarks: what a reader must know, and is no fault.
        releases: on the tape.
        integers: released in all.

    Example:
        >>> from tacit.audit import TapeVerdict
        >>> print(TapeVerdict(problems=(), remarks=(), releases=12, integers=96).problems)
        ()
    """

    problems: tuple[str, ...]
    remarks: tuple[str, ...]
    releases: int
    integers: int


def verify_tape(model: str | os.PathLike[str], tape: str | os.PathLike[str], estimator: Any = None) -> TapeVerdict:
    """Learns the model of a file again from a tape, and says what does not fit: no row is read, nothing is spent.

    Args:
        model: a model file with its certificate and its schema.
        tape: the file that ``fit(..., tape=...)`` wrote.
        estimator: unfitted, as it was recorded, where a file does not hold its parameters, such as concept classes;
            None for one put together from the certificate.

    Raises:
        TacitError: for files that cannot be read, or a model that no tape is for. Nothing was spent.

    Example:
        >>> import tempfile
        >>> from tacit import RandomTreesClassifier, save
        >>> from tacit.audit import verify_tape
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital(4000)
        >>> folder = tempfile.mkdtemp()
        >>> save(RandomTreesClassifier(schema=schema).fit(X, y, tape=f"{folder}/fit.tape"), f"{folder}/model.json")
        >>> print(verify_tape(f"{folder}/model.json", f"{folder}/fit.tape").problems)
        ()
    """
    data, played = checked_file(model), read_tape(tape)
    try:
        certificate = Certificate.from_dict(data.get("certificate") or {})
    except CertificateError as error:
        raise TacitError(f"{model}: {error}") from None
    schema = schema_of(data)
    if schema is None:
        raise TacitError(f"{model} holds no schema, and a model is learned again from its schema and its tape")
    learner = learner_in(certificate, schema, model) if estimator is None else copied(estimator)
    problems, remarks = [*played.problems, *_claimed(certificate, played)], _said(played)
    if finite(public_parameters(learner)) != certificate.parameters:
        problems.append("the estimator has other parameters than the certificate lists")
    again = _learned(learner, schema, played, problems, remarks)
    if again is not None:
        if again.certificate_.ledger_digest != certificate.ledger_digest:
            problems.append("the releases that the certificate lists are not those of the tape")
        difference = _difference({"kind": data.get("kind"), "model": data.get("model")}, again.model_)
        (remarks if difference is None or difference.rounding else problems).extend(
            [] if difference is None else [str(difference)]
        )
    if (problems or remarks != _said(played)) and (others := _other_versions(played)):
        remarks.append(f"the fit had {others}: arithmetic may differ, and with the same versions it does not")
    passages = played.tape.passages
    return TapeVerdict(tuple(problems), tuple(remarks), len(passages), sum(each.size for each in passages))


def _claimed(certificate: Certificate, played: TapeFile) -> Iterator[str]:
    """What of the two files does not belong together, before anything is learned."""
    if certificate.tape is None:
        yield "the certificate names no tape: the fit was not recorded"
    elif certificate.tape != played.digest:
        yield "the tape is not the one that the certificate names"
    begun = played.beginning
    if begun.model != certificate.model_digest:
        yield "the tape is that of another model"
    if (begun.releasable, begun.reasons) != (certificate.releasable, certificate.reasons):
        yield "the tape says otherwise than the certificate if it may be released"
    if begun.versions != certificate.versions:
        yield "the tape names other versions of libraries than the certificate"
    if begun.rows is not None and not certificate.n_public:
        yield f"the tape has a number of rows, which is private under {certificate.neighbouring}"


def _said(played: TapeFile) -> list[str]:
    """What the tape says of itself."""
    beginning = played.beginning
    return [] if beginning.releasable else [f"this tape may NOT be released: {'; '.join(beginning.reasons)}"]


def _other_versions(played: TapeFile) -> str:
    """The libraries of the fit that have another version here; empty if there are none."""
    here = versions()
    return ", ".join(
        f"{name} {then} (here {here[name]})"
        for name, then in played.beginning.versions.items()
        if here.get(name, then) != then and name != "python"
    )


def _learned(learner: Any, schema: Schema, played: TapeFile, problems: list[str], remarks: list[str]) -> Any:
    """The learner, fitted to no row with the answers of the tape; None if it does not come to an end."""
    taping, weights = Taping(played=played), {"sample_weight": np.ones(0)} if played.beginning.weighted else {}
    learner.warns = False
    vars(learner)["account"] = None  # nothing is charged: what was released is paid for
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner.fit(_no_rows(schema), [], **weights, tape=taping)
    except Diverged as error:
        problems.append(str(error))
        return None
    except Exception as error:  # noqa: BLE001 - whatever it is, the fit that was recorded did not raise it
        problems.append(f"the learner fails on the tape: {type(error).__name__}: {error}")
        return None
    if unasked := taping.tape.unasked:
        problems.append(unasked)
    remarks.extend(taping.tape.doubts)
    return learner


def _no_rows(schema: Schema) -> Frame:
    """A table of the schema's columns without rows."""
    unit = [] if schema.unit is None else [schema.unit.column]
    return Frame({name: np.zeros(0, object) for name in (*schema.columns, *unit)}, 0)


@dataclass(frozen=True)
class _Difference:
    """Where two models differ first, and by how much at most."""

    place: str
    stated: Any
    learned: Any
    numbers: int
    most: float

    @property
    def rounding(self) -> bool:
        """Whether nothing differs but the last digits of numbers."""
        return self.most <= ROUNDING

    def __str__(self) -> str:
        where = f"{self.place} is {self.stated!r} in the file, and {self.learned!r} by the tape"
        if self.rounding:
            return f"{self.numbers} numbers of the model differ in their last digits, as on another processor: {where}"
        return f"the model is not the one that the tape gives: {where} ({self.numbers} places differ)"


def _difference(stated: Mapping[str, Any], model: Model) -> _Difference | None:
    """The first difference between the plain data of a model and a model; None if there is none."""
    learned = json.loads(json.dumps({"kind": model.kind, "model": model.body()}))
    differences = list(_apart("", stated, learned))
    if not differences:
        return None
    return _Difference(*differences[0][:3], len(differences), max(most for *_, most in differences))


def _apart(place: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any, float]]:
    """Every place where plain data differ, what is there, and by how much of themselves numbers do."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from _apart(f"{place}.{key}" if place else str(key), one[key], other[key])
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from _apart(f"{place}[{number}]", *pair)
    elif isinstance(one, float) and isinstance(other, float):
        if one != other:
            yield place, one, other, abs(one - other) / max(abs(one), abs(other))
    elif one != other or type(one) is not type(other):
        yield place, _short(one), _short(other), math.inf


def _short(value: Any) -> Any:
    """What is said of a value that may be long."""
    return f"{len(value)} values" if isinstance(value, list | dict) else value
