"""The plan of a seed: for each round the occupied boxes, one irregularity or none, and what people choose.

The plan depends on its arguments alone, so the irregularities that a run must show follow from its seed. The place of a
fault is the position of a card in the dealing order, never a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from random import Random
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from controller.games import game
from controller.games.own_words import DEALER
from controller.games.specification import Facts, Game, Kind, Unit
from controller.games.wager_specification import Wager
from controller.rules.dealing_order import Place, served_boxes
from controller.rules.law import Law, find_row, read_law
from controller.rules.layout import DEALERS_SPOT
from simulators.devices.armed_faults import (
    CARD_STUCK,
    LOCK_SLIPS,
    STUB_MISCOUNTED,
    UNSEEN_CARD,
    ArmedFault,
)
from simulators.devices.mechanism import SET_SIZE

AMOUNTS: Final = (10, 20, 50, 100)  # units; even, so that half of each is whole
SIDE_WAGER: Final = 0.3  # the chance of each side wager that a guest may add
VISITOR: Final = "visitor"
VISITS: Final = 0.4  # the chance that the visitor bets in a round


class PlannedWager(msgspec.Struct, frozen=True):
    """A bet placed while bets are open. `seat` is its bettor's box, or None for a standing visitor."""

    bettor: str
    seat: int | None
    wager: str
    box: int
    amount: int


def plan_wagers(law: Law, boxes: Sequence[int], random: Random) -> tuple[PlannedWager, ...]:
    """Return the bets of a round with these occupied boxes: a main wager on each, and some side wagers."""
    main = [wager for wager in law.wagers if wager.main]
    sides = [wager for wager in law.wagers if not wager.main]
    planned = []
    for box in boxes:
        chosen = [random.choice(main), *(side for side in sides if random.random() < SIDE_WAGER)]
        planned += [_guest_wager(wager, box, random) for wager in chosen]
    if random.random() < VISITS:
        box, wager = random.choice(boxes), random.choice(main)
        planned.append(PlannedWager(VISITOR, None, wager.id, box, random.choice(AMOUNTS)))
    return tuple(planned)


def _guest_wager(wager: Wager, box: int, random: Random) -> PlannedWager:
    lies_on = DEALERS_SPOT if wager.on_dealer else box
    return PlannedWager(f"guest {box}", box, wager.id, lies_on, random.choice(AMOUNTS))


SHARE_EXCHANGED: Final = 0.2  # as a share of the chance of any other mishap
WIDEST: Final = 5  # occupied boxes at most: the screen of a demonstration is small


class Mishap(StrEnum):
    """Things that go wrong in a round at the physical table."""

    EXPOSED_CARD = "exposed card"
    SIMULTANEOUS = "simultaneous cards"
    FACE_UP = "card face up in the device"
    FACE_UP_EARLY = 'card face up in the device before "No more bets"'
    BEFORE_NO_MORE_BETS = 'taken before "No more bets"'
    WRONG_COUNT = "wrong count, no one has handled cards"
    WRONG_COUNT_HANDLED = "wrong count, cards were handled"
    EXCHANGED = "two hands exchanged"
    ONE_TOO_MANY = "one too many"
    END_COUNT_SHORT = "wrong end count"
    END_COUNT_MISCOUNTED = "the end count was miscounted"
    JAM = "jam"


class MishapEffect(NamedTuple):
    """A mishap's effect at the table: the kind that is raised, and the facts known before anybody is asked."""

    kind: Kind
    known: Facts = Facts()


OF_A_PLAYER: Final = Facts(dealer_hand=False)
EFFECTS: Final = {
    Mishap.EXPOSED_CARD: MishapEffect(Kind.EXPOSED_CARD),
    Mishap.SIMULTANEOUS: MishapEffect(Kind.SIMULTANEOUS, Facts(order_known=False)),
    Mishap.FACE_UP: MishapEffect(Kind.FACE_UP_IN_DEVICE),
    Mishap.FACE_UP_EARLY: MishapEffect(Kind.FACE_UP_IN_DEVICE, Facts(before_close=True)),
    Mishap.BEFORE_NO_MORE_BETS: MishapEffect(Kind.BEFORE_NO_MORE_BETS, Facts(before_close=True)),
    Mishap.WRONG_COUNT: MishapEffect(Kind.WRONG_COUNT, OF_A_PLAYER),
    Mishap.WRONG_COUNT_HANDLED: MishapEffect(Kind.WRONG_COUNT, replace(OF_A_PLAYER, handled=True)),
    Mishap.EXCHANGED: MishapEffect(Kind.WRONG_DISTRIBUTION, Facts(misplaced=True, curable=True)),
    Mishap.ONE_TOO_MANY: MishapEffect(Kind.OTHER_DEALING_ERROR, Facts(misplaced=True, curable=False)),
    Mishap.END_COUNT_SHORT: MishapEffect(Kind.DECK_COUNT),
    Mishap.END_COUNT_MISCOUNTED: MishapEffect(Kind.DECK_COUNT),
    Mishap.JAM: MishapEffect(Kind.TECHNICAL_STOP),
}
HEADLINES: Final = (Mishap.EXPOSED_CARD, Mishap.SIMULTANEOUS, Mishap.FACE_UP)

AS_IT_IS: Final = Facts(
    wrong_number=False,
    dealer_hand=False,
    handled=False,
    misplaced=False,
    order_known=False,
    places_certain=True,
    before_close=False,
    counted_wrong=True,
    viewed=False,
    curable=False,
    reconstructable=False,
    first_card=False,
    affects_play=False,
    established=False,
    face_seen=False,
    shuffling=False,
    dropped=False,
    withdrawn=False,
)
"""The facts of these mishaps, unless a mishap says otherwise."""


class PlannedRound(msgspec.Struct, frozen=True):
    """One round. `card` is the position in the dealing order at which the mishap happens, or 0.

    `expected` is the irregularity that the daemon must raise, with its final number among I01 to I28. `withdraws` are
    the boxes that take their bets back if they may. `wagers` is empty if people only occupy boxes.
    """

    number: int
    boxes: tuple[int, ...]
    mishap: Mishap | None = None
    card: int = 0
    withdraws: frozenset[int] = frozenset()
    expected: tuple[Kind, str] | None = None
    wagers: tuple[PlannedWager, ...] = ()

    def card_in(self, order: Sequence[Place]) -> int:
        """Return where the mishap happens in that order.

        A First Card may serve the Dealer before others. It then happens at the hand next to the Dealer's, since the
        plan cannot know the card.
        """
        if order[self.card - 1] != DEALER or order[-1] == DEALER:
            return self.card
        return self.card - SET_SIZE if self.card > SET_SIZE else self.card + SET_SIZE

    def faults(self, order: Sequence[Place], *, before: int = 0) -> list[ArmedFault]:
        """Return the mechanism's faults, none for people's own mistakes. `before` cards leave ahead of the deal."""
        ordinal = self.card_in(order) + before
        match self.mishap:
            case Mishap.SIMULTANEOUS:
                return [ArmedFault("double-draw", ordinal)]
            case Mishap.FACE_UP | Mishap.FACE_UP_EARLY:
                return [ArmedFault("face-up", ordinal)]
            case Mishap.WRONG_COUNT | Mishap.WRONG_COUNT_HANDLED:
                return [ArmedFault(UNSEEN_CARD, ordinal)]
            case Mishap.ONE_TOO_MANY:
                return [ArmedFault(LOCK_SLIPS, len(order) + before)]
            case Mishap.END_COUNT_SHORT:
                return [ArmedFault(CARD_STUCK)]
            case Mishap.END_COUNT_MISCOUNTED:
                return [ArmedFault(STUB_MISCOUNTED)]
            case Mishap.JAM:
                return [ArmedFault("jam", ordinal)]
        return []


def plan_rounds(
    seed: int,
    unit: Unit,
    rounds: int,
    *,
    game_id: str = "NC",
    mishaps: float = 0.4,
    stages: bool = True,
    wagers: bool = False,
) -> list[PlannedRound]:
    """Return the rounds of a run. The first three mishaps are the headline ones; the rest come with chance `mishaps`.

    In some of the other rounds two hands are exchanged. With `stages` a set waits in the tray before bets are closed,
    and can be taken too early. With `wagers` bettors bet; nothing else in the plan depends on it.
    """
    random, exchanges = Random(f"{seed}/{unit}/plan"), Random(f"{seed}/{unit}/exchanges")
    rules = game(game_id)
    law = read_law(rules)
    first_rounds = _headline_rounds(rounds)
    impossible = _impossible(rules, unit, stages) | {Mishap.EXCHANGED}
    possible = [mishap for mishap in Mishap if mishap not in impossible]
    planned: list[PlannedRound] = []
    layout = range(1, rules.boxes[2] + 1)
    for number in range(1, rounds + 1):
        boxes = served_boxes(rules, random.sample(layout, random.randint(2, min(WIDEST, len(layout)))))
        mishap = random.choice(possible) if random.random() < mishaps else None
        mishap = first_rounds.get(number, mishap)
        card = _card_of(mishap, len(boxes) + 1, random)
        withdraws = frozenset(box for box in boxes if random.random() < 0.25)
        if mishap is None and number > 1 and exchanges.random() < mishaps * SHARE_EXCHANGED:
            mishap = Mishap.EXCHANGED
            card = _card_of(mishap, len(boxes) + 1, exchanges)
        expected = _expected(law, unit, mishap) if mishap else None
        bets = plan_wagers(law, boxes, Random(f"{seed}/{unit}/{number}/wagers")) if wagers else ()
        planned.append(PlannedRound(number, boxes, mishap, card, withdraws, expected, bets))
    return planned


def _expected(law: Law, unit: Unit, mishap: Mishap) -> tuple[Kind, str]:
    """Return the irregularity and its number once everything that this game asks is answered."""
    kind, known = EFFECTS[mishap]
    facts = replace(known, manual=unit is Unit.SINGLES, before_close=known.before_close or False, cannot_tell=True)
    row, asks = find_row(law, kind, facts)
    while asks:
        facts = replace(facts, **{name: getattr(AS_IT_IS, name) for name in asks})
        row, asks = find_row(law, kind, facts)
    return kind, row.id


def _impossible(rules: Game, unit: Unit, stages: bool) -> frozenset[Mishap]:
    if unit is Unit.SINGLES:  # a shoe counts nothing at the end, and shows no card before it is drawn
        return frozenset({Mishap.END_COUNT_MISCOUNTED, Mishap.FACE_UP_EARLY})
    if stages and rules.first_card is None:  # if one card comes first, no set waits
        return frozenset()
    return frozenset({Mishap.FACE_UP_EARLY, Mishap.BEFORE_NO_MORE_BETS})


def _headline_rounds(rounds: int) -> dict[int, Mishap | None]:
    """Return the rounds of the headline mishaps, after a smooth first round if there is one to spare."""
    first = 2 if rounds > len(HEADLINES) else 1
    begin: dict[int, Mishap | None] = {1: None} if first == 2 else {}
    return begin | {first + place: mishap for place, mishap in enumerate(HEADLINES)}


def _card_of(mishap: Mishap | None, hands: int, random: Random) -> int:
    """Return where in the deal it happens: never with the last hand, after which nothing is left to observe."""
    if mishap is None:
        return 0
    if mishap is Mishap.FACE_UP_EARLY:
        return random.randint(1, SET_SIZE)
    if mishap in (Mishap.WRONG_COUNT, Mishap.WRONG_COUNT_HANDLED):
        return random.randint(1, hands - 1)
    return random.randint(SET_SIZE + 1, SET_SIZE * (hands - 1))
