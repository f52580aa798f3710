"""The events of the journal in the form in which followers get them."""

from __future__ import annotations

from collections.abc import Sequence

from controller.api.feed import CHANGED, Published
from controller.daemon.journal_kinds import check_event
from controller.journal.reader import Decision


def of_decision(decision: Decision) -> list[Published]:
    """Return a decision's events. Raise `msgspec.MsgspecError` or ValueError for one without the fields of its kind."""
    for event in decision.events:
        check_event(event)
    events = decision.events if decision.holds else [event[:-1] + CHANGED for event in decision.events]
    return published(decision.first, decision.utc_ns, decision.round, events)


def published(first: int, utc_ns: int, round_number: int, events: Sequence[bytes]) -> list[Published]:
    """Return the events of one decision, which the journal already holds in the form that anyone may read."""
    head = b',"utc_ns":%d,"round":%d,' % (utc_ns, round_number)
    return [
        Published(number, b'{"entry":%d%s%s' % (number, head, event[1:]))
        for number, event in enumerate(events, first + 1)
    ]
