"""Events of the journal as followers are given them."""

from __future__ import annotations

from collections.abc import Sequence

from controller.api.feed import CHANGED, Published
from controller.daemon.journal_kinds import check_event
from controller.journal.reader import Decision


def of_decision(decision: Decision) -> list[Published]:
    """Raises `msgspec.MsgspecError` or ValueError for an event without the fields of its kind."""
    for event in decision.events:
        check_event(event)
    events = decision.events if decision.holds else [event[:-1] + CHANGED for event in decision.events]
    return published(decision.first, decision.utc_ns, decision.round, events)


def published(first: int, utc_ns: int, round_number: int, events: Sequence[bytes]) -> list[Published]:
    """Those of one decision; they stand in the journal as anyone may read them."""
    head = b',"utc_ns":%d,"round":%d,' % (utc_ns, round_number)
    return [
        Published(number, b'{"entry":%d%s%s' % (number, head, event[1:]))
        for number, event in enumerate(events, first + 1)
    ]
