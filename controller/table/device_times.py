"""What the device's own clock tells: cards closer together than any hand draws them, and a clock that runs backwards.

Only times of one start of the device are compared, and only its own: when a report arrives says nothing. A device
without a clock (`uptime_ms` None) is never suspected.
"""

from __future__ import annotations

from controller.games.specification import Kind
from controller.table import events
from controller.table.decision import Decision
from controller.table.inputs import DeviceReported
from controller.table.irregularities.raising import INFERENCE, already_open, known_facts, raise_irregularity
from controller.table.phases import Phase
from controller.table.state import TableState
from firmware_bridge.observations import CardDrawn


def drawn_together(state: TableState, given: DeviceReported) -> bool:
    """Whether this card left a shoe so soon after the last one that they left together (I15).

    `state`: before the report was taken. Only a device that cannot feel two cards itself is asked so.
    """
    settings, capabilities = state.settings, state.device.capabilities
    if not isinstance(given.observation, CardDrawn) or given.observation.shuffle != state.decks.in_play.shuffle:
        return False
    if settings is None or capabilities is None or capabilities.senses_double_draw or not state.decks.in_play.dispensed:
        return False
    if (
        state.round.by_hand or not state.in_round or state.phase is Phase.BETTING
    ):  # before "No more bets" any card is one too early (I28)
        return False
    apart = _since_last_draw(state, given)
    return apart is not None and 0 <= apart < settings.least_ms_between_draws


def _since_last_draw(state: TableState, given: DeviceReported) -> int | None:
    drawn_ms = state.device.drawn_ms if state.device.drawn_boot == given.boot else None
    return None if drawn_ms is None or given.uptime_ms is None else given.uptime_ms - drawn_ms


def raise_drawn_together(decision: Decision, before: TableState, given: DeviceReported, ordinal: int) -> None:
    """They came one after the other, so their order is known; where they were dealt they stay until somebody decides.

    `before`: the state in which the report came.
    """
    apart = _since_last_draw(before, given)
    state = decision.state
    last = before.decks.in_play.dispensed
    place = state.round.intended.get((state.decks.in_play.shuffle, last))
    facts = known_facts(decision, place, order_known=True)
    if any(card.ordinal == ordinal for card in state.decks.aside):
        facts = known_facts(decision, place, order_known=True, curable=False)  # it lies in no hand yet
    raise_irregularity(
        decision,
        Kind.SIMULTANEOUS,
        noticed_by=INFERENCE,
        facts=facts,
        place=place,
        ordinals=(last, ordinal),
        report=given,
        note=(
            f"cards {last} and {ordinal} left {apart} ms apart, at {before.device.drawn_ms} and {given.uptime_ms} ms "
            "of the device's clock: closer than one is drawn after the other"
        ),
    )


def check_clock(decision: Decision, before: TableState, given: DeviceReported) -> None:
    """No mechanism lets its clock run backwards: whatever such a device tells is in doubt (I04), once a round."""
    earlier = before.device.uptime_ms if before.device.boot == given.boot else None
    if earlier is None or given.uptime_ms is None or given.uptime_ms >= earlier:
        return
    told = decision.state.round.clock_doubted
    decision.emit(events.ClockRanBackwards(given.boot, earlier, given.uptime_ms))
    if decision.state.in_round and not told and not already_open(decision, Kind.COUNT_IN_DOUBT):
        note = f"the device's clock ran backwards, from {earlier} to {given.uptime_ms} ms: what it tells is in doubt"
        raise_irregularity(decision, Kind.COUNT_IN_DOUBT, noticed_by=INFERENCE, report=given, note=note)
