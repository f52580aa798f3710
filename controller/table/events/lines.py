"""The line of an event, for people who follow a table without a screen: its parts, and what several lines share.

A line is made from the JSON of an event, as journals have it and as clients receive it, also from another version. It
needs no key. `controller.api.narration` prepares the fields: messages are `Message`, places have the words of the game
in play, and an operation is named by its phrase.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from controller.games.own_words import OwnWords
from controller.games.specification import FACT_QUESTIONS
from controller.table.model import ASIDE, DECK, STUB
from firmware_bridge.messages import SLOT, AnyText, Argument, Message, counted, message, sentences

USUAL: Final = OwnWords()  # without a named game

PILE_WORDS: Final = {
    STUB: message("stub"),
    DECK: message("whole deck"),
    ASIDE: message("set-aside cards"),
    "burnt": message("burnt cards"),
    "dropped": message("dropped cards"),
    "discards": message("discards"),
    "tray": message("tray"),
}
"""Names of counted piles, besides hands."""


BESIDES_PEOPLE: Final = {"device": message("the device"), "hand": message("hand"), "inference": message("inference")}
"""What notices an irregularity, shuffles or counts, besides people."""


class Fields(dict[str, Any]):
    """The fields of an event. `words`: those of the game in play."""

    def __init__(self, fields: Mapping[str, Any], words: OwnWords = USUAL) -> None:
        super().__init__(fields)
        self.words = words


Line: TypeAlias = Message | Callable[[Fields], Message | None]
"""A message whose slots are fields of the event, or a function of the fields; None: the event is not shown."""
Made: TypeAlias = "staticmethod[[Fields], Message | None]"
"""A function of the fields. It is static because an attribute of a class would be a method."""


def line_for(line: Line, event: Fields) -> Message | None:
    return filled(line, event) if isinstance(line, Message) else line(event)


def filled(line: Message, event: Fields, **slots: Argument) -> Message:
    """Return a line with its arguments: fields of the event, and `slots`."""
    names = [slot for slot, _ in SLOT.findall(line.id)]
    return replace(line, args={name: _argument(slots[name] if name in slots else event[name]) for name in names})


def _argument(value: Any) -> Argument:
    return tuple(value) if isinstance(value, list) else value


# -- forms of lines


def with_slots(line: Message, **slots: Callable[[Fields], Argument]) -> Made:
    """Return a line with some slots that are not fields of the event."""
    return staticmethod(lambda event: filled(line, event, **{slot: made(event) for slot, made in slots.items()}))


def cited(line: Line) -> Made:
    """Return a line that ends with the clause of its event."""

    def make(event: Fields) -> Message | None:
        said = line_for(line, event)
        return said and under(said, event["clause"])

    return staticmethod(make)


def of_its_deck(line: Line) -> Made:
    """Return a line that says so if the event is about the deck for the next round."""

    def make(event: Fields) -> Message | None:
        said = line_for(line, event)
        return said and for_next(said, event)

    return staticmethod(make)


def depending(fields: Mapping[str, Message], otherwise: Message | None = None) -> Made:
    """Return the line of the first field that is set, else `otherwise`."""

    def make(event: Fields) -> Message | None:
        line = next((said for field, said in fields.items() if event.get(field)), otherwise)
        return line and filled(line, event)

    return staticmethod(make)


# -- parts of lines


def as_written(name: str) -> Message:
    """Return a name from the journal unchanged, because another version wrote it and this version does not have words
    for it.
    """
    return message("{name}", name=name.replace("_", " ").replace("-", " "))


def under(said: Message, clause: str | Message) -> Message:
    """Return the text with its clause appended. The clause is empty if the document is silent."""
    return message("{said} ({clause})", said=said, clause=clause) if clause else said


def with_reason(said: Message, note: str | Message) -> Message:
    return message("{said}: {note}", said=said, note=note) if note else said


def for_next(said: Message, event: Fields) -> Message:
    return message("{said}, for the next round", said=said) if event.get("waiting") else said


def listed(parts: Iterable[Argument]) -> Message:
    return Message("{parts:list}", {"parts": tuple(dict.fromkeys(parts))})  # type: ignore[arg-type]  # no tuple in it


def clauses(parts: Iterable[Message]) -> Message:
    return Message("{parts:clauses}", {"parts": tuple(parts)})


def as_sentence(said: AnyText) -> Message:
    """Return a sentence of the journal: a message, or English in an older entry."""
    return said if isinstance(said, Message) else Message("{sentence}", {"sentence": said})


def spoken(event: Fields) -> Message:
    return as_sentence(event["sentence"])


def many_cards(event: Fields) -> Message:
    return counted("a card", "{count} cards", len(event["cards"]))


def witnessed_by(event: Fields) -> Argument:
    """Return the configured person, or the name of a witness who is not configured."""
    named = event.get("witness_id")
    return str(named) if named else message("{name} (not in the configuration)", name=event["witness"])


def done_by(event: Fields) -> Argument:
    """Return the person, or the device in words."""
    return BESIDES_PEOPLE.get(event["by"]) or str(event["by"])


def pile_named(event: Fields) -> Message:
    """Return what was counted: a pile, or a hand by the name of its place."""
    named = event["pile"]
    return named if isinstance(named, Message) else PILE_WORDS.get(named) or as_written(named)


def at_screen_or_by_user(said: Message, event: Fields) -> Message:
    if event.get("screen"):
        return message("{said} at screen {screen}", said=said, screen=event["screen"])
    return said if event["uid"] is None else message("{said} by user {uid}", said=said, uid=event["uid"])


def row_named(row: Mapping[str, Any]) -> Message:
    return under(as_sentence(row["because"]), row["clause"])


def questions_left(asks: list[str], words: OwnWords) -> Message | None:
    if not asks:
        return None
    questions = sentences(*(words.own(FACT_QUESTIONS[name]) for name in asks))
    return message("To answer: {questions}", questions=questions)


def answered(said: Message, event: Fields) -> Message:
    """Return a line with the questions that are still open, else with the row that applies."""
    asked = questions_left(event["asks"], event.words)
    if asked is not None:
        return Message("{parts:points}", {"parts": (said, asked)})
    return with_reason(said, row_named(event["row"]))
