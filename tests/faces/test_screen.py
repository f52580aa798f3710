"""The live view: whatever an irregularity proposes and waits for has words."""

from __future__ import annotations

from controller.commands.rule_words import FOLLOWS
from controller.commands.screen import WAITS_FOR
from controller.games.specification import Disposition
from controller.table.state import Stage


def test_every_disposition_and_stage_has_words() -> None:
    assert set(FOLLOWS) == set(Disposition)
    assert set(WAITS_FOR) == {stage.value for stage in Stage}
