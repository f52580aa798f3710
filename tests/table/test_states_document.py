"""docs/states.md agrees with the transition tables."""

from __future__ import annotations

import pytest

from controller.table import phases
from controller.table.phases import PHASES, SERVICES, Phase, Service, Transition
from tools.pages import states


@pytest.mark.parametrize("row", [*PHASES, *SERVICES], ids=lambda row: f"{row.trigger}-{row.source}-{row.target}")
def test_every_transition_is_in_a_table(row: Transition) -> None:
    source, trigger, target = (name.replace("_", " ") for name in (row.source, row.trigger, row.target))
    when = "" if row.condition is phases.Condition.ALWAYS else f", if {row.condition}"
    rows = [line.strip("| ").split(" | ") for line in states.page().splitlines() if line.startswith("| ")]
    (found,) = (
        way
        for sources, triggers, targets, because in rows
        for way in zip(triggers.split("<br>"), targets.split("<br>"), strict=True)
        if source in sources.split(", ") and because == row.because and way == (f"{trigger}{when}", target)
    )
    assert found


def reachable(rows: tuple[Transition, ...], start: str) -> set[str]:
    seen, grown = {start}, True
    while grown:
        more = {row.target for row in rows if row.source in seen} - seen
        seen |= more
        grown = bool(more)
    return {str(state) for state in seen}


@pytest.mark.parametrize("phase", Phase)
def test_from_every_phase_there_is_a_way_to_the_next_round(phase: Phase) -> None:
    assert Phase.BETTING in reachable(PHASES, phase)


@pytest.mark.parametrize("service", Service)
def test_from_every_service_there_is_a_way_back_into_service(service: Service) -> None:
    assert Service.IN_SERVICE in reachable(SERVICES, service)


@pytest.mark.parametrize("phase", sorted(phases.IN_ROUND | {Phase.CONCLUDED}))
def test_every_phase_of_a_round_can_be_voided(phase: Phase) -> None:
    assert [row.target for row in PHASES if (row.source, row.trigger) == (phase, "void")] == [Phase.VOIDED]
