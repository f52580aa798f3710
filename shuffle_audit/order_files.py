"""Decks in files: JSON Lines, `{"before": ["AS", ...], "after": [...]}`, or CSV with the columns deck, before, after.

In CSV, spaces separate the cards. An unknown card is null, in CSV `?`. If `before` is missing or empty, the order in is
not known. `deck` is a number or name and may be missing; decks with the same orders count separately only if it
differs. The suffix of a file's name tells the format.
"""

from __future__ import annotations

import csv
import io
from array import array
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Final, NamedTuple, overload

import msgspec
import numpy as np
import numpy.typing as npt

from firmware_bridge.edited_text import NotTextError, edited_lines
from shuffle_audit import MOST_CARDS
from shuffle_audit.faces import face_or_none
from shuffle_audit.orders import UNKNOWN, Counts, DeckOrders, Hashes, OrderError, Orders, hashes_of, in_blocks
from shuffle_audit.packed_decks import NOT_SHOWN, DeckPacker, PackedDecks
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


class FileDecks(Sequence[FileDeck]):
    """The decks of files, in little memory. `files` has each file with the index of its first deck."""

    def __init__(
        self, decks: PackedDecks, files: Sequence[tuple[str, int]], lines: Sequence[int], numbers: Sequence[str]
    ) -> None:
        self.decks = decks
        self.lines = lines
        self._files = tuple(files)
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self.decks)

    @overload
    def __getitem__(self, at: int) -> FileDeck: ...
    @overload
    def __getitem__(self, at: slice) -> list[FileDeck]: ...
    def __getitem__(self, at: int | slice) -> FileDeck | list[FileDeck]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        begins = [begin for _, begin in self._files]
        file = self._files[bisect(begins, at) - 1][0]
        return FileDeck(file, self.lines[at], self.decks[at], self._numbers[at])

    def of_file(self, file: str) -> range:
        """Return the indexes of the decks of a file."""
        ends = [*(begin for _, begin in self._files[1:]), len(self)]
        return next(range(begin, end) for (name, begin), end in zip(self._files, ends, strict=True) if name == file)


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


def open_file(path: Path) -> BufferedReader:
    return path.open("rb")


def read_decks(
    paths: Sequence[Path], opened: Callable[[Path], BufferedReader] = open_file, *, as_written: bool = False
) -> FileDecks:
    """Return all decks of these files in order; they have the same cards. `opened` opens each file once. `as_written`
    accepts files in which 'before' and 'after' look exchanged.

    Raise `OrderFileError`, and what the opened files raise other than OSError.
    """
    reader = _Reader()
    for path in paths:
        reader.read(path, opened)
    found = reader.found()
    reader.faults += _odd_faces(found)
    if not as_written and (fault := _exchanged(found)):
        reader.faults.append(fault)
    if reader.faults:
        raise OrderFileError(reader.faults)
    return found


class _Reader:
    """Reads files, deck by deck, and keeps what it needs to find decks that are alike."""

    def __init__(self) -> None:
        self.faults: list[OrderFileFault] = []
        self._packer = DeckPacker()
        self._files: list[tuple[str, int]] = []
        self._lines = array("Q")
        self._numbers: list[str] = []
        self._lines_of_numbers: dict[str, int] = {}  # in this file
        self._first: FileDeck | None = None
        self._of_a_deck: frozenset[str] = frozenset()
        self._seen: dict[int, int] = {}  # the first deck, by the hash of its orders
        self._numbers_of_alike: dict[int, set[str]] = {}  # by the first deck

    def read(self, path: Path, opened: Callable[[Path], BufferedReader]) -> None:
        file = str(path)
        self._files.append((file, len(self._packer)))
        self._lines_of_numbers = {}
        try:
            for line, read in _decks_of(path, opened):
                try:
                    self._take(file, line, _accepted(read))
                except _RefusedError as refused:
                    self.faults.append(OrderFileFault(file, line, refused.code, str(refused)))
        except _RefusedError as refused:
            self.faults.append(OrderFileFault(file, refused.line, refused.code, str(refused)))

    def found(self) -> FileDecks:
        return FileDecks(self._packer.packed(), self._files, self._lines, self._numbers)

    def _take(self, file: str, line: int, read: NumberedDeck) -> None:
        """Keep a deck. Raise `_RefusedError`."""
        deck = read.deck
        if not self._is_sound(deck):
            _checked(deck, self._first)
        if self._first is None:
            self._first = FileDeck(file, line, deck, read.number)
            self._of_a_deck = frozenset(_cards(deck)) if deck.is_whole else frozenset()
        row = self._packer.add(deck)
        self._lines.append(line)
        self._numbers.append(read.number)
        if not comes_twice_by_chance(deck):
            self._verify_new(row, read.number)
        if read.number and self._lines_of_numbers.setdefault(read.number, line) != line:
            former = self._lines_of_numbers[read.number]
            raise _RefusedError("number-twice", f"The deck in line {former} also has the number {read.number}.")

    def _is_sound(self, deck: DeckOrders) -> bool:
        """Return whether both orders have exactly the cards of the first deck, which is whole."""
        cards = len(self._of_a_deck)
        return cards > 0 and all(
            len(one) == cards and self._of_a_deck == frozenset(one) for one in (deck.before, deck.after)
        )

    def _verify_new(self, row: tuple[int, ...], number: str) -> None:
        """Raise `_RefusedError` if an earlier deck has the same orders and this one has no distinct number."""
        at = self._seen.setdefault(hash(row), len(self._packer) - 1)
        if at == len(self._packer) - 1 or self._packer.row(at) != row:
            return
        if is_another(self._numbers_of_alike.setdefault(at, {self._numbers[at]}), number):
            return
        file = self._files[bisect([begin for _, begin in self._files], at) - 1][0]
        raise _RefusedError(
            TWICE,
            f"This deck has the orders in and out of the one in {file}, line {self._lines[at]}, which does not happen "
            "by chance. If the line was copied, remove one of them. If both decks were shuffled, the machine repeats "
            "itself: take it out of service, and give each deck a number of its own as 'deck', so that both count.",
        )


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


def _odd_faces(found: FileDecks) -> Iterator[OrderFileFault]:
    """Yield a fault if most names are those of cards, but one is not, or one deck has two names of one card."""
    names = found.decks.names[1:]
    faces = np.array([NOT_SHOWN, *(face_or_none(name) + 1 for name in names)])
    odd = faces == NOT_SHOWN
    odd[NOT_SHOWN] = False
    if 0 < odd.sum() < len(names) / 2:
        at, number = _first_card(found, lambda block: odd[block])
        sentence = f"{found.decks.names[number]!r} is not the name of a card, and most other names are."
        yield OrderFileFault(found[at].file, found[at].line, "no-card", sentence)
    elif len(set(faces.tolist())) < len(faces) and not odd.any():
        at, number = _first_card(found, lambda block: _twice(faces[block]))
        if at < len(found):
            same = [name for name, face in zip(names, faces[1:], strict=True) if face == faces[number]]
            sentence = f"This deck has one card by two names, {' and '.join(sorted(same)[:2])}."
            yield OrderFileFault(found[at].file, found[at].line, "card-twice", sentence)


def _first_card(found: FileDecks, is_odd: Callable[[Orders], npt.NDArray[np.bool_]]) -> tuple[int, int]:
    """Return the first deck with an odd card, and the card's number; without one, the number of decks."""
    begin = 0
    for pair in zip(in_blocks(found.decks.before), in_blocks(found.decks.after), strict=True):
        odd = [is_odd(block) for block in pair]
        rows = np.flatnonzero(np.concatenate(odd, axis=1).any(axis=1))
        if len(rows):
            row = int(rows[0])
            return begin + row, next(int(one[row][each[row]][0]) for one, each in zip(pair, odd, strict=True)
                                     if each[row].any())  # fmt: skip
        begin += len(pair[0])
    return begin, NOT_SHOWN


def _twice(faces: Orders) -> npt.NDArray[np.bool_]:
    """Mark the cards whose face is also that of an earlier card of the row; `NOT_SHOWN` is no face."""
    order = np.argsort(faces, axis=1, kind="stable")
    ranked = np.take_along_axis(faces, order, axis=1)
    again = np.zeros(faces.shape, bool)
    again[:, 1:] = (ranked[:, 1:] == ranked[:, :-1]) & (ranked[:, 1:] != NOT_SHOWN)
    found = np.empty_like(again)
    np.put_along_axis(found, order, again, axis=1)
    return found


def _exchanged(found: FileDecks) -> OrderFileFault | None:
    """Return a fault if whole decks show that 'before' and 'after' are exchanged, or lines are in reverse order of
    time: more decks come out in an order in which an earlier one went in (or came out of another order) than go in as
    an earlier one came out. Decks that came out as they went in say nothing.
    """
    decks, at = found.decks, found.decks.whole
    if decks.cards < TELLING or not len(at):
        return None
    before, after = decks.before[at], decks.after[at]
    went, came, turned = hashes_of(before), hashes_of(after), hashes_of(before[:, ::-1])
    moved = np.concatenate([(one != other).any(axis=1) for one, other in zip(in_blocks(before), in_blocks(after),
                                                                            strict=True)])  # fmt: skip
    all_of, numbers = np.ones(len(at), bool), np.arange(len(at))
    onward = (_first(came, moved, went) < numbers) | (_first(came, moved, turned) < numbers)  # put in, or reversed
    former = _first(came, moved, came)
    other = (former < numbers) & (went[np.minimum(former, len(at) - 1)] != went)
    odd = np.flatnonzero(moved & ((_first(went, all_of, came) < numbers) | other))
    if len(odd) <= onward.sum():
        return None
    more = f", as in {len(odd) - 1:,} more" if len(odd) > 1 else ""
    first = found[int(at[odd[0]])]
    return OrderFileFault(
        first.file, first.line, EXCHANGED,
        f"An earlier deck went in, or came out, in the order in which this one came out{more}: 'before' and "
        "'after' are exchanged, or the lines are not in the order of time. If neither is the case, use --as-written.",
    )  # fmt: skip


def _first(hashes: Hashes, which: npt.NDArray[np.bool_], asked: Hashes) -> Counts:
    """Return the first of the decks chosen by `which` that has each asked hash, or a number above all."""
    distinct, first = np.unique(hashes[which], return_index=True)
    if not len(distinct):
        return np.full(len(asked), len(hashes))
    at = np.minimum(np.searchsorted(distinct, asked), len(distinct) - 1)
    found: Counts = np.where(distinct[at] == asked, np.flatnonzero(which)[first[at]], len(hashes))
    return found


def _decks_of(
    path: Path, opened: Callable[[Path], BufferedReader]
) -> Iterator[tuple[int, NumberedDeck | _RefusedError]]:
    """Yield the decks line by line. Raise `_RefusedError` if the file as a whole cannot be read."""
    if path.suffix.lower() not in (*JSON_LINES, CSV):
        raise _RefusedError("file-kind", _kinds())
    empty = True
    read = _json_lines if path.suffix.lower() in JSON_LINES else _rows
    try:
        with opened(path) as file:
            for line, deck in read(file):
                empty = False
                yield line, deck
    except OSError as error:
        raise _RefusedError("file-unreadable", f"The file cannot be read: {error.strerror or error}.") from error
    except NotTextError as error:
        raise _RefusedError("not-text", f"It cannot be read: {error.why}.", error.line) from error
    if empty:
        raise _RefusedError("empty-file", "It contains no deck.")


def _json_lines(file: BufferedReader) -> Iterator[tuple[int, NumberedDeck | _RefusedError]]:
    for number, line in enumerate(edited_lines(file, "\n"), start=1):
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


def _rows(file: BufferedReader) -> Iterator[tuple[int, NumberedDeck | _RefusedError]]:
    """Yield the rows. Raise `_RefusedError` for a header without the columns, and for invalid CSV."""
    table = csv.reader(edited_lines(file, ""), strict=True)
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
