"""The routes that every listener serves to admitted callers. Each listener has an instance with its own turns.

GET  /v1/state         the present table
GET  /v1/events        server-sent events, resumed after `Last-Event-ID`
POST /v1/operations    operations of people
GET  /v1/openapi.json  this list, for programs
GET  /healthz          whether the daemon's parts answer
GET  /readyz           whether the table can deal
GET  /metrics          counts, durations and ages for monitors; at the port of screens for screens only
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from aiohttp import web

from controller.api.answers import CONNECTION, Answers, json_answer
from controller.api.bodies import OperationAnswer, OperationRequest
from controller.api.callers import Caller, Turns
from controller.api.event_streams import EventStreams, FollowedTable
from controller.api.pages import ADDRESS, send_description
from controller.api.people import Acting, People, Person, PersonRefusedError
from controller.api.pins import PinDesk, PinRecord, wrong_pin
from controller.api.refusals import Refusals
from controller.api.screen_routes import DISPLAYS_LOOK, ScreenRoutes, ScreenTable
from controller.api.view import TableView
from controller.table.offers import signed_before
from controller.table.phases import Phase, Service
from firmware_bridge.messages import AnyText, message

METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
REFUSED_OFTEN: Final = message(
    "Too many operations by this user were refused. Wait ten seconds, read the screen, then enter the operation again."
)


class ServedTable(PinRecord, FollowedTable, ScreenTable, Protocol):
    """The part of the daemon that the server uses."""

    async def operate(self, request: OperationRequest, by: Acting) -> OperationAnswer: ...

    async def refused_at_door(self, what: str, caller: Caller, count: int) -> None: ...

    async def answers(self) -> bool: ...


class Metrics(Protocol):
    """The page for monitors (`controller.daemon.metrics_page`)."""

    async def page(self, ready: bool, streams: Mapping[str, int]) -> bytes: ...


class Shared:
    """The parts that all listeners of a table share."""

    def __init__(
        self,
        table: ServedTable,
        people: People,
        desk: PinDesk,
        refusals: Refusals,
        metrics: Metrics | None = None,
    ) -> None:
        self.metrics = metrics
        self.table = table
        self.people = people
        self.desk = desk
        self.refusals = refusals
        self.answers = Answers(refusals)
        self.streams = EventStreams(table, self.answers)
        self.screens = ScreenRoutes(table, people, self.answers, self.streams)


class Routes:
    def __init__(self, shared: Shared, turns: Turns) -> None:
        self._shared = shared
        self._table = shared.table
        self._turns = turns

    def all(self) -> list[web.RouteDef]:
        return [
            web.get("/v1/state", self._state),
            web.get("/v1/events", self._shared.streams.events, allow_head=False),
            *self._shared.screens.all(),
            web.post("/v1/operations", self._operations),
            web.get(ADDRESS, send_description),
            web.get("/healthz", self._health),
            web.get("/readyz", self._ready),
            web.get("/metrics", self._metrics),
        ]

    async def _state(self, request: web.Request) -> web.Response:
        return json_answer(self._table.view())

    async def _health(self, request: web.Request) -> web.Response:
        healthy = await self._table.answers()
        return web.Response(text="ok\n" if healthy else "the table does not answer\n", status=200 if healthy else 503)

    async def _ready(self, request: web.Request) -> web.Response:
        why = _why_not_ready(self._table.view())
        return web.Response(text=f"{why or 'ready'}\n", status=503 if why else 200)

    async def _metrics(self, request: web.Request) -> web.Response:
        """Serve metrics, but not to a display: passers-by learn nothing about the PC, its disk and its people."""
        shared = self._shared
        caller = request[CONNECTION].caller
        if caller.uid is None and self._table.state.screen(caller.screen) is None:
            return shared.answers.refused(403, "display", DISPLAYS_LOOK, caller)
        if shared.metrics is None:
            raise web.HTTPNotFound
        page = await shared.metrics.page(not _why_not_ready(self._table.view()), shared.streams.open())
        return web.Response(body=page, headers={"Content-Type": METRICS_TYPE})

    async def _operations(self, request: web.Request) -> web.Response:
        asked = await self._shared.answers.read(request, OperationRequest)
        return asked if isinstance(asked, web.Response) else await self.operate(request, asked)

    async def operate(self, request: web.Request, asked: OperationRequest) -> web.Response:
        """Return the table's answer, or the refusal that concerns the person or the caller."""
        done = await self.answer(request, asked)
        return done if isinstance(done, web.Response) else json_answer(done)

    def _signed(self, caller: Caller, asked: OperationRequest) -> str:
        return signed_before(self._table.state, asked.operation, caller.screen, asked.repeats, self._table.utc_ns())

    def _confirm(self, caller: Caller, asked: OperationRequest, by: Acting, as_known: Person | None) -> None:
        """Check again: a shift may end, a signature lapse or the people change while an operation waits its turn."""
        self._shared.people.confirm(by, as_known, self._table.stands_for(caller))
        if by.proven == "pin" and not asked.pin and self._signed(caller, asked) != by.person:
            raise PersonRefusedError("pin", wrong_pin(as_known.name if as_known else by.person))

    async def answer(self, request: web.Request, asked: OperationRequest) -> OperationAnswer | web.Response:
        shared = self._shared
        caller = request[CONNECTION].caller
        try:
            stands_for, signed = self._table.stands_for(caller), self._signed(caller, asked)
            by = await shared.people.identify(caller, asked.person, asked.pin, shared.desk, stands_for, signed)
            witness = getattr(asked.operation, "witness", "")
            by = await shared.people.with_witness(by, witness, asked.witness_pin, shared.desk, caller)
            as_known = shared.people.known(by.person)
        except PersonRefusedError as refused:
            return shared.answers.refused(403, refused.code, refused.message, caller if refused.at_door else None)
        if not shared.refusals.take(caller):
            return shared.answers.refused(429, "refused-often", REFUSED_OFTEN, caller)
        with request[CONNECTION].waiting():
            await self._turns.begin_operation(caller)
        try:
            self._confirm(caller, asked, by, as_known)
            before = self._table.entry
            answer = await self._table.operate(asked, by)
        except PersonRefusedError as refused:
            return shared.answers.refused(403, refused.code, refused.message, caller)
        finally:
            self._turns.end_operation(caller)
        if answer.accepted or answer.entry <= before:
            shared.refusals.give_back(caller)
        if answer.accepted:
            self._turns.is_at_work(caller)
        return answer


def _why_not_ready(view: TableView) -> AnyText | None:
    """Return why the table cannot deal, or None if it can, or if people decide."""
    if view.service == Service.RECONCILING:
        return message("The table is reconciling: {cause}.", cause=view.service_cause)
    if view.service != Service.IN_SERVICE:
        return message("The table is out of service: {cause}.", cause=view.service_cause)
    if view.phase == Phase.MAINTENANCE:
        return message("The table is under maintenance: {reason}.", reason=view.maintenance)
    if view.device.link != "ready":
        return view.device.sentence or message("The device is {link}.", link=view.device.link)
    return None
