"""Measurements of a device on the bench."""

from __future__ import annotations

import msgspec


class Measurement(msgspec.Struct, frozen=True):
    """A value measured on a device, which is good up to `limit`."""

    name: str
    value: float
    unit: str
    limit: float

    @property
    def within(self) -> bool:
        return self.value <= self.limit

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.name}: {self.value:.3g}{unit}, at most {self.limit:g}{unit}"
