"""`cardshoe bench`: the bench's tests on one device, their measurements, and a verdict."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click
import msgspec

from controller.problems import BadInputError, DeviceProblemError, ProblemError
from firmware_bridge.device_url import DEFAULT_DRIVER, DeviceUrl, parse_device_url
from firmware_bridge.drivers.base import DeviceReady
from firmware_bridge.errors import BadDeviceUrlError, BridgeError

if TYPE_CHECKING:
    import pytest

    from simulators.bench.measurement import Measurement

REACHED_WITHIN: Final = 15.0  # seconds until a device that does not get ready is given up
TESTS: Final = Path(__file__).with_name("conformance.py")


class Measured(msgspec.Struct, frozen=True):
    name: str
    value: float
    unit: str
    limit: float
    within: bool


class Tested(msgspec.Struct, frozen=True):
    """`why`: of a test that failed or was skipped."""

    name: str
    outcome: Literal["passed", "failed", "skipped"]
    why: str = ""


class BenchReport(msgspec.Struct, frozen=True):
    """What `--json` prints."""

    url: str
    maker: str
    model: str
    serial: str
    firmware: str
    firmware_digest: str
    simulated: bool
    driver: str
    verdict: Literal["passed", "failed"]
    tests: tuple[Tested, ...]
    measurements: tuple[Measured, ...]


@click.command()
@click.option("--device", "url", metavar="URL", default="sim:///shuffler", show_default=True,
              help="The device, as in a configuration.")  # fmt: skip
@click.option("--device-keys", type=click.Path(path_type=Path), metavar="FILE", help="Its key, where it has one.")
@click.option("--device-cards", type=click.Path(path_type=Path), metavar="FILE",
              help="The table of a line reader's identifiers.")  # fmt: skip
@click.option("--draws", type=click.IntRange(min=0, max=52), default=0, metavar="N",
              help="A person will draw so many cards when asked to; 0: none are drawn.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write JUnit's XML.")
def bench(
    url: str, device_keys: Path | None, device_cards: Path | None, draws: int, as_json: bool, junit: Path | None
) -> None:
    """Test whether a device does what its driver promises, measure it, and report whether it passes.

    Put a deck into the device that was not dealt from. Nothing else may use it meanwhile.
    """
    files = {"--device-keys": device_keys, "--device-cards": device_cards}
    parsed = _device(url, files)
    ready = _reach(parsed, files)
    report = _run(parsed, ready, files, draws, junit, as_json)
    if as_json:
        click.echo(msgspec.json.encode(report).decode())
    else:
        _show(report)
    if report.verdict == "failed":
        sys.exit(DeviceProblemError.exit_code)


def _device(url: str, files: dict[str, Path | None]) -> DeviceUrl:
    """The device with the files that it needs. Raises `BadInputError`."""
    try:
        parsed = parse_device_url(url)
    except BadDeviceUrlError as error:
        raise BadInputError(str(error), error.hint) from error
    needed = {DEFAULT_DRIVER: "--device-keys", "line_reader": "--device-cards"}.get(parsed.driver)
    if needed and parsed.scheme != "sim" and files[needed] is None:
        raise BadInputError(f"A device of the driver {parsed.driver} needs {needed}.", f"Name its file with {needed}.")
    return parsed


def _reach(parsed: DeviceUrl, files: dict[str, Path | None]) -> DeviceReady:
    """Whether the device gets ready at all. Raises `BadInputError` and `DeviceProblemError`."""
    from simulators.bench.bench import open_bench
    from simulators.bench.plugin import read_files

    async def wait_for_it() -> DeviceReady:
        async with open_bench(str(parsed), *read_files(parsed, *files.values())) as made:
            ready = asyncio.ensure_future(made.ready())
            failed = asyncio.ensure_future(made.unreachable.wait())
            done, waiting = await asyncio.wait(
                (ready, failed), timeout=REACHED_WITHIN, return_when=asyncio.FIRST_COMPLETED
            )
            for task in waiting:
                task.cancel()
            if ready in done:
                return ready.result()
            health = made.keeper.health
            raise DeviceProblemError(
                f"{parsed} cannot be put on the bench. {health.sentence or 'It does not answer.'}", health.hint
            )

    try:
        with redirect_stdout(io.StringIO()):  # the link's log
            return asyncio.run(wait_for_it())
    except BridgeError as error:
        raise BadInputError(str(error), error.hint) from error


class _Watcher:
    """Listens to the tests as they end, and gathers what they measure."""

    def __init__(self, prints: bool) -> None:
        self.tests: list[Tested] = []
        self.measurements: list[Measurement] = []
        self._prints = prints
        self._screen, self._errors = sys.stdout, sys.stderr

    def pytest_configure(self, config: pytest.Config) -> None:
        from simulators.bench.plugin import MEASURED, SAY

        config.stash[MEASURED] = self.measurements
        config.stash[SAY] = lambda sentence: click.echo(sentence, file=self._errors)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.outcome == "passed":
            return
        name = report.nodeid.rpartition("::")[2].removeprefix("test_").replace("_", " ")
        tested = Tested(name, report.outcome, _why(report))
        self.tests.append(tested)
        if self._prints:
            click.echo(f"{tested.outcome:8} {name}{f': {tested.why}' if tested.why else ''}", file=self._screen)


def _why(report: pytest.TestReport) -> str:
    """One line of it."""
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message).partition("\n")[0] if report.outcome == "failed" and crash else ""


def _run(
    parsed: DeviceUrl, ready: DeviceReady, files: dict[str, Path | None], draws: int, junit: Path | None, quiet: bool
) -> BenchReport:
    """Let pytest run the tests. Raises `ProblemError` where it is not installed."""
    try:
        import pytest
        import pytest_asyncio  # noqa: F401  # the tests need it
    except ImportError as error:
        raise ProblemError("The bench needs pytest and pytest-asyncio.", "Install cardshoe[test].") from error
    watcher = _Watcher(not quiet)
    arguments = [
        str(TESTS), "-c", os.devnull, "--rootdir", str(TESTS.parent), "-p", "no:cacheprovider",
        "-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function",
        "--device", str(parsed), "--draws", str(draws),
    ]  # fmt: skip
    arguments += [word for name, file in files.items() if file is not None for word in (name, str(file))]
    arguments += ["--junit-xml", str(junit)] if junit else []
    unseen = io.StringIO()
    with redirect_stdout(unseen), redirect_stderr(unseen):
        code = pytest.main(arguments, plugins=[watcher])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or not watcher.tests:
        raise ProblemError(
            f"The tests of the bench did not run: {unseen.getvalue().strip()}", "Report it with this message."
        )
    who = ready.identity
    return BenchReport(
        url=str(parsed), maker=who.maker, model=who.model, serial=who.serial, firmware=who.firmware,
        firmware_digest=who.firmware_digest, simulated=who.simulated, driver=parsed.driver,
        verdict="passed" if code == pytest.ExitCode.OK else "failed",
        tests=tuple(watcher.tests),
        measurements=tuple(
            Measured(one.name, one.value, one.unit, one.limit, one.within) for one in watcher.measurements
        ),
    )  # fmt: skip


def _show(report: BenchReport) -> None:
    """What follows the tests, which were printed as they ended."""
    click.echo("")
    for one in report.measurements:
        unit = f" {one.unit}" if one.unit else ""
        mark = "" if one.within else "   TOO MUCH"
        click.echo(f"{one.name:40} {one.value:8.3f}{unit}, at most {one.limit:g}{unit}{mark}")
    outcomes = [tested.outcome for tested in report.tests]
    what = "The simulated device" if report.simulated else "The device"
    numbers = ", ".join(f"{outcomes.count(word)} {word}" for word in ("passed", "failed", "skipped"))
    click.echo(f"\n{what} {report.serial} ({report.maker} {report.model}) {report.verdict}: {numbers}.")


if __name__ == "__main__":
    bench()
