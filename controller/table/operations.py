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


class ShowFirstCard(Operation, frozen=True):
    """The First Card lies open. `card` as it is seen; None confirms what the device read."""

    card: Card | None = None


class ReopenBets(Operation, frozen=True):
    """ "No more bets" was keyed by mistake: possible until a card has left the device."""


class EnterBettor(Operation, frozen=True):
    """Somebody bets here. `seat`: the box at which he sits; None: he stands. Entering him again moves him."""

    bettor: str
    seat: int | None = None


class BettorLeaves(Operation, frozen=True):
    """He bets here no more; possible while nothing of his lies on the layout."""

    bettor: str


class PlaceWager(Operation, frozen=True):
    """`amount` more units on a wager of a box. `overlooked`: it lies there although the rules do not allow it."""

    bettor: str
    wager: str
    box: int
    amount: int
    overlooked: bool = False


class ChangeWager(Operation, frozen=True):
    """A bet is of `amount` units in all from now on."""

    bet: int
    amount: int


class TakeBackWager(Operation, frozen=True):
    bet: int


class RejectExcess(Operation, frozen=True):
    """What lies over a maximum is handed back before bets are closed."""


class RestrictBetting(Operation, frozen=True):
    """What a pit manager restricts from now on, whole: an empty list lifts a restriction."""

    closed_boxes: tuple[int, ...] = ()
    fewer_wagers: tuple[tuple[int, int], ...] = ()
    one_box: tuple[str, ...] = ()


class HandleCards(Operation, frozen=True):
    """The Player at a place has touched cards; `viewed`: and looked at them."""

    place: Place
    viewed: bool = False


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


class CardAt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a card lies: the card that left the device as number `ordinal` of this round's shuffle."""

    ordinal: int
    place: Place


class PlaceCards(Operation, frozen=True):
    """Cards lie elsewhere than the order of the deal has it. A whole hand is named card by card."""

    cards: tuple[CardAt, ...]


class ReportIrregularity(Operation, frozen=True):
    """A person noticed something. `counted`: how many cards lie at the place, for a wrong count.

    `earlier`: it is about the round before the one in progress.
    """

    kind: Kind
    place: Place | None = None
    card: int | None = None  # 1 to 3: which card of the hand
    counted: int | None = None
    note: str = ""
    earlier: bool = False


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
    """What a bettor of a box chooses; without wagers entered the box counts as one.

    `absent`: he is away; a pit supervisor lets his bets stand (reading 40).
    """

    irregularity: int
    revision: int
    place: Place
    choice: Choice
    absent: bool = False
    bettor: str = ""


class Reconstruct(Operation, frozen=True):
    """The cards were put where they belong, as the screen showed them to be moved."""

    irregularity: int
    revision: int


class DealByHand(Operation, frozen=True):
    """The device is dead and play must go on: `cards` from the stub were dealt to the places whose turn it was."""

    cards: int
    because: str


class Rule(Operation, frozen=True):
    """A ruling where the document is silent or refers: what is done, by whose authority, and why.

    `places`: whose hands are removed. `bets`: which bets are returned, or settled as they lie (continue). `ordinals`:
    the order that is named.
    """

    irregularity: int
    revision: int
    action: RulingAction
    authority: str
    text: str
    places: tuple[Place, ...] = ()
    ordinals: tuple[int, ...] = ()
    bets: tuple[int, ...] = ()


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
    | ReopenBets
    | EnterBettor
    | BettorLeaves
    | PlaceWager
    | ChangeWager
    | TakeBackWager
    | RejectExcess
    | RestrictBetting
    | ShowFirstCard
    | HandleCards
    | ExposeHand
    | RecordSettled
    | ConcludeRound
    | PauseTable
    | ResumeTable
    | PlaceCards
    | ReportIrregularity
    | ConfirmIrregularity
    | DenyIrregularity
    | NameOrder
    | ChooseOption
    | Reconstruct
    | DealByHand
    | Rule
    | CountCards
    | ContinueRound
    | ReturnToService
)
