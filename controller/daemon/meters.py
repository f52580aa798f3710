"""The counters of the daemon for `GET /metrics`, since its start.

They count committed decisions, just as followers of the events see them. The durations of decisions and commits are
counted only in histogram buckets, and those within a round only after the round has ended: no reader learns how long
one card took, from which its face might be inferred.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Final, TypeAlias, get_args

from controller.daemon import meter_definitions as of
from controller.journal.codec import Clock, Moment
from controller.table import events
from controller.table.decision import Decided
from controller.table.operations import AnyOperation
from controller.table.phases import Phase
from controller.table.state import TableState

Counted: TypeAlias = tuple[str, tuple[str, ...], int]  # a counter, the values of its labels, and the increment

OF_A_LAW: Final = (events.TableBegan, events.GameChosen)  # a start, or a change of rules
MOST_HELD: Final = 100_000  # durations of one round; of a longer round only the newest are kept


def _phase_entered(event: events.PhaseEntered) -> Counted | None:
    if event.phase in (Phase.CONCLUDED, Phase.VOIDED):
        return of.ROUNDS, (str(event.phase),), 1
    return (of.ROUNDS, ("cancelled",), 1) if event.cancels else None


COUNTED: Final[dict[type[events.Event], Callable[[Any], Counted | None]]] = {
    events.PhaseEntered: _phase_entered,
    events.CardsDealt: lambda event: (of.CARDS, (event.source,), len(event.cards)),
    events.IrregularityRaised: lambda event: (of.IRREGULARITIES, (event.kind, event.row.id, event.row.clause), 1),
    events.DeviceReady: lambda event: (of.LINKS_READY, (), 1),
    events.DeviceLost: lambda event: (of.LINKS_LOST, (event.code,), 1),
    events.OperationTaken: lambda event: (of.OPERATIONS, (event.operation,), 1),
    events.OperationRefused: lambda event: (of.REFUSALS, (event.operation, event.code), 1),
    events.PinRefused: lambda event: (of.WRONG_PINS, (), 1),
    events.DoorRefused: lambda event: (of.AT_THE_DOOR, (event.what,), event.count),
}


class Durations:
    """A histogram with steps only: in its sum each duration counts as the upper end of its step."""

    def __init__(self) -> None:
        self.counts = [0] * (len(of.STEPS) + 1)
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        at = bisect_left(of.STEPS, seconds)
        self.counts[at] += 1
        self.sum += of.STEPS[at] if at < len(of.STEPS) else math.ceil(seconds)

    def at_most(self, percent: int) -> float:
        """Return the upper end of the step that contains this percentile, or 0 without durations."""
        needed = -(-sum(self.counts) * percent // 100)
        reached = 0
        for count, step in zip(self.counts, (*of.STEPS, math.inf), strict=True):
            reached += count
            if reached >= needed > 0:
                return step
        return 0.0


class Meters:
    """The meters. `counters` is keyed by name and labels. All times are boot time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started_ns = self._committed_ns = clock.now().boottime_ns
        self._held: deque[tuple[str, float]] = deque(maxlen=MOST_HELD)
        self.durations = {of.DECISION: Durations(), of.COMMIT: Durations()}
        self.counters: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self._begin_at_zero()

    @property
    def uptime(self) -> float:
        return (self._clock.now().boottime_ns - self._started_ns) / 1e9

    @property
    def commit_age(self) -> float:
        return (self._clock.now().boottime_ns - self._committed_ns) / 1e9

    def took(self, name: str, since: Moment, *, in_round: bool) -> None:
        """Note that a decision or a commit that began at `since` is done."""
        self._held.append((name, (self._clock.now().boottime_ns - since.boottime_ns) / 1e9))
        while self._held and not in_round:
            each, seconds = self._held.popleft()
            self.durations[each].add(seconds)

    def committed(self, since: Moment, decided: Decided) -> None:
        self._committed_ns = self._clock.now().boottime_ns
        self.took(of.COMMIT, since, in_round=decided.state.in_round)
        for event in decided.events:
            if type(event) in OF_A_LAW:
                self._rows_at_zero(decided.state)
            if (count := COUNTED.get(type(event))) is not None and (counted := count(event)) is not None:
                name, labels, more = counted
                self.counters[name, labels] += more

    def _begin_at_zero(self) -> None:
        """Set the counters to zero at the start, so that monitors see the first increase too."""
        for name in (of.LINKS_READY, of.WRONG_PINS):
            self.counters[name, ()] = 0
        for ended in (Phase.CONCLUDED, Phase.VOIDED, "cancelled"):
            self.counters[of.ROUNDS, (str(ended),)] = 0
        for operation in get_args(AnyOperation):
            self.counters[of.OPERATIONS, (operation.__struct_config__.tag,)] = 0

    def _rows_at_zero(self, state: TableState) -> None:
        for row in state.law.rows if state.settings is not None else ():
            self.counters[of.IRREGULARITIES, (row.kind, row.id, row.clause)] += 0
