"""Line readers send one identifier per line; an unknown identifier is a foreign card, a repeated identifier is a
repeat, and the card table must contain every card.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.card_table import LONGEST_IDENTIFIER, IdentifierTable, LineForm, form_of, read_card_table
from firmware_bridge.cards import DECK, Card
from firmware_bridge.drivers.line_reader import AGAIN_WITHIN, ENDS_WITHIN, LineReader
from firmware_bridge.errors import CardTableError
from simulators.devices.line_reader import simulated_identifiers, write_card_table
from simulators.driver_conformance.every_driver import reports, texts_of

from .community import setting

CARDS = {"A1": Card.parse("KD"), "A2": Card.parse("KD"), "B1": Card.parse("10C")}


def driver() -> LineReader:
    return LineReader(setting("line_reader", card_table=CARDS), 0.0)


@pytest.mark.parametrize("ending", [b"\r", b"\n", b"\r\n", b"\n\n", b" \t\r\n"])
def test_lines_end_in_any_way(ending: bytes) -> None:
    heard = driver().receive(ending.join([b"A1", b"B1", b"A2"]) + ending, 0.0)
    assert texts_of(heard) == ["card KD", "card TC", "card KD"]


def test_a_line_is_reported_when_it_has_ended() -> None:
    reader = driver()
    assert texts_of(reader.receive(b"A", 0.0)) == []
    assert texts_of(reader.receive(b"1\n", 0.1)) == ["card KD"]


def test_an_identifier_that_comes_again_at_once_is_the_same_card() -> None:
    """A reader may read a card several times while it passes; a dealer does not draw two cards that fast."""
    reader = driver()
    again = "noted: the last card was read again"
    assert texts_of(reader.receive(b"A1\nA1\n", 0.0)) == ["card KD", again]
    assert texts_of(reader.receive(b"A1\n", AGAIN_WITHIN - 0.01)) == [again]
    assert texts_of(reader.receive(b"A1\nA2\n", 2 * AGAIN_WITHIN)) == ["card KD", "card KD"]
    assert reader.statistics.reports_repeated == 2


def reader_of(**form: object) -> LineReader:
    return LineReader(setting("line_reader", card_table=IdentifierTable(CARDS, LineForm(**form))), 0.0)  # type: ignore[arg-type]  # its fields


@pytest.mark.parametrize(
    ("form", "data"),
    [
        ({}, b"\x02A1\x03\x02B1\x03"),
        ({"prefix": "]C0", "suffix": ";"}, b"]C0A1;\r\n]C0B1;\r\n"),
        ({"ignore_case": True, "ignore_blanks": True}, b"a 1\r\nb 1\r\n"),
        ({"length": 2}, b"A1B1"),
        ({"length": 2}, b"A1\r\nB1\r\n"),
        ({"length": 6, "prefix": "]C0", "suffix": ";"}, b"]C0A1;]C0B1;"),
    ],
)
def test_what_a_reader_sends_around_an_identifier_is_named_in_the_table(form: dict[str, object], data: bytes) -> None:
    whole, pieces = reader_of(**form), reader_of(**form)
    assert texts_of(whole.receive(data, 0.0)) == ["card KD", "card TC"]
    assert [text for byte in data for text in texts_of(pieces.receive(bytes([byte]), 0.0))] == ["card KD", "card TC"]


def test_a_line_of_fixed_length_begins_anew_after_a_pause() -> None:
    reader = reader_of(length=2)
    assert texts_of(reader.receive(b"A", 0.0)) == []
    assert texts_of(reader.tick(ENDS_WITHIN)) == ["not understood"]
    assert texts_of(reader.receive(b"B1", ENDS_WITHIN + 1)) == ["card TC"]


@pytest.mark.parametrize("line", [b"C1", b"FF", b"00"])
def test_an_unknown_identifier_is_a_foreign_card(line: bytes) -> None:
    heard = driver().receive(line + b"\n", 0.0)
    assert texts_of(heard) == ["foreign card"]
    assert reports(heard)[0].evidence.open() == line


@pytest.mark.parametrize("line", [b"a1", b"A1 B1", b"A 1", b"NOREAD", b"G1", b"A-", b"A" * LONGEST_IDENTIFIER])
def test_a_line_unlike_every_identifier_is_not_understood(line: bytes) -> None:
    """A serial server's banner and a reader's own words are not cards."""
    reader = driver()
    heard = reader.receive(line + b"\n", 0.0)
    assert texts_of(heard) == ["not understood"]
    assert reports(heard)[0].evidence.open() == line
    assert reader.statistics.frames_corrupt == 1


@pytest.mark.parametrize(
    ("identifiers", "fitting", "unlike"),
    [
        (("400638133393", "400638133394"), "000000000000", "4006381333FF"),
        (("e28068", "e2806a"), "ffffff", "FFFFFF"),
        (("AS", "10H"), "ZZ", "as"),
        (("x-1", "Y-2"), "z-Z", "z+Z"),
        (("No1", "No2"), "abc", "No 1"),
    ],
)
def test_the_form_of_a_table(identifiers: tuple[str, ...], fitting: str, unlike: str) -> None:
    form = form_of(identifiers)
    assert all(map(form.fits, (*identifiers, fitting)))
    assert not form.fits(unlike)
    assert not form.fits(fitting * 3)


@pytest.mark.parametrize("line", [b"A\xb1", b"A1\x00", b"\x01A1"])
def test_a_line_that_is_not_plain_text_is_not_understood(line: bytes) -> None:
    assert texts_of(driver().receive(line + b"\nA1\n", 0.0)) == ["not understood", "card KD"]


@given(st.integers(LONGEST_IDENTIFIER + 1, 3000), st.integers(1, 400))
def test_a_line_that_is_too_long_is_reported_once_and_dropped_to_its_end(size: int, piece: int) -> None:
    reader = driver()
    data = b"x" * size + b"\nB1\n"
    heard = [thing for at in range(0, len(data), piece) for thing in reader.receive(data[at : at + piece], 0.0)]
    assert texts_of(heard) == ["not understood", "card TC"]
    assert reader.statistics.frames_overlong == 1


# -- the table -----------------------------------------------------------------------------------------------------


def test_a_line_without_end_is_reported_in_time_and_its_rest_is_not_a_card() -> None:
    """Otherwise a reader set to send no line ends would keep its cards to itself; a line may also just stall."""
    reader = driver()
    assert texts_of(reader.receive(b"A1\nA", 1.0)) == ["card KD"]
    assert reader.wake_at() == 1.0 + ENDS_WITHIN
    assert texts_of(reader.tick(reader.wake_at())) == ["not understood"]
    assert texts_of(reader.receive(b"B1\nB1\n", 4.0)) == ["not understood", "card TC"]
    assert reader.wake_at() == math.inf


def test_a_reader_without_line_ends_is_reported_at_every_card() -> None:
    reader = driver()
    heard = list(reader.receive(b"A1" * LONGEST_IDENTIFIER, 0.0))
    heard += reader.tick(reader.wake_at())
    for _ in range(2):
        heard += reader.receive(b"A1", 10.0)
        heard += reader.tick(reader.wake_at())
    assert texts_of(heard) == ["not understood"] * 3


def test_a_late_line_end_ends_its_own_line() -> None:
    reader = driver()
    reader.receive(b"A1", 0.0)
    assert texts_of(reader.tick(reader.wake_at())) == ["not understood"]
    assert texts_of(reader.receive(b"\nB1\n", 4.0)) == ["card TC"]


def toml(cards: dict[str, str]) -> str:
    return "[cards]\n" + "".join(f"{code} = {identifiers}\n" for code, identifiers in cards.items())


WHOLE = {card.code: f'["ID-{card.number}", "ID-{card.number}b"]' for card in DECK}


def test_a_table_in_toml(tmp_path: Path) -> None:
    path = tmp_path / "cards.toml"
    path.write_text(toml(WHOLE | {"KD": '"only one"'}))
    table = read_card_table(path)
    assert table["only one"] is Card.parse("KD")
    assert table["ID-1"] is table["ID-1b"] is DECK[0]


def test_a_table_in_csv_as_the_simulator_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "cards.csv"
    write_card_table(path)
    assert read_card_table(path) == simulated_identifiers()


def csv(changed: str = "", without: str = "") -> str:
    rows = [f"ID-{card.number},{card.code}" for card in DECK if card.code != without]
    return "# the blue deck\n" + "\n".join([*rows, changed]) + "\n"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.csv", csv("X,4Z"), "'4Z' is not a card"),
        ("t.csv", csv("X"), "line 54"),
        ("t.csv", csv("X,KD,more"), "line 54"),
        ("t.csv", csv("ID-1,KD"), "ID-1 already stands for AC"),
        ("t.csv", csv(",KD"), "is not an identifier"),
        ("t.csv", csv("É,KD"), "is not an identifier"),
        ("t.csv", csv(without="7H"), "no identifier for 7H"),
        ("t.toml", toml(WHOLE) + "XX = 'a'\n", "'XX' is not a card"),
        ("t.toml", toml(WHOLE | {"KD": "[]"}), "no identifier for KD"),
        ("t.toml", toml(WHOLE | {"KD": "[1]"}), "t.toml"),
        ("t.toml", "[decks]\n", "t.toml"),
        ("t.toml", "=", "t.toml"),
        ("t.csv", "\udcff", "line 1 is not in UTF-8"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_with_the_place(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(CardTableError) as refused:
        read_card_table(path)
    assert words in str(refused.value)
    assert refused.value.hint
    assert refused.value.code == "card-table"


def test_a_table_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(CardTableError, match="cannot be read"):
        read_card_table(tmp_path / "none.csv")
