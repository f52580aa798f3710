"""What a device cannot tell or do, in sentences that also say what happens instead."""

from __future__ import annotations

from typing import Final

from firmware_bridge.observations import Capabilities

SHORTCOMINGS: Final[tuple[tuple[str, str], ...]] = (
    ("counts", "It numbers no cards and tells of no decks: the table counts, and people say when a deck is put in."),
    ("acknowledges", "It tells every card at most once: after each loss of the link in a round a count is asked for."),
    ("retains_reports", "It forgets without power what was not heard: then a count is asked for."),
    ("recognises_cards", "It does not read cards: people enter every hand as it lies on the table."),
    ("senses_orientation", "It does not feel which way up a card lies: people report a card that lies face up."),
    (
        "senses_double_draw",
        "It does not feel two cards at once: the table infers it from its clock, or people say so.",
    ),
    ("holds_exit", "It cannot hold its exit: a card that is taken out of turn is told of, not prevented."),
    ("unloads_stub", "It does not count its stub: people do."),
)
"""The capability that is wanting, and what that means at the table."""


def shortcomings(capabilities: Capabilities) -> tuple[str, ...]:
    """A sentence for each thing that this device cannot."""
    return tuple(sentence for name, sentence in SHORTCOMINGS if not getattr(capabilities, name))
