"""Programs that measure speed, each together with a floor in the same run: on a shared machine only ratios are
meaningful. The functions here are what several of them read of their times and processes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def percentile(times: Sequence[float], part: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def resident(pid: int) -> float:
    """Return the MiB that a process has in memory."""
    return int(Path(f"/proc/{pid}/status").read_text().partition("VmRSS:")[2].split()[0]) / 1024


def cpu_of(pid: int, *, with_ended: bool = False) -> float:
    """Return the CPU seconds of a process, 0 if it has ended. `with_ended` adds those of its ended children."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return sum(map(int, fields[11 : 15 if with_ended else 13])) / os.sysconf("SC_CLK_TCK")
