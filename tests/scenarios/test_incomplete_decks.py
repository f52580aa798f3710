"""The scenario commands for an unrecognised card and for an incomplete deck take effect."""

from __future__ import annotations

import pytest

from controller.table.events import DeckMadeUnusable, DeviceNoted, IrregularityRaised
from simulators.scenarios.course import Course
from simulators.scenarios.format import read_scenario
from simulators.scenarios.player import DifferenceError, play


@pytest.mark.parametrize(
    ("word", "note"),
    [
        ("deck missing", "1 missing"),
        ("deck extra", "1 extra"),
        ("deck duplicate", "1 missing, 1 duplicate"),
    ],
)
def test_an_incomplete_deck_is_replaced_by_the_next_one(word: str, note: str) -> None:
    text = (
        "game NC\ndevice sets\ncell I02\nclause NC 5.5.2\n\n"
        f"begin\nfinish\n{word}\nload\nexpect I02 NC 5.5.2 void\nload\n"
    )
    scenario = read_scenario("spoilt", text)
    course = Course(scenario.setting)
    with pytest.raises(DifferenceError, match="I02 is still open"):
        list(play(scenario, course))
    raised = [str(one.note) for one in course.history if isinstance(one, IrregularityRaised)]
    assert raised == [f"the shuffle counted the deck: {note}"]
    assert len([one for one in course.history if isinstance(one, DeckMadeUnusable)]) == 1, "the second deck is complete"
    assert not any(isinstance(one, DeviceNoted) for one in course.history)


def test_a_card_that_is_not_recognised_waits_until_it_is_entered() -> None:
    text = (
        "game NC\ndevice singles\ncell I16\nclause NC 5.10\n\n"
        "begin\ndevice unread\ndeal all\nfinish\nexpect refused unread\n"
    )
    scenario = read_scenario("unread", text)
    with pytest.raises(DifferenceError, match="the table came to no irregularity"):  # all steps are right
        list(play(scenario, Course(scenario.setting)))
