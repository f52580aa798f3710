"""Renders a run of the bench as an HTML page, with plots of its measurements and those of earlier runs (extra
`report`, so it is imported only when a page is asked for).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from controller.commands.pages.page import DARK, Plot, drawn, rendered
from simulators.bench.run import BenchReport, Measured

TEMPLATE: Final = Path(__file__).with_name("report.html")
SIZE: Final = (7.0, 1.6)  # inches
SHOWN: Final = 30  # runs


def page_of(report: BenchReport, earlier: Sequence[BenchReport]) -> str:
    """Return the page. `earlier` has runs of this device, oldest first. Texts of the device are escaped."""
    runs = [*earlier, report][-SHOWN:]
    before = {one.name: ", ".join(f"{value:.3g}" for value in _values(runs[:-1], one)) for one in report.measurements}
    return rendered(TEMPLATE, report=report, before=before, plots=[_plot(runs, one) for one in report.measurements])


def _values(runs: Sequence[BenchReport], measured: Measured) -> list[float]:
    return [one.value for run in runs for one in run.measurements if one.name == measured.name]


def _plot(runs: Sequence[BenchReport], measured: Measured) -> Plot:
    """Plot each run as a point, and the limit as a line."""
    values = _values(runs, measured)
    unit = f" ({measured.unit})" if measured.unit else ""
    title = f"{measured.name}{unit}, at most {measured.limit:g}"

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot(range(1, len(values) + 1), values, color=DARK, marker="o")
        axes.axhline(measured.limit, color="#b00020", linestyle="--", linewidth=1)
        axes.set_ylim(0, 1.15 * max(measured.limit, *values, 1e-9))
        axes.set_xlabel("run")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))

    says = f"{len(values)} runs, from {min(values):.3g} to {max(values):.3g}; the limit is {measured.limit:g}."
    return Plot(title, says, drawn(title, draw, SIZE))
