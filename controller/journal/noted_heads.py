"""Compares heads kept elsewhere (in the pin, at a witness or on paper) with those of a journal, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from controller.journal.chain import Head
from firmware_bridge.messages import AnyText, Message, counted, message

OF_PIN: Final = "other-than-pinned"
OF_NOTE: Final = "other-than-noted"
Find: TypeAlias = Callable[[str, AnyText, int], None]


class NotedHead(msgspec.Struct, frozen=True):
    """A noted head. `of` is its name in a sentence. `code` is that of the finding if the journal does not hold it."""

    head: Head
    of: Message
    code: str


class NotedHeads:
    """The noted heads that are not yet found in the journal that is being read. `find` is called with code, sentence
    and entry.
    """

    def __init__(self, find: Find) -> None:
        self._find = find
        self._by_number: dict[int, list[NotedHead]] = {}
        self.count = 0
        """The number of noted heads, including a pin's."""
        self.not_compared: Message | None = None
        """A sentence about heads in files that are not here; None if there are none."""

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
                said = message(
                    "{head} is at entry {entry}, and the journal does not hold it.", head=noted.of, entry=number
                )
                if number > last:
                    said = message(
                        "{head} is at entry {entry}, and the journal ends with entry {last}.",
                        head=noted.of,
                        entry=number,
                        last=last,
                    )
                self._find(noted.code, said, number)
        if gone:
            entry = gone[-1].head.number
            self.not_compared = counted(
                "{head} is at entry {entry}, whose file is not here: not compared.",
                "{count} noted heads are at entries up to {entry}, whose files are not here: not compared.",
                len(gone),
                head=gone[0].of,
                entry=entry,
            )
