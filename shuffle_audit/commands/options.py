"""Options that the commands share."""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

import click


class _Share(click.FloatRange):
    """A number in a range. `nan` is in no range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = float(super().convert(value, param, ctx))
        if not isfinite(found):
            self.fail(f"{value} is not a number.", param, ctx)
        return found


LEVEL: Final = _Share(1e-12, 0.5)
"""The chance of a false alarm."""
POWER: Final = _Share(0.01, 0.999)
"""How often a bad shuffle must be found."""
