"""Infers what the device does not report: card numbers, cards drawn together, a missing shuffle.

- A device that does not number its cards: the table counts them, and people enter when a deck is put in. Cards drawn
  while the link was lost are unknown: after every loss a count is asked for (power_failures.py).
- The device's clock: cards closer together than a person draws them (I15), and a clock that runs backwards (I04). Only
  times of one start of the device are compared, never times of arrival. A device without a clock (`uptime_ms` None) is
  not checked.
- The order of the last round again: the cards were not shuffled (I03). Both orders stay concealed; only that they are
  equal is reported, no card, number or place.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from controller.games.specification import Kind
from controller.table import events
from controller.table.decision import Decision
from controller.table.inputs import DeviceReported
from controller.table.irregularities.raising import (
    INFERENCE,
    already_open,
    known_facts,
    raise_count_in_doubt,
    raise_irregularity,
)
from controller.table.model import HeldCard
from controller.table.phases import Phase
from controller.table.state import TableState
from firmware_bridge.cards import Concealed
from firmware_bridge.messages import message
from firmware_bridge.observations import AnyObservation, CardDrawn, CardsDrawnTogether

# -- devices that do not number their cards


def device_counts(state: TableState) -> bool:
    """Return whether the device numbers its cards, reports decks and sends a status."""
    return state.device.capabilities is None or state.device.capabilities.counts


def with_numbers(state: TableState, seen: AnyObservation) -> AnyObservation:
    """Return the observation with the numbers that the device does not report."""
    if device_counts(state) or not isinstance(seen, CardDrawn | CardsDrawnTogether):
        return seen
    deck = state.decks.in_play
    first = deck.dispensed + 1
    faces = (seen.card,) if isinstance(seen, CardDrawn) else seen.cards
    named = tuple(_at(face, deck.shuffle, first + place) for place, face in enumerate(faces))
    left = max(0, deck.loaded - deck.dispensed - len(faces))
    seen = replace(seen, shuffle=deck.shuffle, ordinal=first, remaining=left, deck=deck.deck)
    return replace(seen, card=named[0]) if isinstance(seen, CardDrawn) else replace(seen, cards=named)


def _at(face: Concealed | None, shuffle: int, ordinal: int) -> Concealed | None:
    return None if face is None else Concealed(face.expose(), shuffle, ordinal)


# -- the device's clock


def drawn_together(state: TableState, given: DeviceReported) -> bool:
    """Return whether this card left a shoe so soon after the previous one that they count as drawn together (I15).

    `state`: before the report. Does not apply to a device with a sensor for simultaneous cards.
    """
    settings, capabilities = state.settings, state.device.capabilities
    if not isinstance(given.observation, CardDrawn) or given.observation.shuffle != state.decks.in_play.shuffle:
        return False
    if settings is None or capabilities is None or capabilities.senses_double_draw or not state.decks.in_play.dispensed:
        return False
    if state.round.by_hand or not state.in_round or state.phase is Phase.BETTING:  # before "No more bets" it is I28
        return False
    apart = _since_last_draw(state, given)
    return apart is not None and 0 <= apart < settings.least_ms_between_draws


def _since_last_draw(state: TableState, given: DeviceReported) -> int | None:
    drawn_ms = state.device.drawn_ms if state.device.drawn_boot == given.boot else None
    return None if drawn_ms is None or given.uptime_ms is None else given.uptime_ms - drawn_ms


def raise_drawn_together(decision: Decision, given: DeviceReported, ordinal: int) -> None:
    """Raise I15. The log shows the order; the cards stay where they were dealt until it is decided."""
    before = decision.before
    apart = _since_last_draw(before, given)
    state = decision.state
    last = before.decks.in_play.dispensed
    place = state.round.intended.get((state.decks.in_play.shuffle, last))
    facts = known_facts(decision.state, place, order_known=True)
    if any(card.ordinal == ordinal for card in state.decks.aside):
        facts = known_facts(  # it is not in a hand yet
            decision.state, place, order_known=True, curable=False, wrong_number=False
        )
    raise_irregularity(
        decision,
        Kind.SIMULTANEOUS,
        noticed_by=INFERENCE,
        facts=facts,
        place=place,
        ordinals=(last, ordinal),
        report=given,
        note=message(
            "cards {first} and {second} left {apart} ms apart, at {first_ms} and {second_ms} ms of the device's clock: "
            "too close to be drawn one after the other",
            first=last,
            second=ordinal,
            apart=apart or 0,
            first_ms=before.device.drawn_ms or 0,
            second_ms=given.uptime_ms or 0,
        ),
    )


def check_clock(decision: Decision, given: DeviceReported) -> None:
    """Raise I04, once in a round, if the device's clock runs backwards: its reports are in doubt."""
    before = decision.before
    earlier = before.device.uptime_ms if before.device.boot == given.boot else None
    if earlier is None or given.uptime_ms is None or given.uptime_ms >= earlier:
        return
    doubted = decision.state.round.clock_doubted
    decision.emit(events.ClockRanBackwards(given.boot, earlier, given.uptime_ms))
    if not doubted:
        note = message(
            "the device's clock ran backwards, from {earlier} to {later} ms: its reports are in doubt",
            earlier=earlier,
            later=given.uptime_ms,
        )
        raise_count_in_doubt(decision, note, report=given)


# -- the order of the last round

ENOUGH: Final = 6  # recognised cards; six equal ones occur by chance once in 14.6 thousand million shuffles


def notice_last_order(decision: Decision, given: DeviceReported, count: int) -> None:
    """Check once, at the sixth recognised card of a shuffle. `count`: how many cards have just left."""
    state = decision.state
    read = state.round.read
    recognised = [card for card in read if card.face is not None]
    before = len(recognised) - sum(card.face is not None for card in read[len(read) - count :])
    if not before < ENOUGH <= len(recognised):
        return
    if _is_last_order(state, recognised[:ENOUGH]) and not already_open(decision, Kind.UNSHUFFLED):
        note = message("the device read the first cards in the same order as in the previous round")
        raise_irregularity(decision, Kind.UNSHUFFLED, noticed_by=INFERENCE, report=given, note=note)


def _is_last_order(state: TableState, cards: list[HeldCard]) -> bool:
    last = {card.ordinal: card.face for card in state.decks.last_order}
    for card in cards:
        face = last.get(card.ordinal)
        if face is None or card.face is None or not face.has_same_face(card.face):
            return False
    return True
