"""The command line: its lists, refusals and exit codes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from controller.commands.main import main
from controller.commands.man import contexts
from controller.commands.standard_streams import UNWRITABLE
from tests.end_to_end import fork_server

ROOT = Path(__file__).parents[2]


def cardshoe(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return fork_server.run(*arguments, folder=cwd)


def test_lists_its_commands(tmp_path: Path) -> None:
    done = cardshoe("--help", cwd=tmp_path)
    assert done.returncode == 0
    for command in (
        "run",
        "watch",
        "status",
        "config",
        "init",
        "doctor",
        "floor",
        "operate",
        "devices",
        "rules",
        "evaluate",
        "odds",
        "capture",
        "pin",
        "completion",
        "man",
        "bench",
        "demo",
        "simulate",
    ):
        assert re.search(rf"^  {command} +\w", done.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["dance"], 2, "No such command 'dance'"),
        (["run"], 2, "Missing option '--config'"),
        (["run", "--config", "absent.toml"], 78, "absent.toml: It cannot be read"),
        (["watch", "--socket", "absent.sock"], 1, "No daemon answers at absent.sock"),
        (["floor", "watch", "--broker", "elsewhere"], 2, "elsewhere is another machine"),
        (["floor", "serve", "--listen", "elsewhere:80"], 2, "elsewhere is reachable from other machines"),
        (["simulate", "--link", "no/such/folder/device"], 2, "/no/such/folder/device: No such file or directory."),
        (["simulate", "--tcp", "somewhere"], 2, "'somewhere' is not a port"),
        (["simulate", "--tcp", "127.0.0.1:65536"], 2, "is not a port"),
        (["simulate", "--tcp", "192.0.2.1:4001"], 2, "cannot appear at 192.0.2.1:4001"),
        (["demo", "--rounds", "0"], 2, "'--rounds'"),
        (["demo", "--full"], 2, "--full only adds to --json"),
        (["demo", "--scenario", "nc/i12-exposed", "--game", "TP"], 2, "nc/i12-exposed plays NC, not TP"),
        (["demo", "--scenario", "nc/i12-exposed", "--rounds", "2"], 2, "--rounds has no effect in a scenario"),
        (["simulate", "--pin", "sam=222222"], 2, "--pin is for a person in a configuration"),
    ],
)
def test_refuses_with_a_sentence_and_no_traceback(
    tmp_path: Path, arguments: list[str], code: int, sentence: str
) -> None:
    done = cardshoe(*arguments, cwd=tmp_path)
    assert done.returncode == code
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "rules nc",
        "rules nc --json",
        "evaluate nc --player 'KD KC 6H' --dealer '7D 7C 10H'",
        "odds tp",
        "odds tp --json",
    ],
)
@pytest.mark.parametrize(
    ("elsewhere", "sentence"),
    [
        (">&-", "There is no standard output to print to."),
        (">/dev/full", "Standard output cannot be written: No space"),
    ],
)
def test_an_unwritable_standard_output_is_reported_in_a_sentence(
    tmp_path: Path, command: str, elsewhere: str, sentence: str
) -> None:
    done = shell(f"{command} {elsewhere}", tmp_path)
    assert done.returncode == UNWRITABLE
    assert done.stderr.startswith(f"cardshoe: {sentence}")
    assert len(done.stderr.splitlines()) == 2, "no traceback, and nothing more when the process ends"


def test_a_reader_that_goes_away_ends_the_command_in_silence(tmp_path: Path) -> None:
    done = shell("rules nc | head -n 1", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Non-Commission Three Pictures (NC)\n", "")


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line with its redirection in a shell."""
    command = f"{shlex.quote(sys.executable)} -m controller {line}"
    return subprocess.run(["sh", "-c", command], cwd=cwd, capture_output=True, text=True, timeout=300)


def test_a_broken_key_file_is_named(tmp_path: Path) -> None:
    keys = tmp_path / "device.keys"
    keys.write_text("CARDSHOE-SIM-1 not-a-key\n")
    keys.chmod(0o600)
    done = cardshoe("simulate", "--key-file", "device.keys", cwd=tmp_path)
    assert done.returncode == 2
    assert "Line 1 of device.keys is not a device key" in done.stderr


def test_every_command_takes_a_configuration_in_the_same_form() -> None:
    """Some also take the socket, the journal or the file itself. `simulate` has people who may lack a configuration."""
    taking = {
        context.command_path.removeprefix("cardshoe ")
        for context in contexts(main, None, "cardshoe")
        if any("--config" in one.opts for one in context.command.params)
    }
    assert taking >= {
        "run", "status", "watch", "operate", "doctor", "rules", "config check", "config show", "floor audit",
        "journal list", "journal verify", "journal backup", "journal new-key",
    }  # fmt: skip


def test_every_fault_code_has_its_section() -> None:
    """docs/faults.md has every code that a person may meet, once, and no others."""
    page = (ROOT / "docs/faults.md").read_text()
    explained = re.findall(r"^### ([a-z-]+)$", page, re.MULTILINE)
    explained += re.findall(r"`([a-z-]+)`", page.partition("\nThe message says all about ")[2].partition(".\n")[0])
    used: set[str] = set()
    patterns = (
        r'\bcode = "([a-z-]+)"',
        r'LinkOver\(\s*"([a-z-]+)"',
        r'_end\(\s*"([a-z-]+)"',
        r'return \(?\s*"(device-[a-z-]+)"',
        r'DeviceLost\("([a-z-]+)"',
        r'DeviceGone\("([a-z-]+)"',
        r'\.drop\("([a-z-]+)"',
        r'_fail\("([a-z-]+)"',
        r'Fault\(\s*"([a-z-]+)"',
        r'"(journal-[a-z-]+)"',
        r'"(floor-[a-z-]+)"',
        r'"(store-[a-z-]+)"',
        r'"((?:port|tcp|usb)-[a-z-]+)"',
        r'code="(transport-[a-z]+)"',
        r'code="(capture-[a-z]+)"',
        r'"(transport-stalled)"',
        r'self\.code = "([a-z-]+)"',
        r'refused\(\s*[0-9]+, "([a-z-]+)"',
        r'4[0-9][0-9]: \(\s*"([a-z-]+)",',
        r'code, sentence = "([a-z-]+)"',
        r'_refuse\((?:peer, uid, )?[0-9]+, "([a-z-]+)"',
        r'"(device-floods)"',
        r'(?:Pin|Person)RefusedError\(\s*"([a-z-]+)"',
        r'\.note\("([a-z-]+)"',
        r'NotInJournal\("([a-z-]+)"',
    )
    for path in [*(ROOT / "firmware_bridge").rglob("*.py"), *(ROOT / "controller").rglob("*.py")]:
        text = path.read_text()
        for pattern in patterns:
            used |= set(re.findall(pattern, text))
    assert sorted(used - {"device", "ascii"}) == sorted(explained)


def test_a_reader_that_goes_away_ends_a_replay_in_silence(tmp_path: Path) -> None:
    done = shell(f"capture replay --fast {ROOT}/tests/captures/cardlink-sets.capture | head -n 1", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1


def test_a_terminal_that_lacks_a_character_shows_its_number(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(
        [sys.executable, "-m", "controller", "rules", "牌"], cwd=tmp_path, env=environment, capture_output=True
    )
    assert done.returncode == 2
    assert b"\\u724c" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_simulated_device_replaces_no_file(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("mine")
    done = cardshoe("simulate", "--no-console", "--link", str(kept), cwd=tmp_path)
    assert done.returncode == 2
    assert "a file of that name already exists" in done.stderr
    assert kept.read_text() == "mine"
