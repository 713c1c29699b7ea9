"""Private online learning: Winnow, batch by batch, and what it stands on (Bun, Fang)."""

from __future__ import annotations

from tacit.online.confident_winnow import ConfidentWinnow
from tacit.online.decision_list_winnow import DecisionListWinnow
from tacit.online.suspended import StreamClosed
from tacit.online.winnow import Winnow

__all__ = ["ConfidentWinnow", "DecisionListWinnow", "StreamClosed", "Winnow"]
