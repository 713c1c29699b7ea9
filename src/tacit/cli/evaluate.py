"""`tacit evaluate`: how good a model is on private rows, charged and certified."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import arguments as shared
from tacit.cli.arguments import account_of, listed, pair_of, schema_of, target_column
from tacit.cli.console import as_json, finite, progress, releasable, spent, table
from tacit.cli.outputs import check_outputs, free_place
from tacit.cli.predict import classes_of
from tacit.cli.tables import columns_for, encoders_of, rows_of
from tacit.whole_files import write_text

if TYPE_CHECKING:
    from tacit.evaluation.number_performance import NumberPerformance
    from tacit.evaluation.performance import Estimate, Performance
    from tacit.evaluation.private_score import PrivateNumberScore, PrivateScore
    from tacit.schema import Schema

HIDDEN = "inconclusive (noise too large)"


@dataclass(frozen=True, kw_only=True)
class EvaluateArguments(shared.CsvArguments, shared.PaidArguments, shared.WritingArguments):
    model: shared.ModelFile
    data: shared.Data
    epsilon: Annotated[float, typer.Option("--epsilon", help="Privacy budget of this evaluation.")]
    target: Annotated[str | None, "Column with the true label. Default: the label of the schema or the model."] = None
    schema: Annotated[
        Path | None, "Schema file (TOML): the public facts about each column. Default: the schema of the model."
    ] = None
    unit: shared.UnitColumn = None
    max_rows: shared.MaxRows = None
    delta: shared.Delta = 1e-6
    neighbouring: shared.Relation = shared.ADD_OR_REMOVE_ONE
    threshold: Annotated[float, "Predict the positive class at or above this probability."] = 0.5
    cost: Annotated[str | None, "Cost of a false positive and a false negative, such as 1,5."] = None
    subgroups: Annotated[str | None, "Break down the results by this column."] = None
    categories: Annotated[
        str | None, "Values of that column, comma-separated. Default: those of the schema or the model."
    ] = None
    random_state: shared.Seed = None
    metrics: Annotated[
        str | None,
        "Metrics, comma-separated: auc,log_loss or mae,r2,pinball ...; for ordered classes, ranked_probability_score.",
    ] = None
    quantile: Annotated[float | None, "Quantile of the pinball loss (numeric targets)."] = None
    error_clip: Annotated[float | None, "Clip larger errors to this size (numeric targets)."] = None


def run(arguments: EvaluateArguments) -> None:
    """Evaluate a model on held-out private rows: metrics with confidence intervals, for one charge."""
    from tacit.encoding.sources import read_files
    from tacit.evaluation.candidates import check_unit
    from tacit.evaluation.private_score import private_score
    from tacit.models.files import load_with_schema
    from tacit.privacy.certificate import Certificate

    inputs = {"the data": arguments.data, "the model": arguments.model, "the schema": arguments.schema}
    check_outputs({"--certificate": arguments.certificate}, inputs, arguments.account, arguments.force)
    declared = schema_of(arguments.schema, arguments.unit, arguments.max_rows)
    model, promise, own = load_with_schema(arguments.model)
    target = target_column(arguments.target, declared, None if promise is None else promise.get("target"))
    schema = own if declared is None else declared
    if promise is not None:
        check_unit(Certificate.from_dict(promise), schema)
    account = account_of(arguments.account, arguments.dataset)
    how = "--cost: give what a false positive and a false negative cost, such as 1,5"
    cost = None if arguments.cost is None else pair_of(arguments.cost, how)
    names, numeric = columns_for(model, [target, *_more(arguments, schema)])
    numeric |= set() if classes_of(model) else {target}
    with (
        rows_of(arguments.data, arguments) as (data, dialect),
        progress(arguments.data.name, quiet=arguments.as_json) as tell,
    ):
        frame = read_files(data, names, numeric, lambda n: tell(f"{n:,} rows read"), dialect)
        tell("evaluating")
        score = private_score(
            model,
            frame,
            frame.column(target),
            arguments.epsilon,
            arguments.delta,
            listed(arguments.metrics),
            threshold=arguments.threshold,
            cost=cost,
            subgroups=arguments.subgroups,
            categories=_values(arguments, declared, model),
            error_clip=arguments.error_clip,
            quantile=arguments.quantile,
            schema=schema,
            account=account,
            neighbouring=arguments.neighbouring,
            random_state=arguments.random_state,
        )
    if arguments.certificate is not None:
        write_text(free_place(arguments.certificate, arguments.force), score.certificate.to_json())
    _show(arguments, score, classes_of(model))


def _values(arguments: EvaluateArguments, schema: Schema | None, model: Any) -> list[Any] | None:
    """The values of the subgroups: as given; without a schema those that the model declares for the column."""
    from tacit.encoding.values import CategoryIndex

    if arguments.categories is not None or schema is not None:
        return listed(arguments.categories)
    encoder = dict(encoders_of(model)).get(arguments.subgroups or "")
    return list(encoder.categories) if isinstance(encoder, CategoryIndex) else None


def _more(arguments: EvaluateArguments, schema: Schema | None) -> list[str]:
    unit = [] if schema is None or schema.unit is None else [schema.unit.column]
    return [*unit, *([] if arguments.subgroups is None else [arguments.subgroups])]


def _show(arguments: EvaluateArguments, score: PrivateScore | PrivateNumberScore, classes: tuple[Any, ...]) -> None:
    from tacit.evaluation.private_score import PrivateNumberScore

    certificate = score.certificate
    facts: dict[str, Any] = score.to_dict()
    facts |= {"epsilon": finite(certificate.epsilon), "delta": certificate.delta, "releasable": certificate.releasable}
    if arguments.as_json:
        as_json(facts)
        return
    rows = {name.replace("_", " "): text for name, text in _figures(score.overall).items()}
    rows["rows"] = f"{score.overall.rows.value:.0f} (noisy)"
    rows |= _only_numbers(score) if isinstance(score, PrivateNumberScore) else _only_classes(score, classes)
    for name, group in score.subgroups.items():
        figures = [f"{metric.replace('_', ' ')} {text}" for metric, text in _figures(group).items()]
        few = _few(group.rows, exact=math.isinf(arguments.epsilon))
        rows[f"{arguments.subgroups} = {name}"] = ", ".join(figures) if group.known else few
    rows["spent"] = spent(certificate)
    rows["releasable"] = releasable(certificate)
    table("Performance, with 95 % intervals (privacy noise and sampling)", rows)


def _few(rows: Estimate, *, exact: bool) -> str:
    """Describe a group without figures: it has no rows, which an exact count alone can say, or few beside the noise."""
    if exact and rows.high < 0.5:
        return "no rows"
    return f"too few rows to report: about {rows.value:.0f} ({rows.low:.0f} to {rows.high:.0f})"


def _figures(group: Performance | NumberPerformance) -> dict[str, str]:
    """The metrics of a group of rows in words."""
    return {name: _words(name, value) if group.known else HIDDEN for name, value in group.metrics.items()}


def _words(metric: str, figure: Estimate) -> str:
    """A figure; none of a share that noise leaves no part of what is possible out, or of a loss cut off at 0."""
    share = metric in ("auc", "accuracy", "calibration")
    if share and (figure.low, figure.high) == (0.0, 1.0):
        return HIDDEN
    if metric not in ("auc", "accuracy", "r2") and figure.value == figure.low == 0.0 < figure.high:
        return f"{HIDDEN}: at most {figure.high:.4g}"
    return str(figure)


def _only_classes(score: PrivateScore, classes: tuple[Any, ...]) -> dict[str, str]:
    """What only models of classes have."""
    if len(classes) > 2:
        aucs = score.overall.class_auc
        return {f"auc, {name}": _words("auc", auc) for name, auc in zip(classes, aucs, strict=False)}
    rows = {"positives": str(score.overall.positives) if score.overall.known else HIDDEN}
    if score.overall.best_threshold is not None:
        rows["least costly threshold"] = f"{score.overall.best_threshold:.3g}"
    return rows


def _only_numbers(score: PrivateNumberScore) -> dict[str, str]:
    """What only models of a number have."""
    clip = f"errors above {score.error_clip:.4g} are clipped to it"
    if score.beyond is not None:
        clip += f"; {max(score.beyond[0], 0.0):.0f} ± {2 * score.beyond[1]:.0f} rows were"
    names = score.overall.metrics
    return {"clip": clip, **({"quantile": f"{score.quantile:g}"} if "pinball" in names else {})}
