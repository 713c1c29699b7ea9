"""`Winnow`: private online learning of halfspaces, as a river classifier."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from inspect import signature
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Ints
from tacit.curator.streams.open import Stream, open_row_stream
from tacit.curator.streams.winnow import UPDATES, WinnowStream, WinnowUpdate
from tacit.curator.streams.winnow_log import Marks, WinnowLog
from tacit.encoding.inputs import plain
from tacit.errors import spending
from tacit.learning.checks import check_choice, check_integer, check_number
from tacit.online import rows as readers
from tacit.online.labels import as_labels, check_labels, classes_of, code_of, codes_of
from tacit.online.predicting import MOST_CELLS, Predicting
from tacit.online.schedule import Promise, WinnowRequest, of_the_smaller_promise, promise_of, schedule_of
from tacit.online.suspended import StreamClosed, read_secrets, retire_secrets, write_secrets
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.assumptions import Assumption
from tacit.privacy.certificate import Certificate
from tacit.privacy.label import Label, Stage
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import Request, RequestError
from tacit.privacy.spending import certified, reserve


@dataclass(eq=False, repr=False)
class Winnow(Predicting, readers.river_base()):  # type: ignore[misc]
    """A private Winnow (Bun, Fang): halfspaces over many features, few of which matter.

    Learns from one labelled row after another. What is released is the sequence of weights and when they changed; a
    row is one round, and under ``add_or_remove_one`` a round that is taken away becomes a null round. The budget is
    reserved whole when the first row comes, and pays for the stream however long it goes on.

    Args:
        epsilon: privacy parameter, positive; ``inf`` for no privacy.
        delta: additive slack of the guarantee, in [0, 1).
        neighbouring: ``"add_or_remove_one"`` or ``"replace_one"``.
        horizon: the most rounds; public.
        period: the most rounds of a public period, for targets that drift: after so many, or when :meth:`new_period` is
            called, all that was not released is forgotten and the draws begin anew. A row is in one period, so periods
            cost nothing (docs/online.md says under which unit). None for one period.
        carried: the share of the last released weights in those that the next period's draws begin with, in [0, 1);
            the rest are fresh.
        update: ``"timed"`` (at public times, from all rounds that are wrong or hardly right), ``"batch"`` (after so
            many mistakes, from all of them), ``"every"`` (then, from all rounds, one column is drawn: for targets that
            are one, of margin 1) or ``"first"`` (the paper's, which needs far longer streams to learn anything). None
            for ``"timed"``; with a margin for the one that promises the fewest mistakes; and for ``"batch"`` where no
            privacy is asked for.
        margin: a margin of the target, for the schedule with a mistake bound; None for the schedule that does best.
        signed: whether weights may be negative.
        constant: whether to add a coordinate that is always 1.
        columns: names of the features, whose values are -1, 1 or booleans; what a row lacks is -1, what it has beside
            them does not count. None takes those of the first row, which are public then, as the columns of a table
            are (not with ``invalid="null"``, unless rows come in tables), and their values may be anything: numbers are
            compared with public cuts, texts go to public hashes (:class:`~tacit.online.rows.NumberRows`). Arrays
            without names hold -1, 1 or booleans.
        schema: a :class:`~tacit.Schema` (or its dict, or path), the better way: numbers become thresholds between their
            bounds, categories indicators.
        bins: bins of a numeric column under a schema.
        labels: what the classes are called; of two the positive one last. None for the classes of the schema's label,
            or False and True where it declares none. They are public: a label that is none of them is an error, or a
            null round. More than two classes have weights each, and share one budget.
        invalid: ``"error"`` to raise for values that are not signs or labels that are neither class (an error can be
            seen, so it tells that such a row was there), ``"null"`` to take such a round as a null round.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this stream alone.
        seed: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.

    Attributes:
        log_: released weights and update times of the period, counted from its first round; None before the first row.
        certificate_: what was spent, on what, by which theorem; None before the first row.
        rounds_: rows learned from.
        promise_: with a margin the mistakes that are proved, ``print(promise_)``; None before the first row.

    Example:
        >>> import numpy as np
        >>> from tacit.online import Winnow
        >>> rows = 2 * np.random.default_rng(0).integers(0, 2, (4000, 20)) - 1
        >>> model = Winnow(epsilon=1.0, horizon=4000, labels=(-1, 1))
        >>> model.learn_many(rows, rows[:, 3])
        >>> print(model.predict_many(rows[:2]).shape, model.certificate_.epsilon)
        (2,) 1.0
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    neighbouring: str = "add_or_remove_one"
    horizon: int = 100_000
    update: str | None = None
    margin: float | None = None
    signed: bool = True
    constant: bool = True
    columns: tuple[str, ...] | None = None
    schema: Any = None
    bins: int = 8
    labels: tuple[Any, ...] | None = None
    invalid: str = "error"
    account: PrivacyAccount | None = None
    seed: int | None = None
    period: int | None = None
    carried: float = 0.0

    def __post_init__(self) -> None:
        self.log_: WinnowLog | None = None
        self.certificate_: Certificate | None = None
        self.promise_: Promise | None = None
        self.rounds_ = 0
        self.files_: tuple[str, ...] = ()  # fingerprints of files that were learned from, whole or in part
        self._began = 0  # the round with which this period began
        self._rows: readers.RowReader | None = None
        self._assumed: tuple[Assumption, ...] = ()
        self._declared: tuple[Any, tuple[Any, ...]] | None = None
        self._stream: Stream | None = None
        self._closed = False

    @property
    def _classes(self) -> tuple[Any, ...]:
        """What the classes are called."""
        if self.labels is not None:
            return self.labels
        if self._declared is None or self._declared[0] is not self.schema:  # its file is not read for every row
            self._declared = (self.schema, classes_of(self.schema))
        return self._declared[1]

    @property
    def _multiclass(self) -> bool:
        """What river asks."""
        return len(self._classes) > 2

    # Learning.

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """One round. Raises before anything changes: for other features, values, labels, or beyond the horizon."""
        points, fine = self._point(x)
        self._take(points, code_of(y, self._classes), np.array([fine]))

    def learn_many(self, X: Any, y: Any) -> None:
        """Many rounds in order: the same as one by one.

        Args:
            X: array of shape ``(n, d)`` (fastest as int8), or a data frame.
            y: labels, shape ``(n,)``: as declared; two classes may be 1 against -1 or 0.
        """
        points, fine = self._rows_for(X).many(X)
        self._take(points, codes_of(y, self._classes, len(points)), fine)

    def predict_then_learn(self, X: Any, y: Any) -> npt.NDArray[Any]:
        """Predicts every row, and then learns from it, in order: progressive validation of many rows at once.

        Returns what :meth:`predict_one` says of each row before it is learned from, shape ``(n,)``. Rows and labels are
        those of :meth:`learn_many`.

        Example:
            >>> from tacit.online import Winnow
            >>> learner = Winnow(epsilon=1.0, horizon=100)
            >>> print(learner.predict_then_learn([[1, -1], [-1, 1]], [True, False]), learner.rounds_)
            [False False] 2
        """
        points, fine = self._rows_for(X).many(X)
        places = np.zeros(len(points), np.int64)
        self._take(points, codes_of(y, self._classes, len(points)), fine, places)
        return as_labels(self._classes)[places]

    def _take(
        self, points: npt.NDArray[np.int8], codes: npt.NDArray[Any], fine: Bools, places: Ints | None = None
    ) -> None:
        """Takes rounds in order; ``places`` are filled with those of the classes that are predicted before."""
        self._check_rounds(len(points), codes, fine)
        self._expand(points[:1])  # whatever is wrong with the features shows before anything is spent
        width = self._width(points.shape[1])
        stream = self._open(width)
        labels = np.where(fine, codes, 0).astype(codes.dtype)
        step, start = max(1, MOST_CELLS // width), 0
        while start < len(points):
            if self.rounds_ - self._began == self.period:  # a period begins with its first row
                self.new_period()
            remaining = step if self.period is None else min(step, self.period - (self.rounds_ - self._began))
            part = slice(start, start + remaining)
            rows, round_ = self._expand(points[part]), self.rounds_ - self._began
            self._follow(stream.feed(rows, labels[part]), rows, round_, None if places is None else places[part])
            start += len(rows)
            self.rounds_ += len(rows)

    def _follow(
        self, updates: list[WinnowUpdate], rows: npt.NDArray[np.int8], round_: int, places: Ints | None
    ) -> None:
        """Takes in what was let out for ``rows``, of which the first was this round of the period."""
        assert self.log_ is not None
        start = 0
        for update in [*updates, None]:
            stop = len(rows) if update is None else update.round + 1 - round_
            if places is not None and stop > start:
                marks = Marks(rows.shape[1], len(self._classes))
                places[start:stop] = marks.said(marks.scores(self.log_.weights, rows[start:stop]))
            if update is not None:
                self.log_.end_epoch(update.round, update.weights)
            start = stop

    def _check_rounds(self, n: int, codes: npt.NDArray[Any], fine: Bools) -> None:
        if self.invalid == "error":
            if not fine.all():
                raise readers.RowError(
                    "a row holds values other than -1 and 1: map them, declare a schema, or pass invalid='null' to "
                    "skip such rounds. The stream is as it was."
                )
            if not codes.all():
                raise readers.RowError(
                    f"a label is none of {self._classes}; a round is learned when its label has come"
                )
        if self.rounds_ + n > self.horizon:
            raise ValueError(
                f"the stream was declared for {self.horizon} rounds; {self.rounds_} were taken and {n} more "
                "would be too many. Declare a longer horizon. The stream is as it was"
            )

    def new_period(self) -> None:
        """Begins a period with the next row: all but the released weights in use is forgotten. Costs nothing.

        What is public may decide when, such as a date, and what this stream released. Neither rows nor labels may, nor
        anything that was computed from them elsewhere.

        Raises:
            RequestError: if no ``period`` was declared.
            StreamClosed: if the stream went on elsewhere.
        """
        if self.period is None:
            raise RequestError("declare period, the most rounds of one, for a stream that starts anew")
        if self._closed:
            raise StreamClosed("this stream went on elsewhere, or this is a copy: it has no periods")
        if self._stream is None or self.log_ is None:
            return
        spec = cast(WinnowStream, self._stream.spec)
        spec = replace(spec, released=tuple(self.log_.weights.tolist()))
        self._stream.renew(spec)
        self.log_, self._began = spec.first_log(), self.rounds_

    # Moving the stream.

    def suspend(self, path: str | os.PathLike[str]) -> None:
        """Writes all there is to go on elsewhere, secrets included, and closes the stream here.

        Whoever reads the file can see rows in what was released: keep it as you keep the rows. It is good for one
        continuation. It is no model file; :attr:`log_` holds what is public.

        Raises:
            StreamClosed: if no stream is open.
        """
        if self._stream is None or self.certificate_ is None:
            raise StreamClosed("there is no open stream to suspend")
        content = {
            "parameters": self._public_parameters(),
            "stream": asdict(cast(WinnowStream, self._stream.spec)),
            "names": readers.names_of(self._rows),
            "schema": None if self.schema_ is None else self.schema_.to_dict(),
            "rounds": self.rounds_,
            "began": self._began,
            "files": list(self.files_),
            "certificate": self.certificate_.to_dict(),
            "promise": None if self.promise_ is None else asdict(self.promise_),
            "secrets": self._stream.secrets(),
        }
        write_secrets(path, content)
        self._stream, self._closed = None, True
        warnings.warn(f"{path} holds secrets of the stream: keep it as you keep the rows", stacklevel=2)

    @classmethod
    def resume(cls, path: str | os.PathLike[str]) -> Self:
        """Goes on from the file that :meth:`suspend` wrote.

        It is renamed to ``<path>.used`` before the first row: a second continuation would cost twice.

        Raises:
            ValueError: if it is something else, or damaged.
        """
        try:
            learner = cls._resumed(read_secrets(path))
        except (TypeError, KeyError, AttributeError, IndexError, AssertionError, OverflowError) as error:
            raise ValueError(f"{path} is a damaged stream ({type(error).__name__})") from None
        retire_secrets(path)
        return learner

    @classmethod
    def _resumed(cls, content: dict[str, Any]) -> Self:
        learner = cls(schema=content["schema"], **content["parameters"])
        parameters = {**content["stream"], "neighbouring": learner._request().neighbouring}
        parameters |= {name: tuple(parameters.get(name, ())) for name in ("released", "times")}
        spec = WinnowStream(**parameters)
        certificate = Certificate.from_dict(content["certificate"])
        reservation = Reservation(
            certificate.charges, certificate.neighbouring, "a stream that goes on, paid when it opened"
        )
        with reservation:
            stream = open_row_stream(spec, reservation, learner.seed, cls.__name__)
        stream.restore(content["secrets"])
        names = content["names"]
        facts = (learner.schema, learner.columns, int(learner.bins))
        learner._rows = readers.named_rows(*names) if names else readers.declared_rows(*facts)
        learner._stream, learner.certificate_, learner.rounds_ = stream, certificate, int(content["rounds"])
        learner._began, learner.files_ = int(content.get("began", 0)), tuple(content.get("files", ()))
        learner.promise_ = Promise(**content["promise"]) if content.get("promise") else None
        learner.log_ = WinnowLog.from_dict(content["secrets"]["machine"]["log"])
        return learner

    def _public_parameters(self) -> dict[str, Any]:
        skipped = {"account", "schema"}
        return {name: plain(getattr(self, name)) for name in PARAMETERS if name not in skipped}

    def __getstate__(self) -> dict[str, Any]:
        """What a copy or a pickle holds: public things alone. It predicts, and learns only if nothing was learned."""
        return {**self.__dict__, "_stream": None, "_closed": self._closed or self._stream is not None}

    # The public checks.

    def _request(self) -> Request:
        request = Request.of(self.epsilon, self.delta, self.neighbouring, self.seed)
        check_integer("horizon", self.horizon)
        check_integer("bins", self.bins)
        check_integer("period", self.period, optional=True)
        check_number("carried", self.carried, 0.0, 1.0, with_low=True)
        check_choice("update", self._update, UPDATES)
        check_choice("invalid", self.invalid, ("error", "null"))
        check_number("margin", self.margin, 0.0, 1.0, with_high=True, optional=True)
        if self.carried and self.period is None:
            raise RequestError("carried is what the next period begins with: declare period too")
        check_labels(self._classes)
        if len(self._classes) > 2 and self.update in ("every", "first"):
            raise RequestError(f"update={self.update!r} is for two classes: use update='batch' for more")
        if self.update == "every" and self.margin != 1:
            raise RequestError("update='every' learns a target that is one column: declare margin=1")
        return request

    @property
    def _update(self) -> str:
        """How weights are updated: a rule where nothing was said."""
        if self.update is not None:
            return self.update
        return "timed" if self.epsilon != math.inf else "batch"

    def _rows_for(self, x: Any) -> readers.RowReader:
        """How rows are read; settled by the declaration, or by the names in the first row."""
        if self._rows is None:
            self._request()
            rows = readers.declared_rows(self.schema, self.columns, int(self.bins))
            self._rows = readers.undeclared_rows(x, self.invalid == "null") if rows is None else rows
            self._assumed = readers.names_assumed(self._rows, x)
        return self._rows

    def _width(self, columns: int) -> int:
        return columns + int(self.constant)

    def _expand(self, points: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        if not self.constant:
            return points
        return np.concatenate([points, np.ones((len(points), 1), np.int8)], axis=1)

    def _open(self, dimension: int) -> Stream:
        """The stream, opened by the first row: reserves the whole budget."""
        if self._stream is not None:
            return self._stream
        if self._closed:
            raise StreamClosed("this stream went on elsewhere, or this is a copy: it predicts and cannot learn")
        request = self._request()
        readers.refuse_learning_steps()
        promise = (request.epsilon, request.delta, request.neighbouring)
        rounds = min(int(self.horizon), int(self.period or self.horizon))
        margin = None if self.margin is None else float(self.margin)
        classes, carried, signed = len(self._classes), float(self.carried), bool(self.signed)
        terms = WinnowRequest(
            dimension, signed, self._update, *promise, rounds, margin, classes=classes, carried=carried
        )
        try:
            terms = of_the_smaller_promise(terms) if self.update is None else terms
            mistakes = promise_of(terms)
            spec = replace(schedule_of(terms), periods=self.period is not None, carried=terms.carried)
        except ValueError as error:
            raise RequestError(f"{error}") from None
        charges = [part.charge for part in spec.charges(request.neighbouring)]
        label = type(self).__name__
        with spending():
            with reserve(self.account, request, charges, label, None) as reservation:
                stream = open_row_stream(spec, reservation, request.random_state, Label(Stage.STREAM, label))
            certificate = certified(self.account, request, reservation, stream, label, self.schema_)
            self.certificate_ = certificate.assuming(*self._assumed)
            self._stream, self.promise_ = stream, mistakes
            self.log_ = spec.first_log()
            return stream


PARAMETERS = tuple(signature(Winnow.__init__).parameters)[1:]
"""Of :class:`Winnow`."""
