"""What holds for all tests."""

import os

# Tests share the cores already: BLAS threads that wait for each other spin, and cost more than all that they compute.
# Read when numpy is imported; a fit keeps to one of them by itself.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # a first call compiles, and machines are busy
settings.load_profile("untimed")
