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
from controller.daemon.configuration import ConfigurationError, in_originals, read_configuration
from controller.daemon.record import record_of
from controller.daemon.section_reader import Mistake
from controller.daemon.sections import Configuration
from controller.daemon.starting import Notifier, Origin
from controller.daemon.taking_effect import Effect, changed, effect_of, named
from controller.table.record import ConfigurationRecord
from controller.table.settings import Settings
from firmware_bridge.errors import error_fields
from firmware_bridge.messages import AnyText, Message, message

PUT_BACK: Final = message("Put it back, or restart the daemon between rounds.")


def needs_restart(before: Configuration, after: Configuration) -> Message | None:
    """Return which changes need a restart, or None."""
    fixed = tuple(named(place) for place in changed(before, after) if effect_of(place) is Effect.RESTART)
    return message("{places:list} cannot change while the daemon runs.", places=fixed) if fixed else None


class ReloadedTable(Protocol):
    """The part of the running table that this module needs."""

    configuration_refused: Message | None

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
            hint = message("`cardshoe config check` lists what is wrong; correct the file and reload.")
            self._refuse(error.summary, hint)
            return
        except Exception as error:
            self._log.error("configuration.read_failed", **error_fields(error))
            said = message("{path}: the program failed while reading the file.", path=self._shown)
            self._refuse(said, message("Call the maintainer."))
            return
        places = list(changed(self._configuration, found))
        if fixed := needs_restart(self._configuration, found):
            self._refuse(message("{path}: {mistake}", path=self._shown, mistake=fixed), PUT_BACK)
            return
        if not await self._table.configure(record, found.settings):
            said = message("It cannot be recorded at present.")
            self._refuse(said, message("Return the table to service, then reload."))
            return
        self._people.change(found.people, found.readers)
        self._admit(found)
        self._configuration = found
        self._table.configuration_refused = None
        self._log.info("configuration.reloaded", people=len(found.people), readers=len(found.readers), changed=places)

    @property
    def _shown(self) -> Any:
        """The path of the file that people correct."""
        return in_originals(str(self._origin.newest), self._origin.newest)

    def _refuse(self, said: Message, hint: AnyText) -> None:
        why = in_originals(said, self._origin.newest)
        self._log.error("configuration.refused", sentence=str(why), hint=str(hint))
        self._table.configuration_refused = message(
            "The changed configuration is not in force, and nothing has changed: {why} {hint}", why=why, hint=hint
        )


def read_for_reload(path: Path, running: Path) -> Configuration:
    """Read the file as a daemon would that was started when it was as in the copy `running`. Raise
    `ConfigurationError`.
    """
    found = read_configuration(path)
    if fixed := needs_restart(read_configuration(running, path.resolve().parent), found):
        raise ConfigurationError(path, [Mistake(fixed, PUT_BACK)])
    return found


def _read(origin: Origin) -> tuple[Configuration, ConfigurationRecord]:
    """Read the newest file. Paths in it count from the same folder as at the start. Raise `ConfigurationError` if it
    cannot be read or is invalid.
    """
    found = read_configuration(origin.newest, origin.path.resolve().parent)
    return found, record_of(found, origin.program)
