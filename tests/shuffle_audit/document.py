"""The examples of docs/audit.md: `python -m tests.shuffle_audit.document` writes the commands' output into the page.

Each is a command after `$`, run in a folder with the files below, and its output. The monitor's table is also written.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Final

from click.testing import CliRunner

from shuffle_audit.commands.command import audit
from shuffle_audit.order_files import write_decks
from tests.architecture.sources import ROOT
from tests.shuffle_audit import waiting
from tests.shuffle_audit.decks import NEW_DECK, first_seen, from_random_orders, shuffled, without_the_order_in

PAGE: Final = ROOT / "docs/audit.md"
EXAMPLE: Final = re.compile(r"^```\n\$ cardshoe audit (.*)\n((?:.*\n)*?)```$", re.MULTILINE)
VERSIONS: Final = re.compile(r"cardshoe \S+ with numpy [^\s;]+")  # the page is the same for other versions
WAITING: Final = re.compile(r"^\| good decks before \|.*\n(?:\|.*\n)+", re.MULTILINE)


def make_files(folder: Path) -> None:
    """Write decks: whole decks, some without the order in, one with a card twice, and some of which
    24 cards were seen.
    """
    write_decks(folder / "machine-7.csv", shuffled("shelves:10", 5, seed=7))
    write_decks(folder / "unknown.csv", without_the_order_in(from_random_orders("shelves:10", 20)))
    seen = [*first_seen(shuffled("shelves:10", 5, seed=3), 24), *without_the_order_in(shuffled("shelves:10", 1))]
    write_decks(folder / "table-7.jsonl", [*seen[:2], seen[5], *seen[2:5]])
    good = [" ".join(one.after) for one in shuffled("uniform", 3)]
    rows = [good[0], good[1].replace("7H", "7S"), good[2]]
    (folder / "typed.csv").write_text("before,after\n" + "".join(f"{' '.join(NEW_DECK)},{row}\n" for row in rows))


def printed(written: str) -> str:
    """Return the output and errors of the command, run in the current folder. `| head -n N` leaves out the rest."""
    command, _, head = written.partition(" | head -n ")
    output = CliRunner().invoke(audit, shlex.split(command), prog_name="cardshoe audit").output
    lines = VERSIONS.sub("cardshoe X with numpy Y", output).splitlines(keepends=True)
    return "".join(lines[: int(head)] if head else lines)


def renewed(page: str) -> str:
    """Return the page with the current output of its commands."""
    page = EXAMPLE.sub(lambda found: f"```\n$ cardshoe audit {found[1]}\n{printed(found[1])}```", page)
    return WAITING.sub(waiting.table(), page)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as made, chdir(made):
        make_files(Path(made))
        text = renewed(text)
    PAGE.write_text(text, encoding="utf-8")
