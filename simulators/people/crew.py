"""The people of a simulated table as the daemon knows them: their identities, and their use of the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, TypeAlias
from uuid import UUID

import msgspec

from controller.api.bodies import OperationAnswer, OperationRequest
from controller.api.client import ApiClient
from controller.api.people import Person
from controller.api.pins import SALT, hash_pin, pin_matches
from controller.roles import Role
from controller.table.operations import AnyOperation
from firmware_bridge.messages import MessageError, message

CHEAP_SCRYPT: Final = 2**10  # PINs in a demonstration protect nothing, and every operation waits for them


class CrewMember(msgspec.Struct, frozen=True):
    id: str
    name: str
    role: Role
    pin: str

    def pin_hash(self) -> str:
        return hash_pin(self.pin, self.id.encode().ljust(SALT, b"-"), CHEAP_SCRYPT)


CREW: Final = (
    CrewMember("dealer", "Dana", Role.DEALER, "318264"),
    CrewMember("supervisor", "Sam", Role.PIT_SUPERVISOR, "527190"),
    CrewMember("manager", "Max", Role.SHIFT_MANAGER, "904713"),
)


Crew: TypeAlias = Sequence[CrewMember]
"""A dealer, a pit supervisor and a shift manager, in this order."""


class CrewError(MessageError):
    """Raised if the people of a configuration cannot be played."""


def crew_of(people: Sequence[Person], uid: int, pins: Mapping[str, str]) -> Crew:
    """Return the simulated people as persons of a configuration. Raise `CrewError`.

    The user `uid` plays; at the socket that user is the dealer. `pins` is keyed by person; if a PIN is missing, that of
    the simulators' own person of the same rank is tried.
    """
    if unknown := pins.keys() - {person.id for person in people}:
        raise CrewError(
            message("There is no person {person} in the configuration.", person=min(unknown)),
            message("Name one of its people with --pin."),
        )
    return tuple(_played(member, people, uid, pins) for member in CREW)


def _played(member: CrewMember, people: Sequence[Person], uid: int, pins: Mapping[str, str]) -> CrewMember:
    same_rank = [person for person in people if person.role is member.role]
    if member.role is Role.DEALER:
        for person in same_rank:
            if uid in person.uids:
                return CrewMember(person.id, person.name, person.role, "")
        raise CrewError(
            message("No dealer has this user, {uid}.", uid=uid),
            message("Add it to the uids of a dealer, or run as that user."),
        )
    if not same_rank:
        raise CrewError(
            message("There is no {role} in the configuration.", role=member.role.named),
            message("Add one to its people."),
        )
    for person in sorted(same_rank, key=lambda person: person.id not in pins):
        pin = pins.get(person.id, member.pin)
        if pin_matches(pin, person.pin_hash):
            return CrewMember(person.id, person.name, person.role, pin)
    someone = same_rank[0]
    raise CrewError(
        message("The PIN of {person} is missing or wrong.", person=someone.name),
        message("Give it with --pin {id}=PIN.", id=someone.id),
    )


def member_for(crew: Crew, role_word: str) -> CrewMember:
    """Return the member of lowest rank who may act in that role."""
    return next(member for member in crew if member.role.reaches(Role(role_word.replace(" ", "_"))))


class CrewClient:
    """Sends operations like a console. `random` makes the UUIDs, so that a run repeats exactly."""

    def __init__(self, client: ApiClient, random: Random) -> None:
        self._client = client
        self._random = random

    def request(self, member: CrewMember, round_number: int, operation: AnyOperation) -> OperationRequest:
        """Return a request. The dealer is authenticated as the socket's peer; everyone else needs a PIN."""
        is_dealer = member.role is Role.DEALER
        return OperationRequest(
            id=str(UUID(int=self._random.getrandbits(128), version=4)),
            round=round_number,
            operation=operation,
            person="" if is_dealer else member.id,
            pin="" if is_dealer else member.pin,
        )

    async def send(self, request: OperationRequest) -> OperationAnswer:
        """Send a request. Raise TableUnreachableError; sending the same request again is harmless."""
        return await self._client.operate(request)
