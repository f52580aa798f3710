"""Capture files: readable up to any cut, limited in size, sealed, continued; a failing recorder harms nothing else."""

from __future__ import annotations

import base64
import json
import resource
import secrets
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import CapturingLogger

from controller.daemon.captures import CaptureCipher, load_cipher
from controller.journal.sealing import create_key_file
from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.captures import capture_format, recorder
from firmware_bridge.captures.capture_format import (
    CaptureError,
    CaptureHeader,
    CaptureKeyError,
    CaptureOrigin,
    FromDevice,
    MakeCipher,
    Opened,
    Record,
    ToDevice,
)
from firmware_bridge.captures.reader import read_capture
from firmware_bridge.captures.recorder import Bounds, CaptureFile, CaptureRecorder
from firmware_bridge.drivers.base import LinkOver
from tests.captures.make import FOLDER

from .parts import open_descriptors

KEY = bytes(range(32))
SAID = [
    Opened(0),
    ToDevice(3, "0102"),
    FromDevice(12, "5b47616d655d"),
    capture_format.Lost(7, "transport-lost", "Gone."),
]


def sealing(capture_id: str, header_line: bytes) -> CaptureCipher:
    return CaptureCipher(KEY, capture_id, header_line)


def file_at(path: Path, bounds: Bounds | None = None, make_cipher: MakeCipher | None = None) -> CaptureFile:
    def make_header(continues: str, device: DeviceIdentity | None) -> CaptureHeader:
        return CaptureHeader(
            capture_format.FORMAT, secrets.token_hex(16), "2026-11-21T12:00:00+00:00", "sim:///shoe", "cardlink",
            CaptureOrigin.SIMULATED, make_cipher is not None, continues=continues, device=device,
        )  # fmt: skip

    return CaptureFile(path, make_header, bounds or Bounds(), make_cipher)


def write(path: Path, said: list[Record], make_cipher: MakeCipher | None = None) -> None:
    file = file_at(path, make_cipher=make_cipher)
    for record in said:
        file.write(record)
    file.close()


# -- the file -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make_cipher", [None, sealing], ids=["plain", "sealed"])
def test_written_records_are_read(tmp_path: Path, make_cipher: MakeCipher | None) -> None:
    path = tmp_path / "a.capture"
    write(path, SAID, make_cipher)
    capture = read_capture([path], make_cipher)
    assert not capture.damage
    assert [recording.records for recording in capture.recordings] == [SAID]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("make_cipher", [None, sealing], ids=["plain", "sealed"])
def test_cut_off_anywhere_it_is_read_up_to_the_cut_and_gone_on_with(
    tmp_path: Path, make_cipher: MakeCipher | None
) -> None:
    whole = tmp_path / "whole.capture"
    write(whole, SAID, make_cipher)
    data = whole.read_bytes()
    header_ends = data.index(b"\n") + 1
    step = 1 if make_cipher is None else 13  # a sealed line is long, and uniform inside
    line_ends = [place for place, byte in enumerate(data) if byte == ord("\n")][1:]
    around = {place + beside for place in line_ends for beside in (-1, 0, 1)} - {len(data)}
    for cut in sorted({*range(header_ends, len(data), step), *around}):
        path = tmp_path / "cut.capture"
        path.write_bytes(data[:cut])
        found = read_capture([path], make_cipher).recordings[0].records
        assert found == SAID[: len(found)]
        assert len(found) >= data[:cut].count(b"\n") - 1, "every whole line is read"
        write(path, SAID[:2], make_cipher)
        capture = read_capture([path], make_cipher)
        assert [recording.records for recording in capture.recordings] == [found, SAID[:2]]
        assert len(capture.damage) <= 1


def test_a_damaged_line_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.capture"
    write(path, SAID)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b'{"is":"to_device","ms":3,"hex":"01x"}\n'
    path.write_bytes(b"".join(lines))
    capture = read_capture([path])
    assert capture.recordings[0].records == [SAID[0], *SAID[2:]]
    assert tuple(map(str, capture.damage)) == (f"Line 3 of {path} is damaged.",)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.binary(max_size=80), max_size=6))
def test_anything_after_a_header_is_damage_and_no_error(tmp_path: Path, lines: list[bytes]) -> None:
    path = tmp_path / "a.capture"
    path.unlink(missing_ok=True)
    write(path, [])
    with path.open("ab") as file:
        file.writelines(line + b"\n" for line in lines)
    capture = read_capture([path])
    assert len(capture.recordings) == 1
    assert len(capture.damage) <= sum(1 + line.count(b"\n") for line in lines)


@pytest.mark.parametrize("text", ["", "no capture\n", '{"is":"capture"}\n', "[]\n", '{"is":"capture","format":2}\n'])
def test_an_invalid_capture_is_refused_and_never_written_to(tmp_path: Path, text: str) -> None:
    path = tmp_path / "letter.txt"
    path.write_text(text)
    with pytest.raises(CaptureError) as refused:
        read_capture([path])
    assert refused.value.hint
    if text:
        with pytest.raises(CaptureError):
            file_at(path)
        assert path.read_text() == text


def test_files_are_bounded_and_continue_each_other(tmp_path: Path) -> None:
    path = tmp_path / "a.capture"
    file = file_at(path, Bounds(largest=2000, files=3))
    said = [FromDevice(n, f"{n:04x}" * 20) for n in range(100)]
    for record in said:
        file.write(record)
    file.close()
    names = sorted(entry.name for entry in tmp_path.iterdir())
    assert names == ["a.capture", "a.capture.1", "a.capture.2"]
    assert all(entry.stat().st_size <= 2000 for entry in tmp_path.iterdir())
    capture = read_capture([tmp_path / name for name in (names[2], names[1], names[0])])
    kept = [record for recording in capture.recordings for record in recording.records]
    assert kept == said[-len(kept) :]
    assert len(kept) > 20
    for before, after in zip(capture.recordings, capture.recordings[1:], strict=False):
        assert after.header.continues == before.header.id


@pytest.mark.parametrize("number", [1, 2])
def test_a_file_that_is_not_a_capture_is_neither_moved_nor_removed(tmp_path: Path, number: int) -> None:
    path = tmp_path / "a.capture"
    file = file_at(path, Bounds(largest=2000, files=3))
    letter = tmp_path / f"a.capture.{number}"
    letter.write_text("precious")
    with pytest.raises(CaptureError, match="is not a capture"):
        file_at(path, Bounds(largest=2000, files=3))
    large = FromDevice(0, "00" * 900)
    file.write(large)
    with pytest.raises(CaptureError, match="is not a capture"):
        file.write(large)
    file.close()
    assert letter.read_text() == "precious"


def test_a_single_file_starts_again_when_it_is_full(tmp_path: Path) -> None:
    file = file_at(tmp_path / "a.capture", Bounds(largest=1000, files=1))
    for n in range(50):
        file.write(FromDevice(n, "00" * 50))
    file.close()
    (only,) = tmp_path.iterdir()
    assert only.stat().st_size <= 1000


# -- sealing ------------------------------------------------------------------------------------------------------


def test_sealed_records_reveal_nothing_not_even_a_ten_by_its_length(tmp_path: Path) -> None:
    texts = []
    for card in (b"9C", b"10C"):
        path = tmp_path / f"{card.decode()}.capture"
        write(path, [FromDevice(5, card.hex())], sealing)
        texts.append(path.read_bytes())
        assert card.hex().encode() not in texts[-1]
        assert b"from_device" not in texts[-1]
    assert len(texts[0]) == len(texts[1])


def test_without_the_key_only_the_header_is_read_and_another_key_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.capture"
    write(path, SAID, sealing)
    (recording,) = read_capture([path]).recordings
    assert (recording.records, recording.unopened) == ([], len(SAID))
    with pytest.raises(CaptureKeyError):
        read_capture([path], lambda name, line: CaptureCipher(bytes(32), name, line))


@pytest.mark.parametrize(
    ("spoil", "read"),
    [
        (lambda lines: [lines[0].replace(b"sim:", b"usb:"), *lines[1:]], None),
        (lambda lines: [lines[0], lines[1], lines[3], *lines[4:]], [SAID[0], *SAID[2:]]),
        (lambda lines: [lines[0], lines[1], lines[2].replace(b'number":2', b'number":9'), *lines[3:]],
         [SAID[0], *SAID[2:]]),
    ],
    ids=["another header", "a record taken out", "another number"],
)  # fmt: skip
def test_sealed_records_are_bound_to_their_header_and_their_number(
    tmp_path: Path, spoil: Callable[[list[bytes]], list[bytes]], read: list[Record] | None
) -> None:
    path = tmp_path / "a.capture"
    write(path, SAID, sealing)
    path.write_bytes(b"".join(spoil(path.read_bytes().splitlines(keepends=True))))
    if read is None:
        with pytest.raises(CaptureKeyError):
            read_capture([path], sealing)
    else:
        assert read_capture([path], sealing).recordings[0].records == read


def test_no_number_is_used_twice_with_a_key(tmp_path: Path) -> None:
    """The same record in two recordings and two files looks different in each."""
    path = tmp_path / "a.capture"
    for _ in range(3):
        write(path, [FromDevice(5, "00")] * 3, sealing)
    sealed = [json.loads(line)["sealed"] for line in path.read_bytes().splitlines() if b'"sealed"' in line[:15]]
    assert len(sealed) == 9
    assert len({base64.b64decode(one) for one in sealed}) == 9


def test_a_key_file_that_cannot_be_used(tmp_path: Path) -> None:
    create_key_file(tmp_path / "capture.key")
    load_cipher(tmp_path / "capture.key")
    (tmp_path / "capture.key").chmod(0o644)
    for name in ("capture.key", "absent.key"):
        with pytest.raises(CaptureKeyError) as refused:
            load_cipher(tmp_path / name)
        assert name in str(refused.value)
        assert refused.value.hint


# -- the recorder -------------------------------------------------------------------------------------------------


class TurnedClock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_times_are_since_the_record_before_and_do_not_drift(tmp_path: Path) -> None:
    clock = TurnedClock()
    one = CaptureRecorder(file_at(tmp_path / "a.capture"), clock=clock, log=CapturingLogger())
    for _ in range(1000):
        clock.now += 0.0014
        one.received(b"\x00")
    one.close()
    (recording,) = read_capture([tmp_path / "a.capture"]).recordings
    times = [record.ms for record in recording.records]
    assert sum(times) == 1400
    assert set(times) == {1, 2}


@pytest.fixture
def small_files() -> Iterator[None]:
    """Limit the files of this process to 4 kB, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("small_files")
def test_on_a_full_disk_it_stops_logs_that_once_and_leaves_a_readable_file(tmp_path: Path) -> None:
    log = CapturingLogger()
    one = CaptureRecorder(file_at(tmp_path / "a.capture"), clock=TurnedClock(), log=log)
    for _ in range(200):
        one.received(bytes(100))
    one.ended(LinkOver("transport-lost", "Gone."), by_driver=False)
    one.close()
    one.received(b"late")
    one.close()
    assert one.stopped
    assert [call.method_name for call in log.calls] == ["warning"]
    assert log.calls[0].kwargs["code"] == "capture-stopped"
    (recording,) = read_capture([tmp_path / "a.capture"]).recordings
    assert 10 < len(recording.records) < 200


def test_an_unwritable_folder_prevents_the_start(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "no" / "such.capture", Path("/dev/full")):
        with pytest.raises(CaptureError) as refused:
            file_at(path)
        assert refused.value.hint


class HungFile(CaptureFile):
    """A disk that blocks until it is released."""

    let = threading.Event()

    def write(self, record: Record) -> None:
        self.let.wait()
        super().write(record)


def test_a_disk_that_hangs_does_not_hold_up_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "WAITING_LIMIT", 8)
    plain = file_at(tmp_path / "a.capture")
    plain.close()
    hung = HungFile(tmp_path / "b.capture", plain._make_header, Bounds(), None)
    log = CapturingLogger()
    one = CaptureRecorder(hung, clock=TurnedClock(), log=log)
    for _ in range(20):
        one.received(b"\x00")
    assert one.stopped
    assert len(log.calls) == 1
    hung.let.set()
    one.close()


def keeps(before: Any, after: Any) -> bool:
    """Return whether everything that was written is there. A later version may add fields with their defaults."""
    if isinstance(before, dict):
        return isinstance(after, dict) and all(key in after and keeps(before[key], after[key]) for key in before)
    return bool(before == after)


def test_every_record_there_is_is_read_as_it_was_written() -> None:
    for path in FOLDER.glob("*.capture"):
        for line in path.read_bytes().splitlines(keepends=True):
            again = capture_format.encode_line(capture_format.decode_line(line))
            assert keeps(json.loads(line), json.loads(again)), line


def test_descriptors_are_closed(tmp_path: Path) -> None:
    before = open_descriptors()
    for _ in range(20):
        file = file_at(tmp_path / "a.capture", Bounds(largest=600, files=2))
        for n in range(20):
            file.write(FromDevice(n, "00" * 50))
        file.close()
    assert open_descriptors() == before


# -- sizes --------------------------------------------------------------------------------------------------------


def test_sealed_records_have_one_size_except_for_a_backlog() -> None:
    cipher = sealing("id", b"header")
    sizes = [len(capture_format.seal_record(FromDevice(5, "00" * n), 1, cipher).sealed) for n in range(1, 3000)]
    assert set(sizes[:480]) == {1024 + 16}
    assert set(sizes) == {1024 + 16, 16384 + 16}
    assert len({len(capture_format.seal_record(one, 1, cipher).sealed) for one in SAID}) == 1


def test_a_record_sealed_by_an_earlier_version_is_read() -> None:
    """They padded to the next multiple of 128 bytes."""
    cipher = sealing("id", b"header")
    plain = capture_format.encode_line(SAID[2]).rstrip(b"\n")
    padded = len(plain).to_bytes(4, "big") + plain
    old = capture_format.Sealed(3, cipher.seal(3, padded + bytes(-len(padded) % 128)))
    assert capture_format.open_record(old, cipher) == SAID[2]


def test_a_link_in_place_of_a_capture_is_not_followed(tmp_path: Path) -> None:
    """Whoever may write to the folder of captures cannot redirect the writes."""
    path, elsewhere = tmp_path / "a.capture", tmp_path / "elsewhere"
    path.symlink_to(elsewhere)
    with pytest.raises(CaptureError, match="cannot be written"):
        file_at(path)
    assert not elsewhere.exists()
