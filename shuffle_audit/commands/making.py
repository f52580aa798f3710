"""Makes a report from decks. Each simulation has its own random stream from one seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Final

import msgspec
import numpy as np

from shuffle_audit import games_dealt
from shuffle_audit.commands.figures import percent
from shuffle_audit.commands.options import progress
from shuffle_audit.commands.report import AuditReport, KindFound, MachineFound, NoMoney, ReadFile
from shuffle_audit.edges import ROUNDS, Money, money, simulated
from shuffle_audit.evidence import SUSPECTED, Suspect, best_fit, suspects
from shuffle_audit.faces import NEW_DECK
from shuffle_audit.games_dealt import deal_games
from shuffle_audit.kinds import CARDS, LEVEL, MACHINE_KINDS
from shuffle_audit.models.named import model_named
from shuffle_audit.models.shuffle_model import FirstPlaces
from shuffle_audit.orders import DeckOrders, Stored
from shuffle_audit.packed_decks import packed
from shuffle_audit.power import Draws
from shuffle_audit.regulators import ChiSquare, chi_square
from shuffle_audit.sampled import Nulls
from shuffle_audit.seen_orders import seen_of
from shuffle_audit.shown import ShownFaces, shown_of
from shuffle_audit.table_hands import TableRound
from shuffle_audit.verdict import AuditVerdict, judge

COMPARED: Final = ("shelves:10", "shelves:20", "riffle:7")
MOST_DECKS: Final = 200  # decks in a simulated audit
MOST_FOR_A_HALF: Final = 3_200  # decks; the search for a number that finds the machine in half of the audits ends here
AUDITS: Final = (100, 1000)  # the least and the most, for each model
DRAWN: Final = 50_000  # decks for each model, roughly
LEAST_POWER: Final = 0.5
"""If these decks would find one of the compared machines less often than this, finding nothing allows no verdict."""


def report_of(
    decks: Sequence[DeckOrders], files: tuple[ReadFile, ...], level: float, seed: int, *, with_money: bool,
    about: tuple[str, ...] = (), rounds: Sequence[TableRound] = (),
) -> tuple[AuditReport, Stored]:  # fmt: skip
    """Return the report, and the orders of the whole decks that were examined, for plots. Raise `OrderError`."""
    of_nulls, of_money, of_chi_square = np.random.SeedSequence(seed).spawn(3)
    nulls = Nulls(np.random.default_rng(of_nulls))
    all_decks = packed(decks)
    verdict = judge(all_decks, level, random=nulls, rounds=rounds, watch=progress)
    seen = seen_of(all_decks)
    made = files, seed, version("cardshoe"), np.__version__, about
    power = _power(seen.sizes.tolist(), verdict, seed) if len(seen.sizes) else ()
    verdict = _with_power(verdict, power)
    shown = shown_of(all_decks)
    tested = _chi_squares(seen.whole, shown, nulls, np.random.default_rng(of_chi_square))
    dealt = deal_games(shown.out, level) if isinstance(shown, ShownFaces) and shown.is_whole_deck else None
    if not len(seen.sizes):
        return AuditReport(verdict, power, *made, regulators=tested, dealt=dealt), seen.whole
    ranked = suspects(seen.whole, others=seen.parts)
    charged, without = _money(verdict, ranked, of_money) if with_money else (None, "not-asked")
    found = _kinds(verdict)
    continued = all_decks.continued
    return AuditReport(verdict, power, *made, ranked, tested, dealt, charged, without, continued, found), seen.whole


def _with_power(verdict: AuditVerdict, power: Sequence[MachineFound]) -> AuditVerdict:
    """Withdraw the verdict if nothing was found and these decks would find one of the compared machines in less than
    half of the audits, as far as they were simulated.
    """
    seldom = min(power, key=lambda one: one.share, default=None)
    if verdict.verdict != "nothing found" or seldom is None or seldom.share >= LEAST_POWER:
        return verdict
    some = "One deck allows" if verdict.decks == 1 else f"{verdict.decks:,} decks allow"
    missed = f"{seldom.words} would have been found in only {percent(seldom.share)} of audits"
    by = f", by {seldom.decks:,} decks" if 1 < seldom.decks < verdict.decks else ""
    sentence = f"{some} no verdict: nothing was found, but {missed}{by}."
    return msgspec.structs.replace(verdict, verdict="no verdict", code="too-few-decks", sentence=sentence)


def _kinds(verdict: AuditVerdict) -> tuple[KindFound, ...]:
    """Return the kinds of machines, with how surely these decks would show each if they are such as were measured."""
    alike = verdict.cards == CARDS and not verdict.partial and verdict.level >= LEVEL
    faces = not any(games_dealt.ID in one.ids for one in verdict.not_run)
    return tuple(
        KindFound(
            one.id, one.words, one.decks, one.at_most,
            one.found_by(verdict.decks) if alike and (faces or not one.needs_faces) else None,
        )
        for one in MACHINE_KINDS
    )  # fmt: skip


def _chi_squares(
    orders: Stored, shown: ShownFaces | str, nulls: Nulls, random: np.random.Generator
) -> tuple[ChiSquare, ...]:
    """Return the test of cards against places, of decks that came out whole, and of places in against places out."""
    found = []
    if isinstance(shown, ShownFaces) and len(whole := shown.whole):
        found.append(chi_square("card", whole, nulls))
    if len(orders):
        found.append(chi_square("place in", orders, nulls, random))
    return tuple(found)


def _money(
    verdict: AuditVerdict, ranked: Sequence[Suspect], seed: np.random.SeedSequence
) -> tuple[Money | None, NoMoney]:
    """Return what the best-fitting model costs, or why none is simulated."""
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
    with progress("simulating rounds", len(simulated())) as advance:
        return money(model, seed, ROUNDS, advance), ""


def _power(sizes: Sequence[int], verdict: AuditVerdict, seed: int) -> tuple[MachineFound, ...]:
    """Return how often these decks would find machines known to be bad. `sizes` has the number of known cards of each
    deck. Of several numbers of known cards, the one is taken with which the machine that is found least is found most.
    """
    known_by = sorted((known, sum(size >= known for size in sizes)) for known in _least_median_most(sizes))
    found = []
    with progress("simulating audits", None) as advance:
        for known, decks in known_by:
            found.append(tuple(_found(name, verdict, known, decks, seed, advance) for name in COMPARED))
    return max(found, key=lambda each: (min(one.share for one in each), sum(one.share for one in each)))


def _least_median_most(sizes: Sequence[int]) -> set[int]:
    """Return the least, the median and the most."""
    ranked = sorted(sizes)
    return {ranked[0], ranked[len(ranked) // 2], ranked[-1]}


def _found(
    name: str, verdict: AuditVerdict, known: int, decks: int, seed: int, advance: Callable[[int], object]
) -> MachineFound:
    """Simulate audits of at most `MOST_DECKS` decks, and of twice as many again and again where these find the machine
    too rarely for a verdict. Decks known in part are simulated as if their first cards were known.
    """
    model = model_named(name, verdict.cards)
    whole = known == verdict.cards
    seen = model if whole else FirstPlaces(model, verdict.cards)
    drawn = min(decks, MOST_DECKS)
    audits = max(AUDITS[0], min(AUDITS[1], DRAWN // drawn))
    power = Draws(seen, known, audits, seed, advance, whole=whole).power(drawn, verdict.level)
    most = min(decks, MOST_FOR_A_HALF)
    if power.share < LEAST_POWER and drawn < most:
        audits = AUDITS[0]
        more = Draws(seen, known, audits, seed, advance, whole=whole)
        while power.share < LEAST_POWER and drawn < most:
            drawn = min(2 * drawn, most)
            power = more.power(drawn, verdict.level)
    return MachineFound(name, model.words, drawn, known, power.found, audits, power.share)
