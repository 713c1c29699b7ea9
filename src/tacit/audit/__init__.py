"""Audits: what an attack can show of a learner's privacy, beside what its certificate proves."""

from __future__ import annotations

from tacit.audit.audit_estimator import audit_estimator, audit_releases
from tacit.audit.bound import Counts, epsilon_lower, gaussian_lower, most_provable
from tacit.audit.foreign import replay_with
from tacit.audit.one_run import OneRun, audit_in_one_run
from tacit.audit.replay import replay_audit
from tacit.audit.result import Audit, GaussianFinding, Replay
from tacit.audit.verify_tape import TapeVerdict, verify_tape

__all__ = [
    "Audit",
    "Counts",
    "GaussianFinding",
    "OneRun",
    "Replay",
    "TapeVerdict",
    "audit_estimator",
    "audit_in_one_run",
    "audit_releases",
    "epsilon_lower",
    "gaussian_lower",
    "most_provable",
    "replay_audit",
    "replay_with",
    "verify_tape",
]
