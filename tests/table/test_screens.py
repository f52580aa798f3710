"""Screens at the table: enrolled, removed, signed on and off, and the operations that they permit."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from controller.roles import Role
from controller.table import operations
from controller.table.decide import decide
from controller.table.events import OperationRefused, SignedOff, SignedOn
from controller.table.inputs import PersonActed, PinTried
from controller.table.model import PinLock, Proof, Screen
from controller.table.operations import AnyOperation
from controller.table.phases import Phase
from controller.table.screens import LONGEST_NAME, MOST_SCREENS, id_of
from controller.table.state import TableState
from tests.table.every_input import every_operation
from tests.table.every_state import every_state
from tests.table.harness import TableHarness
from tests.table.test_totality import check

LEFT, RIGHT = "5e" * 32, "7a" * 32
UNTIL = 10**18


class Screens:
    """A table, and people at its screens."""

    def __init__(self) -> None:
        self.table = TableHarness().start()
        self._acts = 0

    @property
    def state(self) -> TableState:
        return self.table.state

    def act(
        self, person: str, operation: AnyOperation, at: str = "", proven: Proof = "pin", role: Role = Role.DEALER
    ) -> str:
        """Return the code of the refusal, or "" if it was taken."""
        self._acts += 1
        number = self.state.round.number
        screen = id_of(at) if at else ""
        given = PersonActed(f"act {self._acts}", person, role, number, operation, None, proven, screen, UNTIL)
        decided = decide(self.state, given)
        self.table.state = decided.state
        return next((event.code for event in decided.events if isinstance(event, OperationRefused)), "")

    def enrol(self, token_hash: str, name: str, role: Role = Role.PIT_SUPERVISOR) -> str:
        return self.act("sam", operations.EnrolScreen(name, token_hash), role=role)

    def dealers(self) -> list[str]:
        return [screen.dealer for screen in self.state.screens]


@pytest.fixture
def screens() -> Screens:
    made = Screens()
    assert [made.enrol(LEFT, "Left"), made.enrol(RIGHT, " Right ")] == ["", ""]
    return made


def test_an_enrolled_screen_is_known_by_the_beginning_of_the_hash(screens: Screens) -> None:
    assert screens.state.screens == (Screen("5e" * 6, "Left", LEFT), Screen("7a" * 6, "Right", RIGHT))


@pytest.mark.parametrize(
    ("token_hash", "name", "code"),
    [
        ("11" * 32, "", "name"),
        ("11" * 32, " ", "name"),
        ("11" * 32, "x" * (LONGEST_NAME + 1), "name"),
        ("11" * 32, "Left", "name"),
        (LEFT, "Third", "screen"),
        ("5e" * 6 + "00" * 26, "Third", "screen"),
        ("11" * 31, "Third", "screen"),
        ("1G" * 32, "Third", "screen"),
        ("AA" * 32, "Third", "screen"),
    ],
)
def test_an_invalid_screen_is_not_enrolled(screens: Screens, token_hash: str, name: str, code: str) -> None:
    assert screens.enrol(token_hash, name) == code
    assert len(screens.state.screens) == 2


def test_a_table_has_a_limited_number_of_screens(screens: Screens) -> None:
    codes = [screens.enrol(f"{number:064x}"[::-1], f"Screen {number}") for number in range(1, MOST_SCREENS)]
    assert codes == [""] * (MOST_SCREENS - 2) + ["screen"]


@pytest.mark.parametrize("operation", [operations.EnrolScreen("Third", "11" * 32), operations.RemoveScreen("5e" * 6)])
def test_a_dealer_neither_enrols_nor_removes(screens: Screens, operation: AnyOperation) -> None:
    assert screens.act("dana", operation) == "role"


def test_an_entry_at_a_screen_removed_in_the_meantime_is_refused(screens: Screens) -> None:
    """The request was accepted while the screen was still enrolled."""
    assert screens.act("dana", operations.SignOn(), LEFT) == ""
    assert screens.act("sam", operations.RemoveScreen("5e" * 6), role=Role.PIT_SUPERVISOR) == ""
    assert screens.act("dana", operations.PauseTable("x"), LEFT, "screen") == "not-enrolled"
    assert screens.act("sam", operations.PauseTable("x"), LEFT, role=Role.PIT_SUPERVISOR) == "not-enrolled"
    assert screens.act("sam", operations.RemoveScreen("5e" * 6), role=Role.PIT_SUPERVISOR) == "screen"


def test_with_a_screen_its_wrong_pins_are_forgotten(screens: Screens) -> None:
    state = screens.state
    for screen in ("5e" * 6, "7a" * 6, ""):
        state = decide(state, PinTried("sam", None, False, 0, screen)).state
    removal = operations.RemoveScreen("5e" * 6)
    state = decide(state, PersonActed("op", "sam", Role.PIT_SUPERVISOR, state.round.number, removal)).state
    assert state.pin_locks == (PinLock("sam", None, 1, screen="7a" * 6), PinLock("sam", None, 1))


def test_an_entry_of_an_earlier_sign_on_is_refused(screens: Screens) -> None:
    assert screens.act("dana", operations.SignOn(), LEFT) == ""
    assert screens.act("lee", operations.SignOn(), LEFT) == ""
    assert screens.act("dana", operations.OpenTable(), LEFT, "screen") == "not-signed-on"
    assert screens.act("lee", operations.OpenTable(), LEFT, "screen") == ""


@pytest.mark.parametrize("proven", ["", "user", "screen"])
def test_without_the_pin_nobody_signs_on(screens: Screens, proven: Proof) -> None:
    assert screens.act("dana", operations.SignOn(), LEFT, proven) == "not-signed-on"


def test_a_shift_without_a_pin_does_not_extend_the_sign_on(screens: Screens) -> None:
    """A dealer who goes on duty at a screen without entering the PIN again does not renew the sign-on there; entering
    the PIN does.
    """
    screens.act("dana", operations.SignOn(), LEFT)
    screens.table.give(
        PersonActed("later", "dana", Role.DEALER, 0, operations.DealerOn(), None, "screen", "5e" * 6, 2 * UNTIL)
    )
    assert screens.state.duty.dealer == "dana"
    assert screens.state.screens[0].until_utc_ns == UNTIL
    screens.table.give(
        PersonActed("again", "dana", Role.DEALER, 0, operations.SignOn(), None, "pin", "5e" * 6, 2 * UNTIL)
    )
    assert screens.state.screens[0].until_utc_ns == 2 * UNTIL


def test_going_on_duty_at_a_screen_signs_on_there_only(screens: Screens) -> None:
    assert screens.act("dana", operations.SignOn(), LEFT) == ""
    assert screens.act("lee", operations.DealerOn(), RIGHT) == ""
    assert screens.dealers() == ["", "lee"]
    assert screens.act("lee", operations.SignOn(), LEFT) == ""
    assert screens.act("dana", operations.TakeOver(), LEFT) == ""
    assert screens.dealers() == ["dana", ""]
    assert screens.act("dana", operations.SignOn(), RIGHT) == ""
    assert screens.act("dana", operations.DealerOff(), LEFT, "screen") == ""
    assert screens.dealers() == ["", ""]


def test_a_handover_at_the_socket_signs_off_too(screens: Screens) -> None:
    assert screens.act("dana", operations.DealerOn(), LEFT) == ""
    taken = PersonActed("op", "lee", Role.DEALER, screens.state.round.number, operations.TakeOver(), 1001, "user")
    decided = decide(screens.state, taken)
    assert [event for event in decided.events if isinstance(event, SignedOn | SignedOff)] == [
        SignedOff("5e" * 6, "dana", "handed_over")
    ]


def test_a_supervisor_who_takes_over_signs_each_entry(screens: Screens) -> None:
    assert screens.act("dana", operations.DealerOn(), LEFT) == ""
    assert screens.act("sam", operations.TakeOver(), LEFT, role=Role.PIT_SUPERVISOR) == ""
    assert (screens.state.duty.dealer, screens.dealers()) == ("sam", ["", ""])


AT_SCREENS: Final[tuple[tuple[str, str, Proof], ...]] = (
    ("dana", "5e" * 6, "pin"),
    ("dana", "5e" * 6, "screen"),
    ("", "5e" * 6, "screen"),
    ("dana", "7a" * 6, "pin"),
)


@pytest.mark.parametrize("phase", Phase)
def test_every_operation_has_an_outcome_at_a_screen(phase: Phase) -> None:
    """Every person is signed on in turn, at a screen that is enrolled or not."""
    state = next(state for _, state in reversed(every_state()) if state.phase is phase)
    outcomes = set()
    for dealer, screen, proven in AT_SCREENS:
        at = replace(state, screens=(Screen("5e" * 6, "Left", LEFT, dealer, UNTIL),))
        for number, operation in enumerate(every_operation(at)):
            said = PersonActed(
                f"{number}", "dana", Role.DEALER, at.round.number, operation, None, proven, screen, UNTIL
            )
            outcomes.add(check(at, said))
    assert len(outcomes) > 1


def test_a_lock_ends_only_that_sign_on(screens: Screens) -> None:
    for at in (LEFT, RIGHT):
        assert screens.act("dana", operations.SignOn(), at) == ""
    assert screens.act("dana", operations.LockScreen(), LEFT, "screen") == ""
    assert screens.dealers() == ["", "dana"]
    assert screens.act("dana", operations.LockScreen(), LEFT) == "not-signed-on"
    assert screens.act("dana", operations.LockScreen()) == "no-screen"
