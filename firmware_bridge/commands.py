"""The commands that a device accepts.

Only one command that moves cards may be open at a time; the others may be open at the same time. Although it is small,
it is a separate module as the counterpart of `observations`: their classes have similar names.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

import msgspec


class Command(msgspec.Struct, frozen=True, tag_field="command"):
    """The base class of all commands."""

    moves_cards: ClassVar[bool] = False


class Dispense(Command, frozen=True, tag="dispense"):
    """Form one set of `count` cards (1 to 5) in the tray."""

    moves_cards: ClassVar[bool] = True
    count: int


class HoldExit(Command, frozen=True, tag="hold_exit"):
    """Let no card leave. A set that already lies in the tray may still be lifted."""


class ReleaseExit(Command, frozen=True, tag="release_exit"):
    """Let cards leave again."""


class Shuffle(Command, frozen=True, tag="shuffle"):
    moves_cards: ClassVar[bool] = True


class UnloadStub(Command, frozen=True, tag="unload_stub"):
    """Unload and count the remaining cards."""

    moves_cards: ClassVar[bool] = True


class Show(Command, frozen=True, tag="show"):
    """Show a text of at most 32 characters, or nothing."""

    text: str


class RunSelfTest(Command, frozen=True, tag="run_self_test"):
    moves_cards: ClassVar[bool] = True


AnyCommand: TypeAlias = Dispense | HoldExit | ReleaseExit | Shuffle | UnloadStub | Show | RunSelfTest
