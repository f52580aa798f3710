"""The options of every command that asks a running table: `--config FILE`, which names its socket, or `--socket FILE`.

A module of its own, because several commands share it and none of them imports another.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from controller.problems import BadInputError
from firmware_bridge.messages import message

CONFIGURATION: Final = click.Path(path_type=Path, readable=False)
"""The path of a configuration. Not click but the program says why a file cannot be read, with the next step."""


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add both options. The command gets the table's socket as `socket`."""

    @click.option("--socket", type=click.Path(path_type=Path), help="The daemon's socket ([api] socket).")
    @click.option(
        "--config",
        "path",
        type=CONFIGURATION,
        help="The table's configuration, which names it.",
    )
    @wraps(command)
    def with_socket(socket: Path | None, path: Path | None, **others: Any) -> Any:
        if (socket is None) == (path is None):
            raise BadInputError(
                message("Name the table either by its socket or by a configuration."),
                message("Add --socket FILE or --config FILE."),
            )
        return command(socket=socket or _socket_of(path), **others)

    return with_socket


def _socket_of(path: Path | None) -> Path:
    from controller.daemon.configuration import ConfigurationError, read_configuration

    assert path is not None
    try:
        return read_configuration(path).api.socket
    except ConfigurationError as error:
        raise BadInputError(error) from error
