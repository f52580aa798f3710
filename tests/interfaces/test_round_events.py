"""The events of a round are found in any pages of the journal, without those of other rounds."""

from __future__ import annotations

import json
from random import Random

import pytest
import pytest_mock

from controller.api.feed import PAGE, EventFeed, ProcessorShare, Published
from controller.api.round_events import MOST, events_of_round, with_lines
from controller.games.own_words import OwnWords


class Journal:
    """Consecutive rounds with a number of decisions, each of which is an input and an event. Rounds up to `gone` are
    deleted.
    """

    def __init__(self, lengths: list[int], gone: int = 0) -> None:
        self.events: list[Published] = []
        self.pages = 0
        self._gone = gone
        for number, length in enumerate(lengths):
            self.add(number, length)

    def add(self, number: int, length: int) -> None:
        for _ in range(length):
            entry = 2 * len(self.events) + 2
            payload = b'{"entry":%d,"utc_ns":5,"round":%d,"event":"x"}' % (entry, number)
            self.events.append(Published(entry, payload))

    async def read(self, after: int, until: int) -> list[Published]:
        self.pages += 1
        return [event for event in self.events if self._gone < event.entry and after < event.entry <= until + 1]

    def feed(self) -> EventFeed:
        passes = iter(range(10**9))

        async def sleep(seconds: float) -> None:
            """Return immediately."""

        feed = EventFeed(self.read, ProcessorShare(clock=lambda: float(next(passes)), sleep=sleep))
        feed.start_after(self.events[-1].entry)
        return feed

    def of(self, number: int) -> list[bytes]:
        return [event.payload for event in self.events if b'"round":%d,' % number in event.payload]


@pytest.mark.parametrize("taken_back", [1, 30, 400])
@pytest.mark.parametrize("first", range(100, 140, 3))
async def test_starts_that_were_taken_back_are_found_across_pages(first: int, taken_back: int) -> None:
    """Rounds 2, 3 and 4 were begun, and after each round 1 was open again. Numbers are never reused."""
    journal = Journal([5, first])
    for number in (2, 3, 4):
        journal.add(number, taken_back)
        journal.add(1, first)
    for number in range(5, 15):
        journal.add(number, 90)
    for number in range(16):
        assert await events_of_round(journal.feed(), number) == journal.of(number), number


@pytest.mark.parametrize("seed", range(4))
async def test_each_round_is_found_whole(seed: int) -> None:
    random = Random(seed)
    journal = Journal([random.choice((0, 1, 30, 90, 400)) for _ in range(40)])
    for number in range(41):
        assert await events_of_round(journal.feed(), number) == journal.of(number)


async def test_few_pages_are_read_of_a_long_journal() -> None:
    journal = Journal([60] * 600)
    assert await events_of_round(journal.feed(), 431) == journal.of(431)
    assert journal.pages < 16 < len(journal.events) * 2 / PAGE


async def test_rounds_of_deleted_files_have_no_events_and_later_ones_have() -> None:
    journal = Journal([60] * 200, gone=6000)
    assert await events_of_round(journal.feed(), 3) == []
    assert await events_of_round(journal.feed(), 150) == journal.of(150)


async def test_a_round_without_end_is_limited() -> None:
    journal = Journal([1, 3 * MOST, 1])
    assert await events_of_round(journal.feed(), 1) == journal.of(1)[:MOST]


async def test_reading_a_long_round_waits_for_a_turn_at_each_page(mocker: pytest_mock.MockerFixture) -> None:
    """Any reader may repeat the request as often as he likes."""
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    pace = ProcessorShare(lambda: now, sleep)
    turns = mocker.spy(pace, "turn")
    events = [b'{"entry":%d,"utc_ns":9,"round":1,"event":"table_resumed"}' % entry for entry in range(4 * PAGE)]
    told = await with_lines(events, pace, OwnWords(), {})
    assert [json.loads(one)["line"] for one in told] == ["Table resumed."] * len(events)
    assert turns.await_count == 4
