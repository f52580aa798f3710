"""The live view of a table in a terminal of 80 by 24: whatever is open, it shows all that an act needs."""

from __future__ import annotations

import pytest
from rich.console import Console

from controller.api.view import LinkView, TableView, view_of
from controller.commands.screen import render
from controller.commands.vocabulary import words_of
from controller.games import GAMES
from controller.games.specification import Kind, Unit
from tests.table.harness import TableHarness

WIDTH, HEIGHT = 80, 24
TOLD = [f"what happened as number {number}" for number in range(1, 41)]


def drawn(view: TableView, height: int) -> list[str]:
    console = Console(width=WIDTH, color_system=None)
    with console.capture() as captured:
        console.print(render(view, TOLD, height))
    return captured.get().splitlines()


def with_two_open(game_id: str, boxes: tuple[int, ...]) -> TableHarness:
    """Return a table with two errors at two boxes, noticed in mid-deal."""
    table = TableHarness(Unit.SETS, boxes, game_id=game_id).start().to_dealing()
    table.take(2)
    first, second, *_ = table.state.round.live_places
    table.report(Kind.EXPOSED_CARD, first)
    table.report(Kind.WRONG_COUNT, second, counted=4)
    assert len(table.state.open) == 2
    return table


@pytest.mark.parametrize("game_id", GAMES)
@pytest.mark.parametrize("boxes", [(1, 2, 3, 4, 5), tuple(range(1, 8))], ids=["five boxes", "seven boxes"])
def test_two_open_irregularities_fit_with_question_and_authority(game_id: str, boxes: tuple[int, ...]) -> None:
    view = view_of(with_two_open(game_id, boxes).state, LinkView())
    lines = drawn(view, HEIGHT)
    assert len(lines) <= HEIGHT
    shown = " ".join(" ".join(lines).split())
    for found in view.irregularities:
        assert found.row in shown
        for question in found.questions:
            assert str(question).split()[0] in shown
        assert " | ".join(found.options) in shown
        assert f"{found.who} or above" in shown
    assert str(words_of(game_id).dealer).lower() in shown.lower()
    assert "device" in shown


def test_a_table_with_nothing_open_fills_the_rest_with_events() -> None:
    table = TableHarness(Unit.SETS).start().to_dealing()
    view = view_of(table.state, LinkView())
    lines = drawn(view, HEIGHT)
    assert HEIGHT - 3 < len(lines) <= HEIGHT
    assert TOLD[-1] in "\n".join(lines)
    assert TOLD[0] not in "\n".join(lines)


def test_without_a_height_nothing_is_left_out() -> None:
    view = view_of(with_two_open("NC", (1, 3, 6)).state, LinkView())
    shown = "\n".join(drawn(view, 0))
    for found in view.irregularities:
        assert str(found.because).split()[0] in shown
    assert "what happened" in shown


def test_a_question_shown_below_is_not_repeated_on_a_small_screen() -> None:
    view = view_of(with_two_open("P3", tuple(range(1, 8))).state, LinkView())
    first = str(view.irregularities[0].question)
    shown = " ".join(" ".join(drawn(view, HEIGHT)).split())
    assert shown.count(first) == 1
    assert "next: Decide I12 below. One more matter after this" in shown
