"""Contracts of learners, queries and mechanisms: checks to run on your own, as the library's tests run them on its own.

Each runs all of its checks and raises one :class:`CheckError` that lists what failed.
"""

from __future__ import annotations

from tacit.checks.failures import CheckError
from tacit.checks.learner import check_learner
from tacit.checks.mechanism import Law, check_mechanism
from tacit.checks.query import check_query

CHECKS = ("check_learner", "check_mechanism", "check_query")
"""What may be checked."""

__all__ = ["CheckError", "Law", "check_learner", "check_mechanism", "check_query"]
