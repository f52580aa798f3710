"""`cardshoe init`: asks its questions, writes the folder, and says what comes next."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import click

from controller.commands.game_options import find_game, read_options
from controller.commands.init.answers import (
    WHY_NAME,
    NewPerson,
    NewTable,
    ask_people,
    checked_name,
    invoking_user,
    person_of,
    uid_of,
    user_named,
    with_access,
)
from controller.commands.init.system import simulate_command
from controller.commands.text import write_out
from controller.games import GAMES
from controller.games.specification import Game, Unit
from controller.problems import BadInputError, ProblemError
from controller.roles import Role
from firmware_bridge.device_keys import is_serial
from firmware_bridge.device_url import parse_device_url

PORT = click.IntRange(0, 65535)
ROOT = "0"
TRIAL_DEVICE = "tcp://127.0.0.1:4001/"
"""The device of a simulated table that runs as a service: a service cannot open another user's terminal."""
PLAYED = (
    NewPerson("dealer", "Dana", Role.DEALER),
    NewPerson("supervisor", "Sam", Role.PIT_SUPERVISOR),
    NewPerson("manager", "Max", Role.SHIFT_MANAGER),
)
"""The people of a simulated table for which none are named."""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", help="The table's name; left out: the folder's.")
@click.option("--game", "game_id", help="The id of a rules document, as NC.")
@click.option("--unit", type=click.Choice([str(one) for one in Unit]), help="What the device dispenses.")
@click.option("--device", help="The device's serial number, or its URL.")
@click.option("--simulated", is_flag=True, help="A table with a simulated device; its files stay in FOLDER.")
@click.option(
    "--service", is_flag=True, help="With --simulated: run it as a service on this PC, to try the installation."
)
@click.option("--person", "persons", multiple=True, metavar="ID=ROLE:NAME", help="A person; may be repeated.")
@click.option("--console-user", help="The user of the table's console on this machine, by name or number.")
@click.option("--port", type=PORT, help="The port of the console in a browser on this PC; 0: none.")
@click.option("--reading", "readings", multiple=True, metavar="ID=OPTION", help="Choose a reading; may be repeated.")
@click.option("--chosen-by", default="", help="The person who chose the readings.")
@click.option("--make-pins", is_flag=True, help="Generate the PINs and show them once, instead of asking for them.")
@click.option("--yes", is_flag=True, help="Do not ask: use the options and the defaults, and generate the PINs.")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder with the table.toml and the keys of an existing table: make only its files for this PC.",
)
@click.option("--install", "installs", is_flag=True, help="Run install.sh (as root).")
def init(
    folder: Path, name: str | None, game_id: str | None, unit: str | None, device: str | None, simulated: bool,
    service: bool, persons: tuple[str, ...], console_user: str | None, port: int | None, readings: tuple[str, ...],
    chosen_by: str, make_pins: bool, yes: bool, source: Path | None, installs: bool,
) -> None:  # fmt: skip
    """Make the working FOLDER of a table: configuration, keys, people with PINs, files for systemd and udev.

    Asks for everything that the options leave open. Nothing is overwritten, and nothing outside FOLDER is changed
    without --install.
    """
    folder = folder.resolve()
    here = simulated and not service
    _require_sense(here=here, simulated=simulated, service=service, installs=installs)
    if source is not None:
        _init_from(folder, source, installs=installs)
        return
    asks = not yes
    table_name = _name(folder.name if name is None else name, given=name is not None, asks=asks)
    game = find_game(game_id or _asked("Game", "NC", list(GAMES), asks=asks))
    chosen_unit = Unit(unit or _asked("What the device dispenses", "sets", [str(one) for one in Unit], asks=asks))
    url, serial = _device(folder, device or (TRIAL_DEVICE if service else None), simulated=simulated, asks=asks)
    chosen = read_options(game, readings)
    if not simulated:
        chosen_by = _choose_open(game, chosen, chosen_by, asks=asks)
    people = [person_of(given) for given in persons] or _people(simulated=simulated, asks=asks)
    user = console_user or _console_user(simulated=here, asks=asks)
    if port is None:
        port = click.prompt("Port of the console in a browser; 0: none", 8080, type=PORT, err=True) if asks else 0
    with_pins = with_access(people, uid_of(user), make_pins=make_pins or yes, screens=port > 0)
    table = NewTable(table_name, game, chosen_unit, simulated, here, url, serial, chosen, chosen_by, with_pins, port)

    from controller.commands.init.folder import make_folder

    make_folder(folder, table)
    write_out("\n".join(_summary(folder, table, installs=installs)))
    if installs:
        _install(folder)


def _require_sense(*, here: bool, simulated: bool, service: bool, installs: bool) -> None:
    """Check the options against each other. Raise `BadInputError` if they contradict each other."""
    if service and not simulated:
        raise BadInputError("--service is for a simulated table.", "Leave it out: a real table is a service anyway.")
    if installs and (here or os.geteuid() != 0):
        hint = "Leave --install out." if here else "Run this as root, or run the folder's install.sh as root later."
        raise BadInputError("--install is for a service, and for root.", hint)


def _init_from(folder: Path, source: Path, *, installs: bool) -> None:
    """Make only the files for this PC. The uids of people are looked up, because they differ between PCs."""
    from controller.commands.init.folder import make_folder_of

    found = make_folder_of(folder, source)
    write_out(f"{folder}: table {found.table.name} as in {source}; device {found.device.url}.")
    users = [(one.id, one.uids) for one in found.people] + [(one.id, one.uids) for one in found.readers]
    for name, uids in users:
        for uid in uids:
            write_out(f"uid {uid} of {name} is {user_named(uid) or 'not a user of this PC: correct it in table.toml'}.")
    if installs:
        _install(folder)
    else:
        write_out(f"\nsh {folder}/install.sh     # as root, once the journal is restored")


def _name(name: str, *, given: bool, asks: bool) -> str:
    if given or not asks:
        return checked_name(name)
    while True:
        entered = click.prompt("Name of the table", default=name, err=True)
        try:
            return checked_name(entered)
        except BadInputError:
            click.echo(WHY_NAME, err=True)


def _asked(question: str, default: str, choices: Sequence[str], *, asks: bool) -> str:
    if not asks:
        return default
    kind = click.Choice(choices, case_sensitive=False) if choices else None
    return str(click.prompt(question, default=default, type=kind, err=True))


def _device(folder: Path, given: str | None, *, simulated: bool, asks: bool) -> tuple[str, str]:
    """Return the URL and the pinned serial number, which may be empty."""
    if given is None and simulated:
        return f"serial://{folder}/device", ""
    if given is None and not asks:
        hint = "Add --device with a serial number or a URL; `cardshoe devices` shows what is plugged in."
        raise BadInputError("A real table needs its device.", hint)
    device = given or click.prompt("Serial number of the device, or its URL (`cardshoe devices` shows it)", err=True)
    if "://" in device:
        return device, ""
    if not is_serial(device) or "/" in device:
        raise BadInputError(f"--device {device[:60]!r} is neither a serial number nor a URL.", "As in CARDSHOE-0001.")
    return f"serial:///dev/cardshoe/{device}", device


def _choose_open(game: Game, chosen: dict[str, str], chosen_by: str, *, asks: bool) -> str:
    """Choose every setting without a default, as a real table must. Return who chose."""
    unchosen = [one for one in game.settings if one.must_be_chosen and one.id not in chosen]
    if unchosen and not asks:
        needed = " ".join(f"--reading {one.id}={'|'.join(one.words)}" for one in unchosen)
        raise BadInputError(f"{game.id} leaves choices to the casino.", f"Add {needed} --chosen-by NAME.")
    for one in unchosen:
        click.echo(f"{one.question} ({one.clause})", err=True)
        for word, meaning in one.options:
            click.echo(f"  {word}: {meaning}", err=True)
        chosen[one.id] = click.prompt("The casino's choice", type=click.Choice(one.words), err=True)
    if chosen and not chosen_by:
        if not asks:
            raise BadInputError("The person who chose the readings is not named.", "Add --chosen-by NAME.")
        chosen_by = click.prompt("The person who chose these readings", err=True)
    return chosen_by


def _console_user(*, simulated: bool, asks: bool) -> str:
    """Return the user of the console. A real table refuses root, whose programs would all count as the dealer."""
    own = invoking_user() if simulated or invoking_user() != ROOT else ""
    if not own and not asks:
        raise BadInputError(
            "A real table needs the user of its console.", "Add --console-user NAME; `adduser` makes one."
        )
    question = "User of this machine at the table's console"
    return str(click.prompt(question, default=own or None, err=True)) if asks else own


def _people(*, simulated: bool, asks: bool) -> list[NewPerson]:
    if simulated:
        return list(PLAYED)
    if not asks:
        raise BadInputError("A real table needs its people.", "Add --person ID=ROLE:NAME for each of them.")
    return ask_people()


def _summary(folder: Path, table: NewTable, *, installs: bool) -> list[str]:
    """Return what was made, the new PINs, and what comes next."""
    lines = [f"{folder}: table {table.name}, {table.game.id}, {table.unit}; device {table.device}."]
    lines += [f"PIN of {one.name} ({one.id}): {one.pin}" for one in table.people if one.made]
    if any(one.made for one in table.people):
        lines.append("Give each person their PIN, then clear this screen: the PINs are not shown again.")
    lines += ["", f"cardshoe config check {folder}/table.toml"]
    if table.here:
        lines.append(f"cardshoe run --config {folder}/table.toml")
        return lines + _played(table, folder)
    if not installs:
        lines += [f"sh {folder}/install.sh     # as root: the system user, udev's rules, the service"]
    if table.serial:
        lines.append(f"cardshoe devices pair {table.serial} --key-file /etc/cardshoe/{table.name}/device.keys")
        lines.append(f"systemctl restart cardshoe@{table.name}")
    if table.simulated:
        lines += _played(table, Path("/etc/cardshoe") / table.name)
        lines += ["", "The device creates its key at its first start; the daemon loads it at its next start:"]
        lines.append(f"systemctl restart cardshoe@{table.name}")
    lines.append(f"cardshoe doctor --config /etc/cardshoe/{table.name}/table.toml")
    lines += ["", f"Keep a copy of {folder}/journal.key in a safe: without it the journal cannot be read."]
    return lines


def _played(table: NewTable, keys: Path) -> list[str]:
    """Return how to deal at a simulated table."""
    command = simulate_command(table.unit, parse_device_url(table.device), keys / "device.keys")
    moved = "`lift` for each set" if table.unit is Unit.SETS else "`draw` for each card"
    lines = ["", "In another terminal, the device:", command]
    lines.append(f"There type `load` for a deck; in the deal, {moved}.")
    if table.port:
        first = 'first "Enrol this screen", with a pit supervisor\'s PIN'
        lines.append(f"The console: http://localhost:{table.port}/ ({first})")
    return lines


def _install(folder: Path) -> None:
    done = subprocess.run(["/bin/sh", str(folder / "install.sh")], check=False)  # noqa: S603  # the script that was just made
    if done.returncode:
        raise ProblemError(
            "The installation failed.",
            "The lines above say why. Correct it, then run the rest of install.sh.",
        )
