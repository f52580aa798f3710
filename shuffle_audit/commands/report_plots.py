"""The plots of a report: these decks compared with a shuffle that makes every order equally likely.

Decks are dark blue and the good shuffle is orange: colours that colour-blind readers can tell apart, and that differ in
lightness and form when printed without colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, log, log10, sqrt
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from controller.commands.pages.page import DARK, Plot, drawn
from shuffle_audit import exact, patterns
from shuffle_audit.commands.figures import small
from shuffle_audit.evidence import OF_EVIDENCE, ShuffleEvidence
from shuffle_audit.exact import Distribution
from shuffle_audit.favoured_places import table_of
from shuffle_audit.models.shuffle_model import UNIFORM
from shuffle_audit.orders import Counts, Orders, Stored, in_blocks
from shuffle_audit.verdict import AuditVerdict

GOOD: Final = "#e08214"
ENOUGH: Final = 5.0  # decks expected in a cell of the map; places are merged until there are as many
FEWEST_CELLS: Final = 4  # cells in a row of the map
SHOWN_SHARES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # shares of right guesses, beside the curve
SETS: Final = (100, 1000)  # the fewest and the most sets of good shuffles
ROUNDED: Final = 1e-9
DRAWN: Final = 50_000  # decks for these sets, roughly
MOST_IN_SET: Final = 1_000
"""The most decks in such a set. In units of standard deviations the cells of more decks are distributed alike."""
DRAWN_POINTS: Final = 2_000  # of a line
FAR: Final = 5.0  # standard deviations at the ends of the colour scale
Figures = npt.NDArray[np.float64]


class Counted(NamedTuple):
    """A pattern whose plot shows its distribution over the decks."""

    title: str
    counted: Callable[[Orders], Counts]
    numbers: Callable[[int], tuple[int, ...]]


COUNTED: Final = (
    Counted("rising sequences", patterns.rising_sequences, exact.rising_sequence_numbers),
    Counted("valleys", patterns.valleys, exact.peak_numbers),
    Counted("peaks", patterns.peaks, exact.peak_numbers),
)


def plots_of(orders: Stored, verdict: AuditVerdict, random: np.random.Generator) -> Iterator[tuple[str, Plot]]:
    """Yield each plot with its part of the report; none for no decks, or too few cards.

    `random` draws good shuffles for comparison with the map.
    """
    if not len(orders) or orders.shape[1] < FEWEST_CELLS:
        return
    yield "effect", guesses(orders)
    yield "counted", counts(orders)
    if not verdict.partial:  # otherwise the evidence has more decks than these
        yield "evidence", evidence(orders, verdict)
    yield "regulators", positions(orders, random)


def guesses(orders: Stored) -> Plot:
    """Plot the share of right guesses at each place."""
    decks, cards = orders.shape
    found = np.sum([patterns.guessed(block).sum(axis=0) for block in in_blocks(orders)], axis=0) / decks
    place = np.arange(1, cards + 1)
    expected = 1 / (cards + 1 - place)
    lowest = min(SHOWN_SHARES[0], 0.5 / cards)
    around = 2 * np.sqrt(expected * (1 - expected) / decks)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        low, high = np.maximum(expected - around, 0), np.minimum(expected + around, 1)
        low, found_ = np.maximum(low, lowest), np.maximum(found, lowest)  # a logarithm has no 0
        axes.fill_between(place, low, high, color=GOOD, alpha=0.3, linewidth=0)
        axes.plot(place, expected, color=GOOD, linestyle="--", linewidth=1.2, label="good shuffle")
        axes.plot(place, found_, color=DARK, marker="o", markersize=2.5, linewidth=0.7, label="these decks")
        axes.set(xlabel="place in the deck after the shuffle", ylabel="guessed rightly", xlim=(0.5, cards + 0.5))
        axes.set_yscale("log")
        axes.set_ylim(lowest, 1.1)
        axes.yaxis.set_major_locator(FixedLocator(SHOWN_SHARES))
        axes.yaxis.set_major_formatter(lambda share, _: f"{share * 100:g} %")
        axes.yaxis.set_minor_locator(NullLocator())
        axes.legend(frameon=False, loc="upper left")

    outside = int((np.abs(found - expected) > around + 1e-12).sum())
    says = f"Share of right guesses at each of {cards} places; at {outside} of them it lies outside of the band."
    caption = (
        "How often a player who knows the order in guesses the next card. After a good shuffle that is 1 in as "
        "many cards as are left (dashed; the scale is logarithmic), and about 19 of 20 points lie within the band of "
        "two standard deviations. "
        "Consecutive points above the band are what the player gains."
    )
    return Plot("Right guesses, place by place", says, drawn("guesses", draw, (7.2, 2.5)), caption)


def counts(orders: Stored) -> Plot:
    """Plot the distribution of rising sequences, valleys and peaks."""
    cards = orders.shape[1]
    found = [np.concatenate([one.counted(block) for block in in_blocks(orders)]) for one in COUNTED]

    def draw(figure: Figure) -> None:
        for axes, one, each in zip(figure.subplots(1, len(COUNTED)), COUNTED, found, strict=True):
            _bars(axes, each, exact.distribution(one.numbers(cards)))
            axes.set_xlabel(f"{one.title} in a deck")
        figure.axes[0].set_ylabel("share of the decks")
        figure.legend(*figure.axes[0].get_legend_handles_labels(), frameon=False, loc="outside upper center", ncols=2)

    means = (
        f"{one.title} {each.mean():.2f} a deck, {_mean(exact.distribution(one.numbers(cards))):.2f} expected"
        for one, each in zip(COUNTED, found, strict=True)
    )
    caption = (
        "Bars: these decks. Points: how often a good shuffle gives each number. After a good shuffle the bars follow "
        "the points. Riffles leave too few rising sequences; machines with shelves too few valleys and peaks."
    )
    return Plot("Patterns in each deck", f"{'; '.join(means)}.", drawn("counts", draw, (7.2, 2.4)), caption)


def _mean(one: Distribution) -> float:
    return float((np.arange(len(one)) * one).sum())


def _bars(axes: Axes, found: Counts, expected: Distribution) -> None:
    """Draw bars between the first and last number that occurs, or is expected more than once in a thousand decks."""
    likely = np.flatnonzero(expected > 0.001)
    begin, end = min(int(found.min()), int(likely[0])), max(int(found.max()), int(likely[-1])) + 1
    numbers = np.arange(begin, end)
    shares = np.bincount(found, minlength=end)[begin:end] / len(found)
    axes.bar(numbers, shares, width=0.8, color=DARK, label="these decks")
    comes = np.append(expected, np.zeros(max(0, end - len(expected))))[begin:end]
    axes.plot(numbers, comes, color=GOOD, marker="o", markersize=3.5, linewidth=1, label="good shuffle")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))


def evidence(orders: Stored, verdict: AuditVerdict) -> Plot:
    """Plot the decimal logarithm of the evidence, deck after deck."""
    course = np.append(0.0, ShuffleEvidence().add(orders)) / log(10)
    limit = log10(1 / (verdict.level * OF_EVIDENCE))

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axhline(limit, color=GOOD, linestyle="--", linewidth=1.2, label=f"alarm: {10**limit:,.0f} units")
        axes.axhline(0, color="#777777", linewidth=0.6)
        few = "o" if len(course) <= 60 else ""
        at = _drawn_points(course)
        axes.plot(at, course[at], color=DARK, linewidth=1.2, marker=few, markersize=2.5, label="evidence")
        axes.set(xlabel="decks", ylabel="log10 of the units")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlim(0, len(course) - 1)
        axes.legend(frameon=False, loc="best")

    says = f"Highest log10 {course.max():.1f} after deck {int(course.argmax()):,}; the alarm is at {limit:.1f}."
    caption = (
        "What a bettor has who begins with 1 unit (0 on this axis) and bets against the shuffle. After a good shuffle "
        "he loses in the long run, and the line falls; it reaches the dashed line of the alarm with a chance of at "
        f"most {verdict.level * OF_EVIDENCE:g}, however many decks are looked at."
    )
    return Plot("Evidence, deck after deck", says, drawn("evidence", draw, (7.2, 2.2)), caption)


def _drawn_points(course: Figures) -> npt.NDArray[np.int64]:
    """Return the places at which a line is drawn: all, or of each of `DRAWN_POINTS` parts the highest, and the last."""
    parts = np.array_split(np.arange(len(course)), min(DRAWN_POINTS, len(course)))
    return np.array([*(part[course[part].argmax()] for part in parts[:-1]), len(course) - 1])


def positions(orders: Stored, random: np.random.Generator) -> Plot:
    """Plot where cards came from and went to, against expectation."""
    at, far = _cells(orders)
    decks, cards = orders.shape
    sizes = np.diff(np.append(at, cards))
    by_place = far.repeat(sizes, axis=0).repeat(sizes, axis=1)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        reach = (0.5, cards + 0.5, cards + 0.5, 0.5)
        drawing = axes.imshow(by_place, cmap="PuOr_r", vmin=-FAR, vmax=FAR, interpolation="none", extent=reach)
        axes.set(xlabel="place before the shuffle", ylabel="place after the shuffle")
        step = 10 * ceil(cards / 70)
        ticks = [1, *range(step, cards + 1, step)]
        axes.set_xticks(ticks)
        axes.set_yticks(ticks)
        bar = figure.colorbar(drawing, ax=axes, extend="both", shrink=0.8)
        bar.set_label("standard deviations; below 0: too few")

    size = int(sizes[0])
    together = "" if size == 1 else f" Cells have {size} places or more each way, because there are few decks."
    furthest = float(np.abs(far).max())
    chance = _chance_of_deviation(furthest, decks, cards, random)
    says = f"Of {far.size} cells the furthest lies {furthest:.1f} standard deviations from what is expected."
    caption = (
        "Each cell: how many cards came from one place to another, against what is expected; dark orange: too many, "
        "dark purple: too few. After a good shuffle the cells are pale, without lines or areas. The furthest cell lies "
        f"{furthest:.1f} standard deviations off; in simulated audits of good shuffles one lies so far off with a "
        f"chance of {small(chance)}. The verdict does not rest on this map.{together}"
    )
    return Plot("From place to place", says, drawn("positions", draw, (7.2, 4.4)), caption)


def _chance_of_deviation(furthest: float, decks: int, cards: int, random: np.random.Generator) -> float:
    """Return the share of simulated good shuffles in which some cell deviates at least as far as `furthest`."""
    drawn = min(decks, MOST_IN_SET)
    sets = max(SETS[0], min(SETS[1], DRAWN // drawn))
    found = np.array([np.abs(_cells(UNIFORM.shuffle(random, drawn, cards))[1]).max() for _ in range(sets)])
    return float((1 + (found >= furthest - ROUNDED).sum()) / (1 + sets))


def _cells(orders: Stored) -> tuple[npt.NDArray[np.int64], Figures]:
    """Return where cells begin, and each count's deviation in standard deviations; rows are places after the shuffle.

    A deck brings cards from b places to c places as a hypergeometric count, with variance b (c/n) (1 - c/n) (n - b) /
    (n - 1).
    """
    decks, cards = orders.shape
    size = max(1, min(ceil(sqrt(ENOUGH * cards / decks)), cards // FEWEST_CELLS))
    at = np.arange(0, cards - cards % size or cards, size)
    cells = table_of(orders).T  # rows are places after the shuffle
    found = np.add.reduceat(np.add.reduceat(cells, at, axis=0), at, axis=1)
    sizes = np.diff(np.append(at, cards)).astype(float)
    to, come = sizes[:, None], sizes[None, :]
    expected = decks * to * come / cards
    deviation = np.sqrt(decks * come * (to / cards) * (1 - to / cards) * (cards - come) / (cards - 1))
    far: Figures = (found - expected) / deviation
    return at, far
