"""One connection to a device, from the attempt to open it until the first reason to end it.

Any exception from a transport, a driver or the receiver of their reports ends this one link. Only `Guard` catches it.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from types import TracebackType
from typing import Any, Final, Protocol, TypeAlias

from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.commands import AnyCommand
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.drivers.base import Driver, Heard, LinkOver, LinkReady, LinkStatistics
from firmware_bridge.drivers.detect import SAMPLE_SIZE, what_to_check
from firmware_bridge.drivers.setting import DevicePolicy
from firmware_bridge.errors import (
    BridgeError,
    TransportLostError,
    TwinDeviceError,
    error_fields,
    sealed_traceback,
    type_and_place,
)
from firmware_bridge.messages import AnyText, Message, message
from firmware_bridge.transports.base import OpenTransport, Transport

STALENESS_CHECK: Final = 0.5  # seconds between staleness checks of a ready link
GARBAGE: Final = "device-garbage"
GARBAGE_AFTER: Final = 160  # bytes without anything understood; no driver's longest item has more
PROVEN_AFTER: Final = 5.0  # seconds that a link must stay up if nothing was understood
LEAST_WAIT: Final = 0.01  # seconds; a driver that asks to be woken in the past must not make the loop spin
PIECES_KEPT: Final = 32
LONGEST_PIECE: Final = 256  # bytes kept of a piece

Clock: TypeAlias = Callable[[], float]
Wait: TypeAlias = Callable[[asyncio.Event, float], Awaitable[None]]
MakeDriver: TypeAlias = Callable[[float], Driver]
Deliver: TypeAlias = Callable[[Heard], None]


class RecentTraffic:
    """The last pieces that crossed the wire, kept to explain a fault. `now` is in seconds of one monotonic clock.

    Bytes reveal concealed cards, and so do lengths (a ten has a digit more): of a real device only direction and age
    are shown. A capture has everything else, sealed (docs/captures.md).
    """

    def __init__(self) -> None:
        self._kept: deque[tuple[float, str, int, bytes]] = deque(maxlen=PIECES_KEPT)

    def received(self, now: float, data: bytes) -> None:
        self._kept.append((now, "from device", len(data), data[:LONGEST_PIECE]))

    def sent(self, now: float, data: bytes) -> None:
        self._kept.append((now, "to device", len(data), data[:LONGEST_PIECE]))

    def lines(self, now: float, *, whole: bool) -> list[str]:
        """Return a text for each piece, oldest first. `whole` adds the bytes in hexadecimal.

        >>> traffic = RecentTraffic()
        >>> traffic.received(1.0, b"10D")
        >>> traffic.lines(1.5, whole=False), traffic.lines(1.5, whole=True)
        (['-500 ms from device'], ['-500 ms from device 313044'])
        """
        lines: list[str] = []
        for then, direction, length, data in self._kept:
            what = f"{-round((now - then) * 1000)} ms {direction}"
            lines.append(f"{what} {data.hex()}" + ("..." if length > LONGEST_PIECE else "") if whole else what)
        return lines


class LinkState(StrEnum):
    """The state of the connection to a device."""

    ABSENT = "absent"
    CONNECTING = "connecting"
    AUTHENTICATING = "authenticating"
    READY = "ready"
    STALE = "stale"
    LOST = "lost"
    REFUSED = "refused"


class Recorder(Protocol):
    """A listener to everything on a link (`firmware_bridge.captures`). A recorder must not block. If it raises, it is
    dropped.
    """

    def opened(self) -> None: ...

    def ready(self, device: DeviceIdentity) -> None: ...

    def received(self, data: bytes) -> None: ...

    def written(self, data: bytes) -> None: ...

    def commanded(self, command_id: int, command: AnyCommand) -> None: ...

    def ended(self, over: LinkOver, *, by_driver: bool) -> None: ...


class Guard:
    """Passes exceptions inside the `with` to `fail`; nothing else catches them.

    Cancellation of the running task passes; any other CancelledError is a fault like any exception.
    """

    def __init__(self, fail: Callable[[Message, BaseException], None], doing: Message) -> None:
        self._fail = fail
        self._doing = doing

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or not isinstance(error, Exception | asyncio.CancelledError):
            return False
        if isinstance(error, asyncio.CancelledError) and _is_being_cancelled():
            return False
        self._fail(self._doing, error)
        return True


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def write_log(log: Callable[..., Any], event: str, **fields: object) -> None:
    """Write a log line. A log that cannot be written, on a full disk, must not end a link."""
    with contextlib.suppress(Exception):
        log(event, **fields)


def log_fault(log: Any, event: str, doing: Message, error: BaseException) -> None:
    """Log the type and place of an exception that is a bug. Its text may name a card."""
    write_log(log.error, event, doing=str(doing), **error_fields(error))


class Link:
    """A connection. The first reason to end it stays the reason.

    `opened` means that the transport was open. `ready` means that the device was delivered as ready, so the end must be
    delivered too. `last_heard` is when the last undamaged frame came. `hint` belongs to the reason that `finish`
    returns. `traffic` holds the last pieces received and sent. `policy` names the device that may be used; no other is
    delivered as ready. `doubted` means that the driver understood nothing on the last link, so a device is delivered as
    ready only after the driver has understood something.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        wait: Wait,
        deliver: Deliver,
        on_state: Callable[[LinkState], None],
        log: Any,
        policy: DevicePolicy,
        doubted: bool = False,
        recorder: Recorder | None = None,
    ) -> None:
        self.opened = False
        self.ready = False
        self.hint: AnyText = ""
        self.last_heard: float | None = None
        self.statistics = LinkStatistics()
        self.traffic = RecentTraffic()
        self._recorder = recorder
        self._clock = clock
        self._wait_until = wait
        self._deliver = deliver
        self._on_state = on_state
        self._log = log
        self._policy = policy
        self._doubted = doubted
        self._ready_since = math.inf
        self._withheld: LinkReady | None = None
        self._unread = b""  # bytes received while nothing was understood
        self._transport: Transport | None = None
        self._driver: Driver | None = None
        self._over: LinkOver | None = None
        self._driver_name = ""
        self._stale = False
        self._frames = 0
        self._changed = asyncio.Event()
        self._wakes_at = -math.inf  # nothing waits, so nothing must be woken
        self._taking = self._guard(message("processing data from the device"))

    # -- from opening to the end ----------------------------------------------------------------------------------

    async def run(self, open_transport: OpenTransport, url: DeviceUrl, make_driver: MakeDriver) -> None:
        """Open, exchange bytes, and return when the link ends. Raise nothing but cancellation."""
        with self._guard(message("opening the connection to the device")):
            self._transport = await open_transport(url, on_data=self._receive, on_lost=self._lose)
            self.opened = True
            self._record(lambda recorder: recorder.opened())
        if not self.opened or self._over is not None:
            return
        self._on_state(LinkState.AUTHENTICATING)
        with self._guard(message("exchanging data with the device")):
            self._driver = driver = make_driver(self._clock())
            self._driver_name = url.driver
            self.statistics = driver.statistics
            self._settle(driver)
            while self._over is None:
                await self._wait(driver)
                if self._over is None:
                    now = self._clock()
                    self._take(driver, driver.tick(now), now)
                    self._check_staleness(driver, now)

    async def _wait(self, driver: Driver) -> None:
        """Wait until there is something to do, or the driver's next `tick` is due."""
        now = self._clock()
        wakes_at = max(now + LEAST_WAIT, driver.wake_at())
        self._wakes_at = min(wakes_at, now + STALENESS_CHECK) if self.ready else wakes_at
        await self._wait_until(self._changed, self._wakes_at)
        self._wakes_at = -math.inf
        self._changed.clear()

    def finish(self) -> LinkOver:
        """Close what is open, deliver the end of a link that was ready, and return why it ended. Call once."""
        over = self._over or LinkOver("link-stopped", message("The program ended the link to the device."))
        self._end(over)
        self._close()
        if self.ready:
            with self._guard(message("reporting the end of the link")):
                self._deliver(over)
        return over

    def has_proven_itself(self, now: float) -> bool:
        """Return whether the next pause may be short again. A one-way device is ready as soon as the transport is
        open, and a serial server that serves another host accepts and hangs up immediately: without a pause the
        keeper would reconnect in a tight loop.
        """
        return self.ready and (self.statistics.frames_in > 0 or now - self._ready_since >= PROVEN_AFTER)

    # -- called by the link keeper --------------------------------------------------------------------------------

    def acknowledge(self, boot: int, number: int) -> None:
        driver = self._driver
        if driver is None or self._over is not None:
            return
        with self._guard(message("acknowledging a report")):
            driver.acknowledge(boot, number, self._clock())
            self._settle(driver)

    def drop(self, over: LinkOver) -> None:
        """End the link for a reason that comes from outside it."""
        self._end(over)

    def command(self, command_id: int, command: AnyCommand) -> bool:
        """Send a command and return whether the driver took it."""
        driver = self._driver
        if driver is None or not self.ready or self._over is not None:
            return False
        with self._guard(message("sending a command")):
            self._record(lambda recorder: recorder.commanded(command_id, command))
            driver.command(command_id, command, self._clock())
            self._settle(driver)
            return True
        return False

    # -- called by the transport ----------------------------------------------------------------------------------

    def _receive(self, data: bytes) -> None:
        if self._over is not None:
            return
        with self._taking:
            driver = self._driver
            assert driver is not None, "a transport delivered bytes before it was handed over"
            now = self._clock()
            self.traffic.received(now, data)
            if self._recorder is not None:
                self._record(lambda recorder: recorder.received(data))
            self._take(driver, driver.receive(data, now), now)
            self._check_not_understood(driver, data)
            if self._stale:
                self._check_staleness(driver, now)

    def _lose(self, error: TransportLostError) -> None:
        if self._over is None:
            self._fail(message("using the connection to the device"), error)

    # -- internals ------------------------------------------------------------------------------------------------

    def _take(self, driver: Driver, heard: Sequence[Heard], now: float) -> None:
        """Deliver what the driver heard, and send what it has to send."""
        if self.statistics.frames_in != self._frames:
            self._frames = self.statistics.frames_in
            self.last_heard = now
        over: LinkOver | None = None
        if self._withheld is not None and self.statistics.frames_in:
            self._become_ready(self._withheld)
        for thing in heard:
            if isinstance(thing, LinkOver):
                over = thing
                break
            if isinstance(thing, LinkReady):
                if over := self._policy.refuse(thing.identity):
                    break
                if self._doubted and not self.statistics.frames_in:
                    self._withheld = thing
                else:
                    self._become_ready(thing)
            elif self._withheld is None:
                self._deliver(thing)
        self._settle(driver)
        if over is not None:
            self._end(over, by_driver=True)

    def _become_ready(self, ready: LinkReady) -> None:
        self._withheld = None
        self.ready = True
        self._ready_since = self._clock()
        self._record(lambda recorder: recorder.ready(ready.identity))
        if ready.key:
            write_log(self._log.info, "link.key", key=ready.key)
        self._changed.set()  # from now on staleness is checked
        self._on_state(LinkState.READY)
        self._deliver(ready)

    def _check_not_understood(self, driver: Driver, data: bytes) -> None:
        """End the link if the driver can read nothing of a device that was ready from the start (a one-way device)."""
        if driver.statistics.frames_in or not (self.ready or self._withheld):
            return
        self._unread = (self._unread + data)[:SAMPLE_SIZE]
        if len(self._unread) >= GARBAGE_AFTER:
            said = message(
                "The driver {driver} cannot read anything that the device sends: {check}. The device is used "
                "again as soon as the driver can read its data.",
                driver=self._driver_name,
                check=what_to_check(self._unread, self._driver_name),
            )
            self._end(LinkOver(GARBAGE, said, refused=True))

    def _settle(self, driver: Driver) -> None:
        """Send what the driver has to send, and wake up earlier if it needs that."""
        data = driver.outgoing()
        if data and self._transport is not None:
            self.traffic.sent(self._clock(), data)
            if self._recorder is not None:
                self._record(lambda recorder: recorder.written(data))
            self._transport.write(data)
        if driver.wake_at() < self._wakes_at:
            self._changed.set()

    def _check_staleness(self, driver: Driver, now: float) -> None:
        """Notice that a sign of life is overdue, or that one came again."""
        if self.ready and self._over is None and driver.is_stale(now) != self._stale:
            self._stale = not self._stale
            self._on_state(LinkState.STALE if self._stale else LinkState.READY)

    def _guard(self, doing: Message) -> Guard:
        return Guard(self._fail, doing)

    def _fail(self, doing: Message, error: BaseException) -> None:
        if isinstance(error, BridgeError) and self._over is None:
            refused = isinstance(error, TwinDeviceError)
            # The end of the link logs the sentence.
            self._end(LinkOver(error.code, error.message, refused=refused), error.hint)
            return
        log_fault(self._log, "link.fault", doing, error)
        said = message("The program failed while {doing} ({error}).", doing=doing, error=type_and_place(error))
        hint = message("Please report it with the log line link.fault; the journal has the details, sealed.")
        self._end(LinkOver("link-fault", said, evidence=sealed_traceback(error)), hint)

    def _record(self, record: Callable[[Recorder], None]) -> None:
        """Call the recorder, if any. It is a debugging aid: if it fails, the link goes on without it."""
        recorder = self._recorder
        if recorder is not None:
            with Guard(self._recorder_failed, message("recording")):
                record(recorder)

    def _recorder_failed(self, doing: Message, error: BaseException) -> None:
        self._recorder = None
        log_fault(self._log, "capture.fault", doing, error)

    def _end(self, over: LinkOver, hint: AnyText = "", *, by_driver: bool = False) -> None:
        if self._over is None:
            self._over, self.hint = over, hint
            if self.opened:
                self._record(lambda recorder: recorder.ended(over, by_driver=by_driver))
            self._changed.set()
            self._close()

    def _close(self) -> None:
        transport, self._transport = self._transport, None
        if transport is not None:
            with self._guard(message("closing the connection to the device")):
                transport.close()
