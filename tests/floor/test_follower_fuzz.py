"""Any message under any topic: a follower of the floor continues, and keeps a limited part of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from random import Random
from types import SimpleNamespace
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.commands.floor.screen import FloorScreen
from controller.commands.floor.telling import Telling
from controller.commands.floor.watch import FloorLines, Silent
from controller.floor.address import Address, Broker
from controller.floor.broker import BrokerMessage
from controller.floor.floor_view import LONGEST_REPORT, MOST_OPEN, SECOND_NS
from controller.floor.follower import FloorFollower, FollowedPart
from controller.floor.page_stream import PageStream
from controller.floor.topics import TablePlace, TopicSubject
from controller.journal.codec import Moment
from controller.language import languages
from tests.floor.many_tables import EXPOSED, NOW, opened, quiet
from tests.floor.test_stories import decision, pause, shown
from tests.support.noted import noted

PLACE: Final = TablePlace("vienna", "p1", "nc-01")
TOPICS: Final = (
    *(PLACE.topic(subject) for subject in TopicSubject),
    "",
    "/",
    "#",
    "cardshoe/1",
    "cardshoe/1/vienna/p1/nc-01",
    "cardshoe/1/vienna/p1/nc-01/",
    "cardshoe/1/vienna/p1/nc-01/table/",
    "cardshoe/1/vienna/p1/nc-01/table/x",
    "cardshoe/1/vienna/p1/nc-01/TABLE",
    "cardshoe/1/vienna/p1/nc-01/mine",
    "cardshoe/1/vienna/p1/nc\x00/table",
    "cardshoe/1/vienna//nc-01/table",
    f"cardshoe/1/vienna/p1/{'x' * 65}/table",
    "cardshoe/2/vienna/p1/nc-01/table",
    "$SYS/broker/uptime",
    "\U0001f0cf" * 200,
)
PAYLOADS: Final = (
    b"", b"{}", b"[]", b"null", b"0", b'"x"', b"{", b"\xff", b"\x00" * 100, b"[" * 60_000, b"9" * 60_000,
    b'{"record":"decision"}', b'{"record":"head"}', b'{"record":1}', bytes(LONGEST_REPORT + 1),
)  # fmt: skip
WHOLE: Final = opened(opened(quiet(0), EXPOSED, 3), msgspec.structs.replace(EXPOSED, id=813), 2)
SENT: Final = {
    TopicSubject.TABLE: WHOLE.table,
    TopicSubject.DEVICE: WHOLE.device,
    TopicSubject.SERVICE: WHOLE.service,
    TopicSubject.JOURNAL: msgspec.json.decode(decision(1, shown(1), pause("lunch"))),
    TopicSubject.KEEPER: {},
}
CLOCK: Any = SimpleNamespace(now=lambda: Moment(NOW, 1000 * SECOND_NS))

ODD: Final = st.recursive(
    st.none()
    | st.booleans()
    | st.sampled_from((0, -1, 1, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63), 10**30, -(10**400)))
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(("", "\0", "\U0001f0cf", "‮", "lost", "stopped", "ready", "dealing_sets", "NC", "#1", "x" * 9000))
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, bytes]:
    """Return a table's message with other values in some places."""
    subject = draw(st.sampled_from(TopicSubject))
    value = msgspec.to_builtins(SENT[subject])
    for _ in range(draw(st.integers(0, 3))):
        holder: Any = value
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if not isinstance(holder[key], dict | list) or draw(st.booleans()):
                if draw(st.booleans()):
                    holder[key] = draw(ODD)
                elif isinstance(holder, list):
                    holder.append(holder[key])
                else:
                    del holder[key]
                break
            holder = holder[key]
    return PLACE.topic(subject), json_of(value)


def json_of(value: Any) -> bytes:
    import json  # it reads numbers of any size

    return json.dumps(value).encode("utf-8", "surrogatepass")


class Watching:
    """All views of what a follower holds."""

    def __init__(self) -> None:
        broker = Broker(Address("localhost", 1883, False), None)
        self.now = 1000 * SECOND_NS
        self.follower = FloorFollower(broker, FollowedPart(), lambda: self.now, Random(0), Silent())
        self.follower.floor.connected()
        self._stream = PageStream(self.follower, "1", lambda: 0.0)
        self._tellings = [Telling(language, CLOCK) for language in languages()]
        self._lines = [FloorLines(self.follower, telling, story=True) for telling in self._tellings]

    def hear(self, topic: str, payload: bytes, expiry: int = 0) -> None:
        self.follower._take(BrokerMessage(topic, payload, {}, False, 0, expiry))

    def look(self) -> Iterator[Any]:
        """Look at the floor as page and terminal do, and yield what a page gets."""
        self.now += 7 * SECOND_NS
        self.follower.floor.look()
        for language, telling, lines in zip(languages(), self._tellings, self._lines, strict=True):
            whole = self._stream.whole(language)
            for message in (whole, self._stream.story_of(PLACE, language)):
                yield msgspec.json.decode(msgspec.json.encode(message))
            keys = [matter.key for matter in whole.matters or ()]
            assert len(keys) == len(set(keys))
            list(lines.new())
            FloorScreen(self.follower, telling, story=True).render(80, 24)


@pytest.mark.parametrize("topic", TOPICS)
def test_messages_of_any_kind_under_any_topic(topic: str) -> None:
    watching = Watching()
    for told in WHOLE.messages():
        watching.hear(*told)
    for number, payload in enumerate(PAYLOADS):
        with noted(f"payload {number}"):
            watching.hear(topic, payload)
            assert list(watching.look())


@given(st.lists(mutated() | st.tuples(st.sampled_from(TOPICS), st.binary(max_size=60)), min_size=1, max_size=5))
def test_almost_valid_reports(sent: list[tuple[str, bytes]]) -> None:
    watching = Watching()
    for topic, payload in sent:
        watching.hear(topic, payload)
        assert list(watching.look())


def test_irregularities_with_one_id_are_merged() -> None:
    """A page identifies items by their ids: of equal ones it would draw more each time."""
    watching = Watching()
    many = tuple(msgspec.structs.replace(EXPOSED, what=f"matter {number}") for number in range(MOST_OPEN))
    report = msgspec.structs.replace(WHOLE.table, irregularities=many)
    watching.hear(PLACE.topic(TopicSubject.TABLE), msgspec.json.encode(report))
    (matter,) = watching.follower.floor.matters
    assert matter.what == "matter 0"
    assert watching.follower.floor.rows[0].open == 1


def test_a_follower_keeps_a_limited_part_of_one_certificates_messages() -> None:
    """The certificate's owner repeatedly sends the largest message of each kind, with different content each time."""
    watching, sizes = Watching(), []
    for number in range(60):
        for subject in TopicSubject:
            value = msgspec.to_builtins(SENT[subject])
            filled = {TopicSubject.TABLE: ("warnings", ["w"] * 15_000), TopicSubject.DEVICE: ("sentence", "s" * 60_000),
                      TopicSubject.SERVICE: ("version", "v" * 60_000)}.get(subject)  # fmt: skip
            if filled is not None:
                value[filled[0]] = filled[1]
            elif subject is TopicSubject.JOURNAL:
                events = [pause(str(number)) for _ in range(1500)]
                value |= {"journal": f"{number}", "first": 1, "last": len(events) + 1, "events": events}
            watching.hear(PLACE.topic(subject), json_of(value))
        assert list(watching.look())
        sizes.append(size_of(watching.follower))
    assert max(sizes) < 2 * 1024 * 1024
    assert max(sizes[30:]) <= 1.01 * max(sizes[:30])


def size_of(thing: Any) -> int:
    """Return the bytes of everything that the floor and its histories reference."""
    seen: set[int] = set()
    left, size = [thing.floor.tables, thing.floor.matters, thing.floor.rows, thing.stories.__dict__], 0
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, type):
            continue
        seen.add(id(one))
        size += 200 + len(one) if isinstance(one, msgspec.Raw) else sys.getsizeof(one)
        if isinstance(one, dict):
            left += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set | frozenset):
            left += one
        elif isinstance(one, msgspec.Struct):
            left += [getattr(one, name) for name in one.__struct_fields__]
        elif hasattr(one, "__dict__"):
            left.append(one.__dict__)
    return size
