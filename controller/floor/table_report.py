"""The reports of a table: its state, its device and its service. The broker retains the newest of each.

Anyone at the table may see all of this. Times are nanoseconds since 1970; the reader computes ages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from controller.api.irregularity_view import IrregularityView
from controller.api.view import DeviceSummary, DeviceView, TableSummary, TableView
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


class TableReport(TableSummary, frozen=True, kw_only=True):
    """The state of a table, sent at `utc_ns`. `dealer` is the person's name.

    `since_utc_ns` is when the table was seen to enter this phase, or 0 if unknown.
    """

    utc_ns: int
    since_utc_ns: int
    irregularities: tuple[OpenIrregularity, ...]


class DeviceReport(DeviceSummary, frozen=True, kw_only=True):
    """The state of a device. `heard_utc_ns` is the time of its last message, or 0 if there was none since the daemon's
    start. `left` is the number of cards in it.
    """

    utc_ns: int
    heard_utc_ns: int
    left: int


class ServiceReport(msgspec.Struct, frozen=True):
    """The state of the service. The broker publishes the status `lost` when the daemon disappears.

    `since_utc_ns` is when the daemon started. `people` maps the ids of the table's people to their names.
    """

    status: Status
    since_utc_ns: int
    version: str
    people: dict[str, str] = {}


def table_report(view: TableView, utc_ns: int, since_utc_ns: int, names: Mapping[str, str]) -> TableReport:
    """Return the report of a table. `names` maps the ids of people to their names."""
    shared = _shared(TableSummary, view) | {"dealer": names.get(view.dealer, view.dealer)}
    found = tuple(_open(view, one) for one in view.irregularities)
    return TableReport(**shared, utc_ns=utc_ns, since_utc_ns=since_utc_ns, irregularities=found)


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
    age, left = view.device.age, view.deck.loaded - view.deck.dispensed
    heard = 0 if age is None else utc_ns - round(age * 1e9)
    return DeviceReport(**_shared(DeviceSummary, view.device), utc_ns=utc_ns, heard_utc_ns=heard, left=max(0, left))


def _shared(summary: type[msgspec.Struct], view: TableView | DeviceView) -> dict[str, Any]:
    return {name: getattr(view, name) for name in summary.__struct_fields__}
