"""Faults that the device reports of itself stop the table until they end and an authorised person returns it to
service.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.admissions import ADMISSIONS, MOST, Admission, row_of
from controller.table.operations import Instruction
from controller.table.phases import Phase, Service
from firmware_bridge import observations
from tests.table.deck_hands import load_beside, shuffle_beside
from tests.table.harness import TableHarness
from tests.table.said import next_step

Admit = Callable[[TableHarness], None]
RETURN: Final = operations.ReturnToService()


def says(*seen: observations.AnyObservation) -> Admit:
    def admit(table: TableHarness) -> None:
        for observation in seen:
            table.device.report(observation)

    return admit


def names_a_fault(table: TableHarness) -> None:
    table.device.faults = ("no word that anyone knows",)
    table.heartbeat()


def reads_badly(table: TableHarness) -> None:
    device = table.device
    device.report(observations.ShuffleFinished(device.deck, device.shuffle, 52, unreadable=1))


SAID: Final[dict[str, Admit]] = {
    "self-test failed": says(observations.SelfTestFinished(False, "exit sensor")),
    "power low": says(observations.PowerLow()),
    "memory check failed": says(observations.CheckFailed("memory")),
    "program check failed": says(observations.CheckFailed("program")),
    "check failed": says(observations.CheckFailed("lamp")),
    "cards not read in the shuffle": reads_badly,
    "fault": names_a_fault,
    "tampering": says(observations.Tampered("case")),
}
EVERY = pytest.mark.parametrize("row", ADMISSIONS, ids=lambda row: row.id)
WELL: Final = observations.SelfTestFinished(True)


def idle(unit: Unit = Unit.SETS) -> TableHarness:
    """Return a table with a shuffled deck in the device, ready for a round."""
    table = TableHarness(unit).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    return table


def test_there_is_a_case_for_every_row() -> None:
    assert list(SAID) == [row.id for row in ADMISSIONS]


@EVERY
def test_between_rounds_no_round_begins_and_the_step_shows_why(row: Admission) -> None:
    table = idle()
    SAID[row.id](table)
    assert not table.state.open
    code, sentence = table.refused(operations.PlaceYourBets())
    assert code == "stopped"
    assert row.id in sentence
    assert "pit supervisor" in sentence
    assert "pit supervisor" in next_step(table.state)


@EVERY
def test_the_device_and_a_person_of_the_rank_end_it(row: Admission) -> None:
    table = idle()
    SAID[row.id](table)
    if row.well:
        code, sentence = table.refused(RETURN, Role.PIT_SUPERVISOR)
        assert (code, "self-test" in sentence) == ("unwell", True)
        table.device.report(WELL)
        assert table.refused(operations.PlaceYourBets())[0] == "stopped", "a person has not looked at it"
    assert table.refused(RETURN)[0] == "role"
    table.device.faults = ()
    table.do(RETURN, Role.PIT_SUPERVISOR)
    table.connect()
    assert not table.state.device.stops
    table.to_betting()


@EVERY
def test_a_restored_link_ends_no_admission(row: Admission) -> None:
    table = idle()
    SAID[row.id](table)
    stops = table.state.device.stops
    table.lose_link()
    table.connect()
    assert table.state.device.stops == stops
    table.start_daemon_again()
    table.connect()
    assert table.state.device.stops == stops


@EVERY
def test_a_closed_table_does_not_open(row: Admission) -> None:
    table = TableHarness().start()
    if row.id == "cards not read in the shuffle":
        table.device.load()
    SAID[row.id](table)
    assert table.refused(operations.OpenTable())[0] == "stopped"


@pytest.mark.parametrize("unit", Unit)
@EVERY
def test_in_a_round_the_clause_of_an_interruption_or_of_a_doubt_applies(row: Admission, unit: Unit) -> None:
    if row.in_round is None:
        return
    table = TableHarness(unit).start().to_dealing()
    table.take()
    SAID[row.id](table)
    assert table.open.kind is row.in_round
    assert table.is_held()
    SAID[row.id](table)
    assert len(table.state.open) == 1


def test_nc_5_4_a_round_continues_once_fault_and_doubts_are_cleared() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    SAID["self-test failed"](table)
    confirm = operations.ConfirmIrregularity(table.open.id, table.open.revision)
    assert table.refused(confirm, Role.PIT_SUPERVISOR)[0] == "fact"
    table.device.report(WELL)
    table.do(RETURN, Role.PIT_SUPERVISOR)
    table.connect()
    table.confirm(Role.DEALER, places_certain=True)
    table.say(operations.ContinueRound())
    table.finish()


def test_unread_cards_of_the_waiting_deck_hold_the_next_round_only() -> None:
    table = TableHarness().start().to_dealing()
    load_beside(table)
    device = table.device
    device.report(observations.ShuffleFinished(2, device.shuffle + 1, 52, unreadable=3))
    assert not table.state.open
    table.finish()
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"


def test_a_device_that_alternates_stays_stopped() -> None:
    table = idle()
    for _ in range(5):
        SAID["self-test failed"](table)
        table.device.report(WELL)
    SAID["self-test failed"](table)
    assert table.refused(RETURN, Role.PIT_SUPERVISOR)[0] == "unwell"


def test_a_flickering_fault_does_not_fill_the_journal() -> None:
    table = idle()
    names_a_fault(table)
    before = len(table.steps)
    for _ in range(20):
        table.device.faults = ()
        table.heartbeat()
        names_a_fault(table)
    assert len(table.steps) == before
    assert table.refused(operations.PlaceYourBets())[0] == "stopped"


def test_faults_that_change_their_words_with_every_status_are_bounded() -> None:
    table = idle()
    for number in range(50):
        table.device.faults = (f"fault {number}",)
        table.heartbeat()
    assert len(table.state.device.stops) == MOST


def test_a_fault_that_lasts_stops_the_table_again_after_its_return() -> None:
    table = idle()
    names_a_fault(table)
    table.do(RETURN, Role.PIT_SUPERVISOR)
    table.connect()
    assert table.state.service is Service.IN_SERVICE
    assert table.refused(operations.PlaceYourBets())[0] == "stopped"


def test_under_maintenance_a_failed_test_lasts_and_a_moved_seal_does_not() -> None:
    table = idle()
    table.do(operations.BeginMaintenance("cleaning"), Role.PIT_SUPERVISOR)
    for row in ADMISSIONS:
        SAID[row.id](table)
    kept = {found.id for cause in table.state.device.stops if (found := row_of(cause)) is not None}
    assert kept == {row.id for row in ADMISSIONS} - {"tampering"}
    assert not table.state.open
    table.do(operations.InstructDevice(Instruction.RUN_SELF_TEST), Role.PIT_SUPERVISOR)
    assert table.state.device.well
    table.device.faults = ()
    table.do(RETURN, Role.PIT_SUPERVISOR)
    table.connect()
    table.do(operations.EndMaintenance(), Role.PIT_SUPERVISOR)
    table.fresh_deck()
    table.do(operations.PlaceYourBets())


def test_another_device_does_not_withdraw_an_admission() -> None:
    table = idle()
    SAID["program check failed"](table)
    table.lose_link()
    table.device.serial = "ANOTHER"
    table.connect()
    assert table.refused(operations.PlaceYourBets())[0] == "stopped"
    table.do(RETURN, Role.PIT_SUPERVISOR)
    table.connect()
    table.to_betting()


# -- doors and jams


@pytest.mark.parametrize(
    "reach",
    [
        says(observations.DoorMoved(True), observations.DoorMoved(False)),
        says(observations.Jammed("transport"), observations.JamCleared("transport")),
    ],
    ids=["door", "jam"],
)
@pytest.mark.parametrize("unit", Unit)
def test_a_shuffled_deck_within_reach_is_shuffled_and_counted_again(reach: Admit, unit: Unit) -> None:
    table = idle(unit)
    reach(table)
    assert not table.state.device.stopped
    code, sentence = table.refused(operations.PlaceYourBets())
    assert code == ("deck-used" if unit is Unit.SETS else "count-due"), sentence
    table.fresh_deck()
    if unit is Unit.SINGLES:
        assert table.refused(operations.PlaceYourBets())[0] == "count-due"
        table.do(operations.CountCards("deck", 52, "a witness"))
    table.do(operations.PlaceYourBets())


def test_an_unshuffled_deck_is_shuffled_after_the_door_is_closed() -> None:
    table = TableHarness().start()
    table.do(operations.OpenTable())
    table.device.ignores_commands = True
    table.device.load()
    table.device.report(observations.DoorMoved(True))
    table.device.report(observations.DoorMoved(False))
    assert not table.state.decks.in_play.used


def test_a_door_opened_in_a_round_spoils_the_waiting_deck_only() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    load_beside(table)
    shuffle_beside(table)
    table.device.report(observations.DoorMoved(True))
    table.device.report(observations.DoorMoved(False))
    assert table.state.decks.waiting is not None
    assert table.state.decks.waiting.used
    table.confirm(Role.DEALER, places_certain=True)
    table.finish()
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"


def test_a_door_opened_in_the_betting_spoils_the_deck_for_other_rounds() -> None:
    table = TableHarness(Unit.SINGLES).start().to_betting()
    table.device.report(observations.DoorMoved(True))
    table.device.report(observations.DoorMoved(False))
    assert table.open.kind is Kind.TECHNICAL_STOP
    table.confirm(Role.DEALER, places_certain=True)
    table.do(operations.CancelStart())
    assert table.state.phase is Phase.IDLE
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"


def test_cards_do_not_come_or_go_in_a_shuffle() -> None:
    """51 cards were counted when the deck was put in, but the shuffle reports a whole deck."""
    table = TableHarness().start()
    table.do(operations.OpenTable())
    device = table.device
    device.ignores_commands = True
    device.report(observations.DeckLoaded(7, 51))
    device.report(observations.ShuffleFinished(7, 700, 52))
    assert table.open.kind is Kind.DECK_COUNT
    assert table.last(events.DeckMadeUnusable).deck == 7
