"""`cardshoe audit monitor` in a separate process, next to a bench's growing file and next to a daemon in play."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from controller.api.client import ApiClient
from controller.commands.journal.source import Source
from controller.table import operations
from shuffle_audit.order_files import json_line
from simulators.people.crew import CREW
from tests.end_to_end.processes import Child
from tests.end_to_end.stage import Stage, short_folder
from tests.end_to_end.test_api import UUID, Caller, said
from tests.shuffle_audit.decks import shuffled

SUPERVISOR = CREW[1]
DECK = "D1"


def heard(child: Child, event: str) -> list[dict[str, Any]]:
    return [one for one in map(json.loads, child.out) if one["event"] == event]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def lies_in(journal: Path) -> tuple[int, list[str]]:
    """Return the journal's last entry and its files."""
    return Source(journal).last_entry(), names_in(journal)


@pytest.fixture
async def start() -> AsyncIterator[Callable[..., Child]]:
    started: list[Child] = []

    def make(*arguments: object) -> Child:
        started.append(Child("controller", *map(str, arguments)))
        return started[-1]

    yield make
    for child in started:
        child.abandon()


async def test_a_file_that_grows(start: Callable[..., Child], tmp_path: Path) -> None:
    """An incomplete line waits, the alarm comes once, and SIGTERM ends the command with exit code 1."""
    file, metrics, events = tmp_path / "machine.jsonl", tmp_path / "machine.prom", tmp_path / "events.jsonl"
    lines = [json_line(deck) for deck in shuffled("shelves:10", 4)]
    file.write_bytes(lines[0][:100])
    watching = start("audit", "monitor", file, "--json", "--metrics", metrics, "--events", events)
    with file.open("ab") as out:
        out.write(lines[0][100:])
        out.flush()
        await watching.until(lambda: len(watching.out) >= 1)
        out.write(lines[1] + lines[2][:-1])
        out.flush()
        await watching.until(lambda: heard(watching, "shuffle_alarm"))
        out.write(b"\n" + lines[3])
        out.flush()
        await watching.until(lambda: len(heard(watching, "deck_watched")) == 4)
    watching.signal(signal.SIGTERM)
    assert await watching.ended() == 1, watching.err
    assert watching.err == []
    assert [one["deck"] for one in heard(watching, "deck_watched")] == [1, 2, 3, 4]
    (alarm,) = heard(watching, "shuffle_alarm")
    assert json.loads(events.read_text()) == alarm
    assert 'cardshoe_shuffle_alarm{source="machine.jsonl"} 1.0' in metrics.read_text()
    assert names_in(tmp_path) == ["events.jsonl", "machine.jsonl", "machine.prom"]


async def test_a_good_machine_until_interrupted(start: Callable[..., Child], tmp_path: Path) -> None:
    file = tmp_path / "machine.jsonl"
    file.write_bytes(b"".join(map(json_line, shuffled("uniform", 3))))
    watching = start("audit", "monitor", file)
    await watching.until(lambda: len(watching.out) == 3)
    watching.signal(signal.SIGINT)
    assert (await watching.ended(), watching.err) == (0, [])


def test_it_can_be_stopped_while_it_reads_the_past(tmp_path: Path) -> None:
    """Nobody reads more than a line of its output meanwhile, so that it blocks within a few hundred lines."""
    file, decks = tmp_path / "machine.jsonl", 5_000
    file.write_bytes(json_line(*shuffled("uniform", 1)) * decks)
    command = [sys.executable, "-m", "controller", "audit", "monitor", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as watching:
        assert watching.stdout is not None
        watching.stdout.readline()
        watching.send_signal(signal.SIGTERM)
        rest = len(watching.stdout.readlines())
        assert watching.wait() == 0
    assert rest < decks / 2


async def test_a_file_that_is_shortened_meanwhile(start: Callable[..., Child], tmp_path: Path) -> None:
    file = tmp_path / "machine.jsonl"
    file.write_bytes(b"".join(map(json_line, shuffled("uniform", 2))))
    watching = start("audit", "monitor", file)
    await watching.until(lambda: len(watching.out) == 2)
    file.write_bytes(b"")
    assert await watching.ended() == 2
    assert watching.err == [f"cardshoe: {file} was replaced or shortened.", "  Start the monitor again."]


async def name_decks(stage: Stage, caller: Caller) -> None:
    """Name each deck that is put in as the recorded deck, until the round is over."""
    number = 1
    async with ApiClient(stage.socket) as client:
        after = 0
        while True:
            events = await stage.events_until(client, "deck_arrived", after)
            after = events[-1]["entry"]
            number += 1
            await caller.post(said(operations.LoadDeck(DECK), id_=f"{number}{UUID[1:]}", round_number=0))
            if number == 3:
                return


async def test_beside_a_daemon_in_play(start: Callable[..., Child]) -> None:
    """A new deck goes into a machine that riffles once: an alarm follows the first round, and does not affect the
    second.

    The journal does not get an entry about it, and its files stay the same.
    """
    with short_folder() as folder:
        async with Stage(folder, rounds=2) as stage:
            await stage.start_daemon()
            async with Caller(stage) as caller:
                brought = operations.BringDeck(DECK, "red", "seal 7", 52, "a witness")
                status, answer = await caller.post(said(brought, person=SUPERVISOR.id, pin=SUPERVISOR.pin))
                assert (status, answer["code"]) == (200, ""), answer
                events = folder / "alarms.jsonl"
                watching = start(
                    "audit", "monitor", stage.journal, "--new-deck", "standard", "--json", "--events", events
                )
                stage.device = stage.start(
                    "simulate", "--kind", "shuffler", "--seed", "7", "--rounds", "2", "--link", str(stage.port),
                    "--key-file", str(stage.device_keys), "--dealer", str(stage.socket), "--shuffle", "riffle:1",
                )  # fmt: skip
                await name_decks(stage, caller)
            await stage.played()
            await stage.last_state()
            await watching.until(lambda: len(heard(watching, "deck_watched")) == 2)
            before = lies_in(stage.journal)
            again = start("audit", "monitor", stage.journal, "--new-deck", "standard", "--json", "--once")
            assert await again.ended() == 1
            assert lies_in(stage.journal) == before
            watching.signal(signal.SIGTERM)
            assert await watching.ended() == 1
    decks = heard(watching, "deck_watched")
    assert decks[0]["known"] >= 9
    assert [one["left_out"] for one in decks] == ["", "order-in-not-known"]
    (alarm,) = heard(watching, "shuffle_alarm")
    assert (alarm["source"], alarm["deck"], alarm["likeliest"]) == ("T-1", 1, "one riffle")
    assert heard(again, "deck_watched") == decks, "what is found again is the same"
