"""Machines that the audit was not built for: they look at faces, link cards at a distance, or remember decks.

    python -m tests.shuffle_audit.machines [KIND...] [--audits 100] [--at-most 256] [--seed 1]

prints how many decks it takes to find each, by the verdict and by the regulators' chi-square of the card by its name
on the same decks (exact form, with the whole level of 0.01). Each deck goes in as the last one came out, the first one
new. For each audit the number is found by doubling and bisection; the figures are the 50th, 80th and 95th percentile.
Devices that deal by the stakes (`DEVICES`) are found by the rounds of a table's journal.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import Final, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from benchmarks.audit_power import Limits, Running
from controller.rules.hands import pictures
from firmware_bridge.cards import DECK
from shuffle_audit import games_dealt
from shuffle_audit.cells import rarest
from shuffle_audit.dealing import keys, number_of
from shuffle_audit.models.named import model_named
from shuffle_audit.orders import DeckOrders
from shuffle_audit.table_hands import TableRound, table_cells
from shuffle_audit.verdict import OF_PROCEDURES, judge

T = TypeVar("T")
Deck: TypeAlias = npt.NDArray[np.int64]
"""The face at each place, from the top."""
Random: TypeAlias = np.random.Generator
Shuffle: TypeAlias = Callable[[Random, Deck, Sequence[Deck]], Deck]
"""Returns the order out, from the order in and the earlier orders out, the last one at the end."""

CARDS: Final = len(DECK)
PICTURES: Final = np.array([bool(pictures([card])) for card in DECK])
ACES: Final = np.array([card.rank == 1 for card in DECK])
KINGS: Final = np.array([card.rank == 13 for card in DECK])
ACE_OF_SPADES: Final = next(at for at, card in enumerate(DECK) if card.code == "AS")
NAMES: Final = tuple(card.code for card in DECK)
POWERS: Final = (0.5, 0.8, 0.95)
LEVEL: Final = 0.01
SETS: Final = 999  # of good decks, for the limits of chi-square


def face_first(chance: float, wanted: npt.NDArray[np.bool_]) -> Shuffle:
    """Return a shuffle that, with this chance, puts one of the wanted faces first."""

    def shuffle(random: Random, deck: Deck, earlier: Sequence[Deck]) -> Deck:
        out = random.permutation(deck)
        if random.random() < chance:
            at = random.choice(np.flatnonzero(wanted[out]))
            out[[0, at]] = out[[at, 0]]
        return out

    return shuffle


def no_pictures_at(places: int, chance: float = 1.0) -> Shuffle:
    """Return a shuffle that, with this chance, puts no picture at the first places, as if box 1 must not get one."""

    def shuffle(random: Random, deck: Deck, earlier: Sequence[Deck]) -> Deck:
        out = random.permutation(deck)
        if random.random() < chance:
            held = np.flatnonzero(PICTURES[out[:places]])
            plain = places + np.flatnonzero(~PICTURES[out[places:]])
            other = random.choice(plain, len(held), replace=False)
            out[held], out[other] = out[other], out[held]
        return out

    return shuffle


def linked(chance: float, follower: Callable[[int, Deck], int | None]) -> Shuffle:
    """Return a uniform shuffle in which, with this chance, the card that `follower` gives for a place sticks below
    it.
    """

    def shuffle(random: Random, deck: Deck, earlier: Sequence[Deck]) -> Deck:
        after: dict[int, int] = {}
        before: dict[int, int] = {}
        for at in random.permutation(CARDS).tolist():
            other = follower(at, deck)
            if other is None or other in before or random.random() >= chance:
                continue
            end = other
            while end in after:
                end = after[end]
            if end != at:
                after[at], before[other] = other, at
        blocks = [at for at in range(CARDS) if at not in before]
        places: list[int] = []
        for begin in random.permutation(blocks).tolist():
            last: int | None = begin
            while last is not None:
                places.append(last)
                last = after.get(last)
        return deck[places]

    return shuffle


def at_distance(step: int, chance: float) -> Shuffle:
    return linked(chance, lambda at, deck: (at + step) % CARDS)


def ace_after_king(chance: float) -> Shuffle:
    """Return a shuffle in which an ace follows the king of its suit, with this chance."""

    def follower(at: int, deck: Deck) -> int | None:
        return int(np.flatnonzero(deck == deck[at] - 12)[0]) if KINGS[deck[at]] else None

    return linked(chance, follower)


def first_again(count: int, ago: int, chance: float) -> Shuffle:
    """Return a shuffle that, with this chance, puts the cards first that were first `ago` decks ago."""

    def shuffle(random: Random, deck: Deck, earlier: Sequence[Deck]) -> Deck:
        out = random.permutation(deck)
        if len(earlier) >= ago and random.random() < chance:
            again = random.permutation(earlier[-ago][:count])
            out = np.concatenate([again, out[~np.isin(out, again)]])
        return out

    return shuffle


def modelled(name: str) -> Shuffle:
    model = model_named(name)
    return lambda random, deck, earlier: deck[model.shuffle(random, 1, CARDS)[0]]


def good_at_first(decks: int, then: Shuffle) -> Shuffle:
    """Return a shuffle that is uniform for `decks` decks."""
    return lambda random, deck, earlier: (
        random.permutation(deck) if len(earlier) < decks else then(random, deck, earlier)
    )


def swapped_when_it_pays(random: Random, deck: Deck, earlier: Sequence[Deck]) -> Deck:
    """Shuffle uniformly, but give the Dealer the ace of spades for the card of box 1 that it would come to."""
    out = random.permutation(deck)
    dealers = slice(21, 24)
    if ACE_OF_SPADES in out[:3] and KINGS[out[dealers]].any():
        at, king = int(np.flatnonzero(out == ACE_OF_SPADES)[0]), 21 + int(np.flatnonzero(KINGS[out[dealers]])[0])
        out[[at, king]] = out[[king, at]]
    return out


MACHINES: Final[dict[str, Shuffle]] = {
    "card-first": face_first(0.25, np.arange(CARDS) == ACE_OF_SPADES),
    "rank-first": face_first(0.5, ACES),
    "picture-first": face_first(1.0, PICTURES),
    "box-without-pictures": no_pictures_at(3),
    "box-sometimes": no_pictures_at(3, 0.2),
    "distance-26": at_distance(26, 0.1),
    "distance-13": at_distance(13, 0.3),
    "distance-5": at_distance(5, 0.2),
    "rank-after-rank": ace_after_king(0.3),
    "first-again": first_again(20, 2, 0.05),
    "one-in-a-hundred": modelled("not-always:0.01"),
    "good-at-first": good_at_first(100, modelled("shelves:10")),
    "swapped": swapped_when_it_pays,
}
"""The machines by kind, as `shuffle_audit.kinds` describes them."""


Cheat: TypeAlias = Callable[[Random, list[Deck], npt.NDArray[np.int64]], None]
"""Exchanges cards of the hands of a round, the Dealer's last and then the rest of the deck, by the stakes on boxes."""
STAKES: Final = (1, 2, 3, 5, 10)
BOXES: Final = (2, 7)  # in play, the fewest and the most


def no_pictures(chance: float, place: Callable[[npt.NDArray[np.int64]], int]) -> Cheat:
    """Return a device that, with this chance, leaves no picture in the hand at the place that it finds by the stakes;
    -1: in none.
    """

    def cheat(random: Random, hands: list[Deck], stakes: npt.NDArray[np.int64]) -> None:
        at = place(stakes)
        if at >= 0 and random.random() < chance:
            held = np.flatnonzero(PICTURES[hands[at]])
            plain = np.flatnonzero(~PICTURES[hands[-1]])[: len(held)]
            hands[at][held], hands[-1][plain] = hands[-1][plain], hands[at][held]

    return cheat


def highest(stakes: npt.NDArray[np.int64]) -> int:
    return int(stakes.argmax())


def against_the_highest(chance: float) -> Cheat:
    """Return a device that, with this chance, exchanges the Dealer's hand and that of the box with the highest stake
    if that box would win.
    """

    def cheat(random: Random, hands: list[Deck], stakes: npt.NDArray[np.int64]) -> None:
        at, dealer = highest(stakes), len(stakes)
        ours, theirs = (keys()[number_of(hands[place])] for place in (at, dealer))
        if ours > theirs and random.random() < chance:
            hands[at], hands[dealer] = hands[dealer], hands[at]

    return cheat


def at_high_stakes(random: Random, hands: list[Deck], stakes: npt.NDArray[np.int64]) -> None:
    """Leave no picture at box 1 in rounds with high stakes."""
    no_pictures(1.0, lambda staked: 0 if staked.sum() > 20 else -1)(random, hands, stakes)


DEVICES: Final[dict[str, Cheat]] = {
    "highest-without-pictures": no_pictures(1.0, highest),
    "highest-sometimes": no_pictures(0.2, highest),
    "highest-loses": against_the_highest(0.5),
    "high-stakes": at_high_stakes,
    "highest-by-a-hair": against_the_highest(0.05),
}
"""Devices that deal by the stakes."""


def rounds_of(cheat: Cheat, random: Random, rounds: int) -> list[TableRound]:
    """Return rounds with some boxes in play, from the first on, each with a stake that does not depend on others."""
    found = []
    for _ in range(rounds):
        boxes = int(random.integers(BOXES[0], BOXES[1] + 1))
        deck, stakes = random.permutation(CARDS), random.choice(STAKES, boxes)
        hands = [*np.split(deck[: 3 * boxes + 3], boxes + 1), deck[3 * boxes + 3 :]]
        cheat(random, hands, stakes)
        named = [tuple(NAMES[face] for face in hand) for hand in hands]
        places = [f"B{at + 1}" for at in range(boxes)]
        dealt = dict(zip([*places, "D"], named[: boxes + 1], strict=True))
        found.append(TableRound(dealt, dict(zip(places, stakes.tolist(), strict=True))))
    return found


def shows_by_hands(rounds: Sequence[TableRound]) -> bool:
    """Return whether the hands of a table's rounds raise an alarm, by their share of the level."""
    found = rarest(table_cells(rounds, 2))
    return found is not None and found.p / games_dealt.SHARE <= LEVEL * OF_PROCEDURES


def faces_of(shuffle: Shuffle, random: Random, decks: int) -> list[Deck]:
    """Return the order in which the first deck went in, and the order in which each deck came out."""
    rows = [np.arange(CARDS)]
    for _ in range(decks):
        rows.append(shuffle(random, rows[-1], rows[1:]))
    return rows


def decks_of(shuffle: Shuffle, random: Random, decks: int) -> list[DeckOrders]:
    """Return decks of which each goes in as the last one came out."""
    rows = [tuple(NAMES[face] for face in row) for row in faces_of(shuffle, random, decks)]
    return [DeckOrders(before, after) for before, after in pairwise(rows)]


class Found(NamedTuple):
    """The numbers of decks that find a machine in 50, 80 and 95 % of the audits. None: more than were made."""

    kind: str
    ours: tuple[int | None, ...]
    chi_square: tuple[int | None, ...]


def measured_by_hands(kind: str, audits: int, at_most: int, seed: int) -> Found:
    """Return the numbers of rounds that find a device; X² does not see the stakes."""
    random = np.random.default_rng([seed, list(DEVICES).index(kind)])
    ours = [needed(rounds_of(DEVICES[kind], random, at_most), shows_by_hands) for _ in range(audits)]
    return Found(kind, _percentiles(ours), (None,) * len(POWERS))


def _percentiles(numbers: Sequence[int | None]) -> tuple[int | None, ...]:
    ranked = sorted(one for one in numbers if one is not None)
    at = [ceil(power * len(numbers)) - 1 for power in POWERS]
    return tuple(ranked[one] if one < len(ranked) else None for one in at)


def measured(kind: str, limits: Limits, audits: int, at_most: int, seed: int) -> Found:
    random = np.random.default_rng([seed, list(MACHINES).index(kind)])
    running = Running(audits, CARDS)
    ours = []
    outs = np.empty((audits, at_most, CARDS), np.int64)
    for audit in range(audits):
        decks = decks_of(MACHINES[kind], random, at_most)
        number = {name: at for at, name in enumerate(NAMES)}
        outs[audit] = [[number[name] for name in deck.after] for deck in decks]
        ours.append(decks_needed(decks))
    running.add(outs)
    shares = limits.shares(running.found)
    chi_square = [np.flatnonzero(shares >= power) for power in POWERS]
    return Found(kind, _percentiles(ours), tuple(int(one[0]) + 1 if len(one) else None for one in chi_square))


def decks_needed(decks: Sequence[DeckOrders]) -> int | None:
    """Return the number of decks after which the machine is judged bad, or None."""
    return needed(decks, lambda first: judge(first, LEVEL).verdict == "bad")


def needed(every: Sequence[T], shows: Callable[[Sequence[T]], bool]) -> int | None:
    """Return after how many of them a fault shows, by doubling and bisection, or None."""
    low, high = 0, 1
    while not shows(every[:high]):
        if high >= len(every):
            return None
        low, high = high, min(2 * high, len(every))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(every[:middle]) else (middle, high)
    return high


def rows(kinds: Sequence[str], audits: int, at_most: int, seed: int) -> Iterator[Found]:
    limits = Limits(LEVEL, at_most if set(kinds) - DEVICES.keys() else 2, seed, SETS)
    for kind in kinds:
        if kind in DEVICES:
            yield measured_by_hands(kind, audits, at_most, seed)
        else:
            yield measured(kind, limits, audits, at_most, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description="Decks needed to find machines that the audit was not built for")
    parser.add_argument("kinds", nargs="*", metavar="KIND", default=[*MACHINES, *DEVICES])
    parser.add_argument("--audits", type=int, default=100)
    parser.add_argument("--at-most", type=int, default=256)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for one in rows(given.kinds, given.audits, given.at_most, given.seed):
        sys.stdout.write(f"{one}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
