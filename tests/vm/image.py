"""The machine that every test resumes: Debian, the program, a table, and its daemon that waits for a device.

The program is installed in the running machine with the Debian package, and the table is set up as docs/install.md
describes. Then the machine is switched off and on: the saved state came up from a boot.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from controller.roles import Role
from deb.package import build
from simulators.people.crew import CrewMember
from tests.architecture.sources import ROOT
from tests.vm.cache import kept, key_of
from tests.vm.debian import Debian, debian, run
from tests.vm.machine import FORWARDED, Machine, Parts, accelerator, file_drive

TABLE: Final = "NC-01"
SERIAL: Final = "CARDSHOE-0001"
SERVICE: Final = f"cardshoe@{TABLE}"
CONFIGURATION: Final = f"/etc/cardshoe/{TABLE}/table.toml"
SOCKET: Final = f"/run/cardshoe/{TABLE}/api.sock"
LINK: Final = f"/dev/cardshoe/{SERIAL}"
HTTP_PORT: Final = 8080
PACKAGE: Final = "/root/cardshoe.deb"
SIZE: Final = "1500M"  # of the disk; unwritten parts take no space
PEOPLE: Final = (
    ("dana", Role.DEALER, "Dana"),
    ("sam", Role.PIT_SUPERVISOR, "Sam Ho"),
    ("max", Role.SHIFT_MANAGER, "Max"),
)
OF_THE_PRODUCT: Final = ("firmware_bridge", "controller", "shuffle_audit", "simulators", "udev", "tools",
                         "pyproject.toml", "requirements.txt", "requirements-build.txt", "README.md",
                         "LICENSE")  # fmt: skip
MADE_BY: Final = ("image.py", "machine.py")
PROXY: Final = f"""\
[Unit]
Description=The table's socket, for people outside the machine
[Socket]
ListenStream={FORWARDED}
[Install]
WantedBy=sockets.target
"""
PROXIED: Final = f"""\
[Unit]
Description=The table's socket, for people outside the machine
[Service]
User=dealer
ExecStart=/lib/systemd/systemd-socket-proxyd {SOCKET}
"""


class TableFacts(msgspec.Struct, frozen=True):
    """The facts of the table that people outside know. `key`: the device's. `made_in`: seconds that each step took."""

    pins: dict[str, str]
    key: str
    made_in: dict[str, float]

    @property
    def device_key(self) -> bytes:
        return bytes.fromhex(self.key)

    @property
    def crew(self) -> tuple[CrewMember, ...]:
        """Return the crew: the dealer is the user of the proxy and enters no PIN."""
        return tuple(
            CrewMember(name, called, role, "" if role is Role.DEALER else self.pins[name])
            for name, role, called in PEOPLE
        )


class Image(msgspec.Struct, frozen=True):
    """A saved machine."""

    kernel: Path
    initial: Path
    disk: Path
    memory: Path
    facts: TableFacts

    @property
    def resumed(self) -> Parts:
        return Parts(self.kernel, self.initial, file_drive(self.disk, changed=False), self.memory)


def image() -> Image:
    """Return the image from the cache, or make it."""
    base = debian()
    version = run(["qemu-system-x86_64", "--version"])
    here = Path(__file__).parent
    key = key_of((base.key, version, accelerator(), *product_files(), *(here / name for name in MADE_BY)))
    folder = kept("image", key, lambda folder: asyncio.run(_make(folder, base)))
    facts = msgspec.json.decode((folder / "facts.json").read_bytes(), type=TableFacts)
    return Image(base.kernel, base.initial, folder / "disk", folder / "memory", facts)


def product_files() -> list[Path]:
    """Return all files that are installed."""
    found: list[Path] = []
    for name in OF_THE_PRODUCT:
        path = ROOT / name
        found += sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    return [path for path in found if path.suffix != ".pyc"]


async def _make(folder: Path, base: Debian) -> None:
    made_in = {}
    begun = time.monotonic()
    await asyncio.to_thread(_make_disk, folder, base.root)
    made_in["the package and the disk"] = time.monotonic() - begun
    parts = Parts(base.kernel, base.initial, file_drive(folder / "disk", changed=True))
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cardshoe-vm-") as name:
        async with Machine(parts, Path(name)) as machine:
            made_in["first boot"] = time.monotonic() - begun
            begun = time.monotonic()
            await machine.guest.run(f"apt-get install --yes {PACKAGE}")
            made_in["installation"] = time.monotonic() - begun
            begun = time.monotonic()
            pins, key = await set_up_table(machine)
            await machine.power_off()
            made_in["the table"] = time.monotonic() - begun
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cardshoe-vm-") as name:
        async with Machine(parts, Path(name)) as machine:
            await machine.guest.until(f"systemctl is-active {SERVICE}")
            await machine.guest.run("systemctl is-system-running --wait")
            await machine.guest.run("modprobe --all vhci-hcd cdc-acm && sync")
            made_in["second boot"] = time.monotonic() - begun
            await machine.save(folder / "memory")
    facts = TableFacts(pins, key, {step: round(seconds, 1) for step, seconds in made_in.items()})
    (folder / "facts.json").write_bytes(msgspec.json.encode(facts))


async def set_up_table(machine: Machine) -> tuple[dict[str, str], str]:
    """Set the table up as on the page, with people's PINs and the device's key."""
    guest = machine.guest
    people = " ".join(f'--person "{name}={role}:{called}"' for name, role, called in PEOPLE)
    told = await guest.run(
        f"cd /root && cardshoe init {TABLE} --yes --game NC --unit sets --device {SERIAL} --console-user dealer "
        f'--port {HTTP_PORT} {people} --reading established_by=mathematically --chosen-by "J. Tan, Gaming Manager"'
    )
    pins = dict(re.findall(r"^PIN for .* \((\w+)\): (\d+)$", told, re.MULTILINE))
    assert pins.keys() == {name for name, _, _ in PEOPLE}, told
    # The device reports that it is simulated, and a table for real play refuses it.
    await guest.run(f"cd /root/{TABLE} && sed -i 's/^simulated = false/simulated = true/' table.toml && sh install.sh")
    keys = f"/etc/cardshoe/{TABLE}/device.keys"
    await guest.run(f"cardshoe devices pair {SERIAL} --key-file {keys}")
    await guest.write("/etc/systemd/system/proxy.socket", PROXY.encode())
    await guest.write("/etc/systemd/system/proxy.service", PROXIED.encode())
    await guest.run(f"systemctl daemon-reload && systemctl enable --now proxy.socket && systemctl restart {SERVICE}")
    kept_keys = (await guest.read(keys)).decode()
    found = re.search(rf"^{SERIAL}\s+([0-9a-f]{{64}})$", kept_keys, re.MULTILINE)
    assert found is not None
    return pins, found[1]


def _make_disk(folder: Path, archive: Path) -> None:
    """Make a disk with the root and the program's package."""

    def furnish(root: Path) -> None:
        shutil.copy(build(root.parent), root / PACKAGE.lstrip("/"))

    make_disk(folder / "disk", archive, SIZE, furnish)


def make_disk(disk: Path, archive: Path, size: str, furnish: Callable[[Path], None]) -> None:
    """Make a file system in a file: a root with the console's user and the given files."""
    with tempfile.TemporaryDirectory(prefix="cardshoe-root-", dir=disk.parent) as name:
        root = Path(name) / "root"
        root.mkdir()
        run(["tar", "--extract", "--numeric-owner", "--xattrs", "--file", str(archive), "--directory", str(root)])
        furnish(root)
        run(["chroot", str(root), "useradd", "--create-home", "--shell", "/bin/sh", "dealer"])
        run(["truncate", "--size", size, str(disk)])
        run(["mke2fs", "-q", "-t", "ext4", "-d", str(root), str(disk)])
