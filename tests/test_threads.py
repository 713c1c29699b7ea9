"""The run as a whole: what `conftest` asks of the libraries below reaches them."""

from __future__ import annotations

import os

from numpy import linalg as numpys
from scipy import linalg as scipys
from threadpoolctl import threadpool_info


def test_blas_has_the_threads_that_it_was_given() -> None:
    assert numpys is not scipys  # each brings its own
    pools = [pool["num_threads"] for pool in threadpool_info() if pool["internal_api"] == "openblas"]
    assert pools == [int(os.environ["OPENBLAS_NUM_THREADS"])] * len(pools)
