"""The people of a simulated table as the daemon knows them: who they are, and how they use the API."""

from __future__ import annotations

from random import Random
from typing import Final
from uuid import UUID

import msgspec

from controller.api.client import ApiClient
from controller.api.messages import OperationAnswer, OperationRequest
from controller.api.pins import SALT, hash_pin
from controller.roles import Role
from controller.table.operations import AnyOperation

CHEAP_SCRYPT: Final = 2**10  # PINs of a demonstration protect nothing, and every operation would wait for them


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


def member_for(role_word: str) -> CrewMember:
    """The member of lowest rank who may do what needs that role."""
    return next(member for member in CREW if member.role.reaches(Role(role_word.replace(" ", "_"))))


class CrewClient:
    """Sends operations as a console would. `random` makes the UUIDs, so that a run repeats exactly."""

    def __init__(self, client: ApiClient, random: Random) -> None:
        self._client = client
        self._random = random

    def request(self, member: CrewMember, round_number: int, operation: AnyOperation) -> OperationRequest:
        """The dealer is the person of the socket's peer; everyone else brings a PIN."""
        is_dealer = member.role is Role.DEALER
        return OperationRequest(
            id=str(UUID(int=self._random.getrandbits(128), version=4)),
            round=round_number,
            operation=operation,
            person="" if is_dealer else member.id,
            pin="" if is_dealer else member.pin,
        )

    async def send(self, request: OperationRequest) -> OperationAnswer:
        """Raises TableUnreachableError; sending the same request again is harmless."""
        return await self._client.operate(request)
