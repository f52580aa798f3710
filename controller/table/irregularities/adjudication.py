"""People decide an irregularity step by step: report, confirm or deny, name an order, choose, move cards.

claimed -> resolved                              (confirmed: the clause takes effect, dispositions.py)
        -> ordering -> choosing -> resolved      (simultaneous cards)
        -> choosing -> resolved                  (every bettor's options)
        -> moving -> resolved                    (cards are moved to where they belong)
        -> ruling -> resolved                    (referred, or the document is silent; rulings.py)
        -> denied
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from controller.games.specification import ASSUMED_NOT, STATED, Choice, Disposition, Facts, Kind, Row
from controller.roles import Role
from controller.rules.dealing_order import Place
from controller.rules.law import SILENT_DECIDED_BY, enters_bettors, find_row
from controller.table import events, operations
from controller.table.dealing import deal_cards_set_aside
from controller.table.decision import Decision, RefusedError
from controller.table.exposing import resume_play
from controller.table.feature import ALWAYS, ANY_PHASE, Group, OperationRow, group
from controller.table.inputs import PersonActed
from controller.table.irregularities.dispositions import (
    close_choices,
    concerns_all_wagers,
    enter_count,
    next_stage,
    option_clause,
    reconstruct,
    resolve,
    resolve_moves,
    row_in_effect,
    take_effect,
    void_needs_repeat,
    withdrew_wholly,
)
from controller.table.irregularities.questions import (
    COUNT_THE_HAND,
    COUNT_THE_STUB,
    entry_in_doubt,
    place_word,
    question_of,
)
from controller.table.irregularities.raising import COUNT_KINDS, known_facts
from controller.table.model import ASIDE, DENIED, Hand, Irregularity, Pile, Stage
from controller.table.phases import Phase
from controller.table.power_failures import re_evaluate_interruption
from controller.table.state import TableState
from firmware_bridge.messages import Message, counted, message, sentences

FIRST: Final[dict[Stage, Message]] = {
    Stage.CLAIMED: message("First confirm or deny what was noticed."),
    Stage.ORDERING: message("First set the order of the cards."),
    Stage.CHOOSING: message("First record every bettor's choice."),
    Stage.MOVING: message("First move the cards as the screen shows, and confirm."),
    Stage.RULING: message("First give the ruling."),
}
# Facts that the table knows itself: an answer must not contradict them.
KNOWN_FACTS: Final = (
    "dealer_hand",
    "before_close",
    "established",
    "manual",
    "misplaced",
    "order_known",
    *sorted(ASSUMED_NOT),
)
AS_NOTICED: Final = (
    "handled",
    "viewed",
    "first_card",
    "dealt_before",
    "one_hand",
)  # facts that stay as they were when it was noticed
CORRECT_BY: Final = {
    "established": message("Name the cards that people saw, if more were exposed."),
    "misplaced": message("Record where the cards lie now, if they were put right."),
    "curable": message("If it can be done, first record where the cards lie."),
}
"""How people correct the table's record if it is wrong."""


def _contradicted(state: TableState, fact: str, *, known: bool) -> Message:
    asked = question_of(state, fact)
    return sentences(
        message("{question} The table has recorded: yes.", question=asked)
        if known
        else message("{question} The table has recorded: no.", question=asked),
        CORRECT_BY.get(fact),
    )


def find_named(state: TableState, decision: operations.ConfirmIrregularity | Any, *stages: Stage) -> Irregularity:
    """Return the open irregularity that an operation names, if it is unchanged since then and waits for this step."""
    found = state.find_open(decision.irregularity)
    if found is None:
        raise RefusedError(
            "closed",
            "Irregularity {irregularity} is not open; check what is open now.",
            irregularity=decision.irregularity,
        )
    if found.revision != decision.revision:
        raise RefusedError("changed", "This irregularity has changed since; read it again, then decide.")
    if found.stage not in stages:
        raise RefusedError("stage", FIRST[found.stage])
    return found


def require(given: PersonActed, role: Role, clause: str, act: Message) -> None:
    if given.role.reaches(role):
        return
    if not clause:
        raise RefusedError("role", "Only a {role} or above may {act}; call the {role}.", role=role.named, act=act)
    raise RefusedError(
        "role",
        "Only a {role} or above may {act} ({clause}); call the {role}.",
        role=role.named,
        act=act,
        clause=clause,
    )


def _facts_known_now(state: TableState, found: Irregularity) -> dict[str, bool]:
    """Return the facts of `KNOWN_FACTS` that the table knows now; none for an earlier round."""
    if found.round != state.round.number:
        return {name: known for name in AS_NOTICED if (known := getattr(found.first_facts, name)) is not None}
    now = known_facts(state, found.place)
    if found.kind is Kind.SIMULTANEOUS and {ordinal for _, ordinal in state.round.dealt_cards} & set(found.ordinals):
        now = msgspec.structs.replace(now, order_known=True)  # the cards were dealt one by one, in the log's order
    known = {name: value for name in KNOWN_FACTS if (value := getattr(now, name)) is not None}
    for name in AS_NOTICED:
        noticed = getattr(found.first_facts, name)
        if noticed is not None and getattr(found.facts, name) is noticed:  # and not corrected since
            known[name] = noticed
    curable = found.first_facts.curable if now.curable is None else now.curable
    if curable is False:  # otherwise people say whether it can be cured
        known["curable"] = False
    return known


def _merged_facts(found: Irregularity, stated: Facts) -> Facts:
    """Return the facts so far, changed by those stated now.

    Facts known when it was noticed stay: cards that a Player handles afterwards change nothing (RTP 5.6).
    """
    spoken = {name: getattr(stated, name) for name in STATED if getattr(stated, name) is not None}
    return msgspec.structs.replace(found.facts, **spoken)


def row_with(state: TableState, found: Irregularity, stated: Facts) -> tuple[Row, tuple[str, ...]]:
    """Return the row that applies with those facts added, and what is then asked."""
    return find_row(state.law, found.kind, _merged_facts(found, stated))


def verify_confirm(state: TableState, given: PersonActed, operation: operations.ConfirmIrregularity) -> None:
    found = find_named(state, operation, Stage.CLAIMED, Stage.MOVING)
    if found.stage is Stage.MOVING and operation.facts == Facts():
        raise RefusedError(
            "stage", "It is confirmed; move the cards as the screen shows, or enter that it cannot be done."
        )
    if operation.facts.counted_wrong is not None:
        raise RefusedError(
            "count", "Count the cards by hand and enter the count: it shows whether the deck is complete."
        )
    for name, known in _facts_known_now(state, found).items():
        stated = getattr(operation.facts, name)
        if stated is not None and known is not stated:
            raise RefusedError("fact", _contradicted(state, name, known=known))
    facts = _merged_facts(found, operation.facts)
    row, asks = find_row(state.law, found.kind, facts)
    if "counted_wrong" in asks:
        raise RefusedError("count", COUNT_THE_STUB)
    if found.stage is Stage.CLAIMED:
        _verify_counts(state, found, row, facts)
    counts_hand = row.when.wrong_number and facts.wrong_number and found.counted is None
    if counts_hand and (not asks or found.facts.wrong_number):
        raise RefusedError("count", COUNT_THE_HAND)
    if asks and not _answers(found, operation.facts):
        raise RefusedError(
            "fact", "Answer first: {asked}", asked=sentences(*(question_of(state, name) for name in asks))
        )
    if asks:
        return  # the answer is recorded; the rank is checked once every question is answered
    require(given, row.confirms, row.clause, message("confirm this"))
    if row.disposition is Disposition.CONTINUE and found.kind is Kind.TECHNICAL_STOP and state.device.stopped:
        raise RefusedError(
            "stopped",
            "The device is still stopped ({causes}); clear it, or answer that places are uncertain.",
            causes=state.device.stopped,
        )


def _verify_counts(state: TableState, found: Irregularity, row: Row, facts: Facts) -> None:
    """Verify that what a count shows is decided before its consequences."""
    size = state.round.hands.get(found.place or "", Hand()).size
    if found.round == state.round.number and found.counted is not None and found.counted == size:
        raise RefusedError(
            "count",
            'By the last count, {place} has {count} cards, as many as were dealt to it; press "NO", or count again.',
            place=place_word(state, found.place),
            count=size,
        )
    hand = next((one for one in state.open if one.counted is not None and one.stage is Stage.CLAIMED), None)
    if found.kind in COUNT_KINDS and facts.counted_wrong and hand is not None and not found.waiting:
        at = place_word(state, hand.place) if hand.place else message("the table")
        raise RefusedError(
            "count", "First decide about the cards counted at {place}: they may explain the difference.", place=at
        )


def _answers(found: Irregularity, stated: Facts) -> bool:
    """Return whether at least one question was answered."""
    return any(getattr(stated, name) is not None for name in found.asks)


def confirm(decision: Decision, given: PersonActed, operation: operations.ConfirmIrregularity) -> None:
    """Confirm the fact: the clause takes effect, or the next stage begins.

    An answer may lead to another question. It is then recorded, and the confirmation waits for the other answers.
    """
    found = find_named(decision.state, operation, Stage.CLAIMED, Stage.MOVING)
    facts = _merged_facts(found, operation.facts)
    row, asks = find_row(decision.state.law, found.kind, facts)
    if asks:
        decision.emit(events.FactStated(found.id, facts, row, asks, given.person))
        return
    if row.disposition is Disposition.VOID and void_needs_repeat(
        decision,
        given,
        found,
        decision.state.game.words.own(row.because),
        clause=row.clause,
        facts=operation.facts,
        authority="",
    ):
        return
    row = row_in_effect(decision.state, found, row, facts)
    stage = next_stage(decision.state, found, row)
    decision.emit(events.IrregularityConfirmed(found.id, row, facts, stage))
    if stage is not Stage.RULING:  # the person who rules judges the count as well
        enter_count(decision, found, put_right=stage is Stage.MOVING)
    if stage is None or row.disposition is not Disposition.RESHUFFLE:
        take_effect(decision, given, found, row)
    if stage is None:
        resolve(decision, given, found.id, row.disposition, row.clause)
    close_choices(decision, given)
    re_evaluate_interruption(decision)


def verify_deny(state: TableState, given: PersonActed, operation: operations.DenyIrregularity) -> None:
    found = find_named(state, operation, Stage.CLAIMED, Stage.MOVING, Stage.RULING)
    row, said = found.row, entry_in_doubt(state, found)
    if isinstance(said, operations.ShowFirstCard):
        raise RefusedError(
            "entry", "Correct the entry of the First Card instead: the order of the deal follows from it."
        )
    if said is None:  # a person who entered faces wrongly enters them again
        require(given, row.confirms, row.clause, message("deny this"))
        require(given, row.decides, row.clause, message("deny this"))
    if not operation.reason.strip():
        raise RefusedError("reason", "Enter why the report is false.")
    if found.choices:
        raise RefusedError(
            "chosen", "The bettors have chosen already; move the cards, or enter that it cannot be done."
        )
    if found.kind is Kind.TECHNICAL_STOP and state.device.stopped:
        raise RefusedError(
            "stopped", "The device is still stopped ({causes}); clear it first.", causes=state.device.stopped
        )
    if found.kind is Kind.WRONG_DISTRIBUTION and found.round == state.round.number:
        _verify_bets_where_cards_lie(state)


def _verify_bets_where_cards_lie(state: TableState) -> None:
    """Refuse to deny that cards are misplaced while, by the corrected boxes, a box without a bet has cards."""
    lie = [place for place, hand in state.round.hands.items() if hand.size and place not in state.round.dealt_to]
    if lie:
        places = state.game.words.of_all(lie)
        raise RefusedError(
            "misplaced",
            "Cards lie at {places}, without a bet. Correct the boxes, or enter where the cards lie.",
            places=places,
        )


def deny(decision: Decision, given: PersonActed, operation: operations.DenyIrregularity) -> None:
    found = find_named(decision.state, operation, Stage.CLAIMED, Stage.MOVING, Stage.RULING)
    place = found.place
    from_entry = found.kind is Kind.OTHER_DEALING_ERROR or entry_in_doubt(decision.state, found) is not None
    if from_entry and place is not None and _waits_to_be_judged(decision.state, place):
        decision.emit(events.HandTakenBack(place))  # it was entered wrongly: it is entered again
    resolve(decision, given, found.id, DENIED, found.row.clause)


def _waits_to_be_judged(state: TableState, place: str) -> bool:
    hand = state.round.hands.get(place, Hand())
    return bool(hand.shown) and hand.outcome is None


def verify_name_order(state: TableState, given: PersonActed, operation: operations.NameOrder) -> None:
    found = find_named(state, operation, Stage.ORDERING)
    require(given, found.row.decides, found.row.clause, message("set the order"))
    if sorted(operation.ordinals) != sorted(found.ordinals):
        if not found.ordinals:
            raise RefusedError("order", "None of these cards is known by its number; enter the order without numbers.")
        raise RefusedError(
            "order",
            "Which card came out first? Name each card once, in order: {named:list}.",
            named=tuple(sorted(found.ordinals)),
        )


def name_order(decision: Decision, given: PersonActed, operation: operations.NameOrder) -> None:
    """Record the order. If the row has options, every bettor then chooses: the case is still a dealing error."""
    found = find_named(decision.state, operation, Stage.ORDERING)
    decision.emit(events.OrderNamed(found.id, operation.ordinals, Stage.CHOOSING if found.row.options else None))
    if not found.row.options:
        resolve(decision, given, found.id, found.row.disposition, found.row.clause)
    close_choices(decision, given)


def verify_choose(state: TableState, given: PersonActed, operation: operations.ChooseOption) -> None:
    found = find_named(state, operation, Stage.CHOOSING)
    if operation.place not in state.round.live_places:
        raise RefusedError(
            "place",
            "No hand is in play at {place}; name a box in play.",
            place=place_word(state, operation.place),
        )
    if (operation.place, operation.bettor) not in state.round.choosers:
        raise RefusedError("bettor", _who_chooses(state, operation.place))
    _verify_not_chosen(state, given, found, operation)
    if not state.layout.bets and enters_bettors(state.law):
        raise RefusedError(
            "wagers",
            "Only bettors whose bets are entered choose; enter the bets first."
            if state.phase is Phase.BETTING
            else "Only bettors whose bets are entered choose; correct the bets first.",
        )
    if operation.choice is Choice.CONTINUE:
        _verify_cards(state, found, operation.place)
    if operation.absent:
        _verify_absent(state, given, operation)
    for option in found.row.options:
        if option.choice is operation.choice and option.permitted_by is not None:
            require(given, option.permitted_by, option.clause, message("permit this"))


def _who_chooses(state: TableState, place: str) -> Message:
    box = place_word(state, place)
    if not state.layout.bets:
        return message("No bets are entered: record one choice for {box}, without a bettor.", box=box)
    bettors = tuple(state.round.bettors_at(place))
    if not bettors:
        return message("No bettor has a bet at {box}: no choice is recorded there.", box=box)
    return counted(
        "The choice at {box} belongs to {bettors}; name that bettor.",
        "The choice at {box} belongs to {bettors}; name one of them.",
        len(bettors),
        box=box,
        bettors=bettors,
    )


def _verify_not_chosen(
    state: TableState, given: PersonActed, found: Irregularity, operation: operations.ChooseOption
) -> None:
    """Verify that the choice is new, or replaces another before the matter is decided.

    The rank that entered the other choice, such as a supervisor for an absence, is needed to replace it.
    """
    chooser = (operation.place, operation.bettor)
    before = next((choice for *who, choice in found.choices if tuple(who) == chooser), None)
    if before is operation.choice:
        raise RefusedError(
            "chosen",
            "The choice of {chooser} is already entered: continue."
            if before is Choice.CONTINUE
            else "The choice of {chooser} is already entered: withdraw the bets.",
            chooser=operation.bettor or place_word(state, operation.place),
        )
    if before is not None:
        role = _rank_of_choice(state, found, operation)
        if not given.role.reaches(role):
            raise RefusedError("role", "A {role} entered this; call the {role} to correct it.", role=role.named)


def _rank_of_choice(state: TableState, found: Irregularity, operation: operations.ChooseOption) -> Role:
    """Return the rank that entered the bettor's last choice, at this place if that is recorded.

    A choice about all wagers names one of the bettor's places; a box that was overlooked follows another one.
    """
    entries = [
        (said.place == operation.place, one.entry, one.role)
        for one in state.round.entered
        if isinstance(said := one.operation, operations.ChooseOption)
        and (said.irregularity, said.bettor) == (found.id, operation.bettor)
    ]
    if concerns_all_wagers(found):
        entries = [(True, entry, role) for _, entry, role in entries]
    return max(entries, default=(False, 0, Role.DEALER))[2]


def _verify_cards(state: TableState, found: Irregularity, place: str) -> None:
    """Verify that the cards allow the choice.

    Without a hand nothing can be continued, unless those who continue have the cards moved to where they belong.
    """
    stays = found.kind is Kind.WRONG_DISTRIBUTION and not any(option.reconstructs for option in found.row.options)
    if stays and place in state.round.left_short:
        box = place_word(state, place)
        raise RefusedError("no-cards", "There are too few cards at {box}; record that the bets are withdrawn.", box=box)


def _verify_absent(state: TableState, given: PersonActed, operation: operations.ChooseOption) -> None:
    """Verify who enters an absence: a pit supervisor lets the bets of a bettor who walked away stand (reading 40).

    If no clause says so (RTP), the question of what happens to the bets is referred, and the person who decides enters
    either choice.
    """
    if not state.game.betting.walked_away:
        if not given.role.reaches(SILENT_DECIDED_BY):
            clause = state.game.silent_clause
            raise RefusedError(
                "absent",
                "No clause decides for a bettor who is away; call the shift manager ({clause}).",
                clause=clause,
            )
        return
    require(given, Role.PIT_SUPERVISOR, state.game.betting.walked_away, message("declare a bettor absent"))
    if operation.choice is not Choice.CONTINUE:
        raise RefusedError("absent", "The bets of a bettor who is away stand; record that the bettor continues.")


def choose(decision: Decision, given: PersonActed, operation: operations.ChooseOption) -> None:
    found = find_named(decision.state, operation, Stage.CHOOSING)
    clause = option_clause(decision.state, found, operation.choice)
    if operation.absent and not decision.state.game.betting.walked_away:
        clause = decision.state.game.silent_clause
    for place in _places_concerned(decision.state, found, operation):
        chosen = events.OptionChosen(found.id, place, operation.choice, clause, operation.absent, operation.bettor)
        decision.emit(chosen)
    close_choices(decision, given)


def _places_concerned(state: TableState, found: Irregularity, operation: operations.ChooseOption) -> tuple[str, ...]:
    """Return the places of a choice.

    A bettor who withdraws all wagers does so at every box, despite other choices; and takes that back at every box.
    """
    withdraws = operation.choice is Choice.WITHDRAW or withdrew_wholly(found, operation.bettor)
    if not (operation.bettor and concerns_all_wagers(found) and withdraws):
        return (operation.place,)
    return tuple(place for place, bettor in state.round.choosers if bettor == operation.bettor)


def verify_reconstruct(state: TableState, given: PersonActed, operation: operations.Reconstruct) -> None:
    """Verify that wrong places are recorded, and that only complete hands move if the clause requires that.

    Cards that were entered or moved since it was noticed may already be in the right place.
    """
    if not operation.irregularity:
        if not state.moves_due:
            raise RefusedError("closed", "No cards have to be moved now; check what is open.")
        return
    found = find_named(state, operation, Stage.MOVING)
    if not state.round.out_of_place and found.counted is None and state.round.placed_by <= found.id:
        raise RefusedError("places", "First record which cards lie in the wrong place.")
    if found.row.when.curable and state.round.misplaced and not state.round.curable:
        raise RefusedError(
            "hands",
            sentences(
                _lying(state),
                message("Moving complete hands does not put that right."),
                message("Enter where the cards lie now; if it cannot be done, confirm again and answer no."),
            ),
        )


def _lying(state: TableState) -> Message:
    """Return the cards that are in the wrong place, as people entered it."""
    together: dict[tuple[str, Place], list[int]] = {}
    for (_, ordinal), where in sorted(state.round.misplaced.items()):
        together.setdefault(where, []).append(ordinal)
    words = state.game.words.of
    phrases = tuple(
        counted(
            "card {numbers:list} of {place} lies at {lies}",
            "cards {numbers:list} of {place} lie at {lies}",
            len(numbers),
            numbers=tuple(numbers),
            place=words(belongs),
            lies=words(lies),
        )
        for (lies, belongs), numbers in together.items()
    )
    return message("As entered, {phrases:clauses}.", phrases=phrases)


def confirm_reconstruction(decision: Decision, given: PersonActed, operation: operations.Reconstruct) -> None:
    """Record that the cards were moved. The dealer moves them; another person may have confirmed that they may be."""
    if not operation.irregularity:
        _moved(decision)
        return
    found = find_named(decision.state, operation, Stage.MOVING)
    clause = option_clause(decision.state, found, Choice.CONTINUE) if found.row.options else found.row.clause
    reconstruct(decision, found, clause)
    resolve(decision, given, found.id, found.row.disposition, found.row.clause)
    resolve_moves(decision, given)


def _moved(decision: Decision) -> None:
    """Record the moves of cards set aside, and of dropped and exposed ones that were put face down; play goes on."""
    state = decision.state
    if down := state.put_down_due:
        fallen = {card.ordinal: card for card in state.round.piles.get(Pile.DROPPED, ())}
        back = [move for _, moves in down for move in moves if move.source == Pile.DROPPED and move.ordinal in fallen]
        if back:
            cards = [(fallen[move.ordinal], move) for move in dict.fromkeys(back)]
            moved = tuple(events.CardMoved(*card.id, move.source, move.place) for card, move in cards)
            decision.emit(events.CardsFoundElsewhere(moved))
        decision.emit(events.CardsTurnedDown(tuple(dict.fromkeys(due[1:] for due, _ in down))))
    if any(move.source == ASIDE for move in state.moves_due):
        deal_cards_set_aside(decision)
    re_evaluate_interruption(decision)
    resume_play(decision)


# -- permissions and offers


def _moves_offered(state: TableState) -> Iterator[Group]:
    if state.moves_due:
        yield group(operations.Reconstruct())


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.ConfirmIrregularity, message("confirm an irregularity"),
        message("{who} confirmed an irregularity."), verify_confirm, confirm, ANY_PHASE, ALWAYS),
    OperationRow(
        operations.DenyIrregularity, message("deny an irregularity"), message("{who} denied an irregularity."),
        verify_deny, deny, ANY_PHASE, ALWAYS),
    OperationRow(
        operations.NameOrder, message("set the order of the cards"), message("{who} set the order of the cards."),
        verify_name_order, name_order, ANY_PHASE, ALWAYS),
    OperationRow(
        operations.ChooseOption, message("record a bettor's choice"), message("{who} recorded a bettor's choice."),
        verify_choose, choose, ANY_PHASE, ALWAYS),
    OperationRow(
        operations.Reconstruct, message("record that the cards were moved"),
        message("{who} recorded that the cards were moved."), verify_reconstruct, confirm_reconstruction, ANY_PHASE,
        ALWAYS, offers=_moves_offered),
)
# fmt: on
"""The permissions and offers of this feature."""
