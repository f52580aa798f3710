"""A run of the bench as one HTML page, its measurements as plots beside those of the runs before (extra `report`)."""

from __future__ import annotations

import base64
import io
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from jinja2 import Environment, StrictUndefined
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from simulators.bench.run import BenchReport, Measured

TEMPLATE: Final = Path(__file__).with_name("report.html")
DARK: Final = "#1f3a5f"
WIDE: Final = (7.0, 1.6)  # inches
SHOWN: Final = 30  # runs


class Plot(NamedTuple):
    """`says`: what it shows, for readers who cannot see it."""

    title: str
    says: str
    svg: str


def page_of(report: BenchReport, earlier: Sequence[BenchReport]) -> str:
    """The page. `earlier`: runs of this device, oldest first. What the device wrote is escaped."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # a folder for its cache is not the reader's concern
    runs = [*earlier, report][-SHOWN:]
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    before = {one.name: ", ".join(f"{value:.3g}" for value in _values(runs[:-1], one)) for one in report.measurements}
    return template.render(report=report, before=before, plots=[_plot(runs, one) for one in report.measurements])


def _values(runs: Sequence[BenchReport], measured: Measured) -> list[float]:
    return [one.value for run in runs for one in run.measurements if one.name == measured.name]


def _plot(runs: Sequence[BenchReport], measured: Measured) -> Plot:
    """Each run a point, and the limit as a line."""
    values = _values(runs, measured)
    unit = f" ({measured.unit})" if measured.unit else ""
    title = f"{measured.name}{unit}, at most {measured.limit:g}"
    written = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": title, "font.family": "sans-serif", "font.size": 8}):
        figure = Figure(figsize=WIDE, layout="constrained")
        axes = figure.subplots()
        axes.plot(range(1, len(values) + 1), values, color=DARK, marker="o")
        axes.axhline(measured.limit, color="#b00020", linestyle="--", linewidth=1)
        axes.set_ylim(0, 1.15 * max(measured.limit, *values, 1e-9))
        axes.set_xlabel("run")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    says = f"{len(values)} runs, from {min(values):.3g} to {max(values):.3g}; the limit is {measured.limit:g}."
    return Plot(title, says, base64.b64encode(written.getvalue()).decode())
