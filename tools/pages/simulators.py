"""The tables of docs/bench.md and docs/simulators.md, which `python -m tools.generate` writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from simulators.devices.faults import FAULTS

UNTESTED_ROWS: Final = re.compile(
    r"(?<=\| section \| rule \| why no test asks for it \|\n\|---\|---\|---\|\n)(?:\|.*\n)*"
)
FAULT_ROWS: Final = re.compile(r"(?<=\| what the host sees \|\n\|---\|---\|\n)(?:\|.*\n)+")
KINDS: Final = {"cardlink": {"shuffler", "shoe"}, "one-way": {"angel_eye", "bee_tek", "line_reader"}}
OF_THE_HOST: Final = "the host's"

UNTESTED: Final[dict[tuple[str, str], str]] = {
    ("Reports", "Device 5"): (
        "the memory has to be filled, which may take thousands of reports; this project's tests do it with a simulated "
        "device"
    ),
    **{("Reports", f"Host {number}"): OF_THE_HOST for number in range(1, 9)},
    ("Commands", "1"): OF_THE_HOST,
    **{("Commands", str(number)): OF_THE_HOST for number in (5, 6, 7)},
    ("Signs of life", "stale after"): OF_THE_HOST,
}
"""The numbered rules and rows of tables in docs/cardlink.md that no test of the bench checks, each with the reason."""


def bench_page(page: str) -> str:
    """Return docs/bench.md with its table of the device's rules that no test asks for."""
    of_the_device = [(*rule, why) for rule, why in sorted(UNTESTED.items()) if why != OF_THE_HOST]
    return UNTESTED_ROWS.sub(lambda found: _rows(of_the_device), page)


def simulators_page(page: str) -> str:
    """Return docs/simulators.md with its table of faults: usage, what the host sees."""
    rows = []
    for fault in FAULTS:
        seen: dict[str, list[str]] = {}
        for side, what in fault.shows.items():
            seen.setdefault(what, []).append(side)
        seen_by = "; ".join(f"{_named(sides)}: {what}" for what, sides in seen.items())
        rows.append((f"`{fault.usage}`", seen_by))
    return FAULT_ROWS.sub(lambda found: _rows(rows), page)


def _rows(rows: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def _named(sides: Sequence[str]) -> str:
    """Return the devices in italics, with one name for those of a kind."""
    left, names = set(sides), []
    for name, kind in KINDS.items():
        if kind <= left:
            names.append(name)
            left -= kind
    return f"*{', '.join([*names, *(side.replace('_', ' ') for side in sides if side in left)])}*"
