"""The telegrams of the Angel Eye II-EX: framing and checks (docs/other_devices.md).

    shoe to host   ENQ  seq  code and payload  ETX  BCC     BCC: XOR of everything after ENQ up to and including ETX
    host to shoe   STX  "OP"  type  data  ETX  BCC          BCC: XOR of everything from STX on, STX included
    its answer     ACK, or NAK and a code of two hexadecimal digits, or of one byte with that value

Public readers disagree on the code after NAK. Both forms are accepted: no one-byte code is an ASCII digit. A BCC is two
hexadecimal digits in ASCII.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import xor
from typing import Final, NamedTuple

STX: Final = 0x02
ETX: Final = 0x03
ENQ: Final = 0x05
ACK: Final = 0x06
NAK: Final = 0x15
LONGEST_DATA: Final = 32  # bytes between ENQ and ETX; the longest known has 8
_CODES: Final = frozenset(bytes.fromhex("010203111213142122FF"))  # after NAK, as one byte
_HEX: Final = frozenset(b"0123456789ABCDEFabcdef")


class Telegram(NamedTuple):
    """A whole telegram with a correct check. `seq` is one character; `data` is the code and its payload."""

    seq: int
    data: bytes
    raw: bytes


class Answer(NamedTuple):
    """The shoe's answer to a command. `refusal` is the code after NAK as two digits, empty for ACK."""

    refusal: str
    raw: bytes


class Damaged(NamedTuple):
    """Bytes that are neither: noise, or a damaged telegram. `overlong` means that it never ended."""

    raw: bytes
    overlong: bool = False


Piece = Telegram | Answer | Damaged


def bcc(data: bytes) -> bytes:
    """Return the check of these bytes.

    >>> bcc(bytes([STX]) + b"OPLK02" + bytes([ETX]))
    b'1B'
    """
    return b"%02X" % reduce(xor, data, 0)


def encode_order(kind: str, data: str) -> bytes:
    """Encode a command with two characters of type and two of data. Raise ValueError for other lengths."""
    text = f"OP{kind}{data}".encode("ascii")
    if len(kind) != 2 or len(data) != 2:
        raise ValueError("type and data of a command have two characters each")
    content = bytes([STX]) + text + bytes([ETX])
    return content + bcc(content)


def encode_telegram(seq: int, data: bytes) -> bytes:
    """Encode a telegram of the shoe, once."""
    content = bytes([seq]) + data + bytes([ETX])
    return bytes([ENQ]) + content + bcc(content)


class TelegramReader:
    """Splits a stream into telegrams, answers and damaged bytes; every byte ends up in exactly one of them.

    Payload bytes have bit 7 set and never look like a control character, so an ENQ always begins a telegram, even
    inside one that lost its end. An ACK or NAK inside a telegram is damage, not an answer.
    """

    def __init__(self) -> None:
        self._kept = bytearray()

    def receive(self, data: bytes) -> Iterator[Piece]:
        for byte in data:
            yield from self._take(byte)

    def _take(self, byte: int) -> Iterator[Piece]:
        begun = self._kept[0] if self._kept else None
        if byte == ENQ or (byte in (ACK, NAK) and begun not in (ENQ, NAK)):
            yield from self._break_off()
        elif begun not in (ENQ, NAK):
            self._kept.append(byte)
            if len(self._kept) >= 8 * LONGEST_DATA:
                yield from self._break_off()
            return
        self._kept.append(byte)
        yield from self._finish()

    def _break_off(self, overlong: bool = False) -> Iterator[Piece]:
        if self._kept:
            yield Damaged(bytes(self._kept), overlong)
            self._kept.clear()

    def _finish(self) -> Iterator[Piece]:
        """Yield the piece if it is complete."""
        raw = bytes(self._kept)
        if raw[0] == ACK:
            self._kept.clear()
            yield Answer("", raw)
        elif raw[0] == NAK:
            yield from self._finish_refusal(raw)
        elif len(raw) >= 3 and raw[-3] == ETX:
            yield from self._finish_telegram(raw)
        elif len(raw) > LONGEST_DATA + 4:
            yield from self._break_off(overlong=True)

    def _finish_refusal(self, raw: bytes) -> Iterator[Piece]:
        if raw[1:] and raw[1] in _CODES:
            self._kept.clear()
            yield Answer(f"{raw[1]:02X}", raw)
        elif not _HEX.issuperset(raw[1:]):
            yield from self._break_off()
        elif len(raw) == 3:
            self._kept.clear()
            yield Answer(raw[1:].decode("ascii").upper(), raw)

    def _finish_telegram(self, raw: bytes) -> Iterator[Piece]:
        content = raw[1:-2]
        self._kept.clear()
        if len(content) >= 3 and bcc(content) == raw[-2:].upper():
            yield Telegram(content[0], content[1:-1], raw)
        else:
            yield Damaged(raw)
