"""A machine for each test, from the saved state."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.vm.image import SERIAL, Image, image
from tests.vm.machine import Machine
from tests.vm.plug import Cable
from tests.vm.table import Table, relay


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark all tests here with their needs. Long forms also run only where `-m` names `vm`: each takes minutes."""
    chosen = config.option.markexpr
    for item in list(items):
        if Path(__file__).parent in item.path.parents:
            if chosen and "vm" not in chosen:
                items.remove(item)
            item.add_marker(pytest.mark.vm)
            item.add_marker(pytest.mark.tool("qemu-system-x86_64"))
            item.add_marker(pytest.mark.tool("mmdebstrap"))


PLUG_TO_READY = "plug to ready: "  # a property of a test: seconds of each plug


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the times from plugging in to an established link."""
    times: dict[str, list[float]] = {}
    for report in terminalreporter.stats.get("passed", ()):
        for name, seconds in report.user_properties if report.when == "call" else ():
            if name.startswith(PLUG_TO_READY):
                times.setdefault(name, []).extend(seconds)
    for name, found in times.items():
        found.sort()
        middle, late = found[len(found) // 2], found[min(len(found) - 1, len(found) * 99 // 100)]
        terminalreporter.write_line(f"{name}: p50 {middle:.2f} s, p99 {late:.2f} s, of {len(found)}")


class Rig(NamedTuple):
    """A running machine with its table and a device that is not plugged in."""

    image: Image
    machine: Machine
    table: Table
    cable: Cable


@pytest.fixture(scope="session")
def saved() -> Image:
    """Make the image in a thread, which has no loop yet."""
    with ThreadPoolExecutor(1) as making:
        return making.submit(image).result()


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder whose name leaves room for a socket's."""
    with tempfile.TemporaryDirectory(prefix="cardshoe-vm-") as name:
        yield Path(name)


@pytest.fixture
async def rig(saved: Image, folder: Path) -> AsyncIterator[Rig]:
    async with AsyncExitStack() as stack:
        machine = await stack.enter_async_context(Machine(saved.resumed, folder))
        await stack.enter_async_context(relay(folder / "api.sock", await machine.forward()))
        cable = await stack.enter_async_context(Cable(machine, SERIAL, saved.facts.device_key))
        yield Rig(saved, machine, Table(folder / "api.sock", saved.facts.crew), cable)
