"""Plays the device's side of a capture back, through the link and the driver that a real device would meet.

Time is the capture's own: between two records exactly as much passes as then, so that what a driver does after a time
it does again. Nothing is ever written anywhere.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

import structlog

from firmware_bridge.captures import capture_format
from firmware_bridge.captures.capture_format import AnyRecord, Header
from firmware_bridge.captures.reader import Capture
from firmware_bridge.cards import Card
from firmware_bridge.device_policy import ANY_DEVICE
from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.drivers.base import Driver, Heard, LinkOver
from firmware_bridge.drivers.registry import load_driver
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.errors import TransportLostError
from firmware_bridge.link import Link
from firmware_bridge.transports.base import OnData, OnLost, Transport

GRACE: Final = 0.05  # seconds; times are rounded to milliseconds, and a driver may say so much later what it said then

# What a table's configuration and its keys refused, which are not played back with the bytes.
BY_CONFIGURATION: Final = frozenset({"device-other-serial", "device-firmware", "device-unknown-serial", "device-proof"})

Played: TypeAlias = AnyRecord | Heard
Tell: TypeAlias = Callable[[int, int, Played], None]


class RecordedLink(NamedTuple):
    """The records of one link, each with its milliseconds since the capture began. `whole`: from its opening."""

    header: Header
    records: list[tuple[int, AnyRecord]]
    whole: bool


class Means(NamedTuple):
    """What drivers need that no capture holds: keys by serial number (none is needed), the cards of identifiers."""

    key_of: Callable[[str], bytes | None] = lambda serial: None
    card_table: Mapping[str, Card] = {}


def links_of(capture: Capture) -> list[RecordedLink]:
    """The links of a capture, in order."""
    links: list[RecordedLink] = []
    ms = 0
    standing, last_id = False, ""  # whether a link was open at the end of the sitting with that id
    for header, recorded, _ in capture.sittings:
        standing = standing and header.continues == last_id
        for record in recorded:
            ms += record.ms
            if isinstance(record, capture_format.Opened) or not standing:
                links.append(RecordedLink(header, [], isinstance(record, capture_format.Opened)))
            links[-1].records.append((ms, record))
            standing = not isinstance(record, capture_format.Lost)
        last_id = header.id
    return links


async def replay(
    capture: Capture, tell: Tell, means: Means | None = None, pause: Callable[[float], Awaitable[None]] | None = None
) -> None:
    """Play every link back. `tell` is called with milliseconds, the link's number from 1, and a record or what was
    heard, in order. `pause` waits so many seconds of the capture's time; None: no waiting.

    Raises BadDeviceUrlError where the capture's driver is not there.
    """
    for number, link in enumerate(links_of(capture), start=1):
        await _LinkPlayer(link, number, tell, means or Means(), pause).play()


class _LinkPlayer:
    """One link: its transport, its clock and the waiting on it."""

    def __init__(
        self,
        recorded: RecordedLink,
        number: int,
        tell: Tell,
        means: Means,
        pause: Callable[[float], Awaitable[None]] | None,
    ) -> None:
        self._url = parse_device_url(recorded.header.url)
        self._make = load_driver(self._url.driver)
        self._header = recorded.header
        self._records = deque(recorded.records)
        self._number = number
        self._tell = tell
        self._means = means
        self._pause = pause
        self._now = recorded.records[0][0] / 1000
        self._on_data: OnData
        self._on_lost: OnLost
        self._made = next((one for _, one in recorded.records if isinstance(one, capture_format.DriverMade)), None)
        self._link = Link(
            clock=lambda: self._now,
            wait=self._wait,
            deliver=self._deliver,
            on_state=lambda state: None,
            log=structlog.get_logger(),
            trust=ANY_DEVICE,
        )

    async def play(self) -> None:
        await self._link.live(self._open, self._url, self._make_driver)
        for at, record in self._records:  # what came after the driver had ended the link
            self._now = max(self._now, at / 1000)
            self._say(record)
        over = self._link.finish()
        if not self._link.ready:
            self._deliver(over)

    # -- what the link sees ---------------------------------------------------------------------------------------

    async def _open(self, url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Transport:
        self._on_data, self._on_lost = on_data, on_lost
        return self

    def write(self, data: bytes) -> None:
        """Nothing is there to be written to; what was written then is among the records."""

    def close(self) -> None:
        """Nothing is held."""

    async def _wait(self, event: asyncio.Event, deadline: float) -> None:
        while not event.is_set():
            if not self._records:
                self._link.drop(LinkOver("capture-ended", "The capture ends here, and the link stood."))
                return
            at, record = self._records[0]
            due = at / 1000
            if _ends_by_itself(record):
                due += GRACE
            if due > deadline:
                await self._pass_until(deadline)
                return
            await self._pass_until(due)
            self._records.popleft()
            self._play(record)

    async def _pass_until(self, then: float) -> None:
        if then > self._now:
            if self._pause is not None:
                await self._pause(then - self._now)
            self._now = then

    # -- inside ---------------------------------------------------------------------------------------------------

    def _play(self, record: AnyRecord) -> None:
        self._say(record)
        match record:
            case capture_format.FromDevice():
                self._on_data(record.data)
            case capture_format.Commanded():
                self._link.command(record.command_id, record.command)
            case capture_format.Lost(code=code) if _ends_by_itself(record) and code not in BY_CONFIGURATION:
                sentence = f"Here the link ended when this was recorded ({record.code}); now it goes on."
                self._link.drop(LinkOver("capture-differs", sentence))
            case capture_format.Lost(code=code) if code.startswith(("transport-", "tcp-", "usb-", "port-")):
                self._on_lost(TransportLostError(record.sentence, code=code))
            case capture_format.Lost():
                self._link.drop(LinkOver(record.code, record.sentence, record.refused))

    def _make_driver(self, now: float) -> Driver:
        made = self._made
        nonce, held = (bytes(16), (0, 0)) if made is None else (bytes.fromhex(made.nonce), (made.boot, made.number))
        setting = DriverSetting(
            nonce,
            self._url.line,
            self._means.key_of,
            held,
            self._means.card_table,
            self._header.simulated,
            replayed=True,
        )
        return self._make(setting, now)

    def _say(self, thing: Played) -> None:
        self._tell(round(self._now * 1000), self._number, thing)

    def _deliver(self, heard: Heard) -> None:
        self._say(heard)


def _ends_by_itself(record: AnyRecord) -> bool:
    """Whether it was the driver that ended the link, by its verdict or by failing: then it has to do so again."""
    return isinstance(record, capture_format.Lost) and (record.by_driver or record.code == "link-fault")
