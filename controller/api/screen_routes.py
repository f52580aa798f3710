"""What screens ask for: the state as a stream, what people can do, what an operation would bring, and rounds.

GET  /v1/screen             server-sent states of the table, and beats
GET  /v1/lawful             what people can do now
"""

from __future__ import annotations

from functools import partial
from typing import Final, Protocol

from aiohttp import web

from controller.api.answers import VISITOR, Answers, json_answer
from controller.api.callers import Caller
from controller.api.event_streams import HEADERS, EventStreams, write
from controller.api.people import People, Person
from controller.api.screen_state import Kind, PersonView, ScreenView, own_part
from controller.api.screen_stream import ScreenStates, Shown
from controller.table.access import FAILURES
from controller.table.model import PinLock

DISPLAYS_LOOK: Final = "Only a screen at which people operate the table is given this. Let a pit supervisor enrol it."


class ScreenTable(Shown, Protocol):
    """The part of the daemon that these requests use."""

    def stands_for(self, caller: Caller) -> str: ...

    def pin_lock(self, person: str, caller: Caller) -> PinLock: ...


class ScreenRoutes:
    """For every door."""

    def __init__(self, table: ScreenTable, people: People, answers: Answers, streams: EventStreams) -> None:
        self._table = table
        self._people = people
        self._answers = answers
        self._streams = streams
        self._states = ScreenStates(table)

    def all(self) -> list[web.RouteDef]:
        return [web.get("/v1/screen", self._screen), web.get("/v1/lawful", self._lawful)]

    async def _screen(self, request: web.Request) -> web.StreamResponse:
        if (full := self._streams.refuse(request)) is not None:
            return full
        caller = request[VISITOR].caller
        response = web.StreamResponse(headers=HEADERS)
        async with self._streams.following(request):
            await response.prepare(request)
            kind = Kind(operates=self._operates(caller))
            await self._states.follow(partial(write, response), kind, partial(self._own, caller))
        return response

    async def _lawful(self, request: web.Request) -> web.Response:
        return self._refuse(request) or json_answer(self._table.offers())

    def _refuse(self, request: web.Request) -> web.Response | None:
        """The refusal of what only people who operate the table are given."""
        if self._operates(caller := request[VISITOR].caller):
            return None
        return self._answers.refused(403, "display", DISPLAYS_LOOK, caller)

    def _operates(self, caller: Caller) -> bool:
        return bool(caller.screen) or (caller.uid is not None and self._people.may_operate(caller.uid))

    def _own(self, caller: Caller) -> bytes:
        """Which screen it is, and the people who may sign there; to a display nothing of them."""
        if not self._operates(caller):
            return own_part(ScreenView(), ())
        return own_part(self._screen_of(caller), map(partial(self._person, caller), self._people.all))

    def _screen_of(self, caller: Caller) -> ScreenView:
        """A user of the socket is shown as a screen at which the person is signed on for whom it stands."""
        stands_for = self._table.stands_for(caller)
        if caller.uid is not None:
            person = self._people.unnamed(caller.uid, stands_for)
            return ScreenView(True, dealer=person.id, dealer_name=person.name) if person else ScreenView(True)
        screen = self._table.state.screen(caller.screen)
        if screen is None:  # it was removed a moment ago
            return ScreenView()
        until = screen.until_utc_ns if stands_for else 0
        name = self._table.state.name_of(stands_for)
        return ScreenView(True, screen.id, screen.name, stands_for, name, until)

    def _person(self, caller: Caller, person: Person) -> PersonView:
        lock = self._table.pin_lock(person.id, caller)
        left = FAILURES - lock.failures
        return PersonView(person.id, person.name, person.role, lock.locked_until_utc_ns, left)
