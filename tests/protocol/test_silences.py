"""A device that withholds reports, counts backwards or contradicts itself: the host notices once, and continues."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import pytest

from firmware_bridge.commands import Dispense, HoldExit
from firmware_bridge.drivers.base import Answered, Contradicted, Heard, LinkOver, Reported, ReportsGone, StatusHeard
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import FrameReader
from firmware_bridge.drivers.cardlink.host import ANSWERED_WITHIN, CardlinkHost
from firmware_bridge.drivers.cardlink.messages import FrameKind
from firmware_bridge.drivers.cardlink.reports import DUE_WITHIN, MOVES_WITHIN
from firmware_bridge.drivers.cardlink.sealing import LOST_WITHOUT
from firmware_bridge.drivers.memory import KEPT, NOTED_IN_A_ROW, LinkMemory

from .parts import BOOT, BenchDevice, frame, linked, make_host, only, over, sealed, status

STEP: Final = 0.1  # seconds
Passes = Callable[[int], bool]


class Silence:
    """A device whose reports pass only where `passes` allows, and a host that reconnects and acknowledges.

    `journal`: the accepted reports. With `commits` False, the journal does not advance.
    """

    def __init__(self, passes: Passes = lambda number: True) -> None:
        self.device = BenchDevice()
        self.passes = passes
        self.memory = LinkMemory()
        self.commits = True
        self.held = (0, 0)
        self.now = 0.0
        self.heard: list[Heard] = []
        self.connect()

    def connect(self) -> None:
        self.host = make_host(held=self.held, now=self.now, memory=self.memory)

    def report(self, times: int = 1) -> None:
        for _ in range(times):
            self.device.link.report(messages.SetRemovedReport(1, 7, self.device.link.last_number + 1), self.now)

    def run(self, seconds: float) -> list[Heard]:
        """Return what is heard during that time."""
        before = len(self.heard)
        end = self.now + seconds
        while self.now < end:
            self.device.link.receive(self.host.outgoing(), self.now)
            self.device.link.tick(self.now)
            for one in FrameReader().receive(self.device.link.outgoing()):
                if one.kind != FrameKind.REPORT or self.passes(one.number):
                    self._hear(self.host.receive(b"\xc0" + _escaped(one.decoded) + b"\xc0", self.now))
            self._hear(self.host.tick(self.now))
            self.now += STEP
        return self.heard[before:]

    def _hear(self, heard: object) -> None:
        for thing in heard:  # type: ignore[attr-defined]  # a sequence of what was heard
            self.heard.append(thing)
            if isinstance(thing, Reported) and self.commits:
                self.held = (thing.boot, thing.number)
                self.host.acknowledge(*self.held, self.now)
            if isinstance(thing, LinkOver):
                self.connect()

    def of(self, kind: type[Heard]) -> list[Heard]:
        return [thing for thing in self.heard if isinstance(thing, kind)]

    @property
    def taken(self) -> list[int]:
        return [thing.number for thing in self.heard if isinstance(thing, Reported)]


def _escaped(decoded: bytes) -> bytes:
    return decoded.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc")


# -- a status that stays ahead ----------------------------------------------------------------------------------------


def test_reports_that_never_come_end_one_link_and_are_then_given_up() -> None:
    line = Silence(lambda number: number <= 2)
    line.report(3)
    line.run(DUE_WITHIN + 1.5)
    (end,) = line.of(LinkOver)
    assert isinstance(end, LinkOver)
    assert (end.code, end.refused) == ("device-reports", False)
    assert "report 3," in str(end.sentence)
    assert not line.of(ReportsGone)
    line.run(DUE_WITHIN + 0.5)
    assert line.of(ReportsGone) == [ReportsGone(BOOT, 3, None, withheld=True, newest=3)]
    line.run(60)
    assert len(line.of(LinkOver)) == 1
    assert len(line.of(ReportsGone)) == 1, "not again for the same report"


def test_one_report_that_is_withheld_holds_no_later_ones_back() -> None:
    line = Silence(lambda number: number != 3)
    line.report(5)
    line.run(3 * DUE_WITHIN)
    assert line.taken == [1, 2, 4, 5]
    line.report(20)
    line.run(5)
    assert line.taken[-1] == 25
    assert len(line.of(ReportsGone)) == 1


def test_skipped_reports_that_come_too_late_are_not_a_contradiction() -> None:
    line = Silence(lambda number: number != 3)
    line.report(5)
    line.run(3 * DUE_WITHIN)
    assert line.host.receive(removed(line.device, 3), line.now) == []
    assert isinstance(only(line.host.receive(removed(line.device, 5, 99), line.now)), Contradicted), "it was taken"


def test_a_late_report_is_accepted() -> None:
    line = Silence(lambda number: number <= 2)
    line.report(4)
    line.run(3 * DUE_WITHIN)
    line.passes = lambda number: True
    line.run(5)
    assert line.taken == [1, 2, 3, 4]


def test_a_growing_gap_and_a_second_gap_are_reported_again() -> None:
    line = Silence(lambda number: number <= 2)
    line.report(3)
    line.run(3 * DUE_WITHIN)
    line.report()
    line.run(2 * DUE_WITHIN)
    assert len(line.of(ReportsGone)) == 2, "the device says that more was seen, and none of it came"
    line.passes = lambda number: number < 6
    line.run(5)
    line.report(2)
    line.run(3 * DUE_WITHIN)
    assert line.of(ReportsGone)[2:] == [ReportsGone(BOOT, 6, None, withheld=True, newest=6)]
    assert len(line.of(LinkOver)) == 2


def test_a_later_link_or_start_does_not_report_it_again() -> None:
    line = Silence(lambda number: number <= 2)
    line.report(3)
    line.run(3 * DUE_WITHIN)
    line.connect()
    line.run(30)
    line.memory = LinkMemory()
    line.memory.passed = (BOOT, 3)  # as in the journal
    line.connect()
    line.run(30)
    assert len(line.of(ReportsGone)) == 1
    line.passes = lambda number: number > 3
    line.report()
    line.run(5)
    assert line.taken == [1, 2, 4]


def test_a_slow_journal_is_not_the_devices_fault() -> None:
    line = Silence()
    line.commits = False
    line.report(20)  # more than it may send before the first is acknowledged
    line.run(100)
    assert line.taken == list(range(1, 9))
    assert not line.of(LinkOver)
    line.commits = True
    line.held = (BOOT, 8)
    line.host.acknowledge(*line.held, line.now)
    line.run(5)
    assert line.taken[-1] == 20
    assert not line.of(LinkOver)


def test_a_status_sent_before_its_report_is_not_a_gap() -> None:
    line = Silence()
    line.run(1)
    line.passes = lambda number: False
    line.report()
    line.run(DUE_WITHIN - 1)
    line.passes = lambda number: True
    line.run(3)
    assert line.taken == [1]
    line.run(60)
    assert not line.of(LinkOver)


def test_reports_of_an_earlier_boot_that_never_come_are_given_up() -> None:
    line = Silence()
    line.report(2)
    line.run(1)
    line.passes = lambda number: False
    line.report(2)
    line.device.link.reboot(77, keep_reports=True)
    line.report()
    line.run(4 * DUE_WITHIN)
    assert line.of(ReportsGone) == [ReportsGone(BOOT, 3, None, withheld=True, newest=1)]
    line.passes = lambda number: number == 1
    line.run(5)
    assert [(one.boot, one.number) for one in line.of(Reported)][2:] == [(77, 1)]  # type: ignore[union-attr]  # all are reports


def test_a_status_that_counts_fewer_reports_than_were_sent_ends_the_link() -> None:
    device = BenchDevice()
    host = linked(device)
    host.receive(removed(device, 1), 0.1)
    host.acknowledge(BOOT, 1, 0.1)
    for second in range(5):
        host.receive(status(device), 0.5 + second)
        assert not host.tick(0.5 + second)
    host.receive(status(device), 5.4)
    end = over(host.tick(5.5))
    assert end.code == "device-message"
    assert "fewer reports" in str(end.sentence)


# -- a repeated number -------------------------------------------------------------------------------------------------


def removed(by: BenchDevice, number: int, ordinal: int = 1) -> bytes:
    return sealed(by, FrameKind.REPORT, messages.SetRemovedReport(1, 7, ordinal), number=number)


@pytest.fixture
def memory() -> LinkMemory:
    return LinkMemory()


@pytest.fixture
def device() -> BenchDevice:
    return BenchDevice()


@pytest.fixture
def host(memory: LinkMemory, device: BenchDevice) -> CardlinkHost:
    """Return a host that has taken twenty reports, of which the device does not know."""
    made = linked(device, memory=memory)
    for number in range(1, 21):
        made.receive(removed(device, number), 0.1)
        made.acknowledge(BOOT, number, 0.1)
    return made


@pytest.mark.parametrize("number", [1, 5, 20])
def test_a_number_with_other_content_is_reported_once(host: CardlinkHost, device: BenchDevice, number: int) -> None:
    told = only(host.receive(removed(device, number, 9), 0.2))
    assert isinstance(told, Contradicted)
    assert (told.what, told.boot, told.number) == ("report", BOOT, number)
    clear = frame(FrameKind.REPORT, messages.SetRemovedReport(1, 7, 9), number=number)
    assert told.evidence.open() == FrameReader().receive(clear)[0].content
    for later in range(50):
        assert host.receive(removed(device, number, later), 1.0 + later) == []


@pytest.mark.parametrize("number", [1, 5, 20])
def test_the_same_report_again_is_a_repeat(host: CardlinkHost, device: BenchDevice, number: int) -> None:
    assert host.receive(removed(device, number), 0.2) == []


def test_a_forgotten_report_counts_as_a_repeat_within_the_window_only(device: BenchDevice) -> None:
    host = linked(device, held=(0, 0))
    for number in range(1, KEPT + 21):
        host.receive(removed(device, number), 0.1)
    assert isinstance(only(host.receive(removed(device, 2), 0.2)), Contradicted), "so old that no window holds it"
    other = _device_at(20)
    fresh = linked(other, held=(BOOT, 20))
    assert fresh.receive(removed(other, 20, 5), 0.2) == [], "not known here, and it may be in the window"
    assert isinstance(only(fresh.receive(removed(other, 12, 5), 0.2)), Contradicted)


def _device_at(number: int) -> BenchDevice:
    device = BenchDevice()
    device.link.last_number = number
    return device


def test_reports_lost_for_reports_that_were_taken_is_not_a_contradiction(
    host: CardlinkHost, device: BenchDevice
) -> None:
    lost = sealed(device, FrameKind.REPORT, messages.ReportsLostReport(1, BOOT, 19, 20), number=20)
    assert host.receive(lost, 0.2) == []
    old = sealed(device, FrameKind.REPORT, messages.ReportsLostReport(1, BOOT, 1, 2), number=2)
    assert isinstance(only(host.receive(old, 0.2)), Contradicted), "those were acknowledged long ago"


def test_the_reports_of_the_link_before_are_known(memory: LinkMemory, host: CardlinkHost) -> None:
    other = _device_at(20)
    later = linked(other, held=(BOOT, 20), memory=memory)
    assert later.receive(removed(other, 20), 0.2) == []
    assert isinstance(only(later.receive(removed(other, 20, 7), 0.2)), Contradicted)


def test_a_million_contradictions_do_not_fill_a_journal(host: CardlinkHost, device: BenchDevice) -> None:
    told = [thing for number in range(10_000) for thing in host.receive(_answer(device, number, done=True), 1.0)]
    assert len(told) == NOTED_IN_A_ROW
    hour = [
        thing
        for second in range(3600)
        for thing in host.receive(_answer(device, second + 10**6, done=True), 2.0 + second)
    ]
    assert len(hour) <= 60


# -- answers -----------------------------------------------------------------------------------------------------------


def _answer(by: BenchDevice, command_id: int, *, done: bool, reason: str = "") -> bytes:
    return sealed(by, FrameKind.ANSWER, messages.AnswerBody(command_id, done, reason))


def test_a_second_answer_that_differs_is_reported_and_a_repeat_is_not(host: CardlinkHost, device: BenchDevice) -> None:
    host.command(7, Dispense(3), 0.2)
    host.receive(_answer(device, 7, done=True), 0.3)
    assert host.receive(_answer(device, 7, done=True), 0.4) == []
    told = only(host.receive(_answer(device, 7, done=False, reason="jam"), 0.5))
    assert isinstance(told, Contradicted)
    assert (told.what, told.number) == ("answer", 7)
    assert host.receive(_answer(device, 7, done=False, reason="jam"), 0.6) == []


def test_a_status_names_the_commands_that_should_have_been_answered(host: CardlinkHost, device: BenchDevice) -> None:
    def unanswered(now: float) -> tuple[int, ...]:
        heard = only(host.receive(status(device, last_report=20, exit_held=True), now))
        assert isinstance(heard, StatusHeard)
        return heard.unanswered

    host.command(7, Dispense(3), 1.0)
    assert unanswered(1.0 + ANSWERED_WITHIN - 0.1) == ()
    assert unanswered(1.0 + ANSWERED_WITHIN) == (7,)
    host.receive(_answer(device, 7, done=True), 6.5)
    assert unanswered(7.0) == ()


def test_a_damaged_frame_in_the_handshake_is_asked_for_again_soon() -> None:
    host = make_host()
    host.outgoing()
    host.tick(0.5)
    assert host.outgoing(), "the second attempt; the third would be a second later"
    host.receive(b"\xc0damaged and long enough\xc0", 0.6)
    assert host.wake_at() <= 0.71
    host.tick(0.71)
    assert host.outgoing()


# -- statuses ----------------------------------------------------------------------------------------------------------


def test_other_frames_do_not_replace_statuses(device: BenchDevice) -> None:
    """Only a status names what the device hears: without statuses, nothing that is sent is known to arrive in time."""
    host = linked(device)
    for second in range(1, int(LOST_WITHOUT)):
        host.receive(removed(device, 1), float(second))
        assert not host.tick(float(second))
    host.receive(removed(device, 1), LOST_WITHOUT)
    end = over(host.tick(LOST_WITHOUT))
    assert end.code == "device-silent"
    assert "no status for 5 s" in str(end.sentence)
    assert host.wake_at() == float("inf")


def _moving(host: CardlinkHost, device: BenchDevice, now: float, *, moving: bool = True) -> bool:
    device.exchange(host.outgoing(), now)
    data = status(device, last_report=0, moving=moving)
    (heard,) = [one for one in host.receive(data, now) if isinstance(one, StatusHeard)]
    return heard.moves_too_long


def test_endless_motion_is_reported_and_reports_meanwhile_do_not_excuse_it(
    device: BenchDevice,
) -> None:
    host = linked(device)
    for second in range(int(MOVES_WITHIN)):
        assert not _moving(host, device, 1.0 + second)
        host.receive(removed(device, 1 + second), 1.0 + second)
        host.acknowledge(BOOT, 1 + second, 1.0 + second)
    assert _moving(host, device, 1.0 + MOVES_WITHIN)
    assert not _moving(host, device, 2.0 + MOVES_WITHIN, moving=False)
    assert not _moving(host, device, 3.0 + MOVES_WITHIN)


# -- statuses that contradict themselves ------------------------------------------------------------------------------

Changes: TypeAlias = Mapping[str, object]
OTHER_SHUFFLE: Final = {"shuffle": 8}


def _contradictions(device: BenchDevice, *statuses: Changes, order: int = 0, every: float = 1.0) -> list[str]:
    """Return what the host makes of these statuses, one after the other, after an order that the device answered."""
    host = linked(device)
    if order:
        host.command(order, Dispense(3), 0.1)
        device.answers_by_itself = False
        device.exchange(host.outgoing(), 0.1)
        host.receive(_answer(device, order, done=True), 0.1)
    heard: list[Heard] = []
    for place, changes in enumerate(statuses):
        now = 0.5 + every * place
        device.exchange(host.outgoing(), now)
        data = status(device, **changes)  # type: ignore[arg-type]  # fields of the status
        heard += [*host.tick(now), *host.receive(data, now)]
    return [one.what for one in heard if isinstance(one, Contradicted)]


@pytest.mark.parametrize(
    ("what", "statuses"),
    [
        ("heard", [{"heard": 10_000}]),
        ("counts", [{"dispensed": 3, "remaining": 52}]),
        ("counts", [{"loaded": 0, "dispensed": 3, "remaining": 49}]),
        ("counts", [{"sets_dispensed": 1}]),
        ("counts", [{"dispensed": 6, "remaining": 46}, {"dispensed": 3, "remaining": 49}]),
        ("counts", [{}, {"loaded": 51, "remaining": 51}]),
        ("clock", [{}, {"uptime_ms": 999}]),
        ("last_command", [{"last_command": 4}, {"last_command": 3}]),
    ],
)
def test_a_status_that_contradicts_itself_is_noted_once(
    device: BenchDevice, what: str, statuses: list[Changes]
) -> None:
    assert _contradictions(device, *statuses, *[statuses[-1]] * 5) == [what]


@pytest.mark.parametrize(
    "statuses",
    [
        [OTHER_SHUFFLE | {"loaded": 0, "dispensed": 3, "remaining": 0}],
        [{"dispensed": 6, "remaining": 46, "sets_dispensed": 2}, OTHER_SHUFFLE],
        [{"shuffle": 0, "loaded": 51, "remaining": 51}, {}],
        [{}, {"uptime_ms": 2000, "dispensed": 3, "remaining": 49, "sets_dispensed": 1}],
    ],
    ids=["a shoe without a counter", "the next shuffle", "a deck is loaded", "a set is dispensed"],
)
def test_statuses_that_follow_one_another_are_not_noted(device: BenchDevice, statuses: list[Changes]) -> None:
    assert _contradictions(device, *statuses) == []


@pytest.mark.parametrize(
    ("last_command", "noted"), [(7, []), (6, ["last_command"]), (8, ["last_command"])], ids=["it", "before", "later"]
)
def test_last_command_is_compared_with_the_command_answered_as_done(
    device: BenchDevice, last_command: int, noted: list[str]
) -> None:
    assert _contradictions(device, *[{"last_command": last_command}] * 4, order=7) == noted


def test_motion_without_an_order_is_noted_once_each_time(device: BenchDevice) -> None:
    moving, resting = {"moving": True}, {"moving": False}
    long = [moving] * (int(MOVES_WITHIN) + 5)
    assert _contradictions(device, *long, resting, *long) == ["motion", "motion"]


def test_a_shuffle_without_an_order_may_take_any_time(device: BenchDevice) -> None:
    assert _contradictions(device, *[{"moving": True, "shuffle": 0}] * 60) == []


# -- acknowledgements -------------------------------------------------------------------------------------------------


def test_a_report_that_comes_again_after_its_acknowledgement_was_confirmed_is_noted_once(device: BenchDevice) -> None:
    host = linked(device)
    heard: list[Heard] = []
    for second in range(1, 10):
        for number in (1, 2):
            heard += host.receive(removed(device, number), float(second))
            host.acknowledge(BOOT, number, float(second))
        device.exchange(host.outgoing(), float(second))
        heard += [*host.receive(status(device, last_report=2), second + 0.1), *host.tick(second + 0.1)]
    assert [one.what for one in heard if isinstance(one, Contradicted)] == ["acknowledgement"]


def test_a_report_that_comes_again_before_the_device_knew_is_not_noted(device: BenchDevice) -> None:
    host = linked(device)
    heard: list[Heard] = []
    for second in range(1, 4):
        heard += host.receive(removed(device, 1), float(second))
        host.acknowledge(BOOT, 1, float(second))
        heard += host.receive(status(device, last_report=1), second + 0.1)
    assert not [one for one in heard if isinstance(one, Contradicted)], "nothing that the host sends arrives"


# -- what the end of a link says --------------------------------------------------------------------------------------


def test_a_shoe_that_cannot_hold_its_exit_loses_the_link_for_a_withheld_report_within_two_seconds() -> None:
    line = Silence(lambda number: number <= 2)
    line.device._capabilities = ["dispenses_on_removal"]
    line.connect()
    line.report(2)
    line.run(2)
    line.report()
    line.run(2)
    assert [end.code for end in line.of(LinkOver)] == ["device-reports"]  # type: ignore[union-attr]  # all are ends
    line.run(DUE_WITHIN - 1)
    assert not line.of(ReportsGone), "it is given up no sooner than from other devices"
    line.run(2)
    assert line.of(ReportsGone) == [ReportsGone(BOOT, 3, None, withheld=True, newest=3)]


def test_a_report_that_arrives_damaged_is_not_called_withheld(device: BenchDevice) -> None:
    host = linked(device)
    ends: list[Heard] = []
    for half in range(1, 14):
        now = half / 2
        device.exchange(host.outgoing(), now)
        host.receive(b"\xc0damaged and long enough\xc0" + status(device, last_report=1), now)
        ends += host.tick(now)
    end = over(ends)
    assert (end.code, end.refused) == ("device-damaged-frames", False)


def test_a_device_that_hears_nothing_is_not_called_silent(device: BenchDevice) -> None:
    host = linked(device)
    device.exchange(host.outgoing(), 0.0)
    for second in range(1, 4):
        host.receive(status(device), float(second))
        host.tick(float(second))
        host.outgoing()  # lost on the way
    end = over(host.tick(6.0))
    assert end.code == "device-delayed"
    assert "carries data to the device" in str(end.sentence)


class Ahead(Silence):
    """A device whose answers name the report that comes `ahead` numbers after the last one that it made."""

    def __init__(self, ahead: int = 40) -> None:
        super().__init__()
        self.ahead = ahead
        self.device.answers_by_itself = False

    def answer(self, command_id: int = 1, *, done: bool = True) -> list[Heard]:
        """Let the device answer, and return what the host makes of it immediately."""
        before = len(self.heard)
        body = messages.AnswerBody(command_id, done)
        number = self.device.link.last_number + self.ahead
        self._hear(self.host.receive(sealed(self.device, FrameKind.ANSWER, body, number=number), self.now))
        return self.heard[before:]

    def order(self, command_id: int = 1) -> None:
        self.host.command(command_id, HoldExit(), self.now)
        self.run(STEP)


def test_an_answer_ahead_of_the_reports_ends_one_link_and_is_then_taken() -> None:
    line = Ahead()
    line.report(2)
    line.run(1)
    line.order()
    assert line.answer() == []
    line.run(DUE_WITHIN + 1.5)
    assert [end.code for end in line.of(LinkOver)] == ["device-reports"]  # type: ignore[union-attr]  # all are ends
    assert not line.of(Answered)
    line.order()
    assert line.answer() == []
    line.run(DUE_WITHIN + 1.5)
    assert line.of(ReportsGone) == [ReportsGone(BOOT, 3, None, withheld=True, newest=2)]
    assert line.of(Answered) == [Answered(1, True)], "nothing is left to wait for"
    assert len(line.of(LinkOver)) == 1, "once for a report"
    line.order(2)
    assert line.answer(2) == [Answered(2, True)], "the report was given up"
    line.run(3 * DUE_WITHIN)
    assert (len(line.of(LinkOver)), len(line.of(ReportsGone))) == (1, 1)


def test_reports_that_come_meanwhile_do_not_prolong_the_wait_of_an_answer() -> None:
    """The device's statuses never count as far as the report that the answer names."""
    line = Ahead()
    line.run(1)
    line.order()
    line.answer()
    line.report()
    line.run(DUE_WITHIN + 1.5)
    assert len(line.of(Reported)) == 1
    assert [end.code for end in line.of(LinkOver)] == ["device-reports"]  # type: ignore[union-attr]  # all are ends


def test_a_command_is_repeated_and_named_until_its_answer_is_taken() -> None:
    line = Ahead()
    line.run(1)
    line.order()
    line.run(1)
    line.answer()
    before = line.host.statistics.frames_resent
    line.run(DUE_WITHIN - STEP)
    assert [number for number, _ in line.device.carried_out] == [1], "the device carries it out once"
    assert line.host.statistics.frames_resent >= before + 2
    assert line.of(LinkOver) == []
    assert [one.unanswered for one in line.of(StatusHeard)][-1] == (1,)  # type: ignore[union-attr]  # all are statuses


def test_an_answer_that_overtook_its_reports_is_taken_after_them() -> None:
    line = Ahead(ahead=2)
    line.run(1)
    line.order()
    assert line.answer() == []
    assert line.answer() == [], "a repeat"
    line.report()
    line.run(1)
    assert line.of(Answered) == []
    line.report()
    line.run(1)
    assert line.taken == [1, 2]
    assert line.of(Answered) == [Answered(1, True)]
    assert line.answer() == [], "a repeat of an answer that was taken"
    line.run(3 * DUE_WITHIN)
    assert line.of(LinkOver) == []


def test_a_second_answer_is_compared_while_the_first_one_waits() -> None:
    line = Ahead(ahead=1)
    line.run(1)
    line.order()
    line.answer()
    told = only(line.answer(done=False))
    assert isinstance(told, Contradicted)
    assert (told.what, told.number) == ("answer", 1)
    line.report()
    line.run(1)
    assert line.of(Answered) == [Answered(1, True)], "the first one applies"
