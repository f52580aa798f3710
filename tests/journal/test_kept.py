"""Journals of earlier versions, and what those versions' screens showed: they fold to the same for ever.

The journals are of simulated tables (`cardshoe demo`, seed 11, six rounds), so their keys guard nothing. A view is kept
for each event that ends something; a field that later versions added is not compared.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.api.view import LinkView, view_of
from controller.journal.store import JournalReader
from controller.table import events
from controller.table.events import AnyEvent
from controller.table.evolve import evolve
from controller.table.inputs import AnyInput
from controller.table.state import TableState

KEPT = Path(__file__).with_name("kept")
NAMES = sorted(path.name.removesuffix(".journal.gz") for path in KEPT.glob("*.journal.gz"))
SHOWN_AFTER = (events.HandJudged, events.IrregularityResolved, events.PhaseEntered)


def as_before(now: Any, before: Any) -> Any:
    """What is shown now, without what the earlier version did not show.

    The options of a ruling are offered by the program that runs, whatever the journal is of.
    """
    if isinstance(before, dict):
        return {name: value if name == "options" else as_before(now[name], value) for name, value in before.items()}
    if isinstance(before, list):
        assert len(now) == len(before)
        return [as_before(one, other) for one, other in zip(now, before, strict=True)]
    return now


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_journal_folds_to_what_was_shown_then(name: str, tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(gzip.decompress((KEPT / f"{name}.journal.gz").read_bytes()))
    shown: list[Any] = json.loads(gzip.decompress((KEPT / f"{name}.views.json.gz").read_bytes()))
    key = bytes.fromhex((KEPT / f"{name}.key").read_text())
    journal: JournalReader[Any, Any] = JournalReader.open_to_read(path, AnyInput, AnyEvent, local_key=key)
    state, compared = TableState(), 0
    try:
        journal.verify()
        for entry in journal.entries():
            if entry.kind != "event":
                continue
            state = evolve(state, entry.value, entry.number)
            if isinstance(entry.value, SHOWN_AFTER):
                before = shown[compared]
                now = as_before(msgspec.to_builtins(view_of(state, LinkView())), before)
                assert now == before, f"after entry {entry.number}"
                compared += 1
    finally:
        journal.close()
    assert compared == len(shown) > 50


def test_journals_are_kept() -> None:
    assert NAMES == ["nc-sets", "nc-singles"]
