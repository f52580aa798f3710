"""The table of a running daemon: its view, its events, and entries.

A thread follows the table, so that events are printed while a person types. The other methods are called from outside
the thread.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from controller.api.bodies import EventId, OperationAnswer, OperationRequest
from controller.api.client import ApiClient, NoTableError, NotAdmittedError, NotInJournalError, TableUnreachableError
from controller.api.view import TableView
from controller.commands.operate.help_text import in_words
from controller.language import ENGLISH, Speaker
from controller.people_words.table_of_words import NothingDoneError
from firmware_bridge.messages import Message, message

TRY_EVERY: Final = 0.5  # seconds between two attempts to reach a daemon that has ended
LOOK_EVERY: Final = 0.2  # seconds until a Ctrl-C that another thread received is noticed
T = TypeVar("T")


class RunningTable:
    """A running table, as a context manager. `heard` is called with every event; `say` with sentences about the daemon.

    Both are called in its thread. `patience` is how many seconds an entry waits for a daemon that went away.
    """

    def __init__(
        self,
        socket: Path,
        heard: Callable[[dict[str, Any]], None],
        say: Callable[[str], None],
        *,
        patience: float,
        language: str = ENGLISH,
    ) -> None:
        self._socket = socket
        self._heard = heard
        self._told = say
        self._language = language
        self._patience = patience
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="table", daemon=True)
        self._shown_up_to = 0  # every event up to this entry has been passed to `heard`
        self.people: dict[str, str] = {}  # the names of those who may act, by id; empty if the daemon does not say
        self.lost = False
        self.changed: Callable[[], None] = lambda: None  # called when the view may have changed

    def __enter__(self) -> Self:
        """Connect to the table. Raise `TableUnreachableError` and `NoTableError`."""
        self._thread.start()
        try:
            self._call(self._open())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._call(self._close())
        self._stop()

    def send(self, request: OperationRequest) -> OperationAnswer:
        """Send a request and return the answer, after `heard` was called with its events.

        If the daemon ends before it answers, the same request is sent again once it runs: requests with the same id
        have one effect and one answer. Raise `NothingDoneError` if it remains unknown whether it was entered.
        """
        return self._call(self._send(request))

    def until(self, done: Callable[[TableView], bool]) -> None:
        """Wait until `done` is true of the table. Raise `NothingDoneError` if the daemon goes away and does not come
        back.
        """
        self._call(self._until_so(done))

    def lawful(self) -> list[dict[str, Any]] | None:
        """Return the operations that the daemon offers, or None if this daemon does not say."""
        return self._call(self._client.lawful())

    # -- in the thread

    def _call(self, asked: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the thread. Ctrl-C ends the waiting."""
        answer = asyncio.run_coroutine_threadsafe(asked, self._loop)
        try:
            while not concurrent.futures.wait((answer,), LOOK_EVERY).done:
                pass  # the signal may go to another thread, which does not wake this one
            return answer.result()
        except BaseException:
            answer.cancel()
            raise

    async def _open(self) -> None:
        self._client = await ApiClient(self._socket, language=self._language).__aenter__()
        try:
            self.view = in_words(await self._client.state(), self._language)
            self.people = await self._client.people()
        except BaseException:
            await self._close_client()
            raise
        self._table = self.view.table
        self._changed = asyncio.Condition()
        self._last = EventId(self.view.journal, self.view.entry)
        self._shown_up_to = self.view.entry
        self._following = asyncio.create_task(self._follow())

    async def _close(self) -> None:
        self._following.cancel()
        with suppress(asyncio.CancelledError):
            await self._following
        await self._close_client()

    async def _close_client(self) -> None:
        await self._client.__aexit__(None, None, None)

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _send(self, request: OperationRequest) -> OperationAnswer:
        if self.lost:
            await self._until(lambda: not self.lost, within=True)
        if self.view.table != self._table:
            raise NothingDoneError(
                message(
                    "{table} answers here instead of {expected}; end this command and start it again",
                    table=self.view.table,
                    expected=self._table,
                )
            )
        before = self.view
        while True:
            try:
                answer = await self._client.operate(request)
                break
            except NotAdmittedError as error:
                raise NothingDoneError(str(error).rstrip(".")) from error
            except TableUnreachableError:
                await self._note_lost()
                await self._until(lambda: not self.lost, within=True)
                if (self.view.table, self.view.journal) != (before.table, before.journal):
                    raise NothingDoneError(
                        message(
                            "the table has begun another journal since the line was sent, so the line was not sent "
                            "again; check whether it was done before you enter it again"
                        )
                    ) from None
        if answer.accepted:
            await self._until(lambda: self.lost or self._shown_up_to > answer.entry)
        return answer

    async def _until_so(self, done: Callable[[TableView], bool]) -> None:
        while self.lost or not done(self.view):
            if self.lost:
                await self._until(lambda: not self.lost, within=True)
            await self._until(lambda: self.lost or done(self.view))

    async def _until(self, done: Callable[[], bool], *, within: bool = False) -> None:
        """Wait. With `within`, wait for an absent daemon no longer than the patience. Raise `NothingDoneError`."""
        try:
            async with asyncio.timeout(self._patience if within else None), self._changed:
                await self._changed.wait_for(done)
        except TimeoutError:
            raise NothingDoneError(
                message(
                    "the daemon does not answer, and it is not known whether the line was done; start the "
                    "daemon and look at the table before you enter it again"
                )
            ) from None

    async def _follow(self) -> None:
        while True:
            try:
                async for event in self._client.events(self._last):
                    if event is not None:
                        self._last = EventId(self._last.journal, event["entry"])
                        if event["event"] == "configuration_recorded":
                            self.people = await self._client.people()
                        self._heard(event)
                    elif not await self._update_view():
                        break
            except NotInJournalError as other:
                self._say(message("The table has begun another journal. Look at the table before you continue."))
                self._last = other.newest
            except (TableUnreachableError, NoTableError):
                pass
            await self._note_lost()
            while True:
                await asyncio.sleep(TRY_EVERY)
                if await self._update_view():
                    break

    async def _update_view(self) -> bool:
        """Update the view, and return whether the daemon shows the table."""
        try:
            view = in_words(await self._client.state(), self._language)
        except (TableUnreachableError, NoTableError):
            return False
        if self.lost:
            self.people = await self._client.people()
            self._note_found(view)
        self.view = view
        await self._notify()
        return True

    def _note_found(self, view: TableView) -> None:
        """Note that the daemon runs again."""
        self.lost = False
        if view.table != self.view.table:
            self._say(
                message(
                    "Another table answers at this socket: {table}, not {expected}. {next_step}",
                    table=view.table,
                    expected=self.view.table,
                    next_step=view.next_step,
                )
            )
        elif view.journal != self._last.journal:
            self._say(message("The daemon runs again, with another journal. {next_step}", next_step=view.next_step))
        else:
            self._say(message("The daemon runs again. {next_step}", next_step=view.next_step))
        if view.journal != self._last.journal:
            self._last = EventId(view.journal, view.entry)

    async def _note_lost(self) -> None:
        if not self.lost:
            self.lost = True
            self._say(
                message(
                    "The daemon does not answer. Nothing is entered until it runs again. Press Ctrl-C to stop waiting."
                )
            )
            await self._notify()

    def _say(self, said: Message) -> None:
        self._told(Speaker(self._language)(said))

    async def _notify(self) -> None:
        self._shown_up_to = self._last.entry
        async with self._changed:
            self._changed.notify_all()
        self.changed()
