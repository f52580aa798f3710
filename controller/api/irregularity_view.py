"""The public view of an open irregularity: its kind, place, known facts, and possible decisions, and who decides."""

from __future__ import annotations

import msgspec

from controller.games.specification import Facts, RulingAction
from controller.rules.dealing_order import Place
from controller.rules.law import findings
from controller.table.headline import headline_of
from controller.table.irregularities.questions import (
    becomes_sentence,
    claims,
    decider,
    entry_in_doubt,
    number_moves,
    question,
    question_of,
    round_before,
)
from controller.table.irregularities.rulings import may_be_ruled
from controller.table.model import Asking, Irregularity, Move, Stage
from controller.table.state import TableState
from firmware_bridge.messages import AnyText


class MoveView(msgspec.Struct, frozen=True):
    """A card to move: the card that left the device as number `ordinal` is at `source` and belongs to `place`.

    If both are the same, it is turned face down there as card `card` of the hand. `source` and `place` may be a pile,
    the stub, the cards set aside, or the place of the First Card. Empty and 0 mean that it is not known.
    """

    ordinal: int
    source: Place
    place: Place
    card: int = 0


class ChoiceView(msgspec.Struct, frozen=True):
    """A choice at a place. `bettor` is empty if the box counts as one bettor."""

    place: Place
    choice: str
    bettor: str = ""


class BettorView(msgspec.Struct, frozen=True):
    """A bettor who has still to choose, and for which hand."""

    place: Place
    bettor: str


class OptionView(msgspec.Struct, frozen=True):
    """An option of every bettor. `role`: who must permit it; empty: it is the bettor's right.

    `all_wagers`: it concerns every wager of the bettor, not one hand.
    """

    choice: str
    clause: str
    role: str
    all_wagers: bool


class ClaimView(msgspec.Struct, frozen=True):
    """A question about one thing that a person sees. `facts`: what a yes also answers."""

    question: AnyText
    facts: Facts = Facts()


class IrregularityView(msgspec.Struct, frozen=True):
    """An open irregularity. `proposes`: the disposition of the clause, or of a house rule with its `authority`.

    `who`: the lowest rank that may take the next step, one of `options`. `moves`: the cards to move. `void_asked`: a
    step that voids the round was entered once, in entry `asked_entry`, and takes effect when entered again.
    `noticed_by`: device, inference or a person. `counted`: cards at the place, as counted. `blocks`: it holds the
    table. `facts`: those known or stated so far. `clauses`: those that may apply, depending on the open questions;
    empty means none. `senses`: when each of them applies, in a few words. `claims`: the questions that confirm it, in
    order: the first yes confirms it. Empty if only a count shows it, or it is decided. `entered`: it is known from
    faces that a person entered, and the question is whether that entry is right.
    """

    id: int
    revision: int
    round: int
    row: str
    kind: str
    clause: str
    because: AnyText
    proposes: str
    stage: str
    questions: tuple[AnyText, ...]
    asks: tuple[str, ...]
    options: tuple[str, ...]
    who: str
    place: Place | None
    ordinals: tuple[int, ...]
    choices: tuple[ChoiceView, ...]
    choices_due: tuple[Place, ...]
    authority: str = ""
    moves: tuple[MoveView, ...] = ()
    bettors_due: tuple[BettorView, ...] = ()
    next_deck: bool = False  # it concerns the waiting deck, and does not hold the table
    void_asked: bool = False
    question: AnyText = ""  # the act or answer that it waits for, with whom to call
    noticed_by: str = ""
    noticed_utc_ns: int = 0  # 0: not known
    note: AnyText = ""
    counted: int | None = None
    card: int | None = None
    blocks: bool = True
    facts: Facts = Facts()
    options_detail: tuple[OptionView, ...] = ()
    asked_entry: int = 0
    asked_by: str = ""
    asked_utc_ns: int = 0
    clauses: tuple[str, ...] = ()
    claims: tuple[ClaimView, ...] = ()
    senses: tuple[AnyText, ...] = ()
    headline: AnyText = ""  # the act or question in a few words
    further: AnyText = ""  # that it may concern the previous round too
    becomes: AnyText = ""  # what happens to the card in question, or to the result of an earlier round
    entered: bool = False


def _options(state: TableState, found: Irregularity) -> tuple[str, ...]:
    """Return the steps that are possible now; for a ruling, its possible actions."""
    if found.stage is not Stage.RULING:
        return _OPTIONS[found.stage]
    actions = [action for action in RulingAction if may_be_ruled(state, found, action)]
    return tuple(action.value.replace("_", " ") for action in actions)


_OPTIONS = {
    Stage.CLAIMED: ("confirm", "deny"),
    Stage.ORDERING: ("name the order",),
    Stage.CHOOSING: ("continue", "withdraw"),
    Stage.MOVING: ("put the cards right",),
}


def irregularity_view(state: TableState, found: Irregularity, noticed_utc_ns: int) -> IrregularityView:
    """Return the public view. `noticed_utc_ns`: in nanoseconds since 1970; 0: not known."""
    chosen = {(place, bettor) for place, bettor, _ in found.choices}
    choosing = found.stage is Stage.CHOOSING
    due = [chooser for chooser in state.round.choosers if chooser not in chosen] if choosing else []
    moves = state.round.out_of_place if found.stage is Stage.MOVING else {}
    moved = (*(Move(ordinal, *move) for (_, ordinal), move in sorted(moves.items())), *number_moves(state, found))
    clauses = _clauses(state, found)
    asking = found.asking if found.void_asked and found.asking is not None else Asking(0)
    return IrregularityView(
        id=found.id,
        revision=found.revision,
        round=found.round,
        row=found.row.id,
        kind=found.kind,
        clause=found.row.clause,
        because=state.game.words.own(found.row.because),
        proposes=found.row.disposition,
        stage=found.stage,
        questions=tuple(question_of(state, name) for name in found.asks),
        asks=found.asks,
        options=_options(state, found),
        who=decider(found).word,
        place=found.place,
        ordinals=found.ordinals,
        choices=tuple(ChoiceView(place, choice, bettor) for place, bettor, choice in found.choices),
        choices_due=tuple(dict.fromkeys(place for place, _ in due)),
        bettors_due=tuple(BettorView(*chooser) for chooser in due if chooser[1]),
        void_asked=found.void_asked,
        question=question(state, found),
        headline=headline_of(state, found),
        further=round_before(state, found) or "",
        authority=found.row.authority,
        next_deck=found.waiting,
        moves=tuple(MoveView(*move) for move in moved),
        noticed_by=found.noticed_by,
        noticed_utc_ns=noticed_utc_ns,
        note=found.note,
        counted=found.counted,
        card=found.card,
        blocks=found.blocks,
        facts=found.facts,
        options_detail=tuple(
            OptionView(option.choice, option.clause, option.permitted_by or "", option.all_wagers)
            for option in found.row.options
        ),
        asked_entry=asking.entry,
        asked_by=asking.person,
        asked_utc_ns=asking.utc_ns,
        clauses=tuple(one for one, _ in clauses),
        senses=tuple(one for _, one in clauses),
        claims=tuple(ClaimView(*one) for one in claims(state, found)),
        becomes=becomes_sentence(state, found) or "",
        entered=entry_in_doubt(state, found) is not None,
    )


def _clauses(state: TableState, found: Irregularity) -> tuple[tuple[str, AnyText], ...]:
    """Return each clause that may apply, with its sense."""
    rows = [one.row for one in findings(state.law, found.kind, found.facts)] if found.asks else [found.row]
    own = state.game.words.own
    return tuple({row.clause or row.authority: own(row.because) for row in rows}.items())
