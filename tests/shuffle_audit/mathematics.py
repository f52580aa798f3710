"""The figures of docs/audit_mathematics.md, computed by the audit's own code.

    python -m tests.shuffle_audit.mathematics            # writes the tables, and lists phrases that the page lacks
    python -m tests.shuffle_audit.mathematics --power    # those of `benchmarks.audit_power`, too: some ten minutes
    python -m tests.shuffle_audit.mathematics --money    # the cost of ten shelves, too: two minutes
    python -m tests.shuffle_audit.mathematics --calibration FILE    # those of the lines of `calibration`, too

A table is between `<!-- NAME -->` and `<!-- end of NAME -->`. Phrases are the parts of sentences with numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from benchmarks import audit_power
from shuffle_audit import exact, favoured_places, patterns, repeated_orders
from shuffle_audit.edges import ROUNDS, Change, Money, money
from shuffle_audit.evidence import OF_EVIDENCE, SUSPECTED
from shuffle_audit.exact import Distribution
from shuffle_audit.faces import KINDS, NEW_DECK, numbers_of_runs
from shuffle_audit.kinds import MACHINE_KINDS, POWERS
from shuffle_audit.models import riffle, shelf
from shuffle_audit.models.faults import log_ratios_by_kept_pairs
from shuffle_audit.models.shelf import Shelves
from shuffle_audit.orders import Orders
from shuffle_audit.procedures import PROCEDURES, RAREST, RUNS_LOW, RUNS_SHARE, Procedure
from shuffle_audit.sampled import SAMPLED, upper_tail
from shuffle_audit.verdict import OF_PROCEDURES, guesses_expected
from tests.architecture.sources import ROOT
from tests.shuffle_audit import calibration, distances

PAGE: Final = ROOT / "docs/audit_mathematics.md"
CARDS: Final = 52
FOUR: Final[Orders] = np.array(list(permutations(range(4))))
"""Every order of four cards, which tests examine completely."""
ALPHA: Final = "\N{GREEK SMALL LETTER ALPHA}"


def moments(one: Distribution) -> tuple[float, float]:
    """Return the mean and the standard deviation."""
    counts = np.arange(len(one))
    mean = float((counts * one).sum())
    return mean, float(np.sqrt(((counts - mean) ** 2 * one).sum()))


def statistics() -> Iterator[str]:
    yield "| procedure | mean | deviation | part of low sums, λ | share, w |"
    yield "|---|---:|---:|---:|---:|"
    for one in PROCEDURES:
        mean, deviation = moments(one.null(CARDS))
        yield f"| `{one.id}` | {mean:.3f} | {deviation:.3f} | {one.low:g} | {one.share:g} |"
    yield f"| `{favoured_places.ID}` | of one deck 1 | - | 0 | {favoured_places.SHARE:g} |"
    yield f"| `{repeated_orders.ID}` | of one deck 0 | - | 0 | {repeated_orders.SHARE:g} |"
    for drawn in SAMPLED:
        yield f"| `{drawn.id}` | {drawn.mean(CARDS):,.0f} | sampled | 0 | {drawn.share:g} |"
    for kinds in KINDS:
        mean, deviation = moments(exact.distribution(numbers_of_runs(NEW_DECK, kinds)))
        yield f"| `{kinds.id}` | {mean:.3f} | {deviation:.3f} | {RUNS_LOW:g} | {RUNS_SHARE:g} |"
    for many in RAREST:
        yield f"| `{many.ID}` | of many counts | - | {many.LOW:g} | {many.SHARE:g} |"


def table_of_distances() -> Iterator[str]:
    riffles = [distances.of_riffles(passes).total_variation for passes in range(1, 11)]
    shelves = (10, 15, 20, 25, 30, 50, 100, 200)
    yield f"| riffles | {' | '.join(map(str, range(1, 11)))} |"
    yield "|---|" + "---:|" * len(riffles)
    yield f"| total variation | {' | '.join(f'{one:.3f}' for one in riffles)} |"
    yield ""
    yield f"| shelves | {' | '.join(map(str, shelves))} |"
    yield "|---|" + "---:|" * len(shelves)
    for name in ("total_variation", "separation"):
        found = [getattr(distances.of_shelves(each), name) for each in shelves]
        yield f"| {name.replace('_', ' ')} | {' | '.join(f'{one:.3f}' for one in found)} |"


class Goal(NamedTuple):
    """A goal: `model` is found in that many decks at that chance of a false alarm. `alternative`: of the count in one
    deck.
    """

    model: str
    decks: int
    level: float
    procedure: Procedure
    alternative: Distribution


def goals() -> list[Goal]:
    by_id = {one.id: one for one in PROCEDURES}

    def shelves(count: int, decks: int, level: float) -> Goal:
        ways = enumerate(exact.peak_numbers(CARDS))
        chances = np.array([number * float(shelf.probability(count, CARDS, few)) for few, number in ways])
        return Goal(f"shelves:{count}", decks, level, by_id["valleys"], chances)

    def riffles(passes: int, decks: int) -> Goal:
        ways = enumerate(exact.rising_sequence_numbers(CARDS))
        chances = np.array([n * float(riffle.probability(2**passes, CARDS, r)) if r else 0.0 for r, n in ways])
        return Goal(f"riffle:{passes}", decks, 0.01, by_id["rising-sequences"], chances)

    kept = by_id["kept-pairs"]
    sticking = kept.null(CARDS) * np.exp(log_ratios_by_kept_pairs(0.02, CARDS))
    return [
        shelves(10, 1, 1e-6), shelves(20, 4, 0.01), shelves(50, 120, 0.01), riffles(4, 1), riffles(7, 25),
        Goal("sticking:0.02", 25, 0.01, kept, sticking),
    ]  # fmt: skip


def own_power(goal: Goal, decks: int, level: float) -> float:
    """Return the exact rate at which the procedure's own p, by low or high sums, is at most that level."""
    low = goal.procedure.low >= 0.5
    null, alternative = (exact.of_decks(one, decks) for one in (goal.procedure.null(CARDS), goal.alternative))
    if not low:
        null, alternative = null[::-1], alternative[::-1]
    part = goal.procedure.low if low else 1 - goal.procedure.low
    alarms = np.cumsum(null) / part <= level
    return float(alternative[: len(null)][alarms].sum())


def cost_of_ten_shelves(rounds: int, seed: int) -> Money:
    return money(Shelves(10), np.random.SeedSequence(seed), rounds)


def table_of_money(found: Money) -> Iterator[str]:
    """Yield the table of wagers whose change exceeds noise, in per cent of the stake, with the standard error, and the
    least and highest change of a box.
    """
    yield "| game | dealt in | wager | start | exact edge | change | by box |"
    yield "|---|---|---|---|---:|---:|---:|"
    wagers: dict[tuple[str, ...], list[Change]] = {}
    for one in sorted(found.beyond, key=lambda one: (one.game, one.title, one.start, one.unit, one.box)):
        wagers.setdefault((one.game, one.unit, one.title, one.start), []).append(one)
    for wager, own in wagers.items():
        whole = "noise" if own[0].box else f"{own[0].change * 100:+.1f} ± {own[0].error * 100:.1f}"
        boxes = sorted(one.change for one in own if one.box)
        by_box = " to ".join(dict.fromkeys(f"{one * 100:+.1f}" for one in (*boxes[:1], *boxes[-1:]))) or "-"
        yield f"| {' | '.join(wager)} | {own[0].exact * 100:+.1f} | {whole} | {by_box} |"


def table_of_kinds() -> Iterator[str]:
    heads = [f"{who} {power * 100:g} %" for who in ("audit", "chi-square") for power in POWERS]
    yield f"| machine | {' | '.join(heads)} |"
    yield "|---|" + "---:|" * len(heads)
    for one in MACHINE_KINDS:
        if one.id not in audit_power.MODELS:
            found = [f"over {one.at_most}" if each is None else str(each) for each in (*one.decks, *one.chi_square)]
            yield f"| {one.words} (`{one.id}`) | {' | '.join(found)} |"


TABLES: Final[dict[str, Callable[[], Iterator[str]]]] = {
    "statistics": statistics,
    "distances": table_of_distances,
    "kinds": table_of_kinds,
}


def quantile(tail: float, freedom: int) -> float:
    """Return the value that chi-square exceeds with that chance."""
    low, high = freedom / 2, freedom * 2.0
    while high - low > 1e-9 * freedom:
        middle = (low + high) / 2
        low, high = (middle, high) if upper_tail(middle, freedom) > tail else (low, middle)
    return low


def phrases() -> Iterator[str]:
    yield from _of_the_audit()
    yield from _of_chi_square()
    yield from _of_effects()


def _of_the_audit() -> Iterator[str]:
    shares = [one.share for one in PROCEDURES]
    drawn, runs = sum(one.share for one in SAMPLED), RUNS_SHARE * len(KINDS)
    whole = favoured_places.SHARE + repeated_orders.SHARE
    cells = sum(one.SHARE for one in RAREST)
    yield f"{sum(shares):.2f} + {whole:.2f} + {drawn:.2f} + {runs:.2f} + {cells:.2f} = 1"
    yield f"{OF_PROCEDURES:g} {ALPHA}"
    yield f"{OF_EVIDENCE:g} {ALPHA}"
    yield f"M = {len(SUSPECTED)}"
    yield f"at {ALPHA} = 0.01 these are {1 / (0.01 * OF_EVIDENCE):,.0f} units"


def _of_chi_square() -> Iterator[str]:
    freedom = (CARDS - 1) ** 2
    yield f"{CARDS * (CARDS - 1):,} for 52 cards, and not (n-1)² = {freedom:,}"
    for tail in (0.05, 0.01):
        yield f"{upper_tail(quantile(tail, freedom) * (CARDS - 1) / CARDS, freedom) * 100:.1f} %"
    yield f"{5 * CARDS} decks"


def _of_effects() -> Iterator[str]:
    yield f"{guesses_expected(CARDS):.2f} for 52 cards"
    guessed = patterns.right_guesses(Shelves(10).shuffle(np.random.default_rng(10), 20_000, CARDS)).mean()
    yield f"{guessed:.1f} right guesses"


def written(page: str, tables: dict[str, Sequence[str]]) -> str:
    """Return the page with these tables."""
    for name, lines in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = page.partition(begin)
        page = "\n".join([f"{before}{begin}", *lines, "", f"{end}{rest.partition(end)[2]}"])
    return page


def lacking(page: str) -> list[str]:
    """Return the phrases that are missing from the page; line breaks do not matter."""
    flat = " ".join(page.split())
    return [phrase for phrase in phrases() if phrase not in flat]


def main() -> None:
    tables: dict[str, Sequence[str]] = {name: list(lines()) for name, lines in TABLES.items()}
    if "--power" in sys.argv[1:]:
        limits = audit_power.Limits(0.01, 512, seed=1)
        rows = [audit_power.row(name, limits, 0.01, 512, 1000, seed=1) for name in audit_power.MODELS]
        tables["power"] = list(audit_power.table(rows, 512))
    if "--calibration" in sys.argv[1:]:
        tables |= calibration.tables(Path(sys.argv[-1]))
    if "--money" in sys.argv[1:]:
        tables["money"] = list(table_of_money(cost_of_ten_shelves(ROUNDS, seed=1)))
    page = written(PAGE.read_text(encoding="utf-8"), tables)
    PAGE.write_text(page, encoding="utf-8")
    sys.stderr.writelines(f"The page lacks: {phrase}\n" for phrase in lacking(page))


if __name__ == "__main__":
    main()
