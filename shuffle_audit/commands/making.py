"""A report is made here: from decks to all its figures, each simulation with a stream of its own from one seed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from itertools import pairwise
from typing import Final

import msgspec
import numpy as np

from shuffle_audit.commands.figures import percent
from shuffle_audit.commands.progress import progress
from shuffle_audit.commands.report import Found, NoMoney, ReadFile, Report
from shuffle_audit.deck_orders import DeckOrders
from shuffle_audit.edges import DEALS, ROUNDS, Money, money
from shuffle_audit.evidence import SUSPECTED
from shuffle_audit.faces import NEW_DECK, faces_if_known, faces_out
from shuffle_audit.games_dealt import Dealt, deal_games
from shuffle_audit.models.first_places import FirstPlaces
from shuffle_audit.models.named import model_named
from shuffle_audit.orders import Orders
from shuffle_audit.partial_orders import seen_of
from shuffle_audit.power import Draws
from shuffle_audit.regulators import chi_square
from shuffle_audit.sampled import Nulls
from shuffle_audit.suspects import Suspect, best_fit, suspects
from shuffle_audit.verdict import Verdict, judge

COMPARED: Final = ("shelves:10", "shelves:20", "riffle:7")
MOST_DECKS: Final = 200  # of a simulated audit; all that is compared is found with fewer
AUDITS: Final = (100, 1000)  # at least and at most, for each model
DRAWN: Final = 50_000  # about so many decks for each model
LEAST_POWER: Final = 0.5
"""With less for each machine that is compared, decks in which nothing is found allow no verdict."""


def report_of(
    decks: Sequence[DeckOrders], files: tuple[ReadFile, ...], level: float, seed: int, *, with_money: bool,
    about: tuple[str, ...] = (),
) -> tuple[Report, Orders]:  # fmt: skip
    """The report, and the orders of the whole decks that were examined, for plots. Raises `OrderError`."""
    of_nulls, of_money, of_chi_square = np.random.SeedSequence(seed).spawn(3)
    nulls = Nulls(np.random.default_rng(of_nulls))
    verdict = judge(decks, level, random=nulls)
    known = [deck for deck in decks if deck.before]
    whole = [deck for deck in known if deck.is_whole]
    seen = seen_of(known)
    made = files, seed, version("cardshoe"), np.__version__, about
    power = _power(verdict, seed) if seen.orders else ()
    verdict = _with_power(verdict, power)
    if not seen.orders:
        return Report(verdict, power, *made), seen.whole
    continued = sum(one.is_whole and one.before == former.after for former, one in pairwise(decks))
    ranked = suspects(seen.whole, others=seen.parts)
    charged, without = _money(verdict, ranked, of_money) if with_money else (None, "not-asked")
    by_chi_square = chi_square(seen.whole, nulls, np.random.default_rng(of_chi_square)) if whole else None
    dealt = _dealt(whole, seen.whole, level)
    return Report(verdict, power, *made, ranked, by_chi_square, dealt, charged, without, continued), seen.whole


def _with_power(verdict: Verdict, power: Sequence[Found]) -> Verdict:
    """No verdict where nothing was found and none of the bad machines would have been found in half of the audits."""
    most = max(power, key=lambda one: one.share, default=None)
    if verdict.verdict != "nothing found" or most is None or most.share >= LEAST_POWER:
        return verdict
    sentence = (
        f"{'One deck allows' if verdict.decks == 1 else f'{verdict.decks:,} decks allow'} no verdict: nothing was "
        f"found, but {most.words} would have been found with {percent(most.share)} only."
    )
    return msgspec.structs.replace(verdict, verdict="no verdict", code="too-few-decks", sentence=sentence)


def _dealt(known: Sequence[DeckOrders], orders: Orders, level: float) -> Dealt | None:
    faces = faces_if_known(known) if known else None
    if faces is None or faces.shape[1] != len(NEW_DECK):
        return None
    return deal_games(faces_out(orders, faces), level)


def _money(verdict: Verdict, ranked: Sequence[Suspect], seed: np.random.SeedSequence) -> tuple[Money | None, NoMoney]:
    """What the model that fits best costs, or why none is simulated."""
    if verdict.verdict != "bad":
        return None, "no-alarm"
    if verdict.cards != len(NEW_DECK):
        return None, "other-cards"
    if verdict.partial:
        return None, "known-in-part"
    best = best_fit(ranked, verdict.level)
    if best is None:
        return None, "no-model"
    model = next(one for one in SUSPECTED if one.name == best.model)
    with progress("simulating rounds", len(DEALS)) as advance:
        return money(model, seed, ROUNDS, advance), ""


def _power(verdict: Verdict, seed: int) -> tuple[Found, ...]:
    """What as many decks, at most `MOST_DECKS`, find of machines that are known to be bad: the whole decks alone, where
    there are some. Where all are known in part: if of each the first cards were, as many as of the deck of which the
    fewest are.
    """
    whole = verdict.decks - verdict.partial
    known = verdict.cards if whole else verdict.least_known
    simulated = min(whole or verdict.partial, MOST_DECKS)
    audits = max(AUDITS[0], min(AUDITS[1], DRAWN // simulated))
    found = []
    with progress("simulating audits", len(COMPARED) * audits * simulated) as advance:
        for name in COMPARED:
            model = model_named(name, verdict.cards)
            seen = model if whole else FirstPlaces(model, verdict.cards)
            draws = Draws(seen, known, audits, seed, advance, whole=whole > 0)
            power = draws.power(simulated, verdict.level)
            found.append(Found(name, model.words, simulated, known, power.found, audits, power.share))
    return tuple(found)
