"""Detects whether an operation under the id of an answered one is that operation sent again. The journal has both."""

from __future__ import annotations

from typing import Final

from controller.api.bodies import OperationAnswer
from controller.daemon.recalling import Read
from controller.table.inputs import PersonActed
from controller.table.model import Answer
from controller.table.perform import name_of
from firmware_bridge.messages import message

ID_USED: Final = OperationAnswer.refused(
    "id-used", message("This id was used for another operation. Send the operation with a new id.")
)


async def is_repeat(given: PersonActed, answer: Answer, read: Read) -> bool:
    """Return whether `given` is the operation that was answered. Raise `JournalError`.

    The input comes before the event of its answer. If its file was deleted, person and kind of operation decide.
    """
    if (answer.person, answer.operation) != (given.person, name_of(given.operation)):
        return False
    first = next((entry.value for entry in await read(answer.entry - 2, 1)), None)
    return not isinstance(first, PersonActed) or first.operation == given.operation
