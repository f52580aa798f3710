"""The people of a table: identity, rank, and the users of the machine who represent them at the socket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from controller.api.callers import Caller
from controller.api.pins import PinDesk, PinRefusedError, mistake_of_hash, wrong_pin
from controller.api.unix_socket import NOT_ADMITTED
from controller.roles import Role
from controller.table.model import Proof
from firmware_bridge.messages import Message, MessageError, message
from firmware_bridge.plain_text import plain

NOT_SIGNED_ON: Final = message(
    "No dealer is signed on at this screen. Sign on with your PIN, or name the person who acts."
)
PEOPLE_CHANGED: Final = message("The people of this table changed while the request waited. Repeat the request.")
MOST_UID: Final = 2**32 - 2  # the largest uid that the kernel assigns


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[people]]` of the configuration. `uids`: users of this machine who represent this person at the socket."""

    id: str
    name: str
    role: Role
    pin_hash: str = ""
    uids: tuple[int, ...] = ()


class Reader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[readers]]` of the configuration: users of this machine who may look but not operate."""

    id: str
    uids: tuple[int, ...]


class Acting(NamedTuple):
    """The person who acts, with the user of the machine or the screen, and the kind of proof."""

    person: str
    role: Role
    uid: int | None = None
    proven: Proof = ""
    screen: str = ""
    witness: str = ""  # the second person who counted, if that person also entered a PIN


class PersonRefusedError(MessageError):
    """Refuses an unknown person, or one without proof. `code` is for programs; `at_door`: no PIN was checked."""

    message: Message

    def __init__(self, code: str, said: Message, *, at_door: bool = True) -> None:
        super().__init__(said, code=code)
        self.at_door = at_door


def mistakes_of_each(people: tuple[Person, ...], readers: tuple[Reader, ...], *, simulated: bool) -> list[Message]:
    """Return the mistakes in the people and readers of a configuration, a sentence for each."""
    return [
        *_mistakes_of_names(people, readers),
        *_mistakes_of_uids(people, readers),
        *(mistake for person in people for mistake in _mistakes_of_person(person, simulated=simulated)),
    ]


def _mistakes_of_names(people: tuple[Person, ...], readers: tuple[Reader, ...]) -> Iterator[Message]:
    for kind, ids in (("people", [one.id for one in people]), ("readers", [one.id for one in readers])):
        for id_ in dict.fromkeys(ids):
            if not id_:
                yield message("One of [[{kind}]] has an empty id.", kind=kind)
            elif ids.count(id_) > 1:
                yield message("Two {kind} are called {id}.", kind=kind, id=id_)


def _mistakes_of_uids(people: tuple[Person, ...], readers: tuple[Reader, ...]) -> Iterator[Message]:
    users = [(uid, "people") for person in people for uid in person.uids]
    users += [(uid, "readers") for reader in readers for uid in reader.uids]
    for uid in dict.fromkeys(uid for uid, _ in users):
        kinds = [kind for one, kind in users if one == uid]
        if not 0 <= uid <= MOST_UID:
            yield message("{uid} is not a valid uid; `id -u NAME` prints a user's.", uid=uid)
        elif len(set(kinds)) > 1:
            yield message("Uid {uid} belongs to a person and to a reader.", uid=uid)
        elif len(kinds) > 1:
            yield message("Uid {uid} stands for two {kinds}.", uid=uid, kinds=kinds[0])
    for reader in readers:
        if not reader.uids:
            yield message("The reader {id} has no uids.", id=reader.id)


def _mistakes_of_person(person: Person, *, simulated: bool) -> Iterator[Message]:
    if person.pin_hash:
        if mistake := mistake_of_hash(person.pin_hash, simulated=simulated):
            yield message(
                "[[people]] {id}: the pin_hash {mistake}; `cardshoe pin` creates one.", id=person.id, mistake=mistake
            )
    elif person.role is not Role.DEALER:
        yield message("[[people]] {id} has no pin_hash; every rank above the dealer's needs one.", id=person.id)
    elif not person.uids:
        yield message("[[people]] {id} has neither a pin_hash nor uids, and could do nothing.", id=person.id)


def mistakes_of_all(people: tuple[Person, ...]) -> Iterator[Message]:
    """Yield what the configuration of people lacks as a whole."""
    if not any(person.role is Role.SHIFT_MANAGER for person in people):
        yield message("There is no shift_manager, who decides what the rules leave open.")
    if not any(person.uids for person in people):
        yield message("No user may use the socket; give at least one of [[people]] the uid of a user.")


class People:
    """All people and readers of the configuration."""

    def __init__(self, people: tuple[Person, ...], readers: tuple[Reader, ...] = ()) -> None:
        self.change(people, readers)

    def change(self, people: tuple[Person, ...], readers: tuple[Reader, ...]) -> None:
        """Replace all people and readers, starting with the next request."""
        self._by_id = {person.id: person for person in people}
        self._by_uid = {uid: person for person in people for uid in person.uids}
        self._readers = frozenset(uid for reader in readers for uid in reader.uids)

    def may_operate(self, uid: int) -> bool:
        return uid in self._by_uid

    def may_look(self, uid: int) -> bool:
        return uid in self._by_uid or uid in self._readers

    def names(self) -> dict[str, str]:
        """Return the names by id."""
        return {person.id: person.name for person in self.all}

    @property
    def all(self) -> tuple[Person, ...]:
        return tuple(self._by_id.values())

    def unnamed(self, uid: int, stands_for: str = "") -> Person | None:
        """Return the person whom a user of the machine represents if nobody is named (see `identify`)."""
        default = self._by_uid.get(uid)
        if default is not None and default.role is Role.DEALER:
            return self._by_id.get(stands_for, default)
        return default

    def reaches(self, person: str, role: Role) -> bool:
        """Return whether that person exists and has that rank or a higher rank."""
        return person in self._by_id and self._by_id[person].role.reaches(role)

    async def identify(
        self, caller: Caller, named: str, pin: str, desk: PinDesk, stands_for: str = "", signed: str = ""
    ) -> Acting:
        """Identify the person who acts. Raises `PersonRefusedError`.

        `signed`: who made the first of two requests at this screen. Above a dealer's rank it had a PIN, which serves
        both; a dealer's may have had only the sign-on, which must still be valid for the second.

        `stands_for`: the dealer who came on duty through this user, or is signed on at this screen. A user configured
        for a dealer represents the dealer on duty: a request without a name is that person's.
        """
        if caller.uid is None:
            if signed and named == signed and not pin and self._known(named).role is not Role.DEALER:
                return Acting(named, self._known(named).role, None, "pin", caller.screen)
            return await self._at_screen(caller, named, pin, desk, stands_for)
        default, unnamed = self._by_uid.get(caller.uid), self.unnamed(caller.uid, stands_for)
        person = self._known(named) if named else unnamed
        if person is None:  # the people have changed since the request began
            raise PersonRefusedError("not-admitted", NOT_ADMITTED)
        if person in (default, unnamed) and person.role is Role.DEALER:
            return Acting(person.id, person.role, caller.uid, "user")
        stands_in = not named and person.id == stands_for
        await self._prove(person, pin, desk, caller, stands_in=stands_in)
        return Acting(person.id, person.role, caller.uid, "pin")

    async def with_witness(self, by: Acting, named: str, pin: str, desk: PinDesk, caller: Caller) -> Acting:
        """Check the PIN of the second person who counted, if there is one. Raises `PersonRefusedError`."""
        if not (named and pin):
            return by
        try:
            await self._prove(self._known(named), pin, desk, caller, stands_in=False)
        except PersonRefusedError as refused:
            if refused.code != "pin":
                raise
            raise PersonRefusedError("witness-pin", refused.message, at_door=refused.at_door) from None
        return by._replace(witness=named)

    async def _at_screen(self, caller: Caller, named: str, pin: str, desk: PinDesk, signed_on: str) -> Acting:
        """Identify the named person by PIN, else the dealer signed on, if the configuration still has that dealer."""
        if named:
            person = self._known(named)
            await self._prove(person, pin, desk, caller, stands_in=False)
            return Acting(person.id, person.role, None, "pin", caller.screen)
        dealer = self._by_id.get(signed_on)
        if dealer is None or dealer.role is not Role.DEALER:
            raise PersonRefusedError("not-signed-on", NOT_SIGNED_ON)
        return Acting(dealer.id, dealer.role, None, "screen", caller.screen)

    async def _prove(self, person: Person, pin: str, desk: PinDesk, caller: Caller, *, stands_in: bool) -> None:
        """Check a PIN for the person as configured when the check started, because the people may change meanwhile."""
        await _prove(person, pin, desk, caller, stands_in=stands_in)
        if self._known(person.id) != person:
            raise PersonRefusedError("pin", wrong_pin(person.name))

    def confirm(self, by: Acting, as_known: Person | None, stands_for: str) -> None:
        """Check again, after a wait, that the person may still act as identified. Raises `PersonRefusedError`.

        `as_known`: the person when identified. `stands_for`: as in `identify`, at this time.
        """
        if as_known is None or self._by_id.get(by.person) != as_known:
            raise PersonRefusedError("person", PEOPLE_CHANGED)
        if by.proven == "screen" and by.person != stands_for:
            raise PersonRefusedError("not-signed-on", NOT_SIGNED_ON)
        if by.proven == "user" and by.uid is not None:
            default, unnamed = self._by_uid.get(by.uid), self.unnamed(by.uid, stands_for)
            if as_known not in (default, unnamed):
                raise PersonRefusedError("person", PEOPLE_CHANGED)

    def known(self, person: str) -> Person | None:
        return self._by_id.get(person)

    def _known(self, named: str) -> Person:
        if named not in self._by_id:
            raise PersonRefusedError(
                "person",
                message(
                    "There is no person {person} in the configuration of this table. Name one of its people.",
                    person=repr(plain(named)),
                ),
            )
        return self._by_id[named]


async def _prove(person: Person, pin: str, desk: PinDesk, caller: Caller, *, stands_in: bool) -> None:
    """Check the PIN of a person. `stands_in`: nobody was named, and the person is on duty here."""
    missing = wrong_pin(person.name)
    if stands_in:
        missing = message(
            "{name} is on duty: enter the PIN for {name}, or name the person who acts instead.", name=person.name
        )
    if not pin or not person.pin_hash:
        raise PersonRefusedError("pin", missing)
    try:
        await desk.prove(person.id, person.name, pin, person.pin_hash, caller)
    except PinRefusedError as refused:
        said = missing if refused.code == "pin" else refused.message
        raise PersonRefusedError(refused.code, said, at_door=refused.at_door) from None
