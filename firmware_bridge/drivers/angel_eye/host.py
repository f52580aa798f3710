"""The host's side of an Angel Eye II-EX on RS-232C, 4800 or 9600 8N1, or behind a serial server.

It only listens unless the URL has `arm=1`. Then it holds and releases the exit by the key lock (LK). Public sources do
not say whether a locked shoe holds its cards, so a card drawn meanwhile is reported like any other. An order is sent
once.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from firmware_bridge.commands import AnyCommand, HoldExit, ReleaseExit
from firmware_bridge.drivers.angel_eye.decode import decode
from firmware_bridge.drivers.angel_eye.deduplicate import Deduplicator
from firmware_bridge.drivers.angel_eye.telegrams import Answer, Damaged, Telegram, TelegramReader, encode_order
from firmware_bridge.drivers.one_way import (
    LONGEST_EVIDENCE,
    ONE_WAY,
    Decoded,
    OneWayDriver,
    fits_nothing,
    not_understood,
)
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.observations import GapSuspected

ANSWER_WITHIN: Final = 2.0  # seconds for ACK or NAK: docs/other_devices.md, "Orders"
COPIES_WITHIN: Final = 2.0  # seconds for a good copy to follow a damaged telegram: docs/other_devices.md, "Loss"

NOT_ARMED: Final = "commands are not armed: arm=1 in the device URL arms them"
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
        self._deduplicator = Deduplicator()
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

    def _take_answer(self, answer: Answer, now: float) -> None:
        """Close the order that awaits an answer. Without one, the answer is for another host on the line."""
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
                case Answer():
                    self.statistics.frames_in += 1
                    self._take_answer(piece, now)
                case Damaged():
                    self._take_damaged(piece, now)

    def _take(self, telegram: Telegram) -> Iterator[Decoded]:
        is_new, why = self._deduplicator.take(telegram)
        if not is_new:
            self.statistics.reports_repeated += 1
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
