"""The pin keeps the newest head whatever a power cut may do to a file that is not synced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from controller.journal.chain import Head
from controller.journal.pin import BLOCK, SLOT, BadPinError, Pin, Pinned, read_pin


def pinned(number: int) -> Pinned:
    return Pinned("5e" * 16, "f1" * 16, Head(number, bytes([number % 256]) * 32), 1_700_000_000_000_000_000 + number)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pin"


@pytest.fixture
def pin(path: Path) -> Iterator[Pin]:
    with closing(Pin.open(path)) as pin:
        yield pin


def test_a_new_pin_raises_no_doubt(path: Path, pin: Pin) -> None:
    assert pin.newest is None
    assert read_pin(path) is None
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_newest_head_counts_and_is_there_after_opening_again(path: Path, pin: Pin) -> None:
    for number in range(1, 6):
        pin.write(pinned(number), sync=number == 3)
        assert pin.newest == read_pin(path) == pinned(number)
    with closing(Pin.open(path)) as again:
        assert again.newest == pinned(5)
        again.write(pinned(6), sync=True)
    assert read_pin(path) == pinned(6)


@pytest.mark.parametrize("torn", [0, 1, 100, 479, 480, SLOT - 1])
@pytest.mark.parametrize("last", [6, 7])
def test_a_slot_that_was_written_in_part_leaves_the_other(path: Path, pin: Pin, last: int, torn: int) -> None:
    for number in range(1, last):
        pin.write(pinned(number), sync=False)
    before = path.read_bytes()
    pin.write(pinned(last), sync=False)
    whole = path.read_bytes()
    at = next(at for at in (0, BLOCK) if whole[at : at + SLOT] != before[at : at + SLOT])
    path.write_bytes(before[:at] + whole[at : at + torn] + before[at + torn :])
    assert read_pin(path) == pinned(last - 1)


def test_every_byte_of_a_slot_counts(path: Path, pin: Pin) -> None:
    pin.write(pinned(1), sync=False)
    whole = path.read_bytes()
    at = whole.find(b"cardshoe")
    for place in range(at, at + SLOT):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        with pytest.raises(BadPinError):
            read_pin(path)


@pytest.mark.parametrize("data", [b"x", b"cardshoe pin 1\0", b"\1" * (BLOCK + SLOT), b"\xff" * 9000])
def test_an_invalid_pin_file_is_left_untouched(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(BadPinError):
        Pin.open(path)
    assert path.read_bytes() == data


def test_a_path_that_is_not_a_file(path: Path, tmp_path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(BadPinError):
        Pin.open(path)
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        Pin.open(path)
    assert not (tmp_path / "elsewhere").exists()
