"""Messages to people: a text with named arguments, which a catalogue puts into the reader's language.

The core says everything as a `Message` and never as a finished sentence. Its id is the English text with a slot for
each argument, as in gettext, so that a reader of the source sees what the screen says, and an entry of the journal can
be read without any catalogue. `controller.language` renders a message in other languages; `str` renders it in English.
This package makes messages about a device and its line; the core imports them as `firmware_bridge.messages`.

A slot is `{name}`, or `{name:joint}` for a list: `{boxes}` is "1, 3 and 5", `{boxes:or}` "1, 3 or 5", `{boxes:list}`
"1, 3, 5", `{causes:clauses}` "a; b", `{notes:points}` "a. b", `{parts:sentences}` several sentences, and
`{mistakes:lines}` indented lines. A translation may use another joint. A message that is a sentence has one mark at
its end, and a capital letter at its beginning if that is another message, or what a person said. A name or a code keeps
its spelling.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import msgspec

Argument: TypeAlias = "int | str | Message | tuple[int | str | Message, ...]"
"""Text that people or devices wrote, names, codes and clauses are `str` and stay as they are in every language."""

SLOT: Final = re.compile(r"\{(\w+)(?::(\w+))?\}")
SAID: Final = frozenset({"because", "said"})
"""Slots for what a person wrote as a sentence: a note, a reason. Other text, if not a message, is a name or a code."""
JOINTS: Final = {"list": ", ", "clauses": "; ", "points": ". ", "sentences": " ", "lines": "\n  "}
DEEPEST: Final = 10  # messages within messages
MOST_FILLED: Final = 400  # slots of a message with those within
LONGEST: Final = 10_000  # characters of a message
_ENDS: Final = (".", "?", "!")
ENDS: Final = (*_ENDS, "\u3002", "\uff1f", "\uff01")  # characters that end a sentence in any language of the catalogues


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message. `id` is the English text, and `args` has an argument for each slot. `many` is the English text if
    `count` is not 1.

    `text` is the message in the language of a request, in answers to a client that asks for messages; otherwise it is
    empty.
    """

    id: str
    args: dict[str, Argument] = {}
    many: str = ""
    text: str = ""

    def __str__(self) -> str:
        return self.text or english(self)

    def __hash__(self) -> int:
        return hash((self.id, tuple(self.args.items()))) if self.args else hash(self.id)


AnyText: TypeAlias = str | Message
"""What people read: a message, or text that a person, a device or an older entry of a journal wrote."""


def message(text: str, /, **args: Argument) -> Message:
    """Return the message with this English text.

    >>> str(message("Turn over {hands}.", hands=(message("box {number}", number=1), "D")))
    'Turn over box 1 and D.'
    """
    return Message(text, args)


def counted(one: str, many: str, count: int, /, **args: Argument) -> Message:
    """Return the message for that number, which is its argument `count`.

    >>> str(counted("1 card", "{count} cards", 3)), str(counted("1 card", "{count} cards", 1))
    ('3 cards', '1 card')
    """
    return Message(one, {"count": count, **args}, many)


def sentences(*parts: Message | None) -> Message:
    """Return several sentences as one message.

    >>> str(sentences(message("Turn over box 1."), None, message("Then settle the round.")))
    'Turn over box 1. Then settle the round.'
    """
    said = tuple(part for part in parts if part is not None)
    return said[0] if len(said) == 1 else Message("{parts:sentences}", {"parts": said})


class MessageError(Exception):
    """An error that people read: a message, a `hint` with the next step, and a `code` for programs.

    `str` is the message in English. Text in place of a message was written elsewhere, as by a daemon that refuses.
    """

    code = ""

    def __init__(self, said: AnyText, hint: AnyText = "", code: str = "") -> None:
        super().__init__(said)
        self.message = said
        self.hint = hint
        if code:
            self.code = code

    @property
    def with_hint(self) -> Message:
        """Return what went wrong with what to do next."""
        return Message("{parts:sentences}", {"parts": tuple(filter(None, (self.message, self.hint)))})


def english(said: Message) -> str:
    return rendered(said, text_in_english, _listed)


def text_in_english(said: Message) -> str:
    """Return the English text of a message with its slots, for the number that it counts."""
    return said.many if said.many and said.args.get("count") != 1 else said.id


def _listed(parts: Sequence[str], joint: str) -> str:
    *before, last = parts or ("",)
    if not before or joint in JOINTS:
        return JOINTS.get(joint, "").join(parts)
    return f"{', '.join(before)} {joint} {last}"


def rendered(said: Message, text_of: Callable[[Message], str], listed: Callable[[Sequence[str], str], str]) -> str:
    """Return a message with its arguments in their slots. `text_of` returns its text; `listed` joins several parts.

    A slot without an argument stays as it is, so that a faulty catalogue cannot stop a table. So does a slot beyond
    `DEEPEST` and `MOST_FILLED`: a journal that was written elsewhere may hold a message that grows without end.
    """
    filled = 0

    def fill(given: Message, depth: int) -> str:
        def slot(found: re.Match[str]) -> str:
            nonlocal filled
            filled += 1
            name, joint = found.groups()
            if name not in given.args or depth > DEEPEST or filled > MOST_FILLED:
                return found[0]
            return value(given.args[name], joint or "and")

        def value(argument: Argument, joint: str) -> str:
            if isinstance(argument, Message):
                return fill(argument, depth + 1)
            if isinstance(argument, tuple):
                return listed([value(one, joint) for one in argument[:MOST_FILLED]], joint)
            return str(argument)

        pattern = text_of(given)[:LONGEST]
        filled_in = SLOT.sub(slot, pattern)
        if given.id.endswith(_ENDS):
            keeps_spelling = not given.id.startswith("{") or _begins_with_a_name(given, text_of)
            filled_in = _sentence(filled_in, keeps_spelling=keeps_spelling)
        return filled_in[:LONGEST]

    return fill(said, 0)


def _begins_with_a_name(argument: Argument, text_of: Callable[[Message], str]) -> bool:
    """Return whether a message begins with a name or a code, also in a message within."""
    slot = ""
    for _ in range(DEEPEST):
        if isinstance(argument, Message):
            first = SLOT.match(text_of(argument))
            slot = first[1] if first is not None else ""
            argument = argument.args.get(slot, 0)
        elif isinstance(argument, tuple) and argument:
            argument = argument[0]
    return isinstance(argument, str) and slot not in SAID


def _sentence(text: str, *, keeps_spelling: bool) -> str:
    """Return the text of a sentence with a capital letter and one mark at its end."""
    if text[:-1].endswith(ENDS):  # of a sentence within
        text = text[:-1]
    first = text.partition(" ")[0]
    is_a_name = "_" in first or "/" in first  # a setting's or a file's, which people write as it is spelt
    return text if keeps_spelling or is_a_name else f"{text[:1].upper()}{text[1:]}"
