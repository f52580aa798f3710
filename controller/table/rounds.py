"""Operations of a round, from announcement to conclusion: `verify_...` refuses it, the other function carries it "
"out."""

from __future__ import annotations

from typing import Final

from controller.games import game
from controller.games.specification import Disposition, Kind, Noticed, Unit
from controller.rules.dealing_order import Place, dealing_order, order_after_first_card, served_boxes
from controller.table import decks, events, operations
from controller.table.admissions import verify_well
from controller.table.betting import (
    anything_decided,
    notice_side_without_main,
    take_off_returned,
    verify_nothing_held,
)
from controller.table.dealing import deal_without_device
from controller.table.decision import Decision, RefusedError
from controller.table.device_commands import exit_disobeys, order_exit_again
from controller.table.exposing import ENTER_CARDS, entered_and_read, judge
from controller.table.inputs import PersonActed
from controller.table.irregularities.questions import in_order, question
from controller.table.irregularities.raising import INFERENCE, known_facts, raise_irregularity
from controller.table.model import Asking, Deck, HeldCard, Pile, Stage
from controller.table.payments import difference_due, paid_boxes
from controller.table.phases import BETWEEN_ROUNDS, Phase, Service
from controller.table.settings import Settings
from controller.table.state import TableState
from firmware_bridge.cards import Card, Exposed
from firmware_bridge.messages import Message, message, sentences

REPEATED_WITHIN_NS: Final = 30 * 10**9  # at a screen; afterwards a second request counts as a first one


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
    """Verify that doubts about the cards of the deck are decided."""
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


def verify_chips_moved(state: TableState) -> None:
    """Verify that the chips of a paid round, or one with entered wagers, were moved first (NC 5.15)."""
    if difference_due(state):
        raise RefusedError("chips", "The settlement has changed: pay or take back the difference, then record it.")
    if state.round.bets_to_return and (state.round.settlement or state.round.paid_boxes):
        raise RefusedError("chips", "Return all bets and record it first.")


def _put_deck_in(state: TableState) -> Message:
    """Return how a deck is put in: a shuffler shuffles it; for a shoe people shuffle it first."""
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
        _begin_deal(decision, dealing_order(decision.state.grammar, served))


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


def _begin_deal(decision: Decision, places: tuple[Place, ...]) -> None:
    grammar = decision.state.grammar
    decision.emit(events.DealBegan(grammar.unit, grammar.order, grammar.clause, places))


def verify_show_first_card(state: TableState, given: PersonActed, operation: operations.ShowFirstCard) -> None:
    if state.round.first_card is None or state.game.first_card is None:
        raise RefusedError("no-card", "The First Card has not left the device; draw it first.")
    if operation.card is None and state.round.first_card.face is None:
        raise RefusedError("unread", "The device did not read the First Card; enter which card it is.")
    if operation.card is None and not (state.settings is not None and state.settings.hands_by_device):
        raise RefusedError(ENTER_CARDS, "Turn the First Card over and enter which card it is.")


def show_first_card(decision: Decision, given: PersonActed, operation: operations.ShowFirstCard) -> None:
    """Show the First Card, whose rank says where the deal begins."""
    state = decision.state
    drawn, rules = state.round.first_card, state.game.first_card
    assert drawn is not None
    assert rules is not None
    read = drawn.face.expose() if drawn.face else None
    card = operation.card or read
    assert card is not None
    revealed = Exposed(read, drawn.shuffle, drawn.ordinal) if read is card else None  # only the card that was shown
    decision.emit(events.FirstCardShown(card, rules.clause, revealed))
    places = order_after_first_card(rules, state.grammar, card.rank)
    decision.enter_phase("first_card_shown", rules.clause)
    _begin_deal(decision, places)
    if state.law.option(rules.setting) == "in_hand":
        decision.emit(events.CardsDealt(places[:1], (drawn,), "first_card"))
    compare_first_card(decision, given, drawn, card)


def compare_first_card(decision: Decision, given: PersonActed, drawn: HeldCard | None, card: Card) -> None:
    """Compare the First Card: the card on the table counts; a different card read by the device is reported (I16)."""
    if drawn is not None and drawn.face is not None and drawn.face.expose() is not card:
        by_device = decision.state.settings is not None and decision.state.settings.hands_by_device
        note = entered_and_read(decision.state, (card,), drawn.face.expose() if by_device else None)
        facts = known_facts(decision.state, misplaced=False)
        kind = Kind.OTHER_DEALING_ERROR
        raise_irregularity(decision, kind, noticed_by=INFERENCE, facts=facts, note=note, entered=True)


def verify_deal_by_hand(state: TableState, given: PersonActed, operation: operations.DealByHand) -> None:
    """Verify that the device cannot deal, and that no more cards are entered than are due."""
    able = state.device.connected and not state.device.stopped and not state.decks.in_play.stub_out
    runs = able and state.service is Service.IN_SERVICE
    if runs and not state.round.by_hand:  # once dealt by hand from the stub, the round stays so
        raise RefusedError("device", "The device is running; let it deal.")
    if not operation.because.strip():
        raise RefusedError("reason", "Enter why the round continues without the device.")
    due = state.burn_due + len(state.round.places) - state.round.dealt - len(state.decks.aside)
    if state.phase is Phase.FIRST_CARD:
        due = max(0, state.burn_due + (state.round.first_card is None) - len(state.decks.aside))
    if not 1 <= operation.cards <= due:
        raise RefusedError("cards", "{due} cards are due; enter how many of them were dealt by hand.", due=due)


def deal_by_hand(decision: Decision, given: PersonActed, operation: operations.DealByHand) -> None:
    """Deal the cards in the tray first, then those of the stub in their order."""
    deck = decision.state.decks.in_play
    if not decision.state.round.by_hand:
        decision.emit(events.DealtByHand(operation.because))
    waiting = decision.state.decks.tray[: operation.cards]
    first = deck.dispensed + 1
    cards = tuple(HeldCard(deck.shuffle, first + number, None) for number in range(operation.cards - len(waiting)))
    deal_without_device(decision, waiting, "tray")
    deal_without_device(decision, cards, "by_hand")


def _counted_by_device(state: TableState) -> bool:
    capabilities = state.device.capabilities
    return capabilities is not None and capabilities.unloads_stub


def stub_count_due(state: TableState) -> bool:
    """Return whether the stub has to be counted before the chips are paid."""
    same_deck = state.cards_lie  # the next deck may have come in before the round was reopened
    asked = _counted_by_device(state) or (state.settings is not None and state.settings.count_stub_by_hand)
    return same_deck and state.decks.in_play.stub is None and asked


def stub_comes(state: TableState) -> bool:
    """Return whether the device gives out the stub and counts it."""
    out = state.decks.in_play.stub_out
    return _counted_by_device(state) and state.device.connected and not (state.device.stopped or out)


def returns_bets_after_void(state: TableState) -> bool:
    """Return whether bets go back after a void; an open count of the deck does not affect them."""
    return state.phase in BETWEEN_ROUNDS and state.round.bets_to_return and not state.duty.paused


def verify_settled(state: TableState, given: PersonActed, operation: operations.RecordSettled) -> None:
    """Verify that chips may be recorded; between rounds, also at a closed table, only returned bets or a difference."""
    assert state.settings is not None
    if state.phase in BETWEEN_ROUNDS:
        if difference_due(state):
            verify_nothing_held(state)
            return
        if state.round.voided_from is None and not state.round.returning:
            raise RefusedError("phase", "There is nothing to pay or return. Begin the next round.")
        if not state.round.bets_to_return:
            raise RefusedError("settled", "The bets are recorded as returned already; begin the next round.")
        return
    verify_nothing_held(state)
    if state.round.chips_paid and not difference_due(state):
        raise RefusedError("settled", "The chips are recorded as paid already; conclude the round.")
    if stub_count_due(state):
        comes = message("The stub is not counted yet; wait until the device has given it out.")
        by_hand = message("The stub is not counted yet; count it by hand first.")
        raise RefusedError("stub", comes if stub_comes(state) else by_hand)
    _verify_none_open(state)


def record_settled(decision: Decision, given: PersonActed, operation: operations.RecordSettled) -> None:
    state = decision.state
    decision.emit(events.ChipsPaid(returned=state.round.bets_to_return, boxes=paid_boxes(state)))


def verify_conclude(state: TableState, given: PersonActed, operation: operations.ConcludeRound) -> None:
    if not state.round.chips_paid:
        raise RefusedError("not-settled", "Pay the bets and record it first.")
    if difference_due(state):
        raise RefusedError("chips", "The settlement has changed: pay or take back the difference, then record it.")
    _verify_none_open(state)


def _verify_none_open(state: TableState) -> None:
    """Verify that no irregularity of this round is open: even one that holds nothing (I22, I23) may change payments."""
    undecided = next(
        (found for found in in_order(state) if found.round == state.round.number and not found.waiting), None
    )
    if undecided is not None:
        raise RefusedError(
            "open", "An irregularity of this round is open. {question}", question=question(state, undecided)
        )


def conclude_round(decision: Decision, given: PersonActed, operation: operations.ConcludeRound) -> None:
    """Conclude the round once this is entered twice."""
    before = decision.state.round
    if before.conclusion_asked and repeats(given, before.conclusion_asking):
        decision.enter_phase("conclude", errors_count=errors_count_by(decision.state))
    else:
        decision.emit(events.ConclusionAsked(given.person, given.screen, given.utc_ns))


CHANGES_RESULTS: Final = frozenset({Disposition.VOID, Disposition.REMOVE_HAND})


def errors_count_by(state: TableState) -> tuple[str, ...]:
    """Return the clauses by which an error found between the settlement and the next round changes the result."""
    rows = (row for row in state.law.rows if Noticed.CONCLUDED in row.noticed and row.disposition in CHANGES_RESULTS)
    return tuple(dict.fromkeys(row.clause for row in rows if row.clause))


def repeats(given: PersonActed, first: Asking | None) -> bool:
    """Return whether this is the second request, with which an operation that is entered twice takes effect.

    At a screen it must come soon, from the same person and screen, and name the first one: a double touch, or a button
    drawn before the first request, must not end a round. A program's requests are taken as intended.
    """
    if not given.screen:
        return True
    if first is None or given.repeats != first.entry or given.utc_ns - first.utc_ns > REPEATED_WITHIN_NS:
        return False
    return (given.person, given.screen) == (first.person, first.screen)


def resume_play(decision: Decision) -> None:
    """Give the waiting hands their outcomes once nothing blocks and no card is to be moved."""
    if not decision.state.held:
        judge(decision)
