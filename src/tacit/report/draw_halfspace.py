"""The model card of a halfspace: its weights, largest first, with the width of their noise."""

from __future__ import annotations

from typing import cast

from tacit.encoding.dense import RowEncoder
from tacit.models.base import Model
from tacit.models.halfspace import HalfspaceModel
from tacit.report.drawing import weights
from tacit.report.model_card import ModelCard, PublicColumn, public_column


def draw(model: Model) -> ModelCard:
    """The model card of a :class:`HalfspaceModel`."""
    halfspace = cast(HalfspaceModel, model)
    positive = halfspace.classes[-1]
    clipper = halfspace.encoder.clipper
    named = halfspace.coefficients()
    sd = abs(halfspace.slope) * halfspace.noise_sd / clipper.norm  # in units of coefficients()
    drawing = weights("Weights", [n for n, _ in named], [w for _, w in named], sd, "w")
    norm = PublicColumn("(every row)", "norm", f"clipped to length {clipper.norm:.4g}")
    columns: tuple[PublicColumn, ...] = ()
    if isinstance(halfspace.encoder, RowEncoder):
        encoding = halfspace.encoder.encoding
        columns = tuple(public_column(n, e) for n, e in zip(encoding.names, encoding.encoders, strict=True))
    return ModelCard(
        f"A halfspace for “{positive}”: one weight for each of {len(named)} coordinates, and a row is on the side that "
        "its weighted sum says.",
        f"A bar to the right speaks for “{positive}”, a bar to the left against it. Numbers are scaled from their "
        "declared bounds to −1 … 1, a category counts 1 where it holds. The thin line is the noise, two standard "
        "deviations each way: a weight whose line crosses zero may be noise alone.",
        (drawing,),
        (*columns, norm),
    )
