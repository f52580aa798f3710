"""One connection to the API: for `cardshoe watch`, the demonstration and tests. `controller.client` is the client for a
table's own system.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import AsyncGenerator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import aiohttp
import msgspec
from aiohttp.client_exceptions import UnixClientConnectorError

from controller.api.messages import (
    BEGINNING,
    EnrolmentRequest,
    EventId,
    OperationAnswer,
    OperationRequest,
    decode_answer,
    decode_not_in_journal,
    decode_operation_hook,
    encode,
)
from controller.api.view import TableView
from controller.language import ENGLISH, PARAMETER

_decode_view = msgspec.json.Decoder(TableView, dec_hook=decode_operation_hook).decode
HOST = "http://table"
OF_A_SCREEN: Final = {"Content-Type": "application/json", "X-Cardshoe": "1"}  # what changes anything needs at a port
PAUSES: Final = (0.05, 0.1, 0.2, 0.4, 0.8)  # seconds between two tries
CONNECT_WITHIN: Final = 10  # seconds


class TableUnreachableError(Exception):
    """No daemon answers at the socket, or it went away. `hint`: what to do next. `code`: it answers, and refused."""

    def __init__(self, sentence: str, hint: str = "", code: str = "") -> None:
        super().__init__(sentence)
        self.hint = hint
        self.code = code


class NotAdmittedError(TableUnreachableError):
    """The daemon runs, and this user may not look."""


class NotInJournalError(TableUnreachableError):
    """The table's journal has no such event. `newest`: the one that it ends with."""

    def __init__(self, sentence: str, newest: EventId) -> None:
        super().__init__(sentence)
        self.newest = newest


class NoTableError(Exception):
    """Something answers at the socket, and not as a daemon of this version does. `hint`: what to do next."""

    hint = "Name the daemon's socket with --socket, and use the cardshoe that was installed with the daemon."

    def __init__(self, where: Path | str) -> None:
        super().__init__(f"What answers at {where} is no daemon of this version.")


class _Connector(aiohttp.UnixConnector):
    """Waits in line where the queue of the socket is full, which a user who is not admitted can bring about.

    The kernel keeps a place for a caller who blocks. asyncio does not block, takes "try again" for a connection that is
    being made, and then fails to read with EINVAL.
    """

    async def _create_connection(self, *given: Any) -> Any:
        connecting = self._loop.run_in_executor(None, connect_in_line, self.path)
        try:
            connected = await asyncio.shield(connecting)
        except OSError as error:
            raise UnixClientConnectorError(self.path, given[0].connection_key, error) from error
        except asyncio.CancelledError:
            connecting.add_done_callback(_close)
            raise
        _, protocol = await self._loop.create_unix_connection(self._factory, sock=connected)
        return protocol


def connect_in_line(path: str) -> socket.socket:
    """Connect; to be called in a thread, since it blocks. Raises `BlockingIOError` when it has waited too long."""
    connected = socket.socket(socket.AF_UNIX)
    try:
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", CONNECT_WITHIN, 0))
        connected.connect(path)
        connected.setblocking(False)
    except BaseException:
        connected.close()
        raise
    return connected


def _close(connecting: asyncio.Future[socket.socket]) -> None:
    """Nobody waits for it any more."""
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()


class ApiClient:
    """Talks to the daemon at one Unix socket. Use as an async context manager.

    Or at its port of screens, where `at` is the address of the page, as in `http://localhost:8080`; with the `cookie`
    of an enrolled screen (`NAME=VALUE`) it operates there. `language`: of the sentences that are answered.
    """

    def __init__(self, at: Path | str, cookie: str = "", language: str = ENGLISH) -> None:
        self._socket = at
        self._asked = f"?{PARAMETER}={language}"
        self._host = HOST if isinstance(at, Path) else at.rstrip("/")
        self._headers = OF_A_SCREEN | ({"Cookie": cookie} if cookie else {})
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=_Connector(str(self._socket)) if isinstance(self._socket, Path) else None,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=5, sock_read=60),
            headers=self._headers,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._session is not None
        await self._session.close()

    async def state(self) -> TableView:
        """The table now. Raises `TableUnreachableError`, `NoTableError`."""
        try:
            return _decode_view(await self.get(f"/v1/state{self._asked}"))
        except msgspec.MsgspecError as error:
            raise NoTableError(self._socket) from error

    async def lawful(self) -> list[dict[str, Any]] | None:
        """What people can enter, an object an operation; None where the daemon does not say."""
        try:
            found = json.loads(await self.get(f"/v1/lawful{self._asked}"))
        except (TableUnreachableError, ValueError):
            return None
        return found if isinstance(found, list) and all(isinstance(one, dict) for one in found) else None

    async def people(self) -> dict[str, str]:
        """The people who may act at the table, by id their names; empty where the daemon does not say."""
        assert self._session is not None
        try:
            async with self._session.get(f"{self._host}/v1/screen") as response:
                await _require_ok(response)
                async for line in response.content:
                    if line.startswith(b"data: ") and (found := json.loads(line[6:]).get("people")) is not None:
                        return {str(one["id"]): str(one["name"]) for one in found}
        except (TableUnreachableError, aiohttp.ClientError, OSError, TimeoutError):
            pass
        except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
            pass  # another version of the daemon
        return {}

    async def is_healthy(self) -> bool:
        try:
            return (await self.get("/healthz")) == b"ok\n"
        except TableUnreachableError:
            return False

    async def operate(self, request: OperationRequest) -> OperationAnswer:
        """Do what a person does. A refusal is an answer; no answer raises `TableUnreachableError`."""
        try:
            return decode_answer(await self.post(f"/v1/operations{self._asked}", encode(request)))
        except msgspec.MsgspecError as error:
            raise TableUnreachableError(f"The table at {self._socket} did not answer: {error}.") from error

    async def enrol(self, request: EnrolmentRequest) -> tuple[OperationAnswer, str]:
        """At the port: this client becomes a screen. The answer, and the screen's cookie where it is accepted."""
        assert self._session is not None
        try:
            async with self._session.post(f"{self._host}/v1/screen/enrolment", data=encode(request)) as response:
                answer = decode_answer(await response.read())
        except (aiohttp.ClientError, OSError, TimeoutError, msgspec.MsgspecError) as error:
            raise TableUnreachableError(f"The table at {self._socket} did not answer: {error}.") from error
        cookie = response.headers.get("Set-Cookie", "").partition(";")[0]
        if cookie:
            self._session.headers["Cookie"] = cookie
        return answer, cookie

    async def events(self, after: EventId = BEGINNING) -> AsyncGenerator[dict[str, Any] | None, None]:
        """Every event after that one, for as long as the daemon runs; None whenever all so far have been given.

        Ends when the daemon does. Raises `TableUnreachableError` when there is none to begin with, `NotInJournalError`
        and `NoTableError`.
        """
        assert self._session is not None
        headers = {"Last-Event-ID": str(after)}
        try:
            async with self._session.get(f"{self._host}/v1/events", headers=headers) as response:
                if response.status == 409:
                    missing = decode_not_in_journal(await response.read())
                    raise NotInJournalError(missing.sentence, EventId(missing.journal, missing.entry))
                await _require_ok(response)
                async for line in response.content:
                    if not line.endswith(b"\n"):
                        return  # lost within a line
                    if line.startswith(b"data: "):
                        yield _event(line[6:])
                    elif line.startswith(b":"):
                        yield None
        except aiohttp.ClientConnectorError as error:
            raise self._unreachable(error) from error
        except (TimeoutError, aiohttp.ClientError, OSError):
            return
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:  # also of a line without an end
            raise NoTableError(self._socket) from error

    async def get(self, path: str) -> bytes:
        """The body of the answer with status 200. Raises `TableUnreachableError`."""
        try:
            return await self._read("GET", path)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise self._unreachable(error) from error

    async def post(self, path: str, body: bytes) -> bytes:
        """The body of any answer. Raises `TableUnreachableError`."""
        try:
            return await self._read("POST", path, body)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise TableUnreachableError(f"The table at {self._socket} did not answer: {error}.") from error

    def _unreachable(self, error: Exception) -> TableUnreachableError:
        """What the system said of the socket decides what a person should look at."""
        system = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
        if isinstance(system, PermissionError):
            sentence = f"This user may not reach the socket {self._socket}."
            return NotAdmittedError(sentence, "Log in as a user of the table, or open the socket's folder to this one.")
        if isinstance(system, BlockingIOError):
            sentence = f"Too many programs wait at {self._socket}."
            return TableUnreachableError(sentence, "End programs that use it, then try again.")
        sentence = f"No daemon answers at {self._socket}."
        if isinstance(self._socket, Path) and self._socket.exists() and not self._socket.is_socket():
            return TableUnreachableError(
                f"{self._socket} is no socket.", "Name the daemon's with --socket: [api] socket of its configuration."
            )
        if isinstance(system, ConnectionRefusedError):
            return TableUnreachableError(sentence, "It has ended and left its socket there: start it again.")
        return TableUnreachableError(
            sentence, "Start it (systemctl start cardshoe@TABLE), or name its socket with --socket."
        )

    async def _read(self, verb: str, path: str, body: bytes | None = None) -> bytes:
        """The body of an answer. A connection that was lost is made again: operations have ids, so it harms nothing."""
        for pause in (*PAUSES, None):
            try:
                return await self._read_once(verb, path, body)
            except aiohttp.ClientConnectorError:
                raise
            except aiohttp.ClientOSError:
                if pause is None:
                    raise
                await asyncio.sleep(pause)
        raise AssertionError("the last try returns or raises")

    async def _read_once(self, verb: str, path: str, body: bytes | None) -> bytes:
        assert self._session is not None
        async with self._session.request(verb, f"{self._host}{path}", data=body) as response:
            if verb == "GET":
                await _require_ok(response)
            return await response.read()


def _event(line: bytes) -> dict[str, Any]:
    """Raises `ValueError`."""
    event = json.loads(line)
    if not (isinstance(event, dict) and type(event.get("entry")) is int and isinstance(event.get("event"), str)):
        raise ValueError("no event")
    return event


async def _require_ok(response: aiohttp.ClientResponse) -> None:
    if not response.ok and response.content_type == "application/json":
        refused = NotAdmittedError if response.status == 403 else TableUnreachableError
        answer = decode_answer(await response.read())
        raise refused(answer.sentence, code=answer.code)
    response.raise_for_status()
