"""The orders of decks in a journal: cards that were exposed or recalled, and which decks were new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from controller.commands.journal.source import Source
from controller.roles import Role
from controller.table import operations
from firmware_bridge.cards import DECK, Card
from shuffle_audit.commands.command import audit
from shuffle_audit.journal_orders import STANDARD, JournalDeck, card_name, makers_order
from shuffle_audit.journal_recalls import read_journal
from shuffle_audit.order_files import write_decks
from shuffle_audit.orders import UNKNOWN, DeckOrders, OrderError
from simulators.bench.deck_recording import name_of
from tests.journal_commands.made import KEY
from tests.shuffle_audit.decks import shuffled
from tests.shuffle_audit.journals import DealingTable, shuffled_new

DEALT = 24  # cards of a round with seven boxes


@pytest.fixture
def table(tmp_path: Path) -> DealingTable:
    return DealingTable(tmp_path / "journal")


def read(table: DealingTable, key: bytes | None = None) -> list[JournalDeck]:
    table.journal.close()
    return read_journal(table.journal.folder, STANDARD, key).decks


def names(cards: list[Card]) -> tuple[str, ...]:
    return tuple(card_name(card.code) for card in cards)


def seen(cards: list[Card], count: int) -> tuple[str, ...]:
    return names(cards[:count]) + (UNKNOWN,) * (52 - count)


def test_the_standard_order_is_that_of_a_bench() -> None:
    assert tuple(name_of(card) for card in DECK) == STANDARD
    assert makers_order("\n".join(card.code for card in DECK[::-1])) == STANDARD[::-1]
    for text, code in ((" ".join(STANDARD[1:]), "card-missing"), ("AS AS", "card-twice"), ("1X", "no-card")):
        with pytest.raises(OrderError) as refused:
            makers_order(text)
        assert refused.value.code == code


def test_a_new_deck_has_a_known_order_in_and_the_shown_order_out(table: DealingTable) -> None:
    made = table.play_new("uniform", 2)
    found = read(table)
    assert [one.deck for one in found] == [DeckOrders(STANDARD, seen(order, DEALT)) for order in made]
    assert [one.round for one in found] == [1, 2]
    assert 0 < found[0].entry < found[1].entry
    assert 0 < found[0].utc_ns < found[1].utc_ns
    assert all(one.deck.before == () for one in read_journal(table.journal.folder, None, None).decks)


def test_a_deck_that_is_shuffled_again_is_not_new(table: DealingTable) -> None:
    first, second = shuffled_new("uniform", 2)
    name = table.bring_new()
    table.play(name, first)
    table.play(name, second)
    assert [bool(one.deck.before) for one in read(table)] == [True, False]


def test_a_deck_without_the_seal_of_its_box_is_not_new(table: DealingTable) -> None:
    (order,) = shuffled_new("uniform", 1)
    table.play(table.bring_new(sealed=False), order)
    found = read(table)
    assert [one.deck for one in found] == [DeckOrders((), seen(order, DEALT))]


def test_a_deck_that_comes_back_is_not_new(table: DealingTable) -> None:
    """It comes back under the same name and seal."""
    first, second = shuffled_new("uniform", 2)
    brought = operations.BringDeck("A", "red", "seal 1", 52, "a witness")
    for order in (first, second):
        table.do(brought)
        table.play("A", order)
        table.take_out("A")
    assert [bool(one.deck.before) for one in read(table)] == [True, False]


def test_a_deck_whose_name_was_corrected_is_the_one_that_holds(table: DealingTable) -> None:
    (order,) = shuffled_new("uniform", 1)
    used, new = table.bring_new(), table.bring_new()
    table.play(used, order)
    table.device.load()
    table.do(operations.LoadDeck(used))
    table.do(operations.LoadDeck(new))
    assert [bool(one.deck.before) for one in read(table)] == [True, True]


def test_decks_that_no_one_recorded_have_no_order_in(table: DealingTable) -> None:
    table.fresh_deck()
    found = read(table)
    assert [one.deck for one in found] == [DeckOrders((), (UNKNOWN,) * 52)]


def test_after_the_shuffle_of_an_unnamed_deck_no_older_deck_is_new(table: DealingTable) -> None:
    """The unnamed deck may be the one that is named when it is put in again."""
    first, second = shuffled_new("uniform", 2)
    before = table.bring_new()
    table.device.load()
    assert table.state.decks.in_play.shuffled
    table.play(before, first)
    table.play(table.bring_new(), second)
    assert [bool(one.deck.before) for one in read(table)] == [False, False, True]


def test_a_journal_that_begins_later_knows_no_new_deck(table: DealingTable, tmp_path: Path) -> None:
    """The file that records the new deck was deleted; the deck is put in after that file ends."""
    (order,) = shuffled_new("uniform", 1)
    name = table.bring_new()
    table.next_file()
    table.play(name, order)
    table.journal.close()
    files = sorted(table.journal.folder.glob("*.journal"))
    assert len(files) == 2
    (later,) = read_journal(files[1], STANDARD, None).decks
    assert later.deck == DeckOrders((), seen(order, DEALT))


def test_face_down_cards_are_known_only_by_a_recall_and_the_key(table: DealingTable) -> None:
    """The round is void: no hand was turned over. Its cards are recalled, three sets and the one in the tray; those of
    the next round are not.
    """
    recalled, other = shuffled_new("uniform", 2)
    for order in (recalled, other):
        name = table.bring_new()
        table.begin(name, order)
        table.take(3)
        for _ in range(2):
            table.do(operations.AbandonRound("shift manager", "the fire alarm"), Role.SHIFT_MANAGER)
        table.take_out(name)
    table.do(operations.RecallCards(1, "an audit of the shuffler"), Role.PIT_MANAGER)
    assert [set(one.deck.after) for one in read(table)] == [{UNKNOWN}, {UNKNOWN}]
    first, second = read_journal(table.journal.folder, STANDARD, KEY).decks
    assert first.deck.after == seen(recalled, 12)
    assert set(second.deck.after) == {UNKNOWN}


# -- the command ------------------------------------------------------------------------------------------------------


def call(*arguments: object) -> Result:
    return CliRunner().invoke(audit, list(map(str, arguments)), prog_name="cardshoe audit")


def test_a_journal_among_the_files_of_an_audit(table: DealingTable, tmp_path: Path) -> None:
    table.play_new("shelves:10", 6)
    table.journal.close()
    bad = call("run", table.journal.folder, "--new-deck", "standard", "--json")
    result = json.loads(bad.stdout)["result"]
    assert (bad.exit_code, result["decks"], result["partial"], result["least_known"]) == (1, 6, 6, DEALT)
    file = tmp_path / "decks.jsonl"
    write_decks(file, shuffled("uniform", 2))
    both = call("run", file, table.journal.folder, "--new-deck", "standard", "--json")
    assert json.loads(both.stdout)["result"]["decks"] == 8


@pytest.mark.usefixtures("fonts")
def test_a_report_with_all_its_parts_of_a_journal_and_whole_decks(table: DealingTable, tmp_path: Path) -> None:
    """Procedures that need whole decks use only these. One page is made with whole decks and one without."""
    table.play_new("shelves:10", 3)
    table.journal.close()
    file, html = tmp_path / "decks.jsonl", tmp_path / "report.html"
    write_decks(file, shuffled("uniform", 2))
    journal = str(table.journal.folder), "--new-deck", "standard"
    both = json.loads(call("run", file, *journal, "--json").stdout)
    assert [(one["decks"], bool(one["sha256"])) for one in both["files"]] == [(2, True), (3, False)]
    assert [one["each"] for one in both["regulators"]] == [pytest.approx(2 / 52)] * 2
    alone = json.loads(call("run", *journal, "--json").stdout)
    assert (alone["regulators"], alone["result"]["verdict"]) == ([], "bad")
    assert both["dealt"]["compared"] == alone["dealt"]["compared"]
    assert alone["suspects"][0]["log10"] > 2
    for files in ((file, *journal), journal):
        assert call("run", *files, "--html", html).exit_code == 1
        assert "known in part" in html.read_text("utf-8").lower()


def test_without_the_makers_order_there_is_no_verdict(table: DealingTable) -> None:
    table.play_new("uniform", 2)
    table.journal.close()
    done = call("run", table.journal.folder)
    assert done.exit_code == 2
    assert done.stdout.startswith("NO VERDICT: The order in is not known for any of the 2 decks. If the order in was")


def test_cards_that_always_come_to_a_place_are_found_without_the_makers_order(table: DealingTable) -> None:
    table.play_new("overhand:1:0.02", 5)
    table.journal.close()
    done = call("run", table.journal.folder)
    assert (done.exit_code, done.stdout[:4]) == (1, "BAD:")
    assert "  examined by cards: 5 decks, which needs no order in\n" in done.stdout


def test_hands_of_a_round_are_those_of_the_boxes_in_play(table: DealingTable) -> None:
    table.boxes = (1, 3)
    (order,) = table.play_new("uniform", 1)
    table.journal.close()
    (deck,) = read_journal(table.journal.folder, None, None).decks
    assert set(deck.hands) == {"B1", "B3", "D"}
    dealt = sorted(card for hand in deck.hands.values() for card in hand)
    assert dealt == sorted(card_name(card.code) for card in order[:9])


def test_hands_at_boxes_that_the_journal_does_not_know_are_named(table: DealingTable) -> None:
    """The file in which the boxes of round 1 were occupied was deleted; the next one has all of round 2."""
    first, second = shuffled_new("uniform", 2)
    table.begin(table.bring_new(), first)
    table.next_file()
    table.finish()
    table.take_out("D1")
    table.play(table.bring_new(), second)
    table.journal.close()
    assert read_journal(table.journal.folder, None, None).unknown_boxes == ()
    later = sorted(table.journal.folder.glob("*.journal"))[1]
    found = read_journal(later, None, None)
    assert found.unknown_boxes == (1,)
    assert [set(deck.hands) for deck in found.decks] == [{"D", *(f"B{number}" for number in range(1, 8))}]
    done = call("run", later)
    assert f"  left out: hands at boxes that the journal does not know, of 1 round: {later}, round 1\n" in done.stdout


def test_the_stakes_of_a_round_are_those_at_the_beginning_of_its_deal(table: DealingTable) -> None:
    """A bet of a later round is not one of this round, and a corrected bet counts as corrected."""
    table.boxes, table.stakes = (1, 3), {1: 100, 3: 200}
    first, second, third = shuffled_new("uniform", 3)
    table.play(table.bring_new(), first)
    table.take_out("D1")
    table.stakes = {3: 50}
    table.begin(table.bring_new(), second)
    (bet,) = table.state.round.bets
    table.do(operations.CorrectBet(bet.number, 70, "a chip was counted twice"), Role.PIT_MANAGER)
    table.finish()
    table.take_out("D2")
    table.stakes = {}
    table.play(table.bring_new(), third)
    assert [one.stakes for one in read(table)] == [{"B1": 100, "B3": 200}, {"B3": 70}, {}]


def deal(table: DealingTable, order: list[Card]) -> None:
    """Deal a round from a deck of its own."""
    name = table.bring_new()
    table.play(name, order)
    table.take_out(name)


def found_bad(table: DealingTable) -> str:
    """Return what the audit of the journal says, which is BAD."""
    table.journal.close()
    done = call("run", table.journal.folder)
    assert (done.exit_code, done.stdout[:4]) == (1, "BAD:")
    return done.stdout


def test_a_device_that_deals_by_the_bets_is_found(table: DealingTable) -> None:
    """Every card of the box with the highest stake is a picture. The order in is not known."""
    for number, order in enumerate(shuffled_new("uniform", 12)):
        table.boxes, high = (1, 2), number % 2
        table.stakes = {1: 100 + 100 * (high == 0), 2: 100 + 100 * (high == 1)}
        for at in range(3 * high, 3 * high + 3):
            other = next(one for one, card in enumerate(order) if card.code[0] in "JQK" and not 3 * high <= one < at)
            order[at], order[other] = order[other], order[at]
        deal(table, order)
    said = found_bad(table)
    assert "at the box with the highest stake, rounds with different stakes (Dunn 1961)" in said


def test_a_device_that_acts_while_a_box_is_in_play_is_found(table: DealingTable) -> None:
    """The Dealer gets a picture whenever box 3 is in play. The order in is not known."""
    for number, order in enumerate(shuffled_new("uniform", 30)):
        table.boxes = (1, 3) if number % 5 else (1, 2)
        if 3 in table.boxes:
            at = next(at for at, card in enumerate(order) if card.code[0] in "JQK" and at >= 8)
            order[8], order[at] = order[at], order[8]  # the Dealer's last card, in sets and in singles
        deal(table, order)
    said = found_bad(table)
    assert ": no picture at D, rounds with B3 in play (Dunn 1961)" in said


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("{file}", "--new-deck", "standard"), 2, "No journal is named."),
        (("{journal}", "--new-deck", "{file}"), 2, "is not the order of a deck: "),
        (("{journal}", "--new-deck", "gone"), 2, "gone cannot be read: No such file or directory."),
        (("{journal}", "--key-file", "{file}"), 4, "the key file"),
        (("{folder}",), 4, "journal"),
        (("{short}", "{journal}", "--new-deck", "standard"), 2, "has 52 cards, and deck 1 has 3."),
    ],
)
def test_unusable_input_is_refused(
    arguments: tuple[str, ...], code: int, said: str, table: DealingTable, tmp_path: Path
) -> None:
    (order,) = shuffled_new("uniform", 1)
    table.play(table.bring_new(), order)
    table.journal.close()
    paths = {"file": tmp_path / "decks.jsonl", "short": tmp_path / "short.jsonl", "folder": tmp_path / "empty"}
    paths["folder"].mkdir()
    write_decks(paths["file"], shuffled("uniform", 2))
    write_decks(paths["short"], [DeckOrders(("a", "b", "c"), ("c", "b", "a"))])
    done = call("run", *(one.format(journal=table.journal.folder, **paths) for one in arguments))
    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr


def test_reading_writes_nothing(table: DealingTable) -> None:
    table.play_new("uniform", 1)
    table.journal.close()
    files = {path: path.read_bytes() for path in table.journal.folder.glob("*.journal")}
    last = Source(table.journal.folder).last_entry()
    assert read_journal(table.journal.folder, STANDARD, KEY).head.partition(":")[0] == str(last)
    assert {path: path.read_bytes() for path in table.journal.folder.glob("*.journal")} == files
    assert Source(table.journal.folder).last_entry() == last
