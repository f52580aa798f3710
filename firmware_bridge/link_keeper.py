"""The link keeper: the only module that connects and reconnects.

    absent --> connecting --> authenticating --> ready <--> stale
                   ^                |              |          |
                   +----- lost <----+--------------+----------+

    absent: nothing can be opened        refused: the device was reached and must not be used

While the keeper tries again, *absent* and *refused* stay until more is known, so that screens do not flicker. No
exception ends the keeper (see `firmware_bridge.link`); only cancellation does.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import math
from collections.abc import Callable
from random import Random
from typing import Final

import msgspec
import structlog

from firmware_bridge.commands import AnyCommand
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.drivers.base import LinkOver, LinkStatistics
from firmware_bridge.drivers.setting import ANY_DEVICE, DevicePolicy
from firmware_bridge.link import (
    GARBAGE,
    Clock,
    Deliver,
    Guard,
    Link,
    LinkState,
    MakeDriver,
    Recorder,
    Wait,
    log_fault,
    write_log,
)
from firmware_bridge.messages import AnyText, Message, message
from firmware_bridge.transports.base import OpenTransport
from firmware_bridge.transports.registry import open_transport

__all__ = ["Health", "LinkKeeper", "LinkState", "wait_for_event"]

FIRST_PAUSE: Final = 0.2  # seconds until the first new attempt; doubles
LONGEST_PAUSE: Final = 5.0
JITTER: Final = 0.2  # either way, as a fraction of the pause


class Health(msgspec.Struct, frozen=True):
    """The state of the link. Times are seconds of the keeper's monotonic clock.

    `link` counts the connections of this run. `last_heard` is when the last undamaged frame came, on any link. `code`,
    `sentence` and `hint` say why there is no link, or why the last one ended; a ready link clears them, and a port that
    opens clears why it could not be opened. `retry_at` is when the next attempt begins, or None. `statistics` are those
    of the last link.
    """

    state: LinkState
    since: float
    link: int = 0
    last_heard: float | None = None
    code: str = ""
    sentence: AnyText = ""
    hint: AnyText = ""
    retry_at: float | None = None
    statistics: LinkStatistics = msgspec.field(default_factory=LinkStatistics)

    def silent_for(self, now: float) -> float | None:
        """Return the age of the last sign of life in seconds, or None if there was none."""
        return None if self.last_heard is None else now - self.last_heard


async def wait_for_event(event: asyncio.Event, seconds: float) -> None:
    """Wait until the event is set, for at most `seconds`."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(None if math.isinf(seconds) else seconds):
            await event.wait()


class LinkKeeper:
    """Keeps the link to one device while `run` runs.

    `make_driver(now)` makes a driver for each connection. `deliver` is called with everything heard, in order, and must
    only store it. A link that was ready ends with exactly one LinkOver. If a device is refused before that, its
    LinkOver is delivered once, until the reason changes or a device is ready. `on_health` is called when the state or
    the code of its reason changes. `policy` names the device that may be used. `clock` is monotonic, in seconds.
    `wait(event, deadline)` returns when the event is set or that clock reaches the deadline; by default the event loop
    waits. `recorder` records every link that was opened. With `simulated`, the log may show the bytes before a fault,
    since they reveal no real card.
    """

    def __init__(
        self,
        url: DeviceUrl,
        *,
        make_driver: MakeDriver,
        deliver: Deliver,
        clock: Clock,
        random: Random,
        on_health: Callable[[Health], None] = lambda health: None,
        open_transport: OpenTransport = open_transport,
        wait: Wait | None = None,
        recorder: Recorder | None = None,
        simulated: bool = False,
        policy: DevicePolicy = ANY_DEVICE,
    ) -> None:
        self._url = url
        self._make_driver = make_driver
        self._deliver = deliver
        self._clock = clock
        self._random = random
        self._on_health = on_health
        self._open_transport = open_transport
        self._wait = wait or self._wait_on_loop
        self._recorder = recorder
        self._simulated = simulated
        self._policy = policy
        self._refusal: LinkOver | None = None  # the last one delivered
        self._doubted = False  # the driver understood none of the last bytes
        self._log = structlog.get_logger(device=str(url))
        self._pause = FIRST_PAUSE
        self._link: Link | None = None
        self._plugged_in = asyncio.Event()
        self._health = Health(LinkState.ABSENT, clock())

    @property
    def health(self) -> Health:
        """A copy of the present state, which does not change later."""
        link = self._link
        if link is None or not link.opened:
            return self._health
        last_heard = self._health.last_heard if link.last_heard is None else link.last_heard
        return msgspec.structs.replace(self._health, last_heard=last_heard, statistics=copy.copy(link.statistics))

    def acknowledge(self, boot: int, number: int) -> None:
        """Acknowledge every report up to this one, because the journal holds it. Without a link, do nothing."""
        if self._link is not None:
            self._link.acknowledge(boot, number)

    def command(self, command_id: int, command: AnyCommand) -> bool:
        """Send a command. Return False if no link is ready or it ended meanwhile; the command may have been obeyed."""
        return self._link is not None and self._link.command(command_id, command)

    def drop(self, code: str, sentence: AnyText, *, refused: bool = False) -> None:
        """End the link, if any, and connect again: the device resends what was not acknowledged.

        With `refused` the device must not be used, so attempts are further apart.
        """
        if self._link is not None:
            self._link.drop(LinkOver(code, sentence, refused))

    def try_now(self) -> None:
        """End this pause, or the next pause, because something was plugged in.

        An open link is left alone. If a device is unplugged and plugged in before the end of its link is noticed, the
        notice is kept until then.
        """
        self._plugged_in.set()

    async def run(self) -> None:
        """Connect, and connect again whenever a link ends, until cancelled."""
        try:
            while True:
                pause = await self._hold_one_link()
                retry_at = self._clock() + pause
                self._health = msgspec.structs.replace(self._health, retry_at=retry_at)
                await self._wait(self._plugged_in, retry_at)
        finally:
            self._health = msgspec.structs.replace(self._health, retry_at=None)

    async def _hold_one_link(self) -> float:
        """Make one attempt, hold the link, and return the seconds to pause before the next."""
        self._plugged_in.clear()
        self._health = msgspec.structs.replace(self._health, retry_at=None)
        link = Link(
            clock=self._clock,
            wait=self._wait,
            deliver=self._deliver,
            on_state=self._follow,
            log=self._log,
            recorder=self._recorder,
            policy=self._policy,
            doubted=self._doubted,
        )
        self._link = link
        if self._health.state is LinkState.LOST or not self._health.code:
            self._enter(LinkState.CONNECTING)
        try:
            await link.run(self._open_transport, self._url, self._make_driver)
        finally:
            over = link.finish()
            self._doubted = over.code == GARBAGE or (self._doubted and not link.statistics.frames_in)
            self._record_end(link, over)
            self._deliver_refusal(link, over)
        return self._next_pause(link, over)

    def _deliver_refusal(self, link: Link, over: LinkOver) -> None:
        """Deliver the refusal of a device that was never ready, once and not at every attempt."""
        if link.ready:
            self._refusal = over if over.refused else None  # the link has delivered it
        elif over.refused and over != self._refusal:
            self._refusal = over
            with Guard(self._receiver_failed, message("reporting that the device is refused")):
                self._deliver(over)

    async def _wait_on_loop(self, event: asyncio.Event, deadline: float) -> None:
        await wait_for_event(event, deadline - self._clock())

    def _next_pause(self, link: Link, over: LinkOver) -> float:
        if over.refused:
            self._pause = LONGEST_PAUSE
        elif link.has_proven_itself(self._clock()):
            self._pause = FIRST_PAUSE
        pause = self._pause * self._random.uniform(1 - JITTER, 1 + JITTER)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        return pause

    # -- health ---------------------------------------------------------------------------------------------------

    def _follow(self, state: LinkState) -> None:
        """Take over the state that the running link reports."""
        was = self._health.state
        if state is LinkState.AUTHENTICATING:
            self._health = msgspec.structs.replace(self._health, link=self._health.link + 1)
            if was is LinkState.REFUSED:
                return
        if state is LinkState.READY or was is LinkState.ABSENT:
            self._enter(state, LinkOver("", ""))
        else:
            self._enter(state)
        event = "link.heard_again" if was is LinkState.STALE else f"link.{state}"
        write_log(self._log.info, event, link=self._health.link)

    def _record_end(self, link: Link, over: LinkOver) -> None:
        """Keep the link's statistics and log why it ended, once for attempts that end for the same reason."""
        self._health = self.health
        unusable = LinkState.LOST if link.opened else LinkState.ABSENT
        state = LinkState.REFUSED if over.refused else unusable
        is_new = self._enter(state, over, link.hint)
        write_log(
            self._log.warning if is_new else self._log.debug,
            f"link.{state}",
            link=self._health.link,
            code=over.code,
            sentence=str(over.sentence),
            **_countable(link.statistics, simulated=self._simulated),
        )
        if link.opened and over.code != "link-stopped":  # in a line of its own, since it may be long
            last = link.traffic.lines(self._clock(), whole=self._simulated)
            write_log(self._log.info if is_new else self._log.debug, "link.traffic", link=self._health.link, last=last)

    def _enter(self, state: LinkState, why: LinkOver | None = None, hint: AnyText = "") -> bool:
        """Set the state, and the reason if given. Return whether it changed, in which case it has been reported."""
        before = self._health
        since = before.since if state is before.state else self._clock()
        after = msgspec.structs.replace(before, state=state, since=since)
        if why is not None:
            after = msgspec.structs.replace(after, code=why.code, sentence=why.sentence, hint=hint)
        self._health = after
        if (after.state, after.code) == (before.state, before.code):
            return False
        with Guard(self._receiver_failed, message("reporting the link's health")):
            self._on_health(self.health)
        return True

    def _receiver_failed(self, doing: Message, error: BaseException) -> None:
        log_fault(self._log, "link.fault", doing, error)


def _countable(statistics: LinkStatistics, *, simulated: bool) -> dict[str, int]:
    """Return the counters above 0 that a log may show. Bytes of a real device are left out: a ten has one more than a
    nine.
    """
    counted: dict[str, int] = msgspec.structs.asdict(statistics)
    return {name: count for name, count in counted.items() if count and (simulated or not name.startswith("bytes_"))}
