"""The answers about a new table, given as options or at a prompt. Impossible ones are refused with the reason."""

from __future__ import annotations

import os
import pwd
import re
import secrets
from collections.abc import Sequence
from typing import Final, NamedTuple

import click

from controller.api.pins import mistake_of_pin
from controller.commands.game_options import shortened
from controller.commands.text import prompted, say
from controller.games.specification import Game, Unit
from controller.problems import BadInputError
from controller.roles import Role
from firmware_bridge.device_url import parse_device_url
from firmware_bridge.drivers.registry import registered_driver
from firmware_bridge.messages import Message, message
from firmware_bridge.plain_text import whole_number

CARD_TABLE: Final = "cards.toml"
LONGEST_NAME: Final = 22
NAME: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST_NAME}}}", re.ASCII)
WHY_NAME: Final = message(
    "A table's name has at most {most} letters, digits, - and _, but no dot: its "
    "daemon runs as the system user cardshoe-NAME, which Linux limits to 31 characters "
    "without a dot, and as the service cardshoe@NAME.",
    most=LONGEST_NAME,
)
PERSON: Final = re.compile(r"([^=:]+)=([a-z_]+)(?::(.+))?")
MADE_DIGITS: Final = 8
LARGEST_UID: Final = 2**32 - 2


class NewPerson(NamedTuple):
    """A person of the table. `pin` is empty if none is needed. `made` means that the PIN was generated here and is
    shown once.
    """

    id: str
    name: str
    role: Role
    pin: str = ""
    made: bool = False
    uids: tuple[int, ...] = ()


class NewTable(NamedTuple):
    """A new table. With `here`, journal and socket are in the folder. `readings` maps settings to options, chosen by
    `chosen_by`.
    """

    name: str
    game: Game
    unit: Unit
    simulated: bool
    here: bool
    device: str
    serial: str
    readings: dict[str, str]
    chosen_by: str
    people: tuple[NewPerson, ...]
    port: int = 0  # the port of the console in a browser; 0 for none

    @property
    def learns_cards(self) -> bool:
        """Return whether the card table of this table's reader is learned after the folder is made."""
        return not self.simulated and registered_driver(parse_device_url(self.device).driver).needs_card_table


def checked_name(given: str) -> str:
    """Return the name if it is valid. Raise `BadInputError`."""
    if NAME.fullmatch(given) is None:
        raise BadInputError(message("{given} cannot be the name of a table.", given=repr(shortened(given))), WHY_NAME)
    return given


def user_named(uid: int) -> str:
    """Return the name of a user, or "" if no user on this machine has that number."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return ""


def uid_of(given: str) -> int:
    """Return the uid of a user of this machine, given by name or number. Raise `BadInputError` if there is no such
    user.
    """
    number = whole_number(given, LARGEST_UID)
    if number is not None:
        return number
    try:
        return pwd.getpwnam(given).pw_uid
    except KeyError:
        hint = message(
            "Make it first: `adduser {user}`; or name another user for the table's console.", user=shortened(given)
        )
        raise BadInputError(message("This machine has no user {given}.", given=repr(shortened(given))), hint) from None


def invoking_user() -> str:
    """Return the user who started the program, even through sudo."""
    return os.environ.get("SUDO_UID", str(os.getuid()))


def person_of(given: str) -> NewPerson:
    """Read `ID=ROLE` or `ID=ROLE:NAME`. Raise `BadInputError` if it is malformed."""
    found = PERSON.fullmatch(given.strip())
    if found is None or found[2] not in set(Role):
        raise BadInputError(
            message("--person {given} is not ID=ROLE:NAME.", given=repr(shortened(given))),
            message("A role is one of {roles:list}.", roles=tuple(Role)),
        )
    return NewPerson(found[1], found[3] or found[1], Role(found[2]))


def ask_people() -> list[NewPerson]:
    """Ask for people until there is a shift manager and no further id is entered."""
    say(
        message(
            "Enter the people of the table; an empty id ends the list. After that, enter their PINs; "
            "they are not shown."
        )
    )
    people: list[NewPerson] = []
    while True:
        id_ = prompted(message("Id of a person"), default="", show_default=False).strip()
        if id_:
            name = prompted(message("  Name"), default=id_)
            role = prompted(message("  Role"), type=click.Choice([str(one) for one in Role]))
            people.append(NewPerson(id_, name, Role(role)))
        elif any(one.role is Role.SHIFT_MANAGER for one in people):
            return people
        else:
            say(message("There must be a shift manager, who decides what the rules leave open."))


def with_access(people: Sequence[NewPerson], uid: int, *, make_pins: bool, screens: bool) -> tuple[NewPerson, ...]:
    """Give the console's user to the first dealer (or the first person), and PINs to the others.

    With `screens`, for a console in a browser, that dealer gets a PIN too, to sign on there.
    """
    at_console = next((one for one in people if one.role is Role.DEALER), people[0])
    found = []
    for one in people:
        uids = (uid,) if one is at_console else ()
        if one.role is Role.DEALER and uids and not screens:
            found.append(one._replace(uids=uids))
        else:
            pin = made_pin() if make_pins else ask_pin(message("PIN for {name}", name=one.name))
            found.append(one._replace(uids=uids, pin=pin, made=make_pins))
    return tuple(found)


def made_pin() -> str:
    """Return a random PIN."""
    while True:
        pin = "".join(str(secrets.randbelow(10)) for _ in range(MADE_DIGITS))
        if not mistake_of_pin(pin):
            return pin


def ask_pin(question: Message) -> str:
    """Ask for a new PIN twice without echo, until it is acceptable."""
    while True:
        entered = str(prompted(question, hide_input=True))
        if mistake := mistake_of_pin(entered):
            say(mistake)
        elif prompted(message("Repeat the PIN"), hide_input=True) != entered:
            say(message("The two PINs differ; enter both again."))
        else:
            return entered
