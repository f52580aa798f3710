"""Screens get the newest state, at most twenty times per second, and a beat each second, under any load."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from msgspec.structs import replace

from controller.api.feed import EventFeed, Published
from controller.api.screen_state import LastView, MessageKind, ScreenView, last_of, layout_of, own_part, table_message
from controller.api.screen_stream import BEAT_EVERY, TURN, ScreenStates
from controller.api.view import LinkView, TableView, view_of
from controller.games import GAMES
from controller.games.specification import Unit
from controller.language import codes
from controller.table.offers import Offer, offers
from controller.table.state import TableState
from tests.table.harness import TableHarness

OPERATES = MessageKind(operates=True)
DISPLAYS = MessageKind(operates=False)
LABELS = {"F3": ("Player 1", "Banker")}


class Table:
    """A table whose state the test sets, and its `screens`."""

    screens: ScreenStates

    def __init__(self) -> None:
        self.feed = EventFeed(self._read)
        self.state: TableState = TableHarness().start().to_betting().state
        self.derived = 0  # offers

    async def _read(self, after: int, until: int) -> list[Published]:
        return []

    def view(self) -> TableView:
        return view_of(self.state, self.link_view())

    def link_view(self) -> LinkView:
        return LinkView("ready", 0.5, 1)

    def shown_by(self) -> object:
        return self.state.entry

    def utc_ns(self) -> int:
        return 7

    def offers(self) -> tuple[Offer, ...]:
        self.derived += 1
        return offers(self.state)

    def happen(self) -> None:
        entry = self.state.entry + 1
        self.state = replace(self.state, entry=entry)
        paused = b'{"entry":%d,"utc_ns":9,"round":1,"event":"table_paused","reason":"lunch"}' % entry
        self.feed.publish([Published(entry, paused)])


class Time:
    """Seconds that pass only in `sleep`; `happens` is called at each of its times."""

    def __init__(self, happens: dict[float, Any], begins: float = 0.0) -> None:
        self.now = begins
        self._happens = dict(sorted(happens.items()))

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Sleep until the next event, if that is earlier, so that the sleeper looks again."""
        until = self.now + seconds
        due = [at for at in self._happens if at <= until]
        self.now = due[0] if due else until
        if due:
            self._happens.pop(due[0])()


async def followed(
    happens: dict[float, Any], table: Table, seconds: float, kind: MessageKind = OPERATES, begins: float = 0.0
) -> list[tuple[float, str, Any]]:
    """Return what a screen receives in that time: the time, the event's name and its data."""
    time = Time(happens, begins)
    given: list[tuple[float, str, Any]] = []

    async def write(data: bytes) -> None:
        if time.now > seconds:
            raise asyncio.CancelledError
        lines = dict(line.split(b": ", 1) for line in data.splitlines() if line)
        given.append((time.now, lines[b"event"].decode(), json.loads(lines[b"data"])))

    table.screens = ScreenStates(table, clock=time.clock, sleep=time.sleep)
    with pytest.raises(asyncio.CancelledError):
        await table.screens.follow(write, lambda: kind, lambda: own_part(ScreenView(True, "0a", "left"), ()))
    return given


async def test_a_state_comes_immediately_and_a_beat_each_second() -> None:
    given = await followed({}, Table(), 3.5)
    assert [(at, name) for at, name, _ in given] == [
        (0.0, "state"), (0.0, "beat"), (1.0, "beat"), (2.0, "beat"), (3.0, "beat"),
    ]  # fmt: skip
    assert given[1][2] == {"utc_ns": 7, "age": 0.5, "link": "ready", "seen": ""}
    assert BEAT_EVERY == 1.0


async def test_what_only_eyes_see_comes_immediately_with_a_beat() -> None:
    table = Table()
    given = await followed({0.5: lambda: table.screens.show_seen("Bets lie at box 1.")}, table, 1.2)
    beats = [(at, data["seen"]) for at, name, data in given if name == "beat"]
    assert beats == [(0.0, ""), (0.5, "Bets lie at box 1.")]


async def test_of_many_changes_the_newest_is_sent_twenty_times_a_second() -> None:
    """A hundred changes in a fifth of a second, then silence."""
    table = Table()
    first = table.state.entry
    given = await followed({0.301 + number / 500: table.happen for number in range(100)}, table, 2.0)
    states = [(at, data["entry"]) for at, name, data in given if name == "state"]
    assert states[-1][1] == first + 100
    assert [entry for _, entry in states] == sorted({entry for _, entry in states})
    turns = [int(at / TURN + 1e-9) for at, _ in states]
    assert len(set(turns)) == len(turns) < 10


@pytest.mark.parametrize("begins", [0.31, 0.34])
async def test_screens_that_came_at_different_times_get_the_next_state_together(begins: float) -> None:
    """Otherwise each would need a message of its own."""
    table = Table()
    given = await followed({0.342: table.happen, 0.347: table.happen}, table, 0.36, begins=begins)
    states = [(round(at, 3), data["entry"]) for at, name, data in given if name == "state"]
    assert states[-1] == (0.35, table.state.entry)
    assert table.derived == len(states) == 2


async def test_the_last_event_is_shown() -> None:
    table = Table()
    given = await followed({0.5: table.happen}, table, 1.5)
    last = [data["last"] for _, name, data in given if name == "state"][-1]
    expected = {"entry": table.state.entry, "utc_ns": 9, "sentence": "Paused: lunch.", "by": ""}
    assert last == expected


@pytest.mark.parametrize(("moment", "by"), [(9, "Sam"), (8, "")])
def test_the_author_of_an_entry_is_shown_with_its_events(moment: int, by: str) -> None:
    """Later reports from the device do not have an author."""
    taken = b'{"entry":1,"utc_ns":%d,"event":"operation_taken","operation":"pause_table","person":"sam"}' % moment
    paused = b'{"entry":2,"utc_ns":9,"round":1,"event":"table_paused","reason":"lunch"}'
    last = last_of([Published(2, paused), Published(1, taken)], GAMES["NC"].words, {"sam": "Sam"})
    assert (last.entry, str(last.sentence), last.by) == (2, "Paused: lunch.", by)


def test_a_resolved_irregularity_shows_the_ruling() -> None:
    resolved = b'{"entry":4,"utc_ns":9,"event":"irregularity_resolved","irregularity":1,"outcome":"ruling","clause":"",'
    resolved += b'"by":"max","role":"pit_manager"}'
    ruled = b'{"entry":3,"utc_ns":9,"event":"ruled","action":"continue","places":[],"ordinals":[],"bets":[],'
    ruled += b'"authority":"max","text":"the bets stand"}'
    taken = b'{"entry":2,"utc_ns":9,"event":"operation_taken","operation":"rule","person":"max"}'
    recent = [Published(4, resolved), Published(3, ruled), Published(2, taken)]
    last = last_of(recent, GAMES["NC"].words, {"max": "Max"})
    assert (last.entry, str(last.sentence), last.by) == (4, "Ruling: play goes on, by Max: the bets stand.", "Max")


def test_displays_name_no_person_who_did_something() -> None:
    table = Table()
    last = LastView(table.state.entry, 9, "Paused: lunch.", "Sam")
    told = [table_message(table.state, table.view(), (), last, kind).last.by for kind in (OPERATES, DISPLAYS)]
    assert told == ["Sam", ""]


async def test_a_display_is_given_no_more_than_it_shows() -> None:
    given = await followed({}, Table(), 0.5, DISPLAYS)
    (_, _, state), *_ = given
    assert (state["offers"], state["reports"]) == ([], [])
    assert state["view"]["phase"] == "betting"


async def test_the_message_of_all_screens_of_a_kind_is_made_once() -> None:
    table = Table()
    states = ScreenStates(table)
    messages = [states.shared(OPERATES) for _ in range(5)]
    assert all(message is messages[0] for message in messages)
    assert states.shared(DISPLAYS) is not messages[0]
    assert states.encoded == 2
    table.happen()
    assert states.shared(OPERATES) is not messages[0]


def test_what_people_can_do_is_derived_once_for_all_languages_and_only_for_those_who_operate() -> None:
    table = Table()
    states = ScreenStates(table)
    states.shared(DISPLAYS)
    assert table.derived == 0
    messages = {states.shared(OPERATES._replace(language=code)) for code in codes()}
    assert (table.derived, len(messages)) == (1, len(codes()))


@pytest.mark.parametrize("game_id", GAMES)
def test_the_layout_is_in_the_words_of_the_game(game_id: str) -> None:
    table = TableHarness(Unit.SETS, game_id=game_id).start()
    layout = layout_of(table.state)
    assert list(layout.labels) == [*(f"B{number}" for number in range(1, layout.boxes + 1)), "D"]
    assert (str(layout.labels["B1"]), str(layout.labels["D"])) == LABELS.get(game_id, ("Box 1", "Dealer"))
    assert layout.clockwise is (game_id != "F3")
    assert layout.first_card is (game_id == "F3")
    assert any(wager.main for wager in layout.wagers)
    assert not layout.wagers_entered


async def test_the_last_message_has_what_was_shown_last() -> None:
    table = Table()
    table.screens = ScreenStates(table)
    table.screens.show_seen("All rounds dealt.")
    assert table.screens.stopped() == b'event: stopped\ndata: {"seen":"All rounds dealt."}\n\n'
