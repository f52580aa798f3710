"""Every fault of the registry, on every device that can show it, has the effect that the registry states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Final, TypeAlias

import pytest

from firmware_bridge import commands, observations
from firmware_bridge.cards import DECK, DECK_SIZE
from firmware_bridge.drivers.base import LinkOver, LinkReady, Reported, ReportsGone
from firmware_bridge.observations import AnyObservation
from simulators.devices.armed_faults import ArmedFault
from simulators.devices.faults import BY_NAME, FAULTS, SIDES, BadFaultError, Side, explained, parse_fault
from simulators.devices.mechanism import Mechanism, full_capabilities
from simulators.devices.mechanism import Profile as DeviceProfile

from .fault_course import FaultCourse

Check: TypeAlias = Callable[[FaultCourse], None]
CARDS: Final = 12  # drawn in a course; four sets of a shuffler
AT: Final = 5  # the card, or the frame, at which a fault comes
IN_A_ROW: Final = ("silent", "unplug", "reordering")  # shown by cards in quick succession
CARDLINK: Final = ("shuffler", "shoe")


def played(side: Side, *faults: str, later: str = "") -> FaultCourse:
    """Play a course; `later` is armed in its middle, when the numbers of an Angel Eye are learned."""
    course = FaultCourse(side)
    course.arm(*faults)
    course.load()
    if later:
        course.take(2 if side == "shuffler" else 30)
        course.arm(later)
    course.take(4 if side == "shuffler" else CARDS, at_once=later.startswith(IN_A_ROW))
    return course


def nothing_lost(course: FaultCourse) -> None:
    assert course.cards == course.drawn
    assert len(course.drawn) == course.asked
    numbers = [(one.boot, one.number) for one in course.heard if isinstance(one, Reported)]
    assert len(numbers) == len(set(numbers))


def one(course: FaultCourse, kind: type[observations.Observation]) -> observations.Observation:
    (seen,) = course.of(kind)  # type: ignore[type-var]  # any kind of observation
    return seen


# -- faults of cards and of the device ----------------------------------------------------------------------------


def jam(course: FaultCourse) -> None:
    assert len(course.drawn) < CARDS
    if course.side == "bee_tek":
        assert one(course, observations.Alarmed) == observations.Alarmed("E7")
        return
    assert course.of(observations.Jammed)
    if course.side == "shuffler":
        assert [answer.reason for answer in course.answers if not answer.done] == ["jam"] * 3
    course.mechanism.clear_jam()
    course.take()
    assert course.of(observations.JamCleared)
    assert course.cards == course.drawn
    assert course.cards[AT - 1 :]


def door_jam(course: FaultCourse) -> None:
    assert course.of(observations.Jammed) == [observations.Jammed("door")]
    course.mechanism.clear_jam()
    course.run()
    assert course.of(observations.DoorMoved) == [observations.DoorMoved(True), observations.DoorMoved(False)]


def recovers(zone: str) -> Check:
    def check(course: FaultCourse) -> None:
        nothing_lost(course)
        (jammed,), (cleared,) = course.of(observations.Jammed), course.of(observations.JamCleared)
        assert jammed.zone == cleared.zone
        assert zone in ("", jammed.zone)

    return check


def double_draw(course: FaultCourse) -> None:
    assert course.cards == course.drawn
    assert len(course.drawn) == CARDS + 1
    if course.side == "shuffler":
        assert [len(seen.cards) for seen in course.of(observations.SetDispensed)] == [3, 4, 3, 3]
    if course.side == "shoe":
        (seen,) = course.of(observations.CardsDrawnTogether)
        assert (seen.ordinal, len(seen.cards)) == (AT, 2)


def face_up(course: FaultCourse) -> None:
    nothing_lost(course)
    (found,) = course.of(observations.FaceUpFound)
    assert found.ordinal == AT
    if course.side == "shoe":
        assert [seen.ordinal for seen in course.of(observations.CardDrawn) if seen.face_up] == [AT]


def counted(deck: int, **wrong: int) -> Check:
    """Return the device's count: a shuffler counts in the shuffle, a shoe when it is loaded."""

    def check(course: FaultCourse) -> None:
        nothing_lost(course)
        if course.side == "shuffler":
            (seen,) = course.of(observations.ShuffleFinished)
            names = ("missing", "extra", "duplicate", "unreadable", "foreign")
            assert {name: getattr(seen, name) for name in names if getattr(seen, name)} == wrong
            assert seen.count == deck
        else:
            assert [seen.count for seen in course.of(observations.DeckLoaded)] == [deck]

    return check


def duplicate(course: FaultCourse) -> None:
    if course.side == "shuffler":
        counted(52, duplicate=1)(course)
        return
    nothing_lost(course)
    assert max(Counter(course.cards).values()) == 2
    assert course.cards[AT - 1] == course.cards[AT]


def not_recognised(foreign: bool) -> Check:
    def check(course: FaultCourse) -> None:
        if course.side == "angel_eye":
            assert one(course, observations.Jammed)
        if course.side == "angel_eye" or (course.side == "line_reader" and not foreign):
            assert course.cards == [*course.drawn[: AT - 1], *course.drawn[AT:]]
            return
        assert course.cards == [*course.drawn[: AT - 1], "?", *course.drawn[AT:]]
        if course.side == "bee_tek":
            assert one(course, observations.Alarmed) == observations.Alarmed("E3")
        elif course.side == "shuffler":
            (seen,) = course.of(observations.ShuffleFinished)
            assert (seen.foreign, seen.unreadable) == (int(foreign), int(not foreign))
            assert [seen.foreign for seen in course.of(observations.SetDispensed)] == [0, int(foreign), 0, 0]
        else:
            drawn = course.of(observations.CardDrawn)
            assert [seen.foreign for seen in drawn] == [int(foreign and seen is drawn[AT - 1]) for seen in drawn]

    return check


def misread(course: FaultCourse) -> None:
    (other,) = course.cards[AT - 1 : AT]
    assert other in {card.code for card in DECK} - {course.drawn[AT - 1]}
    assert course.cards == [*course.drawn[: AT - 1], other, *course.drawn[AT:]]


def drop(course: FaultCourse) -> None:
    reported = [(seen.ordinal, seen.remaining) for seen in course.of(observations.SetDispensed)]
    reported += [(seen.ordinal, seen.remaining) for seen in course.of(observations.CardDrawn)]
    due = [1, 5, 8, 11] if course.side == "shuffler" else [1, 2, 3, 4, *range(6, CARDS + 2)]
    assert [ordinal for ordinal, _ in reported] == due
    assert reported[-1][1] == 52 - CARDS - 1
    assert len(course.mechanism.floor) == 1


def slow(course: FaultCourse) -> None:
    nothing_lost(course)
    kinds = (observations.SetDispensed, observations.CardDrawn)
    reported = [seen for seen in course.heard if isinstance(seen, Reported) and isinstance(seen.observation, kinds)]
    times = [seen.uptime_ms or 0 for seen in reported]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    late = 0 if course.side == "shuffler" else AT - 2
    assert gaps[late] > 3 * max(gap for place, gap in enumerate(gaps) if place != late)


def starts_again(cause: str) -> Check:
    def check(course: FaultCourse) -> None:
        causes = [seen.cause for seen in course.of(observations.Started)]
        if course.side == "angel_eye":
            assert len(causes) == 2
            nothing_lost(course)
            return
        boots = [seen.identity.boot for seen in course.heard if isinstance(seen, LinkReady)]
        assert causes == ["power", cause]
        assert len(set(boots)) == 2
        assert bool(course.of(observations.PowerLow)) == (cause == "brown_out")
        assert any(isinstance(seen, ReportsGone) for seen in course.heard)
        assert len(course.cards) == course.asked - (3 if course.side == "shuffler" else 1)

    return check


def admits(said: AnyObservation) -> Check:
    def check(course: FaultCourse) -> None:
        nothing_lost(course)
        assert course.of(type(said)) == [said]

    return check


def names_a_fault(course: FaultCourse) -> None:
    nothing_lost(course)
    assert course.mechanism.status(0).faults == ("fan",)
    assert course.mechanism.carry_out(9, commands.RunSelfTest()).done
    assert course.mechanism.status(0).faults == ()


# -- faults of the line -------------------------------------------------------------------------------------------


def silent(course: FaultCourse) -> None:
    assert len(course.cards) < course.asked
    if course.side in CARDLINK:
        assert course.was_stale
        assert any(isinstance(seen, LinkOver) for seen in course.heard)
        course.injector.disarm(BY_NAME["silent"])
        course.run()
        assert course.cards == course.drawn
    else:
        assert not course.was_stale
        assert not any(isinstance(seen, LinkOver) for seen in course.heard)


def unplug(course: FaultCourse) -> None:
    links = course.links
    assert len(course.cards) < course.asked
    course.plug()
    course.run()
    assert course.links > links
    if course.side in CARDLINK:
        assert course.cards == course.drawn
    else:
        course.take()
        assert course.cards[-1] == course.drawn[-1]
        assert set(course.cards) < set(course.drawn)


def flipped(course: FaultCourse) -> None:
    if course.side in ("bee_tek", "line_reader"):
        assert course.cards != course.drawn or course.of(observations.NotUnderstood)
        assert len(course.cards) in (course.asked - 1, course.asked)
    else:
        nothing_lost(course)
        assert course.total().frames_corrupt


def lost(course: FaultCourse) -> None:
    if course.side in CARDLINK:
        nothing_lost(course)
    else:
        assert len(course.cards) == course.asked - 1
        assert bool(course.of(observations.GapSuspected)) == (course.side == "angel_eye")


def doubled(course: FaultCourse) -> None:
    if course.side in (*CARDLINK, "angel_eye", "line_reader"):
        nothing_lost(course)
    else:
        assert len(course.cards) == course.asked + 1
        assert set(course.cards) == set(course.drawn)


def reordered(course: FaultCourse) -> None:
    if course.side in CARDLINK:
        nothing_lost(course)
        return
    assert course.cards != course.drawn
    assert bool(course.of(observations.GapSuspected)) == (course.side == "angel_eye")


def truncated(course: FaultCourse) -> None:
    if course.side in CARDLINK:
        nothing_lost(course)
        return
    strange = [*course.of(observations.NotUnderstood), *course.of(observations.Noted)]
    assert strange or course.cards != course.drawn


def late(course: FaultCourse) -> None:
    nothing_lost(course)
    assert course.injector.line.to_host.fault_count == 1


CHECKS: Final[dict[str, Check]] = {
    "jam": jam,
    "door-jam": door_jam,
    "platform-fault": recovers("platform"),
    "jam-recovery": recovers(""),
    "double-draw": double_draw,
    "face-up": face_up,
    "missing-card": counted(51, missing=1),
    "extra-card": counted(53, extra=1),
    "duplicate-card": duplicate,
    "foreign-card": not_recognised(foreign=True),
    "unreadable": not_recognised(foreign=False),
    "misread": misread,
    "drop": drop,
    "slow": slow,
    "reset": starts_again("reset"),
    "brown-out": starts_again("brown_out"),
    "self-test-failure": admits(observations.SelfTestFinished(False, "exit sensor")),
    "low-power": admits(observations.PowerLow()),
    "memory-failure": admits(observations.CheckFailed("memory")),
    "program-failure": admits(observations.CheckFailed("program")),
    "status-fault": names_a_fault,
    "silent": silent,
    "unplug": unplug,
    "bit-flips": flipped,
    "loss": lost,
    "duplicates": doubled,
    "reordering": reordered,
    "truncation": truncated,
    "stall": late,
    "pieces": nothing_lost,
}
CASES: Final = [(fault.name, side) for fault in FAULTS for side in fault.shows if not fault.usb]


def test_no_fault_is_without_its_test() -> None:
    assert set(CHECKS) == {fault.name for fault in FAULTS if not fault.usb}, "those of USB: tests/usb"


def test_every_device_is_without_fault_when_none_is_armed() -> None:
    for side in SIDES:
        course = played(side)
        nothing_lost(course)
        assert course.links == 1
        kinds = (
            observations.Jammed,
            observations.FaceUpFound,
            observations.NotUnderstood,
            observations.GapSuspected,
        )
        assert not any(course.of(kind) for kind in kinds)


@pytest.mark.parametrize(("name", "side"), CASES)
def test_a_fault_has_its_registered_effect_on_the_host(name: str, side: Side) -> None:
    fault = BY_NAME[name]
    if fault.of == "nothing":
        course = played(side, f"{name}=1")
    elif fault.of == "frame":
        course = played(side, later=f"{name}@1")
    else:
        course = played(side, f"{name}@{AT}")
    CHECKS[name](course)


@pytest.mark.parametrize("name", [fault.name for fault in FAULTS if fault.unit == "chance"])
def test_a_chance_of_a_fault_loses_no_report_of_a_device_that_is_acknowledged(name: str) -> None:
    course = played("shoe", f"{name}={'0.002' if name == 'bit-flips' else '0.2'}")
    course.settle()
    nothing_lost(course)
    assert course.injector.line.to_host.fault_count


@pytest.mark.parametrize("side", SIDES)
def test_with_the_same_seed_the_same_is_heard(side: Side) -> None:
    def heard(seed: int) -> list[str]:
        course = FaultCourse(side, seed=seed)
        course.arm("loss=0.1", "duplicates=0.2", "reordering=0.2", "double-draw@3")
        course.load()
        course.take(4)
        return [
            *course.cards,
            str(course.injector.line.to_host.fault_count),
            str(course.injector.line.to_device.fault_count),
        ]

    assert heard(7) == heard(7)
    assert len({tuple(heard(seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize(
    ("name", "side"), [(fault.name, side) for fault in FAULTS for side in SIDES if side not in fault.shows]
)
def test_a_device_that_cannot_show_a_fault_rejects_it(name: str, side: Side) -> None:
    course = FaultCourse(side)
    with pytest.raises(BadFaultError, match=f"cannot show {name}"):
        course.arm(name)
    assert course.injector.armed() == []


@pytest.mark.parametrize("side", SIDES)
def test_the_list_says_what_a_fault_does_and_what_the_host_sees(side: Side) -> None:
    lines = list(explained(side))
    for fault, does, seen in zip(FAULTS, lines[::2], lines[1::2], strict=True):
        assert does.split(maxsplit=1)[0].startswith(fault.name)
        assert does.endswith(str(fault.does))
        assert fault.shows.get(side, "cannot show it") in seen


# -- notation -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "jam5", "jam@", "jam@x", "jam=0.5", "loss=2", "loss=-1", "JAM", "pieces", "pieces@3", "pieces=0.5", "fire"],
)
def test_a_misspelt_fault_is_refused_with_the_next_step(text: str) -> None:
    with pytest.raises(BadFaultError) as refused:
        parse_fault(text)
    assert refused.value.hint


@pytest.mark.parametrize("text", ["jam@5", "loss=0.25", "loss@3", "unplug@2", "silent@4", "missing-card@9", "pieces=3"])
def test_an_armed_fault_is_listed_and_can_be_cancelled(text: str) -> None:
    injector = FaultCourse("shoe").injector
    chosen = parse_fault(text)
    injector.arm(chosen)
    assert injector.armed() == [text]
    injector.disarm(chosen.fault)
    assert injector.armed() == []


def test_two_double_draws_in_a_deck_do_not_raise_the_count() -> None:
    """The last set is one card short, and the sensor counts the cards that leave."""
    seen: list[observations.AnyObservation] = []
    profile = DeviceProfile("shuffler", "SHORT", full_capabilities("shuffler"))
    mechanism = Mechanism(profile, random=Random(1), emit=seen.append, boot=1)
    mechanism.faults.named += [ArmedFault("double-draw", ordinal) for ordinal in (1, 50)]
    mechanism.load(mechanism.shuffled_by_hand(), deck=1)
    mechanism.carry_out(1, commands.Shuffle())
    mechanism.carry_out(2, commands.ReleaseExit())
    while mechanism.carry_out(3, commands.Dispense(3)).done:
        mechanism.lift_set()
    sets = [one for one in seen if isinstance(one, observations.SetDispensed)]
    assert min(one.remaining for one in sets) >= 0
    assert sum(len(one.cards) for one in sets) == mechanism.status(0).dispensed <= DECK_SIZE
