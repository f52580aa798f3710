"""Remarks on a configuration with which the daemon can start nevertheless."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controller.daemon.section_reader import Mistake
from controller.daemon.sections import Configuration, FloorSection
from controller.floor import BrokerError
from controller.floor.certificate import context_of

LEAST_PORT: Final = 1024  # the service has no capability to open a port below it


def remarks_on(configuration: Configuration) -> list[Mistake]:
    return [*of_screens(configuration), *of_floor(configuration.floor)]


def of_screens(configuration: Configuration) -> Iterator[Mistake]:
    http = configuration.api.http
    if http is None:
        return
    if http.port < LEAST_PORT and not configuration.table.simulated:
        yield Mistake(
            f"[api.http] port: {http.port} is below {LEAST_PORT}, where the service may open none.",
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
