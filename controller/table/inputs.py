"""Everything that `decide` takes: what devices report, what people enter, the daemon's start. Journaled as received."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from controller.messages import AnyText
from controller.roles import Role
from controller.table.model import Proof
from controller.table.operations import AnyOperation
from controller.table.record import ConfigurationRecord, FileRecord
from controller.table.settings import Settings
from firmware_bridge.capabilities import DeviceIdentity, DeviceStatus
from firmware_bridge.cards import Evidence
from firmware_bridge.observations import AnyObservation


class Input(msgspec.Struct, frozen=True, tag_field="input"):
    """Base of all inputs."""


class DaemonStarted(Input, frozen=True, tag="daemon_started"):
    """The daemon started, with this configuration. What the journal says of the device may be out of date.

    `host_boot` identifies the start of the PC, to distinguish a power failure of the PC from a restart of the daemon;
    empty: unknown. `configuration`: what else it was started with. `doubt`: what is wrong with the journal as it was
    found (docs/faults.md), with its sentence and the public keys that it is about; empty: nothing. Of several it is the
    first; `DamageFound` follows for each of the others.
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
    """The daemon has read its configuration again while it runs. `settings` None: they are not given."""

    configuration: ConfigurationRecord
    settings: Settings | None = None


class DeviceConnected(Input, frozen=True, tag="device_connected"):
    """`nonce`: the device's own of this link, which it must never use again; empty where its protocol has none."""

    identity: DeviceIdentity
    status: DeviceStatus
    nonce: bytes = b""


class DeviceGone(Input, frozen=True, tag="device_gone"):
    """The link to a device that was ready has ended; `refused`: the device must not be used.

    `evidence`: what must not be shown of the reason.
    """

    code: str
    sentence: AnyText
    refused: bool = False
    evidence: Evidence | None = None


class DeviceReported(Input, frozen=True, tag="device_reported"):
    """A numbered report, in order and once. `uptime_ms`: the device's clock, None where it has none."""

    boot: int
    number: int
    uptime_ms: int | None
    observation: AnyObservation
    evidence: Evidence


class ReportsMissing(Input, frozen=True, tag="reports_missing"):
    """The device no longer has these reports; `last` None: how many is unknown.

    `withheld`: the device says that it made them, and does not send them. `newest`: the last report that it has made.
    """

    boot: int
    first: int
    last: int | None
    withheld: bool = False
    newest: int = 0


class DeviceContradicted(Input, frozen=True, tag="device_contradicted"):
    """What came over the line contradicts what was sent before. `number`: of the report or command that it is about, or
    of frames that the device did not seal."""

    what: Literal["report", "answer", "unknown_answer", "forged_frames"]
    boot: int
    number: int
    evidence: Evidence


class StatusReceived(Input, frozen=True, tag="status_received"):
    """A heartbeat. Journaled only when it decides something. `unanswered`: commands that should have been answered.

    `moves_too_long`: it says that cards move for longer than any set takes, so that this excuses nothing any more.
    """

    status: DeviceStatus
    unanswered: tuple[int, ...] = ()
    moves_too_long: bool = False

    @property
    def moving(self) -> bool:
        """Whether what it says may change with the cards that move."""
        return self.status.moving and not self.moves_too_long


class CommandAnswered(Input, frozen=True, tag="command_answered"):
    command_id: int
    done: bool
    reason: str = ""


class PersonActed(Input, frozen=True, tag="person_acted"):
    """An operation, with the person and the role that the daemon looked up. `round`: the one on the person's screen.

    `uid`: the user of the machine at whose end of the socket it was entered; None: not known. `screen`: the enrolled
    screen at which it was entered. `proven`: how the person proved who it is; `user`: by that user alone.
    `shift_ends_utc_ns`: when a sign-on at the screen that begins with it ends.
    `as_of`: the entry of the state that the person looked at; 0: not stated. `repeats`: the entry of the first request,
    where this is the second one; 0: it is a first one, or comes from a program. `utc_ns`: when, at a screen; else 0.
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


class PinTried(Input, frozen=True, tag="pin_tried"):
    """A PIN for a person was entered at a user of the machine or at a screen, at that time; neither: at a browser that
    is not enrolled. Journaled only when it changes something.
    """

    person: str
    uid: int | None
    right: bool
    utc_ns: int
    screen: str = ""


class RefusedAtDoor(Input, frozen=True, tag="refused_at_door"):
    """So many attempts were refused before they reached the table, since the last such input. `what`: the code.

    `uid` None: of users who are too many to be distinguished, or of none; then perhaps of a `screen`.
    """

    what: str
    uid: int | None
    count: int
    screen: str = ""


class FilesExpired(Input, frozen=True, tag="files_expired"):
    """These files of the journal are older than they are to be kept: they are deleted once this is recorded."""

    files: tuple[FileRecord, ...]


class DamageFound(Input, frozen=True, tag="damage_found"):
    """A start, or the check beside the table, found that the journal differs from what was written.

    `code`: the fault's. `keys`: public keys that are in doubt, in hexadecimal.
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
