"""`cardshoe audit monitor`: a line after each deck, and an alarm when the evidence reaches its limit."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import msgspec

from controller.commands.found_commands import of_extra
from controller.commands.text import many, write_out
from controller.daemon.host import HostClock
from controller.journal import JournalError
from controller.problems import BadInputError, JournalProblemError
from firmware_bridge.messages import message
from shuffle_audit.commands.options import LEVEL, read_maker

if TYPE_CHECKING:
    from shuffle_audit.commands.monitor_files import EventsFile, MetricsFile
    from shuffle_audit.following import DeckCame, DeckSource
    from shuffle_audit.monitor import DeckWatched, Monitor, ShuffleAlarm

ALARM: Final = 1  # exit code
LOOK_EVERY: Final = 0.5  # seconds between two checks; meanwhile no file of a journal is kept open
WRITE_EVERY: Final = 30 * 10**9  # ns of the boot-time clock between writes, which tell when the monitor last checked


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="SOURCE")
@click.option("--level", type=LEVEL, default=0.001, show_default=True,
              help="The chance that a good shuffler ever raises the alarm.")  # fmt: skip
@click.option("--new-deck", "maker", metavar="standard|FILE",
              help="For a journal: the order of a new deck in its box, in which it goes into the "
                  "shuffler.")  # fmt: skip
@click.option("--skip", type=click.IntRange(min=0), default=0, metavar="N",
              help="Do not count the first N decks, those before the last repair.")  # fmt: skip
@click.option("--name", help="The source's name for people and metrics; by default the table's or the file's.")
@click.option("--events", type=click.Path(path_type=Path, dir_okay=False), help="Append each alarm to this file.")
@click.option("--metrics", type=click.Path(path_type=Path, dir_okay=False),
              help="Write metrics to this file, as NAME.prom in the folder of node_exporter's collector.")  # fmt: skip
@click.option("--once", is_flag=True, help="End after reading everything that is there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")
def monitor(
    source: Path, level: float, maker: str | None, skip: int, name: str | None, events: Path | None,
    metrics: Path | None, once: bool, as_json: bool,
) -> None:  # fmt: skip
    """Follow SOURCE, decks that cardshoe bench appends to a .jsonl file or a table's journal, until interrupted.

    SOURCE is only read, and no table is asked or changed. Exit code 0: no alarm; 1: there was one; 2: SOURCE or another
    file cannot be used, or with --once no deck counted.
    """
    _verify_distinct(source, events, metrics)
    with of_extra("audit", message("{name} cannot be used", name="numpy")):
        from shuffle_audit.commands.monitor_files import EventsFile, MetricsFile
        from shuffle_audit.following import SourceError, follow
        from shuffle_audit.monitor import Monitor
    try:
        found = _open_source(source, maker)
        source_name = name or found.name
        watching = Watching(
            Monitor(source_name, level, skip), HostClock(), EventsFile(events) if events else None,
            MetricsFile(metrics, source_name) if metrics else None, as_json=as_json,
        )  # fmt: skip
        with ending_by_signal() as ending:

            def take(came: DeckCame) -> bool:
                watching.take(came)
                return ending.is_set()

            follow(found, take, lambda: watching.rest(ending, once=once))
    except SourceError as error:
        raise BadInputError(str(error), error.hint) from error
    except JournalError as error:
        raise JournalProblemError(str(error), error.hint) from error
    except OSError as error:
        named = click.format_filename(error.filename) if error.filename else click.format_filename(source)
        raise BadInputError(f"{named} cannot be used: {error.strerror or error}.", "Name another file.") from error
    _conclude(watching.monitor, found.unfinished, once=once)


def _conclude(monitor: Monitor, unfinished: str, *, once: bool) -> None:
    """Exit with the alarm's code, or raise `BadInputError` if no conclusion is possible."""
    if unfinished:
        click.echo(f"cardshoe: {unfinished.capitalize()} has no end yet and was not read.", err=True)
    if monitor.alarm is not None:
        sys.exit(ALARM)
    if once and (twice := monitor.left_out.get("deck-twice", 0)):
        raise BadInputError(
            f"{many(twice, 'deck', 'decks')} of {monitor.source} have the same orders as an earlier one.",
            "Either lines were copied: remove them. Or the machine repeats itself: take it out of service, and number "
            "the decks so that they count.",
        )
    if once and not monitor.counted:
        reasons = ", ".join(f"{count:,} {code}" for code, count in monitor.left_out.items() if count)
        raise BadInputError(
            f"No deck of {monitor.source} counted: nothing can be said about the shuffle.",
            f"Left out: {reasons}." if reasons else "There was no deck.",
        )


@contextmanager
def ending_by_signal() -> Iterator[threading.Event]:
    """Yield an event that SIGINT and SIGTERM set."""
    ending = threading.Event()
    before = {number: signal.signal(number, lambda *_: ending.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield ending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _open_source(path: Path, maker: str | None) -> DeckSource:
    """Open a source. Raise `BadInputError`, `JournalError` and OSError."""
    from shuffle_audit.following import GrowingFile, GrowingJournal
    from shuffle_audit.journal_orders import is_journal
    from shuffle_audit.order_files import JSON_LINES

    if is_journal(path):
        return GrowingJournal(path, read_maker(maker))
    if maker is not None:
        raise BadInputError("A file of decks has the order that went in.", "Leave --new-deck out.")
    if path.suffix.lower() not in JSON_LINES:
        raise BadInputError(
            f"{click.format_filename(path)} is not a file that a bench appends to; such files end with "
            f"{' or '.join(JSON_LINES)}.",
            "`cardshoe audit run` reads other files.",
        )
    return GrowingFile(path)


def _verify_distinct(source: Path, *outputs: Path | None) -> None:
    """Raise `BadInputError` if one file is named for two things."""
    named = [path.resolve() for path in (source, *outputs) if path is not None]
    if len(set(named)) < len(named):
        raise BadInputError("SOURCE, --events and --metrics name the same file.", "Name a file for each.")


class Watching:
    """Prints and writes the findings of a monitor. For an alarm, the files are written before it is printed.

    Metrics are written once all existing decks have been read, and at an alarm: otherwise a restarted monitor would
    report "no alarm" in between.
    """

    def __init__(
        self, monitor: Monitor, clock: HostClock, events: EventsFile | None, metrics: MetricsFile | None, *,
        as_json: bool,
    ) -> None:  # fmt: skip
        self.monitor = monitor
        self._clock = clock
        self._events = events
        self._metrics = metrics
        self._as_json = as_json
        self._has_read = False
        self._written_ns = 0

    def take(self, came: DeckCame) -> None:
        watched, alarm = self.monitor.take(came, self._clock.now().utc_ns)
        if self._has_read or alarm is not None:
            self._write_metrics()
        if alarm is not None and self._events is not None:
            alarm = self._events.add(alarm)
        self._print(watched, _line)
        if alarm is not None:
            self._print(alarm, _alarm)

    def rest(self, ending: threading.Event, *, once: bool) -> bool:
        """Wait until it is time to check again. Return whether to end."""
        if self._events is not None:
            self._events.write()
        first, self._has_read = not self._has_read, True
        if first or self._clock.now().boottime_ns - self._written_ns >= WRITE_EVERY:
            self._write_metrics()
        if once or ending.wait(LOOK_EVERY):
            self._write_metrics()
            return True
        return False

    def _write_metrics(self) -> None:
        if self._metrics is None:
            return
        from shuffle_audit.monitor_meters import written

        now = self._clock.now()
        self._metrics.write(written(self.monitor, now.utc_ns))
        self._written_ns = now.boottime_ns

    def _print(self, one: msgspec.Struct, words: Callable[..., str]) -> None:
        write_out(msgspec.json.encode(one).decode() if self._as_json else words(one))


def _line(one: DeckWatched) -> str:
    from shuffle_audit.commands.figures import units
    from shuffle_audit.monitor import FEW_KNOWN

    deck = f"deck {one.deck:,} ({one.where})"
    if one.left_out and not one.by_faces:
        return f"{deck}: left out: {one.why.rstrip('.')}."
    known = f"{one.known} of {one.cards} cards known" if one.known < one.cards else f"{one.cards} cards"
    if one.by_faces and one.left_out == FEW_KNOWN:
        known = f"{known} before and after, too few for their order, by their faces alone"
    elif one.by_faces:
        known = f"order in not known, {known}, by their faces alone"
    now, highest, limit = (units(log10).removesuffix(" units") for log10 in
                           (one.evidence_log10, one.highest_log10, one.limit_log10))  # fmt: skip
    return f"{deck}: {known}; evidence {now}, highest {highest}, limit {limit}"


def _alarm(one: ShuffleAlarm) -> str:
    return f"ALARM: {one.text}"
