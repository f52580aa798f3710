"""The state machines follow their transition tables and permit nothing else."""

from __future__ import annotations

from itertools import combinations, product

import msgspec
import pytest

from controller.table.decision import Decision, RefusedError
from controller.table.model import Answer, Deck, Device, Hand, HeldCard, Irregularity, OpenCommand
from controller.table.phases import (
    PHASE_TABLE,
    PHASES,
    SERVICE_TABLE,
    SERVICES,
    Condition,
    Phase,
    Service,
    Transition,
)
from controller.table.settings import Settings
from controller.table.state import TableState

CONDITIONS = [frozenset(chosen) for size in range(5) for chosen in combinations(Condition, size)]


def as_written(table: tuple[Transition, ...], state: str, trigger: str, holds: frozenset[Condition]) -> str | None:
    """Return the target of the first row that fits."""
    for row in table:
        if (row.trigger, row.source) == (trigger, state) and row.condition in holds | {Condition.ALWAYS}:
            return row.target
    return None


@pytest.mark.parametrize("phase", Phase)
def test_every_trigger_changes_the_phase_as_tabulated(phase: Phase) -> None:
    for trigger, holds in product({row.trigger for row in PHASES}, CONDITIONS):
        assert PHASE_TABLE.after(phase, trigger, holds) == as_written(PHASES, phase, trigger, holds)


@pytest.mark.parametrize("service", Service)
def test_every_trigger_changes_the_service_as_tabulated(service: Service) -> None:
    for trigger, holds in product({row.trigger for row in SERVICES}, CONDITIONS):
        assert SERVICE_TABLE.after(service, trigger, holds) == as_written(SERVICES, service, trigger, holds)


def test_an_impossible_phase_change_is_refused_and_changes_nothing() -> None:
    decision = Decision(TableState())
    with pytest.raises(RefusedError, match=r"^That is not possible while the table is closed\.$"):
        decision.enter_phase("judged")
    assert not decision.done().events


def test_an_impossible_change_of_service_has_no_effect() -> None:
    decision = Decision(TableState())
    decision.change_service("confirm", "nothing to confirm")
    assert not decision.done().events


@pytest.mark.parametrize(
    "kind", [TableState, Settings, HeldCard, Hand, Deck, OpenCommand, Device, Irregularity, Answer]
)
def test_the_state_is_never_changed_in_place(kind: type[msgspec.Struct]) -> None:
    assert kind.__struct_config__.frozen
