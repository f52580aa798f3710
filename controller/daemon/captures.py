"""Captures of this host: their keys, and the recorder that a configuration asks for.

    key of the capture = HKDF(local key, id of the header)
    sealed             = AES-GCM(nonce = record number u64 | 0 u32, plaintext, associated data = the header's line)

Each number is used once under a header, and every header has its own id.
"""

from __future__ import annotations

import secrets
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from controller.daemon.configuration import Configuration
from controller.journal import JournalError
from controller.journal.sealing import KEY_BYTES, load_key_file
from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.captures import capture_format
from firmware_bridge.captures.capture_format import CaptureHeader, CaptureKeyError, CaptureOrigin, MakeCipher
from firmware_bridge.captures.recorder import MEGABYTE, Bounds, CaptureFile, CaptureRecorder, log_stopped
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.errors import BridgeError
from firmware_bridge.messages import message

_NONCE: Final = struct.Struct(">QI")
_LABEL: Final = b"cardshoe capture key 1\0"


class CaptureCipher:
    """Seals and opens the records after one header (`firmware_bridge.captures.capture_format.Cipher`)."""

    __slots__ = ("_about", "_cipher")

    def __init__(self, local_key: bytes, capture_id: str, header_line: bytes) -> None:
        key = HKDF(SHA256(), KEY_BYTES, salt=None, info=_LABEL + capture_id.encode()).derive(local_key)
        self._cipher = AESGCM(key)
        self._about = header_line

    def seal(self, number: int, plain: bytes) -> bytes:
        return self._cipher.encrypt(_NONCE.pack(number, 0), plain, self._about)

    def open(self, number: int, sealed: bytes) -> bytes:
        """Open a record. Raise ValueError if it was altered or sealed with another key."""
        try:
            return self._cipher.decrypt(_NONCE.pack(number, 0), sealed, self._about)
        except (InvalidTag, struct.error):
            raise ValueError("the sealed record does not open with this key in this place") from None


def load_cipher(key_file: Path) -> MakeCipher:
    """Return the factory of ciphers for the key in that file. Raise CaptureKeyError if the key cannot be read."""
    try:
        local_key = load_key_file(key_file)
    except JournalError as error:
        raise CaptureKeyError(error.message, message("Name the capture's key file. {hint}", hint=error.hint)) from error
    return lambda capture_id, header_line: CaptureCipher(local_key, capture_id, header_line)


def open_recorder(
    path: Path,
    url: DeviceUrl,
    *,
    simulated: bool,
    key_file: Path | None,
    bounds: Bounds,
    clock: Callable[[], float],
    log: Any,
    note: str = "",
) -> CaptureRecorder:
    """Begin a recording. Without a key file records are not sealed: the caller must know that this is allowed.

    Raise CaptureError.
    """
    make_cipher = None if key_file is None else load_cipher(key_file)

    def make_header(continues: str, device: DeviceIdentity | None) -> CaptureHeader:
        return CaptureHeader(
            format=capture_format.FORMAT,
            id=secrets.token_hex(16),
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            url=str(url),
            driver=url.driver,
            origin=CaptureOrigin.SIMULATED if simulated else CaptureOrigin.HARDWARE,
            sealed=make_cipher is not None,
            simulated=simulated,
            continues=continues,
            device=device,
            note=note,
        )

    file = CaptureFile(path, make_header, bounds, make_cipher)
    return CaptureRecorder(file, clock=clock, log=log, keeps_keys=simulated or make_cipher is not None)


def recorder_of(configuration: Configuration, clock: Callable[[], float], log: Any) -> CaptureRecorder | None:
    """Return the recorder that a table's configuration asks for. One that cannot start is reported in the log; dealing
    continues.
    """
    section, table = configuration.capture, configuration.table
    if section is None:
        return None
    try:
        return open_recorder(
            section.path,
            configuration.device_url,
            simulated=table.simulated,
            key_file=section.key_file,
            bounds=Bounds(section.megabytes * MEGABYTE, section.files),
            clock=clock,
            log=log,
            note=f"table {table.name}",
        )
    except BridgeError as error:
        log_stopped(log, error.with_hint)
        return None
