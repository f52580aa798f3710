"""The time at which each open irregularity was noticed: that of the entry that raised it."""

from __future__ import annotations

import msgspec

from controller.api.feed import Published
from controller.journal.pages import Pages
from controller.table.decision import Decided
from controller.table.events import IrregularityRaised
from controller.table.state import TableState


class NoticedTimes:
    """The times. `by_id` holds nanoseconds since 1970, by the irregularity's id."""

    def __init__(self) -> None:
        self.by_id: dict[int, int] = {}

    def note(self, utc_ns: int, numbers: tuple[int, ...], decided: Decided) -> None:
        """Note a decision made at that time, with the numbers of its events, and forget irregularities that are no
        longer open.
        """
        for number, event in zip(numbers, decided.events, strict=True):
            if isinstance(event, IrregularityRaised):
                self.by_id[number] = utc_ns
        still_open = {found.id for found in decided.state.open}
        self.by_id = {number: at for number, at in self.by_id.items() if number in still_open}

    async def recall(self, state: TableState, old: Pages[Published]) -> None:
        """Read the times of irregularities that were open before the start. Raise `JournalError`."""
        for found in state.open:
            if found.id not in self.by_id:
                for event in await old.page(found.id - 1, found.id):
                    if event.entry == found.id:
                        self.by_id[found.id] = msgspec.json.decode(event.payload)["utc_ns"]
