"""Causes for which a device moves no cards: their form in the journal, and their words for people.

A cause named by the device is text, because the device names it again when it is over. It begins with its subject, and
the device's word may follow after a colon. A cause that the table found is a message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from firmware_bridge.messages import AnyText, Message, message

JAM: Final = "jam"
DOOR: Final = "door"
COMMAND: Final = "command"  # a fresh deck or maintenance ends it

ZONES: Final = {
    "door": message("door"),
    "exit": message("exit"),
    "platform": message("platform"),
    "transport": message("transport"),
    "tray": message("tray"),
}
"""Zones of a device. Any other word is shown as the device wrote it."""

ALONE: Final = {
    DOOR: message("the door was opened"),
    "memory check failed": message("memory check failed"),
    "power low": message("power low"),
    "program check failed": message("program check failed"),
    "self-test failed": message("self-test failed"),
}
"""Causes without a word of the device."""

WITH_WORD: Final = {
    JAM: message("jam: {word}"),
    "cards not read in the shuffle": message("cards not read in the shuffle: {word}"),
    "check failed": message("check failed: {word}"),
    "fault": message("fault: {word}"),
    "self-test failed": message("self-test failed: {word}"),
    "tampering": message("tampering: {word}"),
}


REFUSALS: Final = {
    "busy": message("another command is being carried out"),
    "door": message("a door is open"),
    "empty": message("too few cards are left"),
    "held": message("its exit is held"),
    "jam": message("cards are jammed"),
    "no fresh deck": message("it has no fresh deck"),
    "tray": message("a set lies in the tray"),
    "unable": message("it does not have this function"),
    "unknown": message("it does not understand the command"),
}
"""Reasons for which a device refuses a command (docs/cardlink.md, "Commands")."""


def refusal_in_words(reason: str) -> AnyText:
    """Return the reason of a refusal in words: a device may also name the cause for which it moves no cards.

    >>> str(refusal_in_words("door")), str(refusal_in_words("jam: exit")), refusal_in_words("rain")
    ('a door is open', 'jam: exit', 'rain')
    """
    return REFUSALS.get(reason) or in_words(reason)


def about(cause: AnyText) -> str:
    """Return the subject of a cause: jam, door, command, or the id of an admission."""
    return (cause.id if isinstance(cause, Message) else cause).partition(": ")[0]


def in_words(cause: AnyText) -> AnyText:
    """Return a cause in words. A cause from an older version of the device's program may have none here.

    >>> str(in_words("jam: transport")), str(in_words("door"))
    ('jam: transport', 'the door was opened')
    """
    if isinstance(cause, Message):
        return cause
    what, _, word = cause.partition(": ")
    if not word:
        return ALONE.get(what, cause)
    said = WITH_WORD.get(what)
    if said is None:
        return cause
    return replace(said, args={"word": ZONES.get(word, word) if what == JAM else word})


def named_causes(causes: Sequence[AnyText]) -> Message:
    """Return several causes as one phrase."""
    return message("{causes:clauses}", causes=tuple(map(in_words, causes)))
