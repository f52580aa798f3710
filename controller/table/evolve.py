"""The fold: what each event sets. No judgement, no refusal, no clock; see `controller.table.events`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.structs import replace

from controller.games.specification import Choice
from controller.table import events
from controller.table.events import AnyEvent
from controller.table.state import Answer, Deck, Hand, Irregularity, OpenCommand, TableState
from firmware_bridge.commands import Command, Dispense, HoldExit, ReleaseExit, Shuffle, UnloadStub

Setter = Callable[[TableState, Any, int], TableState]
_SETTERS: Final[dict[type[events.Event], Setter]] = {}


def evolve(state: TableState, event: AnyEvent, entry: int) -> TableState:
    """The state after one event that stands in the journal as number `entry`."""
    setter = _SETTERS.get(type(event))
    if setter is not None:
        state = setter(state, event, entry)
    return replace(state, entry=entry)


def fold(state: TableState, numbered: Iterable[tuple[int, AnyEvent]]) -> TableState:
    """The state after a run of events with their entry numbers."""
    for entry, event in numbered:
        state = evolve(state, event, entry)
    return state


def _sets(event_type: type[events.Event]) -> Callable[[Setter], Setter]:
    def register(setter: Setter) -> Setter:
        _SETTERS[event_type] = setter
        return setter

    return register


def _with_hand(state: TableState, place: str, **changes: Any) -> TableState:
    hand = replace(state.hands.get(place, Hand()), **changes)
    return replace(state, hands={**state.hands, place: hand})


def _with_open(state: TableState, irregularity: int, entry: int, **changes: Any) -> TableState:
    changed = tuple(
        replace(found, revision=entry, **changes) if found.id == irregularity else found for found in state.open
    )
    return replace(state, open=changed)


# -- the daemon and the device ---------------------------------------------------------------------------------------


@_sets(events.TableBegan)
def _table_began(state: TableState, event: events.TableBegan, entry: int) -> TableState:
    device = replace(state.device, connected=False, status_agrees=False)
    return replace(
        state, table=event.table, simulated=event.simulated, device=device, settings_wait=event.settings_wait
    )


@_sets(events.GameChosen)
def _game_chosen(state: TableState, event: events.GameChosen, entry: int) -> TableState:
    return replace(state, settings=event.settings, settings_wait=None)


@_sets(events.DeviceReady)
def _device_ready(state: TableState, event: events.DeviceReady, entry: int) -> TableState:
    identity = event.identity
    device = replace(
        state.device,
        connected=True,
        serial=identity.serial,
        kind=identity.kind,
        unit=identity.unit,
        running_boot=identity.boot,
        capabilities=identity.capabilities,
        exit_held=event.exit_held,
        status_agrees=False,
    )
    return replace(state, device=device)


@_sets(events.DeviceLost)
def _device_lost(state: TableState, event: events.DeviceLost, entry: int) -> TableState:
    return replace(state, device=replace(state.device, connected=False, status_agrees=False))


@_sets(events.ServiceChanged)
def _service_changed(state: TableState, event: events.ServiceChanged, entry: int) -> TableState:
    return replace(state, service=event.service, service_cause=event.cause)


@_sets(events.StatusAgrees)
def _status_agrees(state: TableState, event: events.StatusAgrees, entry: int) -> TableState:
    return replace(state, device=replace(state.device, status_agrees=True))


@_sets(events.StatusDiffers)
def _status_differs(state: TableState, event: events.StatusDiffers, entry: int) -> TableState:
    """From here on the device's own account is what later statuses are compared with."""
    state = replace(state, device=replace(state.device, status_agrees=True))
    if event.what == "shuffle":
        return replace(state, deck=replace(state.deck, shuffle=event.device, shuffled=False))
    if event.what == "dispensed":
        return replace(state, deck=replace(state.deck, dispensed=event.device))
    if event.device:
        return replace(state, tray=event.tray)
    return replace(state, tray=(), aside=(*state.aside, *state.tray))


@_sets(events.ReportsPassed)
def _reports_passed(state: TableState, event: events.ReportsPassed, entry: int) -> TableState:
    return replace(state, device=replace(state.device, boot=event.boot, last_report=event.number))


@_sets(events.ReportTaken)
def _report_taken(state: TableState, event: events.ReportTaken, entry: int) -> TableState:
    return replace(state, device=replace(state.device, last_report=event.number, boot=event.boot))


@_sets(events.CommandIssued)
def _command_issued(state: TableState, event: events.CommandIssued, entry: int) -> TableState:
    opened = OpenCommand(entry, event.command)
    device = replace(state.device, open_commands=(*state.device.open_commands, opened))
    if isinstance(event.command, HoldExit | ReleaseExit):
        device = replace(device, exit_held=isinstance(event.command, HoldExit))
    return replace(state, device=device)


def _command_closed(state: TableState, event: events.CommandDone, entry: int) -> TableState:
    left = tuple(opened for opened in state.device.open_commands if opened.id != event.command_id)
    return replace(state, device=replace(state.device, open_commands=left))


for _closing in (events.CommandDone, events.CommandRefused, events.CommandLapsed):
    _sets(_closing)(_command_closed)


@_sets(events.DeviceStopped)
def _device_stopped(state: TableState, event: events.DeviceStopped, entry: int) -> TableState:
    stops = tuple(dict.fromkeys((*state.device.stops, event.cause)))
    return replace(state, device=replace(state.device, stops=stops))


@_sets(events.ShuffleFailed)
def _shuffle_failed(state: TableState, event: events.ShuffleFailed, entry: int) -> TableState:
    return replace(state, deck=replace(state.deck, shuffled=False, used=True))


@_sets(events.DeviceFreed)
def _device_freed(state: TableState, event: events.DeviceFreed, entry: int) -> TableState:
    stops = tuple(cause for cause in state.device.stops if cause != event.cause)
    return replace(state, device=replace(state.device, stops=stops))


# -- the deck --------------------------------------------------------------------------------------------------------


@_sets(events.DeckArrived)
def _deck_arrived(state: TableState, event: events.DeckArrived, entry: int) -> TableState:
    deck = Deck(deck=event.deck, loaded=event.count or 0, shuffle=event.shuffle or 0)
    return replace(state, deck=deck, tray=(), aside=(), places=(), dealt=0)


@_sets(events.ShuffleBegan)
def _shuffle_began(state: TableState, event: events.ShuffleBegan, entry: int) -> TableState:
    return replace(state, deck=replace(state.deck, shuffled=False))


@_sets(events.DeckShuffled)
def _deck_shuffled(state: TableState, event: events.DeckShuffled, entry: int) -> TableState:
    state = _effect_seen(state, Shuffle)
    deck = Deck(deck=event.deck, shuffle=event.shuffle, loaded=event.count, shuffled=True)
    return replace(state, deck=deck, tray=(), aside=(), places=(), dealt=0)


@_sets(events.CardFoundFaceUp)
def _card_found_face_up(state: TableState, event: events.CardFoundFaceUp, entry: int) -> TableState:
    return replace(state, deck=replace(state.deck, face_up=(*state.deck.face_up, event.ordinal)))


def _effect_seen(state: TableState, command: type[Command]) -> TableState:
    """What an open command was to bring about has been reported."""
    opened = tuple(
        replace(one, seen=True) if isinstance(one.command, command) else one for one in state.device.open_commands
    )
    return replace(state, device=replace(state.device, open_commands=opened))


@_sets(events.SetInTray)
def _set_in_tray(state: TableState, event: events.SetInTray, entry: int) -> TableState:
    state = _effect_seen(state, Dispense)
    deck = replace(state.deck, used=True, dispensed=state.deck.dispensed + len(event.cards))
    return replace(state, tray=(*state.tray, *event.cards), deck=deck)


@_sets(events.CardsSetAside)
def _cards_set_aside(state: TableState, event: events.CardsSetAside, entry: int) -> TableState:
    tray, deck = ((), state.deck) if event.from_tray else (state.tray, _drawn(state, len(event.cards)))
    return replace(state, aside=(*state.aside, *event.cards), tray=tray, deck=deck)


def _drawn(state: TableState, count: int) -> Deck:
    return replace(state.deck, used=True, dispensed=state.deck.dispensed + count)


@_sets(events.CardsDealt)
def _cards_dealt(state: TableState, event: events.CardsDealt, entry: int) -> TableState:
    hands = dict(state.hands)
    for place, card in zip(event.places, event.cards, strict=True):
        hand = hands.get(place, Hand())
        hands[place] = replace(hand, cards=(*hand.cards, card))
    dealt = state.dealt + len(event.cards)
    if event.source == "tray":
        return replace(state, hands=hands, dealt=dealt, tray=state.tray[len(event.cards) :])
    if event.source == "aside":
        return replace(state, hands=hands, dealt=dealt, aside=state.aside[len(event.cards) :])
    return replace(state, hands=hands, dealt=dealt, deck=_drawn(state, len(event.cards)))


@_sets(events.StubCounted)
def _stub_counted(state: TableState, event: events.StubCounted, entry: int) -> TableState:
    state = state if event.in_device else _effect_seen(state, UnloadStub)
    tray = state.tray if event.in_device else ()
    return replace(state, deck=replace(state.deck, stub=event.count), tray=tray)


# -- the round -------------------------------------------------------------------------------------------------------


@_sets(events.PhaseEntered)
def _phase_entered(state: TableState, event: events.PhaseEntered, entry: int) -> TableState:
    return replace(state, phase=event.phase)


@_sets(events.RoundBegan)
def _round_began(state: TableState, event: events.RoundBegan, entry: int) -> TableState:
    answers = tuple(answer for answer in state.answers if answer.round >= event.round - 1)
    return replace(
        state,
        round=event.round,
        round_deck=event.deck,
        boxes=(),
        places=(),
        dealt=0,
        hands={},
        chose_to_go_on=False,
        chips_paid=False,
        conclusion_asked=False,
        answers=answers,
    )


@_sets(events.BoxesOccupied)
def _boxes_occupied(state: TableState, event: events.BoxesOccupied, entry: int) -> TableState:
    return replace(state, boxes=event.boxes)


@_sets(events.DealBegan)
def _deal_began(state: TableState, event: events.DealBegan, entry: int) -> TableState:
    return replace(state, places=event.places, dealt=0)


@_sets(events.CardsHandled)
def _cards_handled(state: TableState, event: events.CardsHandled, entry: int) -> TableState:
    return _with_hand(state, event.place, handled=True)


@_sets(events.HandCounted)
def _hand_counted(state: TableState, event: events.HandCounted, entry: int) -> TableState:
    known = len(state.hands.get(event.place, Hand()).cards)
    state = replace(state, aside=state.aside[event.from_aside :])
    return _with_hand(state, event.place, surplus=event.count - known)


@_sets(events.HandExposed)
def _hand_exposed(state: TableState, event: events.HandExposed, entry: int) -> TableState:
    return _with_hand(state, event.place, shown=event.cards)


@_sets(events.HandTakenBack)
def _hand_taken_back(state: TableState, event: events.HandTakenBack, entry: int) -> TableState:
    return _with_hand(state, event.place, shown=())


@_sets(events.HandJudged)
def _hand_judged(state: TableState, event: events.HandJudged, entry: int) -> TableState:
    return _with_hand(state, event.place, outcome=event.outcome)


@_sets(events.HandRemoved)
def _hand_removed(state: TableState, event: events.HandRemoved, entry: int) -> TableState:
    return _with_hand(state, event.place, dead=True, outcome=None)


@_sets(events.ChipsPaid)
def _chips_paid(state: TableState, event: events.ChipsPaid, entry: int) -> TableState:
    return replace(state, chips_paid=True)


@_sets(events.ConclusionAsked)
def _conclusion_asked(state: TableState, event: events.ConclusionAsked, entry: int) -> TableState:
    return replace(state, conclusion_asked=True)


@_sets(events.TablePaused)
def _table_paused(state: TableState, event: events.TablePaused, entry: int) -> TableState:
    return replace(state, paused=event.reason)


@_sets(events.TableResumed)
def _table_resumed(state: TableState, event: events.TableResumed, entry: int) -> TableState:
    return replace(state, paused="")


# -- irregularities --------------------------------------------------------------------------------------------------


@_sets(events.IrregularityRaised)
def _irregularity_raised(state: TableState, event: events.IrregularityRaised, entry: int) -> TableState:
    raised = Irregularity(
        id=entry,
        revision=entry,
        round=state.round,
        kind=event.kind,
        row=event.row,
        facts=event.facts,
        asks=event.asks,
        stage=event.stage,
        blocks=event.blocks,
        place=event.place,
        ordinals=event.ordinals,
        counted=event.counted,
    )
    return replace(state, open=(*state.open, raised), conclusion_asked=False)


@_sets(events.IrregularityConfirmed)
def _irregularity_confirmed(state: TableState, event: events.IrregularityConfirmed, entry: int) -> TableState:
    changes: dict[str, Any] = {"row": event.row, "facts": event.facts, "asks": ()}
    if event.stage is not None:
        changes["stage"] = event.stage
    return _with_open(state, event.irregularity, entry, **changes)


@_sets(events.FactStated)
def _fact_stated(state: TableState, event: events.FactStated, entry: int) -> TableState:
    return _with_open(state, event.irregularity, entry, facts=event.facts, row=event.row, asks=event.asks)


@_sets(events.OrderNamed)
def _order_named(state: TableState, event: events.OrderNamed, entry: int) -> TableState:
    def place_in_order(ordinal: int) -> int:
        return event.ordinals.index(ordinal) if ordinal in event.ordinals else len(event.ordinals)

    state = replace(
        state,
        aside=tuple(sorted(state.aside, key=lambda card: place_in_order(card.ordinal))),
        tray=tuple(sorted(state.tray, key=lambda card: place_in_order(card.ordinal))),
    )
    changes: dict[str, Any] = {} if event.stage is None else {"stage": event.stage}
    return _with_open(state, event.irregularity, entry, **changes)


@_sets(events.OptionChosen)
def _option_chosen(state: TableState, event: events.OptionChosen, entry: int) -> TableState:
    """A choice leaves the revision alone: the next bettor chooses in the same irregularity, as it stands."""
    changed = tuple(
        replace(found, choices=(*found.choices, (event.place, event.choice)))
        if found.id == event.irregularity
        else found
        for found in state.open
    )
    goes_on = state.chose_to_go_on or event.choice is Choice.CONTINUE
    return replace(state, open=changed, chose_to_go_on=goes_on)


@_sets(events.IrregularityResolved)
def _irregularity_resolved(state: TableState, event: events.IrregularityResolved, entry: int) -> TableState:
    left = tuple(found for found in state.open if found.id != event.irregularity)
    return replace(state, open=left)


# -- people ----------------------------------------------------------------------------------------------------------


@_sets(events.OperationTaken)
def _operation_taken(state: TableState, event: events.OperationTaken, entry: int) -> TableState:
    answer = Answer(event.operation_id, event.operation, event.person, state.round, entry)
    return replace(state, answers=(*state.answers, answer))


@_sets(events.OperationRefused)
def _operation_refused(state: TableState, event: events.OperationRefused, entry: int) -> TableState:
    answer = Answer(event.operation_id, event.operation, event.person, state.round, entry, event.code, event.sentence)
    return replace(state, answers=(*state.answers, answer))
