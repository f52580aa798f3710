"""What the floor shows of a table: its state, its device and its service. Retained by the broker, the newest of each.

All of it anyone may see at the table. Times are in nanoseconds since 1970; an age is the reader's to count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from controller.api.irregularity_view import IrregularityView
from controller.api.view import TableView
from controller.games import GAMES
from controller.games.kind_words import KINDS
from controller.games.specification import Kind
from controller.messages import AnyText

Status = Literal["running", "stopped", "lost"]


class OpenIrregularity(msgspec.Struct, frozen=True):
    """`what`: its kind, and `where` its place, in words. `who`: the rank that is awaited, `act`: for what.

    `clauses`: those that may apply; empty stands for none.
    """

    id: int
    kind: str
    what: AnyText
    where: AnyText
    round: int
    clauses: tuple[str, ...]
    who: str
    act: AnyText
    since_utc_ns: int
    blocks: bool


class TableReport(msgspec.Struct, frozen=True):
    """As of entry `entry` of the journal `journal`, sent at `utc_ns`. `next_step`: what comes next, in a sentence.

    `since_utc_ns`: when the table entered this phase, as far as it was seen; 0: not known.
    """

    journal: str
    entry: int
    utc_ns: int
    simulated: bool
    game: str
    title: AnyText
    unit: str
    phase: str
    since_utc_ns: int
    service: str
    service_cause: AnyText
    held: bool
    paused: str
    round: int
    dealer: str
    next_step: AnyText
    irregularities: tuple[OpenIrregularity, ...]
    warnings: tuple[AnyText, ...]


class DeviceReport(msgspec.Struct, frozen=True):
    """`heard_utc_ns`: when the device last said something; 0: not since the daemon's start. `left`: cards in it."""

    utc_ns: int
    link: str
    code: str
    sentence: AnyText
    connected: bool
    kind: str
    serial: str
    stopped: AnyText
    heard_utc_ns: int
    left: int


class ServiceReport(msgspec.Struct, frozen=True):
    """`status` lost: the broker says so, when the daemon is gone without a word. `since_utc_ns`: of its start."""

    status: Status
    since_utc_ns: int
    version: str


def table_report(view: TableView, utc_ns: int, since_utc_ns: int, names: Mapping[str, str]) -> TableReport:
    """`names`: of the people, by id."""
    return TableReport(
        view.journal, view.entry, utc_ns, view.simulated, view.game, view.title, view.unit, view.phase, since_utc_ns,
        view.service, view.service_cause, view.held, view.paused, view.round, names.get(view.dealer, view.dealer),
        view.next_step, tuple(_open(view, one) for one in view.irregularities), view.warnings,
    )  # fmt: skip


def _open(view: TableView, found: IrregularityView) -> OpenIrregularity:
    words = GAMES[view.game].words
    return OpenIrregularity(
        found.id,
        found.kind,
        words.own(KINDS[Kind(found.kind)]),
        "" if found.place is None else words.of(found.place),
        found.round,
        found.clauses,
        found.who,
        found.question,
        found.noticed_utc_ns,
        found.blocks,
    )


def device_report(view: TableView, utc_ns: int) -> DeviceReport:
    device = view.device
    heard = 0 if device.age is None else utc_ns - round(device.age * 1e9)
    return DeviceReport(
        utc_ns, device.link, device.code, device.sentence, device.connected, device.kind, device.serial, device.stopped,
        heard, max(0, view.deck.loaded - view.deck.dispensed),
    )  # fmt: skip
