"""Machines that the audit was not built for: they look at faces, link cards at a distance, or remember decks.

    python -m tests.shuffle_audit.machines [KIND...] [--audits 100] [--at-most 256] [--seed 1]

prints how many decks find each, by the verdict and by the regulators' chi-square of the card by its name on the same
decks (exact form, with the whole level of 0.01). Each deck goes in as the last one came out, the first one new. For
each audit the number is found by doubling and bisection; the figures are the 50th, 80th and 95th percentile.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks.audit_power import Limits, Running
from controller.rules.hands import pictures
from firmware_bridge.cards import DECK
from shuffle_audit.models.named import model_named
from shuffle_audit.orders import DeckOrders
from shuffle_audit.verdict import judge

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
    ranked = sorted(one for one in ours if one is not None)
    at = [ceil(power * audits) - 1 for power in POWERS]
    return Found(
        kind,
        tuple(ranked[one] if one < len(ranked) else None for one in at),
        tuple(int(one[0]) + 1 if len(one) else None for one in chi_square),
    )


def decks_needed(decks: Sequence[DeckOrders]) -> int | None:
    """Return the number of decks after which the machine is judged bad, by doubling and bisection, or None."""
    low, high = 0, 1
    while judge(decks[:high], LEVEL).verdict != "bad":
        if high >= len(decks):
            return None
        low, high = high, min(2 * high, len(decks))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if judge(decks[:middle], LEVEL).verdict == "bad" else (middle, high)
    return high


def rows(kinds: Sequence[str], audits: int, at_most: int, seed: int) -> Iterator[Found]:
    limits = Limits(LEVEL, at_most, seed, SETS)
    for kind in kinds:
        yield measured(kind, limits, audits, at_most, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description="How many decks find machines that the audit was not built for")
    parser.add_argument("kinds", nargs="*", metavar="KIND", default=list(MACHINES))
    parser.add_argument("--audits", type=int, default=100)
    parser.add_argument("--at-most", type=int, default=256)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for one in rows(given.kinds, given.audits, given.at_most, given.seed):
        sys.stdout.write(f"{one}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
