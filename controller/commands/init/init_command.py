"""`cardshoe init`: asks its questions, writes the folder, and says what comes next."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from controller.commands.game_options import find_game, read_options
from controller.commands.init.answers import (
    CARD_TABLE,
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
from controller.commands.standard_streams import OutputError, ReaderGoneError
from controller.commands.text import prompted, say, write_out
from controller.commands.vocabulary import UNIT_NAMES
from controller.games import GAMES
from controller.games.specification import Game, Unit
from controller.problems import BadInputError, ProblemError
from controller.roles import Role
from firmware_bridge.device_keys import is_serial
from firmware_bridge.device_url import parse_device_url
from firmware_bridge.messages import AnyText, Message, message

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
    game = find_game(game_id or _asked(message("Game"), "NC", list(GAMES), asks=asks))
    chosen_unit = Unit(
        unit or _asked(message("What the device dispenses"), "sets", [str(one) for one in Unit], asks=asks)
    )
    url, serial = _device(folder, device or (TRIAL_DEVICE if service else None), simulated=simulated, asks=asks)
    chosen = read_options(game, readings)
    if not simulated:
        chosen_by = _choose_open(game, chosen, chosen_by, asks=asks)
    people = [person_of(given) for given in persons] or _people(simulated=simulated, asks=asks)
    user = console_user or _console_user(simulated=here, asks=asks)
    if port is None:
        port = prompted(message("Port of the console in a browser; 0: none"), default=8080, type=PORT) if asks else 0
    with_pins = with_access(people, uid_of(user), make_pins=make_pins or yes, screens=port > 0)
    table = NewTable(table_name, game, chosen_unit, simulated, here, url, serial, chosen, chosen_by, with_pins, port)

    from controller.commands.init.folder import make_folder

    make_folder(folder, table)
    try:
        for line in _summary(folder, table, installs=installs):
            write_out(line)
        sys.stdout.flush()
    except OutputError as error:
        if not isinstance(error, ReaderGoneError):
            shutil.rmtree(folder)  # nobody has its PINs
        raise
    if installs:
        _install(folder)


def _require_sense(*, here: bool, simulated: bool, service: bool, installs: bool) -> None:
    """Check the options against each other. Raise `BadInputError` if they contradict each other."""
    if service and not simulated:
        raise BadInputError(
            message("--service is for a simulated table."), message("Leave it out: a real table is a service anyway.")
        )
    if installs and (here or os.geteuid() != 0):
        hint = (
            message("Leave --install out.")
            if here
            else message("Run this as root, or run the folder's install.sh as root later.")
        )
        raise BadInputError(message("--install is for a service, and for root."), hint)


def _init_from(folder: Path, source: Path, *, installs: bool) -> None:
    """Make only the files for this PC. The uids of people are looked up, because they differ between PCs."""
    from controller.commands.init.folder import make_folder_of

    found = make_folder_of(folder, source)
    write_out(
        message(
            "{folder}: table {name} as in {source}; device {url}.",
            folder=str(folder),
            name=found.table.name,
            source=str(source),
            url=str(found.device.url),
        )
    )
    users = [(one.id, one.uids) for one in found.people] + [(one.id, one.uids) for one in found.readers]
    for name, uids in users:
        for uid in uids:
            write_out(
                message(
                    "uid {uid} of {name} is {user}.",
                    uid=uid,
                    name=name,
                    user=user_named(uid) or message("not a user of this PC: correct it in table.toml"),
                )
            )
    if installs:
        _install(folder)
    else:
        write_out(message("\n{command}     # as root, once the journal is restored", command=f"sh {folder}/install.sh"))


def _name(name: str, *, given: bool, asks: bool) -> str:
    if given or not asks:
        return checked_name(name)
    while True:
        entered = prompted(message("Name of the table"), default=name)
        try:
            return checked_name(entered)
        except BadInputError:
            say(WHY_NAME)


def _asked(question: Message, default: str, choices: Sequence[str], *, asks: bool) -> str:
    if not asks:
        return default
    kind = click.Choice(choices, case_sensitive=False) if choices else None
    return str(prompted(question, default=default, type=kind))


def _device(folder: Path, given: str | None, *, simulated: bool, asks: bool) -> tuple[str, str]:
    """Return the URL and the pinned serial number, which may be empty."""
    if given is None and simulated:
        return f"serial://{folder}/device", ""
    if given is None and not asks:
        hint = message("Add --device with a serial number or a URL; `cardshoe devices` shows what is plugged in.")
        raise BadInputError(message("A real table needs its device."), hint)
    device = given or prompted(message("Serial number of the device, or its URL (`cardshoe devices` shows it)"))
    if "://" in device:
        return device, ""
    if not is_serial(device) or "/" in device:
        raise BadInputError(
            message("--device {device} is neither a serial number nor a URL.", device=repr(device[:60])),
            message("As in CARDSHOE-0001."),
        )
    return f"serial:///dev/cardshoe/{device}", device


def _choose_open(game: Game, chosen: dict[str, str], chosen_by: str, *, asks: bool) -> str:
    """Choose every setting without a default, as a real table must. Return who chose."""
    unchosen = [one for one in game.settings if one.must_be_chosen and one.id not in chosen]
    if unchosen and not asks:
        needed = " ".join(f"--reading {one.id}={'|'.join(one.words)}" for one in unchosen)
        raise BadInputError(
            message("{id} leaves choices to the casino.", id=game.id),
            message("Add {options} --chosen-by NAME.", options=needed),
        )
    for one in unchosen:
        say(message("{question} ({clause})", question=one.question, clause=one.clause))
        for word, meaning in one.options:
            say(message("  {word}: {meaning}", word=word, meaning=meaning))
        chosen[one.id] = prompted(message("The casino's choice"), type=click.Choice(one.words))
    if chosen and not chosen_by:
        if not asks:
            raise BadInputError(
                message("The person who chose the readings is not named."), message("Add --chosen-by NAME.")
            )
        chosen_by = prompted(message("The person who chose these readings"))
    return chosen_by


def _console_user(*, simulated: bool, asks: bool) -> str:
    """Return the user of the console. A real table refuses root, whose programs would all count as the dealer."""
    own = invoking_user() if simulated or invoking_user() != ROOT else ""
    if not own and not asks:
        raise BadInputError(
            message("A real table needs the user of its console."),
            message("Add --console-user NAME; `adduser` creates a user."),
        )
    question = message("User of this machine at the table's console")
    return str(prompted(question, default=own or None)) if asks else own


def _people(*, simulated: bool, asks: bool) -> list[NewPerson]:
    if simulated:
        return list(PLAYED)
    if not asks:
        raise BadInputError(
            message("A real table needs people in its configuration."),
            message("Add --person ID=ROLE:NAME for each of them."),
        )
    return ask_people()


def _summary(folder: Path, table: NewTable, *, installs: bool) -> list[AnyText]:
    """Return what was made, the new PINs, and what comes next."""
    lines: list[AnyText] = [
        message(
            "{folder}: table {name}, {id}, {unit}; device {device}.",
            folder=str(folder),
            name=table.name,
            id=table.game.id,
            unit=UNIT_NAMES[table.unit],
            device=table.device,
        )
    ]
    lines += [
        message("PIN for {name} ({id}): {pin}", name=one.name, id=one.id, pin=one.pin)
        for one in table.people
        if one.made
    ]
    if any(one.made for one in table.people):
        lines.append(message("Give each person their PIN, then clear this screen: the PINs are not shown again."))
    lines.append("")
    if table.learns_cards:
        lines.append(
            message(
                "{command}     # then draw a deck in order",
                command=f"cardshoe devices listen {shlex.quote(table.device)} --learn {folder / CARD_TABLE}",
            )
        )
    lines.append(f"cardshoe config check {folder}/table.toml")
    if table.here:
        lines.append(f"cardshoe run --config {folder}/table.toml")
        return lines + _played(table, folder)
    if not installs:
        lines += [
            message(
                "{command}     # as root: the system user, udev's rules, the service", command=f"sh {folder}/install.sh"
            )
        ]
    if table.serial:
        lines.append(f"cardshoe devices pair {table.serial} --key-file /etc/cardshoe/{table.name}/device.keys")
        lines.append(f"systemctl restart cardshoe@{table.name}")
    if table.simulated:
        lines += _played(table, Path("/etc/cardshoe") / table.name)
        lines += ["", message("The device creates its key at its first start; the daemon loads it at its next start:")]
        lines.append(f"systemctl restart cardshoe@{table.name}")
    lines.append(f"cardshoe doctor --config /etc/cardshoe/{table.name}/table.toml")
    lines += [
        "",
        message(
            "Keep a copy of {path} in a safe: without it the journal cannot be read.", path=f"{folder}/journal.key"
        ),
    ]
    return lines


def _played(table: NewTable, keys: Path) -> list[AnyText]:
    """Return how to deal at a simulated table."""
    command = simulate_command(table.unit, parse_device_url(table.device), keys / "device.keys")
    moved = message("`lift` for each set") if table.unit is Unit.SETS else message("`draw` for each card")
    lines: list[AnyText] = ["", message("In another terminal, the device:"), command]
    lines.append(message("There type `load` for a deck; in the deal, {moved}.", moved=moved))
    if table.port:
        first = message('first "Enrol this screen", with a pit supervisor\'s PIN')
        lines.append(message("The console: {url} ({first})", url=f"http://localhost:{table.port}/", first=first))
    return lines


def _install(folder: Path) -> None:
    done = subprocess.run(["/bin/sh", str(folder / "install.sh")], check=False)  # noqa: S603  # the script that was just made
    if done.returncode:
        raise ProblemError(
            message("The installation failed."),
            message("The lines above say why. Correct it, then run the rest of install.sh."),
        )
