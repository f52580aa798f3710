"""Opened commitments: only cards that were shown are opened, and no answer reveals a face-down card."""

from __future__ import annotations

from itertools import product

import pytest

from controller.api.view import LinkView, view_of
from controller.games import GAMES
from controller.games.specification import Kind, StepKind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.phases import Phase
from controller.table.settings import ChosenReading, Settings
from firmware_bridge.cards import DECK, Card, Exposed
from tests.table.harness import TableHarness

GAME_AND_UNIT = pytest.mark.parametrize(("game_id", "unit"), list(product(GAMES, Unit)))
DEALER = "D"


def dealt(unit: Unit = Unit.SETS, game_id: str = "NC", *, by_device: bool = True) -> TableHarness:
    return TableHarness(unit, game_id=game_id, by_device=by_device).start().to_dealing().deal()


def faces(table: TableHarness) -> dict[str, tuple[Card, ...]]:
    """Return the cards by place. Only this test knows them."""
    hands = table.state.round.hands.items()
    return {place: tuple(card.face.expose() for card in hand.cards if card.face) for place, hand in hands}


def first_to_open(table: TableHarness) -> str:
    """Return the place whose turn it is."""
    returned = table.state.game.step(StepKind.RETURNING) is not None
    return "B1" if returned or not table.state.game.examining else DEALER


def opened(table: TableHarness) -> list[Card]:
    """Return every card whose commitment has been opened."""
    hands = (one for shown in table.events_of(events.HandExposed) for one in shown.revealed)
    first = (shown.revealed for shown in table.events_of(events.FirstCardShown))
    return [one.card for one in (*hands, *first) if one is not None]


# -- shown cards only


@GAME_AND_UNIT
def test_exchanged_hands_open_no_face_down_card(game_id: str, unit: Unit) -> None:
    table = dealt(unit, game_id)
    place = first_to_open(table)
    other = next(one for one in table.state.round.hands if one != place)
    before = opened(table)
    lying = faces(table)
    table.do(operations.ExposeHand(place, lying[other]))
    assert opened(table) == before
    assert table.open.kind is Kind.OTHER_DEALING_ERROR


@pytest.mark.parametrize("right", [1, 2])
def test_where_some_cards_differ_none_is_opened(right: int) -> None:
    """Otherwise a person could guess and see which guesses are right."""
    table = dealt()
    lying = faces(table)
    typed = (*lying[DEALER][:right], *lying["B6"][right:])
    table.do(operations.ExposeHand(DEALER, typed))
    assert opened(table) == []


@GAME_AND_UNIT
def test_a_hand_that_agrees_is_opened_card_by_card(game_id: str, unit: Unit) -> None:
    table = dealt(unit, game_id)
    place = first_to_open(table)
    held = table.state.round.hands[place].cards
    table.do(operations.ExposeHand(place, tuple(reversed(faces(table)[place]))))
    wanted = tuple(Exposed(card.face.expose(), card.shuffle, card.ordinal) for card in held if card.face)
    assert table.last(events.HandExposed).revealed == wanted
    assert not table.state.open


@pytest.mark.parametrize("unit", Unit)
def test_a_first_card_that_was_entered_otherwise_stays_sealed(unit: Unit) -> None:
    table = TableHarness(unit, game_id="F3").start().to_betting()
    table.do(operations.NoMoreBets())
    table.take()
    table.do(operations.ShowFirstCard(DECK[50]))
    assert table.last(events.FirstCardShown).revealed is None
    assert table.open.kind is Kind.OTHER_DEALING_ERROR


def test_swapped_hands_that_stay_open_only_what_each_shows() -> None:
    """After an uncorrected wrong distribution, any card of the deal may be there."""
    table = dealt()
    lying = faces(table)
    table.handle("B1")
    table.report(Kind.WRONG_DISTRIBUTION)
    table.confirm(reconstructable=False)
    while table.state.open:
        table.all_continue()
    table.expose(DEALER, " ".join(card.code for card in lying[DEALER]))
    before = opened(table)
    table.do(operations.ExposeHand("B1", lying["B3"]))
    assert opened(table) == before
    assert not table.state.open


# -- hands opened by the device


@GAME_AND_UNIT
def test_without_the_setting_no_hand_is_opened_by_the_device(game_id: str, unit: Unit) -> None:
    table = TableHarness(unit, game_id=game_id, by_device=False).start().to_betting()
    table.do(operations.NoMoreBets())
    if table.state.phase is Phase.FIRST_CARD:
        table.take()
        code, sentence = table.refused(operations.ShowFirstCard())
        assert (code, sentence) == ("enter-cards", "Turn the First Card over and enter which card it is.")
        assert table.state.round.first_card is not None
        assert table.state.round.first_card.face is not None
        table.do(operations.ShowFirstCard(table.state.round.first_card.face.expose()))
    table.deal()
    place = first_to_open(table)
    code, sentence = table.refused(operations.ExposeHand(place))
    named = table.state.game.words.of_all([place])
    assert (code, sentence) == ("enter-cards", f"Turn over {named} and enter its cards.")
    table.do(operations.ExposeHand(place, faces(table)[place]))


def test_it_is_off_unless_the_casino_chooses_it() -> None:
    assert not Settings("NC", Unit.SETS, 7).hands_by_device


def test_a_correction_does_not_take_it_either() -> None:
    table = dealt(by_device=False)
    table.do(operations.ExposeHand(DEALER, faces(table)["B6"]))
    entry = table.state.round.entered[-1].entry
    correction = operations.CorrectEntry(entry, "misread", operations.ExposeHand(DEALER))
    assert table.refused(correction, Role.PIT_SUPERVISOR)[0] == "enter-cards"


def test_nothing_is_opened_while_play_is_held() -> None:
    """A correction is accepted while the table is held; the device's report is not."""
    table = dealt()
    table.do(operations.ExposeHand(DEALER, faces(table)[DEALER]))
    entry = table.state.round.entered[-1].entry
    table.do(operations.PauseTable("a dispute"))
    correction = operations.CorrectEntry(entry, "misread", operations.ExposeHand(DEALER))
    code, sentence = table.refused(correction, Role.PIT_SUPERVISOR)
    assert (code, "turn the hand over" in sentence) == ("enter-cards", True)


@pytest.mark.parametrize("place", ["B1", "B3"])
def test_a_hand_with_misplaced_cards_is_not_opened(place: str) -> None:
    table = dealt(game_id="TP")
    table.swap("B1", "B3")
    assert table.refused(operations.ExposeHand(place))[0] in ("held", "enter-cards")


def test_no_card_is_opened_where_wrong_hands_were_left() -> None:
    table = dealt()
    table.handle("B1")
    table.report(Kind.WRONG_DISTRIBUTION)
    table.confirm(reconstructable=False)
    while table.state.open:
        table.all_continue()
    assert table.refused(operations.ExposeHand(DEALER))[0] == "enter-cards"


@pytest.mark.parametrize("game_id", [game_id for game_id, rules in GAMES.items() if rules.examining])
def test_no_hand_is_opened_before_its_turn(game_id: str) -> None:
    """If all hands are exposed together, each hand still has its turn."""
    table = dealt(Unit.SETS, game_id)
    place = first_to_open(table)
    wrong = DEALER if place != DEALER else "B1"
    assert table.refused(operations.ExposeHand(wrong))[0] in ("hands-first", "dealer-first")


# -- answers that could confirm a guess


def test_52_guesses_at_a_face_down_card_get_the_same_answer() -> None:
    """One card is dealt, an unknown card was exposed, and a dealer names every card in turn."""
    chosen = (ChosenReading("established_by", "mathematically", "a manager", "2026-01-01"),)
    table = TableHarness(Unit.SINGLES, settings=Settings("NC", Unit.SINGLES, 7, True, chosen)).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    table.do(operations.EnterBettor("ann", 1))
    table.do(operations.PlaceWager("ann", "main", 1, 10))
    table.do(operations.NoMoreBets())
    table.take(1)
    (dealt_there,) = faces(table)["B1"]
    table.report(Kind.POWER_FAILURE)
    table.report(Kind.EXPOSED_CARD)
    answers = {}
    for guess in DECK:
        table.do(operations.NameExposed("B1", (guess,)))
        answers[guess] = [(found.row.id, found.asks, found.facts.established) for found in table.state.open]
    assert len(answers) == 52
    assert all(answer == answers[dealt_there] for answer in answers.values())


def test_the_view_of_a_hand_that_was_refused_is_as_before() -> None:
    table = dealt(by_device=False)
    before = view_of(table.state, LinkView())
    table.say(operations.ExposeHand(DEALER))
    after = view_of(table.state, LinkView())
    assert (after.hands, after.irregularities, after.next_step) == (
        before.hands,
        before.irregularities,
        before.next_step,
    )
