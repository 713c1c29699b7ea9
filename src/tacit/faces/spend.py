"""Paying for work that is no fit: the same reservation, the same refusals."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.faces.request import Request, RequestError
from tacit.privacy.account import EphemeralAccount, PrivacyAccount
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import Reservation


def reserve(account: PrivacyAccount | None, request: Request, charges: Sequence[Charge], label: str) -> Reservation:
    """Reserves a whole planned charge before a row is read; without an account, from a budget of the request alone.

    Raises:
        RequestError: if the account is about another neighbouring relation.
        BudgetExceeded: if the account cannot pay; nothing was read.
    """
    if account is None:
        return EphemeralAccount(request.epsilon, request.delta, request.neighbouring).reserve(charges, label)
    if account.neighbouring is not request.neighbouring:
        raise RequestError(
            f"the account is about {account.neighbouring}, and the request about {request.neighbouring}: "
            "one ledger has one relation"
        )
    return account.reserve(charges, label)
