"""A minimal table: a device that reports, a slow journal, commands, and two bad lines between them.

Time is a number; it jumps from one due event to the next, so nothing here waits.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

from msgspec.structs import replace

from firmware_bridge import capabilities, observations
from firmware_bridge.commands import AnyCommand, Dispense, HoldExit, ReleaseExit, Show
from firmware_bridge.drivers.base import (
    Answered,
    Heard,
    LinkOver,
    LinkReady,
    LinkStatistics,
    Reported,
    ReportsGone,
    StatusHeard,
)
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.host import CardlinkHost
from simulators.devices.faulty_line import Direction, LineFaults

from .parts import NEVER, BenchDevice, make_host, nonces

LATENCY: Final = 0.004  # seconds
BACK_OFF: Final = 0.2  # seconds between one link and the next
COMMANDS: Final[tuple[AnyCommand, ...]] = (Dispense(3), HoldExit(), ReleaseExit(), Show("§"))
PATIENCE: Final = 600.0  # seconds of virtual time in which something must have happened


class MadeReport(NamedTuple):
    """A report as the device made it. `serial` is content that no other report has."""

    boot: int
    number: int
    serial: int


class Table:
    """A table whose `held` and `journal` survive links. A `crash` loses what was heard but is not yet durable."""

    def __init__(
        self,
        faults: LineFaults,
        seed: int,
        *,
        held: tuple[int, int] = (0, 0),
        memory: int = 1000,
        slowest_commit: float = 0.05,
        restarts: float = 0.0,
        pause: float = 0.03,
    ) -> None:
        self.random = Random(seed)
        self.now = 0.0
        self._nonce = nonces()
        self.device = BenchDevice(memory=memory, random=self._nonce)
        self.made: list[MadeReport] = []
        self.journal: list[Reported | ReportsGone] = []
        self.answers: Counter[int] = Counter()
        self.issued: dict[int, AnyCommand] = {}
        self.outstanding: set[int] = set()
        self.lapsed: set[int] = set()
        self.links = 0
        self.fault_count = 0
        self.refusal: LinkOver | None = None
        self.statistics = LinkStatistics()
        self.status: capabilities.DeviceStatus | None = None
        self._held = held
        self._faults = replace(faults, latency=LATENCY)
        self._slowest_commit = slowest_commit
        self._restarts = restarts
        self._pause = pause
        self._commits: deque[tuple[float, Reported | ReportsGone]] = deque()
        self._host: CardlinkHost | None = None
        self._lines = self._new_lines()
        self._connect_at = 0.0
        self._next_command = 1

    # -- the tests' operations -------------------------------------------------------------------------------------

    def report(self) -> None:
        serial = len(self.made)
        boot = self.device.link.boot
        number = self.device.link.report(messages.SetRemovedReport(serial, serial, 1), self.now)
        self.made.append(MadeReport(boot, number, serial))

    def command(self, command: AnyCommand) -> None:
        if self._host is not None and self.status is not None:
            self._next_command += 1
            self._host.command(self._next_command, command, self.now)
            self.issued[self._next_command] = command
            self.outstanding.add(self._next_command)

    def unplug(self) -> None:
        """Break the line. The program keeps running, so its journal finishes what it began."""
        self._finish_commits(NEVER)
        self._leave()

    def crash(self) -> None:
        """Kill the program, and lose what was not durable."""
        self._commits.clear()
        self._leave()

    def reboot(self, *, keep_reports: bool) -> None:
        self.device.link.reboot(self.random.getrandbits(32) | 1, keep_reports=keep_reports)

    def play(self, reports: int) -> None:
        """Make `reports` reports while commands come and links break, then finish everything."""
        for _ in range(reports):
            self.pass_time(self.random.expovariate(1 / self._pause))
            self.report()
            if self.random.random() < 0.1 and not self.outstanding:
                self.command(self.random.choice(COMMANDS))
            if self.random.random() < self._restarts:
                self.random.choice([self.unplug, self.crash])()
        self.settle()

    def settle(self) -> None:
        """Let time pass until the journal holds all that the device has, and every command is answered."""
        deadline = self.now + PATIENCE
        while self.device.link.unacknowledged or self._commits or self.outstanding or self.status is None:
            assert self.now < deadline, "both ends have come to a standstill"
            self.pass_time(0.1)

    def pass_time(self, seconds: float) -> None:
        end = self.now + seconds
        while (due := self._next_due()) <= end:
            self.now = max(self.now, due)
            self._act()
        self.now = end
        self._act()

    def account(self) -> dict[str, int]:
        """Count the fate of every report. A lost one was neither received nor reported as gone."""
        taken: Counter[tuple[int, int]] = Counter()
        gone: set[tuple[int, int]] = set()
        made = {(report.boot, report.number) for report in self.made}
        for entry in self.journal:
            if isinstance(entry, Reported) and not isinstance(entry.observation, observations.ReportsLost):
                taken[entry.boot, entry.number] += 1
            else:
                boot, first, last = lost_by(entry)
                gone |= {one for one in made if one[0] == boot and first <= one[1] <= last}
        return {
            "reports made": len(made),
            "in the journal": len(taken),
            "said to be gone, from a memory that ran over or was lost": len(gone),
            "lost": len(made - set(taken) - gone),
            "doubled": sum(taken.values()) - len(taken),
            "faults of frames and bytes on the way": self.fault_count,
            "links": self.links,
        }

    # -- internals -------------------------------------------------------------------------------------------------

    def _new_lines(self) -> tuple[Direction, Direction]:
        return Direction(self._faults, self.random), Direction(self._faults, self.random)

    def _next_due(self) -> float:
        times = [self.device.link.wake_at(), *(line.next_at() for line in self._lines)]
        times.append(self._connect_at if self._host is None else self._host.wake_at())
        times += [due for due, _ in self._commits][:1]
        return min(times)

    def _act(self) -> None:
        """Do everything that is due."""
        if self._host is None and self.now >= self._connect_at:
            self._host = make_host(held=self._held, now=self.now, nonce=self._nonce())
            self.links += 1
        to_device, to_host = self._lines
        for data in to_device.arrived(self.now):
            self.device.link.receive(data, self.now)
        self.device.link.tick(self.now)
        to_host.send(self.device.link.outgoing(), self.now)
        for data in to_host.arrived(self.now):
            if self._host is not None:
                self._hear(self._host.receive(data, self.now))
        if self._host is not None:
            self._hear(self._host.tick(self.now))
        self._finish_commits(self.now)
        if self._host is not None:
            to_device.send(self._host.outgoing(), self.now)

    def _hear(self, heard: Sequence[Heard]) -> None:
        for thing in heard:
            match thing:
                case Reported() | ReportsGone():
                    due = self.now + self.random.uniform(0, self._slowest_commit)
                    self._commits.append((max(due, self._commits[-1][0] if self._commits else due), thing))
                case LinkReady(status=status) | StatusHeard(status=status):
                    self.status = status
                case Answered(command_id=command_id):
                    self.answers[command_id] += 1
                    self.outstanding.discard(command_id)
                case LinkOver():
                    if thing.refused:
                        self.refusal = thing
                    self.unplug()

    def _finish_commits(self, until: float) -> None:
        while self._commits and self._commits[0][0] <= until:
            _, thing = self._commits.popleft()
            self.journal.append(thing)
            if isinstance(thing, Reported):
                self._held = (thing.boot, thing.number)
                if self._host is not None:
                    self._host.acknowledge(thing.boot, thing.number, self.now)

    def _leave(self) -> None:
        if self._host is not None:
            add_up(self.statistics, self._host.statistics)
        self._host = None
        self.status = None
        self.lapsed |= self.outstanding
        self.outstanding.clear()
        self.fault_count += sum(line.fault_count for line in self._lines)
        self._lines = self._new_lines()
        self._connect_at = self.now + BACK_OFF


def add_up(total: LinkStatistics, more: LinkStatistics) -> None:
    for name in total.__struct_fields__:
        setattr(total, name, getattr(total, name) + getattr(more, name))


def check_commands(table: Table) -> None:
    """Check that each command was carried out and answered once, or at most once where the link was lost."""
    carried_out = Counter(command_id for command_id, _ in table.device.carried_out)
    assert set(carried_out.values()) <= {1}
    assert set(table.answers.values()) <= {1}
    assert set(table.answers) == set(table.issued) - table.lapsed
    assert set(table.answers) <= set(carried_out) <= set(table.issued)


def check_reports(table: Table) -> None:
    """Check that each report is in the journal once, in order and unchanged, or is reported as gone; never both."""
    place = {(report.boot, report.number): report for report in table.made}
    taken: list[MadeReport] = []
    gone: set[tuple[int, int]] = set()
    for entry in table.journal:
        if isinstance(entry, Reported) and not isinstance(entry.observation, observations.ReportsLost):
            report = place[entry.boot, entry.number]
            assert entry.observation == observations.SetRemoved(report.serial, 1)
            assert entry.uptime_ms == report.serial
            taken.append(report)
        else:
            boot, first, last = lost_by(entry)
            gone |= {one for one in place if one[0] == boot and first <= one[1] <= last}
    assert taken == sorted(taken, key=lambda report: report.serial), "out of order"
    assert len(set(taken)) == len(taken), "twice"
    held = {(report.boot, report.number) for report in taken}
    assert not held & gone, "taken, and said to be gone"
    assert held | gone == set(place), "neither taken nor said to be gone"


def lost_by(entry: Reported | ReportsGone) -> tuple[int, int, float]:
    """Return the boot, and the first and last number, that an entry reports as gone."""
    if isinstance(entry, ReportsGone):
        return entry.boot, entry.first, NEVER if entry.last is None else entry.last
    assert isinstance(entry.observation, observations.ReportsLost)
    return entry.observation.boot, entry.observation.first, entry.observation.last
