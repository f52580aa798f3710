"""The store's counters, as a page for Prometheus."""

from __future__ import annotations

from typing import Final, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from controller.daemon.meter_definitions import Alert, Definition
from controller.floor.store.alarms import KINDS
from controller.floor.store.writing import BatchWritten

ENDS: Final = ("broker", "database")
EVIDENCE_KINDS: Final = "fork|rollback|other-table|bad-signature|key-changed"  # alarms about possible forgery

RECORDS: Final = Definition(
    "cardshoe_store_records_total", "counter", ("came",),
    "Records that arrived: `new`, sent `again`, or `refused` with an alarm.",
)  # fmt: skip
DELAY: Final = Definition(
    "cardshoe_store_delay_seconds", "gauge", (),
    "Time from the decision at the table to the database, for the oldest new record of the last batch.",
)  # fmt: skip
ALARMS_OPEN: Final = Definition(
    "cardshoe_store_alarms_open", "gauge", ("kind",),
    "Alarms that wait for a person, the same for all consumers of a database.",
    (
        Alert(
            "JournalNotAsItWas", "critical", f'cardshoe_store_alarms_open{{kind=~"{EVIDENCE_KINDS}"}} > 0',
            "A table's journal differs from what the store has. Keep both: copy the table's journal folder, then run "
            "`cardshoe floor audit`; it names the entries. Close the alarm when a person has found the cause.",
        ),
        Alert(
            "StoreAlarmOpen", "warning", f'cardshoe_store_alarms_open{{kind!~"{EVIDENCE_KINDS}"}} > 0',
            "Read the open alarms in the view of alarms: each names the table and says what to do.",
        ),
    ),
)  # fmt: skip
CONNECTED: Final = Definition(
    "cardshoe_store_connected", "gauge", ("to",), "1 while the store is connected to `broker`, to `database`.",
    (
        Alert(
            "StoreNotConnected", "warning", "max_over_time(cardshoe_store_connected[10m]) == 0",
            "Look at the broker or the database that the label names; the log of the store has the reason.",
        ),
    ),
)  # fmt: skip
DEFINITIONS: Final = (RECORDS, DELAY, ALARMS_OPEN, CONNECTED)


class StoreMeters:
    """The counters. They start at 0 with the process, except for the alarms, which are read from the database."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._records = Counter(RECORDS.name, RECORDS.meaning, RECORDS.labels, registry=self._registry)
        self._delay, self._alarms, self._connected = (
            Gauge(one.name, one.meaning, one.labels, registry=self._registry) for one in (DELAY, ALARMS_OPEN, CONNECTED)
        )
        for came in ("new", "again", "refused"):
            self._records.labels(came)
        for end in ENDS:
            self._connected.labels(end).set(0)
        self._opened = dict.fromkeys(KINDS, 0)
        self.alarms(self._opened)

    def take(self, written: BatchWritten, utc_ns: int) -> None:
        """Count a batch that was committed at that time."""
        for came, count in (("new", written.new), ("again", written.repeated), ("refused", written.refused)):
            self._records.labels(came).inc(count)
        if written.oldest_ns:
            self._delay.set((utc_ns - written.oldest_ns) / 1e9)

    def alarms(self, opened: dict[str, int]) -> dict[str, int]:
        """Set the number of open alarms by kind. Return the kinds with more of them than before."""
        before, self._opened = self._opened, {kind: opened.get(kind, 0) for kind in KINDS}
        for kind, count in self._opened.items():
            self._alarms.labels(kind).set(count)
        return {kind: count for kind, count in self._opened.items() if count > before[kind]}

    def connected(self, to: Literal["broker", "database"], is_so: bool) -> None:
        self._connected.labels(to).set(is_so)

    def page(self) -> bytes:
        return generate_latest(self._registry)
