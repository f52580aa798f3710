"""The reports of many tables, as their daemons send them: quiet ones, and one of every kind that needs a person."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from controller.api.in_language import WHOLE, in_language
from controller.daemon.table_service import NO_ROOM
from controller.floor.broker import BrokerConnection
from controller.floor.reporting import KEPT_FOR
from controller.floor.table_report import DeviceReport, OpenIrregularity, ServiceReport, TableReport
from controller.floor.topics import TablePlace, TopicSubject
from controller.games import GAMES
from controller.games.own_words import OwnWords
from controller.games.specification import FACT_QUESTIONS, KINDS, Kind
from controller.roles import Role
from firmware_bridge.messages import Message, counted, message, sentences

SECOND: Final = 10**9
NOW: Final = 1_795_647_373 * SECOND
IN_A_PIT: Final = 16
CARDS_IN_A_PHASE: Final = 8
CARDS_IN_A_ROUND: Final = 56
WORDS: Final = OwnWords()
PHASES: Final = (
    ("dealing_sets", counted("Deal 1 card to {place}.", "Deal {count} cards to {place}.", 3, place=WORDS.box(3))),
    ("betting", message("Mark the boxes with bets.")),
    ("exposing", message("Turn over {hands}.", hands=WORDS.box(1))),
    ("settling", message('Pay and take the bets, then press "Paid".')),
    ("examining", message("Turn over {hands}.", hands=WORDS.box(2))),
    ("concluded", message("Round over. Collect the cards.")),
    ("idle", message('Announce "Place your bets".')),
)
PEOPLE: Final = {"ana": "Ana Berger"}
DEALERS: Final = ("Ana", "Ben", "Chen Wei", "Dana", "")


def call(role: Role, question: Message) -> Message:
    return sentences(message("Call the {role}.", role=role.named), question)


EXPOSED: Final = OpenIrregularity(
    812, Kind.EXPOSED_CARD, KINDS[Kind.EXPOSED_CARD], WORDS.of("B1"), 128, ("NC 5.7",), Role.PIT_SUPERVISOR.named,
    call(Role.PIT_SUPERVISOR, message("Was a card of {place} exposed?", place=WORDS.of("B1"))), 0, True,
)  # fmt: skip
TOO_MANY: Final = OpenIrregularity(
    640, Kind.WRONG_COUNT, KINDS[Kind.WRONG_COUNT], WORDS.of("D"), 64, ("NC 5.5.4", "NC 5.5"),
    Role.PIT_SUPERVISOR.named, FACT_QUESTIONS["handled"], 0, True,
)  # fmt: skip
LATE_BET: Final = OpenIrregularity(
    77, Kind.LATE_BET, KINDS[Kind.LATE_BET], WORDS.of("B2"), 31, ("",), Role.SHIFT_MANAGER.named,
    call(Role.SHIFT_MANAGER, message('Was a bet placed after "No more bets"?')), 0, False,
)  # fmt: skip


def encoded(report: msgspec.Struct) -> bytes:
    """Return the payload as a table sends it: each text in English, with its message."""
    return msgspec.json.encode(in_language(report, WHOLE))


class Told(NamedTuple):
    """The reports of one table. With `status` None its daemon sends nothing."""

    place: TablePlace
    table: TableReport
    device: DeviceReport
    service: ServiceReport | None

    def messages(self) -> Iterator[tuple[str, bytes, int]]:
        """Yield topic, payload and expiry of each message."""
        yield self.place.topic(TopicSubject.TABLE), encoded(self.table), KEPT_FOR
        yield self.place.topic(TopicSubject.DEVICE), encoded(self.device), KEPT_FOR
        if self.service is not None:
            yield self.place.topic(TopicSubject.SERVICE), encoded(self.service), 0


def place_of_number(number: int, site: str = "vienna") -> TablePlace:
    return TablePlace(site, f"p{number // IN_A_PIT + 1}", f"nc-{number + 1:02}")


def quiet(number: int, now: int = NOW, step: int = 0) -> Told:
    """Return a table in normal play. `step` is its progress."""
    phase, next_step = PHASES[(number + step // CARDS_IN_A_PHASE) % len(PHASES)]
    round_number = 1 + (7 * number + step // CARDS_IN_A_ROUND) % 300
    table = TableReport(
        journal=f"{number:032x}", entry=40 + step, utc_ns=now, simulated=True, game="NC", title=GAMES["NC"].title,
        unit="sets", phase=phase, since_utc_ns=now - (number % 5) * 40 * SECOND, service="in_service",
        service_cause=message("the device is ready"), held=False, paused="", round=round_number,
        dealer=DEALERS[number % len(DEALERS)], next_step=next_step, irregularities=(),
    )  # fmt: skip
    device = DeviceReport(
        utc_ns=now, link="ready", code="", sentence="", connected=True, kind="shuffler", serial=f"CS-{number:04}",
        stopped="", heard_utc_ns=now - SECOND // 2, left=52 - (number + step) % 30,
    )  # fmt: skip
    return Told(place_of_number(number), table, device, ServiceReport("running", now - 3600 * SECOND, "0.1.0", PEOPLE))


def opened(told: Told, found: OpenIrregularity, minutes: float) -> Told:
    since = told.table.utc_ns - round(minutes * 60) * SECOND
    one = msgspec.structs.replace(found, since_utc_ns=since)
    table = msgspec.structs.replace(
        told.table, irregularities=(*told.table.irregularities, one), held=found.blocks, next_step=found.act
    )
    return told._replace(table=table)


def changed(told: Told, **of_table: object) -> Told:
    return told._replace(table=msgspec.structs.replace(told.table, **of_table))


def gone(told: Told, status: str = "lost") -> Told:
    assert told.service is not None
    return told._replace(service=msgspec.structs.replace(told.service, status=status))


def device_away(told: Told) -> Told:
    device = msgspec.structs.replace(
        told.device, link="lost", connected=False, heard_utc_ns=told.device.utc_ns - 42 * SECOND,
        sentence=message("The device has been silent for {seconds} s.", seconds=3),
    )  # fmt: skip
    return told._replace(device=device)


def floor_of(count: int, now: int = NOW) -> list[Told]:
    """Return `count` tables. Of four or more, one of each kind needs a person; these are spread over the floor."""
    tables = [quiet(number, now) for number in range(count)]

    def at(share: float) -> int:
        return int(share * count)

    tables[at(0.0)] = opened(tables[at(0.0)], EXPOSED, 12)
    if count < 4:
        return tables
    tables[at(0.3)] = device_away(changed(tables[at(0.3)], phase="dealing_sets"))
    if count < 16:
        return tables
    tables[at(0.1)] = opened(changed(tables[at(0.1)], phase="examining"), TOO_MANY, 3)
    tables[at(0.2)] = opened(tables[at(0.2)], LATE_BET, 31)
    tables[at(0.4)] = gone(tables[at(0.4)])
    tables[at(0.5)] = changed(tables[at(0.5)], phase="closed", next_step=message("Open the table."), dealer="")
    tables[at(0.55)] = gone(changed(tables[at(0.55)], phase="closed"), "stopped")
    tables[at(0.6)] = changed(tables[at(0.6)], paused="A dispute", held=True)
    tables[at(0.7)] = changed(tables[at(0.7)], service="out_of_service", service_cause=NO_ROOM.sentence)
    full = "The disk with the journal is {percent} % full. Move what is not needed to another disk."
    tables[at(0.8)] = changed(tables[at(0.8)], warnings=(message(full, percent=91),))
    tables[at(0.9)] = changed(tables[at(0.9)], phase="maintenance")
    return tables


async def tell(connection: BrokerConnection, tables: Iterable[Told]) -> None:
    """Send them until the broker has all."""
    waiting: set[asyncio.Task[None]] = set()
    for table in tables:
        for topic, payload, expiry in table.messages():
            waiting.add(asyncio.create_task(connection.publish(topic, payload, retained=True, expiry=expiry)))
            if len(waiting) >= 20:
                _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    if waiting:
        await asyncio.wait(waiting)
