"""A daemon that is killed while it appends leaves a whole journal with everything that it acknowledged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from controller.journal import JournalError
from tests.journal import appender
from tests.journal.vocabulary import Said, append, open_journal

ROOT = Path(__file__).parents[2]


def start_appender(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, appender.__file__, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def kill_after(path: Path, acknowledged: int) -> int:
    """The last number that the child acknowledged."""
    with start_appender(path) as child:
        assert child.stdout is not None
        numbers = [int(child.stdout.readline()) for _ in range(acknowledged)]
        child.send_signal(signal.SIGKILL)
        # A last line may be cut by the kill; whole ones were acknowledged.
        numbers += [int(line) for line in child.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    assert child.returncode == -signal.SIGKILL
    return numbers[-1]


@pytest.mark.parametrize("acknowledged", [1, 2, 40, 500])
def test_everything_acknowledged_is_there_and_nothing_by_half(path: Path, acknowledged: int) -> None:
    last = kill_after(path, acknowledged)

    journal = open_journal(path)
    entries = list(journal.entries())
    assert journal.head.number >= last
    assert [entry.number for entry in entries] == list(range(1, journal.head.number + 1))
    position = 0
    while position < len(entries):
        given = entries[position].value
        assert isinstance(given, Said)
        events = entries[position + 1 : position + 1 + given.events]
        assert [event.kind for event in events] == ["event"] * given.events
        assert {event.utc_ns for event in events} <= {entries[position].utc_ns}
        position += 1 + given.events
    assert append(journal, 1)[0] == len(entries) + 1
    journal.close()


def test_a_journal_survives_being_killed_again_and_again(path: Path) -> None:
    # The child restarts its own steps; the numbers run on.
    lasts = [kill_after(path, acknowledged) for acknowledged in (3, 1, 7)]
    assert lasts == sorted(lasts)
    journal = open_journal(path)
    assert journal.verify() == journal.head
    journal.close()


def test_the_journal_of_a_living_daemon_is_refused_and_free_when_it_is_killed(path: Path) -> None:
    with start_appender(path) as child:
        assert child.stdout is not None
        child.stdout.readline()
        with pytest.raises(JournalError) as refused:
            open_journal(path)
        child.kill()
    assert refused.value.code == "journal-locked"
    open_journal(path).close()
