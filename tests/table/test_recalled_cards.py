"""Recalls: a pit manager sees concealed cards of a finished round, or while cards are put right; each is recorded."""

from __future__ import annotations

import pytest

from controller.games.specification import Disposition, Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.model import Stage
from controller.table.phases import Phase
from controller.table.recall import Recalled, cards_recalled
from tests.table.harness import TableHarness

HANDS = {"B1": "2C 3C 4C", "B3": "5C 6C 7C", "B6": "8C 9C TC", "D": "KD QD JD"}
PIT_MANAGER = Role.PIT_MANAGER


def recall(of_round: int, place: str = "", reason: str = "a dispute") -> operations.RecallCards:
    return operations.RecallCards(of_round, reason, place)


def shown(table: TableHarness, of_round: int) -> dict[str, list[str]]:
    """Return the faces by place in the answer to the last request."""
    rounds, number = [], 0
    for _, numbered in table.steps:
        for _, event in numbered:
            number = event.round if isinstance(event, events.RoundBegan) else number
            rounds.append((number, event))
    cards = cards_recalled(table.last(events.CardsRecalled), [event for at, event in rounds if at == of_round])
    places: dict[str, list[str]] = {}
    for card in cards:
        places.setdefault(card.place, []).append(card.face)
    return places


def abandoned(table: TableHarness) -> TableHarness:
    for _ in range(2):
        table.do(operations.AbandonRound("shift manager", "the fire alarm"), Role.SHIFT_MANAGER)
    return table


@pytest.mark.parametrize("unit", Unit)
def test_every_card_of_a_round_that_is_over(unit: Unit) -> None:
    table = abandoned(TableHarness(unit, hands=HANDS).start().to_dealing().deal())
    table.to_dealing()
    table.do(recall(1), PIT_MANAGER)
    assert shown(table, 1) == {place: text.split() for place, text in HANDS.items()}
    assert not any(face in repr(table.last(events.CardsRecalled)) for face in ("KD", "2C"))


def test_one_hand_where_its_cards_lay_in_the_end() -> None:
    table = TableHarness(hands=HANDS).start().to_dealing().deal()
    table.report(Kind.WRONG_DISTRIBUTION)
    table.swap("B1", "B3")
    abandoned(table).to_dealing()
    table.do(recall(1, "B3"), PIT_MANAGER)
    assert shown(table, 1) == {"B3": HANDS["B1"].split()}


def test_while_cards_are_put_right_the_hand_that_is_named() -> None:
    table = TableHarness(hands=HANDS).start().to_dealing().deal()
    table.report(Kind.WRONG_DISTRIBUTION)
    table.swap("B1", "B3")
    assert table.refused(recall(1, "B3"), PIT_MANAGER)[0] == "round", "it is only claimed"
    table.confirm(handled=False)
    assert table.proposes(Disposition.RECONSTRUCT)
    assert table.open.stage is Stage.MOVING
    for nothing_named in ("", "B9"):
        assert table.refused(recall(1, nothing_named), PIT_MANAGER)[0] == "place"
    table.do(recall(1, "B3"), PIT_MANAGER)
    assert shown(table, 1) == {"B3": HANDS["B1"].split()}
    assert table.last(events.CardsRecalled).irregularity == table.open.id
    table.put_right()
    assert table.refused(recall(1, "B3"), PIT_MANAGER)[0] == "round", "it is put right"


def test_the_order_of_cards_that_came_together() -> None:
    table = TableHarness(Unit.SINGLES, hands=HANDS).start().to_dealing()
    table.device.draw_together(2)
    table.confirm(order_known=False)
    assert table.open.stage is Stage.ORDERING
    table.do(recall(1, "aside"), PIT_MANAGER)
    assert shown(table, 1) == {"aside": ["2C", "5C"]}


@pytest.mark.parametrize(
    ("operation", "code"),
    [(recall(1), "round"), (recall(1, "B1"), "round"), (recall(1, "B1", " "), "reason"), (recall(2), "unknown-round"),
     (recall(0), "unknown-round")],
)  # fmt: skip
def test_recalls_refused_while_the_round_is_in_progress(operation: operations.RecallCards, code: str) -> None:
    table = TableHarness(hands=HANDS).start().to_dealing().deal()
    assert table.refused(operation, PIT_MANAGER)[0] == code


@pytest.mark.parametrize("role", [Role.DEALER, Role.PIT_SUPERVISOR])
def test_a_lower_rank_is_refused(role: Role) -> None:
    table = abandoned(TableHarness(hands=HANDS).start().to_dealing().deal()).to_dealing()
    code, sentence = table.refused(recall(1), role)
    assert (code, "pit manager" in sentence) == ("role", True)


def test_a_void_round_is_not_over_while_the_void_can_be_lifted() -> None:
    """Nobody who knows the faces may decide whether play continues with them."""
    table = abandoned(TableHarness(hands=HANDS).start().to_dealing().deal())
    assert table.state.phase is Phase.VOIDED
    assert table.refused(recall(1, "B1"), PIT_MANAGER)[0] == "round"
    table.to_betting()
    assert table.refused(recall(1, "B1"), PIT_MANAGER)[0] == "round", "the start may be taken back"
    table.close_bets()
    table.do(recall(1, "B1"), PIT_MANAGER)


def test_a_concluded_round_is_recalled_immediately() -> None:
    table = TableHarness(hands=HANDS).start().to_dealing().finish()
    table.do(recall(1, "D"), PIT_MANAGER)
    assert shown(table, 1) == {"D": HANDS["D"].split()}


def test_a_card_that_the_device_did_not_read_has_no_face() -> None:
    table = TableHarness(Unit.SINGLES, hands=HANDS).start().to_dealing()
    table.device.draw(unread=True)
    abandoned(table.deal()).to_dealing()
    table.do(recall(1, "B1"), PIT_MANAGER)
    assert shown(table, 1)["B1"][0] == ""
    assert Recalled("B1", 1, "") != Recalled("B1", 1, "2C")
