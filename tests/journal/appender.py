"""Append without end, and print the last number of each acknowledged append. The test kills this program."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from tests.journal.vocabulary import Noted, Said, moment, open_journal


def main(folder: Path) -> None:
    journal = open_journal(folder)
    for step in itertools.count():
        events = [Noted(f"{step}.{index}") for index in range(step % 5)]
        given = Said(f"step {step}", events=len(events))
        committed = journal.append(given, events, round=step, moment=moment(step))
        sys.stdout.write(f"{committed.first + len(events)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
