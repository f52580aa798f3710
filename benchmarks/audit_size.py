"""Measures `cardshoe audit run` by the number of decks: processor time, and the most memory.

    python -m benchmarks.audit_size [DECKS...]

Decks are uniform orders of 52 cards, in JSON Lines. The time is that of all processors, the memory the largest resident
set. The goal is a million decks within 1 GB, and a time that grows like the number of decks.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from shuffle_audit.journal_orders import STANDARD
from shuffle_audit.models.shuffle_model import UNIFORM
from shuffle_audit.order_files import json_line
from shuffle_audit.orders import DeckOrders

DECKS: Final = (10_000, 100_000, 1_000_000)
GOAL: Final = 1 << 30  # bytes, of a million decks
AT_ONCE: Final = 10_000


class AuditCost(NamedTuple):
    seconds: float
    memory: int


def write(path: Path, decks: int) -> None:
    """Write a file of good decks, each from a new deck."""
    random = np.random.default_rng(1)
    with path.open("wb") as file:
        for begin in range(0, decks, AT_ONCE):
            for order in UNIFORM.shuffle(random, min(AT_ONCE, decks - begin), len(STANDARD)).tolist():
                file.write(json_line(DeckOrders(STANDARD, tuple(STANDARD[card] for card in order))))


def measure(path: Path) -> AuditCost:
    """Run the audit as a process of its own. Raise `CalledProcessError` if it fails."""
    asked = [sys.executable, "-m", "controller", "audit", "run", str(path), "--json"]
    with subprocess.Popen(asked, stdout=subprocess.DEVNULL) as running:
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise subprocess.CalledProcessError(running.returncode, asked)
    return AuditCost(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description="The shuffle audit by the number of decks")
    parser.add_argument("decks", nargs="*", type=int, default=DECKS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for decks in given.decks:
            path = Path(folder, f"{decks}.jsonl")
            write(path, decks)
            found = measure(path)
            path.unlink()
            each = found.seconds / decks * 1e6
            cells = f"{decks:9,} decks {found.seconds:8.1f} s {each:8.0f} us a deck {found.memory / 1e6:8.0f} MB"
            print(cells, flush=True)


if __name__ == "__main__":
    main()
