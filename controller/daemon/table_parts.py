"""Interfaces of the parts that the running table uses."""

from __future__ import annotations

from typing import Protocol

from controller.table.inputs import AnyInput
from controller.table.state import TableState
from firmware_bridge.commands import AnyCommand
from firmware_bridge.messages import AnyText, Message


class DeviceLink(Protocol):
    """The part of the link keeper that the table needs."""

    def acknowledge(self, boot: int, number: int) -> None: ...

    def command(self, command_id: int, command: AnyCommand) -> bool: ...

    def drop(self, code: str, sentence: AnyText, *, refused: bool = False) -> None: ...


class Keeper(Protocol):
    """The part of the journal's keeper that the table needs (`controller.daemon.journal_keeper`). Nothing raises."""

    @property
    def warnings(self) -> tuple[Message, ...]: ...

    def remember(self, given: AnyInput) -> None: ...

    async def committed(self, given: AnyInput, before: TableState, after: TableState) -> None: ...

    async def between_rounds(self, state: TableState) -> AnyInput | None: ...
