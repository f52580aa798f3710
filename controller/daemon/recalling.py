"""Answers from the journal about earlier operations: recalled cards, and ids of requests that are used again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from controller.api.bodies import OperationAnswer, RecalledCard
from controller.api.round_events import LONGEST_START
from controller.journal import JournalError
from controller.journal.reader import Entry
from controller.table.events import AnyEvent, CardsRecalled
from controller.table.inputs import PersonActed
from controller.table.model import Answer
from controller.table.perform import name_of
from controller.table.recall import cards_recalled
from firmware_bridge.messages import message

AT_ONCE: Final = 200  # entries; a round has about a hundred
NO_CARDS: Final = message(
    "The journal has no such cards: there were none in that place, or the file of that round was deleted."
)

Read: TypeAlias = Callable[[int, int], Awaitable[list[Entry[Any, Any]]]]
"""Returns the journal's entries after a number, up to a limit."""


async def answer_recall(accepted: int, read: Read) -> OperationAnswer:
    """Return the answer to the person whose operation was accepted in entry `accepted`. It may be requested again."""
    try:
        cards = await _recalled_by(accepted, read)
    except JournalError as error:
        return OperationAnswer.noted(accepted, error.with_hint, code=error.code)
    return OperationAnswer(True, accepted, recalled=cards) if cards else OperationAnswer.noted(accepted, NO_CARDS)


async def _recalled_by(accepted: int, read: Read) -> tuple[RecalledCard, ...]:
    """Return the cards. They follow from the event alone: a request that is repeated in other words shows the same."""
    (entry,) = await read(accepted, 1)
    recall = entry.value
    assert isinstance(recall, CardsRecalled), "it follows the entry of the operation"
    events = await _events_of(recall.of_round, entry.number, read)
    return tuple(RecalledCard(*card) for card in cards_recalled(recall, events))


async def _events_of(number: int, until: int, read: Read) -> list[AnyEvent]:
    """Return the events of a round up to an entry. Starts that were taken back may lie between its parts."""
    found: list[AnyEvent] = []
    after, passed = await _before(number, until, read), 0
    while after < until and passed < LONGEST_START and (entries := await read(after, AT_ONCE)):
        wanted = [entry for entry in entries if entry.round == number and entry.number < until]
        found += [entry.value for entry in wanted if entry.kind == "event"]
        passed = passed + len(entries) if min(entry.round for entry in entries) > number else 0
        after = entries[-1].number
    return found


async def _before(number: int, until: int, read: Read) -> int:
    """Return the entry before the first one of that round or a later one, by binary search: the rounds of entries
    ascend.
    """
    low, high = 0, until
    while low < high:
        middle = (low + high) // 2
        (entry,) = await read(middle, 1)
        if entry.round < number:
            low = entry.number
        else:
            high = middle
    return low


ID_USED: Final = OperationAnswer.refused(
    "id-used", message("This id was used for another operation. Send the operation with a new id.")
)


async def is_repeat(given: PersonActed, answer: Answer, read: Read) -> bool:
    """Return whether `given` is the operation that was answered. Raise `JournalError`.

    The input comes before the event of its answer. If its file was deleted, the person and the operation decide.
    """
    if (answer.person, answer.operation) != (given.person, name_of(given.operation)):
        return False
    first = next((entry.value for entry in await read(answer.entry - 2, 1)), None)
    return not isinstance(first, PersonActed) or first.operation == given.operation
