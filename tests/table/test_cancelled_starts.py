"""A start that was entered by mistake: the announcement counts, not the key. Also tests the effects on the previous
round.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.api.view import LinkView, view_of
from controller.games import GAMES
from controller.games.specification import Disposition, Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.counts import ledger_of
from controller.table.inputs import DaemonStarted
from controller.table.phases import Phase
from controller.table.settings import Settings
from tests.table.harness import TableHarness


def with_bets(game_id: str = "NC") -> TableHarness:
    """Return a table with a concluded round that had a bet, and a fresh deck in the device."""
    wager = next(wager.id for wager in GAMES[game_id].wagers if wager.main)
    table = TableHarness(Unit.SINGLES, (1,), game_id=game_id).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    table.do(operations.EnterBettor("ann"))
    table.do(operations.PlaceWager("ann", wager, 1, 100))
    table.close_bets()
    table.finish()
    table.fresh_deck()
    return table


@pytest.mark.parametrize("game_id", GAMES)
def test_a_start_by_mistake_leaves_the_round_before_as_it_was(game_id: str) -> None:
    table = with_bets(game_id)
    before = table.state.round
    table.do(operations.PlaceYourBets())
    table.do(operations.CancelStart())
    assert table.at(Phase.CONCLUDED)
    after = table.state.round
    assert (after.settlement, after.bets, after.hands, after.closed) == (
        before.settlement,
        before.bets,
        before.hands,
        before.closed,
    )
    assert [one.entry for one in after.entered][: len(before.entered)] == [one.entry for one in before.entered]


def test_a_ruling_after_it_reverses_the_settlement() -> None:
    table = with_bets("TP")
    table.do(operations.PlaceYourBets())
    table.do(operations.CancelStart())
    table.report(Kind.OTHER_DEALING_ERROR)
    if table.open.asks:
        table.confirm(misplaced=False)
    table.rule(RulingAction.VOID)
    assert table.at(Phase.VOIDED)
    assert table.last(events.SettlementReversed).bets
    assert [bet.verdict for bet in table.state.round.settlement] == ["returned"]


def test_a_start_that_was_announced_ends_the_round_before() -> None:
    table = with_bets()
    table.do(operations.PlaceYourBets())
    table.do(operations.CancelStart(announced=True))
    assert table.at(Phase.IDLE)
    assert table.state.earlier is not None
    assert table.state.earlier.number == 1


def test_after_a_void_the_bets_are_returned_before_others_are_placed() -> None:
    table = with_bets()
    table.report(Kind.DECK_COUNT)
    table.count(39)
    table.confirm()
    table.fresh_deck()
    assert table.refused(operations.PlaceYourBets())[0] == "chips"
    table.do(operations.RecordSettled())
    table.do(operations.PlaceYourBets())
    table.do(operations.CancelStart())
    assert (table.state.phase, table.state.round.bets_to_return) == (Phase.VOIDED, False)


def test_numbers_of_rounds_are_not_used_twice() -> None:
    table = with_bets()
    table.do(operations.PlaceYourBets())
    table.do(operations.CancelStart())
    table.do(operations.PlaceYourBets())
    assert table.state.round.number == 3
    assert table.state.earlier is not None
    assert table.state.earlier.number == 1


def test_bets_on_the_layout_are_returned_first() -> None:
    table = with_bets()
    table.do(operations.PlaceYourBets())
    table.do(operations.PlaceWager("ann", "main", 1, 100))
    for announced in (False, True):
        code, sentence = table.refused(operations.CancelStart(announced))
        assert (code, sentence) == ("bets", "Return the bets that lie there first.")


def test_settings_that_came_into_force_with_the_start_wait_again() -> None:
    table = TableHarness(boxes=(1, 3)).start().to_dealing()
    changed = replace(table.settings, box_count=5)
    table.give(DaemonStarted("T1", True, changed, "start-2"))
    table.connect()
    table.do(operations.ContinueRound())
    table.finish()
    table.fresh_deck()
    for _ in range(2):
        assert (table.state.settings, table.state.settings_wait) == (table.settings, changed)
        table.do(operations.PlaceYourBets())
        assert (table.state.settings, table.state.settings_wait) == (changed, None)
        table.do(operations.CancelStart())


def test_reports_about_the_started_round_end_with_it() -> None:
    table = with_bets()
    table.do(operations.PlaceYourBets())
    table.report(Kind.LATE_BET)
    table.do(operations.CancelStart())
    assert not table.state.open


def test_an_open_table_without_a_round_before_is_idle_again() -> None:
    table = with_bets()
    table.do(operations.CloseTable())
    table.do(operations.OpenTable())
    table.do(operations.PlaceYourBets())
    table.do(operations.CancelStart())
    assert table.at(Phase.IDLE)
    assert table.refused(operations.RecordSettled(), Role.DEALER)[0] == "phase"


def test_a_cancelled_start_leaves_the_cards_of_the_round_before_in_the_deck() -> None:
    """A set of the next deal has left the device meanwhile; the cards of the previous round are not on the table."""
    table = TableHarness().start().to_dealing().finish().to_betting()
    table.device.form_set(3)
    assert table.state.decks.tray
    table.do(operations.CancelStart())
    assert table.at(Phase.CONCLUDED)
    ledger = ledger_of(table.state)
    assert ledger is not None
    assert (ledger.hands, ledger.total) == ((), 52)
    assert table.state.stub_due == 52


def test_cards_burnt_in_the_cancelled_start_do_not_count() -> None:
    settings = Settings("NC", Unit.SETS, 7, count_stub_by_hand=True, burn=1)
    table = TableHarness(settings=settings).start().to_betting()
    table.do(operations.NoMoreBets())
    table.take()
    table.finish().to_betting()
    table.device.form_set(3)
    table.do(operations.CancelStart())
    counted = table.last(events.StubCounted)
    assert (table.state.stub_due, counted.count, counted.due) == (52, 52, 52)


def test_after_a_cancelled_start_the_round_before_is_the_last_one_dealt() -> None:
    """Round 2 was cancelled when no one bet: in round 3, reports about the previous round concern round 1."""
    table = TableHarness().start().to_dealing().finish().to_betting()
    table.do(operations.CancelStart())
    table.do(operations.PlaceYourBets())
    assert (view_of(table.state, LinkView()).round, view_of(table.state, LinkView()).earlier_round) == (3, 1)


@pytest.mark.parametrize("game_id", ["TP", "RTP", "NC", "P3", "F3"])
def test_after_an_announced_start_errors_of_the_last_round_are_only_recorded(game_id: str) -> None:
    """The announcement began the next round, so no clause reaches the last round, and the answer says so."""
    table = TableHarness(game_id=game_id).start().to_dealing().finish()
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    table.do(operations.CancelStart(announced=True))
    assert table.at(Phase.IDLE)
    table.report(Kind.WRONG_COUNT, "D", counted=4, earlier=True)
    assert table.open.round == 1
    assert table.open.row.disposition in (Disposition.STANDS, Disposition.SILENT, Disposition.REFER)
