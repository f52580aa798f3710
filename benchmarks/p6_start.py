"""P6: the time until a daemon is ready, and its memory, after a day, a month and a year of dealing.

    python -m benchmarks.p6_start [DAYS ...] [--rounds A_DAY]   # default: 0 1 30 days

A year of 600 rounds per day takes half an hour to write, and 9 GB.

Each journal has one file per day (`benchmarks.long_journal`). In `stopped` the daemon had saved its state when it
ended; in `killed` it was killed, with as many rounds to fold as possible. Floor: `python -c pass`, and a start with an
empty journal, which consists of imports.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks import cpu_of, resident
from benchmarks.long_journal import KEY, ROUNDS_A_DAY, TABLE, day_begins, last_day, write
from controller.games.specification import Unit
from simulators.demo.stage import configuration_text

RUNS: Final = 5
READY_WITHIN: Final = 600.0  # seconds


class DaemonStart(NamedTuple):
    """One start: seconds until READY=1, the processor's seconds, and resident megabytes."""

    seconds: float
    busy: float
    megabytes: float


def start(folder: Path, end: signal.Signals) -> DaemonStart:
    """Start a daemon, wait until it is ready, and end it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        address = folder / "notify"
        address.unlink(missing_ok=True)
        notify.bind(str(address))
        notify.settimeout(READY_WITHIN)
        begin = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "controller", "run", "--config", str(folder / "table.toml")],
            env=os.environ | {"NOTIFY_SOCKET": str(address)},
            stderr=subprocess.DEVNULL,
        )
        try:
            while b"READY=1" not in notify.recv(4096):
                pass
            seconds = time.perf_counter() - begin
            memory, busy = resident(process.pid), cpu_of(process.pid)
        finally:
            process.send_signal(end)
            process.wait()
    return DaemonStart(seconds, busy, memory)


def prepare(folder: Path, days: int, rounds: int) -> None:
    """Make the journal and the other files that a daemon needs."""
    folder.mkdir(parents=True, exist_ok=True)
    last = last_day()
    text = configuration_text(Unit.SINGLES).replace("{folder}", str(folder)).replace('"DEMO"', f'"{TABLE}"')
    text = text.replace("[journal]\n", f'[journal]\nday_begins = "{day_begins(last)}"\n')
    (folder / "table.toml").write_text(text)
    (folder / "device.keys").touch(0o600)
    journal = folder / "journal"
    journal.mkdir()
    for key in (folder / "journal.key", journal / "signing.key"):
        key.write_text(f"{KEY.hex()}\n")
        key.chmod(0o600)
    if days:
        written = write(journal, days, rounds, last=last)
        per_second = written.decisions / written.seconds
        print(f"    {written.rounds:,} rounds, {written.decisions:,} decisions, {written.entries:,} entries written "
              f"in {written.seconds:.0f} s ({per_second:,.0f} decisions/s)")  # fmt: skip


def floor() -> float:
    """Return the seconds that the interpreter takes."""
    times: list[float] = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def measure(folder: Path, days: int, rounds: int) -> None:
    prepare(folder, days, rounds)
    killed = [start(folder, signal.SIGKILL) for _ in range(RUNS)]  # nothing is saved between the starts
    start(folder, signal.SIGTERM)
    stopped = [start(folder, signal.SIGTERM) for _ in range(RUNS)]
    files = sorted((folder / "journal").glob("*.journal"))
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    for label, starts in (("killed", killed), ("stopped", stopped)):
        seconds = statistics.median(one.seconds for one in starts)
        most = max(one.seconds for one in starts)
        busy = statistics.median(one.busy for one in starts)
        memory = statistics.median(one.megabytes for one in starts)
        print(
            f"{days:6} {label:8} {seconds:8.3f} {most:8.3f} {busy:8.2f} {memory:8.1f} {len(files):7} {megabytes:12,.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("days", type=int, nargs="*", default=[0, 1, 30])
    parser.add_argument("--rounds", type=int, default=ROUNDS_A_DAY)
    given = parser.parse_args()
    print(f"P6: seconds until ready, median and most of {RUNS}; goal 1 s, 70 MiB. `python -c pass`: {floor():.3f} s")
    print(f"{'days':>6} {'ended':8} {'median':>8} {'most':>8} {'CPU':>8} {'MiB':>8} {'files':>7} {'megabytes':>12}")
    with tempfile.TemporaryDirectory() as temporary:
        for days in given.days:
            measure(Path(temporary) / f"days-{days}", days, given.rounds)


if __name__ == "__main__":
    main()
