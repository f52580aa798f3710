"""Previews the effect of an operation before a person signs it: the operation is decided, and the decision dropped.

Only people's decisions are tried. Operations that compare cards named by people with cards read by the device are not:
a person could guess the faces of face-down cards without entering anything.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgspec

from controller.api.bodies import encode_hook
from controller.api.irregularity_view import MoveView
from controller.api.screen_lines import line_for_screens
from controller.api.view import HandView, LinkView, TableView, view_of
from controller.roles import Role
from controller.rules.layout import Bet
from controller.table import events, operations
from controller.table.decide import decide
from controller.table.events import AnyEvent
from controller.table.headline import headline_of
from controller.table.inputs import PersonActed
from controller.table.irregularities.put_down import becomes
from controller.table.irregularities.questions import decider, without_calls
from controller.table.model import Irregularity, SettledBet, Stage
from controller.table.next_step import next_step
from controller.table.offers import ANOTHER
from controller.table.operations import Operation
from controller.table.state import TableState
from firmware_bridge.cards import Concealed, Evidence, Exposed
from firmware_bridge.messages import AnyText, Argument, Message, message

TRIED: Final = (
    operations.ConfirmIrregularity,
    operations.Rule,
    operations.AbandonRound,
    operations.CorrectEntry,
    operations.CorrectBet,
)
NAMES_CARDS: Final = (operations.ExposeHand, operations.ShowFirstCard)
FIRST_REQUESTS: Final = (events.VoidAsked, events.AbandonAsked)
UNSAID: Final = frozenset(
    {
        "operation_taken",
        "command_issued",
        "irregularity_resolved",
        "boxes_occupied",
        "hand_taken_back",
        "order_corrected",
        "entry_corrected",
        "layout_corrected",
        "ruled",
    }
)
"""Events that a preview omits: the question itself, side effects, and what names the signer, who is not known yet; the
boxes of a correction, which the person has just entered; that a hand is entered again, which the next step says."""
NOT_TRIED: Final = message("The effect of this cannot be previewed. Enter it, or go back.")

Key = TypeVar("Key", str, int)
Shown = TypeVar("Shown")


class HandChange(msgspec.Struct, frozen=True):
    place: str
    was: HandView | None
    will: HandView | None


class BetChange(msgspec.Struct, frozen=True):
    bet: int
    was: Bet | None
    will: Bet | None


class PaymentChange(msgspec.Struct, frozen=True):
    bet: int
    was: SettledBet | None
    will: SettledBet | None


class PreviewAnswer(msgspec.Struct, frozen=True):
    """The effect of an operation. `accepted`: the table would accept it. `sentences`: for people; the rest is data.

    `role`: the lowest rank that may enter it. `clause`: the one that applies to a confirmed irregularity; may be empty.

    `asks`: the irregularity would ask further questions. `void`: the round would be void. `twice`: it must be entered
    again. `opens`: the number of further open irregularities; `closes`: the ids of those that would end. `moves`: the
    cards that people would have to move.
    """

    accepted: bool
    code: str = ""
    sentence: AnyText = ""
    entry: int = 0
    sentences: tuple[AnyText, ...] = ()
    phase_was: str = ""
    phase_will: str = ""
    void: bool = False
    twice: bool = False
    next_step: AnyText = ""
    hands: tuple[HandChange, ...] = ()
    bets: tuple[BetChange, ...] = ()
    payments: tuple[PaymentChange, ...] = ()
    opens: int = 0
    closes: tuple[int, ...] = ()
    role: Role = Role.DEALER
    clause: str = ""
    moves: tuple[MoveView, ...] = ()
    becomes: AnyText = ""  # what happens to the card, if neither the next step nor a move says it yet
    asks: bool = False


def may_be_tried(operation: Operation) -> bool:
    if isinstance(operation, operations.CorrectEntry) and isinstance(operation.instead, NAMES_CARDS):
        return False
    return isinstance(operation, TRIED)


def preview(state: TableState, operation: Operation) -> PreviewAnswer:
    """Decide as if the lowest allowed rank had entered it, the second time if it is entered twice."""
    if not may_be_tried(operation):
        return PreviewAnswer(False, "no-preview", NOT_TRIED, state.entry)
    for role in Role:
        person = state.duty.dealer if role is Role.DEALER else ""
        given = PersonActed("preview", person or ANOTHER, role, state.round.number, operation)
        decided = decide(state, given)
        refused = next((event for event in decided.events if isinstance(event, events.OperationRefused)), None)
        if refused is None or refused.code != "role":
            break
    if refused is not None:
        return PreviewAnswer(False, refused.code, refused.sentence, state.entry, role=role)
    twice = any(isinstance(event, FIRST_REQUESTS) for event in decided.events)
    if twice:
        decided = decide(decided.state, msgspec.structs.replace(given, operation_id="preview again"))
    answer = _changes(state, decided.state, decided.events, twice=twice)
    found = decided.state.find_open(getattr(operation, "irregularity", 0))
    following = _following(decided.state, found, role)
    comes = None if answer.moves else _becomes(state, operation, decided.events, following)
    return msgspec.structs.replace(
        answer,
        role=role,
        clause=_clause(decided.events),
        next_step=following,
        becomes=comes or "",
        asks=found is not None and found.stage is Stage.CLAIMED and bool(found.asks),
    )


def _following(state: TableState, found: Irregularity | None, role: Role) -> Message:
    """Return the next step after an entry by that rank; in short, if a higher rank must be called to rule."""
    if found is not None and found.stage is Stage.RULING and not role.reaches(decider(found)):
        return headline_of(state, found)
    return without_calls(next_step(_without_pause(state)), role)


def _becomes(
    state: TableState, operation: Operation, brought: tuple[AnyEvent, ...], following: Message
) -> Message | None:
    """Return what happens to the card, by the row that then applies, if the next step does not say it.

    The question of a matter that stays open says it.
    """
    found = state.find_open(getattr(operation, "irregularity", 0))
    if found is None or not any(isinstance(event, events.IrregularityResolved) for event in brought):
        return None
    if any(isinstance(event, events.RoundVoided) for event in brought):
        return None
    rows = [event for event in brought if isinstance(event, events.IrregularityConfirmed)]
    if rows:
        found = msgspec.structs.replace(found, row=rows[0].row, facts=rows[0].facts, asks=())
    said = becomes(state, found)
    return None if said is None or _says(following, said) else message("{said}.", said=said)


def _says(whole: Argument, part: Message) -> bool:
    """Return whether a message has that part."""
    if isinstance(whole, tuple):
        return any(_says(one, part) for one in whole)
    return isinstance(whole, Message) and (whole == part or any(_says(one, part) for one in whole.args.values()))


def _clause(brought: tuple[AnyEvent, ...]) -> str:
    rows = [event.row for event in brought if isinstance(event, events.IrregularityConfirmed)]
    return rows[0].clause or rows[0].authority if rows else ""


def _changes(before: TableState, after: TableState, brought: tuple[AnyEvent, ...], *, twice: bool) -> PreviewAnswer:
    was, will = view_of(before, LinkView()), view_of(after, LinkView())
    open_was, open_will = ({one.id for one in view.irregularities} for view in (was, will))
    return PreviewAnswer(
        accepted=True,
        entry=before.entry,
        sentences=_sentences(before, brought),
        phase_was=was.phase,
        phase_will=will.phase,
        void=after.round.voided_from is not None and before.round.voided_from is None,
        twice=twice,
        hands=tuple(HandChange(*one) for one in _differences(_hands(was), _hands(will))),
        bets=tuple(BetChange(*one) for one in _differences(_bets(was), _bets(will))),
        payments=tuple(PaymentChange(*one) for one in _differences(_payments(was), _payments(will))),
        opens=len(open_will - open_was),
        closes=tuple(sorted(open_was - open_will)),
        moves=_moves(was, will),
    )


def _without_pause(state: TableState) -> TableState:
    """Return the state without a pause, which would hide what comes next."""
    return msgspec.structs.replace(state, duty=msgspec.structs.replace(state.duty, paused=""))


def _moves(was: TableView, will: TableView) -> tuple[MoveView, ...]:
    """Return the moves that the operation would add; otherwise those that remain once all is decided."""
    drawn = {one.id for one in was.irregularities if one.moves}
    return next((one.moves for one in will.irregularities if one.moves and one.id not in drawn), will.moves)


def _hands(view: TableView) -> dict[str, HandView]:
    return {hand.place: hand for hand in view.hands}


def _bets(view: TableView) -> dict[int, Bet]:
    return {bet.number: bet for bet in view.bets}


def _payments(view: TableView) -> dict[int, SettledBet]:
    return {settled.number: settled for settled in view.settlement}


def _differences(was: dict[Key, Shown], will: dict[Key, Shown]) -> list[tuple[Key, Shown | None, Shown | None]]:
    """Return what differs, by key."""
    return [(key, was.get(key), will.get(key)) for key in {**was, **will} if was.get(key) != will.get(key)]


def _sentences(state: TableState, brought: tuple[AnyEvent, ...]) -> tuple[Message, ...]:
    """Return a sentence for each event that people see, without concealed cards.

    A matter that holds the table is what the next step is about.
    """
    said: list[Message] = []
    for event in brought:
        fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(event, enc_hook=_hide))
        if fields.get("noticed_by") == ANOTHER:
            fields["noticed_by"] = ""  # the signer is not known yet
        asked = isinstance(event, events.IrregularityRaised) and event.blocks
        if not asked and fields["event"] not in UNSAID and (line := line_for_screens(fields, state.game.words, {})):
            said.append(line)
    return tuple(said)


def _hide(value: Any) -> Any:
    """Hide concealed cards, as in the events that the API publishes."""
    return {} if isinstance(value, Concealed | Exposed | Evidence) else encode_hook(value)
