"""Recorded decks and a device with a second compartment, for the tests of both."""

from __future__ import annotations

from typing import Final

from controller.games.specification import Unit
from controller.table import operations
from controller.table.model import Deck
from firmware_bridge.cards import DECK
from firmware_bridge.observations import DeckLoaded, ShuffleFinished, ShuffleStarted
from tests.table.harness import TableHarness

OTHER: Final = 2  # the device's number for the waiting deck
ORDER: Final = 777  # the number of its shuffle


def bring(name: str = "A", back: str = "red", count: int = 52, witness: str = "a witness") -> operations.BringDeck:
    return operations.BringDeck(name, back, f"seal of {name}", count, witness)


def take_out(name: str, count: int = 52, reason: str = "worn") -> operations.TakeDeckOut:
    return operations.TakeDeckOut(name, reason, count, "a witness")


def release(name: str, count: int = 52) -> operations.ReleaseDeck:
    return operations.ReleaseDeck(name, "examined", count, "a witness")


def opened(unit: Unit = Unit.SINGLES) -> TableHarness:
    table = TableHarness(unit).start()
    table.do(operations.OpenTable())
    return table


def with_two(unit: Unit = Unit.SINGLES) -> TableHarness:
    table = opened(unit)
    table.do(bring("A", "red"))
    table.do(bring("B", "blue"))
    return table


def begin_with(table: TableHarness, name: str) -> TableHarness:
    table.device.load()
    table.do(operations.LoadDeck(name))
    if table.device.unit is Unit.SINGLES:
        table.do(operations.ShuffledOutside("batch shuffler", name))
    table.do(operations.PlaceYourBets())
    table.do(operations.OccupyBoxes(table.boxes))
    table.do(operations.NoMoreBets())
    return table


def next_deck(table: TableHarness) -> Deck:
    assert table.state.decks.waiting is not None
    return table.state.decks.waiting


def load_beside(table: TableHarness) -> None:
    """Fill the other compartment."""
    table.device.report(DeckLoaded(OTHER, 52, ORDER if table.device.unit is Unit.SINGLES else None))


def shuffle_beside(table: TableHarness, count: int = 52, **wrong: int) -> None:
    table.device.report(ShuffleStarted(OTHER))
    table.device.report(ShuffleFinished(OTHER, ORDER, count, **wrong))


def turn_to_other(table: TableHarness) -> None:
    """Make the device deal from the other compartment from here on."""
    device = table.device
    device.deck, device.shuffle = OTHER, ORDER
    device.loaded, device.dispensed, device.inside, device.tray = 52, 0, list(DECK[::-1]), []
