"""Any disk operation may fail: the error has a sentence and a code, nothing acknowledged is lost, restarts work."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Final

import pytest

from controller.journal import JournalError
from tests.journal.power.cuts import Cut, cuts, examine
from tests.journal.power.disk import Operation
from tests.journal.power.runs import Run, look, record
from tests.journal.power.works import DAY
from tests.journal.vocabulary import TestJournal, moment
from tests.support import long_forms

STARTS: Final = 6
LAST: Final = 5  # cuts that are examined for each failure


def look_without_pin(folder: Path, cut: Cut) -> str | None:
    """Allow a missing pin: one that could not be written is missed at the next start, a person decides, and nothing is
    lost.
    """
    return look(folder, cut, {"journal-pin-gone", "journal-pin-damaged"})


class Failing:
    """Makes the operation after that many fail, and the following ones, until `times` have failed."""

    def __init__(self, after: int, code: int, times: int) -> None:
        self._after, self._code, self._times = after, code, times

    def __call__(self, operation: Operation) -> int | None:
        self._after -= 1
        if self._after >= 0 or self._times == 0:
            return None
        self._times -= 1
        return self._code


class Attempts:
    """The error codes of a run."""

    def __init__(self) -> None:
        self.codes: list[str] = []

    @contextmanager
    def go_on(self) -> Iterator[None]:
        try:
            yield
        except JournalError as error:
            self.codes.append(error.code)
            if not error.hint:
                raise

    def deal(self, run: Run) -> None:
        """Deal as a daemon does: it is restarted after a repeated error, and the next file and
        saved states can wait.
        """
        for _ in range(STARTS):
            with self.go_on(), run.journal() as journal:
                while run.decisions < 2 * DAY:
                    self._decide(run, journal)
                    if run.decisions % DAY == 0:
                        with self.go_on():
                            run.next_file(journal)
                    if run.decisions % DAY == 2:
                        with self.go_on():
                            run.save(journal)
                journal.sign_head(moment(run.decisions))
                return

    def _decide(self, run: Run, journal: TestJournal) -> None:
        decisions = run.decisions
        with self.go_on():
            run.append(journal)
        if run.decisions == decisions:
            run.append(journal)


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC], ids=errno.errorcode.get)
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize(
    "part", [pytest.param(60, id="some"), pytest.param(long_forms.one_in(), id="all", marks=pytest.mark.exhaustive)]
)
def test_an_operation_fails(code: int, times: int, part: int, record_property: Callable[[str, object], None]) -> None:
    last = len(record(Attempts().deal).operations)
    for after in range(long_forms.randomness(code).randrange(part), last, part):
        attempts = Attempts()
        ends: list[int] = []

        def work(run: Run, attempts: Attempts = attempts, ends: list[int] = ends) -> None:
            attempts.deal(run)
            ends.append(run.decisions)

        recorder = record(work, fails=Failing(after, code, times))
        assert ends == [2 * DAY], (after, attempts.codes)
        assert set(attempts.codes) <= {"journal-io", "journal-full", "journal-damaged"}, after
        found = [*cuts(recorder, Random(after), each=1)]
        assert examine(iter(Random(after).sample(found, LAST)), look_without_pin)[1] == [], (after, attempts.codes)
    if part <= long_forms.SHARE:
        record_property("soak: operations of the disk that failed", last // part)
