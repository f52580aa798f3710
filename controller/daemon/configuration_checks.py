"""Checks between the values of a configuration, and remarks on values with which the daemon can start nevertheless.

Each check looks at the sections that could be read, and reports every mistake that it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import Final, TypeAlias

import msgspec

from controller.api.people import Person, Reader, mistakes_of_all, mistakes_of_each
from controller.api.tcp_listener import OWN_NAMES
from controller.api.unix_socket import why_too_long
from controller.daemon.device_guards import program_behind
from controller.daemon.house_law import HouseRow, ReadingSection, mistakes_of_law
from controller.daemon.journal_days import find_zone
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
from controller.floor import BrokerError
from controller.floor.address import BadBrokerError, parse_broker
from controller.floor.certificate import context_of
from controller.games import BROKEN, GAMES
from controller.rules.law import Law, SettingError
from controller.rules.layout import TableRulesError, check_rules
from controller.table.settings import law_of
from controller.table.state import TableState
from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.drivers.registry import Maturity, RegisteredDriver, registered_driver
from firmware_bridge.errors import BadDeviceUrlError, DriverMissingError
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
        wrong = "".join(f" {sentence}." for sentence in BROKEN.values())
        yield Mistake(f"[table] game: there is no game {table.game!r}; known: {', '.join(GAMES)}.{wrong}")
        return
    fewest, most, _ = GAMES[table.game].boxes
    if table.boxes and not fewest <= table.boxes <= most:
        yield Mistake(f"[table] boxes: {table.game} has {fewest} to {most} boxes, not {table.boxes}.")


def _check_device(table: TableSection, device: DeviceSection) -> Mistakes:
    """Check that the URL can exist, and that exactly the files that its driver needs are named."""
    try:
        url = parse_device_url(device.url)
        driver = registered_driver(url.driver)
    except (BadDeviceUrlError, DriverMissingError) as error:
        yield Mistake(f"[device] url: {error}", str(error.hint))
        return
    if driver.needs_keys and device.key_file is None:
        yield Mistake(f"the key key_file is missing in [device]; {driver.name} needs its keys.")
    if driver.needs_card_table and device.card_table is None:
        yield Mistake(f"the key card_table is missing in [device]; {driver.name} needs the card of each identifier.")
    if device.card_table is not None and not driver.needs_card_table:
        yield Mistake(f"[device] card_table: {driver.name} knows its cards without one.")
    if not driver.needs_keys and driver.maturity is not Maturity.OTHERS:
        yield from _check_one_way_device(device, url)
    if not table.simulated:
        yield from _check_real_device(url, driver)


def _check_one_way_device(device: DeviceSection, url: DeviceUrl) -> Mistakes:
    """Check a device that cannot identify itself: its name comes from the URL, and a pinned name must match it."""
    if device.serial not in (None, url.known_as):
        yield Mistake(
            f"[device] serial: {url.driver} reports no serial number; by its URL the device is {url.known_as}.",
            "Let `url` name the port under the device's own name, or leave `serial` out.",
        )
    if device.firmware_digests:
        yield Mistake(
            f"[device] firmware_digests: {url.driver} reports no firmware digest.",
            "Leave firmware_digests out, and approve such a device by its seal.",
        )


def _check_real_device(url: DeviceUrl, driver: RegisteredDriver) -> Mistakes:
    """Refuse a URL that is known to lead to a program. With a driver without keys, the configuration must repeat that
    the device is real.
    """
    next_step = "Name the real device, or write simulated = true in [table]."
    if url.scheme == "sim":
        yield Mistake("[device] url: a sim device is a simulator, and this table is not simulated.", next_step)
    elif why := program_behind(url):
        yield Mistake(f"[device] url: {why}", next_step)
    elif url.scheme == "tcp" and not driver.needs_keys and _is_this_machine(url.host):
        yield Mistake(
            f"[device] url: {url.host} is this machine, where a program answers and not a device, and {driver.name} "
            "cannot"
            " tell the one from the other.",
            next_step,
        )


def _is_this_machine(host: str) -> bool:
    if host.rstrip(".").lower() in ("localhost", "ip6-localhost") or host.lower().endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)


def _check_socket(api: ApiSection) -> Mistakes:
    if why := why_too_long(api.socket):
        yield Mistake(f"[api] socket: {api.socket} {why}.", "Name a shorter one: /run/cardshoe/TABLE/api.sock.")


def _check_http(table: TableSection, api: ApiSection) -> Mistakes:
    if api.http is None:
        return
    if api.http.port == 0 and not table.simulated:
        yield Mistake(
            "[api.http] port: 0 means any free port, and people have to find the table.", "Name one, such as 8080."
        )
    for host in api.http.hosts:
        if host in OWN_NAMES:
            yield Mistake(f"[api.http] hosts: {host} is this machine itself, which is always allowed.", "Leave it out.")


def _check_journal(journal: JournalSection) -> Mistakes:
    try:
        find_zone(journal.time_zone)
    except ValueError as error:
        yield Mistake(
            f"[journal] time_zone: {error}.",
            "Write it as in Europe/Vienna; where the system knows none, `apt install tzdata`.",
        )
    if journal.witness is not None and journal.folder in (journal.witness, *journal.witness.parents):
        yield Mistake(
            "[journal] witness: it lies in the journal's own folder, where a person who changes the journal can "
            "change it too.",
            "Name a folder that belongs to another user or another machine.",
        )


def _check_capture(table: TableSection, capture: CaptureSection | None) -> Mistakes:
    if capture is not None and capture.key_file is None and not table.simulated:
        yield Mistake(
            "the key key_file is missing in [capture]; the records of a real device are sealed.",
            "Make a separate key file for captures, as for the journal, and name it.",
        )


def _check_floor(floor: FloorSection | None) -> Mistakes:
    if floor is None:
        return
    try:
        address = parse_broker(floor.broker)
    except BadBrokerError as error:
        yield Mistake(f"[floor] broker: {error}", error.hint)
        return
    files = {"ca_file": floor.ca_file, "certificate_file": floor.certificate_file, "key_file": floor.key_file}
    for name, path in files.items():
        if address.encrypted and path is None:
            yield Mistake(
                f"the key {name} is missing in [floor]; {address} is encrypted, with a certificate for each side."
            )
        if not address.encrypted and path is not None:
            yield Mistake(f"[floor] {name}: {address} is not encrypted.", f"Write mqtts://, or leave {name} out.")


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
        for mistake in mistakes_of_law(table.game, readings, house, simulated=simulated):
            yield Mistake(str(mistake), mistake.hint)


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
            yield Mistake(f"[limits] {plain(wager, LONGEST_NAME)}: {error}.", "`cardshoe rules` lists the wagers.")


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
    return [*of_screens(configuration), *of_floor(configuration.floor)]


def of_screens(configuration: Configuration) -> Iterator[Mistake]:
    http = configuration.api.http
    if http is None:
        return
    if http.port < LEAST_PORT and not configuration.table.simulated:
        yield Mistake(
            f"[api.http] port: {http.port} is below {LEAST_PORT}, where the service may not open a port.",
            "Name another one, such as 8080.",
        )
    for person in configuration.people:
        if not person.pin_hash:  # above the dealer's rank this is a mistake
            yield Mistake(
                f"[[people]] {person.id} has no pin_hash and cannot sign on at a screen.",
                "`cardshoe pin` creates one.",
            )


def of_floor(floor: FloorSection | None) -> Iterator[Mistake]:
    """Yield remarks on the floor, without which the table can still deal."""
    credentials = floor.found_broker.credentials if floor is not None else None
    if credentials is None:
        return
    try:
        context_of(credentials)
    except BrokerError as error:
        yield Mistake(f"[floor] {error}", str(error.hint))
