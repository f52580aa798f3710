"""Sends the journal to the broker, from the cursor on, and the newest state of the table.

    connect ── wait for a keeper ── repeat unsettled records ── send what follows ── wait for news
       └───────────────────── broker gone, silent or refusing: retry later ──────────────────┘

A record is sent when the previous one has been acknowledged, so that they arrive in order; then the cursor moves. A
broker that is killed loses records that it had acknowledged and not yet written to its disk. So a record is settled
only when the same connection has lasted some minutes after it. After each reconnect all unsettled records are sent
again, and the reader recognises them by their numbers. While no keeper of the journal is subscribed, the journal waits:
a restarted broker may have forgotten the store, and would acknowledge records that only a page receives.

A backlog is sent at a limited rate. The table never waits: the journal is read in a thread over separate connections,
and no failure here ends the daemon.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from controller.floor import BrokerError
from controller.floor.address import Broker
from controller.floor.broker import BrokerConnection, connected
from controller.floor.reporting import Reporting
from controller.floor.topics import TablePlace, TopicSubject
from controller.journal import JournalError
from controller.journal.codec import Clock
from controller.journal.outbox import Cursor, DecisionMade, Outbox, Record, Taken
from controller.journal.sealing import sync_directory
from firmware_bridge.errors import error_fields
from firmware_bridge.messages import AnyText, Message, message

InThread: TypeAlias = Callable[..., Awaitable[Any]]
About: TypeAlias = Sequence[tuple[str, str]]

MINUTE_NS: Final = 60 * 10**9
LATE_AFTER_NS: Final = 10 * MINUTE_NS  # people are warned when nothing was acknowledged for this long
UNREAD_AGAIN: Final = 5.0  # seconds
ASKED_FOR: Final = 60  # seconds for which the broker keeps the question whether there is a keeper
AGAIN: Final = (1.0, 60.0)  # seconds until a reconnect: the first time, and at most
LOOK_EVERY: Final = 0.5  # seconds between checks for a new state
WRITTEN_EVERY: Final = 5.0  # seconds between two writes of the cursor; each costs the journal's disk two flushes
STOPS_WITHIN: Final = 2.0  # seconds for the report that the daemon has stopped
CURSOR_NAME: Final = "floor.cursor"
LONGEST_CURSOR: Final = 2048  # bytes
_NEXT: Final = ".next"


class Sending(NamedTuple):
    """The way in which the journal is sent. `settles` is minutes until a record is settled; 0 means immediately. `rate`
    is in records per second.
    """

    place: TablePlace
    broker: Broker
    settles: int
    rate: int


class Publisher:
    """Sends the journal while `run` runs. `news` returns when the journal has more. `random` spreads the reconnects of
    many tables.
    """

    def __init__(
        self,
        sending: Sending,
        folder: Path,
        cursor_file: Path,
        reporting: Reporting,
        news: Callable[[], Awaitable[None]],
        clock: Clock,
        random: Random,
        log: Any,
    ) -> None:
        self.is_connected = False
        self._sending = sending
        self._outbox = Outbox(folder)
        self._cursor_file = cursor_file
        self._reporting = reporting
        self._wait_for_news = news
        self._clock = clock
        self._random = random
        self._log = log
        self._news = asyncio.Event()
        self._is_read = False  # whether the file with the cursor was read
        self._acknowledged: Cursor | None = None
        self._settled: Cursor | None = None
        self._written: SentUpTo | None = None
        self._written_at = -WRITTEN_EVERY  # seconds on the loop's clock
        self._mark: Cursor | None = None  # acknowledged at `_marked_ns`, not yet settled
        self._marked_ns = 0
        self._repeats = False  # whether the records now being sent were acknowledged before
        self._good_ns = clock.now().boottime_ns  # when a record was last acknowledged or nothing was left to send
        self._why: AnyText = ""
        self._cursor_fails = False

    @property
    def sent_up_to(self) -> int:
        """Return the entry up to which the broker has acknowledged the journal."""
        return self._acknowledged.number if self._acknowledged is not None else 0

    @property
    def warning(self) -> Message | None:
        """Return a warning for people, or None if the broker has the journal or received part of it in the last ten
        minutes.
        """
        late = self._clock.now().boottime_ns - self._good_ns
        if late < LATE_AFTER_NS or not self._why:
            return None
        return message(
            "The floor has received nothing from this table for {minutes} minutes: {why}.",
            minutes=late // MINUTE_NS,
            why=self._why,
        )

    async def run(self) -> None:
        with ThreadPoolExecutor(1, "floor") as thread:
            await self.work(partial(asyncio.get_running_loop().run_in_executor, thread))

    async def work(self, in_thread: InThread) -> None:
        """Run the publisher. `in_thread` runs calls that wait for the disk."""
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._hear_news())
                both.create_task(self._keep_sending(in_thread))
        finally:
            self._written_at = -WRITTEN_EVERY
            await self._write_cursor(in_thread)

    async def _hear_news(self) -> None:
        while True:
            await self._wait_for_news()
            self._news.set()

    async def _keep_sending(self, in_thread: InThread) -> None:
        first, longest = AGAIN
        wait = 0.0
        while True:
            good = self._good_ns
            try:
                await self._connect(in_thread)
            except (BrokerError, JournalError) as error:
                self._fail(error)
            except Exception as error:  # the table continues without its floor
                self._log.error("floor.failed", **error_fields(error))
                self._why = message("The publisher failed. See the log of the daemon.")
            finally:
                self.is_connected = False
            wait = min(2 * wait, longest) if wait and self._good_ns == good else first
            await asyncio.sleep(wait * self._random.uniform(0.5, 1.0))

    def _fail(self, error: BrokerError | JournalError) -> None:
        """Log a failure once, until a different failure occurs."""
        if error.message != self._why:
            self._log.warning("floor.away", code=error.code, sentence=str(error), hint=str(error.hint))
        self._why = error.message

    async def _connect(self, in_thread: InThread) -> None:
        """Connect and send until the connection ends. Raise `BrokerError` or `JournalError`."""
        place, broker, *_ = self._sending
        name = "-".join(("cardshoe", *place))
        async with connected(broker, name, will=self._reporting.will) as connection:
            self.is_connected = True
            try:
                self._reporting.begin()
                await self._reporting.send_service(connection, "running")
                cursor = await self._find_cursor(in_thread)
                self._log.info("floor.connected", broker=str(broker.address), sent_up_to=self.sent_up_to)
                await self._send(connection, cursor, in_thread)
            except asyncio.CancelledError:
                with suppress(BrokerError, TimeoutError):
                    async with asyncio.timeout(STOPS_WITHIN):
                        await self._reporting.send_service(connection, "stopped")
                raise

    async def _find_cursor(self, in_thread: InThread) -> Cursor | None:
        """Return the cursor from which to send, or None for the journal's beginning. Raise `JournalError`."""
        if not self._is_read:
            await self._read_cursor(in_thread)
        if self._acknowledged is not None and not await in_thread(self._outbox.holds, self._acknowledged):
            self._log.warning("floor.cursor_foreign", sent_up_to=self.sent_up_to)
            self._acknowledged = self._settled = None
        cursor = self._settled if self._sending.settles else self._acknowledged
        self._mark, self._marked_ns = cursor, self._clock.now().boottime_ns
        self._repeats = self._acknowledged is not None and cursor != self._acknowledged
        return cursor

    async def _send(self, connection: BrokerConnection, cursor: Cursor | None, in_thread: InThread) -> None:
        """Send the records after that cursor as they are written."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        await self._until_read(connection, TopicSubject.KEEPER, b"{}", expiry=ASKED_FOR)
        while True:
            self._news.clear()
            await self._reporting.send_state(connection)
            page: list[Taken] = await in_thread(self._outbox.after, cursor)
            for taken in page:
                await self._send_record(connection, taken.record)
                cursor = taken.cursor
                self._note(cursor)
                due = max(due, loop.time() - 1.0) + 1.0 / self._sending.rate  # a burst of one second's worth at most
                if (ahead := due - loop.time()) > 0:
                    await asyncio.sleep(ahead)
            self._settle(cursor)
            await self._write_cursor(in_thread)
            if not page:
                self._note_whole()
                await self._something_new(connection)

    async def _send_record(self, connection: BrokerConnection, record: Record) -> None:
        await self._until_read(connection, TopicSubject.JOURNAL, msgspec.json.encode(record), about_record(record))

    async def _until_read(
        self, connection: BrokerConnection, subject: TopicSubject, payload: bytes, about: About = (), expiry: int = 0
    ) -> None:
        """Publish until a subscriber receives the message."""
        topic = self._sending.place.topic(subject)
        while True:
            try:
                await connection.publish(topic, payload, about, expiry=expiry)
                return
            except BrokerError as error:
                if error.code != "floor-unread":
                    raise
                self._fail(error)
            await self._reporting.send_state(connection)
            await asyncio.sleep(UNREAD_AGAIN)

    async def _something_new(self, connection: BrokerConnection) -> None:
        """Wait for news, for a state that is to be sent, or for the end of the connection, which is raised."""
        news: asyncio.Future[Any] = asyncio.ensure_future(self._news.wait())
        try:
            while not news.done() and not self._reporting.is_due:
                one = {news, connection.ended}
                await asyncio.wait(one, timeout=LOOK_EVERY, return_when=asyncio.FIRST_COMPLETED)
                connection.check()
        finally:
            news.cancel()

    # -- the cursor

    def _note(self, cursor: Cursor) -> None:
        """Note that the record before that cursor was acknowledged."""
        known = self._acknowledged
        if self._repeats and known is not None and cursor.number <= known.number:
            self._repeats = cursor != known
            return
        self._repeats, self._acknowledged = False, cursor
        self._good_ns = self._clock.now().boottime_ns

    def _note_whole(self) -> None:
        """Note that the broker has every record."""
        self._good_ns = self._clock.now().boottime_ns
        if self._why:
            self._log.info("floor.whole", entry=self.sent_up_to)
        self._why = ""

    def _settle(self, cursor: Cursor | None) -> None:
        """Note that every record before `cursor` is settled, or was acknowledged over this connection."""
        now = self._clock.now().boottime_ns
        if now - self._marked_ns >= self._sending.settles * MINUTE_NS:
            self._settled, self._mark, self._marked_ns = self._mark, cursor, now

    async def _read_cursor(self, in_thread: InThread) -> None:
        try:
            found: SentUpTo | None = await in_thread(read_cursor, self._cursor_file)
        except OSError as error:
            self._fail_cursor("read", error)
            found = None
        self._is_read = True
        if found is not None:
            self._written, self._acknowledged, self._settled = found, found.acknowledged, found.settled

    async def _write_cursor(self, in_thread: InThread) -> None:
        """Write the cursor from time to time. If that fails, more records are sent again later, and nothing is lost."""
        now = asyncio.get_running_loop().time()
        if self._acknowledged is None or now - self._written_at < WRITTEN_EVERY:
            return
        sent = SentUpTo(self._acknowledged, self._settled)
        if sent == self._written:
            return
        self._written_at = now
        try:
            await in_thread(write_cursor, self._cursor_file, sent)
            self._written, self._cursor_fails = sent, False
        except OSError as error:
            self._fail_cursor("written", error)

    def _fail_cursor(self, what: str, error: OSError) -> None:
        if not self._cursor_fails:
            self._log.warning("floor.cursor_fails", file=str(self._cursor_file), what=what, error=error.strerror)
        self._cursor_fails = True


def about_record(record: Record) -> About:
    """Return the properties that identify a record without reading it: the journal, the entries, the hash."""
    number = f"{record.first}-{record.last}" if isinstance(record, DecisionMade) else str(record.number)
    kind = str(record.__struct_config__.tag)
    return [("record", kind), ("journal", record.journal), ("entries", number), ("hash", record.hash)]


class SentUpTo(msgspec.Struct, frozen=True):
    """How far the journal has been sent, in a small file beside it. The broker has acknowledged everything before
    `acknowledged`, and has had time to write everything before `settled` to its disk. None: nothing.

    If the file is lost or cannot be read, the journal is sent again from its beginning, under the same numbers: nothing
    else is lost.
    """

    acknowledged: Cursor
    settled: Cursor | None


def read_cursor(path: Path) -> SentUpTo | None:
    """Return the cursors, or None if the file is missing or its content is invalid. Raise OSError
    if it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(LONGEST_CURSOR), type=SentUpTo)
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def write_cursor(path: Path, sent: SentUpTo) -> None:
    """Replace the file durably, since sending relies on it. Raise OSError; the previous file is then still in place."""
    beside = path.with_name(path.name + _NEXT)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.write(descriptor, msgspec.json.encode(sent))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    beside.replace(path)
    sync_directory(path.parent)
