"""Converts the values of a TOML file into sections piece by piece, so that every mistake is found and not only the
first. A mistake names its place in the file, what is expected at that place, and what was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import date, time
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Final, NamedTuple, cast, get_args, get_origin

import msgspec

from controller.daemon.toml_hints import LIST, USERS, not_shown
from firmware_bridge.messages import AnyText, Message, message
from firmware_bridge.plain_text import is_plain, plain

LONGEST_TEXT: Final = 500  # characters of one text
LONGEST_PATH: Final = 4096
LONGEST_NAME: Final = 64
LONGEST_NUMBER: Final = 200  # bits; Python does not print numbers of more than 4,300 digits
_NAMED_BY: Final = ("id", "rule")  # the keys that name one of several sections
_BAD: Final[Any] = object()
_SECRET: Final = "pin_hash"  # noqa: S105  # the name of a key
_KEY: Final = re.compile(r"[0-9a-fA-F]{64}")
NOTHING: Final[Mapping[str, Any]] = {}
UNREADABLE: Final = Path("\0")
"""A placeholder for the path of a file that was written incorrectly: no file has this name."""


class Mistake(NamedTuple):
    """A mistake with its place, and the next step if it is not obvious."""

    sentence: AnyText
    hint: AnyText = ""


class Found(NamedTuple):
    """The result. `good` has the keys of a file that could be read, defaults included. `partly` also has those with
    mistakes, as far as they could be read. `mistakes` has all of them.
    """

    good: dict[str, Any]
    partly: dict[str, Any]
    mistakes: list[Mistake]


def read_section(written: dict[str, Any], kind: type[msgspec.Struct], path: Callable[[str], Path]) -> Found:
    """Read a whole file. `path` turns a text into a path."""
    reader = _Reader(path)
    good = reader.keys(written, kind, "")
    for field in msgspec.structs.fields(kind):
        if field.name not in written and field.required:
            reader.stand_in(field.type, field.name, {})
        elif field.name not in written:
            made = field.default_factory
            good[field.name] = field.default if made is msgspec.NODEFAULT else made()
    return Found(good, {**good, **reader.partly}, reader.mistakes)


class _Reader:
    def __init__(self, path: Callable[[str], Path]) -> None:
        self._path = path
        self.mistakes: list[Mistake] = []
        self.partly: dict[str, Any] = {}  # by place

    def keys(self, written: dict[str, Any], kind: type[msgspec.Struct], place: str) -> dict[str, Any]:
        """Read what is written key by key, each by its own type. An empty `place` is the file itself."""
        fields = {field.name: field for field in msgspec.structs.fields(kind)}
        where = place or message("the file")
        renamed: dict[str, tuple[str, Message]] = getattr(kind, "renamed", {})
        for key in written:
            if key in renamed:
                name, what = renamed[key]
                self._mistake(
                    message("{where} {key} is called {name} and {what}", where=place, key=key, name=name, what=what)
                )
            elif key not in fields:
                unknown = message("{key} is not a key of {where}", key=plain(key, LONGEST_NAME), where=where)
                known = message("known: {keys:list}", keys=tuple(fields))
                self._mistake(message("{parts:clauses}", parts=(unknown, *_near(key, fields), known)))
        good: dict[str, Any] = {}
        for key, field in fields.items():
            if key not in written:
                if field.required and key not in (renamed[old][0] for old in renamed if old in written):
                    heading = f"[{key}]" if not get_origin(field.type) else f"[[{key}]]"
                    missing = message("the section {heading} is missing", heading=heading)
                    self._mistake(
                        message("the key {key} is missing in {where}", key=key, where=where) if place else missing
                    )
                continue
            value = self._value(written[key], field.type, _place_of(key, field.type, place))
            if value is not _BAD:
                good[key] = value
        return good

    def _value(self, written: Any, kind: Any, place: str) -> Any:
        kind = without_none(kind)
        if get_origin(kind) is tuple:
            return self._several(written, get_args(kind)[0], place)
        if get_origin(kind) is dict:
            return self._by_name(written, get_args(kind)[1], place)
        if _is_section(kind):
            return self._section(written, kind, place)
        if kind is Path:
            return self._file(written, place)
        return self._leaf(written, kind, place)

    def _section(self, written: Any, kind: type[msgspec.Struct], place: str) -> Any:
        before = len(self.mistakes)
        if not isinstance(written, dict):
            self._expect(place, message("a section with keys"), written)
            written = _only_section(written)
        good = self.keys(written, kind, place) if written or len(self.mistakes) == before else {}
        if len(self.mistakes) == before:
            return kind(**good)
        self.stand_in(kind, place.strip("[]"), {**written, **good}, good)
        return _BAD

    def stand_in(
        self, kind: type[msgspec.Struct], place: str, written: Collection[str], good: Mapping[str, Any] = NOTHING
    ) -> None:
        """Store the section as far as it could be read, for checks against other sections; store nothing if too much is
        missing.
        """
        required = {field.name for field in msgspec.structs.fields(kind) if field.required}
        known: dict[str, Any] = getattr(kind, "stand_ins", {})
        values = {key: value for key, value in known.items() if key in required or key in written}
        within = {key: self.partly[f"{place}.{key}"] for key in written if f"{place}.{key}" in self.partly}
        values |= {**within, **good}
        if required <= values.keys():
            self.partly[place] = kind(**values)

    def _several(self, written: Any, kind: Any, place: str) -> Any:
        name, before = place.strip("[]"), len(self.mistakes)
        if _is_section(kind) and isinstance(written, dict):
            self._mistake(
                message("{where} must be written as [[{name}]], once for each of them", where=place, name=name)
            )
            written = [written]
        elif not isinstance(written, list):
            self._expect(place, message("a list"), written, USERS if place.endswith(" uids") else LIST)
            written = []
        found = [
            self._value(item, kind, f"[[{name}]] {_called(item, number)}" if _is_section(kind) else place)
            for number, item in enumerate(written, start=1)
        ]
        self.partly[name] = tuple(item for item in found if item is not _BAD)
        return _BAD if len(self.mistakes) > before else tuple(found)

    def _by_name(self, written: Any, kind: Any, place: str) -> Any:
        before = len(self.mistakes)
        if not isinstance(written, dict):
            self._expect(place, message("a section with keys"), written)
            written = _only_section(written)
        found = {key: self._value(item, kind, f"{place} {plain(key, LONGEST_NAME)}") for key, item in written.items()}
        self.partly[place.strip("[]")] = {key: item for key, item in found.items() if item is not _BAD}
        return _BAD if len(self.mistakes) > before else found

    def _file(self, written: Any, place: str) -> Any:
        if isinstance(written, str) and _KEY.fullmatch(written.strip()):  # not shown: it may be the journal's
            hint = message("Write the key into a file that only its owner may read, and its path here.")
            self._mistake(message("{where} must be the path of a file, not the key itself", where=place), hint)
            return _BAD
        if isinstance(written, str) and written.startswith(("~", "$")):  # would be a folder of that name
            return self._expect(place, message("a path that is written out, without ~ or $"), written)
        if isinstance(written, str) and written and is_plain(written, LONGEST_PATH):
            return self._path(written)
        return self._expect(place, message("the path of a file"), written)

    def _leaf(self, written: Any, kind: Any, place: str) -> Any:
        try:
            value = msgspec.convert(written, kind)
        except msgspec.ValidationError:
            if place.endswith(f" {_SECRET}"):  # a PIN in its place reaches no log
                hint = message("`cardshoe pin` creates one.")
                self._mistake(message("{where} must be {what}", where=place, what=expected(kind)), hint)
                return _BAD
            return self._expect(place, expected(kind), written, _as_meant(written, kind, place))
        if isinstance(value, str) and not is_plain(value, LONGEST_TEXT):
            return self._expect(
                place, message("a text of at most {longest} printable characters", longest=LONGEST_TEXT), written
            )
        return value

    def _expect(self, place: str, what: Message, written: Any, hint: AnyText = "") -> Any:
        said = message("{where} must be {what}, not {written}", where=place, what=what, written=_shown(written))
        self._mistake(said, hint)
        return _BAD

    def _mistake(self, what: Message, hint: AnyText = "") -> None:
        self.mistakes.append(Mistake(message("{what}.", what=what), hint))


def _only_section(written: Any) -> dict[str, Any]:
    """Return the content of the only section, if it was written as a list of sections."""
    return written[0] if isinstance(written, list) and len(written) == 1 and isinstance(written[0], dict) else {}


def _near(written: str, known: Iterable[str]) -> list[Message]:
    """Return the known word that was probably meant as part of a sentence, or nothing if none is similar.

    >>> [str(one) for one in _near("prot", ["port", "hosts"])], _near("x", ["port"])
    (['nearest: port'], [])
    """
    return [message("nearest: {key}", key=key) for key in get_close_matches(written[:LONGEST_NAME], known, n=1)]


def _place_of(key: str, kind: Any, place: str) -> str:
    """Return the place of a key. A section within another is named as its heading is written."""
    if place and _is_section(without_none(kind)):
        return f"[{place.strip('[]')}.{key}]"
    return f"{place} {key}" if place else f"[{key}]"


def _called(written: Any, number: int) -> str:
    """Return the name of one of several sections: its name in the file, or its number."""
    keys = written if isinstance(written, dict) else {}
    name = next((keys[key] for key in _NAMED_BY if isinstance(keys.get(key), str)), "")
    return plain(name, LONGEST_NAME) or f"number {number}"


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def without_none(kind: Any) -> Any:
    """Return the type without None. TOML cannot express None: the key is left out."""
    several = get_args(kind)
    return next(part for part in several if part is not NoneType) if NoneType in several else kind


def described(said: Message, pattern: str | None = None) -> msgspec.Meta:
    """Return what a text must be, and the pattern that it must follow."""
    return msgspec.Meta(pattern=pattern, description=str(said), extra={"said": said})


def expected(kind: Any) -> Message:
    """Return what a value of this type must be, for people."""
    if get_origin(kind) is Annotated:
        plain_kind, meta = get_args(kind)
        if meta.extra:
            return cast("Message", meta.extra["said"])
        return message("{kind} from {ge} to {le}", kind=expected(plain_kind), ge=meta.ge, le=meta.le)
    if issubclass(kind, Enum):
        return message("one of {choices:list}", choices=tuple(str(choice.value) for choice in kind))
    return {
        bool: message("true or false"),
        int: message("a whole number"),
        date: message("a date such as 2026-01-31"),
    }.get(kind, message("a text"))


def _as_meant(written: Any, kind: Any, place: str) -> AnyText:
    """Return how to write a value of another type or spelling that can only have one meaning, or ""."""
    if isinstance(written, str):
        if isinstance(kind, type) and issubclass(kind, Enum):
            near = [str(one.value) for one in kind if str(one.value).casefold() == written.strip().casefold()]
            near = near or get_close_matches(written.casefold(), [str(one.value) for one in kind], n=1, cutoff=0.7)
            return message('Write "{word}".', word=near[0]) if near else ""
        if get_origin(kind) is Annotated and (odd := next((one for one in written if not one.isascii()), "")):
            return not_shown(odd)
        try:
            msgspec.convert(written, kind, strict=False)
        except msgspec.ValidationError:
            return USERS if place.endswith(" uids") else ""
        return message("Omit the quotes.")
    if isinstance(written, int | float | time | date):
        if isinstance(written, int) and written.bit_length() > LONGEST_NUMBER:
            return ""
        text = f"{written:%H:%M}" if isinstance(written, time) else str(written)
        with suppress(msgspec.ValidationError):
            msgspec.convert(text, kind)
            return message("Put it between quotes.")
    return ""


def _shown(written: Any) -> AnyText:
    """Return a value as it is written, shortened, with hidden characters escaped."""
    if isinstance(written, bool):
        return str(written).lower()
    if isinstance(written, int) and written.bit_length() > LONGEST_NUMBER:
        return message("a very long number")
    if isinstance(written, time | date):
        return written.isoformat()
    if isinstance(written, dict | list):
        return message("a list") if isinstance(written, list) else message("a section")
    return plain(ascii(written) if isinstance(written, str) and not is_plain(written) else repr(written), LONGEST_NAME)
