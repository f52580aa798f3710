"""A table's history from the records of its journal: each once, in order, in limited number, whatever they contain."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from controller.floor.floor_view import UnreadableReportError
from controller.floor.last_hour import MINUTE_NS, HourTotals, LastHour
from controller.floor.stories import KEPT, LONGEST, MOST_BYTES, MOST_LINES, Stories, line_of
from controller.floor.topics import TablePlace
from controller.games.own_words import OwnWords
from controller.journal.outbox import DecisionMade, HeadSigned

PLACE = TablePlace("vienna", "p1", "nc-07")
WORDS = OwnWords()


def decision(first: int, *events: object, journal: str = "a" * 32, hash_: str = "") -> bytes:
    """Return entries from `first` on, of which the first is the input."""
    made = DecisionMade(
        journal, "f" * 32, first, first + len(events), hash_ or f"{first:064x}", "0" * 64, 10**18 + first, 3,
        tuple(msgspec.Raw(json.dumps(event).encode()) for event in events),
    )  # fmt: skip
    return msgspec.json.encode(made)


def shown(number: int) -> dict[str, Any]:
    return {"event": "first_card_shown", "card": "KD", "clause": "NC 4.1", "number": number}


def pause(why: str) -> dict[str, Any]:
    return {"event": "table_paused", "reason": why}


def lines(stories: Stories) -> list[str]:
    return [line.text for line in stories.lines(PLACE, WORDS, {}, str)]


def test_the_newest_comes_first_and_machine_events_are_left_out() -> None:
    stories = Stories()
    assert stories.take(PLACE, decision(1, {"event": "round_began", "round": 3}, {"event": "report_taken"}))
    assert stories.take(PLACE, decision(4, shown(1), pause("lunch")))
    assert lines(stories) == ["Paused: lunch.", "The First Card is K♦ (NC 4.1).", "Round 3 begins."]
    newest = stories.lines(PLACE, WORDS, {}, lambda text: str(text).upper())[0]
    assert (newest.text, newest.round, newest.utc_ns) == ("PAUSED: LUNCH.", 3, 10**18 + 4)
    assert len({line.key for line in stories.lines(PLACE, WORDS, {}, str)}) == 3


def test_a_repeat_is_shown_once_and_a_late_record_in_its_place() -> None:
    stories = Stories()
    for first in (1, 3, 5, 3, 1):
        stories.take(PLACE, decision(first, pause(str(first))))
    assert lines(stories) == ["Paused: 5.", "Paused: 3.", "Paused: 1."]
    version = stories.version(PLACE)
    assert not stories.take(PLACE, decision(5, pause("5")))
    assert stories.version(PLACE) == version
    stories = Stories()
    for first in (5, 1, 3):
        assert stories.take(PLACE, decision(first, pause(str(first))))
    assert lines(stories) == ["Paused: 5.", "Paused: 3.", "Paused: 1."]


def test_a_different_decision_with_the_same_number_replaces_it() -> None:
    stories = Stories()
    stories.take(PLACE, decision(1, pause("a")))
    assert stories.take(PLACE, decision(1, pause("b"), hash_="e" * 64))
    assert lines(stories) == ["Paused: b."]


def test_a_withdrawn_count_is_left_out_with_what_it_raised() -> None:
    """Also one that was counted again twice."""
    stories = Stories()

    def count(number: int) -> dict[str, Any]:
        return {"event": "cards_counted", "pile": "stub", "number": number, "due": 43, "by": "ana", "witness": "sam"}

    def again(entry: int, number: int) -> dict[str, Any]:
        was = {"operation": "count_cards", "pile": "stub", "number": number, "witness": "sam"}
        return {"event": "entry_corrected", "corrected": entry, "was": was, "instead": was, "reason": "", "by": "ana"}

    taken = {"event": "operation_taken", "operation": "count_cards"}
    resolved = {"event": "irregularity_resolved", "irregularity": 4, "outcome": "corrected", "clause": "", "by": "ana"}
    stories.take(PLACE, decision(1, taken, count(40), {"event": "irregularity_raised", "kind": "deck_count"}))
    stories.take(PLACE, decision(10, taken, again(2, 40), resolved, count(41)))
    stories.take(PLACE, decision(20, taken, again(12, 41), count(43)))
    shown = lines(stories)
    assert [line for line in shown if "43" in line and "40" not in line and "41" not in line]
    assert len(shown) == 3, "two lines about counting again, and the count that stands"


def test_another_journal_has_another_history() -> None:
    stories = Stories()
    stories.take(PLACE, decision(8, pause("a")))
    version = stories.version(PLACE)
    stories.take(PLACE, decision(1, pause("b"), journal="b" * 32))
    assert lines(stories) == ["Paused: b."]
    assert stories.version(PLACE) > version


def test_the_history_is_limited() -> None:
    stories = Stories()
    for first in range(1, 6 * KEPT, 2):
        stories.take(PLACE, decision(first, pause(str(first))))
    assert len(lines(stories)) == KEPT
    big = {"event": "table_paused", "reason": "x" * (LONGEST - 1000)}
    for first in range(1001, 1021, 2):
        assert stories.take(PLACE, decision(first, big))
    assert len(lines(stories)) == MOST_BYTES // LONGEST
    assert not stories.take(PLACE, decision(2001, {"event": "table_paused", "reason": "x" * LONGEST}))
    for first in range(3001, 3001 + 20 * KEPT, 20):
        stories.take(PLACE, decision(first, *[pause("y")] * 19))
    assert len(lines(stories)) == MOST_LINES


def test_heads_and_files_are_not_shown() -> None:
    stories = Stories()
    head = msgspec.json.encode(HeadSigned("a" * 32, "f" * 32, 4, "1" * 64, 5, "2" * 128, "3" * 64))
    assert not stories.take(PLACE, head)
    assert lines(stories) == []
    assert stories.version(PLACE) == 0


@pytest.mark.parametrize(
    "payload",
    [b"", b"{", b"\xff", b"null", b"[" * 50_000, b'{"record":"other"}', b'{"record":"decision"}',
     decision(1, pause("a")).replace(b'"first":1', b'"first":"1"')],
)  # fmt: skip
def test_an_invalid_record_is_refused_with_a_reason(payload: bytes) -> None:
    stories = Stories()
    with pytest.raises(UnreadableReportError) as found:
        stories.take(PLACE, payload)
    assert str(found.value)
    assert lines(stories) == []


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (b'{"event":"hand_exposed"}', "Hand exposed."),
        (b'{"event":"wagers_settled","bets":[3],"house":1}', "Wagers settled."),
        (b'{"event":"phase_entered","phase":7}', ""),
        (b'{"event":"irregularity_raised","row":5,"asks":1,"place":2,"kind":[]}', "Irregularity raised."),
        (b'{"event":"irregularity_resolved","outcome":5,"clause":1,"by":2}', "irregularity resolved"),
        (b'{"event":["a"]}', None),
        (b'{"event":"a\\u001b[2Jb"}', "A\N{REPLACEMENT CHARACTER}[2Jb."),
        (b"{}", ""),
        (b"[]", ""),
        (b"7", ""),
        (b'{"event":"cards_dealt","source":"tray","places":"B1","cards":' + b"[" * 900 + b"]" * 900 + b"}", None),
    ],
)
def test_a_malformed_event_does_no_harm(event: bytes, line: str | None) -> None:
    """It has no entry in the history, whatever it contains."""
    said = line_of(msgspec.Raw(event), WORDS, {})
    assert line is None or str(said).lower() == line.lower()
    assert "\x1b" not in str(said)


def test_the_last_hour_counts_each_decision_once_and_forgets_what_is_older() -> None:
    now = [1000 * MINUTE_NS]
    hour = LastHour(lambda: now[0])
    stories = Stories(hour.count)
    voided = {"event": "phase_entered", "phase": "voided"}
    first = decision(1, {"event": "round_began", "round": 1}, {"event": "irregularity_raised", "kind": "late_bet"})
    for _ in range(2):
        stories.take(PLACE, first)
    now[0] += 20 * MINUTE_NS
    stories.take(PLACE, decision(4, voided, {"event": "phase_entered", "phase": "idle"}, ["no event"]))
    assert hour.totals() == HourTotals(20, 1, 1, 1)
    now[0] += 40 * MINUTE_NS
    assert hour.totals() == HourTotals(60, 0, 0, 1)
    now[0] += 20 * MINUTE_NS
    assert hour.totals() == HourTotals(60, 0, 0, 0)
