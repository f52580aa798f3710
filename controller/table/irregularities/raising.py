"""Raises an irregularity: determines which row applies, what people are asked, and the stage in which it starts.

`raise_irregularity` is the single entry point; `raise_count_in_doubt` raises "cards may have passed unseen" (I04).
"""

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
from firmware_bridge.messages import AnyText

DEVICE = "device"
INFERENCE = "inference"
COUNT_KINDS = frozenset({Kind.DECK_COUNT, Kind.COUNT_IN_DOUBT})  # a count by hand decides them
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
    note: AnyText = "",
    earlier: bool = False,
    waiting: bool = False,
    entered: bool = False,
) -> None:
    """Raise it with its evidence. It holds the table until it is resolved, unless it concerns only bets.

    Under maintenance it is only noted. `facts`: None for those that the table knows. `report`: the device's. `earlier`:
    it is about the previous round; `waiting`: about the deck of the next one. Neither holds the table. `entered`: it is
    known from faces that a person entered, which are checked before anyone decides.
    """
    state = decision.state
    if state.phase is Phase.MAINTENANCE:
        decision.emit(events.MaintenanceNoted(kind, noticed_by, note))
        return
    known = facts or _facts_when_raised(state, place, earlier=earlier, waiting=waiting)
    in_device = kind is Kind.FACE_UP_IN_DEVICE and place is None and not (ordinals or waiting)
    about = (state.decks.next_ordinal,) if in_device else ordinals  # the next card is one that people saw at this place
    known = known if earlier else _with_card(state, known, place, card, about)
    row, asks = find_row(state.law, kind, known)
    decision.emit(
        events.IrregularityRaised(
            kind=kind,
            row=row,
            facts=known,
            asks=asks,
            stage=Stage.CLAIMED if entered else first_stage(row, asks),
            blocks=kind not in HOLDS_NOTHING and not (earlier or waiting),
            noticed_by=noticed_by,
            place=place,
            card=card,
            ordinals=ordinals,
            cards=len(ordinals),
            counted=counted,
            faces_seen=faces_seen,
            note=note,
            **_evidence(report),
            of_round=state.earlier.number if earlier and state.earlier else 0,
            origin=decision.origin,
            of_deck=_deck_concerned(state, noticed_by, earlier=earlier, waiting=waiting),
            waiting=waiting,
        )
    )


def raise_count_in_doubt(
    decision: Decision,
    note: AnyText,
    *,
    noticed_by: str = INFERENCE,
    report: DeviceReported | None = None,
    ordinals: tuple[int, ...] = (),
) -> None:
    """Raise I04 because cards may have passed unseen: in a round it asks for one count. `note`: what was noticed.

    Between rounds a device's report of it is only noted: the next shuffle counts the cards. `ordinals`: the cards with
    which it was noticed; setting them aside raises no second irregularity.
    """
    if decision.state.in_round:
        if not already_open(decision, Kind.COUNT_IN_DOUBT):
            raise_irregularity(
                decision, Kind.COUNT_IN_DOUBT, noticed_by=noticed_by, ordinals=ordinals, report=report, note=note
            )
    elif noticed_by == DEVICE:
        decision.emit(events.DeviceNoted("doubt", note))


def _deck_concerned(state: TableState, noticed_by: str, *, earlier: bool, waiting: bool) -> str:
    """Return the recorded deck in question: after a round people mean its deck, the device means the one in it."""
    if earlier:
        return state.earlier.label if state.earlier is not None else ""
    if waiting:
        deck = state.decks.next(in_round=state.in_round)
        return deck.label if deck is not None else ""
    of_round = state.in_round or (state.phase in WINDOW_OPEN and noticed_by != DEVICE)
    return state.round.label if of_round else state.decks.in_play.label


def _facts_when_raised(state: TableState, place: Place | None, *, earlier: bool, waiting: bool) -> Facts:
    if waiting:
        known = known_facts(state, handled=None, before_close=True, between_rounds=True, in_stub=False)
        return msgspec.structs.replace(known, noticed=Noticed.IN_ROUND)  # not an error in the concluded round
    return _facts_of_earlier_round(state, place) if earlier else known_facts(state, place)


def known_facts(state: TableState, place: Place | None = None, **stated: bool | None) -> Facts:
    """Return the facts that the table knows, changed by those that are `stated`; the rest is None."""
    facts = {
        "handled": state.round.handled,
        "before_close": state.phase in BEFORE_CLOSE,
        "viewed": True if place is not None and state.round.hands.get(place, Hand()).viewed else None,
        "dealer_hand": None if place is None else place == "D",
        "manual": None if state.settings is None else state.settings.unit is Unit.SINGLES,
        "between_rounds": state.phase in BETWEEN_ROUNDS,
        "in_stub": state.phase in AFTER_DEAL,
        "chosen_before": state.went_on(),
        "dead_hand": place is not None and state.round.hands.get(place, Hand()).dead,
        "misplaced": True if state.round.misplaced else None,
        "curable": state.round.curable if state.round.misplaced else None,
        **_established(state),
    }
    settled = state.phase is Phase.CONCLUDED or (state.phase is Phase.SETTLING and state.round.chips_paid)
    noticed = Noticed.CONCLUDED if settled else Noticed.IN_ROUND  # wagers are settled when chips are paid (NC 1.14)
    return Facts(**(facts | stated), noticed=noticed)


def _evidence(report: DeviceReported | None) -> dict[str, int | None]:
    """Return the device's report with which it was noticed."""
    return {} if report is None else {"boot": report.boot, "report": report.number, "device_ms": report.uptime_ms}


def _with_card(
    state: TableState, facts: Facts, place: Place | None, card: int | None, ordinals: tuple[int, ...]
) -> Facts:
    """Return the facts, completed from the cards in question unless stated."""
    known = {
        "first_card": _is_first_card(state, place, card, ordinals),
        "dealt_before": _dealt_before_choice(state, place, ordinals),
    }
    return msgspec.structs.replace(facts, **{name: so for name, so in known.items() if getattr(facts, name) is None})


def _dealt_before_choice(state: TableState, place: Place | None, ordinals: tuple[int, ...]) -> bool | None:
    """Return whether its cards were dealt before bettors first chose, or None if people have to say (NC 5.7).

    A card that is still to be dealt comes after the choice.
    """
    errors = state.errors_gone_on_after()
    if not errors:
        return None
    chosen = min(found.dealt_at_choice for found in errors)
    if ordinals:
        before = {ordinal for _, ordinal in state.round.dealt_cards[:chosen]}
        return before.issuperset(ordinals) if before.issuperset(ordinals) or before.isdisjoint(ordinals) else None
    if state.round.dealt == chosen:
        return True
    turns = [turn < chosen for turn, other in enumerate(state.round.places[: state.round.dealt]) if other == place]
    return turns[0] if len(set(turns)) == 1 else None


def _is_first_card(state: TableState, place: Place | None, card: int | None, ordinals: tuple[int, ...]) -> bool | None:
    """Return whether the irregularity is about the first card of the round, or None if its card is not known."""
    if state.settings is not None and state.game.first_card is not None:
        return False if place is not None or ordinals else None  # a card at a place is not the First Card
    if len(ordinals) == 1 and state.round.dealt_cards:
        return ordinals[0] == state.round.dealt_cards[0][1]
    if place is not None and state.round.places:
        first = place == state.round.places[0]
        alone = state.round.hands.get(place, Hand()).size == 1
        return (card == 1 if card is not None else alone or None) if first else False
    return True if len(state.round.dealt_cards) == 1 else None


def _established(state: TableState) -> dict[str, bool | None]:
    """Return whether a wager has conclusively won or lost already (RTP 5.13, NC 5.4); None if people have to say.

    Without entered wagers no one can tell (reading 29).
    """
    if not state.layout.bets:
        return {"established": None, "cannot_tell": True}
    return {"established": outcome_established(state), "cannot_tell": False}


def _facts_of_earlier_round(state: TableState, place: Place | None) -> Facts:
    """Return the facts still known about that round: the place, and what was entered about Players' cards."""
    dealer_hand = None if place is None else place == "D"
    before = state.earlier
    viewed = before is not None and place is not None and before.hands.get(place, Hand()).viewed
    return Facts(
        dealer_hand=dealer_hand,
        handled=before.handled if before is not None else None,
        viewed=True if viewed else None,
        cannot_tell=True,
        noticed=Noticed.NEXT_ROUND,
    )


def first_stage(row: Row, asks: tuple[str, ...]) -> Stage:
    """Return the stage in which it starts. A ruling needs no confirmation: the person who rules judges the fact too."""
    if row.disposition in (Disposition.REFER, Disposition.SILENT) and not asks:
        return Stage.RULING
    return Stage.CLAIMED


def already_open(decision: Decision, kind: Kind) -> bool:
    """Return whether one of this kind is already open for this round, so that another would only repeat it."""
    number = decision.state.round.number
    return any(found.kind is kind and found.round == number and not found.waiting for found in decision.state.open)
