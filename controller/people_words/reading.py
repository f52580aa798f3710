"""Reads a line: the longest known word at its beginning, and the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, TypeVar

from controller.people_words.tokens import Tokens, UnreadableLineError
from controller.people_words.word import Word
from firmware_bridge.messages import AnyText, Message, message

TableT = TypeVar("TableT", contravariant=True)
LONGEST_WORD: Final = 40  # characters of a line that are compared with a word
ALIKE: Final = 0.6  # similarity, at most 1, from which another word was probably meant


def read_line(
    words: Sequence[str],
    known: Mapping[str, Word[TableT]],
    *,
    people: bool = False,
    say: Callable[[Message], str] = str,
) -> Callable[[TableT], None]:
    """Return the act of a line. `people`: `by` may name a person. `say` renders a reason that the line leaves out.

    Raises `UnreadableLineError`.
    """
    unknown = message("'{words}' is not a step", words=" ".join(words[:2]))
    word, tokens = find_word(words, known, unknown, people=people)
    tokens.say = say
    act: Callable[[TableT], None] = read_form(known[word].form, known[word].read, tokens)
    return act


def find_word(
    words: Sequence[str], known: Mapping[str, Any], problem: AnyText, *, people: bool = False
) -> tuple[str, Tokens]:
    """Return the longest known word at the beginning of the line, and the rest.

    Raises `UnreadableLineError` with the problem and the known words.
    """
    for word in sorted(known, key=len, reverse=True):
        tokens = Tokens(words, people=people)
        if tokens.maybe(word):
            return word, tokens
    alike = [word for word in known if word.split()[0] == words[0]] if words else []
    parts = [problem]
    if not alike and (nearest := _nearest(words, known)):
        parts.append(message("nearest: {word}", word=nearest))
    all_ = message("`help` lists all")
    parts.append(all_ if people and not alike else message("known: {names:list}", names=tuple(alike or known)))
    raise UnreadableLineError(Message("{parts:clauses}", {"parts": tuple(parts)}))


def _nearest(words: Sequence[str], known: Iterable[str]) -> str:
    """Return the word that was probably meant, compared by as many words as it has, or ""."""
    found: dict[str, float] = {}
    for word in known:
        written = " ".join(words[: len(word.split())])[:LONGEST_WORD]
        found[word] = SequenceMatcher(None, written, word).ratio()
    best = max(found, key=lambda word: found[word], default="")
    return best if best and ALIKE <= found[best] < 1 else ""


def read_form(form: str, read: Callable[[Tokens], Any], tokens: Tokens) -> Any:
    """Read the rest of a line after a word, to the end. Raises `UnreadableLineError`, which names the form."""
    try:
        made = read(tokens)
        tokens.done()
    except UnreadableLineError as error:
        raise UnreadableLineError(
            message("{problem}; write {forms:or}", problem=error.message, forms=quoted(form))
        ) from error
    return made


def quoted(form: str) -> tuple[str, ...]:
    """Return the forms of a word, each quoted.

    >>> quoted("open PLACE [CARDS] or open all")
    ('`open PLACE [CARDS]`', '`open all`')
    """
    return tuple(f"`{one}`" for one in form.split(" or "))
