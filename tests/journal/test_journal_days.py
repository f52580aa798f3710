"""The journal's change to its next file: days of a time zone with clock changes, file size, and clocks that jump."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.daemon.journal_days import LEAST_NS, JournalDays, find_zone
from controller.journal.codec import Moment

SECOND = 1_000_000_000
HOUR = 3600 * SECOND
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")
SMALL = 1_000


def utc_ns(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp()) * SECOND


def days(begins: str = "06:00", zone: str = "Europe/Berlin") -> JournalDays:
    return JournalDays(time.fromisoformat(begins), find_zone(zone), SMALL)


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        ("2026-07-01T05:59:59+02:00", date(2026, 6, 30)),
        ("2026-07-01T06:00:00+02:00", date(2026, 7, 1)),
        ("2026-03-29T05:59:59+02:00", date(2026, 3, 28)),  # end of a day of 23 hours
        ("2026-10-25T05:59:59+01:00", date(2026, 10, 24)),  # end of a day of 25 hours
        ("2026-10-25T06:00:00+01:00", date(2026, 10, 25)),
    ],
)
def test_a_day_begins_at_its_time_of_the_wall_clock(moment: str, day: date) -> None:
    assert days().day(utc_ns(moment)) == day


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("begins", ["00:00", "02:30", "06:00", "23:59"])
def test_a_year_has_its_days_in_order_and_none_is_left_out(zone: str, begins: str) -> None:
    """This holds also where that time of day occurs twice or not at all."""
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    moments = [int((begin + timedelta(minutes=30 * step)).timestamp()) * SECOND for step in range(366 * 48)]
    found = [days(begins, zone).day(moment) for moment in moments]
    steps = {after - before for before, after in pairwise(found)}
    assert steps == {timedelta(0), timedelta(days=1)}


@given(st.integers(0, 2**63 - 1), st.sampled_from(ZONES), st.times())
def test_any_reading_of_a_clock_is_of_a_day(now: int, zone: str, begins: time) -> None:
    JournalDays(begins, find_zone(zone), SMALL).day(now)


@pytest.mark.parametrize("name", ["Nowhere/Town", "../etc/passwd", "/etc/localtime", "Europe", "", "a" * 5000, "\0"])
def test_a_time_zone_that_the_system_does_not_know(name: str) -> None:
    with pytest.raises(ValueError, match="this system does not know the time zone"):
        find_zone(name)


def test_utc_needs_no_data_of_the_system() -> None:
    assert find_zone("UTC") is UTC


BEGUN = Moment(utc_ns("2026-07-01T07:00:00+02:00"), 0)


@pytest.mark.parametrize(
    ("hours", "size", "over"),
    [
        (1, SMALL - 1, False),
        (1, SMALL, True),
        (22.9, 0, False),
        (23, 0, True),
        (-2, 0, True),
        (24 * 365 * 200, 0, True),
    ],
)
def test_a_file_ends_with_its_day_or_when_it_is_large(hours: float, size: int, over: bool) -> None:
    """A clock that is set back leads to one more file, not to a file that never ends."""
    now = Moment(BEGUN.utc_ns + int(hours * HOUR), LEAST_NS)
    assert days().is_over(BEGUN, now, size) is over


def test_a_clock_that_jumps_at_every_look_begins_few_files() -> None:
    files, begun = 0, BEGUN
    for minute in range(24 * 60):
        now = Moment(BEGUN.utc_ns + (minute % 2) * 48 * HOUR, minute * 60 * SECOND)
        if days().is_over(begun, now, 0):
            files, begun = files + 1, now
    assert 1 < files <= 24 * 6
