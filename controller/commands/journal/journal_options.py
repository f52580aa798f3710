"""Shared parts of the commands: the requested journal, time zone and span, and refusals in sentences."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import date, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import click
import msgspec

from controller.commands.game_options import shortened
from controller.commands.journal.days import UTC, CasinoClock, Span
from controller.commands.journal.decisions import UnreadableEntryError, telling
from controller.commands.journal.reading import last_day
from controller.commands.journal.source import Source
from controller.commands.language import chosen_language, language_option, terminal
from controller.commands.table_options import CONFIGURATION
from controller.commands.text import write_out
from controller.daemon.journal_days import find_zone
from controller.journal import JournalError
from controller.journal.folder import JournalFolder
from controller.journal.sealing import load_key_file
from controller.language import Speaker
from controller.problems import BadInputError, ConfigurationProblemError, JournalProblemError
from firmware_bridge.messages import Message, MessageError, message, sentences

if TYPE_CHECKING:
    from controller.daemon.sections import Configuration

Command = TypeVar("Command", bound=Callable[..., Any])
MOST_NAMED: Final = 5  # ranges of entries in a sentence
ALL: Final = Span(0, 2**63 - 1, message("the whole journal"))


class JournalRequest(NamedTuple):
    """The requested journal, its way of counting days, and the language of the answer. `key_file` is the local key, if
    known and belonging to this user.
    """

    path: Path
    clock: CasinoClock
    key_file: Path | None = None

    @property
    def say(self) -> Speaker:
        return Speaker(chosen_language())


def journal_options(command: Command) -> Command:
    """Add `--language`; and, as `asked`, `--journal` or `--config`, `--zone` and `--day-begins`."""

    @click.option("--journal", "path", type=click.Path(path_type=Path), help="The journal's folder, or one file of it.")
    @click.option(
        "--config",
        type=CONFIGURATION,
        help="Take journal and time zone from a configuration.",
    )
    @click.option("--zone", help="The casino's time zone, as Asia/Singapore; UTC unless the configuration names one.")
    @click.option("--day-begins", metavar="HH:MM", help="When a gaming day begins there; 06:00 by default.")
    @functools.partial(language_option, passed=False)
    @functools.wraps(command)
    def wrapped(*arguments: Any, path: Path | None, config: Path | None, zone: str | None, day_begins: str | None,
                **more: Any) -> Any:  # fmt: skip
        with problems():
            return command(*arguments, asked=_asked(path, config, zone, day_begins), **more)

    return wrapped  # type: ignore[return-value]  # it takes what the command takes, except `asked`


def _asked(path: Path | None, config: Path | None, zone: str | None, day_begins: str | None) -> JournalRequest:
    if (path is None) == (config is None):
        raise BadInputError(
            message("Name the journal either by its folder or by a configuration."),
            message("Write its folder after --journal, or a table's --config."),
        )
    zone_name, begins, key_file = UTC, "06:00", None
    if config is not None:
        section = configuration_of(config).journal
        path, zone_name, begins = section.folder, section.time_zone, section.day_begins
        key_file = section.key_file if os.access(section.key_file, os.R_OK) else None
    assert path is not None
    name = zone or zone_name
    try:
        found = find_zone(name)
    except ValueError as error:
        raise BadInputError(
            message("--zone: {problem}.", problem=error.message if isinstance(error, MessageError) else str(error)),
            message("Write it as Asia/Singapore or UTC."),
        ) from error
    try:
        return JournalRequest(path, CasinoClock(found, name, time.fromisoformat(day_begins or begins)), key_file)
    except ValueError as error:
        raise BadInputError(
            message("--day-begins: {problem}.", problem=str(error)), message("Write it as 06:00.")
        ) from error


def configuration_of(path: Path) -> Configuration:
    """Read a table's configuration. Report its mistakes in a sentence with exit code 78."""
    from controller.daemon.configuration import ConfigurationError, read_configuration

    try:
        return read_configuration(path)
    except ConfigurationError as error:
        raise ConfigurationProblemError(error.message, error.hint) from error


def span_options(command: Command) -> Command:
    """Add `--day`, `--from` and `--to`, which the command gets as `day`, `since` and `until`."""
    command = click.option("--to", "until", metavar="TIME", help="Up to, but not including, this time.")(command)
    command = click.option("--from", "since", metavar="TIME", help="From this time on, as 2026-11-23T14:00.")(command)
    return click.option("--day", metavar="DATE", help="A gaming day, as 2026-11-23; by default the last one.")(command)


def span_of(asked: JournalRequest, source: Source, day: str | None, since: str | None, until: str | None) -> Span:
    """Return the requested time, or else the last gaming day of the journal. Raise `BadInputError`."""
    if day is not None:
        if since or until:
            raise BadInputError(message("--day names a whole day."), message("Leave out --day, or --from and --to."))
        return _day_called(asked, day)
    if since is None and until is None:
        return last_day(source, asked.clock) or ALL
    start = _moment(asked, "--from", since) if since is not None else ALL.start
    end = _moment(asked, "--to", until) if until is not None else ALL.end
    if start >= end:
        raise BadInputError(message("--from is not before --to."), message("Exchange them."))
    return Span(
        start,
        end,
        message("{begin} to {end}", begin=since or message("the beginning"), end=until or message("the end")),
    )


def _moment(asked: JournalRequest, option: str, text: str) -> int:
    try:
        return asked.clock.moment(text)
    except (ValueError, OverflowError) as error:
        raise BadInputError(
            message("{option}: {text} is not a time.", option=option, text=repr(shortened(text))),
            message("Write 2026-11-23, or 2026-11-23T14:00."),
        ) from error


def _day_called(asked: JournalRequest, day: str) -> Span:
    try:
        return asked.clock.day(date.fromisoformat(day))
    except (ValueError, OverflowError) as error:
        raise BadInputError(
            message("--day: {day} is not a day.", day=repr(shortened(day))),
            message("Write year, month and day, as in 2026-11-23."),
        ) from error


@contextmanager
def problems() -> Iterator[None]:
    """Turn errors from the journal into a sentence with exit code 4."""
    try:
        yield
    except JournalError as error:
        raise JournalProblemError(error.message, error.hint) from error


@contextmanager
def opened(asked: JournalRequest) -> Iterator[Source]:
    """Open the journal for reading. Raise `JournalError`.

    Changed entries, and entries that cannot be put into words, end the command with exit code 4 after its output.
    """
    local_key = None if asked.key_file is None else load_key_file(asked.key_file)
    source = Source(asked.path, local_key)
    try:
        with telling():
            yield source
    except UnreadableEntryError as error:
        if mark_of(source):  # a changed entry may not be describable
            raise _changed(asked.path, source) from error
        raise _unreadable(source, error) from error
    if mark_of(source):
        raise _changed(asked.path, source)


def mark_of(source: Source) -> Message | None:
    """Return a sentence to head the output if what was read differs from what was written, else None."""
    found = list(source.misplaced[:MOST_NAMED])
    if source.changed:
        named = source.changed[:MOST_NAMED]
        ranges = tuple(
            message("{first} to {last} of {file}", first=first, last=last, file=source.path_of(last).name)
            for first, last in named
        )
        found.append(
            message(
                "entries {ranges:list} and {count} more ranges were changed after they were recorded."
                if len(source.changed) > MOST_NAMED
                else "entries {ranges:list} were changed after they were recorded.",
                ranges=ranges,
                count=len(source.changed) - MOST_NAMED,
            )
        )
    return message("NOT AS IT WAS WRITTEN: {what}", what=sentences(*found)) if found else None


def _unreadable(source: Source, error: UnreadableEntryError) -> JournalProblemError:
    entry = error.entry or source.at
    return JournalProblemError(
        message(
            "{path}, entry {entry}: the content cannot be described: {problem}."
            if error.entry
            else "{path}, up to entry {entry}: the content cannot be described: {problem}.",
            path=str(source.path_of(entry)),
            entry=entry,
            problem=str(error),
        ),
        message(
            "Somebody who holds the keys changed it, or another version wrote it: compare the journal with heads that "
            "were noted elsewhere (`cardshoe journal verify`), and read it with the version of cardshoe that wrote it."
        ),
    )


def _changed(path: Path, source: Source) -> JournalProblemError:
    return JournalProblemError(
        message("{path}: {what}", path=str(path), what=mark_of(source) or ""),
        message(
            "Keep the files for an audit. `cardshoe journal verify` lists what is wrong; a backup may have it complete."
        ),
    )


def print_json(value: Any) -> None:
    """Print one JSON value on one line."""
    write_out(msgspec.json.encode(value).decode())


@contextmanager
def progress_of(journal: Path) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with each entry that is reached. Raise `JournalError` if there is no journal."""
    if not sys.stderr.isatty():
        yield lambda entry: None
        return
    from rich.console import Console
    from rich.progress import Progress

    files: JournalFolder[Any, Any] = JournalFolder.open_to_read(journal)
    with closing(files.reader(files.files[-1])) as newest:
        last = newest.head().number
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(terminal()(message("checking the journal")), total=last)
        yield lambda entry: progress.update(task, completed=entry)
