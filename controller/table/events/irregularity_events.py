"""Events of irregularities: raised, answered, decided, ruled on, resolved."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from msgspec.structs import replace

from controller.games.specification import KINDS, Choice, Disposition, Facts, Kind, Row, RulingAction
from controller.roles import Role
from controller.rules.dealing_order import Place
from controller.rules.settlement import BetAction, BetRuling
from controller.table.events.base import Event, with_decks, with_open, with_round
from controller.table.events.lines import (
    BESIDES_PEOPLE,
    Fields,
    answered,
    as_written,
    listed,
    questions_left,
    row_named,
    under,
    with_reason,
)
from controller.table.model import (
    CORRECTED,
    Asking,
    Closed,
    Irregularity,
    Stage,
)
from controller.table.phases import AFTER_DEAL, Service
from controller.table.state import TableState
from firmware_bridge.messages import AnyText, Argument, Message, message


class IrregularityRaised(Event, frozen=True, tag="irregularity_raised"):
    """Something happened that the rules do not allow; the event has the evidence and the row that proposes a decision.

    Its id is this event's entry number. `noticed_by`: device, inference, or a person. `boot` and `report` name the
    device's report and `device_ms` its clock. `faces_seen`: whether any face is visible; None: not stated.
    """

    outdates: ClassVar[Message | None] = message("Something was noticed.")

    kind: Kind
    row: Row
    facts: Facts
    asks: tuple[str, ...]
    stage: Stage
    blocks: bool
    noticed_by: str
    place: Place | None = None
    card: int | None = None
    ordinals: tuple[int, ...] = ()
    cards: int = 0
    counted: int | None = None
    faces_seen: bool | None = None
    boot: int | None = None
    report: int | None = None
    device_ms: int | None = None
    note: AnyText = ""
    of_round: int = 0  # 0: the round in progress
    origin: int = 0  # the entry of the operation with which it was noticed
    of_deck: str = ""  # the recorded deck in question
    waiting: bool = False  # it is about the deck that waits for the next round

    def apply(self, state: TableState, entry: int) -> TableState:
        raised = Irregularity(
            id=entry,
            revision=entry,
            round=self.of_round or state.round.number,
            kind=self.kind,
            row=self.row,
            facts=self.facts,
            asks=self.asks,
            stage=self.stage,
            blocks=self.blocks,
            place=self.place,
            card=self.card,
            ordinals=self.ordinals,
            note=self.note,
            counted=self.counted,
            first_facts=self.facts,
            origin=self.origin,
            of_deck=self.of_deck,
            waiting=self.waiting,
            noticed_by=self.noticed_by,
        )
        other = self.of_round != 0 or self.waiting  # not about this round: a request to conclude it remains valid
        asked = state.round.conclusion_asked and other
        power_failure = state.round.power_failure_raised or (
            self.kind is Kind.POWER_FAILURE and not self.of_round and state.service is not Service.IN_SERVICE
        )
        stands = self.kind is Kind.TECHNICAL_STOP and self.noticed_by == "device" and state.phase in AFTER_DEAL
        return replace(
            state,
            open=(*state.open, raised),
            round=replace(
                state.round,
                conclusion_asked=asked,
                power_failure_raised=power_failure,
                stub_stop_raised=state.round.stub_stop_raised or stands,
            ),
        )

    @staticmethod
    def line(event: Fields) -> Message | None:
        """Return the line of a raised irregularity: only its kind while a question is open, as its row is not known
        yet.
        """
        row, asks = event["row"], event["asks"]
        what = event.words.own(KINDS[Kind(event["kind"])])
        if not asks:
            people_decide = row["disposition"] in (Disposition.REFER, Disposition.SILENT)
            what = with_reason(what, row_named(row)) if people_decide else row_named(row)
        if event["place"]:
            said = message("irregularity at {place}: {what}", place=event["place"], what=what)
        else:
            said = message("irregularity: {what}", what=what)
        if event["noticed_by"]:
            noticed_by = BESIDES_PEOPLE.get(event["noticed_by"]) or event["noticed_by"]
            said = message("{said}, noticed by {noticed_by}", said=said, noticed_by=noticed_by)
        if event["note"]:
            said = message("{said}; {note}", said=said, note=event["note"])
        asked = questions_left(asks, event.words)
        return said if asked is None else Message("{parts:points}", {"parts": (said, asked)})


class IrregularityConfirmed(Event, frozen=True, tag="irregularity_confirmed"):
    """A person confirmed the irregularity and answered its questions. The row is final."""

    outdates: ClassVar[Message | None] = message("A matter was confirmed.")

    irregularity: int
    row: Row
    facts: Facts
    stage: Stage | None  # None: it is resolved by the events that follow

    def apply(self, state: TableState, entry: int) -> TableState:
        changes: dict[str, Any] = {"row": self.row, "facts": self.facts, "asks": (), "choices": ()}
        if self.stage is not None:
            changes["stage"] = self.stage
        return with_open(state, self.irregularity, entry, **changes)

    @staticmethod
    def line(event: Fields) -> Message | None:
        return with_reason(message("confirmed"), row_named(event["row"]))


class ReportJoined(Event, frozen=True, tag="report_joined"):
    """A person reported an irregularity that is already open. `place` and `card` are added if they were not known."""

    irregularity: int
    by: str
    place: Place | None = None
    card: int | None = None
    note: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        """Keep the revision: nothing that people decide on changes."""
        joined = tuple(
            replace(found, place=found.place or self.place, card=found.card or self.card)
            if found.id == self.irregularity
            else found
            for found in state.open
        )
        return replace(state, open=joined)

    @staticmethod
    def line(event: Fields) -> Message | None:
        return with_reason(message("{by} reports a matter that is already open", by=event["by"]), event["note"])


class VoidAsked(Event, frozen=True, tag="void_asked"):
    """A confirmation or ruling would make a round void; it takes effect when it is entered again, unchanged.

    `because`: why. `facts`: the stated facts. `authority`: who ruled.
    """

    outdates: ClassVar[Message | None] = message("The round is about to become void.")

    irregularity: int
    clause: str
    because: AnyText = ""
    person: str = ""
    screen: str = ""
    asked_utc_ns: int = 0
    facts: Facts = Facts()
    authority: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        """Keep the revision, so that the same operation can be entered again."""
        asking = Asking(entry, self.person, self.screen, self.asked_utc_ns, self.facts, self.authority)
        asked = {"void_asked": True, "void_because": self.because, "asking": asking}
        changed = tuple(replace(found, **asked) if found.id == self.irregularity else found for found in state.open)
        return replace(state, open=changed)

    @staticmethod
    def line(event: Fields) -> Message | None:
        said = with_reason(under(message("this makes the round void"), event["clause"]), event["because"])
        return message("{said}; repeat to confirm", said=said)


class FactStated(Event, frozen=True, tag="fact_stated"):
    """A question was answered. `counted`: the number of cards at `place` by the last count.

    `counted_by`: the entry of the count of stub or deck that answers it; 0: no count does.
    """

    outdates: ClassVar[Message | None] = message("A question was answered.")

    irregularity: int
    facts: Facts
    row: Row
    asks: tuple[str, ...]
    by: str = ""
    counted: int | None = None
    place: Place | None = None
    counted_by: int = 0

    def apply(self, state: TableState, entry: int) -> TableState:
        stated = {"counted": self.counted, "place": self.place, "counted_by": self.counted_by or None}
        changes: dict[str, Any] = {name: value for name, value in stated.items() if value is not None}
        return with_open(state, self.irregularity, entry, facts=self.facts, row=self.row, asks=self.asks, **changes)

    @staticmethod
    def line(event: Fields) -> Message | None:
        return answered(message("answered"), event)


class OrderNamed(Event, frozen=True, tag="order_named"):
    outdates: ClassVar[Message | None] = message("The order of the cards was named.")
    irregularity: int
    ordinals: tuple[int, ...]
    stage: Stage | None

    def apply(self, state: TableState, entry: int) -> TableState:
        def place_in_order(ordinal: int) -> int:
            return self.ordinals.index(ordinal) if ordinal in self.ordinals else len(self.ordinals)

        state = with_decks(
            state,
            aside=tuple(sorted(state.decks.aside, key=lambda card: place_in_order(card.ordinal))),
            tray=tuple(sorted(state.decks.tray, key=lambda card: place_in_order(card.ordinal))),
        )
        changes: dict[str, Any] = {} if self.stage is None else {"stage": self.stage}
        return with_open(state, self.irregularity, entry, **changes)

    @staticmethod
    def line(event: Fields) -> Message | None:
        """Return the cards as people count them: the first of those that came together is card 1."""
        ordinals = event["ordinals"]
        named = listed(sorted(ordinals).index(one) + 1 for one in ordinals)
        return with_reason(message("order set"), named if ordinals else "")


CHOICES: Final = {"continue": message("continue"), "withdraw": message("withdraw")}


class OptionChosen(Event, frozen=True, tag="option_chosen"):
    irregularity: int
    place: Place
    choice: Choice
    clause: str = ""
    absent: bool = False
    bettor: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        """Keep the revision, so that the next bettor's choice need not name a new one. The last choice is valid."""
        changed = tuple(
            replace(
                found,
                choices=(*self._others(found), (self.place, self.bettor, self.choice)),
                dealt_at_choice=state.round.dealt,
            )
            if found.id == self.irregularity
            else found
            for found in state.open
        )
        return replace(state, open=changed)

    def _others(self, found: Irregularity) -> tuple[tuple[Place, str, Choice], ...]:
        return tuple(chosen for chosen in found.choices if chosen[:2] != (self.place, self.bettor))

    @staticmethod
    def line(event: Fields) -> Message | None:
        who: Argument = event["place"]
        if event["bettor"]:
            who = message("{bettor} at {place}", bettor=event["bettor"], place=event["place"])
        if event["absent"]:
            return under(message("{who} is away: the bets stand", who=who), event["clause"])
        return under(message("{who} chooses to {choice}", who=who, choice=CHOICES[event["choice"]]), event["clause"])


class AllChosen(Event, frozen=True, tag="all_chosen"):
    """Every bettor has chosen, and the cards are put where they belong before play goes on (NC 5.7.2)."""

    outdates: ClassVar[Message | None] = message("All bettors have chosen.")
    line = message("every bettor has chosen; move the cards before play continues")

    irregularity: int
    stage: Stage

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_open(state, self.irregularity, entry, stage=self.stage)


RULED: Final = {
    "void": message("void the round"),
    "continue": message("play goes on"),
    "reconstruct": message("correct the cards"),
    "remove_hands": message("remove hands"),
    "return_bets": message("return bets"),
    "name_order": message("set the order"),
}
"""Phrases for the actions of a ruling."""


class Ruled(Event, frozen=True, tag="ruled"):
    irregularity: int
    action: RulingAction
    authority: str
    text: str
    places: tuple[Place, ...] = ()
    ordinals: tuple[int, ...] = ()
    bets: tuple[int, ...] = ()
    bet_action: BetAction = BetAction.RETURN

    def apply(self, state: TableState, entry: int) -> TableState:
        """Keep a ruling on bets until they are settled."""
        ruling = BetRuling(self.bet_action, self.authority, self.text)
        rulings = tuple((number, ruling, self.irregularity) for number in self.bets)
        return with_round(state, bet_rulings=(*state.round.bet_rulings, *rulings))

    @staticmethod
    def line(event: Fields) -> Message | None:
        action = RULED.get(event["action"], as_written(event["action"]))
        if named := event["places"] or event["ordinals"] or event["bets"]:
            action = message("{action} ({named})", action=action, named=listed(named))
        said = message("ruling: {action}, by {authority}", action=action, authority=event["authority"])
        return message("{said}: {text}", said=said, text=event["text"])


ENDS: Final = {
    "continue": message("play goes on"),
    "denied": message("a false report"),
    "name_order": message("the order is set"),
    "next_card": message("the card counts as the one that was due"),
    "options": message("every bettor has chosen"),
    "overtaken": message("nothing is left to decide"),
    "reconstruct": message("the cards are corrected"),
    "refuse": message(
        'the bets stay as they were at "No more bets": return what was added and put back what was removed'
    ),
    "remove_hand": message("the hand is removed"),
    "reshuffle": message("the deck is shuffled again"),
    "return_bet": message("the bet is returned"),
    "ruling": message("by a ruling"),
    "stands": message("the results stand"),
    "void": message("the round is void"),
    "withdrawals": message("every bettor has chosen"),
}
"""The ends of an irregularity."""


class IrregularityResolved(Event, frozen=True, tag="irregularity_resolved"):
    """An irregularity ended: by whom, and how (a disposition, `denied`, `ruling`, `corrected` or `overtaken`)."""

    outdates: ClassVar[Message | None] = message("A matter was decided.")

    irregularity: int
    outcome: str
    clause: str
    by: str
    role: Role

    def apply(self, state: TableState, entry: int) -> TableState:
        left = tuple(found for found in state.open if found.id != self.irregularity)
        ended = tuple(
            Closed(found, self.outcome)
            for found in state.open
            if found.id == self.irregularity and found.round == state.round.number
        )
        return replace(state, open=left, round=replace(state.round, closed=(*state.round.closed, *ended)))

    @staticmethod
    def line(event: Fields) -> Message | None:
        if event["outcome"] == CORRECTED:
            return message("withdrawn by {by}: the entry behind it was wrong", by=event["by"])
        ended = under(ENDS.get(event["outcome"], as_written(event["outcome"])), event["clause"])
        return message("resolved: {outcome}, by {by}", outcome=ended, by=event["by"])
