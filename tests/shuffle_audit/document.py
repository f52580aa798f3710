"""The examples of docs/audit.md: `python -m tests.shuffle_audit.document` writes the commands' output into the page.

Each is a command after `$`, run in a folder with the files below, and its output. The monitor's table, the fields of
the JSON and the other codes are also written.
"""

from __future__ import annotations

import re
import shlex
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any, Final, get_args, get_type_hints

import msgspec
from click.testing import CliRunner

from shuffle_audit.commands.command import audit
from shuffle_audit.commands.plan import Plan
from shuffle_audit.commands.report import AuditReport
from shuffle_audit.monitor import DeckWatched, ShuffleAlarm
from shuffle_audit.order_files import write_decks
from tests.architecture.sources import ROOT
from tests.shuffle_audit import waiting
from tests.shuffle_audit.decks import NEW_DECK, first_seen, from_random_orders, shuffled, without_the_order_in

PAGE: Final = ROOT / "docs/audit.md"
EXAMPLE: Final = re.compile(r"^```\n\$ cardshoe audit (.*)\n((?:.*\n)*?)```$", re.MULTILINE)
VERSIONS: Final = re.compile(r"cardshoe \S+ with numpy [^\s;]+")  # the page is the same for other versions
WAITING: Final = re.compile(r"^\| good decks before \|.*\n(?:\|.*\n)+", re.MULTILINE)


FIELDS: Final = re.compile(r"^\| object \|.*\n(?:\|.*\n)+", re.MULTILINE)
OTHER_CODES: Final = re.compile(r"^The sentences of the other codes say what to do: .*\n(?:.+\n)*", re.MULTILINE)
OBJECTS: Final[dict[str, type[msgspec.Struct]]] = {
    "run": AuditReport, "plan": Plan, "monitor": DeckWatched, "alarm": ShuffleAlarm,
}  # fmt: skip
"""The objects of `--json`, by command; the last is a line of the monitor's alarm."""
CODES_IN: Final = ("order_files", "orders", "partial_orders")


def structs_in(hint: Any) -> Iterator[type[msgspec.Struct]]:
    """Yield the structs that a type is made of."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
    for one in get_args(hint):
        yield from structs_in(one)


def fields_of(name: str, of: type[msgspec.Struct]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the fields of an object and then of those in it, by the way to them."""
    hints = get_type_hints(of)
    tag = of.__struct_config__.tag_field
    yield name, (*((tag,) if tag else ()), *of.__struct_fields__)
    for field in of.__struct_fields__:
        for struct in structs_in(hints[field]):
            yield from fields_of(f"{name}.{field}", struct)


def table_of_fields() -> str:
    """Return the table of all fields of `--json`."""
    rows = ["| object | fields |", "|---|---|"]
    for command, of in OBJECTS.items():
        for name, fields in fields_of(command, of):
            rows.append(f"| `{name}` | {', '.join(f'`{one}`' for one in fields)} |")
    return "".join(f"{row}\n" for row in rows)


def codes() -> set[str]:
    """Return the codes of files that cannot be used."""
    source = "".join((ROOT / f"shuffle_audit/{name}.py").read_text(encoding="utf-8") for name in CODES_IN)
    return set(re.findall(r'"((?:[a-z]+-)+[a-z]+)"', source))


def first_column(page: str, head: str) -> set[str]:
    """Return the names in the first column of the page's table with this head."""
    table = page.partition(f"\n| {head} |")[2].partition("\n\n")[0]
    return {name for row in table.splitlines()[2:] for name in re.findall(r"`([\w.-]+)`", row.split(" | ")[0])}


def other_codes(page: str) -> str:
    """Return the sentence with the codes that the page's table does not have."""
    others = ", ".join(f"`{one}`" for one in sorted(codes() - first_column(page, "code")))
    said = f"The sentences of the other codes say what to do: {others}."
    return "".join(f"{line}\n" for line in textwrap.wrap(said, 120, break_on_hyphens=False))


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
    page = WAITING.sub(waiting.table(), page)
    return OTHER_CODES.sub(other_codes(page), FIELDS.sub(table_of_fields(), page))


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as made, chdir(made):
        make_files(Path(made))
        text = renewed(text)
    PAGE.write_text(text, encoding="utf-8")
