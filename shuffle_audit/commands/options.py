"""Parts that the commands share without numpy: options for chances and for journals, and a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from controller.journal import JournalError
from controller.problems import BadInputError, JournalProblemError
from firmware_bridge.edited_text import NotTextError, read_edited, why_unreadable

if TYPE_CHECKING:
    from shuffle_audit.journal_recalls import JournalRead


class _Share(click.FloatRange):
    """A number in a range. `nan` is in no range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = float(super().convert(value, param, ctx))
        if not isfinite(found):
            self.fail(f"{value} is not a number.", param, ctx)
        return found


LEVEL: Final = _Share(1e-12, 0.5)
"""The chance of a false alarm."""
POWER: Final = _Share(0.01, 0.999)
"""How often a bad shuffle must be found."""


STANDARD: Final = "standard"


def read_maker(said: str | None) -> tuple[str, ...] | None:
    """Return the order of a new deck, from `--new-deck`. Raise `BadInputError` if the file cannot be used."""
    from shuffle_audit import journal_orders
    from shuffle_audit.orders import OrderError

    if said is None:
        return None
    if said == STANDARD:
        return journal_orders.STANDARD
    try:
        return journal_orders.makers_order(read_edited(Path(said)))
    except (OSError, NotTextError) as error:
        raise BadInputError(
            f"{said} cannot be read: {why_unreadable(error)}.", f"Name a file after --new-deck, or {STANDARD}."
        ) from error
    except OrderError as error:
        raise BadInputError(
            f"{said} is not the order of a deck: {error}", "Write the names of all 52 cards, the top one first."
        ) from error


def split(files: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Split paths into files of decks and journals. An unreadable path counts as a file, to be refused later."""
    from shuffle_audit.journal_orders import is_journal

    found: tuple[list[Path], list[Path]] = ([], [])
    for file in files:
        try:
            found[is_journal(file)].append(file)
        except OSError:
            found[0].append(file)
    return found


def in_journals(journals: Sequence[Path], maker: str | None, key_file: Path | None) -> list[tuple[Path, JournalRead]]:
    """Return each journal with its shuffles. Raise `BadInputError` and `JournalProblemError`."""
    if not journals:
        if maker is not None or key_file is not None:
            raise BadInputError("No journal is named.", "Name its folder, or leave --new-deck and --key-file out.")
        return []
    from controller.journal.sealing import load_key_file
    from shuffle_audit.journal_recalls import read_journal

    order = read_maker(maker)
    try:
        key = None if key_file is None else load_key_file(key_file)
        return [(path, read_journal(path, order, key)) for path in journals]
    except JournalError as error:
        raise JournalProblemError(str(error), error.hint) from error


@contextmanager
def progress(words: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the work done since its last call. `total` is None if it is not known."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda more: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(words, total=total)
        yield lambda more: bar.advance(task, more)
