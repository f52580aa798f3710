"""Options of the floor's commands: the broker, the files for TLS, and which tables are meant."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from controller.commands.options import shortened
from controller.floor.address import ENCRYPTED, PLAIN, BadBrokerError, Broker, Credentials, parse_broker
from controller.floor.topics import NAME
from controller.problems import BadInputError

HERE: Final = "localhost"
LONGEST_ADDRESS: Final = 300
Command = TypeVar("Command", bound=Callable[..., Any])


def broker_options(command: Command) -> Command:
    """Add `--broker`, `--ca`, `--certificate` and `--key`, from which `find_broker` makes a broker."""
    for name, meaning in reversed(
        (
            ("ca", "Who signs the broker's certificate (PEM)."),
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
    if files and len(files) < 3:
        raise BadInputError("TLS needs three files.", "Name all of --ca, --certificate and --key, or none of them.")
    if len(url) > LONGEST_ADDRESS:
        raise BadInputError(f"--broker {shortened(url)!r} is not the address of a broker.", "Write HOST, or HOST:PORT.")
    scheme = "" if "://" in url else f"{ENCRYPTED if files else PLAIN}://"
    try:
        address = parse_broker(f"{scheme}{url}")
    except BadBrokerError as error:
        hint = "Name the files: --ca, --certificate and --key." if not files else error.hint
        raise BadInputError(f"--broker {shortened(url)!r}: {str(error).rstrip('.')}.", hint) from error
    if address.encrypted != bool(files):
        raise BadInputError(
            f"--broker {shortened(url)!r} is {'encrypted' if address.encrypted else 'not encrypted'}.",
            "Name --ca, --certificate and --key." if address.encrypted else "Leave --ca, --certificate and --key out.",
        )
    return Broker(address, Credentials(*files) if files else None)


class NameType(click.ParamType[str]):
    """The type of the name of a site, pit or table, as topics contain it."""

    name = "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not re.fullmatch(NAME, str(value)):
            self.fail(
                f"{shortened(str(value))!r} is no name. Write letters of English, digits, dots, - and _, 64 at most.",
                param,
                ctx,
            )
        return str(value)


def place_options(*parts: str) -> Callable[[Command], Command]:
    """Add some of the options `--site`, `--pit` and `--table`. A missing option selects all."""

    def decorate(command: Command) -> Command:
        for part in reversed(parts):
            meaning = f"Of this {part} alone."
            command = click.option(f"--{part}", type=NameType(), metavar="NAME", help=meaning)(command)
        return command

    return decorate
