"""Every input has an outcome in every phase and service, held or not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import get_args

import pytest

from controller.games.specification import Unit
from controller.table import events
from controller.table.decide import decide
from controller.table.evolve import fold
from controller.table.inputs import AnyInput, DaemonStarted, PersonActed
from controller.table.operations import AnyOperation
from controller.table.perform import FIRST_IN_PHASE, can
from controller.table.permissions import PERMISSIONS
from controller.table.phases import Phase, Service
from controller.table.settings import Settings
from controller.table.state import TableState
from firmware_bridge.observations import AnyObservation
from tests.support import long_forms
from tests.support.noted import noted
from tests.table.every_input import every_input, every_observation, every_operation
from tests.table.every_state import NC, every_state, phases_of, reached

SENTENCE = re.compile(r"[-A-Z0-9].*[^.\s:;,][.?]", re.DOTALL)
SHARES = 8  # of the states, one test each
each_share = pytest.mark.parametrize("share", range(SHARES))
CODE = re.compile(r"[a-z]+(-[a-z]+)*")


def check(state: TableState, given: AnyInput) -> int:
    """Decide an input and check the invariants of each decision. Return the number of events."""
    decided = decide(state, given)
    assert fold(state, enumerate(decided.events, start=state.entry + 2)) == decided.state
    assert decide(state, given) == decided, "the same input in the same state came to something else"
    refused = [event for event in decided.events if isinstance(event, events.OperationRefused)]
    if refused:
        (only,) = decided.events
        assert only is refused[0], "a refusal comes alone"
        assert CODE.fullmatch(refused[0].code), refused[0].code
        assert SENTENCE.fullmatch(str(refused[0].sentence)), refused[0].sentence
    if isinstance(given, PersonActed) and decided.events:
        taken = isinstance(decided.events[0], events.OperationTaken)
        assert taken is not bool(refused)
        assert decided.state.answers[-1].operation_id == given.operation_id
        if state.round.number - 1 <= given.round <= state.round.number:
            assert can(state, given) is taken, "`can` agrees with the decision"
    return len(decided.events)


def what_is_alike(state: TableState) -> object:
    """Return the features on which the lawful inputs depend. Each run takes the first state of each group that shares
    them.
    """
    return state.phase, state.service, state.held, state.settings and state.settings.unit


def usual_states() -> dict[str, TableState]:
    first: dict[object, tuple[str, TableState]] = {}
    for name, state in every_state():
        first.setdefault(what_is_alike(state), (name, state))
    return dict(first.values())


def check_states(states: Mapping[str, TableState], share: int) -> None:
    for name in list(states)[share::SHARES]:
        with noted(name):
            outcomes = [check(states[name], given) for given in every_input(states[name])]
            assert any(outcomes)


@each_share
def test_every_input_has_an_outcome(share: int) -> None:
    check_states(usual_states(), share)


@pytest.mark.exhaustive
@each_share
def test_every_input_has_an_outcome_in_every_state(share: int) -> None:
    usual = usual_states()
    others = [(name, state) for name, state in every_state() if name not in usual]
    check_states(dict(long_forms.some(others)), share)


def test_the_states_are_every_phase_in_every_service_held_and_free() -> None:
    assert len(dict(every_state())) == len(every_state())
    for unit in Unit:
        covered = {
            (state.phase, state.service, state.held)
            for name, state in every_state()
            if name.removeprefix("constructed: ").startswith(unit)
        }
        assert covered == {(phase, service, held) for phase in Phase for service in Service for held in (True, False)}


def test_most_of_the_states_are_reached_by_playing() -> None:
    for unit in Unit:
        played = {(table.state.phase, table.state.service, table.state.held) for _, table in reached(NC, unit)}
        assert played >= set(product(phases_of(unit), Service, (True, False)))


def test_the_inputs_are_of_every_type() -> None:
    state = dict(every_state())["sets dealing_sets claimed in_service"]
    assert {type(operation) for operation in every_operation(state)} == set(PERMISSIONS) == set(get_args(AnyOperation))
    assert {type(observation) for observation in every_observation(state)} == set(get_args(AnyObservation))
    assert {type(given) for given in every_input(state)} == set(get_args(AnyInput))


def test_every_phase_has_a_first_step() -> None:
    assert set(FIRST_IN_PHASE) == set(Phase)


def test_a_new_table_accepts_the_start_of_the_daemon() -> None:
    assert check(TableState(), DaemonStarted("T1", True, Settings("NC", Unit.SETS, 7), "start-1"))
