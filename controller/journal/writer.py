"""The thread that owns the open journal, awaited from an event loop.

SQLite's connection belongs to one thread, and a commit waits for the disk: both happen in the writer's thread, one call
after the other, in the order of the requests.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from threading import Thread, get_native_id
from typing import Any, Generic, TypeAlias, TypeVar

from controller.journal import JournalError
from controller.journal.chain import Head
from controller.journal.codec import EventT, InputT, Moment
from controller.journal.file import Identity
from controller.journal.folder import FileEnd, JournalFolder, delete_files, expired_files
from controller.journal.pinning import Doubt
from controller.journal.reader import Entry, JournalReader
from controller.journal.store import Committed, Journal
from firmware_bridge.messages import Message, message

T = TypeVar("T")


class Work:
    """The thread's present call, for a watchdog. `clock` returns seconds from any start."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began: float | None = None
        self.turns = 0
        """Calls that were begun or are done."""
        self.thread_id = 0
        """The kernel's number of the thread."""

    @property
    def seconds(self) -> float:
        """Return how long the present call has taken, or 0 if there is none."""
        began = self._began
        return 0.0 if began is None else self._clock() - began

    def begin(self) -> None:
        self._began = self._clock()
        self.turns += 1

    def end(self) -> None:
        self._began = None
        self.turns += 1


_Asked: TypeAlias = tuple[Callable[[], Any], "asyncio.Future[Any]", Callable[[Any], None]]


def _nothing(_: object) -> None:
    """Do nothing."""


class JournalWriter(Generic[InputT, EventT]):
    """An open journal for coroutines. It is made by `start`; all calls come from the loop that made it.

    A call that fails raises at the caller and leaves the thread alive. A call continues even if its caller is
    cancelled.
    """

    def __init__(
        self, journal: Journal[InputT, EventT], asked: SimpleQueue[_Asked | None], thread: Thread, work: Work
    ) -> None:
        self.work = work
        self._journal = journal
        self._asked = asked
        self._thread = thread
        self._closing: asyncio.Future[None] | None = None

    @classmethod
    async def start(cls, open_journal: Callable[[], Journal[InputT, EventT]]) -> JournalWriter[InputT, EventT]:
        """Open the journal in a new thread. Raise what `open_journal` raises, leaving no thread."""
        asked: SimpleQueue[_Asked | None] = SimpleQueue()
        opened: list[Journal[InputT, EventT]] = []
        work = Work()
        thread = Thread(target=_serve, args=(asked, work), name="journal", daemon=True)
        thread.start()
        try:
            await _put(asked, lambda: opened.append(open_journal()))
        except asyncio.CancelledError:
            _put(asked, lambda: opened[0].close() if opened else None)
            asked.put(None)
            raise
        except BaseException:
            asked.put(None)
            thread.join()
            raise
        return cls(opened[0], asked, thread, work)

    @property
    def identity(self) -> Identity:
        """The identity of the journal."""
        return self._journal.identity

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return self._journal.folder

    def reader(self, path: Path) -> JournalReader[InputT, EventT]:
        """Open a file of the journal, with its key, in any thread; the reader belongs to that thread. Raise
        `JournalError`.
        """
        return self._journal.reader(path)

    @property
    def head(self) -> Head:
        """The end of the chain, as committed."""
        return self._journal.head

    @property
    def begun(self) -> int:
        """The time at which the current file was begun, in UTC."""
        return self._journal.begun

    @property
    def public_key(self) -> bytes:
        """The public key that verifies the heads."""
        return self._journal.public_key

    async def append(self, given: InputT, events: Sequence[EventT], *, round: int, moment: Moment,  # noqa: A002  # the journal's word
                     signs: bool = False, then: Callable[[Committed], None] = _nothing) -> Committed:  # fmt: skip
        """Call `Journal.append` and return when the entries are durable. `events` must not change meanwhile.

        `then` is called first, one loop iteration before the caller continues; the caller gets any exception that it
        raises. It is not called for a cancelled caller.
        """
        return await self._call(
            lambda: self._journal.append(given, events, round=round, moment=moment, signs=signs), then
        )

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """The doubts about the journal as it was found, until a person has decided."""
        return self._journal.pin.doubts

    @property
    def pin_fails(self) -> Message | None:
        """Return why the pin cannot be written, or None if it can."""
        return self._journal.pin.fails

    @property
    def is_full(self) -> bool:
        """Return whether the disk lacks space for another round."""
        return not self._journal.reserve.is_held

    async def accept(self) -> None:
        """Accept the journal as it is, because a person decided so. Without a doubt, do nothing."""
        if self.doubts:
            await self._call(self._journal.accept)

    async def keep_room(self) -> None:
        """Try again to reserve space for the end of a round, after it was freed."""
        if self.is_full:
            await self._call(self._journal.reserve.hold)

    async def save(self, state: object) -> None:
        """Call `Journal.save`."""
        await self._call(lambda: self._journal.save(state))

    async def sign_head(self, moment: Moment, *, stops: bool = False) -> None:
        """Call `Journal.sign_head`."""
        await self._call(lambda: self._journal.sign_head(moment, stops=stops))

    async def begin_file(self, state: object, moment: Moment) -> None:
        """Call `Journal.begin_file`."""
        await self._call(lambda: self._journal.begin_file(state, moment))

    async def size(self) -> int:
        """Return the size in bytes of the file that is written to."""
        return await self._call(self._journal.size)

    async def expired(self, keep_days: int) -> tuple[FileEnd, ...]:
        """Call `folder.expired_files`."""
        return await self._call(lambda: expired_files(self._journal.folder, keep_days))

    async def delete(self, names: Sequence[str]) -> None:
        """Call `folder.delete_files`."""
        await self._call(lambda: delete_files(self._journal.folder, names))

    async def answer(self) -> None:
        """Return when the thread has finished all earlier requests."""
        await self._call(lambda: None)

    async def read(self, after: int = 0, limit: int | None = None) -> list[Entry[InputT, EventT]]:
        """Return the entries above `after`, at most `limit`; entries appended before are among them."""
        return await self._call(lambda: list(islice(self._folder().entries(after), limit)))

    def _folder(self) -> JournalFolder[InputT, EventT]:
        return self._journal.files()

    async def close(self) -> None:
        """Finish the requests, close the journal and end the thread. A second call waits for the same end."""
        if self._closing is None:
            self._closing = _put(self._asked, self._journal.close)
            self._asked.put(None)
        try:
            await asyncio.shield(self._closing)
        finally:
            if self._closing.done():
                self._thread.join()

    async def _call(self, work: Callable[[], T], then: Callable[[T], None] = _nothing) -> T:
        if self._closing is not None:
            raise JournalError("journal-io", message("The journal is closed."), message("Restart the daemon."))
        return await _put(self._asked, work, then)


def _put(
    asked: SimpleQueue[_Asked | None], work: Callable[[], T], then: Callable[[T], None] = _nothing
) -> asyncio.Future[T]:
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    asked.put((work, future, then))
    return future


def _serve(asked: SimpleQueue[_Asked | None], at: Work) -> None:
    at.thread_id = get_native_id()
    while (call := asked.get()) is not None:
        at.begin()
        work, future, then = call
        result: Any = None
        failure: BaseException | None = None
        try:
            result = work()
        except BaseException as error:
            failure = error
        at.end()
        # The loop may be closed: nothing waits for the result then.
        with suppress(RuntimeError):
            future.get_loop().call_soon_threadsafe(_settle, future, result, failure, then)
        del call, work, future, result, failure, then  # keep no object alive while waiting


def _settle(
    future: asyncio.Future[Any], result: Any, failure: BaseException | None, then: Callable[[Any], None]
) -> None:
    if future.done():  # the caller was cancelled
        return
    if failure is None:
        try:
            then(result)
        except Exception as error:
            failure = error
    if failure is None:
        future.set_result(result)
    else:
        future.set_exception(failure)
