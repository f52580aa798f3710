"""`cardshoe config check | example | show`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from controller.api.in_language import in_language
from controller.commands.game_options import print_json
from controller.commands.table_options import CONFIGURATION
from controller.commands.text import write_out
from controller.commands.vocabulary import UNIT_NAMES
from controller.problems import BadInputError, ConfigurationProblemError
from firmware_bridge.messages import AnyText, counted, message

if TYPE_CHECKING:
    from controller.daemon.section_reader import Mistake
    from controller.daemon.sections import Configuration


def one_file(command: Callable[..., Any]) -> Callable[..., Any]:
    """Take the configuration as `FILE` or, as other commands do, as `--config FILE`."""

    @click.argument("named", metavar="FILE", type=CONFIGURATION, required=False)
    @click.option("--config", "path", type=CONFIGURATION, help="The same, as other commands take it.")
    @wraps(command)
    def with_path(named: Path | None, path: Path | None, **others: Any) -> Any:
        if (named is None) == (path is None):
            raise BadInputError(
                message("One configuration is needed."), message("Write `cardshoe config check FILE`, for example.")
            )
        return command(path=named or path, **others)

    return with_path


JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


class Wrong(msgspec.Struct, frozen=True):
    """A mistake and its remedy."""

    sentence: AnyText
    hint: AnyText


class ConfigurationCheck(msgspec.Struct, frozen=True):
    """The result of a check. `mistakes` keep the daemon from starting; `remarks` do not."""

    file: str
    mistakes: tuple[Wrong, ...]
    remarks: tuple[Wrong, ...] = ()


@click.group()
def config() -> None:
    """Check a table's configuration, show it as it is in force, or print an example."""


@config.command()
@one_file
@click.option(
    "--running",
    type=click.Path(path_type=Path),
    help="Check FILE for a reload by a daemon that was started when FILE was as in this copy.",
)
@JSON
def check(path: Path, running: Path | None, as_json: bool) -> None:
    """Check a configuration, the files that it names and its port, as the daemon would at its start.

    With --running, check as at a reload: the port is the daemon's own, and a change that needs a restart is a mistake.
    All mistakes are listed at once, each with its place and the next step; then the exit code is 78.
    """
    from controller.commands.doctor.machine import run_program
    from controller.daemon.configuration import ConfigurationError
    from controller.daemon.configuration_checks import remarks_on
    from controller.daemon.configuration_files import read_with_surroundings
    from controller.daemon.reloading import read_for_reload

    try:
        configuration = read_with_surroundings(path, run_program) if running is None else read_for_reload(path, running)
    except ConfigurationError as error:
        if not as_json:
            raise ConfigurationProblemError(error) from error
        print_json(
            in_language(ConfigurationCheck(str(path), tuple(Wrong(*mistake) for mistake in error.mistakes)), None)
        )
        raise SystemExit(ConfigurationProblemError.exit_code) from error
    remarks = [*remarks_on(configuration), *_remark_on_program(configuration)]
    if as_json:
        print_json(in_language(ConfigurationCheck(str(path), (), tuple(Wrong(*remark) for remark in remarks)), None))
        return
    table = configuration.table
    boxes, people = configuration.settings.box_count, len(configuration.people)
    summed_up: tuple[AnyText, ...] = (
        table.name,
        table.game,
        UNIT_NAMES[table.unit],
        counted("1 box", "{count} boxes", boxes),
        *([message("simulated")] if table.simulated else []),
        counted("1 person", "{count} people", people),
        message("device {url}", url=str(configuration.device_url)),
    )
    said = message("{path}: no mistakes. Table {parts:list}.", path=str(path), parts=summed_up)
    if remarks:
        warnings = counted("1 warning", "{count} warnings", len(remarks))
        said = message(
            "{path}: no mistakes, but {warnings}. Table {parts:list}.",
            path=str(path),
            warnings=warnings,
            parts=summed_up,
        )
    write_out(said)
    for remark in remarks:
        write_out(message("  - {parts:sentences}", parts=tuple(filter(None, remark))))


def _remark_on_program(configuration: Configuration) -> Iterator[Mistake]:
    """Yield a remark if `run` refuses this program: the configuration may be right for the installed one."""
    from controller.daemon.configuration_files import examined_program
    from controller.daemon.section_reader import Mistake
    from controller.program_files import ProgramError

    try:
        examined_program(configuration)
    except ProgramError as error:
        yield Mistake(message("`cardshoe run` refuses this program. {why}", why=error.message), error.hint)


@config.command()
def example() -> None:
    """Print an example of a configuration: every option with its meaning and its default."""
    from controller.commands.config.as_toml import example as text

    write_out(text())


@config.command()
@one_file
@JSON
def show(path: Path, as_json: bool) -> None:
    """Show a configuration as it is in force, with defaults and full paths, and without secrets."""
    from controller.commands.config.as_toml import as_toml, without_secrets
    from controller.daemon.configuration import ConfigurationError, read_configuration

    try:
        configuration = read_configuration(path)
    except ConfigurationError as error:
        raise ConfigurationProblemError(error) from error
    if as_json:
        write_out(msgspec.json.encode(without_secrets(configuration), enc_hook=str).decode())
    else:
        write_out(as_toml(configuration))
