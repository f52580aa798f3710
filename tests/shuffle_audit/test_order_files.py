"""Decks in files: what is written is read again, and everything that is not a deck is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from shuffle_audit.models.named import FORMS, ModelNameError, model_named
from shuffle_audit.order_files import LISTED, OrderFileError, read_decks, write_decks
from shuffle_audit.orders import DeckOrders
from tests.shuffle_audit.decks import NEW_DECK, first_seen, shuffled, without_the_order_in

ONE = DeckOrders(("AS", "KS", "10H"), ("10H", "AS", "KS"))
UNKNOWN = DeckOrders((), ("KS", "10H", "AS"))


def refused(tmp_path: Path, name: str, content: str | bytes) -> list[tuple[int, str, str]]:
    """Return the line, code and sentence of each fault."""
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(OrderFileError) as error:
        read_decks([path])
    assert {fault.file for fault in error.value.faults} == {str(path)}
    return [(fault.line, fault.code, fault.sentence) for fault in error.value.faults]


@pytest.mark.parametrize("name", ["decks.jsonl", "decks.ndjson", "decks.csv", "DECKS.CSV"])
def test_written_decks_are_read_again(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_decks(path, [ONE, UNKNOWN, ONE])
    assert [found.deck for found in read_decks([path])] == [ONE, UNKNOWN, ONE]


def test_the_forms_of_the_files(tmp_path: Path) -> None:
    lines, table = tmp_path / "decks.jsonl", tmp_path / "decks.csv"
    write_decks(lines, [ONE, UNKNOWN])
    assert lines.read_text() == (
        '{"before":["AS","KS","10H"],"after":["10H","AS","KS"]}\n{"before":[],"after":["KS","10H","AS"]}\n'
    )
    write_decks(table, [ONE, UNKNOWN])
    assert table.read_text() == "deck,before,after\n1,AS KS 10H,10H AS KS\n2,,KS 10H AS\n"


def test_other_ways_to_write_the_same(tmp_path: Path) -> None:
    """Files may lack `before`, or have null, deck numbers or empty lines, as Windows and spreadsheets write them."""
    lines, table = tmp_path / "a.jsonl", tmp_path / "b.csv"
    lines.write_bytes(
        b'{"after": ["KS", "10H", "AS"]}\r\n\r\n{"deck": 7, "before": null, "after": ["KS", "10H", "AS"]}'
    )
    table.write_bytes(b'\xef\xbb\xbfafter, before\r\n"10H  AS KS",AS KS 10H\r\n,\r\n')
    found = read_decks([lines, table])
    assert [(Path(one.file).name, one.line, one.deck) for one in found] == [
        ("a.jsonl", 1, UNKNOWN),
        ("a.jsonl", 3, UNKNOWN),
        ("b.csv", 2, ONE),
    ]


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("AS KS", "not-json", "This is not JSON: invalid character (byte 0)."),
        ('{"before": ["AS"]}', "not-a-deck", "This is not the JSON of a deck: object missing required field `after`."),
        ('{"befor": [], "after": []}', "not-a-deck",
         "This is not the JSON of a deck: object contains unknown field `befor`."),
        ('{"after": [1, 2]}', "not-a-deck",
         "This is not the JSON of a deck: expected `str | null`, got `int` - at `$.after[0]`."),
        ('["AS"]', "not-a-deck", "This is not the JSON of a deck: expected `object`, got `array`."),
        ('{"after": []}', "no-cards", "There are no cards in 'after'."),
        ('{"after": ["AS", ""]}', "card-name", "'' is not the name of a card: it is empty or contains a space."),
        ('{"after": ["A S"]}', "card-name", "'A S' is not the name of a card: it is empty or contains a space."),
        ('{"after": ["AS", "KS", "AS"]}', "card-twice", "In the order out there is more than one of AS."),
        ('{"before": ["AS", "AS"], "after": ["AS", "KS"]}', "card-twice",
         "In the order in there is more than one of AS."),
        ('{"before": ["AS", "KS"], "after": ["AS"]}', "card-missing",
         "Of the cards that went in, KS did not come out."),
        ('{"before": ["AS"], "after": ["AS", "KS"]}', "card-foreign", "What came out has KS, which did not go in."),
        ('{"before": ["AS", "KS"], "after": ["AS", "XX"]}', "card-missing",
         "Of the cards that went in, KS did not come out. What came out has XX, which did not go in."),
    ],
)  # fmt: skip
def test_a_line_that_is_not_a_deck(tmp_path: Path, line: str, code: str, sentence: str) -> None:
    good = '{"after": ["KS", "10H", "AS"]}'
    assert refused(tmp_path, "decks.jsonl", f"{good}\n{line}\n{good}\n") == [(2, code, sentence)]


@pytest.mark.parametrize(
    ("content", "line", "code", "sentence"),
    [
        ("deck,befor,after\n1,,AS\n", 1, "column-unknown",
         "There is no column 'befor': the columns are deck, before, after."),
        ("deck;before;after\n", 1, "column-unknown",
         "There is no column 'deck;before;after': the columns are deck, before, after. Save it as CSV with commas, in "
         "UTF-8."),
        ("Deck,Before,After\n", 1, "column-unknown",
         "There is no column 'Deck': the columns are deck, before, after. Write the header in small letters."),
        ("deck,before\n1,AS\n", 1, "column-missing",
         "The column 'after' is missing: the columns are deck, before, after."),
        ("after,after\nAS,AS\n", 1, "column-twice", "The column 'after' appears more than once."),
        ("deck,after\n1,AS KS\n2\n", 3, "row-cells", "There are 1 cells, and the header has 2 columns."),
        ('after\nAS\n"KS\n', 3, "not-csv", "This is not CSV: unexpected end of data."),
        ('after\n"AS,KS"\n', 2, "card-name", "The cards are separated by commas: separate them by spaces."),
        ("before,after\nAS KS,AS AS\n", 2, "card-twice", "In the order out there is more than one of AS."),
    ],
)  # fmt: skip
def test_a_table_without_decks(tmp_path: Path, content: str, line: int, code: str, sentence: str) -> None:
    assert refused(tmp_path, "decks.csv", content) == [(line, code, sentence)]


@pytest.mark.parametrize(("name", "content"), [("a.jsonl", ""), ("a.jsonl", "\n \n"), ("a.csv", ""),
                                               ("a.csv", "deck,before,after\n")])  # fmt: skip
def test_an_empty_file(tmp_path: Path, name: str, content: str) -> None:
    assert refused(tmp_path, name, content) == [(0, "empty-file", "It contains no deck.")]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert refused(tmp_path, "a.csv", b"after\nAS KS\nA\xff\n") == [
        (3, "not-text", "It cannot be read: line 3 is not in UTF-8, perhaps in Latin-1; save the file as UTF-8.")
    ]
    for coding in ("utf-16", "utf-16-le", "utf-16-be"):
        assert refused(tmp_path, "a.csv", "deck,before,after\n1,AS KS,KS AS\n".encode(coding)) == [
            (0, "not-text", "It cannot be read: it is in UTF-16; save it as UTF-8.")
        ]
    kinds = "The name of a file of decks ends with .jsonl, .ndjson or .csv."
    assert refused(tmp_path, "a.txt", "AS KS\n") == [(0, "file-kind", kinds)]
    with pytest.raises(OrderFileError, match=r"gone\.csv: The file cannot be read: No such file or directory\."):
        read_decks([tmp_path / "gone.csv"])
    with pytest.raises(OrderFileError, match=r"ends with \.jsonl, \.ndjson or \.csv\. \(file-kind\)"):
        write_decks(tmp_path / "decks.txt", [ONE])
    assert not (tmp_path / "decks.txt").exists()


def test_decks_of_other_cards_do_not_mix(tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.jsonl"
    write_decks(first, [ONE])
    write_decks(second, [UNKNOWN, DeckOrders((), ("AS", "KS")), DeckOrders((), ("AS", "KS", "2C"))])
    with pytest.raises(OrderFileError) as error:
        read_decks([first, second])
    assert str(error.value).replace(f"{tmp_path}/", "") == (
        "b.jsonl, line 2: This deck has 2 cards, and the one in a.csv, line 2, has 3. (mixed-decks)\n"
        "b.jsonl, line 3: This deck has the card 2C, which is not in the one in a.csv, line 2. (mixed-decks)"
    )


@pytest.mark.parametrize(
    ("former", "name", "code", "sentence"),
    [
        ("KC", "KX", "no-card", "'KX' is not the name of a card, and most other names are."),
        ("TH", "♥A", "card-twice", "This deck has one card by two names, AH and ♥A."),
    ],
)
def test_faces_that_are_not_those_of_a_deck(former: str, name: str, code: str, sentence: str, tmp_path: Path) -> None:
    decks = shuffled("uniform", 3)
    path = tmp_path / "decks.jsonl"
    write_decks(path, without_the_order_in(decks[:1]) + decks[1:])
    path.write_text(path.read_text("utf-8").replace(f'"{former}"', f'"{name}"'), "utf-8")
    with pytest.raises(OrderFileError) as error:
        read_decks([path])
    assert [(fault.line, fault.code, fault.sentence) for fault in error.value.faults] == [(1, code, sentence)]


def test_a_repeated_deck_is_a_fault(tmp_path: Path) -> None:
    """This holds for whole decks and for many known cards; with few a repeat occurs by chance."""
    second = tmp_path / "b.jsonl"
    one, other = shuffled("uniform", 2)
    in_part, of_few = first_seen([one], 30), first_seen([one], 12)
    write_decks(second, [one, *in_part, *of_few, *of_few, *without_the_order_in([one, one])])
    third = tmp_path / "c.jsonl"
    write_decks(third, [other, *in_part, one])
    with pytest.raises(OrderFileError) as error:
        read_decks([second, third])
    assert [(fault.line, fault.code) for fault in error.value.faults] == [(2, "deck-twice"), (3, "deck-twice")]
    sentence = error.value.faults[1].sentence
    assert f"the orders in and out of the one in {second}, line 1, which does not happen by chance." in sentence
    assert "If the line was copied" in sentence
    assert "the machine repeats itself" in sentence
    write_decks(third, [other])
    assert len(read_decks([second, third])) == 7


def test_two_equal_decks_with_different_numbers_are_two(tmp_path: Path) -> None:
    """They come from a machine that repeats itself."""
    table = tmp_path / "decks.csv"
    write_decks(table, shuffled("uniform", 1) * 3)  # numbered from 1
    assert [one.number for one in read_decks([table])] == ["1", "2", "3"]
    copied = tmp_path / "copied.csv"
    copied.write_text(table.read_text() + table.read_text().splitlines()[1] + "\n")
    with pytest.raises(OrderFileError) as error:
        read_decks([copied])
    assert [(fault.line, fault.code) for fault in error.value.faults] == [(5, "deck-twice")]
    for numbers in ((1, 2, 2), (1, 1, 2), ("", 1, 2), (1, 2, "")):
        rows = zip(numbers, table.read_text().splitlines()[1:], strict=True)
        copied.write_text("deck,before,after\n" + "".join(f"{number},{row[2:]}\n" for number, row in rows))
        with pytest.raises(OrderFileError):
            read_decks([copied])


def test_one_number_for_two_decks_is_a_fault(tmp_path: Path) -> None:
    table, other = tmp_path / "decks.csv", tmp_path / "other.csv"
    write_decks(table, shuffled("uniform", 3))
    write_decks(other, shuffled("uniform", 3, seed=2))
    assert len(read_decks([table, other])) == 6
    table.write_text(table.read_text().replace("\n3,", "\n1,"))
    with pytest.raises(OrderFileError) as error:
        read_decks([table])
    assert [(fault.line, fault.code, fault.sentence) for fault in error.value.faults] == [
        (4, "number-twice", "The deck in line 2 also has the number 1.")
    ]


def turned_round(deck: DeckOrders) -> DeckOrders:
    return DeckOrders(deck.after, deck.before)


def in_a_row(model: str, decks: int) -> list[DeckOrders]:
    """Return decks, each of which goes in as the previous one came out."""
    made, before = [], NEW_DECK
    for deck in shuffled(model, decks):
        after = tuple(before[NEW_DECK.index(card)] for card in deck.after)
        made.append(DeckOrders(before, after))
        before = after
    return made


def between(one: list[DeckOrders], other: list[DeckOrders]) -> list[DeckOrders]:
    """Return the decks of two alternating packs."""
    return [deck for pair in zip(one, other, strict=True) for deck in pair]


def test_orders_that_are_exchanged_are_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "decks.csv"
    row, new = in_a_row("shelves:20", 5), shuffled("uniform", 5)
    for decks, line, said in (
        (
            list(map(turned_round, row)),
            3,
            "in the order in which this one came out, as in 3 more: 'before' and 'after' are exchanged, or",
        ),
        (row[::-1], 3, "as in 3 more: "),
        (list(map(turned_round, new)), 3, "as in 3 more: "),
        ([turned_round(row[1]), *map(turned_round, new)], 4, "as in 3 more: "),
        (between(list(map(turned_round, row)), list(map(turned_round, new))), 3, "more: "),
    ):
        write_decks(path, decks)
        with pytest.raises(OrderFileError) as error:
            read_decks([path])
        ((at, code, sentence),) = [(one.line, one.code, one.sentence) for one in error.value.faults]
        assert (at, code) == (line, "orders-exchanged")
        assert said in sentence
        assert len(read_decks([path], as_written=True)) == len(decks)


def turned_in_a_row(model: str, decks: int) -> list[DeckOrders]:
    """Return decks of which each goes in reversed."""
    made, before = [], NEW_DECK
    for deck in shuffled(model, decks):
        made.append(DeckOrders(before, tuple(before[NEW_DECK.index(card)] for card in deck.after)))
        before = made[-1].after[::-1]
    return made


@pytest.mark.parametrize("model", ["not-always:0.5", "cut", "uniform", "riffle:1"])
def test_bad_machines_are_not_taken_for_exchanged_orders(model: str, tmp_path: Path) -> None:
    row = in_a_row(model, 30)
    for number, decks in enumerate((row, shuffled(model, 30), row[:1], between(row, shuffled(model, 30, 2)),
                                   turned_in_a_row(model, 60))):  # fmt: skip
        path = tmp_path / f"{number}.csv"
        write_decks(path, decks)
        assert len(read_decks([path])) == len(decks)


def test_all_faults_are_counted_and_the_first_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "decks.jsonl"
    path.write_text("no\n" * (LISTED + 1_234))
    with pytest.raises(OrderFileError) as error:
        read_decks([path, tmp_path / "gone.csv"])
    assert len(error.value.faults) == LISTED + 1_235
    lines = str(error.value).split("\n")
    assert lines[LISTED - 1] == f"{path}, line {LISTED}: This is not JSON: input data was truncated. (not-json)"
    assert lines[LISTED:] == ["1,235 more faults are not listed."]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("uniform", "a uniform shuffle"),
        ("cut", "a cut alone"),
        ("riffle:1", "one riffle"),
        (" riffle:7 ", "7 riffles"),
        ("riffle:7:0.4", "7 riffles, cut at 40%"),
        ("shelves:10", "a shelf shuffler with 10 shelves"),
        ("shelves:10x2", "a shelf shuffler with 10 shelves, 2 passes"),
        ("shelves:1:top", "a shelf shuffler with 1 shelf, from the top"),
        ("sticking:0.02", "a uniform shuffle in which neighbours stick with a chance of 2%"),
        ("not-always:0.05", "a uniform shuffle that is left out with a chance of 5%"),
        ("not-always:0.005", "a uniform shuffle that is left out with a chance of 0.5%"),
        ("overhand:3:0.2", "3 overhand shuffles, 20% breaks"),
        ("strip:4", "4 strip cuts, 14% breaks"),
        ("wash:30", "a wash of 30 seconds"),
        ("favoured:0.2:1:52", "a uniform shuffle in which card 1 comes to place 52 with a chance of 20%"),
    ],
)
def test_models_by_name(text: str, words: str) -> None:
    assert model_named(text).words == words


def test_every_example_of_a_form_is_one() -> None:
    examples = [example for form in FORMS.values() for example in form.examples]
    assert len({model_named(example).words for example in examples}) == len(examples)
    assert getattr(model_named("shelves:10:top"), "from_top", None) is True
    assert getattr(model_named("shelves:10"), "from_top", None) is False


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "there is no model ''"),
        ("riffel:7", "there is no model 'riffel'"),
        ("riffle", "1 to 2 numbers follow the name, not 0"),
        ("cut:3", "0 numbers follow the name, not 1"),
        ("riffle:0", "the number of riffles is a whole number from 1 to 60, not '0'"),
        ("riffle:seven", "the number of riffles is a whole number from 1 to 60, not 'seven'"),
        ("riffle:99999999999999999999", "a whole number from 1 to 60, not '99999999999999999999'"),
        ("riffle:7:1.5", "the share cut off is a number above 0, at most 1, not '1.5'"),
        ("shelves:10x", "the number of passes is a whole number from 1 to 20, not ''"),
        ("shelves:10:bottom", "only 'top' may follow the shelves, not 'bottom'"),
        ("sticking:nan", "the chance is a number above 0, at most 1, not 'nan'"),
        ("not-always:0", "the chance is a number above 0, at most 1, not '0'"),
        ("wash:inf", "the time in seconds is a number above 0, at most 3600, not 'inf'"),
        ("favoured:0.2:1:53", "the place is a whole number from 1 to 52, not '53'"),
        ("favoured:0.2:1", "3 numbers follow the name, not 2"),
    ],
)
def test_an_unknown_model_is_answered_with_the_valid_forms(text: str, why: str) -> None:
    with pytest.raises(ModelNameError) as refused:
        model_named(text)
    assert why in str(refused.value)
    assert str(refused.value).endswith(
        "The forms are uniform, riffle:7, riffle:7:0.4, shelves:10, shelves:10x2, shelves:10:top, sticking:0.02, "
        "not-always:0.05, cut, overhand:3:0.2, strip:4, wash:30, favoured:0.2:1:52."
    )


def test_places_depend_on_the_deck() -> None:
    assert model_named("favoured:0.2:1:53", 54).words.startswith("a uniform shuffle in which card 1 comes to place 53")
    with pytest.raises(ModelNameError, match="a strip cut needs at least 8 cards"):
        model_named("strip:4", 7)


@pytest.mark.parametrize("between", [",", ", ", " , "])
def test_commas_between_cards_are_named(tmp_path: Path, between: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text(f'before,after\n"{between.join(("AS", "KS"))}","{between.join(("KS", "AS"))}"\n')
    with pytest.raises(OrderFileError, match="The cards are separated by commas: separate them by spaces"):
        read_decks([file])
