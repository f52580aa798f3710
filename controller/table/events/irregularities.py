"""Irregularities, from the first word of them to their end."""

from __future__ import annotations

from controller.games.specification import Choice, Facts, Kind, Row, RulingAction
from controller.roles import Role
from controller.rules.dealing_order import Place
from controller.rules.settlement import BetAction
from controller.table.events.base import Event
from controller.table.model import Stage


class IrregularityRaised(Event, frozen=True, tag="irregularity_raised"):
    """Something that the rules do not allow, with its evidence and what is proposed.

    Its id is this event's entry number. `noticed_by`: device, inference, or a person. `boot` and `report` name
    the device's report and `device_ms` its clock. `faces_seen`: whether any face lies open; None: not stated.
    """

    kind: Kind
    row: Row
    facts: Facts
    asks: tuple[str, ...]
    stage: Stage
    blocks: bool
    noticed_by: str
    place: Place | None = None
    card: int | None = None
    ordinals: tuple[int, ...] = ()
    cards: int = 0
    counted: int | None = None
    faces_seen: bool | None = None
    boot: int | None = None
    report: int | None = None
    device_ms: int | None = None
    note: str = ""
    of_round: int = 0  # 0: the round in progress
    origin: int = 0  # the entry of the operation with which it was noticed
    of_deck: str = ""  # the recorded deck that it is about
    waiting: bool = False  # it is about the deck that waits for the next round


class IrregularityConfirmed(Event, frozen=True, tag="irregularity_confirmed"):
    """A person says that it is so, and answers what was asked. The row is final from here on."""

    irregularity: int
    row: Row
    facts: Facts
    stage: Stage | None  # None: it is resolved by the events that follow


class VoidAsked(Event, frozen=True, tag="void_asked"):
    """What was confirmed or ruled makes a round void: it is asked back, and takes effect when it is said again."""

    irregularity: int
    clause: str


class FactStated(Event, frozen=True, tag="fact_stated"):
    """An answer that was asked for. `counted`: so many cards lie there by the last count."""

    irregularity: int
    facts: Facts
    row: Row
    asks: tuple[str, ...]
    by: str = ""
    counted: int | None = None


class OrderNamed(Event, frozen=True, tag="order_named"):
    irregularity: int
    ordinals: tuple[int, ...]
    stage: Stage | None


class OptionChosen(Event, frozen=True, tag="option_chosen"):
    irregularity: int
    place: Place
    choice: Choice
    clause: str = ""
    absent: bool = False
    bettor: str = ""


class Ruled(Event, frozen=True, tag="ruled"):
    irregularity: int
    action: RulingAction
    authority: str
    text: str
    places: tuple[Place, ...] = ()
    ordinals: tuple[int, ...] = ()
    bets: tuple[int, ...] = ()
    bet_action: BetAction = BetAction.RETURN


class IrregularityResolved(Event, frozen=True, tag="irregularity_resolved"):
    """Closed, by whom, and with what: a disposition, `denied`, or `ruling`."""

    irregularity: int
    outcome: str
    clause: str
    by: str
    role: Role
