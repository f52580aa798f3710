"""Tests of decks with an exact null distribution of a count over all decks.

Each statistic is the sum of a count over all decks. Under uniform orders the decks are independent, so its distribution
is the convolution of one deck's: exact for one deck or a thousand. `favoured_places` and `repeated_orders` compare
decks with each other instead, and `faces_at_places`, `neighbours`, `games_dealt` and `earlier_decks` take the rarest of
many counts: their chances are upper bounds. The procedures of `sampled` and those of faces are added if their inputs
are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import floor, log10, sqrt
from typing import Final, NamedTuple

import numpy as np

from shuffle_audit import (
    earlier_decks,
    exact,
    faces_at_places,
    favoured_places,
    games_dealt,
    neighbours,
    patterns,
    repeated_orders,
)
from shuffle_audit.cells import Cells, rarest
from shuffle_audit.exact import Distribution
from shuffle_audit.faces import KINDS, faces_out, numbers_of_runs, runs
from shuffle_audit.orders import Counts, Orders, Stored, in_blocks
from shuffle_audit.sampled import SAMPLED, Nulls, SampledProcedure
from shuffle_audit.shown import ShownFaces
from shuffle_audit.table_hands import TableRound


class Procedure(NamedTuple):
    """A test. `words` say what is counted. `null` is the distribution for one deck of a given size. `low` is the part
    of its false alarms that low sums raise; high ones raise the rest. `share` is its part of the chance of a false
    alarm of all procedures together.
    """

    id: str
    words: str
    source: str
    counted: Callable[[Orders], Counts]
    null: Callable[[int], Distribution]
    low: float
    share: float


class Result(NamedTuple):
    """The result of a test. `expected` and `deviation` are those of the statistic under uniform orders. `p` is the
    chance of this result or one that is stronger evidence against the shuffle. `adjusted` is the least chance of a
    false alarm, over all procedures, at which this one raises it. `p` is estimated from `samples`, or exact if 0.
    `beyond` means that the statistic exceeds all samples, and `p` may be a bound. `where` names the rarest of many
    counts, which `statistic` is then.
    """

    id: str
    words: str
    source: str
    statistic: float
    expected: float
    deviation: float
    p: float
    adjusted: float
    decks: int
    samples: int = 0
    beyond: bool = False
    where: str = ""


def below(chance: float, level: float = 1.0) -> str:
    """Return the words for a chance that is too small for people to read as a number, or "". They name a limit of at
    most `level`.

    >>> below(1e-30), below(2e-8), below(0.01), below(1e-30, 1e-10)
    ('one in a billion', 'one in a million', '', 'one in a million million')
    """
    return next((words for limit, words in IN_WORDS if chance < limit <= level), "")


def one_in(chance: float) -> str:
    """Format a chance as a person says it.

    >>> one_in(0.000123), one_in(0.04), one_in(0.31)
    ('one in 8,100', 'one in 25', '31 %')
    """
    if chance > ONE_IN_TEN:
        return f"{chance * 100:.0f} %"
    digits = floor(log10(1 / chance)) - 1
    return f"one in {round(1 / chance, -digits if digits > 0 else 0):,.0f}"


def _exact_null(numbers: Callable[[int], tuple[int, ...]]) -> Callable[[int], Distribution]:
    return lambda cards: exact.distribution(numbers(cards))


SMALLEST: Final = 1e-300  # chances below this are rounding noise
IN_WORDS: Final = ((1e-9, "one in a billion"), (1e-6, "one in a million"), (1e-12, "one in a million million"))
"""Chances below which people read words and not a number; the last only where the others exceed the level."""
ONE_IN_TEN: Final = 0.1
DFH: Final = "Diaconis, Fulman, Holmes 2013"
PROCEDURES: Final = (
    Procedure(
        "rising-sequences", "Runs of cards in their former order, with others between them", "Bayer, Diaconis 1992",
        patterns.rising_sequences, _exact_null(exact.rising_sequence_numbers), 0.9, 0.25,
    ),
    Procedure(
        "valleys", "Cards between two neighbours that lay below them", DFH,
        patterns.valleys, _exact_null(exact.peak_numbers), 0.9, 0.25,
    ),
    Procedure(
        "peaks", "Cards between two neighbours that lay above them", DFH,
        patterns.peaks, _exact_null(exact.peak_numbers), 0.9, 0.19,
    ),
    Procedure(
        "guesses", "Cards guessed by a player who knows the former order and sees each card after his guess", DFH,
        patterns.right_guesses, exact.guess_distribution, 0.0, 0.05,
    ),
    Procedure(
        "kept-pairs", "Neighbours that follow each other as before", "Whitworth 1901",
        patterns.kept_pairs, _exact_null(exact.kept_pair_numbers), 0.1, 0.1,
    ),
    Procedure(
        "turned-pairs", "Neighbours that follow each other in reverse", "Whitworth 1901",
        lambda orders: patterns.kept_pairs(orders, -1), _exact_null(exact.kept_pair_numbers), 0.1, 0.04,
    ),
    Procedure(
        "in-place", "Cards in their former place", "Montmort 1708",
        patterns.cards_in_place, _exact_null(exact.in_place_numbers), 0.5, 0.015,
    ),
    Procedure(
        "cycles", "Cycles of places", "Goncharov 1944",
        patterns.cycles, _exact_null(exact.cycle_numbers), 0.5, 0.015,
    ),
)  # fmt: skip
RUNS_LOW: Final = 0.7
RUNS_SOURCE: Final = "Wald, Wolfowitz 1940"
RUNS_SHARE: Final = 0.0025
RAREST: Final = (faces_at_places, games_dealt, neighbours, earlier_decks)
"""Procedures that take the rarest of many counts."""
SHARES: Final[dict[str, float]] = {
    **{one.id: one.share for one in PROCEDURES},
    favoured_places.ID: favoured_places.SHARE,
    repeated_orders.ID: repeated_orders.SHARE,
    **{one.id: one.share for one in SAMPLED},
    **{one.id: RUNS_SHARE for one in KINDS},
    **{one.ID: one.SHARE for one in RAREST},
}
"""The shares add up to 1: if each procedure raises an alarm at its share, all together do at the whole (Bonferroni). If
some are left out, the others keep their shares, and false alarms are rarer.
"""


def examine(
    orders: Stored,
    *,
    random: np.random.Generator | Nulls | None = None,
    faces: Stored | None = None,
    others: Sequence[Stored] = (),
    shown: ShownFaces | None = None,
    rounds: Sequence[TableRound] = (),
    advance: Callable[[int], object] = lambda done: None,
) -> list[Result]:
    """Run all procedures, in the order of `SHARES`.

    `random` adds the sampled ones; a `Nulls` keeps its samples for the next call. `faces` adds those of faces; it has
    the faces of the order in, a row for each deck or one for all. `others` are decks of other sizes, the relative
    orders of those known in part, which only sums over decks can use. `shown` has the orders out by card, of these and
    of decks without an order in; `rounds` has the hands of a table's rounds. A statistic that is constant for that many
    decks is left out. `advance` is called with 1 after each result. Raise `OrderError` if decks have other faces than
    the first.
    """
    found = []
    for one in _results(orders, random, faces, others, shown, rounds):
        found.append(one)
        advance(1)
    return found


def _results(
    orders: Stored, random: np.random.Generator | Nulls | None, faces: Stored | None, others: Sequence[Stored],
    shown: ShownFaces | None, rounds: Sequence[TableRound],
) -> Iterator[Result]:  # fmt: skip
    for one in PROCEDURES:
        yield _result(one, orders, _total(one.counted, (orders, *others)), others)
    if favoured_places.is_tested(*orders.shape):
        yield _favoured_place(orders)
    if any(len(one) > 1 for one in (orders, *others)):
        yield _repeated_orders([orders, *others])
    if random is not None:
        nulls = random if isinstance(random, Nulls) else Nulls(random)
        for drawn in (one for one in SAMPLED if len(orders) and one.spread(len(orders))):
            yield _sampled(drawn, orders, nulls)
    if faces is not None:
        yield from _of_runs(orders, faces)
    yield from examine_cards(orders, shown, rounds)


def _total(counted: Callable[[Orders], Counts], sizes: Sequence[Stored]) -> int:
    """Return the sum of a count over all decks, of any number of cards."""
    return sum(int(counted(block).sum()) for one in sizes for block in in_blocks(one))


def examine_cards(orders: Stored, shown: ShownFaces | None, rounds: Sequence[TableRound] = ()) -> Iterator[Result]:
    """Yield the results of the procedures that take the rarest of many counts. Only that of neighbours uses orders."""
    families: dict[str, Iterable[Cells]] = {neighbours.ID: neighbours.cells(orders, shown)}
    if shown is not None:
        families[faces_at_places.ID] = faces_at_places.cells(shown)
        families[earlier_decks.ID] = earlier_decks.cells(shown)
        if shown.is_whole_deck:
            families[games_dealt.ID] = games_dealt.cells(shown.out, rounds)
    for one in RAREST:
        if (found := rarest(families.get(one.ID, ()))) is not None:
            p = max(SMALLEST, found.p)
            yield Result(
                one.ID, one.WORDS, one.SOURCE, found.found, found.expected, found.deviation, p,
                min(1.0, p / one.SHARE), found.decks, where=found.name,
            )  # fmt: skip


def _favoured_place(orders: Stored) -> Result:
    decks, cards = orders.shape
    most = favoured_places.fullest_cell(orders)
    p = max(SMALLEST, float(favoured_places.chances(decks, cards)[most]))
    return Result(
        favoured_places.ID, favoured_places.WORDS, favoured_places.SOURCE, most,
        *favoured_places.mean_and_deviation(decks, cards), p, min(1.0, p / favoured_places.SHARE), decks,
    )  # fmt: skip


def _repeated_orders(sizes: Sequence[Stored]) -> Result:
    """Return the result for decks grouped by their number of cards."""
    several = [one for one in sizes if len(one)]
    repeated = sum(map(repeated_orders.repeated, several))
    moments = [repeated_orders.mean_and_variance(*one.shape) for one in several]
    bound = sum(repeated_orders.bound(*one.shape) for one in several)
    p = max(SMALLEST, min(1.0, bound)) if repeated else 1.0
    return Result(
        repeated_orders.ID, repeated_orders.WORDS, repeated_orders.SOURCE, repeated,
        sum(mean for mean, _ in moments), sqrt(sum(variance for _, variance in moments)), p,
        min(1.0, p / repeated_orders.SHARE), sum(map(len, several)),
    )  # fmt: skip


def _of_runs(orders: Stored, faces: Stored) -> Iterator[Result]:
    """Yield the results of the exact procedures for runs, in decks that had these faces before the shuffle."""
    numbers = [numbers_of_runs(faces, kinds) for kinds in KINDS]
    totals = [0] * len(KINDS)
    rows = np.broadcast_to(faces, orders.shape)
    for block, before in zip(in_blocks(orders), in_blocks(rows), strict=True):
        out = faces_out(block, before)
        for at, kinds in enumerate(KINDS):
            totals[at] += int(runs(out, kinds).sum())
    for kinds, ways, total in zip(KINDS, numbers, totals, strict=True):
        null = exact.distribution(ways)
        yield _judged(kinds.id, kinds.words, RUNS_SOURCE, [(null, len(orders))], total, RUNS_LOW, RUNS_SHARE)


def _sampled(procedure: SampledProcedure, orders: Stored, nulls: Nulls) -> Result:
    statistic, deviation, p, beyond = nulls.p(procedure, orders)
    expected = procedure.mean(orders.shape[1])
    return Result(
        procedure.id, procedure.words, procedure.source, statistic, expected, deviation, p,
        min(1.0, p / procedure.share), len(orders), nulls.samples, beyond,
    )  # fmt: skip


def _result(procedure: Procedure, orders: Stored, statistic: int, others: Sequence[Stored]) -> Result:
    parts = [(procedure.null(one.shape[1]), len(one)) for one in (orders, *others) if len(one)]
    return _judged(procedure.id, procedure.words, procedure.source, parts, statistic, procedure.low, procedure.share)


def _judged(
    name: str, words: str, source: str, parts: Sequence[tuple[Distribution, int]], statistic: int, low: float,
    share: float,
) -> Result:  # fmt: skip
    """Return the result of a sum over decks. `parts`: the distribution of one deck, with the number of such decks."""
    moments = [(exact.mean_and_variance(one), decks) for one, decks in parts]
    expected = sum(decks * mean for (mean, _), decks in moments)
    deviation = sqrt(sum(decks * variance for (_, variance), decks in moments))
    tails = zip(exact.tails_of_sizes(parts, statistic), (low, 1 - low), strict=True)
    p = max(SMALLEST, min(1.0, *(tail / part for tail, part in tails if part)))
    decks = sum(decks for _, decks in parts)
    return Result(name, words, source, statistic, expected, deviation, p, min(1.0, p / share), decks)
