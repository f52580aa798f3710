"""Determines which events give the buttons of a screen another meaning.

A screen sends with an operation the entry of the state from which its button was drawn. After such an event the
operation is refused, since the person decided on outdated information. Events that only add to a deal in progress, such
as a dealt card, are not among them.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from controller.table import events
from controller.table.events.base import Event
from controller.table.model import Turn
from controller.table.state import TableState
from firmware_bridge.messages import Message, message

CHANGES_MEANING: Final[dict[type[Event], Message]] = {
    events.GameChosen: message("The rules of the table have changed."),
    events.PhaseEntered: message("The round has gone on."),
    events.StartTakenBack: message("The start of the round was taken back."),
    events.ServiceChanged: message("The device has come, gone or been compared."),
    events.TablePaused: message("The table was paused."),
    events.TableResumed: message("Play was resumed."),
    events.DealerCame: message("A dealer has come on duty."),
    events.DealerLeft: message("The dealer has gone off duty."),
    events.HandedOver: message("Another dealer has taken over."),
    events.ChipsPaid: message("The chips were recorded as paid."),
    events.ConclusionAsked: message("The round is about to be concluded."),
    events.AbandonAsked: message("The round is about to become void."),
    events.VoidAsked: message("The round is about to become void."),
    events.DealtByHand: message("The round is dealt by hand."),
    events.EntryCorrected: message("An entry was corrected."),
    events.LayoutCorrected: message("A bet was corrected."),
    events.IrregularityRaised: message("Something was noticed."),
    events.IrregularityReopened: message("A matter is open again."),
    events.IrregularityConfirmed: message("A matter was confirmed."),
    events.FactStated: message("A question was answered."),
    events.OrderNamed: message("The order of the cards was named."),
    events.AllChosen: message("All bettors have chosen."),
    events.IrregularityResolved: message("A matter was decided."),
    events.CardsTurnedDown: message("Cards were turned down."),
}
"""What happened, for an event that no person's operation caused."""


def applied(state: TableState, event: Event, entry: int, *, first: bool) -> TableState:
    """Return the state after an event. `first`: the event is the first one that followed from its input."""
    acting = state.acting
    if first and not isinstance(event, events.OperationRefused):  # after which nothing follows
        acting = entry if isinstance(event, events.OperationTaken) else 0
    after = event.apply(state, entry)
    if type(event) in CHANGES_MEANING:
        return replace(after, acting=acting, turn=Turn(entry, str(event.__struct_config__.tag), acting))
    return after if acting == after.acting else replace(after, acting=acting)
