"""What a driver keeps of a device from one link to the next, beside the journal.

The reports in it may hold concealed cards: it lives in memory, and what the journal holds of it may be saved there.
"""

from __future__ import annotations

from typing import Final

import msgspec

from firmware_bridge.allowance import Allowance
from firmware_bridge.cards import Evidence

KEPT: Final = 64  # reports; a device repeats at most those of its window
NONCES_KEPT: Final = 4096  # of as many links
NOTED_IN_A_ROW: Final = 16  # contradictions
NOTED_AGAIN_AFTER: Final = 60.0  # seconds until another one may be noted


class JournaledMemory(msgspec.Struct, frozen=True):
    """What a journal holds of it: the last reports, each with its boot and number, the one that was given up, and the
    nonces that devices used, oldest first."""

    reports: tuple[tuple[int, int, Evidence], ...] = ()
    passed: tuple[int, int] | None = None
    nonces: tuple[bytes, ...] = ()


_NOTHING: Final = JournaledMemory()


class LinkMemory:
    """Of one device, beginning with what the journal holds. A report, and a gap, are named by (boot, number).

    `ended_for`: the report for which a link was ended, because it was due and did not come. `passed`: the one that was
    then given up; `passed_newest`: the last report that the device had made by then, None where that is not known.
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
        """Keep the bytes of a report that was received."""
        self._reports[boot, number] = evidence
        if len(self._reports) > KEPT:
            del self._reports[next(iter(self._reports))]

    def report(self, boot: int, number: int) -> Evidence | None:
        """The bytes of that report, as far as they are still kept."""
        return self._reports.get((boot, number))

    def journaled(self) -> JournaledMemory:
        """For a memory that was given nothing but what is in the journal: what to begin another one with."""
        reports = tuple((*place, evidence) for place, evidence in self._reports.items())
        return JournaledMemory(reports, self.passed, tuple(self._nonces))

    def take_nonce(self, nonce: bytes) -> None:
        """A device has linked with this nonce; drivers whose devices have none give no bytes."""
        if nonce:
            self._nonces[nonce] = None
            if len(self._nonces) > NONCES_KEPT:
                del self._nonces[next(iter(self._nonces))]

    def knows_nonce(self, nonce: bytes) -> bool:
        """Whether a device used it on one of the last links."""
        return nonce in self._nonces

    def may_note(self, what: str, boot: int, number: int, now: float) -> bool:
        """Whether a contradiction is to be noted: each once, and not so many that they fill a journal."""
        if (what, boot, number) in self._noted or not self._allowance.take(now):
            return False
        self._noted[what, boot, number] = None
        if len(self._noted) > KEPT:
            del self._noted[next(iter(self._noted))]
        return True
