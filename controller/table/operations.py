"""Operations that people enter at the table: one type per operation, as a console or a program sends it.

The tag is the operation's name in the API and in journals: it never changes. `controller.table.permissions` says who
may do it, when, and what follows.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias, Union

import msgspec

from controller.games.specification import Choice, Facts, Kind, RulingAction
from controller.rules.dealing_order import Place
from firmware_bridge.cards import Card


class Operation(msgspec.Struct, frozen=True, tag_field="operation", forbid_unknown_fields=True):
    """Base class of all operations."""


# -- the table: opened and closed, paused, in service, on duty, maintained


class OpenTable(Operation, frozen=True, tag="open_table"):
    """Open the table."""


class CloseTable(Operation, frozen=True, tag="close_table"):
    """Close the table."""


class PauseTable(Operation, frozen=True, tag="pause_table"):
    """Stop play immediately. At a paused table, replace the reason of the pause."""

    reason: str


class ResumeTable(Operation, frozen=True, tag="resume_table"):
    """Resume play."""


class ContinueRound(Operation, frozen=True, tag="continue_round"):
    """Continue after a lost link or a restart: the person has compared the table with the screen."""


class ReturnToService(Operation, frozen=True, tag="return_to_service"):
    """Return the table to service once the cause has been fixed: the link is opened and the device is checked against
    the journal again.
    """


class DealerOn(Operation, frozen=True, tag="dealer_on"):
    """Start duty: the person who enters it deals from now on."""


class DealerOff(Operation, frozen=True, tag="dealer_off"):
    """End the duty of the dealer, who leaves the table; no one takes over."""


class TakeOver(Operation, frozen=True, tag="take_over"):
    """Take over the table, also in a round, as the dealer on duty. `open`: the ids of all open irregularities."""

    open: tuple[int, ...] = ()


class EnrolScreen(Operation, frozen=True, tag="enrol_screen"):
    """Make a browser a screen at which people operate the table. `POST /v1/screen/enrolment` enters it.

    `token_hash`: SHA-256 of its cookie's value, 64 hexadecimal digits; the first 12 are the screen's id.
    """

    name: str
    token_hash: str


class RemoveScreen(Operation, frozen=True, tag="remove_screen"):
    """Remove a screen, which may then only display. `screen`: its id."""

    screen: str


class SignOn(Operation, frozen=True, tag="sign_on"):
    """Sign on at a screen: entries there without a name are this dealer's, until it is locked or the shift is over."""


class LockScreen(Operation, frozen=True, tag="lock_screen"):
    """Lock a screen: the dealer's sign-on there ends. The dealer stays on duty."""


class BeginMaintenance(Operation, frozen=True, tag="begin_maintenance"):
    """Begin maintenance between rounds: people test, clean or repair the device, and its cards belong to no round."""

    reason: str


class EndMaintenance(Operation, frozen=True, tag="end_maintenance"):
    """End maintenance. The deck has to be loaded, shuffled and counted again before the next round."""


class Instruction(StrEnum):
    """Instructions to a device under maintenance."""

    DISPENSE = "dispense"
    SHUFFLE = "shuffle"
    UNLOAD_STUB = "unload_stub"
    RUN_SELF_TEST = "run_self_test"
    HOLD_EXIT = "hold_exit"
    RELEASE_EXIT = "release_exit"


class InstructDevice(Operation, frozen=True, tag="instruct_device"):
    """Operate the device under maintenance. `cards`: the size of the set to dispense, 1 to 5, else 0."""

    instruction: Instruction
    cards: int = 0


# -- the course of a round


class PlaceYourBets(Operation, frozen=True, tag="place_your_bets"):
    """Begin a round with the Dealer's announcement."""


class CancelStart(Operation, frozen=True, tag="cancel_start"):
    """Cancel a start that was entered by mistake: the previous round is open again for errors found in it.

    `announced`: "Place your bets" was announced and no one bets; the previous round is over.
    """

    announced: bool = False


class OccupyBoxes(Operation, frozen=True, tag="occupy_boxes"):
    """Name the boxes with a main wager. The last entry before "No more bets" counts."""

    boxes: tuple[int, ...]


class NoMoreBets(Operation, frozen=True, tag="no_more_bets"):
    """Begin the deal with the Dealer's announcement."""


class ReopenBets(Operation, frozen=True, tag="reopen_bets"):
    """Reopen bets after "No more bets" was entered by mistake; possible until a card has left the device."""


class ShowFirstCard(Operation, frozen=True, tag="show_first_card"):
    """Turn over the First Card. `card`: the card as people see it.

    None confirms the card that the device read, if the table accepts that (`hands_by_device`).
    """

    card: Card | None = None


class HandleCards(Operation, frozen=True, tag="handle_cards"):
    """Record that the Player at a place touched cards; `viewed`: and looked at them. `bettor`: who did, if stated."""

    place: Place
    viewed: bool = False
    bettor: str = ""


class PlayersExamined(Operation, frozen=True, tag="players_examined"):
    """Record that all Players examined their cards (NC 3.13). It does not say who has handled or viewed any."""


class ExposeHand(Operation, frozen=True, tag="expose_hand"):
    """Turn over a hand. `cards`: as people see them; None: as the device read them (`hands_by_device`)."""

    place: Place
    cards: tuple[Card, ...] | None = None


class NameExposed(Operation, frozen=True, tag="name_exposed"):
    """Name the faces of a hand that people saw before it is turned over; the last entry for a place is valid.

    Exposed cards decide whether an outcome is established (RTP 5.13, NC 5.4). The exposure itself is reported as an
    irregularity, if it is one.
    """

    place: Place
    cards: tuple[Card, ...]


class RecordSettled(Operation, frozen=True, tag="record_settled"):
    """Record that the chips are paid, or the bets of a void round returned. The next round may begin before that."""


class ConcludeRound(Operation, frozen=True, tag="conclude_round"):
    """Conclude the round. This takes effect when it is entered a second time."""


class AbandonRound(Operation, frozen=True, tag="abandon_round"):
    """Abandon a round that cannot be finished, by a named person's ruling; effective when entered again unchanged.

    `authority`: who rules; `text`: why.
    """

    authority: str
    text: str


# -- bettors and their wagers


class EnterBettor(Operation, frozen=True, tag="enter_bettor"):
    """Enter a person who bets. `seat`: the bettor's box; None: standing. A second entry moves the bettor."""

    bettor: str
    seat: int | None = None


class BettorLeaves(Operation, frozen=True, tag="bettor_leaves"):
    """Remove a bettor; possible while no bet of the bettor is on the layout."""

    bettor: str


class PlaceWager(Operation, frozen=True, tag="place_wager"):
    """Add `amount` units to a wager of a box. `overlooked`: the bet is there although the rules do not allow it.

    `placed_by`: the name of the Dealer, Pit Supervisor or Pit Manager who placed it at the Player's request (RTP 3.6,
    NC 5.16); empty: the Player did. The wager is the Player's all the same.
    """

    bettor: str
    wager: str
    box: int
    amount: int
    overlooked: bool = False
    placed_by: str = ""


class ChangeWager(Operation, frozen=True, tag="change_wager"):
    """Change a bet to `amount` units in all."""

    bet: int
    amount: int


class TakeBackWager(Operation, frozen=True, tag="take_back_wager"):
    """Take a wager back."""

    bet: int


class RejectExcess(Operation, frozen=True, tag="reject_excess"):
    """Hand back chips over a maximum before bets are closed."""


class RestrictBetting(Operation, frozen=True, tag="restrict_betting"):
    """Set everything that a pit manager restricts: an empty list lifts a restriction."""

    closed_boxes: tuple[int, ...] = ()
    fewer_wagers: tuple[tuple[int, int], ...] = ()
    one_box: tuple[str, ...] = ()


# -- cards: their places and numbers


class ShuffledOutside(Operation, frozen=True, tag="shuffled_outside"):
    """Record that a deck was shuffled by hand or by a batch shuffler. For a shoe this replaces the device's shuffle.

    `deck`: a recorded deck, which may still be outside the device; it counts as shuffled when it is loaded.
    """

    by: str
    deck: str = ""


class CardAt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The place of the card that left the device as number `ordinal` of this round's shuffle.

    `place`: a place of the deal; `dropped`: on the floor; `discards`: for the cards of a dead hand.
    """

    ordinal: int
    place: Place


class PlaceCards(Operation, frozen=True, tag="place_cards"):
    """Record that cards are at places other than the order of the deal says. A whole hand is named card by card.

    A card that was dropped and found is named with its present place.
    """

    cards: tuple[CardAt, ...]


class DealByHand(Operation, frozen=True, tag="deal_by_hand"):
    """Record that people dealt `cards` from the stub to the places whose turn it was, as the device does not work."""

    cards: int
    because: str


class CountCards(Operation, frozen=True, tag="count_cards"):
    """Record a count by hand, with a witness. The last count of a pile is valid.

    `pile`: `stub` (with a set in the tray), `tray`, `burnt`, `aside`, `dropped`, `discards`, a place (`B1`, `D`); or
    `deck`, the whole deck between rounds, and in a round the deck that waits for the next one.
    """

    pile: str
    number: int
    witness: str


class CountAgain(Operation, frozen=True, tag="count_again"):
    """Replace the last entry, a wrong count by hand, with another count of that pile. Fields as in `count_cards`.

    What the wrong count raised or answered is undone, as by a correction of the entry.
    """

    pile: str
    number: int
    witness: str


# -- whole decks


class BringDeck(Operation, frozen=True, tag="bring_deck"):
    """Bring a deck, counted with a witness. `another`: it is not the quarantined deck that has the same back."""

    deck: str
    back: str
    seal: str
    count: int
    witness: str
    another: bool = False


class TakeDeckOut(Operation, frozen=True, tag="take_deck_out"):
    """Take a deck away from the table, counted with a witness."""

    deck: str
    reason: str
    count: int
    witness: str


class LoadDeck(Operation, frozen=True, tag="load_deck"):
    """Name the table's deck that was put into the device, which has a number for it but no name.

    If the device does not report a loaded deck, this records it; `deck` is empty if the table records none.
    """

    deck: str = ""


class QuarantineDeck(Operation, frozen=True, tag="quarantine_deck"):
    """Take a deck out of use until it is released: the one in play if `deck` is empty."""

    deck: str
    reason: str


class ReleaseDeck(Operation, frozen=True, tag="release_deck"):
    """Release a deck that was examined and counted with a witness; `deck` empty: the one in play."""

    deck: str
    reason: str
    count: int
    witness: str


class CutDeck(Operation, frozen=True, tag="cut_deck"):
    """Record that the deck in a manual shoe was cut. The cutting card is not one of the 52."""


# -- irregularities: reported, decided


class ReportIrregularity(Operation, frozen=True, tag="report_irregularity"):
    """Report something that a person noticed. `counted`: the number of cards at the place, for a wrong count.

    `earlier`: it is about the round before the one in progress.
    """

    kind: Kind
    place: Place | None = None
    card: int | None = None  # 1 to 3: which card of the hand
    counted: int | None = None
    note: str = ""
    earlier: bool = False


class ConfirmIrregularity(Operation, frozen=True, tag="confirm_irregularity"):
    """Confirm the fact. `facts` answers the questions of the irregularity."""

    irregularity: int
    revision: int
    facts: Facts = Facts()


class DenyIrregularity(Operation, frozen=True, tag="deny_irregularity"):
    """Deny the fact: the device or the person was mistaken."""

    irregularity: int
    revision: int
    reason: str


class NameOrder(Operation, frozen=True, tag="name_order"):
    """Name the ordinals of simultaneous cards in the order in which they are to be dealt."""

    irregularity: int
    revision: int
    ordinals: tuple[int, ...]


class ChooseOption(Operation, frozen=True, tag="choose_option"):
    """Record the choice of a bettor of a box; without entered wagers the box counts as one bettor.

    `absent`: the bettor is away; a pit supervisor lets the bets stand (reading 40).
    """

    irregularity: int
    revision: int
    place: Place
    choice: Choice
    absent: bool = False
    bettor: str = ""


class Reconstruct(Operation, frozen=True, tag="reconstruct"):
    """Record that the cards were put where they belong, as the screen showed.

    `irregularity` 0: cards moved after everything is decided: set aside, or exposed and to be turned down.
    """

    irregularity: int = 0
    revision: int = 0


class Rule(Operation, frozen=True, tag="rule"):
    """Rule if the document is silent or refers to a person: what is done, by which authority, and why.

    `places`: the hands to remove. `bets`: the bets to return, or to settle as they lie (continue). `ordinals`: the
    order of the cards.
    """

    irregularity: int
    revision: int
    action: RulingAction
    authority: str
    text: str
    places: tuple[Place, ...] = ()
    ordinals: tuple[int, ...] = ()
    bets: tuple[int, ...] = ()


# -- concealed cards, when the law reconstructs


class RecallCards(Operation, frozen=True, tag="recall_cards"):
    """Ask for the faces that the device read, to reconstruct what happened. Only the answer has them.

    `of_round`: a round that is over, or the one in progress while an irregularity has its cards put right or in order.
    `place`: a place of the deal, `tray` or `aside`; empty: every card; in a round in progress it is named.
    """

    of_round: int
    reason: str
    place: Place = ""


# -- corrections of what was entered


# Operations that a correction may replace with another of the same kind; the others can only be struck out.
Replaceable: TypeAlias = HandleCards | ExposeHand | ShowFirstCard | OccupyBoxes | CountCards | ReportIrregularity
Correctable: TypeAlias = (
    Replaceable | ConfirmIrregularity | DenyIrregularity | ChooseOption | Rule | RecordSettled | ConcludeRound
)


class CorrectEntry(Operation, frozen=True, tag="correct_entry"):
    """Correct a wrong operation of this round. `entry` is its journal entry, as its answer gave it.

    `instead`: what should have been entered, of the same kind; None strikes it out. Decisions that rested on it are
    reopened.
    """

    entry: int
    reason: str
    instead: Replaceable | None = None


class CorrectBet(Operation, frozen=True, tag="correct_bet"):
    """Correct a bet as it lay at "No more bets": `amount` units in all; 0: there was no such bet.

    `bet` 0: the bet was not entered; bettor, wager and box describe it. `placed_by`: as in `place_wager`; empty:
    unchanged.
    """

    bet: int
    amount: int
    reason: str
    bettor: str = ""
    wager: str = ""
    box: int = 0
    placed_by: str = ""


if TYPE_CHECKING:
    AnyOperation: TypeAlias = Operation
else:
    AnyOperation = Union[tuple(Operation.__subclasses__())]  # noqa: UP007  # every operation above, for the decoders
