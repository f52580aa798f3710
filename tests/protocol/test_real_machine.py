"""The mix of faults in a real machine's log: its numbers, and a table under these faults."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from controller.games.specification import Unit
from controller.table import events
from controller.table.inputs import DeviceReported
from controller.table.phases import Phase
from firmware_bridge import observations
from firmware_bridge.observations import AnyObservation
from simulators.devices.fault_injection import PRESETS
from simulators.devices.faults import BadFaultError, find_fault
from tests.support import long_forms
from tests.table.way_out import lead_to_next_round

from .cardlink_table import CardlinkTable
from .fault_course import FaultCourse

REAL_MACHINE = PRESETS["real-machine"]
CYCLES = (10, pytest.param(long_forms.count(200), marks=pytest.mark.soak))  # shuffles


def test_its_chances_are_those_of_the_log() -> None:
    log = {"missing-card": 201, "extra-card": 4, "door-jam": 231, "jam-recovery": 2, "platform-fault": 631}
    assert (REAL_MACHINE.cycles, REAL_MACHINE.counted) == (1056, log)
    random, cycles = Random(7), 40 * 1056
    happened = Counter(name for _ in range(cycles) for name, _ in REAL_MACHINE.plan(random, 52))
    for name, times in log.items():
        expected = 40 * times
        assert abs(happened[name] - expected) < 4 * expected**0.5, name


def test_faults_are_independent_and_occur_where_they_can() -> None:
    random = Random(7)
    planned = [dict(REAL_MACHINE.plan(random, 52)) for _ in range(20 * 1056)]
    both = sum("missing-card" in one and "platform-fault" in one for one in planned)
    assert abs(both - 20 * 201 * 631 / 1056) < 4 * (20 * 201 * 631 / 1056) ** 0.5
    for name, last in (("missing-card", 52), ("platform-fault", 6)):
        assert {one[name] for one in planned if name in one} == set(range(1, last + 1))


def test_the_same_seed_plans_the_same() -> None:
    def plan(seed: int) -> list[list[tuple[str, int]]]:
        random = Random(seed)
        return [REAL_MACHINE.plan(random, 52) for _ in range(20)]

    assert plan(7) == plan(7) != plan(8)


def test_a_one_way_shoe_cannot_show_them() -> None:
    with pytest.raises(BadFaultError, match="Bee-Tek cannot show"):
        FaultCourse("bee_tek").injector.use(REAL_MACHINE)
    assert all(find_fault(name) for name in REAL_MACHINE.counted)


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("cycles", CYCLES)
def test_a_table_copes_and_every_round_ends_validly(unit: Unit, cycles: int) -> None:
    """Every event is checked against the invariants, and every jam of the device is reported to the table."""
    table = CardlinkTable(unit, seed=7)
    table.wired.injector.use(REAL_MACHINE)
    table.start()
    while table.wired.cycles < cycles:
        lead_to_next_round(table)
    reported: list[AnyObservation] = [
        given.observation for given, _ in table.steps if isinstance(given, DeviceReported)
    ]
    zones = Counter(seen.zone for seen in reported if isinstance(seen, observations.Jammed))
    assert zones["platform"] > cycles / 4
    assert zones["door"] > cycles / 20
    concluded = [event for event in table.events_of(events.PhaseEntered) if event.phase is Phase.CONCLUDED]
    ended = len(concluded) + len(table.events_of(events.RoundVoided))
    assert ended == len(table.events_of(events.RoundBegan)) - 1
    assert ended > cycles / 4
