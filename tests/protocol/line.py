"""A line in one direction, as bad as a test wants it, in virtual time and from a seed."""

from __future__ import annotations

import heapq
import re
from itertools import count
from random import Random
from typing import Final

import msgspec

_FRAME: Final = re.compile(rb"\xc0[^\xc0]+\xc0")
LATENCY: Final = 0.004  # seconds


class Trouble(msgspec.Struct, frozen=True):
    """What happens to a frame on its way. The chances are of one frame, `flip` is of one byte.

    `piece`: how many bytes arrive at once, 0 for all. `reorder`: later frames overtake it. `stall`: it and all after
    it wait for up to half a second. `truncate`: its end is missing.
    """

    piece: int = 0
    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    truncate: float = 0.0
    stall: float = 0.0
    flip: float = 0.0


class Line:
    """Bytes go in with `send` and come out with `arrived`, later."""

    def __init__(self, trouble: Trouble, random: Random) -> None:
        self._trouble = trouble
        self._random = random
        self._under_way: list[tuple[float, int, bytes]] = []
        self._order = count()
        self._free_at = 0.0
        self.spoilt = 0

    def send(self, data: bytes, now: float) -> None:
        if not data:
            return
        frames = _FRAME.findall(data)
        assert b"".join(frames) == data, "an end wrote something that is not whole frames"
        for frame in frames:
            self._put(frame, now)

    def next_at(self) -> float:
        return self._under_way[0][0] if self._under_way else float("inf")

    def arrived(self, now: float) -> list[bytes]:
        """What is there, in the pieces in which it is to be read."""
        pieces: list[bytes] = []
        while self._under_way and self._under_way[0][0] <= now:
            data = heapq.heappop(self._under_way)[2]
            size = self._trouble.piece or len(data)
            pieces += [data[start : start + size] for start in range(0, len(data), size)]
        return pieces

    def cut(self) -> None:
        """Whatever is under way never arrives."""
        self._under_way.clear()

    def _happens(self, chance: float) -> bool:
        happens = chance > 0 and self._random.random() < chance
        self.spoilt += happens
        return happens

    def _put(self, frame: bytes, now: float) -> None:
        trouble = self._trouble
        self._free_at = max(self._free_at, now + LATENCY)
        if self._happens(trouble.stall):
            self._free_at += self._random.uniform(0, 0.5)
        arrival = self._free_at
        if self._happens(trouble.reorder):
            arrival += self._random.uniform(0, 0.1)
        if self._happens(trouble.loss):
            return
        if self._happens(trouble.truncate):
            frame = frame[: self._random.randrange(len(frame))]
        if trouble.flip:
            frame = bytes(
                byte ^ (1 << self._random.randrange(8)) if self._happens(trouble.flip) else byte for byte in frame
            )
        heapq.heappush(self._under_way, (arrival, next(self._order), frame))
        if self._happens(trouble.duplicate):
            heapq.heappush(self._under_way, (arrival + self._random.uniform(0, 0.3), next(self._order), frame))
