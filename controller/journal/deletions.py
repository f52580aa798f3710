"""Compares the journal's records of files deleted by age with the retention period that it records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from controller.journal.file import Header
from firmware_bridge.messages import AnyText, message

Find: TypeAlias = Callable[[str, AnyText, int], None]
End: TypeAlias = tuple[str, int, str, int]
"""The end of a file: its id, the number and hash of its last entry, and when the next one was begun."""

_DAY_NS: Final = 86_400 * 1_000_000_000
_DELETED: Final = b'"event":"files_deleted"'
_CONFIGURED: Final = b'"event":"configuration_recorded"'


class Deletions:
    """The check, while a journal is read in order. `find` is called with code, sentence and entry."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._keep_days = 0
        self._begun_ns = 0
        self._ends: set[End] = set()

    def begin(self, header: Header, opening: Any) -> None:
        """Begin a file with its opening state as plain values."""
        self._begun_ns = header.created_utc_ns
        self._keep_days = _keep_days(opening.get("table") if isinstance(opening, dict) else None)

    def take(self, number: int, texts: Sequence[bytes], *, is_signed: bool) -> None:
        """Take the events of a decision that ends with entry `number`."""
        for text in texts:
            if _CONFIGURED in text:
                self._keep_days = _keep_days(msgspec.json.decode(text))
            elif _DELETED in text:
                self._deleted(number, msgspec.json.decode(text), is_signed=is_signed)

    def explain(self, end: End) -> bool:
        """Return whether a record says that the file with that end was deleted."""
        return end in self._ends

    def _deleted(self, number: int, event: Any, *, is_signed: bool) -> None:
        try:
            ends = [(one["id"], one["last"], one["hash"], one["ended_utc_ns"]) for one in event["files"]]
            age = min((self._begun_ns - ended for *_, ended in ends), default=0)
        except (KeyError, TypeError):
            self._find("deletion-not-signed", message("A record of deleted files is not as it is written."), number)
            return
        if not is_signed:
            self._find("deletion-not-signed", message("A record of deleted files is not signed."), number)
        elif not self._keep_days or age < self._keep_days * _DAY_NS:
            days = age // _DAY_NS
            said = message("Files were deleted after {days} days, but had to be kept forever.", days=days)
            if self._keep_days:
                said = message(
                    "Files were deleted after {days} days, but had to be kept for {kept} days.",
                    days=days,
                    kept=self._keep_days,
                )
            self._find("deletion-not-due", said, number)
        else:
            self._ends.update(ends)


def _keep_days(holder: Any) -> int:
    """Return the retention in days from the object that contains the recorded configuration, or 0."""
    configuration = holder.get("configuration") if isinstance(holder, dict) else None
    found = configuration.get("keep_days") if isinstance(configuration, dict) else 0
    return found if type(found) is int else 0
