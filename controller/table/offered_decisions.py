"""Offers about open irregularities: the next step of each, in the order in which people decide them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from controller.games.specification import Choice, Disposition, Facts, Kind, RulingAction
from controller.roles import Role
from controller.table import operations
from controller.table.irregularities.adjudication import row_with
from controller.table.irregularities.dispositions import voids_a_round
from controller.table.irregularities.questions import COUNT_BY_HAND, decider, entry_in_doubt, in_order
from controller.table.irregularities.rulings import WITHOUT_AN_ORDER, may_be_ruled
from controller.table.model import Asking, Irregularity, Stage
from controller.table.offered import WORDS, Group, group
from controller.table.state import TableState

THE_MATTER: Final = ("irregularity", "revision")
CANNOT_BE_MOVED: Final = Facts(curable=False, reconstructable=False)


def decisions(state: TableState) -> Iterator[Group]:
    """Return the steps that people can take now about open irregularities."""
    for found in in_order(state):
        yield from STEPS[found.stage](state, found)
        if found.stage in (Stage.CLAIMED, Stage.MOVING, Stage.RULING):
            denied = operations.DenyIrregularity(found.id, found.revision, WORDS)
            role = Role.DEALER if entry_in_doubt(state, found) else decider(found)
            yield group(denied, known=THE_MATTER, role=role)


def _confirmed(state: TableState, found: Irregularity) -> Iterator[Group]:
    """Offer yes or no to the first open question; what only a count shows is not answered in words.

    A first confirmation has to be repeated with the same answers: that offer comes first.
    """
    asked = found.asks[0] if found.asks and COUNT_BY_HAND not in found.asks else ""
    once = [found.asking.facts] if found.void_asked and found.asking is not None else []
    stated: list[dict[str, Any]] = [{asked: answer} for answer in (True, False)] if asked else [{}]
    for facts in dict.fromkeys((*once, *(msgspec.convert(one, Facts) for one in stated))):
        yield _confirmation(state, found, facts)


def _confirmation(state: TableState, found: Irregularity, facts: Facts) -> Group:
    row, asks = row_with(state, found, facts)
    void = not asks and row.disposition is Disposition.VOID and voids_a_round(state, found)
    repeated = found.asking is not None and found.asking.facts == facts
    sample = operations.ConfirmIrregularity(found.id, found.revision, facts)
    known = (*THE_MATTER, "facts") if facts != Facts() else THE_MATTER
    role = found.row.confirms if asks or not found.asks else row.confirms
    return group(sample, known=known, twice=void, asking=_asking(found) if void and repeated else None, role=role)


def _asking(found: Irregularity) -> Asking | None:
    return found.asking if found.void_asked else None


def _ordered(state: TableState, found: Irregularity) -> Iterator[Group]:
    sample = operations.NameOrder(found.id, found.revision, found.ordinals)
    if found.ordinals:
        yield group(sample, known=THE_MATTER, role=decider(found))
    else:
        yield group(sample, known=(*THE_MATTER, "ordinals"), role=decider(found))


def _chosen(state: TableState, found: Irregularity) -> Iterator[Group]:
    """Offer each option to each bettor who has not chosen, and the entry that the bettor is away and the bets stay."""
    done = {(place, bettor) for place, bettor, _ in found.choices}
    options = tuple(dict.fromkeys(option.choice for option in found.row.options)) or tuple(Choice)
    for place, bettor in state.round.choosers:
        if (place, bettor) in done:
            continue
        for choice in options:
            sample = operations.ChooseOption(found.id, found.revision, place, choice, bettor=bettor)
            yield group(sample, known=(*THE_MATTER, "place", "choice", "bettor"))
        if bettor:
            away = operations.ChooseOption(found.id, found.revision, place, Choice.CONTINUE, True, bettor)
            yield group(away, known=(*THE_MATTER, "place", "choice", "bettor", "absent"))


def _moved(state: TableState, found: Irregularity) -> Iterator[Group]:
    """Offer that the cards were moved, or that it cannot be done."""
    yield group(operations.Reconstruct(found.id, found.revision), known=THE_MATTER)
    yield _confirmation(state, found, CANNOT_BE_MOVED)


def _ruled(state: TableState, found: Irregularity) -> Iterator[Group]:
    for action in RulingAction:
        named = NAMED[action](state, found) if action in NAMED else {}
        if not may_be_ruled(state, found, action) or not all(named.values()):
            continue  # also if there is nothing that the ruling could name
        void = action is RulingAction.VOID and voids_a_round(state, found)
        asking = _asking(found) if void else None
        words = (asking.authority, str(found.void_because)) if asking else (WORDS, WORDS)
        yield group(
            operations.Rule(found.id, found.revision, action, *words, **named),
            known=(*THE_MATTER, "action", *(("authority", "text") if asking else ())),
            needs=tuple(named),
            twice=void,
            asking=asking,
            role=decider(found),
        )


def _hands(state: TableState, found: Irregularity) -> dict[str, Any]:
    return {"places": state.round.live_places[:1]}


def _bets(state: TableState, found: Irregularity) -> dict[str, Any]:
    """Offer rulings on bets. Side wagers without a main one need not be named."""
    return {} if found.kind is Kind.SIDE_WITHOUT_MAIN else {"bets": tuple(bet.number for bet in state.layout.bets[:1])}


def _waiting(state: TableState, found: Irregularity) -> dict[str, Any]:
    cards = () if found.kind in WITHOUT_AN_ORDER else (*state.decks.aside, *state.decks.tray)
    return {"ordinals": tuple(card.ordinal for card in cards)}


NAMED: Final[dict[RulingAction, Callable[[TableState, Irregularity], dict[str, Any]]]] = {
    RulingAction.REMOVE_HANDS: _hands,
    RulingAction.RETURN_BETS: _bets,
    RulingAction.NAME_ORDER: _waiting,
}
"""What else a ruling has to name."""

STEPS: Final[dict[Stage, Callable[[TableState, Irregularity], Iterator[Group]]]] = {
    Stage.CLAIMED: _confirmed,
    Stage.ORDERING: _ordered,
    Stage.CHOOSING: _chosen,
    Stage.MOVING: _moved,
    Stage.RULING: _ruled,
}
