"""Raising an irregularity: which row applies, what must be asked, and what stage it starts in."""

from __future__ import annotations

from controller.games.specification import Disposition, Facts, Kind, Row
from controller.rules.dealing import Place
from controller.rules.irregularities import find_row
from controller.table import events
from controller.table.decision import Decision
from controller.table.inputs import DeviceReported
from controller.table.phases import BEFORE_CLOSE
from controller.table.state import Stage

DEVICE = "device"
INFERENCE = "inference"


def raise_irregularity(
    decision: Decision,
    kind: Kind,
    *,
    noticed_by: str,
    facts: Facts | None = None,
    place: Place | None = None,
    card: int | None = None,
    ordinals: tuple[int, ...] = (),
    counted: int | None = None,
    faces_seen: bool | None = None,
    report: DeviceReported | None = None,
    note: str = "",
) -> None:
    """Raise it with its evidence. It blocks until it is resolved."""
    known = facts or known_facts(decision, place)
    row, asks = find_row(decision.state.game, kind, known)
    decision.emit(
        events.IrregularityRaised(
            kind=kind,
            row=row,
            facts=known,
            asks=asks,
            stage=first_stage(row, asks),
            blocks=True,
            noticed_by=noticed_by,
            place=place,
            card=card,
            ordinals=ordinals,
            cards=len(ordinals),
            counted=counted,
            faces_seen=faces_seen,
            boot=report.boot if report else None,
            report=report.number if report else None,
            device_ms=report.uptime_ms if report else None,
            note=note,
        )
    )


def known_facts(decision: Decision, place: Place | None = None, **stated: bool | None) -> Facts:
    """What the table knows by itself; the rest stays unstated."""
    state = decision.state
    facts = {
        "handled": state.handled,
        "before_close": state.phase in BEFORE_CLOSE,
        "dealer_hand": None if place is None else place == "D",
    }
    return Facts(**(facts | stated))


def first_stage(row: Row, asks: tuple[str, ...]) -> Stage:
    """What is referred needs no confirmation before the ruling: whoever rules judges the fact as well."""
    if row.disposition in (Disposition.REFER, Disposition.SILENT) and not asks:
        return Stage.RULING
    return Stage.CLAIMED


def already_open(decision: Decision, kind: Kind) -> bool:
    """Whether the same thing is being dealt with, so that a second claim of it would only repeat the first."""
    return any(found.kind is kind for found in decision.state.open)
