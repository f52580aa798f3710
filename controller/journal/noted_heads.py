"""Compares heads kept elsewhere (in the pin, at a witness or on paper) with those of a journal, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from controller.journal.chain import Head

OF_PIN: Final = "other-than-pinned"
OF_NOTE: Final = "other-than-noted"
Find: TypeAlias = Callable[[str, str, int], None]


class NotedHead(msgspec.Struct, frozen=True):
    """A noted head. `of` is its name in a sentence. `code` is that of the finding if the journal does not hold it."""

    head: Head
    of: str
    code: str


class NotedHeads:
    """The noted heads that were not yet found while a journal is read. `find` is called with code, sentence and
    entry.
    """

    def __init__(self, find: Find) -> None:
        self._find = find
        self._by_number: dict[int, list[NotedHead]] = {}
        self.count = 0
        """The number of noted heads, including a pin's."""
        self.not_compared = ""
        """A sentence about heads in files that are not here; empty if there are none."""

    def note(self, noted: NotedHead) -> None:
        self.count += 1
        self._by_number.setdefault(noted.head.number, []).append(noted)

    def compare(self, head: Head) -> None:
        """Compare a head of the journal. The end of a file and the beginning of the next have one number and two
        hashes.
        """
        found = self._by_number.get(head.number)
        if found is not None:
            self._by_number[head.number] = [noted for noted in found if noted.head != head]

    def end(self, first: int, last: int) -> None:
        """Report the heads that were not found. The journal holds the entries above `first` up to `last`."""
        gone: list[NotedHead] = []
        for number in sorted(self._by_number):
            for noted in self._by_number[number]:
                if number < first and noted.code != OF_PIN:
                    gone.append(noted)
                    continue
                why = f"ends with entry {last}" if number > last else "does not hold it"
                self._find(noted.code, f"{noted.of} is of entry {number}, and the journal {why}.", number)
        if gone:
            heads = f"{gone[0].of} is" if len(gone) == 1 else f"{len(gone)} noted heads are"
            said = f"{heads} of entries up to {gone[-1].head.number}, whose files are not here"
            self.not_compared = f"{said}: not compared."
