"""Writes the dictionary with which a journal packs its texts: one decision of each kind, the most frequent last.

    python -m tools.journal_words

Journal files contain their own copies, so it may be written again whenever events or inputs have changed; an outdated
one costs a few bytes a round.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

from controller.daemon.journal_types import JOURNAL_TYPES, WORDS
from controller.journal.codec import JournalCodec, Types
from controller.journal.packing import LONGEST_WORDS, Packing
from controller.journal.sealing import FileKeys, JournalKeys
from controller.table.decide import decide
from controller.table.inputs import AnyInput
from simulators.scenarios import load
from simulators.scenarios.course import Course, TableSetting
from simulators.scenarios.player import play

SCENARIOS: Final = ("nc/i01-void-lifted", "rtp/i12-exposed", "nc/i12-exposed-and-each-bettor-chooses")
_KIND: Final = re.compile(rb'"(?:event|input|operation|observed)":"([a-z_]+)"')
_DIGEST: Final = re.compile(rb"[0-9a-f]{64}")


class _Written(Course):
    """A scenario, and its decisions as a journal writes them."""

    def __init__(
        self, setting: TableSetting, codec: JournalCodec[Any, Any], packing: Packing, into: list[bytes]
    ) -> None:
        self._codec = codec
        self._packing = packing
        self._into = into
        super().__init__(setting)

    def _take(self, given: AnyInput) -> None:
        decided = decide(self.state, given)
        if decided.events:
            number = decided.state.entry
            written = self._codec.encode(number, given, decided.events, decided.state.round.number)
            self._into.append(self._packing.unpack(written.body))
        super()._take(given)


def texts() -> list[bytes]:
    packing = Packing(b"")
    types = Types(JOURNAL_TYPES.input, JOURNAL_TYPES.event, JOURNAL_TYPES.state)
    keys, file_keys = JournalKeys(bytes(32), "words"), FileKeys(bytes(32), "words")
    found: list[bytes] = []
    for name in SCENARIOS:
        codec: JournalCodec[Any, Any] = JournalCodec(types, keys, file_keys, packing, bytes)
        scenario = load(name)
        for _ in play(scenario, _Written(scenario.setting, codec, packing, found)):
            pass
    return found


def words(of: list[bytes]) -> bytes:
    counts: Counter[tuple[bytes, ...]] = Counter()
    first: dict[tuple[bytes, ...], bytes] = {}
    for text in of:
        kind = tuple(_KIND.findall(text))
        counts[kind] += 1
        first.setdefault(kind, _DIGEST.sub(b"", text))
    rarest_first = sorted(first, key=lambda kind: (counts[kind], kind))
    return b"\n".join(first[kind] for kind in rarest_first)[-LONGEST_WORDS:]


if __name__ == "__main__":
    WORDS.write_bytes(words(texts()))
