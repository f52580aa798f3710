"""The tables of docs/metrics.md, made of the definitions of the metrics.

    python -m tests.interfaces.metrics_page

writes them; a test fails when page and definitions differ.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from controller.daemon.meter_definitions import DEFINITIONS, STEPS, Definition

PAGE: Final = Path(__file__).parents[2] / "docs" / "metrics.md"
BEGIN: Final = "<!-- from here on: python -m tests.interfaces.metrics_page -->\n"


def tables() -> str:
    """Every metric; then a file of alerts for Prometheus."""
    rows = "".join(f"{_row(definition)}\n" for definition in DEFINITIONS)
    steps = ", ".join(f"{step:g}" for step in STEPS)
    rules = "".join(_rule(definition) for definition in DEFINITIONS if definition.alert)
    return (
        f"\n## Metrics\n\n| name | kind | labels | what it counts |\n|---|---|---|---|\n{rows}\n"
        f"The steps of the histograms, in seconds: {steps}.\n\n"
        "## Alerts\n\nAn example for each metric that a person should look at. The limits are to be set for the house: "
        "these are\nsomewhere to begin.\n\n```yaml\ngroups:\n  - name: cardshoe\n    rules:\n"
        "      - alert: TableNotReached\n        expr: 'up{job=\"cardshoe\"} == 0'\n        for: 1m\n"
        "        annotations:\n          summary: 'The PC, its network, or the daemon: `cardshoe status` on the PC.'\n"
        f"{rules}```\n"
    )


def _row(definition: Definition) -> str:
    labels = ", ".join(f"`{label}`" for label in definition.labels)
    return f"| `{definition.name}` | {definition.kind} | {labels} | {definition.meaning} |"


def _rule(definition: Definition) -> str:
    words = definition.name.removeprefix("cardshoe_").removesuffix("_total").split("_")
    name = "".join(word.capitalize() for word in words)
    return (
        f"      - alert: {name}\n        expr: '{definition.alert}'\n"
        f"        annotations:\n          summary: '{definition.act}'\n"
    )


def written() -> str:
    """The page as it should be."""
    return PAGE.read_text("utf-8").partition(BEGIN)[0] + BEGIN + tables()


if __name__ == "__main__":
    PAGE.write_text(written(), "utf-8")
    sys.exit(0)
