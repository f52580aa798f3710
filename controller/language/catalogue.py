"""The texts of a language: a gettext file for each, `zh-Hans.po`, read with Babel.

An entry's `msgid` is the id of a message and its `msgid_plural` the English text for other numbers. An entry with a
`msgctxt` belongs to that key of `en.json`, the texts that pages ask for by name; its `msgid` is the English text.
`python -m tools.catalogue` adds to each file what the program says and takes out what it no longer says.

A file that cannot be read leaves the language in English, whatever is wrong with it. A text that is missing, or that
has other slots than the English one, is shown in English. All three are logged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from firmware_bridge.messages import JOINTS, SLOT, AnyText, Message, english, rendered, text_in_english

ENGLISH: Final = "en"
PARAMETER: Final = "language"  # a parameter of a request
TEXTS: Final = "texts"  # a parameter of a request: `messages` for each text with its message
FOLDER: Final = Path(__file__).parent
SUFFIX: Final = ".po"
PATTERNS: Final = {
    "list": "list.list",
    "clauses": "list.clauses",
    "points": "list.points",
    "sentences": "list.sentences",
}
"""Keys of the texts that join two parts, by the kind of list in a slot. `and` and `or` are CLDR's."""
STYLES: Final = {"and": "standard", "or": "or"}
CHARSET: Final = re.compile(rb"Content-Type:[^\"\\]*charset=(?!CHARSET)([\w.:-]+)")
PLURAL_FORMS: Final = re.compile(rb"Plural-Forms:([^\"\\]*)")
MOST_FORMS: Final = 6  # Arabic has six, more than any other language
PLURAL: Final = re.compile(rf"\s*nplurals\s*=\s*([1-{MOST_FORMS}])\s*;\s*plural\s*=\s*([^;]+?)\s*;?\s*")
COUNTS_TRIED: Final = 1000  # numbers whose form is computed when a catalogue is read
MOST_LOGGED: Final = 200  # ids without a text: a journal written elsewhere may hold any


def _log() -> Any:
    """Return the log. The import is here because most commands log nothing about the catalogues."""
    import structlog

    return structlog.get_logger()


class CatalogueError(Exception):
    """Reports a catalogue that cannot be read, naming the file and, if known, the line."""


class Texts:
    """The texts of one language. `keyed`: those of the pages, by key, in English if there is no translation."""

    def __init__(
        self,
        language: str,
        texts: dict[str, str | tuple[str, ...]],
        keyed: dict[str, str],
        number: Callable[[int], int],
    ) -> None:
        self.language = language
        self.keyed = english_of_pages() | keyed
        self._texts = texts
        self._number = number
        self._logged: set[str] = set()

    def text_of(self, given: Message) -> str | None:
        """Return the text of a message with its slots, or None if the language does not have one."""
        found = self._texts.get(given.id)
        if isinstance(found, tuple):
            count = given.args.get("count")
            found = found[self._number(count) if isinstance(count, int) else 0]
        return found or None

    def text_or_english(self, given: Message) -> str:
        """Return the text of a message with its slots, and log its id and arguments if only English has one."""
        if (text := self.text_of(given)) is not None:
            return text
        if needs_text(given.id) and given.id not in self._logged and len(self._logged) < MOST_LOGGED:
            self._logged.add(given.id)
            _log().warning("language.text_missing", language=self.language, id=given.id, arguments=sorted(given.args))
        return text_in_english(given)

    def listed(self, parts: Sequence[str], joint: str) -> str:
        """Return the parts of a list, or several sentences, as one text."""
        if len(parts) < 2:
            return "".join(parts)
        if joint == "lines":
            return JOINTS[joint].join(parts)
        if joint in STYLES:
            return _cldr_list(parts, STYLES[joint], self.language)
        pattern = self.keyed[PATTERNS.get(joint, PATTERNS["list"])]
        said = parts[0]
        for part in parts[1:]:
            said = pattern.replace("{before}", "\0").replace("{next}", part).replace("\0", said)
        return said


class Speaker(NamedTuple):
    """The language of a reader. `whole`: the reader asked for messages with their arguments as well as each text."""

    language: str
    whole: bool = False

    def sentence(self, said: AnyText) -> str:
        return translated(said, self.language)

    def text(self, said: Message) -> AnyText:
        text = translated(said, self.language)
        return replace(said, text=text) if self.whole else text

    def phrase(self, text: str) -> str:
        """Return the translation of a phrase that a screen offers, such as the reason of a pause.

        People may write anything else in its place; that is returned as they wrote it.

        >>> Speaker("zh-Hans").phrase("A dispute"), Speaker("zh-Hans").phrase("a dispute at box 3")
        ('\u4e89\u8bae', 'a dispute at box 3')
        """
        return text if self.language == ENGLISH else _phrases(self.language).get(text, text)


def translated(said: AnyText, language: str) -> str:
    """Return a message in that language. Text that a person or a device wrote stays as it is.

    >>> from firmware_bridge.messages import message
    >>> translated(message("{name} is away.", name="lee"), "en"), translated("box 1", "zh-Hans")
    ('lee is away.', 'box 1')
    """
    if not isinstance(said, Message):
        return said
    if language == ENGLISH:
        return english(said)
    found = texts(language)
    return rendered(said, found.text_or_english, found.listed)


@cache
def _phrases(language: str) -> Mapping[str, str]:
    keyed = texts(language).keyed
    return {text: keyed[key] for key, text in english_of_pages().items() if key.startswith("phrase.")}


def page_words(language: str) -> Mapping[str, str]:
    """Return every word in that language, or in English if the catalogue lacks it."""
    return texts(language).keyed


def page_word(key: str, language: str, args: Mapping[str, str | int]) -> str:
    """Return the words of a key with their arguments, or the last part of the key if it has none.

    >>> page_word("top.tables", "en", {"n": 1}), page_word("top.tables", "zh-Hans", {"n": 1})
    ('1 table', '1张牌桌')
    """
    words, number = page_words(language), args.get("n")
    form = f"{key}.{plural_form(language, number)}" if isinstance(number, int) else key
    pattern = next((words[name] for name in (form, f"{key}.other", key) if name in words), None)
    if pattern is None:
        return key.rpartition(".")[2].replace("_", " ")
    return SLOT.sub(lambda slot: str(args.get(slot[1], slot[0])), pattern)


def needs_text(id_: str) -> bool:
    """Return whether a message has text of its own, and not only slots and blanks.

    >>> needs_text("{said}: {note}"), needs_text("{parts:sentences}")
    (True, False)
    """
    depth, own = 0, ""
    for letter in id_:
        depth += (letter == "{") - (letter == "}")
        own += letter if not depth and letter != "}" else ""
    return bool(own.strip())


@cache
def english_of_pages() -> dict[str, str]:
    """Return the English texts that pages ask for by name."""
    found: dict[str, str] = json.loads((FOLDER / "en.json").read_text("utf-8"))
    return found


@cache
def codes() -> tuple[str, ...]:
    """Return the code of each language, English first."""
    return (ENGLISH, *(path.stem for path in sorted(FOLDER.glob(f"*{SUFFIX}"))))


@cache
def languages() -> dict[str, str]:
    """Return the code of each language with its own name, which only CLDR's data have."""
    return {code: "English" if code == ENGLISH else _own_name(code) for code in codes()}


def known(asked: str | None) -> str:
    """Return the language with a catalogue that fits a tag or the name of a locale best, else English.

    >>> known("zh-Hans"), known("zh_CN.UTF-8"), known("zh"), known("tlh"), known(None)
    ('zh-Hans', 'zh-Hans', 'zh-Hans', 'en', 'en')
    """
    tag = (asked or "").partition(".")[0].replace("_", "-").lower()
    primary = tag.partition("-")[0]
    fitting = [code for code in codes() if code.lower() == tag]
    fitting += [code for code in codes() if code.lower().partition("-")[0] == primary]
    return fitting[0] if fitting else ENGLISH


@cache
def texts(language: str) -> Texts:
    """Return the texts of a language, none for English; an unreadable catalogue is logged and counts as empty."""
    if language == ENGLISH:
        return Texts(ENGLISH, {}, {}, _one)
    try:
        return read(language, FOLDER)
    except (CatalogueError, OSError) as error:
        _log().error("language.catalogue_unreadable", language=language, sentence=str(error))
        return Texts(language, {}, {}, _one)


def read(language: str, folder: Path) -> Texts:
    """Read the catalogue of a language in that folder. Raises `CatalogueError` and `OSError`."""
    found: dict[str, str | tuple[str, ...]] = {}
    keyed: dict[str, str] = {}
    catalogue = read_file(folder / f"{language}{SUFFIX}")
    for entry in catalogue:
        if has_other_slots(entry):
            log = _log().error
            log("language.arguments_differ", language=language, line=entry.lineno, id=entry.id, text=entry.string)
        elif entry.context is not None:
            keyed |= {entry.context: entry.string} if entry.string and isinstance(entry.string, str) else {}
        elif isinstance(entry.id, tuple):
            if all(entry.string):
                found[entry.id[0]] = tuple(entry.string)
        elif entry.id and entry.string:
            found[entry.id] = entry.string
    return Texts(language, found, keyed, _number_of(catalogue.plural_expr, catalogue.num_plurals))


def has_other_slots(entry: Any) -> bool:
    """Return whether an entry of a catalogue has a translation whose slots differ from those of the English text.

    The first of several plural forms may leave out the number, as "1 card" does.
    """
    plural = isinstance(entry.id, tuple)
    wanted = _slots(entry.id[-1] if plural else entry.id)
    said = entry.string if isinstance(entry.string, tuple) else (entry.string,)
    return any(
        text and _slots(text) not in (wanted, wanted - {"count"} if form == 0 < len(said) - 1 else wanted)
        for form, text in enumerate(said)
        if entry.id
    )


def _slots(text: str) -> set[str]:
    return {name for name, _ in SLOT.findall(text)}


def read_file(path: Path) -> Any:
    """Return Babel's catalogue of a file. Raises `CatalogueError` with file and line."""
    from babel.messages.pofile import PoFileError, read_po  # needed only when a language other than English is read

    data = path.read_bytes()
    line = 1

    def lines() -> Iterator[str]:
        nonlocal line
        for line, text in enumerate(_decoded(path, data).split("\n"), start=1):  # noqa: B007 - read when Babel raises
            yield text

    _check_plural_forms(path, data)
    try:
        return read_po(lines(), abort_invalid=True)
    except CatalogueError:
        raise
    except PoFileError as error:
        raise CatalogueError(f"{path.name}, line {error.lineno + 1}: {error}") from error
    except Exception as error:  # Babel raises several kinds for files that are not PO files
        raise CatalogueError(f"{path.name}, line {line}: {error}") from error


def _decoded(path: Path, data: bytes) -> str:
    found = CHARSET.search(data)
    try:
        return data.decode("utf-8" if found is None else found[1].decode("ascii"))
    except UnicodeDecodeError as error:
        raise _error_at(path, data, error.start, str(error)) from error
    except LookupError as error:
        raise _error_at(path, data, found.start() if found is not None else 0, str(error)) from error


def _check_plural_forms(path: Path, data: bytes) -> None:
    """Raise `CatalogueError` if a header lacks a form for some number. Babel would make as many forms as it names."""
    headers = list(PLURAL_FORMS.finditer(data))
    if not headers and (entry := data.find(b"\nmsgid_plural")) >= 0:
        raise _error_at(path, data, entry + 1, "an entry has plural forms, and the header lacks Plural-Forms")
    for header in headers:
        said = PLURAL.fullmatch(header[1].decode("ascii", "replace"))
        if said is None:
            problem = f"write nplurals=1 to {MOST_FORMS}; plural=EXPRESSION;"
            raise _error_at(path, data, header.start(), f"Plural-Forms cannot be read; {problem}")
        try:
            wrong = {
                form for count in range(COUNTS_TRIED) if (form := _chosen(said[2])(count)) not in range(int(said[1]))
            }
        except (ArithmeticError, ValueError) as error:
            raise _error_at(path, data, header.start(), f"Plural-Forms cannot be computed: {error}") from error
        if wrong:
            raise _error_at(path, data, header.start(), f"Plural-Forms gives form {min(wrong)} of {said[1]}")


def _error_at(path: Path, data: bytes, position: int, problem: str) -> CatalogueError:
    line = data.count(b"\n", 0, position) + 1
    return CatalogueError(f"{path.name}, line {line}: {problem}")


@cache
def _chosen(expression: str) -> Callable[[int], int]:
    from gettext import c2py

    chosen: Callable[[int], int] = c2py(expression)
    return chosen


def _number_of(expression: str, forms: int) -> Callable[[int], int]:
    """Return which of the forms a number takes; the first, if the expression fails above `COUNTS_TRIED`."""

    def number(count: int) -> int:
        try:
            form = int(_chosen(expression)(abs(count)))
        except ArithmeticError:
            return 0
        return form if form in range(forms) else 0

    return number


def _one(_: int) -> int:
    return 0


def plural_forms(language: str) -> tuple[str, ...]:
    """Return CLDR's names of the plural forms of a language, such as `one` and `other`."""
    locale = _locale(language)
    return ("one", "other") if locale is None else tuple(sorted({*locale.plural_form.tags, "other"}))


def plural_form(language: str, count: int) -> str:
    """Return CLDR's name of the plural form for a number."""
    locale = _locale(language)
    if locale is None:
        return "one" if count == 1 else "other"
    return str(locale.plural_form(count))


def _own_name(language: str) -> str:
    locale = _locale(language)
    name = locale.get_language_name(locale) if locale else None
    return f"{name[:1].upper()}{name[1:]}" if name else language


def _cldr_list(parts: Sequence[str], style: Any, language: str) -> str:
    from babel.lists import format_list

    return format_list(parts, style, locale=_locale(language) or ENGLISH)


@cache
def _locale(language: str) -> Any:
    """Return Babel's locale, or None for a language that CLDR does not have."""
    from babel.core import Locale, UnknownLocaleError

    try:
        return Locale.parse(language.replace("_", "-"), sep="-")
    except (UnknownLocaleError, ValueError):
        return None
