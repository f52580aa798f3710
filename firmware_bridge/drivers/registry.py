"""The registry of drivers: a row for each; a driver is imported only when a device URL names it.

Other packages add a `RegisteredDriver` by the entry point group `cardshoe.drivers` (docs/a_new_driver.md).

>>> registered_driver("cardlink").maturity.value
"this project's own protocol"

`load_driver` wraps every driver so that its device's texts are safe to show: they reach the journal, every state, logs
and terminals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from importlib.metadata import EntryPoint, entry_points
from typing import Final, Protocol, cast

import msgspec

from firmware_bridge.commands import AnyCommand
from firmware_bridge.drivers.base import Driver, Heard, LinkOver
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.errors import BadDeviceUrlError, DriverMissingError, type_and_place
from firmware_bridge.messages import AnyText, Message, message
from firmware_bridge.plain_text import LONGEST, with_plain_texts

GROUP: Final = "cardshoe.drivers"
USUAL_BAUD: Final = 115200  # bits per second


class Maturity(Enum):
    """The reliability of a driver. Shown wherever a device is shown."""

    OWN = "this project's own protocol"
    COMMUNITY = "community, unverified against the maker's specification"
    OTHERS = "from another package, not tested by this project"


class DriverFactory(Protocol):
    """Makes the driver of one link. `now` is on the monotonic clock that the driver's methods get, in seconds."""

    def __call__(self, setting: DriverSetting, now: float) -> Driver: ...


class RegisteredDriver(msgspec.Struct, frozen=True):
    """A row of the registry. `load` imports the driver.

    With `can_listen` it works on a line on which nothing may be written. With `can_arm` it has commands that need
    `arm=1` in the URL. With `needs_keys` or `needs_card_table` the configuration must name that file. `baud` is the
    default speed in bits per second.
    """

    name: str
    maturity: Maturity
    can_listen: bool
    load: Callable[[], DriverFactory]
    can_arm: bool = False
    needs_keys: bool = False
    needs_card_table: bool = False
    baud: int = USUAL_BAUD


def _cardlink() -> DriverFactory:
    from firmware_bridge.drivers.cardlink.host import make_cardlink

    return make_cardlink


def _angel_eye() -> DriverFactory:
    from firmware_bridge.drivers.angel_eye import AngelEye

    return AngelEye


def _bee_tek() -> DriverFactory:
    from firmware_bridge.drivers.bee_tek import BeeTek

    return BeeTek


def _line_reader() -> DriverFactory:
    from firmware_bridge.drivers.line_reader import LineReader

    return LineReader


DRIVERS: Final[dict[str, RegisteredDriver]] = {
    row.name: row
    for row in (
        RegisteredDriver("cardlink", Maturity.OWN, False, _cardlink, needs_keys=True),  # its handshake has to answer
        RegisteredDriver("angel_eye", Maturity.COMMUNITY, True, _angel_eye, can_arm=True, baud=4800),
        RegisteredDriver("bee_tek", Maturity.COMMUNITY, True, _bee_tek, baud=9600),
        RegisteredDriver("line_reader", Maturity.COMMUNITY, True, _line_reader, needs_card_table=True, baud=9600),
    )
}


def registered_driver(name: str) -> RegisteredDriver:
    """Return the row of that name. Raise BadDeviceUrlError if there is none, DriverMissingError if it is in another
    package and cannot be used; both are sentences with a next step."""
    row = DRIVERS.get(name)
    if row is not None:
        return row
    found = _entries(name)
    if not found:
        raise BadDeviceUrlError(
            message("There is no driver called {name}.", name=repr(name)),
            message("Use one of these after driver=: {names:list}.", names=tuple(driver_names())),
        )
    if len(found) > 1:
        raise DriverMissingError(
            message(
                "Several packages have a driver called {name}: {packages:list}.",
                name=repr(name),
                packages=tuple(map(_package, found)),
            ),
            message("Uninstall all but one of them."),
        )
    return _row_of(found[0])


def load_driver(name: str) -> DriverFactory:
    """Import a driver and make its device's texts plain. Whatever the import raises, raise only the errors that
    `registered_driver` raises.
    """
    make = _load(name)
    return lambda setting, now: PlainDriver(make(setting, now))


def _load(name: str) -> DriverFactory:
    row = registered_driver(name)
    if name in DRIVERS:
        return row.load()
    try:
        return row.load()
    except Exception as error:
        raise _unusable(
            _entries(name)[0], message("it cannot be imported ({why})", why=type_and_place(error))
        ) from error


def driver_names() -> list[str]:
    """Return every name that a URL may have after `driver=`, imported or not."""
    return sorted({*DRIVERS, *(entry.name for entry in entry_points(group=GROUP))})


def driver_problems() -> list[Message]:
    """Return a sentence for each driver of another package that is ignored or unusable. Imports them to find out."""
    problems: list[Message] = []
    for entry in entry_points(group=GROUP):
        if entry.name in DRIVERS:
            problems.append(
                message(
                    "The package {package} has a driver called {name}, which is ignored: a driver of this "
                    "program has that name. Give the package's driver another name.",
                    package=_package(entry),
                    name=repr(entry.name),
                )
            )
            continue
        try:
            load_driver(entry.name)
        except DriverMissingError as error:
            problems.append(error.with_hint)
    return sorted(set(problems), key=str)


def _entries(name: str) -> Sequence[EntryPoint]:
    return list(entry_points(group=GROUP, name=name))


def _package(entry: EntryPoint) -> AnyText:
    return message("an unnamed package") if entry.dist is None else entry.dist.name


def _row_of(entry: EntryPoint) -> RegisteredDriver:
    """Return the row of an entry point, under the entry point's name and with the maturity `OTHERS`."""
    try:
        row = entry.load()
    except Exception as error:
        raise _unusable(entry, message("it cannot be imported ({why})", why=type_and_place(error))) from error
    if not isinstance(row, RegisteredDriver):
        raise _unusable(entry, message("{value} is not a RegisteredDriver", value=entry.value))
    return msgspec.structs.replace(row, name=entry.name, maturity=Maturity.OTHERS)


def _unusable(entry: EntryPoint, why: Message) -> DriverMissingError:
    return DriverMissingError(
        message(
            "The driver {name} of the package {package} cannot be used: {why}.",
            name=repr(entry.name),
            package=_package(entry),
            why=why,
        ),
        message("Reinstall the package, or uninstall it and name another driver."),
    )


LONGEST_SENTENCE: Final = 600  # characters of a driver's own sentence, which may quote a device
MOST: Final = 32  # texts in one list


class PlainDriver:
    """A wrapper around a driver: its device's texts are cut to a length and lose characters that no screen shows."""

    def __init__(self, driver: Driver) -> None:
        self.statistics = driver.statistics
        self.wake_at = driver.wake_at
        self.outgoing = driver.outgoing
        self.acknowledge = driver.acknowledge
        self.is_stale = driver.is_stale
        self._driver = driver

    def receive(self, data: bytes, now: float) -> Sequence[Heard]:
        return [made_plain(thing) for thing in self._driver.receive(data, now)]

    def tick(self, now: float) -> Sequence[Heard]:
        return [made_plain(thing) for thing in self._driver.tick(now)]

    def command(self, command_id: int, command: AnyCommand, now: float) -> None:
        self._driver.command(command_id, command, now)


def made_plain(heard: Heard) -> Heard:
    """Return a copy in which every text is plain."""
    longest = LONGEST_SENTENCE if isinstance(heard, LinkOver) else LONGEST
    return cast("Heard", with_plain_texts(heard, longest, MOST))
