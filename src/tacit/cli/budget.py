"""`tacit budget`: accounts that several fits share."""

from __future__ import annotations

from typing import Any

from tacit.cli.console import as_json, finite, table


def create(url: str, dataset: str, epsilon: float, delta: float, neighbouring: str, json: bool) -> None:
    """Opens an account."""
    from tacit.privacy.account import PrivacyAccount
    from tacit.privacy.neighbouring import Neighbouring

    try:
        relation = Neighbouring(neighbouring)
    except ValueError:
        known = " or ".join(Neighbouring)
        raise ValueError(f"--neighbouring must be {known}, got {neighbouring!r}") from None
    account = PrivacyAccount.create(url, dataset, epsilon, delta, relation)
    _print(account, f"Opened an account for {dataset}", json)


def show(url: str, dataset: str, json: bool) -> None:
    """Prints what is spent, what remains, and the history."""
    from tacit.privacy.account import PrivacyAccount

    _print(PrivacyAccount(url, dataset), f"The account of {dataset}", json)


def _print(account: Any, title: str, json: bool) -> None:
    from tacit.privacy.accountants import epsilon

    history = account.reservations()
    facts = {
        "dataset": account.dataset,
        "epsilon": finite(account.epsilon),
        "delta": account.delta,
        "neighbouring": str(account.neighbouring),
        "spent": finite(account.spent),
        "remaining": finite(account.remaining),
        "affordable": finite(account.affordable()),
    }
    alone = [epsilon(line.charges, account.delta) for line in history]
    if json:
        lines = [
            {
                "label": line.label,
                "status": line.status,
                "epsilon": finite(cost),
                "created": line.created,
                "closed": line.closed,
            }
            for line, cost in zip(history, alone, strict=True)
        ]
        as_json({**facts, "reservations": lines})
        return
    table(
        title,
        {
            "promise": f"epsilon {account.epsilon:g}, delta {account.delta:g}, {account.neighbouring}",
            "spent": f"epsilon {account.spent:.4g}",
            "remaining": f"epsilon {account.remaining:.4g}",
            "largest next fit": _affordable(account),
            **{
                f"{i}.": f"{line.label}: epsilon {cost:.4g} by itself, {line.status}, {line.created}"
                for i, (line, cost) in enumerate(zip(history, alone, strict=True), start=1)
            },
        },
    )


def _affordable(account: Any) -> str:
    """The largest epsilon that one more fit could have, and why it may exceed what remains."""
    epsilon, remaining = account.affordable(), account.remaining
    if not epsilon > remaining * (1 + 1e-3):
        return f"epsilon {epsilon:.4g}"
    return f"epsilon {epsilon:.4g} (more than what remains, because composed costs are smaller than their sum)"
