"""Reads captures: every whole line, and a sentence for each damaged line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from firmware_bridge.captures import capture_format
from firmware_bridge.captures.capture_format import (
    AnyRecord,
    CaptureError,
    CaptureHeader,
    CaptureKeyError,
    Cipher,
    MakeCipher,
)
from firmware_bridge.edited_text import open_named, why_unreadable
from firmware_bridge.messages import Message, counted, message

LONGEST_LINE: Final = 1_000_000  # bytes; a longer line is damaged
NOTED: Final = 20  # the number of damaged lines that are reported one by one


class CaptureRecording(NamedTuple):
    """The records under one header. `unopened` counts the sealed records that were skipped for lack of a key."""

    header: CaptureHeader
    records: list[AnyRecord]
    unopened: int = 0


class Capture(NamedTuple):
    """The recordings of the named files, in order. `damage` holds a sentence for each part that could not be read."""

    recordings: tuple[CaptureRecording, ...]
    damage: tuple[Message, ...]


def read_capture(paths: Sequence[Path], make_cipher: MakeCipher | None = None) -> Capture:
    """Read files, oldest first. Raise CaptureError (not a capture, another format) or CaptureKeyError (wrong key)."""
    recordings: list[CaptureRecording] = []
    damage: list[Message] = []
    for path in paths:
        reader = _Reader(path, make_cipher)
        try:
            reader.read()
        except OSError as error:
            raise CaptureError(
                message("The capture {path} cannot be read: {why}.", path=str(path), why=why_unreadable(error)),
                message("Name an existing file."),
            ) from error
        recordings += reader.recordings
        damage += reader.damage
    return Capture(tuple(recordings), tuple(damage))


class _Reader:
    """The state of reading one file."""

    def __init__(self, path: Path, make_cipher: MakeCipher | None) -> None:
        self.recordings: list[CaptureRecording] = []
        self.damage: list[Message] = []
        self._path = path
        self._make_cipher = make_cipher
        self._cipher: Cipher | None = None
        self._damaged = 0
        self._headless = True  # the header of the records that follow is missing or damaged

    def read(self) -> None:
        with open_named(self._path) as file:
            number = 0
            while line := file.readline(LONGEST_LINE):
                number += 1
                if number == 1:
                    self._check_first(line)
                self._take(number, line)
        if not self.recordings and not self._damaged:
            raise CaptureError(
                message("{path} is empty.", path=str(self._path)),
                message("Name a file that cardshoe capture record wrote."),
            )
        if self._damaged > NOTED:
            self.damage.append(
                counted(
                    "1 more line of {path} cannot be read.",
                    "{count} more lines of {path} cannot be read.",
                    self._damaged - NOTED,
                    path=str(self._path),
                )
            )

    def _check_first(self, line: bytes) -> None:
        found = capture_format.format_of(line)
        if found is None:
            raise CaptureError(
                message("{path} is not a capture.", path=str(self._path)),
                message("Name a file that cardshoe capture record wrote."),
            )
        if found != capture_format.FORMAT:
            raise CaptureError(
                message(
                    "{path} is a capture of format {found}, and this version reads format {format}.",
                    path=str(self._path),
                    found=found,
                    format=capture_format.FORMAT,
                ),
                message("Use the version of cardshoe that wrote it."),
            )

    def _take(self, number: int, line: bytes) -> None:
        try:
            decoded = capture_format.decode_line(line)
            if isinstance(decoded, CaptureHeader):
                self._begin(decoded, line)
            elif self._headless:
                raise ValueError("a record of a recording that is not known")
            elif isinstance(decoded, capture_format.Sealed):
                self._open(number, decoded)
            else:
                self.recordings[-1].records.append(decoded)
        except ValueError:
            self._headless = self._headless or capture_format.format_of(line) is not None
            damaged = (
                message("Line {number} of {path} is damaged.", number=number, path=str(self._path))
                if line.endswith(b"\n")
                else message("Line {number} of {path} is cut off.", number=number, path=str(self._path))
            )
            self._note(damaged)

    def _begin(self, header: CaptureHeader, line: bytes) -> None:
        if header.format != capture_format.FORMAT:
            raise ValueError("a format that this version does not read")
        self.recordings.append(CaptureRecording(header, []))
        self._headless = False
        self._cipher = None if self._make_cipher is None else self._make_cipher(header.id, line)

    def _open(self, number: int, line: capture_format.Sealed) -> None:
        recording = self.recordings[-1]
        if self._cipher is None:
            self.recordings[-1] = recording._replace(unopened=recording.unopened + 1)
            return
        try:
            recording.records.append(capture_format.open_record(line, self._cipher))
        except ValueError as error:
            if recording.records or line.number > 1:
                raise
            raise CaptureKeyError(
                message(
                    "Line {number} of {path} cannot be decrypted with this key.", number=number, path=str(self._path)
                ),
                message("Name the key file with which it was recorded."),
            ) from error

    def _note(self, sentence: Message) -> None:
        self._damaged += 1
        if self._damaged <= NOTED:
            self.damage.append(sentence)
