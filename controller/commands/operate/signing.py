"""Signing of lines: the person, by id or rank, and the PIN, asked for or read from a file."""

from __future__ import annotations

import stat
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from controller.people_words.table_of_words import NothingDoneError
from controller.people_words.tokens import ROLES, By
from controller.problems import BadInputError
from controller.roles import Role
from firmware_bridge.edited_text import NotTextError, decode_edited, open_named, why_unreadable
from firmware_bridge.messages import message

MOST_OF_FILE: Final = 65536  # bytes
Ask = Callable[[str], str]


class LineSigner:
    """Finds the person and the PIN for a line. `people` maps the ranks that a line may name to people. `pins` is keyed
    by person.

    `ask_person` and `ask_pin` ask a person who is present; a script has neither and sends what it was given.
    """

    def __init__(
        self,
        people: Mapping[Role, str],
        pins: Mapping[str, str],
        *,
        ask_person: Ask | None = None,
        ask_pin: Ask | None = None,
    ) -> None:
        self._people = dict(people)
        self._pins = pins
        self._ask_person = ask_person
        self._ask_pin = ask_pin

    @property
    def given(self) -> set[str]:
        """People who were named to this program, by rank or with a PIN."""
        return {*self._people.values(), *self._pins}

    def sign(self, by: By, people: Collection[str] = ()) -> tuple[str, str]:
        """Return the person and the PIN of a request; both are empty if the daemon goes by the user of this machine.

        `people` are those who may act at the table; empty if unknown. Raise `NothingDoneError` if nobody can sign.
        """
        person = by.person
        if not person and by.role is not Role.DEALER:
            person = self._people.get(by.role, "")
            if not person and by.said:
                person = self._named(by.role, people)
        if not person:
            return "", ""
        _verify(person, people)  # before a PIN is asked for
        if person in self._pins:
            return person, self._pins[person]
        return person, self._ask_pin(person) if self._ask_pin is not None else ""

    def _named(self, role: Role, people: Collection[str]) -> str:
        """Ask for the person, once for each rank. Raise `NothingDoneError` if nobody is named."""
        person = self._ask_person(role.word).strip() if self._ask_person is not None else ""
        if not person:
            raise NothingDoneError(
                message(
                    "which {word} it is must be named: write `by NAME`, or give --person '{word}=NAME'", word=role.word
                )
            )
        _verify(person, people)
        self._people[role] = person
        return person


def _verify(person: str, people: Collection[str]) -> None:
    if people and person not in people:
        raise NothingDoneError(
            message(
                "this table has no person {person}; write one of {people:list}",
                person=person,
                people=tuple(sorted(people)),
            )
        )


def read_people(given: tuple[str, ...]) -> dict[Role, str]:
    """Read `--person ROLE=ID`. Raise `BadInputError` if it is malformed."""
    people = {}
    for one in given:
        word, _, person = one.partition("=")
        role = ROLES.get(word.strip().replace("_", " "))
        if role is None or not person.strip():
            raise BadInputError(
                message("--person {given} does not name a rank and a person.", given=repr(one)),
                message("Write ROLE=ID; ranks are {roles:list}.", roles=tuple(ROLES)),
            )
        people[role] = person.strip()
    return people


def read_pins(path: Path | None) -> dict[str, str]:
    """Read a person and the PIN from each line. Raise `BadInputError`, which never quotes a line."""
    if path is None:
        return {}
    try:
        with open_named(path) as file:
            mode = path.stat().st_mode
            if stat.S_ISREG(mode) and mode & 0o077:
                raise BadInputError(
                    message("Other users than its owner may read {path}.", path=str(path)),
                    message("Restrict it with `chmod 600 {path}`.", path=str(path)),
                )
            lines = decode_edited(file.read(MOST_OF_FILE)).splitlines()
    except OSError as error:
        raise BadInputError(
            message("{path} cannot be read: {why}.", path=str(path), why=why_unreadable(error)),
            message("Name a file of PINs that you may read."),
        ) from None
    except NotTextError as error:
        raise BadInputError(
            message("{path} cannot be read: {why}.", path=str(path), why=error.why),
            message("Write a person and the PIN on each line."),
        ) from None
    pins = {}
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2:
            raise BadInputError(
                message("{path}, line {number} does not have a person and a PIN.", path=str(path), number=number),
                message("Write a person and the PIN on each line."),
            )
        pins[words[0]] = words[1]
    return pins
