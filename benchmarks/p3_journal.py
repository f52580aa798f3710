"""P3: durable inputs per second, each with a commit: the decisions of smooth rounds, written through the real store.

    python -m benchmarks.p3_journal [--rounds 20] [--folder PLACE]

Floors, in the same run and folder: one pwrite and fdatasync of the size of a decision's row, into a preallocated file;
and SQLite alone (WAL, FULL), which only inserts the same rows. The goal is 1.3 times the cost of the first. It also
shows the CPU of a commit, with and without the floor's, how it is spent, and bytes an entry. The programs take turns,
so that a slow disk affects all of them; each figure is the median of the turns.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from benchmarks.in_process import record, replay
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.journal import schema
from controller.journal.chain import hash_decision
from controller.journal.codec import DECISION, JournalCodec, Moment
from controller.journal.file import Identity
from controller.journal.packing import Packing
from controller.journal.sealing import FileKeys, JournalKeys
from controller.journal.signing import SigningKey
from controller.journal.store import Journal
from controller.table.decision import Decided
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.saved_state import SavedState

TURNS: Final = 5
GOAL: Final = 1.3
STEP: Final = 1_000_000  # nanoseconds from one decision to the next


class Given(NamedTuple):
    """The arguments of one append."""

    input: AnyInput
    events: tuple[AnyEvent, ...]
    round: int
    ends_round: bool


class CommitTimes(NamedTuple):
    """The time for all decisions in seconds: by the wall clock, and of the processor."""

    wall: float
    cpu: float


Row: TypeAlias = Sequence[Any]


def decisions_of(rounds: int) -> list[Given]:
    found: list[Given] = []
    in_round = False

    def commit(given: AnyInput, decided: Decided) -> None:
        nonlocal in_round
        ends = in_round and not decided.state.in_round
        in_round = decided.state.in_round
        found.append(Given(given, decided.events, decided.state.round.number, ends))

    replay(record(rounds), commit)
    return found


def new_journal(folder: Path) -> Journal[AnyInput, AnyEvent]:
    identity = Identity(os.urandom(16).hex(), "BENCH", simulated=True)
    journal: Journal[AnyInput, AnyEvent] = Journal.open(
        folder, JOURNAL_TYPES, local_key=bytes(32), identity=identity, signer=SigningKey(bytes(32))
    )
    journal.begin_file(SavedState(), Moment(STEP, STEP))
    return journal


def with_journal(folder: Path, decisions: Sequence[Given]) -> CommitTimes:
    with closing(new_journal(folder / "journal")) as journal:

        def work() -> None:
            for step, given in enumerate(decisions, 2):
                moment = Moment(step * STEP, step * STEP)
                journal.append(given.input, given.events, round=given.round, moment=moment, signs=given.ends_round)

        return timed(work)


def with_sqlite(folder: Path, rows: Sequence[Row]) -> CommitTimes:
    with closing(sqlite3.connect(folder / "raw", isolation_level=None)) as connection:
        for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", schema.TABLES["decision"]):
            connection.execute(statement)

        def work() -> None:
            for row in rows:
                connection.execute(schema.INSERT, row)

        return timed(work)


def with_appends(folder: Path, sizes: Sequence[int]) -> CommitTimes:
    descriptor = os.open(folder / "floor", os.O_RDWR | os.O_CREAT)
    try:
        os.pwrite(descriptor, bytes(sum(sizes)), 0)
        os.fsync(descriptor)

        def work() -> None:
            place = 0
            for size in sizes:
                os.pwrite(descriptor, b"x" * size, place)
                os.fdatasync(descriptor)
                place += size

        return timed(work)
    finally:
        os.close(descriptor)


def timed(work: Callable[[], None]) -> CommitTimes:
    cpu, wall = time.thread_time(), time.perf_counter()
    work()
    return CommitTimes(time.perf_counter() - wall, time.thread_time() - cpu)


def rows_of(folder: Path, decisions: Sequence[Given]) -> tuple[list[Row], int]:
    """Return the rows as the journal stores them, and the size of its file."""
    with_journal(folder, decisions)
    (path,) = (folder / "journal").glob("*.journal")
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.execute("SELECT * FROM decision")), path.stat().st_size


def parts(decisions: Sequence[Given], rows: Sequence[Row]) -> list[tuple[str, float]]:
    """Return the processor time in seconds that a commit spends before SQLite."""
    keys, file_keys = JournalKeys(bytes(32), "bench"), FileKeys(bytes(32), "bench")
    codec: JournalCodec[AnyInput, AnyEvent] = JournalCodec(
        JOURNAL_TYPES, keys, file_keys, Packing(JOURNAL_TYPES.words), os.urandom
    )

    def encode() -> None:
        for number, given in enumerate(decisions):
            codec.encode(number, given.input, given.events, given.round)

    def hash_all() -> None:
        for *columns, before, _ in rows:
            file_keys.mac(DECISION, hash_decision(columns, before))

    works = (("encoding, packing, sealing and commitments", encode), ("the chain's hash and the MAC", hash_all))
    return [(label, statistics.median(timed(work).cpu for _ in range(TURNS))) for label, work in works]


def turns(place: Path, programs: Sequence[Callable[[Path], CommitTimes]]) -> list[CommitTimes]:
    """Return the median of each program."""
    took: list[list[CommitTimes]] = [[] for _ in programs]
    for _ in range(TURNS):
        for program, results in zip(programs, took, strict=True):
            with tempfile.TemporaryDirectory(dir=place) as name:
                results.append(program(Path(name)))
    return [CommitTimes(*(statistics.median(values) for values in zip(*results, strict=True))) for results in took]


def main(rounds: int, place: Path) -> None:
    decisions = decisions_of(rounds)
    count, entries = len(decisions), sum(1 + len(given.events) for given in decisions)
    with tempfile.TemporaryDirectory(dir=place) as name:
        rows, size = rows_of(Path(name), decisions)
    sizes = [sum(len(value) for value in row if isinstance(value, (str, bytes))) + 28 for row in rows]
    labels = ("pwrite + fdatasync", "sqlite3 alone", "journal")
    results = turns(
        place,
        (
            lambda folder: with_appends(folder, sizes),
            lambda folder: with_sqlite(folder, rows),
            lambda folder: with_journal(folder, decisions),
        ),
    )
    floor, journal = results[0], results[-1]
    print(f"P3: {rounds} rounds, {count} decisions, {entries / count:.1f} entries each; median of {TURNS} turns")
    for label, took in zip(labels, results, strict=True):
        each = f"{count / took.wall:9.0f}/s {1e6 * took.wall / count:8.1f} us {took.wall / floor.wall:6.2f}x"
        print(f"  {label:20} {each}   CPU {1e6 * took.cpu / count:6.1f} us")
    ratio = journal.wall / floor.wall
    print(f"goal: {GOAL}x of the first; {'met' if ratio <= GOAL else 'missed'} with {ratio:.2f}x")
    print(f"CPU of a commit beside the floor's: {1e6 * (journal.cpu - floor.cpu) / count:.1f} us; of it")
    for label, seconds in parts(decisions, rows):
        print(f"  {label:34} {1e6 * seconds / count:6.1f} us")
    print(f"bytes: {size / entries:.0f} an entry, {size / count:.0f} a decision")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="benchmarks.p3_journal")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    asked = parser.parse_args()
    main(asked.rounds, asked.folder)
