"""Bettors' choices: which of them remain valid, and whom a correction asks again. No choice leaves bets unsettled."""

from __future__ import annotations

from msgspec.structs import replace

from controller.games.specification import Choice, Disposition, Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.phases import Phase
from controller.table.settings import ChosenReading, Settings
from tests.table.harness import TableHarness
from tests.table.said import next_step

Bets = tuple[tuple[str, str, int], ...]
ANN_AND_BOB: Bets = (("ann", "main", 1), ("bob", "main", 3))
ESTABLISHED = ChosenReading("established_by", "mathematically")
SUPERVISOR = Role.PIT_SUPERVISOR


def dealt_with(bets: Bets, game_id: str = "NC", *readings: ChosenReading, overlooked: Bets = ()) -> TableHarness:
    """Return a table on which those bets were placed, 10 units each, and the set for box 1 was dealt."""
    settings = Settings(game_id, Unit.SETS, 7, True, (ESTABLISHED, *readings))
    boxes = tuple(sorted({box for _, wager, box in bets if wager == "main"}))
    table = TableHarness(Unit.SETS, boxes, settings=settings, game_id=game_id).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    for bettor in dict.fromkeys(bettor for bettor, _, _ in bets + overlooked):
        table.do(operations.EnterBettor(bettor))
    for bettor, wager, box in bets:
        table.do(operations.PlaceWager(bettor, wager, box, 10))
    for bettor, wager, box in overlooked:
        table.do(operations.PlaceWager(bettor, wager, box, 10, overlooked=True))
    table.do(operations.NoMoreBets())
    table.take()
    return table


def choose(table: TableHarness, place: str, bettor: str, choice: Choice) -> None:
    found = next(one for one in table.state.open if one.stage == "choosing")
    table.do(operations.ChooseOption(found.id, found.revision, place, choice, bettor=bettor))


def exposed(table: TableHarness, place: str) -> int:
    table.report(Kind.EXPOSED_CARD, place)
    found = table.state.open[-1]
    table.confirm(found=found)
    return found.id


def strike_out(table: TableHarness, which: type[operations.Operation], number: int = 0) -> None:
    entries = [one.entry for one in table.state.round.entered if isinstance(one.operation, which)]
    table.do(operations.CorrectEntry(entries[number], "it was entered wrongly"), SUPERVISOR)


def test_nc_5_7_a_second_error_is_the_first_once_the_first_is_denied() -> None:
    accepted = ChosenReading("second_error", "accepted")
    table = dealt_with(ANN_AND_BOB, "NC", accepted)
    first = exposed(table, "B1")
    for place, bettor in (("B1", "ann"), ("B3", "bob")):
        choose(table, place, bettor, Choice.CONTINUE)
    table.move_cards()
    table.take()
    table.report(Kind.EXPOSED_CARD, "B3")
    second = table.open
    assert (second.row.disposition, second.facts.chosen_before) == (Disposition.CONTINUE, True)
    table.confirm()
    strike_out(table, operations.ReportIrregularity)
    assert table.open.id == first, "the second waits until the first is decided"
    table.deny()
    again = table.open
    assert (again.id, again.row.disposition, again.facts.chosen_before) == (second.id, Disposition.OPTIONS, False)


def test_nc_5_7_a_second_error_stays_the_second_once_the_first_is_confirmed_again() -> None:
    table = dealt_with(ANN_AND_BOB, "NC", ChosenReading("second_error", "accepted"))
    exposed(table, "B1")
    for place, bettor in (("B1", "ann"), ("B3", "bob")):
        choose(table, place, bettor, Choice.CONTINUE)
    table.move_cards()
    table.take()
    exposed(table, "B3")
    strike_out(table, operations.ReportIrregularity)
    table.confirm()
    for place, bettor in (("B1", "ann"), ("B3", "bob")):
        choose(table, place, bettor, Choice.CONTINUE)
    assert not table.state.open


def power_failed(bets: Bets, overlooked: Bets = ()) -> TableHarness:
    """RTP: confirm a claim of a power failure, and let the bettors choose."""
    table = dealt_with(bets, "RTP", overlooked=overlooked)
    table.report(Kind.POWER_FAILURE)
    table.confirm(found=table.state.open[-1])
    return table


def test_rtp_5_13_1_a_side_wager_on_a_box_without_cards_goes_back_too() -> None:
    table = power_failed(ANN_AND_BOB, (("ann", "tie", 5),))
    choose(table, "B1", "ann", Choice.WITHDRAW)
    choose(table, "B3", "bob", Choice.CONTINUE)
    ruled = table.open
    assert ruled.kind is Kind.SIDE_WITHOUT_MAIN
    table.do(
        operations.Rule(ruled.id, ruled.revision, RulingAction.CONTINUE, "chief", "it counts", bets=(3,)),
        Role.SHIFT_MANAGER,
    )
    table.deal().expose_all()
    assert [(bet.verdict, bet.clause) for bet in table.state.round.settlement if bet.bettor == "ann"] == [
        ("returned", "RTP 5.13.1")
    ] * 2


def test_rtp_5_13_1_the_choice_that_a_withdrawal_replaced_is_not_struck_out() -> None:
    table = power_failed((("ann", "main", 1), ("ann", "main", 3)))
    choose(table, "B1", "ann", Choice.CONTINUE)
    choose(table, "B3", "ann", Choice.WITHDRAW)
    entry = next(one.entry for one in table.state.round.entered if isinstance(one.operation, operations.ChooseOption))
    assert table.refused(operations.CorrectEntry(entry, "she did not say so"), SUPERVISOR)[0] == "chosen"


def test_rtp_5_13_1_a_withdrawal_that_is_struck_out_asks_for_every_box_again() -> None:
    table = power_failed((("ann", "main", 1), ("ann", "main", 3)))
    choose(table, "B1", "ann", Choice.WITHDRAW)
    strike_out(table, operations.ChooseOption)
    assert set(table.state.round.choosers) == {("B1", "ann"), ("B3", "ann")}
    assert not table.open.choices


def test_rtp_5_13_1_a_further_bet_follows_the_choice_while_others_still_choose() -> None:
    table = power_failed((("ann", "main", 1), ("bob", "main", 3), ("cy", "main", 5)))
    choose(table, "B1", "ann", Choice.WITHDRAW)
    table.do(operations.CorrectBet(0, 20, "overlooked", "ann", "main", 5), SUPERVISOR)
    assert ("B5", "ann", Choice.WITHDRAW) in table.open.choices
    choose(table, "B3", "bob", Choice.CONTINUE)
    choose(table, "B5", "cy", Choice.CONTINUE)
    assert set(table.state.round.withdrawals) == {("ann", 1), ("ann", 5)}


def test_rtp_5_13_1_a_bettor_who_continued_continues_with_a_further_bet() -> None:
    table = power_failed((("ann", "main", 1), ("bob", "main", 3)))
    choose(table, "B1", "ann", Choice.CONTINUE)
    choose(table, "B3", "bob", Choice.CONTINUE)
    table.do(operations.CorrectBet(0, 20, "overlooked", "ann", "main", 3), SUPERVISOR)
    assert not table.state.open


def test_rtp_5_13_1_a_withdrawn_bet_entered_in_error_is_not_settled() -> None:
    table = power_failed((("ann", "main", 1), ("bob", "main", 3), ("ann", "tie", 3), ("cy", "main", 1)))
    for place, bettor, choice in (
        ("B1", "ann", Choice.WITHDRAW),
        ("B3", "bob", Choice.CONTINUE),
        ("B1", "cy", Choice.CONTINUE),
    ):
        choose(table, place, bettor, choice)
    table.do(operations.CorrectBet(1, 0, "it was not there"), SUPERVISOR)
    table.deal().expose_all()
    assert {bet.number for bet in table.state.round.settlement} == {2, 3, 4}


def test_nc_5_7_a_bettor_who_bet_at_another_box_is_asked_for_that_hand() -> None:
    table = dealt_with(ANN_AND_BOB)
    exposed(table, "B1")
    choose(table, "B1", "ann", Choice.WITHDRAW)
    choose(table, "B3", "bob", Choice.CONTINUE)
    table.do(operations.CorrectBet(0, 20, "overlooked", "ann", "main", 3), SUPERVISOR)
    assert {("B3", "ann")} == set(table.state.round.choosers) - {
        (place, bettor) for place, bettor, _ in table.open.choices
    }


def test_a_table_that_cannot_settle_shows_the_next_step() -> None:
    """A journal of an earlier version leads there: a bettor withdrew one of two bets (RTP 5.13.1)."""
    table = power_failed((("ann", "main", 1), ("ann", "main", 3)))
    choose(table, "B1", "ann", Choice.CONTINUE)
    choose(table, "B3", "ann", Choice.CONTINUE)
    table.deal()
    table.state = replace(
        table.state, round=replace(table.state.round, withdrawn=(("ann", 1, "RTP 5.13.1", table.state.entry),))
    )
    table.expose_all()
    assert table.state.phase is Phase.SETTLING
    assert not table.events_of(events.WagersSettled)
    code, sentence = table.refused(operations.RecordSettled())
    assert code == "unsettled"
    assert "those on box 3 are missing" in sentence
    assert "cannot be settled" in next_step(table.state)


def test_rtp_5_13_1_bets_on_marked_boxes_are_entered_before_choices() -> None:
    """Reading 38, `entered`. The boxes keep their marks while the bets are entered one after the other."""
    readings = (ChosenReading("unentered_bettors", "entered"), ChosenReading("established_by", "mathematically"))
    settings = Settings("RTP", Unit.SETS, 6, count_stub_by_hand=True, readings=readings)
    table = TableHarness(boxes=(1, 3), settings=settings, game_id="RTP").start().to_dealing().deal()
    table.report(Kind.WRONG_DISTRIBUTION)
    table.confirm(handled=True)
    found = table.open
    for place, bettor in table.state.round.choosers:
        refused = operations.ChooseOption(found.id, found.revision, place, Choice.CONTINUE, bettor=bettor)
        assert table.refused(refused, Role.SHIFT_MANAGER)[0] == "wagers"
    table.do(operations.EnterBettor("ann"))
    for box in (1, 3):
        table.do(operations.CorrectBet(0, 10, "not entered", "ann", "main", box), SUPERVISOR)
        assert table.state.round.boxes == (1, 3)
    for place, bettor in table.state.round.choosers:
        choose(table, place, bettor, Choice.CONTINUE)
    assert not table.state.open
    table.expose_all()
    assert {bet.verdict for bet in table.state.round.settlement} <= {"won", "lost", "returned"}


def test_nc_5_7_marked_boxes_take_bets_for_choices_before_the_close() -> None:
    """Reading 38, `entered`: until the first choice. A side bet waits because it makes nobody a bettor of a box."""
    readings = (ChosenReading("unentered_bettors", "entered"), ESTABLISHED)
    settings = Settings("NC", Unit.SINGLES, 7, True, readings)
    table = TableHarness(Unit.SINGLES, settings=settings, game_id="NC").start().to_betting()
    table.do(operations.OccupyBoxes((1, 3)))
    table.report(Kind.EXPOSED_CARD)
    table.confirm(handled=True)
    found = table.open
    assert found.stage == "choosing"
    choice = operations.ChooseOption(found.id, found.revision, "B1", Choice.CONTINUE)
    assert table.refused(choice, SUPERVISOR) == (
        "wagers",
        "Only bettors whose bets are entered choose; enter the bets first.",
    )
    table.do(operations.EnterBettor("ann"))
    assert table.refused(operations.PlaceWager("ann", "tie", 3, 10, overlooked=True))[0] == "choosing"
    for box in (1, 3):
        table.do(operations.PlaceWager("ann", "main", box, 10))
    assert table.state.round.choosers == (("B1", "ann"), ("B3", "ann"))
    choose(table, "B1", "ann", Choice.CONTINUE)
    assert table.refused(operations.PlaceWager("ann", "main", 5, 10))[0] == "choosing"
    choose(table, "B3", "ann", Choice.CONTINUE)
    assert not table.state.open
    table.do(operations.NoMoreBets())


# -- changed before the matter is decided


def test_nc_5_7_a_choice_is_changed_until_every_bettor_has_chosen() -> None:
    table = dealt_with(ANN_AND_BOB)
    exposed(table, "B1")
    choose(table, "B1", "ann", Choice.WITHDRAW)
    choose(table, "B1", "ann", Choice.CONTINUE)
    choose(table, "B3", "bob", Choice.CONTINUE)
    assert not table.state.round.removed
    assert table.state.round.live_places == ("B1", "B3")


def test_rtp_5_13_1_a_withdrawal_of_all_wagers_is_taken_back_at_every_box() -> None:
    table = power_failed((("ann", "main", 1), ("ann", "main", 3), ("bob", "main", 5)))
    choose(table, "B1", "ann", Choice.WITHDRAW)
    choose(table, "B3", "ann", Choice.CONTINUE)
    assert {(place, choice) for place, bettor, choice in table.open.choices if bettor == "ann"} == {
        ("B1", Choice.CONTINUE),
        ("B3", Choice.CONTINUE),
    }


def test_nc_5_7_a_dealer_does_not_change_what_a_supervisor_entered() -> None:
    table = dealt_with(ANN_AND_BOB)
    exposed(table, "B1")
    found = table.open
    table.do(operations.ChooseOption(found.id, found.revision, "B1", Choice.CONTINUE, True, "ann"), SUPERVISOR)
    withdrawn = operations.ChooseOption(found.id, found.revision, "B1", Choice.WITHDRAW, bettor="ann")
    assert table.refused(withdrawn)[0] == "role"
    table.do(withdrawn, SUPERVISOR)
    assert ("B1", "ann", Choice.WITHDRAW) in table.open.choices
