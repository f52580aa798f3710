"""Ranks the suspected models: how likely all decks together are under each model with a known distribution.

The likelihood ratio of a model is the product over all decks of the order's probability under it, over 1/n!. The
evidence bets on the same ratios. The best of many models exceeds the uniform one by chance, so without an alarm of the
verdict the ratios say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log, log10

import msgspec

from shuffle_audit.evidence import SUSPECTED
from shuffle_audit.models.shuffle_model import UNIFORM, SuspectedModel
from shuffle_audit.orders import Orders
from shuffle_audit.verdict import OF_EVIDENCE


class Suspect(msgspec.Struct, frozen=True):
    """A model with `log10`, the decimal logarithm of how many times likelier the decks are under it than under uniform
    orders; null if the model never makes one of them.
    """

    model: str
    words: str
    log10: float | None


def suspects(
    orders: Orders, models: Sequence[SuspectedModel] = (UNIFORM, *SUSPECTED), *, others: Sequence[Orders] = ()
) -> tuple[Suspect, ...]:
    """Return the models, likeliest first; equal ones keep their order. `others` are decks known in part, by their
    number of cards.
    """
    some = [one for one in (orders, *others) if len(one)]
    sums = [sum(float(model.log_ratios(one).sum()) for one in some) / log(10) for model in models]
    ranked = sorted(zip(models, sums, strict=True), key=lambda one: -one[1])
    return tuple(Suspect(model.name, model.words, each if isfinite(each) else None) for model, each in ranked)


def best_fit(ranked: Sequence[Suspect], level: float) -> Suspect | None:
    """Return the first model, if the ratio is so large that a uniform shuffle reaches it with a chance of at most the
    evidence's part of the level; else None.

    A ratio is 1 on average under uniform orders, so the best of k reaches a limit at most k times as often as one
    (Markov).
    """
    best = ranked[0]
    needed = log10(len(ranked) / (level * OF_EVIDENCE))
    return best if best.log10 is not None and best.log10 >= needed else None
