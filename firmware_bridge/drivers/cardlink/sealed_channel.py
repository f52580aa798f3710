"""Both directions of a link with sealed frames, as seen by either side. docs/cardlink.md, "Sealed frames".

Sent frames are remembered by their counter; received ones are opened once. Until the link is up, no received or missing
frame ends the channel.
"""

from __future__ import annotations

from firmware_bridge.drivers.cardlink.frame_sealing import (
    BULK,
    CounterUsedUpError,
    ForgeryNotice,
    FrameOpener,
    FrameSealer,
    OpenedFrame,
)
from firmware_bridge.drivers.cardlink.framing import Frame, enclose
from firmware_bridge.drivers.cardlink.freshness import Freshness
from firmware_bridge.drivers.cardlink.messages import CLEAR


class SealedChannel:
    """The channel of one link. `used_up` means that no counter is left and nothing more can be sent."""

    def __init__(self, key_of_sent: bytes, key_of_received: bytes) -> None:
        self.used_up = False
        self._sealer = FrameSealer(key_of_sent)
        self._opener = FrameOpener(key_of_received)
        self._freshness = Freshness()
        self._forgeries = ForgeryNotice(self._opener)

    @property
    def heard(self) -> int:
        """The highest counter taken, which the other side wants to know."""
        return self._opener.heard

    @property
    def forged(self) -> int:
        """The number of frames with a wrong tag."""
        return self._opener.forged

    @property
    def repeated(self) -> int:
        """The number of frames with a good tag that came before."""
        return self._opener.repeated

    @property
    def is_worn_out(self) -> bool:
        """Return whether so many forged frames came that a new link must be made."""
        return self._opener.is_worn_out

    def stands(self, now: float) -> None:
        """Note that the link is up: from here on late frames end it, and forged ones are reported."""
        self._freshness.begin(now)
        self._forgeries.begin(now)

    def seal(self, kind: int, boot: int, number: int, body: bytes, now: float, *, flags: int = BULK) -> bytes:
        """Return the bytes of a frame to be sent now; none once the counters are used up."""
        try:
            content = self._sealer.seal(kind, boot, number, body, flags=flags)
        except CounterUsedUpError:
            self.used_up = True
            return b""
        self._freshness.sent(self._sealer.counter, now)
        return enclose(content)

    def open(self, frame: Frame) -> OpenedFrame | None:
        """Open a frame. Return None if it is clear, forged, repeated or of other flags; its version is not checked."""
        return None if frame.kind in CLEAR else self._opener.open(frame)

    def hear(self, heard: int, now: float) -> None:
        """Note the highest counter that the other side has taken."""
        self._freshness.hear(heard, now)

    def ends_at(self) -> float:
        """Return when what was sent counts as late, unless the other side names it first."""
        return self._freshness.ends_at()

    def forgeries_to_note(self, now: float) -> int | None:
        """Return the number of forged or repeated frames if it must be reported now. Ask whenever bytes came."""
        return self._forgeries.due(now)
