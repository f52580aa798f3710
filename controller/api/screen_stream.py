"""`GET /v1/screen`: the present state of the table for screens, and a beat each second.

A screen gets the newest state and not those that it missed. The message for all screens of a kind and language is made
once for each state, and what can be done is derived once for all languages. All screens have the same turns, so that
fifty screens need the messages of one.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

import msgspec

from controller.api.bodies import encode
from controller.api.feed import EventFeed
from controller.api.in_language import in_language
from controller.api.screen_lines import Names, names_with_screens
from controller.api.screen_state import (
    Beat,
    LastView,
    MessageKind,
    TableMessage,
    last_of,
    table_message,
    with_own_part,
)
from controller.api.view import LinkView, TableView
from controller.games.own_words import OwnWords
from controller.language import Speaker
from controller.table.offers import Offer
from controller.table.state import TableState

TURN: Final = 0.05  # seconds, in which a screen gets one state at most
BEAT_EVERY: Final = 1.0  # seconds
LOOKED_FOR: Final = 64  # events searched for the last one that is shown to people

Write = Callable[[bytes], Awaitable[None]]


class ShownTable(Protocol):
    """The part of the table that screens need."""

    feed: EventFeed

    @property
    def state(self) -> TableState: ...

    def view(self) -> TableView: ...

    def link_view(self) -> LinkView: ...

    def shown_by(self) -> object: ...

    def utc_ns(self) -> int: ...

    def offers(self) -> tuple[Offer, ...]: ...


class StoppedNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """The last message. `seen`: as in a beat."""

    seen: str = ""


class ScreenStates:
    """Messages for the screens of one table. `clock`: seconds of a clock that never jumps; None: the loop's.

    `sleep` waits so many seconds. `names`: the current names of people.
    """

    def __init__(
        self,
        table: ShownTable,
        names: Callable[[], Names] = dict,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._table = table
        self._names = names
        self._sleep = sleep
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._derived: dict[bool, tuple[object, TableMessage]] = {}  # by whether its screens operate the table
        self._made: dict[MessageKind, tuple[object, bytes]] = {}
        self._last: dict[bool, LastView] = {}
        self.encoded = 0  # messages made
        self._seen = ""  # what only eyes see at a simulated table

    def shared(self, kind: MessageKind) -> bytes:
        """Return the message for all screens of that kind: the same object until something changes."""
        of = self._table.shown_by()
        made = self._made.get(kind)
        if made is not None and made[0] == of:
            return made[1]
        derived = msgspec.structs.replace(self._in_english(kind, of), language=kind.language)
        message = encode(in_language(derived, Speaker(kind.language, kind.whole)))
        self._made[kind] = of, message
        self.encoded += 1
        return message

    def _in_english(self, kind: MessageKind, of: object) -> TableMessage:
        derived = self._derived.get(kind.operates)
        if derived is not None and derived[0] == of:
            return derived[1]
        offered = self._table.offers() if kind.operates else ()
        message = table_message(self._table.state, self._table.view(), offered, self._newest(kind), kind)
        self._derived[kind.operates] = of, message
        return message

    def _newest(self, kind: MessageKind) -> LastView:
        """Return the latest event. Displays see ids in place of people's names."""
        state = self._table.state
        words = state.game.words if state.settings is not None else OwnWords()
        names = names_with_screens(self._names(), state) if kind.operates else {}
        found = last_of(self._table.feed.recent(LOOKED_FOR), words, names)
        if found.entry > self._last.get(kind.operates, LastView()).entry:
            self._last[kind.operates] = found
        return self._last.get(kind.operates, LastView())

    def beat(self) -> bytes:
        link = self._table.link_view()
        return encode(Beat(self._table.utc_ns(), link.age, link.state, self._seen))

    def stopped(self) -> bytes:
        """Return the last message of a daemon that stops normally, with what was shown last."""
        return b"event: stopped\ndata: %s\n\n" % encode(StoppedNote(self._seen))

    def show_seen(self, sentence: str) -> None:
        """Show on all screens at once what only eyes see at a simulated table."""
        self._seen = sentence
        self._table.feed.publish([])  # wakes the streams

    async def follow(self, write: Write, kind: Callable[[], MessageKind], own: Callable[[], bytes]) -> None:
        """Write states until cancelled. `kind`: the present kind of the screen, since screens may be removed; `own`:
        the screen's part as JSON.
        """
        sent: tuple[bytes, bytes] | None = None
        seen = ""
        beat_at = may_send_at = self._clock()
        while True:
            now = self._clock()
            may_send = now >= may_send_at
            if may_send and (fresh := (self.shared(kind()), own())) != sent:
                entry = self._table.state.entry
                await write(b"event: state\nid: %d\ndata: %s\n\n" % (entry, with_own_part(*fresh)))
                sent, may_send_at = fresh, _next_turn(now)
            elif now >= beat_at or seen != self._seen:
                seen, beat_at = self._seen, now + BEAT_EVERY
                await write(b"event: beat\ndata: %s\n\n" % self.beat())
            elif may_send:
                await self._sleep_or_news(beat_at - now)
            else:
                await self._sleep(min(beat_at, may_send_at) - now)

    async def _sleep_or_news(self, seconds: float) -> None:
        """Wait until something happens, for at most so many seconds."""
        waits = [asyncio.ensure_future(one) for one in (self._sleep(seconds), self._table.feed.news())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()


def _next_turn(now: float) -> float:
    """Return when a screen that gets a state now may get the next one."""
    return (math.floor(now / TURN) + 1) * TURN
