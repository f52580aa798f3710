"""The memory of a device that drivers pass from one link to the next.

Its reports may hold concealed cards, so it stays in memory; the journal saves its own part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from firmware_bridge.allowance import Allowance
from firmware_bridge.cards import Evidence

KEPT: Final = 64  # reports; a device repeats at most those of its window
NONCES_KEPT: Final = 4096  # one for each of the last links
NOTED_IN_A_ROW: Final = 16  # contradictions
NOTED_AGAIN_AFTER: Final = 60.0  # seconds until another contradiction may be reported


class JournaledMemory(msgspec.Struct, frozen=True):
    """The part that a journal holds: the last reports, each with boot and number, the one that was given up, and the
    nonces that devices used, oldest first."""

    reports: tuple[tuple[int, int, Evidence], ...] = ()
    passed: tuple[int, int] | None = None
    nonces: tuple[bytes, ...] = ()


_NOTHING: Final = JournaledMemory()


class LinkMemory:
    """The memory of one device, which begins with what the journal holds. A report or a gap is named by (boot, number).

    `ended_for` is the report for whose absence a link was ended. `passed` is the one that was then given up, and
    `passed_newest` the last report that the device had made by then, or None if that is not known.
    """

    def __init__(self, journaled: JournaledMemory = _NOTHING) -> None:
        self.ended_for: tuple[int, int] | None = None
        self.passed: tuple[int, int] | None = journaled.passed
        self.passed_newest: int | None = None
        self._reports: dict[tuple[int, int], Evidence] = {
            (boot, number): evidence for boot, number, evidence in journaled.reports
        }
        self._nonces = dict.fromkeys(journaled.nonces)
        self._noted: dict[tuple[str, int, int], None] = {}
        self._allowance = Allowance(NOTED_IN_A_ROW, NOTED_AGAIN_AFTER)

    def take(self, boot: int, number: int, evidence: Evidence) -> None:
        """Keep the bytes of a received report."""
        self._reports[boot, number] = evidence
        if len(self._reports) > KEPT:
            del self._reports[next(iter(self._reports))]

    def report(self, boot: int, number: int) -> Evidence | None:
        """Return the bytes of that report if they are still kept."""
        return self._reports.get((boot, number))

    def newest_first(self) -> Iterator[Evidence]:
        """Yield the bytes of the kept reports, the last one first."""
        return reversed(self._reports.values())

    def journaled(self) -> JournaledMemory:
        """Return what to begin another memory with."""
        reports = tuple((*place, evidence) for place, evidence in self._reports.items())
        return JournaledMemory(reports, self.passed, tuple(self._nonces))

    def take_nonce(self, nonce: bytes) -> None:
        """Keep the nonce of a link. Drivers whose devices do not use nonces give no bytes."""
        if nonce:
            self._nonces[nonce] = None
            if len(self._nonces) > NONCES_KEPT:
                del self._nonces[next(iter(self._nonces))]

    def knows_nonce(self, nonce: bytes) -> bool:
        """Return whether a device used this nonce on one of the last links."""
        return nonce in self._nonces

    def may_note(self, what: str, boot: int, number: int, now: float) -> bool:
        """Return whether to report a contradiction: each once, and not so many that they fill a journal."""
        if (what, boot, number) in self._noted or not self._allowance.take(now):
            return False
        self._noted[what, boot, number] = None
        if len(self._noted) > KEPT:
            del self._noted[next(iter(self._noted))]
        return True
