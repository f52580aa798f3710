"""The key by which states count as equal: it ignores identifiers and values on which no decision depends.

Left out are numbers of entries, operations, reports, boots and commands, answers, texts, and faces, which follow from
positions here. Hands and bets are left out once a round is over and nothing of it is open or can still go wrong; who
handled cards is left out while no irregularity can ask for it.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec.structs import replace

from controller.table.model import Hand, HeldCard, Irregularity
from controller.table.phases import BETWEEN_ROUNDS, Phase
from controller.table.settling import difference_due
from controller.table.state import TableState
from tests.search.device import Device

Key: TypeAlias = tuple[object, ...]


def key_of(state: TableState, device: Device, left: int, *, corrections: bool = False) -> Key:
    """Return the key of a state. `left`: the irregularities that may still happen in the search.

    `corrections`: decided irregularities may be reopened.
    """
    calm = not (left or state.open or corrections)
    if state.phase is Phase.VOIDED or (calm and state.phase in BETWEEN_ROUNDS):
        return left, *_surroundings(state, device), tuple(map(_irregularity, state.open))
    return (
        left,
        *_surroundings(state, device),
        state.round.boxes,
        state.round.places,
        state.round.dealt,
        state.round.dealt_cards,
        state.round.by_hand,
        state.round.dealt_by_hand,
        state.round.power_failure_raised,
        state.round.stub_stop_raised,
        state.round.cards_may_have_passed,
        state.round.first_card and _card(state.round.first_card),
        state.round.first_card_shown,
        tuple((place, _hand(hand, calm)) for place, hand in sorted(state.round.hands.items())),
        tuple(map(_irregularity, state.open)),
        tuple(state.round.placed_by > found.id for found in state.open),
        state.went_on(),
        tuple(state.layout.bets),
        tuple(gone[:3] for gone in state.round.withdrawn),
        tuple(sorted({(number, ruling.action) for number, ruling, _ in state.round.bet_rulings})),
        tuple(removed[:2] for removed in state.round.removed),
        state.round.settlement,
        state.round.chips_paid,
        state.round.conclusion_asked,
        state.round.abandon_asked,
        state.round.viewing,
        state.moves_due,
        difference_due(state),
        bool(state.round.paid_boxes) and state.round.bets_to_return,
        frozenset((one.outcome, *_irregularity(one.found)) for one in state.round.closed) if corrections else (),
    )


def _surroundings(state: TableState, device: Device) -> Key:
    """Return the state of table, deck and device outside the round."""
    journaled = state.device
    return (
        state.phase,
        state.service,
        bool(state.duty.paused),
        (bool(state.duty.maintenance), state.duty.began_closed, state.decks.count_due),
        state.round.number,
        (state.round.begun_from, state.round.returning, state.round.paid_before, state.round.chips_paid),
        bool(state.round.settlement),
        tuple(map(_card, state.decks.tray)),
        tuple(map(_card, state.decks.aside)),
        tuple((pile, tuple(map(_card, cards))) for pile, cards in sorted(state.round.piles.items())),
        tuple(sorted(state.round.surplus.items())),
        state.round.taken_back,
        state.decks.waiting,
        state.decks.recorded,
        state.round.label,
        replace(state.decks.in_play, quarantined="why" if state.decks.in_play.quarantined else ""),
        (journaled.connected, journaled.exit_held, journaled.exit_fails, journaled.status_agrees),
        (journaled.stops, journaled.well),
        tuple((opened.command, opened.seen, opened.id == device.last_command) for opened in journaled.open_commands),
        _device(state, device),
    )


def _card(card: HeldCard) -> object:
    return card.shuffle, card.ordinal, card.face is None, card.face_up


def _hand(hand: Hand, calm: bool) -> object:
    cards = tuple(map(_card, hand.cards))
    touched = () if calm else (hand.handled, hand.viewed)
    return cards, hand.surplus, hand.dead, touched, hand.shown, hand.outcome


def _irregularity(found: Irregularity) -> tuple[object, ...]:
    return (
        found.round,
        found.kind,
        found.row.id,
        found.row.clause,
        found.row.disposition,
        found.facts,
        found.asks,
        found.stage,
        found.blocks,
        found.place,
        found.ordinals,
        found.counted,
        found.of_deck,
        found.waiting,
        found.void_asked,
        tuple(sorted(found.choices)),
    )


def _device(state: TableState, device: Device) -> object:
    """Return the device's part: report and boot numbers relative to the journal's, and the first card, a possible First
    Card.
    """
    same_boot = state.device.boot == device.boot
    behind = device.last_report - state.device.last_report if same_boot else -1
    waiting = tuple(type(given.observation) for given in device.waiting if hasattr(given, "observation"))
    return device._replace(
        order=device.order[:1], boot=0, last_report=behind, last_command=0, sets=0, waiting=()
    ), waiting
