"""Values of a table's state: card, hand, deck, device, irregularity, settled bet, answer to an operation."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from controller.games.specification import Choice, Facts, Kind, Row
from controller.roles import Role
from controller.rules.dealing_order import Place
from controller.rules.hands import Outcome
from controller.table.operations import Correctable
from controller.table.stop_causes import named_causes
from firmware_bridge.capabilities import Capabilities, KeyUsed
from firmware_bridge.cards import Card, Concealed
from firmware_bridge.commands import AnyCommand
from firmware_bridge.messages import AnyText, Message, message

CardId: TypeAlias = tuple[int, int]
"""Identifies a card by its shuffle and its ordinal in it, without its face."""


DueDown: TypeAlias = tuple[int, Place, int, int]
"""A card to be put face down: the irregularity, the place (empty: not known), which card of the hand, and its number in
the shuffle (0: not known).
"""


class HeldCard(msgspec.Struct, frozen=True):
    """A card that left the device. `face` None: not recognised. `face_up`: it came out face up."""

    shuffle: int
    ordinal: int
    face: Concealed | None
    face_up: bool = False

    @property
    def id(self) -> CardId:
        return self.shuffle, self.ordinal


class Pile(StrEnum):
    """The piles of cards that left the device and are in no hand, apart from the tray and the cards set aside."""

    BURNT = "burnt"
    DROPPED = "dropped"  # on the floor, or at an unknown place
    DISCARDS = "discards"
    STRAYS = "strays"  # cards of the waiting deck, which are not among the 52


ASIDE = "aside"
"""The name, in a count, of the cards set aside: outside the device, dealt to no place."""
STUB = "stub"
"""The name, in a count, of the cards left in the device with a set in the tray, or taken out after the deal."""
DECK = "deck"
"""The name, in a count, of all cards of a deck."""


class BeforeCount(msgspec.Struct, frozen=True):
    """The account of the cards before a hand count; it is restored if the count is withdrawn.

    `stub`: the counted stub, None if it had not been counted; `size`: the size of the deck according to that count.
    `more`: the cards counted at the pile or place, less those known to be there; for a count of the stub, the cards set
    aside; None if nothing had been counted. `taken_back` and `count_due`: the same as in the state.
    """

    stub: int | None = None
    size: int | None = None
    more: int | None = None
    taken_back: int = 0
    count_due: bool = False


class Hand(msgspec.Struct, frozen=True):
    """The cards of one place (NC 1.5). `dead`: out of play, but it still receives its cards (reading 36)."""

    cards: tuple[HeldCard, ...] = ()
    surplus: int = 0  # cards that a person counted at the place, less those known to be dealt to it
    dead: bool = False
    handled: bool = False
    viewed: bool = False
    shown: tuple[Card, ...] = ()
    named: tuple[Card, ...] = ()  # faces that people saw before the hand was turned over
    named_at: int = 0  # the entry by which they were named
    turned_at: int = 0  # the entry by which people turned exposed cards of it face down
    outcome: Outcome | None = None
    half: bool = False  # it has won, and a win pays half
    differed: int = 0  # entries that differ from what the device read

    @property
    def size(self) -> int:
        return len(self.cards) + self.surplus


class Deck(msgspec.Struct, frozen=True):
    """A deck in the device. `dispensed`: cards that left it, by the device. `stub`: cards counted after the deal.

    `deck`: the device's number for it. `label`: the table's record of it (see `RecordedDeck`).
    """

    deck: int = 0
    shuffle: int = 0
    loaded: int = 0
    dispensed: int = 0
    shuffled: bool = False
    used: bool = False  # cards were dealt from it, or it must not be dealt from
    stub: int | None = None
    stub_out: bool = False  # the stub was taken out: the device has no more cards to deal
    face_up: tuple[int, ...] = ()  # ordinals of cards that the device found face up
    face_up_read: tuple[HeldCard, ...] = ()  # the face-up ones that it read
    face_up_count: int = 0  # how many it found face up during the shuffle, without their ordinals
    by_count: int | None = None  # its size by the last count of the stub: the cards left plus those that left it
    label: str = ""
    quarantined: AnyText = ""  # the reason; only for a deck without a record
    cut: bool = False


class RecordedDeck(msgspec.Struct, frozen=True):
    """A deck that belongs to the table. `back`: its back, unique at the table. `seal`: of its box.

    `quarantined`: why it is out of use. `shuffled_by`: who shuffled it outside; cleared once it is dealt from.
    """

    label: str
    back: str
    seal: str
    quarantined: AnyText = ""
    shuffled_by: str = ""


class OpenCommand(msgspec.Struct, frozen=True):
    """A command without an answer. `seen`: the device reported its effect, so an answer "done" is credible.

    `late`: the answer is overdue, and that was raised.
    """

    id: int
    command: AnyCommand
    seen: bool = False
    late: bool = False


DEVICE_WORDS: Final = {"": message("device"), "shoe": message("shoe"), "shuffler": message("shuffler")}


class Device(msgspec.Struct, frozen=True):
    """The device, according to the journal.

    `boot` and `last_report` name the last report in the journal, `uptime_ms` is the device's clock in it; `drawn_boot`
    and `drawn_ms` are those of the last card drawn. `running_boot`: the device's present start. `stops`: the causes for
    which it moves no cards; `well`: those that it has withdrawn and that a person still has to end.
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
    exit_fails: bool = False  # it refused to hold or to release its exit; reset at the next link, deck or round
    exit_differs: int = 0  # statuses that contradict the last answered order to the exit
    exit_repeated: bool = False  # that order was repeated
    newest_withheld: int = 0  # the device's newest report when the table gave up reports that the device withheld
    open_commands: tuple[OpenCommand, ...] = ()
    stops: tuple[AnyText, ...] = ()
    well: tuple[AnyText, ...] = ()
    status_agrees: bool = False
    uptime_ms: int | None = None
    drawn_boot: int = 0
    drawn_ms: int | None = None
    firmware_digest: str = ""
    key: KeyUsed = ""
    image: str = ""  # SHA-256 of the approved program that it has shown to run
    lost_code: str = ""  # why the last link ended; empty: none ended since the daemon started

    @property
    def word(self) -> Message:
        """Return the word for the device; "device" before the first one is connected."""
        return DEVICE_WORDS.get(self.kind, DEVICE_WORDS[""])

    @property
    def stopped(self) -> Message | None:
        """Return why it has stopped, or None if it has not."""
        return named_causes(self.stops) if self.stops else None

    @property
    def moving(self) -> OpenCommand | None:
        """Return the open command that moves cards, of which there is at most one."""
        return next((opened for opened in self.open_commands if opened.command.moves_cards), None)


class Move(NamedTuple):
    """A card that people move from one place or pile to another. For a card turned face down both are its place.

    `ordinal`: its number in the shuffle; 0: not known. `card`: which card of the hand it is, 1 to 3; 0: not known.
    `place` is empty if it is not known.
    """

    ordinal: int
    source: str
    place: str
    card: int = 0


class Stage(StrEnum):
    """Stages of an open irregularity, by what it waits for."""

    CLAIMED = "claimed"  # a person confirms or denies the fact
    ORDERING = "ordering"  # a person names the order of simultaneous cards
    CHOOSING = "choosing"  # every bettor chooses
    MOVING = "moving"  # people put cards where they belong
    RULING = "ruling"  # a person rules


class Asking(msgspec.Struct, frozen=True):
    """A first request of something that takes effect when it is entered again; `entry`: that of the request.

    `screen`: the one at which it was entered; empty: at none. `utc_ns`: when; 0: not kept. `facts`: those stated in it;
    `authority`: the one by which it was ruled.
    """

    entry: int
    person: str = ""
    screen: str = ""
    utc_ns: int = 0
    facts: Facts = Facts()
    authority: str = ""


class Turn(msgspec.Struct, frozen=True):
    """The last event that gave the operations offered to people another meaning. `what`: its name, `entry`: its number.

    `operation`: the entry of the operation from which it followed; 0: it followed from none.
    """

    entry: int = 0
    what: str = ""
    operation: int = 0


class Irregularity(msgspec.Struct, frozen=True):
    """An irregularity. `id`: the entry that raised it. `revision`: the entry that changed it last.

    `first_facts`: the facts when it was raised. `origin`: the entry of the operation with which it was noticed.
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
    card: int | None = None  # 1 to 3: which card of the hand, if people named one
    ordinals: tuple[int, ...] = ()  # the ordinals of the cards concerned
    note: AnyText = ""  # what was noticed, in words
    counted: int | None = None
    counted_by: int = 0  # the entry of the count of stub or deck that answered it
    choices: tuple[tuple[Place, str, Choice], ...] = ()  # place, bettor (empty: the box counts as one), choice
    dealt_at_choice: int = 0  # cards of the deal that had left the device at the last choice
    first_facts: Facts = Facts()
    origin: int = 0
    of_deck: str = ""  # the recorded deck in question
    waiting: bool = False  # it is about the deck that waits for the next round, not about a round
    void_asked: bool = False  # a void was requested once; it takes effect when it is requested again
    void_because: AnyText = ""  # why the round would be void, by that request
    asking: Asking | None = None  # that request
    noticed_by: str = ""  # device, inference or a person; empty: not kept

    @property
    def fell(self) -> bool:
        """Return whether one of its cards fell to the floor."""
        return self.kind is Kind.DROPPED_CARD or (self.kind is Kind.PLAYER_EXPOSED and bool(self.facts.dropped))


DENIED = "denied"
"""The outcome of an irregularity that proved not to be one."""
CORRECTED = "corrected"
"""The outcome of an irregularity noticed with an entry that proved wrong."""
NOT_SO = frozenset({DENIED, CORRECTED})
"""Outcomes by which there never was an irregularity."""


class Closed(msgspec.Struct, frozen=True):
    """An irregularity of this round as it was when it ended, and its outcome: a disposition, denied, ruling ..."""

    found: Irregularity
    outcome: str


class Entered(msgspec.Struct, frozen=True):
    """An operation of this round that may be corrected, with its journal entry."""

    entry: int
    person: str
    role: Role
    operation: Correctable


class SettledBet(msgspec.Struct, frozen=True):
    """The settlement of one bet: `amount` = returned + collected + held; the house pays `paid` in addition."""

    number: int
    bettor: str
    wager: str
    box: int
    amount: int
    verdict: str  # won, lost, returned; held: it needs a ruling
    clause: str
    because: AnyText
    returned: str
    collected: str
    held: str
    paid: str


class PaidBox(msgspec.Struct, frozen=True):
    """The payment of the main bets at a box without entered bets. `title`: the wager's; empty: all are paid alike.

    `verdict`: won, lost, returned; out: the hand was out of play. `net`: what a bet of one unit won.
    """

    place: Place
    title: str
    verdict: str
    net: str = "0"


class Restrictions(msgspec.Struct, frozen=True):
    """Restrictions set by a pit manager until further notice; see `controller.rules.layout.TableRules`."""

    closed_boxes: tuple[int, ...] = ()
    fewer_wagers: tuple[tuple[int, int], ...] = ()
    one_box: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """The answer to a person's operation, kept so that a repeat gets the same answer. `code` is empty if it was
    accepted.

    `screen`: the enrolled screen at which it was accepted, by its id.
    """

    operation_id: str
    operation: str
    person: str
    round: int
    entry: int
    code: str = ""
    sentence: AnyText = ""
    screen: str = ""


Proof: TypeAlias = Literal["", "user", "pin", "screen"]
"""The way in which a person proved who it is; `screen`: by the dealer's sign-on there; empty: not recorded."""


class PinLock(msgspec.Struct, frozen=True):
    """Wrong PINs entered for a person by one user of the machine or at one screen; see `PinRefused`.

    If `uid` is None and `screen` is empty, they were entered in a browser that is not enrolled.
    """

    person: str
    uid: int | None
    failures: int = 0
    locks: int = 0
    locked_until_utc_ns: int = 0
    screen: str = ""


class Screen(msgspec.Struct, frozen=True):
    """A browser that a supervisor enrolled: people may operate the table there.

    `token_hash`: SHA-256 of its cookie's value, in hex; `id`: its first digits. `dealer`: who is signed on there until
    `until_utc_ns`; empty: nobody. `since`: the entry of that sign-on, or 0 if an earlier version recorded it;
    `host_boot`: the boot of the PC during which it took place.
    """

    id: str
    name: str
    token_hash: str
    dealer: str = ""
    until_utc_ns: int = 0
    since: int = 0
    host_boot: str = ""
