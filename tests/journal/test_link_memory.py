"""What a daemon that starts again knows of its device's last reports: as the journal holds them, sealed."""

from __future__ import annotations

from pathlib import Path

from controller.daemon.daemon import fold_journal
from controller.journal.codec import Moment
from controller.journal.store import Journal
from controller.journal.writer import JournalWriter
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput, DeviceReported, ReportsMissing
from firmware_bridge.cards import Evidence
from firmware_bridge.drivers.memory import KEPT, LinkMemory
from firmware_bridge.observations import PowerLow
from tests.journal.vocabulary import IDENTITY, LOCAL_KEY, START


async def test_the_last_reports_and_the_one_that_was_given_up_are_known_again(tmp_path: Path) -> None:
    def open_journal() -> Journal[AnyInput, AnyEvent]:
        path = tmp_path / "journal.db"
        return Journal.open(path, AnyInput, AnyEvent, local_key=LOCAL_KEY, identity=IDENTITY, start=START)

    writer = await JournalWriter.start(open_journal)
    try:
        for number in range(1, KEPT + 3):
            given = DeviceReported(7, number, 1, PowerLow(), Evidence(b"report %d" % number))
            await writer.append(given, (), round=0, moment=Moment(number, number))
        gone = ReportsMissing(7, KEPT + 3, None, withheld=True)
        await writer.append(gone, (), round=0, moment=Moment(99, 99))
        memory = LinkMemory()
        await fold_journal(writer, memory)
    finally:
        await writer.close()
    for known in (memory, LinkMemory(memory.journaled())):
        assert_knows(known)


def assert_knows(memory: LinkMemory) -> None:
    assert memory.report(7, 2) is None, "further back than it keeps"
    assert memory.report(7, 3) == Evidence(b"report 3")
    assert memory.report(7, KEPT + 2) == Evidence(b"report %d" % (KEPT + 2))
    assert (memory.passed, memory.passed_newest) == ((7, KEPT + 3), None)
