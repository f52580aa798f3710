"""A sentence in another language: found by its template, the arguments translated in turn.

It depends on the sentence alone. Of several templates that fit, the one is taken that leaves the fewest letters as they
were, then the one with the longest text of its own. People's names and what people wrote stay as they are. A sentence
that no template fits stays English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from controller.language import po
from controller.language.catalogue import ENGLISH, SLOT, Catalogue, Template, catalogue, small_first
from controller.messages import DEEPEST as DEEPEST_MESSAGE
from controller.messages import AnyText, Argument, Message, english, rendered

LONGEST: Final = 1200  # characters; the table's own sentences are shorter
DEEPEST: Final = 8  # arguments within arguments
MOST_TRIED: Final = 30_000  # templates for one sentence; the longest of the table's own takes 25,000, or 70 ms
REMEMBERED: Final = 4096  # sentences
WORK_AT_ONCE: Final = 60_000  # templates; all that a screen shows of a table takes up to 55,000, one change 5,000
WORK_A_SECOND: Final = 20_000  # templates, about 5 % of a processor
FITS: Final = 4  # ways in which one template may fit
WHOLE: Final = 0.15  # of the letters at most may be left where a person could have written the text
LITTLE: Final = 0.1  # what a letter counts that stays as it was because a person wrote it

PEOPLE: Final = frozenset(
    {"bettor", "by", "dealer", "from_dealer", "name", "noticed_by", "on_duty", "person", "to_dealer", "whom", "witness"}
)
NAMED: Final = PEOPLE | {"screen"}
"""What bears the name that people gave it: no list, and never translated."""

WITH_RANKS: Final = "people"
"""Ids of people, each with the rank in brackets."""

NAME_ONLY: Final = " (a name only)"
PROGRAM: Final = frozenset({"device", "inference"})
"""What is named in the place of a person."""

NUMBERS: Final = frozenset(
    ["bet", "count", "counted", "due", "late", "number", "numbers", "of_round", "ordinal", "ordinals", "round", "twice"]
)
"""Arguments without a word."""

SINGLE: Final = frozenset({"alike", "at", "deck", "label", "place", "place_word", "source", "spot"})
"""Arguments that are one place or one deck. Several have another name, such as `places`."""

PARTS: Final = (", ", ". ", ": ", "; ")  # not in the name of a person, a place or a deck

WRITTEN: Final = frozenset(
    {"because", "cause", "detail", "note", "paused", "reason", "sentence", "stopped", "text", "why"}
)
"""Arguments that a person wrote, or the program."""

LETTERS: Final = re.compile(r"[A-Za-z]{2,}")
CODE: Final = re.compile(r"[A-Z][A-Z0-9]{1,3} [A-Z]{0,2}\d[\d.]*|(?:[2-9ATJQK][SHDC] ?)+")  # a clause, or cards
NUMBERS_ONLY: Final = re.compile(r"\d+(?:, \d+)*(?: and \d+)?")
JOINTS: Final = ("? ", ". ", "; ", ": ", ", ", " and ", " or ")
"""Between sentences, and between the parts of a list. The catalogue has the mark for each."""

SENTENCES_END: Final = (". ", "? ")


class Found(NamedTuple):
    """`left`: how much is as it was. `own`: characters of the templates."""

    said: str
    left: float
    own: int


def translated(sentence: str | Message, language: str) -> str:
    """Return a message, or a sentence that is not one yet, in that language.

    >>> translated("Turn over boxes 1 and 3.", "zh-Hans"), translated("Turn over box 1.", "en")
    ('请翻开1、3号位。', 'Turn over box 1.')
    """
    if isinstance(sentence, Message):
        return _rendered(
            sentence,
            language,
            lambda text: translated(text, language),
            lambda name, text: Translation(catalogue(language)).argument(name, text, 1).said,
        )
    return sentence if language == ENGLISH or not sentence or len(sentence) > LONGEST else _of(sentence, language)


def phrase(text: str, language: str) -> str:
    """Return the translation of a phrase that a screen offers, such as the reason of a pause.

    People may write anything else in its place; that is returned as they wrote it.

    >>> phrase("A dispute", "zh-Hans"), phrase("a dispute at box 3", "zh-Hans")
    ('\u4e89\u8bae', 'a dispute at box 3')
    """
    return text if language == ENGLISH else catalogue(language).fixed.get(text, text)


def _rendered(
    said: Message, language: str, sentence: Callable[[str], str], argument: Callable[[str, str], str], depth: int = 0
) -> str:
    """Return a message from the catalogue, or by `sentence` where it has none.

    `argument` translates arguments that are text as those of a sentence, until the core makes messages of them.
    """
    if language == ENGLISH or depth > DEEPEST_MESSAGE:
        return english(said)
    found = po.texts(language)
    text = found.text_of(said) or catalogue(language).text_of(said)
    if text is None:
        return sentence(english(said))

    def value(name: str, given: Argument) -> Argument:
        if isinstance(given, Message):
            return _rendered(given, language, sentence, argument, depth + 1)
        if isinstance(given, tuple):
            return tuple(str(value(name, one)) for one in given)
        return argument(name, given) if isinstance(given, str) else given

    args = {name: value(name, given) for name, given in said.args.items()}
    return rendered(Message(text, args), lambda given: given.id, found.listed)


@lru_cache(REMEMBERED)
def _of(sentence: str, language: str) -> str:
    return _search(sentence, language)[0]


def _search(sentence: str, language: str) -> tuple[str, int]:
    """Return the translation, or the sentence itself, and the number of templates tried."""
    search = Translation(catalogue(language))
    found = search.sentence(sentence, 0)
    fits = found is not None and found.left <= _letters(sentence) / 2
    return found.said if found is not None and fits else sentence, search.tried


class _Budget:
    """`left`: templates; below 0 after a search that took more than was left. `since`: seconds."""

    def __init__(self, left: float, since: float) -> None:
        self.left = left
        self.since = since


class Translator:
    """Translates sentences that other people or programs can cause, within a budget of work.

    A client chooses words that a refusal quotes, and a search takes up to `MOST_TRIED` templates, so an unbounded
    search would let a client keep the event loop busy. A new sentence beyond the budget stays in English. Each payer
    has a budget, and one who spends it leaves the others theirs.

    `clock` returns seconds and never goes back.

    >>> translator = Translator(lambda: 0.0, at_once=1)
    >>> translator.sentence("Turn over boxes 1 and 3.", "zh-Hans"), translator.sentence("Turn over box 1.", "zh-Hans")
    ('请翻开1、3号位。', 'Turn over box 1.')
    """

    def __init__(self, clock: Callable[[], float], at_once: int = WORK_AT_ONCE) -> None:
        self._clock = clock
        self._at_once = at_once
        self._budgets: dict[Hashable, _Budget] = {}
        self._known: dict[tuple[str, str], str] = {}  # the oldest first

    def sentence(self, sentence: str, language: str, payer: Hashable = None) -> str:
        if language == ENGLISH or not sentence or len(sentence) > LONGEST:
            return sentence
        key = sentence, language
        if key not in self._known:
            budget = self._budget(payer)
            if budget.left <= 0:
                return sentence
            said, tried = _search(sentence, language)
            budget.left -= tried
            if len(self._known) >= REMEMBERED:
                del self._known[next(iter(self._known))]
            self._known[key] = said
        return self._known[key]

    def message(self, said: Message, language: str, payer: Hashable = None) -> str:
        return _rendered(
            said,
            language,
            lambda text: self.sentence(text, language, payer),
            lambda name, text: self._argument(name, text, language, payer),
        )

    def _argument(self, name: str, text: str, language: str, payer: Hashable) -> str:
        if (budget := self._budget(payer)).left <= 0:
            return text
        search = Translation(catalogue(language))
        found = search.argument(name, text, 1)
        budget.left -= search.tried
        return found.said

    def _budget(self, payer: Hashable) -> _Budget:
        """As it is now."""
        now = self._clock()
        budget = self._budgets.setdefault(payer, _Budget(self._at_once, now))
        budget.left = min(self._at_once, budget.left + (now - budget.since) * WORK_A_SECOND)
        budget.since = now
        return budget


class Speaker(NamedTuple):
    """A language, the translator that works for its readers, and who of them pays for what has to be searched.

    `whole`: the reader asked for messages with their arguments beside each text.
    """

    translator: Translator
    language: str
    payer: Hashable = None
    whole: bool = False

    def sentence(self, said: str | Message) -> str:
        if isinstance(said, Message):
            return self.translator.message(said, self.language, self.payer)
        return self.translator.sentence(said, self.language, self.payer)

    def text(self, said: Message) -> AnyText:
        text = self.sentence(said)
        return replace(said, text=text) if self.whole else text

    def phrase(self, text: str) -> str:
        return phrase(text, self.language)


def _letters(text: str) -> int:
    return sum(map(len, LETTERS.findall(text)))


class Translation:
    """Of one sentence."""

    def __init__(self, words: Catalogue) -> None:
        self._words = words
        self._made: dict[tuple[str, bool], Found | None] = {}
        self.tried = 0
        self.inside = 0  # what a person may have written: it is translated whole, or stays as it was written

    def sentence(self, text: str, depth: int) -> Found | None:
        key = text, self.inside > 0
        if key not in self._made:
            self._made[key] = None
            self._made[key] = self._sentence(text, depth)
        return self._made[key]

    def _sentence(self, text: str, depth: int) -> Found | None:
        body = text.rstrip(".")
        small = small_first(body)
        stop = self._words.fixed["."] if body != text else ""
        said = self._words.fixed.get(body) or self._words.fixed.get(small)
        if said is not None:
            return Found(self._ended(said, stop), 0, len(body))
        if depth == DEEPEST or self.tried > MOST_TRIED:
            return None
        best: Found | None = None
        for found in self._fitting(small, body, depth):
            if best is None or (found.left, -found.own) < (best.left, -best.own):
                best = found
            if not best.left:
                break
        return best and best._replace(said=self._ended(best.said, stop))

    def _ended(self, said: str, stop: str) -> str:
        """With a full stop, unless it has an end."""
        return said if said.endswith(tuple(self._words.fixed[end] for end in ".?!")) else f"{said}{stop}"

    def _fitting(self, small: str, body: str, depth: int) -> Iterator[Found]:
        """The templates that fit, the longest first; then the parts of a list."""
        for template in self._words.candidates(small):
            self.tried += 1
            for values in _fits(template, small, body):
                yield self._filled(template, values, depth)
        marks = self._words.fixed
        for joint in JOINTS:
            if joint not in body:
                continue
            splits = {body.partition(joint), *([body.rpartition(joint)] if joint in SENTENCES_END else [])}
            for before, _, after in sorted(splits):
                asked = "?" if joint == "? " else ""
                yield from self._joined(f"{before}{asked}", "" if asked else marks[joint], after, "", depth)
        if body.endswith(")") and " (" in body:
            before, _, after = body[:-1].partition(" (")
            yield from self._joined(before, marks[" ("], after, marks[")"], depth)

    def _filled(self, template: Template, values: tuple[str, ...], depth: int) -> Found:
        given = {
            name: self.argument(name.rstrip("23456789"), value, depth)
            for name, value in zip(template.slots, values, strict=True)
        }
        said = SLOT.sub(lambda slot: given[slot[1]].said, template.said)
        own = template.length + sum(one.own for one in given.values())
        return Found(said, sum(one.left for one in given.values()), own)

    def _joined(self, before: str, mark: str, after: str, end: str, depth: int) -> Iterator[Found]:
        one, other = self.argument("", before, depth), self.argument("", after, depth)
        if one.own or other.own:
            yield Found(f"{one.said}{mark}{other.said}{end}", one.left + other.left, one.own + other.own)

    def argument(self, name: str, text: str, depth: int) -> Found:
        """Its translation, else as it is."""
        letters = _letters(text)
        if name == WITH_RANKS:
            return self._with_ranks(text, depth)
        if NUMBERS_ONLY.fullmatch(text):
            return Found(text.replace(" and ", "、").replace(", ", "、"), 0, 0)
        if not letters or CODE.fullmatch(text):
            return Found(text, 0, 0)
        if name in NAMED and text not in PROGRAM:
            who = text.removesuffix(NAME_ONLY)
            known_by = self._words.fixed[NAME_ONLY] if who != text else ""
            no_name = self.inside and " " in who and who[0].islower()  # "a dispute" at a box is no bettor there
            return Found(f"{who}{known_by}", _letters(who) * (1 if no_name else LITTLE), 0)
        if name in WRITTEN:
            return self.written(text, depth + 1) or Found(text, letters * LITTLE, 0)
        return self.sentence(text, depth + 1) or Found(text, letters, 0)

    def written(self, text: str, depth: int = 0) -> Found | None:
        """What a person may have written, or the program: None where not the whole of it can be translated."""
        self.inside += 1
        found = self.sentence(text, depth)
        self.inside -= 1
        return None if found is None or found.left > _letters(text) * WHOLE else found

    def _with_ranks(self, text: str, depth: int) -> Found:
        """Ids of people stay, also one that is the name of a rank."""
        marks, said, left = self._words.fixed, [], 0.0
        for one in text.split(", "):
            person, bracket, rank = one.partition(" (")
            found = self.argument("", rank.rstrip(")"), depth)
            said.append(f"{person}{marks[' (']}{found.said}{marks[')']}" if bracket else one)
            left += found.left
        return Found(marks[", "].join(said), left, 0)


def _fits(template: Template, small: str, body: str) -> Iterator[tuple[str, ...]]:
    """The arguments with which the template is that text, at most a few."""
    first, *middle, last = template.literals
    if small.startswith(first) and small.endswith(last) and len(small) > len(first) + len(last):
        inner = body[len(first) : len(body) - len(last)]
        yield from islice(_splits(inner, middle, template.slots), FITS)


def _splits(text: str, literals: list[str], names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if not literals:
        if _may_stand(names[0], text):
            yield (text,)
        return
    for at in _occurrences(text, literals[0]):
        if _may_stand(names[0], text[:at]):
            for rest in _splits(text[at + len(literals[0]) :], literals[1:], names[1:]):
                yield (text[:at], *rest)


def _occurrences(text: str, literal: str) -> Iterator[int]:
    """Where it stands: the first place, the second and the last."""
    places = (first := text.find(literal), text.find(literal, first + 1), text.rfind(literal))
    return (at for at in dict.fromkeys(places) if at >= 0 and first >= 0)


def _may_stand(name: str, value: str) -> bool:
    """Whether that can be the argument's value: it is not empty, and no part of a list that goes on; a number has no
    words; one person is no list.
    """
    name = name.rstrip("23456789")
    if name in NUMBERS:
        return NUMBERS_ONLY.fullmatch(value) is not None
    return (
        bool(value) and value[-1] not in ",;" and not (name in NAMED | SINGLE and any(part in value for part in PARTS))
    )
