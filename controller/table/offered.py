"""Offers of operations to people. Each operation has a row: when it makes sense, and what a person could enter.

A row applies in the phases of its permission. `groups` gives the offers of a state, each with samples that are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import fields

from controller.games.specification import Kind, StepKind
from controller.roles import Role
from controller.rules.dealing_order import DEALER
from controller.table import operations
from controller.table.exposing import may_be_shown_as_read
from controller.table.inference import device_counts
from controller.table.irregularities.questions import COUNT_BY_HAND
from controller.table.model import ASIDE, DECK, STUB, Asking
from controller.table.operations import Instruction, Operation
from controller.table.payments import difference_due
from controller.table.permissions import PERMISSIONS
from controller.table.phases import BETWEEN_ROUNDS, Phase, Service
from controller.table.recall import TRAY
from controller.table.rounds import stub_comes, stub_count_due
from controller.table.state import TableState
from firmware_bridge.cards import DECK as CARDS
from firmware_bridge.cards import DECK_SIZE

WORDS: Final = "as entered"
"""Sample text for a field in which a person enters text."""
UNKNOWN: Final = "\N{BULLET}"
"""A name that no deck, back or bettor of a table has."""
MOST_TRIED: Final = 8  # samples of many possible ones: bets, bettors
MOST_COUNTED: Final = 60


REQUIRED: Final = {one: tuple(field.name for field in fields(one) if field.required) for one in PERMISSIONS}
"""The fields that an operation requires."""


class Group(NamedTuple):
    """One offer. `samples`: at least one has to be permitted; all share the known arguments.

    `untried`: the contents of the operation are not tried, but rank, phase, service and hold are.
    """

    samples: tuple[Operation, ...]
    known: Mapping[str, Any] = MappingProxyType({})
    needs: tuple[str, ...] = ()
    twice: bool = False
    asking: Asking | None = None
    role: Role = Role.DEALER
    untried: bool = False


def group(
    *samples: Operation,
    known: Iterable[str] = (),
    needs: Iterable[str] = (),
    twice: bool = False,
    asking: Asking | None = None,
    role: Role = Role.DEALER,
    untried: bool = False,
) -> Group:
    """Build a group. `known`: fields whose value the samples have. The other required fields are needed from people."""
    first = samples[0]
    values = {name: msgspec.to_builtins(getattr(first, name)) for name in known}
    required = (name for name in REQUIRED[type(first)] if name not in values)
    return Group(samples, values, tuple(dict.fromkeys((*required, *needs))), twice, asking, role, untried)


class Row(NamedTuple):
    """An operation, the phases in which it makes sense, and its offers."""

    operation: type[Operation]
    groups: Callable[[TableState], Iterable[Group]]
    where: Callable[[TableState], bool] = lambda state: True


def just(operation: Operation) -> Callable[[TableState], Iterable[Group]]:
    """Return one offer that needs nothing from the state."""
    return lambda state: (group(operation),)


def untried(operation: Operation) -> Callable[[TableState], Iterable[Group]]:
    """Return one offer whose contents people enter almost entirely, or which depends on the screen."""
    return lambda state: (group(operation, untried=True),)


def groups(state: TableState) -> Iterator[Group]:
    for row in ROWS:
        if state.phase in PERMISSIONS[row.operation].phases and row.where(state):
            yield from row.groups(state)


# -- the course of a round


def _boxes(state: TableState) -> Iterator[Group]:
    yield group(operations.OccupyBoxes(state.round.boxes or (1,)))


def _first_card(state: TableState) -> Iterator[Group]:
    by_device = state.settings is not None and state.settings.hands_by_device
    yield group(operations.ShowFirstCard(CARDS[0]), needs=() if by_device else ("card",))


def _hands(state: TableState) -> Iterator[Group]:
    """Offer each hand that is not turned over. The sample enters cards, so it never asks for what the device read."""
    for place in (*state.round.live_places, DEALER):
        hand = state.round.hands.get(place)
        if hand is not None and not hand.shown:
            needs = () if may_be_shown_as_read(state, place) else ("cards",)
            yield group(operations.ExposeHand(place, CARDS[:3]), known=("place",), needs=needs)


def _handled(state: TableState) -> Iterator[Group]:
    """Offer the handling or viewing of a hand; who did it is needed if bettors are entered."""
    places = [place for place, hand in state.round.hands.items() if place != DEALER and hand.cards]
    if places:
        yield group(*(operations.HandleCards(place) for place in places))
        looked = (operations.HandleCards(place, viewed=True) for place in places)
        yield group(*looked, known=("viewed",), needs=("bettor",) if state.bettors else ())


def _moved(state: TableState) -> Iterator[Group]:
    if state.moves_due:
        yield group(operations.Reconstruct())


def _named(state: TableState) -> Iterator[Group]:
    places = [place for place, hand in state.round.hands.items() if hand.size and not hand.shown]
    if places:
        yield group(*(operations.NameExposed(place, ()) for place in places))


def _placed(state: TableState) -> Iterator[Group]:
    """Offer another place for any card that is at a place."""
    for place, hand in state.round.hands.items():
        if hand.cards:
            other = DEALER if place != DEALER else "B1"
            yield group(operations.PlaceCards((operations.CardAt(hand.cards[0].ordinal, other),)))
            return


def _concluded(state: TableState) -> Iterator[Group]:
    asking = state.round.conclusion_asking if state.round.conclusion_asked else None
    yield group(operations.ConcludeRound(), twice=True, asking=asking)


def _abandoned(state: TableState) -> Iterator[Group]:
    """Offer to abandon the round; the second request has the same words as the first."""
    if not state.round.abandon_asked:
        yield group(operations.AbandonRound(WORDS, WORDS), twice=True)
        return
    _, authority, text = state.round.abandon_asked
    again = operations.AbandonRound(authority, text)
    yield group(again, known=("authority", "text"), twice=True, asking=state.round.abandon_asking)


# -- bettors and wagers


def _leaving(state: TableState) -> Iterator[Group]:
    betting = {bet.bettor for bet in state.layout.bets}
    free = [bettor.id for bettor in state.bettors if bettor.id not in betting]
    ids = free[:1] or [bettor.id for bettor in state.bettors[:1]]
    yield from (group(operations.BettorLeaves(bettor)) for bettor in ids)


def _entering(state: TableState) -> Iterator[Group]:
    """Offer a new bettor; if no more are accepted, an entered one may still move."""
    known = [operations.EnterBettor(bettor.id, bettor.seat) for bettor in state.bettors[:1]]
    yield group(operations.EnterBettor(UNKNOWN), *known, needs=("seat",))


def _wagers(state: TableState) -> Iterator[Group]:
    """Offer a bet that the rules allow, and an overlooked one that lies there although they do not."""
    assert state.settings is not None
    main = next(wager for wager in state.law.wagers if wager.main)
    limit = state.table_rules.limits.get(main.id)
    amount = max(1, limit.minimum) if limit is not None else 1
    bettors = [bettor.id for bettor in state.bettors[:MOST_TRIED]]
    for overlooked in (False, True):
        samples = (
            operations.PlaceWager(bettor, main.id, box, amount, overlooked)
            for bettor in bettors
            for box in range(1, state.settings.box_count + 1)
        )
        yield group(*samples, known=("overlooked",) if overlooked else ())


def _restricted(state: TableState) -> Iterator[Group]:
    """Offer the restrictions in force as the start; what people remove is lifted."""
    names = ("closed_boxes", "fewer_wagers", "one_box")
    force = operations.RestrictBetting(*(getattr(state.restrictions, name) for name in names))
    bettors = bool(state.bettors or force.one_box)
    yield group(force, operations.RestrictBetting(), known=names, needs=names if bettors else names[:2])


def _changes(state: TableState) -> Iterator[Group]:
    bets = state.layout.bets[:MOST_TRIED]
    yield group(*(operations.ChangeWager(bet.number, bet.amount + more) for bet in bets for more in (0, 1, -1)))


def _taken_back(state: TableState) -> Iterator[Group]:
    yield group(*(operations.TakeBackWager(bet.number) for bet in state.layout.bets[:MOST_TRIED]))


# -- cards and decks


def counts_due(state: TableState) -> str:
    """Return the pile that has to be counted by hand now; empty if none."""
    for found in state.open:
        if COUNT_BY_HAND in found.asks:
            return DECK if found.waiting else STUB
    if state.phase is Phase.SETTLING and stub_count_due(state) and not stub_comes(state):
        return STUB
    return DECK if state.decks.count_due and state.phase in BETWEEN_ROUNDS - {Phase.MAINTENANCE} else ""


def _counted(state: TableState) -> Iterator[Group]:
    stub = operations.CountCards(STUB, min(MOST_COUNTED, max(0, state.stub_due)), WORDS)
    deck = operations.CountCards(DECK, DECK_SIZE, WORDS)
    if due := counts_due(state):
        yield group(stub if due == STUB else deck, known=("pile",))
    yield group(stub, deck)


def _labels(state: TableState) -> list[str]:
    return [record.label for record in state.decks.recorded]


def _shuffled(state: TableState) -> Iterator[Group]:
    yield group(*(operations.ShuffledOutside(WORDS, deck) for deck in ("", *_labels(state))))


def _brought(state: TableState) -> Iterator[Group]:
    """Offer to bring a deck, also another deck with the back of a quarantined one that was taken away."""
    yield group(operations.BringDeck(UNKNOWN, UNKNOWN, WORDS, DECK_SIZE, WORDS))
    if any(deck.quarantined for deck in state.decks.taken_away):
        yield group(operations.BringDeck(UNKNOWN, UNKNOWN, WORDS, DECK_SIZE, WORDS, another=True), known=("another",))


def _taken_out(state: TableState) -> Iterator[Group]:
    yield group(*(operations.TakeDeckOut(deck, WORDS, DECK_SIZE, WORDS) for deck in _labels(state)))


def _loaded(state: TableState) -> Iterator[Group]:
    labels = _labels(state)
    yield group(*(operations.LoadDeck(deck) for deck in (*labels, "")), needs=("deck",) if labels else ())


def _quarantined(state: TableState) -> Iterator[Group]:
    yield group(*(operations.QuarantineDeck(deck, WORDS) for deck in ("", *_labels(state))))


def _released(state: TableState) -> Iterator[Group]:
    away = [record.label for record in state.decks.taken_away if record.quarantined]
    yield group(*(operations.ReleaseDeck(deck, WORDS, DECK_SIZE, WORDS) for deck in ("", *_labels(state), *away)))


def _out_of_use(state: TableState) -> bool:
    decks = state.decks
    recorded = any(record.quarantined for record in (*decks.recorded, *decks.taken_away))
    return recorded or bool(decks.in_play.quarantined)


def _recalled(state: TableState) -> Iterator[Group]:
    number, places = state.round.number, (*state.round.hands, TRAY, ASIDE)
    rounds = [operations.RecallCards(one, WORDS) for one in (number, number - 1)]
    yield group(*rounds, *(operations.RecallCards(number, WORDS, place) for place in places))


# -- the table and its device


def _instructed(state: TableState) -> Iterator[Group]:
    for instruction in Instruction:
        dispenses = instruction is Instruction.DISPENSE
        sample = operations.InstructDevice(instruction, 1 if dispenses else 0)
        yield group(sample, known=("instruction",), needs=("cards",) if dispenses else ())


def _removed(state: TableState) -> Iterator[Group]:
    yield group(*(operations.RemoveScreen(screen.id) for screen in state.screens))


def _taken_over(state: TableState) -> Iterator[Group]:
    """Offer a takeover that names every open irregularity: the person who takes over ticks them off."""
    yield group(operations.TakeOver(tuple(found.id for found in state.open)), known=("open",))


ROWS: Final[tuple[Row, ...]] = (
    Row(operations.OpenTable, just(operations.OpenTable())),
    Row(operations.PlaceYourBets, just(operations.PlaceYourBets())),
    Row(operations.NoMoreBets, just(operations.NoMoreBets())),
    Row(operations.OccupyBoxes, _boxes),
    Row(operations.CancelStart, just(operations.CancelStart())),
    Row(operations.EnterBettor, _entering),
    Row(operations.BettorLeaves, _leaving, lambda state: bool(state.bettors)),
    Row(operations.PlaceWager, _wagers, lambda state: bool(state.bettors)),
    Row(operations.ChangeWager, _changes, lambda state: bool(state.layout.bets)),
    Row(operations.TakeBackWager, _taken_back, lambda state: bool(state.layout.bets)),
    Row(operations.RejectExcess, just(operations.RejectExcess()), lambda state: bool(state.layout.bets)),
    Row(operations.RestrictBetting, _restricted),
    Row(operations.ShowFirstCard, _first_card),
    Row(operations.ReopenBets, just(operations.ReopenBets())),
    Row(operations.ExposeHand, _hands),
    Row(
        operations.PlayersExamined,
        just(operations.PlayersExamined()),
        lambda state: state.game.step(StepKind.RETURNING) is None and not state.round.examined,
    ),
    Row(operations.HandleCards, _handled),
    Row(operations.NameExposed, _named),
    Row(operations.PlaceCards, _placed),
    Row(operations.Reconstruct, _moved),
    Row(operations.DealByHand, just(operations.DealByHand(1, WORDS))),
    Row(
        operations.RecordSettled,
        just(operations.RecordSettled()),
        lambda state: state.phase is Phase.SETTLING or returns_due(state),
    ),
    Row(operations.ConcludeRound, _concluded),
    Row(operations.CountCards, _counted),
    Row(operations.ReportIrregularity, just(operations.ReportIrregularity(Kind.FOREIGN_CARD))),
    Row(operations.PauseTable, just(operations.PauseTable(WORDS))),
    Row(operations.ResumeTable, just(operations.ResumeTable()), lambda state: bool(state.duty.paused)),
    Row(operations.ContinueRound, just(operations.ContinueRound()), lambda state: state.service is Service.RECONCILING),
    Row(
        operations.ReturnToService,
        just(operations.ReturnToService()),
        lambda state: state.service is not Service.IN_SERVICE or bool(state.device.stops),
    ),
    Row(operations.AbandonRound, _abandoned),
    Row(
        operations.CorrectEntry,
        untried(operations.CorrectEntry(0, WORDS)),
        lambda state: bool(state.round.entered),
    ),
    Row(
        operations.CorrectBet,
        untried(operations.CorrectBet(0, 0, WORDS)),
        lambda state: bool(state.bettors),
    ),
    Row(operations.RecallCards, _recalled, lambda state: state.rounds_numbered > 0),
    Row(operations.DealerOn, just(operations.DealerOn()), lambda state: not state.duty.dealer),
    Row(operations.DealerOff, just(operations.DealerOff()), lambda state: bool(state.duty.dealer)),
    Row(operations.TakeOver, _taken_over),
    Row(operations.SignOn, untried(operations.SignOn()), lambda state: bool(state.screens)),
    Row(
        operations.LockScreen, untried(operations.LockScreen()), lambda state: any(one.dealer for one in state.screens)
    ),
    Row(operations.RemoveScreen, _removed, lambda state: bool(state.screens)),
    Row(
        operations.ShuffledOutside,
        _shuffled,
        lambda state: state.device.kind != "shuffler" and (not state.in_round or bool(state.decks.recorded)),
    ),
    Row(operations.CutDeck, just(operations.CutDeck()), lambda state: state.device.kind == "shoe"),
    Row(operations.LoadDeck, _loaded, lambda state: bool(state.decks.recorded) or not device_counts(state)),
    Row(operations.BringDeck, _brought),
    Row(operations.TakeDeckOut, _taken_out, lambda state: bool(state.decks.recorded)),
    Row(operations.QuarantineDeck, _quarantined),
    Row(operations.ReleaseDeck, _released, _out_of_use),
    Row(operations.CloseTable, just(operations.CloseTable())),
    Row(operations.BeginMaintenance, just(operations.BeginMaintenance(WORDS))),
    Row(operations.EndMaintenance, just(operations.EndMaintenance())),
    Row(operations.InstructDevice, _instructed),
)
"""Rows in the order in which they are offered; `offered_decisions` has the decisions about irregularities."""


def returns_due(state: TableState) -> bool:
    """Return whether, between rounds, bets have to be returned or a difference paid."""
    return state.round.bets_to_return or difference_due(state)
