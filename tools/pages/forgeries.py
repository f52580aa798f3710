"""Generates the parts of docs/journal.md and docs/security.md on what finds a forgery, from the tested data.

python -m tools.generate
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.journal.forgeries.attacks import ATTACKS, COLUMNS, Attack
from tests.journal.forgeries.edits import OF_ALL, SKILLS
from tests.journal.forgeries.forger import WHERE

PAGE: Final = Path(__file__).parents[2] / "docs" / "journal.md"
SECURITY: Final = PAGE.with_name("security.md")
BEGIN: Final = "<!-- tables: python -m tools.generate -->\n"
END: Final = "<!-- end of the tables -->\n"


def page_with_tables() -> str:
    return _with(PAGE, "\n".join([*_edits(), ""]))


def security_with_table() -> str:
    return _with(SECURITY, "\n".join([*_attacks(ATTACKS), ""]))


def _with(page: Path, table: str) -> str:
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def _attacks(attacks: Sequence[Attack]) -> Iterator[str]:
    """Yield a row for the attacks of one attacker that the same checks find."""
    yield "| who has | does | found by |"
    yield "|---|---|---|"
    rows: dict[tuple[str, str], list[str]] = {}
    for attack in attacks:
        by = attack.found.split()
        found = ", ".join(COLUMNS[one] for one in COLUMNS if one in by and (one, "verify" in by) != ("key", True))
        rows.setdefault((attack.who, found), []).append(attack.does)
    order = [attack.who for attack in attacks]
    who = ""
    for (has, found), does in sorted(rows.items(), key=lambda row: order.index(row[0][0])):
        yield f"| {has if has != who else ''} | {'; '.join(does)} | {found} |"
        who = has


def _edits() -> Iterator[str]:
    yield "| How it is hidden | What finds it |"
    yield "| --- | --- |"
    for skill in SKILLS:
        deep = "; for most changes the local key, with `--deep`" if skill is OF_ALL else ""
        yield f"| {skill.name} | {_words(skill.found)}{deep} |"


def _words(found: str) -> str:
    return "; ".join(WHERE[one] for one in found.split()) or "never"
