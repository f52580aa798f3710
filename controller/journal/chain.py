"""The chain of hashes in a file of format 2.

    hash of a decision = SHA-256(last u64 | count u32 | utc i64 | boottime i64 | round i64
                                 | lengths of input, events, sealed, each u32 | hash before | input | events | sealed)
    before the first   = SHA-256(label | every column of the file's name, each with its length u32)

Numbers are big-endian, texts UTF-8. The chain shows that nothing within it was changed by someone who could not compute
it again; signed heads (`signing.py`) bind it to a key.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import Any, Final

import msgspec

NO_HASH: Final = bytes(32)
_DECISION: Final = struct.Struct(">QIqqqIII")
_LENGTH: Final = struct.Struct(">I")
_LABEL: Final = b"cardshoe journal file 2\0"


class Head(msgspec.Struct, frozen=True):
    """The end of a chain: the number of a decision's last entry, and its hash. No entry yet: that of the file before,
    or 0.
    """

    number: int = 0
    hash: bytes = NO_HASH


def hash_decision(last: int, count: int, utc_ns: int, boottime_ns: int, round_number: int, given: bytes, events: bytes,
                  sealed: bytes, before: bytes) -> bytes:  # fmt: skip
    """Of the stored bytes. Raises struct.error or TypeError for what is none."""
    fixed = _DECISION.pack(last, count, utc_ns, boottime_ns, round_number, len(given), len(events), len(sealed))
    return hashlib.sha256(b"".join((fixed, before, given, events, sealed))).digest()


def genesis(name: Sequence[Any]) -> bytes:
    """The hash before the first decision, from the columns of the file's name."""
    parts = [value if isinstance(value, bytes) else str(value).encode() for value in name]
    return hashlib.sha256(_LABEL + b"".join(_LENGTH.pack(len(part)) + part for part in parts)).digest()
