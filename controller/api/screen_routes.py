"""Requests of screens: the state as a stream, possible operations, previews, and rounds.

GET  /v1/screen             server-sent states of the table, and heartbeats
GET  /v1/lawful             what people can do at present
POST /v1/preview            the effect of a decision
POST /v1/seen               what only eyes see, at a simulated table
GET  /v1/operations/{id}    the answer to an operation
GET  /v1/rounds/{number}    the events of a round
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import Final, Protocol
from uuid import UUID

import structlog
from aiohttp import web

from controller.api.answers import CONNECTION, Answers, json_answer
from controller.api.bodies import MAX_ENTRY, OperationAnswer, PreviewRequest, SeenRequest
from controller.api.callers import Caller
from controller.api.event_streams import HEADERS, EventStreams, write
from controller.api.in_language import ASKED
from controller.api.pages import version
from controller.api.people import People, Person
from controller.api.preview import preview
from controller.api.round_events import UnreadableEventError, events_of_round, with_lines
from controller.api.screen_lines import Names, names_with_screens
from controller.api.screen_state import MessageKind, PersonView, ScreenView, own_part
from controller.api.screen_stream import ScreenStates, ShownTable
from controller.games.own_words import OwnWords
from controller.journal import JournalError
from controller.language import Speaker
from controller.table.model import PinLock
from controller.table.screens import FAILURES
from firmware_bridge.messages import message
from firmware_bridge.plain_text import whole_number

DISPLAYS_LOOK: Final = message("Only an enrolled screen may read this. Ask a pit supervisor to enrol this one.")
NO_ANSWER: Final = message(
    "The table has no answer to that operation: it was not recorded, or it is too old. Enter it again."
)
NO_ROUND: Final = message("The journal has no events for that round. Name a round that was dealt and is still kept.")


class ScreenTable(ShownTable, Protocol):
    """The part of the daemon that these requests use."""

    def stands_for(self, caller: Caller) -> str: ...

    def pin_lock(self, person: str, caller: Caller) -> PinLock: ...


class ScreenRoutes:
    """The routes of screens, for every listener."""

    def __init__(self, table: ScreenTable, people: People, answers: Answers, streams: EventStreams) -> None:
        self._table = table
        self._people = people
        self._answers = answers
        self._streams = streams
        self._states = ScreenStates(table, people.names)

    def all(self) -> list[web.RouteDef]:
        return [
            web.get("/v1/screen", self._screen, allow_head=False),
            web.get("/v1/lawful", self._lawful),
            web.post("/v1/preview", self._preview),
            web.post("/v1/seen", self._seen),
            web.get("/v1/operations/{id}", self._answered),
            web.get("/v1/rounds/{number}", self._round),
        ]

    async def _screen(self, request: web.Request) -> web.StreamResponse:
        if (full := self._streams.refuse(request)) is not None:
            return full
        caller, asked = request[CONNECTION].caller, ASKED.get() or Speaker()
        response = web.StreamResponse(headers=HEADERS)
        async with self._streams.following(request):
            await response.prepare(request)
            try:
                await self._states.follow(
                    partial(write, response),
                    lambda: MessageKind(self._operates(caller), asked.language, asked.whole),
                    partial(self._own_part, caller),
                )
            except asyncio.CancelledError:
                if self._streams.closed:
                    await write(response, self._states.stopped())
                raise
        return response

    async def _lawful(self, request: web.Request) -> web.Response:
        return self._refuse(request) or json_answer(self._table.offers())

    async def _preview(self, request: web.Request) -> web.Response:
        asked = await self._answers.read(request, PreviewRequest)
        return asked if isinstance(asked, web.Response) else json_answer(preview(self._table.state, asked.operation))

    async def _seen(self, request: web.Request) -> web.Response:
        """Show it on the screens. Only people at a simulated table's socket have this request."""
        uid = request[CONNECTION].caller.uid
        if not self._table.state.simulated or uid is None or not self._people.may_operate(uid):
            raise web.HTTPNotFound
        asked = await self._answers.read(request, SeenRequest)
        if isinstance(asked, web.Response):
            return asked
        self._states.show_seen(asked.sentence)
        return json_answer(OperationAnswer(accepted=True))

    async def _answered(self, request: web.Request) -> web.Response:
        """Return the answer to an operation. Recalled faces are only in its first answer."""
        if (refused := self._refuse(request)) is not None:
            return refused
        with suppress(ValueError):
            named = str(UUID(request.match_info["id"]))
            for answer in self._table.state.answers:
                if answer.operation_id == named:
                    return json_answer(OperationAnswer.to_operation(answer.entry, answer.code, answer.sentence))
        return self._answers.refused(404, "no-answer", NO_ANSWER)

    async def _round(self, request: web.Request) -> web.Response:
        number = whole_number(request.match_info["number"], MAX_ENTRY)
        try:
            found = await events_of_round(self._table.feed, number) if number else []
        except JournalError as error:
            structlog.get_logger().error("api.round_unreadable", code=error.code, sentence=str(error))
            return self._answers.refused(503, error.code, error.with_hint)
        if not found:
            return self._answers.refused(404, "no-round", NO_ROUND)
        state = self._table.state
        words = state.game.words if state.settings is not None else OwnWords()
        try:
            lines = await with_lines(found, self._table.feed.pace, words, self._names(request), ASKED.get())
        except UnreadableEventError as error:
            structlog.get_logger().error("api.round_unreadable", code="journal-damaged", entry=error.entry)
            return self._answers.refused(503, "journal-damaged", error.message)
        return web.Response(body=b"[%s]" % b",".join(lines), content_type="application/json")

    def _names(self, request: web.Request) -> Names:
        """Return the names of people and screens, for callers who operate the table."""
        if not self._operates(request[CONNECTION].caller):
            return {}
        return names_with_screens(self._people.names(), self._table.state)

    def _refuse(self, request: web.Request) -> web.Response | None:
        """Return the refusal for callers who do not operate the table, or None for others."""
        if self._operates(caller := request[CONNECTION].caller):
            return None
        return self._answers.refused(403, "display", DISPLAYS_LOOK, caller)

    def _operates(self, caller: Caller) -> bool:
        if caller.screen:
            return self._table.state.screen(caller.screen) is not None  # it may have been removed since
        return caller.uid is not None and self._people.may_operate(caller.uid)

    def _own_part(self, caller: Caller) -> bytes:
        """Return the screen's own part: which screen it is and who may sign at it. A display gets neither."""
        if not self._operates(caller):
            return own_part(ScreenView(), (), version())
        people = map(partial(self._person, caller), self._people.all)
        return own_part(self._screen_of(caller), people, version())

    def _screen_of(self, caller: Caller) -> ScreenView:
        """Return the screen. A user of the socket appears as a screen at which the user's person is signed on."""
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
