"""Citations: the software, and the paper behind a learner, as BibTeX."""

from __future__ import annotations

from importlib.metadata import version

SOFTWARE = """@software{{tacit,
  title   = {{tacit: differentially private machine learning for tabular data}},
  author  = {{{{The tacit authors}}}},
  version = {{{version}}},
  license = {{Apache-2.0}},
}}"""

BOOSTING = """@inproceedings{bun2020efficient,
  title     = {Efficient, Noise-Tolerant, and Private Learning via Boosting},
  author    = {Bun, Mark and Carmosino, Marco Leandro and Sorrell, Jessica},
  booktitle = {Conference on Learning Theory},
  year      = {2020},
}"""

DECISION_LISTS = """@article{bun_fang_privately,
  title  = {Privately Learning Decision Lists and a Differentially Private Winnow},
  author = {Bun, Mark and Fang, William},
}"""

TREES = """@article{nock2020boosted,
  title  = {Boosted and Differentially Private Ensembles of Decision Trees},
  author = {Nock, Richard and Henecka, Wilko},
  year   = {2020},
}"""

CLOSURE = """@inproceedings{alon2020closure,
  title     = {Closure Properties for Private Classification and Online Prediction},
  author    = {Alon, Noga and Beimel, Amos and Moran, Shay and Stemmer, Uri},
  booktitle = {Conference on Learning Theory},
  year      = {2020},
}"""

PAPERS = {
    "additive": BOOSTING,
    "boosting": BOOSTING,
    "closure": CLOSURE,
    "decision_lists": DECISION_LISTS,
    "halfspaces": BOOSTING,
    "online": DECISION_LISTS,
    "resampling": BOOSTING,
    "trees": TREES,
}
"""Package -> the paper that its learners implement or build on."""


def cite(learner: object = None) -> str:
    """Returns BibTeX entries for the library and the paper behind a learner.

    Args:
        learner: an estimator, or its class; None for all four papers.

    Raises:
        ValueError: for an object whose class is not a learner of this library.

    Example:
        >>> import tacit
        >>> print(tacit.cite(tacit.BoostedTreesClassifier).splitlines()[7])
        @article{nock2020boosted,
    """
    software = SOFTWARE.format(version=version("tacit"))
    if learner is None:
        return "\n\n".join([software, *dict.fromkeys(PAPERS.values())])
    owner = learner if isinstance(learner, type) else type(learner)
    packages = [kind.__module__.split(".") for kind in owner.__mro__]
    rooms = [parts[1] for parts in packages if parts[0] == "tacit" and len(parts) > 1 and parts[1] in PAPERS]
    if not rooms:
        raise ValueError(f"cite takes an estimator of tacit or its class, got {owner.__name__}")
    return f"{software}\n\n{PAPERS[rooms[0]]}"
