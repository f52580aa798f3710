"""The offers to people agree with what the table accepts."""

from __future__ import annotations

from unittest import TestCase

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from controller.games import GAMES
from controller.games.specification import Unit
from controller.roles import Role
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput, PersonActed
from controller.table.offers import ANOTHER, offers
from controller.table.perform import can
from controller.table.state import TableState
from tests.support import long_forms
from tests.table.every_input import every_operation
from tests.table.every_state import every_state
from tests.table.offered_and_done import assert_offers_hold, assert_was_offered, is_of, needs_no_offer
from tests.table.test_random_rounds import Rounds
from tests.table.watched import WatchedTable


def reached_states() -> list[TableState]:
    """Return the reached states. Constructed ones have contradictions that cannot occur at a table."""
    return [state for name, state in every_state() if not name.startswith("constructed")]


@pytest.mark.parametrize("some", range(8))
def test_every_offer_is_accepted_in_every_state(some: int) -> None:
    """Each part takes an eighth of the states."""
    states = reached_states()[some::8]
    assert sum(assert_offers_hold(state) for state in states) > 10 * len(states)


@pytest.mark.exhaustive
def test_every_permitted_operation_was_offered() -> None:
    """The test tries every operation, with many arguments, in every state that was reached."""
    taken = 0
    for state in reached_states():
        allowed = [offer for offer in offers(state) if offer.allowed]
        for operation in every_operation(state):
            person = state.duty.dealer or ANOTHER
            if can(state, PersonActed("", person, Role.SHIFT_MANAGER, state.round.number, operation)):
                taken += 1
                offered = any(is_of(offer, operation) for offer in allowed)
                assert offered or needs_no_offer(state, operation), f"{operation} in {state.phase}, {state.service}"
    assert taken > 100_000


class OfferedTable(WatchedTable):
    """A table with random inputs: after each input the offers hold, and each act of its people was offered."""

    def watch(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        super().watch(before, given, numbered)
        assert_offers_hold(self.state)
        assert_was_offered(before, given, numbered)


class OfferedRounds(Rounds):
    @initialize(unit=st.sampled_from(Unit), game_id=st.sampled_from(["NC", *GAMES]))
    def begin(self, unit: Unit, game_id: str) -> None:
        self.table = OfferedTable(unit, game_id, self.boxes(GAMES[game_id]))
        self.table.start()


def cases(examples: int) -> type[TestCase]:
    class Cases(OfferedRounds):
        pass

    Cases.TestCase.settings = settings(
        max_examples=examples, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
    )
    test: type[TestCase] = Cases.TestCase
    return test


TestOfferedRounds = cases(10)
TestManyOfferedRounds = pytest.mark.exhaustive(cases(long_forms.count(300)))
