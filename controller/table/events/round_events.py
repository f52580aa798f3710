"""Events of a round from announcement to conclusion, of operations, and of pause and duty."""

from __future__ import annotations

from typing import ClassVar, Final

from msgspec.structs import replace

from controller.games.own_words import PLAYER
from controller.games.specification import Order, Unit
from controller.roles import Role
from controller.rules.dealing_order import Place
from controller.rules.hands import Outcome
from controller.table.events.base import Event, with_decks, with_duty, with_hand, with_record, with_round
from controller.table.events.lines import Fields, cited, depending, spoken, under, with_slots
from controller.table.model import Answer, Asking, Entered, Hand, PaidBox, Proof, Stage
from controller.table.operations import ChooseOption, Correctable
from controller.table.phases import Phase
from controller.table.round_state import Round
from controller.table.settings import Settings
from controller.table.state import TableState
from firmware_bridge.cards import Card, Exposed
from firmware_bridge.messages import AnyText, Argument, Message, message


class PhaseEntered(Event, frozen=True, tag="phase_entered"):
    """The table entered a phase. `cancels`: the start of the round is cancelled, and it does not count as a round.

    `returns_bets`: bets on the layout go back. `frees_bets`: earlier choices and rulings about bets no longer count,
    since bets are or were open and every bet was free. `errors_count`: of a concluded round, the clauses by which an
    error found before the next one still changes its result; None: not recorded.
    """

    outdates: ClassVar[Message | None] = message("The round has moved on.")

    phase: Phase
    clause: str = ""
    cancels: bool = False
    returns_bets: bool = False
    frees_bets: bool = False
    errors_count: tuple[str, ...] | None = None

    def apply(self, state: TableState, entry: int) -> TableState:
        if self.frees_bets:
            state = replace(state, round=_with_free_bets(state.round))
        if self.phase is Phase.BETTING:
            return replace(state, phase=self.phase, round=replace(state.round, places=(), dealt=0, dealt_cards=()))
        return replace(
            state,
            phase=self.phase,
            round=replace(
                state.round,
                abandon_asked=(),
                cancelled=self.cancels or state.round.cancelled,
                returning=self.returns_bets or state.round.returning,
            ),
        )

    @staticmethod
    def line(event: Fields) -> Message | None:
        if event.get("returns_bets"):
            return message("the round does not start; return all bets")
        return _concluded(event) if event["phase"] == "concluded" else None


def _concluded(event: Fields) -> Message:
    """Return the line for the end of a round, with the clauses by which a later error still changes the result."""
    number, errors_count = event["round"], event.get("errors_count")
    if errors_count is None:
        return message("round {number} concluded", number=number)
    if not errors_count:
        return message("round {number} concluded; the result is final", number=number)
    return message(
        'round {number} concluded; errors found before "Place your bets" may still change the result ({clauses:list})',
        number=number, clauses=tuple(errors_count),
    )  # fmt: skip


def _with_free_bets(round_: Round) -> Round:
    """Return the round with all bets free: no hand is out, no bet withdrawn or ruled on, and no choice binding."""
    ended = tuple(
        replace(one, found=replace(one.found, choices=(), stage=Stage.CLAIMED)) if one.found.choices else one
        for one in round_.closed
    )
    return replace(
        round_,
        withdrawn=(),
        removed=(),
        bet_rulings=(),
        hands={place: replace(hand, dead=False) for place, hand in round_.hands.items()},
        closed=ended,
        entered=tuple(one for one in round_.entered if not isinstance(one.operation, ChooseOption)),
    )


class RoundBegan(Event, frozen=True, tag="round_began"):
    """A round began. `deck`: the device's number for the deck in play; `label`: the table's record of it, if any.

    `earlier`: the previous round, 0: none (a cancelled round does not count). None, in old journals: the preceding
    number. `settings_before`: those of the previous round, if other settings took effect with this start.
    """

    line = message("round {round} begins")

    round: int
    deck: int = 0
    label: str = ""
    earlier: int | None = None
    settings_before: Settings | None = None

    def apply(self, state: TableState, entry: int) -> TableState:
        state = with_record(state, self.label, shuffled_by="")
        before = self.round - 1 if self.earlier is None else self.earlier
        known = (state.round, state.earlier)
        return replace(
            state,
            round=Round(
                number=self.round,
                deck=self.deck,
                label=self.label,
                begun_from=state.phase,
                settings_before=self.settings_before,
                under_minimum=state.round.under_minimum_next,
                under_minimum_next=state.round.under_minimum_next,
            ),
            rounds_numbered=self.round,
            earlier=next((one for one in known if before and one is not None and one.number == before), None),
            decks=replace(state.decks, last_order=state.round.read or state.decks.last_order),
            answers=tuple(
                answer for answer in state.answers if answer.round >= min(self.round - 1, state.round.number)
            ),
        )


class StartTakenBack(Event, frozen=True, tag="start_taken_back"):
    """The start was withdrawn because "Place your bets" was not announced.

    The previous round is the last one again, as it was in `phase`. `taken_back`: the number of the round that did not
    begin; it is not used again. `open_again`: of the previous round.
    """

    outdates: ClassVar[Message | None] = message("The start of the round was taken back.")
    line = message("round {taken_back} did not start; errors in round {open_again} may still be reported")

    taken_back: int
    open_again: int
    phase: Phase

    def apply(self, state: TableState, entry: int) -> TableState:
        assert state.earlier is not None, "a start is taken back to the round before it"
        if (before := state.round.settings_before) is not None:
            state = replace(state, settings=before, settings_wait=state.settings_wait or state.settings)
        return replace(state, phase=self.phase, round=state.earlier, earlier=None)


class BoxesOccupied(Event, frozen=True, tag="boxes_occupied"):
    boxes: tuple[int, ...]

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_round(state, boxes=self.boxes)

    @staticmethod
    def line(event: Fields) -> Message | None:
        numbers = tuple(event["boxes"]) or message("none")
        if event.words.place == PLAYER:
            return message("Players in play: {numbers:list}", numbers=numbers)
        return message("boxes in play: {numbers:list}", numbers=numbers)


class DealBegan(Event, frozen=True, tag="deal_began"):
    """The deal began. The event has the order of the whole deal: the place of each card, first to last."""

    line = cited(with_slots(message("dealing starts at {first_place}"), first_place=lambda event: event["places"][0]))

    unit: Unit
    order: Order
    clause: str
    places: tuple[Place, ...]

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_round(state, places=self.places, dealt=0, dealt_cards=())


class HandsExamined(Event, frozen=True, tag="hands_examined"):
    """A person entered that the Players have examined their cards (NC 3.13)."""

    line = message("the players have examined their cards (entered by {by})")

    by: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_round(state, examined=True)


class CardsHandled(Event, frozen=True, tag="cards_handled"):
    """The Player at a place touched cards; `viewed`: and looked at them. `bettor`: who did so; empty: not stated."""

    place: Place
    viewed: bool = False
    bettor: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        if self.viewed and self.bettor:
            state = with_round(state, viewing=(*state.round.viewing, (self.bettor, int(self.place[1:]))))
        return with_hand(state, self.place, handled=True, viewed=self.viewed)

    @staticmethod
    def line(event: Fields) -> Message | None:
        place = event["place"]
        if not event["viewed"]:
            return message("the cards of {place} are handled", place=place)
        bettor = event["bettor"] or message("the player")
        return message("{bettor} looks at the cards of {place}", bettor=bettor, place=place)


class HandCounted(Event, frozen=True, tag="hand_counted"):
    """The cards at a place were counted; `from_aside` of them had been set aside."""

    line = message("{place} has {count} cards")

    place: Place
    count: int
    from_aside: int = 0

    def apply(self, state: TableState, entry: int) -> TableState:
        known = len(state.round.hands.get(self.place, Hand()).cards)
        state = with_decks(state, aside=state.decks.aside[self.from_aside :])
        return with_hand(state, self.place, surplus=self.count - known)


def _seen_cards(event: Fields) -> Argument:
    return " ".join(event["cards"]) or message("no card")


class HandExposed(Event, frozen=True, tag="hand_exposed"):
    """A hand was turned over. `revealed` opens the commitments to the cards that the device had read.

    `differs_by`: who entered cards that differ from those; empty: they agree, or were not compared.
    """

    line = with_slots(message("{place} shows {seen_cards}"), seen_cards=_seen_cards)

    place: Place
    cards: tuple[Card, ...]
    revealed: tuple[Exposed | None, ...] = ()
    differs_by: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        differed = state.round.hands.get(self.place, Hand()).differed + bool(self.differs_by)
        return with_hand(state, self.place, shown=self.cards, differed=differed)


class FacesNamed(Event, frozen=True, tag="faces_named"):
    """A person named the faces seen of a hand that is not turned over. The last entry for a place is valid."""

    line = with_slots(message("{by} saw {seen_cards} at {place}"), seen_cards=_seen_cards)

    place: Place
    cards: tuple[Card, ...]
    by: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_hand(state, self.place, named=self.cards, named_at=entry)


class HandTakenBack(Event, frozen=True, tag="hand_taken_back"):
    """The entry of a hand was wrong: the hand has to be entered again."""

    line = message("enter the cards of {place} again")

    place: Place

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_hand(state, self.place, shown=())


OUTCOMES: Final = {"win": message("WON"), "lose": message("LOST"), "tie": message("TIE")}
"""The results of a hand against the Dealer's, as on the screen."""


class HandJudged(Event, frozen=True, tag="hand_judged"):
    """A box got its outcome against the Dealer. `half`: a win pays half."""

    place: Place
    outcome: Outcome
    hand: AnyText
    dealer_hand: AnyText
    half: bool
    clause: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_hand(state, self.place, outcome=self.outcome, half=self.half)

    @staticmethod
    def line(event: Fields) -> Message | None:
        said = message(
            "{place}: {outcome}, {hand} against {dealer_hand}",
            place=event["place"], outcome=OUTCOMES[event["outcome"]], hand=event["hand"],
            dealer_hand=event["dealer_hand"],
        )  # fmt: skip
        return message("{said}, pays half", said=said) if event["half"] else said


class HandRemoved(Event, frozen=True, tag="hand_removed"):
    """A hand is out of play, its bets returned. It still receives cards, so that the order of the deal stays."""

    line = cited(message("{place} is out of play; its bets are returned"))

    place: Place
    clause: str
    irregularity: int
    authority: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        removed = (int(self.place[1:]), self.clause or self.authority, self.irregularity)
        state = with_round(state, removed=(*state.round.removed, removed))
        return with_hand(state, self.place, dead=True, outcome=None)


class ChipsPaid(Event, frozen=True, tag="chips_paid"):
    """The chips were paid. `returned`: every bet of a void round went back. `boxes`: payments without entered bets."""

    outdates: ClassVar[Message | None] = message("The chips were recorded as paid.")
    line = depending({"returned": message("all bets are returned")}, message("bets are settled"))

    returned: bool = False
    boxes: tuple[PaidBox, ...] = ()

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_round(
            state,
            chips_paid=True,
            paid_before=state.round.paid_before and self.returned,
            paid_as=state.round.settlement,
            paid_boxes=self.boxes,
        )


class ConclusionAsked(Event, frozen=True, tag="conclusion_asked"):
    """A person requested to conclude the round. `person`, `screen`, `asked_utc_ns`: those of the operation.

    At a screen the same person repeats the request, soon after.
    """

    outdates: ClassVar[Message | None] = message("The round is about to be concluded.")
    line = message("the end of the round was requested; repeat to confirm")

    person: str = ""
    screen: str = ""
    asked_utc_ns: int = 0

    def apply(self, state: TableState, entry: int) -> TableState:
        asking = Asking(entry, self.person, self.screen, self.asked_utc_ns)
        return with_round(state, conclusion_asked=True, conclusion_asking=asking)


class AbandonAsked(Event, frozen=True, tag="abandon_asked"):
    """A person requested to abandon the round; the same request again abandons it."""

    outdates: ClassVar[Message | None] = message("The round is about to become void.")
    line = message("{person} asks to void the round: {text}; repeat to confirm")

    person: str
    authority: str
    text: str
    screen: str = ""
    asked_utc_ns: int = 0

    def apply(self, state: TableState, entry: int) -> TableState:
        asking = Asking(entry, self.person, self.screen, self.asked_utc_ns)
        asked = (self.person, self.authority, self.text)
        return with_round(state, abandon_asked=asked, abandon_asking=asking)


class RoundVoided(Event, frozen=True, tag="round_voided"):
    """A round has no result; all bets are returned. `of_round` 0: the one in progress.

    `irregularity` 0: it was abandoned. `authority`: who ruled, or whose house rule it is, if no clause applies.
    `was_paid`: chips had been paid by the result.
    """

    clause: str
    irregularity: int
    text: str | Message
    authority: str = ""
    of_round: int = 0
    was_paid: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        if self.of_round:
            return state
        paid = state.round.chips_paid and not self.was_paid
        return with_round(
            state,
            voided_from=state.phase,
            voided_by=self.irregularity,
            chips_paid=paid,
            paid_before=state.round.paid_before or self.was_paid,
        )

    @staticmethod
    def line(event: Fields) -> Message | None:
        by = under(message("round void"), event["clause"] or event["authority"])
        return message("{void}: {text}; return all bets", void=by, text=event["text"])


class TablePaused(Event, frozen=True, tag="table_paused"):
    outdates: ClassVar[Message | None] = message("The table was paused.")
    line = message("paused: {reason}")

    reason: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_duty(state, paused=self.reason)


class TableResumed(Event, frozen=True, tag="table_resumed"):
    outdates: ClassVar[Message | None] = message("Play was resumed.")
    line = message("table resumed")

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_duty(state, paused="")


class OperationTaken(Event, frozen=True, tag="operation_taken"):
    """An operation was accepted. `given`: the operation, if it may be corrected later.

    `uid`: the user of the machine through whom it came, `screen`: the enrolled screen. `proven`: how the person proved
    their identity. `witness_signed`: the second person who counted, if that person also entered a PIN.
    """

    operation_id: str
    operation: str
    person: str
    role: Role
    given: Correctable | None = None
    uid: int | None = None
    proven: Proof = ""
    screen: str = ""
    witness_signed: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        """Cancel a request to abandon the round if this is another operation."""
        answer = Answer(self.operation_id, self.operation, self.person, state.round.number, entry, screen=self.screen)
        entered = state.round.entered
        if self.given is not None:
            entered = (*entered, Entered(entry, self.person, self.role, self.given))
        asked = state.round.abandon_asked if self.operation == "abandon_round" else ()
        return replace(
            state, answers=(*state.answers, answer), round=replace(state.round, entered=entered, abandon_asked=asked)
        )

    @staticmethod
    def line(event: Fields) -> Message | None:
        return message("no more bets") if event["operation"] == "no_more_bets" else None


class OperationRefused(Event, frozen=True, tag="operation_refused"):
    """An operation was refused. The event records only the answer. Older entries have the sentence in English."""

    line = with_slots(message("refused: {spoken}"), spoken=spoken)

    operation_id: str
    operation: str
    person: str
    code: str
    sentence: str | Message

    def apply(self, state: TableState, entry: int) -> TableState:
        answer = Answer(
            self.operation_id, self.operation, self.person, state.round.number, entry, self.code, self.sentence
        )
        return replace(state, answers=(*state.answers, answer))


class DealerCame(Event, frozen=True, tag="dealer_came"):
    """A dealer came on duty. `uid`: the user of the machine who represents the person from then on."""

    outdates: ClassVar[Message | None] = message("A dealer has come on duty.")
    line = message("{dealer} deals from now on")

    dealer: str
    uid: int | None = None

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_duty(state, dealer=self.dealer, dealer_uid=self.uid)


class DealerLeft(Event, frozen=True, tag="dealer_left"):
    """The dealer left; no dealer is on duty."""

    outdates: ClassVar[Message | None] = message("The dealer has gone off duty.")
    line = message("{dealer} leaves the table; no dealer is on duty")

    dealer: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_duty(state, dealer="", dealer_uid=None)


class HandedOver(Event, frozen=True, tag="handed_over"):
    """Another dealer took over the table with all open irregularities. `from_dealer` is empty if none was on duty.

    `uid`: the user of the machine who represents the new dealer from then on.
    """

    outdates: ClassVar[Message | None] = message("Another dealer has taken over.")

    from_dealer: str
    to_dealer: str
    open: tuple[int, ...]
    of_round: int
    phase: Phase
    uid: int | None = None

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_duty(state, dealer=self.to_dealer, dealer_uid=self.uid)

    @staticmethod
    def line(event: Fields) -> Message | None:
        still = tuple(event["open"]) or message("nothing")
        if not event["from_dealer"]:
            return message("{dealer} takes over the table; open: {open:list}", dealer=event["to_dealer"], open=still)
        return message(
            "{dealer} takes over the table from {from_dealer}; open: {open:list}",
            dealer=event["to_dealer"], from_dealer=event["from_dealer"], open=still,
        )  # fmt: skip
