"""The reports of a table: its state, its device and its service. The broker retains the newest of each.

Anyone at the table may see all of this. Times are nanoseconds since 1970; the reader computes ages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from controller.api.irregularity_view import IrregularityView
from controller.api.view import TableView
from controller.games import GAMES
from controller.games.specification import KINDS, Kind
from controller.roles import Role
from firmware_bridge.messages import AnyText, Message

Status = Literal["running", "stopped", "lost"]
NAMED: Final[dict[str, Message]] = {role.word: role.named for role in Role}


class OpenIrregularity(msgspec.Struct, frozen=True):
    """An open irregularity. `what` is its kind and `where` its place, in words. `who` is the rank that must act, `act`
    the action.

    `clauses` are those that may apply; an empty string stands for none.
    """

    id: int
    kind: str
    what: AnyText
    where: AnyText
    round: int
    clauses: tuple[str, ...]
    who: AnyText
    act: AnyText
    since_utc_ns: int
    blocks: bool


class TableReport(msgspec.Struct, frozen=True):
    """The state of a table as of entry `entry` of the journal `journal`, sent at `utc_ns`. `next_step` is a sentence.

    `since_utc_ns` is when the table was seen to enter this phase, or 0 if unknown.
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
    """The state of a device. `heard_utc_ns` is the time of its last message, or 0 if there was none since the daemon's
    start. `left` is the number of cards in it.
    """

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
    """The state of the service. The broker publishes the status lost when the daemon disappears. `since_utc_ns` is when
    it started.
    """

    status: Status
    since_utc_ns: int
    version: str


def table_report(view: TableView, utc_ns: int, since_utc_ns: int, names: Mapping[str, str]) -> TableReport:
    """Return the report of a table. `names` maps the ids of people to their names."""
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
        NAMED[found.who],
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
