"""A browser at the TCP port for screens, as far as requests go: it sends what the test asks for, and keeps a cookie."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self
from uuid import uuid4

import aiohttp

from simulators.people.crew import CREW, CrewMember
from tests.end_to_end.stage import Stage

DEALER, SUPERVISOR = CREW[0], CREW[1]
FROM_A_PAGE = {"Content-Type": "application/json", "X-Cardshoe": "1"}


class Answered(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self.body)
        return said

    @property
    def code(self) -> str:
        return str(self.json["code"])


def free_port() -> int:
    """Return a free port, which the table keeps when its daemon restarts."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


async def port_of(stage: Stage) -> int:
    """Return the port on which the daemon serves screens, from its log, which may arrive after the notice "ready"."""
    daemon = stage.daemon
    lines = await daemon.until(lambda: [json.loads(line) for line in daemon.err if '"daemon.screens"' in line])
    return int(lines[-1]["port"])


class Browser:
    """A browser. `cookie` is a screen's, once it is enrolled. `host` is the name by which it calls the table."""

    def __init__(self, port: int, cookie: str = "", host: str = "") -> None:
        self.port = port
        self.cookie = cookie
        self.host = host or f"localhost:{port}"

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def ask(self, verb: str, path: str, body: object = None, **headers: str) -> Answered:
        """Send a request. A header with an empty value is left out. Header names are written with
        `_` instead of `-`.
        """
        sent = {"Host": self.host, "Cookie": self.cookie} | (FROM_A_PAGE if verb not in ("GET", "HEAD") else {})
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = None if body is None else json.dumps(body).encode()
        async with self._session.request(
            verb,
            f"http://127.0.0.1:{self.port}{path}",
            data=data,
            headers={name: value for name, value in sent.items() if value},
            skip_auto_headers=("Content-Type",),
            allow_redirects=False,
        ) as response:
            return Answered(response.status, response.headers, await response.read())

    async def enrol(
        self, name: str = "Left", by: CrewMember = SUPERVISOR, headers: Mapping[str, str] | None = None
    ) -> Answered:
        asked = {"id": str(uuid4()), "person": by.id, "pin": by.pin, "name": name}
        answered = await self.ask("POST", "/v1/screen/enrolment", asked, **(headers or {}))
        if "Set-Cookie" in answered.headers:
            self.cookie = answered.headers["Set-Cookie"].partition(";")[0]
        return answered

    async def operate(
        self,
        operation: str,
        by: CrewMember | None = None,
        pin: str = "",
        headers: dict[str, str] | None = None,
        **of: Any,
    ) -> Answered:
        """Send an operation. With `by` None it is entered for the person who is signed on."""
        asked = {"id": str(uuid4()), "round": 0, "operation": {"operation": operation} | of}
        if by is not None:
            asked |= {"person": by.id, "pin": pin or by.pin}
        return await self.ask("POST", "/v1/operations", asked, **(headers or {}))

    async def state(self) -> dict[str, Any]:
        return (await self.ask("GET", "/v1/state")).json
