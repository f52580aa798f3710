"""Files that people edit, as Windows editors save them: with a mark in front, in UTF-16, in Latin-1."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from controller.commands.capture.byte_log import read_byte_log
from controller.commands.operate.script import read_script
from controller.commands.operate.signing import read_pins
from controller.daemon.configuration import ConfigurationError, read_configuration
from controller.journal import JournalError
from controller.journal.sealing import load_key_file
from controller.problems import ProblemError
from firmware_bridge import edited_text
from firmware_bridge.captures.capture_format import CaptureError
from firmware_bridge.captures.reader import read_capture
from firmware_bridge.card_table import read_card_table
from firmware_bridge.cards import DECK
from firmware_bridge.device_image import read_image
from firmware_bridge.device_keys import add_device_key, read_device_keys
from firmware_bridge.errors import CardTableError, ImageError, KeyFileError
from shuffle_audit.commands.options import read_maker
from shuffle_audit.order_files import OrderFileError, read_decks
from simulators.bench.recognition import KnownOrdersError, read_orders
from simulators.scenarios import load
from simulators.scenarios.format import BadScenarioError
from tests.architecture.sources import ROOT
from tests.configuration.test_site_settings import REST, TABLE

KEY = "0123456789abcdef" * 4
DECK_LINE = " ".join(card.code for card in DECK)
KINDS: dict[str, tuple[str, Callable[[Path], Any]]] = {  # a comment with an umlaut, where the format has comments
    "table.toml": ("# Tür\n" + TABLE.format(simulated="true") + REST, read_configuration),
    "device.keys": (f"# Tür\nCARDSHOE-1 {KEY}\n", read_device_keys),
    "cards.csv": ("# Tür\n" + "".join(f"{n:05},{card.code}\n" for n, card in enumerate(DECK)), read_card_table),
    "night.script": ("# Tür\nopen all\n", lambda path: [one.number for one in read_script(str(path))]),
    "pins": ("# Tür\nmara 123456\n", read_pins),
    "decks.csv": (f'deck,before,after\nTür,{DECK_LINE},{DECK_LINE}\n', lambda path: list(read_decks([path]))),
    "decks.jsonl": ('{"deck":"Tür","before":["AS","KS"],"after":["KS","AS"]}\n', lambda path: list(read_decks([path]))),
    "orders": (f"{DECK_LINE}\n", read_orders),
    "new_deck": (f"{DECK_LINE}\n", lambda path: read_maker(str(path))),
    "own.scenario": ((ROOT / "simulators/scenarios/nc/i12-exposed.scenario").read_text("utf-8") + "# Tür\n",
                     lambda path: [one.text for one in load(str(path)).steps]),
}  # fmt: skip
KINDS_OF_PIPES: dict[str, Callable[[Path], Any]] = {
    **{name: read for name, (_, read) in KINDS.items() if not name.startswith("decks.")},  # an audit refuses pipes
    "firmware.bin": read_image,
    "journal.key": load_key_file,
    "maker.log": lambda path: list(read_byte_log([path])),
    "a.capture": lambda path: read_capture([path]),
}
ERRORS = (JournalError, CaptureError, ProblemError, ConfigurationError, KeyFileError, CardTableError, ImageError,
          OrderFileError, KnownOrdersError, BadScenarioError)  # fmt: skip


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("name", KINDS)
def test_a_mark_in_front_changes_nothing(tmp_path: Path, name: str) -> None:
    text, read = KINDS[name]
    found = read(written(tmp_path, name, text.encode()))
    assert read(written(tmp_path, name, text.encode("utf-8-sig"))) == found


@pytest.mark.parametrize("name", KINDS)
def test_utf_16_is_named(tmp_path: Path, name: str) -> None:
    text, read = KINDS[name]
    with pytest.raises(ERRORS, match="UTF-16"):
        read(written(tmp_path, name, text.encode("utf-16")))


@pytest.mark.parametrize("name", KINDS)
def test_latin_1_is_named_with_its_line(tmp_path: Path, name: str) -> None:
    text, read = KINDS[name]
    text = text if "ü" in text else f"{text}ü\n"
    line = text[: text.index("ü")].count("\n") + 1
    with pytest.raises(ERRORS, match=f"line {line} is not in UTF-8, perhaps in Latin-1"):
        read(written(tmp_path, name, text.encode("latin-1")))


@pytest.mark.parametrize("name", KINDS_OF_PIPES)
def test_a_pipe_without_a_writer_is_named(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edited_text, "WRITER_WITHIN", 0.05)
    os.mkfifo(tmp_path / name, 0o600)
    with pytest.raises(ERRORS, match="it is a pipe that nobody writes to"):
        KINDS_OF_PIPES[name](tmp_path / name)


@pytest.mark.parametrize("name", KINDS_OF_PIPES)
def test_a_pipe_that_its_writer_does_not_close_is_named(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edited_text, "WRITER_WITHIN", 0.05)
    os.mkfifo(tmp_path / name, 0o600)
    writing = os.open(tmp_path / name, os.O_RDWR)
    os.write(writing, b'{"is":"capture","format":1}\n' if name == "a.capture" else b"# a\n")
    with pytest.raises(ERRORS, match="it is a pipe that its writer does not close"):
        KINDS_OF_PIPES[name](tmp_path / name)
    os.close(writing)


def test_a_pipe_with_a_writer_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "device.keys", 0o600)
    writing = Thread(target=lambda: (tmp_path / "device.keys").write_text(f"CARDSHOE-1 {KEY}\n"))
    writing.start()
    assert set(read_device_keys(tmp_path / "device.keys")) == {"CARDSHOE-1"}
    writing.join()


def test_a_file_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edited_text, "LARGEST", 2**20)
    with pytest.raises(CardTableError, match="it is larger than 1 MB"):
        read_card_table(Path("/dev/zero"))
    with pytest.raises(ImageError, match="it is larger than 1 MB"):
        read_image(Path("/dev/zero"))


@pytest.mark.parametrize(
    "line",
    [
        f"CARDSHOE\u200b-1 {KEY}",  # a blank without width
        f"\u0421ARDSHOE-1 {KEY}",  # a Cyrillic letter that looks like C
        f"CARDSHOE-1\N{NO-BREAK SPACE} {KEY}",
        f"CARDSHOE-1 {KEY}\N{NO-BREAK SPACE}",
        f"# first\n\ufeffCARDSHOE-1 {KEY}",  # a mark in the middle, as after `cat a b`
    ],
)
def test_characters_that_no_serial_number_has_are_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(KeyFileError, match=r"Line [12] of .*device.keys has the character U\+"):
        read_device_keys(written(tmp_path, "device.keys", f"{line}\n".encode()))


def test_two_lines_for_one_device_are_refused(tmp_path: Path) -> None:
    lines = f"CARDSHOE-1 {KEY}\nCARDSHOE-2 {KEY}\nCARDSHOE-1 {KEY[::-1]}\n"
    with pytest.raises(KeyFileError, match=r"Line 3 .* has a second key for CARDSHOE-1"):
        read_device_keys(written(tmp_path, "device.keys", lines.encode()))


@pytest.mark.parametrize("lines", [("", " next"), (" next", ""), ("\t", "  next ")])
def test_a_second_line_for_one_device_may_have_its_next_key(tmp_path: Path, lines: tuple[str, str]) -> None:
    text = "".join(f"CARDSHOE-1 {KEY[::-1] if 'next' in rest else KEY}{rest}\n" for rest in lines)
    found = read_device_keys(written(tmp_path, "device.keys", text.encode()))
    assert (found["CARDSHOE-1"].hex(), found.next["CARDSHOE-1"].hex()) == (KEY, KEY[::-1])


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (f"D {KEY}\nD {KEY[::-1]} next\nD {KEY} next\n", "Line 3 .* has a second key for D"),
        (f"C {KEY}\nD {KEY} next\n", "Line 2 .* has the next key of D, which has no other key"),
        (f"D {KEY} later\n", "Line 1 .* is not a device key"),
        ("D next\n", "Line 1 .* is not a device key"),
    ],
)
def test_a_next_key_that_fits_no_device_is_refused(tmp_path: Path, lines: str, said: str) -> None:
    with pytest.raises(KeyFileError, match=said):
        read_device_keys(written(tmp_path, "device.keys", lines.encode()))


def test_what_is_said_about_a_bad_line_can_be_done(tmp_path: Path) -> None:
    """`pair` itself refuses a file with such a line."""
    path = written(tmp_path, "device.keys", f"D-1 0123\nD-2 {KEY}\n".encode())
    with pytest.raises(KeyFileError, match="Line 1") as refused:
        add_device_key(path, "D-1", bytes.fromhex(KEY), replace=True)
    assert f"remove the line and pair the device again: cardshoe devices pair D-1 --key-file {path}" in str(
        refused.value.hint
    )
    path.write_text(path.read_text().partition("\n")[2])
    add_device_key(path, "D-1", bytes.fromhex(KEY))
    assert set(read_device_keys(path)) == {"D-1", "D-2"}


def test_a_key_is_added_to_a_file_with_a_mark(tmp_path: Path) -> None:
    path = written(tmp_path, "device.keys", f"CARDSHOE-1 {KEY}\n".encode("utf-8-sig"))
    add_device_key(path, "CARDSHOE-2", bytes.fromhex(KEY[::-1]))
    assert set(read_device_keys(path)) == {"CARDSHOE-1", "CARDSHOE-2"}
