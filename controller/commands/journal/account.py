"""A shift or a day in numbers: rounds, hands, voids, irregularities, faults of the device, people. This module has
neither words nor I/O.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Final

import msgspec

from controller.commands.journal.days import CasinoClock, Span
from controller.commands.journal.decisions import DecisionInRound, EventLine, Happened, line_of
from controller.commands.journal.rounds import IN_PROGRESS, NOT_BEGUN, JournaledIrregularity, JournaledRound
from controller.commands.journal.table import Table
from controller.table.events.device_events import INTENDED_ENDS
from controller.table.irregularities.raising import DEVICE, INFERENCE

FAULTS: Final = frozenset(
    {"clock_ran_backwards", "command_refused", "command_unanswered", "device_differs", "device_lost", "device_stopped",
     "exit_differs", "reports_passed", "shuffle_failed", "status_differs"}
)  # fmt: skip
IN_SERVICE: Final = "in_service"


class PersonAccount(msgspec.Struct):
    """A person's acts. `decided` counts irregularities. `misread` counts entered hands that differ from the device's
    reading.

    `proven` means that every operation above a dealer's rank had a PIN.
    """

    id: str
    name: str = ""
    roles: list[str] = []
    operations: int = 0
    refused: int = 0
    decided: int = 0
    corrections: int = 0
    recalls: int = 0
    misread: int = 0
    wrong_pins: int = 0


class IrregularityGroup(msgspec.Struct):
    """Irregularities of one number and clause."""

    row: str
    kind: str
    clause: str
    authority: str
    rounds: list[int] = []
    outcomes: dict[str, int] = {}
    by_device: int = 0


class Account(msgspec.Struct):
    """The numbers of a span. `first` and `last` are journal entries. `hours` counts rounds begun, by the hour's start.

    `lengths` holds the seconds of each round that was played. `house` is None if no wagers were entered.
    `outcomes` counts players' hands that won, lost and tied in rounds that are not void.
    """

    table: Table
    span: Span
    first: int = 0
    last: int = 0
    endings: dict[str, int] = {}
    hands: int = 0
    dealers_hands: int = 0
    outcomes: dict[str, int] = {}
    removed: int = 0
    refused: int = 0
    house: str | None = None
    voids: list[JournaledRound] = []
    groups: list[IrregularityGroup] = []
    deciders: dict[tuple[str, str], dict[str, int]] = {}
    undecided: list[JournaledIrregularity] = []
    faults: list[EventLine] = []
    not_in_service_ns: int = 0
    noted: list[EventLine] = []
    people: list[PersonAccount] = []
    hours: dict[int, int] = {}
    lengths: list[int] = []

    @property
    def rounds(self) -> int:
        """The number of rounds that were played or are in progress."""
        return sum(count for ending, count in self.endings.items() if ending != NOT_BEGUN)

    @property
    def irregularities(self) -> int:
        return sum(len(group.rounds) for group in self.groups)


NOTED: Final = frozenset(
    {"cards_recalled", "deck_quarantined", "deck_released", "entry_corrected", "files_deleted", "journal_doubted",
     "layout_corrected"}
)  # fmt: skip
"""Events that a reader of a report examines, besides irregularities and faults."""


class Accountant:
    """Adds decisions and rounds to an account."""

    def __init__(self, table: Table, span: Span) -> None:
        self._account = Account(table, span)
        self._people: dict[str, PersonAccount] = {}
        self._groups: dict[tuple[str, str, str], IrregularityGroup] = {}
        self._house: Fraction | None = None
        self._out_since: int | None = None

    def take(self, decided: DecisionInRound) -> None:
        """Add a decision, of the span or before it."""
        within = self._account.span.start <= decided.utc_ns < self._account.span.end
        for happened in decided.events:
            self._service(decided, happened)
            if within:
                self._account.first = self._account.first or decided.entry
                self._account.last = max(self._account.last, happened.entry)
                self._event(line_of(decided, happened))

    def add(self, round_: JournaledRound) -> None:
        """Add a round that began in the span, once it is complete."""
        account = self._account
        account.endings[round_.ending] = account.endings.get(round_.ending, 0) + 1
        places = [hand.place for hand in round_.dealt]
        account.hands += len(places) - places.count("D")
        account.dealers_hands += places.count("D")
        account.removed += sum(bool(hand.dead) for hand in round_.dealt)
        for hand in round_.dealt if round_.void is None else ():
            if hand.outcome and hand.place != "D":
                account.outcomes[hand.outcome] = account.outcomes.get(hand.outcome, 0) + 1
        if round_.void is not None:
            account.voids.append(round_)
        if round_.ended_ns and round_.ending != NOT_BEGUN:
            account.lengths.append((round_.ended_ns - round_.began_ns) // 1_000_000_000)
        if round_.house:
            self._house = (self._house or Fraction(0)) + Fraction(round_.house)
        for found in round_.irregularities:
            self._irregularity(round_.number, found)

    def result(self, clock: CasinoClock, begun: list[int]) -> Account:
        """Return the account. `begun` is when each round began."""
        account = self._account
        hours = Counter(clock.hour_of(moment) for moment in begun)
        if hours:
            account.hours = {hour: hours[hour] for hour in clock.hours(min(hours), max(hours))}
        account.house = None if self._house is None else str(self._house)
        account.groups = sorted(self._groups.values(), key=lambda group: (group.row, group.clause))
        account.people = sorted(self._people.values(), key=lambda person: person.id)
        for person in account.people:
            person.name = account.table.people.get(person.id, "")
        if self._out_since is not None:
            self._out(min(account.span.end, account.table.last_utc_ns))
        return account

    def _event(self, line: EventLine) -> None:
        name, event = line.event["event"], line.event
        if name in FAULTS and event.get("code") not in INTENDED_ENDS:
            self._account.faults.append(line)
        elif name in NOTED or (name == "device_ready" and event.get("image")):
            self._account.noted.append(line)
        if name == "operation_taken":
            person = self._person(event["person"])
            person.operations += 1
            if line.role not in person.roles:
                person.roles.append(line.role)
        elif name == "operation_refused":
            self._person(event["person"]).refused += 1
            self._account.refused += 1
        elif name in ("entry_corrected", "layout_corrected"):
            self._person(event["by"]).corrections += 1
        elif name == "cards_recalled":
            self._person(event["by"]).recalls += 1
        elif name == "hand_exposed" and (who := event.get("differs_by")):
            self._person(who).misread += 1
        elif name == "pin_refused":
            self._person(event["person"]).wrong_pins += 1

    def _irregularity(self, number: int, found: JournaledIrregularity) -> None:
        row = found.row
        key = (row["id"], row["clause"], found.kind)
        group = self._groups.setdefault(
            key, IrregularityGroup(row["id"], found.kind, row["clause"], row.get("authority", ""))
        )
        group.rounds.append(number)
        group.by_device += found.raised.event["noticed_by"] in (DEVICE, INFERENCE)
        if not found.outcome:
            self._account.undecided.append(found)
            return
        group.outcomes[found.outcome] = group.outcomes.get(found.outcome, 0) + 1
        person, role = found.decided_by
        by = self._account.deciders.setdefault((person, role), {})
        by[found.outcome] = by.get(found.outcome, 0) + 1
        self._person(person).decided += 1

    def _person(self, name: str) -> PersonAccount:
        return self._people.setdefault(name, PersonAccount(name))

    def _service(self, decided: DecisionInRound, happened: Happened) -> None:
        if happened.name != "service_changed":
            return
        if happened.event["service"] == IN_SERVICE:
            self._out(decided.utc_ns)
        elif self._out_since is None:
            self._out_since = decided.utc_ns

    def _out(self, until: int) -> None:
        if self._out_since is not None:
            span = self._account.span
            self._account.not_in_service_ns += max(0, min(until, span.end) - max(self._out_since, span.start))
        self._out_since = None


def in_progress(account: Account) -> int:
    return account.endings.get(IN_PROGRESS, 0)
