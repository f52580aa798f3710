"""Rulings of a person of rank where the document refers the case (NC 5.17, RTP 6.1) or has no clause."""

from __future__ import annotations

import pytest

from controller.games.specification import Facts, Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.model import Stage
from controller.table.phases import Phase
from tests.table.harness import TableHarness

A = RulingAction
REFERRED = Kind.WRONG_VIEWER


def referred(game_id: str = "NC", unit: Unit = Unit.SETS) -> TableHarness:
    """Return a table after the deal: a second hand was viewed, and the shift manager has to rule."""
    table = TableHarness(unit, game_id=game_id).start().to_dealing().deal()
    table.report(REFERRED)
    assert table.open.stage is Stage.RULING
    return table


def ruling(table: TableHarness, action: A, **named: tuple[object, ...]) -> operations.Rule:
    found = table.open
    return operations.Rule(found.id, found.revision, action, "shift manager", "so decided", **named)  # type: ignore[arg-type]  # places and ordinals


@pytest.mark.parametrize(("game_id", "clause"), [("NC", "NC 5.17"), ("RTP", "RTP 6.1")])
def test_nc_5_17_rtp_6_1_play_continues_by_a_ruling(game_id: str, clause: str) -> None:
    table = referred(game_id)
    table.rule(A.CONTINUE)
    assert table.last(events.IrregularityResolved).clause == clause
    table.expose_all().settle().conclude()


def test_nc_5_17_hands_are_removed_by_a_ruling_that_names_them() -> None:
    table = referred()
    for places in ((), ("B2",), ("D",), ("B1", "nowhere")):
        assert table.refused(ruling(table, A.REMOVE_HANDS, places=places), Role.SHIFT_MANAGER)[0] == "place"
    table.rule(A.REMOVE_HANDS, places=("B1", "B3"))
    removed = table.events_of(events.HandRemoved)
    assert [(event.place, event.clause, event.authority) for event in removed] == [
        ("B1", "NC 5.17", "shift manager"),
        ("B3", "NC 5.17", "shift manager"),
    ]
    assert table.state.round.live_places == ("B6",)


def test_f3_no_hand_is_removed_by_a_ruling_while_no_box_is_marked() -> None:
    """F3 leaves a foreign card to a ruling, also while bets are open."""
    table = TableHarness(game_id="F3").start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    table.report(Kind.FOREIGN_CARD)
    code, sentence = table.refused(ruling(table, A.REMOVE_HANDS, places=("B1",)), Role.SHIFT_MANAGER)
    assert (code, str(sentence)) == ("place", "No hand is in play; choose another ruling.")


def test_nc_5_17_cards_are_put_right_by_a_ruling_once_it_is_known_where_they_lie() -> None:
    table = referred()
    found = table.open
    assert table.refused(ruling(table, A.RECONSTRUCT), Role.SHIFT_MANAGER)[0] == "places"
    table.swap("B1", "B6")
    table.rule(A.RECONSTRUCT, found=found)
    assert not table.state.round.misplaced


def test_nc_5_17_the_order_of_cards_that_wait_is_named_by_a_ruling() -> None:
    table = TableHarness(Unit.SINGLES).start().to_betting()
    table.device.exit_held = False
    table.device.draw()
    table.device.draw()
    first, second = table.state.open
    wrong = operations.Rule(first.id, first.revision, A.NAME_ORDER, "manager", "so", (), (1, 3))
    assert table.refused(wrong, Role.SHIFT_MANAGER)[0] == "order"
    table.rule(A.NAME_ORDER, found=first, ordinals=(2, 1))
    assert [card.ordinal for card in table.state.decks.aside] == [2, 1]
    table.rule(A.CONTINUE, found=second)
    table.do(operations.NoMoreBets())
    table.move_cards()
    assert [card.ordinal for card in table.state.round.hands["B1"].cards] == [2]


def test_no_ruling_on_who_looked_names_an_order() -> None:
    """The set in the tray keeps the order in which it came."""
    table = TableHarness().start().to_dealing()
    table.take()
    table.report(REFERRED, "B1")
    waiting = tuple(card.ordinal for card in table.state.decks.tray)
    assert waiting
    assert table.refused(ruling(table, A.NAME_ORDER, ordinals=waiting), Role.SHIFT_MANAGER)[0] == "order"


def test_a_ruling_without_authority_or_reason_is_refused() -> None:
    table = referred()
    found = table.open
    for authority, text in (("", "so decided"), ("shift manager", " ")):
        nothing = operations.Rule(found.id, found.revision, A.CONTINUE, authority, text)
        assert table.refused(nothing, Role.SHIFT_MANAGER)[0] == "ruling"


# -- errors of the previous round --------------------------------------------------------------------------------------


def second_round(game_id: str) -> TableHarness:
    table = TableHarness(game_id=game_id).start().to_dealing().finish().to_dealing()
    table.take()
    return table


@pytest.mark.parametrize(
    ("game_id", "kind", "clause"),
    [
        ("TP", Kind.FOREIGN_CARD, "TP 5.1.2"),
        ("RTP", Kind.DECK_COUNT, "RTP 5.1.2"),
        ("RTP", Kind.OUTSIDE_LIMITS, "RTP 5.12"),
        ("NC", Kind.WRONG_COUNT, "NC 5.6"),
        ("NC", Kind.EXPOSED_CARD, "NC 5.6"),
        ("P3", Kind.FOREIGN_CARD, "P3 5.1.2"),
    ],
)
def test_nc_5_12_what_is_found_a_round_later_stands_and_holds_nothing(game_id: str, kind: Kind, clause: str) -> None:
    """TP 5.1.2, RTP 5.1.2, 5.12, NC 5.6, 5.12, P3 5.1.2."""
    table = second_round(game_id)
    table.report(kind, earlier=True)
    assert (table.open.row.id, table.open.round) == ("I24", 1)
    assert not table.is_held()
    table.deal()
    table.confirm()
    assert table.last(events.IrregularityResolved).clause == clause
    assert not table.events_of(events.RoundVoided)
    table.expose_all().settle().conclude()


def test_an_earlier_round_can_be_ruled_void_and_the_one_in_progress_continues() -> None:
    table = second_round("TP")
    table.report(Kind.UNSHUFFLED, earlier=True)
    assert table.open.stage is Stage.RULING
    for action in (A.RECONSTRUCT, A.REMOVE_HANDS, A.NAME_ORDER):
        assert table.refused(ruling(table, action), Role.SHIFT_MANAGER)[0] == "earlier-round"
    table.rule(A.VOID)
    voided = table.last(events.RoundVoided)
    assert (voided.of_round, voided.authority) == (1, "shift manager")
    table.deal().expose_all().settle().conclude()
    assert table.state.round.number == 2


def test_nothing_is_earlier_than_the_first_round_and_nothing_in_a_settled_one() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    earlier = operations.ReportIrregularity(Kind.WRONG_COUNT, "B1", counted=4, earlier=True)
    assert table.refused(earlier)[0] == "round"
    table.finish()
    assert table.refused(earlier)[0] == "round"


def test_before_the_first_card_a_dealing_error_does_not_concern_this_round() -> None:
    """NC 5.6: otherwise an error of the settled round would void the round that has just begun."""
    table = TableHarness().start().to_dealing().finish().to_betting()
    for kind in (Kind.WRONG_DISTRIBUTION, Kind.DEALER_EXPOSED_EARLY, Kind.DROPPED_CARD):
        assert table.refused(operations.ReportIrregularity(kind))[0] == "round"
    table.report(Kind.WRONG_DISTRIBUTION, earlier=True)
    table.confirm()
    assert table.at(Phase.BETTING)


# -- the device has failed ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("game_id", ["NC", "TP", "F3"])
def test_a_round_is_dealt_to_its_end_by_hand_when_the_device_is_dead(game_id: str, unit: Unit) -> None:
    table = TableHarness(unit, game_id=game_id).start().to_dealing()
    table.take(2 if unit is Unit.SETS else 4)
    out = len(table.device.lifted)
    by_hand = operations.DealByHand(2, "its motor burnt")
    assert table.refused(by_hand, Role.PIT_SUPERVISOR)[0] == "device"
    table.lose_link()
    assert table.refused(by_hand, Role.DEALER)[0] == "role"
    table.do(by_hand, Role.PIT_SUPERVISOR)
    left = len(table.state.round.places) - table.state.round.dealt
    too_many = operations.DealByHand(left + 1, "its motor burnt")
    assert table.refused(too_many, Role.PIT_SUPERVISOR)[0] == "cards"
    table.do(operations.DealByHand(left, "its motor burnt"), Role.PIT_SUPERVISOR)
    assert {hand.size for hand in table.state.round.hands.values()} == {3}
    assert not table.state.decks.tray
    assert table.state.stub_due == 52 - out - 2 - left


def test_a_wrong_count_that_ends_in_a_ruling_is_known_to_the_end_count() -> None:
    """RTP 6.1: the extra card is at the Dealer's place, so the stub is one short."""
    table = TableHarness(game_id="RTP").start().to_dealing()
    table.take()
    table.device.pass_unseen(1)
    table.deal()
    table.handle("B1")
    for found in table.state.open:
        table.deny(found=found)
    table.report(Kind.WRONG_COUNT, "D", counted=4)
    table.rule(A.CONTINUE)
    assert table.state.round.hands["D"].size == 4


def test_cards_put_right_for_a_dropped_card_raise_no_second_irregularity() -> None:
    table = TableHarness(game_id="TP").start().to_dealing().deal()
    table.report(Kind.DROPPED_CARD, "B1")
    table.confirm(misplaced=True, handled=False, curable=True)
    table.swap("B1", "B3")
    assert len(table.state.open) == 1, "it is being put right already"
    table.put_right()
    table.expose_all().settle().conclude()


def test_f3_x1_in_mid_deal_a_new_shuffle_decides_nothing() -> None:
    table = TableHarness(game_id="F3").start().to_dealing()
    table.take()
    table.report(Kind.CARD_IN_SHUFFLING)
    table.confirm()
    assert table.open.stage is Stage.RULING
    table.rule(A.VOID)
    assert table.at(Phase.VOIDED)


def test_rtp_5_5_the_table_has_recorded_who_viewed_a_hand() -> None:
    table = TableHarness(game_id="RTP").start().to_dealing().deal()
    table.do(operations.HandleCards("B3", viewed=True))
    table.report(Kind.WRONG_COUNT, "B3", counted=4)
    assert (table.open.row.clause, table.open.asks) == ("RTP 5.5", ())
    confirm = operations.ConfirmIrregularity(table.open.id, table.open.revision, Facts(viewed=False))
    assert table.refused(confirm, Role.PIT_SUPERVISOR)[0] == "fact"


def test_rtp_5_8_1_the_table_knows_which_card_was_the_first() -> None:
    for taken, place, clause in ((1, "B1", "RTP 5.8.1"), (2, "B3", "RTP 5.8")):
        table = TableHarness(Unit.SINGLES, game_id="RTP").start().to_dealing()
        table.take(taken)
        table.report(Kind.EXPOSED_CARD, place, card=1)
        assert (table.open.row.clause, table.open.asks) == (clause, ())


def test_a_round_continued_by_hand_ends_by_hand() -> None:
    table = TableHarness().start().to_dealing()
    table.lose_link()
    table.do(operations.DealByHand(3, "its cable is torn"), Role.PIT_SUPERVISOR)
    table.connect()
    table.do(operations.ContinueRound())
    table.do(operations.DealByHand(9, "its stub is out"), Role.PIT_SUPERVISOR)
    assert table.at(Phase.EXAMINING)


def test_f3_pm5_a_shown_first_card_is_not_drawn_again_by_hand() -> None:
    table = TableHarness(Unit.SINGLES, game_id="F3").start().to_betting()
    table.do(operations.NoMoreBets())
    table.take()
    table.lose_link()
    assert table.refused(operations.DealByHand(1, "its cable is torn"), Role.PIT_SUPERVISOR)[0] == "cards"


def test_nc_5_17_the_required_rank_is_named_with_its_clause_where_there_is_one() -> None:
    for game_id, clause in (("NC", " (NC 5.17)"), ("TP", "")):
        table = referred(game_id)
        code, sentence = table.refused(ruling(table, A.CONTINUE))
        assert (code, f" or above may rule on this{clause};" in sentence) == ("role", True), sentence


# -- side bets without a hand ------------------------------------------------------------------------------------------


def with_side_bet(game_id: str, wager: str, *mains: int) -> TableHarness:
    """Return a table with main bets of Ann on these boxes and a side bet of Bob on box 2."""
    table = TableHarness(game_id=game_id).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    for bettor in ("ann", "bob"):
        table.do(operations.EnterBettor(bettor))
    for box in mains:
        table.do(operations.PlaceWager("ann", "main", box, 10))
    table.do(operations.PlaceWager("bob", wager, 2, 10, overlooked=True))
    table.do(operations.NoMoreBets())
    return table


@pytest.mark.parametrize(
    ("game_id", "wager"), [("TP", "three_pictures"), ("RTP", "royal"), ("P3", "player_prosperity")]
)
def test_a_side_bet_on_a_box_without_a_hand_can_only_be_returned(game_id: str, wager: str) -> None:
    table = with_side_bet(game_id, wager, 1)
    goes_on = operations.Rule(table.open.id, table.open.revision, RulingAction.CONTINUE, "shift manager", "it stands")
    assert table.refused(goes_on, Role.SHIFT_MANAGER)[0] == "no-hand"
    table.rule(RulingAction.RETURN_BETS)
    table.finish()
    assert [(bet.number, bet.verdict) for bet in table.state.round.settlement if bet.number == 2] == [(2, "returned")]


def test_p3_3_4_a_side_bet_on_the_dealers_hand_needs_no_hand_of_its_box() -> None:
    table = with_side_bet("P3", "dealer_prosperity", 1)
    table.rule(RulingAction.CONTINUE)
    table.finish()
    assert table.state.round.settlement[1].verdict in ("won", "lost")


@pytest.mark.parametrize(("game_id", "wager"), [("TP", "three_pictures"), ("RTP", "royal")])
def test_a_side_bet_that_loses_its_hand_is_decided_again(game_id: str, wager: str) -> None:
    """A ruling settled it by the hand of box 2, to which nothing is dealt after the correction."""
    table = with_side_bet(game_id, wager, 1, 2)
    if table.state.open:
        table.rule(RulingAction.CONTINUE)
    table.do(operations.CorrectBet(2, 0, "it lay on box 1"), Role.PIT_SUPERVISOR)
    assert table.open.kind is Kind.SIDE_WITHOUT_MAIN
    table.rule(RulingAction.RETURN_BETS)
    table.finish()
    assert table.state.round.settlement[-1].verdict == "returned"
