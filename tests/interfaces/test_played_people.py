"""Simulated people act as the people in a table's configuration, whoever these are."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from random import Random

import msgspec
import pytest

from controller.api.client import ApiClient
from controller.api.people import Person
from controller.api.pins import hash_pin
from controller.games.specification import Unit
from controller.roles import Role
from controller.table import operations
from simulators.devices.base import LoggedReport, Tempo
from simulators.devices.mechanism import Mechanism
from simulators.people.crew import CREW, CrewClient, CrewError, crew_of
from simulators.people.physical_table import PhysicalTable
from simulators.people.plan import plan_rounds
from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.stage import Stage, short_folder
from tests.support.played_rounds import play_rounds

from .test_command_line import cardshoe

SALT = bytes(range(16))
ANNA = Person("anna", "Anna", Role.DEALER, uids=(1000,))
BEN = Person("ben", "Ben", Role.PIT_SUPERVISOR, hash_pin("482915", SALT))
CARA = Person("cara", "Cara", Role.SHIFT_MANAGER, hash_pin("730164", SALT))
PINS = {"ben": "482915", "cara": "730164"}


def test_the_people_are_those_of_the_configuration() -> None:
    played = crew_of((CARA, BEN, ANNA), 1000, PINS)
    assert [(member.id, member.role, member.pin) for member in played] == [
        ("anna", Role.DEALER, ""),
        ("ben", Role.PIT_SUPERVISOR, "482915"),
        ("cara", Role.SHIFT_MANAGER, "730164"),
    ]


def test_without_pins_those_of_the_simulators_are_tried() -> None:
    people = (ANNA, *(Person(f"x{one.id}", one.name, one.role, one.pin_hash()) for one in CREW[1:]))
    assert [member.id for member in crew_of(people, 1000, {})] == ["anna", "xsupervisor", "xmanager"]


@pytest.mark.parametrize(
    ("people", "uid", "pins", "sentence"),
    [
        ((ANNA, BEN, CARA), 1001, PINS, "No dealer has this user, 1001."),
        ((ANNA, BEN, CARA), 1000, {"ben": "482915"}, "The PIN of Cara is missing or wrong."),
        ((ANNA, BEN, CARA), 1000, {**PINS, "ben": "482916"}, "The PIN of Ben is missing or wrong."),
        ((ANNA, BEN, CARA), 1000, {**PINS, "dora": "1"}, "There is no person dora in the configuration."),
        ((ANNA, CARA), 1000, {"cara": "730164"}, "There is no pit supervisor in the configuration."),
    ],
)
def test_a_person_who_cannot_be_played_is_named(
    people: tuple[Person, ...], uid: int, pins: dict[str, str], sentence: str
) -> None:
    with pytest.raises(CrewError, match=sentence.replace(".", r"\.")):
        crew_of(people, uid, pins)


def _with_own_people(configuration: Path) -> None:
    """Give the stage's configuration people with other names and PINs."""
    text, _, _ = configuration.read_text().partition("[[people]]")
    for person in (ANNA, BEN, CARA):
        text += f'[[people]]\nid = "{person.id}"\nname = "{person.name}"\nrole = "{person.role}"\n'
        text += f'pin_hash = "{person.pin_hash}"\n' if person.pin_hash else f"uids = [{os.getuid()}]\n"
    configuration.write_text(text)


async def test_planned_rounds_are_played_by_the_people_of_the_table() -> None:
    with short_folder() as folder:
        async with Stage(folder, rounds=3) as stage:
            _with_own_people(stage.configuration)
            pins = [word for person, pin in PINS.items() for word in ("--pin", f"{person}={pin}")]
            device = stage.start(
                "simulate", "--fast", "--seed", "7", "--rounds", "3", "--link", str(stage.port), "--key-file",
                str(stage.device_keys), "--dealer", str(stage.configuration), *pins,
            )  # fmt: skip
            await device.until(lambda: device.out)
            await stage.start_daemon()
            assert await device.ended() == 0, device.err
            assert "played 3 rounds" in device.out[-1]


async def test_people_count_their_own_rounds_and_bring_another_deck_each_time() -> None:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            await stage.start_daemon()
            decks = []
            for rounds in (1, 2):
                log = folder / f"{rounds}.log"
                device = stage.start(
                    "simulate", "--fast", "--rounds", str(rounds), "--link", str(stage.port), "--key-file",
                    str(stage.device_keys), "--dealer", str(stage.socket), "--log", str(log),
                )  # fmt: skip
                assert await device.ended() == 0, device.err
                assert f"played {rounds} round" in device.out[-1]
                assert "repeats these decks" in device.err[0]
                reports = [msgspec.json.decode(line, type=LoggedReport) for line in log.read_text().splitlines()]
                decks.append([one.fields[1:] for one in reports][:12])
            assert (await stage.state()).round == 3
            assert decks[0] != decks[1]


class QuickColleague(PhysicalTable):
    """Somebody else opens the bets as soon as the deck is shuffled, before the simulated dealer looks at the table."""

    def __init__(self, mechanism: Mechanism, socket: Path) -> None:
        super().__init__(mechanism, Tempo(0.0))
        self._socket = socket

    async def gather_and_load(self) -> None:
        await super().gather_and_load()
        async with ApiClient(self._socket) as client, asyncio.timeout(PATIENCE):
            voice = CrewClient(client, Random(1))
            number = (await client.state()).round
            while not (await voice.send(voice.request(CREW[0], number, operations.PlaceYourBets()))).accepted:  # noqa: ASYNC110  # another task
                await asyncio.sleep(0.05)


async def test_a_round_that_somebody_else_begins_is_played_as_planned() -> None:
    played = await play_rounds("NC", Unit.SETS, 3, 7, layout=QuickColleague)
    marked = [tuple(event["boxes"]) for event in played.events if event["event"] == "boxes_occupied"]
    assert marked == [planned.boxes for planned in plan_rounds(7, Unit.SETS, 3)]


async def test_people_do_not_join_a_round_that_others_began() -> None:
    with short_folder() as folder:
        async with Stage(folder, rounds=1) as stage:
            await stage.start_daemon()
            hands = stage.start(
                "simulate", "--fast", "--hands", "--link", str(stage.port), "--key-file", str(stage.device_keys),
                "--dealer", str(stage.socket), "--stay",
            )  # fmt: skip
            async with ApiClient(stage.socket) as client:
                voice = CrewClient(client, Random(1))
                for operation in (operations.DealerOn(), operations.OpenTable(), operations.PlaceYourBets()):
                    await hands.until(lambda: hands.out)
                    async with asyncio.timeout(PATIENCE):
                        while not (await voice.send(voice.request(CREW[0], 0, operation))).accepted:  # noqa: ASYNC110  # another process
                            await asyncio.sleep(0.05)
            await hands.end()
            late = stage.start(
                "simulate", "--fast", "--link", str(stage.port), "--key-file", str(stage.device_keys),
                "--dealer", str(stage.socket),
            )  # fmt: skip
            assert await late.ended() == 2
            assert "in a round that other people began" in late.err[-2]


async def test_a_game_that_is_not_the_tables_is_refused(tmp_path: Path) -> None:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            done = cardshoe("simulate", "--dealer", str(stage.configuration), "--game", "TP", cwd=tmp_path)
    assert done.returncode == 2
    assert "is a table of NC, not TP" in done.stderr
