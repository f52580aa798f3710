"""`cardshoe devices`: connected devices, their identity, the configuration to paste, and pairing."""

from __future__ import annotations

import asyncio
import grp
import io
import pwd
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

import click
import msgspec

from controller.api.in_language import in_language
from controller.commands.found_commands import of_extra
from controller.commands.game_options import print_json
from controller.commands.reader_lines import LearnedTable, in_print, wait_for_lines, write_new
from controller.commands.text import Page, page, prompted, write_out
from controller.problems import BadInputError, DeviceProblemError
from firmware_bridge.device_keys import (
    DeviceKeys,
    OneKey,
    add_device_key,
    key_from_typed,
    read_device_keys,
    remove_device_key,
    typed_form,
)
from firmware_bridge.device_url import parse_device_url
from firmware_bridge.discovery import NAMED, Discovery, FoundDevice, Lists, discover
from firmware_bridge.drivers.cardlink.sealing import KEY_SIZE
from firmware_bridge.drivers.registry import Maturity, driver_problems, registered_driver
from firmware_bridge.errors import BadDeviceUrlError, BridgeError, KeyFileError
from firmware_bridge.identify import Identification, identify
from firmware_bridge.messages import Message, message

GROUPS_A_LINE: Final = 4
INSTALLED: Final = Path("/etc/cardshoe")
MATURITY: Final = {
    Maturity.OWN: message("this project's own protocol"),
    Maturity.COMMUNITY: message("community, unverified against the maker's specification"),
    Maturity.OTHERS: message("from another package, not tested by this project"),
}
PROVEN_BY: Final = {
    "": message("proven by its key"),
    "old": message("proven by its old key"),
    "next": message("proven by its next key"),
}
KEY_FILE = click.option(
    "--key-file", required=True, type=click.Path(path_type=Path), help="The table's [device] key_file."
)


@click.group(invoke_without_command=True)
@click.option("--ask", "asks", is_flag=True, help="Open the devices whose driver is known, and ask for their identity.")
@click.option("--url", "urls", multiple=True, metavar="URL", help="Ask this device too; may be repeated.")
@click.option("--key-file", type=click.Path(path_type=Path), help="The keys of paired devices ([device] key_file).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def devices(context: click.Context, asks: bool, urls: tuple[str, ...], key_file: Path | None, as_json: bool) -> None:
    """List what is plugged in, which driver fits, and the configuration to paste.

    Without --ask or --url nothing is opened except a USB device, for its serial number. A device in use by a running
    daemon cannot be asked.
    """
    if context.invoked_subcommand is not None:
        return
    keys = _keys(key_file)
    lists = context.obj if isinstance(context.obj, Lists) else _system_lists()  # a test passes its own lists
    found = asyncio.run(_find(discover(lists), asks, urls, keys, key_file))
    if as_json:
        print_json(in_language(found, None))
    else:
        paper = page()
        write(paper, found)
        paper.show()
    if failed := [asked for asked in found.asked if asked.account.identity is None]:
        raise DeviceProblemError(
            message("{silent} of {asked} devices did not answer.", silent=len(failed), asked=len(found.asked)),
            message("The lines above say why."),
        )


def _system_lists() -> Lists:
    from firmware_bridge.transports.serial_port import list_ports
    from firmware_bridge.transports.usb_lookup import list_usb

    return Lists(list_ports, list_usb, lambda: sorted(NAMED.iterdir()) if NAMED.is_dir() else ())


def _keys(key_file: Path | None) -> DeviceKeys:
    try:
        return DeviceKeys() if key_file is None else read_device_keys(key_file)
    except KeyFileError as error:
        raise BadInputError(error) from error


async def _find(
    around: Discovery, asks: bool, urls: tuple[str, ...], keys: DeviceKeys, key_file: Path | None
) -> Devices:
    """Find the connected devices, and ask those that may be asked, one after the other."""
    try:
        asked = [str(parse_device_url(url)) for url in urls]
    except BadDeviceUrlError as error:
        raise BadInputError(error) from error
    asked += [one.url for one in around.devices if asks and _may_be_asked(one) and one.url not in asked]
    accounts = [AskedDevice(url, await identify(parse_device_url(url), keys)) for url in asked]
    return Devices(
        devices=around.devices,
        asked=tuple(accounts),
        paired=tuple(sorted(keys)),
        problems=(*around.problems, *driver_problems()),
        key_file="device.keys" if key_file is None else str(key_file),
    )


def _may_be_asked(device: FoundDevice) -> bool:
    """Return whether the device may be opened. Opening a port moves its modem lines: unknown devices are left alone."""
    return bool(device.driver and device.url)


@devices.command()
@click.argument("serial")
@KEY_FILE
@click.option("--replace", is_flag=True, help="Make a new key even if the file has one for this device.")
@click.option("--next", "as_next", is_flag=True, help="Keep the present key: the device may have either of the two.")
@click.option("--enter", "enters", is_flag=True, help="Type the key that was printed for this device elsewhere.")
@click.option("--qr", "as_qr", is_flag=True, help="Print the key as a QR code too, for a device that can read one.")
def pair(serial: str, key_file: Path, replace: bool, as_next: bool, enters: bool, as_qr: bool) -> None:
    """Make a key for the device with this serial number, store it in the file and print it once.

    Enter it by hand in the device's service menu: no key is sent over the line. The last two digits of each group are
    check digits. To change the key of a device in use, add --next; `status` shows which key the device has. When it has
    the next one, remove the old one with `cardshoe devices forget SERIAL --only old`.
    """
    if as_qr and enters:
        raise BadInputError(message("--qr shows a new key; leave out --enter or --qr."))
    if as_qr:  # before a key is made
        with of_extra("qr", message("A QR code cannot be printed")):
            import segno
    try:
        key = key_from_typed(prompted(message("Key"))) if enters else secrets.token_bytes(KEY_SIZE)
        add_device_key(key_file, serial, key, replace=replace, as_next=as_next)
    except KeyFileError as error:
        raise BadInputError(error) from error
    if enters:
        write_out(message("{path} has the key for {serial}.", path=str(key_file), serial=serial))
        return
    groups = typed_form(key).split(" ")
    for place in range(0, len(groups), GROUPS_A_LINE):
        write_out(" ".join(groups[place : place + GROUPS_A_LINE]))
    if as_qr:
        code = io.StringIO()
        segno.make(typed_form(key), error="m").terminal(code, compact=True)
        write_out(code.getvalue().rstrip("\n"))
    write_out(
        message(
            "Enter this key in the service menu of {serial}; it is not shown again, and {path} keeps it.",
            serial=serial,
            path=str(key_file),
        )
    )
    write_out(_readers_of(key_file))
    write_out(message("Then clear this screen. {check}", check=_how_to_check(key_file)))


def _how_to_check(key_file: Path) -> Message:
    """Say how to check the pairing. A running daemon holds the port, and may use a copy of the file."""
    asked = f"cardshoe devices --ask --key-file {key_file}"
    folder = key_file.resolve().parent
    if folder.parent != INSTALLED:
        return message(
            "See that it holds: {command}; if a daemon uses the device, check with `cardshoe status` after a restart.",
            command=asked,
        )
    shown = f"cardshoe status --socket /run/cardshoe/{folder.name}/api.sock"
    return message(
        "See that it holds: systemctl restart cardshoe@{table}, then {command}; without a daemon: {asked}",
        table=folder.name,
        command=shown,
        asked=asked,
    )


def _readers_of(key_file: Path) -> Message:
    """Say who may read the keys; the daemon must be among them."""
    found = key_file.stat()
    with suppress(KeyError):
        owner = pwd.getpwuid(found.st_uid).pw_name
        if not found.st_mode & stat.S_IRGRP:
            return message(
                "Only {owner} may read that file. The daemon must run as that user, or get the file from systemd.",
                owner=owner,
            )
        return message(
            "{owner} and the group {group} may read that file.", owner=owner, group=grp.getgrgid(found.st_gid).gr_name
        )
    return message(
        "Its owner is {uid}, its group {gid}: the daemon must be able to read it.", uid=found.st_uid, gid=found.st_gid
    )


@devices.command()
@click.argument("serial")
@KEY_FILE
@click.option("--only", type=click.Choice(["old", "next"]), help="Which of two keys; the other one is kept.")
def forget(serial: str, key_file: Path, only: OneKey | None) -> None:
    """Remove the key of this device from the file: it is refused from the next link on."""
    try:
        remove_device_key(key_file, serial, only)
    except KeyFileError as error:
        raise BadInputError(error) from error
    if only is not None:
        write_out(message("{path} has one key for {serial}.", path=str(key_file), serial=serial))
        return
    write_out(
        message(
            "{path} no longer has a key for {serial}: the device will be refused from the next link on. "
            "To end the present link, unplug the device.",
            path=str(key_file),
            serial=serial,
        )
    )


@devices.command()
@click.argument("url")
@click.option("--lines", type=click.IntRange(min=1), metavar="N", help="End after this many lines.")
@click.option("--learn", type=click.Path(path_type=Path), metavar="FILE",
              help="Write a card table to this new file, from a deck that is drawn in order: clubs, diamonds, hearts, "
                   "spades, each from the ace.")  # fmt: skip
def listen(url: str, lines: int | None, learn: Path | None) -> None:
    """Show each line that a reader of cards sends, with every byte around the identifier.

    Stop with Ctrl-C. A daemon that uses the device has to be stopped before.
    """
    table = LearnedTable()
    left = lines

    def take(line: bytes) -> bool:
        nonlocal left
        write_out(in_print(line))
        if left is not None:
            left -= 1
        if learn is not None:
            if (problem := table.take(line)) is not None:
                write_out(problem)
            if table.is_whole:
                return True
            write_out(table.next_step())
        return left == 0

    if learn is not None:
        if learn.suffix != ".toml":
            raise BadInputError(
                message("{path} would be read as CSV, and a learned card table is TOML.", path=str(learn)),
                message("Name a file that ends in .toml."),
            )
        if learn.exists():
            raise BadInputError(message("{path} exists already: name a new file.", path=str(learn)))
        write_out(table.next_step())
    try:
        asyncio.run(wait_for_lines(parse_device_url(url), take))
    except BadDeviceUrlError as error:
        raise BadInputError(error) from error
    except BridgeError as error:
        raise DeviceProblemError(error.message, error.hint) from error
    if learn is not None and table.is_whole:
        write_new(learn, table)
        write_out(message("{path} has the card of each identifier. Name it in [device] card_table.", path=str(learn)))


class AskedDevice(msgspec.Struct, frozen=True):
    """A device that was opened at `url`, and its answer."""

    url: str
    account: Identification


class Devices(msgspec.Struct, frozen=True):
    """Everything that was found. `paired` holds the serial numbers with a key in the key file."""

    devices: tuple[FoundDevice, ...]
    asked: tuple[AskedDevice, ...]
    paired: tuple[str, ...]
    problems: tuple[Message, ...]
    key_file: str


def write(paper: Page, found: Devices) -> None:
    """Write everything that was found, in lines."""
    paper.heading(message("Plugged in"))
    if not found.devices:
        paper.entry(
            message("No device was found that this program can use. Name a device behind a serial server with --url.")
        )
    for device in found.devices:
        _write_device(paper, device, found)
    for asked in found.asked:
        _write_asked(paper, asked, found)
    if found.paired:
        paper.heading(message("Paired ({file})", file=found.key_file))
        seen = {device.serial for device in found.devices} | {
            asked.account.identity.serial for asked in found.asked if asked.account.identity is not None
        }
        for serial in found.paired:
            there = message("there") if serial in seen else message("not seen")
            paper.entry(message("{serial}: {state}", serial=serial, state=there))
    if found.problems:
        paper.heading(message("Problems"))
        for problem in found.problems:
            paper.entry(problem)


def _write_device(paper: Page, device: FoundDevice, found: Devices) -> None:
    named = ", ".join(filter(None, (device.serial, device.usb, device.description)))
    paper.entry(message("{place}: {device}", place=device.place, device=named or message("no description")))
    if device.problem:
        paper.entry(device.problem, indent=4)
    if not device.driver:
        paper.entry(device.advice, indent=4)
        return
    paper.entry(_driver(device.driver, Maturity(device.maturity)), indent=4)
    if device.serial not in found.paired:
        paper.entry(
            message(
                "no key for it in {file}: {command}",
                file=found.key_file,
                command=f"cardshoe devices pair {device.serial} --key-file {found.key_file}",
            ),
            indent=4,
        )
    if device.url not in {asked.url for asked in found.asked}:
        _write_section(paper, section(device.url, found.key_file, device.serial))


def _write_asked(paper: Page, asked: AskedDevice, found: Devices) -> None:
    account = asked.account
    paper.heading(message("Asked: {url}", url=asked.url))
    if account.identity is None:
        why = tuple(one for one in (account.sentence, account.hint) if one)
        paper.entry(message("{code}: {parts:sentences}", code=account.code, parts=why))
        return
    said = account.identity
    row = registered_driver(parse_device_url(asked.url).driver)
    proven = PROVEN_BY[account.key] if row.needs_keys else message("by the URL's name: it cannot identify itself")
    paper.entry(
        message(
            "{device}, serial {serial} ({proven})",
            device=f"{said.kind} {said.maker} {said.model}",
            serial=said.serial or message("none"),
            proven=proven,
        )
    )
    paper.entry(message("dispenses {unit}, for {cards} cards", unit=said.unit, cards=said.deck_size))
    if said.simulated:
        paper.entry(message("SIMULATED"))
    paper.entry(_driver(row.name, row.maturity))
    paper.entry(
        message(
            "firmware {firmware}, digest {digest}",
            firmware=said.firmware or message("unknown"),
            digest=said.firmware_digest or message("unknown"),
        )
    )
    can = [name for name, value in msgspec.structs.asdict(said.capabilities).items() if value is True]
    paper.entry(
        message(
            "can: {can:list}; dispenses {dispenses}",
            can=tuple(can) or message("nothing"),
            dispenses=said.capabilities.dispenses,
        )
    )
    for sentence in account.cannot:
        paper.entry(sentence)
    _write_section(paper, section_of(asked, found.key_file))


def _driver(name: str, maturity: Maturity) -> Message:
    return message("driver {name}: {maturity}", name=name, maturity=MATURITY[maturity])


def section_of(asked: AskedDevice, key_file: str) -> str:
    """Return the configuration section for a device that has answered."""
    said = asked.account.identity
    assert said is not None
    row = registered_driver(parse_device_url(asked.url).driver)
    if row.needs_keys or row.maturity is Maturity.OTHERS:
        return section(asked.url, key_file if row.needs_keys else "", said.serial, said.firmware_digest)
    return section(asked.url, "", "", card_table=row.needs_card_table)


def section(url: str, key_file: str, serial: str, digest: str = "", *, card_table: bool = False) -> str:
    """Return the section `[device]` of a configuration."""
    lines = ["[device]", f"url = {_text(url)}"]
    lines += [f"key_file = {_text(key_file)}"] if key_file else []
    lines += ['card_table = "cards.toml"'] if card_table else []
    lines += [f"serial = {_text(serial)}"] if serial else []
    lines += [f"firmware_digests = [{_text(digest)}]"] if digest else []
    return "\n".join(lines)


def _text(value: str) -> str:
    """Return a TOML string. JSON's escapes are valid in TOML."""
    return msgspec.json.encode(value).decode()


def _write_section(paper: Page, text: str) -> None:
    for line in text.splitlines():
        paper.entry(line, indent=6)
