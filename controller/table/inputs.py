"""Inputs of `decide`: reports of devices, entries of people, the daemon's start. They are journaled as received."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from controller.roles import Role
from controller.table.model import Proof
from controller.table.operations import AnyOperation
from controller.table.record import ConfigurationRecord, FileRecord
from controller.table.settings import Settings
from firmware_bridge.capabilities import DeviceIdentity, DeviceStatus, KeyUsed
from firmware_bridge.cards import Evidence
from firmware_bridge.drivers.base import Contradiction
from firmware_bridge.messages import AnyText
from firmware_bridge.observations import AnyObservation


class Input(msgspec.Struct, frozen=True, tag_field="input"):
    """Base class of all inputs."""


class DaemonStarted(Input, frozen=True, tag="daemon_started"):
    """The daemon started, with this configuration. What the journal says about the device may be out of date.

    `host_boot` identifies the start of the PC, to distinguish a power failure of the PC from a restart of the daemon;
    empty: unknown. `configuration`: what else it was started with. `doubt`: the fault found in the journal
    (docs/faults.md), with its sentence and the public keys in question; empty: none. If there are several it is the
    first; a `DamageFound` follows for each of the others.
    """

    table: str
    simulated: bool
    settings: Settings
    start: str
    host_boot: str = ""
    configuration: ConfigurationRecord | None = None
    doubt: str = ""
    doubt_sentence: AnyText = ""
    doubt_keys: tuple[str, ...] = ()


class ConfigurationRead(Input, frozen=True, tag="configuration_read"):
    """The daemon reloaded its configuration. `settings` None: it has no settings."""

    configuration: ConfigurationRecord
    settings: Settings | None = None


class DeviceConnected(Input, frozen=True, tag="device_connected"):
    """A device connected. `nonce`: the device's for this link, never used again; empty if its protocol has none. `key`:
    which of two keys it has. `image`: the SHA-256 of the approved program that it has shown to run.
    """

    identity: DeviceIdentity
    status: DeviceStatus
    nonce: bytes = b""
    key: KeyUsed = ""
    image: str = ""


class DeviceGone(Input, frozen=True, tag="device_gone"):
    """The link to a device that was ready ended; `refused`: the device must not be used.

    `evidence`: details of the reason that must not be shown.
    """

    code: str
    sentence: AnyText
    refused: bool = False
    evidence: Evidence | None = None


class DeviceReported(Input, frozen=True, tag="device_reported"):
    """A numbered report arrived, in order and exactly once. `uptime_ms`: the device's clock, None if it has none."""

    boot: int
    number: int
    uptime_ms: int | None
    observation: AnyObservation
    evidence: Evidence


class ReportsMissing(Input, frozen=True, tag="reports_missing"):
    """The device no longer has these reports; `last` None: how many is unknown.

    `withheld`: the device says that it made them, but does not send them. `newest`: the last report that it made.
    """

    boot: int
    first: int
    last: int | None
    withheld: bool = False
    newest: int = 0


class DeviceContradicted(Input, frozen=True, tag="device_contradicted"):
    """A message on the line contradicts what was sent before (`firmware_bridge.drivers.base.Contradiction`).

    `number`: of the report or command in question, or of the frames that the device did not seal.
    """

    what: Contradiction
    boot: int
    number: int
    evidence: Evidence


class StatusReceived(Input, frozen=True, tag="status_received"):
    """A heartbeat arrived. It is journaled only if it decides something. `unanswered`: overdue commands.

    `moves_too_long`: cards are said to move for longer than any set takes, so the movement no longer excuses anything.
    """

    status: DeviceStatus
    unanswered: tuple[int, ...] = ()
    moves_too_long: bool = False

    @property
    def moving(self) -> bool:
        """Return whether the contents may change because cards are moving."""
        return self.status.moving and not self.moves_too_long


class CommandAnswered(Input, frozen=True, tag="command_answered"):
    command_id: int
    done: bool
    reason: str = ""


class PersonActed(Input, frozen=True, tag="person_acted"):
    """A person entered an operation. The daemon looked up person and role. `round`: the one on the person's screen.

    `uid`: the user of the machine at the other end of the socket; None: not known. `screen`: the enrolled screen at
    which it was entered. `proven`: how the person proved who it is; `user`: only by that user. `shift_ends_utc_ns`:
    when the sign-on that begins with it ends. `as_of`: the entry of the state that the person looked at; 0: not stated.
    `repeats`: the entry of the first request, where this is the second one; 0: it is a first one, or comes from a
    program. `utc_ns`: the time of an entry at a screen; else 0. `witness_signed`: the second person who counted, if
    that person also entered a PIN.
    """

    operation_id: str
    person: str
    role: Role
    round: int
    operation: AnyOperation
    uid: int | None = None
    proven: Proof = ""
    screen: str = ""
    shift_ends_utc_ns: int = 0
    as_of: int = 0
    repeats: int = 0
    utc_ns: int = 0
    witness_signed: str = ""


class PinTried(Input, frozen=True, tag="pin_tried"):
    """A PIN for a person was entered. It is journaled only if it changes something.

    It came from a user of the machine or a screen, at that time; from neither: from a browser that is not enrolled.
    """

    person: str
    uid: int | None
    right: bool
    utc_ns: int
    screen: str = ""


class RefusedAtDoor(Input, frozen=True, tag="refused_at_door"):
    """Attempts were refused before they reached the table, since the last such input. `what`: the code.

    Without `uid`: a `screen`, several users who are too many to be distinguished, or no user.
    """

    what: str
    uid: int | None
    count: int
    screen: str = ""


class FilesExpired(Input, frozen=True, tag="files_expired"):
    """These files of the journal are older than the retention period: they are deleted once this is recorded."""

    files: tuple[FileRecord, ...]


class DamageFound(Input, frozen=True, tag="damage_found"):
    """The journal was found to differ from what was written, at a start or by the check beside the table.

    `code`: the code of the fault. `keys`: the public keys in doubt, in hexadecimal.
    """

    code: str
    sentence: AnyText
    keys: tuple[str, ...] = ()


AnyInput: TypeAlias = (
    DaemonStarted
    | ConfigurationRead
    | DeviceConnected
    | DeviceGone
    | DeviceReported
    | ReportsMissing
    | DeviceContradicted
    | StatusReceived
    | CommandAnswered
    | PersonActed
    | PinTried
    | RefusedAtDoor
    | FilesExpired
    | DamageFound
)
