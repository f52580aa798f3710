"""The phases of a round and the services of a table, as transition tables. docs/states.md is generated from them.

1. The *phase* says how far the round has come. The *service* says whether device and table may be used together. A
   table is *held* while it is paused or an open irregularity blocks. An operation needs all three to permit it.
2. Both machines are flat and synchronous. Nothing happens on entering or leaving a state: `decide` asks a machine for
   the next state and writes it into an event.
3. A trigger without a row for the present state is a refusal, never an error.
4. A row may depend on a `Condition`, a fact about the game or the table: the first row whose condition holds is taken.
5. Every phase of a round can be left by a void; from every service a path leads back to IN_SERVICE.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, StrEnum
from typing import Final, Generic, NamedTuple, TypeVar

import transitions

from firmware_bridge.messages import message


class Phase(StrEnum):
    """The progress of a round."""

    CLOSED = "closed"
    IDLE = "idle"
    BETTING = "betting"
    FIRST_CARD = "first_card"
    DEALING_SETS = "dealing_sets"
    DEALING_SINGLES = "dealing_singles"
    EXAMINING = "examining"
    EXPOSING = "exposing"
    SETTLING = "settling"
    CONCLUDED = "concluded"
    VOIDED = "voided"
    MAINTENANCE = "maintenance"


PHASE_WORDS: Final = {
    Phase.CLOSED: message("closed"),
    Phase.IDLE: message("between rounds"),
    Phase.BETTING: message("open for bets"),
    Phase.FIRST_CARD: message("showing the First Card"),
    Phase.DEALING_SETS: message("dealing"),
    Phase.DEALING_SINGLES: message("dealing"),
    Phase.EXAMINING: message("examining hands"),
    Phase.EXPOSING: message("turning over hands"),
    Phase.SETTLING: message("settling"),
    Phase.CONCLUDED: message("between rounds"),
    Phase.VOIDED: message("between rounds"),
    Phase.MAINTENANCE: message("under maintenance"),
}
"""What the table is doing, for use after "while the table is"."""


class Service(StrEnum):
    """The state of service: whether the table and its device may be used."""

    IN_SERVICE = "in_service"
    RECONCILING = "reconciling"
    OUT_OF_SERVICE = "out_of_service"


SERVICE_WORDS: Final = {
    Service.IN_SERVICE: message("in service"),
    Service.RECONCILING: message("reconciling"),
    Service.OUT_OF_SERVICE: message("out of service"),
}


class Condition(StrEnum):
    """A fact that a transition may depend on."""

    ALWAYS = "always"
    SHOWS_FIRST_CARD = "a First Card says where the deal begins"
    SETS = "the device yields sets"
    SINGLES = "the device yields single cards"
    EXAMINES = "the game has Players examine their hands"
    EXPOSES_AT_ONCE = "the game exposes without examining"
    IN_ROUND = "a round is in progress"
    BETWEEN_ROUNDS = "no round is in progress"
    AFTER_CONCLUDED = "it followed a concluded round"
    AFTER_VOIDED = "it followed a void round"
    BEGAN_CLOSED = "maintenance began at a closed table"
    BEGAN_CONCLUDED = "maintenance began after a round, before the next"


class Transition(NamedTuple):
    """One row: in `source`, `trigger` leads to `target` if `condition` holds. `because` tells readers why."""

    trigger: str
    source: str
    target: str
    because: str
    condition: Condition = Condition.ALWAYS


BETWEEN_ROUNDS: Final = frozenset({Phase.CLOSED, Phase.IDLE, Phase.CONCLUDED, Phase.VOIDED, Phase.MAINTENANCE})
DEALING: Final = frozenset({Phase.DEALING_SETS, Phase.DEALING_SINGLES})
CARDS_LEAVE: Final = DEALING | {Phase.FIRST_CARD}  # cards leave the device for the round
IN_ROUND: Final = frozenset(Phase) - BETWEEN_ROUNDS
WINDOW_OPEN: Final = IN_ROUND | {Phase.CONCLUDED, Phase.VOIDED}  # an error of the round may still be reported
AFTER_DEAL: Final = frozenset({Phase.EXAMINING, Phase.EXPOSING, Phase.SETTLING})  # every card lies on the table
BEFORE_CLOSE: Final = frozenset({Phase.CLOSED, Phase.IDLE, Phase.BETTING})  # before "No more bets"
BEGINNING: Final = BETWEEN_ROUNDS - {Phase.CLOSED, Phase.MAINTENANCE}  # a round may begin

P, S, C = Phase, Service, Condition

PHASES: Final[tuple[Transition, ...]] = (
    Transition("open", P.CLOSED, P.IDLE, "the table opens"),
    *(Transition("close", phase, P.CLOSED, "the table closes") for phase in (P.IDLE, P.CONCLUDED, P.VOIDED)),
    *(
        Transition("place_your_bets", phase, P.BETTING, '"Place your bets" begins a round')
        for phase in (P.IDLE, P.CONCLUDED, P.VOIDED)
    ),
    Transition("cancel_start", P.BETTING, P.IDLE, "no one bets, or no card may be dealt from the deck"),
    Transition(
        "take_start_back",
        P.BETTING,
        P.CONCLUDED,
        "it was entered by mistake and not announced: an error of the last round may still be found",
        C.AFTER_CONCLUDED,
    ),
    Transition("take_start_back", P.BETTING, P.VOIDED, "it was entered by mistake and not announced", C.AFTER_VOIDED),
    Transition("take_start_back", P.BETTING, P.IDLE, "it was entered by mistake, and no round was open before"),
    Transition("no_more_bets", P.BETTING, P.FIRST_CARD, 'after "No more bets" a card is shown', C.SHOWS_FIRST_CARD),
    Transition("no_more_bets", P.BETTING, P.DEALING_SETS, '"No more bets" begins the deal', C.SETS),
    Transition("no_more_bets", P.BETTING, P.DEALING_SINGLES, '"No more bets" begins the deal', C.SINGLES),
    *(
        Transition("reopen_bets", phase, P.BETTING, "it was closed by mistake, and no card has left the device")
        for phase in (P.FIRST_CARD, P.DEALING_SETS, P.DEALING_SINGLES)
    ),
    Transition("first_card_shown", P.FIRST_CARD, P.DEALING_SETS, "its rank says where the deal begins", C.SETS),
    Transition("first_card_shown", P.FIRST_CARD, P.DEALING_SINGLES, "its rank says where the deal begins", C.SINGLES),
    *(
        Transition("dealt", phase, target, "the Dealer's hand is whole", condition)
        for phase in (P.DEALING_SETS, P.DEALING_SINGLES)
        for target, condition in ((P.EXAMINING, C.EXAMINES), (P.EXPOSING, C.EXPOSES_AT_ONCE))
    ),
    Transition("expose_dealer", P.EXAMINING, P.EXPOSING, "the Dealer's hand is turned"),
    Transition("judged", P.EXPOSING, P.SETTLING, "every hand in play has its outcome"),
    *(
        Transition("take_up_exposing", phase, P.EXPOSING, "an entry was corrected: outcomes are judged again")
        for phase in (P.SETTLING, P.CONCLUDED)
    ),
    Transition("take_up_settling", P.CONCLUDED, P.SETTLING, "it was recorded as paid, or as concluded, by mistake"),
    *(
        Transition(f"take_up_{phase}", P.EXAMINING, phase, "a box was left out, and its cards are still due")
        for phase in (P.DEALING_SETS, P.DEALING_SINGLES)
    ),
    *(
        Transition(f"take_up_{phase}", P.VOIDED, phase, "the cause of the void was corrected")
        for phase in (P.FIRST_CARD, P.DEALING_SETS, P.DEALING_SINGLES, P.EXAMINING, P.EXPOSING)
    ),
    Transition("conclude", P.SETTLING, P.CONCLUDED, "chips are paid and the round is closed"),
    *(
        Transition("void", phase, P.VOIDED, "the round has no result")
        for phase in Phase
        if phase in WINDOW_OPEN and phase is not P.VOIDED
    ),
    *(
        Transition("begin_maintenance", phase, P.MAINTENANCE, "people test or clean the device; no round is affected")
        for phase in (P.CLOSED, P.IDLE, P.CONCLUDED, P.VOIDED)
    ),
    Transition("end_maintenance", P.MAINTENANCE, P.CLOSED, "the table was closed before", C.BEGAN_CLOSED),
    Transition(
        "end_maintenance",
        P.MAINTENANCE,
        P.CONCLUDED,
        "the next round has not begun: an error of the last one may still be found",
        C.BEGAN_CONCLUDED,
    ),
    Transition("end_maintenance", P.MAINTENANCE, P.IDLE, "the deck is counted and shuffled again before a round"),
)

SERVICES: Final[tuple[Transition, ...]] = (
    *(
        Transition("link_ready", service, S.RECONCILING, "the device is connected, its status not yet compared")
        for service in S
    ),
    Transition("link_lost", S.IN_SERVICE, S.RECONCILING, "the device was lost in a round", C.IN_ROUND),
    Transition("link_lost", S.IN_SERVICE, S.OUT_OF_SERVICE, "no device between rounds", C.BETWEEN_ROUNDS),
    Transition("link_lost", S.RECONCILING, S.RECONCILING, "lost again in the round", C.IN_ROUND),
    Transition("link_lost", S.RECONCILING, S.OUT_OF_SERVICE, "lost again between rounds", C.BETWEEN_ROUNDS),
    Transition("link_lost", S.OUT_OF_SERVICE, S.OUT_OF_SERVICE, "was not in use"),
    *(Transition("refuse", service, S.OUT_OF_SERVICE, "the device must not be used") for service in S),
    Transition("confirm", S.RECONCILING, S.IN_SERVICE, "device and journal agree, or a person settled the difference"),
)


class _Subject:
    """The model that `transitions` moves; it has only a state."""

    state: Enum


StateT = TypeVar("StateT", Phase, Service)


class StateTable(Generic[StateT]):
    """A table of transitions, run by one synchronous `transitions.Machine` on one temporary model."""

    def __init__(self, states: type[StateT], table: Sequence[Transition]) -> None:
        self._subject = _Subject()
        self._machine = transitions.Machine(
            model=self._subject,
            states=states,
            initial=next(iter(states)),
            auto_transitions=False,
            queued=False,
        )
        for row in table:
            self._machine.add_transition(
                row.trigger, states(row.source).name, states(row.target).name, conditions=[_Check(row.condition)]
            )
        self._staying = [row for row in table if row.source == row.target]

    def after(self, state: StateT, trigger: str, holds: frozenset[Condition]) -> StateT | None:
        """Return the state that the trigger leads to, or None if this state does not have a row for it."""
        self._subject.state = state
        try:
            self._machine.events[trigger].trigger(self._subject, holds)
        except transitions.MachineError:
            return None
        reached = self._subject.state
        if reached is state and not self._stays(state, trigger, holds):
            return None
        return type(state)(reached)

    def _stays(self, state: StateT, trigger: str, holds: frozenset[Condition]) -> bool:
        rows = [row for row in self._staying if (row.trigger, row.source) == (trigger, state)]
        return any(_Check(row.condition)(holds) for row in rows)


class _Check:
    """A row's condition, checked against the conditions that hold now."""

    def __init__(self, condition: Condition) -> None:
        self._condition = condition

    def __call__(self, holds: frozenset[Condition]) -> bool:
        return self._condition is Condition.ALWAYS or self._condition in holds


PHASE_TABLE: Final = StateTable(Phase, PHASES)
SERVICE_TABLE: Final = StateTable(Service, SERVICES)
