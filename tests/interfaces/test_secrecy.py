"""Two decks that differ only in face-down cards look the same from outside, except for the commitments.

This holds where only exposed cards count as known (the default of setting known_cards). With the other options the
casino has chosen that an outcome reveals something about face-down cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from random import Random

import pytest
from msgspec.structs import replace

from controller.api.bodies import encode
from controller.api.preview import preview
from controller.api.screen_state import LastView, table_message
from controller.api.screen_state import MessageKind as ScreenKind
from controller.api.view import LinkView, view_of
from controller.floor.table_report import device_report, table_report
from controller.games import GAMES
from controller.games.own_words import DEALER
from controller.games.specification import Choice, Kind, RulingAction, StepKind, Unit
from controller.roles import Role
from controller.table import operations
from controller.table.events import (
    AnyEvent,
    CardsBurnt,
    CardsDealt,
    CardsRecalled,
    FirstCardDrawn,
    HandExposed,
    WagersSettled,
)
from controller.table.inputs import AnyInput, DeviceReported
from controller.table.offers import decisions, groups, offers
from controller.table.operations import Operation
from controller.table.phases import DEALING, Phase
from controller.table.recall import cards_recalled
from controller.table.settings import ChosenReading, Settings
from controller.table.state import TableState
from firmware_bridge.cards import DECK, Card, Concealed, Evidence
from simulators.demo.stage import CHOSEN
from tests.support.journal_codec import table_codec
from tests.table.harness import TableHarness

EVERY_TABLE = pytest.mark.parametrize(("game_id", "unit"), list(product(GAMES, Unit)))


def settings_of(game_id: str, unit: Unit) -> Settings:
    rules = GAMES[game_id]
    readings = tuple(ChosenReading(one.id, CHOSEN[one.id]) for one in rules.settings if one.must_be_chosen)
    return Settings(game_id, unit, rules.boxes[2], readings=readings)


class OverheardTable(TableHarness):
    """Keeps every published event, every view, and the journal's entries; evidence reveals the whole deck."""

    def __init__(self, game_id: str, unit: Unit, deck: list[Card]) -> None:
        super().__init__(unit, settings=settings_of(game_id, unit), game_id=game_id)
        self.device.order = deck
        self.public: list[bytes] = []
        self.kept: list[bytes] = []
        self._codec = table_codec()

    def _take(self, given: AnyInput) -> None:
        if isinstance(given, DeviceReported):
            given = replace(given, evidence=Evidence(bytes(card.number for card in self.device.order)))
        super()._take(given)

    def watch(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        told = [event for _, event in numbered]
        written = self._codec.encode(self.state.entry, given, told, self.state.round.number)
        self.public += written.events
        self.public.append(encode(view_of(self.state, LinkView())))
        self.public += shown_to_the_floor(self.state)
        self.public += shown_to_screens(self.state, previewed=len(self.kept) % (2 * PREVIEWED_EVERY) == 0)
        self.kept += [written.input, written.sealed]


PREVIEWED_EVERY = 10  # steps, because previews take most of the time


def shown_to_screens(state: TableState, *, previewed: bool) -> list[bytes]:
    """Return the message of a screen; with `previewed`, also the preview of each decision."""
    view = view_of(state, LinkView())
    offered = offers(state)
    message = table_message(state, view, offered, LastView(), ScreenKind(operates=True))
    tried = [encode(preview(state, operation)) for operation in decisions_of(state)] if previewed else []
    return [encode(message), *tried]


def shown_to_the_floor(state: TableState) -> list[bytes]:
    view = view_of(state, LinkView())
    return [encode(table_report(view, 1, 1, {})), encode(device_report(view, 1))]


def decisions_of(state: TableState) -> list[Operation]:
    """Return confirmations, rulings, an abandonment, every entry struck out, and cards and bets entered instead."""
    found = [group.samples[0] for group in (*groups(state), *decisions(state)) if state.settings is not None]
    found += [operations.CorrectEntry(one.entry, "wrongly entered") for one in state.round.entered]
    other = operations.ExposeHand(DEALER, DECK[:3])
    found += [operations.CorrectEntry(one.entry, "wrongly entered", other) for one in state.round.entered]
    found += [operations.CorrectBet(bet.number, 0, "it did not lie there") for bet in state.layout.bets]
    return found


def overhear_a_deal(game_id: str, unit: Unit, deck: list[Card]) -> OverheardTable:
    """Deal with a wager of every kind, to the last card and the first handled hand; then the power fails."""
    table = OverheardTable(game_id, unit, deck)
    table.start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    table.do(operations.EnterBettor("ann", seat=1))
    for box in table.boxes:
        for wager in sorted(table.state.law.wagers, key=lambda wager: not wager.main):
            if not wager.on_dealer:
                table.do(operations.PlaceWager("ann", wager.id, box, 10))
    table.do(operations.NoMoreBets())
    if table.state.phase is Phase.FIRST_CARD:
        table.take()
        table.do(operations.ShowFirstCard())
    table.deal()
    if table.state.phase is Phase.EXAMINING:
        table.handle("B1")
    table.report(Kind.POWER_FAILURE)
    return table


def overhear_lost_links(game_id: str, unit: Unit, deck: list[Card]) -> OverheardTable:
    """Lose the link twice in the deal: first the device repeats a report, then the daemon restarts."""
    table = OverheardTable(game_id, unit, deck)
    table.start().to_dealing()
    table.take()
    table.lose_link()
    table.take()
    table.connect()
    table.say(operations.ContinueRound())
    table.take()
    table.lose_link()
    table.start_daemon_again("pc-2")
    table.connect()
    for found in table.state.open:
        table.say(operations.DenyIrregularity(found.id, found.revision, "looked at"), Role.SHIFT_MANAGER)
    table.say(operations.ContinueRound())
    table.take(3)
    return table


def overhear_exchanged_hands(
    game_id: str, unit: Unit, deck: list[Card], seen: tuple[Card, ...], *, entered: bool
) -> OverheardTable:
    """Turn over B1's cards at B3 and B3's at B1. With `entered`, people have reported the exchange."""
    table = OverheardTable(game_id, unit, deck)
    table.start().to_dealing()
    table.deal()
    if entered:
        table.report(Kind.WRONG_DISTRIBUTION)
        table.swap("B1", "B3")
        table.confirm(Role.SHIFT_MANAGER, handled=True)
        for found in table.state.open:
            ruling = operations.Rule(found.id, found.revision, RulingAction.CONTINUE, "shift manager", "as they lie")
            table.say(ruling, Role.SHIFT_MANAGER)
            for place in table.state.round.live_places:
                table.say(operations.ChooseOption(found.id, found.revision, place, Choice.CONTINUE))
    if table.state.game.examining and table.state.game.step(StepKind.RETURNING) is None:
        table.say(operations.ExposeHand(DEALER))
    table.say(operations.ExposeHand("B1", seen))
    table.say(operations.ExposeHand("B1"))
    for found in table.state.open:
        table.say(operations.DenyIrregularity(found.id, found.revision, "looked at"), Role.SHIFT_MANAGER)
    return table


def decks_of_exchanged_hands(game_id: str, unit: Unit) -> tuple[list[Card], list[Card], tuple[Card, ...]]:
    """Return two decks and B3's cards. In the second deck B1's cards have changed places with the last of the stub."""
    table = OverheardTable(game_id, unit, list(DECK))
    table.start().to_dealing()
    table.deal()
    one, two = list(DECK), list(DECK)
    hands = table.state.round.hands
    for last, card in enumerate(hands["B1"].cards, start=1):
        at = card.ordinal - 1
        two[at], two[-last] = two[-last], two[at]
    return one, two, tuple(card.face.expose() for card in hands["B3"].cards if card.face)


def two_decks() -> tuple[list[Card], list[Card]]:
    """Return two decks with the same First Card, which is shown before the deal where a game has one."""
    first, *rest = DECK
    return [first, *rest], [first, *Random(5).sample(rest, len(rest))]


def without_commitments(outputs: list[bytes]) -> list[bytes]:
    return [re.sub(rb'"commitment":"[0-9a-f]{64}"', b"", output) for output in outputs]


@EVERY_TABLE
def test_face_down_cards_are_not_shown(game_id: str, unit: Unit) -> None:
    one, two = (overhear_a_deal(game_id, unit, deck) for deck in two_decks())
    assert without_commitments(one.public) == without_commitments(two.public)
    assert one.public != two.public
    assert [len(entry) for entry in one.kept] == [len(entry) for entry in two.kept]


def assert_alike(one: OverheardTable, two: OverheardTable) -> None:
    assert without_commitments(one.public) == without_commitments(two.public)
    assert [len(entry) for entry in one.kept] == [len(entry) for entry in two.kept]


@EVERY_TABLE
def test_links_that_are_lost_in_the_deal_show_nothing(game_id: str, unit: Unit) -> None:
    assert_alike(*(overhear_lost_links(game_id, unit, deck) for deck in two_decks()))


@EVERY_TABLE
@pytest.mark.parametrize("entered", [False, True], ids=["unnoticed", "entered"])
def test_hands_that_were_exchanged_show_only_what_was_turned_over(game_id: str, unit: Unit, entered: bool) -> None:
    """The device's cards of B1 lie face down at B3."""
    *decks, seen = decks_of_exchanged_hands(game_id, unit)
    one, two = (overhear_exchanged_hands(game_id, unit, deck, seen, entered=entered) for deck in decks)
    assert one.public != two.public, "the commitments differ"
    assert entered or [shown.cards for shown in one.events_of(HandExposed) if shown.place == "B1"] == [seen]
    assert_alike(one, two)


def overhear_a_recall(game_id: str, unit: Unit, deck: list[Card]) -> OverheardTable:
    """Abandon a round with every hand face down, and recall its cards in the next round."""
    table = OverheardTable(game_id, unit, deck)
    table.start().to_dealing()
    table.deal()
    for _ in range(2):
        table.do(operations.AbandonRound("shift manager", "the fire alarm"), Role.SHIFT_MANAGER)
    table.to_betting().do(operations.NoMoreBets())
    for place in ("", "B1", DEALER):
        table.do(operations.RecallCards(1, "a dispute", place), Role.PIT_MANAGER)
    return table


def recalled_in(table: OverheardTable) -> list[str]:
    """Return the faces in the answers to the requests."""
    every = [event for _, numbered in table.steps for _, event in numbered]
    dealt = [event for event in every if isinstance(event, CardsDealt | FirstCardDrawn | CardsBurnt)]
    first_round = dealt[: len(dealt) // 2 + 1]
    return [card.face for recall in table.events_of(CardsRecalled) for card in cards_recalled(recall, first_round)]


@EVERY_TABLE
def test_a_recall_is_shown_only_to_the_person_who_asks(game_id: str, unit: Unit) -> None:
    one, two = (overhear_a_recall(game_id, unit, deck) for deck in two_decks())
    assert_alike(one, two)
    assert len(one.events_of(CardsRecalled)) == 3
    assert recalled_in(one) != recalled_in(two), "the answers differ"


@EVERY_TABLE
def test_a_shown_face_makes_the_outputs_differ(game_id: str, unit: Unit) -> None:
    """Otherwise the test above would pass whatever the table reveals."""
    shown = []
    for deck in two_decks():
        table = overhear_a_deal(game_id, unit, deck)
        table.deny(Role.SHIFT_MANAGER)
        before = len(table.public)
        table.expose(turn(table))
        shown.append(without_commitments(table.public[before:]))
        assert not table.events_of(WagersSettled)
    assert shown[0] != shown[1]


def turn(table: TableHarness) -> str:
    """Return the place whose hand is turned over first."""
    returning = table.state.game.step(StepKind.RETURNING) is not None
    return DEALER if table.state.game.examining and not returning else "B1"


@EVERY_TABLE
def test_exchanged_hands_reveal_no_face_down_card(game_id: str, unit: Unit) -> None:
    """The entered cards lie face down at another place by the device's reading, or are not dealt at all.

    Nothing reveals which cards the device read at the place itself.
    """
    unseen, entered = DECK[-6:-3], DECK[-3:]
    first = overhear_a_deal(game_id, unit, list(DECK))
    other = next(place for place in first.state.round.hands if place != turn(first))
    here, there = (
        [card.face.expose() for card in first.state.round.hands[place].cards if card.face]
        for place in (turn(first), other)
    )
    assert not {*here, *there} & {*unseen, *entered}
    swapped = dict(zip([*there, *entered, *here, *unseen], [*entered, *there, *unseen, *here], strict=True))
    second = overhear_a_deal(game_id, unit, [swapped.get(card, card) for card in DECK])
    for table in (first, second):
        table.deny(Role.SHIFT_MANAGER)
        table.do(operations.ExposeHand(turn(table), entered))
        assert table.open.kind is Kind.OTHER_DEALING_ERROR
    assert without_commitments(first.public) == without_commitments(second.public)


@EVERY_TABLE
@pytest.mark.parametrize("entered", [False, True], ids=["face down", "after a correction"])
def test_a_card_that_is_read_twice_reveals_nothing_of_the_first(game_id: str, unit: Unit, entered: bool) -> None:
    """Card 9 has the face of card 2 in one deck and of card 5 in the other; content and time of output are the same."""
    tables = []
    for first in (2, 5):
        deck = list(DECK)
        deck[8] = deck[first - 1]
        table = OverheardTable(game_id, unit, deck)
        table.start().to_dealing()
        while table.state.phase in DEALING and not table.state.held:
            table.take()
        assert Kind.DECK_COUNT in {found.kind for found in table.state.open}
        assert {9} == {ordinal for found in table.state.open for ordinal in found.ordinals}
        if entered:
            table.do(operations.CountCards("stub", table.state.stub_due, "a witness"))
            table.deny(Role.SHIFT_MANAGER)
        tables.append(table)
    assert_alike(*tables)


def test_faces_are_compared_in_constant_time() -> None:
    """Every face is compared, wherever the match is."""
    looked = 0

    def others(at: int) -> Iterator[Concealed | None]:
        nonlocal looked
        for place in range(12):
            looked += 1
            yield None if place == 11 else Concealed(DECK[0 if place == at else 20 + place], 1, place + 1)

    for at in (0, 5, 10):
        looked = 0
        assert Concealed(DECK[0], 1, 30).is_among(others(at))
        assert looked == 12
