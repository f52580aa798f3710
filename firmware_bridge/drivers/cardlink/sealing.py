"""Proofs, sealed frames, and the channel that both sides of a link share. docs/cardlink.md, "Proofs", "Sealed frames".

Both sides prove at the start of a link that they hold the device's key, which never crosses the wire. This guards
against a wrong, swapped or rogue device. All later frames are sealed with keys that are derived like the proofs:

    header 11 | counter u32 | ciphertext, as long as the body | tag 16          then CRC and escapes

The cipher is ChaCha20-Poly1305 (RFC 8439) with a key for each direction. Each key has one counter, from 1, for all
endpoints and all frames, including repeats: it is the nonce, and is never used twice. Header and counter are associated
data, in clear. Nothing here does I/O or draws random numbers.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import struct
from collections import deque
from typing import Final

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from firmware_bridge.drivers.cardlink.framing import CRC, HEADER, MAX_DECODED, VERSION, Frame, enclose
from firmware_bridge.drivers.cardlink.messages import CLEAR, BadMessageError

HMAC_SHA256: Final = 1
NONCE_SIZE: Final = 16
KEY_SIZE: Final = 32
HOST_ROLE: Final = b"host"
DEVICE_ROLE: Final = b"device"


def proof(key: bytes, role: bytes, host_nonce: bytes, device_nonce: bytes, hello: bytes, identity: bytes) -> bytes:
    """Return the HMAC-SHA256 of the protocol's name, the role, both nonces, and header and body of both frames."""
    message = with_lengths(b"cardlink1", role, host_nonce, device_nonce, hello, identity)
    return hmac.new(key, message, hashlib.sha256).digest()


def with_lengths(*every: bytes) -> bytes:
    """Join parts, each after its length (u16, little-endian), so that different lists never give the same bytes."""
    return b"".join(len(part).to_bytes(2, "little") + part for part in every)


def check_nonce(nonce: bytes) -> None:
    """Raise BadMessageError if the nonce has the wrong size."""
    if len(nonce) != NONCE_SIZE:
        raise BadMessageError(f"a nonce has {NONCE_SIZE} bytes, not {len(nonce)}")


def is_valid(claimed: bytes, expected: bytes) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(claimed, expected)


HOST_FRAMES: Final = b"host frames"  # the role whose key seals the host's frames
DEVICE_FRAMES: Final = b"device frames"
COUNTER: Final = struct.Struct("<I")
TAG_SIZE: Final = 16
OVERHEAD: Final = COUNTER.size + TAG_SIZE
SMALLEST_SEALED: Final = HEADER.size + OVERHEAD + CRC.size  # decoded, with an empty body
LONGEST_BODY: Final = MAX_DECODED - SMALLEST_SEALED
LAST_COUNTER: Final = 0xFFFF_FFFF
MOST_FORGED: Final = 2**20  # bad tags under one key; then a new handshake makes new keys
GRACE: Final = 3.0  # seconds
NOTED_AGAIN_AFTER: Final = 60.0  # seconds

BULK: Final = 0  # flags: the only endpoint, or bulk IN
INTERRUPT: Final = 1  # flags: interrupt IN
_SEALED_FROM: Final = HEADER.size + COUNTER.size
_ZEROS: Final = bytes(8)


class CounterUsedUpError(Exception):
    """Raised when every counter of a key has been used: only a new handshake gives a new key."""


def frame_keys(
    key: bytes, host_nonce: bytes, device_nonce: bytes, hello: bytes, identity: bytes
) -> tuple[bytes, bytes]:
    """Return the keys that seal the host's and the device's frames on this link. The arguments are those of `proof`."""
    of_host = proof(key, HOST_FRAMES, host_nonce, device_nonce, hello, identity)
    return of_host, proof(key, DEVICE_FRAMES, host_nonce, device_nonce, hello, identity)


def device_nonce(key: bytes, random: bytes, start: int, draw: int, hello: bytes) -> bytes:
    """Return the nonce of an identity. It does not repeat while either the random source is good or the counters rise.

    `random` comes from the device's true random source, or is empty. `start` counts the device's starts, in flash.
    `draw` counts new hellos. `hello` is header and body, as sent.
    """
    counted = (start.to_bytes(4, "little"), draw.to_bytes(4, "little"))
    message = with_lengths(b"cardlink1", b"device nonce", random, *counted, hello)
    return hmac.new(key, message, hashlib.sha256).digest()[:NONCE_SIZE]


class OpenedFrame(msgspec.Struct, frozen=True, gc=False):
    """A frame that the holder of the key sealed, on its first arrival. `content` is header and body in the clear."""

    kind: int
    flags: int
    boot: int
    number: int
    body: bytes
    content: bytes


class FrameSealer:
    """Seals what one side sends on one link."""

    def __init__(self, key: bytes, version: int = VERSION) -> None:
        self.counter = 0  # the counter of the last sealed frame
        self._version = version
        self._cipher = ChaCha20Poly1305(key)

    def seal(self, kind: int, boot: int, number: int, body: bytes = b"", *, flags: int = BULK) -> bytes:
        """Return header to tag, for `framing.enclose`. A repeated frame is sealed anew when it is queued.

        Raise ValueError for a body of more than 477 bytes, and `CounterUsedUpError`.
        """
        if len(body) > LONGEST_BODY:
            raise ValueError(f"a body of {len(body)} bytes exceeds {LONGEST_BODY}")
        if self.counter == LAST_COUNTER:
            raise CounterUsedUpError
        self.counter += 1
        counter = COUNTER.pack(self.counter)
        clear = HEADER.pack(self._version, kind, flags, boot, number) + counter
        return clear + self._cipher.encrypt(_ZEROS + counter, body, clear)


class FrameOpener:
    """Opens what the other side sent on one link, each frame once.

    `forged` counts frames with a wrong tag, `early` those of them that came before the first good frame of their
    endpoint; `repeated` counts frames with a good tag that came before, or after a later frame of their endpoint.
    `heard` is the highest counter taken, 0 for none.
    """

    def __init__(self, key: bytes, version: int = VERSION) -> None:
        self.forged = 0
        self.early = 0
        self.repeated = 0
        self._cipher = ChaCha20Poly1305(key)
        self._version = version
        self._last = {BULK: 0, INTERRUPT: 0}

    @property
    def heard(self) -> int:
        return max(self._last.values())

    @property
    def is_worn_out(self) -> bool:
        """Return whether so many forgeries have been tried that one might succeed; the link must then be
        re-established.
        """
        return self.forged >= MOST_FORGED

    @property
    def dropped(self) -> int:
        """The number of frames that someone in the line may have made or kept back."""
        return self.forged + self.repeated

    def open(self, frame: Frame) -> OpenedFrame | None:
        """Open a frame. Return None if it was not sealed with this key or is not new. The counter is kept before the
        body is read.

        A frame of another version, with other flags or too short to be sealed is dropped uncounted.
        """
        if frame.version != self._version or frame.flags not in self._last or len(frame.decoded) < SMALLEST_SEALED:
            return None
        content = frame.content
        clear, sealed = content[:_SEALED_FROM], content[_SEALED_FROM:]
        packed = clear[HEADER.size :]
        try:
            body = self._cipher.decrypt(_ZEROS + packed, sealed, clear)
        except InvalidTag:
            self.forged += 1
            self.early += not self._last[frame.flags]
            return None
        (counter,) = COUNTER.unpack(packed)
        if counter <= self._last[frame.flags]:
            self.repeated += 1
            return None
        self._last[frame.flags] = counter
        return OpenedFrame(frame.kind, frame.flags, frame.boot, frame.number, body, content[: HEADER.size] + body)


class ForgeryNotice:
    """Decides when forged and repeated frames are reported: once per link, and a later count at most once per minute.

    Frames that arrive before the first good frame of their endpoint may be left over in buffers from the last link, so
    they do not count; from `GRACE` after the link is up every frame counts.
    """

    def __init__(self, opener: FrameOpener) -> None:
        self._opener = opener
        self._counts_from = math.inf
        self._left_over = self._noted = 0
        self._next = -math.inf

    def begin(self, now: float) -> None:
        """Start the grace period, now that the link is up."""
        self._counts_from = now + GRACE

    def due(self, now: float) -> int | None:
        """Return the count if it must be reported now, else None. Ask whenever bytes came."""
        if now < self._counts_from:
            self._left_over = self._opener.early
        count = self._opener.dropped - self._left_over
        if self._counts_from == math.inf:
            return None
        if count == self._noted or now < self._next:
            return None
        self._noted, self._next = count, now + NOTED_AGAIN_AFTER
        return count


FRESH_WITHIN: Final = 5.0  # seconds between the sending of a frame and the `heard` that names it
LOST_WITHOUT: Final = 5.0  # seconds without such a `heard`
KEPT_EACH: Final = 0.1  # seconds; one frame stands for those sent this soon after it, which errs towards "too old"


class Freshness:
    """Checks that what this side sends on one link arrives in time. docs/cardlink.md, "Signs of life".

    The other side names the highest counter that it has taken in `heard`. Whoever delays frames on the line, to deliver
    them later as new, delays this too. Nothing counts as lost before `begin`, which is called when the link is up.
    """

    def __init__(self) -> None:
        self._sent: deque[tuple[int, float]] = deque()
        self._named_at = -math.inf  # when the newest acknowledged frame was sent
        self._fresh_at = math.inf

    def begin(self, now: float) -> None:
        self._fresh_at = now

    def sent(self, counter: int, now: float) -> None:
        """Note that a frame with this counter was sent."""
        if not self._sent or now >= self._sent[-1][1] + KEPT_EACH:
            self._sent.append((counter, now))
            while self._sent[0][1] < now - FRESH_WITHIN:
                self._sent.popleft()

    def hear(self, heard: int, now: float) -> None:
        """Note the highest counter that the other side has taken."""
        while self._sent and self._sent[0][0] <= heard:
            self._named_at = self._sent.popleft()[1]
        if now <= self._named_at + FRESH_WITHIN:
            self._fresh_at = now

    def ends_at(self) -> float:
        """Return when the other side counts as lost, unless a fresh `heard` comes first."""
        return self._fresh_at + LOST_WITHOUT

    def unheard_since(self) -> float:
        """Return when the first frame was sent that the other side does not name."""
        return self._sent[0][1] if self._sent else math.inf


class SealedChannel:
    """Both directions of one link, as seen by either side. `used_up` means that no counter is left to send with.

    `version` is that of its frames. Until the link is up, no received or missing frame ends the channel.
    """

    def __init__(self, key_of_sent: bytes, key_of_received: bytes, version: int = VERSION) -> None:
        self.used_up = False
        self._sealer = FrameSealer(key_of_sent, version)
        self._opener = FrameOpener(key_of_received, version)
        self._freshness = Freshness()
        self._forgeries = ForgeryNotice(self._opener)

    @property
    def heard(self) -> int:
        """The highest counter taken, which the other side wants to know."""
        return self._opener.heard

    @property
    def sent(self) -> int:
        """The highest counter used."""
        return self._sealer.counter

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
        """Note that the link is up: from now on late frames end it, and forged frames are reported."""
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

    def unheard_since(self) -> float:
        """Return when the first frame was sent that the other side does not name; infinity if it names all."""
        return self._freshness.unheard_since()

    def forgeries_to_note(self, now: float) -> int | None:
        """Return the number of forged or repeated frames if it must be reported now. Ask whenever bytes came."""
        return self._forgeries.due(now)
