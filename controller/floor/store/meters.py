"""The store's counters, as a page for Prometheus."""

from __future__ import annotations

from typing import Final, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from controller.floor.store.alarms import KINDS
from controller.floor.store.writing import BatchWritten

ENDS: Final = ("broker", "database")


class StoreMeters:
    """The counters. They start at 0 with the process, except for the alarms, which are read from the database."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._records = Counter(
            "cardshoe_store_records",
            "Records that arrived: new, repeated, or refused with an alarm.",
            ("came",),
            registry=self._registry,
        )
        self._delay = Gauge(
            "cardshoe_store_delay_seconds",
            "Time from the decision at the table to the database, for the oldest new record of the last batch.",
            registry=self._registry,
        )
        self._alarms = Gauge(
            "cardshoe_store_alarms_open",
            "Alarms from all consumers that wait for a person.",
            ("kind",),
            registry=self._registry,
        )
        self._connected = Gauge(
            "cardshoe_store_connected", "1 while the store is connected to broker and database.", ("to",),
            registry=self._registry,
        )  # fmt: skip
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
