"""The power may fail at any moment: every acknowledged decision is kept once and complete, and the table continues."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Final

import pytest

from tests.journal.power.cuts import Cut, cuts, examine, memory_folder
from tests.journal.power.disk import write_folder
from tests.journal.power.runs import Run, Work, count_decisions, look, open_journal, record
from tests.journal.power.works import WORKS, begin_and_deal
from tests.support import long_forms

EACH: Final = [pytest.param(0.5, id="some"), pytest.param(long_forms.count(20), id="many", marks=pytest.mark.soak)]


@pytest.mark.parametrize("each", EACH)
@pytest.mark.parametrize("work", WORKS.values(), ids=list(WORKS))
def test_everything_acknowledged_is_kept(
    work: Work, each: float, record_property: Callable[[str, object], None]
) -> None:
    count, wrong = examine(cuts(record(work), long_forms.randomness(1), each=each), look)
    assert wrong == []
    assert count > 30
    if each > 1:
        record_property("soak: power cuts", count)


@pytest.mark.parametrize("each", EACH)
def test_the_power_fails_again_while_the_table_starts(
    each: float, record_property: Callable[[str, object], None]
) -> None:
    """The power fails again while the remainder of a cut is opened, or while the next decisions are made."""
    random = long_forms.randomness(2)
    first = [*cuts(record(begin_and_deal), random, each=1)]
    count = 0
    for cut in random.sample(first, max(1, int(2 * each))):
        again = record(begin_and_deal, found=cut.folder, acknowledged=cut.relied.least, kept=kept(cut))
        found, wrong = examine(cuts(again, random, each=min(each, 1)), look)
        assert wrong == [], cut.after
        count += found
    if each > 1:
        record_property("soak: power cuts", count)


@pytest.mark.parametrize("each", EACH)
def test_the_power_fails_after_the_daemon_was_killed(
    each: float, record_property: Callable[[str, object], None]
) -> None:
    """The next start reads the killed daemon's unsynced writes; a power failure loses no more than those."""
    random = long_forms.randomness(3)
    last = len(record(begin_and_deal).operations)
    count = 0
    for after in random.sample(range(1, last), max(1, int(2 * each))):

        def work(run: Run, after: int = after) -> None:
            run.killed(begin_and_deal, after)
            begin_and_deal(run)

        found, wrong = examine(cuts(record(work), random, each=min(each, 1)), look)
        assert wrong == [], after
        count += found
    if each > 1:
        record_property("soak: power cuts", count)


def kept(cut: Cut) -> int:
    with memory_folder() as folder:
        write_folder(folder, cut.folder)
        with closing(open_journal(folder)) as journal:
            return count_decisions(journal.files())
