"""Other users of the machine at a real daemon's socket: they cannot do anything, and their attempts are recorded."""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import AsyncIterator
from resource import RLIMIT_NOFILE, prlimit
from typing import Any
from uuid import UUID

import pytest

from controller.api.bodies import OperationRequest
from controller.api.client import ApiClient, TableUnreachableError
from controller.api.refusals import BURST
from controller.table import operations
from controller.table.events import DoorRefused, OperationRefused, OperationTaken, PinAccepted, PinRefused
from controller.table.operations import AnyOperation
from controller.table.screens import FAILURES
from simulators.people.crew import CREW
from tests.end_to_end.child import ANOTHER_USER
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.processes import Child
from tests.end_to_end.stage import Stage, short_folder

SUPERVISOR = CREW[1]
NOBODY = pwd.getpwnam(ANOTHER_USER).pw_uid
AS_PERSON = f'[[people]]\nid = "friend"\nname = "Friend"\nrole = "dealer"\nuids = [{NOBODY}]\n'
AS_READER = f'[[readers]]\nid = "wall"\nuids = [{NOBODY}]\n'
WRONG = "640917"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be several users")


class Attacker:
    """Another user of the machine, in a separate process."""

    def __init__(self, stage: Stage) -> None:
        self._child = Child("tests.end_to_end.attacker", str(stage.socket), listens=True)

    async def say(self, *said: Any) -> list[str]:
        before = len(self._child.out)
        self._child.tell(*map(json.dumps, said))
        await self._child.until(lambda: len(self._child.out) == before + len(said))
        return self._child.out[before:]

    async def operate(self, count: int, person: str = "", pin: str = "", **operation: object) -> list[tuple[int, str]]:
        """Send operations, and return the status and code of each answer."""
        fields = {"round": 0, "person": person, "pin": pin, "operation": operation}
        answers = await self.say(*({"id": str(UUID(int=number + 1)), **fields} for number in range(count)))
        return [(int(answer[:3]), json.loads(answer[4:])["code"]) for answer in answers]

    def end(self) -> None:
        self._child.abandon()


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        folder.chmod(0o755)
        async with Stage(folder, rounds=1) as stage:
            yield stage


@pytest.fixture
async def attacker(stage: Stage) -> AsyncIterator[Attacker]:
    attacker = Attacker(stage)
    yield attacker
    attacker.end()


async def here(stage: Stage, number: int, operation: AnyOperation, pin: str = "") -> str:
    """Send an operation from the table's own console, and return the code of the answer."""
    async with ApiClient(stage.socket) as client:
        person = SUPERVISOR.id if pin else ""
        answer = await client.operate(OperationRequest(str(UUID(int=1000 + number)), 0, operation, person, pin))
    return answer.code


async def test_idle_connections_of_a_stranger_stop_nothing(stage: Stage, attacker: Attacker) -> None:
    """There are ten times as many connections as the daemon has descriptors. The table still works, and the log stays
    short.
    """
    daemon = await stage.start_daemon(watchdog_us=300_000)
    prlimit(daemon.pid, RLIMIT_NOFILE, (110, 110))
    assert await attacker.say(1100) == ["1100"]
    assert await here(stage, 1, operations.PauseTable("lunch")) == ""
    assert (await stage.state()).paused == "lunch"
    stage.drain_notified()
    await stage.until_notified("WATCHDOG=1")
    assert await daemon.end() == 0
    assert len(daemon.err) < 10
    refused = Evidence(stage).of(DoorRefused)
    assert [(one.what, one.uid) for one in refused] == [("not-admitted", NOBODY)] * 2
    assert sum(one.count for one in refused) == 1100


async def test_idle_connections_of_an_admitted_user_stop_nothing(stage: Stage, attacker: Attacker) -> None:
    stage.configure(law=AS_PERSON)
    daemon = await stage.start_daemon(watchdog_us=300_000)
    prlimit(daemon.pid, RLIMIT_NOFILE, (110, 110))
    assert await attacker.say(1100) == ["1100"]
    assert await here(stage, 1, operations.PauseTable("lunch")) == ""
    stage.drain_notified()
    await stage.until_notified("WATCHDOG=1")
    assert await daemon.end() == 0
    assert len(daemon.err) < 10


async def test_a_stranger_who_connects_without_pause_locks_nobody_out(stage: Stage, attacker: Attacker) -> None:
    """The socket's queue is full all the time; new connections wait in line."""
    await stage.start_daemon()
    assert await attacker.say(True) == ["full"]
    for number in range(5):
        reason = f"flood {number}"
        assert await here(stage, 2 * number + 1, operations.PauseTable(reason)) == ""
        assert (await stage.state()).paused == reason
        assert await here(stage, 2 * number + 2, operations.ResumeTable()) == ""


async def test_guesses_lock_the_pair_and_nobody_else_and_a_restart_does_not_help(
    stage: Stage, attacker: Attacker
) -> None:
    stage.configure(law=AS_PERSON)
    await stage.start_daemon()
    pause = {"operation": "pause_table", "reason": "x"}
    answers = await attacker.operate(200, SUPERVISOR.id, WRONG, **pause)
    assert answers == [(403, "pin")] * (FAILURES - 1) + [(403, "pin-locked")] * (200 - FAILURES + 1)
    await stage.kill_daemon()
    await stage.start_daemon()
    assert await attacker.operate(1, SUPERVISOR.id, SUPERVISOR.pin, **pause) == [(403, "pin-locked")]
    assert await here(stage, 1, operations.PauseTable("lunch"), WRONG) == "pin"
    assert await here(stage, 2, operations.PauseTable("lunch"), SUPERVISOR.pin) == ""
    assert await here(stage, 3, operations.ResumeTable()) == ""
    assert await stage.daemon.end() == 0
    evidence = Evidence(stage)
    refused = [(one.uid, one.failures, one.locks) for one in evidence.of(PinRefused)]
    assert refused == [(NOBODY, 1, 0), (NOBODY, 2, 0), (NOBODY, 3, 0), (NOBODY, 4, 0), (NOBODY, 0, 1), (0, 1, 0)]
    assert [one.uid for one in evidence.of(PinAccepted)] == [0]
    assert {(one.what, one.uid) for one in evidence.of(DoorRefused)} == {("pin-locked", NOBODY)}
    taken = [(one.person, one.uid, one.proven) for one in evidence.of(OperationTaken)]
    assert taken == [(SUPERVISOR.id, 0, "pin"), ("dealer", 0, "user")]


async def test_a_reader_sees_the_table_and_does_nothing(stage: Stage, attacker: Attacker) -> None:
    stage.configure(law=AS_READER)
    await stage.start_daemon()
    state, health = await attacker.say("/v1/state", "/healthz")
    assert state.startswith('200 {"journal":')
    assert health == "200 ok"
    pause = {"operation": "pause_table", "reason": "x"}
    assert await attacker.operate(1, **pause) == [(403, "reader")]
    assert await attacker.operate(1, SUPERVISOR.id, SUPERVISOR.pin, **pause) == [(403, "reader")]
    assert (await stage.state()).paused == ""
    assert await stage.daemon.end() == 0
    assert [(one.what, one.uid) for one in Evidence(stage).of(DoorRefused)] == [("reader", NOBODY)] * 2


async def test_refused_operations_do_not_fill_the_journal(stage: Stage, attacker: Attacker) -> None:
    """The table's own console is still served."""
    stage.configure(law=AS_PERSON)
    await stage.start_daemon()
    answers = await attacker.operate(5 * BURST, operation="conclude_round")
    assert answers[: BURST + 1] == [(200, "phase")] * BURST + [(429, "refused-often")]
    assert await here(stage, 1, operations.PauseTable("lunch")) == ""
    assert await stage.daemon.end() == 0
    evidence = Evidence(stage)
    asked = [code for _, code in answers].count("phase")
    assert BURST <= asked == len(evidence.of(OperationRefused)) < 2 * BURST
    assert sum(one.count for one in evidence.of(DoorRefused)) == 5 * BURST - asked


async def test_an_id_repeats_its_answer_for_the_same_operation_only(stage: Stage) -> None:
    """This also holds after a restart: the journal has the first entry."""
    await stage.start_daemon()
    lunch, brawl = operations.PauseTable("lunch"), operations.PauseTable("a brawl")
    assert [await here(stage, 1, one) for one in (lunch, lunch, brawl, lunch)] == ["", "", "id-used", ""]
    assert [await here(stage, 2, one) for one in (lunch, brawl)] == ["paused", "id-used"]
    await stage.kill_daemon()
    await stage.start_daemon()
    assert [await here(stage, 1, one) for one in (brawl, lunch)] == ["id-used", ""]
    assert (await stage.state()).paused == "lunch"
    assert await stage.daemon.end() == 0
    assert [one.code for one in Evidence(stage).of(OperationRefused)] == ["paused"]


async def test_a_second_daemon_does_not_touch_the_socket_of_the_first(stage: Stage) -> None:
    """The configuration of another table names the same socket."""
    first = await stage.start_daemon()
    text = stage.configuration.read_text().replace('"journal"', '"other"')
    stage.configuration.write_text(text)
    second = stage.spawn_daemon()
    assert await second.ended() == 78
    assert "api.sock belongs to a program that is running" in second.err[-2]
    assert first.running
    assert (await stage.state()).table == "T-1"


@pytest.mark.parametrize("named", ["journal.key", "device.keys", "table.toml", "."])
async def test_a_socket_that_names_a_file_of_the_table_deletes_nothing(stage: Stage, named: str) -> None:
    stage.configuration.write_text(stage.configuration.read_text().replace('"api.sock"', f'"{named}"'))
    before = {one.name: one.read_bytes() for one in stage.folder.iterdir() if one.is_file()}
    daemon = stage.spawn_daemon()
    assert await daemon.ended() == 78
    assert "exists and is not a socket; it was left untouched" in daemon.err[-2]
    place = stage.folder / named
    step = f"such as {place}/api.sock." if named == "." else f"(mv {place} {place}.old) if it does not belong there."
    assert step in daemon.err[-1]
    assert before.items() <= {one.name: one.read_bytes() for one in stage.folder.iterdir() if one.is_file()}.items()


async def test_a_socket_that_names_the_journal_deletes_nothing(stage: Stage) -> None:
    await stage.start_daemon()
    assert await stage.daemon.end() == 0
    stage.configuration.write_text(stage.configuration.read_text().replace('"api.sock"', '"journal/000001.journal"'))
    daemon = stage.spawn_daemon()
    assert await daemon.ended() == 78
    stage.configuration.write_text(
        stage.configuration.read_text().replace('socket = "journal/000001.journal"', 'socket = "s"')
    )
    stage.socket = stage.folder / "s"
    await stage.start_daemon()
    assert await stage.daemon.end() == 0
    assert Evidence(stage).head


async def test_a_refused_user_reads_the_reason(stage: Stage) -> None:
    """Uses the product's own client, whose first bytes may come after the listener has closed the connection."""
    stage.configure(uid=54321)
    await stage.start_daemon()
    async with ApiClient(stage.socket) as client:
        for _ in range(20):
            with pytest.raises(TableUnreachableError, match="not admitted"):
                await client.state()
