"""Signatures over heads: Ed25519, by a key that stays with the daemon. Anyone who knows the public key can check them.

statement of a head  = "cardshoe head 1" NUL | journal id | file id | number u64 | hash | UTC i64, each text with its
                       length u32 before it
"""

from __future__ import annotations

import hashlib
import os
import secrets
import struct
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from controller.journal import JournalError
from controller.journal.chain import Head
from controller.journal.sealing import KEY_BYTES, load_key_file, sync_directory
from firmware_bridge.messages import message

_SIGNATURE: Final = 64  # bytes
_ID: Final = 16  # bytes of a journal's id
_P: Final = 2**255 - 19
_Y: Final = 2**255 - 1  # mask of a public key: all but the sign of x
_Y8: Final = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826  # y of the points of order 8
_SMALL_ORDER: Final = frozenset({0, 1, _P - 1, _P, _P + 1, _Y8, _P - _Y8})
"""Points under which anyone can make a signature that OpenSSL accepts as valid."""
_LABEL: Final = b"cardshoe head 1\0"
_LENGTH: Final = struct.Struct(">I")
_FIXED: Final = struct.Struct(">Q32sq")


class Signer(Protocol):
    """The signer of heads."""

    @property
    def public_key(self) -> bytes:
        """The public key, 32 bytes."""

    @property
    def endorsement(self) -> bytes:
        """The previous key's signature over this key; empty if there is none."""

    @property
    def journal_id(self) -> str:
        """The id of the journal that it signed last; empty if unknown."""

    def note_journal(self, journal_id: str) -> None:
        """Store the id of the journal that it signs."""

    def sign(self, data: bytes) -> bytes:
        """Return the signature, 64 bytes."""


class SigningKey:
    """An Ed25519 key of 32 bytes, with the previous key's endorsement. It cannot be shown."""

    def __init__(
        self, private: bytes, endorsement: bytes = b"", journal_id: str = "", path: Path | None = None
    ) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(private)
        self.endorsement = endorsement
        self.journal_id = journal_id
        self._path = path
        self.public_key = self._key.public_key().public_bytes_raw()

    def sign(self, data: bytes) -> bytes:
        return self._key.sign(data)

    def note_journal(self, journal_id: str) -> None:
        """Write the id into the key's file, so that the journal's disappearance is noticed. A file that cannot be
        written stays as it is.
        """
        if self._path is None or self.journal_id == journal_id or len(journal_id) != 2 * _ID:
            return
        self.journal_id = journal_id
        with suppress(OSError):
            _replace(self._path, self._key.private_bytes_raw(), self.endorsement, journal_id)


def load_signing_key(path: Path) -> SigningKey:
    """Return the key in that file. Separate lines hold, if present, its endorsement, and the id of the journal that it
    signed last. Raise `JournalError`.
    """
    data = load_key_file(path, more=(_ID, _SIGNATURE, _SIGNATURE + _ID))
    rest = data[KEY_BYTES:]
    endorsement = rest[:_SIGNATURE] if len(rest) >= _SIGNATURE else b""
    return SigningKey(data[:KEY_BYTES], endorsement, rest[len(endorsement) :].hex(), path)


def _replace(path: Path, private: bytes, endorsement: bytes, journal_id: str, kept: Path | None = None) -> None:
    """Replace the key file. `kept` is the path at which the old file is kept."""
    beside, owner = path.with_name(f"{path.name}.next"), path.stat()
    lines = (private.hex(), endorsement.hex(), journal_id)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write("".join(f"{line}\n" for line in lines if line))
            os.fchmod(file.fileno(), owner.st_mode & 0o777)
            os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
            file.flush()
            os.fsync(file.fileno())
        if kept is not None:
            path.rename(kept)
        beside.rename(path)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        raise
    sync_directory(path.parent)


def replace_signing_key(path: Path, before: SigningKey, journal_id: str) -> tuple[SigningKey, Path]:
    """Write a new key into that file, endorsed by the old key. Return the new key with the file in which the old key is
    kept.

    Raise `JournalError`; then the old key is in its place, or in the file next to it.
    """
    kept = path.with_name(f"{path.name}.{fingerprint(before.public_key)}")
    private = secrets.token_bytes(KEY_BYTES)
    public_key = SigningKey(private).public_key
    endorsement = before.sign(key_statement(journal_id, before.public_key, public_key))
    after = SigningKey(private, endorsement, before.journal_id, path)
    try:
        _replace(path, private, endorsement, before.journal_id, kept)
    except OSError as error:
        raise JournalError(
            "journal-key",
            message("{path} cannot be replaced: {why}.", path=str(path), why=error.strerror or str(error)),
            message("Look for it in {folder}.", folder=str(path.parent)),
        ) from error
    return after, kept


def statement(journal_id: str, file_id: str, head: Head, utc_ns: int) -> bytes:
    """Return the bytes of a head that are signed."""
    names = b"".join(_LENGTH.pack(len(one.encode())) + one.encode() for one in (journal_id, file_id))
    return _LABEL + names + _FIXED.pack(head.number, head.hash, utc_ns)


def key_statement(journal_id: str, before: bytes, after: bytes) -> bytes:
    """Return the bytes that a key signs to endorse its successor."""
    return b"".join((b"cardshoe key 1\0", _LENGTH.pack(len(journal_id.encode())), journal_id.encode(), before, after))


def is_signed(public_key: bytes, signature: bytes, statement: bytes) -> bool:
    """Return whether the key signed the statement. A key of small order would match any statement, so it is
    rejected.
    """
    if int.from_bytes(public_key, "little") & _Y in _SMALL_ORDER:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, statement)
    except (InvalidSignature, ValueError):
        return False
    return True


def fingerprint(public_key: bytes) -> str:
    """Return the digits that people compare: the first 16 bytes of the SHA-256, in hexadecimal, in groups of four."""
    digits = hashlib.sha256(public_key).hexdigest()[:32]
    return "-".join(digits[at : at + 4] for at in range(0, 32, 4))
