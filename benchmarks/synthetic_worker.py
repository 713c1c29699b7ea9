"""Private synthetic rows and LightGBM trained on them, under a Python of their own.

``python synthetic_worker.py JOB.json IN.npz OUT.npy``: a synthesizer and its parameters; arrays ``rows`` and ``test``
of codes (rows, columns), the label last in ``rows``; log-odds of the test rows come out. It imports nothing of this
project; :mod:`benchmarks.synthetic` makes the codes and the Pythons.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import resource
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

ITERATIONS = 1000
"""Of every estimation of dpmm's models: what its AIM has by default; its MST and PrivBayes have 5,000."""


def smartnoise(job: dict[str, Any], rows: np.ndarray) -> np.ndarray:
    """smartnoise-synth with default settings; its labels are told from the declared codes, not from the rows.

    Rows are drawn by sampling, column after column. By default mbi 1.1 draws every column by the ranks of the rows in
    the table made so far, so that columns which are independent given another come out sorted alike. MST's ``sample``
    moreover leaves columns in the order of the junction tree. A code is its own label.
    """
    from snsynth import Synthesizer
    from snsynth.transform import LabelTransformer, TableTransformer

    sizes = job["sizes"]
    declared = TableTransformer([LabelTransformer(nullable=False) for _ in sizes])
    declared.fit([tuple(min(code, size - 1) for size in sizes) for code in range(max(sizes))])
    synthesizer = Synthesizer.create(job["kind"], epsilon=job["epsilon"], delta=job["delta"])
    synthesizer.fit(rows, transformer=declared)
    made = synthesizer.synthesizer.synthetic_data(rows=len(rows), method="sample")
    made = synthesizer.undo_compress_fn(made) if job["kind"] == "mst" else made
    return np.asarray(made.df[[f"col{place}" for place in range(len(sizes))]])


def dpmm(job: dict[str, Any], rows: np.ndarray) -> np.ndarray:
    """dpmm's models with default settings but for :data:`ITERATIONS`, on the declared codes."""
    import pandas as pd
    from dpmm.models.aim import AIMGM
    from dpmm.models.mst import MSTGM
    from dpmm.models.priv_bayes import PrivBayesGM

    kinds = {"aim": AIMGM, "mst": MSTGM, "privbayes": PrivBayesGM}
    names = [f"c{place:03d}" for place in range(rows.shape[1])]
    model = kinds[job["kind"]](epsilon=job["epsilon"], delta=job["delta"], n_iters=ITERATIONS, n_jobs=1)
    model.set_random_state(np.random.RandomState(job["seed"]))
    model.set_domain(dict(zip(names, job["sizes"], strict=True)))
    model.fit(pd.DataFrame(rows, columns=names))
    return np.asarray(model.generate(n_records=len(rows))[names])


LIBRARIES = {"smartnoise": smartnoise, "dpmm": dpmm}


def trained(job: dict[str, Any], made: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Log-odds by LightGBM with default settings, trained on the rows made."""
    import lightgbm

    labels = made[:, -1].astype(int)
    if len(set(labels.tolist())) < 2:
        return np.zeros(len(test))
    unordered = [place for place, ordered in enumerate(job["ordered"]) if not ordered]
    rows = lightgbm.Dataset(made[:, :-1].astype(float), labels, categorical_feature=unordered)
    asked = {"objective": "binary", "verbose": -1, "num_threads": 1, "seed": job["seed"]}
    return np.asarray(lightgbm.train(asked, rows).predict(test.astype(float), raw_score=True))


def limit(seconds: float) -> None:
    """Ends this process by SIGXCPU once it has used the processor for so long."""
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), most))


def main() -> None:
    """The command."""
    warnings.simplefilter("ignore")
    job, arrays = json.loads(Path(sys.argv[1]).read_text()), np.load(sys.argv[2])
    np.random.seed(job["seed"])
    limit(job["seconds"])
    with contextlib.redirect_stdout(Path(os.devnull).open("w")):  # both libraries talk
        rows = arrays["rows"]
        made = rows if job["kind"] == "none" else LIBRARIES[job["library"]](job, rows)
        np.save(sys.argv[3], trained(job, made, arrays["test"]))


if __name__ == "__main__":
    main()
