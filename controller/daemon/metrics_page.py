"""The page of `GET /metrics`: the daemon's counters, and the present state of the table and the disk."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sized
from importlib.metadata import version
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeAlias

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from controller.api import pages
from controller.api.view import LinkView
from controller.daemon import meter_definitions as of
from controller.daemon.meter_definitions import DEFINITIONS, Definition
from controller.daemon.meters import Durations, Meters
from controller.journal.codec import Clock
from controller.table.state import TableState

PROGRAM: Final = version("cardshoe")  # the version of this process: another one may be installed while it runs
LEAST_BETWEEN_NS: Final = 10**9  # between two pages, so that frequent requests do not delay the deal

Present: TypeAlias = dict[str, dict[tuple[str, ...], float]]  # by name, then by the values of the labels


class Disk(NamedTuple):
    """The size of the journal and the free space on its disk, in bytes."""

    used: int
    free: int


class Publishing(Protocol):
    """The part of the floor's publisher that this module needs. `sent_up_to` is an entry of the journal."""

    @property
    def is_connected(self) -> bool: ...

    @property
    def sent_up_to(self) -> int: ...


class Metered(Protocol):
    """The part of the running table that this module needs."""

    state: TableState
    meters: Meters


def disk_of(folder: Path) -> Callable[[], Disk]:
    """Return a function that measures the folder of a journal. Files may come and go meanwhile."""

    def look() -> Disk:
        with os.scandir(folder) as found:
            used = sum(_size(entry) for entry in found)
        room = os.statvfs(folder)
        return Disk(used, room.f_bavail * room.f_frsize)

    return look


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size if entry.is_file(follow_symlinks=False) else 0
    except FileNotFoundError:
        return 0


class MetricsPage:
    """The page, which is made at most once per second. `disk` may be slow, and is called in a thread."""

    def __init__(
        self,
        table: Metered,
        link: Callable[[], LinkView],
        disk: Callable[[], Disk],
        clock: Clock,
        floor: Publishing | None = None,
        warnings: Callable[[], Sized] = tuple,
        lines_lost: Callable[[], int] = int,
    ) -> None:
        self._table = table
        self._warnings = warnings
        self._lines_lost = lines_lost
        self._floor = floor
        self._link = link
        self._disk = disk
        self._clock = clock
        self._made = b""
        self._made_ns = 0

    async def page(self, ready: bool, streams: Mapping[str, int]) -> bytes:
        now = self._clock.now().boottime_ns
        if not self._made or now - self._made_ns >= LEAST_BETWEEN_NS:
            self._made_ns = now
            present = self._present(ready, streams)
            try:
                disk = await asyncio.to_thread(self._disk)
            except OSError:
                pass  # the page has the rest, and the table's own check of its disk is in the log
            else:
                present |= {of.SIZE: {(): disk.used}, of.FREE: {(): disk.free}}
            self._made = _written(self._table.meters, present)
        return self._made

    def _present(self, ready: bool, streams: Mapping[str, int]) -> Present:
        state, meters = self._table.state, self._table.meters
        age = self._link().age
        game = state.settings
        built = (
            state.table,
            "" if game is None else game.game,
            "" if game is None else str(game.unit),
            str(state.simulated).lower(),
            PROGRAM,
            pages.version(),
        )
        return {
            of.OPEN: {(): len(state.open)},
            of.COMMIT_P99: {(): meters.durations[of.COMMIT].at_most(99)},
            of.WARNINGS: {(): len(self._warnings())},
            of.READY: {(): int(ready)},
            of.ROUND: {(): state.round.number},
            of.SILENCE: {(): math.inf if age is None else age},
            of.COMMIT_AGE: {(): meters.commit_age},
            of.UPTIME: {(): meters.uptime},
            of.ENTRY: {(): state.entry},
            of.LINES_LOST: {(): self._lines_lost()},
            of.STREAMS: {(caller,): count for caller, count in streams.items()},
            of.BUILD: {built: 1},
            **self._of_floor(state.entry),
        }

    def _of_floor(self, entry: int) -> Present:
        if self._floor is None:
            return {}
        return {of.FLOOR: {(): int(self._floor.is_connected)}, of.BACKLOG: {(): entry - self._floor.sent_up_to}}


class _Families(Collector):
    """The collector that prometheus-client asks for metrics."""

    def __init__(self, meters: Meters, present: Present) -> None:
        self._meters = meters
        self._present = present

    def collect(self) -> Iterator[Metric]:
        for definition in DEFINITIONS:
            if definition.kind == "histogram":
                yield _histogram(definition, self._meters.durations[definition.name])
            elif definition.kind == "counter":
                counter = CounterMetricFamily(definition.name, definition.meaning, labels=definition.labels)
                for (name, labels), count in self._meters.counters.items():
                    if name == definition.name:
                        counter.add_metric(labels, count)
                for labels, value in self._present.get(definition.name, {}).items():
                    counter.add_metric(labels, value)
                yield counter
            else:
                gauge = GaugeMetricFamily(definition.name, definition.meaning, labels=definition.labels)
                for labels, value in self._present.get(definition.name, {}).items():
                    gauge.add_metric(labels, value)
                yield gauge


def _histogram(definition: Definition, durations: Durations) -> HistogramMetricFamily:
    histogram = HistogramMetricFamily(definition.name, definition.meaning, labels=definition.labels)
    bounds = (*map(str, of.STEPS), "+Inf")
    histogram.add_metric((), list(zip(bounds, accumulate(durations.counts), strict=True)), durations.sum)
    return histogram


def _written(meters: Meters, present: Present) -> bytes:
    registry = CollectorRegistry()
    registry.register(_Families(meters, present))
    return generate_latest(registry)
