"""Sends the journal to the broker, from where it was sent to, and the newest state of the table.

    connect ── repeat the last minutes ── send what follows ── wait for news
       └──────────── broker gone, silent or refusing: later again ─────┘

A record is sent when the one before was acknowledged, so that they arrive in order; the cursor moves then. A broker
that was killed may have lost what it had acknowledged: after each new connection the last minutes are sent again, and
who reads knows them by their numbers. While the broker has nobody who reads the journal, the journal waits.

A backlog is sent at a bounded rate. The table never waits: the journal is read in a thread, over connections of its
own, and nothing that fails here ends the daemon.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from controller.api.view import TableView
from controller.floor.broker import Broker, BrokerError, Connection, Will, connected
from controller.floor.cursor_file import read_cursor, write_cursor
from controller.floor.table_report import DeviceReport, ServiceReport, TableReport, device_report, table_report
from controller.floor.topics import Subject, TablePlace
from controller.journal import JournalError
from controller.journal.codec import Clock
from controller.journal.outbox import Cursor, DecisionMade, Outbox, Record, Taken

T = TypeVar("T")

LATE_AFTER_NS: Final = 600 * 10**9  # what is not sent for so long is an alarm
LOST_AFTER: Final = 15  # seconds without a connection, then the broker says that the daemon is gone
KEPT_FOR: Final = 86_400  # seconds for which the broker keeps a state that is not renewed
RENEWED_EVERY: Final = 60.0  # seconds, where nothing has changed
LEAST_BETWEEN: Final = 0.5  # seconds between two states
UNREAD_AGAIN: Final = 5.0  # seconds
AGAIN: Final = (1.0, 60.0)  # seconds until a new connection: the first time, and at most
STOPS_WITHIN: Final = 2.0  # seconds to say that it was stopped
MINUTE_NS: Final = 60 * 10**9


class Sending(NamedTuple):
    """How it is sent. `repeated`: minutes before the cursor, after each new connection. `rate`: records a second."""

    place: TablePlace
    broker: Broker
    repeated: int
    rate: int


class ReportedTable(NamedTuple):
    """What is needed of the running table. `names`: of people, by id. `news`: returns when something was published."""

    view: Callable[[], TableView]
    names: Callable[[], Mapping[str, str]]
    news: Callable[[], Awaitable[None]]


class Publisher:
    """`run` works until cancelled. `random`: spreads the new connections of many tables."""

    def __init__(
        self,
        sending: Sending,
        folder: Path,
        cursor_file: Path,
        table: ReportedTable,
        clock: Clock,
        random: Random,
        version: str,
        log: Any,
    ) -> None:
        self.is_connected = False
        self.sent = 0  # records, and such that were sent again
        self.repeated = 0
        self._sending = sending
        self._outbox = Outbox(folder)
        self._cursor_file = cursor_file
        self._table = table
        self._clock = clock
        self._random = random
        self._log = log
        self._running = ServiceReport("running", clock.now().utc_ns, version)
        self._cursor: Cursor | None = None  # up to where it was sent once
        self._repeats = False  # what is sent lies before the cursor
        self._reported: dict[Subject, msgspec.Struct] = {}
        self._reported_at = -RENEWED_EVERY  # of the loop's clock
        self._phase = ("", 0)  # the last one, and since when
        self._whole_ns = clock.now().boottime_ns  # when nothing was left to be sent
        self._why = ""
        self._news = asyncio.Event()

    @property
    def sent_up_to(self) -> int:
        """The entry up to which the broker has the journal."""
        return self._cursor.number if self._cursor is not None else 0

    @property
    def warning(self) -> str:
        """For people; empty: the broker has the journal, or had it less than ten minutes ago."""
        late = self._clock.now().boottime_ns - self._whole_ns
        if late < LATE_AFTER_NS or not self._why:
            return ""
        return f"The floor has had nothing of this table for {late // MINUTE_NS} minutes: {self._why}"

    async def run(self) -> None:
        with ThreadPoolExecutor(1, "floor") as thread:
            in_thread = partial(asyncio.get_running_loop().run_in_executor, thread)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._hear_news())
                both.create_task(self._keep_sending(in_thread))

    async def _hear_news(self) -> None:
        while True:
            await self._table.news()
            self._news.set()

    async def _keep_sending(self, in_thread: Callable[..., Awaitable[Any]]) -> None:
        wait, longest = AGAIN
        while True:
            began = self.sent
            try:
                if self._cursor is None:
                    self._cursor = await in_thread(read_cursor, self._cursor_file)
                await self._connect(in_thread)
            except (BrokerError, JournalError) as error:
                self._fail(error.code, str(error), error.hint)
            except OSError as error:
                self._fail("floor-cursor", f"{self._cursor_file} cannot be used: {error.strerror}.", "Check its disk.")
            finally:
                self.is_connected = False
            wait = AGAIN[0] if self.sent > began else min(2 * wait, longest)
            await asyncio.sleep(wait * self._random.uniform(0.5, 1.0))

    def _fail(self, code: str, sentence: str, hint: str) -> None:
        """In the log once, as long as it is the same."""
        if sentence != self._why:
            self._log.warning("floor.away", code=code, sentence=sentence, hint=hint)
        self._why = sentence

    async def _connect(self, in_thread: Callable[..., Awaitable[Any]]) -> None:
        """Until the connection ends. Raises `BrokerError`, `JournalError` or OSError."""
        place, broker, repeated, _ = self._sending
        gone = msgspec.structs.replace(self._running, status="lost")
        will = Will(place.topic(Subject.SERVICE), msgspec.json.encode(gone), LOST_AFTER)
        async with connected(broker, "-".join(("cardshoe", *place)), will=will) as connection:
            self.is_connected = True
            self._log.info("floor.connected", broker=str(broker.address), sent_up_to=self.sent_up_to)
            self._reported.clear()
            await self._report(connection, Subject.SERVICE, self._running)
            try:
                if self._cursor is not None and not await in_thread(self._outbox.holds, self._cursor):
                    self._log.warning("floor.cursor_foreign", sent_up_to=self.sent_up_to)
                    self._cursor = None
                cursor = self._cursor
                if cursor is not None:
                    since = self._clock.now().utc_ns - repeated * MINUTE_NS
                    cursor = await in_thread(self._outbox.back, cursor, since)
                self._repeats = cursor != self._cursor
                await self._send(connection, cursor, in_thread)
            except asyncio.CancelledError:
                await self._say_stopped(connection)
                raise

    async def _say_stopped(self, connection: Connection) -> None:
        stopped = msgspec.structs.replace(self._running, status="stopped")
        with suppress(BrokerError, TimeoutError):
            async with asyncio.timeout(STOPS_WITHIN):
                await self._report(connection, Subject.SERVICE, stopped)

    async def _send(
        self, connection: Connection, cursor: Cursor | None, in_thread: Callable[..., Awaitable[Any]]
    ) -> None:
        """What follows that cursor, as it comes."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            self._news.clear()
            await self._report_state(connection)
            page: list[Taken] = await in_thread(self._outbox.after, cursor)
            for taken in page:
                await self._send_record(connection, taken.record)
                cursor = taken.cursor
                self._note(cursor)
                due = max(due, loop.time() - 1.0) + 1.0 / self._sending.rate  # a second's worth at once, at most
                if (ahead := due - loop.time()) > 0:
                    await asyncio.sleep(ahead)
            if page and cursor == self._cursor:
                await in_thread(write_cursor, self._cursor_file, cursor)
            if not page:
                self._whole_ns = self._clock.now().boottime_ns
                if self._why:
                    self._log.info("floor.whole", entry=self.sent_up_to)
                self._why = ""
                await self._something_new(connection)

    async def _something_new(self, connection: Connection) -> None:
        """News, a state that is to be renewed, or the end of the connection, which the next message finds."""
        longest = LEAST_BETWEEN if self._state_is_new() else RENEWED_EVERY / 4
        news: asyncio.Future[Any] = asyncio.ensure_future(self._news.wait())
        try:
            await asyncio.wait({news, connection.ended}, timeout=longest, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
        connection.check()

    def _note(self, cursor: Cursor) -> None:
        """A record was acknowledged. What is sent again ends where the cursor stands."""
        if self._repeats:
            self.repeated += 1
            self._repeats = cursor != self._cursor
        else:
            self.sent += 1
            self._cursor = cursor

    async def _send_record(self, connection: Connection, record: Record) -> None:
        """Until somebody reads it."""
        topic = self._sending.place.topic(Subject.JOURNAL)
        about = _about(record)
        payload = msgspec.json.encode(record)
        while True:
            try:
                await connection.publish(topic, payload, about)
                return
            except BrokerError as error:
                if error.code != "floor-unread":
                    raise
                self._fail(error.code, str(error), error.hint)
            await self._report_state(connection)
            await asyncio.sleep(UNREAD_AGAIN)

    # -- the state

    async def _report_state(self, connection: Connection) -> None:
        """Where it has changed, or is to be renewed."""
        now = asyncio.get_running_loop().time()
        renewed = now - self._reported_at >= RENEWED_EVERY
        if not renewed and now - self._reported_at < LEAST_BETWEEN:
            return
        view = self._table.view()
        moment = self._clock.now().utc_ns
        if view.phase != self._phase[0]:
            self._phase = view.phase, moment if self._phase[0] else 0
        reports: dict[Subject, TableReport | DeviceReport] = {
            Subject.TABLE: table_report(view, moment, self._phase[1], self._table.names()),
            Subject.DEVICE: device_report(view, moment),
        }
        for subject, report in reports.items():
            if renewed or _timeless(report) != _timeless(self._reported.get(subject)):
                await self._report(connection, subject, report)
                self._reported_at = now

    async def _report(self, connection: Connection, subject: Subject, report: msgspec.Struct) -> None:
        expiry = 0 if subject is Subject.SERVICE else KEPT_FOR
        topic = self._sending.place.topic(subject)
        await connection.publish(topic, msgspec.json.encode(report), retained=True, expiry=expiry)
        self._reported[subject] = report

    def _state_is_new(self) -> bool:
        reported = self._reported.get(Subject.TABLE)
        return isinstance(reported, TableReport) and reported.entry != self._table.view().entry


def _timeless(report: msgspec.Struct | None) -> msgspec.Struct | None:
    """Without the times at which it was made."""
    if isinstance(report, DeviceReport):
        return msgspec.structs.replace(report, utc_ns=0, heard_utc_ns=0)
    return msgspec.structs.replace(report, utc_ns=0) if isinstance(report, TableReport) else report


def _about(record: Record) -> list[tuple[str, str]]:
    """By which a program knows the record without reading it: the journal, the entries, the hash."""
    number = f"{record.first}-{record.last}" if isinstance(record, DecisionMade) else str(record.number)
    kind = str(record.__struct_config__.tag)
    return [("record", kind), ("journal", record.journal), ("entries", number), ("hash", record.hash)]
