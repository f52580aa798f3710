"""The host's side of a handshake, from hello to the device's proof: docs/cardlink.md, "A link" and "Proofs".

All of it crosses the wire in the clear, and until the proof holds anyone in the line may have sent it. So a refusal
here is *unproven*, and the link keeper tries again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from msgspec.structs import replace

from firmware_bridge.capabilities import DeviceIdentity, KeyUsed
from firmware_bridge.drivers.base import LinkOver
from firmware_bridge.drivers.cardlink import messages, sealing
from firmware_bridge.drivers.cardlink.framing import VERSION, Frame
from firmware_bridge.drivers.cardlink.sealing import frame_keys
from firmware_bridge.drivers.cardlink.translate import identity_of
from firmware_bridge.drivers.memory import LinkMemory
from firmware_bridge.drivers.setting import DevicePolicy, FrameKeys
from firmware_bridge.messages import Message, message, sentences

# the nonce of the golden vectors, which must not pass for a device's nonce
PUBLISHED_NONCE: Final = bytes(range(0x40, 0x50))
UNPROVEN: Final = message("It is not proven that the device sent this; something on the line may have sent it.")


class Proven(NamedTuple):
    """The result of a handshake. `keys` are those of this link; `kept` lists the reports that the device still has;
    `key` says which of two keys it has."""

    identity: DeviceIdentity
    nonce: bytes
    keys: FrameKeys
    kept: list[messages.KeptReports]
    key: KeyUsed


class HostHandshake:
    """One handshake. `hello` is the header and body that were sent. With `replayed`, the bytes come from a capture,
    which may hold the link's `recorded` keys; a device without a key here was verified when it was recorded. `versions`
    are those that this program speaks, and `version` is that of the link.
    """

    def __init__(
        self,
        hello: bytes,
        nonce: bytes,
        *,
        key_of: Callable[[str], bytes | None],
        next_key_of: Callable[[str], bytes | None],
        policy: DevicePolicy,
        memory: LinkMemory,
        replayed: bool,
        recorded: FrameKeys | None,
        versions: tuple[int, ...],
    ) -> None:
        self._hello = hello
        self._nonce = nonce
        self._key_of = key_of
        self._next_key_of = next_key_of
        self._policy = policy
        self._memory = memory
        self._replayed = replayed
        self._recorded = recorded
        self._versions = versions
        self.version = VERSION
        self._identity: tuple[Frame, messages.IdentityBody] | None = None
        self._proven: Proven | None = None
        self._expected = b""
        self._judged = True
        self._untried: bytes | None = None  # the device's next key, until it is tried
        self._has_two_keys = False
        self.host_proof = b""

    def take_identity(self, frame: Frame) -> LinkOver | None:
        """Take an identity; on None, `host_proof` is ready to be sent. Raise ValueError for a bad body."""
        said = messages.decode_identity(frame.body)
        if said.version != VERSION:
            return other_version((said.version,), (VERSION,))
        common = set(said.versions).intersection(self._versions)
        if not common:
            return other_version(said.versions, self._versions)
        self.version = max(common)
        sealing.check_nonce(said.nonce)
        if refusal := self._policy.refuse_serial(said.serial):
            return unproven(refusal)
        key = self._key_of(said.serial)
        self._judged = key is not None
        if key is None and self._recorded is None:
            return unproven(LinkOver("device-unknown-serial", self._no_key_for(said.serial), refused=True))
        self._identity = (frame, said)
        self._untried = None if key is None else self._next_key_of(said.serial)
        self._has_two_keys = self._untried is not None
        self._prepare(key, "old" if self._has_two_keys else "")
        return None

    def _prepare(self, key: bytes | None, used: KeyUsed) -> None:
        """Prepare both proofs and the link's keys."""
        assert self._identity is not None
        frame, said = self._identity
        parts = (key or bytes(sealing.KEY_SIZE), self._nonce, said.nonce, self._hello, frame.content)

        def proof(role: bytes) -> bytes:
            return sealing.proof(parts[0], role, *parts[1:])

        keys = self._recorded if key is None and self._recorded is not None else frame_keys(*parts)
        self._proven = Proven(identity_of(said, frame.boot), said.nonce, keys, said.kept, used)
        self._expected = proof(sealing.DEVICE_ROLE)
        ours = messages.ProofBody(sealing.HMAC_SHA256, proof(sealing.HOST_ROLE))
        self.host_proof = messages.encode_body(ours)

    def try_next_key(self) -> bool:
        """After a rejected proof, prepare one under the device's next key. Return whether there is one to send.

        A replay without the device's key has nothing to judge: a link whose keys were noted was proven later.
        """
        if not self._judged:
            return True
        key, self._untried = self._untried, None
        if key is None:
            return False
        self._prepare(key, "next")
        return True

    def take_device_proof(self, frame: Frame) -> LinkOver | Proven:
        """Verify the device's proof. Raise ValueError for a bad body."""
        assert self._proven is not None
        claimed = messages.decode_proof(frame.body)
        holds = not self._judged or sealing.is_valid(claimed.proof, self._expected)
        if claimed.type != sealing.HMAC_SHA256 or not holds:
            said = message(
                "The device could not prove its identity: its key differs from the key stored here. Pair it again."
            )
            return unproven(LinkOver("device-proof", said, refused=True))
        identity, nonce = self._proven.identity, self._proven.nonce
        if refusal := self._policy.refuse_firmware(identity.serial, identity.firmware_digest):
            return refusal
        published = nonce == PUBLISHED_NONCE and not identity.simulated
        if published or self._memory.knows_nonce(nonce):
            said = message(
                "The device {serial} has reused a number that it may use only once, so a recording of this "
                "program could command it. Do not deal from it, and have its firmware checked.",
                serial=identity.serial,
            )
            return LinkOver("device-nonce-repeated", said, refused=True)
        return self._proven

    def rejected(self, frame_body: bytes) -> LinkOver:
        """Return the end for a device that rejects this host before its proof. Raise ValueError for a bad body."""
        return unproven(rejected(frame_body, two_keys=self._has_two_keys))

    def _no_key_for(self, serial: str) -> Message:
        if self._replayed:
            return message(
                "The capture does not contain the keys of this link: name the file with the device's key "
                "(--device-keys)."
            )
        return message(
            "There is no key here for the device {serial}: pair it, restart the program if it is already "
            "paired, or connect the right device.",
            serial=serial,
        )


def unproven(over: LinkOver) -> LinkOver:
    """Return the same end of a link, with the warning that anything on the line may have caused it."""
    assert isinstance(over.sentence, Message)
    return replace(over, sentence=sentences(over.sentence, UNPROVEN))


def other_version(versions: Iterable[int], ours: Iterable[int]) -> LinkOver:
    """Return the end for a device that speaks none of our versions of the protocol."""
    said = message(
        "The device speaks cardlink {versions:list}, and this program speaks cardlink {ours:list}: update the older "
        "of the two.",
        versions=tuple(str(one) for one in sorted(versions)),
        ours=tuple(str(one) for one in sorted(ours)),
    )
    return unproven(LinkOver("device-version", said, refused=True))


def rejected(frame_body: bytes, *, two_keys: bool = False) -> LinkOver:
    """Return the end for a device that rejects this host. Raise ValueError for a bad body."""
    reject = messages.decode_reject(frame_body)
    said = message("The device refused this host ({code}).", code=reject.code)
    if reject.text:
        said = message("The device refused this host ({code}): {text}.", code=reject.code, text=reject.text)
    differ = (
        message(
            "The device has neither of its two keys here: put back the key file from the safe, or pair it again."
            if two_keys
            else "The host and the device have different keys: put back the key file from the safe, or pair the device "
            "again."
        )
        if reject.code == "proof"
        else None
    )
    return LinkOver("device-rejects-host", sentences(said, differ), refused=True)
