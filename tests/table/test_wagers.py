"""Entered wagers: placing, choices, established outcomes, settlement and its reversal."""

from __future__ import annotations

from fractions import Fraction

import pytest

from controller.api.view import LinkView, view_of
from controller.games.specification import Choice, Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.betting import MOST_BETTORS
from controller.table.model import SettledBet, Stage
from controller.table.phases import Phase
from controller.table.settings import ChosenReading, Settings, WagerLimit
from firmware_bridge.cards import Card
from tests.table.harness import TableHarness

HANDS = {"B1": "KD QC JS", "B2": "9D 8C KS", "D": "KH 7S TD"}
ESTABLISHED = ChosenReading("established_by", "mathematically")


def betting(
    game_id: str = "NC", *readings: ChosenReading, limits: tuple[WagerLimit, ...] = (), hands: dict[str, str] = HANDS
) -> TableHarness:
    """Return a table with bets open; Ann sits at box 1, Bob at box 2, Cy stands."""
    settings = Settings(game_id, Unit.SETS, 3, True, readings, (), limits)
    table = TableHarness(Unit.SETS, (1, 2), hands, settings=settings, game_id=game_id).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    for bettor, seat in (("ann", 1), ("bob", 2), ("cy", None)):
        table.do(operations.EnterBettor(bettor, seat))
    return table


def bet(table: TableHarness, bettor: str, wager: str, box: int, amount: int, *, overlooked: bool = False) -> None:
    table.do(operations.PlaceWager(bettor, wager, box, amount, overlooked))


def dealt(table: TableHarness) -> TableHarness:
    table.do(operations.NoMoreBets())
    return table.deal()


def came_to(table: TableHarness) -> dict[int, SettledBet]:
    return {one.number: one for one in table.state.round.settlement}


@pytest.mark.parametrize("game_id", ["RTP", "NC"])
def test_rtp_3_6_nc_5_16_the_staff_who_placed_a_wager_is_recorded(game_id: str) -> None:
    table = betting(game_id)
    table.do(operations.PlaceWager("cy", "main", 2, 10, placed_by=" Lim "))
    bet(table, "ann", "main", 1, 10)
    assert [(one.bettor, one.placed_by) for one in table.state.layout.bets] == [("cy", "Lim"), ("ann", "")]
    assert table.last(events.LayoutChanged).bets == table.state.layout.bets
    assert view_of(table.state, LinkView()).bets[0].placed_by == "Lim"
    bet(table, "cy", "main", 2, 5)
    table.do(operations.ChangeWager(1, 20))
    dealt(table).expose_all()
    assert came_to(table)[1].bettor == "cy"
    assert [(one.amount, one.placed_by) for one in table.state.layout.bets] == [(20, "Lim"), (10, "")]


def test_no_bettor_is_entered_as_the_staff_that_placed_a_wager() -> None:
    table = betting()
    for name in ("cy", "ann"):
        code, sentence = table.refused(operations.PlaceWager("cy", "main", 1, 10, placed_by=name))
        assert code == "placed-by"
        assert sentence.endswith(f"{name} is a bettor here.")


def test_nc_5_13_a_corrected_wager_keeps_its_placing_person() -> None:
    table = betting()
    bet(table, "ann", "main", 1, 10)
    table.do(operations.NoMoreBets())
    table.do(operations.CorrectBet(1, 10, "Lim placed it", placed_by="Lim"), Role.PIT_SUPERVISOR)
    table.do(operations.CorrectBet(1, 20, "it was more"), Role.PIT_SUPERVISOR)
    table.do(operations.CorrectBet(0, 5, "overlooked", "ann", "tie", 1, "Max"), Role.PIT_SUPERVISOR)
    assert [(one.amount, one.placed_by) for one in table.state.layout.bets] == [(20, "Lim"), (5, "Max")]
    wrong = operations.CorrectBet(1, 20, "cy did", placed_by="cy")
    assert table.refused(wrong, Role.PIT_SUPERVISOR)[0] == "placed-by"


def test_nc_3_9_boxes_with_a_main_wager_are_the_occupied_ones() -> None:
    table = betting()
    code, sentence = table.refused(operations.PlaceWager("ann", "tie", 1, 5))
    assert (code, "NC 3.9" in sentence) == ("no-main", True)
    bet(table, "ann", "main", 1, 10)
    bet(table, "cy", "tie", 1, 5)
    bet(table, "bob", "main", 2, 10)
    assert table.state.round.boxes == (1, 2)
    table.do(operations.TakeBackWager(3))
    assert [one.number for one in table.state.layout.bets] == [1, 2]
    assert table.last(events.BoxesOccupied).boxes == (1,)
    assert table.refused(operations.OccupyBoxes((1, 2)))[0] == "wagers"


def test_nc_3_11_5_8_after_the_close_nothing_is_placed_raised_or_withdrawn() -> None:
    """NC 3.11, 5.8."""
    table = betting()
    bet(table, "ann", "main", 1, 10)
    dealt(table)
    assert "NC 3.11" in table.refused(operations.PlaceWager("bob", "main", 2, 10))[1]
    assert "NC 5.8" in table.refused(operations.TakeBackWager(1))[1]
    assert "NC 3.11" in table.refused(operations.ChangeWager(1, 20))[1]


def test_a_round_is_settled_to_the_last_part_of_a_unit() -> None:
    table = betting(hands={**HANDS, "B1": "KD QC 6S", "D": "2C 3H TD"})
    bet(table, "ann", "main", 1, 15)
    bet(table, "cy", "three_pictures", 1, 5)
    bet(table, "bob", "main", 2, 10)
    dealt(table).expose_all()
    settled = came_to(table)
    assert (settled[1].verdict, settled[1].paid, settled[1].clause) == ("won", "15/2", "NC 4.1")
    assert (settled[2].verdict, settled[2].collected) == ("lost", "5")
    assert settled[3].paid == "10"
    assert table.last(events.WagersSettled).house == str(5 - Fraction(15, 2) - 10)
    table.settle().conclude()


def test_nc_5_15_a_void_round_returns_every_bet() -> None:
    table = betting()
    bet(table, "ann", "main", 1, 15)
    bet(table, "cy", "tie", 1, 5)
    dealt(table)
    table.report(Kind.UNSHUFFLED)
    table.confirm()
    assert {(one.verdict, one.returned) for one in table.state.round.settlement} == {
        ("returned", "15"),
        ("returned", "5"),
    }


def test_nc_5_5_5_a_round_voided_after_it_was_settled_is_reversed_and_returned() -> None:
    """NC 5.5.5, 5.15."""
    table = betting()
    bet(table, "ann", "main", 1, 10)
    dealt(table).expose_all().settle().conclude()
    paid = table.state.round.settlement
    table.report(Kind.WRONG_COUNT, "D", counted=4)
    table.confirm(reconstructable=False)
    assert table.last(events.SettlementReversed).bets == paid
    assert came_to(table)[1].returned == "10"
    assert table.at(Phase.VOIDED)


def test_nc_5_9_a_hand_removed_after_settling_is_settled_again() -> None:
    table = betting()
    bet(table, "ann", "main", 1, 10)
    bet(table, "bob", "main", 2, 10)
    dealt(table)
    table.handle("B1")
    table.expose_all().settle().conclude()
    table.report(Kind.WRONG_COUNT, "B1", counted=4)
    table.confirm(reconstructable=False)
    assert [type(event).__name__ for event in table.events_of(events.SettlementReversed)] == ["SettlementReversed"]
    assert (came_to(table)[1].verdict, came_to(table)[1].clause) == ("returned", "NC 5.9")
    assert came_to(table)[2].verdict == "won" or came_to(table)[2].verdict == "returned"
    assert not table.state.round.chips_paid, "what has to be moved now is not paid yet"


def test_reading_38_nc_5_7_each_bettor_of_a_box_chooses_for_himself() -> None:
    """NC 1.16, 5.7, 5.7.3."""
    table = betting()
    bet(table, "ann", "main", 1, 10)
    bet(table, "cy", "main", 1, 20)
    bet(table, "bob", "main", 2, 10)
    dealt(table)
    table.report(Kind.EXPOSED_CARD)
    table.confirm()
    found = table.open
    of_box = "The choice at box 1 belongs to ann and cy; name one of them."
    for bettor in ("", "bob"):
        said = operations.ChooseOption(found.id, found.revision, "B1", Choice.CONTINUE, bettor=bettor)
        assert table.refused(said) == ("bettor", of_box)
    said = operations.ChooseOption(found.id, found.revision, "B2", Choice.CONTINUE, bettor="ann")
    assert table.refused(said) == ("bettor", "The choice at box 2 belongs to bob; name that bettor.")
    for place, bettor, choice in (
        ("B1", "cy", Choice.WITHDRAW),
        ("B1", "ann", Choice.CONTINUE),
        ("B2", "bob", Choice.WITHDRAW),
    ):
        table.do(operations.ChooseOption(found.id, found.revision, place, choice, bettor=bettor))
    assert [(event.bettor, event.clause) for event in table.events_of(events.BettorWithdrew)] == [
        ("cy", "NC 5.7.3"),
        ("bob", "NC 5.7.3"),
    ]
    assert table.state.round.live_places == ("B1",), "a hand is dead when no bettor is left"
    table.expose_all()
    assert {number: one.verdict for number, one in came_to(table).items()} == {1: "won", 2: "returned", 3: "returned"}


def test_rtp_5_13_1_a_bettor_withdraws_all_his_wagers() -> None:
    table = betting("RTP", ESTABLISHED)
    bet(table, "ann", "main", 1, 10)
    bet(table, "ann", "main", 2, 10)
    bet(table, "bob", "main", 2, 10)
    dealt(table)
    table.report(Kind.POWER_FAILURE)
    assert (table.open.row.clause, table.open.asks) == ("RTP 5.13.1", ()), "nothing is shown, so nothing is established"
    table.confirm()
    found = table.open
    table.do(operations.ChooseOption(found.id, found.revision, "B1", Choice.WITHDRAW, bettor="ann"))
    table.do(operations.ChooseOption(found.id, found.revision, "B2", Choice.CONTINUE, bettor="bob"))
    assert [(event.bettor, event.box) for event in table.events_of(events.BettorWithdrew)] == [("ann", 1), ("ann", 2)]
    assert table.state.round.live_places == ("B2",)
    table.expose_all()
    assert [one.clause for one in table.state.round.settlement].count("RTP 5.13.1") == 2


@pytest.mark.parametrize(
    ("game_id", "shown", "clause"),
    [
        ("RTP", "KD 5C 9S", "RTP 5.13.2"),  # Royal Pictures has won
        ("NC", "TC 5C 9S", "NC 5.4.1"),  # Three Pictures has lost
    ],
)
def test_rtp_5_13_nc_5_4_shown_cards_establish_an_outcome(game_id: str, shown: str, clause: str) -> None:
    """RTP 5.13.2, NC 5.4.1 by the cards on the table (reading 42)."""
    table = betting(game_id, ESTABLISHED, hands={**HANDS, "B1": shown})
    bet(table, "ann", "main", 1, 10)
    bet(table, "ann", "royal" if game_id == "RTP" else "three_pictures", 1, 10)
    bet(table, "bob", "main", 2, 10)
    dealt(table)
    for place in ("B1",) if game_id == "RTP" else ("D", "B1"):
        table.expose(place)
    table.report(Kind.POWER_FAILURE)
    asks = ("affects_play",) if game_id == "NC" else ()
    assert (table.open.row.clause, table.open.asks) == (clause, asks)


def test_nc_5_4_2_with_nothing_shown_nothing_is_established_and_the_round_is_void() -> None:
    table = betting("NC", ESTABLISHED)
    bet(table, "ann", "main", 1, 10)
    dealt(table)
    table.report(Kind.POWER_FAILURE)
    table.confirm(affects_play=True)
    assert table.last(events.RoundVoided).clause == "NC 5.4.2"


def test_reading_29_without_wagers_it_is_unknown_whether_an_outcome_is_established() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.POWER_FAILURE)
    table.confirm(affects_play=True)
    assert (table.open.stage, table.open.row.clause) == (Stage.RULING, "NC 5.17")


def test_nc_5_14_a_side_bet_without_a_main_is_noticed_at_the_close_and_returned() -> None:
    table = betting()
    bet(table, "ann", "main", 1, 10)
    bet(table, "cy", "tie", 2, 5, overlooked=True)
    table.do(operations.NoMoreBets())
    assert (table.open.kind, table.open.row.clause) == (Kind.SIDE_WITHOUT_MAIN, "NC 5.14")
    assert str(table.open.note) == "bet 2 has no main bet"
    assert not table.is_held()
    table.confirm(Role.DEALER)
    table.deal().expose_all()
    assert (came_to(table)[2].verdict, came_to(table)[2].clause) == ("returned", "NC 5.14")


def test_rtp_3_5_a_side_wager_without_a_main_one_waits_for_a_ruling() -> None:
    table = betting("RTP", ESTABLISHED)
    bet(table, "ann", "main", 1, 10)
    bet(table, "cy", "tie", 2, 5, overlooked=True)
    table.do(operations.NoMoreBets())
    table.deal().expose_all()
    assert came_to(table)[2].held == "5"
    assert table.refused(operations.RecordSettled())[0] == "held"
    found = table.open
    wrong = operations.Rule(found.id, found.revision, RulingAction.RETURN_BETS, "manager", "so", bets=(9,))
    assert table.refused(wrong, Role.SHIFT_MANAGER)[0] == "bets"
    back = operations.Rule(found.id, found.revision, RulingAction.RETURN_BETS, "manager", "given back")
    table.do(back, Role.SHIFT_MANAGER)
    assert table.last(events.Ruled).bets == (2,), "it names none, so it is about all that lie without a main wager"
    assert came_to(table)[2].returned == "5"
    table.settle().conclude()


def test_limits_of_the_configuration_are_held() -> None:
    table = betting(limits=(WagerLimit("main", 10, 100),))
    assert table.refused(operations.PlaceWager("ann", "main", 1, 5))[0] == "under-minimum"
    bet(table, "ann", "main", 1, 80)
    bet(table, "cy", "main", 1, 50)
    back = table.last(events.LayoutChanged).handed_back
    assert [(one.bettor, one.amount, one.clause) for one in back] == [("cy", 30, "NC 5.1")]


def test_rtp_3_8_a_pit_manager_keeps_a_bettor_to_one_box() -> None:
    table = betting("RTP", ESTABLISHED)
    restricted = operations.RestrictBetting(one_box=("ann",))
    assert table.refused(restricted, Role.PIT_SUPERVISOR)[0] == "role"
    table.do(restricted, Role.PIT_MANAGER)
    bet(table, "ann", "main", 1, 10)
    code, sentence = table.refused(operations.PlaceWager("ann", "main", 2, 10))
    assert (code, "RTP 3.8" in sentence) == ("one-box-only", True)
    table.do(operations.RestrictBetting(), Role.PIT_MANAGER)
    bet(table, "ann", "main", 2, 10)


def test_rtp_5_10_the_table_remembers_whose_one_time_under_the_minimum_is_used_up() -> None:
    table = betting("RTP", ESTABLISHED, limits=(WagerLimit("main", 10, 100),))
    for verdict in ("won", "returned"):
        if table.state.round.number > 1 or table.at(Phase.CONCLUDED):
            table.fresh_deck()
            table.do(operations.PlaceYourBets())
        bet(table, "ann", "main", 1, 5, overlooked=True)
        bet(table, "bob", "main", 2, 10)
        dealt(table).expose_all()
        settled = next(one for one in table.state.round.settlement if one.bettor == "ann")
        assert settled.verdict == verdict
        table.settle().conclude()
    assert settled.clause == "RTP 5.10"


def test_a_bettor_with_bets_stays_entered_and_keeps_his_token_from_round_to_round() -> None:
    table = betting()
    bet(table, "ann", "main", 1, 10)
    assert table.refused(operations.BettorLeaves("ann"))[0] == "bets"
    table.do(operations.BettorLeaves("cy"))
    assert table.refused(operations.PlaceWager("cy", "tie", 1, 5))[0] == "unknown-bettor"
    dealt(table).expose_all().settle().conclude()
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    assert not table.state.layout.bets
    bet(table, "ann", "main", 1, 10)


def test_a_card_shown_by_the_device_counts_where_the_casino_says_so() -> None:
    """Setting known_cards: cards that the device recognised count as known."""
    recognised = ChosenReading("known_cards", "recognised")
    table = betting("NC", ESTABLISHED, recognised, hands={**HANDS, "B1": "TC 5C 9S"})
    bet(table, "ann", "main", 1, 10)
    bet(table, "ann", "three_pictures", 1, 10)
    dealt(table)
    table.report(Kind.POWER_FAILURE)
    assert table.open.row.clause == "NC 5.4.1"
    assert Card.parse("TC").code not in str(table.last(events.IrregularityRaised))


def test_a_table_has_a_limited_number_of_bettors() -> None:
    """The state holds all of them."""
    table = TableHarness(Unit.SINGLES, (1,)).start()
    table.do(operations.OpenTable())
    for number in range(MOST_BETTORS):
        table.do(operations.EnterBettor(f"bettor {number}"))
    assert table.refused(operations.EnterBettor("one more"))[0] == "too-many"
    table.do(operations.EnterBettor("bettor 0", 1))
    table.do(operations.BettorLeaves("bettor 1"))
    table.do(operations.EnterBettor("one more"))


@pytest.mark.parametrize("game_id", ["TP", "RTP", "NC", "P3", "F3"])
def test_a_bet_for_a_bettor_who_left_is_refused_until_the_bettor_is_entered(game_id: str) -> None:
    table = TableHarness(game_id=game_id).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    main = next(wager.id for wager in table.state.law.wagers if wager.main)
    for name, seat in (("ann", 1), ("bob", 2)):
        table.do(operations.EnterBettor(name, seat))
    table.do(operations.PlaceWager("ann", main, 1, 10))
    table.do(operations.BettorLeaves("bob"))
    unknown = ("unknown-bettor", "Bettor bob is not entered; enter the bettor first.")
    assert table.refused(operations.PlaceWager("bob", main, 2, 10)) == unknown
    table.do(operations.NoMoreBets())
    overlooked = operations.CorrectBet(0, 10, "his chips were not seen", "bob", main, 2)
    assert table.refused(overlooked, Role.PIT_SUPERVISOR) == unknown
    table.do(operations.EnterBettor("bob", 2))
    table.do(overlooked, Role.PIT_SUPERVISOR)
    assert [bet.bettor for bet in table.state.layout.bets] == ["ann", "bob"]
