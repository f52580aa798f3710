"""`[capture]`: off by default, sealed unless the table is simulated, never a reason not to deal."""

from __future__ import annotations

from pathlib import Path

import pytest
from structlog.testing import CapturingLogger

from controller.daemon.captures import recorder_of
from controller.daemon.configuration import Configuration, ConfigurationError, read_configuration
from controller.journal.sealing import create_key_file
from firmware_bridge.captures.reader import read_capture

from .test_site_settings import CHOSEN, REST, TABLE


def read(folder: Path, capture: str, *, simulated: bool = True) -> Configuration:
    path = folder / "table.toml"
    path.write_text(TABLE.format(simulated=str(simulated).lower()) + CHOSEN + capture + REST)
    return read_configuration(path)


def test_without_the_section_nothing_is_recorded(tmp_path: Path) -> None:
    configuration = read(tmp_path, "")
    assert configuration.capture is None
    assert recorder_of(configuration, lambda: 0.0, CapturingLogger()) is None


def test_paths_count_from_the_files_folder(tmp_path: Path) -> None:
    section = read(tmp_path, '[capture]\npath = "c"\nkey_file = "k"\nmegabytes = 2\nfiles = 3\n').capture
    assert section is not None
    assert (section.path, section.key_file) == (tmp_path / "c", tmp_path / "k")
    assert (section.megabytes, section.files) == (2, 3)


@pytest.mark.parametrize(
    ("capture", "simulated", "words"),
    [
        ('[capture]\npath = "c"\n', False, "key_file is missing in [capture]"),
        ("[capture]\n", True, "The key path is missing"),
        ('[capture]\npath = "c"\nmegabytes = 0\n', True, "megabytes"),
        ('[capture]\npath = "c"\nfiles = 0\n', True, "files"),
        ('[capture]\npath = "c"\nplain = true\n', True, "plain"),
    ],
)
def test_an_invalid_capture_section_is_refused(tmp_path: Path, capture: str, simulated: bool, words: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(tmp_path, capture, simulated=simulated)
    assert words in str(refused.value)


@pytest.mark.parametrize("simulated", [True, False])
def test_a_recording_of_a_real_table_is_sealed(tmp_path: Path, simulated: bool) -> None:
    create_key_file(tmp_path / "capture.key")
    key = "" if simulated else 'key_file = "capture.key"\n'
    recorder = recorder_of(
        read(tmp_path, f'[capture]\npath = "a.capture"\n{key}', simulated=simulated), lambda: 0.0, CapturingLogger()
    )
    assert recorder is not None
    recorder.received(b"10D")
    recorder.close()
    (recording,) = read_capture([tmp_path / "a.capture"]).recordings
    assert recording.header.origin == ("simulated" if simulated else "hardware")
    assert recording.header.note == "table T-1"
    assert (len(recording.records), recording.unopened) == ((1, 0) if simulated else (0, 1))


@pytest.mark.parametrize(
    "capture", ['path = "no/such/folder/c"\n', 'path = "c"\nkey_file = "absent.key"\n', 'path = "table.toml"\n']
)
def test_a_capture_that_cannot_begin_is_reported_once_without_other_effect(tmp_path: Path, capture: str) -> None:
    log = CapturingLogger()
    configuration = read(tmp_path, f"[capture]\n{capture}")
    assert recorder_of(configuration, lambda: 0.0, log) is None
    assert [call.kwargs["code"] for call in log.calls] == ["capture-stopped"]
