"""A model as an ONNX graph in double precision: standard operators, and `ai.onnx.ml` for texts and trees."""

from __future__ import annotations

import json
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.export import expression as ex
from tacit.export.programs import program_of
from tacit.export.statement import Subject, needed

OPSET, ML_OPSET, IR_VERSION = 18, 5, 10
"""Versions of the operator sets and of the format; `TreeEnsemble` is new in `ai.onnx.ml` 5."""

LEQ, MEMBER = 0, 6
"""Tests of a tree's node: at most a number; one of some numbers."""

OPERATORS = {"sub": "Sub", "mul": "Mul", "div": "Div", "max": "Max", "min": "Min", "exp": "Exp", "log": "Log"}
OPERATORS |= {"sqrt": "Sqrt", "abs": "Abs", "cos": "Cos", "sin": "Sin"}


def to_onnx(subject: Any) -> Any:
    """An ``onnx.ModelProto`` that says for every row what a model says.

    One input per column, shape ``(rows, 1)``: numbers and truth values as doubles (missing: NaN), texts as strings
    (missing: empty), dates as days since 1970 (doubles). The output is ``probabilities``, shape ``(rows, classes)``,
    or ``prediction``, shape ``(rows,)``, as doubles; with ``_`` behind the name where a column has it.

    Args:
        subject: a model, or a fitted estimator: then the digest of its certificate is in the metadata.

    Raises:
        ExportError: for a model that has no such form.
        TacitError: without the package onnx.
    """
    onnx = needed("onnx")
    about = Subject.of(subject)
    program = program_of(about.model)
    graph = _Graph(onnx).of(program)
    opsets = [onnx.helper.make_opsetid("", OPSET), onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    onnx_model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="tacit")
    facts = dict(about.facts)
    if program.classes is not None:
        facts["tacit.classes"] = json.dumps(list(program.classes))
    onnx.helper.set_model_props(onnx_model, facts)
    onnx.checker.check_model(onnx_model)
    return onnx_model


class _Graph:
    """Writes a program as a graph; every tensor has one entry per row, or is a scalar."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: dict[tuple[Any, ...], str] = {}
        self.initializers: list[Any] = []
        self.integers: set[str] = set()
        self.matrices: dict[tuple[ex.Expression, ...], str] = {}
        self.names: dict[ex.Expression, str] = {}
        self.count = 0
        self.prefix = "tacit_"

    def of(self, program: ex.Program) -> Any:
        """The graph."""
        types = self.onnx.TensorProto
        columns = program.columns
        names = {column.name for column in columns}
        while any(name.startswith(self.prefix) for name in names):
            self.prefix += "_"
        for node in program.nodes():
            self.names[node] = self._write(node)
        kinds = [types.STRING if column.kind == ex.TEXT else types.DOUBLE for column in columns]
        make = self.onnx.helper.make_tensor_value_info
        inputs = [make(column.name, kind, [None, 1]) for column, kind in zip(columns, kinds, strict=True)]
        outputs = [self._whole(self._double(self.names[node]), columns) for _, node in program.outputs]
        if program.classes is None:
            name = _free("prediction", names)
            self._node("Identity", outputs, name=name)
            output = make(name, types.DOUBLE, [None])
        else:
            axis = self._constant(np.array([1], np.int64))
            parts = [self._node("Unsqueeze", [part, axis]) for part in outputs]
            name = _free("probabilities", names)
            self._node("Concat", parts, name=name, axis=1)
            output = make(name, types.DOUBLE, [None, len(outputs)])
        used = {name for node in self.nodes for name in node.input}  # constants that fold into others stay out
        constants = [each for each in self.initializers if each.name in used]
        return self.onnx.helper.make_graph(self.nodes, "tacit", inputs, [output], constants)

    def _whole(self, tensor: str, columns: Sequence[ex.Column]) -> str:
        """One entry per row also where a model looks at none of a row's values; one alone where it has no inputs."""
        if not columns:
            return self._flat(tensor)
        first = self._constant(np.array([0], np.int64)), self._constant(np.array([1], np.int64))
        rows = self._node("Slice", [self._node("Shape", [columns[0].name]), *first])
        return self._node("Expand", [tensor, rows])

    def _node(self, operator: str, inputs: Sequence[str], name: Any = None, **attributes: Any) -> str:
        output: str = name or self._new()
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def _new(self) -> str:
        self.count += 1
        return f"{self.prefix}{self.count}"

    def _constant(self, array: npt.NDArray[Any]) -> str:
        key = array.dtype.str, array.shape, array.tobytes()
        if key not in self.constants:
            self.constants[key] = self._new()
            self.initializers.append(self.onnx.numpy_helper.from_array(array, self.constants[key]))
        return self.constants[key]

    def _number(self, value: float) -> str:
        return self._constant(np.array(value, np.float64))

    def _integer(self, value: int) -> str:
        return self._constant(np.array(value, np.int64))

    def _double(self, tensor: str) -> str:
        if tensor not in self.integers:
            return tensor
        return self._node("Cast", [tensor], to=self.onnx.TensorProto.DOUBLE)

    def _index(self, tensor: str) -> str:
        return tensor if tensor in self.integers else self._node("Cast", [tensor], to=self.onnx.TensorProto.INT64)

    def _flat(self, tensor: str) -> str:
        return self._node("Reshape", [tensor, self._constant(np.array([-1], np.int64))])

    def _write(self, node: ex.Expression) -> str:
        if isinstance(node, ex.Number):
            return self._number(node.value)
        if isinstance(node, ex.Column):
            return self._unmarked(node) if node.kind == ex.NUMBER else node.name
        if isinstance(node, ex.Steps | ex.Words | ex.Truths):
            result = self._code(node)
            self.integers.add(result)
            return result
        if isinstance(node, ex.Known):
            return self._node("Not", [self._gone(self.names[node.column], True)])
        inside = [self.names[part] for part in node.inside]
        if isinstance(node, ex.Take):
            result = self._node("Gather", [self._constant(node.table), self._index(inside[0])])
            if node.table.dtype.kind == "i":
                self.integers.add(result)
            return result
        if isinstance(node, ex.Among):
            return self._node("Gather", [self._constant(node.members), self._index(inside[0])])
        if isinstance(node, ex.All):
            conjunction = inside[0]
            for test in inside[1:]:
                conjunction = self._node("And", [conjunction, test])
            return conjunction
        if isinstance(node, ex.Leaves):
            return self._tree(node)
        if isinstance(node, ex.Where):
            return self._node("Where", [inside[0], *map(self._double, inside[1:])])
        return self._arithmetic(node, [self._double(part) for part in inside])

    def _arithmetic(self, node: ex.Expression, inside: list[str]) -> str:
        if isinstance(node, ex.AtLeast):
            return self._node("GreaterOrEqual", inside)
        if isinstance(node, ex.Sum):
            return self._node("Sum", inside)
        assert isinstance(node, ex.Apply)
        if node.name != "truncate":
            return self._node(OPERATORS[node.name], inside)
        types = self.onnx.TensorProto
        return self._node("Cast", [self._node("Cast", inside, to=types.INT64)], to=types.DOUBLE)

    # Columns.

    def _unmarked(self, column: ex.Column) -> str:
        """A column of numbers, NaN where one says that the value is missing."""
        value = self._flat(column.name)
        for mark in column.marks:
            test = self._node("Equal", [value, self._number(mark)])
            value = self._node("Where", [test, self._number(np.nan), value])
        return value

    def _gone(self, value: str, bounded: bool) -> str:
        nan = self._node("IsNaN", [value])
        return self._node("Or", [nan, self._node("IsInf", [value])]) if bounded else nan

    def _code(self, node: ex.Steps | ex.Words | ex.Truths) -> str:
        value = self.names[node.column]
        if isinstance(node, ex.Words):
            return self._words(node, value)
        if isinstance(node, ex.Truths):
            code = self._integer(node.other)
            flat = self._flat(value)
            for number, place in ((0.0, node.false), (1.0, node.true)):
                test = self._node("Equal", [flat, self._number(number)])
                code = self._node("Where", [test, self._integer(place), code])
            return self._node("Where", [self._gone(flat, False), self._integer(node.missing), code])
        flat = value if node.column.kind == ex.NUMBER else self._flat(value)
        gone = self._gone(flat, node.bounded)
        if node.column.kind == "weekday":
            week = self._number(7.0)
            since = self._node("Add", [self._node("Floor", [flat]), self._number(3.0)])  # 1970 began on a Thursday
            weeks = self._node("Floor", [self._node("Div", [since, week])])
            flat = self._node("Sub", [since, self._node("Mul", [weeks, week])])
        code = self._integer(node.values[0])
        if node.edges:
            row = self._node("Unsqueeze", [flat, self._constant(np.array([1], np.int64))])
            beyond = self._node("GreaterOrEqual", [row, self._constant(np.array([node.edges], np.float64))])
            counts = self._node("Cast", [beyond], to=self.onnx.TensorProto.INT64)
            interval = self._node("ReduceSum", [counts, self._constant(np.array([1], np.int64))], keepdims=0)
            code = self._node("Gather", [self._constant(np.array(node.values, np.int64)), interval])
        return self._node("Where", [gone, self._integer(node.missing), code])

    def _words(self, node: ex.Words, value: str) -> str:
        places = {"": node.missing}
        for text, place in node.truths:
            cases = product(*((letter, letter.upper()) for letter in text))
            places.update(dict.fromkeys(map("".join, cases), place))
        places |= dict(node.places)
        labels = {"keys_strings": list(places), "values_int64s": list(places.values())}
        coded = self._node("LabelEncoder", [value], domain="ai.onnx.ml", default_int64=node.other, **labels)
        return self._flat(coded)

    # Trees.

    def _matrix(self, codes: tuple[ex.Expression, ...]) -> str:
        """The codes of all columns as a matrix of doubles."""
        if codes not in self.matrices:
            axis = self._constant(np.array([1], np.int64))
            columns = [self._node("Unsqueeze", [self._double(self.names[code]), axis]) for code in codes]
            self.matrices[codes] = self._node("Concat", columns, axis=1)
        return self.matrices[codes]

    def _tree(self, node: ex.Leaves) -> str:
        shape, make = node.shape, self.onnx.numpy_helper.from_array
        places = {column: place for place, column in enumerate(shape.used_columns)}
        modes, splits, members = [], [], []
        for split, last in enumerate(shape.thresholds.tolist()):
            goes = shape.goes_right(split)
            if 0 <= last < len(goes) - 1:
                modes.append(LEQ)
                splits.append(float(last))
                continue
            modes.append(MEMBER)  # what goes left: the true branch
            splits.append(0.0)
            members += [*np.flatnonzero(~goes).astype(float).tolist(), np.nan]
        more: dict[str, Any] = {"membership_values": make(np.array(members))} if members else {}
        children = shape.children
        leaf = children < 0
        output = self._node(
            "TreeEnsemble", [self._matrix(node.inside)], domain="ai.onnx.ml", n_targets=1, aggregate_function=1,
            post_transform=0, tree_roots=[0], nodes_featureids=[places[column] for column in shape.columns.tolist()],
            nodes_splits=make(np.array(splits)), nodes_modes=make(np.array(modes, np.uint8)),
            nodes_truenodeids=np.where(leaf, -1 - children, children)[:, 0].tolist(),
            nodes_falsenodeids=np.where(leaf, -1 - children, children)[:, 1].tolist(),
            nodes_trueleafs=leaf[:, 0].astype(int).tolist(), nodes_falseleafs=leaf[:, 1].astype(int).tolist(),
            leaf_targetids=[0] * shape.n_leaves, leaf_weights=make(np.asarray(node.values, np.float64)),
            **more,
        )  # fmt: skip
        return self._flat(output)


def _free(name: str, names: AbstractSet[str]) -> str:
    while name in names:
        name += "_"
    return name
