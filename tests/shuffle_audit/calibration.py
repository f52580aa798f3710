"""The rate at which a good shuffle raises an alarm: sets of decks with equally likely orders, through the audit.

    python -m tests.shuffle_audit.mathematics --calibration    # writes the tables of docs/audit_mathematics.md

Each set is judged as `cardshoe audit run` judges it; samples are drawn again after some sets, so that no single draw
decides. Evidence is examined after each deck, and counts if it was ever high enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from shuffle_audit import earlier_decks, exact, favoured_places, repeated_orders
from shuffle_audit.evidence import SUSPECTED, bet_on, ratios_of, with_rest
from shuffle_audit.exact import Distribution
from shuffle_audit.faces import KINDS, NEW_DECK, numbers_of_runs
from shuffle_audit.models.shuffle_model import UNIFORM, LogRatios
from shuffle_audit.procedures import PROCEDURES, RUNS_LOW, SHARES
from shuffle_audit.sampled import CARD_POSITION, Nulls
from shuffle_audit.verdict import judge
from tests.shuffle_audit.decks import shuffled

Rates: TypeAlias = npt.NDArray[np.float64]
"""The part of the sets that raise an alarm, at each of `LEVELS`."""

LEVELS: Final = (0.05, 0.01)
SETS: Final = 100_000
DECKS: Final = (1, 5, 25)  # in a set
SAME_SAMPLES: Final = 100  # sets
WHOLE: Final = "everything together"
OF_SEVERAL: Final = (favoured_places.ID, repeated_orders.ID, CARD_POSITION.id, earlier_decks.ID)
"""Of one deck these are constants, and not tested."""
LOOKS: Final = 100
KNOWN: Final = (52, 24)  # cards of a deck: on a bench, and at a table with seven boxes
TOGETHER: Final = 1000  # sets of decks for the evidence


def of_verdicts(decks: int, sets: int, seed: int) -> dict[str, Rates]:
    """Return the rate of alarms of each procedure, by its own p, and of the verdict."""
    raised = {name: np.zeros(len(LEVELS)) for name in (*SHARES, WHOLE)}
    for begin in range(0, sets, SAME_SAMPLES):
        nulls = Nulls(np.random.default_rng([seed, decks, begin]))
        count = min(SAME_SAMPLES, sets - begin)
        made = shuffled("uniform", count * decks, int(np.random.default_rng([seed, begin]).integers(2**63)))
        for at in range(0, len(made), decks):
            found = judge(made[at : at + decks], random=nulls)
            assert found.chance is not None
            for name, p in [(one.id, one.p) for one in found.findings] + [(WHOLE, found.chance)]:
                raised[name] += np.less_equal(p, LEVELS)
    return {name: one / sets for name, one in raised.items()}


def of_evidence(known: int, sets: int, seed: int) -> Rates:
    """Return the rate of alarms by the evidence of `LOOKS` decks with `known` cards, over all sets."""
    limits, raised = -np.log(LEVELS), np.zeros(len(LEVELS))
    random = np.random.default_rng([seed, known])
    for begin in range(0, sets, TOGETHER):
        count = min(TOGETHER, sets - begin)
        logs: LogRatios = np.full((count, len(SUSPECTED)), -np.inf)
        highest = np.zeros(count)
        for deck in range(1, LOOKS + 1):
            logs = bet_on(logs, deck, ratios_of(UNIFORM.shuffle(random, count, known)))
            highest = np.maximum(highest, with_rest(logs, deck))
        raised += (highest >= limits[:, None]).sum(axis=1)
    return raised / sets


def exact_rates() -> dict[str, tuple[Distribution, float]]:
    """Return the exact rates of the procedures with an exact null: that of one deck, and the share of low sums."""
    found = {one.id: (one.null(52), one.low) for one in PROCEDURES}
    runs = {one.id: exact.distribution(numbers_of_runs(NEW_DECK, one)) for one in KINDS}
    return found | {name: (null, RUNS_LOW) for name, null in runs.items()}


def rate(null: Distribution, low: float, decks: int, level: float) -> float:
    """Return how often the sum over `decks` decks has p at most `level`, which is less often than `level`, since
    sums are whole numbers.

    It counts each sum without the audit's code.
    """
    chances = np.array([1.0])
    for _ in range(decks):
        chances = np.convolve(chances, null)
    below, above = np.cumsum(chances), np.cumsum(chances[::-1])[::-1]
    reached = (below <= low * level * (1 + 1e-9)) | (above <= (1 - low) * level * (1 + 1e-9))
    return float(chances[reached].sum())


def table_of_verdicts(found: dict[int, dict[str, Rates]]) -> Iterator[str]:
    """Yield the table's lines. `found`: rates by the number of decks. Cells have the found and exact rate in %."""
    heads = [f"{decks} decks, {level:.0%}" for decks in found for level in LEVELS]
    yield f"| procedure | {' | '.join(heads).replace('1 decks', '1 deck').replace('%', ' %')} |"
    yield "|---|" + "---:|" * len(heads)
    nulls = exact_rates()
    for name in (*SHARES, WHOLE):
        cells = []
        for decks, rates in found.items():
            for level, one in zip(LEVELS, rates[name], strict=True):
                law = f" / {rate(*nulls[name], decks, level) * 100:.2f}" if name in nulls else ""
                cells.append("-" if decks == 1 and name in OF_SEVERAL else f"{one * 100:.2f}{law}")
        yield f"| {name if name == WHOLE else f'`{name}`'} | {' | '.join(cells)} |"


def table_of_evidence(found: dict[int, Rates]) -> Iterator[str]:
    """Yield the table's lines. `found`: rates by the number of known cards of a deck."""
    yield "| cards known | 5 % | 1 % |"
    yield "|---:|---:|---:|"
    for known, rates in found.items():
        yield f"| {known} | {' | '.join(f'{one * 100:.2f}' for one in rates)} |"


def tables(sets: int = SETS, seed: int = 1) -> dict[str, list[str]]:
    """Return both tables. This takes half an hour with two processors."""
    with ProcessPoolExecutor() as pool:
        verdicts = {decks: pool.submit(of_verdicts, decks, sets, seed) for decks in reversed(DECKS)}
        gathered = {known: pool.submit(of_evidence, known, sets, seed) for known in KNOWN}
        return {
            "calibration": list(table_of_verdicts({decks: verdicts[decks].result() for decks in DECKS})),
            "calibration-of-evidence": list(table_of_evidence({n: one.result() for n, one in gathered.items()})),
        }
