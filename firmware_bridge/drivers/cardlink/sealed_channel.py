"""Both directions of a link whose frames are sealed, as either side sees them. docs/cardlink.md, "Sealed frames".

What is sent is sealed and remembered by its counter; what came is opened once. Until the link stands the channel ends
by nothing that it hears or does not hear.
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
    """Of one link. `used_up`: every counter was, and nothing more can be sent on it."""

    def __init__(self, key_of_sent: bytes, key_of_received: bytes) -> None:
        self.used_up = False
        self._sealer = FrameSealer(key_of_sent)
        self._opener = FrameOpener(key_of_received)
        self._freshness = Freshness()
        self._forgeries = ForgeryNotice(self._opener)

    @property
    def heard(self) -> int:
        """The highest counter that was taken: what the other side wants to know."""
        return self._opener.heard

    @property
    def forged(self) -> int:
        """Frames whose tag was wrong."""
        return self._opener.forged

    @property
    def repeated(self) -> int:
        """Frames with a good tag that came before."""
        return self._opener.repeated

    @property
    def is_worn_out(self) -> bool:
        """So many forged frames came that another link is to be made."""
        return self._opener.is_worn_out

    def stands(self, now: float) -> None:
        """From now on late frames end the link, and forged ones are noted."""
        self._freshness.begin(now)
        self._forgeries.begin(now)

    def seal(self, kind: int, boot: int, number: int, body: bytes, now: float, *, flags: int = BULK) -> bytes:
        """The bytes of a frame, to be sent now. None at all once the counters are used up."""
        try:
            content = self._sealer.seal(kind, boot, number, body, flags=flags)
        except CounterUsedUpError:
            self.used_up = True
            return b""
        self._freshness.sent(self._sealer.counter, now)
        return enclose(content)

    def open(self, frame: Frame) -> OpenedFrame | None:
        """None: a clear frame, or one that is forged, repeated or of other flags; its version is not looked at."""
        return None if frame.kind in CLEAR else self._opener.open(frame)

    def hear(self, heard: int, now: float) -> None:
        """The other side names the highest counter that it has taken."""
        self._freshness.hear(heard, now)

    def ends_at(self) -> float:
        """When what is sent counts as late, unless the other side names it before."""
        return self._freshness.ends_at()

    def forgeries_to_note(self, now: float) -> int | None:
        """How many frames were forged or repeated, when that is to be noted now. To be asked whenever bytes came."""
        return self._forgeries.due(now)
