"""`cardshoe capture`: record the bytes to and from a device, show them, and play them back."""

from __future__ import annotations

import asyncio
import difflib
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from controller.commands.capture import report
from controller.commands.capture.byte_log import is_byte_log, lines_of, read_byte_log
from controller.commands.capture.recording import NotPlainError, Recording, record_device, recording_of_table
from controller.commands.table_options import CONFIGURATION
from controller.commands.text import say, write_out
from controller.daemon.captures import load_cipher
from controller.daemon.configuration import ConfigurationError
from controller.daemon.logs import configure_logs
from controller.problems import BadInputError, ConfigurationProblemError, DeviceProblemError, ProblemError
from firmware_bridge.captures import capture_format
from firmware_bridge.captures.capture_format import CaptureError
from firmware_bridge.captures.reader import Capture, read_capture
from firmware_bridge.captures.recorder import Bounds
from firmware_bridge.captures.replay import Played, ReplayInputs, links_of, replay
from firmware_bridge.card_table import read_card_table
from firmware_bridge.device_keys import DeviceKeys, read_device_keys
from firmware_bridge.device_url import parse_device_url
from firmware_bridge.drivers.registry import registered_driver
from firmware_bridge.edited_text import NotTextError, read_edited
from firmware_bridge.errors import BadDeviceUrlError, BridgeError, CardTableError, KeyFileError
from firmware_bridge.messages import counted, message

FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
KEY_FILE = click.option("--key-file", type=click.Path(path_type=Path), help="The key that seals the records.")
DEVICE_KEYS = click.option("--device-keys", type=click.Path(path_type=Path), help="The device's key, for its proof.")
CARD_TABLE = click.option("--card-table", type=click.Path(path_type=Path), help="The cards of a reader's identifiers.")
FACES = click.option(
    "--faces", is_flag=True, help="Show the faces of concealed cards, and the device's bytes, where that is allowed."
)


@click.group()
def capture() -> None:
    """Record the bytes to and from a device, show them, and play them back through the driver."""
    configure_logs(logging.ERROR)


@capture.command("record")
@click.argument("url", required=False)
@click.option(
    "--config",
    type=CONFIGURATION,
    help="Take the device and keys from a table's configuration.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write or to continue.")
@KEY_FILE
@click.option("--plain", is_flag=True, help="Do not seal: for a bench on which no game is played.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="End then; otherwise when interrupted.")
@click.option(
    "--acknowledge",
    is_flag=True,
    help="Acknowledge reports, so that the device forgets them. Use it only if no daemon needs them.",
)
@click.option(
    "--megabytes", type=click.IntRange(1, 1000), default=16, show_default=True, help="The maximum size of one file."
)
@click.option(
    "--files",
    type=click.IntRange(1, 100),
    default=4,
    show_default=True,
    help="The maximum number of files: OUT, OUT.1 and so on.",
)
@DEVICE_KEYS
@CARD_TABLE
def record_command(url: str | None, config: Path | None, out: Path, key_file: Path | None, plain: bool,
                   seconds: float | None, acknowledge: bool, megabytes: int, files: int, device_keys: Path | None,
                   card_table: Path | None) -> None:  # fmt: skip
    """Listen to the device at URL with its driver and record the bytes in both directions.

    The daemon must not be running: it can record by itself ([capture] in its configuration).
    """
    if (url is None) == (config is None):
        raise BadInputError(
            message("Name the device either by its URL or by a configuration."),
            message("Write its URL, or a table's configuration after --config."),
        )
    with _bridge_errors():
        if config is not None:
            asked = recording_of_table(config, out)
        else:
            assert url is not None
            asked = Recording(parse_device_url(url), out)
        asked = asked.with_options(
            key_file=key_file, plain=plain, seconds=seconds, acknowledge=acknowledge, device_keys=device_keys,
            card_table=card_table, bounds=Bounds(megabytes * 1_000_000, files),
        )  # fmt: skip
        done = asyncio.run(record_device(asked, say))
    if done.stopped:
        raise ProblemError(
            message("The capture has stopped: {why}.", why=done.stopped),
            message("What was written before can be read."),
        )
    if not done.links:
        raise DeviceProblemError(done.sentence or message("The device was never reached."), done.hint)
    links = counted("1 link", "{count} links", done.links)
    events = counted("1 event", "{count} events", done.heard)
    write_out(message("{links}, {events}: {path}", links=links, events=events, path=str(out)))


@capture.command()
@FILES
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a line.")
@KEY_FILE
@DEVICE_KEYS
@CARD_TABLE
@FACES
def show(files: tuple[Path, ...], as_json: bool, key_file: Path | None, device_keys: Path | None,
         card_table: Path | None, faces: bool) -> None:  # fmt: skip
    """Print headers, records, and what the driver reads in them. Name rotated files oldest first.

    A maker's own log of bytes is printed frame by frame: > (host) or < (device) and hexadecimal digits on each line.
    """
    with _bridge_errors():
        if is_byte_log(files[0]):
            keys = DeviceKeys() if device_keys is None else read_device_keys(device_keys)
            for line in lines_of(read_byte_log(files), keys, faces=faces, as_json=as_json):
                write_out(line)
            return
        capture = _read(files, key_file, faces=faces)
        inputs = _inputs(device_keys, card_table)
        for recording in capture.recordings:
            _show_header(recording.header, recording.unopened, as_json=as_json)

        def tell(ms: int, link: int, thing: Played) -> None:
            if as_json:
                write_out(report.json_line(report.as_data(ms, link, thing, faces=faces)))
            elif isinstance(thing, capture_format.Record):
                write_out(report.record_line(ms, thing, faces=faces))
            else:
                write_out(report.heard_line(ms, thing, faces=faces))

        if _lacks_card_table(capture, card_table):
            say(message("Without --card-table the reader's identifiers have no meaning; only the records are shown."))
            _show_records(capture, tell)
        else:
            asyncio.run(replay(capture, tell, inputs))
    _show_damage(capture)


@capture.command("replay")
@FILES
@click.option("--speed", type=click.FloatRange(min=0, min_open=True), default=1.0, show_default=True,
              help="The speed, as a multiple of the recorded one.")  # fmt: skip
@click.option("--fast", is_flag=True, help="Play without waiting.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a line.")
@click.option("--expect", type=click.Path(path_type=Path), help="Compare with an earlier output of --json.")
@KEY_FILE
@DEVICE_KEYS
@CARD_TABLE
@FACES
def replay_command(files: tuple[Path, ...], speed: float, fast: bool, as_json: bool, expect: Path | None,
                   key_file: Path | None, device_keys: Path | None, card_table: Path | None,
                   faces: bool) -> None:  # fmt: skip
    """Play the device's side back through its driver and print what the driver reads.

    Exit code 1: the output differs from the file of --expect.
    """
    lines: list[str] = []
    with _bridge_errors():
        expected = None if expect is None else _expected(expect)
        capture = _read(files, key_file, faces=faces)
        if _lacks_card_table(capture, card_table):
            raise BadInputError(
                message("The reader's identifiers have no meaning without their cards."), message("Name --card-table.")
            )
        if any(recording.unopened for recording in capture.recordings):
            raise BadInputError(message("The capture is sealed."), message("Name its key with --key-file."))

        def tell(ms: int, link: int, thing: Played) -> None:
            if isinstance(thing, capture_format.Record):
                return
            lines.append(report.json_line(report.as_data(ms, link, thing, faces=faces)))
            if expected is None:
                write_out(lines[-1] if as_json else report.heard_line(ms, thing, faces=faces))

        pause = None if fast else _at_speed(speed)
        asyncio.run(replay(capture, tell, _inputs(device_keys, card_table), pause))
    _show_damage(capture)
    if expected is not None:
        _compare(expected, lines, expect)


def _read(files: tuple[Path, ...], key_file: Path | None, *, faces: bool) -> Capture:
    capture = read_capture(files, None if key_file is None else load_cipher(key_file))
    if faces and not all(report.may_tell_faces(recording.header) for recording in capture.recordings):
        raise BadInputError(
            message("These are plain records of real hardware: concealed cards are not shown."),
            message("Leave --faces out."),
        )
    return capture


def _inputs(device_keys: Path | None, card_table: Path | None) -> ReplayInputs:
    keys = DeviceKeys() if device_keys is None else read_device_keys(device_keys)
    return ReplayInputs(keys, {} if card_table is None else read_card_table(card_table))


def _lacks_card_table(capture: Capture, card_table: Path | None) -> bool:
    return card_table is None and any(
        registered_driver(parse_device_url(recording.header.url).driver).needs_card_table
        for recording in capture.recordings
    )


def _show_header(header: capture_format.CaptureHeader, unopened: int, *, as_json: bool) -> None:
    if as_json:
        write_out(capture_format.encode_line(header).decode().rstrip("\n"))
        return
    write_out(report.header_line(header))
    if unopened:
        write_out(
            counted(
                "  1 record is sealed: name its key with --key-file",
                "  {count} records are sealed: name their key with --key-file",
                unopened,
            )
        )


def _show_records(capture: Capture, tell: Callable[[int, int, Played], None]) -> None:
    for number, link in enumerate(links_of(capture), start=1):
        for ms, record in link.records:
            tell(ms, number, record)


def _show_damage(capture: Capture) -> None:
    for sentence in capture.damage:
        say(message("cardshoe: {what}", what=sentence))
    if not all(link.whole for link in links_of(capture)):
        said = message("The first link was opened before these records begin; name the previous file as well.")
        say(message("cardshoe: {what}", what=said))


def _expected(path: Path) -> list[str]:
    try:
        return read_edited(path).splitlines()
    except (OSError, NotTextError) as error:
        raise BadInputError(
            message("{path} cannot be read.", path=str(path)),
            message("Name a file with the output of capture replay --json."),
        ) from error


def _compare(expected: list[str], found: list[str], path: Path | None) -> None:
    if expected == found:
        write_out(counted("1 event, as in {path}", "{count} events, as in {path}", len(found), path=str(path)))
        return
    for line in difflib.unified_diff(expected, found, str(path), "now", n=1, lineterm=""):
        write_out(line)
    raise ProblemError(
        message("The replay differs from {path}.", path=str(path)),
        message("Lines with + are new, those with - are missing."),
    )


def _at_speed(speed: float) -> Callable[[float], Awaitable[None]]:
    return lambda seconds: asyncio.sleep(seconds / speed)


@contextmanager
def _bridge_errors() -> Iterator[None]:
    """Turn errors from the bridge into a sentence with the exit code of their kind."""
    try:
        yield
    except NotPlainError as error:
        raise BadInputError(error) from error
    except ConfigurationError as error:
        raise ConfigurationProblemError(error) from error
    except (CaptureError, KeyFileError, CardTableError, BadDeviceUrlError) as error:
        raise BadInputError(error) from error
    except BridgeError as error:
        raise DeviceProblemError(error) from error
    except KeyboardInterrupt:
        raise click.Abort from None
