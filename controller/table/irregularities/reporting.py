"""People report an irregularity: it is raised, or joins the open one that it is about.

What the table noticed itself is already open when people see it: their report adds what the table did not know.
"""

from __future__ import annotations

from typing import Final

import msgspec

from controller.games.specification import Kind
from controller.rules.dealing_order import Place
from controller.rules.law import find_row
from controller.rules.layout import without_main
from controller.table import events, operations
from controller.table.betting import undecided_alone
from controller.table.decision import Decision, RefusedError
from controller.table.feature import ALWAYS, REPORTED, OperationRow, just
from controller.table.inputs import PersonActed
from controller.table.irregularities.questions import place_word, waits_for_hand_count
from controller.table.irregularities.raising import COUNT_KINDS, HOLDS_NOTHING, known_facts, raise_irregularity
from controller.table.model import Hand, HeldCard, Irregularity, Pile, Stage
from controller.table.phases import BEFORE_CLOSE, Phase
from controller.table.power_failures import re_evaluate_interruption
from controller.table.state import TableState
from firmware_bridge.messages import counted, message

OF_DECK: Final = frozenset({Kind.FOREIGN_CARD, Kind.DECK_COUNT})  # in a void round too: the deck goes out of use
NEEDS_CARDS: Final = frozenset(
    {
        Kind.WRONG_COUNT,
        Kind.WRONG_DISTRIBUTION,
        Kind.DROPPED_CARD,
        Kind.DEALER_EXPOSED_EARLY,
        Kind.WRONG_VIEWER,
        Kind.PLAYER_EXPOSED,
    }
)
"""Kinds that concern dealt cards: before the deal they can only be about the previous round."""
AT_A_CARD: Final = frozenset(
    {Kind.EXPOSED_CARD, Kind.DROPPED_CARD, Kind.DEALER_EXPOSED_EARLY, Kind.WRONG_VIEWER, Kind.PLAYER_EXPOSED}
)
"""Kinds that concern a card at the named place."""


def verify_report(state: TableState, given: PersonActed, operation: operations.ReportIrregularity) -> None:
    if operation.earlier:
        _verify_earlier(state, operation)
        return
    if state.phase is Phase.IDLE and not (state.round.cancelled and operation.kind in OF_DECK):
        if state.round.cancelled:
            raise RefusedError(
                "round", "No round is in progress; if this is about the previous round, report it for that round."
            )
        raise RefusedError("round", "No round is in progress.")
    boxes = range(1, state.settings.box_count + 1) if state.settings is not None else ()
    of_chips = operation.kind in HOLDS_NOTHING and operation.place in [f"B{number}" for number in boxes]
    known = operation.place in state.round.hands or operation.place in state.round.dealt_to or of_chips
    if operation.place is not None and not known:
        raise RefusedError(
            "place",
            "No cards were dealt to {place} in this round; name a place that has cards.",
            place=place_word(state, operation.place),
        )
    if operation.kind is Kind.WRONG_COUNT and (operation.place is None or operation.counted is None):
        raise RefusedError("count", "Enter the place where the number of cards is wrong, and how many lie there.")
    if (
        operation.kind is Kind.WRONG_COUNT
        and operation.counted == state.round.hands.get(operation.place or "", Hand()).size
    ):
        raise RefusedError(
            "count",
            counted(
                "The table's record also has 1 card at {place}; count again.",
                "The table's record also has {count} cards at {place}; count again.",
                operation.counted,
                place=place_word(state, operation.place),
            ),
        )
    if operation.counted is not None and not 0 <= operation.counted <= 52:
        raise RefusedError("count", "{number} cards cannot lie at one place; count again.", number=operation.counted)
    _verify_card(state, operation)
    _verify_undecided(state, operation)
    if operation.kind in NEEDS_CARDS and not state.round.dealt and state.phase in BEFORE_CLOSE:
        raise RefusedError(
            "round",
            "No card has been dealt in this round yet; if this is about the previous round, report it for that round.",
        )
    if state.phase is Phase.VOIDED and operation.kind not in OF_DECK:
        raise RefusedError("voided", "The round is already void; begin the next one.")


def _verify_card(state: TableState, operation: operations.ReportIrregularity) -> None:
    """Verify that an exposed, dropped or viewed card is at the named place, or fell from it."""
    if operation.place is None or operation.kind not in AT_A_CARD:
        return
    fell = [card for card in state.round.piles.get(Pile.DROPPED, ()) if _belongs(state, card) == operation.place]
    cards = state.round.hands.get(operation.place, Hand()).size + len(fell)
    if not cards:
        at = place_word(state, operation.place)
        raise RefusedError("card", "No card lies at {place} yet; name the place whose card it is.", place=at)
    if operation.card is not None and not 1 <= operation.card <= cards:
        at = place_word(state, operation.place)
        raise RefusedError(
            "card",
            counted(
                "1 card lies at {place}; name that one.",
                "{count} cards lie at {place}; name one of them.",
                cards,
                place=at,
            ),
        )


def _belongs(state: TableState, card: HeldCard) -> Place | None:
    return state.round.intended.get(card.id)


def _verify_earlier(state: TableState, operation: operations.ReportIrregularity) -> None:
    begun = state.in_round or (state.phase is Phase.IDLE and state.round.cancelled)
    if not begun or state.earlier is None:
        raise RefusedError("round", "No later round has begun; report it for this round.")
    if operation.place is not None and operation.place != "D" and not operation.place.startswith("B"):
        raise RefusedError(
            "place", "{place} is not a place of a round; name a box or the Dealer.", place=operation.place
        )


def report(decision: Decision, given: PersonActed, operation: operations.ReportIrregularity) -> None:
    """Raise the irregularity unless it is already open: then the report joins the open one."""
    found = _open_already(decision.state, operation)
    error = open_error(decision.state, operation.place or "") if operation.kind is Kind.WRONG_COUNT else None
    if found is not None:
        _join(decision, given, found, operation)
    elif error is not None and not operation.earlier:
        decision.emit(events.ReportJoined(error.id, given.person, operation.place, note=operation.note))
        answer_with_hand(decision, given, error, operation.place or "", operation.counted or 0)
    else:
        raise_irregularity(
            decision,
            operation.kind,
            noticed_by=given.person,
            place=operation.place,
            card=operation.card,
            counted=operation.counted,
            note=operation.note,
            earlier=operation.earlier,
        )
    re_evaluate_interruption(decision)


SAME_MATTER: Final = {
    Kind.EXPOSED_CARD: frozenset({Kind.EXPOSED_CARD, Kind.FACE_UP_IN_DEVICE}),
    Kind.DECK_COUNT: COUNT_KINDS,
    Kind.COUNT_IN_DOUBT: COUNT_KINDS,
}
"""The kinds of an open irregularity that a report may be about; a kind without a row only matches itself."""
SEVERAL: Final = frozenset(
    {
        Kind.EXPOSED_CARD,
        Kind.WRONG_COUNT,
        Kind.DROPPED_CARD,
        Kind.WRONG_VIEWER,
        Kind.PLAYER_EXPOSED,
        Kind.OTHER_DEALING_ERROR,
        *HOLDS_NOTHING,
    }
)
"""Kinds of which several may be open at once: two reports are about the same one only if they name the same place."""


def _is_error_reported(found: Irregularity, kind: Kind) -> bool:
    """Return whether the report is about an open dealing error: misplaced cards, or one that the table noticed."""
    if found.kind is not Kind.OTHER_DEALING_ERROR or found.stage is not Stage.CLAIMED:
        return False
    if kind is Kind.WRONG_DISTRIBUTION:
        return found.facts.misplaced is not False
    return kind is Kind.OTHER_DEALING_ERROR and not found.origin and "misplaced" in found.asks


def _open_already(state: TableState, operation: operations.ReportIrregularity) -> Irregularity | None:
    """Return the open irregularity that a report is about: of the same round, kind, place and card."""
    of_round = state.earlier.number if operation.earlier and state.earlier is not None else state.round.number
    kinds = SAME_MATTER.get(operation.kind, frozenset({operation.kind}))
    for found in state.open:
        if found.round != of_round or found.waiting:
            continue
        if _is_error_reported(found, operation.kind):
            return found
        counted = operation.kind is Kind.WRONG_COUNT and found.counted is not None
        if found.kind not in kinds and not (counted and found.place == operation.place):
            continue
        by_table = _noticed_by_table(state, found)
        if by_table and found.kind is Kind.SIDE_WITHOUT_MAIN:
            return found  # it names every card at the place
        named = operation.place is not None and operation.place == found.place
        unnamed = (by_table or operation.kind not in SEVERAL) and None in (operation.place, found.place)
        if (named or unnamed) and (operation.card == found.card or None in (operation.card, found.card)):
            return found
    return None


def _noticed_by_table(state: TableState, found: Irregularity) -> bool:
    """Return whether the table itself or an entry other than a report noticed it. Dealing errors are distinguished."""
    rounds = (state.round, state.earlier) if state.earlier is not None else (state.round,)
    said = {one.entry: one.operation for each in rounds for one in each.entered}
    reported = isinstance(said.get(found.origin), operations.ReportIrregularity)
    return found.kind is not Kind.OTHER_DEALING_ERROR and not reported


def _verify_undecided(state: TableState, operation: operations.ReportIrregularity) -> None:
    """Verify that the report is not about decided bets: side bets without a main bet are decided once.

    Nobody is asked again about returned bets.
    """
    if operation.kind is not Kind.SIDE_WITHOUT_MAIN or _open_already(state, operation) is not None:
        return
    alone = without_main(state.law, state.layout)
    there = [bet for bet in alone if operation.place in (None, f"B{bet.box}")]
    if there and not set(there) & set(undecided_alone(state)):
        raise RefusedError(
            "decided",
            counted(
                "Bet {numbers} is already decided; correct that decision if it was wrong.",
                "Bets {numbers} are already decided; correct that decision if it was wrong.",
                len(there),
                numbers=tuple(bet.number for bet in there),
            ),
        )


def _join(
    decision: Decision, given: PersonActed, found: Irregularity, operation: operations.ReportIrregularity
) -> None:
    """Add the place and the count that were not known; the row may change."""
    decision.emit(events.ReportJoined(found.id, given.person, operation.place, operation.card, operation.note))
    place = found.place or operation.place
    if found.stage is not Stage.CLAIMED:
        return
    facts = found.facts
    if operation.kind is Kind.WRONG_DISTRIBUTION and found.kind is not operation.kind:
        facts = msgspec.structs.replace(facts, misplaced=True)
    if place != found.place and not operation.earlier:
        known = known_facts(decision.state, place)
        facts = msgspec.structs.replace(facts, dealer_hand=known.dealer_hand, viewed=known.viewed)
    row, asks = find_row(decision.state.law, found.kind, facts)
    counted = operation.counted if operation.counted != found.counted else None
    if (row, asks, facts) != (found.row, found.asks, found.facts) or counted is not None:
        decision.emit(events.FactStated(found.id, facts, row, asks, given.person, counted))


# -- dealing errors that left a hand with a wrong number of cards


def open_error(state: TableState, place: Place) -> Irregularity | None:
    """Return an open dealing error that may have left this hand with a wrong number of cards (RTP 5.5, NC 5.5.5, 5.9).

    It asks about that, or concerns a card set aside that may be in the hand.
    """
    aside = {card.ordinal for card in state.decks.aside}
    for found in state.open:
        claimed = found.stage is Stage.CLAIMED and found.round == state.round.number and found.counted is None
        asks = waits_for_hand_count(found) or ("wrong_number" in found.asks and found.place in (None, place))
        of_aside = found.kind is Kind.OTHER_DEALING_ERROR and bool(found.ordinals) and set(found.ordinals) <= aside
        if claimed and (asks or of_aside):
            return found
    return None


def answer_with_hand(decision: Decision, given: PersonActed, found: Irregularity, place: Place, number: int) -> None:
    """Answer the matter with the number of cards in the hand at a place: a wrong number, or the right one after all."""
    state = decision.state
    known = known_facts(state, place)
    wrong = number != state.round.hands.get(place, Hand()).size
    facts = msgspec.structs.replace(
        found.facts,
        wrong_number=wrong,
        misplaced=True if wrong else found.first_facts.misplaced,
        curable=None if wrong else found.first_facts.curable,
        dealer_hand=known.dealer_hand,
        viewed=known.viewed,
    )
    row, asks = find_row(state.law, found.kind, facts)
    decision.emit(events.FactStated(found.id, facts, row, asks, given.person, number, place))


# -- permissions and offers


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.ReportIrregularity, message("report an irregularity"), message("{who} reported an irregularity."),
        verify_report, report, REPORTED, ALWAYS, off_duty=True,
        offers=just(operations.ReportIrregularity(Kind.FOREIGN_CARD))),
)
# fmt: on
"""The permissions and offers of this feature."""
