"""Ranks of people at the tables."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from firmware_bridge.messages import Message, message


class Role(StrEnum):
    """Ranks of people at the tables, lowest first."""

    DEALER = "dealer"
    PIT_SUPERVISOR = "pit_supervisor"
    PIT_MANAGER = "pit_manager"
    SHIFT_MANAGER = "shift_manager"

    def reaches(self, needed: Role) -> bool:
        """Return whether this rank may do what needs `needed` "or above" (RTP 6.2; NC 1.10 for acting persons).

        >>> Role.PIT_MANAGER.reaches(Role.PIT_SUPERVISOR), Role.DEALER.reaches(Role.PIT_SUPERVISOR)
        (True, False)
        """
        return _RANKS[self] >= _RANKS[needed]

    @property
    def word(self) -> str:
        return self.value.replace("_", " ")

    @property
    def named(self) -> Message:
        return _NAMES[self]


_NAMES: Final = {
    Role.DEALER: message("dealer"),
    Role.PIT_SUPERVISOR: message("pit supervisor"),
    Role.PIT_MANAGER: message("pit manager"),
    Role.SHIFT_MANAGER: message("shift manager"),
}
_RANKS: Final = {role: rank for rank, role in enumerate(Role)}
