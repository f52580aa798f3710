"""`cardshoe floor store`: the consumer that writes the broker's records into PostgreSQL."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from contextlib import AsyncExitStack, suppress
from datetime import date
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from controller.commands.floor.floor_options import (
    broker_options,
    database_option,
    find_broker,
    open_database,
    place_options,
    problems,
)
from controller.commands.game_options import shortened
from controller.commands.text import write_out
from controller.floor.topics import place_of
from controller.problems import BadInputError
from firmware_bridge.messages import Message, counted, message

if TYPE_CHECKING:
    from controller.floor.store.consumer import Consuming
    from controller.floor.store.database import Database

GROUP: Final = "cardshoe-store"
OWN_ADDRESS: Final = "127.0.0.1"
MOST_PORT: Final = 65_535


class StoreTask(NamedTuple):
    """The task that the options describe. `metrics` is host and port, or None for no page."""

    consuming: Consuming
    metrics: tuple[str, int] | None


@click.command()
@broker_options
@place_options("site", "pit")
@database_option
@click.option("--name", help="This consumer's name at the broker, which must be unique.  [default: the host's name]")
@click.option("--group", default=GROUP, show_default=True, help="Consumers of one group share the records.")
@click.option("--gap-minutes", type=click.FloatRange(0), default=5.0, show_default=True,
              help="Entries that are missing for this long raise an alarm.")  # fmt: skip
@click.option(
    "--metrics",
    metavar="[HOST:]PORT",
    help="Serve /metrics for Prometheus at this address; without HOST only for this machine.",
)
@click.option("--verbose", is_flag=True, help="Also log details.")
@click.option("--create", is_flag=True, help="Create the schema in the database, as its owner, and end.")
@click.option("--prune", type=click.IntRange(1), metavar="MONTHS",
              help="Delete decisions and events older than that many whole months, as the owner, and end.")  # fmt: skip
@click.option("--reassign", nargs=3, metavar="JOURNAL SITE/PIT/TABLE SITE/PIT/TABLE",
              help="Continue a journal of the first table as the second's, as the owner, and end.")  # fmt: skip
def store(broker_url: str, ca: Path | None, certificate: Path | None, key: Path | None, site: str | None,
          pit: str | None, database: str, name: str | None, group: str, gap_minutes: float, metrics: str | None,
          verbose: bool, create: bool, prune: int | None, reassign: tuple[str, str, str] | None) -> None:  # fmt: skip
    """Write the journals of all tables into PostgreSQL, until SIGTERM.

    Records are acknowledged after they are committed. If the broker or the database is unreachable, the command waits
    and then continues. Exit codes: 1 failed, 2 bad input, 78 a database that refuses or has another schema.
    """
    from controller.daemon.host import HostClock
    from controller.daemon.logs import configure_logs

    with problems():
        found = open_database(database, "cardshoe floor store")
        from controller.floor.store.consumer import Consuming

        if create:
            found.make_schema()
            write_out(message("The schema was created in {name}.", name=found.name))
        elif prune is not None:
            today = date.fromtimestamp(HostClock().now().utc_ns // 10**9)
            count = found.prune(_months_before(today, prune))
            found.close()
            write_out(counted("1 month deleted.", "{count} months deleted.", count))
        elif reassign is not None:
            write_out(_reassign(found, *reassign))
        else:
            broker = find_broker(broker_url, ca, certificate, key)
            _check_group(group)
            own_name = name or f"{GROUP}-{socket.gethostname()}"
            asked = StoreTask(Consuming(broker, own_name, group, 60 * gap_minutes, site, pit), _address(metrics))
            configure_logs(logging.DEBUG if verbose else logging.INFO)
            asyncio.run(_run(asked, found))


def _months_before(day: date, months: int) -> date:
    """Return the first day of the month that lies `months` months earlier.

    >>> _months_before(date(2026, 2, 14), 3)
    datetime.date(2025, 11, 1)
    """
    year, month = divmod(12 * day.year + day.month - 1 - months, 12)
    return date(max(year, 1), month + 1, 1)


def _reassign(database: Database, journal: str, before: str, after: str) -> Message:
    for table in (before, after):
        if place_of(table) is None:
            raise BadInputError(
                message("{table} is not a table of the floor.", table=repr(shortened(table))),
                message("Write it as SITE/PIT/TABLE."),
            )
    is_there = database.reassign(journal, before, after)
    database.close()
    if not is_there:
        hint = message("The view cardshoe.tables lists the journals with their tables.")
        raise BadInputError(
            message("{table} has no journal {journal}.", table=before, journal=repr(shortened(journal))), hint
        )
    return message("The journal {journal} of {before} is {after}'s.", journal=journal, before=before, after=after)


def _check_group(group: str) -> None:
    if not group or any(character in "+#/" for character in group):
        raise BadInputError(
            message("{group} is not a valid name of a group.", group=repr(group)),
            message("Leave out the characters + # and /."),
        )


def _address(written: str | None) -> tuple[str, int] | None:
    if written is None:
        return None
    host, _, port = written.rpartition(":")
    if not (port.isascii() and port.isdigit() and 0 < int(port) <= MOST_PORT):
        raise BadInputError(
            message("--metrics {address} is not an address.", address=written), message("Write 9465, or 10.0.0.5:9465.")
        )
    return host.strip("[]") or OWN_ADDRESS, int(port)


async def _run(asked: StoreTask, database: Database) -> None:
    import structlog

    from controller.daemon.host import HostClock, SystemdNotifier
    from controller.daemon.starting import Stop, StoppedError
    from controller.floor.store import StoreError
    from controller.floor.store.consumer import Consumer
    from controller.floor.store.meters import StoreMeters
    from controller.floor.store.writing import Writer

    log = structlog.get_logger()
    notifier, meters, stop = SystemdNotifier(dict(os.environ)), StoreMeters(), Stop()
    try:
        database.check()
    except StoreError as error:
        if error.code != "store-unreachable":
            raise
        log.warning("store.away", code=error.code, sentence=str(error), hint=str(error.hint))
    consumer = Consumer(
        asked.consuming,
        database,
        Writer(database),
        meters,
        HostClock(),
        Random(),  # noqa: S311  # spreads attempts in time
        lambda: notifier.tell("READY=1"),
        log,
    )
    async with AsyncExitStack() as stack:
        stack.callback(notifier.close)
        if asked.metrics is not None:
            await _serve(stack, asked.metrics, meters)
        feeding = asyncio.create_task(_feed(notifier))
        stack.callback(feeding.cancel)
        with suppress(StoppedError):
            await stop.unless_asked(consumer.run())
        notifier.tell("STOPPING=1")


async def _feed(notifier: Any) -> None:
    """Feed the service manager's watchdog."""
    while notifier.interval is not None:
        notifier.tell("WATCHDOG=1")
        await asyncio.sleep(notifier.interval)


async def _serve(stack: AsyncExitStack, address: tuple[str, int], meters: Any) -> None:
    from aiohttp import web

    async def page(_: web.Request) -> web.Response:
        return web.Response(body=meters.page(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    application = web.Application()
    application.router.add_get("/metrics", page)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    try:
        await web.TCPSite(runner, *address).start()
    except OSError as error:
        raise BadInputError(
            message(
                "--metrics: {address} cannot be used: {why}.",
                address=f"{address[0]}:{address[1]}",
                why=error.strerror or str(error),
            ),
            message("Name another port."),
        ) from error
