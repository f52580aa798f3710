"""What the commands share: which broker, which database; and refusals in sentences."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from controller.floor.broker import BadBrokerError, Broker, Credentials, parse_broker
from controller.floor.store import StoreError
from controller.problems import BadInputError, ConfigurationProblemError, ProblemError

if TYPE_CHECKING:
    from controller.floor.store.database import Database

Command = TypeVar("Command", bound=Callable[..., Any])
WRONG: Final = frozenset({"store-refused", "store-schema"})
"""Errors that say that an option or the database is wrong: another start changes nothing."""


def broker_options(command: Command) -> Command:
    """`--broker` and the files for TLS; the command gets them as `broker`, None where none is named."""

    @click.option("--broker", "url", metavar="URL", help="mqtts://HOST:8883, or mqtt://localhost:1883.")
    @click.option("--ca-file", type=click.Path(path_type=Path), help="Who signs the broker's certificate.")
    @click.option("--certificate-file", type=click.Path(path_type=Path), help="This program's certificate.")
    @click.option("--key-file", type=click.Path(path_type=Path), help="The key of that certificate.")
    @functools.wraps(command)
    def wrapped(*arguments: Any, url: str | None, ca_file: Path | None, certificate_file: Path | None,
                key_file: Path | None, **more: Any) -> Any:  # fmt: skip
        broker = None if url is None else broker_of(url, ca_file, certificate_file, key_file)
        return command(*arguments, broker=broker, **more)

    return wrapped  # type: ignore[return-value]  # it takes what the command takes, but for `broker`


def broker_of(url: str, *files: Path | None) -> Broker:
    """Raises `BadInputError`."""
    try:
        address = parse_broker(url)
    except BadBrokerError as error:
        raise BadInputError(f"--broker: {error}", error.hint) from error
    given = [path for path in files if path is not None]
    if address.encrypted and len(given) < len(files):
        raise BadInputError(
            f"{address} is encrypted, and needs a certificate of each side.",
            "Add --ca-file, --certificate-file and --key-file.",
        )
    return Broker(address, Credentials(*given) if address.encrypted else None)


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
    """Errors of the store as a sentence: exit code 78 where the database is the wrong one, else 1."""
    try:
        yield
    except StoreError as error:
        problem = ConfigurationProblemError if error.code in WRONG else ProblemError
        raise problem(str(error), error.hint) from error


def open_database(address: str, program: str) -> Database:
    """Raises `ProblemError` where the driver is not installed, and `StoreError`."""
    try:
        from controller.floor.store.database import Database
    except ImportError as error:
        raise ProblemError(
            f"PostgreSQL's driver cannot be used: {str(error).splitlines()[0]}.",
            "Install cardshoe with its extra `floor`, and libpq (Debian's package libpq5).",
        ) from error
    return Database(address, program)
