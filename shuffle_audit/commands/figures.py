"""Formats figures for people."""

from __future__ import annotations

from math import floor

from shuffle_audit.procedures import below, one_in

BILLIONTH = 1e-9


def small(chance: float) -> str:
    """Format a chance for people, in as few digits as can be read.

    >>> small(0.01234), small(3.14e-8), small(0.0)
    ('0.012', 'below one in a million', 'below one in a billion')
    """
    words = below(chance)
    return f"below {words}" if words else f"{chance:.2g}"


def chance(share: float) -> str:
    """Format a chance as a person says it, however small.

    >>> chance(3.14e-12), chance(0.000123)
    ('less than one in a billion', 'one in 8,100')
    """
    if share < BILLIONTH:
        return "less than one in a billion"
    return one_in(share)


def units(log10: float) -> str:
    """Format a sum of money, given its decimal logarithm.

    >>> units(0.0), units(2.5), units(400.3)
    ('1.00 units', '316.23 units', 'more than a billion units')
    """
    return f"{power_of_ten(log10, 2)} units"


def power_of_ten(log10: float, digits: int = 0) -> str:
    """Format a number of 1 or more, given its decimal logarithm.

    >>> power_of_ten(1.3), power_of_ten(400.3)
    ('20', 'more than a billion')
    """
    if log10 >= 9:
        return "more than a billion"
    return f"{10**log10:,.{digits if log10 < 6 else 0}f}"


def times(log10: float) -> str:
    """Format a likelihood ratio, given its decimal logarithm.

    >>> times(2.0), times(-400.3), times(0.0)
    ('100 times as likely', 'more than a billion times less likely', 'as likely')
    """
    number = power_of_ten(abs(log10), 0 if abs(log10) > 1 else 1)
    if number == "1.0":
        return "as likely"
    return f"{number} times {'as' if log10 > 0 else 'less'} likely"


def percent(share: float) -> str:
    """Format a share, never rounded up to 100 %.

    >>> percent(1.0), percent(0.9996), percent(0.123)
    ('100 %', '99.9 %', '12.3 %')
    """
    return f"{floor(share * 1000 + 1e-9) / 10:g} %"


def of_stake(part: float) -> str:
    """Format a part of a stake, with its sign.

    >>> of_stake(-0.0312), of_stake(0.5)
    ('-3.12 %', '+50.00 %')
    """
    return f"{part * 100:+.2f} %"
