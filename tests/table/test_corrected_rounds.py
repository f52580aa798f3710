"""Corrections of the deal itself: its boxes, its First Card, the bets, payment and conclusion."""

from __future__ import annotations

import pytest

from controller.api.view import LinkView, view_of
from controller.games.specification import Choice, Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.irregularities.questions import claims
from controller.table.model import Stage
from controller.table.phases import Phase
from firmware_bridge.cards import Card
from tests.table.correction_hands import correct, last_entry, with_bets
from tests.table.harness import TableHarness, cards

# -- the order of the deal ---------------------------------------------------------------------------------------------


def test_nc_3_12_1_a_box_that_was_left_out_gets_its_hand() -> None:
    """B5 was occupied and not entered: the cards of B6 and the Dealer belong one place further on."""
    table = TableHarness().start().to_dealing()
    table.take(3)
    correct(table, operations.OccupyBoxes, operations.OccupyBoxes((1, 3, 5, 6)))
    assert set(table.state.round.misplaced.values()) == {("B6", "B5")}
    table.confirm(handled=False)
    table.put_right()
    assert table.state.round.next_place == "B6"
    assert len(table.state.round.hands["B5"].cards) == 3


def test_nc_3_12_1_a_box_left_out_of_a_complete_deal_still_gets_its_hand() -> None:
    table = TableHarness().start().to_dealing().deal()
    correct(table, operations.OccupyBoxes, operations.OccupyBoxes((1, 3, 5, 6)))
    assert table.at(Phase.DEALING_SETS)
    table.confirm(handled=False)
    table.put_right()
    assert table.state.round.next_place == "D"


def test_nc_5_7_1_where_hands_stay_the_box_without_cards_gets_the_rest() -> None:
    """B6 was left out: the Dealer has its cards, and three cards remain to be dealt."""
    table = TableHarness(boxes=(1, 3)).start().to_dealing().deal()
    correct(table, operations.OccupyBoxes, operations.OccupyBoxes((1, 3, 6)))
    table.confirm(handled=True, reconstructable=False)
    table.all_continue()
    assert (table.state.round.next_place, table.state.round.cards_due) == ("B6", 3)
    table.do(operations.DealByHand(3, "the stub is out"), Role.PIT_SUPERVISOR)
    assert table.at(Phase.EXAMINING)
    assert {place: hand.size for place, hand in table.state.round.hands.items()} == dict.fromkeys(
        ("B1", "B3", "B6", "D"), 3
    )


@pytest.mark.parametrize("unit", Unit)
def test_nc_5_7_3_a_box_without_its_cards_gets_its_bets_back(unit: Unit) -> None:
    """B5 was marked instead of B6, and its hand stays there: nothing is left to continue with at B6."""
    table = TableHarness(unit, boxes=(1, 5)).start().to_dealing().deal()
    correct(table, operations.OccupyBoxes, operations.OccupyBoxes((1, 6)))
    table.confirm(handled=True, reconstructable=False)
    goes_on = operations.ChooseOption(table.open.id, table.open.revision, "B6", Choice.CONTINUE)
    assert table.refused(goes_on)[0] == "no-cards"
    table.choose(B6=Choice.WITHDRAW, B1=Choice.CONTINUE)
    assert not table.state.open
    assert table.state.round.live_places == ("B1",)
    for place in ("D", "B1"):
        table.do(operations.ExposeHand(place, faces(table, place)))
    assert table.at(Phase.SETTLING)


@pytest.mark.parametrize("game_id", ["TP", "P3"])
def test_a_ruling_to_continue_covers_a_bet_without_cards(game_id: str) -> None:
    table = TableHarness(boxes=(1, 5), game_id=game_id).start().to_dealing().deal()
    correct(table, operations.OccupyBoxes, operations.OccupyBoxes((1, 6)))
    while table.open.stage is not Stage.RULING:
        table.confirm(handled=True, reconstructable=False)
    found = table.open
    for action, places in ((RulingAction.CONTINUE, ()), (RulingAction.REMOVE_HANDS, ("B1",))):
        ruled = operations.Rule(found.id, found.revision, action, "shift manager", "so decided", places)
        assert table.refused(ruled, Role.SHIFT_MANAGER)[0] == "no-cards"
    table.rule(RulingAction.REMOVE_HANDS, places=("B6",))
    assert table.state.round.live_places == ("B1",)
    assert not table.state.open


def dealt_to_a_box_without_a_bet(game_id: str, unit: Unit, cards_taken: int) -> TableHarness:
    """Return a table where B1 has cards and no bet: too few cards remain for B2 or the Dealer."""
    table = TableHarness(unit, boxes=(1, 2), game_id=game_id).start().to_dealing()
    table.take(cards_taken)
    correct(table, operations.OccupyBoxes, operations.OccupyBoxes((2,)))
    while table.open.stage is Stage.CLAIMED:
        table.confirm(handled=True, reconstructable=False)
    return table


@pytest.mark.parametrize("game_id", ["TP", "P3"])
@pytest.mark.parametrize(("unit", "cards_taken"), [(Unit.SETS, 1), (Unit.SINGLES, 4)])
def test_a_ruling_in_the_deal_leaves_no_hand_without_its_cards(game_id: str, unit: Unit, cards_taken: int) -> None:
    table = dealt_to_a_box_without_a_bet(game_id, unit, cards_taken)
    found = table.open
    goes_on = operations.Rule(found.id, found.revision, RulingAction.CONTINUE, "shift manager", "so decided")
    assert table.refused(goes_on, Role.SHIFT_MANAGER)[0] == "no-cards"
    table.rule(RulingAction.RECONSTRUCT)
    table.finish()


@pytest.mark.parametrize("game_id", ["RTP", "NC"])
def test_rtp_5_6_nc_5_7_no_bettor_continues_with_too_few_cards(game_id: str) -> None:
    table = dealt_to_a_box_without_a_bet(game_id, Unit.SETS, 1)
    goes_on = operations.ChooseOption(table.open.id, table.open.revision, "B2", Choice.CONTINUE)
    assert table.refused(goes_on)[0] == "no-cards"


@pytest.mark.parametrize("game_id", ["RTP", "NC"])
def test_rtp_6_1_nc_5_17_where_the_dealer_gets_too_few_cards_it_is_referred(game_id: str) -> None:
    """By RTP 5.6 or NC 5.7.1 the cards stay in their places, and the round cannot be played to its end."""
    table = dealt_to_a_box_without_a_bet(game_id, Unit.SINGLES, 4)
    assert (table.open.stage, table.open.row.clause) == (Stage.RULING, table.state.game.silent_clause)
    table.rule(RulingAction.RECONSTRUCT)
    table.finish()


def faces(table: TableHarness, place: str) -> tuple[Card, ...]:
    """Return the faces of the cards there, in order."""
    return tuple(card.face.expose() for card in table.state.round.hands[place].cards if card.face)


def test_nc_5_17_cards_that_cannot_be_moved_as_chosen_are_referred() -> None:
    """The order of cards that came together is known, but not which hand got which of them."""
    table = TableHarness().start().to_dealing().deal()
    table.report(Kind.SIMULTANEOUS, "B3")
    table.swap("B1", "B3")
    for found in table.state.open:
        if found.kind is Kind.SIMULTANEOUS:
            table.confirm(found=found, order_known=True)
        else:
            table.confirm(found=found, handled=True, reconstructable=True)
    while choosing := [one for one in table.state.open if one.stage is Stage.CHOOSING]:
        for place in table.state.round.live_places:
            table.do(operations.ChooseOption(choosing[0].id, choosing[0].revision, place, Choice.CONTINUE))
    moving = next(one for one in table.state.open if one.kind is Kind.SIMULTANEOUS)
    table.confirm(found=moving, curable=False, reconstructable=False)
    referred = next(one for one in table.state.open if one.kind is Kind.SIMULTANEOUS)
    assert (referred.stage, referred.row.clause) == (Stage.RULING, "NC 5.17")


def test_nc_5_7_2_the_dealer_gets_the_cards_back_without_any_bettor_to_choose() -> None:
    """The only main bet was entered wrongly: a side bet without a hand remains, and the Dealer's cards are at B1."""
    table = with_bets()
    table.take(2)
    table.do(operations.CorrectBet(0, 5, "not keyed", "ann", "tie", 1), Role.PIT_SUPERVISOR)
    for number in (1, 2):
        table.do(operations.CorrectBet(number, 0, "it did not lie there"), Role.PIT_SUPERVISOR)
    while table.state.open:
        found = table.state.open[0]
        match found.stage:
            case Stage.CLAIMED:
                table.confirm(Role.SHIFT_MANAGER, found, **dict.fromkeys(found.asks, True))
            case Stage.MOVING:
                table.do(operations.Reconstruct(found.id, found.revision), Role.SHIFT_MANAGER)
            case _:
                table.rule(RulingAction.CONTINUE, found=found)
    assert table.state.round.hands["D"].size == 3


def test_boxes_that_were_marked_are_not_emptied_by_a_bet_that_is_entered_later() -> None:
    table = TableHarness().start().to_betting()
    table.do(operations.EnterBettor("ann"))
    table.close_bets()
    late = operations.CorrectBet(0, 5, "not keyed", "ann", "tie", 1)
    assert table.refused(late, Role.PIT_SUPERVISOR)[0] == "no-wagers"
    assert table.state.round.boxes == (1, 3, 6)


def test_a_decision_that_is_taken_back_still_knows_where_each_card_belongs() -> None:
    """The remaining card went to B6, which lacked cards; after the correction it belongs to the Dealer."""
    table = TableHarness(boxes=(1, 3)).start().to_dealing().deal()
    correct(table, operations.OccupyBoxes, operations.OccupyBoxes((1, 3, 6)))
    table.confirm(handled=True, reconstructable=False)
    table.all_continue()
    table.do(operations.DealByHand(3, "the stub is out"), Role.PIT_SUPERVISOR)
    assert set(table.state.round.misplaced.values()) == {("D", "B6"), ("B6", "D")}
    assert table.state.round.curable


def test_rtp_5_6_single_cards_go_to_the_places_that_lack_them() -> None:
    """The first card of B3 is at B1, and play continues with it there: B1 has one card too many, B3 one too few."""
    table = TableHarness(Unit.SINGLES, boxes=(1, 3), game_id="RTP").start().to_dealing()
    table.take(3)
    table.do(operations.PlaceCards((operations.CardAt(2, "B1"),)))
    table.confirm(handled=True)
    while table.state.open:
        table.all_continue()
    dealt = []
    while (place := table.state.round.next_place) is not None:
        dealt.append(place)
        table.take()
    assert dealt == ["B1", "B3", "D", "B3", "B3", "D"]
    assert {hand.size for hand in table.state.round.hands.values()} == {3}


def test_a_box_without_a_bet_is_taken_out_before_its_turn() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    correct(table, operations.OccupyBoxes, operations.OccupyBoxes((1, 6)))
    assert not table.state.open
    table.take(2)
    assert table.at(Phase.EXAMINING)


def test_boxes_cannot_be_corrected_once_hands_are_shown() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.expose("D")
    entry = last_entry(table, operations.OccupyBoxes)
    said = operations.CorrectEntry(entry, "one more", operations.OccupyBoxes((1, 3, 5, 6)))
    assert table.refused(said, Role.PIT_SUPERVISOR)[0] == "late"


@pytest.mark.parametrize("unit", Unit)
def test_a_corrected_first_card_moves_the_whole_deal(unit: Unit) -> None:
    table = TableHarness(unit, game_id="F3", hands={"F": "AC"}).start().to_dealing()
    first = table.state.round.places[0]
    table.take(2)
    correct(table, operations.ShowFirstCard, operations.ShowFirstCard(cards("2C")[0]))
    assert table.state.round.places[0] != first
    assert table.state.round.misplaced
    assert Kind.WRONG_DISTRIBUTION in {found.kind for found in table.state.open}


def test_a_corrected_first_card_of_the_same_rank_moves_nothing() -> None:
    table = TableHarness(game_id="F3", hands={"F": "AC"}).start().to_dealing()
    table.take(2)
    before = table.state.round.places
    correct(table, operations.ShowFirstCard, operations.ShowFirstCard(cards("AD")[0]))
    assert table.state.round.places == before
    assert table.open.kind is Kind.OTHER_DEALING_ERROR
    correct(table, operations.ShowFirstCard, operations.ShowFirstCard(cards("AC")[0]))
    assert not table.state.open


# -- closing the round, and the bets -----------------------------------------------------------------------------------


def test_a_payment_entered_by_mistake_is_taken_back() -> None:
    table = TableHarness().start().to_dealing().finish()
    correct(table, operations.RecordSettled)
    assert table.at(Phase.SETTLING)
    assert not table.state.round.chips_paid
    table.do(operations.RecordSettled())
    table.conclude()


def test_a_round_whose_payment_was_taken_back_ends_although_its_stub_is_gone() -> None:
    table = TableHarness().start().to_dealing().finish()
    table.fresh_deck()
    correct(table, operations.RecordSettled)
    table.do(operations.RecordSettled())
    table.conclude()
    table.do(operations.PlaceYourBets())


def test_a_conclusion_entered_by_mistake_is_taken_back() -> None:
    table = TableHarness().start().to_dealing().finish()
    correct(table, operations.ConcludeRound)
    assert table.at(Phase.SETTLING)
    assert table.state.round.chips_paid
    table.conclude()


def amounts(table: TableHarness) -> dict[str, tuple[int, str]]:
    return {f"{bet.bettor} {bet.wager}": (bet.amount, bet.paid) for bet in table.state.round.settlement}


def test_nc_5_13_a_bet_is_settled_as_it_lay_and_not_as_it_was_entered() -> None:
    table = with_bets().deal().expose_all()
    assert amounts(table)["ann main"] == (100, "100")
    table.settle()
    table.do(operations.CorrectBet(1, 250, "the camera shows a second stack"), Role.PIT_SUPERVISOR)
    assert table.events_of(events.SettlementReversed)
    assert amounts(table)["ann main"] == (250, "250")
    assert table.at(Phase.SETTLING)
    assert not table.state.round.chips_paid


def test_nc_5_13_a_bet_that_was_not_entered_counts() -> None:
    table = with_bets()
    table.do(operations.CorrectBet(0, 20, "not keyed", "ann", "tie", 1), Role.PIT_SUPERVISOR)
    table.deal().expose_all()
    assert amounts(table)["ann tie"] == (20, "0")


def test_an_omitted_main_bet_includes_its_box_in_the_deal() -> None:
    table = with_bets()
    table.take()
    table.do(operations.CorrectBet(0, 50, "not keyed", "ann", "main", 5), Role.PIT_SUPERVISOR)
    assert table.state.round.boxes == (1, 3, 5)
    assert not table.state.open
    table.take(3)
    assert table.at(Phase.EXAMINING)


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        (operations.CorrectBet(9, 10, "x"), "unknown-bet"),
        (operations.CorrectBet(0, 0, "x", "ann", "tie", 1), "amount"),
        (operations.CorrectBet(1, -5, "x"), "amount"),
        (operations.CorrectBet(0, 5, "x", "zoe", "tie", 1), "unknown-bettor"),
        (operations.CorrectBet(1, 100, "x"), "instead"),
        (operations.CorrectBet(1, 50, " "), "reason"),
    ],
)
def test_a_bet_that_cannot_have_lain_there_is_refused(operation: operations.CorrectBet, code: str) -> None:
    assert with_bets().refused(operation, Role.PIT_SUPERVISOR)[0] == code


def test_another_bettor_wager_or_box_makes_a_different_bet() -> None:
    table = with_bets()
    bet = table.state.layout.bets[0]
    others = ({"bettor": "bob"}, {"wager": "tie"}, {"box": 6})
    for other in others:
        wrong = operations.CorrectBet(bet.number, bet.amount + 10, "it lay otherwise", **other)
        assert table.refused(wrong, Role.PIT_SUPERVISOR)[0] == "other-bet"
    same = operations.CorrectBet(bet.number, bet.amount + 10, "it lay otherwise", bet.bettor, bet.wager, bet.box)
    table.do(same, Role.PIT_SUPERVISOR)
    assert table.state.layout.bet(bet.number).amount == bet.amount + 10


def test_after_a_correction_the_misplaced_cards_cannot_be_denied() -> None:
    """Box 5 was marked instead of box 6: "nothing is misplaced" contradicts the entry."""
    table = TableHarness(boxes=(1, 3, 5)).start().to_dealing().deal()
    correct(table, operations.OccupyBoxes, operations.OccupyBoxes((1, 3, 6)))
    found = table.open
    assert [str(one.question) for one in claims(table.state, found)] == ["Do cards lie in the wrong place?"]
    assert str(found.note) == "box 5 has cards and no bet; box 6 has a bet and no cards"
    code, sentence = table.refused(
        operations.DenyIrregularity(found.id, found.revision, "all is well"), Role.PIT_SUPERVISOR
    )
    assert (code, "Cards lie at box 5, without a bet." in sentence) == ("misplaced", True)
    table.confirm(handled=False)
    table.put_right()
    assert not table.state.open


def test_an_entry_shows_until_when_it_may_be_corrected() -> None:
    table = TableHarness().start().to_dealing()
    occupied = last_entry(table, operations.OccupyBoxes)

    def late() -> str:
        return next(str(one.late) for one in view_of(table.state, LinkView()).entries if one.entry == occupied)

    assert not late()
    table.deal()
    assert table.at(Phase.EXAMINING)
    assert not late()
    table.expose("D")
    code, sentence = table.refused(
        operations.CorrectEntry(occupied, "keyed wrongly", operations.OccupyBoxes((1, 3))), Role.PIT_SUPERVISOR
    )
    assert (code, sentence) == ("late", late())
    assert late().startswith("Hands are turned over")
