"""What people say and decide of irregularities."""

from __future__ import annotations

from controller.games.specification import Choice, Facts, Kind, RulingAction
from controller.rules.dealing_order import Place
from controller.table.operations.base import Operation


class ReportIrregularity(Operation, frozen=True, tag="report_irregularity"):
    """A person noticed something. `counted`: how many cards lie at the place, for a wrong count.

    `earlier`: it is about the round before the one in progress.
    """

    kind: Kind
    place: Place | None = None
    card: int | None = None  # 1 to 3: which card of the hand
    counted: int | None = None
    note: str = ""
    earlier: bool = False


class ConfirmIrregularity(Operation, frozen=True, tag="confirm_irregularity"):
    """The fact is so. `facts` answers what the irregularity asks."""

    irregularity: int
    revision: int
    facts: Facts = Facts()


class DenyIrregularity(Operation, frozen=True, tag="deny_irregularity"):
    """The fact is not so: the device or the person erred."""

    irregularity: int
    revision: int
    reason: str


class NameOrder(Operation, frozen=True, tag="name_order"):
    """Which of the simultaneous cards comes first: their ordinals in the order in which they are to be received."""

    irregularity: int
    revision: int
    ordinals: tuple[int, ...]


class ChooseOption(Operation, frozen=True, tag="choose_option"):
    """What a bettor of a box chooses; without wagers entered the box counts as one.

    `absent`: he is away; a pit supervisor lets his bets stand (reading 40).
    """

    irregularity: int
    revision: int
    place: Place
    choice: Choice
    absent: bool = False
    bettor: str = ""


class Reconstruct(Operation, frozen=True, tag="reconstruct"):
    """The cards were put where they belong, as the screen showed them to be moved."""

    irregularity: int
    revision: int


class Rule(Operation, frozen=True, tag="rule"):
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
