"""Since which entry what people are offered has had the same meaning, and who gave it another one.

A screen sends with an operation the entry of the state from which its button was drawn. Where the table has turned
since then, the operation is refused: the person decided by something that is no longer so. What only adds to a deal in
progress, such as a card that is dealt, turns nothing.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from controller.table import events
from controller.table.events.base import Event
from controller.table.model import Turn
from controller.table.state import TableState

TURNS: Final[dict[type[Event], str]] = {
    events.GameChosen: "The rules of the table have changed.",
    events.PhaseEntered: "The round has gone on.",
    events.StartTakenBack: "The start of the round was taken back.",
    events.ServiceChanged: "The device has come, gone or been compared.",
    events.TablePaused: "The table was paused.",
    events.TableResumed: "Play was resumed.",
    events.DealerCame: "A dealer has come on duty.",
    events.DealerLeft: "The dealer has gone off duty.",
    events.HandedOver: "Another dealer has taken over.",
    events.ChipsPaid: "The chips were recorded as paid.",
    events.ConclusionAsked: "The round is about to be concluded.",
    events.AbandonAsked: "The round is about to become void.",
    events.VoidAsked: "The round is about to become void.",
    events.DealtByHand: "The round is dealt by hand.",
    events.EntryCorrected: "An entry was corrected.",
    events.LayoutCorrected: "A bet was corrected.",
    events.IrregularityRaised: "Something was noticed.",
    events.IrregularityReopened: "A matter is open again.",
    events.IrregularityConfirmed: "A matter was confirmed.",
    events.FactStated: "A question was answered.",
    events.OrderNamed: "The order of the cards was named.",
    events.AllChosen: "All bettors have chosen.",
    events.IrregularityResolved: "A matter was decided.",
    events.CardsTurnedDown: "Cards were turned down.",
}
"""What turns the table, and how it is said where no person did it."""


def applied(state: TableState, event: Event, entry: int, *, first: bool) -> TableState:
    """The state after an event. `first`: it is the first one that followed from its input."""
    acting = state.acting
    if first and not isinstance(event, events.OperationRefused):  # after which nothing follows
        acting = entry if isinstance(event, events.OperationTaken) else 0
    after = event.apply(state, entry)
    if type(event) in TURNS:
        return replace(after, acting=acting, turn=Turn(entry, str(event.__struct_config__.tag), acting))
    return after if acting == after.acting else replace(after, acting=acting)
