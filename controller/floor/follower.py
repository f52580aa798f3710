"""Follows the floor: subscribes at the broker, hands on the messages, and reconnects when the connection is lost.

    broker ── connection ── follower ─┬─ reports ── Floor
                                      └─ journal ── Stories

It reads and never writes. It starts a clean session with QoS 0: a missed report is renewed within a minute, and
acknowledging each message would cost more than reading it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any, Final, NamedTuple

from controller.floor import BrokerError
from controller.floor.address import Broker
from controller.floor.broker import BrokerConnection, BrokerMessage, connected
from controller.floor.floor_view import LONGEST_REPORT, Floor, UnreadableReportError
from controller.floor.last_hour import LastHour
from controller.floor.stories import Stories
from controller.floor.topics import ROOT, TopicSubject, read_topic, topic_filter

GATHERED: Final = 0.05  # seconds for which messages are gathered
TAKES: Final = 2 * LONGEST_REPORT  # bytes of the largest message; longer ones are not shown
AT_ONCE: Final = 10_000  # messages
LOOKS_EVERY: Final = 5.0  # seconds; changes caused by time alone take minutes
AGAIN: Final = (0.5, 15.0)  # seconds until a reconnect: the first time, and at most
REPORTS: Final = (TopicSubject.TABLE, TopicSubject.DEVICE, TopicSubject.SERVICE)  # the table's own report comes first


class FollowedPart(NamedTuple):
    """The tables that are followed; `+` matches any name. With `stories` their journals are followed too."""

    site: str = "+"
    pit: str = "+"
    table: str = "+"
    stories: bool = True

    def filters(self) -> list[str]:
        subjects = (*REPORTS, TopicSubject.JOURNAL) if self.stories else REPORTS
        return [topic_filter(subject, self.site, self.pit, self.table) for subject in subjects]


class FloorFollower:
    """Follows the floor while `run` runs. `random` gives the client a unique name and spreads reconnects."""

    def __init__(self, broker: Broker, part: FollowedPart, now: Callable[[], int], random: Random, log: Any) -> None:
        self.floor = Floor(now)
        self.hour = LastHour(now)
        self.stories = Stories(self.hour.count)
        self._broker = broker
        self._part = part
        self._random = random
        self._log = log
        self._news = asyncio.Event()
        self._left_out_is_logged = False

    async def news(self) -> None:
        """Return when something has changed."""
        await self._news.wait()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as both:
            both.create_task(self._look())
            both.create_task(self._keep_following())

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOKS_EVERY)
            if self.floor.look():
                self._wake()

    async def _keep_following(self) -> None:
        wait, longest = AGAIN
        while True:
            try:
                await self._follow()
            except BrokerError as error:
                if not self.floor.away:
                    wait = AGAIN[0]
                if self.floor.why != error.code:
                    self._log.warning("floor.away", code=error.code, sentence=str(error), hint=error.hint)
                self.floor.disconnected(error.code)
                self._wake()
            await asyncio.sleep(wait * self._random.uniform(0.5, 1.0))
            wait = min(2 * wait, longest)

    async def _follow(self) -> None:
        """Follow until the connection ends, then raise `BrokerError`."""
        name = f"cardshoe-floor-{self._random.getrandbits(64):016x}"
        async with connected(self._broker, name, gathered=GATHERED, takes=TAKES) as connection:
            await connection.subscribe(*self._part.filters(), qos=0)
            self._log.info("floor.connected", broker=str(self._broker.address))
            self.floor.connected()
            self._wake()
            while True:
                await self._take_all(connection)

    async def _take_all(self, connection: BrokerConnection) -> None:
        """Take every message that has arrived, then let the displays update."""
        changed = self._take(await connection.next())
        for message in connection.waiting(AT_ONCE):
            changed |= self._take(message)
        if changed:
            self._wake()

    def _take(self, message: BrokerMessage) -> bool:
        about = read_topic(message.topic)
        try:
            if about is None:
                raise UnreadableReportError(f"it is not a topic of {ROOT}")
            place, subject = about
            if subject is TopicSubject.JOURNAL:
                return self.stories.take(place, message.payload)
            changed = self.floor.take(place, subject, message)
        except UnreadableReportError as error:
            if self.floor.note_unread(message.topic, str(error)):
                self._log.warning("floor.unread", first=self.floor.unread_first)
            return True
        if self.floor.left_out and not self._left_out_is_logged:
            self._left_out_is_logged = True
            self._log.warning("floor.left_out", tables=len(self.floor.tables))
        return changed

    def _wake(self) -> None:
        self._news.set()
        self._news.clear()
