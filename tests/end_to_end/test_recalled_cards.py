"""The faces that the device read go only to the person who recalls them, after the recall is journaled."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from controller.table import operations
from simulators.people.crew import CREW
from tests.end_to_end.stage import Stage, short_folder
from tests.end_to_end.test_api import UUID, Caller, said

_, SUPERVISOR, MANAGER = CREW
RECALL = operations.RecallCards(1, "a dispute")


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder, rounds=3) as stage:
            await stage.start_device()
            await stage.start_daemon()
            yield stage


def by_manager(operation: operations.RecallCards, round_number: int, number: int) -> bytes:
    return said(operation, person="manager", pin=MANAGER.pin, id_=f"{number}{UUID[1:]}", round_number=round_number)


async def test_the_answer_has_the_faces_and_the_journal_the_request(stage: Stage) -> None:
    last = await stage.played()
    view = await stage.state()
    async with Caller(stage) as caller:
        status, answer = await caller.post(by_manager(RECALL, view.round, 1))
        assert (status, answer["accepted"], answer["sentence"]) == (200, True, "")
        events = [json.loads(data) for _, data in await caller.events(0, answer["entry"] + 1)]
    recalled: dict[str, list[str]] = {}
    for card in answer["recalled"]:
        recalled.setdefault(card["place"], []).append(card["card"])
    shown = {one["place"]: one["cards"] for one in events if one["event"] == "hand_exposed" and one["round"] == 1}
    assert shown
    assert {place: recalled[place] for place in shown} == shown
    taken, recall = [one for one in events if one["entry"] > last][-2:]
    assert (taken["event"], taken["person"], taken["proven"]) == ("operation_taken", "manager", "pin")
    assert (recall["event"], recall["of_round"], recall["reason"]) == ("cards_recalled", 1, "a dispute")
    assert set(recall) == {"entry", "utc_ns", "round", "event", "of_round", "place", "reason", "by", "role",
                           "irregularity"}  # fmt: skip
    assert not [line for line in stage.daemon.err if "recall" in line], "the log says nothing of it"


async def test_a_repeated_request_shows_what_is_in_the_journal(stage: Stage) -> None:
    """Another round under the same id is refused."""
    await stage.played()
    view = await stage.state()
    async with Caller(stage) as caller:
        first = await caller.post(by_manager(RECALL, view.round, 1))
        other = await caller.post(by_manager(operations.RecallCards(2, "another"), view.round, 1))
        second = await caller.post(by_manager(operations.RecallCards(2, "another"), view.round, 2))
        assert await caller.post(by_manager(RECALL, view.round, 1)) == first
    assert (other[1]["code"], other[1]["recalled"]) == ("id-used", [])
    assert first[1]["recalled"] != second[1]["recalled"]


async def test_without_the_rank_or_the_pin_nothing_is_shown(stage: Stage) -> None:
    await stage.played()
    view = await stage.state()
    async with Caller(stage) as caller:

        async def ask(**who: Any) -> tuple[int, str, list[Any]]:
            status, answer = await caller.post(said(RECALL, round_number=view.round, **who))
            return status, answer["code"], answer["recalled"]

        assert await ask(person="manager", pin="000000") == (403, "pin", [])
        assert await ask(person="supervisor", pin=SUPERVISOR.pin) == (200, "role", [])
        assert await ask(id_="2" + UUID[1:]) == (200, "role", [])
