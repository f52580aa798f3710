"""Runs the bench's tests with pytest in this process, and collects the results."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, NoReturn

import click
import msgspec

from controller.problems import BadInputError, ProblemError
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.drivers.base import LinkReady

if TYPE_CHECKING:
    import pytest

    from simulators.bench.promise import Measurement

HERE: Final = Path(__file__).parent
TESTS: Final = (
    HERE / "conformance.py",
    *(HERE / "promises" / f"{name}.py" for name in (
        "handshake", "sealing", "reports", "life", "orders", "cards", "operator",
    )),
)  # fmt: skip


class Measured(msgspec.Struct, frozen=True):
    name: str
    value: float
    unit: str
    limit: float
    within: bool


class Tested(msgspec.Struct, frozen=True):
    """A test's result. `why` explains a failure or a skip."""

    name: str
    outcome: Literal["passed", "failed", "skipped"]
    why: str = ""


class BenchReport(msgspec.Struct, frozen=True):
    """The output of `--json`."""

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


class BenchOptions(NamedTuple):
    """The options of a run of `cardshoe bench`."""

    device: DeviceUrl
    files: dict[str, Path | None]
    draws: int
    operator: int
    only: str | None
    strict: bool
    junit: Path | None
    quiet: bool
    recognition: tuple[str, ...] = ()  # pytest's options for the sample of known decks

    def arguments(self) -> list[str]:
        """Return pytest's arguments."""
        named = [
            *map(str, TESTS), "-c", os.devnull, "--rootdir", str(HERE), "-p", "no:cacheprovider",
            "-p", "no:asyncio", "--capture=no",  # a person is asked on standard error
            "--device", str(self.device), "--draws", str(self.draws), "--operator", str(self.operator),
        ]  # fmt: skip
        named += [word for name, file in self.files.items() if file is not None for word in (name, str(file))]
        named += self.recognition
        return [*named, "--junit-xml", str(self.junit)] if self.junit else named

    def chooses(self, name: str) -> bool:
        """Return whether the test runs. `only` has a name as it is printed, or parts of names with "or" between two."""
        if not self.only:
            return True
        words = " ".join(self.only.lower().replace("_", " ").split())
        return words in name or any(part in name for part in words.split(" or "))


class Watcher:
    """A pytest plug-in that prints tests as they end and collects what they measure."""

    def __init__(self, prints: bool, chooses: Callable[[str], bool]) -> None:
        self.tests: list[Tested] = []
        self.measurements: list[Measurement] = []
        self.interrupted = False
        self.unprinted: ProblemError | None = None  # why a line could not be printed, after which no test begins
        self.chosen = 0
        self._session: pytest.Session | None = None
        self._prints, self._chooses = prints, chooses
        self._screen, self._errors = sys.stdout, sys.stderr

    def pytest_configure(self, config: pytest.Config) -> None:
        from simulators.bench.plugin import MEASURED, SAY

        config.stash[MEASURED] = self.measurements
        config.stash[SAY] = lambda sentence: click.echo(sentence, file=self._errors)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if self._chooses(_name(item.nodeid))]
        self.chosen = len(items)

    def interrupt(self, number: int, frame: object) -> NoReturn:
        """Handle SIGINT: no further test begins, whatever the result of the running test."""
        self.interrupted = True
        sys.unraisablehook = lambda unraisable: None  # the program ends, so half-made objects do not matter
        if self._session is not None:
            self._session.shouldstop = "interrupted"
        raise KeyboardInterrupt

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.outcome == "passed":
            return
        name = _name(report.nodeid)
        tested = Tested(name, report.outcome, _why(report))
        self.tests.append(tested)
        if not self._prints or self.unprinted is not None:
            return
        try:
            click.echo(f"{tested.outcome:8} {name}{f': {tested.why}' if tested.why else ''}", file=self._screen)
        except ProblemError as error:
            self.unprinted = error
            if self._session is not None:
                self._session.shouldstop = "unprinted"


def _name(nodeid: str) -> str:
    return nodeid.rpartition("::")[2].removeprefix("test_").replace("_", " ")


def _why(report: pytest.TestReport) -> str:
    """Return the reason in one line."""
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    if report.outcome != "failed":
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    why = str(crash.message if crash else report.longrepr).partition("\n")[0]
    return why.rpartition("BrokenPromiseError: ")[2]


def run_tests(asked: BenchOptions, ready: LinkReady) -> BenchReport:
    """Let pytest run the tests. Raise KeyboardInterrupt, `BadInputError` if no test has the words that were asked for,
    and `ProblemError` if they did not run or could not be shown.
    """
    import pytest

    watcher = Watcher(not asked.quiet, asked.chooses)
    unseen = io.StringIO()
    with _sigint_to(watcher), redirect_stdout(unseen), redirect_stderr(unseen):
        code = pytest.main(asked.arguments(), plugins=[watcher])
    if watcher.unprinted is not None:
        raise watcher.unprinted
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if code == pytest.ExitCode.NO_TESTS_COLLECTED and not watcher.chosen:
        raise BadInputError(f"No test has “{asked.only}” in its name.", "Copy a name from the report of a whole run.")
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or not watcher.tests:
        raise ProblemError(
            f"The tests of the bench did not run: {unseen.getvalue().strip()}", "Report it with this message."
        )
    failed = any(
        tested.outcome == "failed" or (asked.strict and tested.outcome == "skipped") for tested in watcher.tests
    )
    who = ready.identity
    return BenchReport(
        url=str(asked.device), maker=who.maker, model=who.model, serial=who.serial, firmware=who.firmware,
        firmware_digest=who.firmware_digest, simulated=who.simulated, driver=asked.device.driver,
        verdict="failed" if failed else "passed",
        tests=tuple(watcher.tests),
        measurements=tuple(
            Measured(one.name, one.value, one.unit, one.limit, one.within) for one in watcher.measurements
        ),
    )  # fmt: skip


@contextmanager
def _sigint_to(watcher: Watcher) -> Iterator[None]:
    """Send SIGINT to the watcher and raise KeyboardInterrupt at the end: fixtures may fail during their teardown."""
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heard:
        signal.signal(signal.SIGINT, watcher.interrupt)
    try:
        yield
    except Exception:
        if not watcher.interrupted:
            raise
    finally:
        if heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if watcher.interrupted:
        raise KeyboardInterrupt
