"""Errors that meet: one arises while another is open, or after it was decided. Neither result spoils the other."""

from __future__ import annotations

import pytest

from controller.games.specification import Choice, Disposition, Facts, Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.counts import ledger_of
from controller.table.established_outcome import outcome_established
from controller.table.model import Stage
from controller.table.phases import Phase
from controller.table.settings import ChosenReading, Settings
from tests.table.correction_hands import correct
from tests.table.harness import TableHarness, cards

SUPERVISOR = Role.PIT_SUPERVISOR
ESTABLISHED = ChosenReading("established_by", "mathematically")
HANDS = {"B1": "KD KC KS", "B3": "2C AC AD", "D": "4C 4D TC"}  # three pictures, four points, eight points


def begun(
    game_id: str = "NC", unit: Unit = Unit.SETS, hands: dict[str, str] | None = None, side: str = "", **readings: str
) -> TableHarness:
    """Return a table with bets closed: Ann bet on box 1, Bob on box 3. `side` is a second wager of Ann."""
    chosen = tuple(ChosenReading(*item) for item in readings.items())
    must = {"TP": (), "P3": (ChosenReading("tie_on", "points"),)}.get(game_id, (ESTABLISHED,))
    settings = Settings(game_id, unit, 7, True, (*must, *chosen))
    table = TableHarness(unit, (1, 3), hands or HANDS, settings=settings, game_id=game_id).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    for bettor, box in (("ann", 1), ("bob", 3)):
        table.do(operations.EnterBettor(bettor, box))
        table.do(operations.PlaceWager(bettor, "main", box, 10))
    if side:
        table.do(operations.PlaceWager("ann", side, 1, 5))
    table.do(operations.NoMoreBets())
    return table


def all_continue(table: TableHarness) -> None:
    found = next(one for one in table.state.open if one.stage is Stage.CHOOSING)
    for place, bettor in table.state.round.choosers:
        table.do(operations.ChooseOption(found.id, found.revision, place, Choice.CONTINUE, bettor=bettor))


def verdicts(table: TableHarness) -> dict[str, str]:
    return {bet.bettor: bet.verdict for bet in table.state.round.settlement}


def raised(table: TableHarness) -> list[Kind]:
    return [event.kind for event in table.events_of(events.IrregularityRaised)]


def finish_round(table: TableHarness) -> None:
    table.expose_all().settle().conclude()


# -- open hands that are put right -------------------------------------------------------------------------------------


def test_nc_5_7_2_exchanged_hands_found_when_turned_over_settle_as_intended() -> None:
    table = begun().deal()
    table.handle("B1")
    table.expose("D")
    table.expose("B1", HANDS["B3"])
    assert raised(table) == [Kind.OTHER_DEALING_ERROR]
    table.swap("B1", "B3")
    assert raised(table) == [Kind.OTHER_DEALING_ERROR], "that error is already open"
    table.confirm(reconstructable=True)
    all_continue(table)
    table.put_right()
    assert not table.state.open
    assert not table.state.round.hands["B1"].shown, "other cards lie there now"
    table.expose("B1", HANDS["B1"])
    table.expose("B3", HANDS["B3"])
    assert verdicts(table) == {"ann": "won", "bob": "lost"}
    assert raised(table) == [Kind.OTHER_DEALING_ERROR]


def test_nc_5_7_2_hands_put_right_after_settlement_are_settled_again() -> None:
    table = begun().deal()
    table.handle("B1")
    table.expose("D")
    table.expose("B1", HANDS["B3"])
    table.deny()
    table.expose("B1", HANDS["B1"])
    table.expose("B3")
    assert table.at(Phase.SETTLING)
    table.report(Kind.WRONG_DISTRIBUTION)
    table.confirm(reconstructable=True)
    all_continue(table)
    table.swap("B1", "B3")
    table.put_right()
    assert (table.state.phase, table.state.open) == (Phase.EXPOSING, ())
    finish_round(table)


def test_correcting_a_wrong_entry_undoes_its_decisions() -> None:
    table = begun("TP").deal()
    table.expose("B1", "KD KC 9S")
    table.confirm(misplaced=False)
    table.rule(RulingAction.CONTINUE)
    correct(table, operations.ExposeHand, operations.ExposeHand("B1", cards(HANDS["B1"])))
    assert not table.state.open


# -- an interruption and cards that were seen --------------------------------------------------------------------------


def test_nc_5_4_a_dropped_card_counts_as_seen_only_where_its_face_was() -> None:
    table = begun(hands={"B1": "TC 5C 9S"}, side="three_pictures")
    table.take()
    table.report(Kind.DROPPED_CARD, "B1", card=1)
    table.confirm(reconstructable=False)
    all_continue(table)
    table.report(Kind.POWER_FAILURE)
    assert "established" in table.open.asks
    table.do(operations.NameExposed("B1", cards("TC")))
    assert (table.open.row.clause, table.open.asks) == ("NC 5.4.1", ("affects_play",))


def test_nc_5_4_an_exposed_card_that_is_only_claimed_makes_the_table_ask() -> None:
    table = begun(hands={"B1": "TC 5C 9S"}, side="three_pictures")
    table.take()
    table.report(Kind.POWER_FAILURE)
    assert table.open.row.clause == "NC 5.4.2"
    table.report(Kind.EXPOSED_CARD, "B1", card=1)
    power = table.state.open[0]
    assert "established" in power.asks
    table.deny(found=table.state.open[1])
    assert table.open.facts.established is False


def test_nc_5_4_a_confirmation_that_was_struck_out_is_asked_again() -> None:
    table = begun(hands={"B1": "TC 5C 9S"}, side="three_pictures")
    table.take()
    table.report(Kind.POWER_FAILURE)
    table.do(operations.NameExposed("B1", cards("TC")))
    table.confirm(affects_play=True)
    assert not table.state.open
    correct(table, operations.ConfirmIrregularity)
    assert (table.open.facts.established, table.open.row.clause) == (True, "NC 5.4.1")


def test_rtp_5_13_1_a_face_named_later_does_not_reopen_the_decision() -> None:
    table = begun("RTP", hands={"B1": "KD 5C 9S"}, side="royal").deal()
    table.report(Kind.POWER_FAILURE)
    table.confirm()
    found = table.open
    table.do(operations.ChooseOption(found.id, found.revision, "B1", Choice.CONTINUE, bettor="ann"))
    table.do(operations.ChooseOption(found.id, found.revision, "B3", Choice.WITHDRAW, bettor="bob"))
    table.do(operations.NameExposed("B1", cards("KD")))
    table.do(operations.CorrectBet(1, 20, "it was twenty"), SUPERVISOR)
    assert (table.state.open, len(table.state.round.withdrawn)) == ((), 1)


def test_nc_5_4_1_a_hand_that_was_removed_later_does_not_reopen_the_interruption() -> None:
    table = begun(hands={"B1": "TC 5C 9S"}, side="three_pictures").deal()
    table.do(operations.NameExposed("B1", cards("TC")))
    table.report(Kind.POWER_FAILURE)
    table.confirm(affects_play=True)
    table.handle("B1")
    table.report(Kind.WRONG_COUNT, "B1", counted=4)
    table.confirm(reconstructable=False)
    table.do(operations.CorrectBet(2, 20, "it was twenty"), SUPERVISOR)
    assert not table.state.open


def test_the_face_that_people_named_replaces_the_reading_and_moves_with_the_hand() -> None:
    table = begun(hands={"B1": "TC 5C 9S", "B3": "KH 2C 3C"}, side="three_pictures").deal()
    table.report(Kind.EXPOSED_CARD, "B1", card=1)
    table.confirm()
    all_continue(table)
    assert outcome_established(table.state) is True, "a ten was read"
    table.do(operations.NameExposed("B1", cards("KD")))
    assert outcome_established(table.state) is False, "people saw a King"
    table.do(operations.NameExposed("B1", cards("KH")))
    table.swap("B1", "B3")
    table.confirm(handled=False)
    table.put_right()
    named = {place: hand.named for place, hand in table.state.round.hands.items() if hand.named}
    assert named == {"B3": cards("KH")}


# -- cards that are moved ----------------------------------------------------------------------------------------------


def test_nc_5_7_2_one_move_ends_every_error_that_waited_for_it() -> None:
    table = begun().deal()
    table.handle("B1")
    table.report(Kind.DROPPED_CARD, "B1")
    table.swap("B1", "B3")
    for found in table.state.open:
        table.confirm(found=found, reconstructable=True)
        all_continue(table)
    assert [found.stage for found in table.state.open] == [Stage.MOVING, Stage.MOVING]
    table.do(operations.Reconstruct(table.state.open[0].id, table.state.open[0].revision))
    assert not table.state.open


def test_tp_5_3_cards_that_the_dealer_entered_as_lying_right_are_right() -> None:
    table = begun("TP").deal()
    table.swap("B1", "B3")
    table.confirm(handled=False)
    table.swap("B1", "B3")
    table.put_right()
    assert not table.state.open


def test_nc_5_7_another_wrong_distribution_is_not_moved_away_with_a_wrong_number() -> None:
    table = begun().deal()
    table.handle("B1")
    table.report(Kind.WRONG_COUNT, "B1", counted=4)
    table.confirm(reconstructable=True)
    table.swap("B3", "D")
    assert raised(table) == [Kind.WRONG_COUNT, Kind.WRONG_DISTRIBUTION]


def test_rtp_5_4_a_hand_at_an_empty_position_is_moved_back() -> None:
    table = begun("RTP").deal()
    moved = tuple(operations.CardAt(card.ordinal, "B4") for card in table.state.round.hands["B3"].cards)
    table.do(operations.PlaceCards(moved))
    assert (table.open.row.clause, table.open.asks) == ("RTP 5.4", ("handled",))
    table.confirm(handled=False)
    table.put_right()
    assert [len(table.state.round.hands[place].cards) for place in ("B3", "B4")] == [3, 0]
    finish_round(table)
    assert verdicts(table) == {"ann": "won", "bob": "lost"}


@pytest.mark.parametrize("first", ["B1", "B3"])
def test_nc_5_9_hands_with_exchanged_cards_lack_no_card(first: str) -> None:
    table = begun().deal()
    table.handle("B1")
    for place, number in (("B3", 4), ("B1", 2)):
        table.report(Kind.WRONG_COUNT, place, counted=number)
    for place in dict.fromkeys((first, "B1", "B3")):
        table.confirm(found=next(one for one in table.state.open if one.place == place), reconstructable=True)
        found = next(one for one in table.state.open if one.place == place)
        table.do(operations.Reconstruct(found.id, found.revision))
    assert table.state.round.taken_back == 0
    assert not table.state.stub_fits(table.state.stub_due - 1)


def test_nc_5_9_a_card_that_was_counted_and_then_named_is_one_card() -> None:
    table = begun().deal()
    table.handle("B1")
    table.report(Kind.WRONG_COUNT, "B3", counted=4)
    table.confirm(reconstructable=True)
    table.do(operations.PlaceCards((operations.CardAt(1, "B3"),)))
    assert table.state.round.hands["B3"].size == 4
    table.put_right()
    assert not table.state.stub_fits(table.state.stub_due - 1)


# -- counts ------------------------------------------------------------------------------------------------------------


def count(table: TableHarness, place: str, number: int) -> None:
    table.do(operations.CountCards(place, number, "a witness"))


def test_rtp_5_1_a_wrong_count_explained_by_a_hand_is_withdrawn() -> None:
    table = begun("RTP").deal()
    table.do(operations.HandleCards("B1", viewed=True))
    count(table, "stub", table.state.stub_due - 1)
    assert raised(table) == [Kind.DECK_COUNT]
    count(table, "B1", 4)
    deck = table.state.open[0]
    confirm = operations.ConfirmIrregularity(deck.id, deck.revision)
    assert "First decide about the cards counted at box 1" in table.refused(confirm, SUPERVISOR)[1]
    table.confirm(found=table.state.open[1])
    all_continue(table)
    assert (table.open.facts.counted_wrong, table.open.row.disposition) == (False, Disposition.CONTINUE)
    ledger = ledger_of(table.state)
    assert ledger is not None
    assert ledger.whole


def test_nc_5_9_the_last_count_of_a_hand_applies() -> None:
    table = begun().deal()
    table.handle("B1")
    count(table, "B1", 4)
    count(table, "B1", 3)
    confirm = operations.ConfirmIrregularity(table.open.id, table.open.revision, Facts(reconstructable=False))
    code, sentence = table.refused(confirm, SUPERVISOR)
    assert (code, "as many as were dealt to it" in sentence) == ("count", True)
    table.deny()
    assert not table.state.round.hands["B1"].dead


def test_nc_5_9_an_error_that_needs_the_hand_takes_a_report_and_a_second_count() -> None:
    table = begun().deal()
    table.handle("B1")
    table.report(Kind.OTHER_DEALING_ERROR)
    table.confirm(wrong_number=True)
    table.report(Kind.WRONG_COUNT, "B1", counted=4)
    count(table, "B1", 5)
    assert (raised(table), table.open.counted) == ([Kind.OTHER_DEALING_ERROR], 5)
    count(table, "B1", 3)
    assert table.open.facts.wrong_number is False


def test_nc_5_9_an_extra_card_counted_by_the_shoe_is_in_a_hand() -> None:
    table = begun(unit=Unit.SINGLES).deal()
    table.handle("B1")
    table.device.exit_held = False
    table.device.draw()
    assert raised(table) == [Kind.OTHER_DEALING_ERROR]
    table.report(Kind.WRONG_COUNT, "B3", counted=4)
    assert (raised(table), table.open.row.clause) == ([Kind.OTHER_DEALING_ERROR], "NC 5.9")
    table.confirm(reconstructable=True)
    table.put_right()
    ledger = ledger_of(table.state)
    assert ledger is not None
    assert (ledger.whole, ledger.aside) == (True, 1)
    assert table.state.stub_fits(len(table.device.inside))


@pytest.mark.parametrize(("number", "quarantined"), [(-1, True), (0, False)])
def test_p3_5_2_after_the_round_a_count_decides_the_decks_use(number: int, *, quarantined: bool) -> None:
    table = begun("P3").deal()
    finish_round(table)
    table.report(Kind.COUNT_IN_DOUBT)
    assert table.open.stage is Stage.RULING
    count(table, "stub", table.state.stub_due + number)
    table.rule(RulingAction.CONTINUE)
    assert bool(table.events_of(events.DeckQuarantined)) is quarantined


# -- the time of noticing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game_id", "clause"), [("RTP", "RTP 5.4"), ("NC", "NC 5.5.4"), ("TP", "TP 5.3")])
def test_cards_handled_after_an_error_was_noticed_change_nothing(game_id: str, clause: str) -> None:
    """RTP 5.6 covers errors that are noted after cards were handled."""
    table = begun(game_id).deal()
    table.do(operations.PlaceCards((operations.CardAt(1, "B3"), operations.CardAt(4, "B1"))))
    table.handle("B1")
    table.confirm(handled=False)
    assert table.last(events.RoundVoided).clause == clause


def test_nc_1_14_settlement_ends_the_round_before_it_is_concluded() -> None:
    table = begun(deck_error_after_settlement="referred").deal()
    table.expose_all().settle()
    table.report(Kind.FOREIGN_CARD)
    assert (table.open.row.clause, table.open.stage) == ("NC 5.17", Stage.RULING)


def test_rtp_5_8_1_with_one_card_dealt_the_exposed_one_is_the_first() -> None:
    table = begun("RTP", Unit.SINGLES)
    table.take()
    table.report(Kind.EXPOSED_CARD)
    assert (table.open.row.clause, table.open.asks) == ("RTP 5.8.1", ())


def test_rtp_5_7_no_one_withdraws_when_every_hand_has_its_outcome() -> None:
    table = begun("RTP").deal()
    table.do(operations.HandleCards("B1", viewed=True))
    table.expose_all()
    assert table.at(Phase.SETTLING)
    table.report(Kind.WRONG_COUNT, "B1", counted=4)
    table.confirm()
    assert (table.state.open, verdicts(table)) == ((), {"ann": "returned", "bob": "lost"})


@pytest.mark.parametrize(("place", "card"), [("B3", None), ("B1", 3)])
def test_a_card_that_is_elsewhere_is_not_reported_as_exposed(place: str, card: int | None) -> None:
    table = begun("RTP", Unit.SINGLES)
    table.take()
    report = operations.ReportIrregularity(Kind.EXPOSED_CARD, place, card)
    assert table.refused(report)[0] == "card"


@pytest.mark.parametrize(("game_id", "place", "clause"), [("P3", "D", "P3 5.4"), ("TP", "D", "TP 5.4")])
def test_a_card_too_many_after_handling_is_asked_for_its_number_and_is_one_error(
    game_id: str, place: str, clause: str
) -> None:
    table = begun(game_id, Unit.SINGLES).deal()
    table.handle("B1")
    table.device.exit_held = False
    table.device.draw()
    table.report(Kind.WRONG_COUNT, place, counted=4)
    table.report(Kind.WRONG_COUNT, place, counted=4)
    assert (raised(table), table.open.row.clause) == ([Kind.OTHER_DEALING_ERROR], clause)


def test_rtp_5_5_the_viewers_of_the_round_before_are_known() -> None:
    table = begun("RTP").deal()
    table.do(operations.HandleCards("B3", viewed=True))
    finish_round(table)
    table.to_dealing()
    table.do(operations.ReportIrregularity(Kind.WRONG_COUNT, "B3", counted=4, earlier=True))
    assert (table.open.row.disposition, table.open.asks) == (Disposition.STANDS, ())


def test_tp_5_3_whether_complete_hands_cure_it_is_known_once_the_places_are() -> None:
    table = begun("TP").deal()
    table.report(Kind.WRONG_DISTRIBUTION)
    table.do(operations.PlaceCards((operations.CardAt(1, "B3"), operations.CardAt(4, "B1"))))
    assert (table.open.facts.curable, table.open.row.disposition) == (False, Disposition.VOID)
    assert table.open.asks == ("handled",)
