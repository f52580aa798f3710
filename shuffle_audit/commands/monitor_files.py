"""The files that `cardshoe audit monitor` writes: metrics, which are replaced, and alarms, which are appended.

Both are tried before anything is read. A later failure is reported once and retried, while the monitor continues.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import click
import msgspec

from controller.problems import BadInputError
from shuffle_audit.monitor import ShuffleAlarm

PART: Final = ".part"  # suffix of a file that is being written
METRICS: Final = ".prom"  # suffix of the files that node_exporter's collector reads
OURS: Final = b"cardshoe_shuffle_"  # how the names of the metrics begin
BEGIN: Final = b'{"event"'
MOST: Final = 1 << 16  # bytes of a line
EXACT: Final = 6  # decimals of the evidence by which a known alarm is recognised


class _Written:
    """A file whose failures are reported, each only once until a write succeeds."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._name = click.format_filename(path)
        self._failed = False
        if path.exists() and not path.is_file():
            raise BadInputError(f"{self._name} is not a file.", "Name another file.")

    def _refused(self, error: OSError) -> BadInputError:
        return BadInputError(f"{self._name} cannot be written: {error.strerror or error}.", "Name another file.")

    def _warn(self, error: OSError) -> None:
        if not self._failed:
            reason = error.strerror or error
            click.echo(f"cardshoe: {self._name} cannot be written: {reason}. The program tries again.", err=True)
        self._failed = True


class MetricsFile(_Written):
    """A file that is replaced atomically, so that readers see the old or the new file. Raise `BadInputError`.

    No other file of the folder has metrics of the same source: both would be one series for Prometheus.
    """

    def __init__(self, path: Path, source: str) -> None:
        super().__init__(path)
        self._source = source
        if path.suffix != METRICS:
            hint = "The file is replaced each time, and node_exporter reads only files with that suffix."
            raise BadInputError(f"The name of a metrics file ends with {METRICS}; {self._name} does not.", hint)
        self._part = path.with_name(f"{path.name}.{os.getpid()}{PART}")
        self._mine: tuple[int, int] | None = None
        self._shared = False
        if (other := self._other_file()) is not None:
            raise BadInputError(
                f"{click.format_filename(other)} has the metrics of another monitor of {source}.",
                "Give each monitor a name of its own with --name, or remove that file if its monitor has ended.",
            )
        try:
            self._part.write_bytes(b"")
            self._part.unlink()
        except OSError as error:
            raise self._refused(error) from error

    def write(self, content: bytes) -> None:
        try:
            self._check_other_writer()
            self._part.write_bytes(content)
            mine = _identity(self._part)
            self._part.replace(self._path)
            self._mine, self._failed = mine, False
        except OSError as error:
            self._warn(error)
            with suppress(OSError):
                self._part.unlink(missing_ok=True)

    def _check_other_writer(self) -> None:
        """Report once that another program has replaced the file, or writes the same series."""
        if not self._shared and (other := self._other_file()) is not None:
            self._shared = True
            named = click.format_filename(other)
            sentence = f"cardshoe: {named} has the metrics of another monitor of {self._source}."
            click.echo(f"{sentence} Give each monitor a name of its own with --name.", err=True)
        if self._shared or self._mine is None or not self._path.exists() or _identity(self._path) == self._mine:
            return
        self._shared = True
        sentence = f"cardshoe: {self._name} is also written by another program. Give each monitor a file of its own."
        click.echo(sentence, err=True)

    def _other_file(self) -> Path | None:
        """Return another file of the folder with metrics of this source, or None."""
        label = escaped_label(self._source)
        for path in sorted(self._path.parent.glob(f"*{METRICS}")):
            if path.name == self._path.name:
                continue
            with suppress(OSError):
                found = path.read_bytes()
                if any(one.startswith(OURS) and label in one for one in found.splitlines()):
                    return path
        return None


def escaped_label(source: str) -> bytes:
    """Return the label of a source as it stands in a file of metrics."""
    text = source.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    return f'source="{text}"'.encode()


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_ino, status.st_mtime_ns


class EventsFile(_Written):
    """A line for each alarm, made durable before anything follows. Raise `BadInputError`, also for a foreign file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._owed: list[ShuffleAlarm] = []
        try:
            with path.open("ab+") as file:
                file.seek(0)
                if not _may_hold_events(file.readline(MOST)):
                    raise BadInputError(f"{self._name} has lines that are not alarms.", "Name another file.")
        except OSError as error:
            raise self._refused(error) from error

    def add(self, alarm: ShuffleAlarm) -> ShuffleAlarm:
        """Append the alarm and return it, marked if the file has it already."""
        try:
            alarm = msgspec.structs.replace(alarm, again=_key(alarm) in _keys(self._path))
        except OSError as error:
            self._warn(error)
        self._owed.append(alarm)
        self.write()
        return alarm

    def write(self) -> None:
        """Append the alarms that are not yet written."""
        if not self._owed:
            return
        try:
            with self._path.open("ab+") as out:
                out.write(
                    (b"" if _ends_with_line_end(self._path) else b"\n")
                    + b"\n".join(map(msgspec.json.encode, self._owed))
                )
                out.write(b"\n")
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            self._warn(error)
            return
        self._owed, self._failed = [], False


def _ends_with_line_end(path: Path) -> bool:
    """Return whether the file is empty or ends with a line end."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 1))
        return file.read() in (b"", b"\n")


def _may_hold_events(first: bytes) -> bool:
    """Return whether a file with this first line may be ours: empty, or beginning with (part of) an event."""
    return first.startswith(BEGIN) or BEGIN.startswith(first)


def _keys(path: Path) -> set[tuple[str, int, int, int, float]]:
    found = set()
    for line in path.read_bytes().splitlines():
        try:
            found.add(_key(msgspec.json.decode(line, type=ShuffleAlarm)))
        except msgspec.MsgspecError:
            continue  # a foreign or truncated line
    return found


def _key(alarm: ShuffleAlarm) -> tuple[str, int, int, int, float]:
    """Return the fields that stay the same when the same decks are read again."""
    return alarm.source, alarm.deck, alarm.counted, alarm.skip, round(alarm.evidence_log10, EXACT)
