"""People of a table: who they are, what rank they have, and how they prove it.

A PIN is kept as `scrypt$N$r$p$salt$hash` (salt and hash in hex). `cardshoe` never keeps a PIN itself.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from typing import Final

import msgspec
import structlog

from controller.roles import Role

SCRYPT: Final = (2**14, 8, 1)  # N, r, p: 16 MiB and some 50 ms on a small table PC
MEMORY: Final = 128 * 1024 * 1024


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[people]]` of the configuration. `uids`: users of this machine for whom the socket takes this person."""

    id: str
    name: str
    role: Role
    pin_hash: str = ""
    uids: tuple[int, ...] = ()


class PersonRefusedError(Exception):
    """The person is unknown or has not proven who they are. `code` is for machines."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def hash_pin(pin: str, salt: bytes, cost: int = SCRYPT[0]) -> str:
    """What the configuration keeps of a PIN. `cost` is scrypt's N, a power of two."""
    _, r, p = SCRYPT
    digest = hashlib.scrypt(pin.encode(), salt=salt, n=cost, r=r, p=p, maxmem=MEMORY)
    return f"scrypt${cost}${r}${p}${salt.hex()}${digest.hex()}"


def pin_matches(pin: str, kept: str) -> bool:
    """Whether a PIN is the one that was hashed. A hash that cannot be read matches nothing."""
    try:
        scheme, n, r, p, salt, digest = kept.split("$")
        if scheme != "scrypt":
            return False
        found = hashlib.scrypt(pin.encode(), salt=bytes.fromhex(salt), n=int(n), r=int(r), p=int(p), maxmem=MEMORY)
        return hmac.compare_digest(found, bytes.fromhex(digest))
    except ValueError:
        return False


class People:
    """All people of the configuration."""

    def __init__(self, people: tuple[Person, ...]) -> None:
        self._by_id = {person.id: person for person in people}
        self._by_uid = {uid: person for person in people for uid in person.uids}

    def admits(self, uid: int) -> bool:
        return uid in self._by_uid

    async def identify(self, uid: int | None, named: str, pin: str, on_duty: str = "") -> Person:
        """Who acts. Raises `PersonRefusedError` with a sentence.

        `on_duty`: the dealer who came on duty through this user. Where the configuration takes the user for a dealer,
        the user stands for the dealer on duty from then on: a request without a name is that person's.
        """
        default = self._by_uid.get(uid) if uid is not None else None
        unnamed = default
        if default is not None and default.role is Role.DEALER:
            unnamed = self._by_id.get(on_duty, default)
        person = self._by_id.get(named) if named else unnamed
        if person is None:
            raise PersonRefusedError(
                "person", f"There is no person {named!r} in the configuration of this table. Name one of its people."
            )
        if person in (default, unnamed) and person.role is Role.DEALER:
            return person
        if not pin or not person.pin_hash or not await asyncio.to_thread(pin_matches, pin, person.pin_hash):
            structlog.get_logger().warning("person.pin_refused", person=person.id, uid=uid)
            if not named and person.id == on_duty:
                raise PersonRefusedError(
                    "pin", f"{person.name} is on duty: enter the PIN of {person.name}, or name who acts instead."
                )
            raise PersonRefusedError("pin", f"The PIN of {person.name} is missing or wrong. Enter it again.")
        return person
