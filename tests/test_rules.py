"""The layout rules of CONTRIBUTING.md that a machine can check, read from the syntax trees of `src/tacit`.

Each rule is a function from one parsed module to the violations it finds, and each is shown a small module that breaks
it, so that no rule can pass by finding nothing.
"""

from __future__ import annotations

import ast
import re
import subprocess
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from tacit.additive.tuning import TUNING

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "tacit"

SOFT_FILE, HARD_FILE = 400, 450
MOST_LINES = 50
"""Of a function, beside its docstring, which is as long as its arguments need."""


@dataclass(frozen=True)
class Module:
    """One parsed file: ``name`` is its path below ``src/tacit``; ``private`` the private names its room defines."""

    name: str
    tree: ast.Module
    private: frozenset[str] = frozenset()
    text: str = ""

    @property
    def room(self) -> str:
        return self.name.split("/")[0]

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All of the tree: a rule looks at each, and walking takes longer than looking."""
        return tuple(ast.walk(self.tree))


Rule = Callable[[Module], Iterator[str]]


def dotted(node: ast.AST) -> str:
    """`a.b.c` for a chain of names, otherwise an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def annotations(tree: ast.Module) -> set[int]:
    """Ids of all nodes inside a type annotation."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        roots: list[ast.AST | None] = []
        if isinstance(node, ast.AnnAssign | ast.arg):
            roots.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            roots.append(node.returns)
        for root in roots:
            if root is not None:
                inside.update(id(n) for n in ast.walk(root))
    return inside


def randomness(module: Module) -> Iterator[str]:
    """No source of randomness outside `noise`; a type annotation draws nothing."""
    if module.room == "noise":
        return
    typed = annotations(module.tree)
    for node in module.nodes:
        if isinstance(node, ast.Import):
            bad = [a.name for a in node.names if a.name.split(".")[0] in {"random", "secrets", "uuid"}]
            bad += [a.name for a in node.names if a.name.startswith("numpy.random")]
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            bad = [source] if source.split(".")[0] in {"random", "secrets"} or source.startswith("numpy.random") else []
            bad += [
                f"{source}.{a.name}" for a in node.names if (source, a.name) in {("numpy", "random"), ("os", "urandom")}
            ]
        elif isinstance(node, ast.Attribute) and id(node) not in typed:
            name = dotted(node)
            bad = [name] if name in {"np.random", "numpy.random", "os.urandom", "os.getrandom"} else []
        elif isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] in {"default_rng", "check_random_state"}:
            bad = [dotted(node.func)]
        else:
            continue
        yield from (f"line {node.lineno}: {name}" for name in bad)


def dangerous_calls(module: Module) -> Iterator[str]:
    """No eval, exec, pickle or print; the command line speaks through rich. Workers of a cluster are sent pickles."""
    shipping = module.name == "engines/cluster/work.py"  # decision 15
    for node in module.nodes:
        if isinstance(node, ast.Call) and dotted(node.func) in {"eval", "exec", "compile", "__import__", "print"}:
            yield f"line {node.lineno}: {dotted(node.func)}()"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            roots = {n.split(".")[0] for n in names} & {"pickle", "marshal", "shelve", "dill", "cloudpickle"}
            roots -= {"pickle"} if shipping else set()
            yield from (f"line {node.lineno}: import {root}" for root in sorted(roots))


def bare_except(module: Module) -> Iterator[str]:
    """An except names what it expects."""
    for node in module.nodes:
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield f"line {node.lineno}: bare except"


def _is_mutable(value: ast.expr) -> bool:
    if isinstance(value, ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp):
        return True
    makers = {"dict", "list", "set", "bytearray", "defaultdict", "deque", "Counter", "OrderedDict", "WeakKeyDictionary"}
    return isinstance(value, ast.Call) and dotted(value.func).split(".")[-1] in makers


MUTATORS = {
    "append", "add", "update", "clear", "pop", "popitem", "remove", "discard", "insert", "extend", "setdefault", "sort",
}  # fmt: skip


def module_state(module: Module) -> Iterator[str]:
    """No module-level state: a mutable literal is an UPPER_CASE constant that nothing in its module changes."""
    constants: set[str] = set()
    for node in module.tree.body:
        if isinstance(node, ast.Assign):
            targets, value = [t for t in node.targets if isinstance(t, ast.Name)], node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            targets, value = [node.target], node.value
        else:
            continue
        for target in targets:
            if target.id == "__all__" or not _is_mutable(value):
                continue
            if not target.id.isupper():
                yield f"line {node.lineno}: {target.id} is mutable and not a constant"
            constants.add(target.id)
    for inner in module.nodes:
        changed = ""
        if isinstance(inner, ast.Global):
            changed = ", ".join(inner.names)
        elif isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store | ast.Del):
            changed = dotted(inner.value) if dotted(inner.value) in constants else ""
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in MUTATORS:
            changed = dotted(inner.func.value) if dotted(inner.func.value) in constants else ""
        if changed:
            yield f"line {getattr(inner, 'lineno', 0)}: {changed} is changed after the module was made"


def private_access(module: Module) -> Iterator[str]:
    """`x._y` reaches into another object: allowed on self and cls, and inside the room that defines `_y`."""
    published = {"_replace", "_asdict", "_fields", "_make", "_repr_html_", "_exit"}
    for node in module.nodes:
        if not isinstance(node, ast.Attribute) or not is_private(node.attr) or node.attr in published:
            continue
        owner = dotted(node.value)
        if owner not in {"self", "cls"} and node.attr not in module.private:
            yield f"line {node.lineno}: {owner or '(...)'}.{node.attr}"


LEARNING_ROOMS = {
    "learning", "estimators", "additive", "trees", "halfspaces", "decision_lists", "resampling", "closure",
    "evaluation",
}  # fmt: skip


def private_calls(module: Module) -> Iterator[str]:
    """No learner calls a private method of another, nor an estimator: `check`, `charges` and `learn` are there for it.

    Other than :func:`private_access`, this holds inside a room, too: families share names.
    """
    if module.room not in LEARNING_ROOMS:
        return
    for node in module.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not is_private(node.func.attr):
            continue
        owner = node.func.value
        own_base = isinstance(owner, ast.Call) and dotted(owner.func) == "super"
        if dotted(owner) not in {"self", "cls"} and not own_base:
            yield f"line {node.lineno}: {ast.unparse(node.func)}()"


def private_imports(module: Module) -> Iterator[str]:
    """No private module or name of another library or room."""
    for node in module.nodes:
        if isinstance(node, ast.Import):
            paths = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "__future__" or node.module.startswith(f"tacit.{module.room}"):
                continue
            paths = [f"{node.module}.{a.name}" for a in node.names]
        else:
            continue
        for path in paths:
            if any(is_private(part) for part in path.split(".")):
                yield f"line {node.lineno}: {path}"


def too_long(module: Module) -> Iterator[str]:
    """Functions of more than :data:`MOST_LINES` lines, their docstrings apart."""
    for node in module.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None:
                length -= (first.end_lineno or first.lineno) - first.lineno + 1
            if length > MOST_LINES:
                yield f"line {node.lineno}: {node.name} has {length} lines, more than {MOST_LINES}"


CAUGHT = frozenset({"error", "exc", "exception", "e"})
TELLERS = frozenset(
    {"startswith", "endswith", "removesuffix", "removeprefix", "find", "index", "partition", "split", "count", "lower"}
)
PATTERNS = frozenset({"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"})


def _is_label(node: ast.AST) -> bool:
    """`entry.label`, `label.text`, `str(label)`: the words of a release."""
    if isinstance(node, ast.Call) and dotted(node.func) == "str" and node.args:
        return _is_label(node.args[0]) or dotted(node.args[0]).split(".")[-1] == "label"
    return isinstance(node, ast.Attribute) and (
        node.attr == "label" or dotted(node).endswith(("label.text", "what.text"))
    )


def _is_message(node: ast.AST, errors: frozenset[str]) -> bool:
    """`str(error)`, `f"{error}"`, `error.args[0]`, `error.message`, `error.__notes__`: the words of an error."""
    if isinstance(node, ast.Call) and dotted(node.func) in {"str", "repr"} and node.args:
        return dotted(node.args[0]) in errors
    if isinstance(node, ast.JoinedStr) and len(node.values) == 1 and isinstance(node.values[0], ast.FormattedValue):
        return dotted(node.values[0].value) in errors
    if isinstance(node, ast.Subscript):
        return dotted(node.value) in {f"{error}.args" for error in errors}
    if isinstance(node, ast.Attribute) and node.attr in {"message", "__notes__", "args"}:
        return dotted(node.value) in errors
    return False


def words_decide(module: Module) -> Iterator[str]:
    """Facts decide, not words: nothing is read out of a release's label or an error's message."""
    caught = {node.name for node in module.nodes if isinstance(node, ast.ExceptHandler) and node.name}
    errors = CAUGHT | caught

    def words(node: ast.AST) -> bool:
        return _is_label(node) or _is_message(node, errors)

    for node in module.nodes:
        said: list[ast.expr] = []
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
            said = [each for each in node.comparators if words(each)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            remarks = {"UNSPENT", "STANDS"} & {dotted(each).split(".")[-1] for each in node.args}
            if node.func.attr in TELLERS and (remarks or words(node.func.value)):
                said = [node.func.value]
            elif node.func.attr in PATTERNS:
                said = [each for each in node.args if words(each)]
        for each in said:
            yield f"line {each.lineno}: {ast.unparse(each)}"


MOST_ALIASES = 5


def array_aliases(module: Module) -> Iterator[str]:
    """Array types have names where many files use them: five, each defined once, in `arrays`."""
    aliases = [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in module.tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("npt.NDArray[")
    ]
    yield from aliases[MOST_ALIASES if module.name == "arrays.py" else 0 :]


LABELS_AT = {
    "measure": 2,
    "select": 2,
    "open_view": 2,
    "select_concept": 2,
    "cover": 1,
    "record": 1,
    "open_stream": 3,
    "keys": 3,
    "open_row_stream": 3,
    "select_member": 4,
    "run_trusted": 4,
}
"""Where the verbs of the gate take the label of a release."""


def bare_labels(module: Module) -> Iterator[str]:
    """The library's own releases have a stage: no verb of the gate is given words alone."""
    for node in module.nodes:
        if isinstance(node, ast.Call):
            verb = dotted(node.func).split(".")[-1] or getattr(node.func, "attr", "")
            given = node.args[LABELS_AT[verb] :][:1] if verb in LABELS_AT else []
            given += [keyword.value for keyword in node.keywords if verb in LABELS_AT and keyword.arg == "label"]
            for words in given:
                if isinstance(words, ast.JoinedStr) or (
                    isinstance(words, ast.Constant) and isinstance(words.value, str)
                ):
                    yield f"line {words.lineno}: {ast.unparse(words)}"


def import_circle(imports: dict[str, set[str]]) -> list[str]:
    """Modules that import one another in a circle, the first of them again at the end; none if there is no circle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        result: list[str] = error.args[1]
        return result
    return []


def _defined_privates(trees: list[ast.Module]) -> frozenset[str]:
    """Private names that a room gives to its own objects: methods, `self._x`, class fields, functions."""
    names: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and dotted(node.value) == "self":
                names.add(node.attr)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                names.add(node.target.id)
    return frozenset(n for n in names if is_private(n))


@cache
def _load() -> list[tuple[Module, int]]:
    parsed = {path: ast.parse(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    rooms: dict[str, list[ast.Module]] = {}
    for path, tree in parsed.items():
        rooms.setdefault(path.relative_to(SOURCE).parts[0], []).append(tree)
    privates = {room: _defined_privates(trees) for room, trees in rooms.items()}
    return [
        (
            Module(path.relative_to(SOURCE).as_posix(), tree, privates[path.relative_to(SOURCE).parts[0]], text),
            len(text.splitlines()),
        )
        for path, tree in parsed.items()
        for text in [path.read_text("utf-8")]
    ]


MOST_ARGUMENTS = 8
PUBLIC_FUNCTIONS = {
    "audit_estimator",
    "audit_releases",
    "discover_schema",
    "private_score",
    "read_source",
    "recalibrate",
    "select_model",
    "serve_site",
}
"""Their arguments are given by keyword, like those of constructors, and none is without use: eight are said in every
such call (a model or a table with its rows and labels; epsilon, delta, account, neighbouring and random_state of the
request), and what the function itself needs comes on top. An object around some of them would be one more class to
import for a call of one line, and the names of arguments are public. At most eight are given by position."""


def many_arguments(module: Module) -> Iterator[str]:
    """Functions of more than :data:`MOST_ARGUMENTS` arguments: something in them belongs together.

    Not counted are constructors (``__init__`` and ``of``), the public functions named above, compiled kernels (which
    take no objects) and the command line, where an argument is a flag.
    """
    if module.room == "cli":
        return
    for node in module.nodes:
        if not isinstance(node, ast.FunctionDef) or node.name in {"__init__", "of"}:
            continue
        compiled = any("njit" in ast.unparse(decorator) for decorator in node.decorator_list)
        by_keyword = [] if node.name in PUBLIC_FUNCTIONS else node.args.kwonlyargs
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *by_keyword)]
        count = len(names) - (names[:1] in (["self"], ["cls"]))
        if count > MOST_ARGUMENTS and not compiled:
            yield f"line {node.lineno}: {node.name} takes {count} arguments, more than {MOST_ARGUMENTS}"


def test_no_function_is_spared_the_limit_without_need() -> None:
    """A function that comes down to eight arguments leaves the list, and stays there."""
    counts = {
        node.name: len(node.args.args) + len(node.args.kwonlyargs)
        for module, _ in _load()
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef) and node.name in PUBLIC_FUNCTIONS
    }
    assert {name for name, count in counts.items() if count > MOST_ARGUMENTS} == PUBLIC_FUNCTIONS


LEARNERS = {"additive", "growing", "binning", "trees", "halfspaces", "decision_lists"}
MOST_CONSTANTS = 2
"""Numeric constants of modules of learners that tune them and stand outside pages named ``tuning``: fewer is better,
more is an error."""

NOT_TUNED = "Not tuned"
"""So begins what is said below or behind a constant that no page should have: of a proof, a paper, a representation."""


def _is_numeric(value: ast.expr) -> bool:
    """A number, or a tuple or an arithmetic expression of numbers."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int | float) and not isinstance(value.value, bool)
    if isinstance(value, ast.Tuple | ast.List):
        return bool(value.elts) and all(_is_numeric(item) for item in value.elts)
    if isinstance(value, ast.BinOp):
        return _is_numeric(value.left) and _is_numeric(value.right)
    return isinstance(value, ast.UnaryOp) and _is_numeric(value.operand)


def numeric_constants(module: Module) -> Iterator[str]:
    """Names in capitals that a module sets to numbers, and does not say to be no matter of tuning."""
    lines = module.text.splitlines()
    for node, after in zip(module.tree.body, [*module.tree.body[1:], None], strict=False):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            target, value = node.target, node.value
        else:
            continue
        said = after.value if isinstance(after, ast.Expr) else None
        comment = lines[(node.end_lineno or 1) - 1].partition("  # ")[2] if lines else ""
        if isinstance(said, ast.Constant) and str(said.value).startswith(NOT_TUNED):
            continue
        if comment.startswith(NOT_TUNED.lower()):
            continue
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=True))
        for name, number in pairs:
            if isinstance(name, ast.Name) and name.id.isupper() and _is_numeric(number):
                yield name.id


NUMBERED = LEARNERS | {"boosting", "closure", "online"}
"""Rooms whose functions hold no numbers that somebody might have chosen."""

GUARD = 1e-4
"""Numbers up to this keep a division from failing, and decide nothing."""


def chosen_numbers(module: Module) -> Iterator[str]:
    """Numbers that were chosen stand on a tuning page, or under a name with the reason, and not inside functions."""
    if module.room not in NUMBERED or module.name.endswith("/tuning.py"):
        return
    bodies = [line for node in module.nodes if isinstance(node, ast.FunctionDef) for line in node.body]
    for line in bodies:
        for node in ast.walk(line):
            value = node.value if isinstance(node, ast.Constant) else 0
            small = value in (0.5, *range(11)) if isinstance(value, float) else True
            if isinstance(node, ast.Constant) and not small and not 0.0 < value <= GUARD:
                yield f"line {node.lineno}: {value}"


def of_the_page(group: object) -> frozenset[str]:
    """The names by which a group of numbers stands on its page, and those of all groups within it."""
    inside = [value for each in fields(group) if is_dataclass(value := getattr(group, each.name))]  # type: ignore[arg-type]
    name = type(group).__name__
    return frozenset({name, name.upper()}).union(*(of_the_page(each) for each in inside))


VARIED = of_the_page(TUNING)


def defaults_of(node: ast.AST) -> list[ast.expr]:
    """What a function or a class says where nothing is given."""
    if isinstance(node, ast.FunctionDef):
        return [each for each in (*node.args.defaults, *node.args.kw_defaults) if each is not None]
    if isinstance(node, ast.ClassDef):
        return [each.value for each in node.body if isinstance(each, ast.AnnAssign) and each.value is not None]
    return []


def numbers_not_varied(module: Module) -> Iterator[str]:
    """A number that the additive learner can vary is read off what it was given, not off the page of defaults."""
    if module.room not in {"additive", "growing", "binning"}:
        return
    defaults = {id(part) for node in module.nodes for each in defaults_of(node) for part in ast.walk(each)}
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and dotted(node.value) in VARIED and id(node) not in defaults:
            yield f"line {node.lineno}: {dotted(node)}"


PARTICIPLES = {"asked", "found", "given", "kept", "known", "left", "made", "said", "taken", "told"}


def participles_as_nouns(module: Module) -> Iterator[str]:
    """A variable is called by the noun of what it is (not yet a field); a flag may be kept, left has a right."""
    fields = {
        id(each.target) for node in module.nodes if isinstance(node, ast.ClassDef) for each in node.body
        if isinstance(each, ast.AnnAssign)
    }  # fmt: skip
    bound = {
        node.id if isinstance(node, ast.Name) else node.arg: node
        for node in module.nodes
        if isinstance(node, ast.arg)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields)
    }
    flags = {
        node.arg
        for node in module.nodes
        if isinstance(node, ast.arg) and node.annotation is not None and dotted(node.annotation) == "bool"
    }
    for name in sorted(PARTICIPLES & bound.keys() - flags - ({"left"} if "right" in bound else set())):
        yield f"line {bound[name].lineno}: {name}"


RULES: list[tuple[Rule, str]] = [
    (participles_as_nouns, "def f(model):\n    found = model.terms\n    return found"),
    (participles_as_nouns, "def f(asked):\n    return asked.schema"),
    (participles_as_nouns, "def f(x):\n    return [left for left in x]"),
    (many_arguments, "def f(a, b, c, d, e, f, g, *, h, i):\n    pass"),
    (randomness, "import numpy as np\nrng = np.random.default_rng(0)"),
    (randomness, "import random"),
    (randomness, "from os import urandom"),
    (randomness, "import os\nkey = os.urandom(8)"),
    (dangerous_calls, "eval('1')"),
    (dangerous_calls, "def f():\n    print('x')"),
    (dangerous_calls, "import pickle"),
    (bare_except, "try:\n    x = 1\nexcept:\n    pass"),
    (module_state, "cache = {}"),
    (module_state, "CACHE = {}\ndef f():\n    CACHE['x'] = 1"),
    (module_state, "SEEN = set()\ndef f():\n    SEEN.add(1)"),
    (module_state, "n = 0\ndef f():\n    global n\n    n = 1"),
    (private_access, "def f(curator):\n    return curator._table"),
    (private_imports, "from sklearn.utils._array import xp"),
    (private_imports, "from tacit.curator.curator import _secret"),
    (words_decide, "import re\ndef f(entry):\n    return re.sub('x', '', entry.label)"),
    (words_decide, "def f(certificate):\n    return SERIES.search(certificate.entries[0].label)"),
    (words_decide, "def f(entry):\n    return 'sweep' in str(entry.label)"),
    (words_decide, "def f(entry):\n    return entry.label.startswith('tree ')"),
    (words_decide, "def f(error):\n    return str(error).endswith(UNSPENT)"),
    (words_decide, "def f(said):\n    return said.endswith(ledger.UNSPENT)"),
    (words_decide, "try:\n    x = 1\nexcept ValueError as found:\n    y = 'spent' in str(found)"),
    (words_decide, "def f(error):\n    return f'{error}'.removesuffix(' Nothing was spent.')"),
    (words_decide, "def f(error):\n    return 'x' in error.__notes__"),
    (words_decide, "def f(error):\n    lowered = str(error).lower()\n    return 'utf8' in lowered"),
    (numbers_not_varied, "def f():\n    return PLANNING.trees + KERNEL.clip"),
    (too_long, "def f():\n" + "    x = 1\n" * MOST_LINES),
    (chosen_numbers, "def f(x):\n    return 0.3 * x"),
    (chosen_numbers, "class A:\n    def f(self, x):\n        return min(x, 1e12)"),
    (array_aliases, "Floats = npt.NDArray[np.float64]"),
    (many_arguments, "def recalibrate(a, b, c, d, e, f, g, h, i, *, j):\n    pass"),
    (bare_labels, "def f(curator):\n    curator.measure(query, charge, 'number of rows')"),
    (bare_labels, "def f(budget):\n    budget.part(0.5).measure(query, 1.0, f'tree {number}')"),
    (bare_labels, "def f(reservation):\n    reservation.record(charge, label='rows', theorem='t')"),
]


@pytest.mark.parametrize(
    "rule", sorted({rule for rule, _ in RULES}, key=lambda r: r.__name__), ids=lambda r: r.__name__
)
def test_the_package_keeps_the_rule(rule: Rule) -> None:
    results = [f"src/tacit/{module.name}: {violation}" for module, _ in _load() for violation in rule(module)]
    assert not results, f"{rule.__doc__}\n" + "\n".join(results)


@pytest.mark.parametrize(("rule", "offence"), RULES, ids=lambda v: getattr(v, "__name__", None))
def test_the_rule_finds_an_offence(rule: Rule, offence: str) -> None:
    room = "additive" if rule in (numbers_not_varied, chosen_numbers) else "models"
    assert list(rule(Module(f"{room}/example.py", ast.parse(offence))))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (randomness, "import numpy as np\ndef f(rng: np.random.Generator) -> np.random.Generator:\n    return rng"),
        (module_state, "NAMES = {'a': 1}\ndef f():\n    names = []\n    names.append(1)"),
        (many_arguments, "class A:\n    def f(self, a, b, c, d, e, f, g, h):\n        pass"),
        (private_access, "class A:\n    def f(self):\n        return self._x"),
        (participles_as_nouns, "def f(tree, kept: bool):\n    left, right = tree.children\n    return kept and left"),
        (chosen_numbers, "def f(x, share=0.3):\n    return 4.0 * share * x / max(x, 1e-9) ** 0.5 + 2"),
    ],
)
def test_the_rule_lets_honest_code_pass(rule: Rule, text: str) -> None:
    room = "additive" if rule is chosen_numbers else "models"
    assert not list(rule(Module(f"{room}/example.py", ast.parse(text))))


@pytest.mark.parametrize(
    "offence",
    [
        "class Parent:\n    def _plan(self, task):\n        return self.child._plan(task)",
        "def charges(estimators, task):\n    return [estimators[0]._planned_charges(task)]",
    ],
)
def test_a_private_call_of_another_learner_is_found(offence: str) -> None:
    tree = ast.parse(offence)
    inside = Module("closure/example.py", tree, frozenset({"_plan", "_planned_charges"}))
    assert not list(private_access(inside))
    assert list(private_calls(inside))
    assert not list(private_calls(Module("curator/example.py", tree)))


def test_the_sixth_alias_is_found() -> None:
    text = "\n".join(f"A{number} = npt.NDArray[np.int64]" for number in range(MOST_ALIASES + 1))
    assert list(array_aliases(Module("arrays.py", ast.parse(text)))) == ["line 6: A5 = npt.NDArray[np.int64]"]


def test_learners_call_private_methods_of_their_own() -> None:
    honest = "class A(B):\n    def _f(self):\n        return self._g() + super()._f()"
    assert not list(private_calls(Module("closure/example.py", ast.parse(honest))))
    results = [f"src/tacit/{module.name}: {call}" for module, _ in _load() for call in private_calls(module)]
    assert not results, f"{private_calls.__doc__}\n" + "\n".join(results)


def test_no_two_modules_import_each_other() -> None:
    """Imports inside functions count: a circle that is put off is a circle."""
    graph = grimp.build_graph("tacit")
    circle = import_circle({name: graph.find_modules_directly_imported_by(name) for name in graph.modules})
    assert len(graph.modules) > 200
    assert not circle, " -> ".join(circle)


def test_a_circle_of_imports_is_found() -> None:
    assert set(import_circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == {"a", "b", "c"}
    assert import_circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_numbers_that_tune_learners_are_on_pages_of_their_own() -> None:
    """The line is held: who moves constants to a page lowers it."""
    results = {
        module.name: list(numeric_constants(module))
        for module, _ in _load()
        if module.room in LEARNERS and not module.name.endswith("/tuning.py")
    }
    count = sum(len(names) for names in results.values())
    listed = "\n".join(f"{name}: {' '.join(names)}" for name, names in sorted(results.items()) if names)
    assert count <= MOST_CONSTANTS, (
        f"{count} numeric constants outside tuning pages, at most {MOST_CONSTANTS}:\n{listed}"
    )


def test_numeric_constants_are_counted() -> None:
    text = "A, B = 1, 2.5\nC = (1, -2)\nD = 4 / 3\nNAME = 'x'\nE = len('x')\nf = 3\nG = True\ndef h():\n    I = 1"
    text += "\nJ: int = 7\nK = 64\n'Not tuned: units of a score.'\nL = 2\n'Rows.'\nM = ((4.0, (32, 16), 0.03),)\nN = 1"
    text += "\nP = 5  # not tuned: of a paper\nQ = 6  # tuned"
    assert list(numeric_constants(Module("additive/example.py", ast.parse(text), text=text))) == list("ABCDJLMNQ")


def test_files_stay_short() -> None:
    """Beyond the soft limit a warning lists them; beyond the hard one the test fails."""
    lengths = {module.name: lines for module, lines in _load()}
    soft = [f"{name}: {lines} lines" for name, lines in lengths.items() if lines > SOFT_FILE]
    if soft:
        warnings.warn("longer than they should be:\n" + "\n".join(soft), stacklevel=1)
    assert max(lengths.values()) <= HARD_FILE, "\n".join(soft)


def test_a_docstring_may_be_long_and_a_function_not() -> None:
    docstring = '    """Text.\n' + "\n" * MOST_LINES + '    """\n'
    body = "    x = 1\n" * (MOST_LINES - 1)
    assert not list(too_long(Module("models/example.py", ast.parse(f"def f():\n{docstring}{body}"))))
    assert list(too_long(Module("models/example.py", ast.parse(f"def f():\n{docstring}{body}    x = 2\n"))))


# Written in pieces, so that this file does not find itself.
PLACES = re.compile(r"(?<![\w.])/" + r"(?:home|root|work|Users|mnt)/" + r"\w")
HOSTS = re.compile("|".join([r"pypi\." + "org", "pythonhosted" + r"\.org", r"registry\." + r"npm", "ghcr" + r"\.io"]))


def offending_lines(text: str) -> list[str]:
    """Lines that name a place on somebody's machine or the host of a registry."""
    return [line.strip()[:160] for line in text.splitlines() if PLACES.search(line) or HOSTS.search(line)]


def _text_files() -> Iterator[tuple[str, str]]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:  # a source archive has no index
        paths = [
            p for folder in ("src", "tests", "docs", "tools", "requirements") for p in (ROOT / folder).rglob("*.*")
        ]
    for path in paths:
        if path.suffix in {".png", ".gz", ".parquet", ".ico", ".pyc"} or not path.is_file():
            continue
        yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8", errors="replace")


def test_no_file_names_a_machine_or_a_registry() -> None:
    results = [f"{name}: {line}" for name, text in _text_files() for line in offending_lines(text)]
    assert not results, "\n".join(results)


def test_places_and_hosts_are_found() -> None:
    assert offending_lines("open('/" + "home/someone/data.csv')")
    assert offending_lines("--index-url https://" + "pypi.or" + "g/simple")
    assert not offending_lines("see docs/work/home for src/tacit/models")


def timed_asserts(tree: ast.AST) -> Iterator[int]:
    """Lines of assertions that compare a clock: machines are noisy, and speed is measured in `benchmarks`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and any(
            isinstance(part, ast.Call) and dotted(part.func).rsplit(".", 1)[-1] in CLOCKS for part in ast.walk(node)
        ):
            yield node.lineno


CLOCKS = {"perf_counter", "process_time", "monotonic", "time", "thread_time"}


def test_no_test_is_timed() -> None:
    results = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for line in timed_asserts(ast.parse(path.read_text("utf-8")))
    ]
    assert not results, results


def test_a_timed_test_is_found() -> None:
    assert list(timed_asserts(ast.parse("start = perf_counter()\nassert time.perf_counter() - start < 1"))) == [2]
    assert not list(timed_asserts(ast.parse("deadline = time.monotonic() + 5\nassert answers(deadline)")))
