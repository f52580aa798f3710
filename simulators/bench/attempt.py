"""A handshake from the host's side, frame by frame, and decoders of the device's frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from firmware_bridge.drivers.cardlink import messages, sealing
from firmware_bridge.drivers.cardlink.framing import VERSION, Frame, FrameReader, encode_frame
from firmware_bridge.drivers.cardlink.messages import FrameKind, encode_body
from firmware_bridge.drivers.cardlink.sealing import FrameSealer, SealedChannel, frame_keys
from simulators.bench.promise import check

_DECODERS: Final[dict[int, Callable[[bytes], Any]]] = {
    FrameKind.IDENTITY: messages.decode_identity,
    FrameKind.DEVICE_PROOF: messages.decode_proof,
    FrameKind.REJECT: messages.decode_reject,
    FrameKind.SEALED_REJECT: messages.decode_reject,
    FrameKind.REPORT: messages.decode_report,
    FrameKind.STATUS: messages.decode_status,
    FrameKind.ANSWER: messages.decode_answer,
    FrameKind.ATTESTATION: messages.decode_attestation,
}


class FrameCame(NamedTuple):
    """A received frame with its time. `counter` is that of a sealed frame, `plain` the bytes of its body. `body` is
    None if the frame did not open or was not understood."""

    at: float
    frame: Frame
    counter: int
    plain: bytes
    body: Any


class Attempt:
    """A handshake in progress. `identity` and `said` are set once the device has answered its hello."""

    def __init__(self, nonce: bytes, key_of: Callable[[str], bytes | None], more: Sequence[object] = ()) -> None:
        self.nonce = nonce
        self.hello = encode_frame(FrameKind.HELLO, 0, 0, encode_body([VERSION, nonce, *more]))
        self.identity: Frame
        self.said: messages.IdentityBody
        self._key_of = key_of
        self._channel: SealedChannel | None = None

    def identified(self, came: FrameCame) -> None:
        self.identity, self.said = came.frame, came.body

    @property
    def boot(self) -> int:
        return self.identity.boot

    def _parts(self) -> tuple[bytes, bytes, bytes, bytes, bytes]:
        key = self._key_of(self.said.serial)
        check(key is not None, f"there is no key for the serial number {self.said.serial}")
        assert key is not None
        hello = FrameReader().receive(self.hello)[0].content
        return key, self.nonce, self.said.nonce, hello, self.identity.content

    def proof(self, role: bytes) -> bytes:
        key, *rest = self._parts()
        return sealing.proof(key, role, *rest)

    def host_proof(self, *, right: bool = True) -> bytes:
        """Return the host's proof. With `right` False it is that of a host without the key."""
        proof = self.proof(sealing.HOST_ROLE) if right else bytes(32)
        body = encode_body(messages.ProofBody(sealing.HMAC_SHA256, proof))
        return encode_frame(FrameKind.HOST_PROOF, self.boot, 0, body)

    def sealer(self, version: int, counter: int) -> FrameSealer:
        """Return what seals the host's frames under another version, after this counter."""
        sealer = FrameSealer(frame_keys(*self._parts())[0], version)
        sealer.counter = counter
        return sealer

    @property
    def channel(self) -> SealedChannel:
        """The channel with the keys of this link, whether the link is up or not."""
        if self._channel is None:
            self._channel = SealedChannel(*frame_keys(*self._parts()))
        return self._channel


def body_of(kind: int, plain: bytes) -> Any:
    """Return the decoded body, or None if it is not understood or of a kind that no device sends."""
    decode = _DECODERS.get(kind)
    with suppress(ValueError):
        return decode(plain) if decode is not None else None
    return None
