"""The lines that a card reader sends, and the card table that is learned from them.

A technician sees with `cardshoe devices listen` what stands around an identifier, and writes it into the `[line]` of
the card table. With `--learn` the table is written from a deck that is drawn in a known order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from controller.problems import BadInputError
from firmware_bridge.card_table import LONGEST_IDENTIFIER
from firmware_bridge.cards import DECK, DECK_SIZE
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.drivers.line_reader import ENDS_AS_LF, LF
from firmware_bridge.errors import TransportLostError
from firmware_bridge.messages import Message, message
from firmware_bridge.transports.registry import open_transport

LONGEST_SHOWN: Final = 2 * LONGEST_IDENTIFIER  # bytes; noise without an end is shown in pieces
PAUSE: Final = 0.5  # seconds without a byte end a line of a reader that does not end its lines


class ReceivedLines:
    """Cuts what a reader sends into lines, each with its bytes as they came."""

    def __init__(self) -> None:
        self._line = bytearray()

    def receive(self, data: bytes) -> Iterator[bytes]:
        """Yield each line that these bytes end."""
        for byte in data:
            is_end = ENDS_AS_LF[byte] == LF
            if self._line and ENDS_AS_LF[self._line[-1]] == LF and not is_end:
                yield self.pause()
            self._line.append(byte)
            if len(self._line) == LONGEST_SHOWN:
                yield self.pause()
        if self._line and ENDS_AS_LF[self._line[-1]] == LF:
            yield self.pause()

    def pause(self) -> bytes:
        """Return the line that nothing has ended; no bytes if there is none."""
        line = bytes(self._line)
        self._line.clear()
        return line


def in_print(line: bytes) -> str:
    """Return a line with its control characters and other bytes in hexadecimal.

    >>> in_print(b"\\x02]C0E280;\\r\\n")
    '<02>]C0E280;<0D><0A>'
    """
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else f"<{byte:02X}>" for byte in line)


class LearnedTable:
    """A card table in the making: the whole deck drawn in the order clubs, diamonds, hearts, spades, each from the ace.

    A reader may read a passing card several times, so the last identifier again changes nothing. Where a pause ends the
    lines, the table says how long they are: the driver has no other end for them.
    """

    def __init__(self) -> None:
        self._identifiers: list[str] = []
        self._length = 0  # of a line that a pause ended, as `LineForm` has it

    @property
    def is_whole(self) -> bool:
        return len(self._identifiers) == DECK_SIZE

    def next_step(self) -> Message:
        """Return which card to draw next."""
        card, number = DECK[len(self._identifiers)], len(self._identifiers) + 1
        return message("Draw {code} ({number} of {size}).", code=card.code, number=number, size=DECK_SIZE)

    def take(self, line: bytes) -> Message | None:
        """Learn a line for the next card. Return what prevents it. Raise `BadInputError` if it belongs to an earlier
        card: the order can no longer be trusted.
        """
        identifier = line.strip(b"\x02\x03\r\n \t").decode("ascii", "replace")
        if not identifier or (self._identifiers and identifier == self._identifiers[-1]):
            return None
        if not identifier.isascii() or not identifier.isprintable() or len(identifier) > LONGEST_IDENTIFIER:
            return message("This line is not an identifier: set the reader to plain text, then draw the card again.")
        if self._identifiers and len(identifier) != len(self._identifiers[0]):
            return message(
                "This line has {size} characters and that of {code} has {due}: it is not a card, or {first} was not. "
                "Draw the card again, or begin again.",
                size=len(identifier),
                code=DECK[0].code,
                due=len(self._identifiers[0]),
                first=self._identifiers[0],
            )
        if identifier in self._identifiers:
            raise BadInputError(
                message(
                    "{identifier} was read for {code} before: put the deck in order and begin again.",
                    identifier=identifier,
                    code=DECK[self._identifiers.index(identifier)].code,
                )
            )
        self._identifiers.append(identifier)
        if ENDS_AS_LF[line[-1]] != LF:
            self._length = len(line.translate(None, b"\x02"))
        return None

    def text(self) -> str:
        """Return the table in TOML."""
        rows = zip(DECK, self._identifiers, strict=True)
        cards = "".join(f"{card.code} = [{msgspec.json.encode(identifier).decode()}]\n" for card, identifier in rows)
        return f"[cards]\n{cards}" + (f"\n[line]\nlength = {self._length}\n" if self._length else "")


async def wait_for_lines(url: DeviceUrl, take: Callable[[bytes], bool]) -> None:
    """Open the device and give each line to `take` until it returns True. Raise `BridgeError` if the device is gone."""
    came: asyncio.Queue[bytes | TransportLostError] = asyncio.Queue()
    lines = ReceivedLines()
    transport = await open_transport(url, on_data=came.put_nowait, on_lost=came.put_nowait)
    try:
        while True:
            try:
                data = await asyncio.wait_for(came.get(), PAUSE)
            except TimeoutError:
                ended = [lines.pause()]
            else:
                if isinstance(data, TransportLostError):
                    raise data
                ended = list(lines.receive(data))
            if any(take(line) for line in ended if line):
                return
    finally:
        transport.close()


def write_new(path: Path, table: LearnedTable) -> None:
    """Write the table to a new file. Raise `BadInputError` if there is one already."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(table.text())
    except OSError as error:
        raise BadInputError(
            message("The card table {path} cannot be written: {why}.", path=str(path), why=error.strerror or "")
        ) from error
