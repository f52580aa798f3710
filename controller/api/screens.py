"""Screens: browsers with a cookie that a supervisor gives them by PIN.

The cookie is 32 random bytes. The journal holds only their SHA-256, so that its readers do not get cookies.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from typing import Final

from aiohttp import web

from controller.api.answers import CONNECTION, json_answer
from controller.api.bodies import EnrolmentRequest, OperationAnswer, OperationRequest, RemovalRequest
from controller.api.callers import DISPLAY, Caller
from controller.api.routes import Routes, Shared
from controller.roles import Role
from controller.table.operations import AnyOperation, EnrolScreen, RemoveScreen
from controller.table.screens import id_of
from firmware_bridge.messages import message

ENROLMENT: Final = "/v1/screen/enrolment"
YEAR: Final = 365 * 24 * 3600  # seconds
TOKEN: Final = re.compile(r"[0-9a-f]{64}")
SUPERVISORS_ONLY: Final = message(
    "Only a pit supervisor or above may enrol or remove a screen; call the pit supervisor."
)
ENROLLED_ALREADY: Final = message(
    "This browser is already a screen of the table. Remove it first to give it another name."
)
ID_USED: Final = message("This id was used before. Send the request with a new id.")


class Screens:
    """Enrolment of screens. `cookie`: its name. `is_proxied`: whether browsers reach that host through a TLS proxy."""

    def __init__(self, shared: Shared, routes: Routes, cookie: str, is_proxied: Callable[[str], bool]) -> None:
        self._shared = shared
        self._table = shared.table
        self._routes = routes
        self._cookie = cookie
        self._is_proxied = is_proxied

    def all(self) -> list[web.RouteDef]:
        return [web.post(ENROLMENT, self._enrol), web.delete(ENROLMENT, self._remove)]

    def caller_of(self, request: web.Request) -> Caller:
        """Return the enrolled screen whose cookie came with the request, else a display."""
        token = request.cookies.get(self._cookie, "")
        if not TOKEN.fullmatch(token):
            return DISPLAY
        found = _hash(token)
        enrolled = any(secrets.compare_digest(screen.token_hash, found) for screen in self._table.state.screens)
        return Caller(screen=id_of(found)) if enrolled else DISPLAY

    def enrols(self, request: web.Request) -> bool:
        """Return whether the request asks to make a display a screen."""
        return request.path == ENROLMENT and request.method == "POST"

    async def _enrol(self, request: web.Request) -> web.StreamResponse:
        refused = self._shared.answers.refused
        if request[CONNECTION].caller.screen:
            return refused(403, "screen", ENROLLED_ALREADY)
        asked = await self._shared.answers.read(request, EnrolmentRequest)
        if isinstance(asked, web.Response):
            return asked
        token = secrets.token_hex(32)
        done = await self._entered(request, asked, EnrolScreen(asked.name, _hash(token)))
        if isinstance(done, web.Response):
            return done
        if done.code == "id-used":  # also for a repeated request: the cookie went with the first answer
            return refused(409, "id-used", ID_USED)
        response = json_answer(done)
        if done.accepted:
            self._set_cookie(request, response, token, YEAR)
        return response

    async def _remove(self, request: web.Request) -> web.StreamResponse:
        asked = await self._shared.answers.read(request, RemovalRequest)
        if isinstance(asked, web.Response):
            return asked
        done = await self._entered(request, asked, RemoveScreen(request[CONNECTION].caller.screen))
        if isinstance(done, web.Response):
            return done
        response = json_answer(done)
        if done.accepted:
            self._set_cookie(request, response, "", 0)
        return response

    async def _entered(
        self, request: web.Request, asked: EnrolmentRequest | RemovalRequest, operation: AnyOperation
    ) -> OperationAnswer | web.Response:
        """Enter an operation if the person's rank allows it. No other PIN is checked, or strangers could try PINs.

        People are not listed at a browser that is not enrolled, so the name serves as well as the id.
        """
        person = self._table.state.person_called(asked.person) or asked.person
        if not self._shared.people.reaches(person, Role.PIT_SUPERVISOR):
            return self._shared.answers.refused(403, "role", SUPERVISORS_ONLY, request[CONNECTION].caller)
        number = self._table.state.round.number
        return await self._routes.answer(request, OperationRequest(asked.id, number, operation, person, asked.pin))

    def _set_cookie(self, request: web.Request, response: web.Response, token: str, seconds: int) -> None:
        """Set the cookie, with `Secure` behind a TLS proxy, whose host is not this machine's."""
        host = request.headers.get("Host", "").lower()
        response.set_cookie(
            self._cookie,
            token,
            max_age=seconds,
            path="/",
            httponly=True,
            samesite="Strict",
            secure=self._is_proxied(host),
        )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
