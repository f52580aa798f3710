"""Events about the start of the daemon, its configuration, and the journal itself."""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace

from controller.table.events.base import Event
from controller.table.record import ConfigurationRecord, FileRecord
from controller.table.settings import Settings
from controller.table.state import TableState
from firmware_bridge.messages import AnyText, Message, message


class TableBegan(Event, frozen=True, tag="table_began"):
    """The daemon started, without a link yet. `settings_wait`: new settings that take effect with the next round."""

    table: str
    simulated: bool
    start: str
    settings_wait: Settings | None = None
    host_boot: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        device = replace(state.device, connected=False, status_agrees=False, lost_code="")
        return replace(
            state,
            table=self.table,
            simulated=self.simulated,
            device=device,
            settings_wait=self.settings_wait,
            host_boot=self.host_boot,
        )


class ConfigurationRecorded(Event, frozen=True, tag="configuration_recorded"):
    """The daemon was started with this configuration, or reloaded it, and had a different one before."""

    configuration: ConfigurationRecord

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, configuration=self.configuration)


class SettingsDeferred(Event, frozen=True, tag="settings_deferred"):
    """New settings, read while an error of the last round may still be reported, take effect with the next round.

    `settings` None: the present settings stay.
    """

    settings: Settings | None

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, settings_wait=self.settings)


class GameChosen(Event, frozen=True, tag="game_chosen"):
    """The rules in force were set, with the casino's settings."""

    outdates: ClassVar[Message | None] = message("The rules of the table have changed.")

    title: str
    version: str
    effective: str
    settings: Settings

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, settings=self.settings, settings_wait=None)


class FilesDeleted(Event, frozen=True, tag="files_deleted"):
    """These files are older than the retention period of the journal. After this record they are deleted, oldest first.

    The event records the ends of their chains, so that a reader can verify that nothing else is missing.
    """

    files: tuple[FileRecord, ...]

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, files_deleted=tuple(one.id for one in self.files))


class JournalDoubted(Event, frozen=True, tag="journal_doubted"):
    """The daemon found that the journal differs from what it wrote. The table is out of service until a person decides.

    `keys`: the public keys in doubt, in hexadecimal.
    """

    code: str
    sentence: AnyText
    keys: tuple[str, ...] = ()

    def apply(self, state: TableState, entry: int) -> TableState:
        more = tuple(key for key in self.keys if key not in state.doubted_keys)
        return replace(state, doubted_keys=state.doubted_keys + more) if more else state
