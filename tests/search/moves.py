"""The moves from a state: permitted operations, acts of the device, and faults.

An `irregular` move uses up one of the irregularities that may happen; the path from a state to the next round must not
need one. Where moves commute, one order represents all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from controller.games.specification import Choice, Facts, Kind, RulingAction, Unit
from controller.roles import Role
from controller.rules.dealing_order import DEALER
from controller.rules.hands import HAND_SIZE
from controller.table import operations
from controller.table.betting import undecided_alone
from controller.table.decision import RefusedError
from controller.table.exposing import verify_by_device
from controller.table.inputs import AnyInput, DeviceGone, PersonActed, StatusReceived
from controller.table.irregularities.questions import waits_for_hand_count
from controller.table.model import Hand, Irregularity, Stage
from controller.table.operations import AnyOperation
from controller.table.perform import can
from controller.table.phases import AFTER_DEAL, CARDS_LEAVE, DEALING, IN_ROUND, Phase, Service
from controller.table.settling import difference_due
from controller.table.state import TableState
from firmware_bridge.cards import DECK, Card
from tests.search import device as devices
from tests.search.device import Device, Moved


class Move(NamedTuple):
    """A move. `inputs` reach the table one after the other; `device` is the device after the move.

    `free`: it is irregular and does not use up one of the irregularities that may happen.
    """

    name: str
    inputs: tuple[AnyInput, ...]
    device: Device
    irregular: bool = False
    free: bool = False


class Scope(NamedTuple):
    """The scope of a search. `boxes`: the occupied ones; `wagers`: with a main wager of a separate bettor on each.

    `kinds`: what people may report, tried at the first box and at the Dealer where a place matters. `wide`: open
    irregularities are decided in any order, not only the oldest first, and a device may be entered as repaired that is
    not. `corrections`: one bet of each round may also be corrected.
    """

    boxes: tuple[int, ...]
    wagers: bool
    kinds: tuple[Kind, ...] = tuple(Kind)
    wide: bool = False
    corrections: bool = False


LATE: Final = "late"  # a bettor who has no bet before a correction
AUTHORITY: Final = "shift manager"  # of each ruling
STAKE: Final = 2  # of each bet as it is placed
WHY: Final = "looked again"
AT_A_HAND: Final = frozenset({Kind.WRONG_COUNT, Kind.EXPOSED_CARD})
ARMED: Final = {Unit.SETS: ("set of 2", "set of 4", "jam", "refuse", "stub"), Unit.SINGLES: ()}


def moves(state: TableState, device: Device, scope: Scope, left: int) -> Iterator[Move]:
    """Yield every move. `left` is the number of irregularities that may still happen."""
    for name, operation, irregular in _operations(state, device, scope, left):
        given = acted(state, operation)
        if can(state, given):
            yield Move(name, (given,), device, irregular)
    if scope.corrections:
        for name, operation in _corrections(state, scope):
            given = acted(state, operation)
            if can(state, given):
                yield Move(name, (given,), device, irregular=True, free=True)
    yield from _regular_of_device(state, device)
    if left:
        yield from _irregular_of_device(state, device)


def acted(state: TableState, operation: AnyOperation) -> PersonActed:
    """Return the move of an operation by the highest rank, which may do everything that lower ones may."""
    return PersonActed("op", "shift-manager", Role.SHIFT_MANAGER, state.round.number, operation)


Doing = tuple[str, AnyOperation, bool]


def _operations(state: TableState, device: Device, scope: Scope, left: int) -> Iterator[Doing]:
    if state.duty.paused:
        yield "resume", operations.ResumeTable(), False
    for found in state.open if scope.wide else state.open[:1]:
        yield from _dealing_with(state, found)
    if not state.held:
        yield from _course(state, scope)
    if left or state.open:
        yield from _handling(state)
    if state.moves_due:
        yield "the cards are moved", operations.Reconstruct(), False
    if state.service is Service.RECONCILING:
        yield "continue the round", operations.ContinueRound(), False
    if state.service is Service.OUT_OF_SERVICE or (state.device.stops and (scope.wide or not device.faults)):
        yield "return to service", operations.ReturnToService(), False
    if state.phase in CARDS_LEAVE:
        yield from _by_hand(state, scope)
    if left and state.phase in IN_ROUND | {Phase.CONCLUDED} and not (state.open or state.duty.paused):
        yield "pause", operations.PauseTable("dispute"), False
        yield from _reports(state, scope)


def _course(state: TableState, scope: Scope) -> Iterator[Doing]:
    """Yield the operations of a regular round."""
    match state.phase:
        case Phase.IDLE | Phase.CONCLUDED | Phase.VOIDED:
            yield "place your bets", operations.PlaceYourBets(), False
            paid = state.round.settlement or state.round.paid_boxes
            if paid and (state.round.bets_to_return or difference_due(state)):
                yield "the chips are moved", operations.RecordSettled(), False
            if not state.decks.in_play.shuffled:
                yield "shuffled outside", operations.ShuffledOutside("batch shuffler"), False
        case Phase.BETTING:
            yield from _betting(state, scope)
        case Phase.FIRST_CARD:
            yield "show the first card", operations.ShowFirstCard(None), False
            if state.round.first_card is not None and state.round.first_card.face is None:
                yield "show the first card unread", operations.ShowFirstCard(DECK[0]), False
        case Phase.EXAMINING | Phase.EXPOSING:
            yield from _exposing(state)
        case Phase.SETTLING:
            if state.decks.in_play.stub is None:  # dealt by hand, it may be counted at any time before the payment
                yield "count the stub", operations.CountCards("stub", max(0, state.stub_due), "witness"), False
            if alone := [bet for bet in state.round.settlement if bet.verdict == "held"]:
                kind, place = Kind.SIDE_WITHOUT_MAIN, f"B{alone[0].box}"
                yield "report the side bet", operations.ReportIrregularity(kind, place), False
            yield "settled", operations.RecordSettled(), False
            yield "conclude", operations.ConcludeRound(), False


def _handling(state: TableState) -> Iterator[Doing]:
    """Yield the acts of a Player who touches or looks at cards. The first Player represents all Players."""
    player = next((place for place in state.round.live_places if state.round.hands.get(place, Hand()).cards), None)
    if player is not None and state.phase in DEALING | {Phase.EXAMINING, Phase.EXPOSING}:
        hand = state.round.hands[player]
        if not hand.handled:
            yield f"{player} handles", operations.HandleCards(player), False
        if not hand.viewed:
            yield f"{player} views", operations.HandleCards(player, viewed=True), False


def _betting(state: TableState, scope: Scope) -> Iterator[Doing]:
    yield "no more bets", operations.NoMoreBets(), False
    if not state.round.boxes:
        yield "cancel the start", operations.CancelStart(), False
    if not scope.wagers:
        if not state.round.boxes:
            yield "boxes", operations.OccupyBoxes(scope.boxes), False
        return
    main = next(wager.id for wager in state.law.wagers if wager.main)
    for box in scope.boxes:
        if not state.layout.on(box):
            yield f"bet on {box}", operations.PlaceWager(f"b{box}", main, box, STAKE), False
            return


def _exposing(state: TableState) -> Iterator[Doing]:
    """Yield the exposure of the Dealer's hand, and of the next Player's: the order of the others does not matter."""
    players = [place for place in state.round.live_places if not state.round.hands.get(place, Hand()).shown]
    for place in (DEALER, *players[:1]):
        hand = state.round.hands.get(place, Hand())
        if hand.shown:
            continue
        seen = None if _says_device(state, place) else _as_dealt(hand) or unseen_elsewhere(state)
        yield f"expose {place}", operations.ExposeHand(place, seen), False


def _says_device(state: TableState, place: str) -> bool:
    """Return whether the hand may be opened with the faces that the device read."""
    try:
        verify_by_device(state, place)
    except (RefusedError, KeyError):
        return False
    return True


def _as_dealt(hand: Hand) -> tuple[Card, ...]:
    """Return the cards dealt there, where they are three and the device read them."""
    faces = tuple(card.face.expose() for card in hand.cards if card.face)
    return faces if len(faces) == len(hand.cards) == HAND_SIZE else ()


def unseen_elsewhere(state: TableState) -> tuple[Card, ...]:
    """Return three cards that are not known to be elsewhere."""
    elsewhere = {card for hand in state.round.hands.values() for card in hand.shown}
    elsewhere |= {held.face.expose() for hand in state.round.hands.values() for held in hand.cards if held.face}
    return tuple(card for card in reversed(DECK) if card not in elsewhere)[:3]


def _by_hand(state: TableState, scope: Scope) -> Iterator[Doing]:
    """Yield dealing by hand without a working device, and for a box that a correction adds once the stub is out."""
    unable = not state.device.connected or state.device.stopped or state.round.by_hand
    if unable or (scope.corrections and state.decks.in_play.stub_out):
        due = (
            1
            if state.phase is Phase.FIRST_CARD
            else len(state.round.places) - state.round.dealt - len(state.decks.aside)
        )
        for name, cards in (
            ("deal by hand", due),
            ("deal one turn by hand", state.round.cards_due - len(state.decks.aside)),
        ):
            if cards > 0 and (cards < due or name == "deal by hand"):
                yield name, operations.DealByHand(cards, "the device is dead"), False


def _reports(state: TableState, scope: Scope) -> Iterator[Doing]:
    """Yield people's reports. A wrong count is one card more or less, and two hands may be swapped."""
    first = f"B{scope.boxes[0]}"
    for kind in scope.kinds:
        places = (first, DEALER) if kind in AT_A_HAND else (None,)
        for place in places:
            if kind is not Kind.WRONG_COUNT or place is None:
                yield f"report {kind} {place or ''}", operations.ReportIrregularity(kind, place), True
                continue
            size = state.round.hands.get(place, Hand()).size
            for counted in (size + 1, size - 1):
                name = f"report {counted} cards at {place}"
                yield name, operations.ReportIrregularity(kind, place, counted=counted), True
    if swapped := _swapped(state, first):
        yield "swap hands", swapped, True
    if state.decks.in_play.used and state.phase in AFTER_DEAL:
        yield "count one short", operations.CountCards("stub", max(0, state.stub_due - 1), "witness"), True
    if state.phase in (Phase.EXAMINING, Phase.EXPOSING) and not state.round.hands.get(DEALER, Hand()).shown:
        yield "expose others", operations.ExposeHand(DEALER, unseen_elsewhere(state)), True


def _corrections(state: TableState, scope: Scope) -> Iterator[tuple[str, AnyOperation]]:
    """Yield the correction of one bet that differed from its entry."""
    main, side = (next(wager.id for wager in state.law.wagers if wager.main is whole) for whole in (True, False))
    first, other = scope.boxes[0], scope.boxes[-1] + 1
    if [bet.amount for bet in state.layout.bets] == [STAKE] * len(scope.boxes):
        number, bettor = state.layout.bets[0].number, state.layout.bets[0].bettor
        yield "the first bet did not lie there", operations.CorrectBet(number, 0, WHY)
        yield "a main bet was overlooked on another box", operations.CorrectBet(0, 3, WHY, bettor, main, other)
        yield "a side bet was overlooked on another box", operations.CorrectBet(0, 3, WHY, bettor, side, other)
        yield "a bettor was overlooked on the first box", operations.CorrectBet(0, 3, WHY, LATE, main, first)


def _swapped(state: TableState, place: str) -> operations.PlaceCards | None:
    """Return the report that the hands of a box and of the Dealer are swapped."""
    here, there = state.round.hands.get(place, Hand()).cards, state.round.hands.get(DEALER, Hand()).cards
    cards = [operations.CardAt(card.ordinal, DEALER) for card in here]
    cards += [operations.CardAt(card.ordinal, place) for card in there]
    return operations.PlaceCards(tuple(cards)) if cards else None


# -- irregularities ----------------------------------------------------------------------------------------------------


def _dealing_with(state: TableState, found: Irregularity) -> Iterator[Doing]:
    """Yield each answer to the first question, each ruling, and each choice of the first bettor who has not chosen."""
    here = (found.id, found.revision)
    match found.stage:
        case Stage.CLAIMED:
            yield from _confirmations(state, found)
            yield "deny", operations.DenyIrregularity(*here, "looked at, and it is not so"), False
        case Stage.ORDERING:
            for order in {found.ordinals, found.ordinals[::-1]}:
                yield f"order {order}", operations.NameOrder(*here, order), False
        case Stage.CHOOSING:
            chosen = {(place, bettor) for place, bettor, _ in found.choices}
            for place, bettor in [who for who in state.round.choosers if who not in chosen][:1]:
                for choice in Choice:
                    choosing = operations.ChooseOption(*here, place, choice, bettor=bettor)
                    yield f"{place} {bettor}: {choice}", choosing, False
        case Stage.MOVING:
            yield "put right", operations.Reconstruct(*here), False
            impossible = Facts(curable=False, reconstructable=False)
            yield "cannot be put right", operations.ConfirmIrregularity(*here, impossible), False
            if not state.round.misplaced and (swapped := _swapped(state, (*state.round.live_places, "")[0])):
                yield "lie swapped", swapped, False
        case Stage.RULING:
            yield from _rulings(state, found)
            yield "deny", operations.DenyIrregularity(*here, "looked at, and it is not so"), False


def _confirmations(state: TableState, found: Irregularity) -> Iterator[Doing]:
    if not found.asks:
        yield "confirm", operations.ConfirmIrregularity(found.id, found.revision), False
        return
    if waits_for_hand_count(found):
        for place in (*state.round.live_places[:1], DEALER):
            number = state.round.hands.get(place, Hand()).size + 1
            yield f"count {place} one over", operations.CountCards(place, number, "witness"), False
    if "counted_wrong" in found.asks:
        due = state.stub_due
        for name, counted in (("count right", due), ("count one short", due - 1)):
            yield name, operations.CountCards("stub", max(0, counted), "witness"), False
    asked = next((name for name in found.asks if name != "counted_wrong"), None)
    if asked is not None:
        for answer in (True, False):
            facts = msgspec.convert({asked: answer}, Facts)
            yield f"{asked}: {answer}", operations.ConfirmIrregularity(found.id, found.revision, facts), False


def _rulings(state: TableState, found: Irregularity) -> Iterator[Doing]:
    for action in RulingAction:
        places: tuple[str, ...] = ()
        orders: tuple[tuple[int, ...], ...] = ((),)
        bets: tuple[int, ...] = ()
        match action:
            case RulingAction.REMOVE_HANDS:
                places = state.round.live_places[:1]
            case RulingAction.RETURN_BETS:
                alone = found.kind is Kind.SIDE_WITHOUT_MAIN and undecided_alone(state)
                bets = () if alone else tuple(bet.number for bet in state.layout.bets)[:1]
            case RulingAction.NAME_ORDER:
                waiting = tuple(card.ordinal for card in (*state.decks.aside, *state.decks.tray))
                orders = (waiting, waiting[::-1]) if len(waiting) > 1 else (waiting,)
        for order in orders:
            ruling = operations.Rule(found.id, found.revision, action, AUTHORITY, "so decided", places, order, bets)
            yield f"rule {action} {order or ''}", ruling, False


# -- the device --------------------------------------------------------------------------------------------------------


def _done(name: str, moved: Moved, *, irregular: bool = False) -> Move:
    return Move(name, moved.sent, moved.device, irregular)


def _about(state: TableState) -> bool:
    """Return whether an open irregularity is about cards in the tray, which may then be lifted to be examined."""
    tray = {card.ordinal for card in state.decks.tray}
    return any(tray & set(found.ordinals) for found in state.open)


def _regular_of_device(state: TableState, device: Device) -> Iterator[Move]:
    """Yield the device's regular acts, and those that clear a fault."""
    if not device.linked:
        yield _done("connect", devices.connect(device))
    elif (
        state.service is Service.RECONCILING
        or not state.device.status_agrees
        or device.dispensed != state.decks.in_play.dispensed
    ):
        yield Move("heartbeat", (StatusReceived(devices.status(device)),), device)
    if device.faults:
        yield _done("clear the jam", devices.clear_jam(device))
    if state.phase in CARDS_LEAVE and not state.round.by_hand and (not state.held or _about(state)):
        if device.tray and (state.service is Service.IN_SERVICE or _about(state) or not device.linked):
            yield _done("lift", devices.lift(device))
        elif device.unit is Unit.SINGLES and not state.held and _card_is_due(state) and _open_exit(device):
            yield _done("draw", devices.draw(device))
    if _may_load(state, device):
        yield _done("load a deck", devices.load(device))


def _may_load(state: TableState, device: Device) -> bool:
    """Return whether a deck may be loaded: not while one that can be dealt from is in the device."""
    spent = (
        state.decks.in_play.used or state.decks.in_play.face_up or state.decks.in_play.quarantined or state.device.stops
    )
    stands = state.in_round or state.open or state.device.open_commands or device.faults
    return bool(spent) and device.linked and not stands


def _open_exit(device: Device) -> bool:
    """Return whether a card can leave. While the link is lost one card represents several."""
    return not (device.exit_held or device.faults or device.waiting)


def _card_is_due(state: TableState) -> bool:
    if state.phase is Phase.FIRST_CARD:
        return state.round.first_card is None and not state.decks.aside
    return state.round.next_place is not None and len(state.round.places) - state.round.dealt > len(state.decks.aside)


def _irregular_of_device(state: TableState, device: Device) -> Iterator[Move]:
    """Yield the device's faults in a round."""
    if not state.in_round:
        return
    happened: list[tuple[str, Moved]] = []
    if device.linked:
        gone = device._replace(linked=False)
        lost = Moved(gone, (DeviceGone("link-lost", "The cable was pulled."),))
        happened += [("the link is lost", lost), ("power off and on", _power_cut(gone))]
        if not device.faults:
            happened.append(("jam", devices.jam(device)))
    if state.phase in CARDS_LEAVE | {Phase.BETTING}:
        happened += _while_cards_leave(state, device) if device.inside else []  # the stub may be out
    elif device.inside and device.unit is Unit.SINGLES and state.phase is not Phase.SETTLING:
        happened.append(("a card too many", devices.draw(device)))
    for name, moved in happened:
        yield _done(name, moved, irregular=True)
    if state.phase in CARDS_LEAVE | {Phase.BETTING} and not device.armed and device.linked:
        for fault in ARMED[device.unit]:
            yield Move(f"next: {fault}", (), device._replace(armed=fault), irregular=True)


def _power_cut(gone: Device) -> Moved:
    """Lose the link and restart the device: its reports wait for the connection."""
    rebooted = devices.reboot(gone)
    return Moved(rebooted.device, (DeviceGone("link-lost", "The cable was pulled."),))


def _while_cards_leave(state: TableState, device: Device) -> list[tuple[str, Moved]]:
    """Return the irregular ways in which cards leave."""
    happened = [("the next lies face up", devices.find_face_up(device))]
    if device.unit is Unit.SETS:
        happened.append(("a set unordered", devices.form_set(device, 3)))
        if device.tray and state.held and not _about(state):
            happened.append(("lifted while held", devices.lift(device)))
        return happened
    happened += [
        ("two together", devices.draw_together(device, 2, order_known=False)),
        ("two together, in order", devices.draw_together(device, 2, order_known=True)),
        ("face up", devices.draw(device, face_up=True)),
        ("foreign card", devices.draw(device, foreign=1)),
        ("a jump in the count", devices.skip_count(device)),
        ("one passes unseen", devices.pass_unseen(device)),
    ]
    if state.held or state.phase is Phase.BETTING or not _card_is_due(state):
        happened.append(("taken out of turn", devices.draw(device)))
    return happened
