"""The person whom a user of the machine represents at the socket, before and after a handover."""

from __future__ import annotations

import pytest

from controller.api.callers import Caller
from controller.api.people import Acting, People, Person, PersonRefusedError
from controller.api.pins import PinDesk, hash_pin
from controller.journal.codec import Moment
from controller.roles import Role
from controller.table.model import PinLock

TABLE_PC, OTHER_PC, OFFICE = 1001, 1002, 1003  # users of the machine
CHEAP = 2


def person(name: str, role: Role, *uids: int) -> Person:
    return Person(name.lower(), name, role, hash_pin(name, b"salt", CHEAP), uids)


PEOPLE = People(
    (
        person("Dana", Role.DEALER, TABLE_PC),
        person("Kim", Role.DEALER, OTHER_PC),
        person("Lee", Role.DEALER),
        person("Sam", Role.PIT_SUPERVISOR, OFFICE),
    )
)


class NoRecord:
    """A record that keeps nothing."""

    def pin_lock(self, person: str, caller: Caller) -> PinLock:
        return PinLock(person, caller.uid, screen=caller.screen)

    async def pin_tried(self, person: str, caller: Caller, *, right: bool) -> None:
        pass


async def identify(uid: int, named: str, pin: str, on_duty: str = "") -> Acting:
    desk = PinDesk(NoRecord(), lambda: Moment(0, 0))
    try:
        return await PEOPLE.identify(Caller(uid), named, pin, desk, on_duty)
    finally:
        desk.close()


@pytest.mark.parametrize(
    ("uid", "on_duty", "stands_for"),
    [
        (TABLE_PC, "", "dana"),
        (TABLE_PC, "dana", "dana"),
        (TABLE_PC, "lee", "lee"),
        (TABLE_PC, "someone who left the casino", "dana"),
        (OTHER_PC, "", "kim"),
    ],
)
async def test_a_request_without_a_name(uid: int, on_duty: str, stands_for: str) -> None:
    assert (await identify(uid, "", "", on_duty)).person == stands_for


async def test_a_user_of_a_higher_rank_is_never_taken_for_the_dealer_on_duty() -> None:
    """Requests by Sam where Lee came on duty remain Sam's."""
    assert (await identify(OFFICE, "", "Sam", "lee")).person == "sam"
    with pytest.raises(PersonRefusedError):
        await identify(OFFICE, "", "", "lee")


@pytest.mark.parametrize("named", ["dana", "lee"])
async def test_at_the_table_both_dealers_of_a_handover_need_no_pin(named: str) -> None:
    assert (await identify(TABLE_PC, named, "", "lee")).person == named


async def test_a_person_who_is_not_on_duty_here_needs_a_pin() -> None:
    with pytest.raises(PersonRefusedError, match="missing or wrong"):
        await identify(OTHER_PC, "lee", "")
    assert (await identify(OTHER_PC, "lee", "Lee")).person == "lee"


async def test_a_person_of_a_higher_rank_on_duty_needs_the_pin_every_time() -> None:
    with pytest.raises(
        PersonRefusedError, match="Sam is on duty: enter the PIN for Sam, or name the person who acts instead"
    ):
        await identify(TABLE_PC, "", "", "sam")
    assert (await identify(TABLE_PC, "", "Sam", "sam")).person == "sam"


async def test_the_second_counter_proves_a_pin_beside_the_person_who_enters() -> None:
    screen, desk = Caller(screen="5e5e"), PinDesk(NoRecord(), lambda: Moment(0, 0))
    dealer = Acting("dana", Role.DEALER, None, "screen", "5e5e")
    signed = await PEOPLE.with_witness(dealer, "sam", "Sam", desk, screen)
    assert (signed.person, signed.witness) == ("dana", "sam")
    assert await PEOPLE.with_witness(dealer, "sam", "", desk, screen) == dealer
    with pytest.raises(PersonRefusedError) as refused:
        await PEOPLE.with_witness(dealer, "sam", "000000", desk, screen)
    assert refused.value.code == "witness-pin"
    desk.close()


async def test_at_a_screen_one_pin_covers_both_requests() -> None:
    screen, desk = Caller(screen="5e5e"), PinDesk(NoRecord(), lambda: Moment(0, 0))
    acting = await PEOPLE.identify(screen, "sam", "", desk, "", "sam")
    assert (acting.person, acting.role, acting.screen) == ("sam", Role.PIT_SUPERVISOR, "5e5e")
    for named, pin, signed in (("sam", "", ""), ("sam", "000000", "sam"), ("dana", "", "sam")):
        with pytest.raises(PersonRefusedError):
            await PEOPLE.identify(screen, named, pin, desk, "", signed)
    desk.close()
