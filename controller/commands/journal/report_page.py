"""A report as one HTML page that prints on A4: nothing in it is loaded from elsewhere (extra `report`)."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from jinja2 import Environment, StrictUndefined

from controller.commands.journal.account import Account
from controller.commands.journal.days import Clock
from controller.commands.journal.plots import plots_of
from controller.commands.journal.report_sections import NOTHING, Section, summary

TEMPLATE: Final = Path(__file__).with_name("report.html")


def page_of(account: Account, made: Sequence[Section], clock: Clock) -> str:
    """The page. What people and devices wrote is escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    plots = [(plot.title, plot.says, base64.b64encode(plot.svg).decode()) for plot in plots_of(account, clock)]
    return template.render(
        table=account.table, span=account.span.name, zone=clock.zone_name, summary=summary(account), sections=made,
        plots=plots, nothing=NOTHING,
    )  # fmt: skip
