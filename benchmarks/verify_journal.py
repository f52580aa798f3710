"""Times the verification of a journal of about a million entries, with and without the deep check.

    python -m benchmarks.verify_journal [ROUNDS]

`benchmarks.long_journal` writes the journal first.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.long_journal import KEY, write
from controller.daemon.journal_types import JOURNAL_TYPES, TableFold
from controller.journal.verification import Verified, verify_journal

ROUNDS: Final = 6600
A_DAY: Final = 600
BEGIN: Final = 20_454 * 86_400 * 10**9  # the last day


def main(rounds: str = str(ROUNDS)) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "journal"
        print(write(folder, max(1, int(rounds) // A_DAY), min(int(rounds), A_DAY), last=BEGIN))
        _report("plain", lambda: verify_journal(folder))
        _report(
            "deep",
            lambda: verify_journal(folder, local_key=KEY, types=JOURNAL_TYPES, fold=TableFold()),
        )


def _report(how: str, verify: Callable[[], Verified]) -> None:
    begin, cpu = time.perf_counter(), time.process_time()
    found = verify()
    took, used = time.perf_counter() - begin, time.process_time() - cpu
    print(f"{how}: {found.entries:,} entries, {found.heads:,} signatures, {len(found.findings)} findings: "
          f"{took:.1f} s, {used:.1f} s of a core, {1e6 * used / found.entries:.1f} us an entry")  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
