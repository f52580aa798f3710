"""`cardshoe` in a separate process that fails on request: the product's code with fault points.

    python -m tests.end_to_end.child ORDERS run --config table.toml

ORDERS is JSON, see `Orders`.
"""

from __future__ import annotations

import importlib
import os
import pwd
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from controller.api import callers, refusals, serving
from controller.commands.main import main as cardshoe
from controller.daemon import journal_keeper, journal_start
from controller.daemon.host import HostClock
from controller.daemon.journal_days import JournalDays
from controller.daemon.journal_keeper import JournalKeeper
from controller.daemon.starting import FoldReport
from controller.floor import broker, publisher
from controller.journal.codec import Moment
from controller.journal.store import Journal
from controller.language import catalogue
from controller.table.state import TableState
from firmware_bridge import link_keeper
from firmware_bridge.commands import AnyCommand
from firmware_bridge.drivers.cardlink import host, reports
from firmware_bridge.link_keeper import LinkKeeper
from simulators.cli import simulate
from simulators.devices.mechanism import Mechanism
from simulators.devices.simulated_device import SimulatedDevice
from tests.floor.fault_points import FloorPoint, watch_floor

ANOTHER_USER = "nobody"
HOST_LOST = "the host is lost"
USED_LATER = (  # the product imports these only when it needs them, which another user may not be allowed to do
    "controller.commands.run",
    "controller.daemon.daemon",
    "controller.daemon.logs",
    "concurrent.futures.thread",
    "encodings.ascii",
    "encodings.idna",
    "encodings.utf_8_sig",
    "firmware_bridge.transports.serial_port",
    "tomllib",
)


class Point(StrEnum):
    """A point in the handling of one input. `COMMITTING`: everything is written, and COMMIT comes next.

    For the journal's files: `SAVING` and `SAVED` are about a state; at `FILE_ENDING` the next file is about to be
    begun; at `FILE_MADE` it exists, and the one before is not closed yet.
    """

    COMMITTING = "committing"
    COMMITTED = "committed"
    ACKNOWLEDGED = "acknowledged"
    COMMANDING = "commanding"
    COMMANDED = "commanded"
    SAVING = "saving"
    SAVED = "saved"
    FILE_ENDING = "file_ending"
    FILE_MADE = "file_made"
    FILE_BEGUN = "file_begun"


class Fault(msgspec.Struct, frozen=True):
    """Kills the process when the point (`Point` or `FloorPoint`) is reached for the n-th time."""

    point: str
    nth: int


class Orders(msgspec.Struct, frozen=True):
    """Changes to the daemon or device that a test asks for.

    `full_at`: the n-th COMMIT finds the disk full, once. `as_another_user`: no access to what belongs to the test's
    user. `commands`: a file in which the device notes each command that it carries out, and the loss of its host.
    `pace`: the pace of people and mechanism, instead of the real one. `page`: the number of entries that the daemon
    folds at a time, instead of 2000, which no test has the time to write. `file_a_round`: the state is saved after each
    round, and the next file begun. `stopped_at_page`: SIGTERM comes after that many pages. `handshake_within`: seconds
    that a device has to identify itself, instead of the driver's 10. `due_within`: seconds that a device has to send a
    report and to answer an order, instead of 5, and the floor's broker to answer, instead of 10. `longest_pause`:
    seconds between two attempts to connect to a refused device, instead of 5, and to the floor's broker, instead of 60.
    `cursor_each_time`: the floor's position in the journal is written after every page. `ahead`: seconds by which the
    daemon's clocks are ahead. `hang_up_at_start`: SIGHUP comes before the daemon has read its journal. `grace`: seconds
    that the API's requests have to end when the daemon stops. `unpaced`: requests and refused operations of one caller
    are not limited, for a test that sends thousands. `catalogues`: the folder of the languages' files.
    """

    faults: tuple[Fault, ...] = ()
    full_at: int = 0
    commands: str = ""
    pace: float = 0.0
    page: int = 0
    stopped_at_page: int = 0
    file_a_round: bool = False
    handshake_within: float = 0.0
    due_within: float = 0.0
    longest_pause: float = 0.0
    cursor_each_time: bool = False
    ahead: int = 0
    grace: float = 0.0
    as_another_user: bool = False
    hang_up_at_start: bool = False
    unpaced: bool = False
    catalogues: str = ""


class CarriedOut(msgspec.Struct, frozen=True):
    """A line of the file `commands`."""

    id: int
    order: str
    done: bool


class Countdown:
    """Counts how often each point is reached."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        self._faults = faults
        self._reached: Counter[str] = Counter()

    def reach(self, point: Point | FloorPoint) -> None:
        self._reached[point] += 1
        if Fault(point, self._reached[point]) in self._faults:
            os.kill(os.getpid(), signal.SIGKILL)


class WatchedConnection:
    """The journal's connection, with a fault point before and after COMMIT."""

    def __init__(self, connection: Any, countdown: Countdown, full_at: int) -> None:
        self._connection = connection
        self._countdown = countdown
        self._until_full = full_at

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        if sql != "COMMIT":
            return self._connection.execute(sql, parameters)
        self._until_full -= 1
        if self._until_full == 0:
            raise sqlite3.OperationalError("database or disk is full")
        self._countdown.reach(Point.COMMITTING)
        done = self._connection.execute(sql, parameters)
        self._countdown.reach(Point.COMMITTED)
        return done

    def close(self) -> None:
        self._connection.close()


def watch_journal(countdown: Countdown, full_at: int) -> None:
    use = Journal._use

    def watched(self: Any, path: Path, connection: Any) -> None:
        use(self, path, WatchedConnection(connection, countdown, full_at))
        countdown.reach(Point.FILE_MADE)

    Journal._use = watched  # type: ignore[method-assign]  # watches it
    Journal.save = between(Journal.save, countdown, Point.SAVING, Point.SAVED)  # type: ignore[method-assign]  # likewise
    Journal.begin_file = between(  # type: ignore[method-assign]  # likewise
        Journal.begin_file, countdown, Point.FILE_ENDING, Point.FILE_BEGUN
    )


def between(work: Callable[..., None], countdown: Countdown, before: Point, after: Point) -> Callable[..., None]:
    """Return the same function with a fault point before and after it."""

    def watched(*given: Any) -> None:
        countdown.reach(before)
        work(*given)
        countdown.reach(after)

    return watched


def begin_a_file_a_round() -> None:
    journal_keeper.ROUNDS = 1  # type: ignore[misc]  # saves more often
    journal_keeper.LOOK_EVERY_NS = 0  # type: ignore[misc]  # immediately
    JournalDays.is_over = lambda *given: True  # type: ignore[method-assign]  # every day is over
    committed, between_rounds = JournalKeeper.committed, JournalKeeper.between_rounds
    ended: list[JournalKeeper] = []

    async def noted(self: JournalKeeper, given: Any, before: TableState, after: TableState) -> None:
        await committed(self, given, before, after)
        if before.in_round and not after.in_round:
            ended.append(self)

    async def only_then(self: JournalKeeper, state: TableState) -> Any:
        if ended:
            ended.clear()
            return await between_rounds(self, state)
        return None

    JournalKeeper.committed = noted  # type: ignore[method-assign]  # watches it
    JournalKeeper.between_rounds = only_then  # type: ignore[method-assign]  # watches it


def watch_link(countdown: Countdown) -> None:
    acknowledge, tell = LinkKeeper.acknowledge, LinkKeeper.command

    def acknowledged(self: LinkKeeper, boot: int, number: int) -> None:
        acknowledge(self, boot, number)
        countdown.reach(Point.ACKNOWLEDGED)

    def commanded(self: LinkKeeper, command_id: int, command: AnyCommand) -> bool:
        countdown.reach(Point.COMMANDING)
        taken = tell(self, command_id, command)
        countdown.reach(Point.COMMANDED)
        return taken

    LinkKeeper.acknowledge = acknowledged  # type: ignore[method-assign]  # watches it
    LinkKeeper.command = commanded  # type: ignore[method-assign]  # watches it


def note_commands(path: Path) -> None:
    finish = Mechanism.finish

    def noted(self: Mechanism, command_id: int, command: Any) -> Any:
        answer = finish(self, command_id, command)
        line = CarriedOut(command_id, type(command).__name__, answer.done)
        with path.open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")
        return answer

    Mechanism.finish = noted  # type: ignore[method-assign]  # watches it


def note_lost_host() -> None:
    on_host_lost = SimulatedDevice._on_host_lost

    def noted(self: SimulatedDevice) -> None:
        on_host_lost(self)
        sys.stdout.write(f"{HOST_LOST}\n")
        sys.stdout.flush()

    SimulatedDevice._on_host_lost = noted  # type: ignore[method-assign]  # watches it


def stop_while_folding(nth: int) -> None:
    reached, pages = FoldReport.reached, count(1)

    def counted(self: FoldReport, entry: int, last: int) -> None:
        reached(self, entry, last)
        if next(pages) == nth:
            os.kill(os.getpid(), signal.SIGTERM)
            while not self._is_asked():
                os.sched_yield()  # a page that takes longer than the signal

    FoldReport.reached = counted  # type: ignore[method-assign]  # watches it


def put_clocks_ahead(nanoseconds: int) -> None:
    now = HostClock.now

    def ahead(self: HostClock) -> Moment:
        found = now(self)
        return Moment(found.utc_ns + nanoseconds, found.boottime_ns + nanoseconds)

    HostClock.now = ahead  # type: ignore[method-assign]  # puts it ahead


def hang_up_at_start() -> None:
    made = FoldReport.__init__

    def hung_up(self: FoldReport, *given: Any) -> None:
        os.kill(os.getpid(), signal.SIGHUP)
        made(self, *given)

    FoldReport.__init__ = hung_up  # type: ignore[method-assign,assignment]  # acts at that point


def become_another_user() -> None:
    for name in USED_LATER:
        importlib.import_module(name)
    user = pwd.getpwnam(ANOTHER_USER)
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)


def main() -> None:
    orders = msgspec.json.decode(sys.argv.pop(1), type=Orders)
    countdown = Countdown(orders.faults)
    if orders.faults or orders.full_at:
        watch_journal(countdown, orders.full_at)
        watch_link(countdown)
        watch_floor(countdown.reach)
    if orders.commands:
        note_commands(Path(orders.commands))
        note_lost_host()
    if orders.pace:
        simulate.HUMAN_PACE = orders.pace
    if orders.page:
        journal_start.PAGE = orders.page  # type: ignore[misc]  # a smaller page
    if orders.file_a_round:
        begin_a_file_a_round()
    if orders.stopped_at_page:
        stop_while_folding(orders.stopped_at_page)
    if orders.handshake_within:
        host.HANDSHAKE_WITHIN = orders.handshake_within  # type: ignore[misc]  # a shorter time
    if orders.due_within:
        reports.DUE_WITHIN = host.ANSWERED_WITHIN = orders.due_within  # type: ignore[misc]  # a shorter time
        broker.ANSWERS_WITHIN = orders.due_within  # type: ignore[misc]  # likewise
    if orders.longest_pause:
        link_keeper.LONGEST_PAUSE = orders.longest_pause  # type: ignore[misc]  # a shorter time
        publisher.AGAIN = orders.longest_pause, orders.longest_pause  # type: ignore[misc]  # likewise
    if orders.cursor_each_time:
        publisher.WRITTEN_EVERY = 0.0  # type: ignore[misc]  # no pause between
    if orders.ahead:
        put_clocks_ahead(orders.ahead * 10**9)
    if orders.grace:
        serving.GRACE = orders.grace  # type: ignore[misc]  # a shorter time
    if orders.unpaced:
        refusals.BURST = callers.A_SECOND = 10**9  # type: ignore[misc]  # more than a test sends
    if orders.catalogues:
        catalogue.FOLDER = Path(orders.catalogues)  # type: ignore[misc]  # other files
    if orders.hang_up_at_start:
        hang_up_at_start()
    if orders.as_another_user:
        become_another_user()
    cardshoe(prog_name="cardshoe")


if __name__ == "__main__":
    main()
