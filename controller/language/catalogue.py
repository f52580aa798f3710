"""The texts of a language: a gettext file for each, `zh-Hans.po`, read with Babel.

An entry's `msgid` is the id of a message and its `msgid_plural` the English text for other numbers. An entry with a
`msgctxt` belongs to that key of `en.json`, the texts that pages ask for by name; its `msgid` is the English text.
`python -m tools.catalogue` adds to each file what the program says and takes out what it no longer says.

A file that cannot be read leaves the language in English, whatever is wrong with it. A text that is missing, or that
has other slots than the English one, is shown in English. All three are logged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from firmware_bridge.messages import JOINTS, SLOT, AnyText, Message, english, rendered, text_in_english

ENGLISH: Final = "en"
PARAMETER: Final = "language"  # a parameter of a request
TEXTS: Final = "texts"  # a parameter of a request: `messages` for each text with its message
FOLDER: Final = Path(__file__).parent
SUFFIX: Final = ".po"
STYLES: Final[Mapping[str, Any]] = {"and": "standard", "or": "or"}
"""CLDR's lists, by the joint of a slot. Other joints have their texts in `en.json`, as `list.clauses`."""
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
        form_of: Callable[[int], int] = int,
    ) -> None:
        self.language = language
        self.keyed = english_of_pages() | keyed
        self._texts = texts
        self._form_of = form_of
        self._logged: set[str] = set()

    def text_of(self, given: Message) -> str:
        """Return the text of a message with its slots. If only English has one, log its id and arguments."""
        found = self._texts.get(given.id)
        if isinstance(found, tuple):
            count = given.args.get("count")
            found = found[self._form_of(count) if isinstance(count, int) else 0]
        if found:
            return found
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
            from babel.lists import format_list

            return format_list(parts, STYLES[joint], locale=locale_of(self.language))
        pattern = self.keyed.get(f"list.{joint}") or self.keyed["list.list"]
        return pattern.removeprefix("{before}").removesuffix("{next}").join(parts)


class Speaker(msgspec.Struct, frozen=True):
    """Renders texts for a reader. `whole`: the reader asked for messages with their arguments as well as each text."""

    language: str = ENGLISH
    whole: bool = False

    def __call__(self, said: AnyText) -> str:
        """Return a message in this language. Text that a person or a device wrote stays as it is.

        >>> from firmware_bridge.messages import message
        >>> Speaker("zh-Hans")(message("round {number}", number=3)), Speaker("zh-Hans")("box 1")
        ('\u7b2c3\u5c40', 'box 1')
        """
        if not isinstance(said, Message):
            return said
        if self.language == ENGLISH:
            return english(said)
        found = texts(self.language)
        return rendered(said, found.text_of, found.listed)

    def text(self, said: Message) -> AnyText:
        return replace(said, text=self(said)) if self.whole else self(said)

    def keyed(self, key: str, **args: str | int) -> str:
        """Return the page's text for a key, or the last part of the key if it has none.

        >>> Speaker("en").keyed("top.tables", n=1), Speaker("zh-Hans").keyed("top.tables", n=1)
        ('1 table', '1\u5f20\u724c\u684c')
        """
        words, number = texts(self.language).keyed, args.get("n")
        form = f"{key}.{locale_of(self.language).plural_form(number)}" if isinstance(number, int) else key
        pattern = next((words[name] for name in (form, f"{key}.other", key) if name in words), None)
        if pattern is None:
            return key.rpartition(".")[2].replace("_", " ")
        return SLOT.sub(lambda slot: str(args.get(slot[1], slot[0])), pattern)

    def phrase(self, text: str) -> str:
        """Return the translation of a phrase that a screen offers, such as the reason of a pause.

        People may write anything else in its place; that is returned as they wrote it.

        >>> Speaker("zh-Hans").phrase("A dispute"), Speaker("zh-Hans").phrase("a dispute at box 3")
        ('\u4e89\u8bae', 'a dispute at box 3')
        """
        return text if self.language == ENGLISH else _phrases(self.language).get(text, text)


@cache
def _phrases(language: str) -> Mapping[str, str]:
    keyed = texts(language).keyed
    return {text: keyed[key] for key, text in english_of_pages().items() if key.startswith("phrase.")}


def needs_text(id_: str) -> bool:
    """Return whether a message has text of its own, and not only slots and blanks.

    >>> needs_text("{said}: {note}"), needs_text("{parts:sentences}")
    (True, False)
    """
    return bool(SLOT.sub("", id_).strip())


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
    names = {code: str(locale_of(code).language_name) for code in codes()}
    unknown = {code for code, name in names.items() if name == names[ENGLISH]} - {ENGLISH}
    return {code: code if code in unknown else f"{name[:1].upper()}{name[1:]}" for code, name in names.items()}


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
        return Texts(ENGLISH, {}, {})
    try:
        return read(language, FOLDER)
    except (CatalogueError, OSError) as error:
        _log().error("language.catalogue_unreadable", language=language, sentence=str(error))
        return Texts(language, {}, {})


def read(language: str, folder: Path) -> Texts:
    """Read the catalogue of a language in that folder. Raises `CatalogueError` and `OSError`."""
    from gettext import c2py

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
    return Texts(language, found, keyed, c2py(catalogue.plural_expr))


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
    """Return Babel's catalogue of a file in UTF-8. Raises `CatalogueError` with file and line.

    Plural forms are those that Babel knows for the language. A header could name any number of forms and any
    expression, so it is not asked.
    """
    from babel.messages.pofile import PoFileError, read_po  # needed only when a language other than English is read

    line = 0

    def lines() -> Iterator[str]:
        nonlocal line
        for line, data in enumerate(path.read_bytes().split(b"\n"), start=1):  # noqa: B007 - read when Babel raises
            yield data.decode("utf-8").replace("Plural-Forms:", "X-Plural-Forms:")

    try:
        return read_po(lines(), locale=path.stem.replace("-", "_"), abort_invalid=True)
    except OSError:
        raise
    except PoFileError as error:
        raise CatalogueError(f"{path.name}, line {error.lineno + 1}: {error}") from error
    except Exception as error:  # Babel raises several kinds for files that are not PO files
        raise CatalogueError(f"{path.name}, line {line}: {error}") from error


@cache
def locale_of(language: str) -> Any:
    """Return Babel's locale, that of English for a language that CLDR does not have."""
    from babel.core import Locale, UnknownLocaleError

    try:
        return Locale.parse(language.replace("_", "-"), sep="-")
    except (UnknownLocaleError, ValueError):
        return Locale(ENGLISH)
