"""What a table's state is made of: cards and hands, deck, device, open irregularities, what bets came to, answers."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

import msgspec

from controller.games.specification import Choice, Facts, Kind, Row
from controller.roles import Role
from controller.rules.dealing_order import Place
from controller.rules.hands import Outcome
from controller.table.operations import Correctable
from firmware_bridge.capabilities import Capabilities
from firmware_bridge.cards import Card, Concealed
from firmware_bridge.commands import AnyCommand

CardId: TypeAlias = tuple[int, int]
"""Which card: the shuffle that it is of and its ordinal in it. It tells no face."""


class HeldCard(msgspec.Struct, frozen=True):
    """A card that left the device. `face` None: not recognised. `face_up`: it lay open when it came out."""

    shuffle: int
    ordinal: int
    face: Concealed | None
    face_up: bool = False

    @property
    def id(self) -> CardId:
        return self.shuffle, self.ordinal


class Pile(StrEnum):
    """Where cards lie that left the device and are in no hand, beside the tray and those that are set aside."""

    BURNT = "burnt"
    DROPPED = "dropped"  # on the floor, or nobody knows where
    DISCARDS = "discards"
    STRAYS = "strays"  # of the waiting deck: none of the 52


ASIDE = "aside"
"""What is set aside, by its name in a count: out of the device, given to no place."""


class Hand(msgspec.Struct, frozen=True):
    """The cards of one place (NC 1.5). `dead`: out of play, but it goes on taking its cards (reading 36)."""

    cards: tuple[HeldCard, ...] = ()
    surplus: int = 0  # how many more (or fewer) a person counted there than were known to be dealt
    dead: bool = False
    handled: bool = False
    viewed: bool = False
    shown: tuple[Card, ...] = ()
    outcome: Outcome | None = None

    @property
    def size(self) -> int:
        return len(self.cards) + self.surplus


class Deck(msgspec.Struct, frozen=True):
    """A deck in the device. `dispensed` is what the device says has left it, `stub` what was counted after the deal.

    `deck` is the device's name for what lies in it, `label` the table's own record of it (see `RecordedDeck`).
    """

    deck: int = 0
    shuffle: int = 0
    loaded: int = 0
    dispensed: int = 0
    shuffled: bool = False
    used: bool = False  # dealt from, or begun to
    stub: int | None = None
    stub_out: bool = False  # the device has given it out, and has no more cards to deal
    face_up: tuple[int, ...] = ()  # ordinals that the device found lying face up
    face_up_count: int = 0  # how many it counted so while it shuffled, without saying which
    by_count: int | None = None  # of how many cards it is by the last count of the stub: those left and those out
    label: str = ""
    quarantined: str = ""  # why, where no record says so
    cut: bool = False


class RecordedDeck(msgspec.Struct, frozen=True):
    """A deck that belongs to the table. `back`: its back; two decks at a table differ in it. `seal`: of its box.

    `quarantined`: why it is out of use. `shuffled_by`: who shuffled it outside; until it has been dealt from.
    """

    label: str
    back: str
    seal: str
    quarantined: str = ""
    shuffled_by: str = ""


class OpenCommand(msgspec.Struct, frozen=True):
    """`seen`: the device reported what the command was to bring about; only then may it be called done."""

    id: int
    command: AnyCommand
    seen: bool = False


class Device(msgspec.Struct, frozen=True):
    """The device as the journal knows it.

    `boot` and `last_report` name the last report held durably, `uptime_ms` is the device's clock in it; `drawn_boot`
    and `drawn_ms` are of the last card drawn. `running_boot` is the device's at this moment. `stops`: why it moves no
    cards, each cause until it is gone.
    """

    connected: bool = False
    serial: str = ""
    kind: str = ""
    unit: str = ""
    running_boot: int = 0
    boot: int = 0
    last_report: int = 0
    capabilities: Capabilities | None = None
    exit_held: bool | None = None
    exit_fails: bool = False  # it refused to hold or to release its exit; not asked again before the next link
    open_commands: tuple[OpenCommand, ...] = ()
    stops: tuple[str, ...] = ()
    status_agrees: bool = False
    uptime_ms: int | None = None
    drawn_boot: int = 0
    drawn_ms: int | None = None
    firmware_digest: str = ""

    @property
    def word(self) -> str:
        """What people call it: shuffler, shoe, or device while none has been connected."""
        return self.kind or "device"

    @property
    def stopped(self) -> str:
        """Why it stands still, in words; empty when it does not."""
        return "; ".join(self.stops)

    @property
    def moving(self) -> OpenCommand | None:
        """The open command that moves cards; there is one at most."""
        return next((opened for opened in self.open_commands if opened.command.moves_cards), None)


class Stage(StrEnum):
    """What an open irregularity waits for."""

    CLAIMED = "claimed"  # the fact to be confirmed or denied
    ORDERING = "ordering"  # the order of simultaneous cards to be named
    CHOOSING = "choosing"  # every bettor's choice
    MOVING = "moving"  # cards to be put where they belong
    RULING = "ruling"  # a ruling


class Irregularity(msgspec.Struct, frozen=True):
    """An open irregularity. `id` is the entry that raised it, `revision` the entry that changed it last.

    `first_facts`: what was known when it was raised. `origin`: the entry of the operation with which it was noticed.
    """

    id: int
    revision: int
    round: int
    kind: Kind
    row: Row
    facts: Facts
    asks: tuple[str, ...]
    stage: Stage
    blocks: bool
    place: Place | None = None
    ordinals: tuple[int, ...] = ()
    note: str = ""  # what was noticed, in words
    counted: int | None = None
    choices: tuple[tuple[Place, str, Choice], ...] = ()  # place and bettor; no bettor: the box counts as one
    first_facts: Facts = Facts()
    origin: int = 0
    of_deck: str = ""  # the recorded deck that it is about
    waiting: bool = False  # it is about the deck that waits for the next round, and concerns no round
    void_asked: bool = False  # a void was asked for once; it takes effect when it is asked for again

    @property
    def offers(self) -> bool:
        """Whether bettors may choose something once the clause has taken effect."""
        return bool(self.row.options)


DENIED = "denied"
"""How an irregularity ends that was none."""


class Closed(msgspec.Struct, frozen=True):
    """An irregularity of this round as it stood when it ended, and how it ended: a disposition, denied, ruling ..."""

    found: Irregularity
    outcome: str


class Entered(msgspec.Struct, frozen=True):
    """An operation of this round that may be corrected, under the entry that its answer named."""

    entry: int
    person: str
    role: Role
    operation: Correctable


class SettledBet(msgspec.Struct, frozen=True):
    """What one bet came to: `amount` is returned + collected + held, and the house pays `paid` besides."""

    number: int
    bettor: str
    wager: str
    box: int
    amount: int
    verdict: str  # won, lost, returned; held: a ruling decides
    clause: str
    because: str
    returned: str
    collected: str
    held: str
    paid: str


class Restrictions(msgspec.Struct, frozen=True):
    """What a pit manager restricts until he lifts it; see `controller.rules.layout.TableRules`."""

    closed_boxes: tuple[int, ...] = ()
    fewer_wagers: tuple[tuple[int, int], ...] = ()
    one_box: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """What a person's operation came to; kept so that a repeat gets the same. `code` empty: accepted."""

    operation_id: str
    operation: str
    person: str
    round: int
    entry: int
    code: str = ""
    sentence: str = ""
