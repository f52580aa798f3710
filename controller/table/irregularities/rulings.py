"""Rulings: if the document is silent or refers to a person, that person decides, by a named authority.

Each action is a row of `ACTIONS`. A ruling can also abandon a round that cannot be finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from msgspec.structs import replace

from controller.games.specification import Facts, Kind, Noticed, RulingAction
from controller.rules.dealing_order import DEALER
from controller.rules.law import SILENT_DECIDED_BY
from controller.rules.layout import without_main
from controller.rules.settlement import BetAction
from controller.table import events, operations
from controller.table.betting import has_hand, notice_side_without_main, settle_again, take_off, undecided_alone
from controller.table.decision import Decision, RefusedError
from controller.table.feature import ALWAYS, ANY_PHASE, WORDS, Group, OperationRow, group, repeats
from controller.table.inputs import PersonActed
from controller.table.irregularities.adjudication import find_named, require
from controller.table.irregularities.dispositions import (
    close_choices,
    declare_void,
    enter_count,
    reconstruct,
    remove_hand,
    resolve,
    void,
    void_needs_repeat,
)
from controller.table.irregularities.questions import place_word
from controller.table.model import Irregularity, Stage
from controller.table.phases import BEFORE_CLOSE, IN_ROUND, Phase
from controller.table.state import TableState
from firmware_bridge.messages import message, sentences

WITHOUT_AN_ORDER: Final = frozenset(
    {
        Kind.FACE_UP_IN_DEVICE,
        Kind.EXPOSED_CARD,
        Kind.PLAYER_EXPOSED,
        Kind.DEALER_EXPOSED_EARLY,
        Kind.WRONG_VIEWER,
        Kind.LATE_BET,
        Kind.OUTSIDE_LIMITS,
        Kind.SIDE_WITHOUT_MAIN,
    }
)
"""Kinds about faces and bets: no ruling on them names the order of cards that wait."""


OF_PLAY: Final = frozenset({RulingAction.RECONSTRUCT, RulingAction.REMOVE_HANDS, RulingAction.NAME_ORDER})
"""Rulings about hands in play. A settled round has no such hands; its bets are returned, or it is void."""


class Action(NamedTuple):
    """`verify` checks the entry; `act` does it. An earlier round can only be ruled void, or left as it is."""

    verify: Callable[[TableState, Irregularity, operations.Rule], None]
    act: Callable[[Decision, PersonActed, Irregularity, operations.Rule], None]
    of_earlier_rounds: bool = False


def verify_rule(state: TableState, given: PersonActed, operation: operations.Rule) -> None:
    found = find_named(state, operation, Stage.RULING)
    require(given, found.row.decides, found.row.clause, message("rule on this"))
    if not operation.authority.strip() or not operation.text.strip():
        raise RefusedError("ruling", "Enter by whose authority the ruling is given, what is decided and why.")
    if not may_be_ruled(state, found, operation.action):
        if found.waiting:
            raise RefusedError(
                "next-deck", "This is about the next round's deck, which stays out of use; rule to continue."
            )
        raise RefusedError(
            "earlier-round", "An earlier round can only be ruled void or left as it is; choose one of these."
        )
    ACTIONS[operation.action].verify(state, found, operation)
    _verify_bets_have_cards(state, found, operation)
    _verify_bets_can_be_settled(state, _naming_bets(state, found, operation))


def may_be_ruled(state: TableState, found: Irregularity, action: RulingAction) -> bool:
    """Return whether the ruling is possible. An earlier round allows void or continue, a waiting deck only continue."""
    if found.waiting:
        return action is RulingAction.CONTINUE
    if found.facts.noticed is Noticed.CONCLUDED and action in OF_PLAY:
        return False
    return found.round == state.round.number or ACTIONS[action].of_earlier_rounds


def rule(decision: Decision, given: PersonActed, operation: operations.Rule) -> None:
    found = find_named(decision.state, operation, Stage.RULING)
    operation = _naming_bets(decision.state, found, operation)
    clause, authority = found.row.clause, operation.authority
    if operation.action is RulingAction.VOID and void_needs_repeat(
        decision, given, found, operation.text, clause=clause, facts=Facts(), authority=authority
    ):
        return
    decision.emit(
        events.Ruled(
            found.id,
            operation.action,
            operation.authority,
            operation.text,
            operation.places,
            operation.ordinals,
            operation.bets,
            BetAction.RETURN if operation.action is RulingAction.RETURN_BETS else BetAction.SETTLE,
        )
    )
    if operation.action is not RulingAction.RECONSTRUCT:
        enter_count(decision, found)
    ACTIONS[operation.action].act(decision, given, found, operation)
    resolve(decision, given, found.id, "ruling", found.row.clause)
    if found.kind is Kind.SIDE_WITHOUT_MAIN and found.round == decision.state.round.number:
        _notice_undecided(decision)
    close_choices(decision, given)


def _notice_undecided(decision: Decision) -> None:
    """Ask again about a side bet that the ruling did not name; otherwise the bet would be held forever."""
    state = decision.state
    if state.phase is not Phase.VOIDED and state.phase not in BEFORE_CLOSE:
        notice_side_without_main(decision, undecided_alone(state))


def _naming_bets(state: TableState, found: Irregularity, operation: operations.Rule) -> operations.Rule:
    """Return the ruling with its bets: about side wagers without a main one it concerns all if it names none."""
    if found.kind is not Kind.SIDE_WITHOUT_MAIN or operation.bets or found.round != state.round.number:
        return operation
    alone = tuple(bet.number for bet in undecided_alone(state))
    return replace(operation, bets=alone)


def _verify_bets(state: TableState, found: Irregularity, operation: operations.Rule) -> None:
    lying = {bet.number for bet in state.layout.bets}
    wrong = [number for number in operation.bets if number not in lying]
    if wrong or (operation.bets and found.round != state.round.number):
        raise RefusedError(
            "bets", "Bet {number} is not on the layout now.", number=operation.bets[0] if not wrong else wrong[0]
        )
    alone = {bet.number for bet in without_main(state.law, state.layout)}
    others = [number for number in operation.bets if number not in alone]
    if found.kind is Kind.SIDE_WITHOUT_MAIN and alone and others:
        raise RefusedError(
            "bets",
            "Bet {number} has its main bet. Name bets that have none: {alone:list}.",
            number=others[0],
            alone=tuple(sorted(alone)),
        )


def _verify_bets_have_cards(state: TableState, found: Irregularity, operation: operations.Rule) -> None:
    """Verify that a ruling which leaves the cards in place covers each hand that lacks some."""
    if found.kind is not Kind.WRONG_DISTRIBUTION or found.round != state.round.number:
        return
    if operation.action in (RulingAction.VOID, RulingAction.RECONSTRUCT):
        return
    removed = operation.places if operation.action is RulingAction.REMOVE_HANDS else ()
    short = tuple(place for place in state.round.left_short if place not in removed)
    if DEALER in short:
        at = place_word(state, DEALER)
        raise RefusedError(
            "no-cards", "Too few cards would lie at {place}. Rule to put the cards right, or void.", place=at
        )
    if short:
        at = state.game.words.of_all(short)
        raise RefusedError(
            "no-cards", "Too few cards would lie at {place}. Rule to remove the hands, or void.", place=at
        )


def _verify_bets_can_be_settled(state: TableState, operation: operations.Rule) -> None:
    """Verify that each bet has a hand: without one it is neither won nor lost, and goes back."""
    returns = operation.action in (RulingAction.VOID, RulingAction.RETURN_BETS)
    if returns or state.phase in BEFORE_CLOSE:
        return
    now = state.round
    for bet in state.layout.bets:
        out = bet.box in now.removals or (bet.bettor, bet.box) in now.withdrawals
        if bet.number in operation.bets and not out and not has_hand(state, bet):
            raise RefusedError(
                "no-hand",
                "Bet {number} can be neither won nor lost: no hand is dealt to {box}. Rule that it is returned.",
                number=bet.number,
                box=state.game.words.spot(bet.box),
            )


def _verify_some_bets(state: TableState, found: Irregularity, operation: operations.Rule) -> None:
    if not _naming_bets(state, found, operation).bets:
        raise RefusedError("bets", "Enter the numbers of the bets that are returned.")
    _verify_bets(state, found, operation)


def _verify_void(state: TableState, found: Irregularity, operation: operations.Rule) -> None:
    if found.round == state.round.number and not state.in_round and state.phase is not Phase.CONCLUDED:
        raise RefusedError("no-round", "There is no round to void; rule to continue.")


def _verify_hands(state: TableState, found: Irregularity, operation: operations.Rule) -> None:
    live = state.round.live_places
    wrong = [place for place in operation.places if place not in live]
    if not live:
        raise RefusedError("place", "No hand is in play; choose another ruling.")
    if operation.places and not wrong:
        return
    enter = message("Enter which hands are removed.")
    if wrong:
        enter = message("No hand is in play at {place}.", place=place_word(state, wrong[0]))
    raise RefusedError("place", sentences(enter, message("In play: {hands}.", hands=state.game.words.of_all(live))))


def _verify_misplaced(state: TableState, found: Irregularity, operation: operations.Rule) -> None:
    if not state.round.misplaced:
        raise RefusedError("places", "First record which cards lie in the wrong place.")


def _verify_order(state: TableState, found: Irregularity, operation: operations.Rule) -> None:
    waiting = sorted(card.ordinal for card in (*state.decks.aside, *state.decks.tray))
    if found.kind in WITHOUT_AN_ORDER:
        raise RefusedError("order", "No order of cards is in question here; choose another ruling.")
    if not waiting:
        raise RefusedError("order", "No card waits for an order; choose another ruling.")
    if sorted(operation.ordinals) != waiting:
        raise RefusedError(
            "order",
            "Which card came out first? Name each card once, in order: {named:list}.",
            named=tuple(waiting),
        )


def _void(decision: Decision, given: PersonActed, found: Irregularity, operation: operations.Rule) -> None:
    void(decision, given, found, found.row.clause, operation.text, operation.authority)


def _continue(decision: Decision, given: PersonActed, found: Irregularity, operation: operations.Rule) -> None:
    """Apply a ruling on bets when they are settled; if they are already settled, settle them again.

    While bets are open, returned bets go back immediately.
    """
    if decision.state.phase is Phase.BETTING and operation.action is RulingAction.RETURN_BETS:
        bets = [bet for bet in decision.state.layout.bets if bet.number in operation.bets]
        take_off(decision, bets, operation.authority, message("the bet was ruled to be returned"))
    elif operation.bets:
        settle_again(decision, found.id, operation.authority)


def _remove_hands(decision: Decision, given: PersonActed, found: Irregularity, operation: operations.Rule) -> None:
    for place in operation.places:
        remove_hand(decision, found, place, found.row.clause, operation.authority)


def _reconstruct(decision: Decision, given: PersonActed, found: Irregularity, operation: operations.Rule) -> None:
    reconstruct(decision, found, found.row.clause)


def _name_order(decision: Decision, given: PersonActed, found: Irregularity, operation: operations.Rule) -> None:
    decision.emit(events.OrderNamed(found.id, operation.ordinals, None))


ACTIONS: Final[dict[RulingAction, Action]] = {
    RulingAction.VOID: Action(_verify_void, _void, of_earlier_rounds=True),
    RulingAction.CONTINUE: Action(_verify_bets, _continue, of_earlier_rounds=True),
    RulingAction.RECONSTRUCT: Action(_verify_misplaced, _reconstruct),
    RulingAction.REMOVE_HANDS: Action(_verify_hands, _remove_hands),
    RulingAction.RETURN_BETS: Action(_verify_some_bets, _continue),
    RulingAction.NAME_ORDER: Action(_verify_order, _name_order),
}


# -- a round that cannot be finished: a named person rules it void


def verify_abandon(state: TableState, given: PersonActed, operation: operations.AbandonRound) -> None:
    if not operation.authority.strip() or not operation.text.strip():
        raise RefusedError("ruling", "Enter by whose authority the round is void, and why.")


def abandon_round(decision: Decision, given: PersonActed, operation: operations.AbandonRound) -> None:
    """Abandon the round when the same person enters it twice unchanged; any other operation cancels a first request."""
    asked = (given.person, operation.authority, operation.text)
    before = decision.state.round
    if before.abandon_asked != asked or not repeats(given, before.abandon_asking):
        decision.emit(events.AbandonAsked(*asked, given.screen, given.utc_ns))
    else:
        declare_void(decision, given, "", operation.text, operation.authority)


# -- permissions and offers


def _abandoned(state: TableState) -> Iterator[Group]:
    """Offer to abandon the round; the second request has the same words as the first."""
    if not state.round.abandon_asked:
        yield group(operations.AbandonRound(WORDS, WORDS), twice=True)
        return
    _, authority, text = state.round.abandon_asked
    again = operations.AbandonRound(authority, text)
    yield group(again, known=("authority", "text"), twice=True, asking=state.round.abandon_asking)


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.Rule, message("give a ruling"), message("{who} gave a ruling."), verify_rule, rule, ANY_PHASE,
        ALWAYS),
    OperationRow(
        operations.AbandonRound, message("void the round"), message("{who} voided the round."), verify_abandon,
        abandon_round, IN_ROUND, ALWAYS, SILENT_DECIDED_BY, offers=_abandoned),
)
# fmt: on
"""The permissions and offers of this feature."""
