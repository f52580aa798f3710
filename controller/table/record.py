"""Journal records of the daemon's configuration, and of deleted journal files.

The configuration shows who could act, by which device, with which program. For a secret only a digest is kept, which
shows whether the secret changed: SHA-256 in hexadecimal, empty if there is none. The digest reveals nothing, because
its input cannot be guessed: keys are 32 random bytes, and the hash of a PIN contains a random salt that is kept
nowhere else.
"""

from __future__ import annotations

import msgspec

from controller.roles import Role


class PersonRecord(msgspec.Struct, frozen=True):
    """A configured person. `pin_digest`: digest of the PIN's hash."""

    id: str
    name: str
    role: Role
    uids: tuple[int, ...] = ()
    pin_digest: str = ""


class ReaderRecord(msgspec.Struct, frozen=True):
    """Users of the machine with read access."""

    id: str
    uids: tuple[int, ...] = ()


class DeviceRecord(msgspec.Struct, frozen=True):
    """The device configured for the table. `url` names the driver and its options. The digests are those of the files
    as they were when the daemon started.
    """

    url: str
    serial: str = ""
    firmware_digests: tuple[str, ...] = ()
    keys_digest: str = ""
    cards_digest: str = ""
    image_digest: str = ""


class CaptureRecord(msgspec.Struct, frozen=True):
    """The recording of bytes to and from the device. `key_digest` is empty if it is not sealed."""

    path: str
    megabytes: int
    files: int
    key_digest: str = ""


class HttpRecord(msgspec.Struct, frozen=True):
    """The port of screens. `port` 0: any free port."""

    port: int
    hosts: tuple[str, ...]
    shift_hours: int


class FloorRecord(msgspec.Struct, frozen=True):
    """The destination of the journal, and the names used at it. `certificate_digest` is empty for a local broker."""

    broker: str
    site: str
    pit: str
    certificate_digest: str = ""


class ConfigurationRecord(msgspec.Struct, frozen=True):
    """The configuration without game, readings and limits, which are in `Settings`. `program`: its version.

    `keep_days`: how long files of the journal are kept; 0: forever. `program_how`: package, wheel or sources;
    `program_digest`: of the manifest of its files, empty for sources; `program_signed`: signed by the named key.
    `program_parts`: versions of its dependencies.
    """

    program: str
    device: DeviceRecord
    people: tuple[PersonRecord, ...] = ()
    readers: tuple[ReaderRecord, ...] = ()
    capture: CaptureRecord | None = None
    journal: str = ""
    socket: str = ""
    http: HttpRecord | None = None
    floor: FloorRecord | None = None
    keep_days: int = 0
    program_how: str = ""
    program_digest: str = ""
    program_signed: bool = False
    program_parts: tuple[tuple[str, str], ...] = ()

    def person_called(self, name: str) -> str:
        """Return the id of the configured person with that id or name, in any case; empty if there is none."""
        said = name.strip().casefold()
        ids = [one.id for one in self.people if one.id.casefold() == said]
        ids += [one.id for one in self.people if one.name.strip().casefold() == said]
        return ids[0] if ids else ""


class FileRecord(msgspec.Struct, frozen=True):
    """A file of the journal.

    It has the file's name and id, the number and hash (in hexadecimal) of its last entry, and when the next file was
    begun.
    """

    name: str
    id: str
    last: int
    hash: str
    ended_utc_ns: int = 0
