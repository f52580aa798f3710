"""`cardshoe bench`: tests and measures one device, and gives a verdict."""

from __future__ import annotations

import asyncio
import glob
import io
import secrets
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Final

import click
import msgspec

from controller.commands.found_commands import of_extra
from controller.commands.pages.file import PageFile, write_page
from controller.problems import BadInputError, DeviceProblemError
from firmware_bridge.device_url import DEFAULT_DRIVER, DeviceUrl, parse_device_url
from firmware_bridge.drivers.base import LinkReady
from firmware_bridge.errors import BadDeviceUrlError, BridgeError
from simulators.bench.recognition import LIMIT, KnownOrdersError, read_orders
from simulators.bench.run import BenchOptions, BenchReport, run_tests

INTERRUPTED: Final = 130  # exit code that a shell uses for SIGINT


@click.command()
@click.option("--device", "url", metavar="URL", default="sim:///shuffler", show_default=True,
              help="The device, as in a configuration.")  # fmt: skip
@click.option("--device-keys", type=click.Path(path_type=Path), metavar="FILE", help="Its key, if it has one.")
@click.option("--device-cards", type=click.Path(path_type=Path), metavar="FILE",
              help="The table of a line reader's identifiers.")  # fmt: skip
@click.option("--draws", type=click.IntRange(min=0, max=52), default=0, metavar="N",
              help="The number of cards that a person will draw when asked; 0 for none.")  # fmt: skip
@click.option("--recognition", type=click.IntRange(min=0), default=0, metavar="DECKS",
              help="The number of whole decks in a known order that a person will draw; 0 for none.")  # fmt: skip
@click.option("--order", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Their orders: one deck a line, from the first card drawn. By default that of a new "
                  "deck.")  # fmt: skip
@click.option("--recognition-limit", "limit", type=click.FloatRange(min=0.01, max=100), default=LIMIT,
              show_default=True, metavar="PERCENT",
              help="The largest share of cards not recognised, by the 95 % upper bound.")  # fmt: skip
@click.option("--operator", type=click.IntRange(min=0), default=0, metavar="SECONDS", is_flag=False, flag_value=30,
              help="A person is present and has this many seconds for each act: drawing cards, pulling the cable, "
                  "switching the device off. By default 30.")  # fmt: skip
@click.option("--only", metavar="WORDS",
              help="Run only the test with this name, as printed, or tests with these words in their names, such as "
                  "'ack or nonce'.")  # fmt: skip
@click.option("--strict", is_flag=True, help="A test that is skipped fails the device.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write JUnit's XML.")
@click.option("--history", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Add this run's JSON to the folder, and show the previous run beside it.")  # fmt: skip
@click.option("--html", type=PageFile(), metavar="FILE",
              help="Write one HTML page with plots of the measurements, including those of earlier runs.")  # fmt: skip
@click.option("--shuffles", type=click.IntRange(min=1), metavar="N",
              help="Run no tests: have a shuffler deal out N whole decks, and write them to --decks.")  # fmt: skip
@click.option("--decks", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Append each deck here, as a line of JSON.")  # fmt: skip
@click.option("--continue", "goes_on", is_flag=True,
              help="The first deck is in the device in the order in which the last one of --decks came "
                  "out.")  # fmt: skip
@click.option("--turned", is_flag=True, help="Decks go in again with the card on top that came last.")
def bench(
    url: str, device_keys: Path | None, device_cards: Path | None, draws: int, recognition: int,
    order: Path | None, limit: float, operator: int, only: str | None,
    strict: bool, as_json: bool, junit: Path | None, history: Path | None, html: Path | None,
    shuffles: int | None, decks: Path | None, goes_on: bool, turned: bool
) -> None:  # fmt: skip
    """Test whether a device does what its driver promises, measure it, and report whether it passes.

    Put a deck into the device that was not dealt from. Nothing else may use it meanwhile. With --shuffles it is a new
    one, unless --continue is given: clubs, diamonds, hearts, spades, each from ace to king, the ace of clubs on top.
    """
    files = {"--device-keys": device_keys, "--device-cards": device_cards}
    of_tests = any((draws, recognition, order, operator, only, strict, as_json, junit, history, html))
    _check_recording(shuffles, decks, goes_on or turned, of_tests=of_tests)
    sample = _sample(recognition, order, limit)
    try:
        parsed = _device(url, files)
        if shuffles is not None and decks is not None:
            _record(parsed, files, shuffles, decks, goes_on=goes_on, turned=turned)
            return
        ready = _reach(parsed, files)
        asked = BenchOptions(parsed, files, draws, operator, only, strict, junit, as_json, sample)
        report = run_tests(asked, ready)
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        sys.exit(INTERRUPTED)
    earlier = _keep(history, report) if history is not None else []
    if html is not None:
        _write_page(html, report, earlier)
    if as_json:
        click.echo(msgspec.json.encode(report).decode())
    else:
        _show(report, earlier[-1] if earlier else None)
    if report.verdict == "failed":
        sys.exit(DeviceProblemError.exit_code)


def _sample(decks: int, order: Path | None, limit: float) -> tuple[str, ...]:
    """Return pytest's options for the sample of known decks. Raise `BadInputError` if the sample cannot be used."""
    if not decks:
        if order is not None:
            raise BadInputError("--order is for decks that a person draws.", "Say with --recognition how many.")
        return ()
    try:
        read_orders(order)
    except KnownOrdersError as error:
        raise BadInputError(str(error), "Write a deck a line, as AC 2C 3C, from the first card drawn.") from error
    named = ("--order", str(order.absolute())) if order is not None else ()
    return ("--recognition", str(decks), "--recognition-limit", str(limit), *named)


def _device(url: str, files: dict[str, Path | None]) -> DeviceUrl:
    """Parse the URL and check that the files it needs are named. Raise `BadInputError` if it is malformed or a file is
    not named.
    """
    try:
        parsed = parse_device_url(url)
    except BadDeviceUrlError as error:
        raise BadInputError(str(error), error.hint) from error
    needed = {DEFAULT_DRIVER: "--device-keys", "line_reader": "--device-cards"}.get(parsed.driver)
    if needed and parsed.scheme != "sim" and files[needed] is None:
        raise BadInputError(f"A device of the driver {parsed.driver} needs {needed}.", f"Name its file with {needed}.")
    return parsed


def _reach(parsed: DeviceUrl, files: dict[str, Path | None]) -> LinkReady:
    """Wait for the device to become ready. Raise `BadInputError`, `DeviceProblemError` and `ProblemError`."""
    with of_extra("bench", "The bench cannot run"):
        from simulators.bench.bench import UnreachableError, reach
        from simulators.bench.plugin import read_files
    try:
        with redirect_stdout(io.StringIO()):  # hides the link's log
            return asyncio.run(reach(str(parsed), *read_files(parsed, *files.values())))
    except UnreachableError as error:
        raise DeviceProblemError(str(error), error.hint) from error
    except BridgeError as error:
        raise BadInputError(str(error), error.hint) from error


def _check_recording(shuffles: int | None, decks: Path | None, how: bool, *, of_tests: bool) -> None:
    """Raise `BadInputError` if options do not go together. `how` and `of_tests` say whether such options are set."""
    if (shuffles is None) != (decks is None) or (how and shuffles is None):
        raise BadInputError("Decks are recorded with --shuffles and --decks.", "Name both, or neither.")
    if shuffles is not None and of_tests:
        raise BadInputError("--shuffles runs no tests.", "Leave out what only tests need.")


def _record(
    parsed: DeviceUrl, files: dict[str, Path | None], shuffles: int, decks: Path, *, goes_on: bool, turned: bool
) -> None:
    """Record decks. Raise `BadInputError`, `DeviceProblemError` and `ProblemError`."""
    if parsed.scheme == "sim":
        hint = "Start `cardshoe simulate --load --person`, and name its URL."
        raise BadInputError(f"At {parsed} there is no person who lifts the sets.", hint)
    with of_extra("audit", "Decks cannot be checked"):
        from shuffle_audit.order_files import JSON_LINES
        from simulators.bench.deck_recording import DeckRecording, RecordingError, record_decks
    if decks.suffix.lower() not in JSON_LINES:
        raise BadInputError(f"{decks} is not a file for decks.", f"Name one that ends with {' or '.join(JSON_LINES)}.")
    _reach(parsed, files)
    from simulators.bench.plugin import read_files

    asked = DeckRecording(shuffles, decks, goes_on, turned, secrets.token_hex(4))
    try:
        with redirect_stdout(io.StringIO()):  # hides the link's log
            devices = read_files(parsed, *files.values())
            asyncio.run(record_decks(str(parsed), *devices, asked, lambda line: click.echo(line, err=True)))
    except RecordingError as error:
        raise DeviceProblemError(str(error), error.hint) from error
    except OSError as error:
        raise BadInputError(f"{decks} cannot be used: {error.strerror}.", "Name another file.") from error
    click.echo(f"{shuffles} {'deck is' if shuffles == 1 else 'decks are'} in {decks}.")


def _keep(folder: Path, report: BenchReport) -> list[BenchReport]:
    """Write this run next to earlier ones of the device, and return those, oldest first. Raise `BadInputError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        runs = sorted(folder.glob(f"{glob.escape(report.serial)}-*.json"))
        earlier = [msgspec.json.decode(run.read_bytes(), type=BenchReport) for run in runs]
        number = int(runs[-1].stem.rpartition("-")[2]) + 1 if runs else 1
        (folder / f"{report.serial}-{number:06}.json").write_bytes(msgspec.json.encode(report) + b"\n")
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise BadInputError(f"The history in {folder} cannot be used: {error}", "Name another folder.") from error
    return earlier


def _write_page(path: Path, report: BenchReport, earlier: list[BenchReport]) -> None:
    """Write the page. Raise `ProblemError` if the extra is not installed, and `BadInputError`."""
    with of_extra("report", "A page cannot be made"):
        from simulators.bench.report_page import page_of
    write_page(path, page_of(report, earlier))


def _show(report: BenchReport, before: BenchReport | None) -> None:
    """Show the summary after the tests, which were printed as they ended."""
    click.echo("")
    earlier = {one.name: one.value for one in before.measurements} if before is not None else {}
    for one in report.measurements:
        unit = f" {one.unit}" if one.unit else ""
        mark = "" if one.within else "   TOO MUCH"
        was = f" (before: {earlier[one.name]:.3f})" if one.name in earlier else ""
        click.echo(f"{one.name:40} {one.value:8.3f}{unit}, at most {one.limit:g}{unit}{was}{mark}")
    outcomes = [tested.outcome for tested in report.tests]
    what = "The simulated device" if report.simulated else "The device"
    numbers = ", ".join(f"{outcomes.count(word)} {word}" for word in ("passed", "failed", "skipped"))
    click.echo(f"\n{what} {report.serial} ({report.maker} {report.model}) {report.verdict}: {numbers}.")


if __name__ == "__main__":
    bench()
