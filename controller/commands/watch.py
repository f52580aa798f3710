"""`cardshoe watch`: follows a running table, also across restarts of its daemon."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import click

from controller.api.bodies import EventId
from controller.api.client import ApiClient, NoTableError, NotAdmittedError, TableUnreachableError
from controller.api.narration import line_of
from controller.api.screen_lines import with_names
from controller.api.view import TableView
from controller.commands.game_options import shortened
from controller.commands.language import language_option, terminal
from controller.commands.table_display import how_it_stands, show_live
from controller.commands.table_options import table_options
from controller.commands.text import in_terminal, say, write_out
from controller.commands.vocabulary import words_of
from controller.language import Speaker
from controller.problems import BadInputError, ProblemError
from firmware_bridge.messages import message

TRY_EVERY = 1.0  # seconds between two attempts to reach a daemon that has ended


class EventIdType(click.ParamType[EventId]):
    name = "[JOURNAL:]NUMBER"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> EventId:
        found = value if isinstance(value, EventId) else EventId.parse(value)
        if found is None:
            wrong = message(
                "{value} is not the id of an event. Write a number, or JOURNAL:NUMBER.", value=repr(shortened(value))
            )
            self.fail(terminal()(wrong), param, ctx)
        return found


@click.command()
@table_options
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON, one per line.")
@click.option(
    "--after", type=EventIdType(), help="Begin after this event, 0 for the whole journal; by default with new events."
)
@language_option
def watch(socket: Path, as_json: bool, after: EventId | None, language: str) -> None:
    """Show a running table, live in a terminal, line by line elsewhere.

    When the daemon ends, the command waits until it runs again, and continues where it was. Interrupt to end.
    """
    try:
        asyncio.run(_watch(socket, after, language, as_json=as_json))
    except KeyboardInterrupt:
        return
    except (TableUnreachableError, NoTableError) as error:
        raise ProblemError(error) from error


async def _watch(socket: Path, after: EventId | None, language: str, *, as_json: bool) -> None:
    async with ApiClient(socket, language=language) as client:
        view = await client.state()
        last = _start_after(view, after)
        while True:
            if as_json or not in_terminal():
                click.echo(how_it_stands(view, language), err=True)
                last = await print_events(client, last, language, as_json=as_json)
            else:
                last = await show_live(client, last, asyncio.Event(), language)
            say(message("The daemon has ended. Waiting until it runs again; press Ctrl-C to stop."))
            view = await _wait_for_daemon(client)
            if view.journal != last.journal:
                say(message("Another journal has begun. It is shown from the beginning."))
                last = EventId(view.journal)
            elif view.entry < last.entry:
                say(
                    message(
                        "The journal ends at entry {entry}, before what was shown here. Call a pit supervisor.",
                        entry=view.entry,
                    )
                )
                last = EventId(view.journal, view.entry)


def _start_after(view: TableView, after: EventId | None) -> EventId:
    """Return where to begin. Raise `BadInputError` for an event that the table's journal does not have."""
    newest = EventId(view.journal, view.entry)
    if after is None:
        return newest
    if after.journal not in ("", view.journal):
        raise BadInputError(
            message("The table is writing a different journal, {journal}.", journal=view.journal),
            message("Begin with --after {newest}, or with 0.", newest=str(newest)),
        )
    if after.entry > view.entry:
        raise BadInputError(
            message("The journal ends at entry {entry}.", entry=view.entry),
            message("Name an earlier one with --after."),
        )
    return EventId(view.journal, after.entry)


async def _wait_for_daemon(client: ApiClient) -> TableView:
    """Wait until a daemon answers. Raise `NotAdmittedError` if it no longer admits this user."""
    while True:
        try:
            return await client.state()
        except NotAdmittedError:
            raise
        except TableUnreachableError:
            await asyncio.sleep(TRY_EVERY)


async def print_events(client: ApiClient, after: EventId, language: str, *, as_json: bool) -> EventId:
    """Print events until the daemon ends. Return the last event received."""
    try:
        words, names = words_of((await client.state()).game), await client.people()
        async for event in client.events(after):
            if event is not None:
                after = EventId(after.journal, event["entry"])
                if as_json:
                    write_out(json.dumps(event, separators=(",", ":")))
                elif line := line_of(with_names(event, names), words):
                    write_out(Speaker(language)(line))
    except NotAdmittedError:
        raise
    except TableUnreachableError:
        pass  # the daemon ended before this began
    return after
