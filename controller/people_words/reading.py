"""One line: the longest known word that begins it, and what follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from controller.people_words.tokens import Tokens, UnreadableError
from controller.people_words.word import Word

TableT = TypeVar("TableT", contravariant=True)


def read_line(
    words: Sequence[str], known: Mapping[str, Word[TableT]], *, people: bool = False
) -> Callable[[TableT], None]:
    """What the words of a line do. `people`: `by` may name a person. Raises `UnreadableError`."""
    word, tokens = find_word(words, known, f"'{' '.join(words[:2])}' begins no step", people=people)
    act: Callable[[TableT], None] = read_form(known[word].form, known[word].read, tokens)
    return act


def find_word(
    words: Sequence[str], known: Mapping[str, Any], sentence: str, *, people: bool = False
) -> tuple[str, Tokens]:
    """The longest known word that begins the line, and what follows it. Raises `UnreadableError`."""
    for word in sorted(known, key=len, reverse=True):
        tokens = Tokens(words, people=people)
        if tokens.maybe(word):
            return word, tokens
    alike = [word for word in known if word.split()[0] == words[0]] if words else []
    raise UnreadableError(f"{sentence}; known: {', '.join(alike or known)}")


def read_form(form: str, read: Callable[[Tokens], Any], tokens: Tokens) -> Any:
    """What follows a word, to the end. Raises `UnreadableError`, which names the form."""
    try:
        made = read(tokens)
        tokens.done()
    except UnreadableError as error:
        raise UnreadableError(f"{error}; write `{form}`") from error
    return made
