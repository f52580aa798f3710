"""The record of a configuration, which enters the journal when the daemon starts."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path

from controller.daemon.sections import CaptureSection, Configuration, FloorSection, HttpSection
from controller.program_files import Program
from controller.table.record import (
    CaptureRecord,
    ConfigurationRecord,
    DeviceRecord,
    FloorRecord,
    HttpRecord,
    PersonRecord,
    ReaderRecord,
)
from firmware_bridge.edited_text import read_named


def record_of(configuration: Configuration, program: Program | None = None) -> ConfigurationRecord:
    """Return the record. `program` was read at the start, because its files may change while it runs. If it is None,
    only the version is recorded.
    """
    program = program or Program(version("cardshoe"), "")
    device = configuration.device
    return ConfigurationRecord(
        program=program.version,
        program_digest=program.digest,
        program_how=program.how,
        program_signed=program.signed,
        program_parts=program.parts,
        device=DeviceRecord(
            url=str(configuration.device_url),
            serial=device.policy.serial,
            firmware_digests=device.policy.firmware_digests,
            keys_digest=_digest_of_file(device.key_file),
            cards_digest=_digest_of_file(device.card_table),
            image_digest=_digest_of_file(device.image),
        ),
        people=tuple(
            PersonRecord(one.id, one.name, one.role, one.uids, _digest(one.pin_hash.encode()))
            for one in configuration.people
        ),
        readers=tuple(ReaderRecord(one.id, one.uids) for one in configuration.readers),
        capture=None if configuration.capture is None else _capture(configuration.capture),
        journal=str(configuration.journal.folder),
        socket=str(configuration.api.socket),
        http=None if configuration.api.http is None else _http(configuration.api.http),
        floor=None if configuration.floor is None else _floor(configuration.floor),
        keep_days=configuration.journal.keep_days,
    )


def _http(section: HttpSection) -> HttpRecord:
    return HttpRecord(section.port, section.hosts, section.shift_hours)


def _floor(section: FloorSection) -> FloorRecord:
    broker = str(section.found_broker.address)
    return FloorRecord(broker, section.site, section.pit, _digest_of_file(section.certificate_file))


def _capture(section: CaptureSection) -> CaptureRecord:
    return CaptureRecord(str(section.path), section.megabytes, section.files, _digest_of_file(section.key_file))


def _digest_of_file(path: Path | None) -> str:
    """Return the digest, or "" for a file that cannot be read: the part that needs the file reports that."""
    try:
        return "" if path is None else _digest(read_named(path))
    except OSError:
        return ""


def _digest(secret: bytes) -> str:
    return hashlib.sha256(secret).hexdigest() if secret else ""
