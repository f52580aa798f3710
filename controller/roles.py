"""Ranks of people at the tables."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from controller.messages import Message


class Role(StrEnum):
    """Ranks of people at the tables, lowest first."""

    DEALER = "dealer"
    PIT_SUPERVISOR = "pit_supervisor"
    PIT_MANAGER = "pit_manager"
    SHIFT_MANAGER = "shift_manager"

    def reaches(self, needed: Role) -> bool:
        """Whether a person of this rank may do what needs `needed` "or above" (RTP 6.2; NC 1.10 for acting persons).

        >>> Role.PIT_MANAGER.reaches(Role.PIT_SUPERVISOR), Role.DEALER.reaches(Role.PIT_SUPERVISOR)
        (True, False)
        """
        return _RANKS[self] >= _RANKS[needed]

    @property
    def word(self) -> str:
        return self.value.replace("_", " ")

    @property
    def named(self) -> Message:
        return Message(self.word)


_RANKS: Final = {role: rank for rank, role in enumerate(Role)}
