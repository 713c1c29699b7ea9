"""Private synthetic rows and LightGBM trained on them, under a Python of their own.

``python synthetic_worker.py JOB.json IN.npz OUT.npy``: a synthesizer and its parameters; arrays ``rows`` and ``test``
of codes (rows, columns), the label last in ``rows``; log-odds of the test rows come out. It imports nothing of this
project; :mod:`benchmarks.synthetic` makes the codes and the Pythons.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import resource
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

ITERATIONS = 1000
"""Of every estimation of dpmm's models, which have 5,000 by default."""


def smartnoise(job: dict[str, Any], rows: np.ndarray) -> np.ndarray:
    """smartnoise-synth with default settings; its labels are told from the declared codes, not from the rows.

    Rows are drawn by sampling, column after column. By default mbi 1.1 draws every column by the ranks of the rows in
    the table made so far, so that columns which are independent given another come out sorted alike. A code is its own
    label.
    """
    from snsynth import Synthesizer
    from snsynth.transform import LabelTransformer, TableTransformer

    sizes = job["sizes"]
    declared = TableTransformer([LabelTransformer(nullable=False) for _ in sizes])
    declared.fit([tuple(min(code, size - 1) for size in sizes) for code in range(max(sizes))])
    synthesizer = Synthesizer.create(job["kind"], epsilon=job["epsilon"], delta=job["delta"])
    synthesizer.fit(rows, transformer=declared)
    made = synthesizer.synthesizer.synthetic_data(rows=len(rows), method="sample")
    return np.asarray(made.df[[f"col{place}" for place in range(len(sizes))]])


def dpmm(job: dict[str, Any], rows: np.ndarray) -> np.ndarray:
    """dpmm's models with default settings but for :data:`ITERATIONS`, on the declared codes."""
    import pandas as pd
    from dpmm.models.mst import MSTGM
    from dpmm.models.priv_bayes import PrivBayesGM

    kinds = {"mst": MSTGM, "privbayes": PrivBayesGM}
    names = [f"c{place:03d}" for place in range(rows.shape[1])]
    model = kinds[job["kind"]](epsilon=job["epsilon"], delta=job["delta"], n_iters=ITERATIONS, n_jobs=1)
    model.set_random_state(np.random.RandomState(job["seed"]))
    model.set_domain(dict(zip(names, job["sizes"], strict=True)))
    model.fit(pd.DataFrame(rows, columns=names))
    return np.asarray(model.generate(n_records=len(rows))[names])


def dpsynth(job: dict[str, Any], rows: np.ndarray) -> np.ndarray:
    """dpsynth's SWIFT on the declared codes, with default settings; how many rows it makes is its own noisy count.

    All that it releases is Gaussian, so that its zCDP allowance is half the square of mu.
    """
    import mbi
    from dpsynth.discrete_mechanisms import DiscreteConfig, SWIFTConfig

    names = [f"c{place:03d}" for place in range(rows.shape[1])]
    table = mbi.Dataset(dict(zip(names, rows.astype(int).T, strict=True)), mbi.Domain(names, job["sizes"]))
    mechanism = DiscreteConfig(mechanism=SWIFTConfig()).configure(zcdp_rho=job["mu"] ** 2 / 2)
    made = mechanism(np.random.default_rng(job["seed"]), table).synthetic_data.to_dict()
    return np.column_stack([made[name] for name in names])


def tab_pe(job: dict[str, Any], rows: np.ndarray) -> np.ndarray:
    """Tab-PE with the settings of its authors' examples; numbers are cells, not codes. The shares of the classes are
    public to it.
    """
    import pandas as pd
    from pe.api import TabularAPI
    from pe.constant.data import LABEL_ID_COLUMN_NAME, TABULAR_DATA_COLUMN_NAME, VARIATION_API_FOLD_ID_COLUMN_NAME
    from pe.data import Data, TabularColumnType
    from pe.embedding import TabularEmbedding
    from pe.histogram import NearestNeighbors
    from pe.population import CompositePopulation, PEPopulation
    from pe.runner import PE

    info, kinds = {}, {kind: [] for kind in ("cat", "int", "float")}
    for place, (kind, facts) in enumerate(job["info"]):
        info[f"c{place:03d}"] = {**facts, "type": TabularColumnType(kind)}
        kinds[kind].append(f"c{place:03d}")
    cells = {TABULAR_DATA_COLUMN_NAME: rows[:, :-1].tolist(), LABEL_ID_COLUMN_NAME: rows[:, -1].astype(int)}
    metadata = {f"{kind}_columns": names for kind, names in kinds.items()} | {"feature_columns": list(info)}
    metadata |= {"label_columns": ["y"], "label_info": [{"name": name, "column_values": {}} for name in "01"]}
    rounds, api = job["rounds"], TabularAPI(info, num_iterations=job["rounds"])
    early = PEPopulation(api, histogram_threshold=0)
    late = PEPopulation(
        api, initial_variation_api_fold=3, next_variation_api_fold=3, keep_selected=True, selection_mode="rank"
    )
    search = NearestNeighbors(TabularEmbedding(info), mode="L2", lookahead_degree=0, backend="sklearn")
    populations = CompositePopulation([early] * 5 + [late] * (rounds - 5))
    runner = PE(Data(pd.DataFrame(cells), metadata), populations, search)
    budget = {"delta": job["delta"], "epsilon": job["epsilon"], "save_checkpoint": False}
    made = runner.run([job["made"]] * rounds, **budget).data_frame
    made = made[made[VARIATION_API_FOLD_ID_COLUMN_NAME] == -1]
    return np.column_stack([np.array(made[TABULAR_DATA_COLUMN_NAME].tolist()), made[LABEL_ID_COLUMN_NAME]])


LIBRARIES = {"smartnoise": smartnoise, "dpmm": dpmm, "dpsynth": dpsynth, "pe": tab_pe}


def trained(job: dict[str, Any], made: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Log-odds by LightGBM with default settings, trained on the rows made."""
    import lightgbm

    labels = made[:, -1].astype(int)
    if len(set(labels.tolist())) < 2:
        return np.zeros(len(test))
    unordered = [place for place, ordered in enumerate(job["ordered"]) if not ordered]
    rows = lightgbm.Dataset(made[:, :-1].astype(float), labels, categorical_feature=unordered)
    arguments = {"objective": "binary", "verbose": -1, "num_threads": 1, "seed": job["seed"]}
    return np.asarray(lightgbm.train(arguments, rows).predict(test.astype(float), raw_score=True))


def limit(seconds: float) -> None:
    """Ends this process by SIGXCPU once it has used the processor for so long."""
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), most))


def main() -> None:
    """The command."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    job, arrays = json.loads(Path(sys.argv[1]).read_text()), np.load(sys.argv[2])
    np.random.seed(job["seed"])
    limit(job["seconds"])
    with contextlib.redirect_stdout(Path(os.devnull).open("w")):  # both libraries talk
        rows = arrays["rows"]
        made = rows if job["kind"] == "none" else LIBRARIES[job["library"]](job, rows)
        np.save(sys.argv[3], trained(job, made, arrays["test"]))


if __name__ == "__main__":
    main()
