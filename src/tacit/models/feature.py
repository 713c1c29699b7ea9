"""A column as models of bins know it: its public encoding, and the released map from codes to bins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.display import Brief
from tacit.encoding.frames import Frame
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder
from tacit.encoding.values import BooleanIndex, CategoryIndex
from tacit.models.plain import encoder_of, ints, names, require, text, truth

ROUNDED_AWAY = 2.0**-40
"""Edges so close to 0, as a part of all that lies between edges, are 0 but for rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class Feature(Brief):
    """A column of the model: its name, its public encoding, and the released map from codes to bins."""

    name: str  # the column
    encoder: Encoder  # the public encoding
    mapping: Ints  # code -> bin, shape `(encoder.n_codes,)`
    ordered: bool  # whether bins are intervals; then the last one is "missing"
    monotone: str | None = None  # `"increasing"` or `"decreasing"` where the effect was declared to be

    @property
    def n_bins(self) -> int:
        return int(self.mapping.max()) + 1

    @property
    def has_intervals(self) -> bool:
        """Whether its bins are intervals of a grid, numbered in their order, and "missing" is the last."""
        steps = np.diff(self.mapping[:-1])
        rising = self.mapping[0] == 0 and np.isin(steps, (0, 1)).all()
        return bool(isinstance(self.encoder, NumericGrid) and rising and self.mapping[-1] == steps.sum() + 1)

    def bins(self, frame: Frame) -> Ints:
        """The bin of every row."""
        if isinstance(self.encoder, NumericGrid):
            return self.mapping[self.encoder.codes(frame, self.name)]
        return self.mapping[self.encoder.encode(frame.column(self.name), self.name)]

    def edges(self) -> Floats:
        """The edges of an ordered column's bins, "missing" left out: ``(n_bins,)``, from lower to upper bound."""
        assert isinstance(self.encoder, NumericGrid)
        starts = np.flatnonzero(np.diff(self.mapping[:-1])) + 1
        edges = np.concatenate([self.encoder.edges(np.append(0, starts)), [self.encoder.upper]])
        return np.where(np.abs(edges) < ROUNDED_AWAY * np.ptp(edges), 0.0, edges)

    def edge_text(self, edge: float) -> str:
        """An edge for people: a number of four digits, or the date that begins there."""
        encoder = self.encoder
        return encoder.text(edge) if isinstance(encoder, NumericGrid) and encoder.dates else f"{edge:.4g}"

    @property
    def missing_bin(self) -> int | None:
        """The bin that holds missing values and no others; None if there is none."""
        if self.ordered:
            return int(np.count_nonzero(np.diff(self.mapping[:-1]))) + 1
        labels = self.bin_labels()
        return labels.index("missing") if "missing" in labels else None

    @property
    def other_bin(self) -> int | None:
        """The bin that holds values of no declared category and no others; None if there is none."""
        if not isinstance(self.encoder, CategoryIndex):
            return None
        place = int(self.mapping[self.encoder.other])
        return place if np.count_nonzero(self.mapping == place) == 1 else None

    def bin_labels(self) -> list[str]:
        """What to call every bin."""
        if self.ordered:
            edges = [self.edge_text(edge) for edge in self.edges()]
            return [f"[{a}, {b})" for a, b in pairwise(edges)] + ["missing"]
        names = code_names(self.encoder)
        groups: list[list[str]] = [[] for _ in range(self.n_bins)]
        for name, group in zip(names, self.mapping, strict=True):
            groups[group].append(name)
        return [group[0] if len(group) == 1 else f"{len(group)} rare ones" for group in groups]

    def to_dict(self) -> dict[str, Any]:
        """Plain data; the map is written as the codes at which the bin changes."""
        changes = np.flatnonzero(self.mapping[1:] != self.mapping[:-1]) + 1
        return {
            "name": self.name,
            "encoder": self.encoder.to_dict(),
            "ordered": self.ordered,
            "starts": [0, *changes.tolist()],
            "bins": [int(self.mapping[0]), *self.mapping[changes].tolist()],
            **({} if self.monotone is None else {"monotone": self.monotone}),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Feature:
        """The inverse of :meth:`to_dict`."""
        name, encoder = text(data["name"], "the name of a column"), encoder_of(data["encoder"])
        starts, bins = ints(data["starts"], "codes"), ints(data["bins"], "bins", most=encoder.n_codes - 1)
        lengths = np.diff(np.append(starts, encoder.n_codes))
        good = len(starts) == len(bins) > 0 and starts[0] == 0 and (lengths > 0).all()
        require(good, f"the bins of {name!r} must begin at rising codes from 0, one each")
        ordered, monotone = truth(data["ordered"], "ordered"), data.get("monotone")
        require(monotone in (None, "increasing", "decreasing"), f"{name!r} is neither increasing nor decreasing")
        feature = Feature(name, encoder, np.repeat(bins, lengths), ordered, monotone)
        require(not ordered or feature.has_intervals, f"the bins of {name!r} must be intervals in order, missing last")
        return feature


def features_of(data: Any) -> tuple[Feature, ...]:
    """The columns of a model from plain data."""
    features = tuple(Feature.from_dict(item) for item in data)
    names([feature.name for feature in features])
    return features


def code_names(encoder: Encoder) -> list[str]:
    """What to call every code of an encoding that is not a grid."""
    if isinstance(encoder, BooleanIndex):
        return ["false", "true", "missing"]
    assert not isinstance(encoder, NumericGrid)
    return [*(str(value) for value in encoder.categories), "other", "missing"]
