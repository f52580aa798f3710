"""`cardshoe doctor`: a line for each finding, with the command that fixes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from controller.api.in_language import in_language
from controller.commands.doctor import device, files, network, service
from controller.commands.doctor.machine import (
    LEVELS,
    CheckedTable,
    Level,
    Machine,
    MachineFinding,
    ok,
    own_user,
    problem,
    user_called,
    warning,
)
from controller.commands.game_options import print_json
from controller.commands.table_options import CONFIGURATION
from controller.commands.text import page
from controller.daemon.configuration import Configuration, ConfigurationError, read_configuration
from controller.problems import ConfigurationProblemError, ProblemError
from controller.program_files import PACKAGE_KEY, ProgramError, verify
from firmware_bridge.messages import counted, message


class Examined(msgspec.Struct, frozen=True):
    """All findings, including those without a problem. `table` and `user` are empty if the configuration cannot be
    read.
    """

    table: str
    user: str
    findings: tuple[MachineFinding, ...]


@click.command()
@click.option(
    "--config",
    "path",
    required=True,
    type=CONFIGURATION,
    help="The table's configuration.",
)
@click.option("--user", "user_name", help="The daemon's user; by default the service's user.")
@click.option("--no-journal", is_flag=True, help="Do not read the journal, which takes long if it is large.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def doctor(context: click.Context, path: Path, user_name: str | None, no_journal: bool, as_json: bool) -> None:
    """Find what is wrong on a table's PC: device, udev, service, clock, port, keys, disk, socket, journal.

    Each finding is one line, with the command that fixes it. Nothing is changed. Run it as root; other users cannot
    read everything. Exit code 1 if there is a problem.
    """
    try:
        configuration = read_configuration(path)
    except ConfigurationError as error:
        if not as_json:
            raise ConfigurationProblemError(error) from error
        mistakes = tuple(problem(message("configuration"), *mistake) for mistake in error.mistakes)
        print_json(in_language(Examined("", "", mistakes), None))
        raise SystemExit(ConfigurationProblemError.exit_code) from error
    machine = context.obj if isinstance(context.obj, Machine) else Machine()  # a test passes its own machine
    table = _table(machine, path.resolve(), configuration, user_name)
    found = Examined(table.name, table.user_name, tuple(_look(table, journal=not no_journal)))
    if as_json:
        print_json(in_language(found, None))
    else:
        _show(found)
    if wrong := [one for one in found.findings if one.level is Level.PROBLEM]:
        raise ProblemError(
            counted(
                "Table {table} has a problem.", "Table {table} has {count} problems.", len(wrong), table=table.name
            ),
            message("The lines above say how to fix each."),
        )


def _table(machine: Machine, path: Path, configuration: Configuration, user_name: str | None) -> CheckedTable:
    """Return the table with its daemon's user: the one named, the service's, or the usual one for its installation."""
    by_hand = CheckedTable(machine, path, configuration, own_user(), own_user().name)
    if user_name is None and by_hand.is_by_hand:
        return by_hand
    unit = f"cardshoe@{configuration.table.name}"
    named = user_name or machine.run("systemctl", "show", "--property=User", "--value", unit)
    if not named:
        apart = f"cardshoe-{configuration.table.name}"
        named = apart if user_called(apart) is not None else "cardshoe"
    return CheckedTable(machine, path, configuration, user_called(named), named)


def _look(table: CheckedTable, *, journal: bool) -> Iterator[MachineFinding]:
    if table.user is None:
        mend = message(
            "{command}; or name the service's user with --user", command=table.with_files("sh $F/install.sh")
        )
        yield problem(
            message("user"),
            message("This PC has no user {user_name}, which the daemon would run as.", user_name=table.user_name),
            mend,
        )
    yield _program(table.machine, table.configuration)
    yield from device.look(table)
    yield from service.look(table)
    yield from network.screens(table)
    try:
        yield from files.look(table, journal=journal)
    except PermissionError as error:
        again = f"sudo cardshoe doctor --config {table.file}"
        yield MachineFinding(
            message("files"),
            Level.PROBLEM,
            message("This user may not look at {filename}.", filename=error.filename),
            again,
        )
    yield from service.runs(table)  # last, because the service starts only when everything else is right


def _program(machine: Machine, configuration: Configuration) -> MachineFinding:
    """Check the files of the program that runs this command."""
    asked = configuration.program
    found = machine.examine(asked.public_key_file if asked is not None else None)
    try:
        verify(found, development=configuration.table.simulated or (asked is not None and asked.development))
    except ProgramError as error:
        return problem(message("program"), error.message, error.hint)
    sure = found.signed or (found.how != "package" and configuration.table.simulated)
    name = message(
        "put the public key of the package's maker into {path}, or name it in [program] public_key_file",
        path=str(PACKAGE_KEY),
    )
    return ok(message("program"), found.sentence) if sure else warning(message("program"), found.sentence, name)


def _show(found: Examined) -> None:
    paper = page()
    paper.heading(message("Table {table}, daemon's user {user}", table=found.table, user=found.user))
    for one in found.findings:
        paper.entry(
            one.sentence,
            (LEVELS[one.level], 8),
            (one.what, 12),
            then=message("-> {mend}", mend=one.mend) if one.mend else "",
        )
    paper.show()
