"""The number of decks after which the monitor finds a machine that turns bad: the table of docs/audit.md."""

from __future__ import annotations

from math import log
from typing import Final

import numpy as np

from shuffle_audit.evidence import SUSPECTED, bet_on, ratios_of, with_rest
from shuffle_audit.models.named import model_named
from shuffle_audit.models.shuffle_model import LogRatios
from shuffle_audit.monitor import OF_FACES

GOOD: Final = (0, 100, 1_000)
MODELS: Final = ("shelves:10", "shelves:20", "riffle:7")
MACHINES: Final = 101
AT_MOST: Final = 100  # bad decks
LEVEL: Final = 0.001


def after_good(good: int, machines: int, seed: int = 1) -> LogRatios:
    """Return the evidence of each model after good decks, for each machine."""
    random, logs = np.random.default_rng(seed), np.full((machines, len(SUSPECTED)), -np.inf)
    for deck in range(1, good + 1):
        logs = bet_on(logs, deck, ratios_of(model_named("uniform").shuffle(random, machines, 52)))
    return logs


def decks_to_alarm(logs: LogRatios, good: int, model: str, seed: int = 2) -> list[int]:
    """Return for each machine the number of bad decks until the alarm, `AT_MOST` where it takes more."""
    random, found = np.random.default_rng(seed), np.full(len(logs), AT_MOST)
    for bad in range(1, AT_MOST + 1):
        logs = bet_on(logs, good + bad, ratios_of(model_named(model).shuffle(random, len(logs), 52)))
        reached = with_rest(logs, good + bad) + log(1 - OF_FACES) >= -log(LEVEL)
        found[reached] = np.minimum(found[reached], bad)
    return [int(one) for one in found]


def table() -> str:
    """Return the median for each number of good decks and each model, as the page shows it."""
    lines = [
        f"| good decks before | {' | '.join(f'`{model}`' for model in MODELS)} |",
        "|---" * (1 + len(MODELS)) + "|",
    ]
    for good in GOOD:
        logs = after_good(good, MACHINES)
        medians = (int(np.median(decks_to_alarm(logs, good, model))) for model in MODELS)
        lines.append(f"| {good:,} | {' | '.join(map(str, medians))} |")
    return "\n".join(lines) + "\n"
