"""The server of a floor before its setup: Debian with the packages that docs/floor_deployment.md names, and the program
installed as on that page.

The following steps of the page are done in the running machine.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from textwrap import dedent
from typing import Final, NamedTuple

from deb.sources import export
from tests.architecture.sources import ROOT
from tests.vm.cache import kept, key_of
from tests.vm.debian import Debian, debian, run
from tests.vm.image import TABLE, make_disk, product_files
from tests.vm.machine import ADDRESS

PINNED: Final = ("requirements-floor.txt", "requirements-build.txt")
SOURCES: Final = "/root/cardshoe"
AUTHORITY: Final = f"{SOURCES}/authority"
SIZE: Final = "2500M"  # of the disk; unwritten parts take no space
NOT_HERE: Final = {"prometheus"}  # it takes time, and nothing on the page needs it
BLOCK: Final = re.compile(r"^ *```(sh|toml)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
IN_THE_HOUSE: Final = (  # the pages' names, and what a technician writes instead
    ("nc-07", TABLE), ("10.0.0.5", ADDRESS),
)  # fmt: skip


class Block(NamedTuple):
    """A block of commands. `kind`: sh, or toml for the end of the table's configuration."""

    kind: str
    text: str


def blocks(page: str, section: str) -> list[Block]:
    """Return the blocks that a section of a page has a technician enter, in their order."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    (found,) = re.findall(rf"^#+ {section}\n(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
    return [Block(kind, in_the_house(dedent(written))) for kind, written in BLOCK.findall(found)]


def in_the_house(text: str) -> str:
    for written, here in IN_THE_HOUSE:
        text = text.replace(written, here)
    return text


def server() -> tuple[Debian, Path]:
    """Return the server from the cache, or make it: the boot files, and the disk, which must be copied before use."""
    first = blocks("floor_deployment.md", "One pit on one server")[0].text
    packages = sorted(set(re.findall(r"apt-get install -y (.*)", first)[0].split()) - NOT_HERE)
    commands = "".join(line for line in first.splitlines(keepends=True) if not line.startswith("apt-get "))
    base = debian(packages)
    shipped = sorted(path for path in (ROOT / "deployment").rglob("*") if path.is_file())
    here = (Path(__file__), *(ROOT / name for name in PINNED))
    key = key_of((base.key, commands, *product_files(), *shipped, *here))
    folder = kept("floor", key, lambda folder: _make(folder / "disk", base, commands))
    return base, folder / "disk"


def _make(disk: Path, base: Debian, commands: str) -> None:
    """Make the disk. pip takes its packages from a folder, because the machine reaches no network."""

    def furnish(root: Path) -> None:
        sources, wheels = root / SOURCES.lstrip("/"), root / "root/wheels"
        export(sources)
        download = (sys.executable, "-m", "pip", "download", "-q", "--no-deps")
        run([*download, *(f"-r{name}" for name in PINNED), "-d", str(wheels)], folder=sources)
        environment = ("PATH=/usr/local/bin:/usr/bin:/usr/sbin", "PIP_NO_INDEX=1", "PIP_FIND_LINKS=/root/wheels")
        inside = ("chroot", str(root), "sh", "-euc", f"cd {SOURCES}\n{commands}")
        run(["env", "--ignore-environment", *environment, *inside])
        shutil.rmtree(wheels)

    make_disk(disk, base.root, SIZE, furnish)
