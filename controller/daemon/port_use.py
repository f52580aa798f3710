"""Finds out what listens on a port of this machine: no program, the daemon of a table, or another program."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import msgspec

from controller.api.tcp_listener import PORT_HINT, why_not_free
from controller.daemon.section_reader import Mistake
from controller.daemon.sections import ApiSection, TableSection
from firmware_bridge.messages import AnyText, Message, message

PATIENCE: Final = 5  # seconds for an answer
LONGEST: Final = 4 * 1024 * 1024  # bytes of an answer
_PROGRAM: Final = re.compile(r'\("([^"]*)",pid=(\d+)')  # in the output of `ss`: users:(("python3",pid=12,fd=3))


class Reply(NamedTuple):
    """A program's reply."""

    status: int
    text: str


Ask: TypeAlias = Callable[[int, str, str], Reply | None]
"""Requests a path on a port, under a host name. Returns None without an HTTP answer."""
Run: TypeAlias = Callable[..., str | None]
"""Returns the output of a program, or None if it is not installed."""


class PortUse(NamedTuple):
    """The use of a port. `refused` says why no other program can listen there; None if it is free. `table` is the
    table whose daemon answers there.

    `program` describes the listening program otherwise. `warnings` are those of that table.
    """

    refused: Message | None
    table: str = ""
    program: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def holder(self) -> AnyText:
        """Describe what holds the port, or return "" if unknown."""
        return message("table {table}", table=self.table) if self.table else self.program

    @property
    def why(self) -> Message:
        """Return why the port is not free, as the end of a sentence, with what holds it."""
        refused = self.refused or message("is free")
        return message("{refused} by {holder}", refused=refused, holder=self.holder) if self.holder else refused


def ask(port: int, path: str, host: str = "") -> Reply | None:
    """Send a request as a browser on this machine would that was given the name `host`."""
    return _ask(HTTPConnection("127.0.0.1", port, timeout=PATIENCE), path, {"Host": host or f"127.0.0.1:{port}"})


def _ask(connection: HTTPConnection, path: str, headers: Mapping[str, str]) -> Reply | None:
    try:
        connection.request("GET", path, headers=headers)
        found = connection.getresponse()
        return Reply(found.status, found.read(LONGEST).decode("utf-8", errors="replace"))
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()


class _AtSocket(HTTPConnection):
    """A connection to a Unix socket, which root opens as the user `uid`."""

    def __init__(self, path: Path, uid: int | None) -> None:
        super().__init__("table", timeout=PATIENCE)
        self._path = path
        self._uid = uid

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        before = os.geteuid()
        if before == 0 and self._uid is not None:
            os.seteuid(self._uid)
        try:
            self.sock.connect(str(self._path))
        finally:
            os.seteuid(before)


def ask_socket(path: Path, what: str, uid: int | None = None) -> Reply | None:
    """Request a path at a Unix socket. Root asks as the user `uid`, because the table does not admit root."""
    return _ask(_AtSocket(path, uid), what, {})


def use_of(port: int, run: Run, asking: Ask = ask) -> PortUse:
    if not (refused := why_not_free(port)):
        return PortUse(None)
    state = _state_at(port, asking)
    return PortUse(refused, state.table, _program_at(port, run), state.warnings)


class DeviceFields(msgspec.Struct):
    sentence: str = ""


class StateFields(msgspec.Struct):
    """The fields that are read from `GET /v1/state`."""

    table: str
    warnings: tuple[str, ...] = ()
    device: DeviceFields = msgspec.field(default_factory=DeviceFields)


def _state_at(port: int, asking: Ask) -> StateFields:
    return state_in(asking(port, "/v1/state", ""))


def state_in(reply: Reply | None) -> StateFields:
    """Return the fields of a state, which are empty if the reply is not a state."""
    with suppress(msgspec.MsgspecError):
        if reply is not None and reply.status == 200:
            return msgspec.json.decode(reply.text, type=StateFields)
    return StateFields("")


def _program_at(port: int, run: Run) -> str:
    """Return the listening program; for root also those of other users."""
    found = _PROGRAM.search(run("ss", "-Hltnp", f"sport = :{port}") or "")
    return f"{found[1]} (process {found[2]})" if found else ""


def mistakes_of_port(table: TableSection, api: ApiSection, run: Run, asking: Ask = ask) -> Iterator[Mistake]:
    """Yield a mistake if another program uses the port; this table's daemon may."""
    if api.http is None or not api.http.port:
        return
    found = use_of(api.http.port, run, asking)
    if found.refused and found.table != table.name:
        yield Mistake(message("[api.http] port: {port} {why}.", port=api.http.port, why=found.why), PORT_HINT)
