"""The model card of a mean of models, one for every batch of rows: what matters, and how much each of them counts."""

from __future__ import annotations

from collections import defaultdict
from typing import cast

from tacit.models.base import Model
from tacit.models.mean import MeanModel, MeanNumberModel
from tacit.report.drawing import Drawing, ranking
from tacit.report.model_card import ModelCard, model_card

OVERVIEW = "What matters most"
"""Title of the drawing that members begin with; the mean has one of its own."""


def draw(model: Model) -> ModelCard:
    """The model card of a :class:`MeanModel` or a :class:`MeanNumberModel`."""
    mean = cast("MeanModel | MeanNumberModel", model)
    last = model_card(mean.members[-1])
    count = len(mean.members)
    batches = "one batch" if count == 1 else f"{count} batches"
    what = "predictions" if isinstance(mean, MeanNumberModel) else "log-odds"
    return ModelCard(
        f"The mean of the {what} of models of {batches} of rows, each learned by itself. The last one: {last.summary}",
        "A model counts by the released number of its rows. Drawn is that of the last batch; the model file holds all "
        f"of them. {last.reading}",
        (*_importance(mean), _batches(mean), *(one for one in last.drawings if one.title != OVERVIEW)),
        last.public,
        last.label,
    )


def _batches(mean: MeanModel | MeanNumberModel) -> Drawing:
    names = [f"batch {number + 1}" for number in range(len(mean.members))]
    shares = [float(share) for share in mean.shares]
    return ranking("How much each batch counts", names, shares, "batches", "By released numbers of rows.")


def _importance(mean: MeanModel | MeanNumberModel) -> list[Drawing]:
    """The size of every part, on average over the models; none where models do not say."""
    sizes: defaultdict[str, float] = defaultdict(float)
    for member, share in zip(mean.members, mean.shares, strict=True):
        for name, size in getattr(member, "importance", dict)().items():
            sizes[name.replace(" x ", " × ")] += float(share) * size
    if not sizes:
        return []
    ordered = dict(sorted(sizes.items(), key=lambda item: -item[1]))
    caption = "Typical size of the effect over the rows, on average over all batches."
    return [ranking(OVERVIEW, list(ordered), list(ordered.values()), "overview", caption)]
