"""Reloads the configuration on SIGHUP, all of it or nothing.

`taking_effect` lists when each key takes effect. A file with a changed key that needs a restart is refused as a whole.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol

from controller.api.people import People
from controller.daemon.configuration import ConfigurationError, read_configuration
from controller.daemon.handed_files import in_originals
from controller.daemon.record import record_of
from controller.daemon.section_reader import Mistake
from controller.daemon.sections import Configuration
from controller.daemon.starting import Notifier, Origin
from controller.daemon.taking_effect import Effect, changed, effect_of, named
from controller.table.record import ConfigurationRecord
from controller.table.settings import Settings
from firmware_bridge.exception_place import as_fields

NOTHING_CHANGED: Final = "The changed configuration is not in force, and nothing has changed"


def needs_restart(before: Configuration, after: Configuration) -> Mistake | None:
    """Return a mistake that names the changes that need a restart, or None."""
    fixed = [named(place) for place in changed(before, after) if effect_of(place) is Effect.RESTART]
    if not fixed:
        return None
    hint = "Put it back, or restart the daemon between rounds."
    return Mistake(f"{', '.join(fixed)} cannot change while the daemon runs.", hint)


class ReloadedTable(Protocol):
    """The part of the running table that is needed here."""

    configuration_refused: str

    async def configure(self, record: ConfigurationRecord, settings: Settings) -> bool: ...


class Reloading:
    """The reload. `admit` applies what takes effect immediately to listeners and screens."""

    def __init__(
        self,
        origin: Origin,
        configuration: Configuration,
        table: ReloadedTable,
        people: People,
        admit: Callable[[Configuration], None],
        notifier: Notifier,
        log: Any,
    ) -> None:
        self._origin = origin
        self._configuration = configuration
        self._table = table
        self._people = people
        self._admit = admit
        self._notifier = notifier
        self._log = log

    async def run(self) -> None:
        while True:
            await self._origin.hang_ups.next()
            self._notifier.tell("RELOADING=1", f"MONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")
            await self._reload()
            self._notifier.tell("READY=1")

    async def _reload(self) -> None:
        try:
            found, record = await asyncio.to_thread(_read, self._origin)  # in a thread, since its disk may be slow
        except ConfigurationError as error:
            self._refuse(str(error), "`cardshoe config check` lists what is wrong; correct the file and reload.")
            return
        except Exception as error:
            self._log.error("configuration.read_failed", **as_fields(error))
            self._refuse(f"{self._origin.newest}: the program failed over it.", "Call the maintainer.")
            return
        places = list(changed(self._configuration, found))
        if fixed := needs_restart(self._configuration, found):
            self._refuse(f"{self._origin.newest}: {fixed.sentence}", fixed.hint)
            return
        if not await self._table.configure(record, found.settings):
            self._refuse("It cannot be recorded now.", "Return the table to service, then reload.")
            return
        self._people.change(found.people, found.readers)
        self._admit(found)
        self._configuration = found
        self._table.configuration_refused = ""
        self._log.info("configuration.reloaded", people=len(found.people), readers=len(found.readers), changed=places)

    def _refuse(self, sentence: str, hint: str) -> None:
        sentence = in_originals(sentence, self._origin.newest)
        self._log.error("configuration.refused", sentence=sentence, hint=hint)
        first = sentence.split("\n")[0].rstrip(":.")
        self._table.configuration_refused = f"{NOTHING_CHANGED}: {first}. {hint}"


def read_for_reload(path: Path, running: Path) -> Configuration:
    """Read the file as a daemon would that was started with the copy `running`. Raise `ConfigurationError`."""
    folder = running.absolute().parent  # not resolved: a link below another process's root would lead out of it
    found = read_configuration(path, folder)
    if fixed := needs_restart(read_configuration(running, folder), found):
        raise ConfigurationError(path, [fixed])
    return found


def _read(origin: Origin) -> tuple[Configuration, ConfigurationRecord]:
    """Read the newest file. Paths in it count from the same folder as at the start. Raise `ConfigurationError`."""
    found = read_configuration(origin.newest, origin.path.resolve().parent)
    return found, record_of(found, origin.program)
