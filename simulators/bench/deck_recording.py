"""Records whole decks that a shuffler on the bench deals out, each with the order that went in, to audit its shuffle.

The cards are those of the device's reports, which only a host with its key can read. They are recorded in the clear,
since a deck on a bench is not in a game. Recording needs numpy, through `shuffle_audit`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec

from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.cards import DECK, Card
from firmware_bridge.commands import AnyCommand, Dispense, HoldExit, ReleaseExit, Shuffle, UnloadStub
from firmware_bridge.drivers.base import Answered, LinkOver, Reported
from firmware_bridge.observations import (
    DeckLoaded,
    Jammed,
    Observation,
    SetDispensed,
    SetRemoved,
    ShuffleAborted,
    ShuffleFinished,
    Started,
    Tampered,
)
from shuffle_audit.orders import DeckOrders, OrderError, order_of
from simulators.bench.bench import PATIENCE, Bench, BenchError, open_bench

ObservationT = TypeVar("ObservationT", bound=Observation)
LARGEST_SET: Final = 5  # cards; the most that one command may order
STOPS: Final = (Jammed, ShuffleAborted, Started, Tampered)
NEW: Final = "clubs, diamonds, hearts, spades, each from ace to king, the ace of clubs on top"
NEW_DECK: Final = f"Put a new deck in: {NEW}"
COUNTED: Final = ("missing", "extra", "duplicate", "unreadable", "foreign", "face_up")


class RecordingError(Exception):
    """Raised when no further deck can be recorded. Earlier ones are kept. `hint` says what to do."""

    def __init__(self, sentence: str, hint: str = "") -> None:
        super().__init__(sentence)
        self.hint = hint


class DeckRecording(NamedTuple):
    """A recording to make. With `goes_on`, the first deck is in the device in the order in which the last deck of the
    file came out. With `turned`, each deck goes in reversed, with the last card to come out on top. `run` identifies
    this run.
    """

    shuffles: int
    file: Path
    goes_on: bool
    turned: bool
    run: str = "1"


class _Line(msgspec.Struct, frozen=True):
    """A line of the file. `deck` has device, run and number, which distinguish decks with the same orders."""

    deck: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def name_of(card: Card) -> str:
    """Return a card as the file writes it: `AS`, `10H`."""
    return card.code.replace("T", "10")


def first_order(asked: DeckRecording) -> list[str]:
    """Return the order of the first deck in the device, from the top. Raise `RecordingError` and OSError."""
    new = [name_of(card) for card in DECK]
    if not asked.goes_on:
        return new
    lines = asked.file.read_bytes().splitlines()
    try:
        last = msgspec.json.decode(lines[-1] if lines else b"", type=DeckOrders)
        order_of(new, last.after)
    except (msgspec.MsgspecError, OrderError) as error:
        raise RecordingError(
            f"The last line of {asked.file} is not a whole deck: {error}", "Name another file."
        ) from error
    return _put_back(last.after, asked)


async def record_decks(
    url: str, keys: Mapping[str, bytes], cards: Mapping[str, Card], asked: DeckRecording, say: Callable[[str], None]
) -> None:
    """Have a device deal out decks, and append each to the file when all of its cards have come.

    `say` is called with the progress and with what a person must do. Raise `RecordingError` and OSError.
    """
    before = first_order(asked)
    with asked.file.open("ab+") as file:  # opened first, to fail before a person begins
        file.seek(0)
        kept = sum(1 for _ in file)
    if kept and not asked.goes_on:
        say(f"{asked.file} already has decks, the last one in line {kept:,}. The new ones follow them.")
    lies = f"as a new one: {NEW}"
    if asked.goes_on:
        lies = f"as the last one of {asked.file} came out{', reversed' if asked.turned else ''}"
    say(f"Deck 1 is assumed to be in the device {lies}. If it is not, stop now.")
    async with open_bench(url, keys, cards) as bench:
        identity = await _identity(bench)
        for number in range(1, asked.shuffles + 1):
            deal = _Deal(bench, identity, f"Deck {number} of {asked.shuffles}", say)
            after = [name_of(card) for card in await deal.cards()]
            try:
                order_of(before, after)
            except OrderError as error:
                raise deal.failed(str(error)) from error
            _append(asked.file, _Line(f"{identity.serial} {asked.run} {number}", tuple(before), tuple(after)))
            deal.kept, before = True, _put_back(after, asked)
            say(f"{deal.deck} is kept.")
            if number < asked.shuffles:
                say(f"Put it in again, with the card that came {'last' if asked.turned else 'first'} on top.")
                await deal.report(DeckLoaded, "It was not put in again")


def _put_back(after: Sequence[str], asked: DeckRecording) -> list[str]:
    return list(reversed(after)) if asked.turned else list(after)


def _append(file: Path, line: _Line) -> None:
    with file.open("ab") as out:
        out.write(msgspec.json.encode(line) + b"\n")
        out.flush()
        os.fsync(out.fileno())


async def _identity(bench: Bench) -> DeviceIdentity:
    """Return the identity of a device whose decks can be recorded. Raise `RecordingError` for any other device."""
    try:
        identity = (await bench.ready()).identity
        await bench.answer_to(HoldExit())  # its earlier reports come before its answer
    except BenchError as error:
        raise RecordingError(f"No deck was dealt: {error}") from error
    can = identity.capabilities
    lacks = {
        "It does not shuffle.": identity.kind != "shuffler",
        "It yields single cards.": identity.unit == "singles",
        "It does not read its cards.": not can.recognises_cards,
        "It does not notice when a set is lifted.": not can.senses_tray,
    }
    if found := [why for why, lacking in lacks.items() if lacking]:
        raise RecordingError(f"The decks of {identity.serial} cannot be recorded. {found[0]}", "Name another device.")
    return identity


class _Deal:
    """One deck, from the shuffle until it is put in again. `deck` names it; `kept` means that it is in the file."""

    def __init__(self, bench: Bench, identity: DeviceIdentity, deck: str, say: Callable[[str], None]) -> None:
        self.deck = deck
        self._bench = bench
        self._can = identity.capabilities
        self._say = say
        self.kept = False
        self._came: list[Card] = []
        self._place = len(bench.received)

    async def cards(self) -> list[Card]:
        """Return the cards of the deck in the order in which they came. Raise `RecordingError`."""
        await self._order(HoldExit(), "to hold its exit")
        await self._shuffle()
        self._say(f"{self.deck} is dealt out. Lift each set, and keep the order of the cards.")
        await self._order(ReleaseExit(), "to release its exit")
        if self._can.dispenses == "on_command":
            while self._left > 0:
                await self._order(Dispense(min(LARGEST_SET, self._left)), "to form a set")
                await self._take()
        else:
            size = await self._take()
            while self._left >= size:
                await self._take()
            await self._take_last()
        return self._came

    async def report(self, kind: type[ObservationT], lacking: str) -> ObservationT:
        """Wait for the next report of a kind. Raise `RecordingError` with the fault `lacking` if the device stops
        first.
        """
        found = await self._wait(lambda thing: isinstance(getattr(thing, "observation", None), kind), lacking)
        self._place = next(n for n, thing in enumerate(self._bench.received, start=1) if thing is found)
        assert isinstance(found, Reported)
        assert isinstance(found.observation, kind)
        return found.observation

    async def _wait(self, awaited: Callable[[object], bool], lacking: str) -> object:
        """Wait for something. Raise `RecordingError` if the device stops first."""

        def stops(thing: object) -> bool:
            return isinstance(thing, LinkOver) or isinstance(getattr(thing, "observation", None), STOPS)

        try:
            found = await self._bench.wait_for(object, lambda thing: awaited(thing) or stops(thing), self._place)
        except BenchError as error:
            raise self.failed(f"{lacking} within {PATIENCE:g} seconds.") from error
        if isinstance(found, LinkOver):
            raise self.failed(str(found.sentence))
        if isinstance(found, Reported) and stops(found):
            words = str(found.observation.__struct_config__.tag).replace("_", " ")
            raise self.failed(f"The device reported: {words}.")
        return found

    @property
    def _left(self) -> int:
        return len(DECK) - len(self._came)

    async def _order(self, command: AnyCommand, what: str) -> None:
        number = self._bench.send(command)
        answer = await self._wait(
            lambda thing: isinstance(thing, Answered) and thing.command_id == number,
            f"The device was asked {what} and did not answer",
        )
        assert isinstance(answer, Answered)
        if not answer.done:
            raise self.failed(f"The device refuses {what}: {answer.reason}.")

    async def _shuffle(self) -> None:
        await self._order(Shuffle(), "to shuffle")
        finished = await self.report(ShuffleFinished, "The device did not report its shuffle")
        wrong = [f"{getattr(finished, name)} {name.replace('_', ' ')}" for name in COUNTED if getattr(finished, name)]
        if wrong or finished.count != len(DECK):
            found = ", ".join([f"{finished.count} cards", *wrong])
            raise self.failed(f"The device counted {found}.")

    async def _take(self) -> int:
        """Wait until a person lifts the next set, and return its size."""
        formed = await self.report(SetDispensed, "The device did not report a set")
        if formed.ordinal != len(self._came) + 1:
            raise self.failed(f"Card {formed.ordinal} came after card {len(self._came)}.")
        for ordinal, card in enumerate(formed.cards, start=formed.ordinal):
            if card is None:
                raise self.failed(f"Card {ordinal} was not recognised.")
            self._came.append(card.expose())
        await self.report(SetRemoved, "The set was not lifted")
        return len(formed.cards)

    async def _take_last(self) -> None:
        """Infer the last card of a device that forms sets of a fixed size: it is the only card that did not come."""
        if self._left > 1:
            raise self.failed(f"The device leaves {self._left} cards undealt; their order is not known.")
        if self._left and self._can.unloads_stub:
            await self._order(UnloadStub(), "to unload the last card")
        self._came += [card for card in DECK if self._left and card not in self._came]

    def failed(self, why: str) -> RecordingError:
        """Return the error for a sentence."""
        sentence = f"{self.deck} is {'kept' if self.kept else 'not kept'}. {why}"
        return RecordingError(sentence, f"{NEW_DECK}, and begin again.")
