"""`cardshoe bench`: its output, files and exit codes, on simulated devices of every driver."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import pytest_mock
from click.testing import CliRunner

from controller.problems import ProblemError
from firmware_bridge.device_keys import write_device_keys
from simulators.bench.command import bench
from simulators.bench.promise import Measurement
from tests.end_to_end.processes import Child

ROOT = Path(__file__).parents[2]


class Children:
    """Processes that end with the test."""

    def __init__(self) -> None:
        self._started: list[Child] = []

    def start(self, module: str, *arguments: str, listens: bool = False) -> Child:
        child = Child(module, *arguments, listens=listens)
        self._started.append(child)
        return child

    async def bench(self, *arguments: str) -> tuple[int, Child]:
        """Run `cardshoe bench` in a separate process, and return its exit code and output."""
        child = self.start("simulators.bench.command", *arguments)
        return await child.ended(), child

    def abandon(self) -> None:
        for child in self._started:
            child.abandon()


@pytest.fixture
async def children() -> AsyncIterator[Children]:
    made = Children()
    yield made
    made.abandon()


async def test_measurements_are_printed_and_kept(children: Children, tmp_path: Path) -> None:
    """JUnit's properties are numbers with units and limits; a second run is shown next to the first."""
    options = ["--only", "is_ready", "--junit", str(tmp_path / "bench.xml")]
    options += ["--history", str(tmp_path / "runs"), "--html", str(tmp_path / "bench.html")]
    await children.bench(*options)
    code, child = await children.bench(*options)
    assert code == 0, child.err
    assert "CARDSHOE-SIM-SHUFFLER" in child.out[-1]
    assert "passed: 2 passed, 0 failed, 0 skipped." in child.out[-1]
    assert any("until the link stands" in line and "(before: " in line for line in child.out)
    assert len(list((tmp_path / "runs").iterdir())) == 2
    page = (tmp_path / "bench.html").read_text()
    assert "<h1>CARDSHOE-SIM-SHUFFLER: passed</h1>" in page
    assert page.count("2 runs, from ") == 2
    suites = ElementTree.parse(tmp_path / "bench.xml").getroot()  # noqa: S314  # our own file
    properties = {str(found.get("name")): str(found.get("value")) for found in suites.findall(".//property")}
    assert properties["serial"] == "CARDSHOE-SIM-SHUFFLER"
    assert properties["firmware"] == "1.0"
    assert float(properties["until the link stands"]) <= float(properties["until the link stands limit"])
    assert properties["until the link stands unit"] == "s"


@pytest.mark.soak
async def test_a_simulated_shuffler_passes(children: Children) -> None:
    code, child = await children.bench()
    assert code == 0, child.out + child.err
    assert " 0 failed, 8 skipped." in child.out[-1]


async def test_a_skipped_test_fails_a_device_that_must_do_everything(children: Children) -> None:
    code, child = await children.bench("--only", "draws or its_line", "--strict")
    assert code == 3, child.out + child.err
    assert "failed: 1 passed, 0 failed, 1 skipped." in child.out[-1]


async def test_a_person_is_asked_on_standard_error(children: Children) -> None:
    """Nobody pulls the cable, so the test of the device fails."""
    code, child = await children.bench("--operator", "1", "--only", "pulled")
    assert code == 3, child.out + child.err
    assert child.err == ["Pull the cable out: 1 s left."]
    assert 'cardlink v1, "Transport": the connection did not end' in child.out[0]


async def test_a_test_is_chosen_by_its_name_as_printed(children: Children) -> None:
    """Also if one of its words is an operator of pytest."""
    code, child = await children.bench("--only", "a frame not played")
    assert code == 2, child.out
    assert "No test has “a frame not played” in its name." in child.err[0]
    code, child = await children.bench("--only", "a frame played back is not taken")
    assert code == 0, child.err
    assert child.out[0] == "passed   a frame played back is not taken"
    assert "1 passed, 0 failed, 0 skipped." in child.out[-1]


async def test_an_interrupt_is_one_line(children: Children) -> None:
    child = children.start("simulators.bench.command", "--only", "candidate")
    await child.until(lambda: child.out)
    child.signal(signal.SIGINT)
    assert await child.ended() == 130, child.err
    assert child.err == ["Interrupted."]


@pytest.mark.soak
async def test_a_device_that_never_answers_fails_in_seconds(tmp_path: Path) -> None:
    """The first test finds that it does not answer, and the others rely on that."""
    keys = tmp_path / "keys"
    write_device_keys(keys, {"CARDSHOE-1": bytes(range(1, 33))})
    connected: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda reader, writer: connected.append(writer), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    tests = [str(ROOT / "simulators" / "bench" / name) for name in ("conformance.py", "promises/orders.py")]
    async with server:
        pytest_alone = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "pytest", *tests, "-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:asyncio",
            "--device", f"tcp://127.0.0.1:{port}/", "--device-keys", str(keys), "-q",
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, _ = await pytest_alone.communicate()
        for writer in connected:
            writer.close()
    assert pytest_alone.returncode == 1
    assert out.decode().count("cannot be put on the bench") >= 15


async def test_a_missing_pytest_is_one_sentence(mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.dict(sys.modules, {"simulators.bench.plugin": None})
    result = CliRunner().invoke(bench, ["--only", "draws"])
    assert result.exit_code == ProblemError.exit_code
    assert "/requirements-test.txt`." in result.output


@pytest.mark.soak
async def test_json_is_one_object_and_a_shoe_skips_the_tests_of_sets(children: Children) -> None:
    code, child = await children.bench("--json", "--device", "sim:///shoe?seed=3")
    assert code == 0, child.err
    (line,) = child.out
    report: dict[str, Any] = json.loads(line)
    assert (report["verdict"], report["serial"], report["driver"]) == ("passed", "CARDSHOE-SIM-SHOE", "cardlink")
    outcomes = {tested["name"]: tested["outcome"] for tested in report["tests"]}
    assert outcomes["it forms sets in time"] == "skipped"
    assert all(one["within"] and one["value"] <= one["limit"] for one in report["measurements"])


@pytest.mark.parametrize(
    "driver",
    [
        "line_reader",  # needs the most options
        pytest.param("angel_eye", marks=pytest.mark.soak),
        pytest.param("bee_tek", marks=pytest.mark.soak),
    ],
)
async def test_a_one_way_shoe_passes_the_tests_of_its_driver(driver: str, children: Children, tmp_path: Path) -> None:
    table = tmp_path / "cards.csv"
    device = children.start(
        "controller", "simulate", "--driver", driver, "--link", str(tmp_path / "shoe"), "--card-table", str(table),
        "--draw-every", "0.2",
    )  # fmt: skip
    await device.until(lambda: device.out)
    cards = ["--device-cards", str(table)] if driver == "line_reader" else []
    code, child = await children.bench("--json", "--draws", "1", "--device", device.out[0], *cards)
    report = json.loads(child.out[0])
    assert code == 0, child.out + child.err
    outcomes = {tested["name"]: tested["outcome"] for tested in report["tests"]}
    assert outcomes["is ready again after its link was dropped"] == "passed"
    assert outcomes["says who it is"] == "skipped"


@pytest.mark.soak
async def test_a_failing_device_gives_exit_code_three(children: Children, tmp_path: Path) -> None:
    """A shuffler that jams before its first card forms no set."""
    keys = tmp_path / "keys"
    device = children.start(
        "controller", "simulate", "--fast", "--link", str(tmp_path / "device"), "--key-file", str(keys),
        "--load", "--fault", "jam@1",
    )  # fmt: skip
    await device.until(lambda: device.out)
    only = ["--only", "forms_sets or shuffles_in_time or carries_a_command"]
    code, child = await children.bench("--json", "--device", device.out[0], "--device-keys", str(keys), *only)
    assert code == 3, child.out + child.err
    outcomes = {tested["name"]: tested["outcome"] for tested in json.loads(child.out[0])["tests"]}
    assert outcomes == {
        "carries a command out once": "passed", "it shuffles in time": "passed", "it forms sets in time": "failed",
    }  # fmt: skip


async def test_a_missing_device_is_named_with_the_next_step(children: Children, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.touch(0o600)
    code, child = await children.bench("--device", f"serial://{tmp_path}/absent", "--device-keys", str(keys))
    assert code == 3
    assert "absent" in child.err[0]
    assert not child.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--device", "carrier:///pigeon"], "carrier"),
        (["--device", "serial:///dev/shoe"], "needs --device-keys"),
        (["--device", "serial:///dev/shoe?driver=line_reader"], "needs --device-cards"),
    ],
)
async def test_bad_input_is_exit_code_two(arguments: list[str], sentence: str, children: Children) -> None:
    code, child = await children.bench(*arguments)
    assert code == 2, child.out + child.err
    assert sentence in "\n".join(child.err)


def test_a_measurement_beyond_its_limit_is_reported() -> None:
    assert not Measurement("to form a set", 31.0, "s", 30.0).within
    assert str(Measurement("to form a set", 31.0, "s", 30.0)) == "to form a set: 31 s, at most 30 s"


def test_the_program_provides_the_command() -> None:
    rows = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["cardshoe.commands"]
    assert bench.callback is not None
    assert rows["bench"] == f"{bench.callback.__module__}:{bench.name}"
