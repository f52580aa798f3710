"""A pit on one server: docs/floor_deployment.md is followed command by command, and the result loses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.vm.debian import run
from tests.vm.floor_server import AUTHORITY, SOURCES, blocks, in_the_house, server
from tests.vm.guest import Guest
from tests.vm.image import CONFIGURATION, SERIAL, SERVICE, TABLE, TableFacts, set_up_table
from tests.vm.machine import ADDRESS, Machine, Parts, file_drive
from tests.vm.plug import Cable
from tests.vm.table import Table, relay
from tests.vm.test_power_cut import new

STORE: Final = "cardshoe-floor-store@1"
PAGE: Final = "cardshoe-floor-page"
OURS: Final = (STORE, PAGE, SERVICE)
SERVERS: Final = ("mosquitto", "postgresql", STORE)
ROUNDS: Final = 3
STEPS: Final = 100  # entries between two restarts; the rounds have some four hundred
PLACE: Final = f"vienna/p1/{TABLE}"
OTHER: Final = "tp-08"  # a table of the shipped access list
AS_THE_STORE: Final = "runuser -u cardshoe-floor --"
VERIFIED: Final = "SELECT verified_up_to FROM cardshoe.tables WHERE alarms_open = 0"
SHOWN: Final = """\
python3 -c '
from urllib.request import Request, urlopen
page = Request("http://localhost:8090/v1/floor", headers={"Host": "floor.example"})
print(next(line for line in urlopen(page, timeout=60) if b"%s" in line))'"""
METRICS: Final = """\
python3 -c '
from urllib.request import urlopen
print(urlopen("http://127.0.0.%d:9465/metrics", timeout=60).read().decode())'"""

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]


class Pit:
    """The running server, with its table and a device."""

    def __init__(self, machine: Machine, table: Table, cable: Cable) -> None:
        self.machine = machine
        self.guest: Guest = machine.guest
        self.table = table
        self.cable = cable

    async def plug(self) -> None:
        await self.guest.run("modprobe --all vhci-hcd cdc-acm")
        await self.cable.plug()
        await self.table.until(lambda view: view.device.connected)

    async def until_whole(self) -> None:
        """Wait until the store has the table's journal up to its end, and no alarm is open."""
        entry = (await self.table.until(lambda view: True)).entry
        await self.guest.until(f'test "$({asking(VERIFIED)})" -ge {entry}')

    async def steps(self, count: int) -> None:
        """Wait until the journal has `count` more entries."""
        end = (await self.table.view()).entry + count
        await self.table.until(lambda view: view.entry > end)

    async def until_refused(self, since: str) -> None:
        """Wait until the broker has refused the table, after a mark in the log."""
        log = f"journalctl --unit {SERVICE} --output cat --after-cursor '{since}'"
        await self.guest.until(f"{log} | grep floor.away | grep floor-refused")

    async def mark(self) -> str:
        shown = await self.guest.run("logger mark && journalctl --sync && journalctl --lines 0 --show-cursor")
        return shown.partition("cursor: ")[2].strip()

    async def show(self, unit: str, name: str) -> str:
        return await self.guest.run(f"systemctl show {unit} --property {name} --value")

    async def certificate(self, name: str) -> None:
        """Make a table's certificate as on the page, at the table."""
        await make_certificate(self.guest, name)
        folder = CONFIGURATION.rpartition("/")[0]
        await self.guest.run(
            f"cd {AUTHORITY} && install -m 0600 {name}.crt {folder}/table.crt"
            f" && install -m 0600 {name}.key {folder}/table.key && systemctl restart {SERVICE}"
        )


def asking(query: str) -> str:
    """Return a command that queries the database."""
    return f"{AS_THE_STORE} psql -d floor -At -c '{query}'"


async def make_certificate(guest: Guest, name: str) -> None:
    """Make a new certificate. The page makes the broker's in the same block: a renewed one has a new number and key."""
    _, pair, _ = blocks("floor_deployment.md", "Certificates")
    of_table = pair.text[: pair.text.index("openssl req", 1)]
    assert f"{TABLE}.crt" in of_table
    await guest.run(f"set -e\ncd {AUTHORITY}\n{of_table.replace(TABLE, name)}")


async def follow_the_page(guest: Guest) -> None:
    """Follow the page. The program is already installed (step 1), and a table as in docs/install.md."""
    await guest.run(f"echo {ADDRESS} broker.example floor.example >> /etc/hosts")
    for path in (await guest.run(f"find {SOURCES}/deployment -type f")).splitlines():
        await guest.write(path, in_the_house((await guest.read(path)).decode()).encode())
    authority, pair, _ = blocks("floor_deployment.md", "Certificates")
    await guest.run(f"install -d -m 0700 {AUTHORITY}\nset -e\ncd {AUTHORITY}\n{authority.text}{pair.text}")
    for name in ("floor-store", "floor-page"):
        await make_certificate(guest, name)
    for block in blocks("floor_deployment.md", "One pit on one server")[1:]:
        if block.kind == "toml":
            configuration = (await guest.read(CONFIGURATION)).decode()
            await guest.write(CONFIGURATION, f"{configuration}\n{block.text}".encode())
        else:
            await guest.run(f"set -e\ncd {SOURCES}\n{block.text}")


@asynccontextmanager
async def booted(parts: Parts, folder: Path, facts: TableFacts) -> AsyncIterator[Pit]:
    async with (
        Machine(parts, folder) as machine,
        relay(folder / "api.sock", await machine.forward()),
        Cable(machine, SERIAL, facts.device_key) as cable,
    ):
        yield Pit(machine, Table(folder / "api.sock", facts.crew), cable)


@pytest.fixture
def parts(folder: Path) -> Parts:
    """Make the parts in a thread, which has no loop yet."""
    with ThreadPoolExecutor(1) as making:
        base, disk = making.submit(server).result()
    run(["cp", str(disk), str(folder / "disk")])
    return Parts(base.kernel, base.initial, file_drive(folder / "disk", changed=True))


async def test_a_pit_that_was_set_up_by_the_page_keeps_every_record(parts: Parts, folder: Path) -> None:
    async with Machine(parts, new(folder / "new")) as machine:
        await machine.guest.run("systemctl is-system-running --wait")
        pins, key = await set_up_table(machine)
        await follow_the_page(machine.guest)
        await machine.power_off()
    facts = TableFacts(pins, key, {})
    async with booted(parts, new(folder / "one"), facts) as pit:
        await all_is_up(pit)
        await restarts_lose_nothing(pit)
        await rounds_are_stored_and_shown(pit)
        await the_watchdog_ends_a_store_that_is_stopped(pit)
        await a_reload_says_nothing_of_the_floor(pit)
        await pit.guest.begin("systemctl reboot")
        await pit.machine.ended()
    async with booted(parts, new(folder / "two"), facts) as pit:
        await pit.until_whole()
        await pit.plug()
        await pit.until_whole()
        await the_certificate_of_another_is_refused(pit)
        await a_revoked_certificate_is_refused(pit)
        await a_second_store_runs_beside_the_first(pit)
        await nothing_was_denied_and_no_alarm_was_raised(pit)


async def all_is_up(pit: Pit) -> None:
    await pit.guest.until(" && ".join(f"systemctl is-active {unit}" for unit in OURS))
    assert await pit.show(STORE, "Type") == "notify"
    await pit.plug()


async def restarts_lose_nothing(pit: Pit) -> None:
    """Restart in the middle of rounds, which continue meanwhile."""
    async with asyncio.TaskGroup() as people:
        playing = people.create_task(pit.table.play(pit.cable, ROUNDS))
        for unit in SERVERS:
            await pit.steps(STEPS)
            people.create_task(pit.guest.run(f"systemctl restart {unit}"))
    assert playing.result()
    await pit.until_whole()


async def rounds_are_stored_and_shown(pit: Pit) -> None:
    endings = await pit.guest.run(asking("SELECT ending FROM cardshoe.rounds"))
    assert endings.split() == ["concluded"] * ROUNDS
    assert TABLE in await pit.guest.run(SHOWN % TABLE)
    assert 'cardshoe_store_connected{to="broker"} 1.0' in await pit.guest.run(METRICS % 1)
    audit = f"{AS_THE_STORE} cardshoe floor audit {PLACE} --journal /var/tmp/copy --database dbname=floor"
    await pit.guest.run(
        f"cardshoe journal backup /var/tmp/copy --config {CONFIGURATION}"
        f" && chown -R cardshoe-floor: /var/tmp/copy && {audit}"
    )


async def the_watchdog_ends_a_store_that_is_stopped(pit: Pit) -> None:
    stopped = await pit.show(STORE, "MainPID")
    await pit.guest.run(f"kill -STOP {stopped}")
    await pit.guest.until(
        f'test "$(systemctl show {STORE} --property NRestarts --value)" = 1 && systemctl is-active {STORE}'
    )
    log = await pit.guest.run(f"journalctl --unit {STORE} --output cat")
    assert "Watchdog timeout" in log
    await pit.until_whole()


async def a_reload_says_nothing_of_the_floor(pit: Pit) -> None:
    """root checks the configuration, and the files that it names are mounted for the daemon alone."""
    mark = await pit.mark()
    await pit.guest.run(f"sed -i 's/Sam Ho/Samuel Ho/' {CONFIGURATION} && systemctl reload {SERVICE}")
    log = await pit.guest.run(f"journalctl --sync && journalctl --unit {SERVICE} --output cat --after-cursor '{mark}'")
    assert "no mistakes" in log
    assert "[floor]" not in log


async def the_certificate_of_another_is_refused(pit: Pit) -> None:
    mark = await pit.mark()
    await pit.certificate(OTHER)
    await pit.until_refused(mark)
    await pit.certificate(TABLE)
    await pit.until_whole()


async def a_revoked_certificate_is_refused(pit: Pit) -> None:
    """Only that one is refused: store and page reconnect."""
    mark = await pit.mark()
    _, _, revoking = blocks("floor_deployment.md", "Certificates")
    await pit.guest.run(f"set -e\ncd {AUTHORITY}\n{revoking.text}")
    await pit.until_refused(mark)
    await pit.guest.until(f"journalctl --unit {STORE} --output cat --after-cursor '{mark}' | grep store.connected")
    await pit.certificate(TABLE)
    await pit.until_whole()


async def a_second_store_runs_beside_the_first(pit: Pit) -> None:
    await pit.guest.run(f"systemctl start {STORE.replace('@1', '@2')}")
    for number in (1, 2):
        assert 'cardshoe_store_connected{to="broker"} 1.0' in await pit.guest.run(METRICS % number)


async def nothing_was_denied_and_no_alarm_was_raised(pit: Pit) -> None:
    assert await pit.guest.run(asking("SELECT count(*) FROM cardshoe.alarms")) == "0"
    log = await pit.guest.run(f"journalctl --output cat {' '.join(f'--unit {unit}' for unit in OURS)}")
    for denied in ("Traceback", "not permitted", "ermission denied"):
        assert denied not in log
    assert not await pit.guest.run("systemctl --failed --no-legend")
