"""Random sequences of inputs: the account of cards stays correct, and a path to the next round remains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import TestCase

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from controller.games import GAMES
from controller.games.specification import Game, Unit
from controller.roles import Role
from controller.table.inputs import DaemonStarted, ReportsMissing
from firmware_bridge.observations import AnyObservation
from tests.table.every_input import every_observation, every_operation
from tests.table.harness import BOXES
from tests.table.watched import WatchedTable
from tests.table.way_out import lead_to_next_round, step

indices = st.integers(0, 10_000)
small = st.integers(1, 4)
WIRE = range(2**16)  # the range of numbers in a report


def can_be_told(observation: AnyObservation) -> bool:
    """Return whether a driver could report it: every number is within the protocol's range."""
    numbers = [value for value in msgspec.structs.astuple(observation) if isinstance(value, int)]
    return all(number in WIRE for number in numbers)


class Rounds(RuleBasedStateMachine):
    """Regular steps, so that rounds advance, with random inputs in between."""

    @staticmethod
    def boxes(rules: Game) -> tuple[int, ...]:
        """Return the boxes that are occupied in a regular round."""
        return BOXES

    def __init__(self) -> None:
        super().__init__()
        self.table: WatchedTable = WatchedTable(Unit.SETS)

    @initialize(unit=st.sampled_from(Unit), game_id=st.sampled_from(["NC", *GAMES]))
    def begin(self, unit: Unit, game_id: str) -> None:
        self.table = WatchedTable(unit, game_id, self.boxes(GAMES[game_id]))
        self.table.start()

    # -- regular steps ---------------------------------------------------------------------------------------------

    @rule(times=st.integers(1, 12))
    def go_on(self, times: int) -> None:
        for _ in range(times):
            step(self.table)

    # -- people ----------------------------------------------------------------------------------------------------

    @rule(which=indices, role=st.sampled_from(Role), round_offset=st.sampled_from((0, 0, 0, -1, -2, 1)))
    def a_person_enters_an_operation(self, which: int, role: Role, round_offset: int) -> None:
        possible = list(every_operation(self.table.state))
        self.table.say(possible[which % len(possible)], role, round_number=self.table.state.round.number + round_offset)

    @precondition(lambda self: bool(self.table.state.open))
    @rule(which=indices)
    def a_person_decides(self, which: int) -> None:
        ids = {found.id for found in self.table.state.open}
        possible = [one for one in every_operation(self.table.state) if getattr(one, "irregularity", 0) in ids]
        self.table.say(possible[which % len(possible)], Role.SHIFT_MANAGER)

    # -- the device ------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.table.device.inside)
    @rule(count=small, face_up=st.booleans(), known=st.booleans())
    def cards_come_out(self, count: int, face_up: bool, known: bool) -> None:
        if count == 1:
            self.table.device.draw(face_up=face_up)
        else:
            self.table.device.draw_together(count, order_known=known)

    @rule(count=small)
    def a_set_falls_into_the_tray(self, count: int) -> None:
        self.table.device.form_set(count)

    @rule()
    def the_tray_is_emptied(self) -> None:
        self.table.device.lift()

    @rule(count=small, seen=st.booleans())
    def cards_are_lost(self, count: int, seen: bool) -> None:
        (self.table.device.skip_count if seen else self.table.device.pass_unseen)(count)

    @rule(
        next_set=small, jams=st.booleans(), reason=st.sampled_from(("", "motor", "tray")), miscount=st.integers(-1, 1)
    )
    def something_will_go_wrong(self, next_set: int, jams: bool, reason: str, miscount: int) -> None:
        device = self.table.device
        device.next_set, device.jams_next, device.refuses_next, device.miscount = next_set, jams, reason, miscount

    @rule(which=indices)
    def the_device_tells_something(self, which: int) -> None:
        possible = [seen for seen in every_observation(self.table.state) if can_be_told(seen)]
        self.table.device.report(possible[which % len(possible)])

    @rule()
    def a_deck_is_loaded(self) -> None:
        self.table.device.load()

    # -- the link --------------------------------------------------------------------------------------------------

    @rule(what=st.sampled_from(("lose", "connect", "heartbeat", "reboot", "refuse", "missing", "daemon", "silent")))
    def the_link_changes(self, what: str) -> None:
        table = self.table
        done: dict[str, Callable[[], Any]] = {
            "lose": table.lose_link,
            "connect": table.connect,
            "heartbeat": table.heartbeat,
            "reboot": self.the_device_starts_again,
            "refuse": table.refuse_device,
            "missing": self.reports_are_gone,
            "daemon": self.the_daemon_starts_again,
            "silent": lambda: setattr(table.device, "answers", not table.device.answers),
        }
        done[what]()

    def the_device_starts_again(self) -> None:
        self.table.lose_link()
        self.table.device.reboot()

    def reports_are_gone(self) -> None:
        """Lose two reports of the running device; its next one names them."""
        device = self.table.device
        if device.linked:
            first = device.last_report + 1
            device.last_report += 2
            self.table.give(ReportsMissing(device.boot, first, device.last_report))

    def the_daemon_starts_again(self) -> None:
        self.table.device.linked = False
        self.table.give(DaemonStarted("T1", True, self.table.settings, "again"))

    def teardown(self) -> None:
        """Restore everything, and let the crew reach the next round."""
        device = self.table.device
        device.answers, device.refuses_next, device.jams_next = True, "", False
        device.next_set = device.miscount = 0
        if not device.linked:
            self.table.connect()
        lead_to_next_round(self.table)


class RoundsOfOneBox(Rounds):
    """Two hands: when one is removed or withdrawn, no hand plays against the Dealer."""

    @staticmethod
    def boxes(rules: Game) -> tuple[int, ...]:
        return (1,)


class RoundsOfAFullTable(Rounds):
    """Every box of the layout: the most cards that a round can take."""

    @staticmethod
    def boxes(rules: Game) -> tuple[int, ...]:
        return tuple(range(1, rules.boxes[2] + 1))


def cases(machine: type[Rounds], examples: int) -> type[TestCase]:
    machine.TestCase.settings = settings(
        max_examples=examples, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
    )
    test: type[TestCase] = machine.TestCase
    return test


TestRounds = cases(Rounds, 80)
TestRoundsOfOneBox = cases(RoundsOfOneBox, 20)
TestRoundsOfAFullTable = cases(RoundsOfAFullTable, 20)
