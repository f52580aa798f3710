"""A report as one HTML page that prints on A4 and loads nothing from elsewhere (extra `report`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from controller.commands.journal.account import Account
from controller.commands.journal.days import Clock
from controller.commands.journal.plots import plots_of
from controller.commands.journal.report_sections import NOTHING, Section, summary
from controller.commands.pages.page import rendered

TEMPLATE: Final = Path(__file__).with_name("report.html")


def page_of(account: Account, made: Sequence[Section], clock: Clock, mark: str = "") -> str:
    """Return the page, with `mark` at its head. Texts of people and devices are escaped."""
    return rendered(
        TEMPLATE, table=account.table, span=account.span.name, zone=clock.zone_name, summary=summary(account),
        sections=made, plots=plots_of(account, clock), nothing=NOTHING, mark=mark,
    )  # fmt: skip
