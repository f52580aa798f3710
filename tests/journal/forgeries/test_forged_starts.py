"""A start with a forged journal reports all doubts, even where it cannot continue."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.journal_start import load
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.journal import JournalError
from controller.journal.codec import Moment
from controller.journal.store import Journal
from tests.journal.forgeries.attacks import forged, keep_heads
from tests.journal.forgeries.forger import Forger, Row, write_journal
from tests.journal.table_journals import report
from tests.journal_commands.made import IDENTITY, KEY, SIGNER


@pytest.fixture
def forger(tmp_path: Path) -> Forger:
    write_journal(tmp_path / "journal")
    return Forger(tmp_path / "journal", tmp_path)


def begin(folder: Path) -> tuple[str, ...]:
    """Return the codes of the doubts that a start reports."""
    opened: Journal[Any, Any] = Journal.open(folder, JOURNAL_TYPES, local_key=KEY, identity=IDENTITY, signer=SIGNER)
    with closing(opened) as journal:
        load(journal, Moment(10**18, 1), report())
        return tuple(one.code for one in journal.pin.doubts)


def with_event(text: str) -> Callable[[Row], Row]:
    return lambda row: row._replace(events=f"[{text}]")


UNREADABLE: dict[str, Callable[[Row], Row]] = {
    "an event of no kind": with_event('{"event":"nonsense"}'),
    "a field of an event missing": with_event('{"event":"round_voided"}'),
    "an event that is not an object": with_event("7"),
    "an input of no kind": lambda row: row._replace(input='{"input":"nonsense"}'),
    "an input that is no JSON": lambda row: row._replace(input="{"),
    "a card that no deck has": with_event('{"event":"first_card_shown","card":"ZZ"}'),
    "a face-down card that is not sealed": with_event(
        '{"event":"cards_dealt","places":["B1"],"cards":[{"commitment":"' + "00" * 32 + '"}]}'
    ),
}
UNFOLDABLE: dict[str, Callable[[Row], Row]] = {
    "a card found elsewhere that no deck had": with_event(
        '{"event":"cards_found_elsewhere","cards":[{"shuffle":99,"ordinal":1,"source":"B1","place":"B2"}]}'
    ),
    "cards dealt to fewer places than there are cards": with_event(
        '{"event":"cards_dealt","places":["B1"],"cards":[],"source":"device"}'
    ),
}


@pytest.mark.parametrize("how", UNREADABLE | UNFOLDABLE)
def test_unreadable_added_decisions_are_reported_as_added(forger: Forger, how: str) -> None:
    rows = forger.rows(3)
    (row,) = forged(rows[-1], 1)
    changed = (UNREADABLE | UNFOLDABLE)[how](row)
    keep_heads(forger, lambda: forger.put(3, [*rows, changed]))
    with pytest.raises(JournalError) as raised:
        begin(forger.folder)
    said = str(raised.value)
    assert raised.value.code == "journal-damaged"
    assert "journal-added: " in said
    assert "000003.journal" in said
    assert f"entry {rows[-1].last + 2}" in said


@pytest.mark.parametrize("how", UNFOLDABLE)
def test_signed_decisions_that_cannot_be_folded_are_reported_in_a_sentence(forger: Forger, how: str) -> None:
    rows = forger.rows(3)
    (row,) = forged(rows[-1], 1)
    keep_heads(forger, lambda: forger.put(3, [*rows, UNFOLDABLE[how](row)]))
    forger.authenticate()
    forger.pin()
    with pytest.raises(JournalError, match=rf"000003\.journal is damaged: entry {rows[-1].last + 2} "):
        begin(forger.folder)
