"""Invariants of every transition and every state.

`tests.table.watched` checks the same along one random round; here each transition is checked alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from controller.games.specification import Choice
from controller.table import events
from controller.table.counts import ledger_of
from controller.table.events import AnyEvent
from controller.table.evolve import evolve
from controller.table.inputs import AnyInput, DeviceReported, PersonActed
from controller.table.model import CardId, HeldCard, SettledBet, Stage
from controller.table.phases import CARDS_LEAVE, DEALING, Phase, Service
from controller.table.state import TableState
from firmware_bridge.commands import ReleaseExit
from firmware_bridge.observations import CardDrawn, CardsDrawnTogether, SetDispensed
from tests.clauses.numbers import CLAUSES
from tests.search.device import WHOLE, Device
from tests.search.moves import AUTHORITY
from tests.support.account import are_due, has_too_many

Numbered = tuple[tuple[int, AnyEvent], ...]
OVER = (Phase.CONCLUDED, Phase.VOIDED)
ELSEWHERE = "elsewhere"  # people entered that cards are at other places


class BrokenError(AssertionError):
    """An invariant is violated."""


def require(so: object, what: str) -> None:
    if not so:
        raise BrokenError(what)


def check_step(before: TableState, given: AnyInput, numbered: Numbered, after: TableState) -> None:
    """Check one decision: its events fold to the decided state, each is permitted in its state, and no card is lost."""
    account = Counter(places_of(before))
    if isinstance(given, DeviceReported) and numbered:
        known = {*before.round.dealt_by_hand, *((*_ids(before.round.read), *account) if before.in_round else ())}
        account.update(card for card in _reported_cards(given) if card not in known)
    state = before
    for entry, event in numbered:
        account = _account(account, state, event)
        _judge(state, event, isinstance(given, PersonActed))
        state = evolve(state, event, entry)
    require(state == after, "the events do not fold to the state that was decided")
    require(account == Counter(places_of(after)), "a card is lost, or in two places")


def check_state(state: TableState, device: Device, raised: frozenset[str]) -> None:
    """Check the state that was reached. `raised`: the kinds of irregularity raised in the round."""
    lying = places_of(state)
    noticed = (*state.open, *(ended.found for ended in state.round.closed))
    counted = {found.place for found in noticed if found.counted is not None}
    require(len(lying) == len(set(lying)), f"a card lies in two places: {lying}")
    of_this_deck = [card for card in lying if card[0] == state.decks.in_play.shuffle]
    require(
        len(of_this_deck) <= WHOLE - device.inside or state.round.by_hand, "a card lies on the table and in the device"
    )
    whole = len(of_this_deck) + device.inside + device.lost == WHOLE
    ledger = ledger_of(state)
    decided = has_too_many(state) or not state.in_round  # after a void the device's count of the stub raises nothing
    require(ledger is None or ledger.total <= WHOLE or decided, f"an account of {ledger}")
    unknown = not device.inside or device.waiting or state.round.by_hand  # stub out, reports waiting, no device
    require(whole or unknown or bool(counted), "the deck has not 52 cards")
    for place, hand in state.round.hands.items():
        excused = ELSEWHERE in raised
        require(len(hand.cards) <= 3 or excused, f"{len(hand.cards)} cards at {place} without an irregularity")
        require(not hand.surplus or place in counted, f"a surplus at {place} without a count")
        dealt = state.round.places[: state.round.dealt].count(place)
        require(
            excused or not state.round.places or len(hand.cards) == dealt,
            f"{place} does not have the cards dealt to it",
        )
    require(len({found.id for found in state.open}) == len(state.open), "two irregularities have one id")
    moving = [opened for opened in state.device.open_commands if opened.command.moves_cards]
    require(len(moving) <= 1, "two commands that move cards are open")
    require(
        state.in_round or not state.round.chips_paid or state.round.returning or state.phase in OVER,
        "chips are paid outside a round",
    )
    if state.round.settlement and state.phase in (Phase.SETTLING, Phase.CONCLUDED, Phase.VOIDED):
        settled = sorted(bet.number for bet in state.round.settlement)
        require(settled == sorted(bet.number for bet in state.layout.bets), "not every bet is settled, once")


def check_answer(numbered: Numbered, what: str) -> None:
    """Check that `decide` does what `can` permits."""
    refusals = [event for _, event in numbered if isinstance(event, events.OperationRefused)]
    require(not refusals, f"{what} is permitted, and refused: {[refused.sentence for refused in refusals]}")


def places_of(state: TableState) -> list[CardId]:
    """Return every card that has left the device, by the table's state."""
    first = [state.round.first_card] if state.round.first_card is not None else []
    hands = [held for hand in state.round.hands.values() for held in hand.cards]
    return _ids([*first, *hands, *state.decks.tray, *state.decks.aside, *_on_piles(state)])


def _on_piles(state: TableState) -> list[HeldCard]:
    return [held for cards in state.round.piles.values() for held in cards]


def _ids(cards: Iterable[HeldCard]) -> list[CardId]:
    return [held.id for held in cards]


def _reported_cards(given: DeviceReported) -> list[CardId]:
    match given.observation:
        case SetDispensed() | CardsDrawnTogether() as seen:
            return [(seen.shuffle, seen.ordinal + place) for place in range(len(seen.cards))]
        case CardDrawn() as drawn:
            return [(drawn.shuffle, drawn.ordinal)]
    return []


def _account(account: Counter[CardId], state: TableState, event: AnyEvent) -> Counter[CardId]:
    """Apply the events other than reports that change the account of cards."""
    match event:
        case events.DeckArrived(waiting=False) | events.DeckShuffled(waiting=False) | events.DeckComesIntoPlay():
            return account - Counter(_ids([*state.decks.tray, *state.decks.aside, *_on_piles(state)]))
        case events.RoundBegan():
            first = [state.round.first_card] if state.round.first_card is not None else []
            lying = [held for hand in state.round.hands.values() for held in hand.cards]
            return account - Counter(_ids([*first, *lying, *_on_piles(state)]))
        case events.CardsDealt(source="by_hand") | events.CardsBurnt(source="by_hand"):
            return account + Counter(_ids(event.cards))
        case events.FirstCardDrawn(source="by_hand"):
            return account + Counter(_ids((event.card,)))
        case events.StubCounted(in_device=False, midway=False):
            return account - Counter(_ids(state.decks.tray))
        case events.StatusDiffers(what="tray", device=device) if device:
            return account + Counter(_ids(event.tray))
        case events.HandCounted():
            return account - Counter(_ids(state.decks.aside[: event.from_aside]))
    return account


def _judge(state: TableState, event: AnyEvent, by_a_person: bool) -> None:
    """Check each event against the state in which it was decided."""
    match event:
        case events.RoundVoided(irregularity=0):
            named = bool(state.round.abandon_asked) and state.round.abandon_asked[1:] == (event.authority, event.text)
            require(by_a_person and named, "a round is abandoned by a named person at the second request")
        case events.RoundVoided() | events.HandRemoved():
            require(by_a_person, "a person decides what is voided or removed")
            found = state.find_open(event.irregularity)
            require(found is not None, "nothing is voided or removed without an irregularity")
            require(event.clause in CLAUSES or event.authority, "nor without a clause or a named authority")
        case events.BettorWithdrew():
            require(by_a_person and event.clause in CLAUSES, "no bettor withdraws without a clause")
            found = state.find_open(event.irregularity)
            require(found is not None and found.stage is Stage.CHOOSING, "no bettor withdraws unless asked")
            chose = found is not None and any(choice is Choice.WITHDRAW for _, _, choice in found.choices)
            require(chose, "no bettor withdraws without choosing to")
        case events.WagersSettled():
            _balanced(event, state)
        case events.CardsDealt():
            moved = by_a_person and state.moves_due  # cards set aside go where they belong
            dealt = state.phase in DEALING and (moved or not state.holds_cards)
            require(bool(dealt), "nothing is dealt while the table is held")
            require(are_due(state, event.places), "every card goes to the place whose turn it is")
            require(not state.burn_due, "nothing is dealt before the burn")
        case events.CardsBurnt():
            require(0 < len(event.cards) <= state.burn_due and not state.blocked, "no more is burnt than is due")
        case events.DeckQuarantined() if event.irregularity:
            require(by_a_person, "a person decides that a deck is out of use")
        case events.CommandIssued() if event.command.moves_cards:
            require(state.device.moving is None, "one command that moves cards at a time")
            free = not state.held and not state.device.stopped and state.service is Service.IN_SERVICE
            require(free, "no command moves cards while the table is held or the device stopped")
        case events.CommandIssued(command=ReleaseExit()):
            permitted = not state.held and state.phase in CARDS_LEAVE | {Phase.BETTING}
            require(permitted, "the exit is open only while cards are due")
        case events.HandJudged():
            hand = state.round.hands[event.place]
            require(
                hand.shown and not hand.dead and state.phase is Phase.EXPOSING, "only open hands in play are judged"
            )
        case events.ChipsPaid():
            over = (Phase.VOIDED, Phase.IDLE) if event.returned else (Phase.SETTLING, Phase.CONCLUDED)
            require(
                state.phase in over and not state.held, "chips are paid for what is settled, or returned after a void"
            )


def _balanced(event: events.WagersSettled, state: TableState) -> None:
    """Check that the parts of every bet add up to its amount, and that the house gains what it collects less what it
    pays.
    """
    for bet in event.bets:
        parts = Fraction(bet.returned) + Fraction(bet.collected) + Fraction(bet.held)
        require(parts == bet.amount, f"bet {bet.number} of {bet.amount} comes to {parts}")
        require(
            bet.verdict != "returned" or _answered_for(bet, state),
            f"bet {bet.number} is returned without a clause or authority",
        )
    house = sum((Fraction(bet.collected) - Fraction(bet.paid) for bet in event.bets), Fraction(0))
    require(Fraction(event.house) == house, f"the gain of the house is {event.house}, and should be {house}")


def _answered_for(bet: SettledBet, state: TableState) -> bool:
    """Return whether a clause, the authority of a ruling, or the reason for removing its hand is named."""
    authorities = {why for box, why, _ in state.round.removed if box == bet.box} | {AUTHORITY}
    ruled = any(number == bet.number for number, _, _ in state.round.bet_rulings) or bet.clause.startswith("ruling of ")
    return bet.clause in CLAUSES or bet.clause in authorities or ruled
