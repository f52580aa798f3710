"""The floor line by line, for output that is not a terminal: what needs a person, and when that is over."""

from __future__ import annotations

from collections.abc import Iterator

from controller.commands.floor.telling import Telling
from controller.floor.floor_view import Matter
from controller.floor.follower import FloorFollower
from controller.floor.page_stream import story_lines


class FloorLines:
    """Lines about changes on the floor. With `story` they include the events at the tables."""

    def __init__(self, follower: FloorFollower, telling: Telling, *, story: bool) -> None:
        self._follower = follower
        self._telling = telling
        self._story = story
        self._matters: dict[str, Matter] = {}
        self._headline = ""
        self._said: set[str] = set()

    def new(self) -> Iterator[str]:
        """Yield the matters that have come up since the last call."""
        floor, telling = self._follower.floor, self._telling
        sentence, _ = telling.headline(floor)
        if sentence != self._headline:
            self._headline = sentence
            yield sentence
        matters = {one.key: one for one in floor.matters}
        for key, matter in matters.items():
            if key not in self._matters:
                yield f"{matter.row}: {telling.about(matter)}"
        for key, matter in self._matters.items():
            if key not in matters:
                yield f"{matter.row}: {telling.say('said.over', what=telling.about(matter))}"
        self._matters = matters
        if self._story:
            yield from self._what_happened()

    def _what_happened(self) -> Iterator[str]:
        said: set[str] = set()
        for place in self._follower.floor.tables:
            for line in reversed(story_lines(self._follower, place, self._telling.speaker)):
                key = f"{'/'.join(place)} {line.key}"
                said.add(key)
                if key not in self._said:
                    yield f"{'/'.join(place)}: {self._telling.time(line.utc_ns, seconds=True)} {line.text}"
        self._said = said
