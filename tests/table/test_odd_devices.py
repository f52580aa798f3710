"""Devices that err, fail or are replaced: the round can still be finished, and no card is counted twice."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.api.view import LinkView, view_of
from controller.games.specification import Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.inputs import CommandAnswered, DeviceConnected, ReportsMissing
from controller.table.phases import Phase, Service
from firmware_bridge.cards import Concealed
from firmware_bridge.commands import Dispense
from firmware_bridge.observations import CardsDrawnTogether, FaceUpFound, StubUnloaded
from tests.table.harness import TableHarness, cards

BOTH = pytest.mark.parametrize("unit", Unit)


@BOTH
def test_nc_5_4_a_round_that_is_wholly_dealt_ends_without_the_device(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing().deal()
    table.lose_link()
    table.expose_all().settle().conclude()
    assert not table.events_of(events.IrregularityRaised)


def test_nc_5_4_a_stop_that_cannot_be_cleared_ends_in_a_ruling() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.report(Kind.TECHNICAL_STOP)
    table.confirm(places_certain=False)
    assert table.open.stage == "ruling"


def test_a_device_that_is_stopped_at_its_connection_is_a_stop() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    table.lose_link()
    broken = replace(table.device.status, faults=("jam: transport",))
    table.give(DeviceConnected(table.device.identity, broken))
    assert str(table.state.device.stopped) == "jam: transport"
    assert [found.row.id for found in table.state.open] == ["I19"]
    table.lose_link()
    table.connect()
    assert not table.state.device.stopped


@pytest.mark.parametrize(
    ("changes", "word"),
    [({"deck_size": 104}, "104"), ({"serial": "CARDSHOE-2"}, "CARDSHOE-2"), ({"kind": "shoe"}, "shoe")],
)
def test_another_device_is_refused_in_the_middle_of_a_round(changes: dict[str, object], word: str) -> None:
    table = TableHarness().start().to_dealing()
    table.lose_link()
    other = replace(table.device.identity, **changes)
    table.give(DeviceConnected(other, table.device.status))
    assert table.at(Service.OUT_OF_SERVICE)
    assert word in str(table.state.service_cause)


def test_another_device_may_take_over_between_rounds() -> None:
    table = TableHarness().start().to_dealing().finish()
    table.lose_link()
    table.give(DeviceConnected(replace(table.device.identity, serial="CARDSHOE-2"), table.device.status))
    assert not table.at(Service.OUT_OF_SERVICE)


def test_a_set_missing_in_the_journal_lies_in_the_tray_with_all_its_cards() -> None:
    """The next hand would otherwise get two cards too many."""
    table = TableHarness().start().to_dealing()
    table.take()
    shown = replace(table.device.status, dispensed=table.device.status.dispensed)
    assert len(table.state.decks.tray) == 3
    missed = replace(
        table.state,
        decks=replace(table.state.decks, tray=(), in_play=replace(table.state.decks.in_play, dispensed=3)),
    )
    table.state = missed
    table.lose_link()
    table.give(DeviceConnected(table.device.identity, shown))
    assert [card.ordinal for card in table.state.decks.tray] == [4, 5, 6]
    assert [found.row.id for found in table.state.open] == ["I04"]


@pytest.mark.parametrize("last", [None, 999])
def test_reports_that_are_gone_are_missed_once_and_the_rest_is_compared(last: int | None) -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take()
    table.lose_link()
    table.give(DeviceConnected(table.device.identity, table.device.status))
    table.give(ReportsMissing(table.state.device.boot, table.state.device.last_report + 1, last))
    expected = table.device.last_report if last is None else last
    assert table.state.device.last_report == expected
    assert len(table.events_of(events.IrregularityRaised)) == 1


def test_a_command_reported_done_without_effect_is_a_stop_and_not_repeated() -> None:
    table = TableHarness().start().to_dealing()
    table.device.obey = lambda command_id, command: None  # type: ignore[method-assign]  # a device that answers and does nothing
    table.take()
    opened = table.state.device.moving
    assert opened is not None
    assert isinstance(opened.command, Dispense)
    issued = len(table.events_of(events.CommandIssued))
    table.give(CommandAnswered(opened.id, True))
    assert [found.row.id for found in table.state.open] == ["I19"]
    moving = [event for event in table.events_of(events.CommandIssued)[issued:] if event.command.moves_cards]
    assert not moving


def test_nc_5_5_2_a_card_that_was_read_before_is_an_excess_and_stays_untold() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.device.inside[1] = table.device.inside[0]
    table.take(2)
    assert table.open.row.id == "I02"
    raised = table.last(events.IrregularityRaised)
    assert table.device.inside[0].code not in str(raised.note)


def test_nc_5_5_1_a_foreign_card_among_cards_drawn_together_is_named() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    status = table.device.status
    face = Concealed(cards("KD")[0], status.shuffle, 1)
    table.device.report(CardsDrawnTogether(status.shuffle, 1, 50, 1, False, (face, None), foreign=1))
    assert {found.row.id for found in table.state.open} == {"I01", "I15"}


def test_a_deck_with_a_face_up_card_begins_no_round() -> None:
    table = TableHarness(Unit.SINGLES).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    face = Concealed(cards("KD")[0], table.device.status.shuffle, 1)
    table.device.report(FaceUpFound(table.device.status.shuffle, 1, 1, face))
    assert table.refused(operations.PlaceYourBets())[0] == "face-up"
    assert table.last(events.CardFoundFaceUp).card is face


def test_a_card_set_aside_and_returned_to_a_hand_is_counted_once() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal()
    table.handle("B1")
    table.device.exit_held = False
    table.device.draw()
    table.confirm(handled=True, wrong_number=False, reconstructable=False)
    table.all_continue()
    stub = len(table.device.inside)
    table.report(Kind.WRONG_COUNT, "B6", counted=4)
    table.confirm(reconstructable=False)
    assert table.state.stub_due == stub


def test_a_hand_that_was_entered_wrongly_is_entered_again() -> None:
    table = TableHarness(boxes=(1,), hands={"B1": "KD KC KS", "D": "2C 3C 4C"}).start().to_dealing().deal()
    table.expose("D")
    table.do(operations.ExposeHand("B1", cards("KD KC 7S")))
    assert "misplaced" in table.open.asks, "whether they lie wrong, people say"
    table.deny()
    table.expose("B1", "KD KC KS")
    assert table.last(events.HandJudged).outcome == "win"


def test_a_supervisor_returns_the_table_to_service_from_any_state() -> None:
    table = TableHarness().start()
    for by in (Role.PIT_SUPERVISOR, Role.SHIFT_MANAGER):
        table.do(operations.ReturnToService(), by)
        assert not table.state.device.connected
        table.connect()
        assert table.at(Service.IN_SERVICE)
    assert table.refused(operations.ReturnToService())[0] == "role"
    assert table.at(Phase.CLOSED)


def test_nc_5_5_2_two_equal_cards_in_one_set_are_raised_once() -> None:
    table = TableHarness().start()
    table.device.order[1] = table.device.order[0]
    table.to_dealing()
    assert (table.open.kind, table.open.ordinals) == (Kind.DECK_COUNT, (2,))


@pytest.mark.parametrize("reads", [True, False])
def test_a_card_like_the_first_card_is_a_second_one(reads: bool) -> None:
    table = TableHarness(game_id="F3", hands={"F": "AS"})
    table.device.capabilities = replace(table.device.capabilities, recognises_cards=reads)
    if reads:
        table.device.order[3] = table.device.order[0]
    table.start().to_betting()
    table.do(operations.NoMoreBets())
    table.take()
    table.do(operations.ShowFirstCard(*cards("AS")))
    if not reads:
        table.deal()
        table.expose("B1", "AS 3S 4S")
    assert table.open.kind is Kind.DECK_COUNT


def at_first_card() -> TableHarness:
    table = TableHarness(game_id="F3").start().to_betting()
    table.do(operations.NoMoreBets())
    return table


def test_a_stub_unloaded_before_the_first_card_is_a_doubt() -> None:
    table = at_first_card()
    table.device.report(StubUnloaded(1, 52))
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    table.count(table.state.stub_due)
    table.rule(RulingAction.CONTINUE)
    table.do(operations.DealByHand(1, "the stub is out"), Role.PIT_SUPERVISOR)
    assert table.state.round.first_card is not None


def test_a_count_before_the_deal_is_not_the_count_after_it() -> None:
    table = at_first_card()
    table.take()
    table.count(51)
    assert table.state.decks.in_play.stub is None


def test_nc_3_12_1_a_stub_unloaded_in_the_deal_is_dealt_by_hand_and_counted() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    left = table.device.left
    table.device.report(StubUnloaded(1, left))
    assert view_of(table.state, LinkView()).deck.stub_out
    table.count(left)
    table.confirm()
    assert not any(isinstance(opened.command, Dispense) for opened in table.state.device.open_commands)
    table.do(operations.DealByHand(6, "the stub is out"), Role.PIT_SUPERVISOR)
    assert table.at(Phase.EXAMINING)
    assert view_of(table.state, LinkView()).by_hand
    assert table.state.decks.in_play.stub is None
