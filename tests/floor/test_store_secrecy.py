"""Two decks that differ only in face-down cards make the same rows, except for hashes and commitments."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest

from controller.floor.store.database import Database
from controller.floor.store.writing import Writer
from controller.games.specification import Unit
from controller.roles import Role
from tests.floor.postgres import TOOL
from tests.floor.stored import Rows, heard_of
from tests.floor.test_secrecy import messages
from tests.interfaces.test_secrecy import EVERY_TABLE, OverheardTable, overhear_a_deal, turn, two_decks

pytestmark = pytest.mark.tool(TOOL)
TOPIC = "cardshoe/1/vienna/p1/T-1/journal"
HASH = re.compile(r"[0-9a-f]{32,}")
VIEWS = ("rounds", "hands", "wagers", "irregularities", "device_faults", "people", "heads", "alarms", "tables")


def stored(address: str, rows: Rows, table: OverheardTable, folder: Path) -> tuple[list[str], list[str]]:
    """Return every row of every table and of every view."""
    messages(table, folder)  # makes the journal
    rows.empty()
    with closing(Database(address)) as database:
        Writer(database).write(heard_of(folder, TOPIC))
    views = [repr(row) for view in VIEWS for row in rows.ask(f"SELECT to_jsonb(v) - 'heard_at' FROM cardshoe.{view} v")]
    return [row for of_table in rows.all().values() for row in of_table], sorted(views)


def without_hashes(found: list[str]) -> list[str]:
    return sorted(HASH.sub("", one) for one in found)


@EVERY_TABLE
def test_face_down_cards_are_not_stored(address: str, rows: Rows, game_id: str, unit: Unit, tmp_path: Path) -> None:
    tables = [overhear_a_deal(game_id, unit, deck) for deck in two_decks()]
    one, two = (stored(address, rows, table, tmp_path / str(at)) for at, table in enumerate(tables))
    for ones, twos in zip(one, two, strict=True):
        assert without_hashes(ones) == without_hashes(twos)
        assert ones != twos, "what is sealed differs"
    assert len(one[0]) > 60


def test_a_shown_face_is_stored(address: str, rows: Rows, tmp_path: Path) -> None:
    """Otherwise the test above would pass whatever is stored."""
    found = []
    for at, deck in enumerate(two_decks()):
        table = overhear_a_deal("NC", Unit.SETS, deck)
        table.deny(Role.SHIFT_MANAGER)
        table.expose(turn(table))
        found.append(without_hashes(stored(address, rows, table, tmp_path / str(at))[0]))
    assert found[0] != found[1]
