"""Counts the decks that find each model of a bad shuffle, by the audit and by the regulators' chi-square.

    python -m benchmarks.audit_power [MODEL...] [--level 0.01] [--at-most 512] [--audits 1000] [--seed 1]

Without MODEL, every form of `shuffle_audit.models.named` and a few more are measured. Each model's audits have their
own random stream, and both tests see the same decks. Chi-square is that of card against position in its exact form,
with limits from `LIMITS` sets of good decks. `--curves` adds a table of the power at 1, 2, 4 and more decks.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shuffle_audit.models.named import FORMS, model_named
from shuffle_audit.models.shuffle_model import UNIFORM, ShuffleModel
from shuffle_audit.orders import Orders
from shuffle_audit.power import Draws

POWERS: Final = (0.5, 0.8, 0.95)
MODELS: Final = tuple(
    dict.fromkeys(
        [
            *("riffle:4", "riffle:5", "riffle:6", "riffle:7", "riffle:8"),
            *("shelves:10", "shelves:20", "shelves:50", "shelves:100"),
            *(example for name, form in FORMS.items() for example in form.examples if name != "uniform"),
            *("wash:20", "not-always:0.01", "sticking:0.01", "favoured:1:1:52"),
        ]
    )
)
CURVE: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
LIMITS: Final = 9_999
CARDS: Final = 52
Statistics = npt.NDArray[np.float64]
"""`[audit, decks - 1]`: chi-square of the first decks of each audit."""


class Running:
    """Chi-square of card against position in several audits, after each deck (`sampled.card_against_position`)."""

    def __init__(self, audits: int, cards: int) -> None:
        self.found: Statistics = np.zeros((audits, 0))
        self._table = np.zeros((audits, cards * cards), np.int16)
        self._squares = np.zeros(audits)

    def add(self, orders: Orders) -> None:
        """Add `orders[audit, deck, place]`, the next decks of each audit."""
        audits, decks, cards = orders.shape
        row, found = np.arange(audits)[:, None], np.zeros((audits, decks))
        for deck in range(decks):
            cells = orders[:, deck] * cards + np.arange(cards)
            before = self._table[row, cells]
            self._table[row, cells] = before + 1
            self._squares += (2 * before.astype(np.int64) + 1).sum(axis=1)
            drawn = self.found.shape[1] + deck + 1
            found[:, deck] = self._squares * (cards / drawn) - drawn * cards
        self.found = np.concatenate([self.found, found], axis=1)


class Watched:
    """A model, with chi-square of everything that it shuffled for several audits."""

    def __init__(self, model: ShuffleModel, audits: int, cards: int) -> None:
        self.words = model.words
        self.chi_square = Running(audits, cards)
        self._model = model
        self._audits = audits

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        found = self._model.shuffle(random, decks, cards)
        self.chi_square.add(found.reshape(self._audits, -1, cards))
        return found


class Limits:
    """The limits of chi-square by the number of decks, from p = (1 + as large) / (1 + all) of good decks."""

    def __init__(self, level: float, at_most: int, seed: int, audits: int = LIMITS, cards: int = CARDS) -> None:
        random, running = np.random.default_rng([seed, audits]), Running(audits, cards)
        for _ in range(at_most):
            running.add(UNIFORM.shuffle(random, audits, cards).reshape(audits, 1, cards))
        reached = int(level * (1 + audits)) - 1  # the number that may be as large
        self._least = np.sort(running.found, axis=0)[audits - reached - 1]

    def shares(self, found: Statistics) -> npt.NDArray[np.float64]:
        """Return the share of audits with an alarm, by the number of decks less 1."""
        shares: npt.NDArray[np.float64] = (found > self._least[: found.shape[1]] + 1e-6).mean(axis=0)
        return shares


class PowerRow(NamedTuple):
    """The result for a model: the least number of decks for each of `POWERS` (or None), and shares by decks less 1."""

    model: str
    ours: tuple[int | None, ...]
    chi_square: tuple[int | None, ...]
    our_shares: Callable[[int], float]
    chi_square_shares: npt.NDArray[np.float64]


def row(name: str, limits: Limits, level: float, at_most: int, audits: int, seed: int) -> PowerRow:
    """Run both tests on the same decks."""
    watched = Watched(model_named(name, CARDS), audits, CARDS)
    draws = Draws(watched, CARDS, audits, seed)
    draws.power(at_most, level)
    ours = [draws.least_decks(power, level, at_most) for power in POWERS]
    shares = limits.shares(watched.chi_square.found[:, :at_most])
    return PowerRow(
        name,
        tuple(None if one is None else one.decks for one in ours),
        tuple(_first(shares, power) for power in POWERS),
        lambda decks: draws.power(decks, level).share,
        shares,
    )


def _first(shares: npt.NDArray[np.float64], power: float) -> int | None:
    """Return the first number of decks at which the share reaches that power, or None."""
    reached = np.flatnonzero(shares >= power)
    return int(reached[0]) + 1 if len(reached) else None


def table(rows: Sequence[PowerRow], at_most: int) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    heads = [f"{who} {power * 100:g} %" for who in ("audit", "chi-square") for power in POWERS]
    yield f"| model | {' | '.join(heads)} |"
    yield "|---|" + "---:|" * len(heads)
    for one in rows:
        cells = [f"over {at_most}" if decks is None else str(decks) for decks in (*one.ours, *one.chi_square)]
        yield f"| `{one.model}` | {' | '.join(cells)} |"


def curves(rows: Sequence[PowerRow], at_most: int) -> Iterator[str]:
    """Yield the power at some numbers of decks, in percent: the audit's, then that of chi-square."""
    decks = [each for each in CURVE if each <= at_most]
    yield f"| model | {' | '.join(map(str, decks))} |"
    yield "|---|" + "---:|" * len(decks)
    for one in rows:
        cells = [f"{one.our_shares(each) * 100:.0f} / {one.chi_square_shares[each - 1] * 100:.0f}" for each in decks]
        yield f"| `{one.model}` | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="How many decks find each model of a bad shuffle")
    parser.add_argument("models", nargs="*", metavar="MODEL", default=MODELS)
    parser.add_argument("--level", type=float, default=0.01)
    parser.add_argument("--at-most", type=int, default=512)
    parser.add_argument("--audits", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--curves", action="store_true")
    given = parser.parse_args()
    limits = Limits(given.level, given.at_most, given.seed)
    rows = [row(name, limits, given.level, given.at_most, given.audits, given.seed) for name in given.models]
    asked = f"level {given.level:g}, at most {given.at_most} decks, {given.audits:,} audits, seed {given.seed}"
    print(f"python -m benchmarks.audit_power: {asked}; chi-square by {LIMITS:,} sets of good decks\n")
    print("\n".join(table(rows, given.at_most)))
    if given.curves:
        print("", *curves(rows, given.at_most), sep="\n")


if __name__ == "__main__":
    main()
