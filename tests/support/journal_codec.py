"""The journal's codec for a table's inputs and events, with keys that protect nothing."""

from __future__ import annotations

from random import Random
from typing import Final, TypeAlias

from controller.daemon.journal_types import JOURNAL_TYPES
from controller.journal.codec import JournalCodec
from controller.journal.packing import Packing
from controller.journal.sealing import FileKeys, JournalKeys
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput

TableCodec: TypeAlias = JournalCodec[AnyInput, AnyEvent]
LOCAL_KEY: Final = bytes(range(32))
JOURNAL_ID: Final = "5e" * 16


def table_codec() -> TableCodec:
    keys, file_keys = JournalKeys(LOCAL_KEY, JOURNAL_ID), FileKeys(LOCAL_KEY, "f1" * 16)
    return JournalCodec(JOURNAL_TYPES, keys, file_keys, Packing(JOURNAL_TYPES.words), Random(1).randbytes)
