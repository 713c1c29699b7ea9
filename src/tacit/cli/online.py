"""`tacit online`: a stream of rows, each predicted and then learned from, at one charge for all files of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from tacit.cli import arguments as shared
from tacit.cli import tables
from tacit.cli.arguments import account_of, check_account, schema_of
from tacit.cli.console import answer, progress
from tacit.cli.failures import Mistake, together
from tacit.cli.fitted import claim_facts, claim_rows
from tacit.cli.learners import set_parameters
from tacit.cli.outputs import check_outputs, write_paid
from tacit.cli.predict import check_format, write
from tacit.whole_files import write_text, write_with

if TYPE_CHECKING:
    from tacit.encoding.frames import Frame
    from tacit.models.tree_ensemble import TreeEnsembleModel
    from tacit.online import Winnow
    from tacit.privacy.certificate import Certificate
    from tacit.schema import Schema

SETTLED = ("account", "dataset", "delta", "epsilon", "horizon", "neighbouring", "random_state", "schema", "settings")
"""Arguments that a stream has from its beginning."""

ROWS_KEY = b"tacit online"
"""The key of fingerprints of files. It need not be secret: they are in the state, which is as confidential as rows."""

FIXED = ("columns", "invalid", "labels", "seed")
"""Parameters that follow from the schema, or from what rows may never do: stop a command."""


@dataclass(frozen=True, kw_only=True)
class OnlineArguments(shared.CsvArguments, shared.PaidArguments, shared.WritingArguments):
    data: shared.Data
    schema: shared.SchemaFile = None
    horizon: Annotated[int | None, "Maximum number of rows over the whole stream (it must be public)."] = None
    epsilon: shared.Epsilon = 1.0
    delta: shared.Delta = 1e-6
    neighbouring: shared.Relation = shared.ADD_OR_REMOVE_ONE
    state: Annotated[
        Path | None,
        "State of the stream (confidential): continues from this file if it exists, at no charge; written at the end.",
    ] = None
    predictions: Annotated[
        Path | None, "Output file for the prediction of each row, made before it is learned from (confidential)."
    ] = None
    model: Annotated[Path | None, "Output file for the model of the released weights."] = None
    settings: shared.Settings = None
    name: shared.DataName = None
    random_state: shared.Seed = None


def run(arguments: OnlineArguments) -> None:
    """Learn online from rows in order (private Winnow), predicting each first; one charge for the whole stream."""
    together(lambda: _check_outputs(arguments), lambda: tables.check_there(arguments.data))
    going_on = arguments.state is not None and arguments.state.exists()
    learner = None if going_on else _begun(arguments)
    schema, earlier = _continued(arguments) if learner is None else (learner.schema, [])
    rows, fingerprint = _rows(arguments, schema)
    if fingerprint in earlier:
        raise Mistake(
            f"{arguments.data.name}: the stream in {arguments.state} has learned from these rows, whole or in part: "
            "who is in it twice is not protected by one charge. Give rows that came later, or begin a new stream"
        )
    account = None if learner is None else learner.account
    with nullcontext() if account is None else account.closing_at_the_end(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the option says that the state is confidential
        learner, predicted = _learn(arguments, learner, rows, fingerprint)
        written, certificate = _write(arguments, learner, predicted)
    _summarise(arguments, learner, certificate, written, len(predicted))


def _begun(arguments: OnlineArguments) -> Winnow:
    """A new stream; nothing is spent before its first row."""
    from tacit.online import Winnow

    if arguments.schema is None or arguments.horizon is None:
        state = "" if arguments.state is None else f"{arguments.state} does not exist, and "
        needs = {"--schema": arguments.schema, "--horizon, the maximum number of its rows": arguments.horizon}
        raise Mistake(
            f"{state}a new stream needs {' and '.join(name for name, value in needs.items() if value is None)}"
        )
    schema, values = together(
        lambda: schema_of(arguments.schema, None, None),
        lambda: set_parameters(Winnow, arguments.settings, None, FIXED),
    )
    if schema.label is None:
        raise Mistake(f"{arguments.schema} declares no [label]: a stream needs its column and classes")
    learner = Winnow(
        arguments.epsilon, arguments.delta, str(arguments.neighbouring), arguments.horizon, schema=schema,
        invalid="null", account=account_of(arguments.account, arguments.dataset), seed=arguments.random_state, **values,
    )  # fmt: skip
    if arguments.model is not None:
        learner.model_features()  # raises for what no model holds
    return learner


def _continued(arguments: OnlineArguments) -> tuple[Schema, list[str]]:
    """The schema of the stream that goes on, and its files; raises for options that it has from its beginning."""
    from tacit.online.suspended import read_secrets
    from tacit.schema import Schema

    extra = [f for f in fields(arguments) if f.name in SETTLED and getattr(arguments, f.name) != f.default]
    if extra:
        options = ", ".join(f"--{'set' if f.name == 'settings' else f.name.replace('_', '-')}" for f in extra)
        raise Mistake(
            f"{options}: settled when the stream in {arguments.state} began; leave out, or name a new --state"
        )
    assert arguments.state is not None
    try:
        content = read_secrets(arguments.state)
        schema, files = content["schema"], list(content.get("files", []))
    except (ValueError, KeyError, TypeError) as error:
        raise Mistake(f"--state: {arguments.state} holds no stream to continue") from error
    if schema is None or (declared := Schema.from_dict(schema)).label is None:
        raise Mistake(f"--state: the stream in {arguments.state} has no schema with a label, and goes on in Python")
    return declared, files


def _rows(arguments: OnlineArguments, schema: Schema) -> tuple[tuple[Frame, Any], str]:
    """The features of all rows with their labels as the schema names them, or None; nothing in them is an error.

    And the fingerprint that they are known by: empty for few rows, which may be equal by chance.
    """
    import numpy as np

    from tacit.encoding.table import TableEncoding, fingerprint
    from tacit.encoding.values import LabelIndex
    from tacit.learning.supply import LEAST_ROWS

    assert schema.label is not None
    index = LabelIndex.of(schema.label)
    names = np.empty(index.n_classes + 1, object)  # the last is of no class: its round is a null round
    names[: index.n_classes] = index.names
    with (
        progress(arguments.data.name, quiet=arguments.as_json) as tell,
        tables.rows_of(arguments.data, arguments) as (data, csv),
    ):
        frame, labels = tables.training_table(data, schema.label.column, schema, tell, dialect=csv)
    codes = np.minimum(index.encode(labels), index.n_classes)
    digest = fingerprint([*TableEncoding.of(schema).encode(frame), codes], ROWS_KEY) if len(codes) >= LEAST_ROWS else ""
    return (frame, names[codes]), digest


def _learn(
    arguments: OnlineArguments, begun: Winnow | None, rows: tuple[Frame, Any], fingerprint: str
) -> tuple[Winnow, Any]:
    """Predicts every row and learns from it; returns the learner and the predictions."""
    own = (fingerprint,) if fingerprint else ()
    if begun is not None:
        begun.files_ = own
        return begun, begun.predict_then_learn(*rows)
    from tacit.online import Winnow

    assert arguments.state is not None
    learner = Winnow.resume(arguments.state)
    rounds, earlier = learner.rounds_, learner.files_
    learner.files_ = (*earlier, *own)
    try:
        if arguments.model is not None:
            learner.model_features()
        return learner, learner.predict_then_learn(*rows)
    except BaseException as error:
        if isinstance(error, ValueError) and learner.rounds_ == rounds:  # refused, and not interrupted
            learner.files_ = earlier
        learner.suspend(arguments.state)  # where it was, or further on
        raise


def _check_outputs(arguments: OnlineArguments) -> None:
    outputs = {"--predictions": arguments.predictions, "--model": arguments.model}
    if not any((*outputs.values(), arguments.state)):
        raise Mistake("a stream spends budget and would leave nothing behind: give --model, --predictions or --state")
    inputs: dict[str, str | Path | None] = {"the data": arguments.data, "the schema": arguments.schema}
    if arguments.state is not None and not arguments.state.exists():
        check_outputs({"--state": arguments.state}, inputs, arguments.account)
    outputs["--certificate"] = arguments.certificate
    check_outputs(outputs, {**inputs, "the state": arguments.state}, arguments.account, arguments.force)
    if arguments.predictions is not None:
        check_format(arguments.predictions, "--predictions")
    check_account(arguments.account, arguments.dataset)


def _write(arguments: OnlineArguments, learner: Winnow, predicted: Any) -> tuple[dict[str, str], Certificate]:
    """Writes what was asked for, the state first, which cannot be made again; returns the certificate too."""
    import pyarrow as pa

    from tacit.estimators.binding import target_name
    from tacit.models.files import save_model

    model, plain = (None, learner.certificate_) if arguments.model is None else learner.to_model()
    schema = learner.schema_
    assert plain is not None
    assert schema is not None
    certificate = plain.named(target_name(schema, None), arguments.name)
    rows = pa.table({"prediction": pa.array([str(label) for label in predicted], pa.string())})
    ways: dict[str, Callable[[Path], None]] = {
        "state": learner.suspend,
        "model": lambda path: save_model(cast("TreeEnsembleModel", model), path, certificate, schema=schema),
        "predictions": lambda path: write_with(
            path, lambda file: write(iter([rows]), rows, file, path, arguments.decimal), private=True
        ),
        "certificate": lambda path: write_text(path, certificate.to_json()),
    }
    done = "The rows were learned from and the budget is spent"
    return write_paid(arguments, ways, done, "state"), certificate


def _summarise(
    arguments: OnlineArguments, learner: Winnow, certificate: Certificate, written: dict[str, str], rows: int
) -> None:
    from tacit.privacy.strength import strength_of

    strength = strength_of(certificate, None)
    promise = None if learner.promise_ is None else str(learner.promise_)
    facts = {"rows": rows, "rounds": learner.rounds_, "horizon": learner.horizon, "promise": promise}
    data = {"written": written, **claim_facts(certificate, strength), **facts, "warnings": strength.warnings}
    lines = {
        **written,
        "rows": f"{rows:,}; {learner.rounds_:,} of at most {learner.horizon:,} in the stream so far",
        **claim_rows(certificate, strength),
        **({} if promise is None else {"promise": promise}),
        **{f"warning {i}": words for i, words in enumerate(strength.warnings, start=1)},
    }
    lines["spent"] += ", when the stream began"
    answer(arguments.as_json, data, "A private stream", lines)
