"""The registry of every fault of simulated devices, by name.

A fault is planned by an ordinal, never by time: of a card in the deal, of a card in the next deck, of a frame that the
device sends (from when the fault was armed), or of a control request after a USB plug. Some faults of the line may also
be a chance, drawn from the seed. `cardshoe simulate --fault list` prints it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from firmware_bridge.messages import Message, MessageError, message

Side: TypeAlias = Literal["shuffler", "shoe", "angel_eye", "bee_tek", "line_reader"]
SIDES: Final[dict[Side, Message]] = {
    "shuffler": message("a cardlink shuffler"),
    "shoe": message("a cardlink shoe"),
    "angel_eye": message("Angel Eye"),
    "bee_tek": message("Bee-Tek"),
    "line_reader": message("a line reader"),
}


class SimulatedFault(msgspec.Struct, frozen=True):
    """One fault. `does` says what happens. `of` is what its ordinal counts. `shows` is what the host sees, for each
    kind of device that can show it. `line` is the field of `LineFaults` that it sets; it is empty for a fault of the
    mechanism, which asks for it by name, and for one that only a port can show. `usb` is the field of `UsbPlan` that it
    sets; such a fault needs a device on USB.
    """

    name: str
    does: Message
    of: Literal["card", "card of the next deck", "frame", "request", "nothing"]
    shows: Mapping[Side, str]
    line: str = ""
    unit: Literal["", "chance", "bytes"] = ""
    usb: str = ""

    @property
    def of_cards(self) -> bool:
        """Return whether the fault affects cards, not only bytes."""
        return self.of in ("card", "card of the next deck")

    @property
    def usage(self) -> str:
        """The forms after --fault."""
        forms = [] if self.of == "nothing" else [f"{self.name}@N"]
        forms += [f"{self.name}={self.unit.upper()}"] if self.unit else []
        return ", ".join(forms)


def _numbered(cards: str) -> dict[Side, str]:
    return {"shuffler": cards, "shoe": cards}


_STARTED: Final = "`started`, with its cause, in a new boot"
_KEPT: Final = "nothing is lost: it is sent again"
_UNNOTICED: Final = "nothing: the card is gone unnoticed"
_ONE_WAY: Final[tuple[Side, ...]] = ("angel_eye", "bee_tek", "line_reader")

FAULTS: Final = (
    SimulatedFault(
        "jam", message("The mechanism jams before card N, until it is cleared."), "card",
        {**_numbered("`jammed`, and the order is refused"), "angel_eye": "`jammed`, error mode",
         "bee_tek": "`alarmed`, E7"},
    ),
    SimulatedFault(
        "door-jam", message("It jams before card N with its door open; clearing closes the door."), "card",
        _numbered("`jammed` in the zone door, and `door_moved`"),
    ),
    SimulatedFault(
        "platform-fault", message("The platform jams before card N, and frees itself."), "card",
        _numbered("`jammed` and `jam_cleared` in the zone platform, then the cards"),
    ),
    SimulatedFault(
        "jam-recovery", message("It jams before card N, and frees itself."), "card",
        _numbered("`jammed` and `jam_cleared`, then the cards"),
    ),
    SimulatedFault(
        "double-draw", message("Two cards leave where one should, as card N."), "card",
        {"shuffler": "a set of one card more", "shoe": "`cards_drawn_together`",
         **dict.fromkeys(_ONE_WAY, "two cards, one after the other")},
    ),
    SimulatedFault(
        "face-up", message("Card N lies face up."), "card",
        {"shuffler": "`face_up_found`", "shoe": "`face_up_found`, and `face_up` of that card"},
    ),
    SimulatedFault(
        "missing-card", message("Card N is not in the next deck."), "card of the next deck",
        {"shuffler": "`missing` of `shuffle_finished`", "shoe": "`deck_loaded` of 51 cards"},
    ),
    SimulatedFault(
        "extra-card", message("Another copy of a card is in the next deck besides, as card N."),
        "card of the next deck",
        {"shuffler": "`extra` of `shuffle_finished`", "shoe": "`deck_loaded` of 53 cards"},
    ),
    SimulatedFault(
        "duplicate-card", message("Another copy of a card is card N of the next deck, in place of the right one."),
        "card of the next deck",
        {"shuffler": "`duplicate` of `shuffle_finished`", **dict.fromkeys(("shoe", *_ONE_WAY), "the same card twice")},
    ),
    SimulatedFault(
        "foreign-card", message("Card N is another deck's."), "card",
        {"shuffler": "`foreign` of `shuffle_finished`, and of the set",
         **dict.fromkeys(("shoe", "line_reader"), "`foreign` of that card"),
         "angel_eye": "no card, but `jammed`: error mode",
         "bee_tek": "`alarmed` E3 and an unread card, as for `unreadable`"},
    ),
    SimulatedFault(
        "unreadable", message("Card N cannot be read."), "card",
        {"shuffler": "`unreadable` of `shuffle_finished`, and an unread card in the set", "shoe": "an unread card",
         "angel_eye": "no card, but `jammed`: error mode", "bee_tek": "`alarmed` E3 and an unread card",
         "line_reader": "nothing: an unread card leaves no trace"},
    ),
    SimulatedFault(
        "misread", message("Card N is read as another card."), "card",
        {"shuffler": "another card in the set", **dict.fromkeys(("shoe", *_ONE_WAY), "another card")},
    ),
    SimulatedFault(
        "drop", message("When card N is due, one falls to the floor first, counted and not reported."), "card",
        _numbered("an ordinal that skips, and one card less that remains"),
    ),
    SimulatedFault(
        "slow", message("The motion that brings card N takes ten times as long."), "card",
        _numbered("a late report, by its uptime"),
    ),
    SimulatedFault(
        "reset", message("The device restarts when card N has left."), "card",
        {**_numbered(_STARTED), "angel_eye": "`started`"},
    ),
    SimulatedFault(
        "brown-out", message("The power is low when card N has left, and the device restarts after its next motion."),
        "card",
        {**_numbered("`power_low`, then " + _STARTED), "angel_eye": "`started`"},
    ),
    SimulatedFault(
        "self-test-failure", message("A self-test fails when card N is the next one."), "card",
        _numbered("`self_test_finished`, not passed"),
    ),
    SimulatedFault(
        "low-power", message("The power is low when card N is the next one, and does not fail."), "card",
        _numbered("`power_low`"),
    ),
    SimulatedFault(
        "memory-failure", message("The device finds its memory corrupt when card N is the next one."), "card",
        _numbered("`check_failed` of its memory"),
    ),
    SimulatedFault(
        "program-failure", message("The device finds its program altered when card N is the next one."), "card",
        _numbered("`check_failed` of its program"),
    ),
    SimulatedFault(
        "status-fault", message("From card N on the status names a fault, until a self-test is passed."), "card",
        _numbered("a fault in every status"),
    ),
    SimulatedFault(
        "silent", message("From frame N on nothing of the device arrives, until `silent off`."), "frame",
        {**_numbered("a link that is stale and then over"),
         **dict.fromkeys(_ONE_WAY, "nothing: silence proves nothing")},
    ),
    SimulatedFault(
        "unplug", message("The cable comes out in the middle of frame N."), "frame",
        {**_numbered("a lost link; what was not acknowledged comes on the next one"),
         **dict.fromkeys(_ONE_WAY, "a lost link; the rest of that frame is gone")},
    ),
    SimulatedFault(
        "bit-flips", message("A bit of frame N is flipped; or one of each byte, by chance, both ways."), "frame",
        {**_numbered(_KEPT), "angel_eye": "nothing is lost: another copy holds",
         "bee_tek": "`not_understood`, or another card: it has no checksum",
         "line_reader": "a foreign or another card, or bytes that fit nothing: it has no checksum"},
        line="flip", unit="chance",
    ),
    SimulatedFault(
        "loss", message("Frame N is lost; or each, by chance, both ways."), "frame",
        {**_numbered(_KEPT), "angel_eye": "`gap_suspected`, once the shoe's numbers are learned",
         **dict.fromkeys(("bee_tek", "line_reader"), _UNNOTICED)},
        line="loss", unit="chance",
    ),
    SimulatedFault(
        "duplicates", message("Frame N arrives twice; or each, by chance, both ways."), "frame",
        {**_numbered("one report"), "angel_eye": "one report", "bee_tek": "the card twice",
         "line_reader": "the card once, and noted"},
        line="duplicate", unit="chance",
    ),
    SimulatedFault(
        "reordering", message("Later frames overtake frame N; or each, by chance, both ways."), "frame",
        {**_numbered("the right order"), "angel_eye": "`gap_suspected`, once the shoe's numbers are learned",
         **dict.fromkeys(("bee_tek", "line_reader"), "the cards in another order")},
        line="reorder", unit="chance",
    ),
    SimulatedFault(
        "truncation", message("The end of frame N is missing; or each one's, by chance, both ways."), "frame",
        {**_numbered(_KEPT), "angel_eye": "nothing is lost: another copy holds; else `not_understood`",
         "bee_tek": "`not_understood`", "line_reader": "`not_understood`, or bytes that fit nothing"},
        line="truncate", unit="chance",
    ),
    SimulatedFault(
        "stall", message("Frame N and all after it wait for up to half a second; or each, by chance, both ways."),
        "frame",
        dict.fromkeys(SIDES, "everything, late"), line="stall", unit="chance",
    ),
    SimulatedFault(
        "pieces", message("So many bytes arrive at once; 1: one byte at a time."), "nothing",
        dict.fromkeys(SIDES, "everything"), line="piece", unit="bytes",
    ),
    SimulatedFault(
        "halt", message("On USB: the endpoint stalls before frame N, until the host clears its halt."), "frame",
        dict.fromkeys(SIDES, "everything: it clears the halt once, and reads on"), usb="halt",
    ),
    SimulatedFault(
        "short-packets",
        message("On USB: every packet of the device ends after that many bytes, and its transfer with it."),
        "nothing", {**_numbered(_KEPT), **dict.fromkeys(_ONE_WAY, "everything")}, unit="bytes", usb="short",
    ),
    SimulatedFault(
        "babble", message("On USB: frame N comes in a packet that is longer than its endpoint allows."), "frame",
        {**_numbered("a lost link; the frame is sent again on the next one"),
         **dict.fromkeys(_ONE_WAY, "a lost link; that frame is gone")}, usb="babble",
    ),
    SimulatedFault(
        "hub-reset",
        message("On USB: the hub resets in the middle of frame N; the device is gone and there again at once."),
        "frame",
        {**_numbered("a lost link; what was not acknowledged comes on the next one"),
         **dict.fromkeys(_ONE_WAY, "a lost link; that frame is gone")}, usb="hub_reset",
    ),
    SimulatedFault(
        "slow-enumeration",
        message("On USB: after the next plug control request N is not answered until the host asks again."),
        "request", dict.fromkeys(SIDES, "a device that is found later; nothing is lost that it keeps"),
        usb="unanswered",
    ),
)  # fmt: skip
BY_NAME: Final = {fault.name: fault for fault in FAULTS}

_WRITTEN: Final = re.compile(r"([a-z-]+)(?:@([0-9]{1,6})|=([0-9]{1,6}(?:\.[0-9]{1,9})?))?", re.ASCII)


def explained(side: Side) -> Iterator[str]:
    """Yield what each fault does, and what the host sees of a device of this kind."""
    for fault in FAULTS:
        seen = fault.shows.get(side, "")
        yield f"{fault.usage:<32} {fault.does}"
        yield f"{'':<32} {f'The host sees: {seen}.' if seen else 'This device cannot show it.'}"


class BadFaultError(MessageError):
    """Raised for a fault that does not exist, is written wrongly, or cannot be shown by this device."""


class ChosenFault(msgspec.Struct, frozen=True):
    """A fault with its ordinal (0 means the next) or its value (a chance or a number of bytes)."""

    fault: SimulatedFault
    ordinal: int = 0
    value: float | None = None


def find_fault(name: str) -> SimulatedFault:
    """Return the fault of that name. Raise `BadFaultError` if there is none."""
    if name not in BY_NAME:
        raise BadFaultError(
            message("There is no fault '{name}'.", name=name), message("There are {names:list}.", names=tuple(BY_NAME))
        )
    return BY_NAME[name]


def parse_fault(text: str) -> ChosenFault:
    """Parse a fault as written after --fault: `jam@5`, `loss=0.01`. Raise `BadFaultError` if it is malformed."""
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise BadFaultError(
            message("'{text}' is not a fault.", text=text),
            message("Write NAME@N, as in jam@5, or NAME=CHANCE, as in loss=0.01."),
        )
    name, ordinal, value = found.groups()
    return choose(find_fault(name), int(ordinal or 0), float(value) if value else None, text)


def choose(fault: SimulatedFault, ordinal: int, value: float | None, text: str) -> ChosenFault:
    """Return the chosen fault. Raise `BadFaultError` if it does not take such an ordinal or value."""
    hint = message("Write {usage}.", usage=fault.usage)
    if value is not None and not fault.unit:
        raise BadFaultError(message("'{text}': {fault} does not happen by chance.", text=text, fault=fault.name), hint)
    if fault.unit == "chance" and value is not None and value > 1:
        raise BadFaultError(message("'{text}': a chance is a number from 0 to 1.", text=text), hint)
    if fault.of == "nothing" and (ordinal or value is None or value != int(value)):
        raise BadFaultError(
            message("'{text}': {fault} needs a whole number of bytes.", text=text, fault=fault.name), hint
        )
    return ChosenFault(fault, ordinal, value)
