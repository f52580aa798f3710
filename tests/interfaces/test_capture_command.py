"""`cardshoe capture` records, shows and plays back. It seals by default, and refuses in sentences."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from controller.journal.sealing import create_key_file
from firmware_bridge.captures.reader import read_capture
from firmware_bridge.commands import Dispense
from firmware_bridge.device_keys import write_device_keys
from firmware_bridge.drivers.cardlink.messages import FrameKind, SetDispensedReport
from simulators.ports.in_process import simulated_key, simulated_serial
from tests.captures.make import CARD_TABLE, FOLDER
from tests.configuration.test_site_settings import REST, TABLE
from tests.protocol.parts import SERIAL, BenchDevice, make_host
from tests.protocol.vectors import IDENTITY, frame

from .test_command_line import cardshoe

SHUFFLER = "sim:///shuffler?seed=7"
ANGEL_EYE = str(FOLDER / "angel_eye.capture")
READER = str(FOLDER / "line_reader.capture")
SHORT = ("--seconds", "0.5")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    serial = simulated_serial("shuffler")
    write_device_keys(tmp_path / "device.keys", {serial: simulated_key(serial)})
    create_key_file(tmp_path / "capture.key")
    return tmp_path


def record(folder: Path, *device: str) -> str:
    """Record until the device is ready, then interrupt."""
    command = [sys.executable, "-m", "controller", "capture", "record", *device, "--out", "a.capture"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    ) as running:
        assert running.stderr is not None
        said = []
        while line := running.stderr.readline():
            said.append(line)
            if line == "ready\n":
                break
        running.send_signal(signal.SIGINT)
        told, rest = running.communicate(timeout=300)
    assert running.returncode == 0, (said, rest)
    return told


def out(folder: Path, *arguments: str) -> str:
    done = cardshoe("capture", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- record -------------------------------------------------------------------------------------------------------


def test_a_device_is_recorded_shown_and_played_back(folder: Path) -> None:
    assert record(folder, SHUFFLER, "--device-keys", "device.keys").startswith("1 link, ")
    shown = out(folder, "show", "a.capture")
    assert shown.startswith("capture of ")
    assert "simulated, plain" in shown.splitlines()[0]
    assert "-> report 2: deck_loaded deck=1 count=52" in shown
    heard = out(folder, "replay", "a.capture", "--fast", "--json")
    (folder / "expected").write_text(heard)
    assert "as in expected" in out(folder, "replay", "a.capture", "--fast", "--expect", "expected")
    (folder / "expected").write_text(heard.replace("deck_loaded", "deck_lost"))
    done = cardshoe("capture", "replay", "a.capture", "--fast", "--expect", "expected", cwd=folder)
    assert done.returncode == 1
    assert "deck_lost" in done.stdout
    assert "differs from expected" in done.stderr


def test_a_key_seals_and_opens(folder: Path) -> None:
    record(folder, SHUFFLER, "--device-keys", "device.keys", "--key-file", "capture.key")
    assert b"from_device" not in (folder / "a.capture").read_bytes()
    assert "records are sealed: name their key" in out(folder, "show", "a.capture")
    assert "from device" in out(folder, "show", "a.capture", "--key-file", "capture.key")
    done = cardshoe("capture", "replay", "a.capture", "--fast", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "sealed" in done.stderr


def test_a_tables_device_is_recorded_by_its_configuration(folder: Path) -> None:
    url = 'url = "serial:///dev/cardshoe/X"'
    text = TABLE.format(simulated="true") + REST.replace(url, f'url = "{SHUFFLER}"')
    (folder / "table.toml").write_text(text)
    assert record(folder, "--config", "table.toml").startswith("1 link, ")


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["record", "--out", "x"], 2, "Name the device either by its URL or by a configuration."),
        (
            ["record", SHUFFLER, "--config", "t.toml", "--out", "x"],
            2,
            "Name the device either by its URL or by a configuration.",
        ),
        (["record", "serial:///dev/absent", "--out", "x"], 2, "have to be sealed"),
        (["record", "serial:///dev/absent", "--out", "x", "--plain", *SHORT], 3, "There is no serial port"),
        (["record", "serial:///dev/absent", "--out", "x", "--key-file", "no.key"], 2, "no.key cannot be used"),
        (["record", "carrier:pigeon", "--out", "x"], 2, "is not a kind of device"),
        (["record", SHUFFLER, "--out", "no/such/folder"], 2, "cannot be written"),
        (["record", SHUFFLER, "--out", "device.keys"], 2, "is not a capture"),
        (["record", "--config", "absent.toml", "--out", "x"], 78, "cannot be read"),
        (["show", "absent"], 2, "cannot be read"),
        (["show", "device.keys"], 2, "is not a capture"),
        (["replay", ANGEL_EYE, "--fast", "--expect", "absent"], 2, "absent cannot be read"),
        (["replay", READER, "--fast"], 2, "have no meaning without their cards"),
        (["replay", ANGEL_EYE, "--speed", "0"], 2, "--speed"),
    ],
)
def test_refuses_with_a_sentence_and_no_traceback(folder: Path, arguments: list[str], code: int, sentence: str) -> None:
    before = (folder / "device.keys").read_bytes()
    done = cardshoe("capture", *arguments, cwd=folder)
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "device.keys").read_bytes() == before


# -- show and replay ----------------------------------------------------------------------------------------------


def test_faces_are_shown_only_on_request(tmp_path: Path) -> None:
    assert 'card="concealed"' in out(tmp_path, "replay", ANGEL_EYE, "--fast")
    assert 'card="8D"' not in out(tmp_path, "replay", ANGEL_EYE, "--fast")
    assert 'card="8D"' in out(tmp_path, "replay", ANGEL_EYE, "--fast", "--faces")
    assert 'card="8D"' in out(tmp_path, "show", ANGEL_EYE, "--faces")


def test_faces_of_real_cards_are_not_shown_from_a_plain_capture(tmp_path: Path) -> None:
    text = Path(ANGEL_EYE).read_text().replace('"origin":"simulated"', '"origin":"hardware"')
    (tmp_path / "real.capture").write_text(text)
    done = cardshoe("capture", "show", "real.capture", "--faces", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "concealed cards are not shown" in done.stderr


def test_a_reader_is_shown_without_its_cards_and_heard_with_them(tmp_path: Path) -> None:
    assert "->" not in out(tmp_path, "show", READER)
    assert "-> report 9: card_drawn" in out(tmp_path, "show", READER, "--card-table", str(CARD_TABLE))


def test_json_has_a_line_for_each_record_and_each_thing_heard(tmp_path: Path) -> None:
    first, *rest = [json.loads(line) for line in out(tmp_path, "show", ANGEL_EYE, "--json").splitlines()]
    assert first["is"] == "capture"
    assert first["note"]
    records = [line for line in rest if "record" in line]
    assert len(records) == len(read_capture([Path(ANGEL_EYE)]).recordings[0].records)
    assert sum(line.get("heard") == "reported" for line in rest) == 10
    assert [line["ms"] for line in rest] == sorted(line["ms"] for line in rest)


def test_a_damaged_capture_is_shown_up_to_the_damage(tmp_path: Path) -> None:
    data = Path(ANGEL_EYE).read_bytes()
    (tmp_path / "cut.capture").write_bytes(data[: len(data) * 9 // 10])
    done = cardshoe("capture", "replay", "cut.capture", "--fast", cwd=tmp_path)
    assert done.returncode == 0
    assert "card_drawn" in done.stdout
    assert "The capture ends here" in done.stdout
    assert "of cut.capture is cut off." in done.stderr


def test_played_back_at_a_speed_the_same_is_heard(tmp_path: Path) -> None:
    assert out(tmp_path, "replay", ANGEL_EYE, "--speed", "100") == out(tmp_path, "replay", ANGEL_EYE, "--fast")


# -- a maker's log ------------------------------------------------------------------------------------------------


@pytest.fixture
def log(folder: Path) -> Path:
    """Return a log of a handshake, a set and a command, with the device's key beside it."""
    key = bytes(range(1, 33))
    write_device_keys(folder / "device.keys", {SERIAL: key})
    host, device = make_host(key=key), BenchDevice(key=key)
    device.link.report(SetDispensedReport(5, 7, 1, 49, 1, [13, 26, 52]), 0.0)
    lines = ["# of the prototype", ""]

    def converse() -> None:
        while data := host.outgoing():
            reply = device.exchange(data, 0.0)
            lines.extend((f"10 > {data.hex(' ')}", f"12 < {reply.hex()}"))
            host.receive(reply, 0.0)

    converse()
    host.command(4, Dispense(3), 0.0)
    converse()
    (folder / "log").write_text("\n".join([*lines, "13 < c0 01 02 c0", ""]))
    return folder / "log"


def test_a_makers_log_is_decoded_frame_by_frame(log: Path) -> None:
    shown = out(log.parent, "show", "log", "--device-keys", "device.keys").splitlines()
    assert shown[0].startswith("       10 > hello boot=00000000 number=0 version=1 nonce=")
    assert shown[1].startswith("       12 < identity boot=C0FFEE01 number=1 version=1 kind=shuffler unit=sets")
    (reported,) = (line for line in shown if " report " in line)
    assert reported.endswith(
        "counter=2 is=SetDispensed uptime_ms=5 shuffle=7 ordinal=1 remaining=49 deck=1 cards=concealed"
    )
    (commanded,) = (line for line in shown if " command " in line)
    assert commanded.endswith('command_id=4 order={"is": "Dispense", "count": 3}')
    assert shown[-1] == "       13 < ? damaged"
    assert not [line for line in shown if "not opened" in line]
    with_faces = out(log.parent, "show", "log", "--device-keys", "device.keys", "--faces", "--json").splitlines()
    assert len(with_faces) == len(shown)
    (reported,) = (line for line in with_faces if '"frame":"report"' in line)
    assert json.loads(reported)["body"]["cards"] == [13, 26, 52]


def test_a_makers_log_without_the_right_key_shows_what_is_clear(log: Path) -> None:
    write_device_keys(log.parent / "device.keys", {SERIAL: bytes(range(2, 34))})
    shown = out(log.parent, "show", "log", "--device-keys", "device.keys").splitlines()
    (proof,) = (line for line in shown if " host_proof " in line)
    assert proof.endswith("(the proof does not hold with this key)")
    assert {line.split()[2] for line in shown if "not opened" not in line} == {
        "hello", "identity", "host_proof", "device_proof", "?"
    }  # fmt: skip
    assert "(there is no key for CARDSHOE-0042)" in out(log.parent, "show", "log")


@pytest.mark.parametrize(("side", "named"), [(">", "host"), ("<", "device")])
def test_a_log_that_ends_within_a_frame_says_so(folder: Path, side: str, named: str) -> None:
    (folder / "log").write_text(f"0 {side} c0 01 01\n7 {side} 00 00\n")
    why = '(the log ends before the C0 that ends a frame (cardlink, "Frames"))'
    assert out(folder, "show", "log") == f"        7 {side} ? cut off {why}\n"
    (shown,) = out(folder, "show", "log", "--json").splitlines()
    assert (json.loads(shown)["from"], json.loads(shown)["verdict"]) == (named, "cut off")


def test_a_log_that_cannot_be_read_is_bad_input(folder: Path) -> None:
    (folder / "log").write_text("> c0\n< c0 1\n")
    done = cardshoe("capture", "show", "log", cwd=folder)
    assert done.returncode == 2
    assert "Line 2 of log is not bytes of a line." in done.stderr


def test_faces_of_a_device_that_is_not_simulated_are_not_shown(folder: Path) -> None:
    (folder / "log").write_text(f"< {frame(FrameKind.IDENTITY, IDENTITY).hex()}\n")
    done = cardshoe("capture", "show", "log", "--faces", cwd=folder)
    assert done.returncode == 2
    assert "The device is not simulated" in done.stderr
