"""Keys of a journal, sealed cards and evidence, and commitments.

    local key ─┬─ HKDF(journal id) ─┬─ secret of the salts
               │                    └─ check, which is in each file: a wrong key is noticed on opening
               └─ HKDF(file id) ────┬─ sealing key
                                    └─ key of the MACs: of the file's name, of each decision and of saved states

    MAC         = the first 16 bytes of HMAC-SHA256(key, length of file id u32 | file id | label NUL | covered data);
                  for the name and a decision the covered data is the hash, which covers everything before it

    sealed      = nonce, 12 random bytes | AES-GCM(for each item, its length u32 and the item; associated data = kind
                  of row | length of file id u32 | file id | number u64); empty if nothing is sealed
    commitment  = SHA-256(salt | card code)
    salt        = HMAC-SHA256(secret, length of id u32 | journal id | round i64 | shuffle u32 | ordinal u16)

Numbers are big-endian. The items of a row open together and in that row only. A failed append frees its entry numbers
although its bytes may still be in the write-ahead log. So a nonce is random, and no file approaches the 2^32 rows that
random nonces allow under one key.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import secrets
import stat
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from controller.journal import JournalError
from firmware_bridge.cards import Card, Concealed, Evidence
from firmware_bridge.edited_text import open_named, why_unreadable
from firmware_bridge.messages import message

KEY_BYTES: Final = 32
EVIDENCE_BLOCK: Final = 64
"""Sealed evidence is a multiple of this many bytes, so that the length of a report in text does not reveal a ten."""

_REMEMBERED: Final = 512  # salts and commitments: a card is dealt, moved and shown
_CARD: Final = struct.Struct(">BIH")
_NUMBER: Final = struct.Struct(">Q")
NONCE_BYTES: Final = 12
MAC_BYTES: Final = 16
_LENGTH: Final = struct.Struct(">I")
_PLACE: Final = struct.Struct(">qIH")


class JournalKeys:
    """The keys of a journal, from the local key and the journal's id. They cannot be shown or pickled.

    Raise `JournalError` (journal-key) unless the local key is 32 bytes long.
    """

    __slots__ = ("_commitments", "_place", "_salts", "_secret", "check")

    check: bytes
    """16 bytes that identify this key and reveal nothing about it."""

    def __init__(self, local_key: bytes, journal_id: str) -> None:
        if len(local_key) != KEY_BYTES:
            raise JournalError(
                "journal-key",
                message(
                    "The journal's key has {count} bytes instead of {due}.",
                    count=len(local_key),
                    due=KEY_BYTES,
                ),
                message("Restore the key file that belongs to this table from its backup."),
            )
        journal = journal_id.encode()
        info = b"cardshoe journal keys 3\0" + journal
        derived = HKDF(SHA256(), KEY_BYTES + 16, salt=None, info=info).derive(local_key)
        self._secret, self.check = derived[:KEY_BYTES], derived[KEY_BYTES:]
        self._place = _LENGTH.pack(len(journal)) + journal
        self._salts: dict[tuple[int, int, int], bytes] = {}
        self._commitments: dict[tuple[int, int, int, int], str] = {}

    def salt(self, round_number: int, shuffle: int, ordinal: int) -> bytes:
        """Return the 32 bytes that hide the card of that place in its commitment until the rules expose it.

        Raise `ValueError` for a place that no device can have.
        """
        key = round_number, shuffle, ordinal
        found = self._salts.get(key)
        if found is None:
            try:
                place = _PLACE.pack(*key)
            except struct.error:
                raise ValueError(f"card {ordinal} of shuffle {shuffle} is not a place in a deck") from None
            if len(self._salts) >= _REMEMBERED:
                self._salts.clear()
            found = self._salts[key] = hmac.digest(self._secret, self._place + place, "sha256")
        return found

    def commitment(self, round_number: int, card: Concealed) -> str:
        """Return the published commitment to a concealed card of that round, in hexadecimal."""
        face, shuffle, ordinal = card.expose(), card.shuffle, card.ordinal
        known = self._commitments
        key = round_number, shuffle, ordinal, face.number
        found = known.get(key)
        if found is None:
            if len(known) >= _REMEMBERED:
                known.clear()
            found = known[key] = commitment(self.salt(round_number, shuffle, ordinal), face).hex()
        return found

    def __repr__(self) -> str:
        return "<journal keys>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("journal keys cannot be pickled or copied out")


def commitment(salt: bytes, card: Card) -> bytes:
    """Return the commitment's bytes. A person who is shown the card and its salt can compute and compare them."""
    return hashlib.sha256(salt + card.code.encode()).digest()


class FileKeys:
    """The keys of one file, from the local key and the file's id. They cannot be shown or pickled."""

    __slots__ = ("_cipher", "_file", "_mac")

    def __init__(self, local_key: bytes, file_id: str) -> None:
        self._file = _LENGTH.pack(len(file_id.encode())) + file_id.encode()
        info = b"cardshoe file keys 1\0" + file_id.encode()
        derived = HKDF(SHA256(), 64, salt=None, info=info).derive(local_key)
        self._cipher, self._mac = AESGCM(derived[:32]), derived[32:]

    def mac(self, of: bytes, data: bytes) -> bytes:
        """Return 16 bytes that only a holder of the key can make for this data. `of` is the label of its kind."""
        return hmac.digest(self._mac, b"".join((self._file, of, b"\0", data)), "sha256")[:MAC_BYTES]

    def authenticates(self, mac: bytes, of: bytes, data: bytes) -> bool:
        """Return whether `mac` was made with this key."""
        return hmac.compare_digest(mac, self.mac(of, data))

    def seal(self, number: int, items: Sequence[Concealed | Evidence], nonce: bytes, of: bytes) -> bytes:
        """Seal the items of a row, in order. `nonce` is 12 bytes that no other row has, and `of` the kind of row. The
        size of the result never depends on a card. Raise `ValueError` for a place that no device can have.
        """
        parts: list[bytes] = []
        for item in items:
            plain = _card(item) if isinstance(item, Concealed) else _padded(item)
            parts += (_LENGTH.pack(len(plain)), plain)
        return nonce + self._cipher.encrypt(nonce, b"".join(parts), self._place(number, of))

    def open(self, number: int, sealed: bytes, of: bytes) -> list[Concealed | Evidence]:
        """Return the items that `seal` was given. Raise `ValueError` unless they were sealed for this row of this
        file.
        """
        if not sealed:
            return []
        try:
            plain = self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], self._place(number, of))
        except (InvalidTag, ValueError):  # ValueError: too short for a nonce
            raise ValueError("the sealed row does not open with this key in this place") from None
        items: list[Concealed | Evidence] = []
        at = 0
        while at < len(plain):
            (length,) = _LENGTH.unpack_from(plain, at)
            at += _LENGTH.size + length
            item = plain[at - length : at]
            items.append(_open_card(item) if length == _CARD.size else _open_evidence(item))
        return items

    def _place(self, number: int, of: bytes) -> bytes:
        return b"".join((of, b"\0", self._file, _NUMBER.pack(number)))

    def __repr__(self) -> str:
        return "<file keys>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("file keys cannot be pickled or copied out")


def _card(card: Concealed) -> bytes:
    try:
        return _CARD.pack(card.expose().number, card.shuffle, card.ordinal)
    except struct.error:
        raise ValueError(f"card {card.ordinal} of shuffle {card.shuffle} is not a place in a deck") from None


def _open_card(plain: bytes) -> Concealed:
    card, shuffle, ordinal = _CARD.unpack(plain)
    return Concealed(Card.numbered(card), shuffle, ordinal)


def _padded(evidence: Evidence) -> bytes:
    """Pad evidence to a multiple of `EVIDENCE_BLOCK`, so that its length differs from a card's."""
    data = evidence.open()
    plain = _LENGTH.pack(len(data)) + data.ljust(evidence.room, b"\0")
    return plain + bytes(-len(plain) % EVIDENCE_BLOCK)


def _open_evidence(plain: bytes) -> Evidence:
    """Return the evidence with its sealed size as `room`, so that it is sealed at the same size again."""
    (length,) = _LENGTH.unpack_from(plain)
    return Evidence(plain[_LENGTH.size : _LENGTH.size + length], room=len(plain) - _LENGTH.size)


def create_key_file(path: Path) -> bytes:
    """Write a new random local key, readable only by its owner, and return it. Never replaces a file.

    Raise `JournalError` (journal-key) if the file exists already or cannot be written.
    """
    key = secrets.token_bytes(KEY_BYTES)
    part = path.with_name(f".{path.name}-{secrets.token_hex(8)}")  # another process never finds half a key
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(key.hex() + "\n")
                file.flush()
                os.fsync(descriptor)
            os.link(part, path)
        finally:
            part.unlink()
        sync_directory(path.parent)
    except FileExistsError:
        raise JournalError(
            "journal-key",
            message("{path} exists already.", path=str(path)),
            message("Use it, or name another file; a key in use is never replaced."),
        ) from None
    except OSError as error:
        raise _unusable(path, error) from error
    return key


def load_key_file(path: Path, *, more: Sequence[int] = ()) -> bytes:
    """Return the key in that file and what follows it; `more` are the lengths allowed for that. Raise `JournalError`
    (journal-key) if the file is missing, readable by others, or not a key.
    """
    try:
        with open_named(path) as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(4 * (KEY_BYTES + max(more, default=0)))
    except OSError as error:
        raise _unusable(path, error) from error
    if stat.S_IMODE(mode) & 0o037:
        raise JournalError(
            "journal-key",
            message("Users other than the owner and group can read the key file {path}.", path=str(path)),
            message("Restrict it with `chmod 640 {path}`, and find out who may have read it.", path=str(path)),
        )
    try:
        key = bytes.fromhex(text.decode("ascii"))
    except ValueError:
        key = b""
    if len(key) not in (KEY_BYTES, *(KEY_BYTES + one for one in more)):
        raise JournalError(
            "journal-key",
            message(
                "{path} does not contain a key: {digits} hexadecimal digits are expected.",
                path=str(path),
                digits=2 * KEY_BYTES,
            ),
            message("Restore the key file that belongs to this table from its backup."),
        )
    return key


def sync_file(path: Path) -> None:
    """Make a file's mode durable. Raise OSError if the disk fails."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable. Raise OSError if the disk fails."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unusable(path: Path, error: OSError) -> JournalError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return JournalError(
            "journal-full",
            message("The disk has no room left for the key file {path}.", path=str(path)),
            message("Free space on that disk."),
        )
    hint = message("Check that the file is there and belongs to the user that the daemon runs as.")
    if error.errno == errno.EROFS:
        hint = message("The disk is mounted read-only; `cardshoe doctor` says how to change that.")
    return JournalError(
        "journal-key",
        message("The key file {path} cannot be used: {why}.", path=str(path), why=why_unreadable(error)),
        hint,
    )
