"""What a plan says: shares of the budget, and how they are spent (the rule is :mod:`tacit.additive.planner`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class Remainder(Enum):
    """What may follow columns and pairs, where rows are not very many."""

    EXPLAINED = "pairs, and trees where columns and pairs explain much"
    AVERAGED = "averaged trees"
    NEWTON = "Newton trees"


@dataclass(frozen=True)
class Pace:
    """How sweeps go."""

    sweeps: int  # how many
    # whether there is so little noise that steps are long, and sweeps end once effects hardly move
    converges: bool = False
    # from 0 to 1, how long steps are, and how little earlier releases count beside later ones; -1 where all releases
    # count alike
    recency: float = 0.0
    adapts: bool = True  # whether few sweeps take long steps

    def plain(self) -> Pace:
        """The same sweeps, with releases and steps as at any other pace."""
        return replace(self, recency=0.0, adapts=False)


@dataclass(frozen=True)
class Plan:
    """Shares of the allowance, and how many sweeps they are spread over."""

    binning: float  # number of rows and histograms
    mains: float  # sweeps over the columns before pairs are looked for (all that is left when they are not)
    screening: float  # looking for pairs
    pair_counts: float  # histograms of the pairs found
    joint: float  # sweeps over columns and pairs together
    sweeps: int  # `sweeps`, `joint_sweeps`: how many
    joint_sweeps: int
    converges: bool = False  # `converges`, `recency`: of both; see `Pace`
    recency: float = 0.0
    trees: float = 0.0  # boosting by trees what columns and pairs leave over
    n_trees: int = 0  # `n_trees`, `tree_depth`, `tree_rate`: how many trees, how deep, and how far each steps
    tree_depth: int = 0
    tree_rate: float = 0.0
    tree_columns: int = 0  # how many columns a tree may cut
    tree_choice: float = 0.0  # share of the trees' budget that goes to choosing their splits; 0 for random ones
    tree_enough: float = 0.0  # trees end once their steps have surely a smaller prior than this; 0 for never
    # trees are averaged as a kernel, and may leave so much noise in a score (log-odds); depth and rate follow from
    # that. 0 for other trees.
    tree_noise: float = 0.0
    undecided: bool = False  # whether what is explained decides if trees have a share beside pairs and columns

    def scaled(self, share: float) -> Plan:
        """The same plan on ``share`` of the allowance; what is left is for trees."""
        shares = {
            name: getattr(self, name) * share for name in ("binning", "mains", "screening", "pair_counts", "joint")
        }
        return replace(self, **shares, trees=1 - share)

    def with_binning(self, binning: float) -> Plan:
        """The same plan where bins took ``binning``, and everything else shares what is left."""
        rest = (1 - binning) / (1 - self.binning)
        names = ("mains", "screening", "pair_counts", "joint", "trees")
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
    def looks_for_pairs(self) -> bool:
        return self.screening > 0
