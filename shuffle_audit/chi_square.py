"""The upper tail of the chi-square distribution, the approximation that regulators' tests use.

Below the mean it is computed by the series of the incomplete gamma function, above by its continued fraction
(Abramowitz and Stegun 6.5.29 and 6.5.31, the latter by Lentz's method).
"""

from __future__ import annotations

from math import exp, lgamma, log
from typing import Final

_ENOUGH: Final = 1e-15
_TINY: Final = 1e-300


def upper_tail(value: float, freedom: float) -> float:
    """Return the chance of this value or a larger one, with `freedom` degrees of freedom.

    >>> round(upper_tail(3.841459, 1), 6), round(upper_tail(2720.76, 2601), 4)
    (0.05, 0.05)
    """
    if value <= 0:
        return 1.0
    half, at = freedom / 2, value / 2
    front = exp(half * log(at) - at - lgamma(half))
    return 1 - front * _series(half, at) if at < half + 1 else front * _fraction(half, at)


def _series(half: float, at: float) -> float:
    term = total = 1 / half
    number = half
    while term > total * _ENOUGH:
        number += 1
        term *= at / number
        total += term
    return total


def _fraction(half: float, at: float) -> float:
    below = at + 1 - half
    ahead, behind = 1 / _TINY, 1 / below
    found, step, number = behind, 0.0, 0
    while abs(step - 1) > _ENOUGH:
        number += 1
        factor = -number * (number - half)
        below += 2
        behind = 1 / (factor * behind + below or _TINY)
        ahead = below + factor / ahead or _TINY
        step = ahead * behind
        found *= step
    return found
