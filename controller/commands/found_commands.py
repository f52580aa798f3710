"""Parts that are imported only when used: commands, and packages of extras (pyproject.toml). Listing imports none."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click

from controller.problems import ProblemError
from firmware_bridge.messages import AnyText, message


class FoundCommands(click.Group):
    """A group of commands found by name. `found_in` maps names to module and attribute, `summaries` to a line of help.

    `others` is the group of entry points with further commands.
    """

    def __init__(
        self,
        *given: Any,
        found_in: Mapping[str, tuple[str, str]],
        summaries: Mapping[str, str],
        others: str = "",
        **more: Any,
    ) -> None:
        super().__init__(*given, **more)
        self._found_in = found_in
        self._summaries = summaries
        self._others = others

    def list_commands(self, ctx: click.Context) -> list[str]:
        from importlib.metadata import entry_points  # here, because most commands need none

        return [*self._found_in, *(point.name for point in entry_points(group=self._others))]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command. Raise `ProblemError` if that fails."""
        if name in self._found_in:
            module, attribute = self._found_in[name]
            try:
                command: click.Command = getattr(importlib.import_module(module), attribute)
            except ImportError as error:
                raise ProblemError(
                    message("`{command}` cannot start: {why}.", command=f"{ctx.command_path} {name}", why=str(error))
                ) from error
            return command
        from importlib.metadata import entry_points

        for point in entry_points(group=self._others, name=name):
            loaded: click.Command = point.load()
            return loaded
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._summaries.get(name, "")) for name in self.list_commands(ctx)])


EXTRAS: Final = {
    "audit": "requirements-report.txt",
    "bench": "requirements-test.txt",
    "floor": "requirements-floor.txt",
    "qr": "requirements-qr.txt",
    "report": "requirements-report.txt",
}
"""The file of the sources with the packages of each extra, in tested versions."""
SOURCES: Final = Path(__file__).parents[2]
PACKAGED: Final = Path("/opt/cardshoe/packaged")
"""This folder exists if the Debian package is installed, in which no further packages can be installed."""


def _how_to_install(extra: str) -> AnyText:
    file = EXTRAS[extra]
    pip = f"{sys.executable} -m pip install --no-deps -r"
    also = message("PostgreSQL's client library is in the Debian package libpq5.") if extra == "floor" else ""
    if (SOURCES / file).exists():
        how = message("Install its packages: {command}", command=f"`{pip} {SOURCES / file}`.")
    elif Path(sys.prefix).parent == PACKAGED.parent:
        command = (
            f"`python3 -m venv .venv && .venv/bin/pip install --no-deps -r {file} -r requirements-build.txt && "
            ".venv/bin/pip install --no-deps --no-build-isolation .`"
        )
        how = message(
            "The Debian package does not include it. In a clone of the sources, run: {command}", command=command
        )
    else:
        how = message("In the folder with the sources: {command}", command=f"`{pip} {file}`.")
    return message("{parts:sentences}", parts=tuple(filter(None, (how, also))))


@contextmanager
def of_extra(extra: str, what: AnyText) -> Iterator[None]:
    """Wrap the import of an extra's packages.

    Raise `ProblemError` if one is missing or cannot be loaded. It starts with `what`, such as "A page cannot be made",
    and says why and what to install.
    """
    try:
        yield
    except ImportError as error:
        why = next(iter(str(error).splitlines()), message("the reason is not known"))
        raise ProblemError(
            message("{what}: {why}.", what=what, why=why),
            _how_to_install(extra),
        ) from error
