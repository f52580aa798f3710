"""The card table of a line reader: the card of each identifier. A card may have several identifiers.

TOML: a section `[cards]` with a line for each card:

    KD = ["E28068940000500B", "E28068940000500C"]

CSV: a line for each identifier and its card. The table must hold the whole deck, because a missing card would look
like a foreign one.

A section `[line]` in a TOML table says what a reader sends around the identifier (`LineForm`).
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from string import ascii_letters, ascii_uppercase, digits, hexdigits
from typing import Annotated, Final, NamedTuple

import msgspec

from firmware_bridge.cards import DECK, Card, UnknownCardError
from firmware_bridge.edited_text import NotTextError, read_edited, why_unreadable
from firmware_bridge.errors import CardTableError
from firmware_bridge.messages import AnyText, Message, message

LONGEST_IDENTIFIER: Final = 128  # characters

_NEXT: Final = message("Correct the file that [device] card_table names.")


#: The alphabets that readers send identifiers in, the narrowest first.
_ALPHABETS: Final = tuple(
    map(frozenset, (digits, digits + "ABCDEF", digits + "abcdef", hexdigits, digits + ascii_uppercase))
)


class IdentifierForm(NamedTuple):
    """The form that the identifiers of a table have in common: how long they are, and of which characters."""

    lengths: frozenset[int]
    alphabet: frozenset[str]

    def fits(self, line: str) -> bool:
        """Return whether a line may be an identifier of a card that the table lacks, such as a foreign card's."""
        return len(line) in self.lengths and self.alphabet.issuperset(line)


def form_of(identifiers: Collection[str]) -> IdentifierForm:
    """Return the form of these identifiers. Letters and digits widen to the narrowest alphabet that has them.

    >>> form_of(["E2001", "E2002"]).fits("E2FFF"), form_of(["E2001", "E2002"]).fits("NOREAD")
    (True, False)
    """
    used = frozenset("".join(identifiers))
    plain = frozenset(filter(str.isalnum, used))
    alphabet = next((one for one in _ALPHABETS if plain <= one), frozenset(digits + ascii_letters))
    return IdentifierForm(frozenset(map(len, identifiers)), (alphabet if plain else frozenset()) | used)


class LineForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The form of a reader's lines. The section `[line]` of a card table.

    `prefix` and `suffix` stand around the identifier, such as `]C0` or `;`. `length` is the number of characters of a
    line from a reader that does not end its lines; 0 for one that does. With `ignore_case` or `ignore_blanks`, letters
    or blanks need not be those of the table, so that "e2 80 68" is E28068.
    """

    prefix: str = ""
    suffix: str = ""
    length: Annotated[int, msgspec.Meta(ge=0, le=LONGEST_IDENTIFIER)] = 0
    ignore_case: bool = False
    ignore_blanks: bool = False

    def identifier(self, line: str) -> str:
        """Return the identifier in a line, as `IdentifierTable` names it.

        >>> LineForm(prefix="]C0", suffix=";", ignore_case=True, ignore_blanks=True).identifier("]C0e2 80;")
        'E280'
        """
        found = line.removeprefix(self.prefix).removesuffix(self.suffix)
        found = "".join(found.split()) if self.ignore_blanks else found.strip()
        return found.upper() if self.ignore_case else found


class IdentifierTable(dict[str, Card]):
    """The card of each identifier. `line` is the form of the reader's lines."""

    def __init__(self, cards: Mapping[str, Card] | None = None, line: LineForm | None = None) -> None:
        super().__init__(cards or {})
        self.line = line or LineForm()


class _Toml(msgspec.Struct, forbid_unknown_fields=True):
    cards: dict[str, list[str] | str]
    line: LineForm = LineForm()


def read_card_table(path: Path) -> IdentifierTable:
    """Read a table. Raise `CardTableError`, which says what is wrong and where."""
    try:
        text = read_edited(path)
    except (OSError, NotTextError) as error:
        raise CardTableError(
            message("The card table {path} cannot be read: {why}.", path=str(path), why=why_unreadable(error)), _NEXT
        ) from error
    form, pairs = _read_toml(path, text) if path.suffix == ".toml" else (LineForm(), _read_csv(text))
    table = IdentifierTable(line=form)
    for place, identifier, name in pairs:
        _add(table, message("{path}, {place}", path=str(path), place=place), identifier, name)
    missing = [card.code for card in DECK if card not in set(table.values())]
    if missing:
        raise CardTableError(
            message("{path} has no identifier for {missing:list}.", path=str(path), missing=tuple(missing)), _NEXT
        )
    return table


def _add(table: IdentifierTable, where: Message, identifier: str, name: str) -> None:
    identifier = msgspec.structs.replace(table.line, prefix="", suffix="").identifier(identifier)
    try:
        card = Card.parse(name)
    except UnknownCardError as error:
        raise CardTableError(message("{where}: {why}.", where=where, why=error.message), _NEXT) from error
    if not 0 < len(identifier) <= LONGEST_IDENTIFIER or not (identifier.isascii() and identifier.isprintable()):
        raise CardTableError(
            message(
                "{where}: {identifier} is not an identifier: write 1 to {longest} ASCII characters.",
                where=where,
                identifier=repr(identifier[:20]),
                longest=LONGEST_IDENTIFIER,
            ),
            _NEXT,
        )
    if table.setdefault(identifier, card) is not card:
        raise CardTableError(
            message(
                "{where}: {identifier} already stands for {code}.",
                where=where,
                identifier=identifier,
                code=table[identifier].code,
            ),
            _NEXT,
        )


def _read_toml(path: Path, text: str) -> tuple[LineForm, Iterator[tuple[AnyText, str, str]]]:
    try:
        read = msgspec.toml.decode(text, type=_Toml)
    except msgspec.MsgspecError as error:
        raise CardTableError(message("{path}: {why}.", path=str(path), why=str(error)), _NEXT) from error
    return read.line, (
        (f"[cards] {name}", identifier, name)
        for name, identifiers in read.cards.items()
        for identifier in ([identifiers] if isinstance(identifiers, str) else identifiers)
    )


def _read_csv(text: str) -> Iterator[tuple[AnyText, str, str]]:
    rows: Iterable[list[str]] = csv.reader(text.splitlines())
    for number, row in enumerate(rows, start=1):
        if not any(cell.strip() for cell in row) or row[0].lstrip().startswith("#"):
            continue
        if number == 1 and [cell.strip().lower() for cell in row] == ["identifier", "card"]:
            continue
        identifier, name = (row[0], row[1]) if len(row) == 2 else (row[0], "")
        yield message("line {number}", number=number), identifier, name
