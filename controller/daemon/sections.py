"""The sections of a table's configuration file (docs/configuration.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import time
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import msgspec

from controller.api.people import Person, Reader
from controller.daemon.journal_days import JournalDays, find_zone
from controller.daemon.section_reader import UNREADABLE, described
from controller.daemon.site_settings import HouseRow, ReadingSection, chosen_readings, house_rows
from controller.floor.address import Broker, Credentials, parse_broker
from controller.floor.topics import NAME
from controller.games import GAMES
from controller.games.specification import Unit
from controller.rules.settlement import Rounding
from controller.table.settings import LEAST_MS_BETWEEN_DRAWS, Settings, WagerLimit
from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.drivers.setting import DevicePolicy
from firmware_bridge.messages import Message, message

MOST_BOXES: Final = 99
MOST_MS: Final = 60_000  # a minute: cards drawn further apart were not drawn together
MEGABYTE: Final = 1_000_000
NO_GAME: Final = "\0"  # a placeholder for a game that was written incorrectly
SOME_PORT: Final = 8080  # a placeholder for a port that was written incorrectly
MOST_MONEY: Final = 10**15  # in the smallest currency unit
Serial = Annotated[
    str, described(message("1 to 64 printable ASCII characters without spaces"), r"^[!-~]{1,64}$")
]  # it begins a line of the key file
Digest = Annotated[str, described(message("a SHA-256 of 64 hexadecimal digits"), r"^[0-9A-Fa-f]{64}$")]
HostName = Annotated[
    str,
    described(
        message("the name of a host in small letters, without scheme and port"),
        r"^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$",
    ),
]
Level = Annotated[str, described(message("1 to 64 letters, digits, and - _ ."), f"^{NAME}$")]
Money = Annotated[int, msgspec.Meta(ge=0, le=MOST_MONEY)]


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The base of the sections, which refuse unknown keys."""


class TableSection(_Section, frozen=True):
    """`[table]`. `boxes` 0 means the default of the game's layout. `burn` is the number of cards burnt before the deal.

    With `hands_by_device` hands may be shown as the device read them, without entering their cards.
    """

    stand_ins: ClassVar[dict[str, Any]] = {"name": "", "game": NO_GAME, "unit": Unit.SETS, "simulated": True}
    """Values for keys that are missing or have mistakes, so that the others are still checked."""

    name: Annotated[str, described(message("1 to 64 letters, digits, and - _ ."), r"^[A-Za-z0-9_.-]{1,64}$")]
    game: str
    unit: Unit
    boxes: Annotated[int, msgspec.Meta(ge=0, le=MOST_BOXES)] = 0
    simulated: bool = False
    count_stub_by_hand: bool = False
    rounding: Rounding = Rounding.NONE
    least_ms_between_draws: Annotated[int, msgspec.Meta(ge=0, le=MOST_MS)] = LEAST_MS_BETWEEN_DRAWS
    burn: Annotated[int, msgspec.Meta(ge=0, le=5)] = 0
    hands_by_device: bool = False
    second_counter_signs: bool = False


class LimitSection(_Section, frozen=True):
    """`[limits.WAGER]`: the minimum and maximum for one kind of wager, in the smallest unit; `maximum` 0 means no
    maximum.
    """

    minimum: Money = 1
    maximum: Money = 0


class DeviceSection(_Section, frozen=True):
    """`[device]`. `key_file` and `card_table` are for drivers that need one.

    `serial` is the only device that may be used. `firmware_digests` are those of the firmware that may run on it, and
    `image` is the program that it has to show.
    """

    stand_ins: ClassVar[dict[str, Any]] = {"key_file": UNREADABLE, "card_table": UNREADABLE, "image": UNREADABLE}

    url: str
    key_file: Path | None = None
    card_table: Path | None = None
    serial: Serial | None = None
    firmware_digests: tuple[Digest, ...] = ()
    image: Path | None = None

    @property
    def policy(self) -> DevicePolicy:
        return DevicePolicy(self.serial or "", tuple(digest.lower() for digest in self.firmware_digests))


class JournalSection(_Section, frozen=True):
    """`[journal]`. `signing_key_file` is created at the first start if it is missing; the default is in the folder.

    The next file is begun at `day_begins` in `time_zone`, and after `megabytes`. With `keep_days` 0 files are kept
    forever. `witness` is a folder of another user or machine for the signed heads.
    """

    renamed: ClassVar[dict[str, tuple[str, Message]]] = {
        "path": ("folder", message("names the folder in which that file lies"))
    }
    """Keys of earlier versions: their present names, and what is different."""

    stand_ins: ClassVar[dict[str, Any]] = {"folder": UNREADABLE, "key_file": UNREADABLE}

    folder: Path
    key_file: Path
    signing_key_file: Path | None = None
    day_begins: Annotated[str, described(message("a time of day, as in 06:00"), r"^([01][0-9]|2[0-3]):[0-5][0-9]$")] = (
        "06:00"
    )
    time_zone: str = "UTC"
    megabytes: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 256
    keep_days: Annotated[int, msgspec.Meta(ge=0, le=36_500)] = 0
    witness: Path | None = None

    @property
    def signing_key_path(self) -> Path:
        return self.signing_key_file or self.folder / "signing.key"

    @property
    def days(self) -> JournalDays:
        """Return when the next file is begun. Raise ValueError for an unknown time zone."""
        return JournalDays(time.fromisoformat(self.day_begins), find_zone(self.time_zone), self.megabytes * MEGABYTE)


class CaptureSection(_Section, frozen=True):
    """`[capture]`: record what crosses the wire. A file has at most `megabytes`, and there are at most `files`;
    `key_file` seals them.
    """

    stand_ins: ClassVar[dict[str, Any]] = {"path": UNREADABLE, "key_file": UNREADABLE}

    path: Path
    megabytes: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 16
    files: Annotated[int, msgspec.Meta(ge=1, le=100)] = 4
    key_file: Path | None = None


class HttpSection(_Section, frozen=True):
    """`[api.http]`: the console in a browser. `port` is on the loopback addresses; 0, at a simulated table, means any.

    `hosts` are names by which a reverse proxy reaches it. A dealer's sign-on at a screen lasts for `shift_hours`.
    """

    stand_ins: ClassVar[dict[str, Any]] = {"port": SOME_PORT}

    port: Annotated[int, msgspec.Meta(ge=0, le=65535)]
    hosts: tuple[HostName, ...] = ()
    shift_hours: Annotated[int, msgspec.Meta(ge=1, le=24)] = 10


class ApiSection(_Section, frozen=True):
    """`[api]`. Without `http` no port is opened."""

    stand_ins: ClassVar[dict[str, Any]] = {"socket": UNREADABLE}

    socket: Path
    http: HttpSection | None = None


class FloorSection(_Section, frozen=True):
    """`[floor]`: the casino's broker gets the journal and the state of the table. Files for TLS belong to `mqtts://`.

    What was acknowledged in the last `repeat_minutes` of a connection is sent again over the next one, in case the
    broker was killed and lost it. `most_per_second` limits the records of a backlog.
    """

    stand_ins: ClassVar[dict[str, Any]] = {"broker": "", "site": "", "pit": ""}

    broker: str
    site: Level
    pit: Level
    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    repeat_minutes: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 10
    most_per_second: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 200

    @property
    def found_broker(self) -> Broker:
        """Return the broker. Raise `BadBrokerError` if its URL is invalid."""
        address = parse_broker(self.broker)
        files = self.ca_file, self.certificate_file, self.key_file
        given = [path for path in files if path is not None]
        return Broker(address, Credentials(*given) if address.encrypted and len(given) == len(files) else None)


class ProgramSection(_Section, frozen=True):
    """`[program]`: requirements for the program's own files at a real table. `public_key_file` is that of their maker.

    With `development` the program may run from sources, which nothing vouches for.
    """

    public_key_file: Path | None = None
    development: bool = False


class Configuration(_Section, frozen=True):
    """A whole file. `readings` maps settings to the options that the casino chose. `house` is its own irregularity
    table.
    """

    table: TableSection
    device: DeviceSection
    journal: JournalSection
    api: ApiSection
    people: tuple[Person, ...] = ()
    readers: tuple[Reader, ...] = ()
    readings: dict[str, ReadingSection] = {}
    house: tuple[HouseRow, ...] = ()
    limits: dict[str, LimitSection] = {}
    capture: CaptureSection | None = None
    floor: FloorSection | None = None
    program: ProgramSection | None = None

    @property
    def device_url(self) -> DeviceUrl:
        return parse_device_url(self.device.url)

    @property
    def settings(self) -> Settings:
        """Return the part that enters the journal with the game."""
        return settings_of(self.table, self.readings, self.house, self.limits)


def settings_of(
    table: TableSection,
    readings: Mapping[str, ReadingSection],
    house: Sequence[HouseRow],
    limits: Mapping[str, LimitSection],
) -> Settings:
    """Return the part of a configuration that enters the journal with the game."""
    return Settings(
        table.game,
        table.unit,
        table.boxes or GAMES[table.game].boxes[2],
        table.count_stub_by_hand,
        chosen_readings(readings),
        house_rows(house),
        tuple(WagerLimit(wager, limit.minimum, limit.maximum) for wager, limit in sorted(limits.items())),
        table.rounding,
        table.least_ms_between_draws,
        table.burn,
        table.hands_by_device,
        table.second_counter_signs,
    )
