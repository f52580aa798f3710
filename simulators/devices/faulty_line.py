"""A line with faults, between a device's side and the front end that carries its bytes.

Faults happen by chances drawn from a seed, or at the ordinal of a frame that the device sends. Which frame is affected
never depends on time; delays use a clock that is passed in.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable
from itertools import count
from random import Random
from typing import Final

import msgspec

from simulators.devices.base import DeviceSide

LONGEST_STALL: Final = 0.5  # seconds
OVERTAKEN_BY: Final = 0.1  # seconds; the longest delay of an overtaken frame
AGAIN_WITHIN: Final = 0.3  # seconds until a duplicate arrives, at most

_ONE_FRAME: Final = {
    "cardlink": rb"\xc0[^\xc0]+\xc0",
    "angel_eye": rb"(?P<copy>\x05[^\x03\x05]*\x03..)(?P=copy)*",  # a telegram with its copies
    "bee_tek": rb"[^\n]*\n",
    "line_reader": rb"[^\n]*\n",
}
FRAMES: Final = {driver: re.compile(rb"(?s)(?P<frame>" + one + rb")|.") for driver, one in _ONE_FRAME.items()}


class LineFaults(msgspec.Struct, frozen=True):
    """The faults that frames can have. Chances are for each frame, `flip` for each byte.

    `piece` is how many bytes arrive together, 0 for all. With `reorder`, later frames overtake the frame. With `stall`,
    it and all later ones wait for up to half a second. With `truncate`, its end is missing. `latency` is in seconds for
    every frame.
    """

    piece: int = 0
    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    truncate: float = 0.0
    stall: float = 0.0
    flip: float = 0.0
    latency: float = 0.0


class Direction:
    """One direction of the line. Bytes go in with `send` and come out of `arrived` later.

    `armed` maps a fault to the frames, counted from 1, to which it also happens. `fault_count` counts what has
    happened.
    """

    def __init__(self, faults: LineFaults, random: Random, driver: str = "cardlink") -> None:
        self.faults = faults
        self.random = random
        self.armed: dict[str, set[int]] = {}
        self.sent = 0
        self.fault_count = 0
        self._frames = FRAMES[driver]
        self._under_way: list[tuple[float, int, bytes]] = []
        self._order = count()
        self._free_at = 0.0

    def send(self, data: bytes, now: float) -> None:
        for frame in split(self._frames, data):
            self._put(frame, now)

    def next_at(self) -> float:
        return self._under_way[0][0] if self._under_way else float("inf")

    def arrived(self, now: float) -> list[bytes]:
        """Return what has arrived, in the pieces in which it must be read."""
        pieces: list[bytes] = []
        while self._under_way and self._under_way[0][0] <= now:
            data = heapq.heappop(self._under_way)[2]
            size = self.faults.piece or len(data) or 1
            pieces += [data[start : start + size] for start in range(0, len(data), size)]
        return pieces

    def cut(self) -> None:
        """Drop what is under way."""
        self._under_way.clear()

    def _happens(self, name: str) -> bool:
        chance: float = getattr(self.faults, name)
        happens = self._strikes(name) or (chance > 0 and self.random.random() < chance)
        self.fault_count += happens
        return happens

    def _strikes(self, name: str) -> bool:
        return self.sent in self.armed.get(name, ())

    def _put(self, frame: bytes, now: float) -> None:
        self.sent += 1
        self._free_at = max(self._free_at, now + self.faults.latency)
        if self._happens("stall"):
            self._free_at += self.random.uniform(0, LONGEST_STALL)
        arrival = self._free_at
        if self._happens("reorder"):
            arrival += self.random.uniform(0, OVERTAKEN_BY)
        if self._happens("loss"):
            return
        if self._happens("truncate"):
            frame = frame[: self.random.randrange(len(frame))]
        heapq.heappush(self._under_way, (arrival, next(self._order), self._flipped(frame)))
        if self._happens("duplicate"):
            heapq.heappush(self._under_way, (arrival + self.random.uniform(0, AGAIN_WITHIN), next(self._order), frame))

    def _flipped(self, frame: bytes) -> bytes:
        """Flip bits by chance, and one bit of a frame that is armed by its number."""
        flips = {self.random.randrange(len(frame))} if frame and self._strikes("flip") else set()
        if self.faults.flip:
            flips |= {place for place in range(len(frame)) if self.random.random() < self.faults.flip}
        self.fault_count += len(flips)
        return bytes(
            byte ^ (1 << self.random.randrange(8)) if place in flips else byte for place, byte in enumerate(frame)
        )


def split(frames: re.Pattern[bytes], data: bytes) -> list[bytes]:
    """Return the frames in these bytes; bytes between two frames count as a frame."""
    pieces: list[bytes] = []
    between = bytearray()
    for found in frames.finditer(data):
        if found["frame"] is None:
            between += found[0]
            continue
        if between:
            pieces.append(bytes(between))
            between.clear()
        pieces.append(found["frame"])
    return [*pieces, bytes(between)] if between else pieces


class FaultyLine:
    """A device's side seen through a bad line; itself a `DeviceSide`.

    `clock` is monotonic, in seconds. `cut_at` is the frame in the middle of which the cable comes out: half of it gets
    through, `on_cut` is called, and nothing passes until `join`. From frame `silent_from` on nothing arrives from the
    device. 0 means never. Frames are those of the device, counted from 1.
    """

    def __init__(
        self,
        device: DeviceSide,
        *,
        driver: str = "cardlink",
        random: Random,
        clock: Callable[[], float],
        faults: LineFaults | None = None,
    ) -> None:
        faults = faults or LineFaults()
        self.changed: Callable[[], None] = lambda: None
        self.on_cut: Callable[[], None] = lambda: None
        self.cut_at = 0
        self.silent_from = 0
        self.to_host = Direction(faults, random, driver)
        self.to_device = Direction(faults, random, driver)
        self._device = device
        self._clock = clock
        self._frames = FRAMES[driver]
        self._pieces: list[bytes] = []
        self._is_cut = False
        device.changed = lambda: self.changed()

    @property
    def faults(self) -> LineFaults:
        return self.to_host.faults

    @faults.setter
    def faults(self, faults: LineFaults) -> None:
        self.to_host.faults = self.to_device.faults = faults

    def seed(self, random: Random) -> None:
        """Draw all chances from this source from now on."""
        self.to_host.random = self.to_device.random = random

    def join(self) -> None:
        """Reconnect the cable. Bytes that were under way are lost."""
        self._is_cut = False
        self._pieces.clear()
        self.to_host.cut()
        self.to_device.cut()
        self.changed()

    def receive(self, data: bytes) -> None:
        if not self._is_cut:
            self.to_device.send(data, self._clock())
            self._carry_to_device()

    def tick(self) -> None:
        self._carry_to_device()
        self._device.tick()

    def nap(self) -> float:
        if self._pieces:
            return 0.0
        due = min(self.to_host.next_at(), self.to_device.next_at())
        return max(0.0, min(self._device.nap(), due - self._clock()))

    def outgoing(self) -> bytes:
        """Return what arrives at the host now, one piece at a time if the line has pieces."""
        for frame in split(self._frames, self._device.outgoing()):
            self._send(frame)
        self._pieces += self.to_host.arrived(self._clock())
        if self.faults.piece:
            return self._pieces.pop(0) if self._pieces else b""
        data = b"".join(self._pieces)
        self._pieces.clear()
        return data

    def _send(self, frame: bytes) -> None:
        number = self.to_host.sent + 1
        if self._is_cut or 0 < self.silent_from <= number:
            self.to_host.sent = number
        elif number == self.cut_at:
            self.to_host.sent, self.cut_at, self._is_cut = number, 0, True
            self._pieces.append(frame[: len(frame) // 2])
            self.on_cut()
        else:
            self.to_host.send(frame, self._clock())

    def _carry_to_device(self) -> None:
        for piece in self.to_device.arrived(self._clock()):
            self._device.receive(piece)
