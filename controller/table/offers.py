"""Lists what people can do now: every operation that makes sense, with the reason if it is refused.

`offers` builds from the features' rows samples of what a person could enter and asks `perform.verify` about them, so an
offer is allowed exactly if `decide` would accept it. What people add (a reason, a count, a name) is filled in for the
trial and is not part of the offer. Only public facts are used: samples of card entries name cards, so no sample makes
the table tell what the device read. `decisions` are the steps of open irregularities, `primary_act` chooses the most
prominent button, `reportable` lists the irregularities that can be reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from controller.games.specification import Choice, Disposition, Facts, Kind, RulingAction, StepKind
from controller.roles import Role
from controller.rules.dealing_order import DEALER, Place
from controller.table import operations
from controller.table.counts import counts_due
from controller.table.decision import RefusedError
from controller.table.exposing import examined_due
from controller.table.feature import REPEATED_WITHIN_NS, WORDS, Group, group
from controller.table.inputs import PersonActed
from controller.table.irregularities.adjudication import row_with
from controller.table.irregularities.dispositions import voids_a_round
from controller.table.irregularities.questions import (
    COUNT_BY_HAND,
    decider,
    entry_in_doubt,
    in_order,
    waits_for_hand_count,
    waits_for_places,
)
from controller.table.irregularities.reporting import AT_A_CARD, SEVERAL, verify_report
from controller.table.irregularities.rulings import WITHOUT_AN_ORDER, may_be_ruled
from controller.table.model import Asking, Hand, Irregularity, Stage
from controller.table.next_step import goes_on_without_device, stub_is_out
from controller.table.operations import AnyOperation, Operation, ReportIrregularity
from controller.table.perform import name_of, verify, verify_moment
from controller.table.permissions import PERMISSIONS
from controller.table.phases import BETWEEN_ROUNDS, Phase, Service
from controller.table.settling import returns_due
from controller.table.state import TableState
from firmware_bridge.messages import AnyText

ANOTHER: Final = "*"
"""A person of whom only the rank is known; no configured person has this id."""


class Offer(msgspec.Struct, frozen=True):
    """An operation that people can enter, or the reason why they cannot.

    `role`: the lowest rank that may. `twice`: it takes effect when it is entered again; `asked`: the entry of the first
    request, if there is one, with who entered it, at which screen, and when. `primary`: the act that comes next.
    `arguments`: the known fields of the operation; `needs`: the fields that a person adds.
    """

    operation: str
    allowed: bool
    code: str = ""
    sentence: AnyText = ""
    role: Role = Role.DEALER
    twice: bool = False
    asked: int = 0
    asked_by: str = ""
    asked_screen: str = ""
    asked_utc_ns: int = 0
    primary: bool = False
    arguments: dict[str, Any] = {}
    needs: tuple[str, ...] = ()


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
    """Offer each bettor each option that is not chosen, and an entry that the bettor is away and the bets stay."""
    chosen = {(place, bettor): choice for place, bettor, choice in found.choices}
    options = tuple(dict.fromkeys(option.choice for option in found.row.options)) or tuple(Choice)
    for place, bettor in state.round.choosers:
        for choice in options:
            if choice is not chosen.get((place, bettor)):
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


class Act(NamedTuple):
    """An operation, with its required arguments."""

    operation: type[Operation]
    arguments: Mapping[str, Any] = MappingProxyType({})

    def is_met_by(self, operation: str, arguments: Mapping[str, Any]) -> bool:
        same = operation == str(self.operation.__struct_config__.tag)
        return same and all(arguments.get(name) == value for name, value in self.arguments.items())


def primary_act(state: TableState) -> Act | None:
    """Return the act, or None if nothing has to be entered next, or people have several equal
    answers to choose from.
    """
    blocking = next((found for found in in_order(state) if found.blocks), None)
    if blocking is not None:
        return _about(state, blocking)
    if state.duty.paused:
        return Act(operations.ResumeTable)
    if state.moves_due:
        return Act(operations.Reconstruct)
    idle = state.service is not Service.IN_SERVICE and state.phase is not Phase.MAINTENANCE
    if idle and not goes_on_without_device(state):
        return _without_device(state)
    if state.phase in BETWEEN_ROUNDS and returns_due(state):
        return Act(operations.RecordSettled)
    return BY_PHASE[state.phase](state)


def _about(state: TableState, found: Irregularity) -> Act | None:
    """Return the act for an irregularity, which never proposes the answer to a question."""
    if found.void_asked:
        return None
    if due := counts_due(state):
        return Act(operations.CountCards, {"pile": due})
    if found.stage is Stage.CLAIMED and waits_for_hand_count(found):
        return Act(operations.CountCards)
    if found.stage is Stage.MOVING and waits_for_places(state, found):
        return Act(operations.PlaceCards)
    if found.stage is Stage.MOVING:
        return Act(operations.Reconstruct, {"irregularity": found.id})
    return None


def _without_device(state: TableState) -> Act | None:
    if state.service is Service.OUT_OF_SERVICE:
        return Act(operations.ReturnToService)
    return Act(operations.ContinueRound) if state.in_round else None


def _deal(state: TableState) -> Act | None:
    """Return None while the device deals, or the act by which people deal once its stub is out."""
    return Act(operations.DealByHand) if stub_is_out(state) else None


def _first_card(state: TableState) -> Act | None:
    return Act(operations.ShowFirstCard) if state.round.first_card is not None else _deal(state)


def _expose(state: TableState) -> Act | None:
    """Return the hand to turn over: the Dealer's first unless Players return theirs before, else the Dealer's last."""
    if examined_due(state):
        return Act(operations.PlayersExamined)
    if state.phase is Phase.EXAMINING and state.game.step(StepKind.RETURNING) is None:
        return Act(operations.ExposeHand, {"place": DEALER})
    waiting = (p for p in (*state.round.live_places, DEALER) if not state.round.hands.get(p, Hand()).shown)
    place = next(waiting, None)
    return None if place is None else Act(operations.ExposeHand, {"place": place})


def _settle(state: TableState) -> Act | None:
    if state.round.chips_paid and not returns_due(state):
        return Act(operations.ConcludeRound)
    due = counts_due(state)
    return Act(operations.CountCards, {"pile": due}) if due else Act(operations.RecordSettled)


def _begin(state: TableState) -> Act | None:
    """Return the act that begins a round; a deck that people shuffle is shuffled first."""
    deck = state.decks.coming
    by_people = state.device.kind != "shuffler" and bool(deck.deck) and not (deck.shuffled or deck.used)
    return Act(operations.ShuffledOutside if by_people else operations.PlaceYourBets)


BY_PHASE: Final[dict[Phase, Callable[[TableState], Act | None]]] = {
    Phase.CLOSED: lambda state: Act(operations.OpenTable),
    Phase.IDLE: _begin,
    Phase.BETTING: lambda state: Act(operations.NoMoreBets),
    Phase.FIRST_CARD: _first_card,
    Phase.DEALING_SETS: _deal,
    Phase.DEALING_SINGLES: _deal,
    Phase.EXAMINING: _expose,
    Phase.EXPOSING: _expose,
    Phase.SETTLING: _settle,
    Phase.CONCLUDED: _begin,
    Phase.VOIDED: _begin,
    Phase.MAINTENANCE: lambda state: Act(operations.EndMaintenance),
}


def offers(state: TableState) -> tuple[Offer, ...]:
    """Return everything that people can enter now, in the order of the operations; at most one of them is primary."""
    if state.settings is None:
        return ()
    first = primary_act(state)
    found: list[Offer] = []
    for one in (*groups(state), *decisions(state)):
        offer = _offer(state, one)
        leads = first is not None and first.is_met_by(offer.operation, offer.arguments) and not offer.asked
        if leads and not any(other.primary for other in found):
            offer = msgspec.structs.replace(offer, primary=True)
        found.append(offer)
    return tuple(found)


def signed_before(state: TableState, operation: AnyOperation, screen: str, repeats: int, utc_ns: int) -> str:
    """Return who signed the first request if this is the second: unchanged, soon after, at the same screen.

    Empty: nobody did, and the request needs its own signature. The offers show what it may contain.
    """
    for offer in offers(state) if screen and repeats else ():
        soon = utc_ns - offer.asked_utc_ns <= REPEATED_WITHIN_NS
        if (offer.asked, offer.asked_screen) == (repeats, screen) and soon and not offer.needs:
            words = {"operation": offer.operation, **msgspec.to_builtins(offer.arguments)}
            if msgspec.convert(words, AnyOperation) == operation:
                return offer.asked_by
    return ""


def _offer(state: TableState, group: Group) -> Offer:
    refused, role = _tried(state, group)
    asking = group.asking or Asking(0)
    operation = group.samples[0]
    return Offer(
        operation=name_of(operation),
        allowed=refused is None,
        code=refused.code if refused is not None else "",
        sentence=refused.message if refused is not None else "",
        role=role,
        twice=group.twice,
        asked=asking.entry,
        asked_by=asking.person,
        asked_screen=asking.screen,
        asked_utc_ns=asking.utc_ns,
        arguments=dict(group.known),
        needs=group.needs,
    )


def _tried(state: TableState, group: Group) -> tuple[RefusedError | None, Role]:
    """Return the first refusal if every sample is refused, and the lowest rank that may do it."""
    lowest = max(PERMISSIONS[type(group.samples[0])].role, group.role, key=list(Role).index)
    first: RefusedError | None = None
    for sample in group.samples:
        for role in (one for one in Role if one.reaches(lowest)):
            refused = _refusal(state, sample, role, untried=group.untried)
            if refused is None:
                return None, role
            if refused.code != "role":
                break
        first = first or refused
    return first, lowest


def _refusal(state: TableState, operation: Operation, role: Role, *, untried: bool) -> RefusedError | None:
    allowed = PERMISSIONS[type(operation)]
    person = ANOTHER if allowed.off_duty else state.duty.dealer or ANOTHER
    given = PersonActed("", person, role, state.round.number, operation)
    try:
        (verify_moment if untried else verify)(state, given)
    except RefusedError as refused:
        return refused
    return None


def groups(state: TableState) -> Iterator[Group]:
    """Return the offers of the features' rows that make sense now."""
    for row in PERMISSIONS.values():
        if state.phase in row.phases and row.where(state):
            yield from row.offers(state)


class Reportable(NamedTuple):
    """An irregularity that can be reported. `place`, `card`, `counted`: whether it is asked for.

    `places`: those that may be named. `now`: it may be about this round; `earlier`: about the previous one.
    """

    kind: Kind
    place: bool
    card: bool
    counted: bool
    places: tuple[Place, ...]
    now: bool
    earlier: bool


def reportable(state: TableState) -> tuple[Reportable, ...]:
    """Return them in the order of the kinds, without those that cannot be reported now."""
    with suppress(RefusedError):
        verify_moment(state, _report(state, ReportIrregularity(Kind.OTHER_DEALING_ERROR)))
        return tuple(found for kind in Kind if (found := _reportable(state, kind)) is not None)
    return ()


def _reportable(state: TableState, kind: Kind) -> Reportable | None:
    """Return how a kind is reported.

    Kinds of which several may be open at the same time are distinguished by their place; a wrong count requires a
    place.
    """
    counted = kind is Kind.WRONG_COUNT
    places: tuple[Place, ...] = ()
    if kind in SEVERAL:
        places = tuple(place for place in _places(state) if _may(state, _at(state, kind, place)))
    now = bool(places) or _may(state, ReportIrregularity(kind))
    earlier = _may(state, _earlier(kind))
    if not now and not earlier:
        return None
    at_a_card = kind in AT_A_CARD and kind in SEVERAL
    return Reportable(kind, kind in SEVERAL, at_a_card, counted, places, now, earlier)


def _places(state: TableState) -> tuple[Place, ...]:
    assert state.settings is not None
    return (*(f"B{box}" for box in range(1, state.settings.box_count + 1)), DEALER)


def _at(state: TableState, kind: Kind, place: Place) -> ReportIrregularity:
    """Return the sample at a place. A reported count differs from the number of cards dealt to the place."""
    size = state.round.hands.get(place, Hand()).size
    return ReportIrregularity(kind, place, counted=size + 1 if kind is Kind.WRONG_COUNT else None)


def _earlier(kind: Kind) -> ReportIrregularity:
    of_count = kind is Kind.WRONG_COUNT
    return ReportIrregularity(kind, "B1" if of_count else None, counted=4 if of_count else None, earlier=True)


def _report(state: TableState, report: ReportIrregularity) -> PersonActed:
    return PersonActed("", "", Role.DEALER, state.round.number, report)


def _may(state: TableState, report: ReportIrregularity) -> bool:
    """Return whether it may be reported, at a moment at which reports are accepted."""
    try:
        verify_report(state, _report(state, report), report)
    except RefusedError:
        return False
    return True
