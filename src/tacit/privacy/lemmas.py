"""Which machine-checked lemma stands for the theorem of a ledger entry.

The lemmas are in the folder ``proofs`` of the sources; Coq checks them (``make proofs``). They are about how far one
row moves an integer answer. What no lemma is about (the law of noise, closed forms of composition, floating-point code
that makes public tables) is listed in ``docs/theory/checked.md``.
"""

from __future__ import annotations

import re

DIGESTS = {
    "above_threshold": "1594a2ac5d03d7c34f08d69f7fba6d66e7676102418e932593016d1f0a3ae652",
    "bounded_range": "2c55c53c792baa9774deaf8335f89ca802f4cee65a76cf2c6c180a3b13b5d975",
    "capped_scaling": "4ca72d304fdd98f233653faf426a320307ad88e57b98fe442773987e493ff343",
    "composition": "f7de079b5923311b78c03b7164d92b43562ba7f46688ae1d85a694b78ffb083d",
    "cover": "f40e466a537f5e65ea796059d60551cc5f0c438c01e7032822ba187af354817e",
    "draws": "09ea0dc93398c86bf6eaf5ba745963ce45521c56df093722742a31109191db8d",
    "finite_sums": "5475bbec712bbd8dfe8e1ecc27b09969ceaee450f7489775f1967320fc33e6f7",
    "histogram": "3429fc0adbb6380df37fb998e2c02729b27a46510d7e4a489dc3de85764bf021",
    "joint_bound": "53ff70245c7a71e95f52489b1143fc9458627a7aea1dd80acd606a7d9d448d28",
    "ordered": "39f6ecded1b509a922e517c40f725086d40b6215d6a62b11a6448f017d72439f",
    "relabel": "b5c9d5b3fb8e750652a588fc6128833b02ffcfa02c5b51661c5415720f0594ce",
    "score_rules": "3fcef8e015532b25343bcf28f37792abe4c2bd402ff06dbe78ca286e27b0d679",
    "splits": "edef961da17fa9d673443ef4368e1ee2dd493379b71e7e517e777756b840d862",
    "units": "19a3076b5eb03af747c8a36bbdfa2061d5e3ef9959778348f7d7848f00b40959",
    "vector_sums": "d1208fcd2f025eb212b61eb42c942c01e4e922377c685b052042362a85819348",
}
"""SHA-256 of every file of lemmas."""

_RULES = {
    r"scaled softmax residuals: norm at most 1, whatever label and scores are": ("softmax_l2", "softmax_l1"),
    r"clipped residuals: one row, one bounded number": ("clipped_longest", "clipped_diameter", "clipped_l1"),
    r"contributions by class and level of the score: the longest of a public table": ("looked_up",),
}
_WEIGHTED = "; weights of at most 1"
_MAPPED = ", through a public map"
_ONE_CELL = (
    "(weighted histogram: one row, one cell|counts by residual: one row, one interval|"
    "counts by margin and label: one row, one cell)"
)
_ALL_REPLACED = r"; replace = remove \+ add"

_CELL = ("histogram.add_or_remove",)
_CELL_REPLACED = ("histogram.replace",)
_MAP = ("histogram.through_a_map",)
_MAP_REPLACED = (
    "histogram.replace_through_a_map_l1",
    "histogram.replace_through_a_map_l2",
    "histogram.replace_in_one_orthant",
)
_UNIT = re.compile(r"(.+); ([1-9]\d*) rows per unit")
_SHARES = re.compile(r"; noise in shares of \d+ sites, of which \d+ suffice$")
_UNIT_SUMS, _UNIT_CHOICES = ("units.l1", "units.l2"), ("units.range",)
_ONE_WAY = ("bounded_range.one_sided", "bounded_range.replaced", "bounded_range.bounded_range", "bounded_range.pure")


def _cells(head: str, lemmas: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The four ways in which one row moves sums by cell."""
    return {
        head: (*lemmas, *_CELL),
        f"{head}; replace": (*lemmas, *_CELL_REPLACED),
        head + _MAPPED: (*lemmas, *_MAP),
        head + _MAPPED + _ALL_REPLACED: (*lemmas, *_MAP_REPLACED),
    }


def _choices() -> dict[str, tuple[str, ...]]:
    """Mechanisms that draw: one of several candidates, or rows for a learner inside."""
    return {
        "edges of splits: a row moves each by at most its weight, up or down": (
            "splits.edges_range",
            "bounded_range.bounded_range",
            "bounded_range.pure",
        ),
        r"(split scores: a row moves them one way,|leaf of largest risk: a row moves one leaf) "
        r"by at most \d+ L\(1/\d+\) \(node_risk_range\)": (
            "splits.one_way",
            "splits.leaf_rises",
            "splits.risk_rises",
            *_ONE_WAY,
        ),
        r"EM-cover: exact moments of these steps \((add/remove|replace)\)": (
            "cover.a_row_moves_its_rules",
            "cover.a_chosen_rule_removes_its_rows",
            "cover.the_game_bounds_every_run",
        ),
        r"EM-cover: largest likelihood ratio \((add/remove|replace)\)": (
            "cover.a_row_moves_its_rules",
            "cover.a_chosen_rule_removes_its_rows",
            "cover.no_run_is_likelier",
        ),
        r"draws from a slick measure: Lemma 55 with Lemma 21 \(sharp: attained\)": (
            "capped_scaling.held_in_common",
            "draws.draws",
            "draws.draws_by_way_of_the_common",
        ),
        r"relabelling by error counts: Alon et al\. 2020, Lemma 5\.3, sharpened": (
            "relabel.range_errors",
            "relabel.relabel_then_learn",
        ),
        r"relabelling by errors of the best completion: Alon et al\. 2020, Lemma 5\.3, sharpened": (
            "relabel.range_completion",
            "relabel.relabel_then_learn",
        ),
        "error counts of concepts: a row adds an error or none": ("bounded_range.errors_move_one_way", *_ONE_WAY),
        r"errors of the best completion(, every float a cut)?: a row adds an error or none": (
            "bounded_range.completions_move_one_way",
            *_ONE_WAY,
        ),
    }


def _claims() -> dict[re.Pattern[str], tuple[str, ...]]:
    """The theorems of entries, as patterns, and the lemmas behind each."""
    claims = _cells(_ONE_CELL, ())
    for rule, names in _RULES.items():
        lemmas = tuple(f"score_rules.{name}" for name in names)
        weighted = (*lemmas, "score_rules.weighted_l2", "score_rules.weighted_l1")
        for head, behind in ((re.escape(rule), lemmas), (re.escape(rule + _WEIGHTED), weighted)):
            claims |= _cells(f"{head}; one row, one cell", behind)
    joint = r"weighted histograms of \d+ parts, rows bounded together over all of them \([^()]*\)"
    claims |= {
        joint: ("joint_bound.add_or_remove",),
        joint + _ALL_REPLACED: ("joint_bound.add_or_remove", "joint_bound.replace_l2", "joint_bound.replace_l1"),
        "weighted vector sum, stateless measure: max weight x row norm": ("vector_sums.add_or_remove",),
        "weighted vector sum, stateless measure: max weight x row norm; replace = remove \\+ add": (
            "vector_sums.replace",
        ),
        "sum of rows: row norm": ("vector_sums.add_or_remove",),
        "sum of rows: row norm; replace = remove \\+ add": ("vector_sums.replace",),
        "sum of squared rows: squared row norm": ("vector_sums.squares_longest",),
        "sum of squared rows; replace: orthogonal at most": ("vector_sums.squares_replaced",),
        r"capped sum of exact total \(Lemma 21 made sharp\): 2 x row norm": ("capped_scaling.removing_a_row",),
        **_choices(),
    }
    return {re.compile(pattern): lemmas for pattern, lemmas in claims.items()}


PATTERNS = _claims()  # what the theorem of an entry may say, and the lemmas that it rests on


def lemmas_of(theorem: str) -> tuple[str, ...]:
    """The checked lemmas, as ``file.name``, that the theorem of a ledger entry rests on; none if no lemma covers it.

    The theorem of a unit of several rows rests on those of a single row and on that of the unit; noise in shares moves
    no sensitivity.
    """
    theorem = _SHARES.sub("", theorem)
    if unit := _UNIT.fullmatch(theorem):
        one_row = lemmas_of(unit[1])
        choice = any(lemma.startswith("bounded_range.") for lemma in one_row)
        return (*one_row, *(_UNIT_CHOICES if choice else _UNIT_SUMS)) if one_row else ()
    for pattern, lemmas in PATTERNS.items():
        if pattern.fullmatch(theorem):
            return lemmas
    return ()


def used_files(theorems: list[str]) -> dict[str, str]:
    """The files of lemmas behind some theorems, with their digests."""
    names = {lemma.split(".")[0] for theorem in theorems for lemma in lemmas_of(theorem)}
    return {f"{name}.v": DIGESTS[name] for name in sorted(names | {"finite_sums", "ordered"} if names else names)}
