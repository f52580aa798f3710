"""Rounds gathered from published events only match the table's own state after every decision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from controller.api.view import LinkView, view_of
from controller.commands.journal.account import FAULTS, NOTED
from controller.commands.journal.data import whole
from controller.commands.journal.decisions import DecisionInRound, read
from controller.commands.journal.reading import find_round
from controller.commands.journal.report_sections import FAULT_WORDS
from controller.commands.journal.rounds import (
    CONCLUDED,
    DECIDES,
    IN_PROGRESS,
    OUTSIDE_ROUNDS,
    VOID,
    JournaledRound,
    Rounds,
)
from controller.commands.journal.source import Source
from controller.commands.journal.table import OF_THE_TABLE
from controller.games.specification import Kind
from controller.roles import Role
from controller.table import operations
from controller.table.events import Event, access_events, record_events
from controller.table.phases import IN_ROUND, Phase
from controller.table.round_summary import FACE_DOWN, FACE_UP
from controller.table.state import TableState
from firmware_bridge.cards import Card
from simulators.scenarios import names
from tests.journal_commands.made import IDENTITY, JournaledTable
from tests.journal_commands.played import played

EVERY_SCENARIO = pytest.mark.parametrize("name", names())


@EVERY_SCENARIO
def test_an_account_agrees_with_the_table(name: str) -> None:
    rounds, complete, read_so_far = Rounds(), [], []
    for decision, state in played(name):
        read_so_far.append(read(decision))
        complete += rounds.take(read_so_far[-1])
        if state.round.number:
            compare(rounds.get(state.round.number), state)
    every = [*complete, *rounds.rest()]
    assert sorted(one.number for one in every) == list(range(1, len(every) + 1)), "each round once"
    last = played(name)[-1].state
    found = [found for one in every for found in one.irregularities]
    assert sum(not one.outcome for one in found) == len(last.open)
    for one in every[2:]:
        assert whole(read_from_the_round_before(one.number, read_so_far)) == whole(one)


def read_from_the_round_before(number: int, decisions: list[DecisionInRound]) -> JournaledRound:
    """Return a round as `find_round` reads it."""
    rounds, found = Rounds(), []
    for one in decisions:
        if one.round >= number - 1 or not OF_THE_TABLE.isdisjoint(happened.name for happened in one.events):
            found += rounds.take(one)
    return next(one for one in (*found, *rounds.rest()) if one.number == number)


def compare(account: JournaledRound, state: TableState) -> None:
    view = view_of(state, LinkView())
    lies = {hand.place: hand for hand in view.hands if hand.cards or hand.count}
    assert {hand.place for hand in account.dealt} == lies.keys()
    for hand in account.dealt:
        seen = lies[hand.place]
        assert sorted(hand.cards)[: len(seen.cards)] == sorted(seen.cards) or len(hand.cards) == seen.count
        known = state.round.hands[hand.place].shown or state.round.hands[hand.place].named  # face down again, too
        assert [card for card in hand.cards if card not in (FACE_DOWN, FACE_UP)] == [card.code for card in known]
        assert len(hand.cards) == (len(seen.cards) if seen.shown else seen.count)
        assert (bool(hand.dead), hand.outcome, hand.half) == (seen.dead, seen.outcome, seen.half)
        assert str(hand.name) == (str(seen.class_name) if hand.outcome else ""), (
            "a judgement that was withdrawn is gone"
        )
    assert account.boxes == list(state.round.boxes)
    assert ENDINGS.get(state.phase, IN_PROGRESS) == account.ending or state.phase not in IN_ROUND
    if state.phase in IN_ROUND:
        assert account.ending == IN_PROGRESS
    assert (account.void is not None) == (state.round.voided_from is not None)
    assert bool(account.chips) == state.round.chips_paid
    assert [bet["number"] for bet in account.settlement] == [bet.number for bet in state.round.settlement]
    open_ones = [found.id for found in account.irregularities if not found.outcome]
    assert open_ones == [found.id for found in state.open if found.round == account.number]
    assert {found.id: found.row["id"] for found in account.irregularities if not found.outcome} == {
        found.id: found.row.id for found in state.open if found.round == account.number
    }


def test_events_are_called_by_their_names() -> None:
    names_of_events = {event.__struct_config__.tag for event in Event.__subclasses__()}
    for called in (OUTSIDE_ROUNDS, DECIDES, FAULTS, FAULT_WORDS.keys(), NOTED, OF_THE_TABLE):
        assert set(called) <= names_of_events


def test_screens_pins_and_the_record_belong_to_no_round_that_has_ended() -> None:
    found = {
        one for one in Event.__subclasses__() if one.__module__ in (access_events.__name__, record_events.__name__)
    }
    assert {one.__struct_config__.tag for one in found} <= OUTSIDE_ROUNDS


def test_a_dealer_who_takes_over_after_a_round_does_not_become_its_dealer(tmp_path: Path) -> None:
    with dealt(tmp_path) as table:
        table.finish()
        table.do(operations.PauseTable("a dispute"))
        table.do(operations.TakeOver(), Role.PIT_SUPERVISOR)
        table.do(operations.ResumeTable(), Role.PIT_SUPERVISOR)
    found = find_round(Source(tmp_path), 1)
    assert found is not None
    assert found.dealer != "pit-supervisor"
    assert not {line.event["event"] for line in found.course} & {"table_paused", "table_resumed", "handed_over"}


def test_faces_that_people_named_stay_with_a_hand_that_is_moved_whole(tmp_path: Path) -> None:
    with dealt(tmp_path) as table:
        table.report(Kind.EXPOSED_CARD, "B1", card=1)
        table.confirm()
        table.all_continue()
        table.do(operations.NameExposed("B1", (Card.parse("KH"),)))
        table.swap("B1", "B3")
        table.confirm(handled=False)
        table.put_right()
        assert [card.code for card in table.state.round.hands["B3"].named] == ["KH"]
    assert cards_of_round_1(tmp_path, "B3") == ["KH", "??", "??"]
    assert cards_of_round_1(tmp_path, "B1") == ["??", "??", "??"]


@contextmanager
def dealt(folder: Path) -> Iterator[JournaledTable]:
    """Yield a table whose first round was dealt; its journal is closed afterwards."""
    table = JournaledTable(folder)
    with closing(table.journal):
        table.start_daemon("start-1", "pc-1", table=IDENTITY.table)
        table.connect()
        table.to_dealing().deal()
        yield table


def cards_of_round_1(folder: Path, place: str) -> list[str]:
    found = find_round(Source(folder), 1)
    assert found is not None
    return found.hands[place].cards


ENDINGS = {Phase.CONCLUDED: CONCLUDED, Phase.VOIDED: VOID}
