"""`cardshoe status`: the state of one table on one screen. Monitors use the exit code."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from controller.api.bodies import EventId, encode
from controller.api.client import ApiClient, NoTableError, NotAdmittedError, TableUnreachableError
from controller.api.irregularity_view import IrregularityView
from controller.api.narration import line_of
from controller.api.view import TableView
from controller.commands.language import language_option
from controller.commands.table_options import table_options
from controller.commands.text import Page, page, write_out
from controller.commands.vocabulary import LINKS, UNIT_NAMES, words_of
from controller.games.own_words import OwnWords
from controller.games.specification import KINDS, Kind, Unit
from controller.language import Speaker
from controller.problems import ProblemError
from controller.table.events.device_events import KEYS_USED
from controller.table.phases import SERVICE_WORDS, Service
from firmware_bridge.link import LinkState
from firmware_bridge.messages import Message, message

LOOKED_AT: Final = 20  # newest entries, among which one that people are shown is looked for
WITHIN: Final = 10.0  # seconds for the daemon to answer, so that a hanging one does not delay a monitor
OTHER_USER: Final = message(
    "As root, act as an admitted user: `runuser -u USER -- cardshoe status ...`, where USER "
    "is the user of the table's console."
)
NEXT_STEP: Final = message("`cardshoe watch` shows what happens; `cardshoe doctor` looks for causes on its PC.")


class NotReachableError(ProblemError):
    exit_code = 3


class Status(msgspec.Struct, frozen=True):
    """The state of a table. `sentence` says why it is not in service, else it is empty. `last` is the newest event that
    people are shown, if one of the newest entries has one.
    """

    in_service: bool
    sentence: str
    table: TableView
    last: dict[str, Any] | None = None


@click.command()
@table_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@language_option
def status(socket: Path, as_json: bool, language: str) -> None:
    """Show the state of a running table on one screen.

    Exit codes: 0 in service, 1 not in service, 2 bad input, 3 the table cannot be reached.
    """
    try:
        found = asyncio.run(_ask(socket, language))
    except NotAdmittedError as error:
        raise NotReachableError(error, error.hint or OTHER_USER) from error
    except (TableUnreachableError, NoTableError) as error:
        raise NotReachableError(error, error.hint or message("Name the table's socket with --socket.")) from error
    except TimeoutError as error:
        sentence = message("The daemon did not answer within {seconds} seconds.", seconds=f"{WITHIN:.0f}")
        raise NotReachableError(
            sentence, message("Its log says why; the service restarts a daemon that hangs.")
        ) from error
    if as_json:
        write_out(encode(found).decode())
    else:
        paper = page()
        _write(paper, found, language)
        paper.show()
    if not found.in_service:
        raise ProblemError(found.sentence, NEXT_STEP)


async def _ask(socket: Path, language: str) -> Status:
    """Ask the daemon. Raise `TableUnreachableError`, `NoTableError`, `TimeoutError`."""
    async with asyncio.timeout(WITHIN), ApiClient(socket, language=language) as client:
        view = await client.state()
        last = await _newest(client, view)
    sentence = ""
    if view.service != Service.IN_SERVICE:
        stands, cause = SERVICE_WORDS[Service(view.service)], view.service_cause
        said = message("Table {table} is {service}.", table=view.table, service=stands)
        if cause:
            said = message("Table {table} is {service}: {cause}.", table=view.table, service=stands, cause=cause)
        sentence = Speaker(language)(said)
    return Status(not sentence, sentence, view, last)


async def _newest(client: ApiClient, view: TableView) -> dict[str, Any] | None:
    """Return the newest event that people are shown, or None if the newest entries have none."""
    newest = None
    events = client.events(EventId(view.journal, max(0, view.entry - LOOKED_AT)))
    try:
        async for event in events:
            if event is None:
                break
            if line_of(event) is not None:
                newest = event
    finally:
        await events.aclose()
    return newest


def _write(paper: Page, found: Status, language: str) -> None:
    view, say = found.table, Speaker(language)
    simulated = f" · {say.keyed('bar.simulated')}" if view.simulated else ""
    paper.heading(
        f"{say(message('Table {table}', table=view.table))}{simulated} · {say(SERVICE_WORDS[Service(view.service)])}"
    )
    if view.service_cause and not found.in_service:
        paper.entry(say(view.service_cause), indent=4)
    held = message("held") if view.held else None
    on_duty = message("on duty: {dealer}", dealer=view.dealer or message("nobody"))
    rows = [
        (message("game"), _parts(say, view.game, view.title, UNIT_NAMES[Unit(view.unit)])),
        (message("round"), _parts(say, str(view.round), say.keyed(f"phase.{view.phase}"), held, on_duty)),
        (message("device"), _device(view, say)),
        (message("next"), say(view.next_step)),
        *((message("open"), _matter(one, words_of(view.game), say)) for one in view.irregularities),
        *((message("warning"), say(one)) for one in view.warnings),
        (message("last"), _last(found, say)),
        (message("program"), view.program),
        (message("journal"), _parts(say, view.journal, message("entry {entry}", entry=view.entry))),
    ]
    paper.rows([(say(name), text) for name, text in rows if text])


def _parts(say: Speaker, *parts: str | Message | None) -> str:
    return " · ".join(say(part) for part in parts if part)


def _device(view: TableView, say: Speaker) -> str:
    device = view.device
    named = " ".join(filter(None, (say.keyed(f"device.{device.kind or 'device'}"), device.serial)))
    age = message("never heard")
    if device.age is not None:
        age = message("heard {age} s ago", age=f"{device.age:.1f}")
    key = KEYS_USED[device.key] if device.key else None
    shown = message("it runs the approved program {image}", image=device.image[:16]) if device.image else None
    return _parts(say, named, LINKS[LinkState(device.link)], age, key, shown, device.sentence, device.hint)


def _matter(found: IrregularityView, words: OwnWords, say: Speaker) -> str:
    return _parts(say, found.row, say(words.own(KINDS[Kind(found.kind)])), found.clause, found.question)


def _last(found: Status, say: Speaker) -> str:
    if found.last is None:
        return ""
    moment = datetime.fromtimestamp(found.last["utc_ns"] // 10**9, UTC)
    said = line_of(found.last, words_of(found.table.game)) or str(found.last["event"])
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC: {say(said)}"
