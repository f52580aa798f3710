"""The live view and the lines beside it: every item has a text, in the terms of the game."""

from __future__ import annotations

import re
from typing import Any, get_args

import msgspec
import pytest
from rich.console import Console

from controller.api.narration import line_of
from controller.api.view import LinkView, view_of
from controller.commands.screen import render
from controller.commands.vocabulary import words_of
from controller.games.specification import FOLLOWS, Disposition, Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.events import Event
from controller.table.events.access_events import AT_THE_DOOR
from controller.table.irregularities.adjudication import FIRST
from controller.table.model import Stage
from controller.table.permissions import PERMISSIONS
from controller.table.phases import Phase
from controller.table.state import TableState
from tests.architecture.sources import ROOT
from tests.table.every_state import to_phase
from tests.table.harness import TableHarness


def test_every_operation_has_its_own_sentence() -> None:
    phrases = {operation: row.phrase for operation, row in PERMISSIONS.items()}
    assert set(phrases) == set(get_args(operations.AnyOperation))
    assert len(set(phrases.values())) == len(phrases)


def test_every_disposition_and_stage_has_words() -> None:
    assert set(FOLLOWS) == set(Disposition)
    assert set(FIRST) == set(Stage)


def test_no_event_has_a_field_that_the_feed_writes_itself() -> None:
    """Otherwise an event would be shown in the wrong round."""
    envelope = {"entry", "utc_ns", "round", "event"}
    of_the_round = {events.RoundBegan}  # it names the round that begins: the same number
    for event in get_args(events.AnyEvent):
        assert event in of_the_round or not envelope & set(event.__struct_fields__), event.__name__


def shown(state: TableState) -> str:
    """Return the screen in a wide terminal."""
    console = Console(width=160, color_system=None)
    with console.capture() as captured:
        console.print(render(view_of(state, LinkView()), []))
    return captured.get()


def test_a_void_round_has_no_outcomes_beside_its_hands() -> None:
    table = TableHarness(hands={"B1": "KS KD KC"}).start().to_dealing().deal().expose_all()
    assert " WON " in shown(table.state)
    table.report(Kind.FOREIGN_CARD)
    table.confirm()
    assert table.at(Phase.VOIDED)
    page = shown(table.state)
    assert not [word for word in (" WON ", " LOST ", " TIE ") if word in page]


def test_refusals_of_callers_have_texts_and_a_count_above_one() -> None:
    once = events.DoorRefused("not-enrolled", None, 1, "5e5e")
    assert told(once, "NC") == "access refused: an operation from a screen that is not enrolled at screen 5e5e"
    often = msgspec.structs.replace(once, what="person", uid=0, screen="", count=3)
    assert told(often, "NC") == "access refused: an unknown person by user 0, 3 times"
    assert told(events.PinAccepted("sam", None), "NC") == "sam enters the correct PIN after wrong ones"


def test_every_refusal_of_a_caller_has_a_text() -> None:
    """Each code with which the program refuses callers has a text; any other code is shown as it is."""
    refused = re.compile(r'(?:refused\(\d+, |\.note\(|_refuse\(peer, uid, \d+, )"([a-z-]+)"')
    sources = [path.read_text("utf-8") for path in (ROOT / "controller/api").glob("*.py")]
    codes = {code for source in sources for code in refused.findall(source)}
    never_noted = {"bad-request", "id-used", "journal-damaged", "last-event-id", "no-answer", "no-round"}
    never_noted |= {"screen", "too-slow"}
    assert "not-enrolled" in codes
    assert codes - never_noted - set(AT_THE_DOOR) == set()


def told(event: Event, game_id: str) -> str | None:
    public: dict[str, Any] = msgspec.to_builtins(event)
    return str(line_of(public, words_of(game_id)))


@pytest.mark.parametrize(
    ("game_id", "own", "others"),
    [("F3", ("Player 1", "Banker"), ("Box 1", "Dealer ")), ("NC", ("Box 1", "Dealer"), ("Player 1", "Banker"))],
)
def test_places_have_the_names_that_the_document_gives_them(
    game_id: str, own: tuple[str, ...], others: tuple[str, ...]
) -> None:
    table = TableHarness(game_id=game_id).start().to_dealing()
    page = shown(table.state)
    assert all(name in page for name in own)
    assert not any(name in page for name in others)


def test_a_question_names_the_hand_as_the_document_does() -> None:
    table = TableHarness(game_id="F3").start().to_dealing()
    table.report(Kind.DROPPED_CARD)
    question = "Is it the Banker's hand?"
    asked = msgspec.structs.replace(table.open, asks=("dealer_hand",))
    assert question in shown(msgspec.structs.replace(table.state, open=(asked,)))
    raised = msgspec.structs.replace(table.last(events.IrregularityRaised), asks=("dealer_hand",))
    assert question in (told(raised, "F3") or "")
    assert "Is it the Dealer's hand?" in (told(raised, "NC") or "")


def test_an_irregularity_is_shown_at_its_place_in_the_words_of_the_game() -> None:
    for game_id, place in (("NC", "box 1"), ("F3", "Player 1")):
        table = TableHarness(game_id=game_id).start().to_dealing()
        table.report(Kind.OTHER_DEALING_ERROR, "B1")
        assert f" at {place}" in (told(table.last(events.IrregularityRaised), game_id) or "")


def test_bets_are_shown_by_the_places_of_the_game() -> None:
    assert told(events.BoxesOccupied((1, 2)), "F3") == "Players in play: 1, 2"
    assert told(events.BoxesOccupied((1, 2)), "TP") == "boxes in play: 1, 2"
    assert told(events.BoxesOccupied(()), "TP") == "boxes in play: none"
    assert told(events.BettorEntered("ann", 2), "F3") == "ann joins the table at Player 2"
    assert told(events.BettingRestricted((0, 3), (), ()), "F3") == (
        "restricted: the Banker's spot is closed to bets; Player 3 is closed to bets"
    )


def test_a_line_names_the_device_that_shuffled_or_counted() -> None:
    assert told(events.DeckShuffled(1, 1, 52), "TP") == "deck 1 shuffled, 52 cards, by the device"
    assert told(events.DeckShuffled(1, 1, 52, "ann"), "TP") == "deck 1 shuffled, 52 cards, by ann"
    assert told(events.DeckCountedWhole(1, "device"), "TP") == "the deck is complete, counted by the device"


def test_an_event_of_another_version_is_shown_by_its_name() -> None:
    assert str(line_of({"event": "table_resumed"})) == "table resumed"
    assert str(line_of({"event": "dealer_relieved", "by": "lee"})) == "dealer relieved"
    assert line_of({"event": "status_agrees"}) is None


def test_the_screen_shows_the_dealer_and_what_is_in_progress() -> None:
    table = to_phase(Unit.SETS, Phase.EXAMINING)
    table.do(operations.TakeOver(), Role.PIT_SUPERVISOR)
    assert "dealt by pit-supervisor" in shown(table.state)
    table.do(operations.AbandonRound("the shift manager", "fire"), Role.SHIFT_MANAGER)
    assert "VOID THE ROUND?" in shown(table.state)
    table.do(operations.AbandonRound("the shift manager", "fire"), Role.SHIFT_MANAGER)
    assert "VOID THE ROUND" not in shown(table.state)
    table.do(operations.BeginMaintenance("a new belt"), Role.PIT_SUPERVISOR)
    assert "Maintenance: a new belt" in shown(table.state)


def test_who_may_look_is_shown_beside_the_hand() -> None:
    table = TableHarness(boxes=(1,)).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    table.do(operations.EnterBettor("ann", 1))
    table.do(operations.PlaceWager("ann", "main", 1, 10))
    table.do(operations.NoMoreBets())
    table.deal()
    assert "ann looks" in shown(table.state)
    table.do(operations.HandleCards("B1", viewed=True, bettor="ann"))
    assert "handled · ann looks" in shown(table.state)


def test_the_next_step_is_shown_above_the_hands_in_the_games_terms() -> None:
    assert "next: Deal 3 cards to box 1 · 0 of 12 dealt" in shown(TableHarness().start().to_dealing().state)
    table = TableHarness(game_id="F3").start().to_dealing()
    assert f"next: Deal 3 cards to {words_of('F3').of(str(table.state.round.next_place))} · " in shown(table.state)


def test_correctable_entries_are_listed_once_with_their_numbers() -> None:
    table = to_phase(Unit.SETS, Phase.SETTLING)
    table.do(operations.ConcludeRound())
    table.do(operations.ConcludeRound())
    page = shown(table.state)
    last = table.state.round.entered[-1].entry
    assert f"{last} End round (dealer)" in page
    assert page.count("End round") == 1


def test_a_void_that_was_asked_for_and_a_deck_out_of_use_are_not_overlooked() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.FOREIGN_CARD)
    found = table.open
    table.do(operations.ConfirmIrregularity(found.id, found.revision), Role.PIT_SUPERVISOR)
    page = shown(table.state)
    assert "THE ROUND BECOMES VOID" in page
    assert "a foreign card" in page
    table.do(operations.ConfirmIrregularity(found.id, table.open.revision), Role.PIT_SUPERVISOR)
    assert "OUT OF USE" in shown(table.state)


def test_a_count_is_asked_for_as_a_count() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.COUNT_IN_DOUBT)
    page = shown(table.state)
    assert "Count the stub by hand, with a witness, and enter the count." in page
    assert "Did the count by hand come out wrong?" not in page


def test_a_void_that_needs_a_repeat_shows_why() -> None:
    asked = events.VoidAsked(7, "NC 5.5.4", "cards were dealt wrongly")
    assert told(asked, "NC") == "this makes the round void (NC 5.5.4): cards were dealt wrongly; repeat to confirm"
    assert told(events.VoidAsked(7, "NC 5.5.4"), "NC") == "this makes the round void (NC 5.5.4); repeat to confirm"


def test_a_hand_shows_that_its_win_pays_half() -> None:
    """In NC this hand is a winning Plain Six. A dealer pays according to the text at the box."""
    table = TableHarness(hands={"B1": "AC 2C 3C", "B3": "9D 8C KS", "D": "2D AD AH"}, boxes=(1, 3)).start().to_dealing()
    table.deal()
    table.expose_all()
    hands = {hand.place: hand for hand in view_of(table.state, LinkView()).hands}
    assert {place: (hand.outcome, hand.half) for place, hand in hands.items() if place != "D"} == {
        "B1": ("win", True), "B3": ("win", False)
    }  # fmt: skip
    assert "A♣ 2♣ 3♣" in shown(table.state)
