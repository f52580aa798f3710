"""Starting a round: "Place your bets", the boxes with bets, "No more bets", and taking either back.

Bets open only on a full, shuffled and unused deck (reading 34).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controller.games import game
from controller.games.specification import Noticed, Unit
from controller.rules.dealing_order import dealing_order, served_boxes
from controller.table import decks, events, operations
from controller.table.admissions import verify_well
from controller.table.betting import anything_decided, notice_side_without_main, take_off_returned
from controller.table.dealing import begin_deal
from controller.table.decision import Decision, RefusedError
from controller.table.device_commands import exit_disobeys, order_exit_again
from controller.table.feature import ALWAYS, BETTING, NOT_HELD, Group, OperationRow, group, just
from controller.table.inputs import PersonActed
from controller.table.irregularities.questions import question
from controller.table.irregularities.raising import raise_irregularity
from controller.table.model import Deck, Pile, Stage
from controller.table.phases import BEGINNING, CARDS_LEAVE, Phase
from controller.table.settings import Settings
from controller.table.settling import verify_chips_moved
from controller.table.state import TableState
from firmware_bridge.messages import Message, message, sentences


def choose_game(decision: Decision, settings: Settings) -> None:
    rules = game(settings.game)
    decision.emit(events.GameChosen(str(rules.title), rules.version, rules.effective, settings))


def verify_place_your_bets(state: TableState, given: PersonActed, operation: operations.PlaceYourBets) -> None:
    """Verify that the device holds a full, shuffled, unused deck (house procedure, reading 34).

    It is one deck of 52 (TP 2.1, RTP 2.1, NC 2.2.1, P3 2.1), counted first after maintenance. If the table records its
    decks, it is one of them.
    """
    verify_chips_moved(state)
    verify_well(state)
    if state.device.stopped:
        clear = message("clear it, or put the deck in again")
        how = message("have it repaired and put the deck in again") if exit_disobeys(state) else clear
        raise RefusedError("stopped", "The device has stopped ({causes}); {how}.", causes=state.device.stopped, how=how)
    settings = state.settings_wait or state.settings
    if settings is not None and state.device.unit not in (settings.unit, "both"):
        raise RefusedError(
            "unit",
            "The table deals sets now; connect a device that yields them."
            if settings.unit is Unit.SETS
            else "The table deals single cards now; connect a device that yields them.",
        )
    if state.decks.count_due:
        by_hand = message("shuffle it outside the device and count its 52 cards by hand")
        how = message("its shuffle counts it") if state.device.kind == "shuffler" else by_hand
        raise RefusedError("count-due", "The deck has to be counted: put it in again first; {how}.", how=how)
    if settings is not None and state.device.capabilities and not settings.can_burn_with(state.device.capabilities):
        raise RefusedError("burn", "This device cannot give out the cards to be burnt; connect one that can.")
    deck = state.decks.coming
    if not deck.deck:
        raise RefusedError("no-deck", _put_deck_in(state))
    _verify_decided(state, deck)
    if deck.label:  # a quarantined deck must not be put in again, so that refusal comes first
        decks.verify_usable(state, deck)
    if deck.used:
        raise RefusedError("deck-used", sentences(_why_used(state, deck), _put_deck_in(state)))
    decks.verify_usable(state, deck)
    if not deck.shuffled:
        outside = message("Shuffle the deck outside the shoe, and record the shuffle.")
        waits = message("Wait until the shuffler has shuffled the deck.")
        raise RefusedError("not-shuffled", waits if state.device.kind == "shuffler" else outside)
    if deck.face_up or deck.face_up_count:
        raise RefusedError(
            "face-up", "A card lies face up in the deck; turn it over, put the deck in and have it shuffled again."
        )


def _verify_decided(state: TableState, deck: Deck) -> None:
    """Verify that doubts about the cards in the deck are decided."""
    for found in state.open:
        if found.waiting and found.of_deck in ("", deck.label):
            named = message("deck {deck}", deck=deck.label) if deck.label else message("the deck of the next round")
            doubt = message("{named} is in doubt.", named=named)
            raise RefusedError("open", sentences(doubt, question(state, found)))


def _why_used(state: TableState, deck: Deck) -> Message:
    if state.phase in (Phase.CONCLUDED, Phase.VOIDED):
        return message("Round over. Collect the cards.")
    if deck.dispensed:
        return message("Cards have left this deck. Collect the cards.")
    return message("The deck must be shuffled again.")


def _put_deck_in(state: TableState) -> Message:
    """Return how a deck is put in: a shuffler shuffles it; for a shoe people shuffle it first."""
    deck = state.decks.coming
    if state.device.kind == "shuffler" and deck.dispensed:
        return message("Put the collected cards into the shuffler.")
    if state.device.kind == "shuffler" and deck.deck:
        return message("Put the deck in again to be shuffled.")
    if state.device.kind == "shuffler":
        return message("Put a full deck into the shuffler.")
    shoe = state.device.word
    return message("Shuffle a full deck, put it into the {device}, and record the shuffle.", device=shoe)


def place_your_bets(decision: Decision, given: PersonActed, operation: operations.PlaceYourBets) -> None:
    before = decision.state.settings if decision.state.settings_wait is not None else None
    if decision.state.settings_wait is not None:
        choose_game(decision, decision.state.settings_wait)
    if decision.state.decks.coming is not decision.state.decks.in_play:
        decision.emit(events.DeckComesIntoPlay(decision.state.decks.coming.deck))
    deck = decision.state.decks.in_play
    state = decision.state
    played = state.earlier if state.round.cancelled else state.round
    number = max(state.rounds_numbered, state.round.number) + 1
    earlier = played.number if played is not None else 0
    decision.emit(events.RoundBegan(number, deck.deck, deck.label, earlier, before))
    decision.enter_phase("place_your_bets", decision.state.game.clauses.place_your_bets)
    order_exit_again(decision)


def verify_cancel_start(state: TableState, given: PersonActed, operation: operations.CancelStart) -> None:
    if state.decks.aside:
        raise RefusedError("cards-out", "Cards have left the device; decide the open irregularity first.")
    if state.layout.bets:
        raise RefusedError("bets", "Return the bets that lie there first.")


def cancel_start(decision: Decision, given: PersonActed, operation: operations.CancelStart) -> None:
    """Cancel the start; a set that waits in the tray goes back with the stub.

    An announced start ends the previous round even if no one bets; a start that was not announced does not. Errors of
    the previous round reported meanwhile are raised again, as found before the next round.
    """
    state = decision.state
    reached = Phase.IDLE if operation.announced else decision.phase_after("take_start_back")
    for found in state.open:
        if found.round == state.round.number and not found.waiting:
            decision.emit(events.IrregularityResolved(found.id, "overtaken", "", given.person, given.role))
    if reached is Phase.IDLE or state.earlier is None:
        decision.enter_phase("cancel_start")
        return
    decision.emit(events.StartTakenBack(state.round.number, state.earlier.number, reached))
    for found in decision.state.open:
        if reached is Phase.CONCLUDED and found.facts.noticed is Noticed.NEXT_ROUND and not found.waiting:
            decision.emit(events.IrregularityResolved(found.id, "overtaken", "", given.person, given.role))
            raise_irregularity(
                decision,
                found.kind,
                noticed_by=given.person,
                place=found.place,
                card=found.card,
                counted=found.counted,
                note=found.note,
            )


def verify_occupy_boxes(state: TableState, given: PersonActed, operation: operations.OccupyBoxes) -> None:
    assert state.settings is not None
    count = state.settings.box_count
    wrong = [number for number in operation.boxes if not 1 <= number <= count]
    if wrong:
        raise RefusedError(
            "box", "There is no box {box}; this layout has boxes 1 to {count}.", box=wrong[0], count=count
        )
    if any(found.stage is Stage.CHOOSING for found in state.open):
        raise RefusedError("choosing", "The bettors of these boxes are choosing; record their choices first.")
    if state.layout.bets:
        raise RefusedError(
            "wagers", "The wagers that are entered say which boxes have bets; change the wagers instead."
        )
    if len(set(operation.boxes)) != len(operation.boxes):
        raise RefusedError("box", "A box is named twice; name each box once.")


def occupy_boxes(decision: Decision, given: PersonActed, operation: operations.OccupyBoxes) -> None:
    decision.emit(events.BoxesOccupied(tuple(sorted(operation.boxes))))


def verify_no_more_bets(state: TableState, given: PersonActed, operation: operations.NoMoreBets) -> None:
    if not state.round.boxes and not state.game.every_hand:
        raise RefusedError(
            "no-boxes", message("Enter the bets.") if state.bettors else message("Mark the boxes with bets.")
        )


def no_more_bets(decision: Decision, given: PersonActed, operation: operations.NoMoreBets) -> None:
    rules = decision.state.game
    served = served_boxes(rules, decision.state.round.boxes)
    if served != decision.state.round.boxes:
        decision.emit(events.BoxesOccupied(served))
    decision.enter_phase("no_more_bets", rules.clauses.no_more_bets, frees_bets=anything_decided(decision.state))
    notice_side_without_main(decision)
    if rules.first_card is None:
        begin_deal(decision, dealing_order(decision.state.grammar, served))


def verify_reopen_bets(state: TableState, given: PersonActed, operation: operations.ReopenBets) -> None:
    """Verify that no card has left the device; a set that waits in the tray has not."""
    if (
        state.round.dealt
        or state.decks.aside
        or state.round.first_card is not None
        or state.round.piles.get(Pile.BURNT)
    ):
        raise RefusedError(
            "cards-out", "Cards have left the device and bets stay closed. If a box is marked wrongly, press Problem."
        )
    if state.device.moving is not None:
        raise RefusedError("moving", "The device is moving cards; wait until it has answered.")


def reopen_bets(decision: Decision, given: PersonActed, operation: operations.ReopenBets) -> None:
    """Reopen the bets: those returned or withdrawn meanwhile are off the layout, and bets placed afterwards are new."""
    state = decision.state
    take_off_returned(decision)
    decision.enter_phase("reopen_bets", state.game.clauses.place_your_bets, frees_bets=anything_decided(state))


# -- permissions and offers


def _boxes(state: TableState) -> Iterator[Group]:
    yield group(operations.OccupyBoxes(state.round.boxes or (1,)))


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.PlaceYourBets, message("open bets"), message("{who} opened bets."), verify_place_your_bets,
        place_your_bets, BEGINNING, offers=just(operations.PlaceYourBets())),
    OperationRow(
        operations.NoMoreBets, message("close bets"), message("{who} closed bets."), verify_no_more_bets,
        no_more_bets, BETTING, offers=just(operations.NoMoreBets())),
    OperationRow(
        operations.OccupyBoxes, message("mark the boxes with bets"), message("{who} marked the boxes with bets."),
        verify_occupy_boxes, occupy_boxes, BETTING, ALWAYS, offers=_boxes),
    OperationRow(
        operations.CancelStart, message("cancel the start of a round"),
        message("{who} cancelled the start of a round."), verify_cancel_start, cancel_start, BETTING, NOT_HELD,
        offers=just(operations.CancelStart())),
    OperationRow(
        operations.ReopenBets, message("open bets again"), message("{who} opened bets again."), verify_reopen_bets,
        reopen_bets, CARDS_LEAVE, NOT_HELD, offers=just(operations.ReopenBets())),
)
# fmt: on
"""The permissions and offers of this feature."""
