"""The table of a scenario: game, device and hands from its header, and the results of its steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from controller.games import game
from controller.games.specification import Game, Row, Unit
from controller.people_words.table_of_words import NothingDoneError, nth
from controller.people_words.tokens import DEALER, By
from controller.rules.dealing_order import Place, dealing_order, order_after_first_card, served_boxes
from controller.table import events, operations
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.model import Irregularity, Stage
from controller.table.operations import AnyOperation
from controller.table.settings import ChosenReading, Settings
from controller.table.state import TableState
from firmware_bridge.cards import DECK, Card
from simulators.devices.scripted_device import ScriptedDevice
from simulators.scenarios.table_course import StepRefusal, TableCourse

FIRST_CARD: Final = "F"  # names the First Card among hands


class HandsError(ValueError):
    """Raised for hands that no deck deals. The message is a sentence without its full stop."""


def stacked(
    rules: Game,
    unit: Unit,
    boxes: Sequence[int],
    hands: Mapping[str, Sequence[Card]],
    *,
    spare: Sequence[Card] = DECK,
    in_hand: bool = False,
) -> list[Card]:
    """Return the deck. Places and cards that are not named get the remaining cards, in the order of `spare`, a whole
    deck.

    With `in_hand`, the First Card is the first card of a hand (reading 18). Raise `HandsError`.
    """
    wanted = {place: list(cards) for place, cards in hands.items()}
    named = [card for cards in wanted.values() for card in cards]
    if twice := [card for card in named if named.count(card) > 1]:
        raise HandsError(f"{twice[0].code} is named twice, and the deck has it once")
    rest = [card for card in spare if card not in named]
    shown: list[Card] = []
    if rules.first_card is None:
        places = dealing_order(rules.grammar(unit), boxes)
    else:
        shown = [wanted[FIRST_CARD].pop(0) if FIRST_CARD in wanted else rest.pop(0)]
        places = order_after_first_card(rules.first_card, rules.grammar(unit), shown[0].rank)[1 if in_hand else 0 :]
    order = [wanted[place].pop(0) if wanted.get(place) else rest.pop(0) for place in places]
    for place, over in wanted.items():
        if over:
            named_there, dealt = len(hands[place]), len(hands[place]) - len(over)
            served = ", ".join(dict.fromkeys([FIRST_CARD] * len(shown) + list(places)))
            raise HandsError(
                f"`hand {place}` names {named_there} card{'s' * (named_there != 1)}, and the deck deals {dealt} there; "
                f"dealt to are {served}{' (F, the First Card, is one of a hand)' if in_hand else ''}"
            )
    return shown + order + rest


# a fixed order, the same for every scenario
MIXED: Final = tuple(DECK[(23 * place + 7) % len(DECK)] for place in range(len(DECK)))
ABILITIES: Final = {
    "stages": {"stages": True},
    "keeps_stub": {"unloads_stub": False},
    "reads_no_faces": {"recognises_cards": False},
}
"""Words after the unit in the header: a set waits before bets close; the stub stays inside; faces are not read."""


class TableSetting(msgspec.Struct, frozen=True):
    """The table that the header describes.

    `hands` are the cards that places get in the first round, in order. `boxes` are those occupied if there are no
    `wagers`, which are placed in every round.
    """

    game: str
    unit: Unit = Unit.SETS
    abilities: tuple[str, ...] = ()
    boxes: tuple[int, ...] = (1, 3, 6)
    readings: tuple[ChosenReading, ...] = ()
    hands: tuple[tuple[str, tuple[Card, ...]], ...] = ()
    wagers: tuple[operations.PlaceWager, ...] = ()

    @property
    def served(self) -> tuple[int, ...]:
        """The boxes that take cards: those with a main wager if wagers are laid."""
        rules = game(self.game)
        main = {wager.id for wager in rules.wagers if wager.main}
        return served_boxes(rules, [bet.box for bet in self.wagers if bet.wager in main] if self.wagers else self.boxes)

    @property
    def in_hand(self) -> bool:
        """Return whether the First Card is the first card of a hand (reading 18)."""
        return ("first_card", "in_hand") in {(chosen.setting, chosen.option) for chosen in self.readings}

    def deck(self) -> list[Card]:
        """Return the deck in the order that deals the hands. Raise `HandsError` if no order does."""
        rules = game(self.game)
        return stacked(rules, self.unit, self.served, dict(self.hands), spare=MIXED, in_hand=self.in_hand)


def _device(setting: TableSetting, send: Callable[[AnyInput], None]) -> ScriptedDevice:
    """Return a device with the abilities of the header and the deck that deals its hands."""
    device = ScriptedDevice(setting.unit, setting.deck(), send)
    for ability in setting.abilities:
        device.capabilities = replace(device.capabilities, **ABILITIES[ability])
    return device


class Course(TableCourse[ScriptedDevice]):
    """The table of a scenario, and what has happened since the last look at it.

    `rows` has each irregularity's last row, by id. `subject` is the irregularity that steps and expectations are about:
    the last one raised, unless a step names another.
    """

    def __init__(self, setting: TableSetting) -> None:
        rules = game(setting.game)
        settings = Settings(setting.game, setting.unit, rules.boxes[2], True, setting.readings, hands_by_device=True)
        super().__init__(settings, setting.served, lambda send: _device(setting, send))
        self.setting = setting
        self.history: list[AnyEvent] = []
        self.rows: dict[int, Row] = {}
        self.subject = 0
        self.refusal: StepRefusal | None = None  # the refusal of the last step, if it was refused
        self._news: list[tuple[int, AnyEvent]] = []
        self._host_starts = 0
        self.start_host()
        self.connect()
        self.do(operations.OpenTable())

    def news(self) -> list[tuple[int, AnyEvent]]:
        """Return the events since the last call, with their entry numbers."""
        taken, self._news = self._news, []
        return taken

    def about(self) -> Irregularity:
        """Return the open irregularity that a step is about."""
        found = self.state.find_open(self.subject)
        if found is None and len(self.state.open) == 1:
            found = self.state.open[0]
        if found is None:
            listed = ", ".join(one.row.id for one in self.state.open)
            raise NothingDoneError(
                f"write `about CELL` first: open are {listed}" if listed else "no irregularity is open"
            )
        self.subject = found.id
        return found

    # -- a table of words

    def enter(self, operation: AnyOperation, by: By = DEALER) -> None:
        self.do(operation, by.role)

    def enter_decision(self, operation: operations.ConfirmIrregularity | operations.Rule, by: By) -> None:
        self.decide(operation, by.role)

    def twice(self, operation: AnyOperation, by: By = DEALER) -> None:
        for _ in range(2):
            self.do(operation, by.role)

    def about_choice(self) -> Irregularity:
        return next((one for one in self.state.open if one.stage is Stage.CHOOSING), None) or self.about()

    def turn_to(self, cell: str, number: int) -> None:
        found = [one for one in self.state.open if one.row.id == cell]
        if not 1 <= number <= len(found):
            listed = ", ".join(one.row.id for one in self.state.open)
            raise NothingDoneError(f"no {nth(cell, number)} is open; open: {listed or 'none'}")
        self.subject = found[number - 1].id

    def open_irregularities(self) -> tuple[int, ...]:
        return tuple(one.id for one in self.state.open)

    def moves_due(self) -> bool:
        return bool(self.state.moves_due)

    def choosers(self) -> Sequence[tuple[Place, str]]:
        return self.state.round.choosers

    def ordinals_at(self, place: Place) -> tuple[int, ...]:
        return tuple(card.ordinal for card in self.hand_at(place).cards)

    def entries(self) -> Sequence[tuple[int, operations.Operation]]:
        return tuple((one.entry, one.operation) for one in self.state.round.entered)

    def load(self) -> None:
        self.heartbeat()
        self.fresh_deck()

    def put_in(self, deck: str) -> None:
        self.heartbeat()
        self.device.load()
        self.do(operations.LoadDeck(deck))

    def place_your_bets(self) -> None:
        self.do(operations.PlaceYourBets())
        if not self.setting.wagers:
            self.do(operations.OccupyBoxes(self.boxes))
        for wager in self.setting.wagers:
            self.lay(wager)

    def next_round(self) -> None:
        self.load()
        self.place_your_bets()

    def occupy(self, boxes: tuple[int, ...]) -> None:
        self.do(operations.OccupyBoxes(boxes))

    def lay(self, wager: operations.PlaceWager) -> None:
        if all(bettor.id != wager.bettor for bettor in self.state.layout.bettors):
            self.do(operations.EnterBettor(wager.bettor))
        self.do(wager)

    def begin(self) -> None:
        self.load()
        self.place_your_bets()
        self.close_bets()

    def first_card(self) -> None:
        self.open_first_card()

    def deal(self, times: int) -> None:
        for _ in range(times):
            self.deal_one()

    def settle(self) -> None:
        self.count_and_pay()

    def finish(self) -> None:
        self.finish_round()

    def start_host(self) -> None:
        """Power the PC on, so that the daemon starts."""
        self._host_starts += 1
        name = f"start-{self._host_starts}"
        self.start_daemon(name, name, table="scenario")

    def observed(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        for entry, event in numbered:
            self.history.append(event)
            self._news.append((entry, event))
            match event:
                case events.IrregularityRaised(row=row):
                    self.rows[entry] = row
                    self.subject = entry
                case (
                    events.IrregularityConfirmed(irregularity=found, row=row)
                    | events.FactStated(irregularity=found, row=row)
                    | events.IrregularityReopened(irregularity=found, row=row)
                ):
                    self.rows[found] = row
                case events.DealBegan(places=places):
                    self._check_hands(places)

    def _check_hands(self, places: Sequence[str]) -> None:
        """Raise `NothingDoneError` if the first deal begins and will not give the hands of the header.

        A card taken too early is such a mistake in the steps: every later card would go to the wrong place unnoticed.
        """
        if self.state.round.number > 1 or len(self.device.lifted) > (self.state.game.first_card is not None):
            return
        due = places[1:] if self.setting.in_hand else places  # excludes the First Card, which has left the device
        cards = [*self.device.tray, *self.device.inside]
        for place, hand in self.setting.hands:
            gets = [card for at, card in zip(due, cards, strict=False) if at == place]
            if place != FIRST_CARD and gets[: len(hand)] != list(hand):
                boxes = ", ".join(map(str, self.setting.served))
                raise NothingDoneError(
                    f"{place} would not get the hand that the header names: only the first deck that is loaded has it, "
                    f"for wagers on boxes {boxes}; name the boxes in the header as the steps have them"
                )
