"""A daemon that is killed while it appends leaves a valid journal with everything that it acknowledged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from controller.journal import JournalError
from tests.journal import appender
from tests.journal.vocabulary import Said, append, entries, open_journal

ROOT = Path(__file__).parents[2]


def start_appender(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, appender.__file__, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def kill_after(folder: Path, acknowledged: int) -> int:
    """Return the last number that the child acknowledged."""
    with start_appender(folder) as child:
        assert child.stdout is not None
        numbers = [int(child.stdout.readline()) for _ in range(acknowledged)]
        child.send_signal(signal.SIGKILL)
        # The kill may truncate the last line; complete ones were acknowledged.
        numbers += [int(line) for line in child.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    assert child.returncode == -signal.SIGKILL
    return numbers[-1]


@pytest.mark.parametrize("acknowledged", [1, 2, 40, 500])
def test_everything_acknowledged_is_kept_and_nothing_in_part(folder: Path, acknowledged: int) -> None:
    last = kill_after(folder, acknowledged)

    journal = open_journal(folder)
    found = entries(journal)
    assert journal.head.number >= last
    assert [entry.number for entry in found] == list(range(1, journal.head.number + 1))
    position = 0
    while position < len(found):
        given = found[position].value
        assert isinstance(given, Said)
        events = found[position + 1 : position + 1 + given.events]
        assert [event.kind for event in events] == ["event"] * given.events
        assert {event.utc_ns for event in events} <= {found[position].utc_ns}
        position += 1 + given.events
    assert append(journal, 1)[0] == len(found) + 1
    journal.close()


def test_a_journal_survives_being_killed_again_and_again(folder: Path) -> None:
    # The child restarts its own steps; the numbers continue.
    lasts = [kill_after(folder, acknowledged) for acknowledged in (3, 1, 7)]
    assert lasts == sorted(lasts)
    journal = open_journal(folder)
    assert journal.files().verify() == journal.head
    journal.close()


def test_the_journal_of_a_living_daemon_is_refused_and_free_when_it_is_killed(folder: Path) -> None:
    with start_appender(folder) as child:
        assert child.stdout is not None
        child.stdout.readline()
        with pytest.raises(JournalError) as refused:
            open_journal(folder)
        child.kill()
    assert refused.value.code == "journal-locked"
    open_journal(folder).close()
