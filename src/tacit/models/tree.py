"""A decision tree over small integer codes: frozen, and public.

A split sends a row to the right if the code of one column lies in a set of codes; a threshold is the set of all codes
above it. Splits are numbered with every child after its parent, leaves from left to right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from tacit.arrays import CODES, Bools, Bytes, Codes, Floats, Ints
from tacit.display import Brief
from tacit.models.plain import floats, ints, items, require
from tacit.packages import is_installed, loops

if TYPE_CHECKING:
    from tacit.models.tree_leaves import LeafTables

MAX_LEAVES = 1 << 16

E = TypeVar("E", "Tree", "ScoreTree")


@cache
def leaf_loops() -> Any:
    """The loops over rows and leaves; not imported before they are needed."""
    return loops("tacit.models.tree_leaves")


def add_values(leaves: Codes, values: Floats, out: Floats) -> None:
    """``out += values[leaves]``, row by row."""
    leaf_loops().add_values(leaves, values, out, 0, len(out))


@dataclass(frozen=True, eq=False, repr=False)
class TreeShape(Brief):
    """The splits of a binary tree, without what its leaves say."""

    columns: Ints  # per split, the column it tests, shape `(splits,)`
    right: Bytes  # per split, the codes that go right, as packed bits (bit `c % 8` of byte `c // 8`), (splits, 32)
    children: Ints  # per split, its left and right child, shape `(splits, 2)`: a later split, or `-1 - leaf`

    def __post_init__(self) -> None:
        splits = len(self.columns)
        if self.right.shape != (splits, CODES // 8) or self.children.shape != (splits, 2):
            raise ValueError(f"a tree of {splits} splits needs as many sets of codes and pairs of children")
        if self.n_leaves > MAX_LEAVES:
            raise ValueError(f"a tree may have at most {MAX_LEAVES} leaves, got {self.n_leaves}")
        if splits and (self.columns.min() < 0 or not (self.is_complete or self._is_tree())):
            raise ValueError("columns must not be negative, and leaves must be numbered from left to right")

    @property
    def n_splits(self) -> int:
        return len(self.columns)

    @property
    def n_leaves(self) -> int:
        return len(self.columns) + 1

    @cached_property
    def depths(self) -> Ints:
        """The depth of every leaf."""
        below = np.zeros(self.n_splits, np.int64)
        leaf = np.zeros(self.n_leaves, np.int64)
        for split, pair in enumerate(self.children):
            for child in pair:
                if child >= 0:
                    below[child] = below[split] + 1
                else:
                    leaf[-1 - child] = below[split] + 1
        return leaf

    @property
    def depth(self) -> int:
        return int(self.depths.max())

    @cached_property
    def is_complete(self) -> bool:
        """Whether its splits are numbered level by level and all leaves are equally deep."""
        if self.n_leaves & (self.n_leaves - 1):
            return False
        level_by_level = _complete_children(self.n_leaves)
        return self.children is level_by_level or np.array_equal(self.children, level_by_level)

    def goes_right(self, split: int) -> Bools:
        """Which of the 256 codes a split sends to the right."""
        return np.unpackbits(self.right[split], bitorder="little").astype(np.bool_)

    @cached_property
    def spans(self) -> Ints:
        """Per split, the leaves below it: first, first of its right child, one past the last; shape (splits, 3)."""
        if self.is_complete:
            return _complete_spans(self.n_leaves)
        spans = np.zeros((self.n_splits, 3), np.int64)
        for split in range(self.n_splits - 1, -1, -1):
            left, right = self.children[split]
            first = spans[left, 0] if left >= 0 else -1 - left
            middle = spans[right, 0] if right >= 0 else -1 - right
            last = spans[right, 2] if right >= 0 else -right
            spans[split] = first, middle, last
        return spans

    @cached_property
    def used_columns(self) -> tuple[int, ...]:
        """The columns that are tested, in order."""
        return tuple(sorted(set(self.columns.tolist())))

    @cached_property
    def thresholds(self) -> Ints:
        """Per split, the last code that does not go right where all above it do."""
        last: Ints = leaf_loops().thresholds(self.right)
        return last

    @cached_property
    def tables(self) -> LeafTables:
        """From codes to leaves, for :attr:`used_columns`."""
        place = np.searchsorted(self.used_columns, self.columns)
        from tacit.models.tree_leaves import LeafTables

        return LeafTables.of(place, self.right, self.thresholds, self.spans, self.is_complete)

    def find(self, codes: Sequence[Bytes]) -> Codes:
        """The leaf of every row; ``codes`` holds one uint8 vector per column of the table."""
        rows = len(codes[0])
        leaves: Codes = np.zeros(rows, np.uint8) if self.n_leaves <= CODES else np.zeros(rows, np.uint16)
        if self.n_splits and is_installed("numba"):
            columns = [codes[c] for c in self.used_columns]
            leaf_loops().find_leaves(columns, self.tables, leaves, 0, len(leaves))
        elif self.n_splits:
            leaf_loops().find_leaves(self, codes, leaves)
        return leaves

    def path(self, leaf: int) -> list[tuple[int, bool]]:
        """The splits from the root to a leaf, each with whether it goes right."""
        steps = []
        for split, (first, middle, last) in enumerate(self.spans):
            if first <= leaf < last:
                steps.append((split, bool(leaf >= middle)))
        return steps

    def to_dict(self) -> dict[str, Any]:
        """As JSON data: what goes right is the last code that does not, or a list of codes; shorter where complete."""
        tests = self._tests()
        if self.is_complete:
            return {"complete": {"columns": self.columns.tolist(), "right": tests}}
        splits = []
        for column, test, children in zip(self.columns.tolist(), tests, self.children.tolist(), strict=True):
            splits.append({"column": column, "above" if isinstance(test, int) else "in": test, "children": children})
        return {"splits": splits}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> TreeShape:
        """The inverse of :meth:`to_dict`."""
        if "complete" in data:
            whole = data["complete"]
            return complete_shape(ints(whole["columns"], "columns"), _sets_of(whole["right"]))
        splits = items(data["splits"], "splits")
        require(all(len(items(s["children"], "children")) == 2 for s in splits), "a split has two children")
        children = ints([c for s in splits for c in s["children"]], "children", -len(splits) - 1, len(splits))
        return TreeShape(
            ints([s["column"] for s in splits], "columns"),
            _sets_of([s["above"] if "above" in s else s["in"] for s in splits]),
            children.reshape(len(splits), 2),
        )

    def _tests(self) -> list[int | list[int]]:
        """Per split, the last code that does not go right where all above it do, else the codes that go right."""
        last = self.thresholds
        others = np.flatnonzero((last == -2) | (last == CODES - 1))
        tests: list[int | list[int]] = last.tolist()
        for split, goes in zip(
            others.tolist(), np.unpackbits(self.right[others], axis=1, bitorder="little"), strict=True
        ):
            tests[split] = goes.nonzero()[0].tolist()
        return tests

    def _is_tree(self) -> bool:
        """Whether each split but the first, and each leaf, is the child of one earlier split, leaves from the left."""
        every = np.sort(self.children, axis=None)
        once = np.array_equal(every, [*range(-self.n_leaves, 0), *range(1, self.n_splits)])
        later = np.where(self.children >= 0, self.children > np.arange(self.n_splits)[:, None], True)
        return once and bool(later.all()) and list(self._leaves_from_left()) == list(range(self.n_leaves))

    def _leaves_from_left(self) -> Iterator[int]:
        stack = [0]
        while stack:
            node = stack.pop()
            if node < 0:
                yield -1 - node
            else:
                stack += [int(self.children[node, 1]), int(self.children[node, 0])]


def fitting(tree: E, n_bins: Sequence[int]) -> E:
    """A tree over columns of so many bins.

    Raises ``ModelError`` if it tests a column that is not there, or a column has more bins than trees tell apart.
    """
    require(max(n_bins, default=0) <= CODES, f"trees tell at most {CODES} bins of a column apart")
    require(n_bins and tree.shape.columns.max(initial=0) < len(n_bins), "a tree tests a column that is not there")
    return tree


def code_set(codes: Sequence[int] | range | Bools) -> Bytes:
    """A set of codes as 32 packed bytes; a boolean vector is read as membership."""
    member = np.zeros(CODES, np.bool_)
    if isinstance(codes, np.ndarray) and codes.dtype == np.bool_:
        member[: len(codes)] = codes
    else:
        member[list(codes)] = True
    return np.packbits(member, bitorder="little")


def _sets_of(tests: Sequence[int | Sequence[int]]) -> Bytes:
    """The packed sets of codes that go right, of each a threshold or a list; shape ``(len(tests), 32)``."""
    ints([test for test in items(tests, "splits") if isinstance(test, int)], "thresholds", least=-1, most=CODES)
    sets = threshold_sets([test if isinstance(test, int) else CODES for test in tests])
    for split, test in enumerate(tests):
        if not isinstance(test, int):
            sets[split] = code_set(ints(test, "codes", most=CODES - 1).tolist())
    return sets


def complete_shape(columns: npt.ArrayLike, right: Bytes) -> TreeShape:
    """A complete tree from its splits level by level (``2**depth - 1`` of them; ``right`` as packed sets)."""
    tested = np.asarray(columns, np.int64)
    leaves = len(tested) + 1
    if leaves & (leaves - 1):
        raise ValueError(f"a complete tree has 2**depth - 1 splits, got {len(tested)}")
    return TreeShape(tested, right, _complete_children(leaves))


@cache
def _complete_children(leaves: int) -> Ints:
    """The children of splits numbered level by level; for a number of leaves that is a power of two."""
    children = np.arange(1, 2 * leaves - 1, dtype=np.int64).reshape(-1, 2)
    numbered: Ints = np.where(children >= leaves - 1, leaves - 2 - children, children)
    numbered.flags.writeable = False
    return numbered


@cache
def _complete_spans(leaves: int) -> Ints:
    """The spans of splits numbered level by level."""
    number = np.arange(1, leaves)
    level = np.frexp(number)[1] - 1  # of the root: 0
    width = leaves >> level
    first = (number - (1 << level)) * width
    spans = np.stack([first, first + width // 2, first + width], axis=1).astype(np.int64)
    spans.flags.writeable = False
    return spans


_ABOVE = np.packbits(np.arange(CODES)[None, :] > np.arange(-1, CODES)[:, None], axis=1, bitorder="little")


def threshold_sets(thresholds: npt.ArrayLike) -> Bytes:
    """The packed sets "code above threshold"."""
    return _ABOVE.take(np.asarray(thresholds, np.int64) + 1, axis=0, mode="clip")


@dataclass(frozen=True, eq=False, repr=False)
class Tree(Brief):
    """A tree whose leaves add a value to the score."""

    shape: TreeShape  # the splits
    values: Floats  # per leaf, what it adds to the score
    support: Floats  # per leaf, how much released (noisy) weight it stands on; never negative
    sd: Floats | None = None  # per leaf, the standard deviation of the noise in its value; None if it is not known

    def __post_init__(self) -> None:
        if not self.values.shape == self.support.shape == (self.shape.n_leaves,):
            raise ValueError(f"a tree of {self.shape.n_leaves} leaves needs as many values and supports")

    @cached_property
    def split_means(self) -> Floats:
        """Per split, the mean value below it, each leaf weighed by its support (alike if there is none)."""
        weight = self.support + 1e-9 * (self.support.sum() + 1.0)
        mass = np.concatenate([[0.0], np.cumsum(weight)])
        moment = np.concatenate([[0.0], np.cumsum(weight * self.values)])
        first, last = self.shape.spans[:, 0], self.shape.spans[:, 2]
        means: Floats = (moment[last] - moment[first]) / (mass[last] - mass[first])
        return means

    def node_mean(self, node: int) -> float:
        """The mean below a child as :attr:`TreeShape.children` numbers it."""
        return float(self.split_means[node] if node >= 0 else self.values[-1 - node])

    @cached_property
    def leaf_contributions(self) -> Floats:
        """How far the splits of each column move the mean on the way to each leaf, shape ``(leaves, used columns)``."""
        place = {column: k for k, column in enumerate(self.shape.used_columns)}
        moves = np.zeros((self.shape.n_leaves, len(place)))
        for split, (first, middle, last) in enumerate(self.shape.spans):
            k, here = place[int(self.shape.columns[split])], self.node_mean(split)
            left, right = (int(child) for child in self.shape.children[split])
            moves[first:middle, k] += self.node_mean(left) - here
            moves[middle:last, k] += self.node_mean(right) - here
        return moves

    def split_gains(self) -> Floats:
        """Per split, the support-weighted squared gap between its children: what the split explains of the score."""
        mass = np.concatenate([[0.0], np.cumsum(self.support)])
        gains = np.zeros(self.shape.n_splits)
        for split, (first, middle, last) in enumerate(self.shape.spans):
            left, right = mass[middle] - mass[first], mass[last] - mass[middle]
            gap = self.node_mean(int(self.shape.children[split, 1])) - self.node_mean(
                int(self.shape.children[split, 0])
            )
            gains[split] = left * right / max(left + right, 1e-300) * gap**2
        return gains

    def to_dict(self) -> dict[str, Any]:
        """As JSON data."""
        sd = {} if self.sd is None else {"sd": self.sd.tolist()}
        return {**self.shape.to_dict(), "values": self.values.tolist(), "support": self.support.tolist(), **sd}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Tree:
        """The inverse of :meth:`to_dict`."""
        shape = TreeShape.from_dict(data)
        leaves = (shape.n_leaves,)
        sd = floats(data["sd"], "deviations of leaves", leaves, least=0.0) if "sd" in data else None
        support = floats(data["support"], "the support of leaves", leaves, least=0.0)
        return Tree(shape, floats(data["values"], "leaves", leaves), support, sd)


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTree(Brief):
    """A tree whose leaves add a vector to the scores."""

    shape: TreeShape  # the splits
    values: Floats  # what leaves add, shape `(leaves, n_scores)`
    support: Floats  # per leaf, how much released (noisy) weight it stands on; never negative
    sd: Floats | None = None  # standard deviation that noise leaves in `values`; None if it is not known

    @staticmethod
    def of(tree: Tree) -> ScoreTree:
        """A tree that adds to one score."""
        sd = None if tree.sd is None else tree.sd[:, None]
        return ScoreTree(tree.shape, tree.values[:, None], tree.support, sd)

    def times(self, unit: float) -> ScoreTree:
        """The same tree in another unit of the scores."""
        return ScoreTree(self.shape, unit * self.values, self.support, None if self.sd is None else unit * self.sd)

    def to_dict(self) -> dict[str, Any]:
        """As JSON data."""
        spread = {} if self.sd is None else {"sd": self.sd.tolist()}
        return {**self.shape.to_dict(), "values": self.values.tolist(), "support": self.support.tolist(), **spread}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> ScoreTree:
        """The inverse of :meth:`to_dict`."""
        shape, values = TreeShape.from_dict(data), floats(data["values"], "leaves")
        require(values.ndim == 2 and len(values) == shape.n_leaves, "a tree needs a list of values for every leaf")
        sd = floats(data["sd"], "deviations of leaves", values.shape, least=0.0) if "sd" in data else None
        return ScoreTree(shape, values, floats(data["support"], "the support of leaves", values.shape[:1], 0.0), sd)
