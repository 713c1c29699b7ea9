"""Paying for work, a fit or not: the same reservation, the same refusals, the same certificate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tacit.privacy.account import PrivacyAccount
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.privacy.ledger import Reservation
from tacit.privacy.progress import OPTIONS
from tacit.privacy.promised_budget import EphemeralAccount
from tacit.privacy.request import Request, RequestError
from tacit.schema import Schema, Unit


def check_account(account: object) -> None:
    """Raises :class:`RequestError` for what is no account, such as the URL of one."""
    if account is not None and not isinstance(account, PrivacyAccount):
        raise RequestError(
            f"account must be a PrivacyAccount, got {account!r}: give PrivacyAccount(url, dataset), made before by "
            "PrivacyAccount.create"
        )


def reserve(
    account: PrivacyAccount | None,
    request: Request,
    charges: Sequence[Charge],
    label: str,
    unit: Unit | None,
    *,
    timeless: bool = False,
) -> Reservation:
    """Reserves a whole planned charge before a row is read; without an account, from a budget of the request alone.

    ``unit``: who is protected; None for a row. ``timeless``: whether the account's history is not to say when it ended.

    Raises:
        RequestError: if it is no account, or releases were to be kept.
        AccountError: if it is about another neighbouring relation, or protects another unit.
        BudgetExceeded: if the account cannot pay; nothing was read.
    """
    check_account(account)
    if OPTIONS.get().keeping is not None:
        raise RequestError(f"{label!r} cannot go on after its process has ended: a fit to a table or a source can")
    if account is None:
        return EphemeralAccount(request.epsilon, request.delta, request.neighbouring).reserve(charges, label, unit=unit)
    return account.reserve(charges, label, request.neighbouring, unit, timeless=timeless)


class NoiseInfo(Protocol):
    """What a certificate says of where noise came from: private rows, a stream or a search."""

    @property
    def noise_name(self) -> str:
        """Where noise comes from."""

    @property
    def releasable(self) -> bool:
        """Whether what this noise touches may be released."""


def certified(
    account: PrivacyAccount | None,
    request: Request,
    reservation: Reservation,
    noisy: NoiseInfo,
    algorithm: str,
    schema: Schema | None = None,
    unverified: bool = False,
) -> Certificate:
    """The certificate of work that :func:`reserve` paid for, once its reservation is closed.

    ``noisy`` says where noise came from; ``unverified``: whether a foreign learner with an unverified claim saw rows.
    """
    return Certificate.of(
        reservation,
        epsilon=request.epsilon,
        delta=request.delta,
        noise_source=noisy.noise_name,
        noise_releasable=noisy.releasable,
        algorithm=algorithm,
        schema=schema,
        account=account,
        unverified=unverified,
    )


def check_declared(declared: Sequence[Charge], certificate: Certificate) -> None:
    """Raises :class:`BudgetExceeded` for a fit that charged more than it had declared, which is a fault."""
    within = Reservation(declared, certificate.neighbouring, "what was declared")
    for charge in certificate.charges:
        within.record(charge, Label(Stage.FIT, text="what was charged"), "")
