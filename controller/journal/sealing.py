"""Keys of a journal, sealed cards and evidence, and commitments.

    local key ─┬─ HKDF(journal id) ─┬─ secret of the salts
               │                    └─ check, which stands in each file: a wrong key is noticed on opening
               └─ HKDF(file id) ────┬─ sealing key ── HMAC(salt) ── AES-GCM key of one row
                                    └─ key of the MACs of saved states

    sealed      = salt, 16 random bytes | for each item, its length u32 and AES-GCM(nonce = index u96, plaintext,
                  associated data = what it is | file id | number u64 | index u32); nothing sealed: empty
    commitment  = SHA-256(salt | card code)
    salt        = HMAC-SHA256(secret, length of id u32 | journal id | round i64 | shuffle u32 | ordinal u16)

Numbers are big-endian. An item opens at its own place only. A failed append gives its entry numbers back although its
bytes may still lie in the write-ahead log: the salt keeps a nonce from serving twice under one key.
"""

from __future__ import annotations

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

KEY_BYTES: Final = 32
EVIDENCE_BLOCK: Final = 64
"""Sealed evidence is a multiple of this many bytes, so that the length of a report in text does not reveal a ten."""

_REMEMBERED: Final = 512  # commitments: a card's stands in its input, in events and in what is published
_CARD: Final = struct.Struct(">BIH")
_INDEX: Final = struct.Struct(">I")
_NUMBER: Final = struct.Struct(">Q")
_NONCE: Final = struct.Struct(">QI")
SALT_BYTES: Final = 16
_CARD_ITEM: Final = _CARD.size + 16  # an item of evidence is longer
_LENGTH: Final = struct.Struct(">I")
_PLACE: Final = struct.Struct(">qIH")
_STAMP: Final = struct.Struct(">qq")


class JournalKeys:
    """The keys of a journal, from the local key and the journal's id. Cannot be shown or pickled.

    Raises `JournalError` (journal-key) unless the local key is 32 bytes long.
    """

    __slots__ = ("_commitments", "_place", "_sealing", "_secret", "check")

    check: bytes
    """16 bytes that identify this key and reveal nothing about it."""

    def __init__(self, local_key: bytes, journal_id: str) -> None:
        if len(local_key) != KEY_BYTES:
            raise JournalError(
                "journal-key",
                f"The journal's key has {len(local_key)} bytes instead of {KEY_BYTES}.",
                "Put the key file that belongs to this table back from its backup.",
            )
        journal = journal_id.encode()
        info = b"cardshoe journal keys 1\0" + journal
        derived = HKDF(SHA256(), 2 * KEY_BYTES + 16, salt=None, info=info).derive(local_key)
        self._sealing, self._secret, self.check = derived[:32], derived[32:64], derived[64:]
        self._place = _LENGTH.pack(len(journal)) + journal
        self._commitments: dict[tuple[int, int, int, int], str] = {}

    def salt(self, round_number: int, shuffle: int, ordinal: int) -> bytes:
        """The 32 bytes that hide the card of that place in its commitment until the rules expose it.

        Raises `ValueError` for a place that no device can have.
        """
        try:
            place = _PLACE.pack(round_number, shuffle, ordinal)
        except struct.error:
            raise ValueError(f"card {ordinal} of shuffle {shuffle} is no place in a deck") from None
        return hmac.digest(self._secret, self._place + place, "sha256")

    def commitment(self, round_number: int, card: Concealed) -> str:
        """What is published of a concealed card of that round, in hexadecimal."""
        face, shuffle, ordinal = card.expose(), card.shuffle, card.ordinal
        known = self._commitments
        key = round_number, shuffle, ordinal, face.number
        found = known.get(key)
        if found is None:
            if len(known) >= _REMEMBERED:
                known.clear()
            found = known[key] = commitment(self.salt(round_number, shuffle, ordinal), face).hex()
        return found

    def old_sealer(self, utc_ns: int, boottime_ns: int, start: str) -> OldSealer:
        """What opens the entries of the append of format 1 that carries this moment and this start of the host."""
        return OldSealer(hmac.digest(self._sealing, _STAMP.pack(utc_ns, boottime_ns) + start.encode(), "sha256"))

    def __repr__(self) -> str:
        return "<journal keys>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("journal keys cannot be pickled or copied out")


def commitment(salt: bytes, card: Card) -> bytes:
    """The commitment's bytes. A person who is shown the card and its salt computes them and compares."""
    return hashlib.sha256(salt + card.code.encode()).digest()


class FileKeys:
    """The keys of one file, from the local key and the file's id. Cannot be shown or pickled."""

    __slots__ = ("_file", "_mac", "_sealing")

    def __init__(self, local_key: bytes, file_id: str) -> None:
        self._file = _LENGTH.pack(len(file_id.encode())) + file_id.encode()
        info = b"cardshoe file keys 1\0" + file_id.encode()
        derived = HKDF(SHA256(), 64, salt=None, info=info).derive(local_key)
        self._sealing, self._mac = derived[:32], derived[32:]

    def mac(self, data: bytes) -> bytes:
        """32 bytes that only who has the key can make for these."""
        return hmac.digest(self._mac, self._file + data, "sha256")

    def seal(self, number: int, items: Sequence[Concealed | Evidence], salt: bytes, of: bytes = b"") -> bytes:
        """The items of a row, in order. `salt`: 16 bytes that no other row has. `of`: b"" for a decision's, else what
        the row is. Raises `ValueError` for a place that no device can have.
        """
        cipher = self._cipher(salt)
        parts = [salt]
        for index, item in enumerate(items):
            label, plain = (
                (_CARD_LABEL, _card(item)) if isinstance(item, Concealed) else (_EVIDENCE_LABEL, _padded(item))
            )
            sealed = cipher.encrypt(_nonce(index), plain, self._place(label + of, number, index))
            parts += (_LENGTH.pack(len(sealed)), sealed)
        return b"".join(parts)

    def opener(self, number: int, sealed: bytes, of: bytes = b"") -> SealedItems:
        """What opens the items of a row. Raises `ValueError` for what was cut."""
        return SealedItems(self, number, sealed, of)

    def _cipher(self, salt: bytes) -> AESGCM:
        return AESGCM(hmac.digest(self._sealing, salt, "sha256"))

    def _place(self, label: bytes, number: int, index: int) -> bytes:
        return b"".join((label, b"\0", self._file, _NUMBER.pack(number), _INDEX.pack(index)))

    def __repr__(self) -> str:
        return "<file keys>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("file keys cannot be pickled or copied out")


class SealedItems:
    """The sealed items of one row. Opening raises `ValueError` for anything that was not sealed for this place."""

    def __init__(self, keys: FileKeys, number: int, sealed: bytes, of: bytes) -> None:
        self._keys = keys
        self._number = number
        self._of = of
        self._items = split_sealed(sealed)
        self._made: AESGCM | None = None
        self._salt = sealed[:SALT_BYTES]

    def card(self, index: int) -> Concealed:
        card, shuffle, ordinal = _CARD.unpack(self._open(index, _CARD_LABEL))
        return Concealed(Card.numbered(card), shuffle, ordinal)

    def cards(self) -> list[Concealed]:
        """All that are cards."""
        return [self.card(index) for index, item in enumerate(self._items) if len(item) == _CARD_ITEM]

    def evidence(self, index: int) -> Evidence:
        return _evidence(self._open(index, _EVIDENCE_LABEL))

    def _open(self, index: int, label: bytes) -> bytes:
        if not 0 <= index < len(self._items):
            raise ValueError(f"there is no sealed item {index}")
        if self._made is None:
            self._made = self._keys._cipher(self._salt)
        place = self._keys._place(label + self._of, self._number, index)
        try:
            return self._made.decrypt(_nonce(index), self._items[index], place)
        except InvalidTag:
            raise ValueError("what was sealed does not open with this key at this place") from None


def split_sealed(sealed: bytes) -> list[bytes]:
    """The items, still sealed. Raises `ValueError` for what was cut."""
    items: list[bytes] = []
    at = SALT_BYTES
    while at < len(sealed):
        if at + _LENGTH.size > len(sealed):
            raise ValueError("what was sealed has been cut short")
        (length,) = _LENGTH.unpack_from(sealed, at)
        at += _LENGTH.size + length
        items.append(sealed[at - length : at])
    if sealed and at != len(sealed):
        raise ValueError("what was sealed has been cut short")
    return items


class OldSealer:
    """Opens what lies in the entries of one append of format 1. Raises `ValueError` for anything that was not sealed
    for this entry in this journal.
    """

    __slots__ = ("_cipher",)

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def open_card(self, number: int, sealed: bytes) -> Concealed:
        card, shuffle, ordinal = _CARD.unpack(self._open(number, sealed, _CARD_LABEL))
        return Concealed(Card.numbered(card), shuffle, ordinal)

    def open_evidence(self, number: int, sealed: bytes) -> Evidence:
        return _evidence(self._open(number, sealed, _EVIDENCE_LABEL))

    def _open(self, number: int, sealed: bytes, label: bytes) -> bytes:
        if len(sealed) < _INDEX.size:
            raise ValueError("what was sealed has been cut short")
        (index,) = _INDEX.unpack_from(sealed)
        try:
            return self._cipher.decrypt(_NONCE.pack(number, index), sealed[_INDEX.size :], label)
        except InvalidTag:
            raise ValueError("what was sealed does not open with this key at this place") from None


_CARD_LABEL: Final = b"card"
_EVIDENCE_LABEL: Final = b"evidence"


def _nonce(index: int) -> bytes:
    return _NONCE.pack(0, index)


def _card(card: Concealed) -> bytes:
    try:
        return _CARD.pack(card.expose().number, card.shuffle, card.ordinal)
    except struct.error:
        raise ValueError(f"card {card.ordinal} of shuffle {card.shuffle} is no place in a deck") from None


def _padded(evidence: Evidence) -> bytes:
    """A multiple of `EVIDENCE_BLOCK`."""
    data = evidence.open()
    plain = _LENGTH.pack(len(data)) + data.ljust(evidence.room, b"\0")
    return plain + bytes(-len(plain) % EVIDENCE_BLOCK)


def _evidence(plain: bytes) -> Evidence:
    """With the room that it had: sealed again, as in a saved state, it has the same size."""
    (length,) = _LENGTH.unpack_from(plain)
    return Evidence(plain[_LENGTH.size : _LENGTH.size + length], room=len(plain) - _LENGTH.size)


def create_key_file(path: Path) -> bytes:
    """Write a new random local key, readable by its owner alone, and return it. Never replaces a file.

    Raises `JournalError` (journal-key) when the file exists already or cannot be written.
    """
    key = secrets.token_bytes(KEY_BYTES)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise JournalError(
            "journal-key", f"{path} exists already.", "Use it, or name another file; a key in use is never replaced."
        ) from None
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(key.hex() + "\n")
            file.flush()
            os.fsync(descriptor)
        sync_directory(path.parent)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise _unusable(path, error) from error
    return key


def load_key_file(path: Path, *, more: int = 0) -> bytes:
    """The key in that file, and `more` bytes after it where it has them. Raises `JournalError` (journal-key): missing,
    readable by others, or no key.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(4 * (KEY_BYTES + more))
    except OSError as error:
        raise _unusable(path, error) from error
    if stat.S_IMODE(mode) & 0o037:
        raise JournalError(
            "journal-key",
            f"The key file {path} is open to others than its owner and its group.",
            f"Close it with `chmod 640 {path}`, and find out who may have read it.",
        )
    try:
        key = bytes.fromhex(text.decode("ascii"))
    except ValueError:
        key = b""
    if len(key) not in (KEY_BYTES, KEY_BYTES + more):
        raise JournalError(
            "journal-key",
            f"{path} does not contain a key: {2 * KEY_BYTES} hexadecimal digits are expected.",
            "Put the key file that belongs to this table back from its backup.",
        )
    return key


def sync_file(path: Path) -> None:
    """Make a file's mode durable. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable. Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unusable(path: Path, error: OSError) -> JournalError:
    return JournalError(
        "journal-key",
        f"The key file {path} cannot be used: {error.strerror or error}.",
        "Check that the file is there and belongs to the user that the daemon runs as.",
    )
