"""The rate at which a good shuffle raises an alarm: sets of decks with equally likely orders, through the audit.

    python -m tests.shuffle_audit.calibration [--sets DECKS=SETS]... [--monitors SETS] [--seed 1] > rates.jsonl
    python -m tests.shuffle_audit.mathematics --calibration rates.jsonl    # writes the tables of the page

Each set is judged as `cardshoe audit run` judges it; samples are drawn again after some sets, so that no single draw
decides. A monitor takes decks one after the other, and counts if it ever raised its alarm. The work is split into
tasks, on all processors. Each prints a line when it is done, so that a run that is stopped early has fewer sets.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from math import log10
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from shuffle_audit import earlier_decks, exact, favoured_places, repeated_orders
from shuffle_audit.evidence import SUSPECTED, bet_on, ratios_of, with_rest
from shuffle_audit.exact import Distribution
from shuffle_audit.faces import KINDS, NEW_DECK, numbers_of_runs
from shuffle_audit.following import DeckCame
from shuffle_audit.models.shuffle_model import UNIFORM, LogRatios
from shuffle_audit.monitor import Monitor
from shuffle_audit.procedures import PROCEDURES, RUNS_LOW, SHARES
from shuffle_audit.sampled import CARD_POSITION, Nulls
from shuffle_audit.verdict import judge
from tests.shuffle_audit.decks import first_seen, shuffled

Rates: TypeAlias = npt.NDArray[np.float64]
"""The part of the sets that raise an alarm, at each of `LEVELS`."""

LEVELS: Final = (0.05, 0.01)
SETS: Final[Mapping[int, int]] = {1: 100_000, 5: 100_000, 25: 100_000, 200: 10_000}
"""Sets of decks, by the number of decks in a set."""
DECKS: Final = tuple(SETS)
MONITORS: Final = 5_000
EVIDENCE_SETS: Final = 100_000
SAME_SAMPLES: Final = 100  # sets
IN_A_TASK: Final = 5_000  # sets, or fewer of many decks
MOST_IN_A_TASK: Final = 50_000  # decks
WHOLE: Final = "everything together"
OF_SEVERAL: Final = (favoured_places.ID, repeated_orders.ID, CARD_POSITION.id, earlier_decks.ID)
"""Of one deck these are constants, and not tested."""
LOOKS: Final = 100
"""Decks that a monitor takes."""
TOGETHER: Final = 1000  # sets of decks for the evidence
WIDTH: Final = 1.96
"""Half of a confidence interval of 95 %, in standard errors."""
KNOWN: Final = (52, 24)  # cards of a deck: on a bench, and at a table with seven boxes


class Task(NamedTuple):
    """Sets of `decks` decks each, by their numbers; for monitors `known` cards of each deck are shown, otherwise 0."""

    decks: int
    begin: int
    sets: int
    known: int = 0


class Alarms(msgspec.Struct, frozen=True):
    """The number of alarms in `sets` sets at each of `LEVELS`, by procedure."""

    decks: int
    known: int
    sets: int
    alarms: dict[str, list[int]]


def of_verdicts(task: Task, seed: int) -> Alarms:
    """Count the alarms of each procedure, by its own p, and of the verdict. Sets are numbered from a multiple of
    `SAME_SAMPLES`.
    """
    raised = {name: np.zeros(len(LEVELS), np.int64) for name in (*SHARES, WHOLE)}
    for begin in range(task.begin, task.begin + task.sets, SAME_SAMPLES):
        nulls = Nulls(np.random.default_rng([seed, task.decks, begin]))
        count = min(SAME_SAMPLES, task.begin + task.sets - begin)
        own = int(np.random.default_rng([seed, begin]).integers(2**63))
        made = shuffled("uniform", count * task.decks, own)
        for at in range(0, len(made), task.decks):
            found = judge(made[at : at + task.decks], random=nulls)
            assert found.chance is not None
            for name, p in [(one.id, one.p) for one in found.findings] + [(WHOLE, found.chance)]:
                raised[name] += np.less_equal(p, LEVELS)
    return Alarms(task.decks, 0, task.sets, {name: one.tolist() for name, one in raised.items()})


def of_monitors(task: Task, seed: int) -> Alarms:
    """Count the monitors whose evidence ever reaches the limit, within as many decks as the task says."""
    raised = np.zeros(len(LEVELS), np.int64)
    for number in range(task.begin, task.begin + task.sets):
        own = int(np.random.default_rng([seed, task.known, number]).integers(2**63))
        monitor = Monitor("good")
        for at, deck in enumerate(first_seen(shuffled("uniform", task.decks, own), task.known)):
            monitor.take(DeckCame(f"line {at + 1}", deck), now_ns=0)
        raised += np.greater_equal(monitor.highest, [-log10(level) for level in LEVELS])
    return Alarms(task.decks, task.known, task.sets, {WHOLE: raised.tolist()})


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


def tasks_of(sets: Mapping[int, int], monitors: int) -> list[Task]:
    """Return the tasks, so that those of every kind come in turn."""
    found = []
    for decks, known, count in (*((decks, 0, count) for decks, count in sets.items()),
                                *((LOOKS, known, monitors) for known in KNOWN)):  # fmt: skip
        step = max(SAME_SAMPLES, min(IN_A_TASK, MOST_IN_A_TASK // decks // SAME_SAMPLES * SAME_SAMPLES))
        parts = range(0, count, step)
        found += [((at + 1) / len(parts), Task(decks, begin, min(step, count - begin), known))
                  for at, begin in enumerate(parts)]  # fmt: skip
    return [task for _, task in sorted(found)]


def done(task: Task, seed: int) -> Alarms:
    return of_monitors(task, seed) if task.known else of_verdicts(task, seed)


def added(found: Sequence[Alarms], decks: int, known: int = 0) -> Alarms:
    """Return the alarms of all tasks with as many decks and known cards."""
    own = [one for one in found if (one.decks, one.known) == (decks, known)]
    names = dict.fromkeys(name for one in own for name in one.alarms)
    sums = {name: np.sum([one.alarms[name] for one in own], axis=0).tolist() for name in names}
    return Alarms(decks, known, sum(one.sets for one in own), sums)


def rates_of(found: Alarms) -> dict[str, Rates]:
    return {name: np.array(alarms) / found.sets for name, alarms in found.alarms.items()}


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


def table_of_verdicts(found: Sequence[Alarms]) -> Iterator[str]:
    """Yield the table's lines, a column for each number of decks and level. Cells have the found and exact rate in
    %.
    """
    heads = [f"{one.decks} decks, {level:.0%}" for one in found for level in LEVELS]
    yield f"| procedure | {' | '.join(heads).replace('1 decks', '1 deck').replace('%', ' %')} |"
    yield "|---|" + "---:|" * len(heads)
    nulls, rates = exact_rates(), [rates_of(one) for one in found]
    for name in (*SHARES, WHOLE):
        cells = []
        for one, own in zip(found, rates, strict=True):
            for level, each in zip(LEVELS, own[name], strict=True):
                law = f" / {rate(*nulls[name], one.decks, level) * 100:.2f}" if name in nulls else ""
                cells.append("-" if one.decks == 1 and name in OF_SEVERAL else f"{each * 100:.2f}{law}")
        yield f"| {name if name == WHOLE else f'`{name}`'} | {' | '.join(cells)} |"


def table_of_sets(found: Sequence[Alarms]) -> Iterator[str]:
    """Yield the table's lines: for sets of decks and for monitors how many there were, and the rate in % at which they
    raised an alarm at all, with its confidence interval of 95 % (Wilson 1927).
    """
    yield f"| what | number | {' | '.join(f'{level:.0%}'.replace('%', ' %') for level in LEVELS)} |"
    yield "|---|---:|" + "---:|" * len(LEVELS)
    for one in found:
        cells = (f"{raised / one.sets * 100:.2f} ({_interval(raised, one.sets)})" for raised in one.alarms[WHOLE])
        what = f"sets of {one.decks} decks".replace(" 1 decks", " 1 deck")
        if one.known:
            what = f"monitors, {one.decks} decks each, {one.known} cards known"
        yield f"| {what} | {one.sets:,} | {' | '.join(cells)} |"


def _interval(raised: int, sets: int) -> str:
    """Return the bounds of the rate in %."""
    middle, squared = (raised + WIDTH**2 / 2) / (sets + WIDTH**2), raised * (sets - raised) / sets + WIDTH**2 / 4
    half = WIDTH * squared**0.5 / (sets + WIDTH**2)
    return f"{max(0.0, middle - half) * 100:.2f} to {(middle + half) * 100:.2f}"


def table_of_evidence(found: Mapping[int, Rates]) -> Iterator[str]:
    """Yield the table's lines. `found`: rates by the number of known cards of a deck."""
    yield "| cards known | 5 % | 1 % |"
    yield "|---:|---:|---:|"
    for known, rates in found.items():
        yield f"| {known} | {' | '.join(f'{one * 100:.2f}' for one in rates)} |"


def tables(lines: Path, seed: int = 1) -> dict[str, list[str]]:
    """Return the tables of the page, with the verdicts of the lines of tasks. Numbers of decks whose sets are not
    complete stay as they are, except the highest.
    """
    found = [msgspec.json.decode(line, type=Alarms) for line in lines.read_bytes().splitlines()]
    every = [added(found, decks) for decks in DECKS] + [added(found, LOOKS, known) for known in KNOWN]
    gathered = {known: of_evidence(known, EVIDENCE_SETS, seed) for known in KNOWN}
    written = {
        "calibration-of-sets": list(table_of_sets([one for one in every if one.sets])),
        "calibration-of-200": list(table_of_verdicts([one for one in every if one.decks == DECKS[-1]])),
        "calibration-of-evidence": list(table_of_evidence(gathered)),
    }
    few = [one for one in every if one.decks in DECKS[:-1]]
    if all(one.sets == SETS[one.decks] for one in few):
        written["calibration"] = list(table_of_verdicts(few))
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description="How often a good shuffle raises an alarm")
    parser.add_argument("--sets", action="append", metavar="DECKS=SETS", default=[])
    parser.add_argument("--monitors", type=int, default=MONITORS)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    asked = {int(decks): int(sets) for decks, _, sets in (one.partition("=") for one in given.sets)}
    with ProcessPoolExecutor() as pool:
        running = [pool.submit(done, task, given.seed) for task in tasks_of(asked or SETS, given.monitors)]
        for one in as_completed(running):
            sys.stdout.write(msgspec.json.encode(one.result()).decode() + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
