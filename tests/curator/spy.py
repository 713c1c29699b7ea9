"""A table that counts how often it is read."""

from __future__ import annotations

from typing import Any

from tacit.engines.blocks import MemoryTable


class Spy(MemoryTable):
    """Counts reads."""

    reads = 0

    def answer(self, query: Any) -> Any:
        self.reads += 1
        return super().answer(query)

    def answer_all(self, queries: Any) -> Any:
        self.reads += len(queries)
        return super().answer_all(queries)

    def bind(self, bound: Any, own_levels: int) -> None:
        self.reads += 1
        super().bind(bound, own_levels)
