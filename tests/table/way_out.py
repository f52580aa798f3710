"""A crew that knows the next step from every state, and leads a table to the next round."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from controller.games.specification import Choice, Facts, Kind, RulingAction, StepKind
from controller.roles import Role
from controller.rules.dealing_order import DEALER
from controller.rules.law import enters_bettors
from controller.table import operations
from controller.table.admissions import awaited
from controller.table.decision import RefusedError
from controller.table.exposing import examined_due, verify_by_device
from controller.table.model import Irregularity, Pile, Stage
from controller.table.operations import AnyOperation
from controller.table.phases import CARDS_LEAVE, Phase, Service
from controller.table.settling import difference_due, returns_due
from controller.table.state import TableState
from controller.table.stop_causes import COMMAND, JAM, about
from firmware_bridge.cards import DECK, Card
from firmware_bridge.observations import DoorMoved, SelfTestFinished
from simulators.scenarios.table_course import RefusedStepError
from tests.table.harness import TableHarness

MANY_STEPS = 150
ENOUGH_RULINGS = 6
HOPELESS = 16  # ended irregularities in one round, as with a device that gives out empty sets


def lead_to_next_round(table: TableHarness) -> int:
    """Play until bets are open for the next round, and return the number of steps."""
    start = table.state.round.number
    for steps in range(MANY_STEPS):
        if table.state.round.number > start:
            return steps
        step(table)
    state = table.state
    raise AssertionError(f"no way out of {state.phase}, {state.service}, open: {[one.row.id for one in state.open]}")


def step(table: TableHarness, patience: int = 1) -> None:
    """Do the next step of a crew with a shift manager present. After `patience` identical errors the crew gives up."""
    state, device = table.state, table.device
    if state.duty.dealer not in ("", "dealer"):
        table.do(operations.TakeOver(tuple(found.id for found in state.open)))
    elif not state.device.connected:
        device.simulated = state.simulated
        table.connect()
    elif state.device.open_commands:
        table.lose_link()  # a command without an answer: the driver drops the link
        table.connect()
    elif state.device.stopped and (state.open or not state.in_round):
        _clear(table)
    elif state.in_round and len(state.round.closed) >= HOPELESS * patience:
        for _ in range(2):
            _manage(table, operations.AbandonRound("shift manager", "it comes to no end"))
    elif state.open:
        deal_with(table, state.open[0], patience)
    elif state.duty.paused:
        table.do(operations.ResumeTable())
    elif state.moves_due:
        table.move_cards()
    elif state.service is Service.OUT_OF_SERVICE:
        table.do(operations.ReturnToService(), Role.SHIFT_MANAGER)
        table.heartbeat()
    elif state.service is Service.RECONCILING:
        table.heartbeat()
        if table.state.service is Service.RECONCILING and not table.state.held and table.state.in_round:
            table.say(operations.ContinueRound())
    else:
        play_on(table)


def _clear(table: TableHarness) -> None:
    """Clear every cause of a stop. A cause that no report ends is cleared by returning the table to service."""
    table.device.faults = ()
    for cause in table.state.device.stops:
        if about(cause) == JAM:
            table.device.clear_jam(str(cause).removeprefix("jam: "))
        elif cause == "door":
            table.device.report(DoorMoved(False))
        elif about(cause) == COMMAND and not table.state.in_round:
            _try_another_deck(table)
    if awaited(table.state.device):
        table.device.report(SelfTestFinished(True))
    if table.state.device.stopped:
        table.do(operations.ReturnToService(), Role.SHIFT_MANAGER)


def _try_another_deck(table: TableHarness) -> None:
    """Take a deck out of use that is not in the device, or else load the next deck."""
    state = table.state
    absent = state.decks.in_play.deck not in (0, table.device.deck) and not state.decks.in_play.quarantined
    if state.decks.coming is state.decks.in_play and absent:
        table.do(operations.QuarantineDeck("", "it does not lie in the device"), Role.SHIFT_MANAGER)
    else:
        table.device.load()


def deal_with(table: TableHarness, found: Irregularity, patience: int = 1) -> None:
    """Do one step towards the end of an irregularity."""
    state = table.state
    match found.stage:
        case Stage.CLAIMED if "counted_wrong" in found.asks and found.waiting:
            table.do(operations.CountCards("deck", 52, "a witness"))
        case Stage.CLAIMED if "counted_wrong" in found.asks and not state.decks.in_play.deck:
            _manage(table, operations.DenyIrregularity(found.id, found.revision, "there is no deck to be counted"))
        case Stage.CLAIMED if "counted_wrong" in found.asks:
            table.count(min(60, max(0, state.stub_due)))
        case Stage.CLAIMED:
            facts = msgspec.convert({name: name not in ("before_close", "wrong_number") for name in found.asks}, Facts)
            _confirm_or_deny(table, found, facts)
        case Stage.ORDERING:
            _manage(table, operations.NameOrder(found.id, found.revision, found.ordinals))
        case Stage.CHOOSING if enters_bettors(state.law) and not state.layout.bets:
            _enter_bets(table)
        case Stage.CHOOSING:
            chosen = {(place, bettor) for place, bettor, _ in found.choices}
            place, bettor = next(chooser for chooser in state.round.choosers if chooser not in chosen)
            leaves = place in state.round.left_short and not any(one.reconstructs for one in found.row.options)
            choice = Choice.WITHDRAW if leaves else Choice.CONTINUE
            _manage(table, operations.ChooseOption(found.id, found.revision, place, choice, bettor=bettor))
        case Stage.MOVING:
            _put_right(table, found)
        case Stage.RULING:
            _rule(table, found, patience)


def _enter_bets(table: TableHarness) -> None:
    """Enter the bets on marked boxes: their bettors choose."""
    main = next(wager.id for wager in table.state.law.wagers if wager.main)
    table.do(operations.EnterBettor("late"))
    for place in table.state.round.live_places:
        box = int(place[1:])
        if table.state.phase is Phase.BETTING:
            table.do(operations.PlaceWager("late", main, box, 10))
        else:
            _manage(table, operations.CorrectBet(0, 10, "entered for the choices", "late", main, box))


def _rule(table: TableHarness, found: Irregularity, patience: int) -> None:
    """Rule that play continues. If it cannot, remove hands or bets; after many rulings void the round."""
    state = table.state
    ruled = sum(ended.outcome == "ruling" for ended in state.round.closed)
    in_vain = ruled >= ENOUGH_RULINGS * patience and found.round == state.round.number and state.in_round
    boxes = tuple(place for place in state.round.left_short if place != DEALER)
    removal = ((RulingAction.REMOVE_HANDS, boxes),) if boxes else ()
    *others, last = (
        *(() if in_vain else ((RulingAction.CONTINUE, ()), (RulingAction.RETURN_BETS, ()), *removal)),
        (RulingAction.VOID, ()),
    )
    for action, places in others:
        with suppress(RefusedStepError):
            _decide(table, found, action, places)
            return
    _decide(table, found, *last)


def _decide(table: TableHarness, found: Irregularity, action: RulingAction, places: tuple[str, ...]) -> None:
    ruling = operations.Rule(found.id, found.revision, action, "shift manager", "so decided", places)
    table.decide(ruling, Role.SHIFT_MANAGER)


def _put_right(table: TableHarness, found: Irregularity) -> None:
    """Move the cards, or enter that they cannot be moved because nobody knows which, or whole hands are not enough."""
    try:
        _manage(table, operations.Reconstruct(found.id, found.revision))
    except RefusedStepError:
        facts = Facts(curable=False, reconstructable=False)
        _manage(table, operations.ConfirmIrregularity(found.id, found.revision, facts))


def _confirm_or_deny(table: TableHarness, found: Irregularity, facts: Facts) -> None:
    """Deny irregularities that a count or the places of cards disprove, and confirm the rest."""
    uncured = msgspec.structs.replace(facts, **dict.fromkeys({"curable", "reconstructable"} & {*found.asks}, False))
    for stated in (facts, uncured):
        with suppress(RefusedStepError):
            _manage(table, operations.ConfirmIrregularity(found.id, found.revision, stated))
            return
    _manage(table, operations.DenyIrregularity(found.id, found.revision, "the table knows better"))


def _manage(table: TableHarness, operation: AnyOperation) -> None:
    table.do(operation, Role.SHIFT_MANAGER)


def play_on(table: TableHarness) -> None:
    """Do the next step of a regular round."""
    state, device = table.state, table.device
    match state.phase:
        case Phase.CLOSED:
            table.do(operations.OpenTable())
        case Phase.MAINTENANCE:
            _manage(table, operations.EndMaintenance())
        case Phase.IDLE | Phase.CONCLUDED | Phase.VOIDED:
            _begin_round(table)
        case Phase.BETTING:
            _close_bets(table)
        case Phase.FIRST_CARD if state.round.first_card is not None:
            seen = None if state.round.first_card.face else DECK[0]
            table.do(operations.ShowFirstCard(seen))
        case phase if phase in CARDS_LEAVE and _by_hand(state):
            _manage(table, operations.DealByHand(1, "the device has given out its stub"))
        case Phase.FIRST_CARD if not (device.inside or device.tray or state.decks.tray):
            table.report(Kind.FOREIGN_CARD)
        case Phase.FIRST_CARD:
            table.take()
        case Phase.DEALING_SINGLES | Phase.DEALING_SETS if not (device.inside or _set_waits(table)):
            table.report(Kind.FOREIGN_CARD)  # no card is left to deal
        case Phase.DEALING_SETS:
            if device.tray or state.decks.tray:
                device.lift()
            else:
                table.heartbeat()  # the tray differs from the journal
        case Phase.DEALING_SINGLES:
            device.draw()
        case Phase.EXAMINING | Phase.EXPOSING if floor := state.round.piles.get(Pile.DROPPED, ()):
            belongs = state.round.intended
            table.do(operations.PlaceCards(tuple(operations.CardAt(card.ordinal, belongs[card.id]) for card in floor)))
        case Phase.EXAMINING if examined_due(state):
            table.do(operations.PlayersExamined())
        case Phase.EXAMINING | Phase.EXPOSING:
            players = [place for place in state.round.live_places if not state.round.hands[place].shown]
            dealer_last = state.game.step(StepKind.RETURNING) is not None and players
            place = players[0] if state.round.hands[DEALER].shown or dealer_last else DEALER
            table.do(operations.ExposeHand(place, _seen(state, place)))
        case Phase.SETTLING:
            _settle(table)


def _begin_round(table: TableHarness) -> None:
    """Name the deck, load another deck, or open bets."""
    state, deck = table.state, table.state.decks.coming
    unusable = deck.used or deck.face_up or deck.face_up_count or deck.quarantined
    if state.decks.keeps_records and deck.deck and not (unusable or deck.label):
        fit = [record.label for record in state.decks.recorded if not record.quarantined]
        if fit:
            table.do(operations.LoadDeck(fit[0]))
        else:
            table.do(operations.BringDeck("one more", "a back of its own", "seal", 52, "a witness"))
    elif deck.deck and deck.shuffled and not unusable:
        if state.decks.count_due:
            table.count(52)
        if returns_due(state):
            table.do(operations.RecordSettled())
        table.do(operations.PlaceYourBets())
    else:
        table.fresh_deck()


def _close_bets(table: TableHarness) -> None:
    """Close bets, after returning side bets without a main bet."""
    state = table.state
    if state.round.boxes:
        table.do(operations.NoMoreBets())
    elif state.layout.bets:
        table.do(operations.TakeBackWager(state.layout.bets[0].number))
    else:
        table.do(operations.OccupyBoxes(table.boxes))


def _by_hand(state: TableState) -> bool:
    """Return whether to deal by hand: the stub is out, and no set is in the tray unless the deal is by hand already."""
    return state.decks.in_play.stub_out and (state.round.by_hand or not state.decks.tray)


def _set_waits(table: TableHarness) -> bool:
    return table.state.phase is Phase.DEALING_SETS and bool(table.device.tray or table.state.decks.tray)


def _seen(state: TableState, place: str) -> tuple[Card, ...] | None:
    """Return None if the device's reading counts, else the cards as dealt, or cards not known to be elsewhere."""
    held = state.round.hands[place].cards
    try:
        verify_by_device(state, place)
    except RefusedError:
        faces = tuple(card.face.expose() for card in held if card.face)
        if len(set(faces)) == len(held) == 3:
            return faces
    else:
        return None
    elsewhere = {card for hand in state.round.hands.values() for card in hand.shown}
    elsewhere |= {held.face.expose() for hand in state.round.hands.values() for held in hand.cards if held.face}
    return tuple(card for card in DECK if card not in elsewhere)[:3]


def _settle(table: TableHarness) -> None:
    state = table.state
    if state.decks.in_play.stub is None and state.decks.in_play.used:
        table.count(min(60, max(0, state.stub_due)))
    elif not state.round.chips_paid or difference_due(state):
        table.do(operations.RecordSettled())
    else:
        table.do(operations.ConcludeRound())
