"""A line that flips one byte in 200, both ways: a link is soon established, and sets are dealt despite unplugging."""

from __future__ import annotations

from itertools import count
from typing import Final

import pytest

from firmware_bridge.commands import AnyCommand, Dispense, ReleaseExit, Shuffle
from firmware_bridge.drivers.base import Answered, LinkOver, LinkReady

from .fault_course import FaultCourse

FLIPS: Final = "bit-flips=0.005"
SECONDS: Final = 120.0
PULLED_EVERY: Final = 10  # sets


def ready(course: FaultCourse) -> bool:
    """Return whether the last link is established."""
    ends = [isinstance(thing, LinkReady) for thing in course.heard if isinstance(thing, LinkReady | LinkOver)]
    return bool(ends) and ends[-1]


def turn(course: FaultCourse) -> None:
    course._converse()
    course.now = max(course.now, min(course._next_due(), course.now + 0.25))


def test_a_link_is_soon_established() -> None:
    """An identity of 340 bytes arrives undamaged once in six attempts."""
    waits = []
    for seed in range(1, 31):
        course = FaultCourse("shuffler", seed=seed)
        course.arm(FLIPS)
        while not ready(course):
            turn(course)
        waits.append(course.now)
    assert max(waits) < 15
    assert sorted(waits)[15] < 3


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sets_are_dealt(seed: int) -> None:
    course = FaultCourse("shuffler", seed=seed)
    course.injector.reseed(seed)
    course.load()
    course.arm(FLIPS)
    mechanism, ids, ordered, sets, pulled, link = course.mechanism, count(1000), 0, 0, 0, 0
    end = course.now + SECONDS
    while course.now < end:
        turn(course)
        if mechanism.tray:
            mechanism.lift_set()
            sets += 1
            if sets % PULLED_EVERY == 0:
                pulled += 1
                course.heard.append(LinkOver("test", "The cable was pulled."))
                course.plug()
        if len(mechanism.inside) < 3 and not mechanism.tray:
            mechanism.load(mechanism.shuffled_by_hand(), deck=1)
        answered = any(isinstance(thing, Answered) and thing.command_id == ordered for thing in course.heard)
        links = sum(isinstance(thing, LinkReady) for thing in course.heard)
        if links != link:  # a new link forgets what was ordered
            ordered, link = 0, links
        if ready(course) and (answered or not ordered):
            ordered = next(ids)
            course._driver.command(ordered, what_is_due(course), course.now)
    assert sets > 50, "a set and its commands take about a second, and a new link about two"
    assert pulled >= 5


def what_is_due(course: FaultCourse) -> AnyCommand:
    if not course.mechanism._shuffle:
        return Shuffle()
    return ReleaseExit() if course.mechanism.exit_held else Dispense(3)
