"""Signatures over heads: Ed25519, by a key that stays with the daemon. Anyone who knows the public key can check them.

statement of a head  = "cardshoe head 1" NUL | journal id | file id | number u64 | hash | UTC i64, each text with its
                       length u32 before it
"""

from __future__ import annotations

import hashlib
import os
import struct
from pathlib import Path
from typing import Final, Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from controller.journal import JournalError
from controller.journal.chain import Head
from controller.journal.sealing import KEY_BYTES, create_key_file, load_key_file, sync_directory, sync_file

_SIGNATURE: Final = 64  # bytes
_LABEL: Final = b"cardshoe head 1\0"
_LENGTH: Final = struct.Struct(">I")
_FIXED: Final = struct.Struct(">Q32sq")


class Signer(Protocol):
    """Who signs heads."""

    @property
    def public_key(self) -> bytes:
        """32 bytes."""

    @property
    def endorsement(self) -> bytes:
        """The signature of the key before over this one; empty: there is none."""

    def sign(self, data: bytes) -> bytes:
        """64 bytes."""


class SigningKey:
    """An Ed25519 key of 32 bytes, and what the key before says of it. Cannot be shown."""

    def __init__(self, private: bytes, endorsement: bytes = b"") -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(private)
        self.endorsement = endorsement
        self.public_key = self._key.public_key().public_bytes_raw()

    def sign(self, data: bytes) -> bytes:
        return self._key.sign(data)


def load_signing_key(path: Path) -> SigningKey:
    """The key in that file, with its endorsement on the next line where there is one. Raises `JournalError`."""
    data = load_key_file(path, more=_SIGNATURE)
    return SigningKey(data[:KEY_BYTES], data[KEY_BYTES:])


def replace_signing_key(path: Path, before: SigningKey, journal_id: str) -> tuple[SigningKey, Path]:
    """Another key in that file, with the endorsement of the one before, which is kept in the file that is returned.

    Raises `JournalError`; then the key before is in its place, or in the file beside it.
    """
    beside, kept = path.with_name(f"{path.name}.next"), path.with_name(f"{path.name}.{fingerprint(before.public_key)}")
    private = create_key_file(beside)
    public_key = SigningKey(private).public_key
    after = SigningKey(private, before.sign(key_statement(journal_id, before.public_key, public_key)))
    try:
        owner = path.stat()
        beside.write_text(f"{private.hex()}\n{after.endorsement.hex()}\n", "ascii")
        beside.chmod(owner.st_mode & 0o777)
        os.chown(beside, owner.st_uid, owner.st_gid)
        sync_file(beside)
        path.rename(kept)
        beside.rename(path)
        sync_directory(path.parent)
    except OSError as error:
        raise JournalError(
            "journal-key", f"{path} cannot be replaced: {error.strerror}.", f"Look for it in {path.parent}."
        ) from error
    return after, kept


def statement(journal_id: str, file_id: str, head: Head, utc_ns: int) -> bytes:
    """The bytes that are signed of a head."""
    names = b"".join(_LENGTH.pack(len(one.encode())) + one.encode() for one in (journal_id, file_id))
    return _LABEL + names + _FIXED.pack(head.number, head.hash, utc_ns)


def key_statement(journal_id: str, before: bytes, after: bytes) -> bytes:
    """The bytes that a key signs of the one that follows it."""
    return b"".join((b"cardshoe key 1\0", _LENGTH.pack(len(journal_id.encode())), journal_id.encode(), before, after))


def is_signed(public_key: bytes, signature: bytes, statement: bytes) -> bool:
    """Whether the signature is that key's over the statement."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, statement)
    except (InvalidSignature, ValueError):
        return False
    return True


def fingerprint(public_key: bytes) -> str:
    """What people compare: the first 16 bytes of the SHA-256, in hexadecimal, in groups of four."""
    digits = hashlib.sha256(public_key).hexdigest()[:32]
    return "-".join(digits[at : at + 4] for at in range(0, 32, 4))
