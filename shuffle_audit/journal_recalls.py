"""Reads the decks of a whole journal, with the faces of recalled cards if the journal's key is given.

The journal holds who recalled which cards and why; the faces went only into the answer. With the key they can be found
again for these requests, and for no other card.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from controller.commands.journal.source import Source, head_text
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.journal.folder import JournalFolder
from controller.table import events
from controller.table.events import AnyEvent
from controller.table.recall import cards_recalled
from shuffle_audit.journal_orders import RECALLED, JournalDeck, JournalOrders, decided_after

STRAYS = "strays"  # cards from another deck


class JournalRead(NamedTuple):
    """A journal that was read: every shuffle of the device, the last entry with its hash, and the rounds with a hand at
    a box that is not in play by this journal; such a hand does not count.
    """

    decks: list[JournalDeck]
    head: str
    unknown_boxes: tuple[int, ...] = ()


def read_journal(path: Path, maker: tuple[str, ...] | None, local_key: bytes | None) -> JournalRead:
    """Return the decks, as far as their cards were exposed or, with the key, recalled. Raise `JournalError`."""
    orders, recalled = JournalOrders(maker), set()
    source = Source(path)
    for decided in decided_after(source):
        orders.take(decided)
        recalled |= {int(one.event["of_round"]) for one in decided.events if one.name == RECALLED}
    if local_key is not None and recalled:
        for found in recalled_faces(path, local_key, frozenset(recalled)):
            orders.add_face(*found)
    return JournalRead(orders.every(), head_text(source.head()), tuple(orders.unknown_boxes))


class RecalledFace(NamedTuple):
    """A recalled card. `face` is a code; ordinal 1 is the first card out."""

    round: int
    ordinal: int
    face: str


def recalled_faces(path: Path, local_key: bytes, rounds: frozenset[int]) -> Iterator[RecalledFace]:
    """Yield the faces with which requests about these rounds were answered. Raise `JournalError`."""
    folder: JournalFolder[Any, AnyEvent] = JournalFolder.open_to_read(path, JOURNAL_TYPES, local_key=local_key)
    dealt: dict[int, list[AnyEvent]] = {number: [] for number in rounds}
    for entry in folder.entries():
        if entry.kind != "event":
            continue
        if isinstance(entry.value, events.CardsRecalled):
            found = cards_recalled(entry.value, dealt.get(entry.value.of_round, ()))
            yield from (
                RecalledFace(entry.value.of_round, card.ordinal, card.face)
                for card in found
                if card.face and card.place != STRAYS
            )
        elif entry.round in dealt:
            dealt[entry.round].append(entry.value)
