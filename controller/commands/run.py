"""`cardshoe run`: the daemon."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING

import click

from controller.commands.table_options import CONFIGURATION
from controller.problems import ConfigurationProblemError, DeviceProblemError, JournalProblemError, ProblemError
from firmware_bridge.messages import Message, message

if TYPE_CHECKING:
    from controller.daemon.section_reader import Mistake
    from controller.daemon.sections import Configuration


def _where_to_correct(path: Path) -> Message | None:
    """Return where to correct a file that systemd passed as a copy (`LoadCredential=`), or None for other files."""
    from controller.daemon.configuration import original_of

    found = original_of(path)
    if found is None:
        return None
    return message(
        "This is systemd's copy. Correct {path}, then `systemctl restart cardshoe@{table}`.",
        path=str(found.path),
        table=found.table,
    )


def _owner_mistake(configuration: Configuration | None) -> Message | None:
    """Return a sentence if another user owns the journal, which a restart does not change, or None."""
    from controller.daemon.journal_files import hint_of_owner

    if configuration is None:
        return None
    return hint_of_owner(configuration.table.name, configuration.journal.folder)


def _folder_mistakes(configuration: Configuration | None) -> list[Mistake]:
    """Return what is wrong with the folders of the configuration, which a restart does not change."""
    from controller.daemon.configuration_files import mistakes_of_folders

    return [] if configuration is None else mistakes_of_folders(configuration)


@click.command()
@click.option(
    "--config",
    "path",
    required=True,
    type=CONFIGURATION,
    help="The table's configuration (TOML).",
)
@click.option(
    "--reread",
    type=click.Path(path_type=Path),
    help="The file that SIGHUP reads instead, if it exists; relative paths in it count from the folder of --config.",
)
@click.option("--verbose", is_flag=True, help="Also log details.")
def run(path: Path, reread: Path | None, verbose: bool) -> None:
    """Run the daemon of one table, until SIGTERM. SIGHUP reloads its configuration.

    The daemon also starts and continues without the device.
    """
    from controller.api.tcp_listener import PortRefusedError
    from controller.api.unix_socket import SocketRefusedError
    from controller.daemon.configuration import ConfigurationError, in_originals, read_configuration
    from controller.daemon.configuration_files import examined_program
    from controller.daemon.logs import configure_logs
    from controller.daemon.starting import HangUps, Origin
    from controller.journal import JournalError
    from controller.program_files import ProgramError
    from firmware_bridge.errors import BadDeviceUrlError, BridgeError, CardTableError, KeyFileError

    hang_ups = HangUps()
    configuration: Configuration | None = None
    logs = configure_logs(logging.DEBUG if verbose else logging.INFO)
    try:
        configuration = read_configuration(path)
        program = examined_program(configuration)
        from controller.daemon.daemon import run_daemon  # imported late: a refused configuration needs no server

        asyncio.run(run_daemon(configuration, Origin(path, hang_ups, reread, program, logs)))
    except ConfigurationError as error:
        raise ConfigurationProblemError(error, _where_to_correct(path) or "") from error
    except JournalError as error:
        from controller.daemon.journal_files import WRONG_FILE

        for mistake in _folder_mistakes(configuration):
            raise ConfigurationProblemError(*mistake) from error
        if hint := _owner_mistake(configuration):
            raise ConfigurationProblemError(error, hint) from error
        problem = ConfigurationProblemError if error.code in WRONG_FILE else JournalProblemError
        raise problem(error) from error
    except (
        ProgramError,
        KeyFileError,
        CardTableError,
        BadDeviceUrlError,
        SocketRefusedError,
        PortRefusedError,
    ) as error:
        raise ConfigurationProblemError(*in_originals((error.message, error.hint), path)) from error
    except BridgeError as error:
        raise DeviceProblemError(error) from error
    except OSError as error:
        why = error.strerror or str(error)
        sentence = message("The daemon cannot start: {why}.", why=why)
        if error.filename:
            sentence = message("The daemon cannot start: {why} ({file}).", why=why, file=str(error.filename))
        if isinstance(error, PermissionError) and (hint := _owner_mistake(configuration)):
            raise ConfigurationProblemError(sentence, hint) from error
        for mistake in _folder_mistakes(configuration):
            raise ConfigurationProblemError(*mistake) from error
        raise ProblemError(sentence, message("Check the paths under [api] and [journal].")) from error
    except asyncio.CancelledError as error:
        raise ProblemError(message("A part of the daemon failed."), message("The log has the details.")) from error
    finally:
        logs.flush()
