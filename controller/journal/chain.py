"""The chain of hashes in a file.

    hash of a decision = SHA-256(last u64 | count u32 | utc i64 | boottime i64 | round i64
                                 | lengths of body and sealed, each u32 | hash before | body | sealed)
    before the first   = SHA-256(label | every column of the file's name except its MAC, each with its length u32)

Numbers are big-endian, texts UTF-8. The chain reveals changes by anyone who could not recompute it; MACs (`sealing.py`)
bind each decision to the local key, and signed heads (`signing.py`) to the signing key. The formula stands apart, so
that a reader can check it against docs/journal.md.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import Any, Final

import msgspec

NO_HASH: Final = bytes(32)
_DECISION: Final = struct.Struct(">QIqqqII")
_LENGTH: Final = struct.Struct(">I")
_LABEL: Final = b"cardshoe journal file 3\0"


class Head(msgspec.Struct, frozen=True):
    """The end of a chain: the number of a decision's last entry, and its hash. Without entries it is that of the
    previous file, or 0.
    """

    number: int = 0
    hash: bytes = NO_HASH


def hash_decision(columns: Sequence[Any], before: bytes) -> bytes:
    """Hash the columns of a row that precede its hash, as stored. Raise struct.error, ValueError or TypeError for an
    invalid row.
    """
    last, count, utc_ns, boottime_ns, round_number, body, sealed = columns
    fixed = _DECISION.pack(last, count, utc_ns, boottime_ns, round_number, len(body), len(sealed))
    return hashlib.sha256(b"".join((fixed, before, body, sealed))).digest()


def genesis(name: Sequence[Any]) -> bytes:
    """Return the hash before the first decision, from the columns of the file's name."""
    parts = [value if isinstance(value, bytes) else str(value).encode() for value in name]
    return hashlib.sha256(_LABEL + b"".join(_LENGTH.pack(len(part)) + part for part in parts)).digest()
