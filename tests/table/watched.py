"""A table whose invariants are checked at every step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

from msgspec.structs import replace

from controller.games.specification import Choice, Unit
from controller.table import events
from controller.table.counts import ledger_of
from controller.table.events import AnyEvent
from controller.table.evolve import evolve
from controller.table.inputs import AnyInput, DeviceReported
from controller.table.model import HeldCard, Stage
from controller.table.phases import CARDS_LEAVE, DEALING, Phase, Service
from controller.table.state import TableState
from firmware_bridge.cards import DECK_SIZE
from firmware_bridge.commands import ReleaseExit, RunSelfTest
from firmware_bridge.observations import AnyObservation, CardDrawn, CardsDrawnTogether, SetDispensed
from tests.clauses.numbers import CLAUSES
from tests.support.account import are_due, has_too_many
from tests.support.journal_codec import table_codec
from tests.table.harness import BOXES, TableHarness

Place: TypeAlias = tuple[int, int]  # shuffle and ordinal: which card, without its face


class WatchedTable(TableHarness):
    """Checks the invariants at every event."""

    def __init__(self, unit: Unit, game_id: str = "NC", boxes: tuple[int, ...] = BOXES) -> None:
        super().__init__(unit, boxes, game_id=game_id)
        self._codec = table_codec()
        self._elsewhere = False
        self._out: Counter[Place] = Counter()  # reported cards, each of which must be somewhere

    def watch(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        self._journal(before.entry + 1, given, numbered)
        if isinstance(given, DeviceReported):
            known = {*before.round.dealt_by_hand, *(self._out if before.in_round else ())}
            known |= set(_places(before.round.read)) if before.in_round else set()
            reported = [card for card in _reported_cards(given.observation) if card not in known]
            self._out += Counter(reported)  # a card that is reported again counts once
        state = before
        for entry, event in numbered:
            self._account(state, event)
            self._judge(state, event)
            state = evolve(state, event, entry)
        self._stand(state)

    def _journal(self, number: int, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        """Check that the input and its events survive a round trip through the journal."""
        last, events_ = number + len(numbered), [event for _, event in numbered]
        written = self._codec.encode(last, given, events_, self.state.round.number)
        assert self._codec.decode_input(last, written.input, written.sealed) == given
        read = self._codec.decode_events(last, written.events, written.sealed, self.state.round.number)
        assert read == events_

    def _account(self, state: TableState, event: AnyEvent) -> None:
        """Account for events that take cards out: a fresh deck, a new round, a tray unloaded with the stub."""
        match event:
            case events.DeckArrived(waiting=False) | events.DeckShuffled(waiting=False) | events.DeckComesIntoPlay():
                self._out = Counter(_places(_in_hands(state)))  # cards of the last round lie open until the next begins
            case events.StartTakenBack() if state.earlier is not None:  # the previous round continues with its cards
                again = replace(state, round=state.earlier)
                self._out += Counter(_places([*_in_hands(again), *_on_piles(again)]))
            case events.CardsFoundElsewhere():
                self._elsewhere = True
            case events.CardsReconstructed():
                self._elsewhere = False
            case events.RoundBegan():
                self._elsewhere = False
                self._out -= Counter(_places([*_in_hands(state), *_on_piles(state)]))
            case events.CardsDealt(source="by_hand") | events.CardsBurnt(source="by_hand"):
                self._out += Counter(_places(event.cards))  # the device does not report cards dealt by hand
            case events.FirstCardDrawn(source="by_hand"):
                self._out += Counter(_places((event.card,)))
            case events.StubCounted(in_device=False, midway=False):
                self._out -= Counter(_places(state.decks.tray))
            case events.StatusDiffers(what="tray", device=device) if device:
                self._out += Counter(_places(event.tray))  # a set that was not reported
            case events.HandCounted():
                self._out -= Counter(
                    _places(state.decks.aside[: event.from_aside])
                )  # they are part of the surplus there

    def _judge(self, state: TableState, event: AnyEvent) -> None:
        """Check each event against the state in which it was decided."""
        match event:
            case events.RoundVoided(irregularity=0):
                assert event.authority, "a round is abandoned by a named authority"
                assert event.text
                asked = state.round.abandon_asked
                assert asked[1:] == (event.authority, event.text), "it is requested twice, in the same words"
            case events.RoundVoided() | events.HandRemoved():
                found = state.find_open(event.irregularity)
                assert found is not None, "nothing is voided or removed without an irregularity"
                assert event.clause in CLAUSES or event.authority, "by a clause, or by a named authority"
                withdrawn = {option.clause for option in found.row.options if option.choice is Choice.WITHDRAW}
                chosen = event.clause in withdrawn and event.clause != found.row.clause
                assert found.stage is Stage.CHOOSING if chosen else found.stage in Stage
            case events.CardsDealt():
                assert state.phase in DEALING
                stops = state.blocked if event.source == "aside" else state.holds_cards
                assert not stops, "nothing is dealt while the table is held"
                assert are_due(state, event.places)
            case events.CommandIssued() if event.command.moves_cards:
                assert state.device.moving is None, "one command that moves cards at a time"
                assert not state.held
                assert not state.device.stopped or event.command == RunSelfTest()
                assert state.service is Service.IN_SERVICE
            case events.CommandIssued(command=ReleaseExit()):
                assert not state.held
                assert state.phase in CARDS_LEAVE | {Phase.BETTING, Phase.MAINTENANCE}
            case events.IrregularityRaised():
                assert state.phase is not Phase.MAINTENANCE, "maintenance affects no round"
            case events.HandJudged():
                assert state.round.hands[event.place].shown
                assert not state.round.hands[event.place].dead

    def _stand(self, state: TableState) -> None:
        """Check the state that was reached."""
        here = Counter(_places([*_in_hands(state), *state.decks.tray, *state.decks.aside, *_on_piles(state)]))
        assert here == self._out, "a card is lost, or in two places"
        account = ledger_of(state)
        in_order = account is None or account.total <= DECK_SIZE or has_too_many(state) or not state.in_round
        assert in_order, f"an account of {account}"
        for place, hand in state.round.hands.items():
            if self._elsewhere or state.round.misplaced:
                continue  # a person entered other places for cards, or for the next ones
            assert len(hand.cards) <= 3, f"{place} was dealt {len(hand.cards)} cards"
            assert not state.round.places or len(hand.cards) == state.round.places[: state.round.dealt].count(place)
        counted = {event.place for event in self.events_of(events.HandCounted)}
        assert all(place in counted for place, hand in state.round.hands.items() if hand.surplus)
        assert len({found.id for found in state.open}) == len(state.open)
        assert sum(opened.command.moves_cards for opened in state.device.open_commands) <= 1
        oldest = state.earlier.number if state.earlier is not None else state.round.number
        assert all(answer.round >= min(state.round.number - 1, oldest) for answer in state.answers)


def _reported_cards(observation: AnyObservation) -> list[Place]:
    """Return the cards that left the device by this report."""
    match observation:
        case SetDispensed() | CardsDrawnTogether():
            return [(observation.shuffle, observation.ordinal + n) for n in range(len(observation.cards))]
        case CardDrawn():
            return [(observation.shuffle, observation.ordinal)]
    return []


def _in_hands(state: TableState) -> list[HeldCard]:
    """Return the cards of all hands, and the First Card beside them."""
    first = [state.round.first_card] if state.round.first_card is not None else []
    return first + [held for hand in state.round.hands.values() for held in hand.cards]


def _on_piles(state: TableState) -> list[HeldCard]:
    return [held for cards in state.round.piles.values() for held in cards]


def _places(cards: Iterable[HeldCard]) -> list[Place]:
    return [(held.shuffle, held.ordinal) for held in cards]
