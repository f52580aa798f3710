"""The reasons why a table's daemon cannot decide or record anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from controller.journal.pinning import Doubt
from controller.roles import Role
from controller.table.inputs import AnyInput, DaemonStarted, DamageFound
from firmware_bridge.messages import AnyText, Message, message, sentences


class Fault(NamedTuple):
    """The reason why nothing can be decided or recorded."""

    code: str
    sentence: AnyText
    hint: AnyText
    returned_by: Role = Role.PIT_SUPERVISOR  # or a person of a higher rank

    @property
    def with_hint(self) -> Message:
        """Return the fault with what to do next."""
        return message("{parts:sentences}", parts=(self.sentence, self.hint))


NO_ROOM: Final = Fault(
    "journal-full",
    message("The disk with the journal has no room left for another round."),
    message("Make room on that disk, then return the table to service."),
)


def fault_of(doubts: Sequence[Doubt]) -> Fault:
    """Return all that a start found in doubt as one fault: the highest rank among them returns the table."""
    first = next((doubt for doubt in doubts if doubt.of_shift), doubts[0])
    returned_by = Role.SHIFT_MANAGER if first.of_shift else Role.PIT_SUPERVISOR
    return Fault(first.code, sentences(*(doubt.sentence for doubt in doubts)), first.hint, returned_by)


def inputs_of(started: DaemonStarted, doubts: Sequence[Doubt]) -> list[AnyInput]:
    """Return the inputs of a start with its doubts."""
    for doubt in doubts[:1]:
        started = msgspec.structs.replace(
            started, doubt=doubt.code, doubt_sentence=doubt.sentence, doubt_keys=doubt.keys
        )
    return [started, *(DamageFound(doubt.code, doubt.sentence, doubt.keys) for doubt in doubts[1:])]
