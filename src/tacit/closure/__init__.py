"""Closure: private learners made of private learners, and the dimensions that say what can be learned.

Source: Alon, Beimel, Moran, Stemmer 2020, "Closure properties for private classification and online prediction".
"""

from __future__ import annotations

from tacit.closure.agnostic import AgnosticClassifier
from tacit.closure.classes import BoundClass, ConceptClass, ConceptError, Halfspaces, Intervals, Rectangles, Thresholds
from tacit.closure.composed import ComposedClassifier
from tacit.closure.finite import FiniteClassClassifier
from tacit.closure.literals import Conjunctions, DecisionLists, RuleClass
from tacit.closure.raw import RawThresholds
from tacit.closure.unions import Stumps, Union
from tacit.theory.dimensions import littlestone_dimension, threshold_dimension, vc_dimension

__all__ = [
    "AgnosticClassifier",
    "BoundClass",
    "ComposedClassifier",
    "ConceptClass",
    "ConceptError",
    "Conjunctions",
    "DecisionLists",
    "FiniteClassClassifier",
    "Halfspaces",
    "Intervals",
    "RawThresholds",
    "Rectangles",
    "RuleClass",
    "Stumps",
    "Thresholds",
    "Union",
    "littlestone_dimension",
    "threshold_dimension",
    "vc_dimension",
]
