"""A scripted device that can be made to disobey, for tests that no scenario covers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from controller.games.specification import Unit
from controller.table.inputs import AnyInput, CommandAnswered
from firmware_bridge import commands
from firmware_bridge.cards import Card
from firmware_bridge.commands import AnyCommand
from simulators.devices.scripted_device import ScriptedDevice


class UncooperativeDevice(ScriptedDevice):
    """Obeys until one of its attributes is set. `received` keeps every command that reached it, with its id.

    `answers`: if False, it obeys without answering. `ignores_commands`: no command reaches it. `exit_stuck`: it refuses
    to hold or release its exit. `refuses_next`: the reason for which it refuses the next command.
    """

    def __init__(self, unit: Unit, order: Sequence[Card], send: Callable[[AnyInput], None]) -> None:
        super().__init__(unit, order, send)
        self.received: list[tuple[int, AnyCommand]] = []
        self.answers = True
        self.ignores_commands = False
        self.exit_stuck = False
        self.refuses_next = ""

    def connect_to(self, send: Callable[[AnyInput], None]) -> None:
        """Send its reports to another table from here on."""
        self._send = send

    def forget_waiting(self) -> None:
        """Forget what the device kept while there was no link."""
        self._waiting.clear()

    def obey(self, command_id: int, command: AnyCommand) -> None:
        if self.linked and not self.ignores_commands:
            self.received.append((command_id, command))
            super().obey(command_id, command)

    def answer(self, answer: CommandAnswered) -> None:
        if self.answers:
            super().answer(answer)

    def carry_out(self, command: AnyCommand) -> str:
        of_exit = isinstance(command, commands.HoldExit | commands.ReleaseExit)
        if of_exit and self.exit_stuck:
            return "exit"
        if not of_exit and self.refuses_next:
            reason, self.refuses_next = self.refuses_next, ""
            return reason
        return super().carry_out(command)
