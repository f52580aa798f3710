"""Decisions gathered into rounds: what was dealt and shown, what went wrong, who decided, how it ended.

Everything comes from published events and public fields of inputs, without judgement or words. An irregularity of an
earlier round that was found later belongs to that earlier round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from controller.api.narration import with_messages
from controller.commands.journal.days import Span
from controller.commands.journal.decisions import DecisionInRound, EventLine, Happened, line_of
from controller.commands.journal.table import Table
from controller.table.model import DENIED

FACE_DOWN: Final = "??"
FACE_UP: Final = "^^"
IN_PROGRESS: Final = "in progress"
CONCLUDED: Final = "concluded"
VOID: Final = "void"
NOT_BEGUN: Final = "did not begin"
ENDS: Final = {"concluded": CONCLUDED, "voided": VOID}
BETWEEN_ROUNDS: Final = frozenset(
    {"card_found_face_up", "clock_ran_backwards", "command_done", "command_issued", "command_lapsed", "command_refused",
     "command_unanswered", "configuration_recorded", "deck_arrived", "deck_brought", "deck_comes_into_play", "deck_cut",
     "deck_named", "deck_shuffled", "deck_shuffled_outside", "deck_taken_out", "dealer_came", "dealer_left",
     "device_differs", "device_freed", "device_lost", "device_noted", "device_ready", "device_stopped", "door_refused",
     "exit_differs", "files_deleted", "game_chosen", "journal_doubted", "maintenance_began", "maintenance_ended",
     "maintenance_noted", "pin_accepted", "pin_refused", "report_taken", "reports_passed", "service_changed",
     "set_in_tray", "settings_deferred", "shuffle_began", "shuffle_failed", "status_agrees", "table_began"}
)  # fmt: skip
"""Events of the table and its device that do not belong to a round that has ended."""
DECIDES: Final = frozenset({"irregularity_confirmed", "order_named", "ruled"})
OUTSIDE: Final = frozenset({"closed", "idle", "maintenance"})  # phases outside any round


class JournaledIrregularity(msgspec.Struct):
    """An irregularity as it was raised (`raised`), and its course. `row` is the one that applied last.

    `outcome` is empty while it is open.
    """

    id: int
    of_round: int
    raised: EventLine
    row: dict[str, Any]
    place: str = ""
    outcome: str = ""
    resolved: EventLine | None = None
    steps: list[EventLine] = []

    @property
    def resolved_by(self) -> str:
        """The person who decided, according to the record."""
        return "" if self.resolved is None else str(self.resolved.event["by"])

    @property
    def resolved_role(self) -> str:
        return "" if self.resolved is None else str(self.resolved.event["role"]).replace("_", " ")

    @property
    def decided_by(self) -> tuple[str, str]:
        """The person who confirmed, ruled, named the order or denied, with the rank. Others carry it out afterwards."""
        deciding = [line for line in self.steps if line.role and line.event["event"] in DECIDES]
        if self.outcome == DENIED or not deciding:
            return self.resolved_by, self.resolved_role
        return deciding[-1].by, deciding[-1].role

    @property
    def kind(self) -> str:
        return str(self.raised.event["kind"])


class JournaledHand(msgspec.Struct):
    """The cards of a place as far as they were exposed. `dead` is the clause or authority that took it out of play."""

    place: str
    lying: list[tuple[int, int]] = []
    face_up: list[tuple[int, int]] = []
    surplus: int = 0
    shown: list[str] = []
    named: list[str] = []
    dead: str = ""
    outcome: str = ""
    name: str = ""
    against: str = ""
    half: bool = False

    @property
    def cards(self) -> list[str]:
        """A code for each card: `??` is face down; `^^` came out face up and was not named."""
        if self.shown:
            return self.shown
        marks = [FACE_UP if card in self.face_up else FACE_DOWN for card in self.lying]
        marks += [FACE_DOWN] * max(0, self.surplus)
        marks = marks[: max(0, len(self.lying) + self.surplus)]
        for _ in self.named[: len(marks)]:
            marks.remove(FACE_UP if FACE_UP in marks else FACE_DOWN)
        return [*self.named, *marks]


class JournaledRound(msgspec.Struct):
    """One round. `first` and `last` are journal entries; `ended_ns` is 0 while it is in progress. `void` says why it is
    void.
    """

    number: int
    first: int
    began_ns: int
    table: str = ""
    game: str = ""
    title: str = ""
    dealer: str = ""
    device: str = ""
    deck: int = 0
    label: str = ""
    shuffle: EventLine | None = None
    last: int = 0
    ended_ns: int = 0
    ending: str = IN_PROGRESS
    boxes: list[int] = []
    unit: str = ""
    order: str = ""
    clause: str = ""
    first_card: str = ""
    hands: dict[str, JournaledHand] = {}
    void: EventLine | None = None
    chips: str = ""  # paid and returned
    bets: list[dict[str, Any]] = []
    settlement: list[dict[str, Any]] = []
    house: str = ""
    irregularities: list[JournaledIrregularity] = []
    recalls: list[EventLine] = []
    course: list[EventLine] = []
    people: dict[str, list[str]] = {}  # id to ranks, each with the kind of proof
    refused: int = 0

    def hand(self, place: str) -> JournaledHand:
        return self.hands.setdefault(place, JournaledHand(place))

    @property
    def dealt(self) -> list[JournaledHand]:
        """The hands that got cards, the boxes in order and the Dealer last."""
        held = [hand for hand in self.hands.values() if hand.cards]
        return sorted(held, key=lambda hand: (hand.place == "D", len(hand.place), hand.place))


class Rounds:
    """Takes decisions in order, and returns each round once nothing more can be said of it."""

    def __init__(self, table: Table | None = None) -> None:
        self.table = table or Table()
        self._rounds: dict[int, JournaledRound] = {}
        self._irregularities: dict[int, JournaledIrregularity] = {}

    def take(self, decided: DecisionInRound) -> list[JournaledRound]:
        """Return the rounds that the decision completes: their errors can no longer be reported."""
        done: list[JournaledRound] = []
        for happened in decided.events:
            self.table.take(decided, happened)
            if happened.name == "round_began":
                done += self._begin(decided, happened)
            elif happened.name == "start_taken_back":
                self._take_back(decided, happened)
            round_ = self._rounds.get(decided.round)
            if round_ is not None and not _is_elsewhere(round_, happened):
                self._add(round_, decided, happened)
            self._of_an_irregularity(decided, happened)
        return done

    def rest(self) -> list[JournaledRound]:
        """Return the rounds that are incomplete at the end of the journal."""
        left = list(self._rounds.values())
        self._rounds, self._irregularities = {}, {}
        return left

    def get(self, number: int) -> JournaledRound:
        """Return a round that is not complete."""
        return self._rounds[number]

    def knows(self, number: int) -> bool:
        """Return whether the round has begun and is not complete."""
        return number in self._rounds

    def began_in(self, span: Span) -> bool:
        """Return whether a round that began in the span is not complete."""
        return any(span.start <= one.began_ns < span.end for one in self._rounds.values())

    def _begin(self, decided: DecisionInRound, happened: Happened) -> list[JournaledRound]:
        event, table = happened.event, self.table
        number = int(event["round"])
        earlier = event.get("earlier")
        kept = number - 1 if earlier is None else earlier
        done = [one for one in self._rounds.values() if not _open(one) and one.number != kept]
        for one in done:
            del self._rounds[one.number]
            for found in one.irregularities:
                self._irregularities.pop(found.id, None)
        self._rounds[number] = JournaledRound(
            number=number,
            first=decided.entry,
            began_ns=decided.utc_ns,
            table=table.name,
            game=table.game,
            title=table.title,
            dealer=table.dealer,
            device=table.device,
            deck=int(event.get("deck", 0)),
            label=str(event.get("label", "")),
            shuffle=table.shuffles.get(int(event.get("deck", 0))),
        )
        return done

    def _take_back(self, decided: DecisionInRound, happened: Happened) -> None:
        """End a round that did not begin. The previous round is the last one again."""
        taken_back = self._rounds.get(happened.event["taken_back"])
        if taken_back is not None:
            taken_back.ending, taken_back.ended_ns = NOT_BEGUN, decided.utc_ns
            taken_back.course.append(line_of(decided, happened))

    def _add(self, round_: JournaledRound, decided: DecisionInRound, happened: Happened) -> None:
        line = line_of(decided, happened)
        round_.course.append(line)
        round_.last = happened.entry
        if (change := CHANGES.get(happened.name)) is not None:
            change(round_, line)

    def _of_an_irregularity(self, decided: DecisionInRound, happened: Happened) -> None:
        line = line_of(decided, happened)
        event = happened.event
        if happened.name == "irregularity_raised":
            number = event.get("of_round") or decided.round
            found = JournaledIrregularity(happened.entry, number, line, event["row"], event.get("place") or "")
            self._irregularities[found.id] = found
            if (round_ := self._rounds.get(number)) is not None:
                round_.irregularities.append(found)
            return
        of = self._rounds.get(int(event.get("of_round") or 0))
        if of is not None and decided.round != of.number:
            of.course.append(line)  # about an earlier round
            if happened.name == "round_voided":
                _voided(of, line)
        if of is not None and happened.name == "cards_recalled":
            of.recalls.append(line)
        found_later = self._irregularities.get(int(event.get("irregularity") or 0))
        if found_later is not None:
            _step(found_later, line)
            if line.role and (about := self._rounds.get(found_later.of_round)) is not None:
                _add_person(about, line.by, line.role)


def _is_elsewhere(round_: JournaledRound, happened: Happened) -> bool:
    """Return whether the event is outside the last round: the round has ended, or the event recalls another round's
    cards.
    """
    if happened.name == "cards_recalled":
        return bool(happened.event["of_round"] != round_.number)
    return bool(round_.ended_ns) and happened.name in BETWEEN_ROUNDS


def _open(round_: JournaledRound) -> bool:
    return any(not found.outcome for found in round_.irregularities)


def _step(found: JournaledIrregularity, line: EventLine) -> None:
    event = line.event
    found.steps.append(line)
    found.row = event.get("row") or found.row
    if event["event"] in ("fact_stated", "report_joined"):
        found.place = event.get("place") or found.place
    if event["event"] == "irregularity_resolved":
        found.outcome, found.resolved = event["outcome"], line
    elif event["event"] == "irregularity_reopened":
        found.outcome, found.resolved = "", None


# -- what an event changes in its round ----------------------------------------------------------------------------


def _phase(round_: JournaledRound, line: EventLine) -> None:
    phase = line.event["phase"]
    if line.event.get("frees_bets"):
        for hand in round_.hands.values():
            hand.dead = ""
    if line.event.get("cancels"):
        round_.ending, round_.ended_ns = NOT_BEGUN, line.utc_ns
    elif phase not in OUTSIDE:
        round_.ending = ENDS.get(phase, IN_PROGRESS)
        round_.ended_ns = line.utc_ns if phase in ENDS else 0


def _boxes(round_: JournaledRound, line: EventLine) -> None:
    round_.boxes = list(line.event["boxes"])


def _deal(round_: JournaledRound, line: EventLine) -> None:
    event = line.event
    round_.unit, round_.order, round_.clause = event["unit"], event["order"], event["clause"]


def _dealt(round_: JournaledRound, line: EventLine) -> None:
    for place, card in zip(line.event["places"], line.event["cards"], strict=True):
        hand, key = round_.hand(place), (card["shuffle"], card["ordinal"])
        hand.lying.append(key)
        if card.get("face_up"):
            hand.face_up.append(key)


def _moved(round_: JournaledRound, line: EventLine) -> None:
    """Move cards as the table's state does: a hand with cards found elsewhere keeps its counted number."""
    event = line.event
    counted = {place: len(hand.lying) + hand.surplus for place, hand in round_.hands.items() if hand.surplus}
    turned = [key for hand in round_.hands.values() for key in hand.face_up]
    for move in event["cards"]:
        key = (move["shuffle"], move["ordinal"])
        for hand in round_.hands.values():
            if hand.place == move["source"] and key in hand.lying:
                hand.lying.remove(key)
        if move["place"] == "D" or move["place"][1:].isdigit():
            round_.hand(move["place"]).lying.append(key)
    for hand in round_.hands.values():
        hand.face_up = [key for key in hand.lying if key in turned]
    if event["event"] == "cards_found_elsewhere":
        for place, count in counted.items():
            round_.hand(place).surplus = count - len(round_.hand(place).lying)
    else:
        for place in {one for move in event["cards"] for one in (move["source"], move["place"])} & round_.hands.keys():
            round_.hand(place).named = []
        if event.get("place"):
            round_.hand(event["place"]).surplus = 0


def _counted(round_: JournaledRound, line: EventLine) -> None:
    hand = round_.hand(line.event["place"])
    hand.surplus = line.event["count"] - len(hand.lying)


def _exposed(round_: JournaledRound, line: EventLine) -> None:
    round_.hand(line.event["place"]).shown = list(line.event["cards"])


def _entered_again(round_: JournaledRound, line: EventLine) -> None:
    round_.hand(line.event["place"]).shown = []


def _named(round_: JournaledRound, line: EventLine) -> None:
    round_.hand(line.event["place"]).named = list(line.event["cards"])


def _judged(round_: JournaledRound, line: EventLine) -> None:
    event, hand = line.event, round_.hand(line.event["place"])
    hand.outcome, hand.name, hand.against, hand.half = (
        event["outcome"], str(with_messages(event["hand"])), str(with_messages(event["dealer_hand"])), event["half"],
    )  # fmt: skip


def _judged_again(round_: JournaledRound, line: EventLine) -> None:
    for place in line.event["places"]:
        round_.hand(place).outcome = ""


def _removed(round_: JournaledRound, line: EventLine) -> None:
    hand = round_.hand(line.event["place"])
    hand.dead, hand.outcome = line.event["clause"] or line.event.get("authority") or "a ruling", ""


def _reopened(round_: JournaledRound, line: EventLine) -> None:
    for place in line.event.get("hands", ()):
        round_.hand(place).dead = ""


def _first_card(round_: JournaledRound, line: EventLine) -> None:
    round_.first_card = line.event["card"] if line.event["event"] == "first_card_shown" else FACE_DOWN


def _voided(round_: JournaledRound, line: EventLine) -> None:
    """Void the round. For the previous round, `_of_an_irregularity` names it."""
    if line.event.get("of_round") in (0, None, round_.number):
        round_.void, round_.ending = line, VOID
        round_.chips = "" if line.event.get("was_paid") else round_.chips


def _void_lifted(round_: JournaledRound, line: EventLine) -> None:
    round_.void, round_.chips = None, ""


def _chips(round_: JournaledRound, line: EventLine) -> None:
    round_.chips = "returned" if line.event.get("returned") else "paid"


def _chips_again(round_: JournaledRound, line: EventLine) -> None:
    round_.chips = "" if line.event.get("chips") or line.event.get("returned") else round_.chips


def _bets(round_: JournaledRound, line: EventLine) -> None:
    round_.bets = list(line.event["bets"])


def _settled(round_: JournaledRound, line: EventLine) -> None:
    round_.settlement, round_.house = list(line.event["bets"]), line.event["house"]


def _settlement_reversed(round_: JournaledRound, line: EventLine) -> None:
    round_.settlement, round_.house, round_.chips = [], "", ""


def _operation(round_: JournaledRound, line: EventLine) -> None:
    rank = line.role + (", by PIN" if line.event.get("proven") == "pin" else "")
    _add_person(round_, line.event["person"], rank)


def _add_person(round_: JournaledRound, person: str, rank: str) -> None:
    """Add a person once for each rank; the person's operation shows the kind of proof."""
    ranks = round_.people.setdefault(person, [])
    if not any(known == rank or known.startswith(f"{rank},") for known in ranks):
        ranks.append(rank)


def _refused(round_: JournaledRound, line: EventLine) -> None:
    round_.refused += 1


def _dealer(round_: JournaledRound, line: EventLine) -> None:
    round_.dealer = line.event.get("to_dealer") or line.event.get("dealer") or ""


CHANGES: Final[dict[str, Callable[[JournaledRound, EventLine], None]]] = {
    "phase_entered": _phase,
    "boxes_occupied": _boxes,
    "deal_began": _deal,
    "cards_dealt": _dealt,
    "cards_found_elsewhere": _moved,
    "cards_reconstructed": _moved,
    "hand_counted": _counted,
    "hand_exposed": _exposed,
    "hand_taken_back": _entered_again,
    "faces_named": _named,
    "hand_judged": _judged,
    "judgement_taken_back": _judged_again,
    "hand_removed": _removed,
    "irregularity_reopened": _reopened,
    "first_card_drawn": _first_card,
    "first_card_shown": _first_card,
    "round_voided": _voided,
    "void_lifted": _void_lifted,
    "chips_paid": _chips,
    "closing_taken_back": _chips_again,
    "layout_changed": _bets,
    "layout_corrected": _bets,
    "wagers_settled": _settled,
    "settlement_reversed": _settlement_reversed,
    "operation_taken": _operation,
    "operation_refused": _refused,
    "handed_over": _dealer,
    "dealer_came": _dealer,
}
"""Changes by event. Other events only appear in the course."""
