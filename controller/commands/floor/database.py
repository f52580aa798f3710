"""The database option of the store's commands, and its refusals in sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from controller.commands.extras import of_extra
from controller.floor.store import StoreError
from controller.problems import ConfigurationProblemError, ProblemError

if TYPE_CHECKING:
    from controller.floor.store.database import Database

Command = TypeVar("Command", bound=Callable[..., Any])
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
    """Turn errors of the store into a sentence, with exit code 78 if the database is the wrong one, else 1."""
    try:
        yield
    except StoreError as error:
        problem = ConfigurationProblemError if error.code in WRONG else ProblemError
        raise problem(str(error), error.hint) from error


def open_database(address: str, program: str) -> Database:
    """Open the database. Raise `ProblemError` if the driver is not installed, and `StoreError`."""
    with driver():
        from controller.floor.store.database import Database

    return Database(address, program)


def driver() -> AbstractContextManager[None]:
    """Wrap the import of PostgreSQL's driver (see `of_extra`)."""
    return of_extra("floor", "PostgreSQL's driver cannot be used")
