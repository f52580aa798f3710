"""A table's configuration: one TOML file, unknown keys refused with their path (docs/configuration.md)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import msgspec

from controller.api.people import Person
from controller.daemon.house_law import HouseRow, LawError, ReadingSection, check_law, chosen_readings, house_rows
from controller.games import BROKEN, GAMES
from controller.games.specification import Unit
from controller.roles import Role
from controller.rules.layout import TableRulesError, check_rules
from controller.rules.settlement import Rounding
from controller.table.settings import LEAST_MS_BETWEEN_DRAWS, Settings, WagerLimit, law_of
from controller.table.state import TableState
from firmware_bridge.device_policy import DevicePolicy
from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.drivers.registry import Maturity, registered_driver
from firmware_bridge.errors import BadDeviceUrlError

SERIAL = r"^[!-~]{1,64}$"  # printable, without blanks: it stands in a line of the key file
DIGEST = r"^[0-9A-Fa-f]{64}$"  # SHA-256


class ConfigurationError(Exception):
    """The configuration cannot be used. The sentence says where, `hint` what to do. Exit code 78."""

    def __init__(self, sentence: str, hint: str = "Correct the file and start again.") -> None:
        super().__init__(sentence)
        self.hint = hint
        self.code = "configuration"


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the sections: unknown keys are refused."""


class TableSection(_Section, frozen=True):
    """`[table]`. `boxes` 0: as many as the game's layout has by default. `burn`: cards burnt before the deal.

    `hands_by_device`: hands may be shown as the device read them, without entering their cards.
    """

    name: str
    game: str
    unit: Unit
    boxes: int = 0
    simulated: bool = False
    count_stub_by_hand: bool = False
    rounding: Rounding = Rounding.NONE
    least_ms_between_draws: Annotated[int, msgspec.Meta(ge=0)] = LEAST_MS_BETWEEN_DRAWS
    burn: Annotated[int, msgspec.Meta(ge=0, le=5)] = 0
    hands_by_device: bool = False


class LimitSection(_Section, frozen=True):
    """`[limits.WAGER]`: least and most for one kind of wager, in the smallest unit; `maximum` 0: none."""

    minimum: int = 1
    maximum: int = 0


class DeviceSection(_Section, frozen=True):
    """`[device]`. `key_file` and `card_table` for drivers that need one.

    `serial`: the one device that may be used. `firmware_digests`: the firmware that may run on it.
    """

    url: str
    key_file: Path | None = None
    card_table: Path | None = None
    serial: Annotated[str, msgspec.Meta(pattern=SERIAL)] | None = None
    firmware_digests: tuple[Annotated[str, msgspec.Meta(pattern=DIGEST)], ...] = ()

    @property
    def policy(self) -> DevicePolicy:
        return DevicePolicy(self.serial or "", tuple(digest.lower() for digest in self.firmware_digests))


class JournalSection(_Section, frozen=True):
    """`[journal]`."""

    path: Path
    key_file: Path


class CaptureSection(_Section, frozen=True):
    """`[capture]`: record what crosses the wire. `megabytes` of one file, `files` at most; `key_file` seals them."""

    path: Path
    megabytes: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 16
    files: Annotated[int, msgspec.Meta(ge=1, le=100)] = 4
    key_file: Path | None = None


class ApiSection(_Section, frozen=True):
    """`[api]`."""

    socket: Path


class Configuration(_Section, frozen=True):
    """A whole file. `readings`: by setting, the option that the casino chose. `house`: its own irregularity table."""

    table: TableSection
    device: DeviceSection
    journal: JournalSection
    api: ApiSection
    people: tuple[Person, ...] = ()
    readings: dict[str, ReadingSection] = {}
    house: tuple[HouseRow, ...] = ()
    limits: dict[str, LimitSection] = {}
    capture: CaptureSection | None = None

    @property
    def device_url(self) -> DeviceUrl:
        return parse_device_url(self.device.url)

    @property
    def settings(self) -> Settings:
        """The part that enters the journal with the game."""
        table = self.table
        boxes = table.boxes or GAMES[table.game].boxes[2]
        return Settings(
            table.game,
            table.unit,
            boxes,
            table.count_stub_by_hand,
            chosen_readings(self.readings),
            house_rows(self.house),
            tuple(WagerLimit(wager, limit.minimum, limit.maximum) for wager, limit in sorted(self.limits.items())),
            table.rounding,
            table.least_ms_between_draws,
            table.burn,
            table.hands_by_device,
        )


def read_configuration(path: Path) -> Configuration:
    """Read and check a file. Relative paths in it count from its folder. Raises `ConfigurationError`."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"The configuration {path} cannot be read: {error.strerror}.", "Name an existing file after --config."
        ) from error
    try:
        configuration = msgspec.toml.decode(data, type=Configuration, dec_hook=_decode_path)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {_plain(str(error))}.") from error
    _check(path, configuration)
    return _anchored(configuration, path.resolve().parent)


def _decode_path(expected: type, value: object) -> object:
    if expected is Path and isinstance(value, str):
        return Path(value)
    raise NotImplementedError(f"a {expected.__name__} must be a string")


def _plain(message: str) -> str:
    """The decoder's message with the key's path as it stands in the file."""
    message = re.sub(r" - at `\$\.?([^`]*)`", lambda found: f" in [{found[1]}]" if found[1] else "", message)
    message = re.sub(r"Object contains unknown field `([^`]+)`", r"there is no key \1", message)
    return re.sub(r"Object missing required field `([^`]+)`", r"the key \1 is missing", message)


def _check(path: Path, configuration: Configuration) -> None:
    table = configuration.table
    if table.game not in GAMES:
        wrong = "".join(f" {sentence}." for sentence in BROKEN.values())
        raise ConfigurationError(f"{path}: there is no game {table.game!r}; known: {', '.join(GAMES)}.{wrong}")
    fewest, most, _ = GAMES[table.game].boxes
    if table.boxes and not fewest <= table.boxes <= most:
        raise ConfigurationError(f"{path}: {table.game} has {fewest} to {most} boxes, not {table.boxes}.")
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", table.name):
        raise ConfigurationError(f"{path}: a table's name is of letters, digits, and - _ . only.")
    _check_device(path, configuration)
    if configuration.capture is not None and configuration.capture.key_file is None and not table.simulated:
        raise ConfigurationError(
            f"{path}: the key key_file is missing in [capture]; the records of a real device are sealed.",
            "Make a key for captures (docs/captures.md), and name its file.",
        )
    try:
        check_law(table.game, configuration.readings, configuration.house, simulated=table.simulated)
    except LawError as error:
        raise ConfigurationError(f"{path}: {error}", error.hint) from error
    _check_limits(path, configuration)
    _check_people(path, configuration.people)


def _check_device(path: Path, configuration: Configuration) -> None:
    """A URL that can exist, and the files that its driver needs, no others."""
    try:
        driver = registered_driver(configuration.device_url.driver)
    except BadDeviceUrlError as error:
        raise ConfigurationError(f"{path}: [device] url: {error}", error.hint) from error
    device = configuration.device
    if driver.needs_keys and device.key_file is None:
        raise ConfigurationError(f"{path}: the key key_file is missing in [device]; {driver.name} needs its keys.")
    if driver.needs_card_table and device.card_table is None:
        raise ConfigurationError(
            f"{path}: the key card_table is missing in [device]; {driver.name} needs the card of each identifier."
        )
    if device.card_table is not None and not driver.needs_card_table:
        raise ConfigurationError(f"{path}: [device] card_table: {driver.name} knows its cards without one.")
    if not driver.needs_keys and driver.maturity is not Maturity.OTHERS:
        _check_one_way_device(path, configuration)


def _check_one_way_device(path: Path, configuration: Configuration) -> None:
    """Such a device cannot identify itself: its name is the URL's, and a pinned name must be that one."""
    device, url = configuration.device, configuration.device_url
    if device.serial not in (None, url.known_as):
        raise ConfigurationError(
            f"{path}: [device] serial: {url.driver} reports no serial number; by its URL the device is {url.known_as}.",
            "Name the port after the device (udev/README.md) in `url`, or leave `serial` out.",
        )
    if device.firmware_digests:
        raise ConfigurationError(
            f"{path}: [device] firmware_digests: {url.driver} reports no firmware digest.",
            "Leave firmware_digests out, and approve such a device by its seal.",
        )


def _check_limits(path: Path, configuration: Configuration) -> None:
    """Limits of wagers that the game has, and that can be met."""
    settings = configuration.settings
    state = TableState(settings=settings)
    try:
        check_rules(law_of(settings), state.table_rules)
    except TableRulesError as error:
        raise ConfigurationError(
            f"{path}: [limits]: {error}.", "`cardshoe rules` lists the wagers of a game."
        ) from error


def _check_people(path: Path, people: tuple[Person, ...]) -> None:
    seen: set[str] = set()
    uids: set[int] = set()
    for person in people:
        if person.id in seen:
            raise ConfigurationError(f"{path}: two people are called {person.id}.")
        if twice := uids & set(person.uids):
            raise ConfigurationError(f"{path}: uid {min(twice)} stands for two people.")
        seen.add(person.id)
        uids |= set(person.uids)
    for person in people:
        if person.role is not Role.DEALER and not person.pin_hash:
            raise ConfigurationError(f"{path}: {person.id} has no pin_hash; every rank above the dealer's needs one.")
    if not any(person.role is Role.SHIFT_MANAGER for person in people):
        raise ConfigurationError(f"{path}: there is no shift_manager, to whom the rules refer what they leave open.")
    if not uids:
        raise ConfigurationError(
            f"{path}: no user may use the socket.",
            "Give at least one of [[people]] the uids of the users it stands for.",
        )


def _anchored(configuration: Configuration, folder: Path) -> Configuration:
    replace = msgspec.structs.replace
    journal, device, api = configuration.journal, configuration.device, configuration.api
    capture = configuration.capture
    return replace(
        configuration,
        journal=replace(journal, path=folder / journal.path, key_file=folder / journal.key_file),
        device=replace(
            device,
            key_file=device.key_file and folder / device.key_file,
            card_table=device.card_table and folder / device.card_table,
        ),
        api=replace(api, socket=folder / api.socket),
        capture=capture
        and replace(capture, path=folder / capture.path, key_file=capture.key_file and folder / capture.key_file),
    )
