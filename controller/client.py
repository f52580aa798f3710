"""The client for a table's own system: operations as typed values, events without a gap, refusals as exceptions.

docs/client.md shows how it is used. `controller.api.client`, below it, does not wait for a daemon that is not running.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from uuid import uuid4

import msgspec

from controller.api.bodies import (
    BEGINNING,
    EnrolmentRequest,
    EventId,
    OperationAnswer,
    OperationRequest,
    PreviewRequest,
    decode_operation_hook,
    encode,
)
from controller.api.client import ApiClient, NoTableError, NotAdmittedError, NotInJournalError, TableUnreachableError
from controller.api.preview import PreviewAnswer
from controller.api.view import TableView
from controller.table import operations
from controller.table.offers import Offer
from controller.table.operations import AnyOperation
from firmware_bridge.messages import message

__all__ = [
    "BEGINNING",
    "AnswerLostError",
    "EventId",
    "NoTableError",
    "NotAdmittedError",
    "NotInJournalError",
    "Offer",
    "OperationAnswer",
    "PreviewAnswer",
    "RequestRefusedError",
    "StreamedEvent",
    "TableClient",
    "TableUnreachableError",
    "TableView",
    "operation_of",
    "operations",
]

PAUSES: Final = (0.1, 0.2, 0.5, *(1.0,) * 60)  # seconds between two tries; after the last try the client gives up
Answer = TypeVar("Answer")


class RequestRefusedError(Exception):
    """Nothing was done. `code` is for programs, `sentence` for people; `next_step` says what the table waits for."""

    def __init__(self, code: str, sentence: str, next_step: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.next_step = next_step


class AnswerLostError(TableUnreachableError):
    """It is not known whether the operation was entered. `TableClient.answer_of(id)` says so once the table answers."""

    def __init__(self, id_: str, lost: TableUnreachableError) -> None:
        super().__init__(lost.message, message("Check whether it was entered before you enter it again."))
        self.id = id_


class StreamedEvent(msgspec.Struct, frozen=True):
    """An event of the table. The stream can be resumed after `id`. The OpenAPI document describes `fields`."""

    id: EventId
    utc_ns: int
    round: int
    name: str
    fields: dict[str, Any]


class TableClient:
    """One table, at its Unix socket (a path) or at its port of screens (an address). An async context manager.

    `cookie` belongs to a screen, for the port. `pauses` are the seconds between two tries while the daemon does not
    answer; after the last one `TableUnreachableError` is raised. `new_id` makes the ids of operations.
    """

    def __init__(
        self,
        at: Path | str,
        cookie: str = "",
        *,
        pauses: Iterable[float] = PAUSES,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        new_id: Callable[[], str] = lambda: str(uuid4()),
    ) -> None:
        self._api = ApiClient(at, cookie)
        self._pauses = pauses
        self._sleep = sleep
        self._new_id = new_id

    async def __aenter__(self) -> Self:
        await self._api.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._api.__aexit__(kind, error, trace)

    # -- reading

    async def state(self) -> TableView:
        """Return the table as it is now."""
        return await self._patiently(self._api.state)

    async def lawful(self) -> list[Offer]:
        """Return what people can enter now, with what would be refused. `operation_of` turns one into an operation."""
        return msgspec.json.decode(await self._patiently(lambda: self._api.get("/v1/lawful")), type=list[Offer])

    async def preview(self, operation: AnyOperation) -> PreviewAnswer:
        """Return what a confirmation, a ruling, an abandonment or a correction would change."""
        body = encode(PreviewRequest(operation))
        answer = await self._patiently(lambda: self._api.post("/v1/preview", body))
        return msgspec.json.decode(answer, type=PreviewAnswer)

    async def events(self, after: EventId = BEGINNING) -> AsyncGenerator[StreamedEvent, None]:
        """Yield every event after that one exactly once, even if the connection is lost or the daemon restarts.

        The stream does not end. Raise `NotInJournalError` if the table's journal does not have that event.
        """
        pauses = iter(self._pauses)
        while True:
            lost = TableUnreachableError(message("The table no longer answers."), message("Is the daemon running?"))
            try:
                if not after.journal:
                    after = EventId((await self._api.state()).journal, after.entry)
                async with aclosing(self._api.events(after)) as stream:
                    async for event in stream:
                        pauses = iter(self._pauses)
                        if event is not None:
                            after = EventId(after.journal, event["entry"])
                            yield _event(after, event)
            except TableUnreachableError as error:
                if _is_final(error):
                    raise
                lost = error
            if (pause := next(pauses, None)) is None:
                raise lost
            await self._sleep(pause)

    # -- operating

    async def enter(
        self,
        operation: AnyOperation,
        *,
        person: str = "",
        pin: str = "",
        round_number: int | None = None,
        as_of: int = 0,
        repeats: int = 0,
    ) -> OperationAnswer:
        """Enter an operation. Raise `RequestRefusedError`; `AnswerLostError` if it may have been entered.

        `round_number` is the round that the person looked at; None means the present round. docs/api.md explains the
        rest.
        """
        if round_number is None:
            round_number = (await self.state()).round
        answer = await self.send(
            OperationRequest(self._new_id(), round_number, operation, person, pin, as_of=as_of, repeats=repeats)
        )
        if answer.accepted:
            return answer
        next_step = ""
        with suppress(TableUnreachableError, NoTableError):
            next_step = str((await self._api.state()).next_step)
        raise RequestRefusedError(answer.code, answer.explanation, next_step)

    async def send(self, request: OperationRequest) -> OperationAnswer:
        """Send a request and return the answer, which may be a refusal. Raise `AnswerLostError`.

        A lost answer is looked up by the request's id. If the table has none, the request is sent again; the table
        recognizes a repeated id.
        """
        pauses = iter(self._pauses)
        lost = False
        while True:
            try:
                found = await self.answer_of(request.id) if lost and not _recalls(request) else None
                return found or await self._api.operate(request)
            except TableUnreachableError as error:
                if _is_final(error):
                    raise
                lost = True
                if (pause := next(pauses, None)) is None:
                    raise AnswerLostError(request.id, error) from error
                await self._sleep(pause)

    async def answer_of(self, id_: str) -> OperationAnswer | None:
        """Return the answer to an operation of this or the previous round, or None if the table recorded none."""
        try:
            return msgspec.json.decode(await self._api.get(f"/v1/operations/{id_}"), type=OperationAnswer)
        except TableUnreachableError as error:
            if error.code == "no-answer":
                return None
            raise

    async def enrol(self, name: str, person: str, pin: str) -> str:
        """Enrol as the screen `name`, at the port. Return the cookie, a secret for the next client.

        Raise `RequestRefusedError`. If the answer is lost, remove that screen and enrol another.
        """
        answer, cookie = await self._api.enrol(EnrolmentRequest(self._new_id(), person, pin, name))
        if not answer.accepted:
            raise RequestRefusedError(answer.code, answer.explanation, "")
        return cookie

    async def _patiently(self, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Repeat a request until the daemon answers. A refusal is also an answer."""
        for pause in self._pauses:
            try:
                return await ask()
            except TableUnreachableError as error:
                if _is_final(error):
                    raise
                await self._sleep(pause)
        return await ask()


def operation_of(offer: Offer, **added: Any) -> AnyOperation:
    """Return the operation of an offer. `added` are the values that it `needs`. Raise `msgspec.ValidationError`."""
    given = {"operation": offer.operation, **offer.arguments, **added}
    return msgspec.convert(given, AnyOperation, dec_hook=decode_operation_hook)


def _event(id_: EventId, event: dict[str, Any]) -> StreamedEvent:
    head = {"entry", "utc_ns", "round", "event"}
    fields = {name: value for name, value in event.items() if name not in head}
    return StreamedEvent(id_, event["utc_ns"], event["round"], event["event"], fields)


def _is_final(error: TableUnreachableError) -> bool:
    """Return whether the next try would get the same answer."""
    return bool(error.code) or isinstance(error, NotAdmittedError | NotInJournalError)


def _recalls(request: OperationRequest) -> bool:
    """Return whether only the repeated request itself gets the whole answer."""
    return isinstance(request.operation, operations.RecallCards)
