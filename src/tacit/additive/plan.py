"""The planning rule: how the budget is divided, from public numbers alone.

``docs/planning.md`` explains the rule and names the script that fits it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from tacit.binning.refine import MANY_ROWS
from tacit.growing.chosen_trees import columns_to_cut

BINNING_SHARE = 0.12
PAIRS_FROM, PAIRS_FULL = 140.0, 1000.0
"""Signal-to-noise ``q = n mu / sqrt(d)`` from which pairs are tried, and at which they get their full share."""

TREES_FROM, TREES_FULL = 900.0, 3000.0
"""The same for trees, in ``n mu``: a row pays for its one leaf of a tree, however many columns there are."""

LARGEST_TREE_SHARE = 0.5

KERNEL_FROM, KERNEL_FULL = 400.0, 2000.0
"""The same for trees whose splits are random where rows are not very many: deep ones that are averaged as a kernel
(:mod:`~tacit.growing.kernel_trees`)."""

PAIRS_UPTO, PAIRS_ANYWAY = 1.0, 2500.0
"""The ``mu`` from which such trees of two classes see what pairs would, and more; and the ``q`` from which pairs cost
so little that they are looked for all the same. Several classes and numbers always look for pairs."""

LOUD_MU, CLEAR_MU = 0.25, 1.5
KERNEL_SHARE, LARGEST_KERNEL_SHARE = 0.3, 0.6
"""Their full share at the first ``mu``, and from the second on, where a few rows in a leaf are heard; by the logarithm
between them, and below, down to nothing where a leaf must hold many."""

LARGEST_SHARE_OF_TWO = 0.75
"""The same for two classes, for which a smooth function and trees see what columns and pairs would, and more; up to
the ``q`` from which pairs are looked for anyway, as they and columns have much to say then."""

TREE_NOISE = 0.33
"""They go so far that noise leaves about this standard deviation in a score (log-odds)."""

FOURIER_PART = 0.2
"""Of the share of such trees, what goes to a smooth function of all columns first
(:mod:`~tacit.growing.fourier`)."""

FOURIER_NOISE = 0.33
"""It goes no farther than leaves about this standard deviation of noise in a score (log-odds)."""

KERNEL_UPTO = 10.0
"""The ``mu`` beyond which noise is next to nothing: trees that are Newton's fit more closely there."""

KERNEL_TREES = 300

LEAST_BINNING_SHARE = 0.05
"""Trees are as deep as bins are fine."""

TREES, MOST_TREES, LEAST_TREES = 400, 1000, 32
"""How many up to :data:`FAST_FROM`, from :data:`CLEAR_FROM` on, and where rows are very many."""

TREE_ROWS = 6.4e7
"""Trees times rows: no more of them, as each takes long."""

TREE_RATE, SLOW_TREE_RATE = 0.25, 0.12
"""How far a tree steps towards the posterior mean from :data:`FAST_FROM` on, and up to :data:`SLOW_UPTO`."""

SLOW_UPTO, FAST_FROM, CLEAR_FROM = 2000.0, 5000.0, 20_000.0
"""Signal-to-noise up to which trees step slowly, from which they step far, and from which noise leaves nothing to save:
as many trees as help."""

LEAST_TREE_PRIOR = 0.006
"""Trees learn the size of their steps; they never believe that steps are smaller than this (log-odds squared)."""

RANDOM_ENOUGH, CHOOSING_ENOUGH = 0.003, 0.01
"""Where rows are very many, trees end once steps are surely smaller than that; those that choose take longer each."""

LONELY_BELOW, COMPANY_FROM = 10.0, 25.0
"""Signal-to-noise below which a column says so little of the others that they should hardly listen to it (a strong
hyper-prior), and from which they should."""

LONELY_TERMS, COMPANY_TERMS = 40.0, 3.0
"""How many terms the initial hyper-prior of a kind counts for, below the one and from the other on."""

INTERCEPT_CARE, INTERCEPT_DOUBT, LARGEST_INTERCEPT_PART = 300.0, 4.0, 0.5
"""The intercept's part of the budget is the first over the squared signal-to-noise of all rows, at most the second over
that signal-to-noise, and at most the third."""

COLUMNS_PER_TREE = 6
"""How many columns a tree may cut, as columns and pairs know already what few columns say."""

CHOICE_FROM = 100_000.0
"""Signal-to-noise ``n mu`` from which trees of tables of very many rows choose their splits."""

CHOICE_SHARE = 0.6
"""Of the trees' budget goes to that."""

CHOOSING_TREES, MOST_CHOOSING_TREES, CHOOSING_ROWS = 64, 256, 2e8
"""Trees whose splits are chosen see in one look what random ones need many for, so there are fewer: at least, at most,
and how many times the rows at most."""

TREES_BY_ROOT = 0.2
"""How many such trees, relative to the root of ``n mu``."""

CHOOSING_DEPTH, CHOOSING_RATE = 6, 0.45
"""Levels of such a tree, and how far it steps towards the posterior mean."""

PATIENT_FROM, PATIENT_FULL = 400.0, 20_000.0
"""Signal-to-noise ``q`` from which, and up to which, sweeps grow in number where no trees follow."""

MOST_SWEEPS, MOST_SWEPT = 200, 6000
"""How many sweeps there are then, and how many releases of columns at most: each is an entry of the ledger."""

DEEP_FROM = (2500.0, 10_000.0)
"""Signal-to-noise from which trees have six levels instead of five, and (unless rows are very many) seven."""


SURE_FROM = 70.0
"""Signal-to-noise below which probabilities may be worse than the class shares alone (``docs/planning.md``)."""


@dataclass(frozen=True)
class Pace:
    """How sweeps go.

    Attributes:
        sweeps: how many.
        converges: whether there is so little noise that steps are long, and sweeps end once effects hardly move.
        recency: from 0 to 1, how long steps are, and how little earlier releases count beside later ones; from 0
            down to -1, how nearly all releases count alike.
        adapts: whether few sweeps take long steps.
    """

    sweeps: int
    converges: bool = False
    recency: float = 0.0
    adapts: bool = True

    def plain(self) -> Pace:
        """The same sweeps, with releases and steps as at any other pace."""
        return replace(self, recency=0.0, adapts=False)


@dataclass(frozen=True)
class Plan:
    """Shares of the allowance, and how many sweeps they are spread over.

    Attributes:
        binning: number of rows and histograms.
        mains: sweeps over the columns before pairs are looked for (all that is left when they are not).
        screening: looking for pairs.
        pair_counts: histograms of the pairs found.
        joint: sweeps over columns and pairs together.
        fourier: a smooth function of all columns, of what they leave over one by one, and a look at how much that is.
        trees: boosting by trees what is left over after that.
        sweeps, joint_sweeps: how many.
        converges, recency: of both; see :class:`Pace`.
        n_trees, tree_depth, tree_rate: how many trees, how deep, and how far each steps.
        tree_columns: how many columns a tree may cut.
        tree_choice: share of the trees' budget that goes to choosing their splits; 0 for random ones.
        tree_enough: trees end once their steps have surely a smaller prior than this; 0 for never.
        fourier_noise: noise that the smooth function may leave in a score (log-odds).
        tree_noise: trees are averaged as a kernel, and may leave so much noise in a score (log-odds); depth and rate
            follow from that. 0 for other trees.
    """

    binning: float
    mains: float
    screening: float
    pair_counts: float
    joint: float
    sweeps: int
    joint_sweeps: int
    converges: bool = False
    recency: float = 0.0
    fourier: float = 0.0
    trees: float = 0.0
    n_trees: int = 0
    tree_depth: int = 0
    tree_rate: float = 0.0
    tree_columns: int = 0
    tree_choice: float = 0.0
    tree_enough: float = 0.0
    tree_noise: float = 0.0
    fourier_noise: float = 0.0

    def scaled(self, share: float) -> Plan:
        """The same plan on ``share`` of the allowance; what is left is for trees."""
        kept = {name: getattr(self, name) * share for name in ("binning", "mains", "screening", "pair_counts", "joint")}
        return replace(self, **kept, trees=1 - share)

    def with_binning(self, binning: float) -> Plan:
        """The same plan where bins took ``binning``, and everything else shares what is left."""
        rest = (1 - binning) / (1 - self.binning)
        names = ("mains", "screening", "pair_counts", "joint", "fourier", "trees")
        return replace(self, binning=binning, **{name: getattr(self, name) * rest for name in names})

    def passed_on(self, share: float) -> Plan:
        """The plan when ``share`` is left over after the first sweeps: joint sweeps have it, or else trees."""
        if self.looks_for_pairs:
            return replace(self, joint=self.joint + share)
        return self.passed_to_trees(share)

    def passed_to_trees(self, share: float) -> Plan:
        """The plan when ``share`` is left over before the trees, if there are any."""
        return replace(self, trees=self.trees + share) if self.n_trees else self

    @property
    def pace(self) -> Pace:
        """Of the sweeps before pairs are looked for."""
        return Pace(self.sweeps, self.converges, self.recency)

    @property
    def joint_pace(self) -> Pace:
        """Of the sweeps over columns and pairs together."""
        return Pace(self.joint_sweeps, self.converges, self.recency)

    @property
    def rest(self) -> float:
        """The share for what columns and pairs leave over."""
        return self.fourier + self.trees

    @property
    def looks_for_pairs(self) -> bool:
        return self.screening > 0


def plan(
    total: float,
    n_columns: int,
    signal: float,
    pure: bool,
    pairs: bool = True,
    trees: bool = True,
    two_classes: bool = True,
    together: bool = True,
) -> Plan:
    """The plan.

    Args:
        total: released number of rows.
        n_columns: columns of the model.
        signal: ``q``: ``total * mu / sqrt(n_columns)``, the ratio of rows to the noise of one release of all columns.
        pure: whether the allowance is pure (Laplace): its noise grows with the number of releases, so there are few.
        pairs: whether pairs are wanted.
        trees: whether trees over the residual are wanted.
        two_classes: whether labels are two classes, and not several or numbers.
        together: whether trees may be averaged as a kernel.
    """
    whole = signal * math.sqrt(max(n_columns, 1))
    glass = _glass_box(total, n_columns, signal, pure, pairs)
    if trees and together and not pure and total <= MANY_ROWS and whole <= KERNEL_UPTO * total:
        return _with_kernel_trees(glass, total, n_columns, signal, pairs, two_classes)
    if not trees or pure or whole <= TREES_FROM:
        return glass
    ramp = min(1.0, math.log(whole / TREES_FROM) / math.log(TREES_FULL / TREES_FROM))
    n_trees = tree_count(total, signal)
    depth = 5 + sum(signal >= deep for deep in (DEEP_FROM if total <= MANY_ROWS else DEEP_FROM[:1]))
    rest, rate = glass.scaled(1 - LARGEST_TREE_SHARE * ramp), tree_rate(signal, n_trees)
    enough = RANDOM_ENOUGH if total > MANY_ROWS else 0.0
    return replace(
        rest, n_trees=n_trees, tree_depth=depth, tree_rate=rate, tree_columns=COLUMNS_PER_TREE, tree_enough=enough
    )


def with_choices(plan: Plan, total: float, n_columns: int, signal: float) -> Plan:
    """The plan with trees whose splits are chosen, where rows are very many and noise lets choices see.

    Args:
        plan: for the same table.
        total: released number of rows.
        n_columns: columns of the model.
        signal: ``q``, as for :func:`plan`.
    """
    whole = signal * math.sqrt(max(n_columns, 1))
    if not plan.n_trees or total <= MANY_ROWS or whole < CHOICE_FROM:
        return plan
    wanted = min(TREES_BY_ROOT * math.sqrt(whole), MOST_CHOOSING_TREES, CHOOSING_ROWS / total)
    return replace(
        plan,
        n_trees=max(int(wanted), CHOOSING_TREES),
        tree_depth=CHOOSING_DEPTH,
        tree_rate=CHOOSING_RATE,
        tree_columns=columns_to_cut(total),
        tree_choice=CHOICE_SHARE,
        tree_enough=CHOOSING_ENOUGH,
    )


def patient(plan: Plan, n_columns: int, signal: float) -> Plan:
    """The plan where no trees follow: in little noise sweeps go on until columns that hang together are told apart.

    One column takes what another should have had, and gives it back sweep by sweep. What is left of that trees would
    learn.

    Args:
        plan: for the same table, of Gaussian noise.
        n_columns: columns of the model.
        signal: ``q``, as for :func:`plan`.
    """
    if plan.converges or signal <= PATIENT_FROM:
        return plan
    way = min(math.log(signal / PATIENT_FROM) / math.log(PATIENT_FULL / PATIENT_FROM), 1.0)
    wanted = plan.sweeps * (MOST_SWEEPS / plan.sweeps) ** way
    sweeps = max(int(min(wanted, MOST_SWEPT / max(n_columns, 1))), plan.sweeps)
    joint_sweeps = max(sweeps // 2, plan.joint_sweeps) if plan.joint_sweeps else 0
    return replace(plan, sweeps=sweeps, joint_sweeps=joint_sweeps, recency=way)


def signal_to_noise(total: float, n_columns: int, sd: float, strength: float = 1.0) -> float:
    """``q``: the rows relative to the noise of one release of all columns.

    Args:
        total: number of rows.
        n_columns: columns of the model.
        sd: of the noise where one number takes the whole allowance.
        strength: how much a row says, relative to a row of two classes.
    """
    return strength * total / max(sd * math.sqrt(max(n_columns, 1)), 1e-12)


def intercept_share(signal: float, n_columns: int) -> float:
    """What the intercept's releases cost relative to a column's: 1, or more where the class shares would be in doubt.

    An error in the intercept costs log loss ``1 / (2 P (1 - P) m**2 f)``, ``m`` the rows relative to the noise of the
    whole budget and ``f`` the part of it that is spent; in much noise that is more than columns can gain.

    Args:
        signal: ``q``, as for :func:`plan`.
        n_columns: columns of the model.
    """
    whole = max(signal**2 * max(n_columns, 1), 1e-9)
    part = min(INTERCEPT_CARE / whole, INTERCEPT_DOUBT / math.sqrt(whole), LARGEST_INTERCEPT_PART)
    return max(part / (1 - part) * n_columns, 1.0)


def pseudo_terms(signal: float) -> float:
    """How many terms the initial hyper-prior counts for: many in much noise, few in little, between by the logarithm.

    Args:
        signal: ``q``, as for :func:`plan`.
    """
    return float(LONELY_TERMS * (COMPANY_TERMS / LONELY_TERMS) ** company(signal))


def company(signal: float) -> float:
    """From 0 to 1, how much of the way the signal has come from :data:`LONELY_BELOW` to :data:`COMPANY_FROM`.

    Args:
        signal: ``q``, as for :func:`plan`.
    """
    way = math.log(max(signal, 1e-9) / LONELY_BELOW) / math.log(COMPANY_FROM / LONELY_BELOW)
    return min(max(way, 0.0), 1.0)


def tree_count(total: float, signal: float) -> int:
    """How many trees: more where noise is little, fewer where rows are so many that each takes long.

    Args:
        total: released number of rows.
        signal: ``q``, as for :func:`plan`.
    """
    way = math.log(max(signal, 1e-9) / FAST_FROM) / math.log(CLEAR_FROM / FAST_FROM)
    wanted = TREES * (MOST_TREES / TREES) ** min(max(way, 0.0), 1.0)
    return max(int(min(wanted, TREE_ROWS / total)), LEAST_TREES)


def tree_rate(signal: float, n_trees: int) -> float:
    """How far a tree steps: slowly where noise is felt, further where trees are few.

    Args:
        signal: ``q``, as for :func:`plan`.
        n_trees: how many there are.
    """
    way = math.log(max(signal, 1e-9) / SLOW_UPTO) / math.log(FAST_FROM / SLOW_UPTO)
    rate = float(SLOW_TREE_RATE * (TREE_RATE / SLOW_TREE_RATE) ** min(max(way, 0.0), 1.0))
    return min(rate * math.sqrt(max(TREES / n_trees, 1.0)), 0.5)


def kernel_share(mu: float, largest: float = LARGEST_KERNEL_SHARE) -> float:
    """The full share of trees that are averaged as a kernel, and of the smooth function before them.

    Args:
        mu: of the whole budget.
        largest: the share where noise is little.
    """
    way = math.log(max(mu, 1e-9) / LOUD_MU) / math.log(CLEAR_MU / LOUD_MU)
    rise = largest - KERNEL_SHARE if way > 0 else KERNEL_SHARE
    return max(KERNEL_SHARE + rise * min(way, 1.0), 0.0)


def _with_kernel_trees(
    glass: Plan, total: float, n_columns: int, signal: float, pairs: bool, two_classes: bool
) -> Plan:
    """The plan with trees, of two classes in place of pairs, where there is budget for them; otherwise ``glass``."""
    whole = signal * math.sqrt(max(n_columns, 1))
    largest = LARGEST_SHARE_OF_TWO if two_classes and signal < PAIRS_ANYWAY else LARGEST_KERNEL_SHARE
    share = kernel_share(whole / total, largest)
    if whole <= KERNEL_FROM or n_columns < 2 or not share:
        return glass
    ramp = min(1.0, math.log(whole / KERNEL_FROM) / math.log(KERNEL_FULL / KERNEL_FROM))
    worth = whole / total < PAIRS_UPTO or signal >= PAIRS_ANYWAY or not two_classes
    columns = _glass_box(total, n_columns, signal, False, pairs and worth)
    rest = columns.scaled(1 - share * ramp)
    rest = rest.with_binning(max(rest.binning, LEAST_BINNING_SHARE))
    smooth = FOURIER_PART * ramp * rest.trees if two_classes else 0.0
    rest = replace(rest, fourier=smooth, trees=rest.trees - smooth, fourier_noise=FOURIER_NOISE * math.sqrt(ramp))
    return replace(rest, n_trees=KERNEL_TREES, tree_columns=COLUMNS_PER_TREE, tree_noise=TREE_NOISE * math.sqrt(ramp))


def _glass_box(total: float, n_columns: int, signal: float, pure: bool, pairs: bool) -> Plan:
    sweeps = 4 if pure else 24
    joint_sweeps = 3 if pure else 12
    converges = total > MANY_ROWS and signal > 10 * PAIRS_FULL and not pure
    mains = 1 - BINNING_SHARE
    if not pairs or n_columns < 2 or signal < PAIRS_FROM:
        # where noise is loud the model hardly moves: an early release then says as much as a late one
        recency = 0.0 if pure else company(signal) - 1.0
        return Plan(BINNING_SHARE, mains, 0.0, 0.0, 0.0, sweeps, 0, converges, recency)
    ramp = min(1.0, math.log(signal / PAIRS_FROM) / math.log(PAIRS_FULL / PAIRS_FROM))
    screening, pair_counts = 0.1 * (0.4 + 0.6 * ramp), 0.05
    first = (mains - 0.1) * (1 - ramp) + 0.35 * ramp - 0.1 * (1 - ramp)
    joint = mains - first - screening - pair_counts
    return Plan(BINNING_SHARE, first, screening, pair_counts, joint, sweeps, joint_sweeps, converges)
