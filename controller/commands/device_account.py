"""What `cardshoe devices` found, and how it is shown."""

from __future__ import annotations

import msgspec

from controller.commands.page import Page
from firmware_bridge.asking import Account
from firmware_bridge.device_url import parse_device_url
from firmware_bridge.discovery import PluggedIn
from firmware_bridge.drivers.registry import Maturity, registered_driver


class AskedDevice(msgspec.Struct, frozen=True):
    """A device that was opened at `url`, and what it said."""

    url: str
    account: Account


class Devices(msgspec.Struct, frozen=True):
    """Everything that was found. `paired`: the serial numbers that the key file has keys for."""

    devices: tuple[PluggedIn, ...]
    asked: tuple[AskedDevice, ...]
    paired: tuple[str, ...]
    problems: tuple[str, ...]
    key_file: str


def write(paper: Page, found: Devices) -> None:
    """Everything, in lines."""
    paper.heading("Plugged in")
    if not found.devices:
        paper.entry("Nothing that this program could speak to. A device behind a serial server is named with --url.")
    for device in found.devices:
        _write_device(paper, device, found)
    for asked in found.asked:
        _write_asked(paper, asked, found)
    if found.paired:
        paper.heading(f"Paired ({found.key_file})")
        seen = {device.serial for device in found.devices} | {
            asked.account.identity.serial for asked in found.asked if asked.account.identity is not None
        }
        for serial in found.paired:
            paper.entry(f"{serial}: {'there' if serial in seen else 'not seen'}")
    if found.problems:
        paper.heading("Problems")
        for problem in found.problems:
            paper.entry(problem)


def _write_device(paper: Page, device: PluggedIn, found: Devices) -> None:
    named = ", ".join(filter(None, (device.serial, device.usb, device.description)))
    paper.entry(f"{device.place}: {named or 'it tells nothing of itself'}")
    if device.problem:
        paper.entry(device.problem, indent=4)
    if not device.driver:
        paper.entry(device.advice, indent=4)
        return
    paper.entry(f"driver {device.driver}: {device.maturity}", indent=4)
    if device.serial not in found.paired:
        paper.entry(
            f"no key for it in {found.key_file}: cardshoe devices pair {device.serial} --key-file {found.key_file}",
            indent=4,
        )
    if device.url not in {asked.url for asked in found.asked}:
        _write_section(paper, section(device.url, found.key_file, device.serial))


def _write_asked(paper: Page, asked: AskedDevice, found: Devices) -> None:
    account = asked.account
    paper.heading(f"Asked: {asked.url}")
    if account.identity is None:
        paper.entry(f"{account.code}: {account.sentence} {account.hint}".rstrip())
        return
    said = account.identity
    row = registered_driver(parse_device_url(asked.url).driver)
    proven = "proven by its key" if row.needs_keys else "by the URL's name: it tells nothing of itself"
    paper.entry(f"{said.kind} {said.maker} {said.model}, serial {said.serial or 'none'} ({proven})")
    paper.entry(f"yields {said.unit}, for {said.deck_size} cards{', SIMULATED' if said.simulated else ''}")
    paper.entry(f"driver {row.name}: {row.maturity.value}")
    paper.entry(f"firmware {said.firmware or 'not told'}, digest {said.firmware_digest or 'not told'}")
    can = [name for name, value in msgspec.structs.asdict(said.capabilities).items() if value is True]
    paper.entry(f"can: {', '.join(can) or 'nothing'}; dispenses {said.capabilities.dispenses}")
    for sentence in account.cannot:
        paper.entry(sentence)
    _write_section(paper, section_of(asked, found.key_file))


def section_of(asked: AskedDevice, key_file: str) -> str:
    """The section for a device that has given account of itself."""
    said = asked.account.identity
    assert said is not None
    row = registered_driver(parse_device_url(asked.url).driver)
    if row.needs_keys or row.maturity is Maturity.OTHERS:
        return section(asked.url, key_file if row.needs_keys else "", said.serial, said.firmware_digest)
    return section(asked.url, "", "", card_table=row.needs_card_table)


def section(url: str, key_file: str, serial: str, digest: str = "", *, card_table: bool = False) -> str:
    """`[device]` of a configuration."""
    lines = ["[device]", f"url = {_text(url)}"]
    lines += [f"key_file = {_text(key_file)}"] if key_file else []
    lines += ['card_table = "cards.csv"'] if card_table else []
    lines += [f"serial = {_text(serial)}"] if serial else []
    lines += [f"firmware_digests = [{_text(digest)}]"] if digest else []
    return "\n".join(lines)


def _text(value: str) -> str:
    """A TOML string; JSON's escapes are TOML's."""
    return msgspec.json.encode(value).decode()


def _write_section(paper: Page, text: str) -> None:
    for line in text.splitlines():
        paper.entry(line, indent=6)
