"""Sends the newest state of the table, its device and its service when it has changed, and every minute."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import msgspec

from controller.api.in_language import WHOLE, in_language
from controller.api.view import TableView
from controller.floor.broker import BrokerConnection, Will
from controller.floor.table_report import (
    DeviceReport,
    ServiceReport,
    Status,
    TableReport,
    device_report,
    table_report,
)
from controller.floor.topics import TablePlace, TopicSubject
from controller.journal.codec import Clock

LOST_AFTER: Final = 15  # seconds without a connection until the broker reports that the daemon is gone
KEPT_FOR: Final = 86_400  # seconds for which the broker keeps a state that is not renewed
RENEWED_EVERY: Final = 60.0  # seconds between reports if nothing has changed
LEAST_BETWEEN: Final = 0.5  # seconds between two states


class ReportedTable(NamedTuple):
    """The data that reporting needs of the running table. `shown_by` identifies the state that its view is made from.
    `names` maps the ids of people to their names.
    """

    view: Callable[[], TableView]
    shown_by: Callable[[], object]
    names: Callable[[], Mapping[str, str]]


class Reporting:
    """The reports of one table. Of states that follow each other faster than `LEAST_BETWEEN` only the newest is
    sent.
    """

    def __init__(self, place: TablePlace, table: ReportedTable, clock: Clock, version: str) -> None:
        self._place = place
        self._table = table
        self._clock = clock
        self._running = ServiceReport("running", clock.now().utc_ns, version)
        self._sent: dict[TopicSubject, TableReport | DeviceReport] = {}
        self._sent_at = self._renewed_at = 0.0  # seconds on the loop's clock
        self._shown: object = None
        self._phase = ("", 0)  # the newest phase, and when it began

    @property
    def will(self) -> Will:
        """Return the message that the broker publishes if the daemon disappears."""
        gone = msgspec.structs.replace(self._running, status="lost")
        return Will(self._place.topic(TopicSubject.SERVICE), msgspec.json.encode(gone), LOST_AFTER)

    @property
    def is_due(self) -> bool:
        """Return whether a state has to be sent now."""
        now = asyncio.get_running_loop().time()
        if not self._sent or now - self._renewed_at >= RENEWED_EVERY:
            return True
        return now - self._sent_at >= LEAST_BETWEEN and self._table.shown_by() != self._shown

    def begin(self) -> None:
        """Start anew after connecting: the broker may have lost the last state."""
        self._sent.clear()

    async def send_service(self, connection: BrokerConnection, status: Status) -> None:
        """Send the service's status. Raise `BrokerError` if the connection fails."""
        report = msgspec.structs.replace(self._running, status=status, people=dict(self._table.names()))
        await self._send(connection, TopicSubject.SERVICE, report, expiry=0)

    async def send_state(self, connection: BrokerConnection) -> None:
        """Send the state if it is due. Raise `BrokerError` if the connection fails."""
        if not self.is_due:
            return
        now = asyncio.get_running_loop().time()
        renewed = not self._sent or now - self._renewed_at >= RENEWED_EVERY
        self._shown = self._table.shown_by()
        for subject, report in self._made().items():
            if renewed or _timeless(report) != _timeless(self._sent[subject]):
                await self._send(connection, subject, report, expiry=KEPT_FOR)
                self._sent[subject] = report
        self._sent_at = now
        if renewed:
            self._renewed_at = now

    def _made(self) -> dict[TopicSubject, TableReport | DeviceReport]:
        view = self._table.view()
        moment = self._clock.now().utc_ns
        if view.phase != self._phase[0]:
            self._phase = view.phase, moment if self._phase[0] else 0
        return {
            TopicSubject.TABLE: table_report(view, moment, self._phase[1], self._table.names()),
            TopicSubject.DEVICE: device_report(view, moment),
        }

    async def _send(
        self, connection: BrokerConnection, subject: TopicSubject, report: msgspec.Struct, *, expiry: int
    ) -> None:
        topic = self._place.topic(subject)
        await connection.publish(topic, msgspec.json.encode(in_language(report, WHOLE)), retained=True, expiry=expiry)


def _timeless(report: TableReport | DeviceReport) -> TableReport | DeviceReport:
    """Return the report without the times at which it was made."""
    if isinstance(report, DeviceReport):
        return msgspec.structs.replace(report, utc_ns=0, heard_utc_ns=0)
    return msgspec.structs.replace(report, utc_ns=0)
