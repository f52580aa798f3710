"""Reads each frame on a line, in both directions, with the device's key: for a log of bytes that a maker has taken.

Nothing is answered and no side's conduct is judged. `Verdict` has the words of docs/cardlink_bad_vectors.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

import msgspec

from firmware_bridge.drivers.cardlink import messages, sealing
from firmware_bridge.drivers.cardlink.framing import Frame, FrameReader
from firmware_bridge.drivers.cardlink.messages import CLEAR, OF_HOST, FrameKind, why_unreadable
from firmware_bridge.drivers.cardlink.sealing import FrameOpener, frame_keys
from firmware_bridge.drivers.setting import FrameKeys

Verdict: TypeAlias = Literal[
    "damaged", "dropped", "forged", "repeated", "ignored", "understood", "not understood", "not opened", "cut off"
]
"""What a receiver makes of a frame; `not opened`: the log has no handshake for it, or the key is not known; `cut off`:
the log ends within it."""

DECODERS: Final[dict[int, Callable[[bytes], Any]]] = {
    FrameKind.HELLO: messages.decode_hello,
    FrameKind.IDENTITY: messages.decode_identity,
    FrameKind.HOST_PROOF: messages.decode_proof,
    FrameKind.DEVICE_PROOF: messages.decode_proof,
    FrameKind.RESUME: messages.decode_resume,
    FrameKind.REJECT: messages.decode_reject,
    FrameKind.SEALED_REJECT: messages.decode_reject,
    FrameKind.ACK: messages.decode_ack,
    FrameKind.REPORT: messages.decode_report,
    FrameKind.STATUS: messages.decode_status,
    FrameKind.COMMAND: messages.decode_command,
    FrameKind.ANSWER: messages.decode_answer,
    FrameKind.CHALLENGE: messages.decode_challenge,
    FrameKind.ATTESTATION: messages.decode_attestation,
}


class ReadFrame(msgspec.Struct, frozen=True):
    """A frame with its verdict. `body` is None unless it was understood; `why` says what is wrong with it. A frame
    that is damaged or cut off has neither `frame` nor `counter`."""

    of_host: bool
    verdict: Verdict
    frame: Frame | None = None
    counter: int = 0
    body: msgspec.Struct | None = None
    why: str = ""


class LineDecoder:
    """Both directions of one line, from the beginning of a link. `key_of` and `next_key_of` return a device's keys."""

    def __init__(
        self,
        key_of: Callable[[str], bytes | None],
        next_key_of: Callable[[str], bytes | None] = lambda serial: None,
    ) -> None:
        self._keys_of = (key_of, next_key_of)
        self._readers = {True: FrameReader(), False: FrameReader()}
        self._hello: tuple[Frame, bytes] | None = None
        self._identity: tuple[Frame, messages.IdentityBody] | None = None
        self._candidate: tuple[FrameKeys, int] | None = None  # keys and version of a link whose resume has not come
        self._active: dict[bool, FrameOpener] | None = None

    def take(self, of_host: bool, data: bytes) -> list[ReadFrame]:
        """Return the frames that end within `data`, which the host (or else the device) sent."""
        reader = self._readers[of_host]
        before = reader.corrupt + reader.overlong
        found = [self._read(of_host, frame) for frame in reader.receive(data)]
        damaged = reader.corrupt + reader.overlong - before
        return found + [ReadFrame(of_host, "damaged")] * damaged

    def rest(self) -> list[ReadFrame]:
        """Return a frame for each side whose last bytes have no end."""
        why = 'the log ends before the C0 that ends a frame (cardlink, "Frames")'
        return [ReadFrame(of_host, "cut off", why=why) for of_host, reader in self._readers.items() if reader.has_part]

    def _read(self, of_host: bool, frame: Frame) -> ReadFrame:
        if frame.kind in DECODERS and (frame.kind in OF_HOST) is not of_host:
            return ReadFrame(of_host, "ignored", frame, why="an echo: the other side sends this kind")
        if frame.kind in CLEAR:
            return self._understand(of_host, frame, frame.body, 0)
        opener = self._opener_for(of_host, frame)
        if opener is None:
            return ReadFrame(of_host, "not opened", frame, why="no handshake before it, or no key that fits it")
        before = (opener.forged, opener.repeated)
        opened = opener.open(frame)
        if opened is None:
            after = (opener.forged, opener.repeated)
            verdict: Verdict = "dropped" if after == before else "forged" if after[0] > before[0] else "repeated"
            return ReadFrame(of_host, verdict, frame)
        counter = int.from_bytes(frame.content[11:15], "little")
        if frame.kind not in DECODERS:
            return ReadFrame(of_host, "ignored", frame, counter, why="an unknown kind")
        return self._understand(of_host, frame, opened.body, counter)

    def _opener_for(self, of_host: bool, frame: Frame) -> FrameOpener | None:
        """Return the opener of the link; a resume that opens with the candidate's keys makes it the link."""
        if frame.kind == FrameKind.RESUME and self._candidate is not None:
            (of_host_key, of_device_key), version = self._candidate
            if FrameOpener(of_host_key, version).open(frame) is not None:
                self._active = {True: FrameOpener(of_host_key, version), False: FrameOpener(of_device_key, version)}
                self._candidate = None
        return None if self._active is None else self._active[of_host]

    def _understand(self, of_host: bool, frame: Frame, body: bytes, counter: int) -> ReadFrame:
        try:
            read = DECODERS[frame.kind](body)
        except ValueError as error:
            return ReadFrame(of_host, "not understood", frame, counter, why=why_unreadable(frame.kind, body, error))
        why = ""
        if frame.kind == FrameKind.HELLO:
            self._hello = (frame, read.nonce)
        elif frame.kind == FrameKind.IDENTITY:
            self._identity = (frame, read)
        elif frame.kind == FrameKind.HOST_PROOF:
            why = self._take_host_proof(frame, read)
        return ReadFrame(of_host, "understood", frame, counter, read, why)

    def _take_host_proof(self, frame: Frame, claimed: messages.ProofBody) -> str:
        """Derive the keys of the link. Return what is wrong with the proof."""
        if self._hello is None or self._identity is None:
            return "no hello and identity before it"
        (hello, host_nonce), (identity, said) = self._hello, self._identity
        keys = [key for key_of in self._keys_of if (key := key_of(said.serial)) is not None]
        for key in keys:
            parts = (key, host_nonce, said.nonce, hello.content, identity.content)
            if sealing.is_valid(claimed.proof, sealing.proof(parts[0], sealing.HOST_ROLE, *parts[1:])):
                self._candidate = (frame_keys(*parts), frame.version)
                return ""
        return "the proof does not hold with this key" if keys else f"there is no key for {said.serial}"
