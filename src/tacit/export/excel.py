"""A model as a workbook: a sheet per curve and interaction, and tables of trees, rules and weights."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tacit.arrays import Floats
from tacit.export.statement import Subject, needed
from tacit.models.base import Model, Nest
from tacit.models.decision_list import DecisionListModel
from tacit.models.feature import Feature
from tacit.models.halfspace import HalfspaceModel
from tacit.models.recalibrated import RecalibratedModel
from tacit.models.rule import RuleModel
from tacit.models.tree import ScoreTree
from tacit.whole_files import write_with

LONGEST_TITLE = 31
"""Characters of the name of a sheet."""

Row = Sequence[Any]


def to_excel(subject: Any, path: str | os.PathLike[str]) -> None:
    """Writes a model or a fitted estimator as an Excel workbook, the digests on its first sheet and as properties."""
    openpyxl, custom = needed("openpyxl"), needed("openpyxl.packaging.custom")
    about = Subject.of(subject)
    book = openpyxl.Workbook()
    book.remove(book.active)
    _add(book, "about", [["model", about.model.says], *about.facts.items()])
    for name, value in about.facts.items():
        book.custom_doc_props.append(custom.StringProperty(name=name, value=value))
    for title, rows in _tables(about.model):
        _add(book, title, rows)
    write_with(path, book.save)


def _add(book: Any, title: str, rows: Iterable[Row]) -> None:
    usual = re.sub(r"[\\/*?:\[\]']", " ", title)[:LONGEST_TITLE].strip() or "sheet"
    titles, name, number = {sheet.title.lower() for sheet in book}, usual, 1
    while name.lower() in titles:
        number += 1
        name = f"{usual[: LONGEST_TITLE - 5]} ({number})"
    sheet = book.create_sheet(name)
    for place, row in enumerate(rows, 1):
        for column, value in enumerate(row, 1):
            cell = sheet.cell(place, column, _plain(value))
            if isinstance(value, str):
                cell.data_type = "s"  # the name of a category is no formula
            elif isinstance(value, float) and math.isfinite(value):
                cell.value, cell.data_type = repr(float(value)), "n"  # all 17 digits: openpyxl writes 16 of a number


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", " ", value)
    return value.item() if isinstance(value, np.generic) else value


def _tables(model: Model) -> Iterator[tuple[str, Iterable[Row]]]:
    if isinstance(model, Nest):
        inside = (*getattr(model, "members", ()), *((model.base,) if hasattr(model, "base") else ()))
        for place, member in enumerate(inside, 1):
            for title, rows in _tables(member):
                yield f"{place} {title}", rows
        if isinstance(model, RecalibratedModel):
            yield "curve", [["log-odds before", "after"], *zip(model.knots, model.values, strict=True)]
    elif isinstance(model, DecisionListModel):
        yield "rules", [["rule", *map(str, model.classes)],
                        *zip(model.lines(), *model.rule_probabilities.T, strict=True)]  # fmt: skip
    elif isinstance(model, HalfspaceModel):
        yield "weights", [["coordinate", "log-odds per unit"], *model.coefficients()]
    elif isinstance(model, RuleModel):
        yield "rule", [[model.to_text()], ["outside", "inside"], list(model.rates)]
    else:
        yield from _binned(model)


def _binned(model: Any) -> Iterator[tuple[str, Iterable[Row]]]:
    """Sheets of an additive model or of trees over bins."""
    scores = getattr(model, "scores", None)
    names = [str(name) for name in getattr(model, "classes", ())]
    names = names if scores is None or len(names) == scores.n_scores else ["effect"]
    if scores is not None:
        yield "intercept", [names, scores.intercept.tolist()]
        for main in scores.mains:
            yield scores.features[main.feature].name, _curve(scores.features[main.feature], main, names)
        for pair in scores.pairs:
            yield scores.pair_name(pair), _pair(scores.features, pair, names)
    elif hasattr(model, "intercept"):
        yield "intercept", [["intercept", *np.atleast_1d(model.intercept).tolist()]]
    trees = [tree if isinstance(tree, ScoreTree) else ScoreTree.of(tree) for tree in (scores or model).trees]
    if trees:
        yield "trees", _trees((scores or model).features, trees)


def _curve(feature: Feature, main: Any, names: Sequence[str]) -> Iterator[Row]:
    edges: list[Any] = []
    if feature.ordered:
        edges = [[feature.edge_text(a), feature.edge_text(b)] if feature.encoder.dates else [a, b]  # type: ignore[union-attr]
                 for a, b in pairwise(feature.edges().tolist())]  # fmt: skip
    yield ["bin", "from", "below", *names, *(f"noise of {name} (sd)" for name in names), "rows, about"]
    for place, label in enumerate(feature.bin_labels()):
        ends = edges[place] if place < len(edges) else ["", ""]
        yield [label, *ends, *main.effect[place], *np.broadcast_to(main.sd, main.effect.shape)[place],
               np.ravel(main.counts)[place]]  # fmt: skip


def _pair(features: Sequence[Feature], pair: Any, names: Sequence[str]) -> Iterator[Row]:
    first, second = (_grouped(features[i], group) for i, group in zip(pair.features, pair.groups, strict=True))
    for k, name in enumerate(names):
        yield [name, *second]
        effects: Floats = pair.effect[..., k]
        yield from ([label, *row] for label, row in zip(first, effects.tolist(), strict=True))


def _grouped(feature: Feature, groups: Any) -> list[str]:
    """What to call groups of bins: the first and the last of each."""
    labels = feature.bin_labels()
    own = [[label for label, group in zip(labels, groups, strict=True) if group == k] for k in range(groups.max() + 1)]
    return [" to ".join(dict.fromkeys([group[0], group[-1]])) if group else "" for group in own]


def _trees(features: Sequence[Feature], trees: Sequence[ScoreTree]) -> Iterator[Row]:
    yield ["tree", "node", "column", "goes right", "left", "right", "adds"]
    for number, tree in enumerate(trees, 1):
        shape = tree.shape
        for split, (left, right) in enumerate(shape.children.tolist()):
            feature = features[int(shape.columns[split])]
            goes = shape.goes_right(split)[: feature.n_bins]
            labels = [label for label, right in zip(feature.bin_labels(), goes, strict=True) if right]
            ends = [f"leaf {-1 - child}" if child < 0 else child for child in (left, right)]
            yield [number, split, feature.name, "; ".join(labels)[:32_000], *ends]
        for leaf, values in enumerate(tree.values.tolist()):
            yield [number, f"leaf {leaf}", "", "", "", "", *values]
