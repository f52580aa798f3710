"""Counts by hand, with a witness, and the account of the 52 cards (`ledger_of`). The last count of a pile is valid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from controller.games.specification import Kind
from controller.rules.dealing_order import Place
from controller.table import events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.decks import verify_witness
from controller.table.feature import ALWAYS, ANY_PHASE, WORDS, Group, OperationRow, group
from controller.table.inputs import PersonActed
from controller.table.irregularities.dispositions import state_count
from controller.table.irregularities.questions import COUNT_BY_HAND, pile_word
from controller.table.irregularities.raising import (
    COUNT_KINDS,
    already_open,
    known_facts,
    raise_count_in_doubt,
    raise_irregularity,
)
from controller.table.irregularities.reporting import answer_with_hand, open_error, verify_report
from controller.table.model import ASIDE, DECK, DENIED, STUB, BeforeCount, Deck, Hand, Irregularity, Pile, Stage
from controller.table.phases import BETWEEN_ROUNDS, CARDS_LEAVE, WINDOW_OPEN, Phase
from controller.table.settling import stub_comes, stub_count_due
from controller.table.state import TableState
from firmware_bridge.cards import DECK_SIZE
from firmware_bridge.messages import Message, counted, message

TRAY: Final = "tray"
BESIDE: Final = (str(Pile.BURNT), ASIDE, str(Pile.DROPPED), str(Pile.DISCARDS))
MOST: Final = 60  # the highest count that is accepted: a deck with extra cards has more than 52


def verify_count(state: TableState, given: PersonActed, operation: operations.CountCards) -> None:
    if not 0 <= operation.number <= MOST:
        raise RefusedError("number", "One deck cannot have {number} cards left; count again.", number=operation.number)
    if not state.decks.in_play.deck:
        raise RefusedError("no-deck", "There is no deck to count; put one in first.")
    verify_witness(state, given, operation.witness)
    pile = operation.pile
    if pile == DECK and state.in_round and state.decks.waiting is None:
        raise RefusedError(
            "in-round", "The deck is on the table; count the stub now, or the whole deck after the round."
        )
    if pile in (STUB, TRAY, DECK, *BESIDE):
        return
    if pile not in state.round.hands and pile not in state.round.dealt_to:
        named = (STUB, TRAY, *BESIDE, DECK)
        if not pile:
            raise RefusedError("pile", "Name what was counted: {named:list}, or a place.", named=named)
        raise RefusedError("pile", "No cards lie at {pile}. Name {named:list}, or a place.", pile=pile, named=named)
    if state.phase not in WINDOW_OPEN or state.phase is Phase.VOIDED:
        raise RefusedError("no-round", "Hands are counted only in a round; count the stub or the whole deck instead.")
    if operation.number != state.round.hands.get(pile, Hand()).size and _open_at(state, pile) is None:
        verify_report(state, given, _reported(operation))


def _reported(operation: operations.CountCards) -> operations.ReportIrregularity:
    return operations.ReportIrregularity(Kind.WRONG_COUNT, operation.pile, counted=operation.number)


def _open_at(state: TableState, place: str) -> Irregularity | None:
    """Return the open irregularity about the number of cards at the place."""
    counted = (found for found in state.open if found.kind is Kind.WRONG_COUNT or found.counted is not None)
    return next((found for found in counted if (found.place, found.round) == (place, state.round.number)), None)


def count_cards(decision: Decision, given: PersonActed, operation: operations.CountCards) -> None:
    due, whole = _due(decision.state, operation.pile), decision.state.stub_fits(operation.number)
    taken_back = decision.state.round.taken_back
    before = _account(decision.state, operation.pile)
    witness = operation.witness
    known = decision.state.person_called(witness)
    decision.emit(
        events.CardsCounted(
            operation.pile, operation.number, due, given.person, witness, decision.origin, before, known
        )
    )
    if operation.pile == STUB:
        _count_stub(decision, given, operation, due, whole=whole)
    elif operation.pile == DECK:
        _count_deck(decision, given, operation.number, operation.witness)
    elif operation.pile == TRAY:
        _count_tray(decision, given, operation.number, due)
    elif operation.pile in BESIDE:
        _count_beside(decision, given, operation, due, taken_back)
    else:
        _count_hand(decision, given, operation)


def stub_is_kept(state: TableState) -> bool:
    """Return whether a stub count is kept as the count after the deal; one during the deal only answers questions."""
    return state.decks.in_play.used and state.phase not in CARDS_LEAVE and state.phase is not Phase.BETTING


def _account(state: TableState, pile: str) -> BeforeCount:
    """Return what the account of the cards says about a pile before it is counted."""
    deck, more = state.decks.in_play, state.round.surplus
    at_place = state.round.hands[pile].surplus if pile in state.round.hands else None
    return BeforeCount(
        deck.stub,
        deck.by_count,
        more.get(ASIDE if pile == STUB else pile, at_place),
        state.round.taken_back,
        state.decks.count_due,
    )


def _due(state: TableState, pile: str) -> int:
    """Return how many cards should be at the place, as far as the table knows."""
    known = {STUB: state.stub_due, TRAY: len(state.decks.tray), DECK: DECK_SIZE, ASIDE: state.aside_size}
    if pile in known:
        return known[pile]
    return state.round.pile_size(Pile(pile)) if pile in BESIDE else state.round.hands.get(pile, Hand()).size


def _count_stub(
    decision: Decision, given: PersonActed, operation: operations.CountCards, due: int, *, whole: bool
) -> None:
    """Show whether the deck is complete: answer open irregularities that ask for a count, or raise one (I02)."""
    state, number = decision.state, operation.number
    if stub_is_kept(state):
        decision.emit(events.StubCounted(number, due, given.person, in_device=True))
    if state.decks.count_due and whole:
        decision.emit(_counted_whole(decision, state.decks.in_play, given, operation.witness))
    _answer(decision, not whole, waiting=False)
    if not whole and not any(already_open(decision, kind) for kind in COUNT_KINDS):
        note = counted(
            "1 card was counted; {due} should be left",
            "{count} cards were counted; {due} should be left",
            number,
            due=due,
        )
        _raise_wrong(decision, given, note)


def _counted_whole(decision: Decision, deck: Deck, given: PersonActed, witness: str) -> events.DeckCountedWhole:
    return events.DeckCountedWhole(deck.deck, given.person, witness, decision.state.person_called(witness))


def _count_deck(decision: Decision, given: PersonActed, number: int, witness: str) -> None:
    """Compare a count of the whole deck (I02): the next round's deck if the device holds it, else the round's deck.

    An incomplete deck must not be dealt from.
    """
    state = decision.state
    wrong = number != DECK_SIZE
    of_next = state.in_round or state.next_deck_in
    waiting = of_next or any(found.waiting and found.kind in COUNT_KINDS for found in state.open)
    _answer(decision, wrong, waiting=waiting)
    if not wrong:
        if state.decks.count_due and not state.in_round:
            decision.emit(_counted_whole(decision, state.decks.coming, given, witness))
        return
    deck = state.decks.next(in_round=state.in_round) or state.decks.in_play
    if not deck.used:
        decision.emit(events.DeckMadeUnusable(deck.deck, deck is state.decks.waiting))
    named = message("deck {deck}", deck=deck.label) if deck.label else message("the whole deck")
    note = counted("1 card was counted in {deck}", "{count} cards were counted in {deck}", number, deck=named)
    if not waiting and not any(already_open(decision, kind) for kind in COUNT_KINDS):
        _raise_wrong(decision, given, note)
    elif waiting and not any(found.waiting for found in decision.state.open):
        raise_irregularity(decision, Kind.DECK_COUNT, noticed_by=given.person, note=note, waiting=True)
        _answer(decision, wrong, waiting=True)


def _raise_wrong(decision: Decision, given: PersonActed, note: Message) -> None:
    facts = known_facts(decision.state, counted_wrong=True)
    raise_irregularity(decision, Kind.DECK_COUNT, noticed_by=given.person, facts=facts, note=note)


def _answer(decision: Decision, wrong: bool, *, waiting: bool) -> None:
    """Answer the open irregularities about that deck that wait for a count or a ruling."""
    number = decision.state.round.number
    for found in decision.state.open:
        about = found.waiting is waiting and (waiting or found.round == number)
        if found.kind in COUNT_KINDS and about and found.stage in (Stage.CLAIMED, Stage.RULING):
            state_count(decision, found, wrong)


def _count_tray(decision: Decision, given: PersonActed, number: int, due: int) -> None:
    """Raise I15 if the set in the tray does not have the size that the device reported."""
    if number != due and decision.state.in_round and not already_open(decision, Kind.SIMULTANEOUS):
        place = None if decision.state.burn_due else decision.state.round.next_place
        ordinals = tuple(card.ordinal for card in decision.state.decks.tray)
        facts = known_facts(
            decision.state,
            place,
            curable=False,
            one_hand=decision.state.round.go_to_one_hand(number),
        )
        note = counted(
            "1 card was counted in the tray; the device reported {due}",
            "{count} cards were counted in the tray; the device reported {due}",
            number,
            due=due,
        )
        raise_irregularity(
            decision,
            Kind.SIMULTANEOUS,
            noticed_by=given.person,
            facts=facts,
            place=place,
            ordinals=ordinals,
            counted=None,
            note=note,
        )


def _count_beside(
    decision: Decision, given: PersonActed, operation: operations.CountCards, due: int, taken_back: int
) -> None:
    """Use the count in the account; in a round a difference raises I04 until the stub is counted.

    If the stub was counted already, its count is compared again: the missing cards may be in this pile.
    """
    state = decision.state
    most = due + (taken_back if operation.pile == ASIDE else 0)
    doubtful = not due <= operation.number <= most and state.in_round
    if any(already_open(decision, kind) for kind in COUNT_KINDS):
        if state.decks.in_play.stub is not None:
            _answer(decision, not state.stub_fits(state.decks.in_play.stub), waiting=False)
    elif doubtful:
        note = counted(
            "1 card was counted ({pile}); {due} should be there",
            "{count} cards were counted ({pile}); {due} should be there",
            operation.number,
            pile=pile_word(state, operation.pile),
            due=due,
        )
        raise_count_in_doubt(decision, note, noticed_by=given.person)


def _count_hand(decision: Decision, given: PersonActed, operation: operations.CountCards) -> None:
    """Raise a wrong count, as a report would; a later count of the same hand replaces the first."""
    state, place, number = decision.state, operation.pile, operation.number
    found, error = _open_at(state, place), open_error(state, place)
    right = number == state.round.hands.get(place, Hand()).size
    if found is None and error is not None:
        if not right:
            answer_with_hand(decision, given, error, place, number)
    elif found is None and not right:
        raise_irregularity(decision, Kind.WRONG_COUNT, noticed_by=given.person, place=place, counted=number)
    elif found is None or found.counted == number:
        return
    elif found.kind is not Kind.WRONG_COUNT and found.stage is Stage.CLAIMED:
        answer_with_hand(decision, given, found, place, number)
    elif found.stage in (Stage.CLAIMED, Stage.RULING):
        decision.emit(events.FactStated(found.id, found.facts, found.row, found.asks, counted=number))


# -- the account of the 52 cards


class Ledger(msgspec.Struct, frozen=True):
    """The number of cards of the deck in play at each location, without faces.

    `stub`: the cards left in the device, or taken out of it after the deal. `hands`: includes dead hands.
    """

    stub: int = 0
    tray: int = 0
    hands: tuple[tuple[Place, int], ...] = ()
    first_card: int = 0
    burnt: int = 0
    aside: int = 0
    dropped: int = 0
    discards: int = 0

    @property
    def in_hands(self) -> int:
        return sum(count for _, count in self.hands)

    @property
    def beside(self) -> int:
        """The cards that are neither in the stub, nor in the tray, nor in a hand."""
        return self.first_card + self.burnt + self.aside + self.dropped + self.discards

    @property
    def total(self) -> int:
        return self.stub + self.tray + self.in_hands + self.beside

    @property
    def whole(self) -> bool:
        return self.total == DECK_SIZE


def ledger_of(state: TableState) -> Ledger | None:
    """Return the present account, or None if no deck is in play, or if it still has to be counted after maintenance.

    Every card counts once, even if it was reported twice. The stub is its last count less the cards that left since.
    Before a count it is the loaded deck less the cards that left: as the device counted them, but at least as many as
    are outside.
    """
    deck = state.decks.in_play
    if not deck.deck or state.decks.count_due or state.phase is Phase.MAINTENANCE:
        return None
    again = state.listed_again
    hands = tuple((place, hand.size - again[place]) for place, hand in sorted(state.round.hands.items()))
    ledger = Ledger(
        tray=len(state.decks.tray) - again[TRAY],
        hands=hands if state.cards_lie else (),
        first_card=int(state.cards_lie and state.round.first_card is not None) - again["first_card"],
        burnt=state.round.pile_size(Pile.BURNT) - again[Pile.BURNT],
        aside=state.aside_size - again[ASIDE],
        dropped=state.round.pile_size(Pile.DROPPED) - again[Pile.DROPPED],
        discards=state.round.pile_size(Pile.DISCARDS) - again[Pile.DISCARDS],
    )
    ledger = msgspec.structs.replace(ledger, stub=_stub(state, ledger.total))
    taken_back = max(0, min(state.round.taken_back, DECK_SIZE - ledger.total))  # not in the stub, by the device's count
    return msgspec.structs.replace(ledger, aside=ledger.aside + taken_back)


def _last_count_was_denied(state: TableState) -> bool:
    """Return whether people last denied a count other than 52, so that the account assumes 52 cards."""
    if any(found.kind in COUNT_KINDS for found in state.open):
        return False
    ended = [one.outcome for one in state.round.closed if one.found.kind in COUNT_KINDS]
    return bool(ended) and ended[-1] == DENIED


def _stub(state: TableState, beside: int) -> int:
    """Return how many cards are left in the stub if `beside` cards are outside the device."""
    deck = state.decks.in_play
    known = len({card.id for _, card in state.lying})
    if deck.by_count is not None:
        counted = deck.by_count - max(deck.dispensed, known)
        return min(counted, DECK_SIZE - beside) if _last_count_was_denied(state) else counted
    size = deck.loaded or DECK_SIZE
    return max(0, min(size - deck.dispensed, size - beside))


MOST_COUNTED: Final = 60


def counts_due(state: TableState) -> str:
    """Return the pile that has to be counted by hand now; empty if none."""
    for found in state.open:
        if COUNT_BY_HAND in found.asks:
            return DECK if found.waiting else STUB
    if state.phase is Phase.SETTLING and stub_count_due(state) and not stub_comes(state):
        return STUB
    return DECK if state.decks.count_due and state.phase in BETWEEN_ROUNDS - {Phase.MAINTENANCE} else ""


# -- permissions and offers


def _counted(state: TableState) -> Iterator[Group]:
    stub = operations.CountCards(STUB, min(MOST_COUNTED, max(0, state.stub_due)), WORDS)
    deck = operations.CountCards(DECK, DECK_SIZE, WORDS)
    if due := counts_due(state):
        yield group(stub if due == STUB else deck, known=("pile",))
    yield group(stub, deck)


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.CountCards, message("count cards"), message("{who} counted cards."), verify_count, count_cards,
        ANY_PHASE, ALWAYS, offers=_counted),
)
# fmt: on
"""The permissions and offers of this feature."""
