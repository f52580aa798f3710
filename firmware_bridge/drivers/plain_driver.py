"""Wraps every driver and makes its device's texts safe to show, so that a driver need not do it.

A device's texts reach the journal, every state, logs and terminals. They are cut to a length here, and lose the
characters that a screen does not show (`firmware_bridge.plain_text`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from firmware_bridge.commands import AnyCommand
from firmware_bridge.drivers.base import Driver, Heard, LinkOver
from firmware_bridge.plain_text import LONGEST, with_plain_texts

LONGEST_SENTENCE: Final = 600  # characters of a driver's own sentence, which may quote a device
MOST: Final = 32  # texts in one list


class PlainDriver:
    """A wrapper around a driver that makes its device's texts plain."""

    def __init__(self, driver: Driver) -> None:
        self.statistics = driver.statistics
        self.wake_at = driver.wake_at
        self.outgoing = driver.outgoing
        self.acknowledge = driver.acknowledge
        self.is_stale = driver.is_stale
        self._driver = driver

    def receive(self, data: bytes, now: float) -> Sequence[Heard]:
        return [made_plain(thing) for thing in self._driver.receive(data, now)]

    def tick(self, now: float) -> Sequence[Heard]:
        return [made_plain(thing) for thing in self._driver.tick(now)]

    def command(self, command_id: int, command: AnyCommand, now: float) -> None:
        self._driver.command(command_id, command, now)


def made_plain(heard: Heard) -> Heard:
    """Return a copy in which every text is plain."""
    longest = LONGEST_SENTENCE if isinstance(heard, LinkOver) else LONGEST
    return cast("Heard", with_plain_texts(heard, longest, MOST))
