"""How many records of one table are stored: a table's certificate that floods keeps no other table's records waiting.

What is beyond that is acknowledged and left out, with an alarm that names the table. The broker keeps one line for all,
so what is not taken would keep everything behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from controller.floor.broker import Message
from controller.floor.store.records import LeftOut
from firmware_bridge.allowance import Allowance

AT_ONCE: Final = 5000  # records of one table: some two seconds of the store's time
A_SECOND: Final = 1000  # as many as a table may send of a backlog
MOST_TOPICS: Final = 20_000  # that are remembered; a table has two


class TablePace:
    """By topic: a broker lets a table write its own alone."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._allowances: dict[str, Allowance] = {}  # the oldest first

    def admit(self, messages: Sequence[Message], now: float) -> tuple[list[Message], list[LeftOut]]:
        """Return those that are stored, at `now` in seconds, and by topic how many are not."""
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
