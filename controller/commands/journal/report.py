"""`cardshoe journal report`: a day or a shift, as text or as a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from controller.commands.found_commands import of_extra
from controller.commands.journal.data import account_as_data, changed_in
from controller.commands.journal.journal_options import (
    JournalRequest,
    journal_options,
    mark_of,
    opened,
    print_json,
    span_of,
    span_options,
)
from controller.commands.journal.reading import account_of
from controller.commands.journal.report_sections import NOTHING, ReportSection, sections, summary
from controller.commands.pages.file import PageFile, write_page
from controller.commands.text import Page, longest, page, write_out
from controller.language import Speaker
from controller.table.events.lines import as_sentence, clauses
from firmware_bridge.messages import AnyText, message, sentences

SHORT: Final = 32  # characters; wider columns are text


@click.command()
@journal_options
@span_options
@click.option("--html", "html", type=PageFile(), help="Write one HTML page, with plots, to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def report(asked: JournalRequest, day: str | None, since: str | None, until: str | None, html: Path | None,
           as_json: bool) -> None:  # fmt: skip
    """Report on a gaming day or a shift: rounds, hands, voids, irregularities, faults of the device, people.

    By default on the last day of the journal. A round counts in the period in which it began.
    """
    with opened(asked) as source:
        span = span_of(asked, source, day, since, until)
        account = account_of(source, span, asked.clock)
        made = sections(account, source, asked.clock)
        data = account_as_data(account, source) | changed_in(source)
        if as_json:
            print_json(data)
            return
        mark = mark_of(source)
        if html is not None:
            with of_extra("report", message("A page cannot be made")):
                from controller.commands.journal.report_html import page_of
            write_page(html, page_of(account, made, asked.clock, asked.say, mark))
            write_out(asked.say(sentences(mark, summary(account), message("Written to {file}.", file=str(html)))))
            return
        output = page()
        if mark:
            output.heading(mark)
        output.heading(
            message(
                "Table {table} (SIMULATED), {span}: {summary}"
                if source.simulated
                else "Table {table}, {span}: {summary}",
                table=source.table_name,
                span=span.name,
                summary=summary(account),
            )
        )
        for section in made:
            _tell(section, output, asked.say)
        output.show()


def _tell(section: ReportSection, output: Page, say: Speaker) -> None:
    output.heading(section.title)
    if section.rows:
        output.rows(list(_in_lines(section, say)))
    else:
        output.entry(NOTHING)


def _in_lines(section: ReportSection, say: Speaker) -> Iterator[list[AnyText]]:
    """Yield short columns as they are, then the long ones as one text, which may wrap in a terminal."""
    if not section.columns:
        yield from map(list, section.rows)
        return
    last = len(section.columns) - 1
    short = [at for at in range(last) if longest([say(row[at]) for row in section.rows]) <= SHORT]
    first, *others = (at for at in range(last + 1) if at not in short)
    yield [section.columns[at] for at in (*short, first)]
    for row in section.rows:
        more = [message("{what}: {value}", what=section.columns[at], value=row[at]) for at in others if say(row[at])]
        yield [*(row[at] for at in short), clauses([as_sentence(row[first]), *more])]
