"""A report as one HTML page that prints on A4: the parts of the text, plots, and how everything was found."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Final

import numpy as np

from controller.commands.pages.page import rendered
from controller.commands.pages.plots import Plot
from shuffle_audit.commands.methods import NOT_SEEN, SUMS, tests_of
from shuffle_audit.commands.parts import MEANING, examined, parts
from shuffle_audit.commands.report import Report
from shuffle_audit.commands.report_plots import plots_of
from shuffle_audit.orders import Orders

TEMPLATE: Final = Path(__file__).with_name("report.html")


def page_of(report: Report, orders: Orders) -> str:
    """Return the page. `orders` are those of the examined decks. Names of files are escaped."""
    plots: defaultdict[str, list[Plot]] = defaultdict(list)
    for part, plot in plots_of(orders, report.result, np.random.default_rng(report.seed)):
        plots[part].append(plot)
    files_first = sorted(parts(report), key=lambda part: part.id != "files")
    return rendered(
        TEMPLATE, report=report, meaning=MEANING[report.result.verdict], examined=list(examined(report)),
        parts_of=files_first, plots=plots,
        tests=list(tests_of(report.result)), sums=SUMS, not_seen=NOT_SEEN,
    )  # fmt: skip
