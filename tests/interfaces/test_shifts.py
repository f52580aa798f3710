"""A dealer's sign-on at a screen: its length after restarts of the daemon and the PC, and after clocks are set.

The journal is real; the tests choose its times.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from controller.daemon.kept_times import Shifts
from controller.games.specification import Unit
from controller.journal.codec import Moment
from controller.roles import Role
from controller.table import operations
from controller.table.decide import decide
from controller.table.inputs import AnyInput, DaemonStarted, PersonActed, PinTried
from controller.table.screens import id_of
from controller.table.settings import Settings
from tests.interfaces.test_screens_port import Clock
from tests.journal_commands.made import IDENTITY, JournaledTable

HOUR_NS = 3600 * 10**9
HASH = sha256(b"a screen").hexdigest()


class SignedOnTable(JournaledTable):
    """A table where Dana signs on immediately. The test sets the later moments. `pc`: the start of the PC."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        super().__init__(folder)
        self.start_on("pc-1")
        self.hear(PersonActed("1", "sam", Role.PIT_SUPERVISOR, 0, operations.EnrolScreen("Left", HASH), None, "pin"))
        until = self.clock.utc_ns + 10 * HOUR_NS
        self.hear(PersonActed("2", "dana", Role.DEALER, 0, operations.SignOn(), None, "pin", id_of(HASH), until))

    def start_on(self, pc: str) -> None:
        self.hear(DaemonStarted(IDENTITY.table, True, Settings("NC", Unit.SETS, 7), pc, pc))

    @property
    def moment(self) -> Moment:
        return self.clock.now()

    def hear(self, given: AnyInput) -> None:
        decided = decide(self.state, given)
        self.journal.append(given, decided.events, round=0, moment=self.moment, signs=False)
        self.state = decided.state

    def pass_hours(self, hours: float, *, restart: str = "", set_back: float = 0) -> None:
        """Let hours pass. `restart`: the PC restarts after that time, with a new boot-time clock."""
        self.clock.utc_ns += int((hours - set_back) * HOUR_NS)
        self.clock.boottime_ns = 0 if restart else self.clock.boottime_ns + int(hours * HOUR_NS)
        if restart:
            self.start_on(restart)

    async def hours_left(self) -> float:
        """Restart the daemon, and find the hours left by asking every quarter of an hour."""
        clock = Clock()
        clock.utc_ns, clock.boottime_ns = self.clock.utc_ns, self.clock.boottime_ns
        shifts = Shifts(clock.now)
        shifts.length_ns = 10 * HOUR_NS
        await shifts.recall(self.state, self.journal.folder)
        quarters = 0
        while shifts.dealer_at(self.state.screens[0]):
            quarters += 1
            clock.boottime_ns += HOUR_NS // 4
        return quarters / 4


@pytest.fixture
def signed_on(tmp_path: Path) -> Iterator[SignedOnTable]:
    table = SignedOnTable(tmp_path / "journal")
    yield table
    table.journal.close()


async def test_after_a_restart_a_changed_clock_does_not_extend_a_shift(
    signed_on: SignedOnTable,
) -> None:
    assert await signed_on.hours_left() == 10
    signed_on.pass_hours(8, set_back=8)
    assert await signed_on.hours_left() == 2
    signed_on.start_on("pc-1")
    signed_on.pass_hours(1, set_back=100)
    assert await signed_on.hours_left() == 1
    for _ in range(600):  # more than a page of the journal
        signed_on.hear(PinTried("max", None, False, signed_on.clock.utc_ns, id_of(HASH)))
    assert await signed_on.hours_left() == 1
    signed_on.pass_hours(1)
    assert await signed_on.hours_left() == 0


async def test_after_a_restart_of_the_pc_too_as_far_as_the_host_knows(signed_on: SignedOnTable) -> None:
    signed_on.pass_hours(3)
    signed_on.hear(PinTried("max", None, False, signed_on.clock.utc_ns, id_of(HASH)))
    signed_on.pass_hours(2, restart="pc-2")
    assert await signed_on.hours_left() == 5, "the clock of the day tells how long it was off"
    signed_on.pass_hours(1, set_back=50)
    signed_on.hear(PinTried("max", None, False, signed_on.clock.utc_ns, id_of(HASH)))
    signed_on.pass_hours(0, restart="pc-3", set_back=50)
    assert await signed_on.hours_left() == 4, "nothing is known of the time in which it was off and was set back"
    signed_on.pass_hours(4)
    assert await signed_on.hours_left() == 0


async def test_a_clock_that_was_set_ahead_ends_a_shift_early(signed_on: SignedOnTable) -> None:
    signed_on.pass_hours(1, set_back=-4)
    assert await signed_on.hours_left() == 5
