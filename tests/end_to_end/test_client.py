"""The client library against a real daemon: lost connections, lost answers, refusals, both listeners."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import repeat
from pathlib import Path
from random import Random

import pytest

from controller.client import (
    AnswerLostError,
    EventId,
    NotInJournalError,
    RequestRefusedError,
    StreamedEvent,
    TableClient,
    TableUnreachableError,
    operation_of,
    operations,
)
from simulators.people.crew import CREW
from tests.end_to_end.browser import free_port
from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.stage import Stage, short_folder
from tests.support.cutting_proxy import CuttingProxy

SUPERVISOR = CREW[1]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder, rounds=1) as made:
            yield made


async def at_once(_seconds: float) -> None:
    """Replaces a pause and returns immediately."""
    await asyncio.sleep(0)


def client(at: Path | str) -> TableClient:
    return TableClient(at, pauses=repeat(0.0), sleep=at_once)


async def up_to(table: TableClient, entry: int, after: EventId | None = None) -> list[StreamedEvent]:
    found: list[StreamedEvent] = []
    async with asyncio.timeout(PATIENCE):
        stream = table.events(after or EventId())
        async for event in stream:
            found.append(event)
            if event.id.entry >= entry:
                break
        await stream.aclose()
    return found


async def test_events_come_once_and_in_order_over_lost_connections(stage: Stage) -> None:
    await stage.start_device()
    await stage.start_daemon()
    await stage.played()
    async with client(stage.socket) as table:
        end = (await table.state()).entry
        every = await up_to(table, end)
    assert [event.id.entry for event in every] == sorted({event.id.entry for event in every})
    assert {event.id.journal for event in every} == {(await stage.state()).journal}
    assert {"round_began", "hand_exposed"} <= {event.name for event in every}
    for seed in range(12):
        random = Random(seed)
        cuts = iter([random.randrange(1, 9_000) for _ in range(40)])
        async with CuttingProxy(stage.folder / f"p{seed}", stage.socket, cuts) as proxy, client(proxy.path) as table:
            assert await up_to(table, end) == every
            assert sum("/v1/events" in line for line in proxy.asked) > 5
            middle = every[len(every) // 2]
            assert await up_to(table, end, middle.id) == every[len(every) // 2 + 1 :]


async def test_events_continue_after_a_daemon_was_killed(stage: Stage) -> None:
    await stage.start_daemon()
    async with client(stage.socket) as table:
        stream = table.events()
        first = await anext(stream)
        await stage.kill_daemon()
        await stage.start_daemon()
        await table.enter(operations.PauseTable("lunch"))
        found = [first]
        async with asyncio.timeout(PATIENCE):
            while found[-1].name != "table_paused":
                found.append(await anext(stream))
        await stream.aclose()
        assert found == await up_to(table, found[-1].id.entry)


async def test_the_event_of_another_journal_is_not_waited_for(stage: Stage) -> None:
    await stage.start_daemon()
    async with client(stage.socket) as table:
        with pytest.raises(NotInJournalError):
            await anext(table.events(EventId("0a", 1)))


async def test_a_lost_answer_is_looked_up_and_nothing_is_entered_twice(stage: Stage) -> None:
    await stage.start_daemon()
    async with CuttingProxy(stage.folder / "p", stage.socket, iter([0, 0])) as proxy, client(proxy.path) as table:
        done = await table.enter(operations.PauseTable("lunch"), round_number=0)
        assert done.accepted
        assert done.entry > 0
        verbs = [line.split()[0] for line in proxy.asked]
        assert verbs[0] == "POST"
        assert "GET" in verbs[1:]
        state = await table.state()
        events = await up_to(table, state.entry)
    assert [event.name for event in events].count("table_paused") == 1


async def test_an_answer_that_cannot_be_had_names_the_operation(stage: Stage) -> None:
    async with TableClient(stage.socket, pauses=(), new_id=lambda: "11111111-2222-4333-8444-555555555555") as table:
        with pytest.raises(TableUnreachableError):
            await table.state()
        with pytest.raises(AnswerLostError) as lost:
            await table.enter(operations.OpenTable(), round_number=0)
        await stage.start_daemon()
        assert await table.answer_of(lost.value.id) is None


async def test_a_refusal_has_a_code_a_sentence_and_a_next_step(stage: Stage) -> None:
    await stage.start_daemon()
    async with client(stage.socket) as table:
        with pytest.raises(RequestRefusedError) as refused:
            await table.enter(operations.PlaceYourBets())
        assert refused.value.code == "phase"
        assert str(refused.value) == refused.value.sentence != ""
        assert refused.value.next_step == (await table.state()).next_step != ""
        with pytest.raises(RequestRefusedError) as refused:
            await table.enter(operations.PauseTable("lunch"), person=SUPERVISOR.id, pin="000000")
        assert refused.value.code == "pin"


async def test_at_the_port_a_system_enrols_itself_and_operates(stage: Stage) -> None:
    port = free_port()
    stage.configure(law=f"[api.http]\nport = {port}\n")
    await stage.start_daemon()
    async with client(f"http://localhost:{port}") as table:
        with pytest.raises(RequestRefusedError) as refused:
            await table.enter(operations.PauseTable("lunch"))
        assert refused.value.code == "not-enrolled"
        with pytest.raises(RequestRefusedError) as refused:
            await table.enrol("System", SUPERVISOR.id, "000000")
        assert refused.value.code == "pin"
        cookie = await table.enrol("System", SUPERVISOR.id, SUPERVISOR.pin)
        await table.enter(operations.PauseTable("lunch"), person=SUPERVISOR.id, pin=SUPERVISOR.pin)
    async with TableClient(f"http://localhost:{port}", cookie) as table:
        resume = next(offer for offer in await table.lawful() if offer.primary)
        assert operation_of(resume) == operations.ResumeTable()
        await table.enter(operation_of(resume), person=SUPERVISOR.id, pin=SUPERVISOR.pin)
        assert (await table.state()).paused == ""
        assert not (await table.preview(operations.OpenTable())).accepted
