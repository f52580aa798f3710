"""The options of makers: sets on removal, a second USB endpoint, every report, and the kit's sizes."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.c_device.conversation import KIT, STRICT, CDevice
from tests.c_device.small_host import ANSWER, KEY, REPORT, STATUS, Frame, SmallHost

pytestmark = pytest.mark.tool("gcc")

HOLD, RELEASE, SHUFFLE, SHOW = 2, 3, 4, 6
SMALLEST: Final = ("-DCARDLINK_REPORTS=8", "-DCARDLINK_OUTPUT=1536", "-DCARDLINK_ATTEST=0", "-DCARDLINK_FLASH=0")
BUILDS: Final = (SMALLEST, SMALLEST[:3], (), ("-DCARDLINK_INTERRUPT_OUTPUT=512",))  # the rows of its page


@pytest.fixture
def on_removal(program: Path) -> Iterator[CDevice]:
    with CDevice(program, "shuffler", "C-1", KEY, virtual=True, removal=True) as device:
        yield device


def reports(frames: list[Frame]) -> list[Any]:
    """Return the reports without their time, each once."""
    by_number = {frame.number: [frame.body[0], *frame.body[2:]] for frame in frames if frame.kind == REPORT}
    return list(by_number.values())


def answers(frames: list[Frame]) -> list[Any]:
    return [frame.body for frame in frames if frame.kind == ANSWER]


def status_of(host: SmallHost) -> dict[str, Any]:
    return next(frame.status for frame in host.exchange(host.resume()) if frame.kind == STATUS)


def test_a_set_is_formed_when_one_is_lifted(on_removal: CDevice) -> None:
    host = SmallHost(on_removal)
    host.link()
    assert "dispenses_on_removal" in host.fields[8]
    assert answers(host.order(1, 1, 3)) == [[1, False, "unable"]]
    on_removal.control("load")
    host.exchange(host.ack(2))
    host.order(2, SHUFFLE)
    host.keep_up(3000)
    assert status_of(host)["shuffle"] != 0
    assert not status_of(host)["moving"]  # the exit is held
    came = host.order(3, RELEASE)
    assert answers(came) == [[3, True, ""]]
    assert status_of(host)["moving"]
    (dispensed,) = reports(host.exchange(host.ack(), ms=400))
    assert (dispensed[0], dispensed[2], len(dispensed[5])) == (6, 1, 3)
    for place in (4, 7):
        host.keep_up(500)
        on_removal.control("lift")
        host.read()
        assert status_of(host)["moving"]
        came = host.keep_up(500)
        assert [report[0] for report in reports(came)] == [7, 6]
        assert reports(came)[1][2] == place
    host.keep_up(500)
    on_removal.control("lift")
    assert answers(host.order(4, HOLD)) == []  # the set in motion is finished first
    came = host.exchange(ms=400)
    assert answers(came) == [[4, True, ""]]
    on_removal.control("lift")
    assert not status_of(host)["moving"]
    assert (status_of(host)["sets"], status_of(host)["last_command"]) == (4, 2)


def test_no_set_is_formed_from_too_few_cards(on_removal: CDevice) -> None:
    host = SmallHost(on_removal)
    host.link()
    on_removal.control("load 5")
    host.order(1, SHUFFLE)
    host.keep_up(3000)
    host.order(2, RELEASE)
    host.keep_up(500)
    on_removal.control("lift")
    status = status_of(host)
    assert (status["moving"], status["remaining"], status["tray"]) == (False, 2, False)


def test_statuses_of_a_second_endpoint(program: Path) -> None:
    with CDevice(program, "shuffler", "C-1", KEY, virtual=True, interrupt=True) as device:
        host = SmallHost(device)
        assert [frame.kind for frame in host.link()] == [STATUS, REPORT]  # the order counts, so not the second one
        assert host.read_interrupt() == []
        assert host.exchange(host.ack(1)) == []
        assert [frame.kind for frame in host.read_interrupt()] == [STATUS]
        for _ in range(10):
            assert host.exchange(host.ack(), ms=1000) == []
            (status,) = host.read_interrupt()
            assert status.status["heard"] == host.sent
        assert device.read_interrupt() == b""
        assert "lost" not in device.lines


def test_every_other_report_and_the_faults_of_the_status(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    host.exchange(host.ack(1))
    for line in ("door open", "jam", "fault on", "power", "tamper seal", "button start", "check memory"):
        shuffler.control(line)
    assert reports(host.read()) == [
        [14, True],
        [12, "transport"],
        [16],
        [17, "seal"],
        [18, "start"],
        [20, "memory"],
    ]
    assert status_of(host)["faults"] == ["jam: transport", "fan", "door"]
    assert answers(host.order(1, SHUFFLE)) == [[1, False, "door"]]
    shuffler.control("door shut")
    assert answers(host.order(2, SHUFFLE)) == [[2, False, "jam"]]
    shuffler.control("clear")
    shuffler.control("fault")
    assert status_of(host)["faults"] == []
    assert answers(host.order(3, SHOW, "x")) == [[3, False, "unable"]]


def compiled(compiler: str, folder: Path, *options: str) -> list[Path]:
    objects = []
    for source in sorted(KIT.glob("*.c")):
        objects.append(folder / f"{source.stem}.o")
        subprocess.run([compiler, *STRICT, *options, "-c", source, "-o", objects[-1]], check=True)
    return objects


@pytest.mark.parametrize("options", [(), SMALLEST, ("-DCARDLINK_INTERRUPT_OUTPUT=512", "-DCARDLINK_FLASH_UNIT=32")])
def test_it_compiles_with_every_option_and_more_warnings(options: tuple[str, ...], tmp_path: Path) -> None:
    gcc = shutil.which("gcc")
    assert gcc is not None
    compiled(gcc, tmp_path, "-O2", "-Wconversion", "-Wshadow", "-Wcast-qual", "-Wstrict-prototypes", "-Wvla", *options)


def sizes(processor: str, folder: Path, *options: str) -> tuple[int, int]:
    """Return the bytes of code and state, and check that nothing is static or allocated."""
    objects = compiled("arm-none-eabi-gcc", folder, "-Os", f"-mcpu={processor}", "-mthumb", *options)
    code, data, zeroed = size_of(*objects)
    assert (data, zeroed) == (0, 0)
    symbols = subprocess.run(["arm-none-eabi-nm", "-u", *objects], capture_output=True, text=True, check=True).stdout
    assert not re.search(r"\b(malloc|calloc|realloc|free|printf|time)\b", symbols)
    (folder / "state.c").write_text('#include "cardlink.h"\nstruct cardlink state;\n')
    subprocess.run(["arm-none-eabi-gcc", f"-I{KIT}", *options, "-c", "state.c", "-o", "state"], cwd=folder, check=True)
    return code, size_of(folder / "state")[2]


def size_of(*objects: Path) -> tuple[int, ...]:
    done = subprocess.run(["arm-none-eabi-size", "-t", *objects], capture_output=True, text=True, check=True)
    return tuple(map(int, done.stdout.splitlines()[-1].split()[:3]))


@pytest.mark.tool("arm-none-eabi-gcc")
def test_the_sizes_of_its_page_are_measured(tmp_path: Path) -> None:
    rows = (KIT / "README.md").read_text("utf-8").split("<!-- sizes -->\n")[1].split("<!-- end")[0].splitlines()
    measured = []
    for row, options in zip(rows, BUILDS, strict=True):
        code, state = sizes("cortex-m0", tmp_path, *options)
        measured.append(f"|{row.split('|')[1]}| {code} | {sizes('cortex-m3', tmp_path, *options)[0]} | {state} |")
    assert rows == measured
    assert sizes("cortex-m4", tmp_path) == sizes("cortex-m3", tmp_path)
    code, state = sizes("cortex-m0", tmp_path, *BUILDS[0])
    assert code <= 12 * 1024
    assert state < 8 * 1024


def test_the_licence_is_the_projects() -> None:
    assert (KIT / "LICENSE").read_bytes() == (KIT.parent / "LICENSE").read_bytes()
