"""The table of docs/metrics.md and the rules in deployment/prometheus, made from the definitions of the metrics.

    python -m tools.generate

writes them; a test fails when files and definitions differ.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from controller.daemon.meter_definitions import DEFINITIONS, STEPS, Definition
from shuffle_audit import monitor_meters

EVERY: Final = (*DEFINITIONS, *monitor_meters.DEFINITIONS)
ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "metrics.md"
ALERTS: Final = ROOT / "deployment" / "prometheus" / "alerts.yml"
NOT_REACHED: Final = "The PC, its network, or the daemon: `cardshoe status` on the PC."
BEGIN: Final = "<!-- from here on: python -m tools.generate -->\n"


def table() -> str:
    """Return the table of all metrics."""
    steps = ", ".join(f"{step:g}" for step in STEPS)
    return (
        f"\n## Metrics\n\n{_rows(DEFINITIONS)}\nThe steps of the histograms, in seconds: {steps}.\n"
        "\n## Metrics of `cardshoe audit monitor`\n\n"
        "In the file that `--metrics` names, for the textfile collector of node_exporter: see "
        "[audit.md](audit.md#at-a-live-table).\n"
        f"\n{_rows(monitor_meters.DEFINITIONS)}"
    )


def _rows(definitions: Sequence[Definition]) -> str:
    rows = "".join(f"{_row(definition)}\n" for definition in definitions)
    return f"| name | kind | labels | what it counts |\n|---|---|---|---|\n{rows}"


def alerts() -> str:
    """Return rules for Prometheus, one for each metric that needs a person's attention."""
    rules = "".join(_rule(definition) for definition in EVERY if definition.alert)
    return (
        "# Made by: python -m tools.generate\n"
        "# The limits are somewhere to begin: set them for the house.\n"
        "groups:\n  - name: cardshoe\n    rules:\n"
        "      - alert: TableNotReached\n        expr: 'up{job=\"cardshoe\"} == 0'\n        for: 1m\n"
        f"        annotations:\n          summary: {json.dumps(NOT_REACHED)}\n"
        f"{rules}"
    )


def _row(definition: Definition) -> str:
    labels = ", ".join(f"`{label}`" for label in definition.labels)
    return f"| `{definition.name}` | {definition.kind} | {labels} | {definition.meaning} |"


def alert_name(definition: Definition) -> str:
    words = definition.name.removeprefix("cardshoe_").removesuffix("_total").split("_")
    return "".join(word.capitalize() for word in words)


def _rule(definition: Definition) -> str:
    return (
        f"      - alert: {alert_name(definition)}\n        expr: {json.dumps(definition.alert)}\n"
        f"        annotations:\n          summary: {json.dumps(definition.act)}\n"
    )


def written() -> str:
    """Return the page as it should be."""
    return PAGE.read_text("utf-8").partition(BEGIN)[0] + BEGIN + table()
