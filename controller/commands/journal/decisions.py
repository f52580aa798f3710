"""A decision of the journal as people and commands read it: its input and its events, from the stored JSON.

Events are stored as they are published, so that this module needs no key and never handles a concealed card.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import msgspec

from controller.daemon.journal_kinds import check_input, read_event
from controller.journal.reader import JournaledDecision
from controller.table.events import AnyEvent

DEVICE_INPUTS: Final = frozenset(
    {"device_reported", "device_connected", "device_gone", "device_contradicted", "reports_missing", "status_received",
     "command_answered"}
)  # fmt: skip
DEVICE: Final = "device"
_NAME: Final = b'{"event":"'
PROGRAM: Final = "program"


class Happened(NamedTuple):
    """An event with its journal entry. `typed` is the event for the table's fold, with a placeholder for each face-down
    card; None for a kind that this version does not know.
    """

    entry: int
    event: dict[str, Any]
    typed: AnyEvent | None

    @property
    def name(self) -> str:
        return str(self.event["event"])


class DecisionInRound(NamedTuple):
    """A decision. `round` is the round that was in progress after it, or else the last round."""

    entry: int
    utc_ns: int
    round: int
    given: dict[str, Any]
    events: tuple[Happened, ...]

    @property
    def operation(self) -> dict[str, Any]:
        """A person's operation; empty if the input was not a person's."""
        found = self.given.get("operation", {}) if self.given.get("input") == "person_acted" else {}
        return found if isinstance(found, dict) else {}

    @property
    def by(self) -> str:
        """The person's id; else the device or the program."""
        if self.operation:
            return str(self.given["person"])
        return DEVICE if self.given.get("input") in DEVICE_INPUTS else PROGRAM

    @property
    def role(self) -> str:
        """The person's rank in words; empty if the input was not a person's."""
        return str(self.given["role"]).replace("_", " ") if self.operation else ""


class UnreadableEntryError(ValueError):
    """Raised for an entry whose content cannot be put into words. `entry` is 0 if unknown."""

    def __init__(self, why: str, entry: int = 0) -> None:
        super().__init__(why)
        self.entry = entry


@contextmanager
def telling(entry: int = 0) -> Iterator[None]:
    """Raise `UnreadableEntryError` for any error while an entry is put into words."""
    try:
        yield
    except UnreadableEntryError as error:
        raise UnreadableEntryError(str(error), error.entry or entry) from error
    except UnicodeEncodeError:  # the text is right, but the terminal cannot show it
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, StopIteration, TypeError, ValueError,
            msgspec.MsgspecError) as error:  # fmt: skip
        said = str(error) if isinstance(error, msgspec.MsgspecError) else f"{type(error).__name__} {error}"
        raise UnreadableEntryError(said.rstrip("."), entry) from error


def read(stored: JournaledDecision) -> DecisionInRound:
    """Read a decision. Raise `UnreadableEntryError` for anything but an input with its events."""
    with telling(stored.last):
        return _read(stored)


def _read(stored: JournaledDecision) -> DecisionInRound:
    with telling(stored.first):
        check_input(stored.input)
    events = []
    for entry, event in zip(range(stored.first + 1, stored.last + 1), stored.events, strict=True):
        with telling(entry):
            events.append(Happened(entry, _published(stored, entry, event), read_event(event)))
    return DecisionInRound(
        stored.first,
        stored.utc_ns,
        stored.round,
        _decode(stored.input),
        tuple(events),
    )


def name_of(event: bytes) -> str:
    """Return the name of an event from its stored form, in which the name comes first, or "" for anything else."""
    found = event[len(_NAME) : event.find(b'"', len(_NAME))] if event.startswith(_NAME) else b""
    return found.decode(errors="replace")


def _published(stored: JournaledDecision, entry: int, event: bytes) -> dict[str, Any]:
    """Return the event as the API publishes it."""
    changed = {} if stored.holds else {"changed": True}
    return {"entry": entry, "utc_ns": stored.utc_ns, "round": stored.round, **_decode(event), **changed}


class EventLine(msgspec.Struct, frozen=True):
    """An event, and the author of its input: a person (id, rank, operation), the device or the program."""

    entry: int
    utc_ns: int
    by: str
    role: str
    event: dict[str, Any]
    operation: dict[str, Any] = {}


def line_of(decided: DecisionInRound, happened: Happened) -> EventLine:
    return EventLine(happened.entry, decided.utc_ns, decided.by, decided.role, happened.event, decided.operation)


_decode = msgspec.json.Decoder(dict[str, Any]).decode
