"""A decision in progress: the events so far, and the state that results from them."""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec.structs import replace

from controller.table import events
from controller.table.events import AnyEvent
from controller.table.evolve import applied
from controller.table.phases import PHASE_TABLE, PHASE_WORDS, SERVICE_TABLE, Phase
from controller.table.state import TableState
from firmware_bridge.messages import AnyText, Argument, Message


class RefusedError(Exception):
    """Refuses an operation, with a message that names what comes first and a code for programs."""

    def __init__(self, code: str, said: AnyText, /, **args: Argument) -> None:
        """`said`: the message, or the English text of one with these arguments."""
        self.code = code
        self.message = said if isinstance(said, Message) else Message(said, args)
        super().__init__(self.message)  # the caller that prints the error puts it into words


class Decided(NamedTuple):
    """The result of `decide`: the events to be journaled, and the state after them."""

    events: tuple[AnyEvent, ...]
    state: TableState


class Decision:
    """Collects events. `state` is always the fold of the events so far; it is not published before the commit.

    In the journal the input takes the entry after the last one, its events take those that follow. `state.entry` is
    set once, when the decision is done.
    """

    def __init__(self, state: TableState) -> None:
        self.before: Final = state  # before the input
        self.state = state
        self.events: list[AnyEvent] = []
        self.origin = 0  # the entry of the operation that is being decided
        self._next = state.entry + 2

    def emit(self, event: AnyEvent) -> int:
        """Add an event, and return its future entry number."""
        entry = self._next
        self.state = applied(self.state, event, entry, first=not self.events)
        self.events.append(event)
        self._next = entry + 1
        return entry

    def enter_phase(
        self,
        trigger: str,
        clause: str = "",
        *,
        returns_bets: bool = False,
        frees_bets: bool = False,
        errors_count: tuple[str, ...] | None = None,
    ) -> Phase:
        """Change the phase; raise `RefusedError` if the transition table has no row for it."""
        reached = self.phase_after(trigger)
        cancels = trigger == "cancel_start"
        self.emit(events.PhaseEntered(reached, clause, cancels, returns_bets, frees_bets, errors_count))
        return reached

    def phase_after(self, trigger: str) -> Phase:
        """Return the phase that a trigger leads to; raise `RefusedError` if the table has no row for it."""
        state = self.state
        reached = PHASE_TABLE.after(state.phase, trigger, state.conditions)
        if reached is None:
            raise RefusedError(
                "phase",
                "That is not possible while the table is {phase}.",
                phase=PHASE_WORDS[state.phase],
            )
        return reached

    def change_service(self, trigger: str, cause: AnyText) -> None:
        """Change the table's service; a trigger without a row for the present service changes nothing."""
        state = self.state
        reached = SERVICE_TABLE.after(state.service, trigger, state.conditions)
        if reached is not None and (reached, cause) != (state.service, state.service_cause):
            self.emit(events.ServiceChanged(reached, cause))

    def adopt(self, attempt: Decision) -> None:
        """Replace this decision with another one that began from the same state."""
        self.state, self.events, self._next = attempt.state, attempt.events, attempt._next

    def done(self) -> Decided:
        if not self.events:
            return Decided((), self.state)
        return Decided(tuple(self.events), replace(self.state, entry=self._next - 1))
