"""The events of one round, as the journal holds them and as anyone may read them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from controller.api.feed import CHANGED, PAGE, EventFeed, ProcessorShare, Published, measured
from controller.api.screen_lines import Names, line_for_screens
from controller.games.own_words import OwnWords
from controller.language import Speaker
from firmware_bridge.messages import Message, message

MOST: Final = 4096  # the most events that are returned for a round
LONGEST_START: Final = 4 * PAGE  # the most entries that a withdrawn start can have; it holds only bets
_ROUND: Final = re.compile(rb'\{"entry":\d+,"utc_ns":\d+,"round":(\d+),')


class UnreadableEventError(Exception):
    """Reports a journal entry without a meaning: a person with all keys can write anything into the journal."""

    def __init__(self, entry: int) -> None:
        self.message = message(
            "Entry {entry} of the journal cannot be interpreted. Verify the journal (`cardshoe journal verify`), and "
            "compare it with heads recorded elsewhere.",
            entry=entry,
        )
        super().__init__(str(self.message))
        self.entry = entry


def round_of(event: Published) -> int:
    found = _ROUND.match(event.payload)
    assert found is not None, "the feed writes it"
    return int(found[1])


async def events_of_round(feed: EventFeed, number: int) -> list[bytes]:
    """Return the events in order. Raises `JournalError`.

    A withdrawn start is within the previous round, which has a lower number. So it may lie before the page found for
    it, but not before the first page of the round that precedes that page.
    """
    page = await _page_before(feed, number)
    if found := await _events_from(feed, page * PAGE, number):
        return found
    before, _ = await feed.older((page - 1) * PAGE) if page else ([], 0)
    if not before or round_of(before[-1]) >= number:
        return []
    return await _events_from(feed, await _page_before(feed, round_of(before[-1])) * PAGE, number)


async def _events_from(feed: EventFeed, after: int, number: int) -> list[bytes]:
    """Return the events of the round after an entry; more of them may follow withdrawn starts."""
    found: list[bytes] = []
    passed = 0  # entries since the last one of the round
    while after < feed.newest and len(found) < MOST and passed < LONGEST_START:
        await feed.pace.turn()
        page, after = await feed.older(after)
        rounds = [round_of(event) for event in page]
        found += [event.payload for event, of in zip(page, rounds, strict=True) if of == number]
        later = bool(rounds) and min(rounds) > number
        passed = passed + PAGE if later else 0
    return found[:MOST]


async def with_lines(
    events: Sequence[bytes], pace: ProcessorShare, words: OwnWords, names: Names, speaker: Speaker | None = None
) -> list[bytes]:
    """Return each event, with its line for people under `line` if it has one.

    A display may ask for a long round again and again, so each page waits for its turn among the followers that catch
    up, and counts with its own seconds.
    """
    lines: list[bytes] = []
    for begin in range(0, len(events), PAGE):
        await pace.turn()
        page, seconds = await measured(_with_lines(events[begin : begin + PAGE], words, names, speaker))
        pace.spent(seconds)
        lines += page
    return lines


async def _with_lines(events: Sequence[bytes], words: OwnWords, names: Names, speaker: Speaker | None) -> list[bytes]:
    lines: list[bytes] = []
    for event in events:
        if event.endswith(CHANGED):  # its fields are unreliable
            lines.append(event)
            continue
        line = _line(event, words, names)
        if line is None:
            lines.append(event)
        else:
            said = speaker.text(line) if speaker else str(line)
            lines.append(b'%s,"line":%s}' % (event[:-1], msgspec.json.encode(said)))
    return lines


def _line(event: bytes, words: OwnWords, names: Names) -> Message | None:
    found = msgspec.json.decode(event)
    try:
        return line_for_screens(found, words, names)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise UnreadableEventError(found["entry"]) from error


async def _page_before(feed: EventFeed, number: int) -> int:
    """Return a page that ends in that round or a later one and follows a page that does not. Deleted pages are empty.

    Round numbers ascend except for withdrawn starts, so for all other rounds it is the first page.
    """
    low, high = 0, feed.newest // PAGE
    while low < high:
        middle = (low + high) // 2
        await feed.pace.turn()
        page, _ = await feed.older(middle * PAGE)
        if page and round_of(page[-1]) >= number:
            high = middle
        else:
            low = middle + 1
    return low
