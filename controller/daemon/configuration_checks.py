"""Checks between the values of a configuration, and remarks on values with which the daemon can start nevertheless.

Each check looks at the sections that could be read, and reports every mistake that it finds.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from controller.api.people import Person, Reader, mistakes_of_all, mistakes_of_each
from controller.api.tcp_listener import OWN_NAMES
from controller.api.unix_socket import why_too_long
from controller.daemon.device_guards import program_behind
from controller.daemon.journal_days import UnknownZoneError, find_zone
from controller.daemon.section_reader import LONGEST_NAME, Found, Mistake
from controller.daemon.sections import (
    NO_GAME,
    ApiSection,
    CaptureSection,
    Configuration,
    DeviceSection,
    FloorSection,
    JournalSection,
    LimitSection,
    TableSection,
    settings_of,
)
from controller.daemon.site_settings import HouseRow, ReadingSection, mistakes_of_law
from controller.floor import BrokerError
from controller.floor.address import BadBrokerError, parse_broker
from controller.floor.certificate import context_of
from controller.games import BROKEN, GAMES
from controller.rules.law import Law, SettingError
from controller.rules.layout import TableRulesError, check_rules
from controller.table.settings import law_of
from controller.table.state import TableState
from firmware_bridge.addresses import is_own
from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.drivers.registry import Maturity, RegisteredDriver, registered_driver
from firmware_bridge.errors import BadDeviceUrlError, DriverMissingError
from firmware_bridge.messages import message, sentences
from firmware_bridge.plain_text import plain

Mistakes: TypeAlias = Iterator[Mistake]


def mistakes_of_sections(found: Found) -> list[Mistake]:
    """Return the mistakes between sections. A check is skipped if one of its sections could not be read."""
    mistakes: list[Mistake] = []
    for check, needed, whole in CHECKS:
        sections = found.good if whole else found.partly
        if all(name in sections for name in needed):
            mistakes += check(*(sections[name] for name in needed))
    return list(dict.fromkeys(mistakes))


def _check_game(table: TableSection) -> Mistakes:
    if table.game == NO_GAME:
        return
    if table.game not in GAMES:
        unknown = message(
            "[table] game: there is no game {game}; known: {games:list}.", game=repr(table.game), games=tuple(GAMES)
        )
        yield Mistake(sentences(unknown, *(message("{broken}.", broken=broken) for broken in BROKEN.values())))
        return
    fewest, most, _ = GAMES[table.game].boxes
    if table.boxes and not fewest <= table.boxes <= most:
        yield Mistake(
            message(
                "[table] boxes: {game} has {fewest} to {most} boxes, not {boxes}.",
                game=table.game,
                fewest=fewest,
                most=most,
                boxes=table.boxes,
            )
        )


def _check_device(table: TableSection, device: DeviceSection) -> Mistakes:
    """Check that the URL can exist, and that exactly the files that its driver needs are named."""
    try:
        url = parse_device_url(device.url)
        driver = registered_driver(url.driver)
    except (BadDeviceUrlError, DriverMissingError) as error:
        yield Mistake(message("[device] url: {why}", why=error.message), error.hint)
        return
    if driver.needs_keys and device.key_file is None:
        yield Mistake(message("The key key_file is missing in [device]; {name} needs its keys.", name=driver.name))
    if driver.needs_card_table and device.card_table is None:
        yield Mistake(
            message(
                "The key card_table is missing in [device]; {name} needs the card of each identifier.", name=driver.name
            )
        )
    if device.card_table is not None and not driver.needs_card_table:
        yield Mistake(message("[device] card_table: {name} knows its cards without one.", name=driver.name))
    if not driver.needs_keys and driver.maturity is not Maturity.OTHERS:
        yield from _check_one_way_device(device, url)
    if not table.simulated:
        yield from _check_real_device(url, driver)


def _check_one_way_device(device: DeviceSection, url: DeviceUrl) -> Mistakes:
    """Check a device that cannot identify itself: its name comes from the URL, and a pinned name must match it."""
    if device.serial not in (None, url.known_as):
        yield Mistake(
            message(
                "[device] serial: {driver} reports no serial number; by its URL the device is {known_as}.",
                driver=url.driver,
                known_as=url.known_as,
            ),
            message("Let `url` name the port under the device's own name, or leave `serial` out."),
        )
    if device.firmware_digests:
        yield Mistake(
            message("[device] firmware_digests: {driver} reports no firmware digest.", driver=url.driver),
            message("Leave firmware_digests out, and approve such a device by its seal."),
        )
    if device.image is not None:
        yield Mistake(
            message("[device] image: {driver} cannot show which program runs.", driver=url.driver),
            message("Leave image out, and approve such a device by its seal."),
        )


def _check_real_device(url: DeviceUrl, driver: RegisteredDriver) -> Mistakes:
    """Refuse a URL that is known to lead to a program. With a driver without keys, the configuration must repeat that
    the device is real.
    """
    next_step = message("Name the real device, or write simulated = true in [table].")
    if url.scheme == "sim":
        yield Mistake(message("[device] url: a sim device is a simulator, and this table is not simulated."), next_step)
    elif why := program_behind(url):
        yield Mistake(message("[device] url: {why}", why=why), next_step)
    elif url.scheme == "tcp" and not driver.needs_keys and _is_this_machine(url.host):
        yield Mistake(
            message(
                "[device] url: {host} is this machine, where a program answers and not a device, and "
                "{name} cannot tell the one from the other.",
                host=url.host,
                name=driver.name,
            ),
            next_step,
        )


def _is_this_machine(host: str) -> bool:
    if host.rstrip(".").lower() in ("localhost", "ip6-localhost") or host.lower().endswith(".localhost"):
        return True
    return host.lower() == socket.gethostname().lower() or is_own(host)


def _check_socket(api: ApiSection) -> Mistakes:
    if why := why_too_long(api.socket):
        yield Mistake(
            message("[api] socket: {path} {why}.", path=str(api.socket), why=why),
            message("Name a shorter one: /run/cardshoe/TABLE/api.sock."),
        )


def _check_http(table: TableSection, api: ApiSection) -> Mistakes:
    if api.http is None:
        return
    if api.http.port == 0 and not table.simulated:
        yield Mistake(
            message("[api.http] port: 0 means any free port, and people have to find the table."),
            message("Name one, such as 8080."),
        )
    for host in api.http.hosts:
        if host in OWN_NAMES:
            yield Mistake(
                message("[api.http] hosts: {host} is this machine itself, which is always allowed.", host=host),
                message("Leave it out."),
            )


def _check_journal(journal: JournalSection) -> Mistakes:
    try:
        find_zone(journal.time_zone)
    except UnknownZoneError as error:
        yield Mistake(
            message("[journal] time_zone: {why}.", why=error.message),
            message("Write it as in Europe/Vienna; where the system knows none, `apt install tzdata`."),
        )
    if journal.witness is not None and journal.folder in (journal.witness, *journal.witness.parents):
        yield Mistake(
            message(
                "[journal] witness: it lies in the journal's own folder, where a person who changes the "
                "journal can change it too."
            ),
            message("Name a folder that belongs to another user or another machine."),
        )


def _check_capture(table: TableSection, capture: CaptureSection | None) -> Mistakes:
    if capture is not None and capture.key_file is None and not table.simulated:
        yield Mistake(
            message("The key key_file is missing in [capture]; the records of a real device are sealed."),
            message("Make a separate key file for captures, as for the journal, and name it."),
        )


def _check_floor(floor: FloorSection | None) -> Mistakes:
    if floor is None:
        return
    try:
        address = parse_broker(floor.broker)
    except BadBrokerError as error:
        yield Mistake(message("[floor] broker: {why}", why=error.message), error.hint)
        return
    files = {"ca_file": floor.ca_file, "certificate_file": floor.certificate_file, "key_file": floor.key_file}
    for name, path in files.items():
        if address.encrypted and path is None:
            yield Mistake(
                message(
                    "The key {name} is missing in [floor]; {address} is encrypted, with a certificate for each side.",
                    name=name,
                    address=str(address),
                )
            )
        if not address.encrypted and path is not None:
            yield Mistake(
                message("[floor] {name}: {address} is not encrypted.", name=name, address=str(address)),
                message("Write mqtts://, or leave {name} out.", name=name),
            )


def _check_readings(table: TableSection, readings: Mapping[str, ReadingSection]) -> Mistakes:
    yield from _mistakes_of_law(table, readings, (), simulated=True)  # required choices are checked separately


def _check_choices(table: TableSection, readings: Mapping[str, ReadingSection]) -> Mistakes:
    """Check the required choices only if every reading could be read: an unreadable reading may be a required one."""
    yield from _mistakes_of_law(table, readings, (), simulated=table.simulated)


def _check_house(table: TableSection, house: Sequence[HouseRow]) -> Mistakes:
    yield from _mistakes_of_law(table, {}, house, simulated=True)  # required choices are checked separately


def _mistakes_of_law(
    table: TableSection, readings: Mapping[str, ReadingSection], house: Sequence[HouseRow], *, simulated: bool
) -> Mistakes:
    if table.game in GAMES:
        yield from mistakes_of_law(table.game, readings, house, simulated=simulated)


def _check_limits(
    table: TableSection, readings: Mapping[str, ReadingSection], limits: Mapping[str, LimitSection]
) -> Mistakes:
    """Check that the game has the limited wagers, and that the limits can be met."""
    if table.game not in GAMES:
        return
    law = _law_as_far_as_it_goes(table, readings)
    for wager, limit in limits.items():
        settings = settings_of(msgspec.structs.replace(table, boxes=0), {}, (), {wager: limit})
        try:
            check_rules(law, TableState(settings=settings).table_rules)
        except TableRulesError as error:
            yield Mistake(
                message("[limits] {wager}: {why}.", wager=plain(wager, LONGEST_NAME), why=error.message),
                message("`cardshoe rules` lists the wagers."),
            )


def _law_as_far_as_it_goes(table: TableSection, readings: Mapping[str, ReadingSection]) -> Law:
    """Return the law without the readings if one of them is invalid, which is reported separately."""
    try:
        return law_of(settings_of(table, readings, (), {}))
    except SettingError:
        return law_of(settings_of(table, {}, (), {}))


def _check_people(table: TableSection, people: tuple[Person, ...], readers: tuple[Reader, ...]) -> Mistakes:
    for sentence in mistakes_of_each(people, readers, simulated=table.simulated):
        yield Mistake(sentence)


def _check_ranks(people: tuple[Person, ...]) -> Mistakes:
    for sentence in mistakes_of_all(people):
        yield Mistake(sentence)


CHECKS: Final[tuple[tuple[Callable[..., Mistakes], tuple[str, ...], bool], ...]] = (
    (_check_game, ("table",), False),
    (_check_device, ("table", "device"), False),
    (_check_socket, ("api",), False),
    (_check_http, ("table", "api"), False),
    (_check_journal, ("journal",), False),
    (_check_capture, ("table", "capture"), False),
    (_check_floor, ("floor",), False),
    (_check_readings, ("table", "readings"), False),
    (_check_choices, ("table", "readings"), True),
    (_check_house, ("table", "house"), False),
    (_check_limits, ("table", "readings", "limits"), False),
    (_check_people, ("table", "people", "readers"), False),
    (_check_ranks, ("people",), True),
)
"""Each check, the sections that it needs, and whether it needs them without mistakes."""


LEAST_PORT: Final = 1024  # the service has no capability to open a port below it


def remarks_on(configuration: Configuration) -> list[Mistake]:
    return [*of_device(configuration), *of_screens(configuration), *of_floor(configuration.floor)]


def of_device(configuration: Configuration) -> Iterator[Mistake]:
    port, serial = Path(configuration.device_url.path), configuration.device.serial
    if serial and port.parent == Path("/dev/cardshoe") and port.name != serial:
        yield Mistake(
            message("[device] url: {port} is not the port of {serial}.", port=str(port), serial=serial),
            message("A port in /dev/cardshoe has its device's serial number as its name: correct url or serial."),
        )


def of_screens(configuration: Configuration) -> Iterator[Mistake]:
    http = configuration.api.http
    if http is None:
        return
    if http.port < LEAST_PORT and not configuration.table.simulated:
        yield Mistake(
            message(
                "[api.http] port: {port} is below {least}, where the service may not open a port.",
                port=http.port,
                least=LEAST_PORT,
            ),
            message("Name another one, such as 8080."),
        )
    for person in configuration.people:
        if not person.pin_hash:  # above the dealer's rank this is a mistake
            yield Mistake(
                message("[[people]] {id} has no pin_hash and cannot sign on at a screen.", id=person.id),
                message("`cardshoe pin` creates one."),
            )


def of_floor(floor: FloorSection | None) -> Iterator[Mistake]:
    """Yield remarks on the floor, without which the table can still deal."""
    credentials = floor.found_broker.credentials if floor is not None else None
    if credentials is None:
        return
    try:
        context_of(credentials)
    except BrokerError as error:
        yield Mistake(message("[floor] {why}", why=error.message), error.hint)
