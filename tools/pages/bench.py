"""The table of docs/bench.md, which `python -m tools.generate` writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

UNTESTED_ROWS: Final = re.compile(
    r"(?<=\| section \| rule \| why no test asks for it \|\n\|---\|---\|---\|\n)(?:\|.*\n)*"
)
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


def _rows(rows: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)
