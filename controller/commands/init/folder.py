"""The folder of a new table: written next to its final place, checked as the daemon checks it, and only then moved to
that place.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path

import msgspec

from controller.api.pins import SALT, hash_pin
from controller.commands.config.configuration_options import toml
from controller.commands.init.answers import CARD_TABLE, NewPerson, NewTable, checked_name
from controller.commands.init.system import PACKAGED_UNIT, script, system_files
from controller.daemon.configuration import Configuration, ConfigurationError, read_configuration, with_path
from controller.daemon.configuration_files import files_of, mistakes_of_files
from controller.daemon.host import HostClock
from controller.journal import JournalError
from controller.journal.folder import newest_header
from controller.journal.sealing import create_key_file
from controller.problems import BadInputError, ProblemError
from firmware_bridge.device_keys import write_device_keys
from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.drivers.registry import RegisteredDriver, registered_driver
from firmware_bridge.edited_text import read_edited
from firmware_bridge.errors import BridgeError
from firmware_bridge.messages import Message, message

STATE = Path("/var/lib/cardshoe")
"""The folder of the journals of services."""
NOT_OVERWRITTEN = message("Nothing was overwritten. Name a new or an empty folder.")


def make_folder(folder: Path, table: NewTable) -> None:
    """Make the whole folder or nothing. Raise `BadInputError`, `ProblemError`."""
    _make(folder, lambda made: _write(made, folder, table), table)


def make_folder_of(folder: Path, source: Path) -> Configuration:
    """Make the folder of an existing table: configuration and keys from `source`, with the files of its PC.

    Raise `BadInputError`, `ProblemError`.
    """
    try:
        configuration = read_configuration(source / "table.toml")
    except ConfigurationError as error:
        raise BadInputError(error) from error
    if configuration.table.simulated and not configuration.journal.folder.is_relative_to(STATE):
        raise BadInputError(
            message("--from is for a real table."),
            message("A simulated table needs no files of its PC: copy its folder."),
        )
    name = checked_name(configuration.table.name)

    def write(made: Path) -> None:
        for path in files_of(configuration):
            if path.parent == source.resolve():
                _file(made / path.name, read_edited(path), 0o600)
        _file(made / "table.toml", read_edited(source / "table.toml"), 0o600)
        url = configuration.device_url
        serial = configuration.device.serial or _serial_of(url)
        if not (made / "device.keys").exists():
            write_device_keys(made / "device.keys", {})  # the unit hands it to the daemon
        table = configuration.device.card_table
        cards = table.name if table is not None and (made / table.name).exists() else ""
        _write_system(made, name, url, serial, cards, has_port=configuration.api.http is not None)

    _make(folder, write)
    return configuration


def _serial_of(url: DeviceUrl) -> str:
    path = Path(url.path)
    return path.name if url.scheme == "serial" and path.parent == Path("/dev/cardshoe") else ""


def _make(folder: Path, write: Callable[[Path], None], table: NewTable | None = None) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInputError(message("{folder} already exists.", folder=str(folder)), NOT_OVERWRITTEN)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise ProblemError(
            message("{folder} cannot be made: {why}.", folder=str(folder), why=error.strerror or str(error)),
            message("Name another folder."),
        ) from error
    try:
        write(made)
        _check(made, folder, learns_cards=table is not None and table.learns_cards)
        made.rename(folder)  # replaces an empty folder only
    except BridgeError as error:
        raise BadInputError(message("--device: {why}", why=error.message), error.hint) from error
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise BadInputError(message("{folder} already exists.", folder=str(folder)), NOT_OVERWRITTEN) from error
        raise ProblemError(
            message("{folder} cannot be written: {why}.", folder=str(folder), why=error.strerror or str(error)),
            message("Free space there, then try again."),
        ) from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _check(made: Path, folder: Path, *, learns_cards: bool) -> None:
    """Raise `BadInputError` for what the daemon would refuse, except a card table that is learned later."""
    try:
        configuration = read_configuration(made / "table.toml")
        if learns_cards:
            device = msgspec.structs.replace(configuration.device, card_table=None)
            configuration = msgspec.structs.replace(configuration, device=device)
        if mistakes := mistakes_of_files(configuration):
            raise ConfigurationError(made / "table.toml", mistakes)
    except ConfigurationError as error:
        raise BadInputError(
            message(
                "These answers do not describe a valid table. {mistakes}",
                mistakes=with_path(error.message, str(made), str(folder)),
            ),
            _how_to_go_on(made),
        ) from error


def _how_to_go_on(made: Path) -> Message:
    """Return the next step: the journal of an earlier table with this name stands in the way, or an answer is wrong."""
    with suppress(ConfigurationError, JournalError):
        journal = read_configuration(made / "table.toml").journal.folder
        if newest_header(journal) is not None:
            return message(
                "Nothing was written. Choose another name, or move the earlier table's journal away: {command}",
                command=f"mv {journal} {journal}-before",
            )
    return message("Nothing was written. Repeat the command with other answers.")


def _write(made: Path, folder: Path, table: NewTable) -> None:
    url = parse_device_url(table.device)
    driver = registered_driver(url.driver)
    today = datetime.fromtimestamp(HostClock().now().utc_ns / 1e9, UTC).date()
    _file(made / "table.toml", configuration_text(folder, table, today, driver), 0o600)
    create_key_file(made / "journal.key")
    write_device_keys(made / "device.keys", {})
    if table.here:
        return
    cards = CARD_TABLE if table.learns_cards else ""
    _write_system(made, table.name, url, table.serial, cards, has_port=table.port > 0)


def _write_system(made: Path, table: str, url: DeviceUrl, serial: str, cards: str, *, has_port: bool) -> None:
    (made / "system").mkdir(mode=0o755)
    files = system_files(table, url, serial, cards, has_port=has_port, is_packaged=Path(PACKAGED_UNIT).exists())
    for name, text in files.items():
        _file(made / "system" / name, text, 0o644)
    _file(made / "install.sh", script(table), 0o755)


def _file(path: Path, text: str, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def configuration_text(folder: Path, table: NewTable, today: date, driver: RegisteredDriver) -> str:
    """Return the table's file. `cardshoe config example` shows every other option with its default."""
    journal = "journal" if table.here else f"/var/lib/cardshoe/{table.name}/journal"
    socket = "api.sock" if table.here else f"/run/cardshoe/{table.name}/api.sock"
    lines = [
        "# Made by `cardshoe init`. Every other option, with its default: cardshoe config example",
        "[table]",
        f"name = {toml(table.name)}",
        f"game = {toml(table.game.id)}",
        f"unit = {toml(table.unit)}",
        f"simulated = {toml(table.simulated)}",
        *(["hands_by_device = true"] if table.simulated else []),
        "",
        "[device]",
        f"url = {toml(table.device)}",
        *(['key_file = "device.keys"'] if driver.needs_keys else []),
        *([f"card_table = {toml(CARD_TABLE)}"] if table.learns_cards else []),
        *([f"serial = {toml(table.serial)}"] if table.serial else []),
        "",
        "[journal]",
        f"folder = {toml(journal)}",
        'key_file = "journal.key"',
        "",
        "[api]",
        f"socket = {toml(socket)}",
        *(["", "[api.http]", f"port = {table.port}"] if table.port else []),
        *(line for person in table.people for line in _person(person)),
    ]
    for setting, option in table.readings.items():
        lines += ["", f"[readings.{setting}]", f"option = {toml(option)}"]
        lines += [f"chosen_by = {toml(table.chosen_by)}", f"chosen_on = {today.isoformat()}"] if table.chosen_by else []
    return "\n".join(lines) + "\n"


def _person(person: NewPerson) -> list[str]:
    lines = ["", "[[people]]", f"id = {toml(person.id)}", f"name = {toml(person.name)}", f"role = {toml(person.role)}"]
    if person.pin:
        lines.append(f"pin_hash = {toml(hash_pin(person.pin, secrets.token_bytes(SALT)))}")
    if person.uids:
        lines.append(f"uids = {toml(person.uids)}")
    return lines
