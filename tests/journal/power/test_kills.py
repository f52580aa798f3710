"""Real processes, killed at any operation of a run: nothing acknowledged is lost or doubled, and the pin agrees.

A kill loses no write; the next start repairs what was half done.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.journal.power import killed, works
from tests.journal.power.cuts import Cut, memory_folder
from tests.journal.power.disk import Relied
from tests.journal.power.runs import look, record
from tests.journal.power.works import WORKS
from tests.support import long_forms

SIGKILL = -9
Kill = Callable[[Path, str, int], tuple[int, int]]


@pytest.fixture
def kill() -> Iterator[Kill]:
    """Yield a function that returns the child's exit status and the number of decisions that it had acknowledged."""
    command = [sys.executable, "-m", killed.__name__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as asked:

        def kill(folder: Path, work: str, after: int) -> tuple[int, int]:
            assert asked.stdin is not None
            assert asked.stdout is not None
            print(folder, work, after, file=asked.stdin, flush=True)
            code, least = asked.stdout.readline().split()
            return int(code), int(least)

        yield kill


def check(folder: Path, least: int) -> None:
    """Check the count. A decision may have been committed but not yet acknowledged."""
    assert look(folder, Cut(0, Relied(least, least + 1), {})) is None


@pytest.mark.parametrize(
    "part", [pytest.param(25, id="some"), pytest.param(long_forms.one_in(), id="all", marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("work", WORKS)
def test_killed_at_an_operation(
    kill: Kill, work: str, part: int, record_property: Callable[[str, object], None]
) -> None:
    last = len([one for one in record(WORKS[work]).operations if not isinstance(one, Relied)])
    count = 0
    for after in range(long_forms.randomness(work).randrange(part), last, part):
        with memory_folder() as folder:
            code, least = kill(folder, work, after)
            assert code == SIGKILL
            check(folder, least)
            count += 1
    assert count >= last // part
    if part <= long_forms.SHARE:
        record_property("soak: kills", count)


@pytest.mark.parametrize(
    "times", [pytest.param(3, id="some"), pytest.param(long_forms.count(100), id="many", marks=pytest.mark.soak)]
)
def test_killed_again_and_again(kill: Kill, times: int, record_property: Callable[[str, object], None]) -> None:
    """The second kill in a folder happens while the effect of the first is being repaired."""
    random = long_forms.randomness(times)
    for _ in range(times):
        with memory_folder() as folder:
            acknowledged = 0
            for after in (random.randrange(250), random.randrange(40), random.randrange(40)):
                _, least = kill(folder, "days", after)
                acknowledged = max(acknowledged, least)
            assert look(folder, Cut(0, Relied(acknowledged, acknowledged + 3), {})) is None
    if times > 3:
        record_property("soak: kills", 3 * times)


@pytest.mark.tool("strace")
@pytest.mark.parametrize(
    "each", [pytest.param(1, id="some"), pytest.param(long_forms.count(40), id="many", marks=pytest.mark.soak)]
)
def test_killed_at_a_call_of_the_standard_librarys_sqlite(
    each: int, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Killed before a write or a sync of the standard library's SQLite, with the calls of a daemon."""
    random = long_forms.randomness(each)
    for call, last in (("pwrite64", 90), ("fdatasync", 25)):
        for _ in range(each):
            with memory_folder() as folder:
                inject = ["-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={random.randint(1, last)}"]
                command = ["strace", "-f", "-qq", "-o", str(tmp_path / "calls"), *inject, "--", sys.executable]
                command += ["-m", works.__name__, str(folder), "days"]
                done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
                assert done.returncode in (SIGKILL, 128 - SIGKILL), done
                said = done.stdout.split()
                check(folder, int(said[-1]) if said else 0)
    if each > 1:
        record_property("soak: kills", 2 * each)
