"""Options of the floor's commands: the broker, the files for TLS, which tables are meant, the database."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from controller.commands.found_commands import of_extra
from controller.commands.game_options import shortened
from controller.commands.language import terminal
from controller.floor.address import ENCRYPTED, PLAIN, BadBrokerError, Broker, Credentials, parse_broker
from controller.floor.store import StoreError
from controller.floor.topics import NAME
from controller.problems import BadInputError, ConfigurationProblemError, ProblemError
from firmware_bridge.messages import message

if TYPE_CHECKING:
    from controller.floor.store.database import Database

HERE: Final = "localhost"
LONGEST_ADDRESS: Final = 300
Command = TypeVar("Command", bound=Callable[..., Any])


def broker_options(command: Command) -> Command:
    """Add `--broker`, `--ca`, `--certificate` and `--key`, from which `find_broker` makes a broker."""
    for name, meaning in reversed(
        (
            ("ca", "The certificate authority of the broker (PEM)."),
            ("certificate", "This program's certificate (PEM)."),
            ("key", "The key of --certificate (PEM)."),
        )
    ):
        command = click.option(f"--{name}", type=click.Path(path_type=Path), metavar="FILE", help=meaning)(command)
    return click.option(
        "--broker",
        "broker_url",
        default=HERE,
        show_default=True,
        metavar="HOST[:PORT]",
        help="The broker: with the three files by TLS, without them on this machine alone.",
    )(command)


def find_broker(url: str, ca: Path | None, certificate: Path | None, key: Path | None) -> Broker:
    """Return the broker that the options name. Raise `BadInputError`."""
    files = [one for one in (ca, certificate, key) if one is not None]
    option = f"--broker {shortened(url)!r}"
    if files and len(files) < 3:
        raise BadInputError(
            message("TLS needs three files."), message("Name all of --ca, --certificate and --key, or none of them.")
        )
    if len(url) > LONGEST_ADDRESS:
        raise BadInputError(
            message("{option} is not the address of a broker.", option=option), message("Write HOST, or HOST:PORT.")
        )
    scheme = "" if "://" in url else f"{ENCRYPTED if files else PLAIN}://"
    try:
        address = parse_broker(f"{scheme}{url}")
    except BadBrokerError as error:
        hint = message("Name the files: --ca, --certificate and --key.") if not files else error.hint
        raise BadInputError(message("{option}: {why}", option=option, why=error.message), hint) from error
    if address.encrypted != bool(files):
        raise BadInputError(
            message("{option} is encrypted.", option=option)
            if address.encrypted
            else message("{option} is not encrypted.", option=option),
            message("Name --ca, --certificate and --key.")
            if address.encrypted
            else message("Leave --ca, --certificate and --key out."),
        )
    return Broker(address, Credentials(*files) if files else None)


class NameType(click.ParamType[str]):
    """The type of the name of a site, pit or table, as topics contain it."""

    name = "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not re.fullmatch(NAME, str(value)):
            wrong = message(
                "{value} is not a valid name. Write English letters, digits, dots, - and _, at most 64.",
                value=repr(shortened(str(value))),
            )
            self.fail(terminal()(wrong), param, ctx)
        return str(value)


def place_options(*parts: str) -> Callable[[Command], Command]:
    """Add some of the options `--site`, `--pit` and `--table`. A missing option selects all."""

    def decorate(command: Command) -> Command:
        for part in reversed(parts):
            meaning = f"Only this {part}."
            command = click.option(f"--{part}", type=NameType(), metavar="NAME", help=meaning)(command)
        return command

    return decorate


WRONG: Final = frozenset({"store-refused", "store-schema"})
"""Errors of the option or the database itself, which another start does not change."""


def database_option(command: Command) -> Command:
    return click.option(
        "--database",
        required=True,
        metavar="ADDRESS",
        envvar="CARDSHOE_DATABASE",
        show_envvar=True,
        help="postgresql://USER@HOST/NAME, or host=... user=... dbname=...; a password belongs in ~/.pgpass.",
    )(command)


@contextmanager
def problems() -> Iterator[None]:
    """Turn errors from the store into a sentence, with exit code 78 if it is the wrong database, else 1."""
    try:
        yield
    except StoreError as error:
        problem = ConfigurationProblemError if error.code in WRONG else ProblemError
        raise problem(error) from error


def open_database(address: str, program: str) -> Database:
    """Open the database. Raise `ProblemError` if the driver is not installed, and `StoreError`."""
    with driver():
        from controller.floor.store.database import Database

    return Database(address, program)


def driver() -> AbstractContextManager[None]:
    """Wrap the import of PostgreSQL's driver (see `of_extra`)."""
    return of_extra("floor", message("PostgreSQL's driver cannot be used"))
