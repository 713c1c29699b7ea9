"""Five sites that draw the noise, against one curator: `python -m benchmarks.noise_shares`.

The rows are those of the made-up hospital, a fifth at each site. Printed are the area under the curve on 20,000 further
rows (mean and its error over the seeds), and epsilon towards the coordinator alone.
"""

from __future__ import annotations

import argparse
import socket
import tempfile
import threading
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

import tacit
from tacit.curator.sites.parties import COORDINATOR, new_party
from tacit.examples import hospital
from tacit.privacy.noise_shares import towards_coordinator


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as raw:
        raw.bind(("127.0.0.1", 0))
        port: int = raw.getsockname()[1]
        return port


SITES = ("east", "mid", "north", "south", "west")


def joined(estimator: Any, folder: Path, honest: int | None) -> Any:
    """The estimator, fitted to the sites whose rows and keys are in a folder."""
    address, parties = f"127.0.0.1:{free_port()}", folder / "parties"
    schema, epsilon, delta = estimator.schema, estimator.epsilon, estimator.delta

    def serve(name: str) -> None:
        tacit.serve_site(
            folder / f"{name}.parquet", schema, connect=address, parties=parties, key=folder / f"{name}.key",
            epsilon=epsilon, delta=delta, honest=honest,
        )  # fmt: skip

    threads = [threading.Thread(target=serve, args=(name,)) for name in SITES]
    for thread in threads:
        thread.start()
    fitted = estimator.fit(tacit.join_sites(address, parties=parties, key=folder / "coordinator.key", honest=honest))
    for thread in threads:
        thread.join()
    return fitted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learner", default="RandomTreesClassifier")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y, schema = hospital(arguments.rows + 20_000)
    schema = replace(schema, unit=None)  # sites protect rows
    table = pd.DataFrame(X).assign(**{schema.label.column: y})
    others, truth = table.iloc[arguments.rows :], y[arguments.rows :]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in (COORDINATOR, *SITES):
            new_party(name, folder / f"{name}.key", folder / "parties")
        for number, name in enumerate(SITES):
            table.iloc[number : arguments.rows : len(SITES)].to_parquet(folder / f"{name}.parquet", index=False)
        for honest in (None, 5, 4, 3, 2, 1):
            scores, known = [], []
            for _ in range(arguments.seeds):
                learner = getattr(tacit, arguments.learner)(epsilon=arguments.epsilon, delta=1e-6, schema=schema)
                fitted = joined(learner, folder, honest)
                scores.append(roc_auc_score(truth, fitted.predict_proba(others)[:, 1]))
                made = fitted.certificate_
                known = towards_coordinator(made.entries, made.charges, made.delta)
            how = "the coordinator draws the noise" if honest is None else f"{honest} of 5 sites are honest"
            towards = f", towards the coordinator alone epsilon {known[0][1]:.2f}" if known else ""
            error = np.std(scores) / np.sqrt(max(arguments.seeds - 1, 1))
            print(f"{how:32} {np.mean(scores):.4f} +- {error:.4f}{towards}", flush=True)


if __name__ == "__main__":
    main()
