"""Who listens at a port of this machine: no program, the daemon of a table, or another program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from typing import Final, NamedTuple, TypeAlias

import msgspec

from controller.api.tcp_listener import PORT_HINT, why_not_free
from controller.daemon.section_reader import Mistake
from controller.daemon.sections import ApiSection, TableSection

PATIENCE: Final = 5  # seconds for an answer
LONGEST: Final = 4 * 1024 * 1024  # bytes of an answer
_PROGRAM: Final = re.compile(r'\("([^"]*)",pid=(\d+)')  # of `ss`: users:(("python3",pid=12,fd=3))


class Reply(NamedTuple):
    """What a program answered."""

    status: int
    text: str


Ask: TypeAlias = Callable[[int, str, str], Reply | None]
"""Asks for a path at a port, under the name of a host; None: no answer by HTTP."""
Run: TypeAlias = Callable[..., str | None]
"""What a program prints; None: it is not there."""


class PortUse(NamedTuple):
    """`refused`: why no other program can listen there; empty: it is free. `table`: whose daemon answers there.

    `program`: what else is known of the one that listens. `warnings`: of that table.
    """

    refused: str
    table: str = ""
    program: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def holder(self) -> str:
        """Empty: not known."""
        return f"table {self.table}" if self.table else self.program


def ask(port: int, path: str, host: str = "") -> Reply | None:
    """As a browser of this machine asks that was given the name `host`."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{port}"})
        found = connection.getresponse()
        return Reply(found.status, found.read(LONGEST).decode("utf-8", errors="replace"))
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()


def use_of(port: int, run: Run, asking: Ask = ask) -> PortUse:
    if not (refused := why_not_free(port)):
        return PortUse("")
    state = _state_at(port, asking)
    return PortUse(refused, state.table, _program_at(port, run), state.warnings)


class _State(msgspec.Struct):
    """What is read of `GET /v1/state`."""

    table: str
    warnings: tuple[str, ...] = ()


def _state_at(port: int, asking: Ask) -> _State:
    reply = asking(port, "/v1/state", "")
    with suppress(msgspec.MsgspecError):
        if reply is not None and reply.status == 200:
            return msgspec.json.decode(reply.text, type=_State)
    return _State("")


def _program_at(port: int, run: Run) -> str:
    """As root also those of other users."""
    found = _PROGRAM.search(run("ss", "-Hltnp", f"sport = :{port}") or "")
    return f"{found[1]} (process {found[2]})" if found else ""


def mistakes_of_port(table: TableSection, api: ApiSection, run: Run, asking: Ask = ask) -> Iterator[Mistake]:
    """Another program has it; this table's daemon may."""
    if api.http is None or not api.http.port:
        return
    found = use_of(api.http.port, run, asking)
    if found.refused and found.table != table.name:
        by = f" by {found.holder}" if found.holder else ""
        yield Mistake(f"[api.http] port: {api.http.port} {found.refused}{by}.", PORT_HINT)
