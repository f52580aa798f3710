"""Lines of words at a running table: enters their operations, and waits for people at the device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final
from uuid import uuid4

from controller.api.bodies import OperationRequest, RecalledCard
from controller.api.irregularity_view import IrregularityView
from controller.api.view import TableView
from controller.commands.operate.running_table import RunningTable
from controller.commands.operate.signing import LineSigner
from controller.games import game
from controller.games.specification import StepKind, Unit
from controller.people_words import WORDS
from controller.people_words.reading import find_word, read_line
from controller.people_words.table_of_words import NothingDoneError, nth
from controller.people_words.tokens import DEALER, By, Tokens
from controller.people_words.word import WITNESS, Act
from controller.roles import Role
from controller.rules.dealing_order import DEALER as DEALERS_PLACE
from controller.rules.dealing_order import Place
from controller.table import operations
from controller.table.model import Stage
from controller.table.operations import AnyOperation
from controller.table.phases import AFTER_DEAL, BEGINNING, BETWEEN_ROUNDS, DEALING, Phase, Service
from firmware_bridge.messages import AnyText, Message, MessageError, message

IN_A_SET: Final = 3  # cards that the table counts as dealt when a set is lifted


class RefusedLineError(MessageError):
    """Raised for a line that the table refused."""


class Line:
    """A line that was read. `by` is the person who does all of it, unless the word itself names somebody."""

    def __init__(self, words: Sequence[str], say: Callable[[Message], str] = str) -> None:
        """Read the words. Raise `UnreadableLineError` if they do not form an operation."""
        words, self.by = _split_person(list(words))
        self.act: Act = read_line(words, WORDS, people=True, say=say)


def _split_person(words: list[str]) -> tuple[list[str], By]:
    """Split off a final `by NAME`, which is allowed after words that name nobody themselves."""
    word, _ = find_word(
        words, WORDS, message("'{words}' does not begin a line", words=" ".join(words[:2])), people=True
    )
    form = WORDS[word].form
    if "by" not in words or "[by ROLE]" in form or "REASON" in form:
        return words, DEALER
    at = words.index("by")
    return words[:at], Tokens(words[at:], people=True).by(Role.DEALER)


class Operator:
    """Carries out lines at a table, as `TableOfWords` describes. `again` returns whether a person confirms a
    repetition.

    With `steady`, lines stay about one irregularity until it is over, so that a person who types does not decide about
    a newer one; otherwise they are about the newest. `waits` reports what a line waits for. `recalled` and `sentence`
    are the table's answer to the last line, for the person who asked.
    """

    def __init__(
        self,
        table: RunningTable,
        signer: LineSigner,
        again: Callable[[Message], bool],
        *,
        steady: bool = False,
        waits: Callable[[Message], None] = lambda said: None,
    ) -> None:
        self._waits = waits
        self._table = table
        self._signer = signer
        self._again = again
        self._steady = steady
        self._by = DEALER
        self._boxes: tuple[int, ...] = ()
        self._dealt = 0, 0  # the round and its dealt cards at the end of the last line
        self.subject = 0
        self.answered = ""  # the id of the last request, whose result is its answer
        self.entries_made: list[int] = []
        self.recalled: tuple[RecalledCard, ...] = ()
        self.sentence = ""

    def do(self, line: Line) -> None:
        """Carry out a line. Raise `RefusedLineError` and `NothingDoneError`."""
        self.entries_made, self.recalled, self.sentence = [], (), ""
        self._by = line.by
        try:
            line.act(self)
        finally:
            self._dealt = self.view.round, self.view.dealt

    def raised(self, irregularity: int) -> None:
        if not (self._steady and self._open(self.subject)):
            self.subject = irregularity

    @property
    def view(self) -> TableView:
        return self._table.view

    # -- entering operations

    def enter(self, operation: AnyOperation, by: By = DEALER) -> None:
        if getattr(operation, "witness", "") == WITNESS:
            raise NothingDoneError(message("a count needs a witness; end the line with `witness NAME`"))
        person, pin = self._signer.sign(by if by.said or not self._by.said else self._by, self._table.people)
        self.answered = str(uuid4())
        answer = self._table.send(OperationRequest(self.answered, self.view.round, operation, person, pin))
        if not answer.accepted:
            raise RefusedLineError(answer.explanation, code=answer.code)
        self.entries_made.append(answer.entry)
        self.recalled, self.sentence = answer.recalled, str(answer.sentence)

    def enter_decision(self, operation: operations.ConfirmIrregularity | operations.Rule, by: By) -> None:
        def asked() -> bool:
            found = self._open(operation.irregularity)
            return found is not None and found.void_asked

        self._enter_again(operation, by, asked, message("The round becomes void, and all bets are returned."))

    def twice(self, operation: AnyOperation, by: By = DEALER) -> None:
        def asked() -> bool:
            ends = isinstance(operation, operations.ConcludeRound)
            return self.view.conclusion_asked if ends else self.view.abandon_asked

        self._enter_again(operation, by, asked, message("Round {round} ends with this.", round=self.view.round))

    def _enter_again(self, operation: AnyOperation, by: By, asked: Callable[[], bool], said: Message) -> None:
        """Enter an operation that must be repeated, and ask before the request that takes effect."""
        if not asked():
            self.enter(operation, by)
        if asked():
            if not self._again(said):
                raise NothingDoneError(message("nothing was done; enter the line again if it is meant"))
            self.enter(operation, by)

    # -- what is on the table

    def _open(self, irregularity: int) -> IrregularityView | None:
        return next((one for one in self.view.irregularities if one.id == irregularity), None)

    def about(self) -> IrregularityView:
        found = self._open(self.subject)
        if found is None and len(self.view.irregularities) == 1:
            found = self.view.irregularities[0]
        if found is None:
            if not self.view.irregularities:
                raise NothingDoneError(message("no irregularity is open"))
            raise NothingDoneError(message("write `about CELL` first: open are {cells:list}", cells=self._cells))
        self.subject = found.id
        return found

    @property
    def _cells(self) -> tuple[str, ...]:
        return tuple(one.row for one in self.view.irregularities)

    def about_choice(self) -> IrregularityView:
        return self._choosing() or self.about()

    def _choosing(self) -> IrregularityView | None:
        return next((one for one in self.view.irregularities if one.stage == Stage.CHOOSING), None)

    def turn_to(self, cell: str, number: int) -> None:
        found = [one.id for one in self.view.irregularities if one.row == cell]
        if not 1 <= number <= len(found):
            cells = self._cells or message("none")
            raise NothingDoneError(
                message("no {cell} is open; open: {cells:list}", cell=nth(cell, number), cells=cells)
            )
        self.subject = found[number - 1]

    def open_irregularities(self) -> tuple[int, ...]:
        return tuple(one.id for one in self.view.irregularities)

    def moves_due(self) -> bool:
        return bool(self.view.moves)

    def choosers(self) -> Sequence[tuple[Place, str]]:
        found = self._choosing()
        if found is None:
            raise NothingDoneError(message("no bettor has to choose"))
        if found.bettors_due:
            return tuple((one.place, one.bettor) for one in found.bettors_due)
        return tuple((place, "") for place in found.choices_due)

    def entries(self) -> Sequence[tuple[int, operations.Operation]]:
        return tuple((one.entry, one.said) for one in self.view.entries)

    # -- what people do with the device: the table shows when it is done

    def _until(self, done: Callable[[TableView], bool]) -> None:
        if not done(self.view):
            self._waits(message("Waiting; press Ctrl-C to stop. {next_step}", next_step=self.view.next_step))
            self._table.until(done)

    def load(self) -> None:
        """Wait for a deck. With a shoe, also enter that the deck was shuffled by hand."""
        if self.view.phase not in BETWEEN_ROUNDS:
            raise NothingDoneError(message("a round is in progress; put the deck in when the round is over"))
        if self.view.unit == Unit.SINGLES:
            self._until(lambda view: _deck_is_in(view) or bool(view.irregularities))
            if not _deck_is_fit(self.view):
                self.enter(operations.ShuffledOutside("hand"))
        self._until(lambda view: _deck_is_fit(view) or bool(view.irregularities))

    def put_in(self, deck: str) -> None:
        self.enter(operations.LoadDeck(deck))

    def place_your_bets(self) -> None:
        """Open the bets, and mark the boxes that were named before."""
        self.enter(operations.PlaceYourBets())
        if self._boxes and not game(self.view.game).every_hand:
            self.enter(operations.OccupyBoxes(self._boxes))

    def next_round(self) -> None:
        """Open the next round. Wait for a deck only if a round may begin; otherwise the table says why not."""
        if self.view.phase in BEGINNING:
            self.load()
        self.place_your_bets()

    def occupy(self, boxes: tuple[int, ...]) -> None:
        """Mark boxes. Before bets open, they are kept for the following rounds."""
        if self.view.phase == Phase.BETTING:
            self.enter(operations.OccupyBoxes(boxes))
        self._boxes = boxes

    def lay(self, wager: operations.PlaceWager) -> None:
        try:
            self.enter(wager)
        except RefusedLineError as refused:
            if refused.code != "unknown-bettor":
                raise
            self.enter(operations.EnterBettor(wager.bettor))
            self.enter(wager)

    def begin(self) -> None:
        """Begin a round up to the deal. Wait for a deck if a round may begin; otherwise the table says why not."""
        if self.view.phase in BEGINNING:
            self.load()
        if self.view.phase != Phase.BETTING:
            self.place_your_bets()
        if self.view.phase == Phase.BETTING and not (self.view.boxes or self.view.bets):
            raise NothingDoneError(
                message("bets are open; write `boxes 1 3` for the boxes with a bet, then `begin` again")
            )
        self.enter(operations.NoMoreBets())
        if self.view.phase == Phase.FIRST_CARD:
            self.first_card()

    def first_card(self) -> None:
        self._until(lambda view: bool(view.first_card) or view.phase != Phase.FIRST_CARD or _stops(view))
        self.enter(operations.ShowFirstCard())

    def deal(self, times: int) -> None:
        """Wait for so many more sets or cards. A script counts those that come from the end of its last line on, since
        a bench may move cards as soon as it reads the new line.
        """
        last_round, dealt = self._dealt
        if self._steady or last_round != self.view.round:
            dealt = self.view.dealt
        due = dealt + times * (IN_A_SET if self.view.unit == Unit.SETS else 1)
        self._wait_for_cards(min(due, self.view.to_deal))

    def deal_all(self) -> None:
        if self.view.phase not in DEALING | AFTER_DEAL:
            raise NothingDoneError(message("no card is dealt now: {next_step}", next_step=_phrase(self.view.next_step)))
        self._wait_for_cards(self.view.to_deal)

    def _wait_for_cards(self, dealt: int) -> None:
        """Wait until `dealt` cards are on the table. If the deal stops before, say why, unless an irregularity
        does.
        """
        if self.view.phase not in DEALING:
            return
        self._until(lambda view: view.dealt >= dealt or view.phase not in DEALING or _stops(view))
        if self.view.phase in DEALING and self.view.dealt < dealt and not self.view.irregularities:
            raise NothingDoneError(
                message(
                    "the deal stopped at {dealt} cards: {next_step}",
                    dealt=self.view.dealt,
                    next_step=_phrase(self.view.next_step),
                )
            )

    def open_all(self) -> None:
        """Open the Dealer's hand first, or last if the Players' hands are returned before it."""
        players_first = game(self.view.game).step(StepKind.RETURNING) is not None
        players = [hand.place for hand in self.view.hands if hand.place != DEALERS_PLACE and not hand.dead]
        for place in (*players, DEALERS_PLACE) if players_first else (DEALERS_PLACE, *players):
            if any(hand.place == place and not hand.shown for hand in self.view.hands):
                self.enter(operations.ExposeHand(place))

    def settle(self) -> None:
        """Settle. Wait for a stub that the device counts; for one that people count, the table asks."""
        if self.view.stub_comes:
            self._until(lambda view: not view.stub_comes or bool(view.irregularities) or _stops(view))
        self.enter(operations.RecordSettled())

    def finish(self) -> None:
        self.deal_all()
        self.open_all()
        self.settle()
        self.twice(operations.ConcludeRound())


def lines_of_answer(operator: Operator) -> Iterator[AnyText]:
    """Yield the answer to the last line: recalled cards, or the reason why there are none."""
    for card in operator.recalled:
        known = card.card or message("not known: the device did not read it")
        yield message("{place}: card {number} is {card}", place=card.place, number=card.ordinal, card=known)
    if operator.sentence:
        yield operator.sentence


def _phrase(sentence: AnyText) -> str:
    """Return a sentence as the end of another one."""
    return str(sentence).rstrip(".\N{IDEOGRAPHIC FULL STOP}")


def _stops(view: TableView) -> bool:
    return view.held or view.service != Service.IN_SERVICE


def _deck_is_in(view: TableView) -> bool:
    return view.next_deck is not None or (view.deck.loaded > 0 and not view.deck.used)


def _deck_is_fit(view: TableView) -> bool:
    if view.next_deck is not None:
        return view.next_deck.fit
    return view.deck.loaded > 0 and view.deck.shuffled and not view.deck.used
