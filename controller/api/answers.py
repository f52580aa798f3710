"""Shared parts of the handlers of every listener: the caller, the body of a request, answers and refusals."""

from __future__ import annotations

import asyncio
from typing import Final, TypeVar
from uuid import UUID

import msgspec
from aiohttp import web

from controller.api.bodies import (
    EnrolmentRequest,
    OperationAnswer,
    OperationRequest,
    PreviewRequest,
    RemovalRequest,
    SeenRequest,
    decode_body,
    encode,
)
from controller.api.callers import Caller
from controller.api.connections import Connection
from controller.api.in_language import ASKED, in_language
from controller.api.refusals import Refusals
from firmware_bridge.messages import Message, message
from firmware_bridge.plain_text import plain

BODY_WITHIN: Final = 10.0  # seconds for the body of a request
CONNECTION: Final = web.RequestKey("connection", Connection)
UNREADABLE: Final = message("The request cannot be read. Correct it and send it again.")
TOO_SLOW: Final = message("The request did not arrive in time. Send it again.")
Body = TypeVar("Body", OperationRequest, EnrolmentRequest, RemovalRequest, PreviewRequest, SeenRequest)
Named = TypeVar("Named", OperationRequest, EnrolmentRequest, RemovalRequest)


class Answers:
    """Makes answers, and notes refusals."""

    def __init__(self, refusals: Refusals) -> None:
        self._refusals = refusals

    def refused(self, status: int, code: str, said: Message, caller: Caller | None = None) -> web.Response:
        """Return a refusal, and note it for `caller` if one is given."""
        if caller is not None:
            self._refusals.note(code, caller)
        return refused(status, code, said)

    async def read(self, request: web.Request, kind: type[Body]) -> Body | web.Response:
        """Return the body, with its id in the usual form of a UUID, else the refusal."""
        try:
            async with asyncio.timeout(BODY_WITHIN):
                asked = decode_body(await request.read(), kind)
            return asked if isinstance(asked, PreviewRequest | SeenRequest) else _with_uuid(asked)
        except ConnectionError:
            return web.Response(status=408)  # the client has hung up, so nobody reads the answer
        except TimeoutError:
            return self.refused(408, "too-slow", TOO_SLOW)
        except (msgspec.MsgspecError, ValueError) as error:
            return refused(400, "bad-request", UNREADABLE, plain(str(error)))


def _with_uuid(asked: Named) -> Named:
    """Return the request with its id in the usual form. Raises `ValueError` if it is not a UUID."""
    return msgspec.structs.replace(asked, id=str(UUID(asked.id)))


def refused(status: int, code: str, said: Message, detail: str = "") -> web.Response:
    """Return a refusal. `detail` may quote the request, and is never translated."""
    return json_answer(OperationAnswer.refused(code, said, detail), status=status)


def json_answer(value: object, status: int = 200) -> web.Response:
    """Return a JSON answer in the language of the request."""
    return web.Response(body=encode(in_language(value, ASKED.get())), status=status, content_type="application/json")
