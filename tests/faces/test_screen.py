"""The live view: whatever an irregularity proposes and waits for has words."""

from __future__ import annotations

from typing import get_args

from controller.commands.rule_words import FOLLOWS
from controller.commands.screen import WAITS_FOR
from controller.games.specification import Disposition
from controller.table import events
from controller.table.parts import Stage


def test_every_disposition_and_stage_has_words() -> None:
    assert set(FOLLOWS) == set(Disposition)
    assert set(WAITS_FOR) == {stage.value for stage in Stage}


def test_no_event_has_a_field_that_the_feed_writes_itself() -> None:
    """Else the round that an event belongs to would be told wrongly."""
    envelope = {"entry", "utc_ns", "round", "event"}
    of_the_round = {events.RoundBegan}  # it names the round that begins: the same number
    for event in get_args(events.AnyEvent):
        assert event in of_the_round or not envelope & set(event.__struct_fields__), event.__name__
