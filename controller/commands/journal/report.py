"""`cardshoe journal report`: a day or a shift, as text or as a page."""

from __future__ import annotations

from pathlib import Path

import click

from controller.commands.journal.data import account_as_data
from controller.commands.journal.options import Asked, journal_options, opened, print_json, span_of, span_options
from controller.commands.journal.reading import account_of
from controller.commands.journal.report_sections import NOTHING, Section, sections, summary
from controller.commands.text import Page, page, write_out
from controller.problems import BadInputError, ProblemError

NEEDS_EXTRA = "Install it with its extra: pip install 'cardshoe[report]', or requirements-report.txt."


@click.command()
@journal_options
@span_options
@click.option("--html", "html", type=click.Path(path_type=Path), help="Write one HTML page, with plots, to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def report(asked: Asked, day: str | None, since: str | None, until: str | None, html: Path | None,
           as_json: bool) -> None:  # fmt: skip
    """Account of a gaming day or a shift: rounds, hands, voids, irregularities, faults of the device, people.

    By default that of the last day of the journal. A round counts in the time in which it began.
    """
    with opened(asked) as source:
        span = span_of(asked, source, day, since, until)
        account = account_of(source, span, asked.clock)
        made = sections(account, source, asked.clock)
        data = account_as_data(account, source)
    if as_json:
        print_json(data)
        return
    if html is not None:
        try:
            from controller.commands.journal.report_page import page_of
        except ImportError as error:
            raise ProblemError(f"A page cannot be made: {error}.", NEEDS_EXTRA) from error
        try:
            html.write_text(page_of(account, made, asked.clock), encoding="utf-8")
        except OSError as error:
            raise BadInputError(f"{html} cannot be written: {error.strerror}.", "Name another file.") from error
        write_out(f"{summary(account)} Written to {html}.")
        return
    told = page()
    marked = " (SIMULATED)" if source.simulated else ""
    told.heading(f"Table {source.table_name}{marked}, {span.name}: {summary(account)}")
    for section in made:
        _tell(section, told)
    told.show()


def _tell(section: Section, told: Page) -> None:
    told.heading(section.title)
    if not section.rows:
        told.entry(NOTHING)
        return
    told.rows([section.columns, *section.rows] if section.columns else section.rows)
