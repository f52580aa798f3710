"""Decks as they come: from a file that grows, as `cardshoe bench --shuffles` appends to it, or from a table's journal.

Both are only read, from the beginning each time a source is opened, so that the same decks come in the same sequence.
Between two looks nothing is held of a journal.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from controller.commands.journal.source import Source
from shuffle_audit.deck_orders import DeckOrders
from shuffle_audit.journal_orders import JournalOrders, decided_after
from shuffle_audit.order_files import BYTE_ORDER_MARK, deck_of_line
from shuffle_audit.orders import OrderError


class SourceError(Exception):
    """What was read is not there any more: a sentence, and a `hint`."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


class Came(NamedTuple):
    """A deck that came. `deck` None: `fault` says why it cannot be used, `code` for machines. `where`: its line or
    entry. `utc_ns`: when it was shuffled; 0: the source does not say. `number`: by which it is another deck than one
    with the same orders; empty: it has none.
    """

    where: str
    deck: DeckOrders | None
    code: str = ""
    fault: str = ""
    utc_ns: int = 0
    number: str = ""


class DeckSource(Protocol):
    """`name`: for people and for the labels of metrics. `unfinished`: the line that has no end yet; empty: none."""

    @property
    def name(self) -> str: ...

    @property
    def unfinished(self) -> str: ...

    def look(self) -> Iterator[Came]:
        """What came since the last look. Raises `SourceError`, `JournalError` and OSError."""


class GrowingFile:
    """JSON Lines that another program appends to. A line counts when its end is there."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._path = path
        self._read = 0  # bytes
        self._lines = 0
        self._inode = path.stat().st_ino
        self.unfinished = ""

    def look(self) -> Iterator[Came]:
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

    def _deck(self, line: bytes) -> Came:
        where = f"line {self._lines}"
        try:
            numbered = deck_of_line(line.removeprefix(BYTE_ORDER_MARK).decode())
        except UnicodeDecodeError:
            return Came(where, None, "not-text", "There is a byte that is no UTF-8.")
        except OrderError as error:
            return Came(where, None, error.code, str(error))
        return Came(where, numbered.deck, number=numbered.number)


class GrowingJournal:
    """A table's journal, beside the daemon that writes it. A deck comes when the round in which it was dealt is over.

    `maker`: as in `JournalOrders`. Raises `JournalError`.
    """

    unfinished = ""

    def __init__(self, path: Path, maker: tuple[str, ...] | None) -> None:
        self._source = Source(path)
        self.name = self._source.table_name
        self._orders = JournalOrders(maker)
        self._after = 0

    def look(self) -> Iterator[Came]:
        self._source.look_again()
        for decided in decided_after(self._source, self._after):
            self._after = decided.entry + len(decided.events)
            self._orders.take(decided)
            for one in self._orders.taken_over():
                yield Came(f"round {one.round}", one.deck, utc_ns=one.utc_ns, number=str(one.entry))


def follow(source: DeckSource, take: Callable[[Came], bool], wait: Callable[[], bool]) -> None:
    """Gives each deck that comes to `take`. `wait` returns when to look again. Both say whether to end."""
    while True:
        if any(take(came) for came in source.look()) or wait():
            return
