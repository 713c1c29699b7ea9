"""The planning rule: how the budget is divided, from public numbers alone.

Limits: the rule sees the number of rows, columns and the noise, and of the table how much columns and pairs explain.

``docs/planning.md`` explains the rule and names the script that fits it; its numbers are in
:mod:`tacit.additive.tuning`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from tacit.additive.plan import Plan, Remainder
from tacit.additive.tuning import PLANNING, Planning
from tacit.binning.tuning import MANY_ROWS
from tacit.growing.chosen_trees import columns_to_cut
from tacit.growing.tuning import CUTTING, Cutting


def between(value: float, low: float, high: float) -> float:
    """Where a value lies on the logarithmic scale that is 0 at ``low`` and 1 at ``high``; it may lie outside."""
    return math.log(max(value, 1e-9) / low) / math.log(high / low)


def position(value: float, low: float, high: float) -> float:
    """The same, clipped to [0, 1]."""
    return min(max(between(value, low, high), 0.0), 1.0)


def interpolate(first: float, last: float, way: float) -> float:
    """Geometric interpolation: ``first`` where ``way`` is 0, ``last`` where it is 1."""
    return float(first * (last / first) ** way)


def signal_to_noise(total: float, n_columns: int, sd: float, strength: float = 1.0) -> float:
    """``q``: the rows relative to the noise of one release of all columns.

    ``sd`` is that of the noise where one number takes the whole allowance; ``strength`` is how much a row says,
    relative to a row of two classes.
    """
    return strength * total / max(sd * math.sqrt(max(n_columns, 1)), 1e-12)


def of_all_rows(signal: float, n_columns: int) -> float:
    """``n mu``, the rows relative to the noise of one number, from the ``q`` of so many columns."""
    return signal * math.sqrt(max(n_columns, 1))


@dataclass(frozen=True)
class Planner:
    """The rule, with its numbers."""

    numbers: Planning = PLANNING
    cutting: Cutting = CUTTING

    def plan(
        self,
        total: float,
        n_columns: int,
        signal: float,
        pure: bool,
        pairs: bool = True,
        trees: bool = True,
        remainder: Remainder = Remainder.EXPLAINED,
    ) -> Plan:
        """The plan.

        Args:
            total: released number of rows.
            n_columns: columns of the model.
            signal: ``q``: ``total * mu / sqrt(n_columns)``, rows relative to the noise of one release of all columns.
            pure: whether noise is Laplace, which grows with the number of releases, so that there are few.
            pairs: whether pairs are wanted.
            trees: whether trees over the residual are wanted.
            remainder: what may follow columns and pairs.
        """
        numbers, whole = self.numbers, of_all_rows(signal, n_columns)
        plain = self._columns_and_pairs(total, n_columns, signal, pure, pairs, remainder)
        # under Laplace noise a tree costs as much as a sweep; a single column leaves nothing to trees of several
        if not trees or pure or n_columns < 2:
            return plain
        # averaged trees need few enough rows to be fast; where a leaf's noise is next to nothing, Newton trees fit more
        # closely
        if remainder is not Remainder.NEWTON and total <= MANY_ROWS and whole <= numbers.kernel_upto * total:
            if whole <= numbers.averaged_from:  # noise hides interactions
                return plain
            clear = remainder is Remainder.EXPLAINED and whole >= numbers.trees_full
            plan = self._undecided(plain, total, signal, clear)
            # two classes: whether trees pay depends on what is explained without them, which is not known yet
            return plan if remainder is Remainder.EXPLAINED else self.decided(plan, math.inf)
        if whole <= numbers.trees_from:  # leaves are mostly noise
            return plain
        ramp = min(1.0, between(whole, numbers.trees_from, numbers.trees_full))
        enough = numbers.random_enough if total > MANY_ROWS else 0.0
        columns = plain.scaled(1 - numbers.largest_tree_share * ramp)
        return self._newton(columns, total, signal, self.tree_count(total, signal), enough)

    def _newton(self, plan: Plan, total: float, signal: float, n_trees: int, enough: float) -> Plan:
        """The plan with so many trees by Newton's steps, fewer where little is left over."""
        deep_from = self.numbers.deep_from if total <= MANY_ROWS else self.numbers.deep_from[:1]
        return replace(
            plan,
            n_trees=n_trees,
            tree_depth=5 + sum(signal >= deep for deep in deep_from),
            tree_rate=self.tree_rate(signal, n_trees),
            tree_columns=self.numbers.columns_per_tree,
            tree_enough=enough,
            tree_noise=0.0,
        )

    def with_choices(self, plan: Plan, total: float, n_columns: int, signal: float) -> Plan:
        """The plan with trees whose splits are chosen, where rows are very many and noise lets choices see."""
        whole = of_all_rows(signal, n_columns)
        # with fewer rows or more noise, choices are hardly better than random splits, and cost budget
        if not plan.n_trees or total <= MANY_ROWS or whole < self.numbers.choice_from:
            return plan
        limit = min(
            self.numbers.trees_by_root * math.sqrt(whole),
            self.numbers.most_choosing_trees,
            self.numbers.choosing_rows / total,
        )
        return replace(
            plan,
            n_trees=max(int(limit), self.numbers.choosing_trees),
            tree_depth=self.numbers.choosing_depth,
            tree_rate=self.numbers.choosing_rate,
            tree_columns=columns_to_cut(total, self.cutting),
            tree_choice=self.numbers.choice_share,
            tree_enough=self.numbers.enough,
        )

    def patient(self, plan: Plan, n_columns: int, signal: float) -> Plan:
        """The plan where no trees follow: more sweeps in little noise, to separate the effects of correlated columns.

        Gauss-Seidel sweeps credit a column with part of what belongs to one correlated with it, and correct that
        slowly. Trees, where they follow, learn what is left.
        """
        # sweeps that converge end by themselves; in more noise bias of few sweeps is not what limits the fit
        if plan.converges or signal <= self.numbers.patient_from:
            return plan
        way = position(signal, self.numbers.patient_from, self.numbers.patient_full)
        target = interpolate(plan.sweeps, self.numbers.most_sweeps, way)
        sweeps = max(int(min(target, self.numbers.most_swept / max(n_columns, 1))), plan.sweeps)
        joint_sweeps = max(sweeps // 2, plan.joint_sweeps) if plan.joint_sweeps else 0
        return replace(plan, sweeps=sweeps, joint_sweeps=joint_sweeps, recency=way)

    def intercept_share(self, signal: float, n_columns: int) -> float:
        """What the intercept's releases cost relative to a column's: 1, or more where class shares are in doubt.

        An error in the intercept costs log loss ``1 / (2 P (1 - P) m**2 f)``, ``m`` the rows relative to the noise of
        the whole budget and ``f`` the part of it that is spent; in much noise that is more than columns can gain.
        """
        whole = max(signal**2 * max(n_columns, 1), 1e-9)
        part = min(
            self.numbers.intercept_care / whole,
            self.numbers.intercept_doubt / math.sqrt(whole),
            self.numbers.largest_intercept_part,
        )
        return max(part / (1 - part) * n_columns, 1.0)

    def tree_count(self, total: float, signal: float) -> int:
        """How many trees: more where noise is little, fewer where rows are so many that each takes long."""
        way = position(signal, self.numbers.fast_from, self.numbers.clear_from)
        trees = interpolate(self.numbers.trees, self.numbers.most_trees, way)
        return max(int(min(trees, self.numbers.tree_rows / total)), self.numbers.least_trees)

    def tree_rate(self, signal: float, n_trees: int) -> float:
        """How far a tree steps: slowly where noise is felt, further where trees are few."""
        way = position(signal, self.numbers.slow_upto, self.numbers.fast_from)
        rate = interpolate(self.numbers.slow_tree_rate, self.numbers.tree_rate, way)
        return min(rate * math.sqrt(max(self.numbers.trees / n_trees, 1.0)), 0.5)

    def _undecided(self, plain: Plan, total: float, signal: float, clear: bool) -> Plan:
        """The plan of columns, of looking for pairs, and of trees that have all the rest until :meth:`decided`."""
        numbers = self.numbers
        first = min(numbers.clear_first_part if clear else numbers.before_pairs, plain.mains)
        plan = replace(
            plain,
            mains=first,
            sweeps=numbers.joint_sweeps if clear else plain.sweeps,  # as many follow
            pair_counts=0.0,
            joint=0.0,
            joint_sweeps=0,
            trees=1.0 - plain.binning - first - plain.screening,
            n_trees=numbers.kernel_trees,
            tree_columns=numbers.columns_per_tree,
            tree_noise=numbers.tree_noise,
            undecided=True,
        )
        return self._newton(plan, total, signal, numbers.trees, numbers.enough) if clear else plan

    def decided(self, plan: Plan, explained: float) -> Plan:
        """The plan once pairs are looked for: pairs and columns have what is left, or they and trees a part of it each.

        Where effects are large, trees find what columns and pairs leave over; where they are small, there is little for
        trees to find (sixty real tables and the sets of the accuracy page, ``docs/ablation.md``).

        ``explained`` is the variance of the scores of columns, and of pairs as looking shows it (squared log-odds).
        """
        numbers = self.numbers
        part = numbers.tree_part if explained >= numbers.trees_explained_from else 0.0
        trees = part * plan.trees
        counts = numbers.pair_counting * (1.0 - part) if plan.looks_for_pairs else 0.0
        return replace(
            plan,
            pair_counts=counts,
            joint=plan.trees - trees - counts,
            joint_sweeps=numbers.joint_sweeps if part else numbers.sweeps + numbers.joint_sweeps - plan.sweeps,
            trees=trees,
            n_trees=plan.n_trees if part else 0,
            undecided=False,
        )

    def _pairs_from(self, n_columns: int, pure: bool) -> float:
        """The signal ``q`` from which pairs are tried; under Laplace noise columns need more the more there are."""
        # Gaussian noise of d columns goes with the root of d, which is in q; Laplace noise with d
        if not pure:
            return self.numbers.pairs_from
        return max(self.numbers.pairs_from, self.numbers.pure_pairs_from * math.sqrt(n_columns / 2.0))

    def _columns_and_pairs(
        self, total: float, n_columns: int, signal: float, pure: bool, pairs: bool, remainder: Remainder
    ) -> Plan:
        # of several classes and numbers few sweeps were no better, and quantiles too sure of themselves
        few = remainder is Remainder.EXPLAINED and signal < self.numbers.pairs_from
        sweeps = self.numbers.noisy_sweeps if few else self.numbers.sweeps
        if pure:  # rows of quantiles are bounded alone, so that noise is what it is and bias counts for more
            clear = signal >= self._pairs_from(n_columns, pure) or remainder is Remainder.NEWTON
            sweeps = self.numbers.pure_clear_sweeps if clear else self.numbers.pure_sweeps
        joint_sweeps = self.numbers.pure_joint_sweeps if pure else self.numbers.joint_sweeps
        converges = total > MANY_ROWS and signal > self.numbers.converging_from and not pure
        mains = 1 - self.numbers.binning_share
        if not pairs or n_columns < 2 or signal < self._pairs_from(n_columns, pure):
            # where noise is large the model hardly moves: an early release is then worth as much as a late one
            recency = 0.0 if pure or signal >= self.numbers.pairs_from else -1.0
            return Plan(self.numbers.binning_share, mains, 0.0, 0.0, 0.0, sweeps, 0, converges, recency)
        numbers = self.numbers
        first, screening, counts = numbers.before_pairs, numbers.screening, numbers.pair_counting
        joint = mains - first - screening - counts
        return Plan(numbers.binning_share, first, screening, counts, joint, sweeps, joint_sweeps, converges)
