"""`tacit schema discover`: a schema found in private rows, and paid for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tacit.cli.console import as_json, finite, progress, spent
from tacit.cli.failures import Mistake
from tacit.cli.files import check_outputs, write_text, write_with
from tacit.cli.options import account_of, listed


@dataclass(frozen=True, kw_only=True)
class Order:
    """What the command line asked for."""

    data: Path
    target: str
    output: Path
    epsilon: float
    delta: float
    neighbouring: str
    numeric: str | None
    categories: str | None
    ignore: str | None
    label_kind: str
    positive: str | None
    unit: str | None
    max_rows: int
    certificate: Path | None
    account: str | None
    dataset: str | None
    random_state: int | None
    force: bool
    as_json: bool


def run(order: Order) -> None:
    """Finds a schema, writes it, and says what was spent."""
    import typer

    from tacit.discovery.discover_schema import discover_schema
    from tacit.encoding.read import column_names, is_parquet, read_columns
    from tacit.schema import Unit

    outputs = {"--output": order.output, "--certificate": order.certificate}
    check_outputs(outputs, {"the data": order.data}, order.account)
    if order.output.exists() and not order.force:
        raise Mistake(f"{order.output} exists; give another --output, or --force to overwrite it")
    account = account_of(order.account, order.dataset)
    names = column_names(order.data)
    kinds = _kinds(order)
    for name in (*kinds, order.target, *([] if order.unit is None else [order.unit])):
        if name not in names:
            raise Mistake(f"{order.data} has no column {name!r}")
    if not is_parquet(order.data):  # texts throughout: whether they are numbers is private
        kinds = {name: kinds.get(name, "ask") for name in names if name != order.target}
    as_numbers = [name for name, kind in kinds.items() if kind == "numeric"]
    as_numbers += [order.target] if order.label_kind == "numeric" else []
    with progress(order.data.name, quiet=order.as_json) as tell:
        frame = read_columns(order.data, names, as_numbers, lambda n: tell(f"{n:,} rows read"))
        tell("looking for bounds and categories")
        schema, certificate = discover_schema(
            frame,
            order.target,
            order.epsilon,
            order.delta,
            kinds=kinds,
            label_kind=order.label_kind,
            positive=order.positive,
            unit=None if order.unit is None else Unit(order.unit, order.max_rows),
            account=account,
            neighbouring=order.neighbouring,
            random_state=order.random_state,
        )
    remark = "Like a declared schema it may be used and shown" if certificate.releasable else "NOT for release"
    header = f"Found in private rows at a cost of {spent(certificate)}.\n{remark}; its certificate says how."
    write_with(order.output, lambda path: schema.to_toml(path, header))
    if order.certificate is not None:
        write_text(order.certificate, certificate.to_json())
    if order.as_json:
        written = {"schema": str(order.output), "fingerprint": schema.fingerprint(), "label": schema.label is not None}
        as_json({**written, "epsilon": finite(certificate.epsilon), "releasable": certificate.releasable})
        return
    typer.echo(f"wrote {order.output}: {len(schema.features)} features, at a cost of {spent(certificate)}")
    if schema.label is None:
        typer.echo("no two classes of the label are held by enough rows: add a [label] section")
    if not certificate.releasable:
        typer.echo("NOT for release: " + "; ".join(certificate.reasons))


def _kinds(order: Order) -> dict[str, str]:
    """The kinds that options state."""
    kinds: dict[str, str] = {}
    for names, kind in ((order.numeric, "numeric"), (order.categories, "categories"), (order.ignore, "ignore")):
        for name in listed(names) or []:
            if kinds.get(name, kind) != kind:
                raise Mistake(f"column {name!r} is listed twice: as {kinds[name]} and as {kind}")
            kinds[name] = kind
    return kinds
