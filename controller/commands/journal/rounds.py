"""Decisions gathered into rounds: what was dealt and shown, what went wrong, who decided, how it ended.

Hands, bets and chips are those of the table's own state, folded from the published events; added here are the lines of
the course, people, and irregularities. An irregularity of an earlier round that was found later belongs to that earlier
round.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from controller.commands.journal.days import Span
from controller.commands.journal.decisions import DecisionInRound, EventLine, Happened, line_of, telling
from controller.commands.journal.table import Table
from controller.table.events import (
    AnyEvent,
    DealerCame,
    HandedOver,
    IrregularityReopened,
    OperationRefused,
    OperationTaken,
    PhaseEntered,
    RoundBegan,
    RoundVoided,
    StartTakenBack,
    VoidLifted,
)
from controller.table.evolve import evolve
from controller.table.model import DENIED
from controller.table.phases import IN_ROUND, Phase
from controller.table.round_summary import RoundSummary
from controller.table.state import TableState

PROVEN_BY_PIN: Final = ", by PIN"  # after a rank
IN_PROGRESS: Final = "in progress"
CONCLUDED: Final = "concluded"
VOID: Final = "void"
NOT_BEGUN: Final = "did not begin"
ENDS: Final = {Phase.CONCLUDED: CONCLUDED, Phase.VOIDED: VOID}
OUTSIDE_ROUNDS: Final = frozenset(
    {"betting_restricted", "card_found_face_up", "clock_ran_backwards", "command_done", "command_issued",
     "command_lapsed", "command_refused", "command_unanswered", "configuration_recorded", "dealer_came",
     "dealer_left", "deck_arrived", "deck_brought", "deck_comes_into_play", "deck_cut", "deck_named",
     "deck_shuffled", "deck_shuffled_outside", "deck_taken_out", "device_differs", "device_freed", "device_lost",
     "device_noted", "device_ready", "device_stopped", "device_took_back", "door_refused", "exit_differs",
     "files_deleted", "game_chosen", "handed_over", "journal_doubted", "maintenance_began", "maintenance_ended",
     "maintenance_noted", "pin_accepted", "pin_refused", "report_taken", "reports_passed", "screen_enrolled",
     "screen_removed", "service_changed", "set_in_tray", "settings_deferred", "shuffle_began", "shuffle_failed",
     "signed_off", "signed_on", "status_agrees", "table_began", "table_paused", "table_resumed"}
)  # fmt: skip
"""Events of the table and its device that do not belong to a round that has ended."""
DECIDES: Final = frozenset({"irregularity_confirmed", "order_named", "ruled"})


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


class JournaledRound(RoundSummary, kw_only=True):
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
    shuffle: EventLine | None = None
    last: int = 0
    ended_ns: int = 0
    ending: str = IN_PROGRESS
    void: EventLine | None = None
    irregularities: list[JournaledIrregularity] = msgspec.field(default_factory=list)
    recalls: list[EventLine] = msgspec.field(default_factory=list)
    course: list[EventLine] = msgspec.field(default_factory=list)
    people: dict[str, list[str]] = msgspec.field(default_factory=dict)  # id to ranks, each with the kind of proof
    refused: int = 0

    @property
    def chips(self) -> str:
        """Return what became of the chips; the return of bets that were paid before a late void is not recorded."""
        late = self.void is not None and self.void.event.get("of_round") and self.void.event.get("was_paid")
        return "" if late else super().chips


class Rounds:
    """Takes decisions in order, and returns each round when nothing more can change it."""

    def __init__(self, table: Table | None = None) -> None:
        self.table = table or Table()
        self._rounds: dict[int, JournaledRound] = {}
        self._irregularities: dict[int, JournaledIrregularity] = {}
        self._state = TableState()
        self._since = 0  # the entry with which the fold of the state begins

    def take(self, decided: DecisionInRound) -> list[JournaledRound]:
        """Return the rounds that the decision completes: their errors can no longer be reported."""
        done: list[JournaledRound] = []
        for happened in decided.events:
            self.table.take(decided, happened)
            if happened.name == "round_began":
                done += self._begin(decided, happened)
            elif happened.name == "start_taken_back":
                self._take_back(decided, happened)
            with telling(happened.entry):
                self._fold(happened.entry, happened.typed)
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
            shuffle=table.shuffles.get(int(event.get("deck", 0))),
        )
        return done

    def _fold(self, entry: int, event: AnyEvent | None) -> None:
        """Fold an event into the table's state, from the first round on that begins in what is read."""
        if isinstance(event, RoundBegan) and not self._since:
            self._since = entry
        if event is None or not self._since:
            return
        if isinstance(event, StartTakenBack) and self._state.earlier is None:  # back to a round that was not read
            self._state, self._since = TableState(), 0
            return
        if isinstance(event, IrregularityReopened) and event.irregularity < self._since:
            return  # about a round that was not read
        self._state = evolve(self._state, event, entry)
        if (round_ := self._rounds.get(self._state.round.number)) is not None:
            round_.take(event, self._state)

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
        _change(round_, line, happened.typed)

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
    return bool(round_.ended_ns) and happened.name in OUTSIDE_ROUNDS


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


# -- what an event changes in its round, besides the state ------------------------------------------------------------


def _change(round_: JournaledRound, line: EventLine, event: AnyEvent | None) -> None:
    match event:
        case PhaseEntered():
            _phase(round_, line.utc_ns, event)
        case RoundVoided(of_round=about) if about in (0, round_.number):
            _voided(round_, line)
        case VoidLifted():
            round_.void = None
        case OperationTaken():
            _add_person(round_, event.person, line.role + (PROVEN_BY_PIN if event.proven == "pin" else ""))
        case OperationRefused():
            round_.refused += 1
        case HandedOver():
            round_.dealer = event.to_dealer
        case DealerCame():
            round_.dealer = event.dealer


def _phase(round_: JournaledRound, utc_ns: int, event: PhaseEntered) -> None:
    if event.cancels:
        round_.ending, round_.ended_ns = NOT_BEGUN, utc_ns
    elif event.phase in IN_ROUND or event.phase in ENDS:
        round_.ending = ENDS.get(event.phase, IN_PROGRESS)
        round_.ended_ns = utc_ns if event.phase in ENDS else 0


def _voided(round_: JournaledRound, line: EventLine) -> None:
    round_.void, round_.ending = line, VOID


def _add_person(round_: JournaledRound, person: str, rank: str) -> None:
    """Add a person once for each rank; the person's operation shows the kind of proof."""
    ranks = round_.people.setdefault(person, [])
    if not any(known == rank or known.startswith(f"{rank},") for known in ranks):
        ranks.append(rank)
