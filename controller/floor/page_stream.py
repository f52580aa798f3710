"""The messages to the page: the whole floor, its changes, and one table's story.

A page gets the newest state and no intermediate ones: changes are combined, at most four times per second. Sentences of
tables are in the page's language; everything else is codes, for which the page has its own words.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from controller.api.bodies import encode
from controller.api.screen_lines import MATTER
from controller.floor.floor_view import FORGOTTEN_AFTER_NS, Matter, TableOnFloor, TableRow
from controller.floor.follower import FloorFollower
from controller.floor.last_hour import HourTotals
from controller.floor.stories import StoryLine
from controller.floor.table_report import DeviceReport
from controller.floor.topics import TablePlace, TopicSubject
from controller.games import GAMES
from controller.games.own_words import OwnWords
from controller.language import Speaker
from firmware_bridge.messages import AnyText

LEAST_BETWEEN: Final = 0.25  # seconds between two messages of a stream
BEAT_EVERY: Final = 1.0  # seconds
MOST_MATTERS: Final = 200  # shown; further ones are only counted

Write = Callable[[bytes], Awaitable[None]]


class Contact(msgspec.Struct, frozen=True):
    """The contact with the broker. `away_since` is 0 while it is connected; `why` is the code of its error.

    `unread` counts messages that could not be read, with a sentence about the first. `left_out` counts the tables
    beyond those that are followed.
    """

    away_since: int
    why: str
    unread: int
    unread_first: str
    left_out: bool


class FloorMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """The floor, or its changes. With `whole` the rows are all rows; otherwise `rows` are those that changed, and
    `gone` those that no longer exist.

    `matters` is None if they are unchanged; `more_matters` counts those that are not listed. Times as in `TableRow`.
    """

    now: int
    contact: Contact
    rows: tuple[TableRow, ...]
    whole: bool = False
    gone: tuple[str, ...] = ()
    matters: tuple[Matter, ...] | None = None
    more_matters: int = 0
    page: str = ""
    hour: HourTotals = HourTotals()


class FloorBeat(msgspec.Struct, frozen=True):
    now: int
    hour: HourTotals = HourTotals()


class Detail(msgspec.Struct, frozen=True):
    """The details of one table beyond its row. `heard` and `heard_device` are the times of its and its device's last
    report; 0 means unknown.
    """

    row: TableRow
    heard: int
    title: AnyText
    held: bool
    paused: str
    service_cause: AnyText
    next_step: AnyText
    warnings: tuple[AnyText, ...]
    link: str
    device: AnyText
    serial: str
    left: int
    heard_device: int
    status: str
    version: str


class StoryMessage(msgspec.Struct, frozen=True):
    """The story of one table. `detail` is None if no such table is known. `lines` are newest first."""

    now: int
    detail: Detail | None
    lines: tuple[StoryLine, ...]


class PageStream:
    """The streams of all pages. `page` is the version of its files. `sleep` waits a number of seconds."""

    def __init__(
        self,
        follower: FloorFollower,
        page: str,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._follower = follower
        self._floor = follower.floor
        self._page = page
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._sleep = sleep
        self._said: dict[str, tuple[int, tuple[Matter, ...]]] = {}  # matters, by language

    async def floor(self, write: Write, language: str) -> None:
        """Send the state of the whole floor, then its changes, until cancelled."""
        sent = _Sent()
        await self._follow(write, b"floor", lambda: self._floor.version, lambda: self._message(sent, language))

    async def story(self, write: Write, place: TablePlace, language: str) -> None:
        """Send the state of one table, and again after each change, until cancelled."""

        def changed() -> object:
            table = self._floor.tables.get(place)
            return self._follower.stories.version(place), table and (table.taken, table.row)

        await self._follow(write, b"story", changed, lambda: self.story_of(place, language))

    async def _follow(
        self, write: Write, event: bytes, changed: Callable[[], object], message: Callable[[], msgspec.Struct]
    ) -> None:
        seen: object = None
        is_first = True
        beat_at = may_send_at = self._clock()
        while True:
            now = self._clock()
            if (is_new := is_first or changed() != seen) and now >= may_send_at:
                seen, is_first = changed(), False
                await write(b"event: %s\ndata: %s\n\n" % (event, encode(message())))
                may_send_at = now + LEAST_BETWEEN
            elif now >= beat_at:
                await write(
                    b"event: beat\ndata: %s\n\n" % encode(FloorBeat(self._floor.now_ms, self._follower.hour.totals()))
                )
                beat_at = now + BEAT_EVERY
            elif is_new:
                await self._sleep(min(beat_at, may_send_at) - now)
            else:
                await self._sleep_or_news(beat_at - now)

    async def _sleep_or_news(self, seconds: float) -> None:
        waits = [asyncio.ensure_future(one) for one in (self._sleep(seconds), self._follower.news())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()

    # -- the floor

    def whole(self, language: str) -> FloorMessage:
        """Return the whole floor, as a page first gets it."""
        return self._message(_Sent(), language)

    def _message(self, sent: _Sent, language: str) -> FloorMessage:
        floor = self._floor
        rows = {table.key: table.row for table in floor.tables.values() if table.row is not None}
        changed = tuple(row for key, row in rows.items() if sent.rows.get(key) is not row)
        gone = tuple(key for key in sent.rows if key not in rows)
        matters = self._matters(language) if sent.matters != floor.matters_version else None
        whole, sent.rows, sent.matters = sent.rows is NOTHING, rows, floor.matters_version
        contact = Contact(
            floor.ms(floor.away_since_ns) if floor.away else 0, floor.why, floor.unread, floor.unread_first,
            bool(floor.left_out),
        )  # fmt: skip
        more = max(0, len(floor.matters) - MOST_MATTERS) if matters is not None else 0
        page = self._page if whole else ""
        return FloorMessage(
            floor.now_ms, contact, changed, whole, gone, matters, more, page, self._follower.hour.totals()
        )

    def _matters(self, language: str) -> tuple[Matter, ...]:
        """Return the matters in a language. They are made once for all its pages."""
        version, said = self._said.get(language, (-1, ()))
        if version != self._floor.matters_version:
            speaker = Speaker(language)
            said = tuple(matter_in(one, speaker) for one in self._floor.matters[:MOST_MATTERS])
            self._said[language] = self._floor.matters_version, said
        return said

    # -- a table

    def story_of(self, place: TablePlace, language: str) -> StoryMessage:
        table = self._floor.tables.get(place)
        speaker = Speaker(language)
        detail = None if table is None else self._detail(table, speaker)
        return StoryMessage(self._floor.now_ms, detail, story_lines(self._follower, place, speaker))

    def _detail(self, table: TableOnFloor, speaker: Speaker) -> Detail | None:
        report, device, row = table.table, table.device, table.row
        if report is None or row is None:
            return None
        service = table.report(TopicSubject.SERVICE)
        heard_device = table.seen[TopicSubject.DEVICE] if device is not None and device.heard_utc_ns else None
        return Detail(
            row,
            self._floor.ms(table.seen[TopicSubject.TABLE].made_ns),
            speaker(report.title),
            report.held,
            speaker.phrase(report.paused),
            speaker(report.service_cause),
            speaker(report.next_step),
            tuple(map(speaker, report.warnings)),
            "" if device is None else device.link,
            "" if device is None else speaker(device.stopped or device.sentence),
            "" if device is None else device.serial,
            0 if device is None else min(max(0, device.left), 2**31),
            0 if heard_device is None else self._floor.ms(heard_device.made_ns - _age_ns(heard_device.report)),
            table.status,
            "" if service is None else service.version,
        )


def _age_ns(report: DeviceReport) -> int:
    """Return how old the device's last message was when it was reported."""
    return min(max(0, report.utc_ns - report.heard_utc_ns), FORGOTTEN_AFTER_NS)


def story_lines(follower: FloorFollower, place: TablePlace, speaker: Speaker) -> tuple[StoryLine, ...]:
    """Return the events of a table, the newest first, with the names of its people."""
    table = follower.floor.tables.get(place)
    report = None if table is None else table.table
    words = GAMES[report.game].words if report is not None and report.game in GAMES else OwnWords()
    service = None if table is None else table.report(TopicSubject.SERVICE)
    names: dict[str, AnyText] = dict(service.people) if service is not None else {}
    names |= {f"{MATTER}{one.id}": one.what for one in report.irregularities} if report is not None else {}
    return follower.stories.lines(place, words, names, speaker)


def matter_in(found: Matter, speaker: Speaker) -> Matter:
    """Return the matter with its sentences in the speaker's language."""
    paused = found.trouble == "paused" and isinstance(found.what, str)
    return msgspec.structs.replace(
        found,
        what=speaker.phrase(str(found.what)) if paused else speaker(found.what),
        where=speaker(found.where),
        who=speaker(found.who),
        act=speaker(found.act),
    )


NOTHING: Final[dict[str, TableRow]] = {}


class _Sent:
    """The state that a page already has."""

    def __init__(self) -> None:
        self.rows = NOTHING
        self.matters = -1
