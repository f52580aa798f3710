"""Where the commands' decisions come from: the files of a journal, in their order, read without its key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from controller.commands.journal.table import Table
from controller.journal.file import connect_reader, foreign, read_name, speaking


class Decision(NamedTuple):
    first: int
    last: int
    utc_ns: int
    round: int
    input: bytes
    events: tuple[bytes, ...]


class Head(NamedTuple):
    number: int
    hash: str
    utc_ns: int
    fingerprint: str


class File(NamedTuple):
    path: Path
    format: int
    file_id: str
    created_utc_ns: int
    before: int


def _public(value: Any) -> Any:
    if isinstance(value, dict):
        if "sealed" in value:
            return {"commitment": value["commitment"]} if "commitment" in value else None
        return {key: _public(one) for key, one in value.items()}
    return [_public(one) for one in value] if isinstance(value, list) else value


class Source:
    """A journal to be read. `files` in their order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with speaking(path), closing(connect_reader(path)) as connection:
            name = read_name(path, connection)
        if name is None:
            raise foreign(path)
        identity = name[0]
        self.journal_id = identity.id
        self.table_name = identity.table
        self.simulated = identity.simulated
        self.files = (File(path, 1, identity.id, identity.created_utc_ns, 0),)

    @property
    def size(self) -> int:
        return self._path.stat().st_size

    def last_entry(self) -> int:
        return max((one.last for one in self.decisions()), default=0)

    def look_again(self) -> None:
        pass

    def close(self) -> None:
        pass

    def head_at(self, number: int) -> Head | None:
        return None

    def opening(self, file: File) -> Table:
        return Table(self.table_name, self.simulated)

    def first_round(self, file: File) -> int:
        return next((one.round for one in self.decisions(file.before)), 0)

    def decisions(self, after: int = 0) -> Iterator[Decision]:
        current: Any = None
        with speaking(self._path), closing(connect_reader(self._path)) as connection:
            for number, utc, rnd, kind, body in connection.execute(
                "SELECT number, utc_ns, round, kind, body FROM entry WHERE number > ? ORDER BY number", (after,)
            ):
                public = json.dumps(_public(json.loads(body))).encode()
                if kind == "input":
                    if current:
                        yield Decision(*current[:5], tuple(current[5]))
                    current = [number, number, utc, rnd, public, []]
                else:
                    current[1] = number
                    current[5].append(public)
        if current:
            yield Decision(*current[:5], tuple(current[5]))
