"""`tacit plan --margin ...`: what a private halfspace can be expected to do, by theorem and by simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.cli.console import as_json as print_json
from tacit.cli.console import progress
from tacit.cli.failures import Mistake
from tacit.cli.files import check_outputs, write_text

if TYPE_CHECKING:
    from tacit.cli.plan_arguments import PlanArguments
    from tacit.halfspaces.expectation import Expectation, Setting

WIDTH, HEIGHT = 640, 360


def run(asked: PlanArguments, margin: float) -> None:
    """Prints a table of figures, each with its source; with ``plot``, draws error against rows as SVG."""
    from tacit.halfspaces.expectation import Setting, expect_error, expect_rows

    rows, error, plot = asked.rows, asked.error, asked.plot
    if (rows is None) == (error is None):
        raise Mistake("with --margin, give either --rows (what error can be expected?) or --error (how many rows?)")
    check_outputs({"--plot": plot}, {})
    setting = Setting(asked.dimension, margin, asked.epsilon, asked.delta, repeats=asked.repeats)
    with progress("simulating", quiet=asked.as_json) as stage:
        if rows is not None:
            figures = expect_error(setting, rows)
        else:
            assert error is not None
            figures = expect_rows(setting, error, stage)
    if plot is not None:
        write_text(plot, drawing(setting, figures))
    if asked.as_json:
        said = {"dimension": asked.dimension, "margin": margin, "epsilon": asked.epsilon, "delta": asked.delta}
        print_json({**said, "figures": [vars(figure) for figure in figures], "plot": plot and str(plot)})
        return
    show(setting, figures)


def show(setting: Setting, figures: list[Expectation]) -> None:
    """The figures as a table."""
    from rich.console import Console
    from rich.table import Table

    title = (
        f"A private halfspace: {setting.dimension} coordinates, margin {setting.margin:g}, "
        f"epsilon {setting.epsilon:g}, delta {setting.delta:g}. Nothing was spent"
    )
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in ("rows", "error", "what it is", "by"):
        table.add_column(name, justify="right" if name in ("rows", "error") else "left")
    for figure in figures:
        spread = "" if figure.spread is None else f" ± {figure.spread:.3f}"
        said = "no bound" if figure.source == "theorem" and figure.error >= 1 else f"{figure.error:.3f}{spread}"
        table.add_row(f"{figure.rows:,}", said, figure.source, figure.basis)
    Console().print(table)
    Console().print(
        "A theorem bounds the error of every table with this margin; a simulation says what was seen on synthetic "
        "rows: spherical around the halfspace, or with a fifth of them beyond the centre. Real tables have no margin: "
        "expect more.",
        soft_wrap=True,
    )


def drawing(setting: Setting, figures: list[Expectation]) -> str:
    """Error against rows as one SVG file: simulations as dots on a line, theorems as squares."""
    import math

    from tacit.report import svg
    from tacit.report.promise import count

    sizes = [figure.rows for figure in figures]
    low, high = min(sizes) / 1.5, max(sizes) * 1.5
    across = svg.Scale(low, high, 60.0, WIDTH - 20.0, math.log10)
    said = [figure for figure in figures if figure.source == "simulation" or figure.error < 1]  # 1 is no bound
    top = max([0.1, *(figure.error for figure in said)])
    up = svg.Scale(0.0, top, HEIGHT - 50.0, 40.0)
    parts = [
        svg.line(60.0, HEIGHT - 50.0, WIDTH - 20.0, HEIGHT - 50.0, "axis"),
        svg.line(60.0, 40.0, 60.0, HEIGHT - 50.0, "axis"),
        svg.text(WIDTH / 2, HEIGHT - 12.0, "rows", anchor="middle"),
        svg.text(8.0, 20.0, "error on new rows"),
    ]
    powers = [10.0**k for k in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
    powers = powers[:: max(math.ceil(len(powers) / 6), 1)] if len(powers) > 1 else sorted({low * 1.5, high / 1.5})
    parts += [svg.text(across(value), HEIGHT - 32.0, count(value), anchor="middle") for value in powers]
    parts += [svg.text(54.0, up(tick) + 4.0, svg.short(tick), anchor="end") for tick in svg.even_ticks(0.0, top)]
    seen = [(across(figure.rows), up(figure.error)) for figure in figures if figure.source == "simulation"]
    if len(seen) > 1:
        parts.append(svg.path(seen, "seen"))
    for figure in said:
        label = f"{figure.rows:,} rows, error {figure.error:.3f}: {figure.source}, {figure.basis}"
        x, y = across(figure.rows), up(figure.error)
        parts.append(_mark(figure.source, x, y, label))
    legend = [
        ("simulation", "seen on synthetic rows (simulation)"),
        ("theorem", "proved for every such table (theorem)"),
    ]
    for place, (css, words) in enumerate(legend):
        parts.append(_mark(css, WIDTH - 258.0, 8.0 + 14 * place))
        parts.append(svg.text(WIDTH - 248.0, 12.0 + 14 * place, words))
    title = f"Error of a private halfspace at margin {setting.margin:g}, epsilon {setting.epsilon:g}"
    description = "Error against number of rows, by theorem and by simulation"
    body = svg.figure(WIDTH, HEIGHT, title, description, "".join(parts), "expected")
    style = (
        "<style>text{font:12px sans-serif;fill:#222}.axis{stroke:#888}.seen{fill:none;stroke:#1b6ca8;stroke-width:1.5}"
        ".simulation{fill:#1b6ca8}.theorem{fill:#b5541c}</style>"
    )
    opened, _, rest = body.partition(">")
    namespace = '<svg xmlns="http://www.w3.org/2000/svg" '
    return f"{opened.replace('<svg ', namespace, 1)}>{style}{rest}\n"


def _mark(source: str, x: float, y: float, label: str = "") -> str:
    """A dot for what was simulated, a square for what is proved."""
    from tacit.report import svg

    return (
        svg.circle(x, y, 4.5, source, label) if source == "simulation" else svg.rect(x - 4, y - 4, 8, 8, source, label)
    )
