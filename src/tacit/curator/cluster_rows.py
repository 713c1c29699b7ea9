"""Private rows on the workers of a cluster: every worker reads its own parts of the source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from weakref import finalize

from tacit.arrays import Ints
from tacit.curator.options import fresh_key
from tacit.curator.recipes import Columns, Recipe
from tacit.curator.rows import PrivateRows
from tacit.curator.source_rows import Labels, PreparedSource, RemoteTable, SourceRows, rows_of
from tacit.encoding.source import DeclaredSource, Source
from tacit.encoding.table import TableEncoding
from tacit.engines.cluster.rounds import Recheck, Rounds, Workers
from tacit.engines.cluster.work import Ask, Change, ClusterError, Seal, Unseal
from tacit.engines.passes.base import Look
from tacit.engines.rows import Rows, Workspace
from tacit.privacy.ledger import Reservation
from tacit.queries.cells import Cells
from tacit.queries.joint_bound import JointBound
from tacit.queries.query import Layout


class ClusterTable(RemoteTable):
    """Rows in parts on workers, which make of them what the recipe says; a block is a part."""

    def __init__(self, workers: Rounds, layout: Layout, recipe: Any) -> None:
        super().__init__(layout)
        self._workers = workers
        workers.tell(Seal(self._number, recipe))
        finalize(self, workers.tell, Unseal(self._number)).atexit = False

    def each(self, looks: Look | Sequence[Look]) -> list[Ints]:
        return self._workers.each(Ask(self._number, looks))

    def total(self, look: Look) -> Ints:
        return self._workers.total(Ask(self._number, look))

    def coarsen(self, column: int, mapping: Ints) -> None:
        super().coarsen(column, mapping)
        self._workers.tell(Change(self._number, "coarsen", (column, mapping), self._workers.open_logs()))

    def derive(self, cells: Cells) -> None:
        super().derive(cells)
        self._workers.tell(Change(self._number, "derive", (cells,)))

    def bind(self, bound: JointBound, own_levels: int) -> None:
        self._workers.tell(Change(self._number, "bind", (bound, own_levels)))


PATIENCE = 60.0  # seconds that a fit waits for a worker where there is none
CONNECTING = 10.0  # seconds that a scheduler may take to answer


@dataclass(frozen=True, eq=False)
class SourcePart:
    """A part of a source, on its way to the worker that reads it; knows its files as they were when the fit began."""

    source: DeclaredSource

    def opened(self) -> Callable[[tuple[Recipe, Labels], Workspace], Rows]:
        """Makes rows of a recipe; what the files say is encoded once for each."""
        prepared = PreparedSource(self.source, None)

        def rows(recipe: tuple[Recipe, Labels], workspace: Workspace) -> Rows:
            (arrays,) = prepared.encoded(*recipe)
            return rows_of(list(arrays), *recipe, workspace)

        return rows


class ClusterSource:
    """A source whose parts are encoded on workers; see :class:`~tacit.curator.source_rows.PreparedSource`."""

    def __init__(self, source: DeclaredSource, workers: Rounds) -> None:
        self._source, self._workers = source, workers

    def rows(self, reservation: Reservation, random_state: int | None) -> PrivateRows:
        return SourceRows(self._source.schema, self.table, reservation, random_state)

    def table(self, recipe: Recipe, label_index: Labels) -> ClusterTable:
        layout = Layout(recipe.n_codes, label_index.n_classes, recipe.n_dense)
        return ClusterTable(self._workers, layout, (recipe, label_index))


@contextmanager
def prepare(source: DeclaredSource, encoding: TableEncoding, label_index: Labels) -> Iterator[ClusterSource]:
    """A source whose parts are encoded by the workers of a cluster, before the charge."""
    with _workers_of(source.source, _parts_of(source)) as workers:
        try:
            ready = ClusterSource(source, workers)
            table = ready.table(Columns(encoding), label_index)
            workers.tell_now()
            del table
            yield ready
        finally:
            workers.close()


@contextmanager
def _workers_of(source: Source, parts: Sequence[SourcePart]) -> Iterator[Rounds]:
    """Workers for these parts, of the system that the user named."""
    if source.engine == "workers":
        yield source.cluster(parts)
    else:
        with _client_of(source.cluster) as client:
            yield Workers(client, parts, PATIENCE, Recheck(float(source.recheck), fresh_key()))


def _parts_of(source: DeclaredSource) -> list[SourcePart]:
    whole = source.source
    parts = []
    for reader in whole.reader.parts():
        part = DeclaredSource(replace(whole, reader=reader, engine="memory", cluster=None, recheck=0.0), source.schema)
        part.state  # noqa: B018 - kept: files that are not what they were when the fit began are refused
        parts.append(SourcePart(part))
    return parts


@contextmanager
def _client_of(cluster: Any) -> Iterator[Any]:
    """A client of the cluster that the user named; None for one on this machine, for as long as the fit takes."""
    try:
        import distributed
    except ImportError:
        raise ClusterError("the engine 'dask' needs distributed: pip install 'tacit[dask]'") from None
    untyped: Any = distributed
    if cluster is None:
        with untyped.LocalCluster(threads_per_worker=1, dashboard_address=None) as own, untyped.Client(own) as client:
            yield client
    elif isinstance(cluster, str):
        try:
            client = untyped.Client(cluster, timeout=CONNECTING)
        except (OSError, ValueError, TypeError) as error:
            if cluster.startswith("tls:") and isinstance(error, TypeError):
                raise ClusterError(
                    f"no certificates for {cluster}: name them in dask's configuration (distributed.comm.tls), or hand "
                    "over a distributed.Client that has them"
                ) from None
            raise ClusterError(
                f"there is no scheduler at {cluster} ({type(error).__name__}): give the address that `dask scheduler` "
                "says when it starts, such as tcp://10.0.0.1:8786"
            ) from None
        with client:
            yield client
    else:
        yield cluster
