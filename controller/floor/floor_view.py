"""The state of the floor, computed from the newest reports of its tables and a clock.

    message ── take ── table: newest reports ── row of the grid
                                              └ matters: open irregularities, and what else needs a person

A report's age follows from the seconds for which the broker still keeps it, and a duration from two times of the
table's own clock: times of different clocks are never compared. Texts come from a network: each is shortened and made
plain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from controller.floor.broker import BrokerMessage
from controller.floor.reporting import KEPT_FOR, RENEWED_EVERY
from controller.floor.table_report import DeviceReport, OpenIrregularity, ServiceReport, TableReport
from controller.floor.topics import TablePlace, TopicSubject
from controller.table.phases import CARDS_LEAVE, IN_ROUND, Phase, Service
from firmware_bridge.link import LinkState
from firmware_bridge.messages import AnyText
from firmware_bridge.plain_text import plain, with_plain_texts

SECOND_NS: Final = 10**9
SILENT_AFTER_NS: Final = round(2 * RENEWED_EVERY * SECOND_NS)
FORGOTTEN_AFTER_NS: Final = KEPT_FOR * SECOND_NS  # as the broker does
MOST_TABLES: Final = 2000
LONGEST_REPORT: Final = 64 * 1024  # bytes
SHORT: Final = 4096  # bytes; a report of this size cannot contain a text that is too long
MOST_OPEN: Final = 50  # irregularities of a table
LATEST: Final = 2**53  # the largest number that a page accepts
SETTLES_NS: Final = 5 * SECOND_NS  # after connecting, messages that the broker retained arrive first

Tone: TypeAlias = Literal["red", "amber", "plain", "quiet"]
Trouble: TypeAlias = Literal["", "lost", "stopped", "silent", "service", "device", "paused", "warning"]
Report: TypeAlias = TableReport | DeviceReport | ServiceReport

REPORTS: Final[dict[TopicSubject, msgspec.json.Decoder[Any]]] = {
    TopicSubject.TABLE: msgspec.json.Decoder(TableReport),
    TopicSubject.DEVICE: msgspec.json.Decoder(DeviceReport),
    TopicSubject.SERVICE: msgspec.json.Decoder(ServiceReport),
}


SHOWN: Final[dict[TopicSubject, Callable[[Any], object]]] = {
    TopicSubject.TABLE: attrgetter(
        "phase", "since_utc_ns", "round", "service", "service_cause", "held", "paused", "dealer", "simulated",
        "irregularities", "warnings",
    ),
    TopicSubject.DEVICE: attrgetter("link", "connected", "stopped", "sentence", "kind"),
    TopicSubject.SERVICE: attrgetter("status"),
}  # fmt: skip
"""The fields of a report that determine the row and the matters of a table without trouble."""


class UnreadableReportError(ValueError):
    """Raised for a message that does not follow this scheme or has another version."""


class TableRow(msgspec.Struct, frozen=True):
    """A table in the grid. Times are milliseconds of the floor's own clock; 0 means unknown.

    `since` is the start of the phase. `trouble` is the first thing other than an irregularity that needs a person, and
    `trouble_since` its start. `tone` is red if cards must stop, amber if a person must act, quiet if nobody is there.
    `open` holds its irregularities.
    """

    key: str
    site: str
    pit: str
    table: str
    tone: Tone
    trouble: Trouble
    trouble_since: int
    open: int
    phase: str
    round: int
    since: int
    dealer: str
    simulated: bool
    device: str


class Matter(msgspec.Struct, frozen=True):
    """An open irregularity or, if `trouble` is set, something else that needs a person; then `what` describes it.

    `who` is the rank that must act, `act` the action. `clauses` are those that may apply; an empty string stands for
    none.
    """

    key: str
    row: str
    tone: Tone
    since: int
    trouble: Trouble = ""
    round: int = 0
    what: AnyText = ""
    where: AnyText = ""
    clauses: tuple[str, ...] = ()
    who: AnyText = ""
    act: AnyText = ""


class TimedReport(NamedTuple):
    """A report, with the time at which it was made on the floor's own clock."""

    report: Any
    made_ns: int


class TableOnFloor:
    """The newest reports of one table. `since_ns` maps each fact to its start on the floor's own clock."""

    def __init__(self, place: TablePlace) -> None:
        self.place = place
        self.key = "/".join(place)
        self.seen: dict[TopicSubject, TimedReport] = {}
        self.taken = 0  # the number of reports
        self.since_ns: dict[object, int] = {}
        self.row: TableRow | None = None
        self.matters: tuple[Matter, ...] = ()

    def report(self, kind: TopicSubject) -> Any:
        found = self.seen.get(kind)
        return None if found is None else found.report

    @property
    def table(self) -> TableReport | None:
        found: TableReport | None = self.report(TopicSubject.TABLE)
        return found

    @property
    def device(self) -> DeviceReport | None:
        found: DeviceReport | None = self.report(TopicSubject.DEVICE)
        return found

    @property
    def status(self) -> str:
        return self.report(TopicSubject.SERVICE).status if TopicSubject.SERVICE in self.seen else ""


class Floor:
    """The floor. `now` returns nanoseconds of a monotonic clock. `version` grows with every visible change.

    While the broker is away the floor keeps its last known state and judges nothing.
    """

    def __init__(self, now: Callable[[], int]) -> None:
        self.tables: dict[TablePlace, TableOnFloor] = {}
        self.version = 0
        self.matters_version = 0
        self.unread = 0
        self.unread_first = ""
        self.left_out = 0  # reports from tables beyond `MOST_TABLES`
        self.away_since_ns = self._clock_start = now()
        self.away = True
        self.why = ""  # the code of the broker's error
        self._now = now
        self._settled_ns = 0
        self._sorted: tuple[int, tuple[Matter, ...]] = (-1, ())
        self._rows: tuple[TableRow, ...] | None = None

    # -- incoming messages

    def take(self, place: TablePlace, subject: TopicSubject, message: BrokerMessage) -> bool:
        """Take a report. Return whether the display has changed. Raise `UnreadableReportError` if it cannot be
        decoded.
        """
        if subject not in REPORTS:
            raise UnreadableReportError("nobody asked for it")
        table = self.tables.get(place)
        if not message.payload:  # the broker has deleted its report
            if table is None or table.seen.pop(subject, None) is None:
                return False
            return self._judge(table)
        report = read_report(subject, message.payload)
        if table is None:
            if len(self.tables) >= MOST_TABLES:
                self.left_out += 1
                return False
            table = self.tables[place] = TableOnFloor(place)
        before = table.report(subject)
        table.seen[subject] = TimedReport(report, self._made(message))
        table.taken += 1
        if table.row is not None and not table.row.trouble and before is not None:
            shown = SHOWN[subject]
            if shown(before) == shown(report):
                return False  # the most frequent case: a card was dealt
        return self._judge(table)

    def note_unread(self, topic: str, why: str) -> bool:
        """Count an unreadable message. Return whether it is the first, since the operator is told only once."""
        self.unread += 1
        self.version += 1
        if self.unread == 1:
            self.unread_first = f"{plain(topic)}: {plain(why)}"
        return self.unread == 1

    def connected(self) -> None:
        self.away, self.why = False, ""
        self._settled_ns = self._now() + SETTLES_NS
        self.version += 1

    def disconnected(self, code: str) -> None:
        if not self.away:
            self.away_since_ns = self._now()
        if not self.away or self.why != code:
            self.version += 1
        self.away, self.why = True, code

    def look(self) -> bool:
        """Apply the changes that time alone causes: silent tables and those that the broker has forgotten."""
        now = self._now()
        if self.away or now < self._settled_ns:
            return False
        changed = False
        for place, table in list(self.tables.items()):
            newest = max((seen.made_ns for seen in table.seen.values()), default=0)
            if now - newest > FORGOTTEN_AFTER_NS:
                del self.tables[place]
                table.seen.clear()
            changed |= self._judge(table)
        return changed

    # -- display

    @property
    def rows(self) -> tuple[TableRow, ...]:
        """Return the rows by site, pit and table, in natural order."""
        if self._rows is None:
            found = [table.row for table in self.tables.values() if table.row is not None]
            self._rows = tuple(sorted(found, key=_as_people_count))
        return self._rows

    @property
    def matters(self) -> tuple[Matter, ...]:
        """Return the open irregularities, oldest first, then everything else that needs a person, oldest first."""
        if self._sorted[0] != self.matters_version:
            every = [one for table in self.tables.values() for one in table.matters]
            every.sort(key=lambda one: (bool(one.trouble), one.since, one.key))
            self._sorted = self.matters_version, tuple(every)
        return self._sorted[1]

    def ms(self, ns: int) -> int:
        """Return a time of the floor's own clock in milliseconds for pages: never 0, which means unknown."""
        return max(1, (ns - self._clock_start) // 10**6 + FORGOTTEN_AFTER_NS // 10**6)

    @property
    def now_ms(self) -> int:
        return self.ms(self._now())

    # -- internals

    def _made(self, message: BrokerMessage) -> int:
        """Return when the broker received the message."""
        left = message.expiry if 0 < message.expiry <= KEPT_FOR else KEPT_FOR
        return self._now() - (KEPT_FOR - left) * SECOND_NS

    def _judge(self, table: TableOnFloor) -> bool:
        before, matters = table.row, table.matters
        table.row, table.matters = self._shown(table)
        if table.matters != matters:
            self.matters_version += 1
        elif table.row == before:
            table.row = before  # keep the same object, so that holders of it still have the row
            return False
        if (table.row is None) != (before is None) or table.row != before:
            self._rows = None
        self.version += 1
        return True

    def _shown(self, table: TableOnFloor) -> tuple[TableRow | None, tuple[Matter, ...]]:
        seen = table.seen.get(TopicSubject.TABLE)
        if seen is None:
            return None, ()
        report: TableReport = seen.report
        trouble, what = _trouble_of(table, self._now() - seen.made_ns)
        began = _Beginnings(table, seen, self._now)
        since = began.phase()
        opened = tuple(self._opened(table, one, began) for one in report.irregularities)
        troubled = began.trouble(trouble)
        matters = opened
        if trouble and not (trouble == "stopped" and report.phase not in IN_ROUND):
            since_, tone = self._or_0(troubled), _tone_of(report, trouble)
            matters += (Matter(f"{table.key}#{trouble}", table.key, tone, since_, trouble, what=what),)
        row = TableRow(
            table.key, *table.place, _tone(table, trouble), trouble, self._or_0(troubled), len(opened), report.phase,
            _number(report.round), self._or_0(since), report.dealer, report.simulated,
            "" if table.device is None else table.device.kind,
        )  # fmt: skip
        began.forget()
        return row, matters

    def _opened(self, table: TableOnFloor, found: OpenIrregularity, began: _Beginnings) -> Matter:
        return Matter(
            f"{table.key}#{found.id}", table.key, "red" if found.blocks else "amber",
            self._or_0(began.irregularity(found)), "", _number(found.round), found.what, found.where, found.clauses,
            found.who, found.act,
        )  # fmt: skip

    def _or_0(self, ns: int) -> int:
        return self.ms(ns) if ns else 0


class _Beginnings:
    """The start times of reported facts on the floor's own clock. A start time found once is kept, so that ages do not
    jump.
    """

    def __init__(self, table: TableOnFloor, seen: TimedReport, now: Callable[[], int]) -> None:
        self._table = table
        self._report: TableReport = seen.report
        self._made = seen.made_ns
        self._now = now
        self._kept: dict[object, int] = {}

    def phase(self) -> int:
        report = self._report
        return self._found(("phase", report.phase, report.since_utc_ns), report.utc_ns, report.since_utc_ns, self._made)

    def irregularity(self, found: OpenIrregularity) -> int:
        return self._found((found.id, found.since_utc_ns), self._report.utc_ns, found.since_utc_ns, self._made)

    def trouble(self, trouble: Trouble) -> int:
        """Return when the trouble began, or 0 if it began before this program started."""
        if trouble in ("", "lost", "silent", "stopped"):
            return self._made if trouble else 0  # the time of the last report
        if trouble == "device":
            device = self._table.seen[TopicSubject.DEVICE]
            key = "device", device.report.heard_utc_ns
            return self._found(key, device.report.utc_ns, device.report.heard_utc_ns, device.made_ns)
        first = 0 if self._table.row is None else self._now()
        self._kept[trouble] = self._table.since_ns.get(trouble, first)
        return self._kept[trouble]

    def forget(self) -> None:
        """Forget the start times of facts that are over."""
        self._table.since_ns = self._kept

    def _found(self, key: object, utc_ns: int, since_utc_ns: int, made_ns: int) -> int:
        if not since_utc_ns:
            return 0
        lasted = min(max(0, utc_ns - since_utc_ns), FORGOTTEN_AFTER_NS)
        self._kept[key] = self._table.since_ns.get(key, made_ns - lasted)
        return self._kept[key]


def _trouble_of(table: TableOnFloor, age_ns: int) -> tuple[Trouble, AnyText]:
    """Return the first trouble other than the irregularities, with the table's own sentence for it."""
    report, device = table.table, table.device
    assert report is not None
    works = report.phase not in (Phase.CLOSED, Phase.MAINTENANCE)  # in these phases the device may be off
    if table.status in ("lost", "stopped"):
        return ("lost" if table.status == "lost" else "stopped"), ""
    if age_ns > SILENT_AFTER_NS:
        return "silent", ""
    if works and device is not None and (device.link != LinkState.READY or not device.connected or device.stopped):
        return "device", device.stopped or device.sentence
    if works and report.service != Service.IN_SERVICE:
        return "service", report.service_cause
    if report.paused:
        return "paused", report.paused
    return ("warning", report.warnings[0]) if report.warnings else ("", "")


def _tone_of(report: TableReport, trouble: Trouble) -> Tone:
    """Return the tone for trouble other than irregularities: red if cards must stop because of it."""
    by_irregularity = any(one.blocks for one in report.irregularities)
    held = report.held and not report.paused and not by_irregularity
    return "red" if held or (trouble in ("device", "service") and report.phase in CARDS_LEAVE) else "amber"


def _tone(table: TableOnFloor, trouble: Trouble) -> Tone:
    """Return the tone that matches the sentence on the console."""
    report = table.table
    assert report is not None
    if any(one.blocks for one in report.irregularities) or _tone_of(report, trouble) == "red":
        return "red"
    if trouble == "stopped" and report.phase not in IN_ROUND:
        return "amber" if report.irregularities else "quiet"
    if trouble or report.irregularities:
        return "amber"
    return "quiet" if report.phase == Phase.CLOSED else "plain"


def read_report(subject: TopicSubject, payload: bytes) -> Report:
    """Decode a report and make its texts plain. Raise `UnreadableReportError` if it cannot be decoded."""
    if len(payload) > LONGEST_REPORT:
        raise UnreadableReportError(f"it has more than {LONGEST_REPORT // 1024} KiB")
    try:
        report: Report = REPORTS[subject].decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableReportError(str(error)) from error
    if isinstance(report, TableReport):
        report = _bounded(report)
    quoted = payload.replace(b"\\\\", b"").replace(b'\\"', b"")  # these two escaped characters are visible
    if payload.isascii() and b"\\" not in quoted and len(payload) <= SHORT:
        return report  # JSON writes an invisible character with a backslash, so the text does not contain any
    read: Report = with_plain_texts(report, most=MOST_OPEN)
    return read


def _bounded(report: TableReport) -> TableReport:
    """Return the report with at most `MOST_OPEN` irregularities and each id once, since displays identify them by
    id.
    """
    found: dict[int, OpenIrregularity] = {}
    for one in report.irregularities:
        found.setdefault(one.id, one)
    if len(found) == len(report.irregularities) <= MOST_OPEN:
        return report
    return msgspec.structs.replace(report, irregularities=tuple(found.values())[:MOST_OPEN])


def _number(value: int) -> int:
    return min(max(0, value), LATEST)


_DIGITS: Final = re.compile(r"(\d+)")


@lru_cache(4 * MOST_TABLES)
def natural_order(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts names in natural order.

    >>> sorted(["nc-10", "nc-9", "a"], key=natural_order)
    ['a', 'nc-9', 'nc-10']
    """
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part.casefold()) for part in _DIGITS.split(name))


def _as_people_count(row: TableRow) -> tuple[Any, ...]:
    return natural_order(row.site), natural_order(row.pit), natural_order(row.table), row.key


def by_pit(rows: Iterable[TableRow]) -> Iterator[tuple[tuple[str, str], list[TableRow]]]:
    """Yield each site and pit with its rows, in the order of the rows."""
    found: dict[tuple[str, str], list[TableRow]] = {}
    for row in rows:
        found.setdefault((row.site, row.pit), []).append(row)
    yield from found.items()
