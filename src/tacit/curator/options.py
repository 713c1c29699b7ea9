"""What a caller may choose for a stretch of code: whose sampler draws the noise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tacit.errors import UNSPENT
from tacit.noise import NoiseSource, PublicChoices, make_source
from tacit.privacy.ledger import Reservation
from tacit.privacy.progress import OPTIONS, Keeping, Watch, holding


def fresh_key() -> bytes:
    """32 bytes."""
    return make_source(None).words(4).tobytes()


@contextmanager
def options(
    *, noise: str | None = None, progress: Watch | None = None, resumable: bool | str = False, resume: int | None = None
) -> Iterator[None]:
    """Within ``with tacit.options(noise="opendp"):`` noise is drawn by OpenDP's samplers; certificates say so.

    Both samplers have the same exact distributions and the same entropy; OpenDP's take about a hundred times as long.
    The choice holds in the thread (or task) that makes it, and does not go along to worker processes. A seeded fit has
    a sampler of its own.

    Within ``with tacit.options(progress=print):`` fits tell how far they are
    (:class:`tacit.privacy.progress.Step`): nothing private, so no numbers of rows.

    Within ``with tacit.options(resumable=True):`` a fit with an account keeps its releases in the account's store
    before it goes on with them. If its process ends before it does, the same fit within
    ``with tacit.options(resume=number):`` takes them from there, makes the others, and charges nothing
    (:mod:`tacit.privacy.kept_releases`).

    Args:
        noise: ``"tacit"``, the default, or ``"opendp"``; None for what holds already.
        progress: called before every release, in the thread that fits. What it raises ends the fit; the charge stands.
            None for what holds already.
        resumable: whether fits keep their releases; a text is kept with them.
        resume: the number of a fit that goes on, as :meth:`tacit.PrivacyAccount.kept` says it.

    Raises:
        ValueError: for another name, or what cannot be called; nothing was spent.

    Example:
        >>> import tacit
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital(4000)
        >>> with tacit.options(noise="opendp"):
        ...     model = tacit.RandomTreesClassifier(epsilon=1.0, schema=schema).fit(X, y)
        >>> print(model.certificate_.releasable)
        True
    """
    if progress is not None and not callable(progress):
        raise ValueError(f"progress is called with every step, and {progress!r} cannot be. {UNSPENT}")
    changed: dict[str, Any] = {}
    if noise is not None:
        make_source(None, noise)
        changed["sampler"] = noise
    if progress is not None:
        changed["watch"] = progress
    if resume is not None:
        changed["keeping"] = Keeping(identifier=resume)
    elif resumable:
        changed["keeping"] = Keeping(command=resumable if isinstance(resumable, str) else "")
    with holding(replace(OPTIONS.get(), **changed)):
        yield


def choices_under(reservation: Reservation, random_state: int | None) -> PublicChoices:
    """The public choices of a fit; those of one that goes on are made again."""
    seed = reservation.public_seed
    return PublicChoices.of(random_state) if seed is None else PublicChoices(seed)


def chosen_source(random_state: object) -> NoiseSource:
    """The source of noise that ``random_state`` stands for, under the options that hold here."""
    return make_source(random_state, OPTIONS.get().sampler)
