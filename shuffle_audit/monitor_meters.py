"""The metrics of `cardshoe audit monitor` for Prometheus, in a file for the collector of node_exporter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from controller.daemon.meter_definitions import Alert, Definition
from shuffle_audit.monitor import Monitor

ALARM: Final = "cardshoe_shuffle_alarm"
EVIDENCE: Final = "cardshoe_shuffle_evidence_log10"
HIGHEST: Final = "cardshoe_shuffle_evidence_highest_log10"
LIMIT: Final = "cardshoe_shuffle_evidence_limit_log10"
DECKS: Final = "cardshoe_shuffle_decks_total"
LEFT_OUT: Final = "cardshoe_shuffle_decks_left_out_total"
LAST: Final = "cardshoe_shuffle_last_deck_timestamp_seconds"
LOOKED: Final = "cardshoe_shuffle_monitor_timestamp_seconds"

SOURCE: Final = ("source",)
DEFINITIONS: Final = (
    Definition(
        ALARM, "gauge", SOURCE,
        "1 if the evidence against the shuffle has reached its limit since the monitor started, otherwise 0.",
        (Alert(
            "ShufflerSuspected", "critical",
            "cardshoe_shuffle_alarm == 1",
            "Let the round end, take the shuffler out of service, call its technician, and keep the decks.",
        ),),
    ),
    Definition(EVIDENCE, "gauge", SOURCE, "The decimal logarithm of the evidence against the shuffle; it begins at 0."),
    Definition(HIGHEST, "gauge", SOURCE, "The highest value of the evidence so far."),
    Definition(LIMIT, "gauge", SOURCE, "The value of the evidence that raises the alarm."),
    Definition(
        DECKS, "counter", SOURCE,
        "Decks that counted.",
        (Alert(
            "NoDeckAudited", "warning",
            'cardshoe_shuffle_decks_total == 0 and on (instance, source) '
            'cardshoe_shuffle_decks_left_out_total{code!="skipped"} > 0',
            "No deck of a shuffler counts: check why its monitor leaves them out. A bad shuffle would not be found.",
        ),),
    ),
    Definition(
        LEFT_OUT, "counter", (*SOURCE, "code"),
        "Decks that were left out, by the reason.",
        (Alert(
            "DeckOrderRepeated", "critical",
            'cardshoe_shuffle_decks_left_out_total{code="deck-twice"} > 0',
            "A deck has the same orders as an earlier one: a line was copied, or the shuffler repeats itself. Find out "
            "which.",
        ),),
    ),
    Definition(LAST, "gauge", SOURCE, "The time at which the last deck that counted was shuffled; 0 if there was "
        "none."),
    Definition(
        LOOKED, "gauge", SOURCE,
        "The time of the monitor's last check.",
        (Alert(
            "ShuffleMonitorEnded", "warning",
            "time() - cardshoe_shuffle_monitor_timestamp_seconds > 300",
            "The monitor of a shuffler has ended: check its service, and start it again. It reads its source from the "
            "beginning.",
        ),),
    ),
)  # fmt: skip


class _Families(Collector):
    """The collector that prometheus-client asks for the values."""

    def __init__(self, monitor: Monitor, now_ns: int) -> None:
        self._source = monitor.source
        self._values: dict[str, dict[tuple[str, ...], float]] = {
            ALARM: {(): int(monitor.alarm is not None)},
            EVIDENCE: {(): monitor.evidence_log10},
            HIGHEST: {(): monitor.highest},
            LIMIT: {(): monitor.limit_log10},
            DECKS: {(): monitor.counted},
            LEFT_OUT: {(code,): count for code, count in monitor.left_out.items()},
            LAST: {(): monitor.last_ns / 1e9},
            LOOKED: {(): now_ns / 1e9},
        }

    def collect(self) -> Iterator[Metric]:
        for definition in DEFINITIONS:
            made = CounterMetricFamily if definition.kind == "counter" else GaugeMetricFamily
            family = made(definition.name, definition.meaning, labels=definition.labels)
            for labels, value in self._values[definition.name].items():
                family.add_metric((self._source, *labels), value)
            yield family


def written(monitor: Monitor, now_ns: int) -> bytes:
    """Return the whole file. `now_ns` is UTC."""
    registry = CollectorRegistry()
    registry.register(_Families(monitor, now_ns))
    return generate_latest(registry)
