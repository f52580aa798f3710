"""Two decks that differ only in face-down cards make the same messages to the floor.

Only hashes, signatures and commitments differ: each decision's hash commits to what was sealed with it. Reports of the
table's state are checked with the other outputs, in `tests/interfaces/test_secrecy.py`.
"""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from random import Random

import msgspec

from controller.daemon.journal_types import JOURNAL_TYPES
from controller.floor.publisher import about_record
from controller.games.specification import Unit
from controller.journal.codec import Moment
from controller.journal.file import Identity
from controller.journal.signing import SigningKey
from controller.journal.store import Journal
from controller.roles import Role
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.saved_state import SavedState
from controller.table.state import TableState
from firmware_bridge.drivers.memory import LinkMemory
from tests.floor.reading import journal_of
from tests.interfaces.test_secrecy import (
    EVERY_TABLE,
    OverheardTable,
    overhear_a_deal,
    overhear_lost_links,
    turn,
    two_decks,
)
from tests.support.journal_codec import JOURNAL_ID, LOCAL_KEY

OF_THE_CHAIN = re.compile(r'"(?:hash|before|signature|commitment)":"[0-9a-f]*"')


def messages(table: OverheardTable, folder: Path) -> list[str]:
    """Return what is published of the table's journal, with the properties of each message."""
    identity = Identity(JOURNAL_ID, "T-1", True)
    journal: Journal[AnyInput, AnyEvent] = Journal.open(
        folder, JOURNAL_TYPES, local_key=LOCAL_KEY, identity=identity, signer=SigningKey(LOCAL_KEY),
        random=Random(1).randbytes,
    )  # fmt: skip
    with closing(journal):
        journal.begin_file(SavedState(TableState(), LinkMemory().journaled()), Moment(10**18, 0))
        for at, (given, numbered) in enumerate(table.steps):
            journal.append(given, [event for _, event in numbered], round=1, moment=Moment(10**18 + at, at))
            if at % 9 == 0:
                journal.sign_head(Moment(10**18 + at, at))
        return [
            msgspec.json.encode([dict(about_record(one)), one]).decode() for one in journal_of(folder)
        ]  # fmt: skip


def without_hashes(found: list[str]) -> list[str]:
    return [OF_THE_CHAIN.sub("", one) for one in found]


def assert_alike(tables: list[OverheardTable], folder: Path) -> None:
    one, two = (messages(table, folder / str(at)) for at, table in enumerate(tables))
    assert without_hashes(one) == without_hashes(two)
    assert list(map(len, one)) == list(map(len, two))
    assert one != two, "what is sealed differs"
    assert len(one) > 30


@EVERY_TABLE
def test_face_down_cards_are_not_sent(game_id: str, unit: Unit, tmp_path: Path) -> None:
    assert_alike([overhear_a_deal(game_id, unit, deck) for deck in two_decks()], tmp_path)
    assert_alike([overhear_lost_links(game_id, unit, deck) for deck in two_decks()], tmp_path / "lost")


@EVERY_TABLE
def test_a_shown_face_is_sent(game_id: str, unit: Unit, tmp_path: Path) -> None:
    """Otherwise the test above would pass whatever is sent."""
    sent = []
    for at, deck in enumerate(two_decks()):
        table = overhear_a_deal(game_id, unit, deck)
        table.deny(Role.SHIFT_MANAGER)
        before = len(messages(table, tmp_path / f"before{at}"))
        table.expose(turn(table))
        sent.append(without_hashes(messages(table, tmp_path / str(at))[before:]))
    assert sent[0] != sent[1]
