"""One connection to the API, for `cardshoe watch`, the demonstration and tests.

A table's own systems use `controller.client`.
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

from controller.api.bodies import (
    BEGINNING,
    EnrolmentRequest,
    EventId,
    OperationAnswer,
    OperationRequest,
    SeenRequest,
    decode_answer,
    decode_not_in_journal,
    decode_operation_hook,
    encode,
)
from controller.api.view import TableView
from controller.language import ENGLISH, PARAMETER
from firmware_bridge.messages import AnyText, MessageError, message

_decode_view = msgspec.json.Decoder(TableView, dec_hook=decode_operation_hook).decode
HOST = "http://table"
OF_A_SCREEN: Final = {"Content-Type": "application/json", "X-Cardshoe": "1"}  # required at a port for any change
PAUSES: Final = (0.05, 0.1, 0.2, 0.4, 0.8)  # seconds between two tries
CONNECT_WITHIN: Final = 10  # seconds


class TableUnreachableError(MessageError):
    """Reports that no daemon answers at the socket. `code`: set if the daemon refused."""


class NotAdmittedError(TableUnreachableError):
    """Reports that the daemon runs, but does not admit this user."""


class NotInJournalError(TableUnreachableError):
    """Reports that the table's journal does not have that event. `newest`: the last event that it has."""

    def __init__(self, said: AnyText, newest: EventId) -> None:
        super().__init__(said)
        self.newest = newest


class NoTableError(MessageError):
    """Reports that a program other than a daemon of this version answers at the socket."""

    def __init__(self, where: Path | str) -> None:
        super().__init__(
            message("The program at {where} is not a daemon of this version.", where=str(where)),
            message("Name the daemon's socket with --socket, and use the cardshoe that was installed with the daemon."),
        )


class _Connector(aiohttp.UnixConnector):
    """Waits while the queue of the socket is full, which a user who is not admitted can cause.

    The kernel queues a caller that blocks. asyncio does not block: it takes "try again" for a pending connection, and
    then fails to read with EINVAL.
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
    """Connect, in a thread because it blocks. Raises `BlockingIOError` after too long a wait."""
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
    """Close a connection that nobody waits for."""
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()


class ApiClient:
    """Talks to the daemon at one Unix socket. Use as an async context manager.

    `at` may also be the address of its page at the port of screens, as in `http://localhost:8080`; with the `cookie` of
    an enrolled screen (`NAME=VALUE`) the client operates there. `language`: the language of sentences in answers.
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
        """Return the table's view. Raises `TableUnreachableError`, `NoTableError`."""
        try:
            return _decode_view(await self.get(f"/v1/state{self._asked}"))
        except msgspec.MsgspecError as error:
            raise NoTableError(self._socket) from error

    async def lawful(self) -> list[dict[str, Any]] | None:
        """Return what people can enter, an object for each operation, or None if the daemon does not say."""
        try:
            found = json.loads(await self.get(f"/v1/lawful{self._asked}"))
        except (TableUnreachableError, ValueError):
            return None
        return found if isinstance(found, list) and all(isinstance(one, dict) for one in found) else None

    async def people(self) -> dict[str, str]:
        """Return the names of the people who may act at the table, by id; empty if the daemon does not say."""
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
            pass  # a daemon of another version
        return {}

    async def is_healthy(self) -> bool:
        try:
            return (await self.get("/healthz")) == b"ok\n"
        except TableUnreachableError:
            return False

    async def operate(self, request: OperationRequest) -> OperationAnswer:
        """Enter an operation by a person. A refusal is an answer. Raise `TableUnreachableError` if
        there is no answer.
        """
        try:
            return decode_answer(await self.post(f"/v1/operations{self._asked}", encode(request)))
        except msgspec.MsgspecError as error:
            raise TableUnreachableError(
                message("The table at {socket} did not answer: {why}.", socket=str(self._socket), why=str(error))
            ) from error

    async def show_seen(self, sentence: str) -> None:
        """Show the screens of a simulated table what only eyes see there. Raises `TableUnreachableError`."""
        await self.post("/v1/seen", encode(SeenRequest(sentence)))

    async def enrol(self, request: EnrolmentRequest) -> tuple[OperationAnswer, str]:
        """Make this client a screen, at the port. Returns the answer, and the screen's cookie if it is accepted."""
        assert self._session is not None
        try:
            async with self._session.post(f"{self._host}/v1/screen/enrolment", data=encode(request)) as response:
                answer = decode_answer(await response.read())
        except (aiohttp.ClientError, OSError, TimeoutError, msgspec.MsgspecError) as error:
            raise TableUnreachableError(
                message("The table at {socket} did not answer: {why}.", socket=str(self._socket), why=str(error))
            ) from error
        cookie = response.headers.get("Set-Cookie", "").partition(";")[0]
        if cookie:
            self._session.headers["Cookie"] = cookie
        return answer, cookie

    async def events(self, after: EventId = BEGINNING) -> AsyncGenerator[dict[str, Any] | None, None]:
        """Yield every event after that one while the daemon runs, and None whenever there are no more for now.

        Ends when the daemon does. Raises `TableUnreachableError` if there is no daemon at the start,
        `NotInJournalError` and `NoTableError`.
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
                        return  # connection lost within a line
                    if line.startswith(b"data: "):
                        yield _event(line[6:])
                    elif line.startswith(b":"):
                        yield None
        except aiohttp.ClientConnectorError as error:
            raise self._unreachable(error) from error
        except (TimeoutError, aiohttp.ClientError, OSError):
            return
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:  # also raised for a line without an end
            raise NoTableError(self._socket) from error

    async def get(self, path: str) -> bytes:
        """Return the body of an answer with status 200. Raises `TableUnreachableError`."""
        try:
            return await self._read("GET", path)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise self._unreachable(error) from error

    async def post(self, path: str, body: bytes) -> bytes:
        """Return the body of any answer. Raises `TableUnreachableError`."""
        try:
            return await self._read("POST", path, body)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise TableUnreachableError(
                message("The table at {socket} did not answer: {why}.", socket=str(self._socket), why=str(error))
            ) from error

    def _unreachable(self, error: Exception) -> TableUnreachableError:
        """Return the error for a person, according to the system's error at the socket."""
        system = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
        if isinstance(system, PermissionError):
            sentence = message("This user may not reach the socket {socket}.", socket=str(self._socket))
            return NotAdmittedError(
                sentence, message("Log in as a user of the table, or open the socket's folder to this one.")
            )
        if isinstance(system, BlockingIOError):
            sentence = message("Too many programs wait at {socket}.", socket=str(self._socket))
            return TableUnreachableError(sentence, message("End programs that use it, then try again."))
        sentence = message("No daemon answers at {socket}.", socket=str(self._socket))
        if isinstance(self._socket, Path) and self._socket.exists() and not self._socket.is_socket():
            return TableUnreachableError(
                message("{socket} is not a socket.", socket=str(self._socket)),
                message(
                    "If the daemon runs, move that away: it makes its socket there again. Otherwise name its socket."
                ),
            )
        if isinstance(system, ConnectionRefusedError):
            return TableUnreachableError(
                sentence, message("The daemon ended and left its socket behind: start it again.")
            )
        return TableUnreachableError(
            sentence,
            message(
                "Start it (systemctl start cardshoe@TABLE), or name its socket with --socket. If it does not start, "
                "journalctl -u cardshoe@TABLE -n 20 says why."
            ),
        )

    async def _read(self, verb: str, path: str, body: bytes | None = None) -> bytes:
        """Return the body of an answer. A lost connection is opened again: operations have ids."""
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
    """Read an event. Raises `ValueError`."""
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
