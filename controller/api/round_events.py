"""The events of one round, as the journal has them and anyone may read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from controller.api.feed import PAGE, EventFeed, Published
from controller.api.narration import tell
from controller.games.own_words import OwnWords

MOST: Final = 4096  # events of a round that are given
_ROUND: Final = re.compile(rb'\{"entry":\d+,"utc_ns":\d+,"round":(\d+),')


def round_of(event: Published) -> int:
    found = _ROUND.match(event.payload)
    assert found is not None, "the feed writes it"
    return int(found[1])


async def events_of_round(feed: EventFeed, number: int) -> list[bytes]:
    """In order. A start that was taken back lies between two parts of the round before. Raises `JournalError`."""
    found: list[bytes] = []
    after = await _before(feed, number) * PAGE
    while after < feed.newest and len(found) < MOST:
        await feed.pace.turn()
        page, after = await feed.older(after)
        rounds = [round_of(event) for event in page]
        found += [event.payload for event, of in zip(page, rounds, strict=True) if of == number]
        if rounds and rounds[0] > number + 1:
            break
    return found[:MOST]


def with_lines(events: Iterable[bytes], words: OwnWords) -> Iterator[bytes]:
    """Each event with its line for people under `line`, where it has one."""
    for event in events:
        line = tell(msgspec.json.decode(event), words)
        yield event if line is None else b'%s,"line":%s}' % (event[:-1], msgspec.json.encode(line))


async def _before(feed: EventFeed, number: int) -> int:
    """The first page that ends in that round or a later one. Rounds ascend; pages of deleted files are empty."""
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
