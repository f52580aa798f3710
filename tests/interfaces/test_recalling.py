"""Recalled cards: found in any file of the journal, in their places at the time of the request."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from msgspec.structs import replace

from controller.daemon.journal_types import JOURNAL_TYPES
from controller.daemon.recalling import NO_CARDS, answer_recall
from controller.games.specification import Kind
from controller.journal import JournalError
from controller.journal.folder import JournalFolder
from controller.journal.reader import Entry
from controller.roles import Role
from controller.table import operations
from controller.table.events import AnyEvent, CardsFoundElsewhere
from controller.table.inputs import AnyInput
from tests.journal_commands.made import IDENTITY, KEY, JournaledTable

HANDS = {"B1": "2C 3C 4C", "B3": "5C 6C 7C", "B6": "8C 9C TC", "D": "KD QD JD"}


@pytest.fixture
def table(tmp_path: Path) -> JournaledTable:
    table = JournaledTable(tmp_path / "journal", hands=HANDS)
    table.start_daemon("start-1", "pc-1", table=IDENTITY.table)
    table.connect()
    return table


def recall(table: JournaledTable, of_round: int, place: str = "") -> int:
    """Recall cards, and return the entry that accepted it."""
    answer = table.say(operations.RecallCards(of_round, "a dispute", place), Role.PIT_MANAGER)
    assert not answer.code, answer.sentence
    return answer.entry


async def shown(table: JournaledTable, accepted: int) -> dict[str, list[str]]:
    """Return the cards by place."""
    table.journal.close()
    folder: JournalFolder[AnyInput, AnyEvent] = JournalFolder.open_to_read(
        table.journal.folder, JOURNAL_TYPES, local_key=KEY
    )

    async def read(after: int, limit: int) -> list[Entry[AnyInput, AnyEvent]]:
        return list(islice(folder.entries(after), limit))

    answer = await answer_recall(accepted, read)
    assert (answer.accepted, answer.entry, answer.code) == (True, accepted, "")
    assert answer.sentence == ("" if answer.recalled else NO_CARDS)
    places: dict[str, list[str]] = {}
    for card in answer.recalled:
        places.setdefault(card.place, []).append(card.card)
    return places


async def test_a_round_of_an_earlier_file(table: JournaledTable) -> None:
    table.to_dealing().finish()
    table.next_file()
    table.to_dealing().finish()
    table.next_file()
    accepted = recall(table, 1)
    assert await shown(table, accepted) == {place: text.split() for place, text in HANDS.items()}


@pytest.mark.parametrize("rounds", [1, 2, 5])
async def test_only_cards_of_the_round_that_is_named(table: JournaledTable, rounds: int) -> None:
    for _ in range(rounds):
        table.to_dealing().finish()
    faces = {place: hand.shown for place, hand in table.state.round.hands.items()}
    accepted = recall(table, rounds)
    assert await shown(table, accepted) == {place: [card.code for card in cards] for place, cards in faces.items()}


async def test_a_start_that_was_taken_back_lies_between_two_parts_of_a_round(table: JournaledTable) -> None:
    table.to_dealing().deal()
    table.report(Kind.WRONG_DISTRIBUTION)
    table.swap("B1", "B3")
    table.confirm(handled=False)
    table.put_right()
    table.expose_all().settle().conclude()
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    table.do(operations.CancelStart())
    accepted = recall(table, 1, "B1")
    assert await shown(table, accepted) == {"B1": HANDS["B1"].split()}


async def test_moves_after_two_starts_that_were_taken_back(table: JournaledTable) -> None:
    """Entries with moves follow two starts that were taken back, so round 1 has three parts."""
    table.to_dealing().deal()
    table.report(Kind.WRONG_DISTRIBUTION)
    table.swap("B1", "B3")
    table.confirm(handled=False)
    table.put_right()
    table.expose_all().settle().conclude()
    table.fresh_deck()
    for _ in range(2):
        table.do(operations.PlaceYourBets())
        table.do(operations.CancelStart())
    recall(table, 1, "B1")
    table.journal.close()
    folder: JournalFolder[AnyInput, AnyEvent] = JournalFolder.open_to_read(
        table.journal.folder, JOURNAL_TYPES, local_key=KEY
    )
    found = list(folder.entries(0))
    moved = [entry for entry in found if isinstance(entry.value, CardsFoundElsewhere)]
    assert moved
    order = [entry for entry in found if entry not in moved]
    order = [*order[:-2], *moved, *order[-2:]]
    entries = [replace(entry, number=number) for number, entry in enumerate(order, 1)]

    async def read(after: int, limit: int) -> list[Entry[AnyInput, AnyEvent]]:
        return entries[after : after + min(limit, 10)]  # the moves and the starts are on different pages

    answer = await answer_recall(entries[-1].number - 1, read)
    assert [card.card for card in answer.recalled] == HANDS["B3"].split()


async def test_later_cards_of_a_round_in_progress_are_not_shown(table: JournaledTable) -> None:
    """The same request is answered again after more cards have been dealt."""
    table.to_dealing()
    table.take(2)
    table.report(Kind.WRONG_DISTRIBUTION)
    table.swap("B1", "B3")
    table.confirm(handled=False)
    accepted = recall(table, 1, "B3")
    table.put_right()
    table.deal()
    assert await shown(table, accepted) == {"B3": HANDS["B1"].split()}, "as it lay when it was asked for"


async def test_a_round_without_cards(table: JournaledTable) -> None:
    table.to_betting()
    table.do(operations.CancelStart(announced=True))
    assert await shown(table, recall(table, 1)) == {}


async def test_an_unreadable_journal_is_reported(table: JournaledTable) -> None:
    async def read(after: int, limit: int) -> list[Entry[AnyInput, AnyEvent]]:
        raise JournalError("journal-io", "The disk is gone.", "Look at it.")

    answer = await answer_recall(7, read)
    assert (answer.accepted, answer.code, str(answer.sentence)) == (True, "journal-io", "The disk is gone. Look at it.")
    table.journal.close()
