"""Limits how many records of one table are stored, so that a flooding table does not delay the records of the others.

Records above the limit are acknowledged and dropped, with an alarm that names the table. The broker has one queue for
all tables, so a record that is not taken would delay everything behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from controller.floor.broker import Message
from controller.floor.store.records import LeftOut
from firmware_bridge.allowance import Allowance

AT_ONCE: Final = 5000  # records of one table: about two seconds of the store's time
A_SECOND: Final = 1000  # the rate at which a table may send a backlog
MOST_TOPICS: Final = 20_000  # topics that are remembered; a table has two


class TablePace:
    """The rate limit by topic, since a broker lets a table publish only under its own topics."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._allowances: dict[str, Allowance] = {}  # oldest first

    def admit(self, messages: Sequence[Message], now: float) -> tuple[list[Message], list[LeftOut]]:
        """Return the messages to store at `now` (in seconds), and the number of dropped messages by topic."""
        stored: list[Message] = []
        left_out: Counter[str] = Counter()
        for message in messages:
            if self._allowance(message.topic).take(now):
                stored.append(message)
            else:
                left_out[message.topic] += 1
        return stored, [LeftOut(topic, count) for topic, count in left_out.items()]

    def _allowance(self, topic: str) -> Allowance:
        if topic not in self._allowances:
            if len(self._allowances) >= MOST_TOPICS:
                del self._allowances[next(iter(self._allowances))]
            self._allowances[topic] = Allowance(self._at_once, 1 / A_SECOND)
        return self._allowances[topic]
