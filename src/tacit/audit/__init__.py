"""Audits: what an attack can show of a learner's privacy, beside what its certificate proves."""

from __future__ import annotations

from tacit.audit.audit_estimator import audit_estimator
from tacit.audit.bound import Counts, epsilon_lower, gaussian_lower, most_provable
from tacit.audit.result import Audit, GaussianFinding

__all__ = ["Audit", "Counts", "GaussianFinding", "audit_estimator", "epsilon_lower", "gaussian_lower", "most_provable"]
