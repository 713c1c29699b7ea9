"""The running total of an account as a store keeps it: what a reservation is decided on, in one line.

Every reservation is written with the total that it makes, so that the next one reads that line and not the history.
The total costs what the history costs, bit by bit, as long as an account has at most :data:`MOST_VALUES` different
costs; beyond, small numbers are rounded up, and it costs a little more, never less (``docs/theory/running_totals.md``).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tacit.privacy.charges import ApproxDP, Charge, PrivacyLoss, Renyi, charge_from_dict
from tacit.privacy.composition import Sums, exact_sum
from tacit.privacy.errors import AccountError

MOST_VALUES = 256
"""Different costs that a total tells apart exactly; accountants compose no more than so many on a grid either."""

DIGITS = 8
"""Binary digits of a cost where there are more than that: at most 128 in every doubling, at most 1/128 too large."""


def rounded_up(value: float) -> float:
    """The smallest number of :data:`DIGITS` binary digits that is not below ``value >= 0``."""
    if value == 0 or not math.isfinite(value):
        return value
    mantissa, power = math.frexp(value)
    return math.ldexp(math.ceil(math.ldexp(mantissa, DIGITS)), power - DIGITS)


def bounded(total: Sums) -> Sums:
    """A total of few different costs that is at least as expensive: larger ones in place of many different ones."""
    if len(total.pure) + len(total.ranges) + len(total.approx) <= MOST_VALUES:
        return total
    larger = total.plus(())
    larger.pure, larger.ranges, larger.approx = Counter(), Counter(), Counter()
    for epsilon, times in total.pure.items():
        larger.pure[rounded_up(epsilon)] += times
    for span, times in total.ranges.items():
        larger.ranges[rounded_up(span)] += times
    for charge, times in total.approx.items():
        larger.approx[ApproxDP(rounded_up(charge.epsilon), min(rounded_up(charge.delta), 1 - 2.0**-53))] += times
    return larger


def digest(curve: Charge) -> str:
    """What a curve is called in a total: curves are long, and are kept once."""
    return hashlib.sha256(json.dumps(curve.to_dict(), sort_keys=True).encode()).hexdigest()


def curves_of(total: Sums) -> list[Renyi | PrivacyLoss]:
    """The curves that a total refers to."""
    return [*total.renyi, *total.losses]


def write_total(total: Sums) -> str:
    """A total as text; its curves are named by their digests."""
    few = bounded(total)
    return json.dumps(
        {
            "unlimited": few.unlimited,
            "precisions": exact_sum(few.precisions),
            "rhos": exact_sum(few.rhos),
            "pure": list(few.pure.items()),
            "ranges": list(few.ranges.items()),
            "approx": [[charge.epsilon, charge.delta, times] for charge, times in few.approx.items()],
            "curves": [[digest(curve), times] for curve, times in (*few.renyi.items(), *few.losses.items())],
        }
    )


def read_total(text: Any, curves: Callable[[Iterable[str]], Mapping[str, Any]]) -> Sums:
    """The inverse; ``curves`` gives the texts of curves by their digests.

    Raises:
        AccountError: if it is no total: what was spent is then unknown, and nothing can be paid.
    """
    total = Sums()
    try:
        data = json.loads(text)
        total.unlimited = data["unlimited"] is not False
        total.precisions, total.rhos = _costs(data["precisions"]), _costs(data["rhos"])
        total.pure.update({_cost(value): _times(times) for value, times in data["pure"]})
        total.ranges.update({_cost(value): _times(times) for value, times in data["ranges"]})
        total.approx.update({ApproxDP(epsilon, delta): _times(times) for epsilon, delta, times in data["approx"]})
        texts = curves([name for name, _ in data["curves"]]) if data["curves"] else {}
        for name, times in data["curves"]:
            total.add(_curve(name, texts[name]), _times(times))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise AccountError(f"the budget store is damaged: its total cannot be read ({reason:.100})") from None
    return total


def _curve(name: str, text: str) -> Charge:
    curve = charge_from_dict(json.loads(text))
    if digest(curve) != name:
        raise ValueError("a curve is not what it is called")
    return curve


def _costs(values: Any) -> list[float]:
    """Floats that add up to a cost: each may be negative, their sum is not."""
    found = [float(value) for value in values]
    if not all(map(math.isfinite, found)) or math.fsum(found) < 0:
        raise ValueError("costs that are none")
    return found


def _cost(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ValueError("a cost that is none")
    return float(value)


def _times(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("a number of uses that is none")
    return value
