"""The rates at which a device fails to recognise cards drawn in a known order, with exact confidence bounds.

The bounds are those of Clopper and Pearson (1934), one-sided, by bisection on the tail of the binomial distribution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import exp, fsum, lgamma, log, log1p
from pathlib import Path
from typing import Final, NamedTuple

from firmware_bridge.cards import DECK, Card
from firmware_bridge.edited_text import NotTextError, read_edited, why_unreadable
from simulators.bench.promise import Measurement

ALPHA: Final = 0.05  # the chance that a bound is wrong
LIMIT: Final = 1.0  # percent of the cards that may remain unrecognised, by default
STEPS: Final = 60  # steps of the bisection; more than the precision of a float

Order = tuple[Card, ...]
_BY_NAME: Final = {card.code.replace("T", "10"): card for card in DECK} | {card.code: card for card in DECK}


class KnownOrdersError(Exception):
    """Raised for a file of known orders that cannot be used."""


class Sample(NamedTuple):
    """The sample that the operator asked for. `orders` has the decks, each from the first card drawn, and is repeated
    if there are more decks. `limit` is the percentage of cards that may remain unrecognised.
    """

    decks: int
    orders: Sequence[Order]
    limit: float

    @property
    def cards(self) -> int:
        return self.decks * len(DECK)

    @property
    def allowed(self) -> int:
        """The most errors whose upper bound is within the limit, or -1 if even none exceeds it."""
        return _last(lambda errors: 100 * upper_bound(errors, self.cards) <= self.limit, self.cards)

    def order(self, deck: int) -> Order:
        """Return the order of a deck, counted from 0."""
        return self.orders[deck % len(self.orders)]


class Tally:
    """Counts errors by the face of the card that was in the device."""

    def __init__(self) -> None:
        self.seen: Counter[Card] = Counter()
        self.misread: Counter[Card] = Counter()
        self.unreadable: Counter[Card] = Counter()

    def add(self, lay: Order, read: Sequence[Card | None]) -> None:
        """Add a deck. `read` is what the device reported, in the order of drawing."""
        for expected, card in zip(lay, read, strict=True):
            self.seen[expected] += 1
            if card is None:
                self.unreadable[expected] += 1
            elif card != expected:
                self.misread[expected] += 1

    @property
    def wrong(self) -> Counter[Card]:
        """Cards that were misread or not read, by face."""
        return self.misread + self.unreadable

    def measurements(self, sample: Sample) -> list[Measurement]:
        """Return the rates of all cards, and of each face with an error.

        All cards together are held to the upper bound of their rate. A face has few cards, so it is held to the lower
        bound, with the level divided by the number of faces: beyond the limit it is certainly bad.
        """
        wrong, cards = self.wrong, self.seen.total()
        bound = 100 * upper_bound(wrong.total(), cards)
        found = [
            Measurement("cards misread", self.misread.total(), "", sample.allowed),
            Measurement("cards unreadable", self.unreadable.total(), "", sample.allowed),
            Measurement("cards not recognised, rate", 100 * wrong.total() / cards, "%", sample.limit),
            Measurement("cards not recognised, upper bound", bound, "%", sample.limit),
        ]
        for card in DECK:
            if wrong[card]:
                least = 100 * lower_bound(wrong[card], self.seen[card], ALPHA / len(DECK))
                found.append(Measurement(f"{card.code} not recognised, lower bound", least, "%", sample.limit))
        return found

    def lines(self) -> list[str]:
        """Return a line for each face with an error and one for the others, with the bounds of their rates."""
        found = []
        for card, wrong in sorted(self.wrong.items(), key=lambda item: DECK.index(item[0])):
            cards = self.seen[card]
            low, high = 100 * lower_bound(wrong, cards), 100 * upper_bound(wrong, cards)
            kinds = f"{self.misread[card]} misread, {self.unreadable[card]} unreadable"
            found.append(f"{card.code}: {kinds}, of {cards}; rate from {low:.3g} % to {high:.3g} %")
        right = [cards for card, cards in self.seen.items() if not self.wrong[card]]
        if right:
            most = 100 * upper_bound(0, min(right))
            found.append(f"{len(right)} faces: 0 of {min(right)} each; rate at most {most:.3g} %")
        return found


def upper_bound(errors: int, cards: int, alpha: float = ALPHA) -> float:
    """Return the rate above which this number of errors or fewer has at most the chance `alpha`."""
    if errors >= cards:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(errors, cards, middle) > alpha else (low, middle)
    return high


def lower_bound(errors: int, cards: int, alpha: float = ALPHA) -> float:
    """Return the rate below which this number of errors or more has at most the chance `alpha`."""
    return 1 - upper_bound(cards - errors, cards, alpha)


def _at_most(errors: int, cards: int, rate: float) -> float:
    """Return the chance of at most `errors` errors, at a rate that is neither 0 nor 1."""
    return fsum(
        exp(
            lgamma(cards + 1) - lgamma(k + 1) - lgamma(cards - k + 1) + k * log(rate) + (cards - k) * log1p(-rate)
        )
        for k in range(errors + 1)
    )  # fmt: skip


def _last(fits: Callable[[int], bool], most: int) -> int:
    """Return the last number, counting from 0, that fits, or -1 if even 0 does not."""
    return next((number - 1 for number in range(most + 1) if not fits(number)), most)


def decks_needed(limit: float) -> int:
    """Return how many decks without an error have an upper bound within the limit."""
    return next(decks for decks in range(1, 10**6) if 1 - ALPHA ** (1 / (decks * len(DECK))) <= limit / 100)


def read_orders(file: Path | None) -> tuple[Order, ...]:
    """Read orders from a file, one deck a line, 52 cards separated by blanks. Without a file, return a new deck's
    order. Raise `KnownOrdersError`.
    """
    if file is None:
        return (DECK,)
    try:
        lines = read_edited(file).splitlines()
    except (OSError, NotTextError) as error:
        raise KnownOrdersError(f"{file} cannot be read: {why_unreadable(error)}.") from error
    orders = []
    for number, line in enumerate(lines, start=1):
        cards = [_BY_NAME.get(name.upper()) for name in line.split()]
        known = tuple(card for card in cards if card is not None)
        if len(cards) != len(DECK) or set(known) != set(DECK):
            raise KnownOrdersError(f"Line {number} of {file} does not name each of the 52 cards once.")
        orders.append(known)
    if not orders:
        raise KnownOrdersError(f"{file} does not have an order.")
    return tuple(orders)
