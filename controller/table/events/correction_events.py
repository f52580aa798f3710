"""Events of corrections. Nothing is erased: each says what was entered, what replaces it, and what that undoes."""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace

from controller.games.specification import Choice, Facts, Row
from controller.roles import Role
from controller.rules.dealing_order import Place
from controller.rules.layout import Bet
from controller.table.events.base import PILES, Event, with_decks, with_hand, with_round
from controller.table.events.lines import Fields, answered, cited, depending, listed, pile_named, with_slots
from controller.table.model import (
    ASIDE,
    STUB,
    BeforeCount,
    Entered,
    Hand,
    Stage,
)
from controller.table.operations import Correctable
from controller.table.state import TableState
from firmware_bridge.messages import Message, message


class EntryCorrected(Event, frozen=True, tag="entry_corrected"):
    """The entry `corrected` was wrong. `instead` replaces it, under this event's number; None: it is struck out."""

    outdates: ClassVar[Message | None] = message("An entry was corrected.")

    corrected: int
    was: Correctable
    instead: Correctable | None
    reason: str
    by: str
    role: Role

    def apply(self, state: TableState, entry: int) -> TableState:
        left = tuple(entered for entered in state.round.entered if entered.entry != self.corrected)
        if self.instead is not None:
            left = (*left, Entered(entry, self.by, self.role, self.instead))
        return with_round(state, entered=left)

    @staticmethod
    def line(event: Fields) -> Message | None:
        what = event["was"]
        if not event["reason"]:  # `count_again` asks for none
            return message(
                "entry {entry} ({what}) is counted again by {by}", entry=event["corrected"], what=what, by=event["by"]
            )
        return message(
            "entry {entry} ({what}) is struck out by {by}: {reason}"
            if event["instead"] is None
            else "entry {entry} ({what}) is corrected by {by}: {reason}",
            entry=event["corrected"],
            what=what,
            by=event["by"],
            reason=event["reason"],
        )


class HandlingCorrected(Event, frozen=True, tag="handling_corrected"):
    """The entry about the handling of a place's cards is corrected. `viewing`: who looked at which box so far."""

    line = depending(
        {
            "viewed": message("correction: the cards of {place} were looked at"),
            "handled": message("correction: the cards of {place} were handled, not looked at"),
        },
        message("correction: the cards of {place} were not handled"),
    )

    place: Place
    handled: bool
    viewed: bool
    viewing: tuple[tuple[str, int], ...] = ()

    def apply(self, state: TableState, entry: int) -> TableState:
        state = with_round(state, viewing=self.viewing)
        return with_hand(state, self.place, handled=self.handled, viewed=self.viewed)


class OrderCorrected(Event, frozen=True, tag="order_corrected"):
    """The order of the deal is corrected; cards dealt in another order are misplaced."""

    line = cited(
        with_slots(
            message("the order of the deal is {places_listed}"), places_listed=lambda event: listed(event["places"])
        )
    )

    places: tuple[Place, ...]
    clause: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_round(state, places=self.places)


class JudgementTakenBack(Event, frozen=True, tag="judgement_taken_back"):
    """The outcomes of these hands are withdrawn; they get new ones."""

    places: tuple[Place, ...]

    def apply(self, state: TableState, entry: int) -> TableState:
        for place in self.places:
            state = with_hand(state, place, outcome=None)
        return state

    @staticmethod
    def line(event: Fields) -> Message | None:
        places = event["places"]
        return message("the results of {places} are decided again", places=listed(places)) if places else None


class ClosingTakenBack(Event, frozen=True, tag="closing_taken_back"):
    """The round counts as not concluded. `chips`: its chips as not paid; `returned`: a void's bets as not returned."""

    line = depending(
        {
            "returned": message("the bets are returned after all"),
            "chips": message("the round is settled again"),
        },
        message("the round is open again"),
    )

    chips: bool
    returned: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_round(state, conclusion_asked=False, chips_paid=state.round.chips_paid and not self.chips)


class CountTakenBack(Event, frozen=True, tag="count_taken_back"):
    """A count of that pile or place is withdrawn: the account of the cards is again as before the count."""

    pile: str
    account: BeforeCount

    def apply(self, state: TableState, entry: int) -> TableState:
        account = self.account
        state = with_decks(with_round(state, taken_back=account.taken_back), count_due=account.count_due)
        if self.pile == STUB:
            counted = replace(state.decks.in_play, stub=account.stub, by_count=account.size)
            state = with_decks(state, in_play=counted)
        elif self.pile not in (*PILES, ASIDE):
            return with_hand(state, self.pile, surplus=account.more or 0) if self.pile in state.round.hands else state
        pile = ASIDE if self.pile == STUB else self.pile
        surplus = {name: more for name, more in state.round.surplus.items() if name != pile}
        return with_round(state, surplus=surplus if account.more is None else {**surplus, pile: account.more})

    @staticmethod
    def line(event: Fields) -> Message | None:
        pile = pile_named(event)
        if event["pile"] == STUB and event["account"]["stub"] is None:
            return message("the count is withdrawn ({pile}); count again", pile=pile)
        return message("the count is withdrawn ({pile})", pile=pile)


class LayoutCorrected(Event, frozen=True, tag="layout_corrected"):
    """The record of the bets at "No more bets" is corrected; `was`: as they were entered."""

    outdates: ClassVar[Message | None] = message("A bet was corrected.")
    line = message("{by} corrects the bets: {reason}")

    was: tuple[Bet, ...]
    bets: tuple[Bet, ...]
    numbered: int
    reason: str
    by: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, bets_numbered=self.numbered, round=replace(state.round, bets=self.bets))


class IrregularityReopened(Event, frozen=True, tag="irregularity_reopened"):
    """The irregularity is decided again, because its decision rested on an entry that was corrected.

    `outcome`: how it had ended; empty: it was still open. `hands` play again, `withdrawals` (bettor and box) and
    rulings on `bets` are undone. `because_of`: the entry that was corrected. `recounted`: the number of cards in its
    hand is `counted` again, from the previous entry; None: there was none.
    """

    outdates: ClassVar[Message | None] = message("A matter is open again.")

    irregularity: int
    because_of: int
    outcome: str
    row: Row
    facts: Facts
    asks: tuple[str, ...]
    stage: Stage
    choices: tuple[tuple[Place, str, Choice], ...] = ()
    hands: tuple[Place, ...] = ()
    withdrawals: tuple[tuple[str, int], ...] = ()
    bets: tuple[int, ...] = ()
    recounted: bool = False
    counted: int | None = None

    def apply(self, state: TableState, entry: int) -> TableState:
        every = (*state.open, *(closed.found for closed in state.round.closed))
        found = replace(
            next(found for found in every if found.id == self.irregularity),
            revision=entry,
            row=self.row,
            facts=self.facts,
            asks=self.asks,
            stage=self.stage,
            choices=self.choices,
            void_asked=False,
        )
        found = replace(found, counted=self.counted) if self.recounted else found
        ruled_on = {(bet, self.irregularity) for bet in self.bets}
        hands = dict(state.round.hands)
        for place in self.hands:
            hands[place] = replace(hands.get(place, Hand()), dead=False)
        return replace(
            state,
            open=tuple(sorted((*(one for one in state.open if one.id != found.id), found), key=lambda one: one.id)),
            round=replace(
                state.round,
                closed=tuple(closed for closed in state.round.closed if closed.found.id != found.id),
                hands=hands,
                removed=tuple(removed for removed in state.round.removed if f"B{removed[0]}" not in self.hands),
                withdrawn=tuple(gone for gone in state.round.withdrawn if (gone[0], gone[1]) not in self.withdrawals),
                bet_rulings=tuple(ruled for ruled in state.round.bet_rulings if (ruled[0], ruled[2]) not in ruled_on),
                face_down=tuple(due for due in state.round.face_down if due[0] != self.irregularity),
            ),
        )

    @staticmethod
    def line(event: Fields) -> Message | None:
        return answered(message("to be decided again"), event)


class VoidLifted(Event, frozen=True, tag="void_lifted"):
    """The cause of a void is decided again, so the round is not void. `returned`: its returned bets count again."""

    line = depending(
        {"returned": message("the void is withdrawn; put the bets back")}, message("the void is withdrawn")
    )

    irregularity: int
    because_of: int
    returned: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        paid = state.round.chips_paid and not self.returned
        before = state.round.paid_before and not self.returned
        state = with_round(state, paid_as=(), paid_boxes=()) if self.returned else state
        return with_round(state, voided_by=0, voided_from=None, chips_paid=paid, paid_before=before)
