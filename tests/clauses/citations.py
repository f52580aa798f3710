"""Citations of clauses in plain text and in the names of tests.

A citation is a document's id with what follows it, in any of the forms below, also as a list or a range. It ends at the
first text that is not a clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final, NamedTuple

from tests.clauses.numbers import CLAUSES, DOCUMENTS, clauses


class Form(NamedTuple):
    """A way to write a clause: some words and its number or letter. `lists`: further ones follow without the words."""

    words: str
    value: str
    clause: str
    lists: bool = False


FORMS: Final = (
    Form(r"", r"\d+(?:\.\d+)+(?:\.[a-z]\b)?", "{}"),
    Form(r"", r"PM\d\b", "{}"),
    Form(r"", r"[OX]\d\b", "{}"),
    Form(r"item ", r"\d\b(?!\.\d)", "item {}"),
    Form(r"items ", r"\d\b(?!\.\d)", "item {}", lists=True),
    Form(r"(?:App\.|Appendix) ", r"[A-Z]\b", "App. {}"),
    Form(r"Appendices ", r"[A-Z]\b", "App. {}", lists=True),
    Form(r"Diagram ", r"[A-Z]\b", "Diagram {}"),
    Form(r"Diagrams ", r"[A-Z]\b", "Diagram {}", lists=True),
)
_DOCUMENT: Final = re.compile(rf"(?<![\w.])({'|'.join(DOCUMENTS)}) ")
_BETWEEN: Final = re.compile(r"(?P<range> to |-)|,? (?:and|or) |, |; ")


def cited(text: str) -> tuple[str, ...]:
    """Return every clause that a text cites, known or not, in the order of the text.

    >>> cited("as NC 3.13.1 to 3.13.3, 5.17 and RTP Appendix A say")
    ('NC 3.13.1', 'NC 3.13.2', 'NC 3.13.3', 'NC 5.17', 'RTP App. A')
    """
    flowing = " ".join(text.split())
    return tuple(
        clause for found in _DOCUMENT.finditer(flowing) for clause in _listed(found[1], flowing[found.end() :])
    )


def _listed(document: str, text: str) -> Iterator[str]:
    """Yield the clauses of a document that a text begins with."""
    form: Form | None = None
    last, is_range = "", False
    while True:
        found = _first(text, form)
        if found is None:
            return
        form, value, text = found
        clause = f"{document} {form.clause.format(value)}"
        yield from _after(last, clause) if is_range else (clause,)
        between = _BETWEEN.match(text)
        if between is None:
            return
        last, is_range, text = clause, between["range"] is not None, text[between.end() :]


def _first(text: str, before: Form | None) -> tuple[Form, str, str] | None:
    """Return form, value and rest of a text that begins with a clause. In a list the form's words are not repeated."""
    for form in FORMS:
        if found := re.match(f"{form.words}({form.value})", text):
            return form, found[1], text[found.end() :]
    if before is not None and before.lists and (found := re.match(before.value, text)):
        return before, found[0], text[found.end() :]
    return None


def _after(first: str, last: str) -> tuple[str, ...]:
    """Return the clauses of the same level after `first` up to `last`, or only `last` if that is not a range."""
    ordered = clauses(first.partition(" ")[0])
    if first not in ordered or last not in ordered:
        return (last,)
    between = ordered[ordered.index(first) + 1 : ordered.index(last) + 1]
    return tuple(clause for clause in between if clause.count(".") == last.count(".")) or (last,)


_LETTERED: Final = ("Appendix", "Diagram")
_LETTERED_WORDS: Final = {word.lower(): word for word in _LETTERED}


def cited_in_name(name: str) -> tuple[str, ...]:
    """Return every clause that the name of a test cites.

    >>> cited_in_name("test_nc_5_5_4_5_5_5_and_5_9_a_wrong_count")
    ('NC 5.5.4', 'NC 5.5.5', 'NC 5.9')
    """
    return cited(_as_text(name.split("_")))


def _as_text(words: list[str]) -> str:
    """Return the words of a name as in a sentence."""
    written: list[str] = []
    document = ""
    for is_number, run in groupby(words, key=str.isdigit):
        if is_number:
            written.append(", ".join(_split(document, tuple(run))))
            continue
        for word in run:
            is_name = word.upper() in DOCUMENTS
            document = word.upper() if is_name else document
            is_letter = written[-1:] and written[-1] in _LETTERED
            is_point = f"{document} {word.upper()}" in CLAUSES  # as PM5 or O2 of F3
            written.append(word.upper() if is_name or is_letter or is_point else _LETTERED_WORDS.get(word, word))
    return " ".join(written)


def _split(document: str, numbers: tuple[str, ...]) -> tuple[str, ...]:
    """Split figures into clauses, each as long as the document allows. Return the figures unchanged if that fails."""
    if not any("." in clause for clause in CLAUSES if clause.startswith(f"{document} ")):
        return numbers  # the clauses of such a document have one figure each
    rest, found = numbers, []
    while rest:
        known = [n for n in range(len(rest), 1, -1) if f"{document} {'.'.join(rest[:n])}" in CLAUSES]
        if not known:
            return (".".join(numbers),)
        found.append(".".join(rest[: known[0]]))
        rest = rest[known[0] :]
    return tuple(found)
