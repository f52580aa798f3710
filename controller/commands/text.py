"""Plain text for people: wrapped in a terminal; elsewhere one line for each entry, for grep."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any, Final

import click

from controller.commands.language import terminal
from controller.games import GAMES
from controller.language import Speaker
from firmware_bridge.messages import AnyText
from firmware_bridge.plain_text import plain, with_plain_texts

WIDEST: Final = 120  # columns; longer lines are hard to read
NARROWEST: Final = 30  # columns of running text, even in a smaller terminal
LONGEST_SHOWN: Final = 1000  # characters of one text; the program's own sentences are shorter
UNBROKEN: Final = "\N{NO-BREAK SPACE}"
_CLAUSE: Final = re.compile(rf"\b({'|'.join(GAMES)}) (item |App\. )?(?=\w)")  # "NC 5.11.1" is one word


def many(count: int, one: str, more: str) -> str:
    """Return a count with its noun.

    >>> many(1, "file", "files"), many(2_000, "entry", "entries")
    ('1 file', '2,000 entries')
    """
    return f"{count:,} {one if count == 1 else more}"


class Page:
    """A text under construction. `width` is in columns; with None nothing is wrapped. `say` renders its messages."""

    def __init__(self, width: int | None, say: Speaker | None = None) -> None:
        self._width = width
        self.say = say or Speaker()
        self._lines: list[str] = []

    def heading(self, text: AnyText) -> None:
        """Start a part, after an empty line."""
        if self._lines:
            self._lines.append("")
        text = self._plain(text)
        self._lines += [click.style(line, bold=True) if _has_styles() else line for line in self._wrapped(text, "", 2)]

    def entry(self, text: AnyText, *cells: tuple[AnyText, int], then: AnyText = "", indent: int = 2) -> None:
        """Add a line that begins with cells of fixed widths; continuation lines are indented below its text.

        `then` is the rest of the entry, on a separate line if lines are wrapped.
        """
        text, then = self._plain(text), self._plain(then)
        lead = " " * indent + "".join(f"{padded(self._plain(cell), width)} " for cell, width in cells)
        if self._width is None:
            self._lines.append(f"{lead}{text} {then}".rstrip())
            return
        hanging = min(len(lead), max(self._width - NARROWEST, indent + 2))
        self._lines += self._wrapped(lead + text, "", hanging)
        if then:
            self._lines += self._wrapped(then, " " * hanging, hanging + 3)

    def rows(self, rows: Sequence[Sequence[AnyText]]) -> None:
        """Add entries in columns, each as wide as it needs; the last cell of each is its text."""
        widths = [longest([self.say(row[column]) for row in rows]) for column in range(len(rows[0]) - 1)]
        for *cells, text in rows:
            self.entry(text, *zip(cells, widths, strict=True))

    def _plain(self, text: AnyText) -> str:
        text = self.say(text)
        return plain(text, len(text))

    def _wrapped(self, text: str, first: str, hanging: int) -> list[str]:
        if self._width is None:
            return [text]
        lines = textwrap.wrap(
            _CLAUSE.sub(lambda clause: clause[0].replace(" ", UNBROKEN), text),
            width=max(self._width, NARROWEST),
            initial_indent=first,
            subsequent_indent=" " * hanging,
            break_long_words=False,
            break_on_hyphens=False,
            replace_whitespace=False,
        )
        return [line.replace(UNBROKEN, " ") for line in lines]

    def __str__(self) -> str:
        return "\n".join(self._lines)

    def show(self) -> None:
        """Print to standard output; bold only in a terminal."""
        write_out(str(self))


def shown(value: Any) -> Any:
    """Return the value with all its strings safe for a terminal.

    Old journals may hold text from before input was checked, and devices send any text.
    """
    return with_plain_texts(value, LONGEST_SHOWN)


def write_out(text: AnyText) -> None:
    """Print a message or data, a line or more, to standard output.

    Raise `OutputError` if it cannot be written (`standard_streams.py`).
    """
    click.echo(terminal()(text))


def in_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def _has_styles() -> bool:
    """Return whether the user and the terminal want styles. `click` removes them where there is no terminal."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def page() -> Page:
    """Return a page as wide as the terminal, at most `WIDEST`. Without a terminal nothing is wrapped."""
    width = min(shutil.get_terminal_size().columns, WIDEST) if in_terminal() else None
    return Page(width, terminal())


def longest(texts: Sequence[str]) -> int:
    """Return the width of the longest of them, in columns.

    >>> longest(["NC 4.1", "NC 3.13.2"]), longest(["\u9762\u677f"])
    (9, 4)
    """
    return max((columns(text) for text in texts), default=0)


def columns(text: str) -> int:
    """Return the columns that a terminal needs; Chinese characters need two."""
    return len(text) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)


def padded(text: str, width: int) -> str:
    """Return the text with blanks to that width, in columns."""
    return text + " " * max(0, width - columns(text))


def say(line: AnyText) -> None:
    """Print progress or a warning, separately from the command's output."""
    click.echo(terminal()(line), err=True)


def prompted(question: AnyText, **options: Any) -> Any:
    """Ask a person, separately from the command's output. The options are those of `click.prompt`."""
    if options.get("hide_input") and sys.stdin is sys.__stdin__ and sys.stdin is not None and not sys.stdin.isatty():
        options["hide_input"] = False  # a pipe echoes nothing, and getpass would warn that it may
    return click.prompt(terminal()(question), err=True, **options)
