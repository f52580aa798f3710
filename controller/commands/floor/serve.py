"""`cardshoe floor serve`: the floor as a page on this machine."""

from __future__ import annotations

import asyncio
import logging
import signal
from contextlib import suppress
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Any, Final

import click

from controller.commands.floor.floor_options import broker_options, find_broker, place_options
from controller.commands.game_options import shortened
from controller.commands.language import terminal
from controller.problems import BadInputError, ProblemError
from firmware_bridge.messages import message
from firmware_bridge.plain_text import whole_number

if TYPE_CHECKING:
    from controller.floor.follower import FloorFollower
    from controller.floor.page_server import PageServer

PORT: Final = 8090
LARGEST_PORT: Final = 65_535
OWN_HOSTS: Final = ("", "localhost", "127.0.0.1", "[::1]")


class ListenType(click.ParamType[int]):
    """The type of a port of this machine."""

    name = "[localhost:]PORT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        host, _, port = str(value).rpartition(":")
        number = whole_number(port, LARGEST_PORT)
        if number is None:
            wrong = message(
                "{value} is not a port. Write a number up to {largest}.",
                value=repr(shortened(str(value))),
                largest=LARGEST_PORT,
            )
            self.fail(terminal()(wrong), param, ctx)
        if host not in OWN_HOSTS:
            wrong = message(
                "{host} is reachable from other machines, and the page is not encrypted. Leave the "
                "address out, put a reverse proxy with TLS in front of the page, and name its host with "
                "--host.",
                host=shortened(host),
            )
            self.fail(terminal()(wrong), param, ctx)
        return number


@click.command()
@broker_options
@place_options("site", "pit")
@click.option(
    "--listen",
    "port",
    type=ListenType(),
    default=str(PORT),
    show_default=True,
    help="The port on which browsers find the page; 0: any.",
)
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="The name of a reverse proxy in front of the page; may be repeated.",
)
@click.option("--verbose", is_flag=True, help="Also log details.")
def serve(
    broker_url: str,
    ca: Path | None,
    certificate: Path | None,
    key: Path | None,
    site: str | None,
    pit: str | None,
    port: int,
    hosts: tuple[str, ...],
    verbose: bool,
) -> None:
    """Show many tables as a page for a pit manager, in a browser, until SIGTERM or Ctrl-C.

    The page has a grid of the tables by pit, open irregularities first, and the events at one table. It is read-only,
    and everyone at this machine can open it. It continues while the broker is unreachable.
    """
    from controller.api.tcp_listener import PortRefusedError, TcpListener
    from controller.daemon.host import HostClock
    from controller.daemon.logs import configure_logs
    from controller.floor.follower import FloorFollower, FollowedPart
    from controller.floor.page_server import PageServer

    broker = find_broker(broker_url, ca, certificate, key)
    lines = configure_logs(logging.DEBUG if verbose else logging.INFO)
    import structlog

    clock, log = HostClock(), structlog.get_logger()
    follower = FloorFollower(
        broker, FollowedPart(site or "+", pit or "+"), lambda: clock.now().boottime_ns, SystemRandom(), log
    )
    try:
        listener = TcpListener(port)
    except PortRefusedError as error:
        hint = message("End the program that uses it (`ss -ltnp` names it), or name another one with --listen.")
        raise BadInputError(message("--listen {port}: the port {why}.", port=port, why=error.why), hint) from error
    server = PageServer(follower, listener, [one.lower() for one in hosts], clock)
    lines.add(terminal()(message("The floor: {url}", url=f"http://localhost:{listener.port}/")))  # waits for no reader
    try:
        asyncio.run(_serve(server, follower))
    except KeyboardInterrupt:
        return
    except OSError as error:
        raise ProblemError(message("The page cannot be served: {why}.", why=error.strerror or str(error))) from error


async def _serve(server: PageServer, follower: FloorFollower) -> None:
    loop = asyncio.get_running_loop()
    following = asyncio.create_task(follower.run())
    loop.add_signal_handler(signal.SIGTERM, following.cancel)
    await server.start()
    try:
        with suppress(asyncio.CancelledError):
            await following
    finally:
        await server.close()
