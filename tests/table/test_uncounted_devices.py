"""A shoe that only reports drawn cards: the table numbers them, and people enter when a deck is put in."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.api.view import LinkView, view_of
from controller.games import GAMES
from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.inputs import DeviceConnected
from controller.table.phases import Phase, Service
from firmware_bridge.capabilities import SHORTCOMINGS, DeviceStatus, shortcomings
from firmware_bridge.cards import Concealed
from firmware_bridge.observations import Alarmed, CardDrawn, GapSuspected
from tests.table.harness import TableHarness

TELLS_ONLY = {
    "counts": False,
    "acknowledges": False,
    "retains_reports": False,
    "holds_exit": False,
    "unloads_stub": False,
    "senses_orientation": False,
    "senses_double_draw": False,
    "senses_tray": False,
}


class PlainShoe(TableHarness):
    """A table with such a shoe."""

    def __init__(self, game_id: str = "RTP") -> None:
        super().__init__(Unit.SINGLES, game_id=game_id)
        self.device.capabilities = replace(self.device.capabilities, dispenses="on_removal", **TELLS_ONLY)
        self.start()
        self.do(operations.OpenTable())

    def connect(self) -> None:
        """Connect the device: every link has a new boot, an empty status and no heartbeat."""
        self.device.boot, self.device.last_report = self.device.boot + 1, 0
        identity = self.device.identity
        nothing = DeviceStatus(identity.boot, 0, 0, 0, 0, 0, 0, 0, False, False, False, 0)
        self.device.linked = True
        self.give(DeviceConnected(identity, nothing))
        self.device.release_waiting()

    def heartbeat(self) -> None:
        """Do nothing: the shoe does not have a heartbeat."""

    def fresh_deck(self) -> None:
        self.device.inside = list(self.device.order)
        self.do(operations.LoadDeck())
        self.do(operations.ShuffledOutside("by hand"))

    def to_betting(self) -> PlainShoe:
        self.fresh_deck()
        self.do(operations.PlaceYourBets())
        self.do(operations.OccupyBoxes(self.boxes))
        return self

    def take(self, times: int = 1) -> None:
        for _ in range(times):
            card = Concealed(self.device.inside.pop(0), 0, 0)
            self.device.report(CardDrawn(0, 0, 0, 0, card))


@pytest.mark.parametrize("game_id", [game_id for game_id, rules in GAMES.items() if rules.first_card is None])
def test_a_whole_round_is_dealt_from_a_shoe_that_does_not_number_its_cards(game_id: str) -> None:
    table = PlainShoe(game_id).to_dealing()
    table.deal()
    numbers = sorted(card.ordinal for hand in table.state.round.hands.values() for card in hand.cards)
    assert numbers == list(range(1, 3 * len(table.state.round.hands) + 1))
    assert not table.state.open
    table.expose_all()
    table.count(52 - len(numbers))
    table.do(operations.RecordSettled())
    table.conclude()


def test_the_second_round_counts_from_one_again_under_another_number() -> None:
    table = PlainShoe().to_dealing().deal().expose_all()
    table.count(40)
    table.do(operations.RecordSettled())
    table.conclude()
    before = table.state.decks.in_play.shuffle
    table.device.order = table.device.order[::-1]
    table.to_dealing()
    table.take()
    assert table.state.round.dealt_cards == ((table.state.decks.in_play.shuffle, 1),)
    assert table.state.decks.in_play.shuffle != before


def test_bets_are_not_opened_before_a_deck_is_entered() -> None:
    table = PlainShoe()
    assert table.refused(operations.PlaceYourBets())[0] == "no-deck"
    table.do(operations.LoadDeck())
    assert table.refused(operations.PlaceYourBets())[0] == "not-shuffled"


def test_in_a_round_no_deck_is_put_in() -> None:
    table = PlainShoe().to_dealing()
    assert table.refused(operations.LoadDeck())[0] == "in-round"


def test_where_decks_are_recorded_the_one_that_was_put_in_is_named() -> None:
    table = PlainShoe()
    table.do(operations.BringDeck("A", "red", "seal 7", 52, "a witness"))
    assert table.refused(operations.LoadDeck())[0] == "no-deck"
    table.do(operations.LoadDeck("A"))
    table.do(operations.ShuffledOutside("by hand"))
    table.do(operations.PlaceYourBets())
    assert table.state.round.label == "A"


def test_a_repeated_face_is_a_foreign_card_or_a_misreading() -> None:
    table = PlainShoe().to_dealing()
    twice = table.device.inside[0]
    table.take(2)
    table.device.report(CardDrawn(0, 0, 0, 0, Concealed(twice, 0, 0)))
    assert [found.kind for found in table.state.open] == [Kind.DECK_COUNT]


def test_after_a_loss_in_a_round_cards_may_have_passed_and_a_count_is_asked_for() -> None:
    table = PlainShoe().to_dealing()
    table.take(3)
    table.lose_link()
    table.connect()
    assert table.at(Service.RECONCILING)
    assert [found.kind for found in table.state.open] == [Kind.COUNT_IN_DOUBT]
    table.count(table.state.stub_due)
    table.confirm()
    table.do(operations.ContinueRound())
    assert table.at(Service.IN_SERVICE)
    table.deal()


def test_a_gap_that_is_only_suspected_is_a_doubt_and_an_alarm_a_stop() -> None:
    table = PlainShoe().to_dealing()
    table.take()
    table.device.report(GapSuspected("after 5 came 7"))
    table.device.report(Alarmed("overdraw"))
    assert [found.kind for found in table.state.open] == [Kind.COUNT_IN_DOUBT, Kind.TECHNICAL_STOP]


def test_a_card_drawn_too_early_is_raised() -> None:
    table = PlainShoe().to_betting()
    table.take()
    assert table.open.kind is Kind.BEFORE_NO_MORE_BETS
    assert table.state.decks.aside[0].ordinal == 1


def test_the_screen_shows_the_limits_of_the_device() -> None:
    table = PlainShoe()
    shown = view_of(table.state, LinkView()).device.shortcomings
    capabilities = table.state.device.capabilities
    assert capabilities is not None
    assert shown == shortcomings(capabilities)
    assert len(shown) == len(SHORTCOMINGS) - 1, "this one reads its cards"
    assert view_of(TableHarness().start().state, LinkView()).device.shortcomings == ()


def test_no_round_begins_with_a_deck_drawn_from_between_rounds() -> None:
    table = PlainShoe()
    table.fresh_deck()
    table.take()
    assert table.at(Phase.IDLE)
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"


def test_a_supervisor_continues_by_hand_when_such_a_shoe_does_not_work() -> None:
    table = PlainShoe().to_dealing()
    table.take(2)
    table.lose_link()
    table.do(operations.DealByHand(10, "the shoe is dead"), Role.PIT_SUPERVISOR)
    assert table.at(Phase.EXAMINING)
    assert table.events_of(events.DealtByHand)
