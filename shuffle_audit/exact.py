"""Exact distributions of counts where all n! orders are equally likely, and of their sums over several decks.

A distribution is an array: element k is the probability of the count k. Sums over several decks are convolutions.
Direct convolution has only positive terms, so that small tails are as exact as large ones. For many decks it takes too
long, and a Fourier transform alone loses small tails. There the distribution is first tilted (Esscher 1932; Keich 2005)
so that its mean is the observed sum. Near it the transform is exact to 12 digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache, lru_cache, reduce
from math import ceil, comb, exp, factorial, floor, log, sqrt
from typing import Final

import numpy as np
import numpy.typing as npt

Distribution = npt.NDArray[np.float64]
FOLDED: Final = 2000
"""The largest number of terms for direct convolution; above, the transform is used."""


@cache
def rising_sequence_numbers(cards: int) -> tuple[int, ...]:
    """Return Eulerian numbers: element k counts the orders with k rising sequences (element 0 is 0)."""
    row = [1]
    for n in range(2, cards + 1):
        row = [(k + 1) * (row[k] if k < len(row) else 0) + (n - k) * (row[k - 1] if k else 0) for k in range(n)]
    return (0, *row)


@cache
def peak_numbers(cards: int) -> tuple[int, ...]:
    """Return the numbers of orders with k peaks, which are also those with k valleys."""
    row = [1]
    for n in range(2, cards + 1):
        row = [
            (2 * k + 2) * (row[k] if k < len(row) else 0) + (n - 2 * k) * (row[k - 1] if k else 0)
            for k in range((n - 1) // 2 + 1)
        ]
    return tuple(row)


@cache
def kept_pair_numbers(cards: int) -> tuple[int, ...]:
    """Return the numbers of orders with k neighbours that follow each other as before; the same for the reverse."""
    return tuple(comb(cards - 1, k) * (_derangements(cards - k) + _derangements(cards - k - 1)) for k in range(cards))


@cache
def in_place_numbers(cards: int) -> tuple[int, ...]:
    """Return the numbers of orders with k cards in their old place (rencontres numbers)."""
    return tuple(comb(cards, k) * _derangements(cards - k) for k in range(cards + 1))


@cache
def cycle_numbers(cards: int) -> tuple[int, ...]:
    """Return the numbers of orders with k cycles (unsigned Stirling numbers of the first kind)."""
    row = [1]
    for n in range(cards):
        row = [n * (row[k] if k < len(row) else 0) + (row[k - 1] if k else 0) for k in range(n + 2)]
    return tuple(row)


@cache
def run_numbers(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the ways to lay cards of several kinds (`sizes`) in k runs of one kind (two: Wald and Wolfowitz 1940).

    Runs cut into j pieces are counted first: each kind alone in C(n - 1, pieces - 1) ways, all in one row by the
    multinomial coefficient. Inclusion and exclusion removes what the cuts add.
    """
    cards = sum(sizes)
    cut = [Fraction(1)]
    for size in filter(None, sizes):
        own = [Fraction(comb(size - 1, j - 1), factorial(j)) if j else Fraction(0) for j in range(size + 1)]
        cut = [
            sum((cut[k] * own[j - k] for k in range(max(0, j - size), min(j + 1, len(cut)))), Fraction(0))
            for j in range(len(cut) + size)
        ]
    pieces = [int(one * factorial(j)) for j, one in enumerate(cut)]
    return tuple(
        sum((-1) ** (k - j) * comb(cards - j, k - j) * pieces[j] for j in range(k + 1)) for k in range(cards + 1)
    )


@cache
def _derangements(cards: int) -> int:
    if cards < 1:
        return 1 if cards == 0 else 0
    return (cards - 1) * (_derangements(cards - 1) + _derangements(cards - 2)) if cards > 1 else 0


def distribution(numbers: tuple[int, ...]) -> Distribution:
    """Return the distribution for counts of orders: exact fractions, rounded once."""
    whole = sum(numbers)
    return np.array([number / whole for number in numbers])


@cache
def _guesses(cards: int) -> tuple[float, ...]:
    found = np.array([1.0])
    for left in range(1, cards + 1):
        found = np.convolve(found, (1 - 1 / left, 1 / left))
    return tuple(found)


def guess_distribution(cards: int) -> Distribution:
    """Return the distribution of a player's right guesses: with c cards left a guess is right with 1/c."""
    return np.array(_guesses(cards))


def of_decks(one: Distribution, decks: int) -> Distribution:
    """Return the distribution of the sum over independent decks."""
    found, power = np.array([1.0]), one
    while decks:
        if decks & 1:
            found = np.convolve(found, power)
        decks >>= 1
        if decks:
            power = np.convolve(power, power)
    return found


def tails(sums: Distribution, value: int) -> tuple[float, float]:
    """Return the chances of this sum or a lower sum, and of this or a higher sum."""
    return min(1.0, float(sums[: value + 1].sum())), min(1.0, float(sums[value:].sum()))


def tails_of_decks(one: Distribution, decks: int, value: int) -> tuple[float, float]:
    """Return `tails` of the sum over `decks` decks, cached because small numbers of decks repeat."""
    return tails_of_sizes([(one, decks)], value)


def tails_of_sizes(parts: Sequence[tuple[Distribution, int]], value: int) -> tuple[float, float]:
    """Return `tails` of the sum over decks of several sizes, given a deck's distribution and the number of each."""
    return _tails(tuple((one.tobytes(), decks) for one, decks in parts if decks), value)


@lru_cache(maxsize=20_000)
def _tails(kept: tuple[tuple[bytes, int], ...], value: int) -> tuple[float, float]:
    parts = [(np.frombuffer(one), decks) for one, decks in kept]
    if sum(decks * (len(one) - 1) for one, decks in parts) <= FOLDED:
        return tails(reduce(np.convolve, (of_decks(one, decks) for one, decks in parts), np.array([1.0])), value)
    tilt, log_means = _tilt(parts, value)
    tilted = []
    for (one, decks), log_mean in zip(parts, log_means, strict=True):
        weights = np.exp(_tilted_logs(one, tilt) - log_mean)
        tilted.append((weights / weights.sum(), decks))
    begin, sums = _sums_near_mean(tilted)
    steps = begin + np.arange(len(sums)) - value
    far = steps >= 0 if tilt >= 0 else steps <= 0
    scale = sum(decks * log_mean for (_, decks), log_mean in zip(parts, log_means, strict=True)) - tilt * value
    weighed = float((sums[far] * np.exp(-tilt * steps[far])).sum())
    tail = exp(min(0.0, scale + log(weighed))) if weighed else 0.0
    other = min(1.0, 1.0 - tail + exp(min(0.0, scale)) * float(sums[steps == 0].sum()))
    return (other, tail) if tilt >= 0 else (tail, other)


def _sums_near_mean(parts: Sequence[tuple[Distribution, int]]) -> tuple[int, Distribution]:
    """Return the first of a row of sums, and the probability of each. The chance of all others is below 1e-19
    (Bernstein's inequality), so the transform may wrap around after that many terms.
    """
    most, highest = max(len(one) - 1 for one, _ in parts), sum(decks * (len(one) - 1) for one, decks in parts)
    moments = [(mean_and_variance(one), decks) for one, decks in parts]
    mean = sum(decks * mean for (mean, _), decks in moments)
    variance = sum(decks * variance for (_, variance), decks in moments)
    reach = 15 * most + sqrt((15 * most) ** 2 + 90 * variance)
    terms = min(highest + 1, max(most + 1, ceil(2 * reach) + 2))
    size = 1 << (terms - 1).bit_length()
    transformed = reduce(np.multiply, (np.fft.rfft(one, size) ** decks for one, decks in parts))
    found = np.maximum(np.fft.irfft(transformed, size), 0.0)
    begin = max(0, floor(mean - reach))
    return begin, found[(begin + np.arange(size)) % size]


def mean_and_variance(one: Distribution) -> tuple[float, float]:
    """Return the mean and the variance of one deck's count."""
    counts = np.arange(len(one))
    mean = float((counts * one).sum())
    return mean, float(((counts - mean) ** 2 * one).sum())


def forget() -> None:
    """Clear the cache of `tails_of_sizes`, for measuring."""
    _tails.cache_clear()


def _tilt(parts: Sequence[tuple[Distribution, int]], value: int) -> tuple[float, list[float]]:
    """Return the exponent (at most 40 either way) that gives the sum this mean, and the logarithm of each
    distribution's tilted total.
    """
    low, high = -40.0, 40.0
    for _ in range(60):
        tilt = (low + high) / 2
        if sum(decks * _tilted(one, tilt)[0] for one, decks in parts) < value:
            low = tilt
        else:
            high = tilt
    tilt = (low + high) / 2
    return tilt, [_tilted(one, tilt)[1] for one, _ in parts]


def _tilted(one: Distribution, tilt: float) -> tuple[float, float]:
    """Return the mean under this exponent, and the logarithm of the total."""
    logs = _tilted_logs(one, tilt)
    most = float(logs.max())
    weights = np.exp(logs - most)
    whole = float(weights.sum())
    return float((np.arange(len(one)) * weights).sum()) / whole, most + log(whole)


def _tilted_logs(one: Distribution, tilt: float) -> Distribution:
    """Return the tilted logarithm of each probability: the numbers of large decks fit in no float."""
    with np.errstate(divide="ignore"):
        logs: Distribution = np.log(one) + tilt * np.arange(len(one))
    return logs


def orders_of(cards: int) -> int:
    return factorial(cards)
