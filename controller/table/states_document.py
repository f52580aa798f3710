"""docs/states.md, drawn from the tables in `phases.py`.

    python -m controller.table.states_document

writes the page anew; a test fails when page and tables differ.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum

from controller.table.phases import (
    BETWEEN_ROUNDS,
    PHASES,
    SERVICES,
    WINDOW_OPEN,
    Condition,
    Phase,
    Service,
    Transition,
)

PAGE = "docs/states.md"
LAST_ROUND = (WINDOW_OPEN & BETWEEN_ROUNDS) - {Phase.VOIDED}
INTRODUCTION = """\
# States of a table

Drawn from `controller/table/phases.py` by `python -m controller.table.states_document`; do not edit it here.

Three things say together what may be done at a table.

- The **phase** tells how far the round has come.
- The **service** tells whether table and device may be used together. The link comes back by itself; a round goes on
  only when a person has compared the table with the screen.
- **Held** is no state of its own: a table is held while it is paused or while an irregularity is open that blocks. The
  exit of the device is locked then.

A machine only answers which state a trigger leads to. Nothing happens on the way in or out; a trigger that has no row
for the present state is refused with a sentence. Of several rows for the same trigger and state the first whose
condition holds is taken.
"""


def states_document() -> str:
    """The whole page."""
    parts = [
        INTRODUCTION,
        "## Phases\n",
        f"A round is in progress in every phase but {_listed(BETWEEN_ROUNDS)}.\n"
        f"In {_listed(LAST_ROUND)} an error of the round that is over may still be reported, and void it: until the\n"
        "next one begins.\n",
        _diagram(PHASES, Phase.CLOSED),
        _table(PHASES),
        "## Services\n",
        "A daemon begins out of service and looks for its device.\n",
        _diagram(SERVICES, Service.OUT_OF_SERVICE),
        _table(SERVICES),
    ]
    return "\n".join(parts)


def _listed(phases: frozenset[Phase]) -> str:
    words = [f"*{_words(phase)}*" for phase in Phase if phase in phases]
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _table(rows: Sequence[Transition]) -> str:
    lines = ["| from | trigger | to | when | because |", "|---|---|---|---|---|"]
    for row in rows:
        when = "" if row.condition is Condition.ALWAYS else str(row.condition)
        lines.append(
            f"| {_words(row.source)} | {_words(row.trigger)} | {_words(row.target)} | {when} | {row.because} |"
        )
    return "\n".join(lines) + "\n"


def _diagram(rows: Sequence[Transition], first: StrEnum) -> str:
    """One arrow for each pair of states, with all triggers that lead along it."""
    return "\n".join(["```mermaid", "stateDiagram-v2", *_arrows(rows, first), "```\n"])


def _arrows(rows: Sequence[Transition], first: StrEnum) -> Iterator[str]:
    triggers: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        along = triggers.setdefault((str(row.source), str(row.target)), [])
        if _words(row.trigger) not in along:
            along.append(_words(row.trigger))
    yield f"    [*] --> {first}"
    for (source, target), along in triggers.items():
        yield f"    {source} --> {target}: {', '.join(along)}"


def main() -> None:
    """Write the page; the working directory is the project's."""
    with open(PAGE, "w", encoding="utf-8") as page:  # noqa: PTH123  # the rooms of the table import no paths
        page.write(states_document())
    sys.stdout.write(f"{PAGE} is written\n")


if __name__ == "__main__":
    main()
