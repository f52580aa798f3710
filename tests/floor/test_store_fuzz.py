"""Nothing that one table sends stops the others' reports: no event breaks a view, and invalid records are refused."""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from controller.floor.store.records import KNOWN
from controller.floor.store.writing import Writer
from controller.journal.outbox import DecisionMade, FileBegan, Record
from tests.floor.postgres import TOOL
from tests.floor.stored import Rows, heard, message_of

pytestmark = pytest.mark.tool(TOOL)

SCHEMA: Final = Path(__file__).parents[2] / "controller/floor/store/schema"
VIEWS_SQL: Final = (SCHEMA / "views.sql").read_text("utf-8")
VIEWS: Final = re.findall(r"CREATE VIEW cardshoe\.(\w+)", VIEWS_SQL)
FIELDS: Final = sorted(set(re.findall(r"->>? '(\w+)'", VIEWS_SQL)) | set(re.findall(r"[{,](\w+)(?=[,}])", VIEWS_SQL)))
NAMES: Final = sorted(set(re.findall(r"'(\w+)'", VIEWS_SQL)) & KNOWN)
ODD: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 3, 10**18, 10**30, -(10**400), 1.5, 1e300, "", "x", "3", "-3", " 3", "3 ", "1/0", "1/3",
    "-1/2", "1/1/1", "/", "1/", "/1", "NaN", "infinity", "1e5", "0x1", "true", "9" * 50, "\n3", "\uff13",
    "9" * 5000 + "/" + "9" * 5000, [], [[]], [None], ["x"], ["3", 3], [1.5], [{}], [[1]], ["x"] * 100, {}, {"a": 1},
    {"id": "ann"}, [{"id": "ann"}] * 2,
    {"people": {}}, {"people": [1]}, {"people": [{"id": "ann"}, {"id": "ann"}]}, {"game": []}, {"serial": {}},
)  # fmt: skip
ATTACKS: Final = (
    {"event": "start_taken_back", "taken_back": "x"},
    {"event": "cards_dealt", "places": "x"},
    {"event": "boxes_occupied", "boxes": ["x"]},
    {"event": "boxes_occupied", "boxes": 3},
    {"event": "wagers_settled", "bets": "x"},
    {"event": "wagers_settled", "bets": [{"number": "x"}]},
    {"event": "wagers_settled", "bets": [{"paid": "1/0"}]},
    {"event": "hand_exposed", "place": "B1", "cards": {"a": 1}},
    {"event": "irregularity_raised", "of_round": "x"},
    {"event": "ruled", "irregularity": "x"},
    {"event": "configuration_recorded", "configuration": {"people": 1}},
    {"event": "phase_entered", "phase": "x", "cancels": "x"},
)


@pytest.fixture
def journal(writer: Writer, rows: Rows, records: list[Record]) -> int:
    """Return the number of an existing journal."""
    writer.write(heard(records))
    ((number,),) = rows.ask("SELECT id FROM cardshoe.journal")
    return int(number)


def look(rows: Rows) -> int:
    """Read every view, and return the number of rows."""
    return sum(len(rows.ask(f"SELECT * FROM cardshoe.{view}")) for view in VIEWS)


def put(rows: Rows, journal: int, name: str, body: Any, number: int) -> None:
    """Insert the record without the store, as another version might have written it."""
    rows.ask(
        "INSERT INTO cardshoe.event (journal, number, decision, at, round, name, body)"
        " VALUES (%s, %s, %s, '2026-11-24', 3, %s, %s) RETURNING 1",
        journal, number, number, name, json.dumps(body),
    )  # fmt: skip


def test_the_fields_read_by_the_views_are_listed_here() -> None:
    assert len(VIEWS) == 9
    assert {"taken_back", "bets", "places", "of_round", "people", "serial", "irregularity"} <= set(FIELDS)
    assert len(NAMES) > 30


def test_no_body_of_an_event_breaks_a_view(rows: Rows, journal: int) -> None:
    """It puts every odd value into every field that a view reads, of every such event."""
    numbers = count(10**6)
    for odd in ODD:
        for name in NAMES:
            put(rows, journal, name, dict.fromkeys(FIELDS, odd), next(numbers))
            put(rows, journal, name, odd, next(numbers))
            put(rows, journal, name, {"bets": [dict.fromkeys(FIELDS, odd), odd]}, next(numbers))
        assert look(rows) > 0, odd
        rows.do("DELETE FROM cardshoe.event WHERE number >= 1000000")


@pytest.mark.parametrize("attack", ATTACKS, ids=json.dumps)
def test_an_invalid_record_is_set_aside_with_an_alarm(
    attack: dict[str, Any], writer: Writer, rows: Rows, records: list[Record], journal: int
) -> None:
    before, seen = rows.all(), look(rows)
    last = next(one for one in reversed(records) if isinstance(one, DecisionMade))
    events = tuple(msgspec.Raw(json.dumps(one).encode()) for one in ({"event": "round_began"}, attack))
    sent = msgspec.structs.replace(
        last, first=last.last + 1, last=last.last + 3, before=last.hash, hash="ab" * 32, events=events
    )
    assert writer.write(heard([sent])).refused == 1
    assert rows.alarms() == {"unreadable": 1}
    assert rows.ask("SELECT kind, journal FROM cardshoe.conflict") == [("unreadable", journal)]
    assert look(rows) == seen + 1, "the alarm"
    now = rows.all()
    assert all(now[table] == before[table] for table in ("decision", "event", "head", "journal_file"))


def test_an_event_of_a_later_version_is_stored(writer: Writer, rows: Rows, records: list[Record], journal: int) -> None:
    last = next(one for one in reversed(records) if isinstance(one, DecisionMade))
    events = (msgspec.Raw(b'{"event":"cards_counted_by_light","boxes":"x"}'),)
    sent = msgspec.structs.replace(
        last, first=last.last + 1, last=last.last + 2, before=last.hash, hash="ab" * 32, events=events
    )
    assert writer.write(heard([sent])).new == 1
    assert rows.alarms() == {}
    assert look(rows) > 0


def test_every_record_of_a_table_is_one(records: list[Record]) -> None:
    assert not any(message_of(one).doubt for one in records if isinstance(one, FileBegan | DecisionMade))  # type: ignore[union-attr]


def test_an_irregularity_is_still_looked_up_by_its_index(rows: Rows) -> None:
    rows.do("SET enable_seqscan = off")
    plan = rows.ask(
        "EXPLAIN SELECT FROM cardshoe.event WHERE journal = 1 AND cardshoe.whole(body ->> 'irregularity') = 5"
        " AND name = 'ruled'"
    )
    assert "whole" in str(plan) or "CASE" in str(plan)
    assert re.search(r"Index Cond: .*\(body ->> 'irregularity'", str(plan)), plan
