"""The view of the floor, from reports and a clock: tones, ages, order, and unreadable reports."""

from __future__ import annotations

import msgspec
import pytest

from controller.floor.broker import BrokerMessage
from controller.floor.floor_view import (
    MOST_TABLES,
    SECOND_NS,
    Floor,
    TableRow,
    UnreadableReportError,
    by_pit,
    natural_order,
)
from controller.floor.reporting import KEPT_FOR, RENEWED_EVERY
from controller.floor.topics import TablePlace, TopicSubject
from tests.floor.many_tables import (
    EXPOSED,
    LATE_BET,
    NOW,
    TOO_MANY,
    Told,
    changed,
    device_away,
    gone,
    opened,
    place_of_number,
    quiet,
)

MINUTE = 60 * SECOND_NS
SILENT = round(2 * RENEWED_EVERY) + 1  # seconds


class Watched:
    """A floor with a clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1000 * SECOND_NS
        self.floor = Floor(lambda: self.now)
        self.floor.connected()

    def hear(self, *tables: Told, seconds_ago: int = 0) -> None:
        """Hear a message that the broker has kept for `seconds_ago`."""
        for table in tables:
            for topic, payload, expiry in table.messages():
                subject = TopicSubject(topic.rpartition("/")[2])
                left = expiry - seconds_ago if expiry else 0
                self.floor.take(table.place, subject, BrokerMessage(topic, payload, {}, bool(seconds_ago), 0, left))

    def pass_(self, seconds: float) -> None:
        self.now += round(seconds * SECOND_NS)
        self.floor.look()

    def row(self, number: int = 0) -> TableRow:
        row = self.floor.tables[place_of_number(number)].row
        assert row is not None
        return row

    def age(self, ms: int) -> float:
        """Return the age in seconds."""
        assert ms
        return (self.floor.now_ms - ms) / 1000


def test_a_table_in_play_is_calm_and_shows_the_time_of_its_phase() -> None:
    watched = Watched()
    watched.hear(quiet(2), seconds_ago=30)
    row = watched.row(2)
    assert (row.tone, row.trouble, row.phase, row.round, row.dealer) == ("plain", "", "exposing", 15, "Chen Wei")
    assert watched.age(row.since) == 80 + 30, "eighty seconds when it was reported, and thirty at the broker"
    assert not watched.floor.matters
    assert watched.floor.version


@pytest.mark.parametrize(
    ("told", "tone", "trouble", "listed"),
    [
        (changed(quiet(0), phase="closed"), "quiet", "", []),
        (opened(quiet(0), EXPOSED, 1), "red", "", ["exposed"]),
        (opened(quiet(0), LATE_BET, 1), "amber", "", ["late"]),
        (changed(quiet(0), paused="lunch", held=True), "amber", "paused", ["paused"]),
        (device_away(quiet(0)), "red", "device", ["device"]),
        (device_away(quiet(1)), "amber", "device", ["device"]),
        (device_away(changed(quiet(0), phase="closed")), "quiet", "", []),
        (device_away(changed(quiet(0), phase="maintenance")), "plain", "", []),
        (changed(quiet(1), service="out_of_service"), "amber", "service", ["service"]),
        (changed(quiet(0), service="reconciling"), "red", "service", ["service"]),
        (changed(quiet(0), warnings=("disk",)), "amber", "warning", ["warning"]),
        (gone(quiet(0)), "amber", "lost", ["lost"]),
        (gone(opened(quiet(0), EXPOSED, 1)), "red", "lost", ["exposed", "lost"]),
        (gone(quiet(0), "stopped"), "amber", "stopped", ["stopped"]),
        (gone(changed(quiet(0), phase="idle"), "stopped"), "quiet", "stopped", []),
    ],
)
def test_a_report_is_shown_with_its_tone_and_trouble(told: Told, tone: str, trouble: str, listed: list[str]) -> None:
    watched = Watched()
    watched.hear(told)
    (row,) = watched.floor.rows
    assert (row.tone, row.trouble) == (tone, trouble)
    found = [one.trouble or ("exposed" if one.tone == "red" else "late") for one in watched.floor.matters]
    assert found == listed
    if found == [trouble]:
        assert watched.floor.matters[0].tone == tone, "the list says of it what the tile says"


def test_the_oldest_irregularities_come_first_whatever_the_tables_clocks_show() -> None:
    watched = Watched()
    wrong = opened(quiet(1, NOW + 5 * 3600 * SECOND_NS), TOO_MANY, 20)  # its clock is five hours ahead
    watched.hear(opened(quiet(0), EXPOSED, 3), wrong, gone(quiet(2)), opened(quiet(3), LATE_BET, 10))
    matters = watched.floor.matters
    assert [one.row[-2:] for one in matters] == ["02", "04", "01", "03"]
    assert [round(watched.age(one.since)) for one in matters[:3]] == [1200, 600, 180]
    assert matters[2].clauses == ("NC 5.7",)
    assert str(matters[2].who) == "pit supervisor"
    assert (str(matters[2].what), str(matters[2].where)) == ("a card exposed in dealing", "box 1")


def test_an_age_does_not_jump_when_the_table_reports_again() -> None:
    watched = Watched()
    watched.hear(opened(quiet(0), EXPOSED, 3))
    since, phase = watched.floor.matters[0].since, watched.row().since
    version = watched.floor.version
    watched.pass_(10)
    again = opened(quiet(0), EXPOSED, 3)
    late = changed(again, utc_ns=NOW + 10 * SECOND_NS + 700_000_000, entry=99)  # it came slightly later than before
    watched.hear(late)
    assert (watched.floor.matters[0].since, watched.row().since) == (since, phase)
    assert watched.floor.version == version, "nothing that is shown has changed"


def test_a_table_that_is_not_renewed_is_silent_and_comes_back() -> None:
    watched = Watched()
    watched.hear(quiet(0))
    watched.pass_(SILENT - 2)
    assert watched.row().trouble == ""
    watched.pass_(2)
    assert (watched.row().trouble, watched.row().tone) == ("silent", "amber")
    assert watched.age(watched.row().trouble_since) == SILENT
    watched.hear(quiet(0))
    assert watched.row().trouble == ""
    assert not watched.floor.matters


def test_a_report_that_the_broker_kept_too_long_counts_as_silence() -> None:
    watched = Watched()
    watched.hear(quiet(0), seconds_ago=SILENT)
    watched.hear(quiet(1), seconds_ago=5)
    assert [watched.row(number).trouble for number in (0, 1)] == ["silent", ""]


def test_without_a_broker_everything_stays_as_it_was() -> None:
    watched = Watched()
    watched.hear(quiet(0), opened(quiet(1), EXPOSED, 1))
    rows, matters = watched.floor.rows, watched.floor.matters
    watched.floor.disconnected("floor-lost")
    watched.pass_(3600)
    assert (watched.floor.rows, watched.floor.matters) == (rows, matters)
    assert watched.floor.away
    assert watched.age(watched.floor.ms(watched.floor.away_since_ns)) == 3600
    watched.floor.disconnected("floor-unreachable")
    assert watched.age(watched.floor.ms(watched.floor.away_since_ns)) == 3600, "since the first time"
    watched.floor.connected()
    watched.pass_(1)
    assert watched.row().trouble == "", "what the broker has kept comes first"
    watched.hear(quiet(0), seconds_ago=20)
    watched.pass_(10)
    assert [watched.row(number).trouble for number in (0, 1)] == ["", "silent"]


def test_a_report_deleted_at_the_broker_is_forgotten() -> None:
    watched = Watched()
    watched.hear(gone(quiet(0)))
    watched.pass_(KEPT_FOR + 1)
    assert not watched.floor.rows
    assert not watched.floor.matters
    assert not watched.floor.tables


def test_a_table_that_is_taken_away_goes() -> None:
    watched = Watched()
    watched.hear(quiet(0), quiet(1))
    place = place_of_number(0)
    empty = BrokerMessage(place.topic(TopicSubject.TABLE), b"", {}, False, 0)
    assert watched.floor.take(place, TopicSubject.TABLE, empty)
    assert [row.table for row in watched.floor.rows] == ["nc-02"]
    assert not watched.floor.take(TablePlace("a", "b", "c"), TopicSubject.TABLE, empty), "one that was never there"


def test_since_when_a_pause_lasts_is_known_only_where_it_began_before_the_eyes() -> None:
    watched = Watched()
    watched.hear(changed(quiet(0), paused="lunch"), quiet(1))
    assert watched.row(0).trouble_since == 0
    watched.pass_(5)
    watched.hear(changed(quiet(1), paused="lunch"))
    watched.pass_(30)
    watched.hear(changed(quiet(1), paused="a long lunch"))
    assert watched.age(watched.row(1).trouble_since) == 30


def test_rows_are_in_the_order_in_which_people_count() -> None:
    watched = Watched()
    for name in ("nc-10", "nc-9", "NC-1"):
        watched.hear(quiet(0)._replace(place=TablePlace("vienna", "p2", name)))
    watched.hear(quiet(0)._replace(place=TablePlace("vienna", "p10", "a")))
    assert [row.table for row in watched.floor.rows] == ["NC-1", "nc-9", "nc-10", "a"]
    assert [pit for (_, pit), _ in by_pit(watched.floor.rows)] == ["p2", "p10"]
    assert sorted(("b2", "b10", "B1"), key=natural_order) == ["B1", "b2", "b10"]


def raw(**of_table: object) -> bytes:
    return msgspec.json.encode(msgspec.to_builtins(quiet(0).table) | of_table)


@pytest.mark.parametrize(
    "payload",
    [
        b"{", b"\xff\xfe", b"[]", b"null", b'{"entry":1}', raw(phase=3), raw(irregularities={}), b"[" * 60_000,
        b'{"a":' * 12_000, b" " * 70_000, raw(round="1"), b'"' + b"x" * 70_000 + b'"',
    ],
)  # fmt: skip
def test_an_unreadable_report_is_refused_with_a_reason(payload: bytes) -> None:
    watched = Watched()
    place = place_of_number(0)
    with pytest.raises(UnreadableReportError) as found:
        watched.floor.take(place, TopicSubject.TABLE, BrokerMessage("t", payload, {}, False, 0))
    assert str(found.value)
    assert watched.floor.note_unread("a\x1b[2J/b", str(found.value))
    assert not watched.floor.note_unread("a", "b"), "told once"
    assert watched.floor.unread == 2
    assert "\x1b" not in watched.floor.unread_first


@pytest.mark.parametrize("number", [-1, 2**63 - 1, -(2**63), 0])
def test_strange_numbers_do_no_harm(number: int) -> None:
    watched = Watched()
    place = place_of_number(0)
    odd = raw(round=number, utc_ns=number, since_utc_ns=number or 1, entry=number)
    watched.floor.take(place, TopicSubject.TABLE, BrokerMessage("t", odd, {}, True, 0, expiry=2**32 - 1))
    row = watched.row()
    assert 0 <= row.round <= 2**53
    assert 0 <= watched.age(row.since) <= KEPT_FOR


def test_texts_of_the_network_are_made_plain() -> None:
    watched = Watched()
    evil = "\x1b]0;owned\x07<img src=x onerror=alert(1)>\u202e" + "x" * 3000
    watched.hear(changed(quiet(0), dealer=evil, phase=evil, paused=evil))
    row, (matter,) = watched.row(), watched.floor.matters
    for text in (row.dealer, row.phase, str(matter.what)):
        assert len(text) <= 200
        assert not set(text) & {"\x1b", "\x07", "\u202e"}
    assert "<img" in row.dealer, "it is text, and stays text"


def test_more_tables_than_are_followed_are_left_out() -> None:
    watched = Watched()
    for number in range(MOST_TABLES + 2):
        place = TablePlace("vienna", "p1", str(number))
        watched.floor.take(place, TopicSubject.TABLE, BrokerMessage("t", raw(), {}, False, 0))
    assert len(watched.floor.rows) == MOST_TABLES
    assert watched.floor.left_out == 2
