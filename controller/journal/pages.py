"""The journal's content in pages, for any number of followers: each page is read once, while the table runs.

One thread reads, over a separate connection for each page, so that neither the writer nor the end of a file waits.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec

from controller.journal import JournalError
from controller.journal.file import damaged
from controller.journal.folder import files_in
from controller.journal.reader import JournaledDecision, JournalReader
from firmware_bridge.messages import message

T = TypeVar("T")

PAGE: Final = 256  # entries
KEPT: Final = 32  # pages
_ROWS: Final = 64  # decisions read in one query


class Pages(Generic[T]):
    """The pages of the journal in that folder. `make` converts a decision for the readers; it is called in the thread.

    `spent` is called with the processor time in seconds of each page. `open_file` opens a file for reading: if it does
    so with the local key, a decision's `holds` includes its MAC.
    """

    def __init__(
        self,
        folder: Path,
        make: Callable[[JournaledDecision], Iterable[T]],
        spent: Callable[[float], None] = lambda _: None,
        open_file: Callable[[Path], JournalReader[Any, Any]] = JournalReader.open_to_read,
    ) -> None:
        self._open_file = open_file
        self._folder = folder
        self._make = make
        self._spent = spent
        self._thread = ThreadPoolExecutor(1, "pages")
        self._begins: dict[Path, int] = {}  # the number before the file's first entry
        self._placed: set[Path] = set()  # files known to follow the previous file
        self._kept: OrderedDict[tuple[int, int], asyncio.Future[list[T]]] = OrderedDict()

    async def page(self, after: int, until: int) -> list[T]:
        """Return the converted decisions with entries in that range; `until` is durable. Raise `JournalError`.

        The same request gets the same list.
        """
        key = after, until
        reading = self._kept.get(key)
        if reading is None:
            reading = self._kept[key] = asyncio.ensure_future(self._read(after, until))
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        try:
            return await asyncio.shield(reading)
        except JournalError:
            self._kept.pop(key, None)
            raise

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _read(self, after: int, until: int) -> list[T]:
        found, seconds = await asyncio.get_running_loop().run_in_executor(self._thread, self._measured, after, until)
        self._spent(seconds)
        return found

    # -- in the thread

    def _measured(self, after: int, until: int) -> tuple[list[T], float]:
        began = time.thread_time()
        found = list(self._found(after, until))
        return found, time.thread_time() - began

    def _found(self, after: int, until: int) -> Iterable[T]:
        for path in self._files_from(after):
            with closing(self._open_file(path)) as reader:
                self._require_place(reader)
                while rows := list(reader.decisions(after, _ROWS)):
                    for decision in rows:
                        if decision.first > until:
                            return
                        try:
                            yield from self._make(decision)
                        except (ValueError, TypeError, LookupError, msgspec.MsgspecError) as error:
                            why = message("the entries up to {last} cannot be put into words", last=decision.last)
                            raise damaged(path, f"{why} ({error})") from error
                    after = rows[-1].last
                    if after >= until:
                        return

    def _require_place(self, reader: JournalReader[Any, Any]) -> None:
        """Raise `JournalError` if the file does not begin where the previous one ends, or belongs to another
        journal.
        """
        path, header = reader.path, reader.header
        if path in self._placed:
            return
        files = files_in(self._folder)
        if path not in files:
            return  # deleted by age meanwhile
        at = files.index(path)
        for other in {files[max(at - 1, 0)], files[-1]} - {path}:
            with closing(JournalReader[Any, Any].open_to_read(other)) as beside:
                if beside.header.identity != header.identity:
                    raise damaged(path, message("it belongs to a different journal from {name}", name=other.name))
                if at and other == files[at - 1] and (header.previous_file, header.previous) != (
                    beside.header.file_id, beside.head()
                ):  # fmt: skip
                    raise damaged(path, message("it does not begin where {name} ends", name=other.name))
        self._placed.add(path)

    def _files_from(self, after: int) -> list[Path]:
        files = files_in(self._folder)
        at = bisect_right(files, after, key=self._number_before)
        return files[max(at - 1, 0) :]

    def _number_before(self, path: Path) -> int:
        if path not in self._begins:
            reader: JournalReader[Any, Any]
            with closing(JournalReader.open_to_read(path)) as reader:
                self._begins[path] = reader.header.previous.number
        return self._begins[path]
