"""Decks as they arrive: from a file to which `cardshoe bench --shuffles` appends, or from a table's journal.

Both are only read, and from the beginning at each start, so that the decks and their sequence are the same. A journal
is not kept open between two checks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from controller.commands.journal.source import Source
from firmware_bridge.edited_text import NotTextError, decode_edited
from shuffle_audit.journal_orders import JournalOrders, decided_after
from shuffle_audit.order_files import deck_of_line
from shuffle_audit.orders import DeckOrders, OrderError


class SourceError(Exception):
    """Raised with a sentence and a `hint` when the source has been replaced or shortened."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


class DeckCame(NamedTuple):
    """A deck from the source. If `deck` is None, `fault` says why it cannot be used, and `code` says so for machines.
    `where` is its line or round. `utc_ns` is when it was shuffled, 0 if unknown. `number` distinguishes decks with the
    same orders; it may be empty.
    """

    where: str
    deck: DeckOrders | None
    code: str = ""
    fault: str = ""
    utc_ns: int = 0
    number: str = ""


class DeckSource(Protocol):
    """A source of decks. `name` is for people and metrics. `unfinished` is the line without an end yet, or empty."""

    @property
    def name(self) -> str: ...

    @property
    def unfinished(self) -> str: ...

    def look(self) -> Iterator[DeckCame]:
        """Yield the decks since the last call. Raise `SourceError`, `JournalError` and OSError."""


class GrowingFile:
    """JSON Lines that another program appends to. A line counts once its end is written."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._path = path
        self._read = 0  # bytes
        self._lines = 0
        self._inode = path.stat().st_ino
        self.unfinished = ""

    def look(self) -> Iterator[DeckCame]:
        with self._path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size < self._read or status.st_ino != self._inode:
                raise SourceError(f"{self._path} was replaced or shortened.", "Start the monitor again.")
            file.seek(self._read)
            self.unfinished = ""
            for line in file:
                if not line.endswith(b"\n"):
                    self.unfinished = f"line {self._lines + 1}"
                    return
                self._read += len(line)
                self._lines += 1
                if line.strip():
                    yield self._deck(line)

    def _deck(self, line: bytes) -> DeckCame:
        where = f"line {self._lines}"
        try:
            numbered = deck_of_line(decode_edited(line))
        except NotTextError as error:
            return DeckCame(where, None, "not-text", f"It cannot be read: {error.why}.")
        except OrderError as error:
            return DeckCame(where, None, error.code, str(error))
        return DeckCame(where, numbered.deck, number=numbered.number)


class GrowingJournal:
    """A table's journal, while its daemon writes it. A deck arrives when the round in which it was dealt is over.

    `maker` is as in `JournalOrders`. Raise `JournalError`.
    """

    unfinished = ""

    def __init__(self, path: Path, maker: tuple[str, ...] | None) -> None:
        self._source = Source(path)
        self.name = self._source.table_name
        self._orders = JournalOrders(maker)
        self._after = 0

    def look(self) -> Iterator[DeckCame]:
        self._source.look_again()
        for decided in decided_after(self._source, self._after):
            self._after = decided.entry + len(decided.events)
            self._orders.take(decided)
            for one in self._orders.taken_over():
                yield DeckCame(f"round {one.round}", one.deck, utc_ns=one.utc_ns, number=str(one.entry))


def follow(source: DeckSource, take: Callable[[DeckCame], bool], wait: Callable[[], bool]) -> None:
    """Pass each new deck to `take`; `wait` returns when it is time to check again. Both return whether to end."""
    while True:
        if any(take(came) for came in source.look()) or wait():
            return
