"""docs/states.md, made from the transition tables in `phases.py`.

    python -m tools.generate

A test fails when page and tables differ.
"""

from __future__ import annotations

from collections.abc import Sequence

from controller.table.phases import (
    BETWEEN_ROUNDS,
    PHASES,
    SERVICES,
    WINDOW_OPEN,
    Condition,
    Phase,
    Transition,
)

LAST_ROUND = (WINDOW_OPEN & BETWEEN_ROUNDS) - {Phase.VOIDED}
INTRODUCTION = """\
# States of a table

This page is for contributors and laboratories. `python -m tools.generate` makes it from `controller/table/phases.py`.
What may be done at a table depends on three things: the **phase**, how far the round has come; the **service**, whether
table and device may be used together; and whether play is **held**, while the table is paused or an open irregularity
blocks. The exit of the device is locked then.

A trigger without a row for the present state is refused with a sentence. Of several rows for the same trigger and state
the first whose condition holds is taken.
"""


def page() -> str:
    """Return the whole page."""
    parts = [
        INTRODUCTION,
        "## Phases\n",
        "A table starts *closed*. A round is in progress in every phase but\n"
        f"{_listed(BETWEEN_ROUNDS)}.\n"
        f"In {_listed(LAST_ROUND)} an error of the last round may still be reported, and void it, until the next one\n"
        "begins.\n",
        _table(PHASES),
        "## Services\n",
        "A daemon starts out of service and looks for its device.\n",
        _table(SERVICES),
    ]
    return "\n".join(parts)


def _listed(phases: frozenset[Phase]) -> str:
    words = [f"*{_words(phase)}*" for phase in Phase if phase in phases]
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _table(rows: Sequence[Transition]) -> str:
    """Return a table with one row for all transitions from the same states for the same reason."""
    sources: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        when = "" if row.condition is Condition.ALWAYS else f", if {row.condition}"
        sources.setdefault((f"{_words(row.trigger)}{when}", _words(row.target), row.because), []).append(
            _words(row.source)
        )
    reasons: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for (trigger, target, because), states in sources.items():
        reasons.setdefault((", ".join(states), because), []).append((trigger, target))
    lines = ["| from | trigger | to | because |", "|---|---|---|---|"]
    for (states_of, because), ways in reasons.items():
        triggers, targets = zip(*ways, strict=True)
        lines.append(f"| {states_of} | {'<br>'.join(triggers)} | {'<br>'.join(targets)} | {because} |")
    return "\n".join(lines) + "\n"
