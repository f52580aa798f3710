"""Events about the start of the daemon, its configuration, and the journal itself."""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace

from controller.games import GAMES
from controller.roles import Role
from controller.table.events.base import Event
from controller.table.events.lines import Fields, depending, spoken, with_reason, with_slots
from controller.table.record import ConfigurationRecord, FileRecord
from controller.table.settings import Settings
from controller.table.state import TableState
from firmware_bridge.messages import AnyText, Message, message


class TableBegan(Event, frozen=True, tag="table_began"):
    """The daemon started, without a link yet. `settings_wait`: new settings that take effect with the next round."""

    line = depending({"simulated": message("table {table} started (SIMULATED)")}, message("table {table} started"))

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

    @staticmethod
    def line(event: Fields) -> Message | None:
        """Return people with their uids, and the device: what an auditor compares first."""
        found = event["configuration"]
        people = tuple(
            message("{person} ({role})", person=one["id"], role=Role(one["role"]).named) for one in found["people"]
        )
        return message(
            "version {version}; device {url}; people: {people:list}",
            version=found["program"], url=found["device"]["url"], people=people or message("none"),
        )  # fmt: skip


class SettingsDeferred(Event, frozen=True, tag="settings_deferred"):
    """New settings, read while an error of the last round may still be reported, take effect with the next round.

    `settings` None: the present settings stay.
    """

    settings: Settings | None

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, settings_wait=self.settings)

    @staticmethod
    def line(event: Fields) -> Message | None:
        settings = event["settings"]
        if not settings:
            return message("the game's settings stay as they are")
        said = message("the game's settings change with the next round")
        return with_reason(said, GAMES[settings["game"]].title if settings["game"] in GAMES else "")


def _title(event: Fields) -> AnyText:
    """Return the title of the game, which another version or an older entry may have as any text."""
    game = GAMES.get(event["settings"]["game"]) if event.get("settings") else None
    return game.title if game is not None and str(game.title) == event["title"] else str(event["title"])


class GameChosen(Event, frozen=True, tag="game_chosen"):
    """The rules in force were set, with the casino's settings."""

    outdates: ClassVar[Message | None] = message("The rules of the table have changed.")

    title: str
    version: str
    effective: str
    settings: Settings

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, settings=self.settings, settings_wait=None)

    @staticmethod
    def line(event: Fields) -> Message | None:
        said = message("game: {title}", title=_title(event))
        if event["version"]:
            said = message("{said}, version {version}", said=said, version=event["version"])
        return message("{said}, dated {date}", said=said, date=event["effective"]) if event["effective"] else said


class FilesDeleted(Event, frozen=True, tag="files_deleted"):
    """These files are older than the retention period of the journal. After this record they are deleted, oldest first.

    The event records the ends of their chains, so that a reader can verify that nothing else is missing.
    """

    line = with_slots(
        message("journal files deleted because of their age: {files_named:list}"),
        files_named=lambda event: tuple(one["name"] for one in event["files"]),
    )

    files: tuple[FileRecord, ...]

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, files_deleted=tuple(one.id for one in self.files))


class JournalDoubted(Event, frozen=True, tag="journal_doubted"):
    """The daemon found that the journal differs from what it wrote. The table is out of service until a person decides.

    `keys`: the public keys in doubt, in hexadecimal.
    """

    line = with_slots(message("the journal integrity check failed: {spoken}"), spoken=spoken)

    code: str
    sentence: AnyText
    keys: tuple[str, ...] = ()

    def apply(self, state: TableState, entry: int) -> TableState:
        more = tuple(key for key in self.keys if key not in state.doubted_keys)
        return replace(state, doubted_keys=state.doubted_keys + more) if more else state
