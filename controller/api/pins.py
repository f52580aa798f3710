"""PINs: their hashes, the requirements for each, and how a PIN proves who a person is.

A PIN is kept as `scrypt$N$r$p$salt$hash` (salt and hash in hex). `cardshoe` never keeps a PIN itself.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import ceil
from typing import Final, NamedTuple, Protocol

import structlog

from controller.api.callers import Caller
from controller.journal.codec import Moment
from controller.table.model import PinLock
from controller.table.screens import lock_length_ns
from firmware_bridge.messages import Message, MessageError, message
from firmware_bridge.plain_text import whole_number

SHORTEST: Final = 6  # digits
LONGEST: Final = 12
SCRYPT: Final = (2**14, 8, 1)  # N, r, p: 16 MiB and some 50 ms on a small table PC
MEMORY: Final = 128 * 1024 * 1024
MOST_WORK: Final = 4 * SCRYPT[0] * SCRYPT[1]  # N * r * p: 64 MiB, a quarter of a second
MOST_NUMBER: Final = 2**63  # the largest number in a hash
SALT: Final = 16  # bytes, at least
DIGEST: Final = 32  # bytes, at least
AT_ONCE: Final = 2  # PINs of different users that are compared at a time
WAITING: Final = 4  # PINs of one user, including the one being compared


class Deadlines:
    """Deadlines by key. Even if the clock is set, none is more than its `longest_ns` after its first look."""

    def __init__(self, now: Callable[[], Moment]) -> None:
        self._now = now
        self._ends: dict[Hashable, tuple[int, int]] = {}  # the end in UTC, and in boot time

    def note(self, key: Hashable, until_utc_ns: int, left_ns: int) -> None:
        """Note that a deadline is at most `left_ns` away, according to a source other than the time of day."""
        now = self._now()
        left = max(0, min(left_ns, until_utc_ns - now.utc_ns))
        self._ends[key] = (until_utc_ns, now.boottime_ns + left)

    def seconds_left(self, key: Hashable, until_utc_ns: int, longest_ns: int) -> float:
        """Return the seconds until that time, or 0 or less if it has passed. `until_utc_ns` 0: no deadline."""
        if not until_utc_ns:
            self._ends.pop(key, None)
            return 0.0
        now = self._now()
        if self._ends.get(key, (0, 0))[0] != until_utc_ns:
            left = min(max(until_utc_ns - now.utc_ns, 0), longest_ns)
            self._ends[key] = (until_utc_ns, now.boottime_ns + left)
        return (self._ends[key][1] - now.boottime_ns) / 1e9


class PinRefusedError(MessageError):
    """Refuses a person without proof. `code` is for programs; `at_door`: the PIN was not checked."""

    message: Message

    def __init__(self, code: str, said: Message, *, at_door: bool = False) -> None:
        super().__init__(said, code=code)
        self.at_door = at_door


def wrong_pin(name: str) -> Message:
    return message("The PIN for {name} is missing or wrong. Enter it again.", name=name)


class _Kept(NamedTuple):
    """The parts of a PIN's hash."""

    n: int
    r: int
    p: int
    salt: bytes
    digest: bytes


def mistake_of_pin(pin: str) -> Message | None:
    """Return why a new PIN is unsuitable, or None if it is suitable. This cannot be checked after hashing."""
    if not (pin.isascii() and pin.isdigit()):
        return message("A PIN consists of digits; choose another one.")
    if not SHORTEST <= len(pin) <= LONGEST:
        return message("A PIN has {fewest} to {most} digits; choose another one.", fewest=SHORTEST, most=LONGEST)
    steps = {(int(after) - int(before)) % 10 for before, after in pairwise(pin)}
    if steps in ({0}, {1}, {9}):
        return message("A PIN of repeated or consecutive digits is easy to guess; choose another one.")
    return None


def hash_pin(pin: str, salt: bytes, cost: int = SCRYPT[0]) -> str:
    """Return the hash of a PIN for the configuration. `cost` is scrypt's N, a power of two."""
    _, r, p = SCRYPT
    digest = hashlib.scrypt(pin.encode(), salt=salt, n=cost, r=r, p=p, maxmem=MEMORY)
    return f"scrypt${cost}${r}${p}${salt.hex()}${digest.hex()}"


def _read(kept: str) -> _Kept | None:
    """Return the parts of a hash, or None if it is malformed."""
    try:
        scheme, n, r, p, salt, digest = kept.split("$")
        salt_bytes, digest_bytes = bytes.fromhex(salt), bytes.fromhex(digest)
    except ValueError:
        return None
    cost, block, lanes = (whole_number(text, MOST_NUMBER) for text in (n, r, p))
    if scheme != "scrypt" or not (cost and block and lanes) or cost == 1 or cost & (cost - 1):
        return None
    return _Kept(cost, block, lanes, salt_bytes, digest_bytes)


def _is_cut(kept: str) -> bool:
    """Return whether the end of a hash is missing: a line that was not copied to its end."""
    fields = kept.split("$")
    digest = fields[-1] if len(fields) == 6 else ""  # after scheme, N, r, p and salt
    return len(fields) < 6 or (len(fields) == 6 and (len(digest) < 2 * DIGEST or len(digest) % 2 == 1))


def mistake_of_hash(kept: str, *, simulated: bool) -> Message | None:
    """Return the mistake in a hash, to follow "pin_hash", or None if there is none.

    A simulated table's hash may be weak.
    """
    parts = _read(kept)
    if kept.startswith("scrypt$") and _is_cut(kept):
        return message("is not whole: copy all of the line that `cardshoe pin` prints")
    if parts is None:
        return message("is not the hash of a PIN")
    if parts.n * parts.r * parts.p > MOST_WORK or len(parts.salt) > 1024 or len(parts.digest) > 1024:
        return message("needs more memory or time than a table's PC has")
    strong = parts.n >= SCRYPT[0] and parts.r >= SCRYPT[1] and len(parts.salt) >= SALT and len(parts.digest) >= DIGEST
    return None if strong or simulated else message("is too weak")


def pin_matches(pin: str, kept: str) -> bool:
    """Return whether the PIN matches the hash. A malformed hash matches no PIN."""
    parts = _read(kept)
    if parts is None:
        return False
    size = len(parts.digest)
    try:
        found = hashlib.scrypt(
            pin.encode(), salt=parts.salt, n=parts.n, r=parts.r, p=parts.p, maxmem=MEMORY, dklen=size
        )
    except ValueError:
        return False
    return hmac.compare_digest(found, parts.digest)


class PinRecord(Protocol):
    """The part of the table that remembers wrong PINs."""

    def pin_lock(self, person: str, caller: Caller) -> PinLock: ...

    async def pin_tried(self, person: str, caller: Caller, *, right: bool) -> None: ...


class PinDesk:
    """Compares PINs: those of one caller in turn, so that a lock precedes the next; a few callers' at a time.

    A caller who sends many delays nobody else: a locked PIN is not compared, and few of one caller wait.
    """

    def __init__(self, record: PinRecord, now: Callable[[], Moment]) -> None:
        self._record = record
        self._locks: dict[Caller, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._waiting: Counter[Caller] = Counter()
        self._ends = Deadlines(now)
        self._pool = ThreadPoolExecutor(AT_ONCE, "pin")

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def prove(self, person: str, name: str, pin: str, kept: str, caller: Caller) -> None:
        """Raise `PinRefusedError` with a sentence unless the PIN is the person's."""
        self._require_unlocked(person, name, caller)
        if self._waiting[caller] >= WAITING:
            said = message(
                "Other PINs from this screen are still being checked. Wait a moment, then enter yours again."
            )
            raise PinRefusedError("pin-busy", said, at_door=True)
        self._waiting[caller] += 1
        try:
            async with self._locks[caller]:
                await self._compare(person, name, pin, kept, caller)
        finally:
            self._waiting[caller] -= 1

    async def _compare(self, person: str, name: str, pin: str, kept: str, caller: Caller) -> None:
        self._require_unlocked(person, name, caller)  # an earlier attempt may have locked the PIN
        loop = asyncio.get_running_loop()
        right = await loop.run_in_executor(self._pool, pin_matches, pin, kept)
        if not right or self._record.pin_lock(person, caller) != PinLock(person, caller.uid, screen=caller.screen):
            await self._record.pin_tried(person, caller, right=right)
        if right:
            return
        structlog.get_logger().warning("person.pin_refused", person=person, uid=caller.uid, screen=caller.screen)
        self._require_unlocked(person, name, caller, at_door=False)
        raise PinRefusedError("pin", wrong_pin(name))

    def _require_unlocked(self, person: str, name: str, caller: Caller, *, at_door: bool = True) -> None:
        lock = self._record.pin_lock(person, caller)
        left = self._ends.seconds_left((person, caller), lock.locked_until_utc_ns, lock_length_ns(lock))
        if left <= 0:
            return
        wait = (
            message("{minutes} min", minutes=ceil(left / 60))
            if left > 60
            else message("{seconds} s", seconds=ceil(left))
        )
        said = message(
            "Too many wrong PINs for {name} were entered on this screen. No PIN for {name} is accepted here for "
            "another {wait}. Wait, use another screen, or call another person of that rank.",
            name=name,
            wait=wait,
        )
        raise PinRefusedError("pin-locked", said, at_door=at_door)
