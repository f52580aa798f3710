"""A round that cannot be finished is ruled void by a named person, at the second request."""

from __future__ import annotations

import pytest

from controller.api.view import LinkView, view_of
from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.phases import IN_ROUND, Phase, Service
from tests.table.every_state import bring_to, hold, to_phase
from tests.table.harness import TableHarness
from tests.table.way_out import lead_to_next_round

ABANDON = operations.AbandonRound("the shift manager", "the fire alarm")


def abandon(table: TableHarness) -> None:
    table.do(ABANDON, Role.SHIFT_MANAGER)
    assert table.state.in_round, "the first request changes nothing"
    assert view_of(table.state, LinkView()).abandon_asked
    table.do(ABANDON, Role.SHIFT_MANAGER)


@pytest.mark.parametrize("how", ["free", "paused", "claimed", "two open"])
@pytest.mark.parametrize("service", Service)
@pytest.mark.parametrize("phase", sorted(IN_ROUND - {Phase.DEALING_SINGLES}))
def test_every_round_may_be_abandoned_in_every_phase_and_service(phase: Phase, service: Service, how: str) -> None:
    table = to_phase(Unit.SETS, phase)
    hold(table, how)
    bring_to(table, service)
    opened = [found.id for found in table.state.open]
    abandon(table)
    assert table.at(Phase.VOIDED)
    voided = table.last(events.RoundVoided)
    assert (voided.irregularity, voided.clause) == (0, "")
    assert (voided.authority, voided.text) == ("the shift manager", "the fire alarm")
    overtaken = [event for event in table.events_of(events.IrregularityResolved) if event.outcome == "overtaken"]
    assert [event.irregularity for event in overtaken] == opened
    assert all(event.role is Role.SHIFT_MANAGER for event in overtaken)
    assert not table.state.open
    assert lead_to_next_round(table)


def test_every_bet_is_returned_and_chips_that_were_paid_come_back() -> None:
    table = TableHarness().start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    table.do(operations.EnterBettor("ann", 1))
    table.do(operations.PlaceWager("ann", "main", 1, 10))
    table.do(operations.NoMoreBets())
    table.deal().expose_all().settle()
    abandon(table)
    assert table.last(events.SettlementReversed).bets
    (bet,) = table.last(events.WagersSettled).bets
    assert (bet.verdict, bet.returned, bet.clause) == ("returned", "10", "the shift manager")


def test_it_is_a_shift_managers_ruling_with_authority_and_reason() -> None:
    table = TableHarness().start().to_dealing()
    assert table.refused(ABANDON, Role.PIT_MANAGER)[0] == "role"
    for nameless in (operations.AbandonRound(" ", "fire"), operations.AbandonRound("the shift manager", "")):
        assert table.refused(nameless, Role.SHIFT_MANAGER)[0] == "ruling"


def test_the_second_request_has_the_same_words() -> None:
    table = TableHarness().start().to_dealing()
    table.do(ABANDON, Role.SHIFT_MANAGER)
    table.do(operations.AbandonRound("the shift manager", "the deck is gone"), Role.SHIFT_MANAGER)
    assert table.at(Phase.DEALING_SETS)
    table.do(ABANDON, Role.SHIFT_MANAGER)
    assert table.at(Phase.DEALING_SETS)
    table.do(ABANDON, Role.SHIFT_MANAGER)
    assert table.at(Phase.VOIDED)


def test_another_operation_in_between_cancels_the_request() -> None:
    table = TableHarness().start().to_dealing()
    table.do(ABANDON, Role.SHIFT_MANAGER)
    table.do(operations.PauseTable("false alarm"))
    table.do(ABANDON, Role.SHIFT_MANAGER)
    assert table.at(Phase.DEALING_SETS)
    table.do(operations.ResumeTable())
    assert not view_of(table.state, LinkView()).abandon_asked


def test_the_end_of_the_deal_cancels_the_request() -> None:
    table = TableHarness().start().to_dealing()
    table.do(ABANDON, Role.SHIFT_MANAGER)
    table.deal()
    table.do(ABANDON, Role.SHIFT_MANAGER)
    assert table.at(Phase.EXAMINING)


@pytest.mark.parametrize("phase", [Phase.IDLE, Phase.CONCLUDED, Phase.VOIDED, Phase.MAINTENANCE])
def test_between_rounds_no_round_can_be_abandoned(phase: Phase) -> None:
    assert to_phase(Unit.SETS, phase).refused(ABANDON, Role.SHIFT_MANAGER)[0] == "phase"


def test_an_irregularity_of_the_round_before_is_not_overtaken() -> None:
    table = TableHarness().start().to_dealing().finish().to_dealing()
    table.report(Kind.EXPOSED_CARD, earlier=True)
    abandon(table)
    assert table.open.round == table.state.round.number - 1


def test_no_correction_reopens_an_abandoned_round() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.EXPOSED_CARD)
    table.deny()
    entry = table.state.round.entered[-1].entry
    abandon(table)
    table.say(operations.CorrectEntry(entry, "it was so"), Role.SHIFT_MANAGER)
    assert table.at(Phase.VOIDED)
