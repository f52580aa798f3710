"""What people do at the table that no sensor sees: one type an operation, as a console or a program sends it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from controller.games.specification import Choice, Facts, Kind, RulingAction
from controller.rules.dealing import Place
from firmware_bridge.cards import Card
from firmware_bridge.words import snake


class Operation(msgspec.Struct, frozen=True, tag_field="operation", tag=snake, forbid_unknown_fields=True):
    """Base of all operations."""


class OpenTable(Operation, frozen=True):
    pass


class CloseTable(Operation, frozen=True):
    pass


class ShuffledOutside(Operation, frozen=True):
    """The deck in the device was shuffled by hand or by a batch shuffler; for a shoe it stands for a shuffle."""

    by: str


class PlaceYourBets(Operation, frozen=True):
    """The Dealer's announcement: a round begins."""


class CancelStart(Operation, frozen=True):
    """ "Place your bets" was keyed by mistake, or nobody bets."""


class OccupyBoxes(Operation, frozen=True):
    """The boxes with a main wager. The last word before "No more bets" counts."""

    boxes: tuple[int, ...]


class NoMoreBets(Operation, frozen=True):
    """The Dealer's announcement: the deal begins."""


class HandleCards(Operation, frozen=True):
    """The Player at a place has touched cards."""

    place: Place


class ExposeHand(Operation, frozen=True):
    """A hand lies open. `cards` as they are seen on the table; None confirms what the device read."""

    place: Place
    cards: tuple[Card, ...] | None = None


class RecordSettled(Operation, frozen=True):
    """The chips are paid."""


class ConcludeRound(Operation, frozen=True):
    """The round is over. Asked twice: the first time it only asks back."""


class PauseTable(Operation, frozen=True):
    reason: str


class ResumeTable(Operation, frozen=True):
    pass


class ReportIrregularity(Operation, frozen=True):
    """A person noticed something. `counted`: how many cards lie at the place, for a wrong count."""

    kind: Kind
    place: Place | None = None
    card: int | None = None  # 1 to 3: which card of the hand
    counted: int | None = None
    note: str = ""


class ConfirmIrregularity(Operation, frozen=True):
    """The fact is so. `facts` answers what the irregularity asks."""

    irregularity: int
    revision: int
    facts: Facts = Facts()


class DenyIrregularity(Operation, frozen=True):
    """The fact is not so: the device or the person erred."""

    irregularity: int
    revision: int
    reason: str


class NameOrder(Operation, frozen=True):
    """Which of the simultaneous cards comes first: their ordinals in the order in which they are to be received."""

    irregularity: int
    revision: int
    ordinals: tuple[int, ...]


class ChooseOption(Operation, frozen=True):
    irregularity: int
    revision: int
    place: Place
    choice: Choice


class Rule(Operation, frozen=True):
    """A ruling where the document is silent or refers: what is done, by whose authority, and why."""

    irregularity: int
    revision: int
    action: RulingAction
    authority: str
    text: str


class CountCards(Operation, frozen=True):
    """A count by hand, with a witness. The last count of a pile stands."""

    pile: Literal["stub"]
    number: int
    witness: str


class ContinueRound(Operation, frozen=True):
    """After a lost link or a restart: the table agrees with what the screen shows, and play goes on."""


class ReturnToService(Operation, frozen=True):
    """What kept the table out of service is mended: the link is made anew and the device compared again."""


AnyOperation: TypeAlias = (
    OpenTable
    | CloseTable
    | ShuffledOutside
    | PlaceYourBets
    | CancelStart
    | OccupyBoxes
    | NoMoreBets
    | HandleCards
    | ExposeHand
    | RecordSettled
    | ConcludeRound
    | PauseTable
    | ResumeTable
    | ReportIrregularity
    | ConfirmIrregularity
    | DenyIrregularity
    | NameOrder
    | ChooseOption
    | Rule
    | CountCards
    | ContinueRound
    | ReturnToService
)
