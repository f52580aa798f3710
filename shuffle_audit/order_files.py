"""Decks in files: JSON Lines, `{"before": ["AS", ...], "after": [...]}`, or CSV with the columns deck, before, after.

In CSV, spaces separate the cards. An unknown card is null, in CSV `?`. If `before` is missing or empty, the order in is
not known. `deck` is a number or name and may be missing; decks with the same orders count separately only if it
differs. The suffix of a file's name tells the format.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from firmware_bridge.edited_text import NotTextError, decode_edited
from shuffle_audit import MOST_CARDS
from shuffle_audit.orders import UNKNOWN, DeckOrders, OrderError
from shuffle_audit.partial_orders import verify_cards

JSON_LINES: Final = (".jsonl", ".ndjson")
CSV: Final = ".csv"
COLUMNS: Final = ("deck", "before", "after")
MIXED: Final = "mixed-decks"
EXCHANGED: Final = "orders-exchanged"
TWICE: Final = "deck-twice"
AS_CSV: Final = "Save it as CSV with commas, in UTF-8."
TELLING: Final = 20
"""Decks with at least this many known cards never repeat by chance in an audit: 1/20! is 4e-19."""
LISTED: Final = 10  # faults that get a separate line


class OrderFileFault(NamedTuple):
    """A fault in a file. `line` counts from 1; 0 is the file as a whole. `code` is for machines."""

    file: str
    line: int
    code: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.sentence}" if self.line else f"{self.file}: {self.sentence}"


class OrderFileError(ValueError):
    """Raised for files that cannot be used. `faults` has all of them, by file and line."""

    def __init__(self, faults: Sequence[OrderFileFault]) -> None:
        more = len(faults) - LISTED
        lines = [f"{fault} ({fault.code})" for fault in faults[:LISTED]]
        super().__init__("\n".join([*lines, *([f"{more:,} more faults are not listed."] if more > 0 else [])]))
        self.faults = tuple(faults)


class FileDeck(NamedTuple):
    """A deck with the line at which it ends, and its number or name in the file, which may be empty."""

    file: str
    line: int
    deck: DeckOrders
    number: str = ""


class _RefusedError(Exception):
    """Raised for a line, or a whole file, that does not hold a deck."""

    def __init__(self, code: str, sentence: str, line: int = 0) -> None:
        super().__init__(sentence)
        self.code = code
        self.line = line


class NumberedDeck(NamedTuple):
    """A deck with its number or name, which may be empty."""

    deck: DeckOrders
    number: str


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    after: tuple[str | None, ...]
    before: tuple[str | None, ...] | None = None
    deck: int | str | None = None


def read_decks(
    paths: Sequence[Path], read_bytes: Callable[[Path], bytes] = Path.read_bytes, *, as_written: bool = False
) -> list[FileDeck]:
    """Return all decks of these files in order; they have the same cards. `read_bytes` is called once for each file.
    `as_written` accepts files in which 'before' and 'after' look exchanged.

    Raise `OrderFileError`, and what `read_bytes` raises other than OSError.
    """
    found: list[FileDeck] = []
    seen: dict[DeckOrders, _Former] = {}
    numbered_in: dict[tuple[str, str], int] = {}
    faults: list[OrderFileFault] = []
    for path in paths:
        try:
            for line, read in _decks_of(path, read_bytes):
                first = found[0] if found else None
                try:
                    numbered = _accepted(read)
                    found.append(FileDeck(str(path), line, _checked(numbered.deck, first), numbered.number))
                    _verify_new(found[-1], seen)
                    _verify_number(found[-1], numbered_in)
                except _RefusedError as refused:
                    faults.append(OrderFileFault(str(path), line, refused.code, str(refused)))
        except _RefusedError as refused:
            faults.append(OrderFileFault(str(path), refused.line, refused.code, str(refused)))
    if not as_written and (fault := _exchanged(found)):
        faults.append(fault)
    if faults:
        raise OrderFileError(faults)
    return found


def deck_of_line(line: str) -> NumberedDeck:
    """Read a deck from a line of JSON Lines. Raise `OrderError`, with the codes of faults."""
    try:
        found = _accepted(_from_json(line))
        return found._replace(deck=_checked(found.deck, None))
    except _RefusedError as refused:
        raise OrderError(refused.code, str(refused)) from refused


def write_decks(path: Path, decks: Iterable[DeckOrders]) -> None:
    """Write decks to a file, which is replaced; `read_decks` reads the same. Raise `OrderFileError` and `OSError`."""
    if path.suffix.lower() in JSON_LINES:
        lines = (json_line(deck) for deck in decks)
        path.write_bytes(b"".join(lines))
    elif path.suffix.lower() == CSV:
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows((n, " ".join(one.before), " ".join(one.after)) for n, one in enumerate(decks, start=1))
        path.write_text(text.getvalue(), encoding="utf-8")
    else:
        raise OrderFileError([OrderFileFault(str(path), 0, "file-kind", _kinds())])


def json_line(deck: DeckOrders) -> bytes:
    """Return a deck as a line of JSON Lines."""
    before, after = ([None if card == UNKNOWN else card for card in cards] for cards in (deck.before, deck.after))
    return msgspec.json.encode({"before": before, "after": after}) + b"\n"


def _kinds() -> str:
    return f"The name of a file of decks ends with {', '.join(JSON_LINES)} or {CSV}."


def comes_twice_by_chance(deck: DeckOrders) -> bool:
    """Return whether the deck may be repeated by chance, which is excluded if `TELLING` of its cards are known."""
    return not deck.before or len(deck.after) - deck.after.count(UNKNOWN) < TELLING


def is_another(numbers: set[str], number: str) -> bool:
    """Add a deck's number, or "", to the `numbers` of decks with the same orders. Return whether it is another deck."""
    another = not numbers or (bool(number) and "" not in numbers and number not in numbers)
    numbers.add(number)
    return another


class _Former(NamedTuple):
    """The first deck that has these orders, and the numbers of all decks that have them."""

    first: FileDeck
    numbers: set[str]


def _verify_new(one: FileDeck, seen: dict[DeckOrders, _Former]) -> None:
    """Raise `_RefusedError` if an earlier deck has the same orders and this one has no distinct number."""
    if comes_twice_by_chance(one.deck):
        return
    former = seen.setdefault(one.deck, _Former(one, set()))
    if is_another(former.numbers, one.number):
        return
    raise _RefusedError(
        TWICE,
        f"This deck has the orders in and out of the one in {former.first.file}, line {former.first.line}, which does "
        "not happen by chance. If the line was copied, remove one of them. If both decks were shuffled, the machine "
        "repeats itself: take it out of service, and give each deck a number of its own as 'deck', so that both count.",
    )


def _verify_number(one: FileDeck, numbered_in: dict[tuple[str, str], int]) -> None:
    """Raise `_RefusedError` if an earlier deck of the file has the same number."""
    line = numbered_in.setdefault((one.file, one.number), one.line)
    if one.number and line != one.line:
        raise _RefusedError("number-twice", f"The deck in line {line} also has the number {one.number}.")


def _exchanged(found: Sequence[FileDeck]) -> OrderFileFault | None:
    """Return a fault if whole decks show that 'before' and 'after' are exchanged, or lines are in reverse order of
    time: more decks come out in an order in which an earlier one went in (or came out of another order) than go in as
    an earlier one came out. Decks that came out as they went in say nothing.
    """
    went_in: set[tuple[str, ...]] = set()
    came_out: dict[tuple[str, ...], tuple[str, ...]] = {}
    odd: list[FileDeck] = []
    onward = 0
    for one in found:
        deck = one.deck
        if not deck.is_whole or len(deck.after) < TELLING:
            continue
        onward += deck.before in came_out or deck.before[::-1] in came_out  # put in again, perhaps reversed
        if deck.after != deck.before:
            if deck.after in went_in or came_out.get(deck.after, deck.before) != deck.before:
                odd.append(one)
            came_out.setdefault(deck.after, deck.before)
        went_in.add(deck.before)
    if len(odd) <= onward:
        return None
    more = f", as in {len(odd) - 1:,} more" if len(odd) > 1 else ""
    return OrderFileFault(
        odd[0].file, odd[0].line, EXCHANGED,
        f"An earlier deck went in, or came out, in the order in which this one came out{more}: 'before' and "
        "'after' are exchanged, or the lines are not in the order of time. If neither is the case, use --as-written.",
    )  # fmt: skip


def _decks_of(path: Path, read_bytes: Callable[[Path], bytes]) -> Iterator[tuple[int, NumberedDeck | _RefusedError]]:
    """Yield the decks line by line. Raise `_RefusedError` if the file as a whole cannot be read."""
    if path.suffix.lower() not in (*JSON_LINES, CSV):
        raise _RefusedError("file-kind", _kinds())
    try:
        content = read_bytes(path)
    except OSError as error:
        raise _RefusedError("file-unreadable", f"The file cannot be read: {error.strerror or error}.") from error
    try:
        text = decode_edited(content)
    except NotTextError as error:
        raise _RefusedError("not-text", f"It cannot be read: {error.why}.", error.line) from error
    found = _json_lines(text) if path.suffix.lower() in JSON_LINES else _rows(text)
    empty = True
    for line, deck in found:
        empty = False
        yield line, deck
    if empty:
        raise _RefusedError("empty-file", "It contains no deck.")


def _json_lines(text: str) -> Iterator[tuple[int, NumberedDeck | _RefusedError]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _from_json(line)


def _from_json(line: str) -> NumberedDeck | _RefusedError:
    try:
        read = msgspec.json.decode(line, type=_Line)
    except msgspec.ValidationError as error:
        return _RefusedError("not-a-deck", f"This is not the JSON of a deck: {_lower_first(error)}.")
    except msgspec.DecodeError as error:
        return _RefusedError("not-json", f"This is not JSON: {_lower_first(error)}.")
    number = "" if read.deck is None else str(read.deck)
    return NumberedDeck(DeckOrders(_named(read.before or ()), _named(read.after)), number)


def _named(cards: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(UNKNOWN if card is None else card for card in cards)


def _lower_first(error: Exception) -> str:
    text = str(error).removeprefix("JSON is malformed: ")
    return text[:1].lower() + text[1:]


def _rows(text: str) -> Iterator[tuple[int, NumberedDeck | _RefusedError]]:
    """Yield the rows. Raise `_RefusedError` for a header without the columns, and for invalid CSV."""
    table = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    try:
        for row in table:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if not header:
                header = _header(cells, table.line_num)
            elif len(cells) != len(header):
                sentence = f"There are {len(cells)} cells, and the header has {len(header)} columns."
                yield table.line_num, _RefusedError("row-cells", sentence)
            else:
                named = dict(zip(header, cells, strict=True))
                before, after = named.get("before", "").split(), named["after"].split()
                yield table.line_num, NumberedDeck(DeckOrders(tuple(before), tuple(after)), named.get("deck", ""))
    except csv.Error as error:
        raise _RefusedError("not-csv", f"This is not CSV: {error}.", table.line_num) from error


def _header(cells: list[str], line: int) -> list[str]:
    columns = ", ".join(COLUMNS)
    if foreign := [cell for cell in cells if cell not in COLUMNS]:
        sentence = f"There is no column {foreign[0]!r}: the columns are {columns}."
        if ";" in foreign[0] or "\t" in foreign[0]:
            sentence += f" {AS_CSV}"
        elif foreign[0].lower() in COLUMNS:
            sentence += " Write the header in small letters."
        raise _RefusedError("column-unknown", sentence, line)
    if "after" not in cells:
        raise _RefusedError("column-missing", f"The column 'after' is missing: the columns are {columns}.", line)
    if twice := sorted({cell for cell in cells if cells.count(cell) > 1}):
        raise _RefusedError("column-twice", f"The column {twice[0]!r} appears more than once.", line)
    return cells


def _accepted(read: NumberedDeck | _RefusedError) -> NumberedDeck:
    """Return a deck, or raise its `_RefusedError`."""
    if isinstance(read, _RefusedError):
        raise read
    return read


def _checked(read: DeckOrders, first: FileDeck | None) -> DeckOrders:
    """Return the deck if it is a whole deck of the same cards as the first. Raise `_RefusedError` otherwise."""
    if not read.after:
        raise _RefusedError("no-cards", "There are no cards in 'after'.")
    if len(read.after) > MOST_CARDS:
        sentence = f"There are {len(read.after):,} cards in 'after': a deck has at most {MOST_CARDS}."
        raise _RefusedError("too-many-cards", sentence)
    if any("," in card for card in (*read.before, *read.after)):
        raise _RefusedError("card-name", "The cards are separated by commas: separate them by spaces.")
    if odd := [card for card in (*read.before, *read.after) if not card or card.split() != [card]]:
        raise _RefusedError("card-name", f"{odd[0]!r} is not the name of a card: it is empty or contains a space.")
    try:
        verify_cards(read)
    except OrderError as error:
        raise _RefusedError(error.code, str(error)) from error
    if first is not None and not may_be_alike(read, first.deck):
        raise _RefusedError(MIXED, difference(read, first.deck, f"{first.file}, line {first.line}"))
    return read


def may_be_alike(one: DeckOrders, other: DeckOrders) -> bool:
    """Return whether both may be of the same cards, as far as these are known."""
    size = len(one.after)
    return size == len(other.after) and len(_cards(one) | _cards(other)) <= size


def _cards(deck: DeckOrders) -> set[str]:
    return {*deck.before, *deck.after} - {UNKNOWN}


def difference(read: DeckOrders, other: DeckOrders, where: str) -> str:
    """Return a sentence on two decks that cannot have the same cards. `where` is the place of the other deck."""
    if len(read.after) != len(other.after):
        return f"This deck has {len(read.after)} cards, and the one in {where}, has {len(other.after)}."
    card = min(_cards(read) - _cards(other))
    return f"This deck has the card {card}, which is not in the one in {where}."
