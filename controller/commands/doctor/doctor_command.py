"""`cardshoe doctor`: a line for each finding, with the command that fixes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from controller.commands.doctor import device, files, network, service
from controller.commands.doctor.machine import (
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
from controller.commands.text import many, page
from controller.daemon.configuration import Configuration, ConfigurationError, read_configuration
from controller.problems import ConfigurationProblemError, ProblemError
from controller.program_files import PACKAGE_KEY, ProgramError, verify


class Examined(msgspec.Struct, frozen=True):
    """All findings, including those without a problem. `table` and `user` are empty if the configuration cannot be
    read.
    """

    table: str
    user: str
    findings: tuple[MachineFinding, ...]


@click.command()
@click.option("--config", "path", required=True, type=click.Path(path_type=Path), help="The table's configuration.")
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
            raise ConfigurationProblemError(str(error), error.hint) from error
        print_json(Examined("", "", tuple(problem("configuration", *mistake) for mistake in error.mistakes)))
        raise SystemExit(ConfigurationProblemError.exit_code) from error
    machine = context.obj if isinstance(context.obj, Machine) else Machine()  # a test passes its own machine
    table = _table(machine, path.resolve(), configuration, user_name)
    found = Examined(table.name, table.user_name, tuple(_look(table, journal=not no_journal)))
    if as_json:
        print_json(found)
    else:
        _show(found)
    if wrong := [one for one in found.findings if one.level is Level.PROBLEM]:
        problems = many(len(wrong), "problem", "problems")
        raise ProblemError(f"Table {table.name} has {problems}.", "The lines above say how to fix each.")


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
        mend = f"{table.with_files('sh $F/install.sh')}; or name the service's user with --user"
        yield problem("user", f"This PC has no user {table.user_name}, which the daemon would run as.", mend)
    yield _program(table.machine, table.configuration)
    yield from device.look(table)
    yield from service.look(table)
    yield from network.screens(table)
    try:
        yield from files.look(table, journal=journal)
    except PermissionError as error:
        mend = f"sudo cardshoe doctor --config {table.file}"
        yield MachineFinding("files", Level.PROBLEM, f"This user may not look at {error.filename}.", mend)
    yield from service.runs(table)  # last, because the service starts only when everything else is right


def _program(machine: Machine, configuration: Configuration) -> MachineFinding:
    """Check the files of the program that runs this command."""
    asked = configuration.program
    found = machine.examine(asked.public_key_file if asked is not None else None)
    try:
        verify(found, development=configuration.table.simulated or (asked is not None and asked.development))
    except ProgramError as error:
        return problem("program", str(error), error.hint)
    sure = found.signed or (found.how != "package" and configuration.table.simulated)
    name = f"put the public key of the package's maker into {PACKAGE_KEY}, or name it in [program] public_key_file"
    return ok("program", found.sentence) if sure else warning("program", found.sentence, name)


def _show(found: Examined) -> None:
    paper = page()
    paper.heading(f"Table {found.table}, daemon's user {found.user}")
    for one in found.findings:
        paper.entry(one.sentence, (one.level, 8), (one.what, 12), then=f"-> {one.mend}" if one.mend else "")
    paper.show()
