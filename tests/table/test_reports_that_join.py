"""A person's report of what the table has raised already joins it: one irregularity, not two."""

from __future__ import annotations

import pytest

from controller.games.specification import Kind, Unit
from controller.table import events, operations
from firmware_bridge.observations import FaceUpFound
from tests.table.harness import TableHarness


def raised(table: TableHarness) -> list[Kind]:
    return [event.kind for event in table.events_of(events.IrregularityRaised)]


def test_the_doubt_that_the_device_raised_is_the_one_that_people_report() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.device.pass_unseen(1)
    table.device.skip_count(1)
    table.take()
    assert raised(table) == [Kind.COUNT_IN_DOUBT]
    for kind in (Kind.COUNT_IN_DOUBT, Kind.DECK_COUNT):
        table.report(kind)
    assert raised(table) == [Kind.COUNT_IN_DOUBT]
    assert len(table.events_of(events.ReportJoined)) == 2


def test_a_card_that_came_out_face_up_is_the_exposed_one() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.device.draw(face_up=True)
    table.report(Kind.EXPOSED_CARD, "B1", card=1)
    assert raised(table) == [Kind.FACE_UP_IN_DEVICE]
    assert table.open.card == 1


def test_a_hand_at_the_wrong_place_that_was_entered_is_reported_in_vain() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.swap("B1", "B3")
    table.report(Kind.WRONG_DISTRIBUTION, "B1")
    assert raised(table) == [Kind.WRONG_DISTRIBUTION]


def test_rtp_5_5_a_report_with_a_place_answers_its_questions() -> None:
    table = TableHarness(game_id="RTP").start().to_dealing().deal()
    table.handle("B3")
    table.report(Kind.WRONG_COUNT, "B3", counted=4)
    table.report(Kind.WRONG_COUNT, "B3", counted=2)
    assert (raised(table), table.open.counted) == ([Kind.WRONG_COUNT], 2)


def test_nc_5_7_2_cards_at_wrong_places_are_the_error_that_the_faces_showed() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.handle("B1")
    table.expose("D")
    table.expose("B1", "KD KC 8S")
    table.report(Kind.WRONG_DISTRIBUTION)
    assert raised(table) == [Kind.OTHER_DEALING_ERROR]
    assert table.open.facts.misplaced is True


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        (Kind.EXPOSED_CARD, ("B1", 1), ("B3", 1)),
        (Kind.EXPOSED_CARD, ("B1", 1), ("B1", 2)),
        (Kind.PLAYER_EXPOSED, ("B1", None), (None, None)),
        (Kind.OTHER_DEALING_ERROR, (None, None), (None, None)),
        (Kind.LATE_BET, ("B1", None), ("B3", None)),
    ],
)
def test_a_report_that_may_be_something_else_is_raised_separately(
    kind: Kind, first: tuple[str | None, int | None], second: tuple[str | None, int | None]
) -> None:
    table = TableHarness().start().to_dealing().deal()
    for place, card in (first, second):
        table.do(operations.ReportIrregularity(kind, place, card))
    assert raised(table) == [kind, kind]


def test_a_report_of_the_round_before_joins_none_of_this_round() -> None:
    table = TableHarness().start().to_dealing()
    table.finish().to_dealing()
    table.report(Kind.FOREIGN_CARD)
    table.do(operations.ReportIrregularity(Kind.FOREIGN_CARD, earlier=True))
    table.do(operations.ReportIrregularity(Kind.FOREIGN_CARD, earlier=True))
    assert [found.round for found in table.state.open] == [2, 1]


def test_a_second_face_up_card_in_the_device_is_raised_separately() -> None:
    table = TableHarness().start().to_dealing()
    table.device.report(FaceUpFound(table.device.shuffle, 8, 1))
    table.device.report(FaceUpFound(table.device.shuffle, 9, 1))
    assert raised(table) == [Kind.FACE_UP_IN_DEVICE] * 2
