"""Raising an irregularity: which row applies, what must be asked, and what stage it starts in."""

from __future__ import annotations

import msgspec

from controller.games.specification import Disposition, Facts, Kind, Noticed, Row, Unit
from controller.rules.dealing_order import Place
from controller.rules.law import find_row
from controller.table import events
from controller.table.decision import Decision
from controller.table.established_outcome import outcome_established
from controller.table.inputs import DeviceReported
from controller.table.model import Hand, Stage
from controller.table.phases import AFTER_DEAL, BEFORE_CLOSE, BETWEEN_ROUNDS, WINDOW_OPEN, Phase
from controller.table.state import TableState

DEVICE = "device"
INFERENCE = "inference"
HOLDS_NOTHING = frozenset({Kind.LATE_BET, Kind.SIDE_WITHOUT_MAIN, Kind.OUTSIDE_LIMITS})


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
    earlier: bool = False,
    waiting: bool = False,
) -> None:
    """Raise it with its evidence. It blocks until it is resolved, save what concerns chips alone.

    Under maintenance no round is concerned: it is noted and nothing more.

    `earlier`: it is about the round before, `waiting`: about the deck of the next one. Neither holds this one.
    """
    if decision.state.phase is Phase.MAINTENANCE:
        decision.emit(events.MaintenanceNoted(kind, noticed_by, note))
        return
    if waiting and facts is None:
        facts = known_facts(decision, handled=None, before_close=True, between_rounds=True, in_stub=False)
    known = facts or (_of_earlier_round(place) if earlier else known_facts(decision, place))
    if not earlier and known.first_card is None:
        known = msgspec.structs.replace(known, first_card=_is_first(decision.state, place, card, ordinals))
    row, asks = find_row(decision.state.law, kind, known)
    decision.emit(
        events.IrregularityRaised(
            kind=kind,
            row=row,
            facts=known,
            asks=asks,
            stage=first_stage(row, asks),
            blocks=kind not in HOLDS_NOTHING and not (earlier or waiting),
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
            of_round=decision.state.earlier.number if earlier and decision.state.earlier else 0,
            origin=decision.origin,
            of_deck=_deck_concerned(decision.state, noticed_by, earlier=earlier, waiting=waiting),
            waiting=waiting,
        )
    )


def raise_count_in_doubt(
    decision: Decision,
    note: str,
    *,
    noticed_by: str = INFERENCE,
    report: DeviceReported | None = None,
    ordinals: tuple[int, ...] = (),
) -> None:
    """Cards may have passed unseen (I04): in a round a count is asked for, once. `note`: what was noticed.

    Between rounds no hand is concerned: the next shuffle counts, and what a device reported of itself is noted.
    `ordinals`: the cards with which it was noticed; they wait until it is settled, and that is no second error.
    """
    if decision.state.in_round:
        if not already_open(decision, Kind.COUNT_IN_DOUBT):
            raise_irregularity(
                decision, Kind.COUNT_IN_DOUBT, noticed_by=noticed_by, ordinals=ordinals, report=report, note=note
            )
    elif noticed_by == DEVICE:
        decision.emit(events.DeviceNoted("doubt", note))


def _deck_concerned(state: TableState, noticed_by: str, *, earlier: bool, waiting: bool) -> str:
    """The recorded deck that it is about. After a round people speak of its deck, the device of what lies in it."""
    if earlier:
        return state.earlier.label if state.earlier is not None else ""
    if waiting:
        return (state.decks.waiting or state.decks.in_play).label
    of_round = state.in_round or (state.phase in WINDOW_OPEN and noticed_by != DEVICE)
    return state.round.label if of_round else state.decks.in_play.label


def known_facts(decision: Decision, place: Place | None = None, **stated: bool | None) -> Facts:
    """What the table knows by itself, and what is stated with it."""
    return known_facts_of(decision.state, place, **stated)


def known_facts_of(state: TableState, place: Place | None = None, **stated: bool | None) -> Facts:
    """The same of a state; the rest stays unstated."""
    facts = {
        "handled": state.round.handled,
        "before_close": state.phase in BEFORE_CLOSE,
        "viewed": True if place is not None and state.round.hands.get(place, Hand()).viewed else None,
        "dealer_hand": None if place is None else place == "D",
        "manual": None if state.settings is None else state.settings.unit is Unit.SINGLES,
        "between_rounds": state.phase in BETWEEN_ROUNDS,
        "in_stub": state.phase in AFTER_DEAL,
        "chosen_before": state.round.chose_to_go_on,
        "misplaced": True if state.round.misplaced else None,
        "curable": state.round.curable if state.round.misplaced else None,
        **(_established(state) if state.layout.bets else {"cannot_tell": True}),
    }
    noticed = Noticed.CONCLUDED if state.phase is Phase.CONCLUDED else Noticed.IN_ROUND
    return Facts(**(facts | stated), noticed=noticed)


def _is_first(state: TableState, place: Place | None, card: int | None, ordinals: tuple[int, ...]) -> bool | None:
    """Whether it is about the first card of the round; None: it is not known which card it is about."""
    if state.settings is not None and state.game.first_card is not None:
        return False if place is not None or ordinals else None  # what lies at a place is no First Card
    if len(ordinals) == 1 and state.round.dealt_cards:
        return ordinals[0] == state.round.dealt_cards[0][1]
    if place is not None and card is not None and state.round.places:
        return (place, card) == (state.round.places[0], 1)
    return None


def _established(state: TableState) -> dict[str, bool | None]:
    """Whether a wager has won or lost already (RTP 5.13, NC 5.4); without the hands as they are nobody can tell."""
    found = outcome_established(state)
    return {"established": found, "cannot_tell": found is None}


def _of_earlier_round(place: Place | None) -> Facts:
    """What was so in that round is no longer known here."""
    dealer_hand = None if place is None else place == "D"
    return Facts(dealer_hand=dealer_hand, cannot_tell=True, noticed=Noticed.NEXT_ROUND)


def first_stage(row: Row, asks: tuple[str, ...]) -> Stage:
    """What is referred needs no confirmation before the ruling: whoever rules judges the fact as well."""
    if row.disposition in (Disposition.REFER, Disposition.SILENT) and not asks:
        return Stage.RULING
    return Stage.CLAIMED


def already_open(decision: Decision, kind: Kind) -> bool:
    """Whether the same thing is being dealt with, so that a second claim of it would only repeat the first."""
    return any(found.kind is kind and not found.waiting for found in decision.state.open)
