"""The baccarat shoe Angel Eye II-EX on RS-232C, 4800 or 9600 8N1, or behind a serial server: it reads single cards.

Community, unverified against the maker's specification: docs/other_devices.md. The telegrams:

    shoe to host   ENQ  seq  code and payload  ETX  BCC     BCC: XOR of everything after ENQ up to and including ETX
    host to shoe   STX  "OP"  type  data  ETX  BCC          BCC: XOR of everything from STX on, STX included
    its answer     ACK, or NAK and a code of two hexadecimal digits, or of one byte with that value

Public readers disagree on the code after NAK. Both forms are accepted: no one-byte code is an ASCII digit. A BCC is two
hexadecimal digits in ASCII. The shoe sends each telegram three times under one sequence number. A telegram with the
number and the content of the last one is a copy of it, however many there are, and over a later link as well: a shoe or
a serial server may send what the lost link did not take.

Faces, and what depends on them (the result, the target of a card), stay in the evidence, since texts may be shown to
people. A telegram that public sources do not explain is reported as not understood, never guessed.

The driver only listens unless the URL has `arm=1`. Then it holds and releases the exit by the key lock (LK). Public
sources do not say whether a locked shoe holds its cards, so a card drawn meanwhile is reported like any other. An order
is sent once.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import xor
from typing import Final, NamedTuple

import msgspec

from firmware_bridge.cards import RANKS, Card
from firmware_bridge.commands import AnyCommand, HoldExit, ReleaseExit
from firmware_bridge.drivers.memory import LinkMemory
from firmware_bridge.drivers.one_way import (
    LONGEST_EVIDENCE,
    ONE_WAY,
    Decoded,
    OneWayDriver,
    card_drawn,
    fits_nothing,
    not_understood,
)
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.observations import AnyObservation, GapSuspected, JamCleared, Jammed, Noted, NotUnderstood, Started

STX: Final = 0x02
ETX: Final = 0x03
ENQ: Final = 0x05
ACK: Final = 0x06
NAK: Final = 0x15
LONGEST_DATA: Final = 32  # bytes between ENQ and ETX; the longest known has 8
SHORTEST: Final = 5  # bytes of a telegram without its ENQ: number, code, ETX and check
_REFUSAL_BYTES: Final = frozenset(bytes.fromhex("010203111213142122FF"))  # after NAK, as one byte
_HEX: Final = frozenset(b"0123456789ABCDEFabcdef")


class Telegram(NamedTuple):
    """A whole telegram with a correct check. `seq` is one character; `data` is the code and its payload."""

    seq: int
    data: bytes
    raw: bytes


class ShoeAnswer(NamedTuple):
    """The shoe's answer to a command. `refusal` is the code after NAK as two digits, empty for ACK."""

    refusal: str
    raw: bytes


class Damaged(NamedTuple):
    """Bytes that are neither: noise, or a damaged telegram. `overlong` means that it never ended."""

    raw: bytes
    overlong: bool = False

    @property
    def was_no_telegram(self) -> bool:
        """Return whether these bytes cannot be what is left of a telegram.

        They are fewer than any telegram, another host's order, or text such as a serial server's banner.
        """
        raw = self.raw
        text = raw.isascii() and ETX not in raw
        return raw[0] != ENQ and (len(raw) < SHORTEST or text or _is_order(raw))


Piece = Telegram | ShoeAnswer | Damaged


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


def _is_order(raw: bytes) -> bool:
    return raw[:3] == bytes([STX]) + b"OP" and len(raw) == 10 and raw[7] == ETX and bcc(raw[:8]) == raw[8:].upper()


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
            yield ShoeAnswer("", raw)
        elif raw[0] == NAK:
            yield from self._finish_refusal(raw)
        elif len(raw) >= 3 and raw[-3] == ETX:
            yield from self._finish_telegram(raw)
        elif len(raw) > LONGEST_DATA + 4:
            yield from self._break_off(overlong=True)

    def _finish_refusal(self, raw: bytes) -> Iterator[Piece]:
        if raw[1:] and raw[1] in _REFUSAL_BYTES:
            self._kept.clear()
            yield ShoeAnswer(f"{raw[1]:02X}", raw)
        elif not _HEX.issuperset(raw[1:]):
            yield from self._break_off()
        elif len(raw) == 3:
            self._kept.clear()
            yield ShoeAnswer(raw[1:].decode("ascii").upper(), raw)

    def _finish_telegram(self, raw: bytes) -> Iterator[Piece]:
        content = raw[1:-2]
        self._kept.clear()
        if len(content) >= 3 and bcc(content) == raw[-2:].upper():
            yield Telegram(content[0], content[1:-1], raw)
        else:
            yield Damaged(raw)


PAYLOAD_BIT: Final = 0x80
IN_ERROR_MODE: Final = 0x40

_SUITS: Final = {1: "D", 2: "C", 3: "S", 4: "H"}
_ERRORS: Final = {
    1: "a card cannot be read",
    2: "overdraw",
    3: "button mishandled",
    4: "reverse run at the exit",
    5: "reverse run midway",
    6: "card code error",
    7: "drawing time-out",
}
_NOT_UNDERSTOOD: Final = NotUnderstood("a telegram whose content is unknown")


def decode(data: bytes) -> AnyObservation:
    """Return the observation for the code and payload of one telegram. Never raises.

    >>> decode(b"C")
    Noted(what='cutting card drawn')
    """
    code, payload = data[:1], data[1:]
    read = _CODES.get(code)
    return _NOT_UNDERSTOOD if read is None else read(payload)


def _noted(what: str) -> Callable[[bytes], AnyObservation]:
    return lambda payload: Noted(what)


def _started(payload: bytes) -> AnyObservation:
    return Started("start of communication") if not payload else _NOT_UNDERSTOOD


def _drawn(payload: bytes) -> AnyObservation:
    """Return a card that left the shoe, during a game or outside a game. It is unread without a valid rank and suit."""
    if len(payload) != 2 or not all(byte & PAYLOAD_BIT for byte in payload):
        return _NOT_UNDERSTOOD
    return card_drawn(card_of(payload[1]))


def card_of(byte: int) -> Card | None:
    """Return the card: bits 6-4 are the suit, bits 3-0 the rank, from 1 (ace)."""
    suit, rank = _SUITS.get(byte >> 4 & 7), byte & 0x0F
    return Card.parse(RANKS[rank - 1] + suit) if suit and 1 <= rank <= 13 else None


def _redrawn(payload: bytes) -> AnyObservation:
    return NotUnderstood("a card re-draw, on whose meaning public sources disagree")


def _error(payload: bytes) -> AnyObservation:
    """Return a jam for an error mode, in which the shoe waits for people. An error without it is not described."""
    zone = _zone(payload)
    if zone is None:
        return _NOT_UNDERSTOOD
    if not payload[0] & IN_ERROR_MODE:
        return NotUnderstood(f"an error without error mode: {zone}")
    return Jammed(zone)


def _error_cancelled(payload: bytes) -> AnyObservation:
    zone = _zone(payload)
    return _NOT_UNDERSTOOD if zone is None else JamCleared(zone)


def _zone(payload: bytes) -> str | None:
    if len(payload) != 1 or not payload[0] & PAYLOAD_BIT:
        return None
    error = payload[0] & 0x3F
    return _ERRORS.get(error, f"error {error}")


_CODES: Final[dict[bytes, Callable[[bytes], AnyObservation]]] = {
    b"S": _started,
    b"P": _noted("stand-by between rounds"),
    b"D": _drawn,
    b"d": _drawn,
    b"R": _redrawn,
    b"G": _noted("a result of another game"),
    b"C": _noted("cutting card drawn"),
    b"E": _error,
    b"e": _error_cancelled,
    b"L": _noted("key lock changed"),
    b"M": _noted("preset changed"),
}


COPIES: Final = 3
CERTAIN: Final = 2  # times that a successor was seen; from then on a single departure does not replace it


class Deduplicator:
    """Drops the copies of telegrams and suspects gaps. `last` is the last telegram of earlier links, if it is known.

    The order of the numbers is not public, so it is learned. A departure from a learned successor, or damaged telegrams
    without a good copy, is reported as a suspected gap, never as proof of a loss.
    """

    def __init__(self, last: Telegram | None = None) -> None:
        self._last = last
        self._copies = COPIES  # good copies of the last telegram, at most as many as are due
        self._damaged = 0  # damaged telegrams since then, and earlier ones in excess of the missing copies
        self._learned: dict[int, tuple[int, int]] = {}

    @property
    def unaccounted(self) -> bool:
        """Return whether more telegrams arrived damaged than there were copies of the last one missing."""
        return self._damaged > COPIES - self._copies

    def take(self, telegram: Telegram) -> tuple[bool, str]:
        """Return whether the telegram is new (not a copy of the last), and why a gap before it is suspected, or ""."""
        last = self._last
        if last is not None and (last.seq, last.data) == (telegram.seq, telegram.data):
            self._copies = min(self._copies + 1, COPIES)
            return False, ""
        follows, why = self._follow(telegram)
        due = COPIES - self._copies
        self._damaged = 0 if follows or why else max(0, self._damaged - due)
        self._last, self._copies = telegram, 1
        return True, why

    def take_damaged(self) -> None:
        self._damaged += 1

    def give_up(self) -> None:
        """Forget the damaged telegrams: they have been reported."""
        self._damaged = 0

    def _follow(self, telegram: Telegram) -> tuple[bool, str]:
        """Return whether the telegram is the learned successor, and how it departs from that. After a start (S) numbers
        may begin again."""
        last = self._last
        if last is None or telegram.data[:1] == b"S":
            return False, ""
        successor, times = self._learned.get(last.seq, (telegram.seq, 0))
        if successor == telegram.seq:
            self._learned[last.seq] = (successor, times + 1)
            return times > 0, ""
        if times < CERTAIN:
            self._learned[last.seq] = (telegram.seq, 1)
        return False, f"number {telegram.seq} came after {last.seq}, but {successor} was expected"


ANSWER_WITHIN: Final = 2.0  # seconds for ACK or NAK: docs/other_devices.md, "Orders"
COPIES_WITHIN: Final = 2.0  # seconds for a good copy to follow a damaged telegram: docs/other_devices.md, "Loss"

NOT_ARMED: Final = "commands are not armed: add arm=1 to the device URL"
NOT_POSSIBLE: Final = "this shoe has no such command"
NO_ANSWER: Final = "the shoe did not answer"

_LOCK: Final = {HoldExit: ("LK", "02"), ReleaseExit: ("LK", "01")}
_REFUSALS: Final = {
    "01": "framing",
    "02": "check",
    "03": "no end",
    "11": "format",
    "12": "address",
    "13": "command",
    "14": "type",
    "21": "busy",
    "22": "writing",
}


class AngelEye(OneWayDriver):
    """The driver of one link to a shoe."""

    maker = "Angel"
    model = "Angel Eye II-EX"

    def __init__(self, setting: DriverSetting, now: float) -> None:
        super().__init__(setting, now)
        self.armed = setting.line.arm and not setting.line.listen
        self.capabilities = msgspec.structs.replace(ONE_WAY, holds_exit=self.armed)
        self._reader = TelegramReader()
        last = _last_telegram(setting.memory)
        self._deduplicator = Deduplicator(last)
        self._first = last is not None  # no telegram of this link has come, and one of an earlier link is known
        self._damaged = bytearray()
        self._give_up_at = math.inf
        self._orders: deque[tuple[int, bytes]] = deque()  # the first one awaits its answer
        self._answer_until = math.inf

    # -- orders ----------------------------------------------------------------------------------------------------

    def order(self, command_id: int, command: AnyCommand, now: float) -> None:
        lock = _LOCK.get(type(command))
        if lock is None:
            self.answer(command_id, False, NOT_POSSIBLE)
        else:
            self._send(command_id, encode_order(*lock), now)

    def _send(self, command_id: int, order: bytes, now: float) -> None:
        if not self.armed:
            self.answer(command_id, False, NOT_ARMED)
        elif all(waiting != command_id for waiting, _ in self._orders):  # the same id is the same command
            self._orders.append((command_id, order))
            if len(self._orders) == 1:
                self._write_order(now)

    def _write_order(self, now: float) -> None:
        self._answer_until = math.inf
        if self._orders:
            self.write(self._orders[0][1])
            self._answer_until = now + ANSWER_WITHIN

    def _take_answer(self, answer: ShoeAnswer, now: float) -> None:
        """Close the command that awaits an answer. If none does, the answer is for another host on the line."""
        if self._orders:
            reason = _REFUSALS.get(answer.refusal, "other") if answer.refusal else ""
            self._close_order(not answer.refusal, reason, now)

    def _close_order(self, done: bool, reason: str, now: float) -> None:
        command_id, _ = self._orders.popleft()
        self.answer(command_id, done, reason)
        self._write_order(now)

    # -- telegrams -------------------------------------------------------------------------------------------------

    def read(self, data: bytes, now: float) -> Iterator[Decoded]:
        for piece in self._reader.receive(data):
            match piece:
                case Telegram():
                    self.statistics.frames_in += 1
                    yield from self._take(piece)
                case ShoeAnswer():
                    self.statistics.frames_in += 1
                    self._take_answer(piece, now)
                case Damaged() if piece.was_no_telegram:
                    yield fits_nothing(piece.raw)
                case Damaged():
                    self._take_damaged(piece, now)

    def _take(self, telegram: Telegram) -> Iterator[Decoded]:
        is_new, why = self._deduplicator.take(telegram)
        is_first, self._first = self._first, False
        if not is_new:
            self.statistics.reports_repeated += 1
            if is_first:  # a card of another shoe would look the same, so the journal has it
                yield Decoded(Noted("the last telegram of the previous link came again"), telegram.raw)
            return
        yield from self._keep_damaged()
        if why:
            yield Decoded(GapSuspected(why), telegram.raw)
        yield Decoded(decode(telegram.data), telegram.raw)

    def _take_damaged(self, damaged: Damaged, now: float) -> None:
        self.statistics.frames_corrupt += 1
        self.statistics.frames_overlong += damaged.overlong
        self._deduplicator.take_damaged()
        self._damaged = (self._damaged + damaged.raw)[-LONGEST_EVIDENCE:]
        self._give_up_at = min(self._give_up_at, now + COPIES_WITHIN)

    def _keep_damaged(self) -> Iterator[Decoded]:
        """Report damaged bytes before the telegram that follows them. A good copy may still come until `overdue`."""
        if self._damaged:
            yield fits_nothing(bytes(self._damaged))
        self._damaged.clear()

    # -- time ------------------------------------------------------------------------------------------------------

    def overdue_at(self) -> float:
        return min(self._give_up_at, self._answer_until)

    def overdue(self, now: float) -> Iterable[Decoded]:
        if now >= self._answer_until:
            self._close_order(False, NO_ANSWER, now)
        if now < self._give_up_at:
            return ()
        lost, self._give_up_at = bytes(self._damaged), math.inf
        self._damaged.clear()
        if not self._deduplicator.unaccounted:
            return (fits_nothing(lost),) if lost else ()
        self._deduplicator.give_up()
        return (not_understood("damaged, and no good copy of it came", lost),)


def _last_telegram(memory: LinkMemory) -> Telegram | None:
    """Return the last telegram of the earlier links, from the kept reports."""
    for evidence in memory.newest_first():
        for piece in TelegramReader().receive(evidence.open()):
            if isinstance(piece, Telegram):
                return piece
    return None
