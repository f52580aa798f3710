"""A failing disk takes the table out of service; nothing is acknowledged before it is kept, and nothing is lost."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, cast

import msgspec
import pytest

from benchmarks.in_process import SmoothRounds
from controller.api.bodies import OperationRequest
from controller.api.callers import Caller
from controller.api.client import ApiClient
from controller.api.people import Acting
from controller.api.view import LinkView
from controller.daemon.host import HostClock
from controller.daemon.table_service import Fault, TableService, input_of
from controller.games.specification import Unit
from controller.journal import JournalError
from controller.journal.chain import Head
from controller.journal.file import Identity
from controller.journal.reader import JournalReader
from controller.journal.reserve import BYTES, NAME
from controller.journal.store import Committed
from controller.roles import Role
from controller.table import operations
from controller.table.decision import Decided
from controller.table.events import DeviceLost, DoorRefused, Event, JournalDoubted, PinRefused, ReportTaken
from controller.table.inputs import DaemonStarted
from controller.table.phases import IN_ROUND
from controller.table.screens import FAILURES
from controller.table.settings import Settings
from controller.table.state import TableState
from firmware_bridge.capabilities import DeviceIdentity, DeviceStatus
from firmware_bridge.cards import Evidence
from firmware_bridge.commands import AnyCommand
from firmware_bridge.drivers.base import LinkOver, LinkReady, Reported
from firmware_bridge.messages import AnyText, Message
from firmware_bridge.observations import ButtonPressed
from simulators.devices.mechanism import full_capabilities
from simulators.people.crew import CREW, CrewClient
from tests.end_to_end.child import Orders
from tests.end_to_end.evidence import Evidence as Account
from tests.end_to_end.processes import Child
from tests.end_to_end.stage import Stage, short_folder
from tests.end_to_end.test_killed import follow_until
from tests.support.small_disk import FILLER, fill, make_room, read_only, small_disk

DEALER, SUPERVISOR, MANAGER = CREW
BOOT = 9


@pytest.mark.parametrize(
    ("unit", "full_at"),
    [
        (Unit.SETS, 2),
        (Unit.SINGLES, 40),
        *(
            pytest.param(unit, full_at, marks=pytest.mark.exhaustive)
            for unit, full_at in product(Unit, (2, 3, 15, 40))
            if (unit, full_at) not in {(Unit.SETS, 2), (Unit.SINGLES, 40)}
        ),
    ],
)
async def test_out_of_service_until_a_supervisor_returns_it(unit: Unit, full_at: int) -> None:
    """The second commit is for the device's connection; later commits are for reports, statuses and people's acts.

    The rest of the round is recorded in the reserved space.
    """
    with short_folder() as folder:
        async with Stage(folder, unit=unit, rounds=3) as stage:
            await stage.start_device()
            await stage.start_daemon(Orders(full_at=full_at))
            await stage.daemon.until(lambda: stage.daemon.logged("table.fault"))
            async with ApiClient(stage.socket) as client:
                voice = CrewClient(client, Random(1))  # repeatable
                shown = await client.state()
                assert shown.service == "out_of_service"
                assert "no room left" in str(shown.service_cause)
                assert shown.phase not in IN_ROUND
                assert await client.is_healthy()  # a restart would not repair the disk

                for member in (DEALER, MANAGER):
                    refused = await voice.send(voice.request(member, shown.round, operations.PauseTable("look")))
                    assert not refused.accepted
                    assert refused.code == "journal-full"
                    assert "Free space" in str(refused.sentence)
                refused = await voice.send(voice.request(DEALER, shown.round, operations.ReturnToService()))
                assert not refused.accepted
                assert (await client.state()).entry == shown.entry

                answer = await voice.send(voice.request(SUPERVISOR, shown.round, operations.ReturnToService()))
                assert answer.accepted
            await stage.played()
            last = await stage.last_state()
            assert await stage.daemon.end() == 0
            account = Account(stage)
            account.check(last)
            assert "returned-to-service" in [event.code for event in account.of(DeviceLost)]


async def test_a_disk_that_is_full_at_the_start(tmp_path: Path) -> None:
    """There is no table to show yet: the daemon ends, and systemd tries again."""
    with small_disk(tmp_path / "d", 16) as disk, short_folder() as folder:
        (folder / "journal").symlink_to(disk)
        async with Stage(folder) as stage:
            fill(disk)
            daemon = stage.spawn_daemon()
            assert await daemon.ended() == 4
            assert daemon.err[0].startswith("cardshoe: The disk has no room left")
            assert len(daemon.err) == 2
            make_room(disk)
            await stage.start_daemon()
            assert (await stage.state()).table == "T-1"
            assert await stage.daemon.end() == 0


async def test_a_read_only_disk(tmp_path: Path) -> None:
    """A file system is remounted read-only after a disk error."""
    with small_disk(tmp_path / "d", 32) as disk, short_folder() as folder:
        (folder / "journal").symlink_to(disk)
        async with Stage(folder) as stage:
            await stage.start_daemon()
            assert await stage.daemon.end() == 0
            read_only(disk)
            daemon = stage.spawn_daemon()
            assert await daemon.ended() == 4
            assert "Read-only file system" in daemon.err[0]
            checked = Child("controller", "config", "check", str(stage.configuration))
            assert await checked.ended() == 78
            assert "journal is on a disk that is mounted read-only." in checked.err[0]
            read_only(disk, False)
            await stage.start_daemon()
            assert await stage.daemon.end() == 0


@pytest.mark.soak
async def test_a_disk_that_fills_up_in_a_round(tmp_path: Path) -> None:
    """The reserved space is enough to finish the round; no other round begins until there is room again."""
    with small_disk(tmp_path / "d", 32) as disk, short_folder() as folder:
        (folder / "journal").symlink_to(disk)
        async with Stage(folder, rounds=40) as stage:
            await stage.start_device()
            await stage.start_daemon()
            await follow_until(stage, {"cards_dealt"}, 0)
            filled = (await stage.state()).entry
            fill(disk)
            await stage.daemon.until(lambda: stage.daemon.logged("table.fault"))
            async with ApiClient(stage.socket) as client:
                voice = CrewClient(client, Random(1))  # repeatable
                shown = await client.state()
                assert "no room left" in str(shown.service_cause)
                assert shown.phase not in IN_ROUND
                assert shown.entry > filled
                assert not (disk / NAME).exists()
                again = operations.ReturnToService()
                refused = await voice.send(voice.request(SUPERVISOR, shown.round, again))
                assert refused.code == "journal-full"
                make_room(disk)
                assert (await voice.send(voice.request(SUPERVISOR, shown.round, again))).accepted
            await stage.played()
            last = await stage.last_state()
            assert await stage.daemon.end() == 0
            Account(stage).check(last)


async def test_no_round_begins_on_a_full_disk_until_there_is_room_again(tmp_path: Path) -> None:
    """The daemon that was dealing when the disk became full has ended; the next daemon finds no space to reserve."""
    with small_disk(tmp_path / "d", 32) as disk, short_folder() as folder:
        (folder / "journal").symlink_to(disk)
        async with Stage(folder) as stage:
            await stage.start_daemon()
            assert await stage.daemon.end() == 0
            (disk / NAME).unlink()
            fill(disk)
            os.truncate(disk / FILLER, (disk / FILLER).stat().st_size - (6 << 20))  # enough for the log alone
            await stage.start_daemon()
            await stage.daemon.until(lambda: stage.daemon.logged("table.fault"))
            async with ApiClient(stage.socket) as client:
                voice = CrewClient(client, Random(1))  # repeatable
                for room in (False, True):
                    if room:
                        make_room(disk)
                    shown = await client.state()
                    assert (shown.service, "no room left" in str(shown.service_cause)) == ("out_of_service", True)
                    answer = await voice.send(voice.request(SUPERVISOR, shown.round, operations.ReturnToService()))
                    assert answer.accepted is room
                    assert answer.code == ("" if room else "journal-full")
                assert "no room left" not in str((await client.state()).service_cause)
            assert (disk / NAME).stat().st_size == BYTES
            assert await stage.daemon.end() == 0


# -- the daemon's loop alone, with an order chosen by the test --------------------------------------------------------

SAM = Acting("sam", Role.PIT_SUPERVISOR)


class Disk:
    """A journal's writer that fails on demand."""

    folder = Path()
    identity = Identity("0a1b", "T-1", simulated=True)
    is_full = False
    begun = 0  # the one file

    def __init__(self) -> None:
        self.full = False
        self.events: list[Event] = []
        self.number = 0

    @property
    def head(self) -> Head:
        return Head(self.number)

    def reader(self, path: Path) -> JournalReader[Any, Any]:
        raise AssertionError("there is no file")

    async def append(
        self, given: object, events: Sequence[Event], *, then: Callable[[Committed], None], **named: object
    ) -> Committed:
        await asyncio.sleep(0)
        if self.full:
            raise JournalError("journal-full", "The disk is full.", "Make room.")
        first = self.number + 1
        self.number += 1 + len(events)
        self.events += events
        committed = Committed(first, tuple(range(first + 1, self.number + 1)), (b"{}",) * len(events))
        then(committed)
        await asyncio.sleep(0)  # the caller continues one turn of the loop later
        return committed

    async def accept(self) -> None:
        """Do nothing: there is no doubt."""

    async def keep_room(self) -> None:
        """Do nothing: this test does not depend on the reserve."""

    async def answer(self) -> None:
        await asyncio.sleep(0)


class NoKeeper:
    """A keeper that only notes what it is given, for tests of the journal alone."""

    warnings: tuple[Message, ...] = ()

    def __init__(self) -> None:
        self.remembered: list[object] = []

    def remember(self, given: object) -> None:
        self.remembered.append(given)

    async def committed(self, given: object, before: object, after: object) -> None:
        """Do nothing: nothing is saved."""

    async def between_rounds(self, state: TableState) -> None:
        """Do nothing: nothing is due."""


class Line:
    """The link, as the table uses it."""

    def __init__(self) -> None:
        self.acknowledged: list[int] = []
        self.drops = 0

    def acknowledge(self, boot: int, number: int) -> None:
        self.acknowledged.append(number)

    def command(self, command_id: int, command: AnyCommand) -> bool:
        return True

    def drop(self, code: str, sentence: AnyText, *, refused: bool = False) -> None:
        self.drops += 1


def report(number: int) -> Reported:
    return Reported(BOOT, number, 0, ButtonPressed("start"), Evidence(b""))


def ready() -> LinkReady:
    identity = DeviceIdentity(
        "shuffler", "sets", "m", "m", "S-1", "1", "0", full_capabilities("shuffler"), True, 52, BOOT
    )
    return LinkReady(identity, DeviceStatus(BOOT, 0, 0, 0, 0, 0, 0, 0, False, True, False, 0))


@asynccontextmanager
async def served(disk: Disk, line: Line, keeper: NoKeeper | None = None) -> AsyncIterator[TableService]:
    keeper = keeper or NoKeeper()
    service = TableService("T-1", TableState(), cast("Any", disk), HostClock(), LinkView, keeper)
    service.device = line
    await service.begin(DaemonStarted("T-1", True, Settings("NC", Unit.SETS, 7), "start"))
    running = asyncio.create_task(service.run())
    service.hear(ready())
    try:
        yield service
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def in_turn(service: TableService) -> None:
    """Wait until every input so far has been taken."""
    assert await service.answers()


def connected(service: TableService) -> bool:
    return service.state.device.connected


def returning(round_number: int = 0) -> OperationRequest:
    return OperationRequest("u-1", round_number, operations.ReturnToService())


async def test_a_report_that_came_while_the_disk_was_full_is_never_skipped() -> None:
    """Report 2 was set aside. Report 3 on the same link must not be accepted, because its acknowledgement would cover
    both.
    """
    disk, line = Disk(), Line()
    async with served(disk, line) as service:
        service.hear(report(1))
        await in_turn(service)
        disk.full = True
        service.hear(report(2))
        await in_turn(service)
        assert line.acknowledged == [1]
        disk.full = False
        service.hear(report(3))
        answer = await service.operate(returning(), SAM)
        assert answer.accepted
        service.hear(report(4))  # the last report on the link, before it reconnects
        await in_turn(service)
        assert line.acknowledged == [1]
        assert line.drops >= 1
        service.hear(ready())
        for number in (2, 3, 4):
            service.hear(report(number))
        await in_turn(service)
    assert line.acknowledged == [1, 2, 3, 4]
    assert [event.number for event in disk.events if isinstance(event, ReportTaken)] == [1, 2, 3, 4]


async def test_a_follower_sees_the_state_together_with_the_event() -> None:
    """A screen shows the state when an event arrives, and learns of nothing more until the next.

    A state that is saved at a stop in that turn of the loop also holds the link's memory.
    """
    keeper = NoKeeper()
    async with served(Disk(), Line(), keeper) as service:
        await in_turn(service)
        follower = service.feed.follow(service.entry)
        service.hear(report(1))
        events, _ = await follower.next()
        assert service.entry >= events[-1].entry
        assert keeper.remembered[-1] == input_of(report(1))


async def test_a_repeated_report_is_taken_once_and_acknowledged_again() -> None:
    """The device reconnected while the commit was still pending."""
    disk, line = Disk(), Line()
    async with served(disk, line) as service:
        for heard in (
            report(1),
            report(2),
            LinkOver("transport-lost", "Gone."),
            ready(),
            report(1),
            report(2),
            report(3),
        ):
            service.hear(heard)
        await in_turn(service)
    assert line.acknowledged == [1, 2, 1, 2, 3]
    assert [event.number for event in disk.events if isinstance(event, ReportTaken)] == [1, 2, 3]


async def test_the_link_is_restarted_even_if_the_return_itself_is_refused() -> None:
    """The operation was meant for an earlier round. The disk is tried again all the same, and reports must be accepted
    again.
    """
    disk, line = Disk(), Line()
    async with served(disk, line) as service:
        disk.full = True
        service.hear(report(1))
        await in_turn(service)
        disk.full, line.drops = False, 0
        answer = await service.operate(returning(round_number=-5), SAM)
        assert answer.code == "stale"
        assert "full" not in str(service.view().service_cause)
        assert line.drops == 1


async def test_a_device_that_left_while_the_disk_was_full_is_known_to_be_gone() -> None:
    """Its link does not end again: without a report at this point, the table would send commands to a device that is
    not connected.
    """
    disk, line = Disk(), Line()
    async with served(disk, line) as service:
        await in_turn(service)
        disk.full = True
        service.hear(report(1))
        service.hear(LinkOver("port-missing", "Gone."))
        await in_turn(service)
        assert connected(service)
        answer = await service.operate(returning(), SAM)
        assert answer.code == "journal-full"
        disk.full = False
        await service.operate(returning(round_number=-5), SAM)
        await in_turn(service)
        assert not connected(service)
    assert [event.code for event in disk.events if isinstance(event, DeviceLost)] == ["port-missing"]


async def test_a_disk_that_is_full_still_cannot_be_wished_away() -> None:
    disk, line = Disk(), Line()
    async with served(disk, line) as service:
        disk.full = True
        service.hear(report(1))
        for _ in range(2):
            answer = await service.operate(returning(), SAM)
            assert not answer.accepted
            assert answer.code == "journal-full"
            assert service.view().service == "out_of_service"
    assert line.acknowledged == []


async def test_wrong_pins_count_on_a_full_disk_and_are_recorded_afterwards() -> None:
    """Otherwise a full disk would allow unlimited attempts at PINs."""
    disk, line = Disk(), Line()
    async with served(disk, line) as service:
        await service.pin_tried("sam", Caller(1001), right=False)
        disk.full = True
        for _ in range(FAILURES - 1):
            await service.pin_tried("sam", Caller(1001), right=False)
        assert service.pin_lock("sam", Caller(1001)).locks == 1
        assert service.state.pin_lock("sam", 1001).failures == 1
        disk.full = False
        assert (await service.operate(returning(), SAM)).accepted
        await in_turn(service)
        assert service.pin_lock("sam", Caller(1001)) == service.state.pin_lock("sam", 1001)
        assert service.state.pin_lock("sam", 1001).locks == 1
    assert [event.failures for event in disk.events if isinstance(event, PinRefused)] == [1, 2, 3, 4, 0]


async def test_requests_refused_while_the_disk_was_full_are_recorded_afterwards() -> None:
    disk, line = Disk(), Line()
    async with served(disk, line) as service:
        disk.full = True
        for count in (1, 40, 2):
            await service.refused_at_door("not-admitted", Caller(1001), count)
        await service.refused_at_door("connections", Caller(1001), 5)
        disk.full = False
        assert (await service.operate(returning(), SAM)).accepted
        await in_turn(service)
    told = [(event.what, event.uid, event.count) for event in disk.events if isinstance(event, DoorRefused)]
    assert told == [("not-admitted", 1001, 43), ("connections", 1001, 5)]


# -- damage found while the table runs --------------------------------------------------------------------------------


async def test_damage_found_in_a_round_waits_for_its_end() -> None:
    """The round continues and is concluded. Then the damage is recorded, and no other round begins."""
    decided: list[tuple[TableState, Any]] = []

    def commit(given: Any, decision: Decided) -> None:
        decided.append((decision.state, given))

    SmoothRounds(commit).play()
    (before, _), (after, ends) = decided[-2:]
    assert before.in_round
    assert not after.in_round
    disk, line = Disk(), Line()
    async with served(disk, line) as service:
        await in_turn(service)
        service.state, disk.number = before, before.entry
        service.end_after_round(Fault("journal-damaged", "The journal is damaged.", "Keep the files."))
        await in_turn(service)
        shown = service.view()
        assert shown.service == "in_service"
        assert [str(one) for one in shown.warnings] == [
            "The journal is damaged. After this round the table goes out of service."
        ]
        request = OperationRequest(ends.operation_id, ends.round, ends.operation)
        assert (await service.operate(request, Acting("dealer", Role.DEALER))).accepted
        await in_turn(service)
        shown = service.view()
        assert not service.state.in_round
        assert (shown.service, shown.service_cause) == ("out_of_service", "The journal is damaged.")
        assert shown.warnings == ()
        assert disk.events[-1] == JournalDoubted("journal-damaged", "The journal is damaged.")
        assert (await service.operate(returning(1), SAM)).accepted
        assert service.view().service_cause != "The journal is damaged."


class KeeperOfFiles(NoKeeper):
    """A keeper that begins the next file each time."""

    def __init__(self, disk: Disk) -> None:
        super().__init__()
        self.disk = disk

    async def between_rounds(self, state: TableState) -> None:
        self.disk.begun += 1


@pytest.mark.parametrize(("image", "again"), [("ab" * 32, True), ("", False)], ids=["approved", "none"])
async def test_with_each_file_of_the_journal_a_device_shows_its_program_again(image: str, again: bool) -> None:
    disk, line = Disk(), Line()
    async with served(disk, line, KeeperOfFiles(disk)) as service:
        service.hear(msgspec.structs.replace(ready(), image=image))
        await in_turn(service)
        assert service.state.device.image == image
        service.hear(report(1))
        await in_turn(service)
    assert bool(line.drops) is again
