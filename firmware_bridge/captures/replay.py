"""Replays the device's side of a capture through the link and the driver that a real device would have.

Time is that of the capture: the intervals between records are the recorded ones, so a driver's timeouts occur again.
Nothing is written to any device.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

import structlog

from firmware_bridge.captures import capture_format
from firmware_bridge.captures.capture_format import AnyRecord, CaptureHeader
from firmware_bridge.captures.reader import Capture
from firmware_bridge.cards import Card
from firmware_bridge.device_keys import DeviceKeys
from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.drivers.base import Driver, Heard, LinkOver
from firmware_bridge.drivers.registry import load_driver
from firmware_bridge.drivers.setting import ANY_DEVICE, DriverSetting
from firmware_bridge.errors import TransportLostError
from firmware_bridge.link import Link
from firmware_bridge.messages import message
from firmware_bridge.transports.base import OnData, OnLost, Transport

GRACE: Final = 0.05  # seconds; times are rounded to milliseconds, so a driver may end a link a little later
NOTHING_IS_DUE_AFTER: Final = 3600.0  # seconds of silence; the rest of a longer silence is skipped

# These codes depend on a table's configuration, keys or journal, none of which is in the capture.
BY_THE_TABLE: Final = frozenset(
    {"device-other-serial", "device-firmware", "device-unknown-serial", "device-proof", "device-reports"}
)

Played: TypeAlias = AnyRecord | Heard
OnReplayed: TypeAlias = Callable[[int, int, Played], None]


class RecordedLink(NamedTuple):
    """The records of one link, each with its milliseconds since the capture began. `whole` means from its opening."""

    header: CaptureHeader
    records: list[tuple[int, AnyRecord]]
    whole: bool


class ReplayInputs(NamedTuple):
    """Inputs of drivers that a capture does not hold: keys by serial number (optional), and cards by identifier."""

    keys: DeviceKeys = DeviceKeys()
    card_table: Mapping[str, Card] = {}


def links_of(capture: Capture) -> list[RecordedLink]:
    """Return the links of a capture, in order."""
    links: list[RecordedLink] = []
    ms = 0
    standing, last_id = False, ""  # whether a link was open at the end of the recording with that id
    for header, recorded, _ in capture.recordings:
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
    capture: Capture,
    on_replayed: OnReplayed,
    inputs: ReplayInputs | None = None,
    pause: Callable[[float], Awaitable[None]] | None = None,
) -> None:
    """Replay every link. `on_replayed` is called in order with milliseconds, the link's number from 1, and a record or
    what the driver heard. `pause` waits that many seconds of the capture's time; None means do not wait.

    Raise BadDeviceUrlError if the capture's driver is not installed, and whatever `on_replayed` raises.
    """
    for number, link in enumerate(links_of(capture), start=1):
        await _LinkPlayer(link, number, on_replayed, inputs or ReplayInputs(), pause).play()


class _LinkPlayer:
    """The transport and the clock of one recorded link."""

    def __init__(
        self,
        recorded: RecordedLink,
        number: int,
        on_replayed: OnReplayed,
        inputs: ReplayInputs,
        pause: Callable[[float], Awaitable[None]] | None,
    ) -> None:
        self._url = parse_device_url(recorded.header.url)
        self._make = load_driver(self._url.driver)
        self._header = recorded.header
        self._records = deque(recorded.records)
        self._number = number
        self._on_replayed = on_replayed
        self._inputs = inputs
        self._pause = pause
        self._now = recorded.records[0][0] / 1000
        self._last = self._now  # when the last record was played
        self._on_data: OnData
        self._on_lost: OnLost
        self._failure: Exception | None = None  # the caller's: the link would catch it as its own failure
        self._made = next((one for _, one in recorded.records if isinstance(one, capture_format.DriverMade)), None)
        self._keys = next((one for _, one in recorded.records if isinstance(one, capture_format.LinkKeys)), None)
        self._link = Link(
            clock=lambda: self._now,
            wait=self._wait,
            deliver=self._deliver,
            on_state=lambda state: None,
            log=structlog.get_logger(),
            policy=ANY_DEVICE,
        )

    async def play(self) -> None:
        await self._link.run(self._open, self._url, self._make_driver)
        for at, record in self._records:  # records after the driver has ended the link
            self._now = max(self._now, at / 1000)
            self._replayed(record)
        over = self._link.finish()
        if not self._link.ready:
            self._deliver(over)
        if self._failure is not None:
            raise self._failure

    # -- the transport and the clock of the link -------------------------------------------------------------------

    async def _open(self, url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Transport:
        self._on_data, self._on_lost = on_data, on_lost
        return self

    def write(self, data: bytes) -> None:
        """Do nothing: the bytes that were written are among the records."""

    def close(self) -> None:
        """Do nothing: no resource is open."""

    async def _wait(self, event: asyncio.Event, deadline: float) -> None:
        while not event.is_set():
            if self._failure is not None:
                self._link.drop(LinkOver("capture-ended", message("The receiver of the replay has failed.")))
                return
            if not self._records:
                self._link.drop(LinkOver("capture-ended", message("The capture ends here, before its link ended.")))
                return
            at, record = self._records[0]
            due = at / 1000
            if _ends_by_itself(record):
                due += GRACE
            if due > deadline and deadline - self._last < NOTHING_IS_DUE_AFTER:
                await self._pass_until(deadline)
                return
            await self._pass_until(due)
            self._records.popleft()
            self._last = self._now
            self._play(record)

    async def _pass_until(self, then: float) -> None:
        if then > self._now:
            if self._pause is not None:
                await self._pause(then - self._now)
            self._now = then

    # -- internals ---------------------------------------------------------------------------------------------------

    def _play(self, record: AnyRecord) -> None:
        self._replayed(record)
        match record:
            case capture_format.FromDevice():
                self._on_data(record.data)
            case capture_format.Commanded():
                self._link.command(record.command_id, record.command)
            case capture_format.Lost(code=code) if _ends_by_itself(record) and code not in BY_THE_TABLE:
                sentence = message(
                    "The link ended here when this was recorded ({code}); in the replay it continues.", code=record.code
                )
                self._link.drop(LinkOver("capture-differs", sentence))
            case capture_format.Lost(code=code) if code.startswith(("transport-", "tcp-", "usb-", "port-")):
                self._on_lost(TransportLostError(record.sentence, code=code))
            case capture_format.Lost():
                self._link.drop(LinkOver(record.code, record.sentence, record.refused))

    def _make_driver(self, now: float) -> Driver:
        made, keys = self._made, self._keys
        nonce, held = (bytes(16), (0, 0)) if made is None else (bytes.fromhex(made.nonce), (made.boot, made.number))
        setting = DriverSetting(
            nonce,
            self._url.line,
            self._inputs.keys.get,
            held,
            self._inputs.card_table,
            self._header.simulated,
            replayed=True,
            next_key_of=self._inputs.keys.next.get,
            frame_keys=None if keys is None else (bytes.fromhex(keys.host), bytes.fromhex(keys.device)),
        )
        return self._make(setting, now)

    def _replayed(self, thing: Played) -> None:
        if self._failure is None:
            try:
                self._on_replayed(round(self._now * 1000), self._number, thing)
            except Exception as error:
                self._failure = error

    def _deliver(self, heard: Heard) -> None:
        self._replayed(heard)


def _ends_by_itself(record: AnyRecord) -> bool:
    """Return whether the driver ended the link, on purpose or by a fault: in a replay it must do so again."""
    return isinstance(record, capture_format.Lost) and (record.by_driver or record.code == "link-fault")
