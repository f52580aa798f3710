"""The public view of a table: derived from its state, without the face of any card that is not exposed."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from controller.api.irregularity_view import IrregularityView, MoveView, irregularity_view
from controller.games.specification import Kind
from controller.rules import hands as ranking
from controller.rules.dealing_order import DEALER, Place
from controller.rules.layout import Bet, viewer
from controller.table.counts import ledger_of
from controller.table.decks import may_be_dealt_from
from controller.table.headline import headline
from controller.table.irregularities.corrections import too_late
from controller.table.irregularities.put_down import card_put_down
from controller.table.irregularities.questions import in_order
from controller.table.model import NOT_SO, Entered, Hand, Irregularity, RecordedDeck, SettledBet, Stage
from controller.table.next_step import next_steps
from controller.table.operations import Correctable
from controller.table.phases import Phase
from controller.table.round_summary import first_card, marks
from controller.table.settling import Due, dues, stub_comes, stub_count_due
from controller.table.state import TableState
from firmware_bridge.capabilities import KeyUsed, shortcomings
from firmware_bridge.messages import AnyText, sentences

EXPOSES = frozenset({Kind.EXPOSED_CARD, Kind.PLAYER_EXPOSED, Kind.DEALER_EXPOSED_EARLY})


class HandView(msgspec.Struct, frozen=True):
    """One place. `count`: its number of cards, by a person's count if there was one.

    `handled`, `viewed`: it was recorded that a Player touched the cards, and looked at them. If wagers are entered and
    hands are examined, the bettor `viewer` may look, or `dealer_opens` it. `ordinals`: the numbers of its cards in the
    order of leaving the device, if known. `half`: it has won, and a win pays half. `exposed`: which of its cards (1 to
    3) people report as exposed, with a face if they named one.
    """

    place: Place
    cards: tuple[str, ...]
    count: int
    dead: bool
    handled: bool
    shown: bool
    class_name: AnyText
    outcome: str
    viewer: str = ""
    dealer_opens: bool = False
    viewed: bool = False
    ordinals: tuple[int, ...] = ()
    half: bool = False
    exposed: tuple[int, ...] = ()


class DeckView(msgspec.Struct, frozen=True):
    deck: int
    loaded: int
    dispensed: int
    shuffled: bool
    used: bool
    stub: int | None
    stub_due: int
    label: str = ""
    quarantined: AnyText = ""
    cut: bool = False
    stub_out: bool = False  # it was taken out: the device has no more cards to deal


class WaitingDeckView(msgspec.Struct, frozen=True):
    """The deck in the device that waits for the next round. `fit`: a round may begin with it."""

    deck: int
    label: str
    loaded: int
    shuffled: bool
    fit: bool
    quarantined: AnyText


class LedgerView(msgspec.Struct, frozen=True):
    """The numbers of cards of the deck in play by location. `whole`: they add up to 52."""

    stub: int
    tray: int
    hands: int
    first_card: int
    burnt: int
    aside: int
    dropped: int
    discards: int
    total: int
    whole: bool


class OpenCommandView(msgspec.Struct, frozen=True):
    id: int
    command: str


class DeviceSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a device that screens, API and floor share. `link`: the state of its link."""

    link: str
    code: str
    sentence: AnyText
    connected: bool
    kind: str
    serial: str
    stopped: AnyText


class DeviceView(DeviceSummary, frozen=True, kw_only=True):
    """The device. `age`: seconds since it last sent data. `key`: which of two keys it has. `image`: the
    SHA-256 of the approved program that it has shown to run. Apart from the link's, its facts are journaled.
    """

    age: float | None
    links: int
    hint: AnyText
    boot: int
    last_report: int
    exit_held: bool | None
    open_commands: tuple[OpenCommandView, ...]
    status_agrees: bool
    unloads_stub: bool
    shortcomings: tuple[AnyText, ...] = ()
    key: KeyUsed = ""
    image: str = ""


class EntryView(msgspec.Struct, frozen=True):
    """An operation of this round that a supervisor may correct, with its journal entry; `said`: the text as entered.

    `late`: why it can no longer be corrected; empty: it can. `kind`, `place`: of the irregularity that it answers.
    """

    entry: int
    operation: str
    person: str
    said: Correctable
    late: AnyText = ""
    kind: str = ""
    place: Place | None = None


class EnrolledScreenView(msgspec.Struct, frozen=True):
    """An enrolled screen, and the dealer who is signed on there until `until_utc_ns`."""

    id: str
    name: str
    dealer: str
    until_utc_ns: int


class FaceUpView(msgspec.Struct, frozen=True):
    """The place or pile to which a face-up card in the device goes.

    `card`: which card of the hand it becomes, 1 to 3; 0 if it is only known to be one of that hand's set.
    """

    place: Place
    card: int


class TableSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a table that screens, API and floor share, as of entry `entry` of the journal `journal`.

    `dealer`: who is on duty. `next_step`: the next act, in all its sentences. `warnings`: problems of the machine that
    do not stop the table yet.
    """

    journal: str = ""
    entry: int
    simulated: bool
    game: str
    title: AnyText
    unit: str
    phase: str
    service: str
    service_cause: AnyText
    held: bool
    paused: str
    round: int
    dealer: str = ""
    next_step: AnyText = ""
    warnings: tuple[AnyText, ...] = ()


class TableView(TableSummary, frozen=True, kw_only=True):
    """The answer to `GET /v1/state`. `maintenance`: its reason. `count_due`: the deck has to be counted first."""

    table: str
    boxes: tuple[int, ...]
    next_place: Place | None
    cards_due: int
    dealt: int
    to_deal: int
    hands: tuple[HandView, ...]
    tray: int
    aside: int
    deck: DeckView
    device: DeviceView
    irregularities: tuple[IrregularityView, ...]
    chips_paid: bool
    bets_to_return: bool
    conclusion_asked: bool
    clause: str
    first_card: str = ""  # empty: none; face down until it is shown
    bets: tuple[Bet, ...] = ()
    settlement: tuple[SettledBet, ...] = ()
    entries: tuple[EntryView, ...] = ()
    maintenance: str = ""
    count_due: bool = False
    abandon_asked: bool = False
    burn_due: int = 0
    ledger: LedgerView | None = None  # None: no deck is in play, or it has to be counted first
    next_deck: WaitingDeckView | None = None
    decks: tuple[RecordedDeck, ...] = ()
    headline: AnyText = ""  # the next act in a few words
    next_steps: tuple[AnyText, ...] = ()  # `next_step` sentence by sentence, the act first
    by_hand: bool = False  # the rest of the round is dealt by hand, without the device
    stub_comes: bool = False  # the device deals and counts the stub before the chips are paid
    screens: tuple[EnrolledScreenView, ...] = ()
    earlier_round: int = 0  # the number of the round before this one, if its errors may still be reported; else 0
    moves: tuple[MoveView, ...] = ()  # cards that people move before play goes on, once all is decided
    face_up: tuple[FaceUpView, ...] = ()  # cards of the deal that lie face up in the device
    program: str = ""  # the program's version, and the state of its files; empty: nothing is recorded
    dues: tuple[Due, ...] = ()  # what is paid, taken and returned, box by box, until the round ends


class LinkView(msgspec.Struct, frozen=True):
    """The state of the link by the link keeper, which is not journaled."""

    state: str = "absent"
    age: float | None = None
    links: int = 0
    code: str = ""
    sentence: AnyText = ""
    hint: AnyText = ""


def view_of(state: TableState, link: LinkView, noticed: Mapping[int, int] | None = None) -> TableView:
    """Return the public view of the table. `noticed`: the time of each open irregularity, in nanoseconds since 1970."""
    chosen = state.settings is not None
    steps = next_steps(state) if chosen else ()
    return TableView(
        entry=state.entry,
        table=state.table,
        simulated=state.simulated,
        game=state.game.id if chosen else "",
        title=state.game.title if chosen else "",
        unit=state.grammar.unit if chosen else "",
        phase=state.phase,
        service=state.service,
        service_cause=state.service_cause,
        held=state.held,
        paused=state.duty.paused,
        round=state.round.number,
        boxes=state.round.boxes,
        next_place=state.round.next_place,
        cards_due=state.round.cards_due,
        earlier_round=state.earlier.number if state.earlier is not None else 0,
        moves=tuple(MoveView(*move) for move in state.moves_due),
        face_up=tuple(FaceUpView(*one) for one in state.face_up_ahead) if chosen else (),
        dealt=state.round.dealt,
        to_deal=len(state.round.places),
        hands=tuple(_hand(state, place, hand) for place, hand in sorted(state.round.hands.items(), key=_seat)),
        tray=len(state.decks.tray),
        aside=len(state.decks.aside),
        deck=_deck(state),
        device=_device(state, link),
        irregularities=tuple(
            irregularity_view(state, found, (noticed or {}).get(found.id, 0)) for found in in_order(state)
        ),
        chips_paid=state.round.chips_paid,
        bets_to_return=state.round.bets_to_return,
        conclusion_asked=state.round.conclusion_asked,
        clause=state.grammar.clause if chosen else "",
        first_card=first_card(state.round),
        bets=state.layout.bets,
        settlement=state.round.settlement,
        entries=tuple(_entry(state, one) for one in state.round.entered),
        dealer=state.duty.dealer,
        maintenance=state.duty.maintenance,
        count_due=state.decks.count_due,
        abandon_asked=bool(state.round.abandon_asked),
        burn_due=state.burn_due,
        ledger=_ledger(state),
        next_deck=_next_deck(state),
        decks=state.decks.recorded,
        next_step=sentences(*steps) if chosen else "",
        headline=headline(state, steps) if chosen else "",
        next_steps=steps,
        by_hand=state.round.by_hand,
        stub_comes=state.phase is Phase.SETTLING and stub_count_due(state) and stub_comes(state),
        program=_program(state),
        screens=tuple(EnrolledScreenView(one.id, one.name, one.dealer, one.until_utc_ns) for one in state.screens),
        dues=dues(state) if chosen else (),
    )


def moves_shown(view: TableView) -> tuple[MoveView, ...]:
    """Return the moves that screens draw: those of an open matter, else those that remain once all is decided."""
    return next((one.moves for one in view.irregularities if one.stage == Stage.MOVING and one.moves), view.moves)


def _entry(state: TableState, entered: Entered) -> EntryView:
    operation = entered.operation
    named = getattr(operation, "irregularity", None)
    about = (*state.open, *(one.found for one in state.round.closed))
    found = next((one for one in about if one.id == named), None)
    return EntryView(
        entered.entry,
        str(operation.__struct_config__.tag),
        entered.person,
        operation,
        too_late(state, operation) or "",
        found.kind if found is not None else "",
        found.place if found is not None else None,
    )


def _seat(item: tuple[Place, Hand]) -> tuple[bool, Place]:
    """Sort boxes in their order, the Dealer last."""
    return item[0] == DEALER, item[0]


def _hand(state: TableState, place: Place, hand: Hand) -> HandView:
    names = state.game.names if state.settings is not None else None
    looked_at = _is_looked_at(state, place, hand)
    who = viewer(state.law, state.layout_in_play, int(place[1:]), state.round.viewed_at) if looked_at else None
    exposed = () if hand.shown else _exposed(state, place)
    if hand.shown:
        cards = tuple(card.code for card in hand.shown)
    else:
        named = hand.named if hand.named_at > hand.turned_at or not hand.turned_at else ()
        lying = marks(hand, named, len(hand.cards), state.round.turned)
        cards = _faces_at(tuple(card.code for card in named), lying, exposed)
    return HandView(
        place=place,
        cards=cards,
        count=hand.size,
        dead=hand.dead,
        handled=hand.handled,
        shown=bool(hand.shown),
        class_name=ranking.hand_name(hand.shown, names) if hand.shown and names else "",
        outcome=hand.outcome or "",
        viewer=who or "",
        dealer_opens=looked_at and who is None,
        viewed=hand.viewed,
        ordinals=tuple(card.ordinal for card in hand.cards),
        half=hand.half and hand.outcome is not None,
        exposed=exposed,
    )


def _exposed(state: TableState, place: Place) -> tuple[int, ...]:
    """Return the cards that people reported as exposed; once decided, until they are moved or turned down (RTP 5.8)."""
    open_ = [found for found in state.open if found.round == state.round.number]
    ended = [
        one.found for one in state.round.closed if one.outcome not in NOT_SO and _lies_open(state, one.found, place)
    ]
    here = [found for found in (*open_, *ended) if found.kind in EXPOSES and _concerns(found, place)]
    whole = any(found.kind is Kind.DEALER_EXPOSED_EARLY and found.card is None for found in here)
    if whole:
        return tuple(range(1, len(state.round.hands[place].cards) + 1))
    return tuple(sorted({found.card for found in here if found.card is not None}))


def _concerns(found: Irregularity, place: Place) -> bool:
    """Return whether the irregularity is about that hand."""
    return found.place == place or (found.place is None and found.kind is Kind.DEALER_EXPOSED_EARLY and place == DEALER)


def _lies_open(state: TableState, found: Irregularity, place: Place) -> bool:
    """Return whether the card is still to be turned down, or stays face up in its hand (reading 55)."""
    if any(irregularity == found.id for irregularity, *_ in state.round.face_down):
        return True
    if state.round.hands[place].turned_at > found.id:
        return False
    return card_put_down(state, found) is None and state.round.placed_by <= found.id


def _faces_at(faces: tuple[str, ...], marks: list[str], exposed: tuple[int, ...]) -> tuple[str, ...]:
    """Place the faces that people named at their cards, if all are known; else before the others.

    >>> _faces_at(("9S",), ["??", "??"], (2,)), _faces_at(("9S",), ["??", "??"], ())
    (('??', '9S', '??'), ('9S', '??', '??'))
    """
    if len(exposed) != len(faces) or any(number > len(faces) + len(marks) for number in exposed):
        return (*faces, *marks)
    cards = list(marks)
    for number, face in zip(exposed, faces, strict=True):
        cards.insert(number - 1, face)
    return tuple(cards)


def _is_looked_at(state: TableState, place: Place, hand: Hand) -> bool:
    """Return whether the hand is to be examined and its bettors are known."""
    lies = bool(hand.cards) and not hand.shown and not hand.dead and place != DEALER
    return lies and bool(state.layout.bets) and state.game.examining


def _deck(state: TableState) -> DeckView:
    deck = state.decks.in_play
    return DeckView(
        deck=deck.deck,
        loaded=deck.loaded,
        dispensed=deck.dispensed,
        shuffled=deck.shuffled,
        used=deck.used,
        stub=deck.stub,
        stub_due=state.stub_due,
        label=deck.label,
        quarantined=state.decks.quarantine_of(deck),
        cut=deck.cut,
        stub_out=deck.stub_out,
    )


def _program(state: TableState) -> str:
    """Return the program's version and files as the journal recorded them at the start."""
    record = state.configuration
    if record is None:
        return ""
    return " ".join(
        filter(
            None,
            (
                record.program,
                record.program_how,
                record.program_digest[:12],
                "signed" if record.program_signed else "",
            ),
        )
    )


def _ledger(state: TableState) -> LedgerView | None:
    ledger = ledger_of(state)
    if ledger is None:
        return None
    return LedgerView(
        stub=ledger.stub,
        tray=ledger.tray,
        hands=ledger.in_hands,
        first_card=ledger.first_card,
        burnt=ledger.burnt,
        aside=ledger.aside,
        dropped=ledger.dropped,
        discards=ledger.discards,
        total=ledger.total,
        whole=ledger.whole,
    )


def _next_deck(state: TableState) -> WaitingDeckView | None:
    deck = state.decks.waiting
    if deck is None:
        return None
    why = state.decks.quarantine_of(deck)
    fit = not (deck.used or deck.face_up or deck.face_up_count or why) and may_be_dealt_from(state, deck)
    return WaitingDeckView(deck.deck, deck.label, deck.loaded, deck.shuffled, fit, why)


def _device(state: TableState, link: LinkView) -> DeviceView:
    device = state.device
    return DeviceView(
        link=link.state,
        age=link.age,
        links=link.links,
        code=link.code,
        sentence=link.sentence,
        hint=link.hint,
        connected=device.connected,
        serial=device.serial,
        kind=device.kind,
        boot=device.boot,
        last_report=device.last_report,
        exit_held=device.exit_held,
        open_commands=tuple(
            OpenCommandView(opened.id, str(opened.command.__struct_config__.tag)) for opened in device.open_commands
        ),
        stopped=device.stopped or "",
        status_agrees=device.status_agrees,
        unloads_stub=device.capabilities is not None and device.capabilities.unloads_stub,
        shortcomings=shortcomings(device.capabilities) if device.capabilities is not None else (),
        key=device.key,
        image=device.image,
    )
