"""Misplaced cards: TP 5.3, RTP 5.4, 5.6, 5.7, NC 5.5.4, 5.7, 5.9, P3 5.3, 5.4."""

from __future__ import annotations

import pytest

from controller.games.specification import Choice, Disposition, Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.model import Stage
from controller.table.phases import Phase
from controller.table.settings import ChosenReading, Settings
from tests.table.harness import TableHarness, cards

CURING = [("TP", "TP 5.3"), ("RTP", "RTP 5.4"), ("NC", "NC 5.5.4"), ("P3", "P3 5.3")]
cured = pytest.mark.parametrize(("game_id", "clause"), CURING)


def dealt(game_id: str, unit: Unit = Unit.SETS, *readings: ChosenReading) -> TableHarness:
    settings = Settings(game_id, unit, 7, count_stub_by_hand=True, readings=readings)
    return TableHarness(unit, game_id=game_id, settings=settings).start().to_dealing().deal()


def lying(table: TableHarness) -> dict[str, list[int]]:
    return {place: [card.ordinal for card in hand.cards] for place, hand in table.state.round.hands.items()}


@cured
def test_complete_hands_are_moved_back_and_the_round_continues(game_id: str, clause: str) -> None:
    table = dealt(game_id, Unit.SINGLES)
    as_dealt = lying(table)
    table.swap("B1", "B6")
    assert lying(table)["B1"] == as_dealt["B6"]
    assert (table.open.kind, table.open.facts.curable) == (Kind.WRONG_DISTRIBUTION, True)
    assert table.open.asks == ("handled",), "that moving hands cures it the table knows by itself"
    table.confirm(handled=False)
    assert (table.open.stage, table.open.row.clause) == (Stage.MOVING, clause)
    assert table.is_held()
    table.put_right()
    moved = table.last(events.CardsReconstructed)
    assert (moved.clause, moved.whole_hands) == (clause, True)
    assert lying(table) == as_dealt
    assert table.last(events.IrregularityResolved).outcome == Disposition.RECONSTRUCT
    table.expose_all().settle().conclude()


def test_the_table_works_out_the_moves_from_where_the_cards_lie() -> None:
    table = dealt("NC")
    table.report(Kind.WRONG_DISTRIBUTION)
    table.confirm(handled=False, curable=True)
    moving = operations.Reconstruct(table.open.id, table.open.revision)
    assert table.refused(moving)[0] == "places"
    table.swap("B1", "B3")
    assert len(table.state.open) == 1, "saying where the cards lie raises it once"
    table.put_right()
    assert not table.state.round.misplaced


def test_tp_5_3_single_cards_at_wrong_places_are_not_put_right_by_moving_hands() -> None:
    table = dealt("TP", Unit.SINGLES)
    table.report(Kind.WRONG_DISTRIBUTION)
    table.confirm(handled=False, curable=True)
    first, second = (table.state.round.hands[place].cards[0].ordinal for place in ("B1", "B3"))
    at = (operations.CardAt(first, "B3"), operations.CardAt(second, "B1"))
    table.do(operations.PlaceCards(at))
    code, sentence = table.refused(operations.Reconstruct(table.open.id, table.open.revision))
    assert (code, sentence) == (
        "hands",
        f"As entered, card {first} of box 1 lies at box 3; card {second} of box 3 lies at box 1. "
        "Moving complete hands does not put that right. "
        "Enter where the cards lie now; if it cannot be done, confirm again and answer no.",
    )


@pytest.mark.parametrize(
    ("cards", "code"),
    [
        ((), "cards"),
        (((1, "B3"), (1, "B6")), "cards"),
        (((40, "B3"),), "cards"),
        (((1, "B9"),), "place"),
        (((1, "B1"),), "place"),
    ],
)
def test_a_place_that_cannot_be_is_refused(cards: tuple[tuple[int, str], ...], code: str) -> None:
    table = dealt("NC")
    said = operations.PlaceCards(tuple(operations.CardAt(*card) for card in cards))
    assert table.refused(said)[0] == code


def test_nc_5_7_2_after_handling_bettors_continue_or_take_the_bet_back() -> None:
    """NC 5.7, 5.7.2, 5.7.3 and 1.13."""
    table = dealt("NC")
    table.handle("B1")
    table.swap("B1", "B3")
    table.confirm(reconstructable=True)
    table.choose(B1=Choice.CONTINUE, B3=Choice.WITHDRAW, B6=Choice.CONTINUE)
    chosen = {event.place: event.clause for event in table.events_of(events.OptionChosen)}
    assert chosen == {"B1": "NC 5.7.2", "B3": "NC 5.7.3", "B6": "NC 5.7.2"}
    assert table.last(events.HandRemoved).clause == "NC 5.7.3"
    assert (table.open.stage, table.is_held()) == (Stage.MOVING, True), "the hands are moved before play goes on"
    denied = operations.DenyIrregularity(table.open.id, table.open.revision, "they lie right")
    assert table.refused(denied, Role.PIT_SUPERVISOR)[0] == "chosen"
    table.put_right(Role.DEALER)
    assert (table.last(events.CardsReconstructed).clause, len(table.last(events.CardsReconstructed).cards)) == (
        "NC 5.7.2",
        6,
    ), "the cards of the hand that is out of play are moved as well"
    assert not table.state.round.misplaced
    table.expose_all().settle().conclude()


def test_nc_5_7_1_where_hands_cannot_be_moved_the_bettors_choose_again() -> None:
    table = dealt("NC")
    table.handle("B1")
    table.swap("B1", "B3")
    table.confirm(reconstructable=True)
    table.choose(B1=Choice.CONTINUE, B3=Choice.WITHDRAW, B6=Choice.CONTINUE)
    table.confirm(reconstructable=False)
    assert (table.open.stage, table.open.choices) == (Stage.CHOOSING, ())
    table.choose(B1=Choice.CONTINUE, B6=Choice.WITHDRAW)
    chosen = {event.place: event.clause for event in table.events_of(events.OptionChosen)}
    assert chosen == {"B1": "NC 5.7.1", "B3": "NC 5.7.3", "B6": "NC 5.7.3"}
    assert not table.state.open


def test_nc_5_7_2_nothing_is_moved_where_every_bettor_withdrew() -> None:
    table = dealt("NC")
    table.handle("B1")
    table.swap("B1", "B3")
    table.confirm(reconstructable=True)
    table.choose(**dict.fromkeys(("B1", "B3", "B6"), Choice.WITHDRAW))
    assert not table.state.open


@pytest.mark.parametrize(
    ("role", "permits"),
    [
        ("shift_manager", Role.SHIFT_MANAGER),
        ("pit_manager", Role.PIT_MANAGER),
        ("pit_supervisor", Role.PIT_SUPERVISOR),
        ("dealer", Role.DEALER),
    ],
)
def test_rtp_5_6_5_7_dissatisfied_bettors_may_be_permitted_to_withdraw(role: str, permits: Role) -> None:
    """Reading 26."""
    table = dealt("RTP", Unit.SETS, ChosenReading("withdrawal_permitted_by", role))
    table.handle("B1")
    table.swap("B1", "B3")
    table.confirm()
    found = table.open
    assert (found.stage, found.row.clause) == (Stage.CHOOSING, "RTP 5.6")
    withdraw = operations.ChooseOption(found.id, found.revision, "B1", Choice.WITHDRAW)
    below = [rank for rank in Role if not rank.reaches(permits)]
    for rank in below:
        assert table.refused(withdraw, rank)[0] == "role"
    table.do(withdraw, permits)
    table.choose(B3=Choice.CONTINUE, B6=Choice.CONTINUE)
    assert table.last(events.HandRemoved).clause == "RTP 5.7"
    assert table.state.round.live_places == ("B3", "B6")
    table.expose_all().settle().conclude()


def test_rtp_5_5_a_hand_that_its_player_viewed_is_removed_until_the_next_round() -> None:
    table = dealt("RTP")
    table.handle("B3")
    table.expose_all().settle().conclude()
    table.report(Kind.WRONG_COUNT, "B3", counted=4)
    table.confirm(viewed=True)
    assert table.last(events.HandRemoved).clause == "RTP 5.5"
    assert not table.state.open, "no choices are made in a settled round"


def test_p3_5_4_a_wrong_count_to_the_dealer_reaches_a_settled_round() -> None:
    table = dealt("P3")
    table.expose_all().settle().conclude()
    table.report(Kind.WRONG_COUNT, "D", counted=2)
    table.confirm(reconstructable=False)
    assert table.at(Phase.VOIDED)
    assert table.last(events.RoundVoided).clause == "P3 5.4"


def test_nc_5_3_a_pit_supervisor_enters_that_an_absent_bettor_continues() -> None:
    """Reading 40."""
    table = dealt("NC")
    table.report(Kind.EXPOSED_CARD)
    table.confirm()
    found = table.open
    absent = operations.ChooseOption(found.id, found.revision, "B1", Choice.CONTINUE, absent=True)
    assert table.refused(absent)[0] == "role"
    leaves = operations.ChooseOption(found.id, found.revision, "B1", Choice.WITHDRAW, absent=True)
    assert table.refused(leaves, Role.PIT_SUPERVISOR)[0] == "absent"
    table.do(absent, Role.PIT_SUPERVISOR)
    assert table.last(events.OptionChosen).absent


def test_a_card_set_aside_is_refused_as_such() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(3)
    table.device.draw_together(2)
    aside = operations.PlaceCards((operations.CardAt(4, "B1"),))
    assert table.refused(aside) == (
        "cards",
        "Card 4 is among the set-aside cards. It has not been dealt to a place yet.",
    )
    never = operations.PlaceCards((operations.CardAt(40, "B1"),))
    assert table.refused(never)[1].startswith("Card 40 was not dealt in this round")


def test_one_card_is_spoken_of_as_one() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take()
    named = operations.NameExposed("B1", cards("KD QC"))
    assert table.refused(named)[1] == "1 card lies at box 1; name each one that was seen once."
    report = operations.ReportIrregularity(Kind.EXPOSED_CARD, "B1", card=2)
    assert table.refused(report)[1] == "1 card lies at box 1; name that one."
