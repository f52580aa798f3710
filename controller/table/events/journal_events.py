"""Events about the journal itself."""

from __future__ import annotations

from msgspec.structs import replace

from controller.table.events.base import Event
from controller.table.record import FileRecord
from controller.table.state import TableState
from firmware_bridge.messages import AnyText


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
