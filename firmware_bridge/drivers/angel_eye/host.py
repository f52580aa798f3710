"""The host's side of an Angel Eye II-EX on RS-232C, 4800 or 9600 8N1, or behind a serial server.

Read-only unless the URL says `arm=1`. Then holding and releasing the exit are its key lock (LK); whether a locked shoe
keeps its cards back, public sources do not say: a card drawn while it is locked is told like any other. An order is
written once and never again.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from firmware_bridge.commands import AnyCommand, HoldExit, ReleaseExit
from firmware_bridge.drivers.angel_eye.decode import meaning
from firmware_bridge.drivers.angel_eye.deduplicate import Succession
from firmware_bridge.drivers.angel_eye.telegrams import Answer, Damaged, Telegram, TelegramReader, encode_order
from firmware_bridge.drivers.one_way import (
    LONGEST_EVIDENCE,
    ONLY_TELLS,
    TellingDriver,
    Told,
    fits_nothing,
    not_understood,
)
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.observations import GapSuspected

ANSWER_WITHIN: Final = 2.0  # seconds for ACK or NAK
COPIES_WITHIN: Final = 2.0  # seconds for a good copy to follow a damaged telegram

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


class AngelEye(TellingDriver):
    """One link to a shoe."""

    maker = "Angel"
    model = "Angel Eye II-EX"

    def __init__(self, setting: DriverSetting, now: float) -> None:
        super().__init__(setting, now)
        self.armed = setting.line.arm and not setting.line.listen
        self.capabilities = msgspec.structs.replace(ONLY_TELLS, holds_exit=self.armed)
        self._reader = TelegramReader()
        self._succession = Succession()
        self._damaged = bytearray()
        self._give_up_at = math.inf
        self._orders: deque[tuple[int, bytes]] = deque()  # the first of them waits for its answer
        self._answer_until = math.inf

    # -- orders ----------------------------------------------------------------------------------------------------

    def order(self, command_id: int, command: AnyCommand, now: float) -> None:
        lock = _LOCK.get(type(command))
        if lock is None:
            self.answer(command_id, False, NOT_POSSIBLE)
        else:
            self._send(command_id, encode_order(*lock), now)

    def cancel_error(self, command_id: int, error: int, now: float) -> None:
        """Order EC: leave error mode. `error` 0 to 99. For a bench; no command of any device asks for it."""
        self._send(command_id, encode_order("EC", f"{error:02d}"), now)

    def confirm(self, command_id: int, now: float) -> None:
        """Order GP. For a bench, as above."""
        self._send(command_id, encode_order("GP", "00"), now)

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
        """Without an order of ours it answers another host on the line, and says nothing."""
        if self._orders:
            reason = _REFUSALS.get(answer.refusal, "other") if answer.refusal else ""
            self._close_order(not answer.refusal, reason, now)

    def _close_order(self, done: bool, reason: str, now: float) -> None:
        command_id, _ = self._orders.popleft()
        self.answer(command_id, done, reason)
        self._write_order(now)

    # -- telegrams -------------------------------------------------------------------------------------------------

    def read(self, data: bytes, now: float) -> Iterator[Told]:
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

    def _take(self, telegram: Telegram) -> Iterator[Told]:
        is_new, why = self._succession.take(telegram)
        if not is_new:
            self.statistics.reports_repeated += 1
            return
        yield from self._keep_damaged()
        if why:
            yield Told(GapSuspected(why), telegram.raw)
        yield Told(meaning(telegram.data), telegram.raw)

    def _take_damaged(self, damaged: Damaged, now: float) -> None:
        self.statistics.frames_corrupt += 1
        self.statistics.frames_overlong += damaged.overlong
        self._succession.take_damaged()
        self._damaged = (self._damaged + damaged.raw)[-LONGEST_EVIDENCE:]
        self._give_up_at = min(self._give_up_at, now + COPIES_WITHIN)

    def _keep_damaged(self) -> Iterator[Told]:
        """The bytes come before the telegram that followed them. Whether a copy of them is missing, time tells."""
        if self._damaged:
            yield fits_nothing(bytes(self._damaged))
        self._damaged.clear()

    # -- time ------------------------------------------------------------------------------------------------------

    def overdue_at(self) -> float:
        return min(self._give_up_at, self._answer_until)

    def overdue(self, now: float) -> Iterable[Told]:
        if now >= self._answer_until:
            self._close_order(False, NO_ANSWER, now)
        if now < self._give_up_at:
            return ()
        lost, self._give_up_at = bytes(self._damaged), math.inf
        self._damaged.clear()
        if not self._succession.unaccounted:
            return (fits_nothing(lost),) if lost else ()
        self._succession.give_up()
        return (not_understood("damaged, and no good copy of it came", lost),)
