"""One table's story: the newest decisions of its journal, as lines for people.

    journal record ── take ── the newest decisions of each table, in order of arrival ── lines, on request

A broker or a publisher may send a record again: decisions are recognised by their numbers. Memory is limited.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from controller.api.screen_lines import Names, line_for_screens
from controller.floor.floor_view import LATEST, MOST_TABLES, UnreadableReportError
from controller.floor.topics import TablePlace
from controller.games.own_words import OwnWords
from controller.journal.outbox import DecisionMade, Record
from firmware_bridge.messages import AnyText
from firmware_bridge.plain_text import plain

KEPT: Final = 64  # decisions of a table
MOST_BYTES: Final = 96 * 1024  # bytes of these decisions
LONGEST: Final = 64 * 1024  # bytes of one decision
MOST_LINES: Final = 100
COUNT: Final = "count_cards"
LATEST_NS: Final = 2**62  # the year 2116

_RECORD: Final = msgspec.json.Decoder(Record)
_EVENT: Final = msgspec.json.Decoder(dict[str, Any])


class StoryLine(msgspec.Struct, frozen=True):
    """A line of a story. `key` identifies the event among those of the table. `utc_ns` is a time of the table's
    clock.
    """

    key: str
    utc_ns: int
    round: int
    text: str


class _Story:
    """The story of one journal. `decisions` are in order. `version` grows with each."""

    def __init__(self, journal: str, version: int) -> None:
        self.journal = journal
        self.version = version
        self.decisions: dict[int, DecisionMade] = {}
        self.sizes: dict[int, int] = {}


class Stories:
    """`counted` is called with the events of each new decision."""

    def __init__(self, counted: Callable[[tuple[msgspec.Raw, ...]], None] = lambda events: None) -> None:
        self._counted = counted
        self._stories: dict[TablePlace, _Story] = {}

    def take(self, place: TablePlace, payload: bytes) -> bool:
        """Take a record of the table's journal. Return whether the story has changed. Raise `UnreadableReportError` if
        it cannot be decoded.
        """
        if len(payload) > LONGEST:
            return False  # for example an order with many bets; the journal has it
        try:
            record = _RECORD.decode(payload)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise UnreadableReportError(str(error)) from error
        if not isinstance(record, DecisionMade):
            return False
        story = self._stories.get(place) or self._begin(place, record.journal)
        if story.journal != record.journal:
            story = self._begin(place, record.journal)
        known = story.decisions.get(record.last)
        if known is not None and known.hash == record.hash:
            return False
        self._counted(record.events)
        in_order = not story.decisions or record.last > next(reversed(story.decisions))
        story.version += 1
        story.decisions[record.last] = record
        story.sizes[record.last] = len(payload)
        if not in_order:
            story.decisions = dict(sorted(story.decisions.items()))
        while len(story.decisions) > KEPT or sum(story.sizes.values()) > MOST_BYTES:
            first = next(iter(story.decisions))
            del story.decisions[first], story.sizes[first]
        return True

    def version(self, place: TablePlace) -> int:
        """Return a value that changes with the story of that table."""
        return self._stories[place].version if place in self._stories else 0

    def _begin(self, place: TablePlace, journal: str) -> _Story:
        version = self.version(place)
        if place not in self._stories and len(self._stories) >= MOST_TABLES:
            del self._stories[next(iter(self._stories))]
        story = self._stories[place] = _Story(journal, version)
        return story

    def lines(
        self, place: TablePlace, words: OwnWords, names: Names, say: Callable[[AnyText], str]
    ) -> tuple[StoryLine, ...]:
        """Return the lines, newest first. `words` are those of the table's game. `say` renders a sentence in the
        reader's language.
        """
        story = self._stories.get(place)
        found: list[StoryLine] = []
        decisions = list(story.decisions.values()) if story is not None else []
        hidden = _withdrawn(decisions)
        for made in reversed(decisions):
            utc_ns, round_number = min(max(0, made.utc_ns), LATEST_NS), min(max(0, made.round), LATEST)
            for number, raw in reversed(list(enumerate(made.events, made.first + 1))):
                if number not in hidden and (text := line_of(raw, words, names)):
                    found.append(StoryLine(f"{made.last}/{number}", utc_ns, round_number, say(text)))
                if len(found) >= MOST_LINES:
                    return tuple(found)
        return tuple(found)


def _withdrawn(decisions: list[DecisionMade]) -> frozenset[int]:
    """Return the numbers of the events of counts that were withdrawn, with what they raised: the line about the next
    count names them.
    """
    withdrawn: set[object] = set()
    hidden: set[object] = set()
    try:
        events = [
            [(number, _EVENT.decode(raw)) for number, raw in enumerate(made.events, made.first + 1)]
            for made in decisions
        ]
        for _, event in (one for made in events for one in made):
            if event.get("event") == "entry_corrected" and event["was"]["operation"] == COUNT:
                withdrawn.add(event["corrected"])
        for made in events:
            said = 0
            for number, event in made:
                if event.get("event") in ("operation_taken", "entry_corrected"):
                    said = number
                counts = said in withdrawn and event.get("event") != "entry_corrected"
                if counts or event.get("irregularity") in hidden:
                    hidden.add(number)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, LookupError, TypeError, AttributeError):
        return frozenset()  # events of another version: all are shown
    return frozenset(number for number in hidden if isinstance(number, int))


def line_of(raw: msgspec.Raw, words: OwnWords, names: Names) -> AnyText:
    """Return the line for an event, or "" if it is not shown. An event of an unexpected form, as of another version, is
    shown by its name.
    """
    try:
        event = _EVENT.decode(raw)
        name = str(event["event"])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, KeyError):
        return ""
    try:
        return line_for_screens(event, words, names) or ""
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return plain(name.replace("_", " "))
