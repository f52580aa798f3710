"""The last pieces that crossed the wire, kept to explain a fault.

Bytes reveal concealed cards, and so do lengths (a ten has a digit more): of a real device only direction and age are
shown. A capture has everything else, sealed (docs/captures.md).
"""

from __future__ import annotations

from collections import deque
from typing import Final

KEPT: Final = 32  # pieces
LONGEST: Final = 256  # bytes kept of a piece


class RecentTraffic:
    """A ring buffer. `now` is in seconds of one monotonic clock."""

    def __init__(self) -> None:
        self._kept: deque[tuple[float, str, int, bytes]] = deque(maxlen=KEPT)

    def received(self, now: float, data: bytes) -> None:
        self._kept.append((now, "from device", len(data), data[:LONGEST]))

    def sent(self, now: float, data: bytes) -> None:
        self._kept.append((now, "to device", len(data), data[:LONGEST]))

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
            lines.append(f"{what} {data.hex()}" + ("..." if length > LONGEST else "") if whole else what)
        return lines
