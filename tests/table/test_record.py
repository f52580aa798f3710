"""The daemon's start is journaled when its arguments change, and records who a witness is."""

from __future__ import annotations

from msgspec.structs import replace

from controller.games.specification import Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.inputs import ConfigurationRead, DaemonStarted
from controller.table.record import ConfigurationRecord, DeviceRecord, PersonRecord
from controller.table.settings import Settings
from tests.table.harness import TableHarness

RECORD = ConfigurationRecord(
    "1.0",
    DeviceRecord("serial:///dev/cardshoe/X", "X", ("ab" * 32,), "cd" * 32),
    (
        PersonRecord("dealer", "Dana Dee", Role.DEALER, (1001,)),
        PersonRecord("sam", "Sam", Role.PIT_SUPERVISOR, (), "ef" * 32),
        PersonRecord("dana dee", "Someone else", Role.DEALER),
    ),
)
SETTINGS = Settings("NC", Unit.SETS, 7)


def started(record: ConfigurationRecord | None = RECORD) -> DaemonStarted:
    return DaemonStarted("T1", True, SETTINGS, "start-1", "", record)


def recorded(table: TableHarness) -> list[ConfigurationRecord]:
    return [event.configuration for event in table.events_of(events.ConfigurationRecorded)]


def test_it_is_recorded_once_and_again_when_anything_differs() -> None:
    table = TableHarness(settings=SETTINGS)
    table.give(started())
    table.give(started())
    assert recorded(table) == [RECORD]
    assert table.state.configuration == RECORD
    (dealer, sam, other) = RECORD.people
    for changed in (
        replace(RECORD, program="1.1"),
        replace(RECORD, device=replace(RECORD.device, keys_digest="00" * 32)),
        replace(RECORD, device=replace(RECORD.device, url="tcp://192.0.2.1:4001/?driver=bee_tek")),
        replace(RECORD, people=(dealer, replace(sam, pin_digest="00" * 32), other)),
        replace(RECORD, people=(dealer, replace(sam, role=Role.SHIFT_MANAGER), other)),
        replace(RECORD, people=(replace(dealer, uids=(1001, 0)), sam, other)),
    ):
        table.give(started(changed))
        assert recorded(table)[-1] == changed


def test_a_start_without_arguments_records_nothing_and_keeps_the_last_record() -> None:
    """In older journals these inputs have no arguments."""
    table = TableHarness(settings=SETTINGS)
    table.give(started())
    table.give(started(None))
    assert recorded(table) == [RECORD]
    assert table.state.configuration == RECORD


def brought(witness: str, record: ConfigurationRecord | None = RECORD) -> events.DeckBrought:
    table = TableHarness(settings=SETTINGS).start()
    table.give(started(record))
    table.do(operations.BringDeck("A", "red", "S1", 52, witness))
    return table.last(events.DeckBrought)


def test_a_witness_is_a_person_of_the_configuration_by_id_or_by_name() -> None:
    for said in ("sam", " SAM ", "Sam"):
        assert brought(said).witness_id == "sam"
    assert brought("Someone Else").witness_id == "dana dee"


def test_a_name_that_no_person_bears_is_marked_as_a_name() -> None:
    assert brought("a surveillance officer").witness_id == ""
    assert brought("sam", None).witness_id == "", "nobody is known"


def test_nobody_witnesses_his_own_entry_under_another_name() -> None:
    table = TableHarness(settings=SETTINGS).start()
    table.give(started(replace(RECORD, people=RECORD.people[:2])))
    for said in ("dealer", "DEALER ", "Dana Dee", " dana dee "):
        assert table.refused(operations.BringDeck("A", "red", "S1", 52, said))[0] == "witness"


def test_every_record_of_a_count_names_the_witness() -> None:
    table = TableHarness(settings=SETTINGS).start()
    table.give(started())
    table.do(operations.BringDeck("A", "red", "S1", 52, "sam"))
    table.do(operations.QuarantineDeck("A", "a bent card"))
    table.do(operations.ReleaseDeck("A", "it was no card of ours", 52, "sam"), Role.PIT_SUPERVISOR)
    table.do(operations.TakeDeckOut("A", "worn", 52, "sam"))
    assert table.last(events.DeckBrought).witness_id == "sam"
    assert table.last(events.DeckReleased).witness_id == "sam"
    assert table.last(events.DeckTakenOut).witness_id == "sam"


def test_reloaded_settings_are_recorded_and_wait_for_the_end_of_the_round() -> None:
    table = TableHarness(settings=SETTINGS)
    table.give(started())
    table.connect()
    table.to_betting()
    changed = replace(RECORD, people=RECORD.people[:2])
    fewer = replace(SETTINGS, box_count=5)
    table.give(ConfigurationRead(changed))
    assert recorded(table) == [RECORD, changed]
    table.give(ConfigurationRead(changed, fewer))
    assert table.state.settings == SETTINGS, "of a round in progress nothing changes"
    table.do(operations.CancelStart())
    table.give(ConfigurationRead(changed, fewer))
    assert table.state.settings == fewer
    assert recorded(table) == [RECORD, changed]


def test_settings_that_wait_since_a_start_give_way_to_those_that_are_read_again() -> None:
    table = TableHarness(settings=SETTINGS)
    table.give(started())
    table.connect()
    table.to_betting()
    table.give(DaemonStarted("T1", True, replace(SETTINGS, box_count=5), "start-2", "", RECORD))
    waiting = [table.state.settings_wait]
    table.do(operations.CancelStart())
    table.give(ConfigurationRead(RECORD, SETTINGS))
    waiting.append(table.state.settings_wait)
    assert waiting == [replace(SETTINGS, box_count=5), None]
    assert table.state.settings == SETTINGS
