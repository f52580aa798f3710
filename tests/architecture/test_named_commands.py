"""Commands that a page or the program names exist, with the named options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import click
import pytest

from controller.commands.main import main
from tests.architecture.test_pages import PAGES

NAMED = re.compile(r"`cardshoe ([^`]+)`|^(?: {4}|\$ )?(?:[\w./-]*/)?cardshoe ((?:[a-z]|--).*)$", re.MULTILINE)
OPTION = re.compile(r"--[a-z][a-z-]*")


def named(text: str) -> Iterator[str]:
    for found in NAMED.finditer(text):
        yield " ".join((found[1] or found[2]).replace("\\|", "|").split())


@cache
def _context(command: click.Command) -> click.Context:
    return click.Context(command)


def wrong_in(line: str) -> str:
    """Return the parts of a command that do not exist, "" for none."""
    found: click.Command = main
    words = re.split(r" [|#>&;] | && ", line)[0].split()
    while words and isinstance(found, click.Group):
        if words[0].startswith("-"):
            break
        choices = words.pop(0).rstrip(".,;:").split("|")
        commands = [found.get_command(_context(found), one) for one in choices]
        if None in commands:
            return f"no command {choices}"
        found = commands[0] or found
    known = {name for one in found.params for name in (*one.opts, *one.secondary_opts)}
    known |= {"--help", "--version"}
    return next((f"no option {option}" for option in OPTION.findall(" ".join(words)) if option not in known), "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.name}")
def test_commands_that_a_page_names_exist(page: object) -> None:
    text = page.read_text("utf-8")  # type: ignore[attr-defined]
    wrong = {line: why for line in named(text) if (why := wrong_in(line))}
    assert wrong == {}


def test_a_command_that_does_not_exist_is_found() -> None:
    assert list(named("see `cardshoe journal rounds`.\n    cardshoe status --socket X")) == [
        "journal rounds",
        "status --socket X",
    ]
    assert wrong_in("journal rounds") == "no command ['rounds']"
    assert wrong_in("status --sockets X") == "no option --sockets"
    assert wrong_in("journal list --config FILE | head") == ""
