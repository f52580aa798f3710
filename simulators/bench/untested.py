"""Rules of docs/cardlink.md that no test of the bench checks, each with the reason.

It lists only numbered rules and rows of tables; `tests/bench/test_promise_page.py` compares them with the page.
"""

from __future__ import annotations

from typing import Final

OF_THE_HOST: Final = "the host's"

UNTESTED: Final[dict[tuple[str, str], str]] = {
    ("Reports", "Device 5"): (
        "the memory has to be filled, which may take thousands of reports; this project's tests do it with a simulated "
        "device"
    ),
    **{("Reports", f"Host {number}"): OF_THE_HOST for number in range(1, 8)},
    ("Commands", "1"): OF_THE_HOST,
    **{("Commands", str(number)): OF_THE_HOST for number in (5, 6, 7)},
    ("Signs of life", "stale after"): OF_THE_HOST,
}
"""The reasons by section and rule."""


def table() -> str:
    """Return the rows of the second table in docs/bench.md, which says of the host's rules that it leaves them out."""
    device = ((place, why) for place, why in sorted(UNTESTED.items()) if why != OF_THE_HOST)
    return "".join(f"| {section} | {rule} | {why} |\n" for (section, rule), why in device)
