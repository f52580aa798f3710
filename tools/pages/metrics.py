"""The table of docs/metrics.md and the rules in deployment/prometheus, made from the definitions of the metrics.

    python -m tools.generate

writes them; a test fails when files and definitions differ.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from controller.daemon.meter_definitions import DEFINITIONS, STEPS, Alert, Definition
from controller.floor.store import meters as store_meters
from shuffle_audit import monitor_meters

EVERY: Final = (*DEFINITIONS, *monitor_meters.DEFINITIONS, *store_meters.DEFINITIONS)
ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "metrics.md"
ALERTS: Final = ROOT / "deployment" / "prometheus" / "alerts.yml"
NOT_REACHED: Final = (
    Alert(
        "TableNotReached", "critical", 'up{job="cardshoe"} == 0',
        "Look at the PC, its network and the daemon: run `cardshoe status` on the PC.",
    ),
    Alert(
        "StoreNotReached", "critical", 'up{job="cardshoe-store"} == 0',
        "Look at the store's service and its server. The tables keep their entries until the store reads them.",
    ),
)  # fmt: skip
RULES: Final = (*NOT_REACHED, *(alert for definition in EVERY for alert in definition.alerts))
PAGES: Final = "file:///usr/share/doc/cardshoe/docs/"
"""The place of the pages on a PC with the package."""
SECTIONS: Final = {
    "TableNotReached": "install.md#the-service-does-not-start",
    "StoreNotReached": "floor_store.md#to-set-it-up",
    "RoundsVoided": "journal_commands.md#cardshoe-journal-list",
    "ManyIrregularities": "for_supervisors.md#which-matter-first",
    "IrregularityWaits": "for_supervisors.md#which-matter-first",
    "DeviceLinkLostOften": "faults.md#the-connection-to-the-device",
    "ManyOperationsRefused": "faults.md#refused-often",
    "WrongPins": "faults.md#pin-locked",
    "ManyRequestsRefused": "faults.md#the-socket",
    "DecisionsSlow": "performance.md",
    "CommitsSlow": "faults.md#journal-io",
    "CommitsSlowSinceStart": "faults.md#journal-io",
    "TableWarns": "faults.md",
    "TableNotReady": "faults.md#table-out-of-service-for-another-reason",
    "DeviceSilent": "faults.md#device-silent",
    "DaemonRestartedOften": "install.md#the-service-does-not-start",
    "JournalDiskFills": "install.md#the-disk-fills",
    "NoScreenOpen": "console.md#a-screen-for-the-first-time",
    "FloorNotConnected": "faults.md#floor-unreachable",
    "FloorBacklogGrows": "faults.md#floor-unread",
    "LogLinesLost": "install.md#the-disk-fills",
    "VersionsDiffer": "install.md#upgrade",
    "ShufflerSuspected": "audit.md#the-monitor",
    "NoDeckAudited": "audit.md#files-that-cannot-be-used",
    "DeckOrderRepeated": "audit.md#the-monitor",
    "ShuffleMonitorEnded": "audit.md#the-monitor",
    "JournalNotAsItWas": "floor_store.md#alarms",
    "StoreAlarmOpen": "floor_store.md#alarms",
    "StoreNotConnected": "faults.md#the-store-of-the-floor",
}
"""The section that belongs to each alert."""
BEGIN: Final = "<!-- from here on: python -m tools.generate -->\n"


def table() -> str:
    """Return the table of all metrics."""
    steps = ", ".join(f"{step:g}" for step in STEPS)
    return (
        f"\n## Metrics\n\n{_rows(DEFINITIONS)}\nThe steps of the histograms, in seconds: {steps}.\n"
        "\n## Metrics of `cardshoe audit monitor`\n\n"
        "In the file of `--metrics` ([audit.md](audit.md#at-a-live-table)).\n"
        f"\n{_rows(monitor_meters.DEFINITIONS)}"
        "\n## Metrics of `cardshoe floor store`\n\n"
        "At the port of `--metrics` ([floor_store.md](floor_store.md)).\n"
        f"\n{_rows(store_meters.DEFINITIONS)}"
    )


def _rows(definitions: Sequence[Definition]) -> str:
    rows = "".join(f"{_row(definition)}\n" for definition in definitions)
    return f"| name and labels | what it counts |\n|---|---|\n{rows}"


def alerts() -> str:
    """Return rules for Prometheus, for each state that needs a person's attention."""
    return (
        "# Made by: python -m tools.generate, from the definitions that tools/pages/metrics.py gathers\n"
        "# The limits are somewhere to begin: set them for the house.\n"
        f"groups:\n  - name: cardshoe\n    rules:\n{''.join(map(_rule, RULES))}"
    )


def _row(definition: Definition) -> str:
    labels = f"{{{','.join(definition.labels)}}}" if definition.labels else ""
    first, _, _ = definition.meaning.partition(". ")
    return f"| `{definition.name}{labels}` | {first.rstrip('.')} |"


def _rule(alert: Alert) -> str:
    wait = "        for: 1m\n" if alert in NOT_REACHED else ""
    return (
        f"      - alert: {alert.name}\n        expr: {json.dumps(alert.expression)}\n{wait}"
        f"        labels:\n          severity: {alert.severity}\n        annotations:\n"
        f"          summary: {json.dumps(alert.act)}\n"
        f"          runbook_url: {PAGES}{SECTIONS[alert.name]}\n"
    )


def written() -> str:
    """Return the page as it should be."""
    return PAGE.read_text("utf-8").partition(BEGIN)[0] + BEGIN + table()
