"""A report as one HTML page that prints on A4: the parts of the text, plots, and how everything was found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from controller.commands.pages.page import Plot, rendered
from shuffle_audit.commands.parts import MEANING, VERDICTS, examined, parts, plainly
from shuffle_audit.commands.report import AuditReport
from shuffle_audit.commands.report_plots import plots_of
from shuffle_audit.evidence import OF_EVIDENCE
from shuffle_audit.orders import Stored
from shuffle_audit.procedures import SHARES
from shuffle_audit.sampled import SAMPLES
from shuffle_audit.verdict import OF_PROCEDURES, AuditVerdict

_RUNS: Final = (
    "Ways to lay the cards in k runs, by inclusion and exclusion over runs that are cut into pieces, over all ways to "
    "lay them."
)
_SAMPLED: Final = (
    f"The chance is (1 + sets as extreme) / (1 + sets), of {SAMPLES:,} sets of decks that are simulated with the seed, "
    "each order equally likely. Beyond all sets it is at most the chance that some {} has so many, by the exact chance "
    "of one, times their number."
)
_RAREST: Final = "Of the rarest count, times the number of counts that are compared, too many or too few (Bonferroni)."
FORMULAS: Final = {
    "rising-sequences": "Orders of n cards with k rising sequences (Eulerian numbers), over n!.",
    "valleys": "Orders of n cards with k valleys (as many as have k peaks), over n!.",
    "peaks": "Orders of n cards with k peaks, over n!.",
    "guesses": "With c cards left a guess is right with 1/c, whatever was seen before: the sum of n such trials.",
    "kept-pairs": "C(n-1, k) (D(n-k) + D(n-k-1)) orders of n!, where D(m) orders of m cards leave none in its place.",
    "turned-pairs": "As for kept-pairs, of the order in turned round.",
    "in-place": "C(n, k) D(n-k) orders of n!, where D(m) orders of m cards leave none in its place.",
    "cycles": "Orders of n cards with k cycles (Stirling numbers of the first kind), over n!.",
    "favoured-place": "Of all n cards and n places the fullest cell has m of D decks: at most n² P(B ≥ m), where B "
    "is binomial, of D decks with 1/n.",
    "repeated-orders": "Any two of D decks have the same of n! orders: at most D (D-1) / 2 / n!.",
    "card-position": "The sum of (N - D/n)² / (D/n) over all n places in the order in and n places in the order out, "
    f"where in N of D decks the card at the one came to the other. {_SAMPLED.format('cell')}",
    "shifts": f"The sum of (C - D)² / D over all n shifts, where C cards of D decks moved so far. "
    f"{_SAMPLED.format('shift')}",
    "runs-of-colour": _RUNS,
    "runs-of-pictures": _RUNS,
    "runs-of-points": _RUNS,
    "runs-of-suit": _RUNS,
    "faces-at-places": f"A kind of m cards comes to a place in binomially many of D decks, with m/n. {_RAREST}",
    "hands-dealt": f"A kind of hands comes to a place in binomially many of D decks, with its exact odds. {_RAREST}",
    "neighbours": "Ways to choose j pairs that can follow each other, times (n-j)!, over n!, by inclusion and "
    f"exclusion. {_RAREST}",
    "earlier-decks": f"As for in-place and kept-pairs, and hypergeometric for the first cards. {_RAREST}",
}
"""How the chance of each count in one deck, or of the statistic, is found, by procedure."""
SUMS: Final = (
    "Every test asks how likely its count is where each of the n! orders of a deck is equally likely, whatever went "
    "in. Counts are added up over all decks; the distribution of the sum is that of one deck, folded with itself, "
    "with no approximation; of the tests that add up nothing the table says how. Each test has a share of the chance "
    "of a false alarm, and all shares together are 1 (Bonferroni), so that all tests together raise a false alarm no "
    "more often than stated."
)
EVIDENCE: Final = (
    "evidence",
    "The capital of a bettor who spreads one unit over models of bad shuffles, and over the deck at which the machine "
    "became "
    "bad: the share 1/(s(s+1)) for deck s. From there on each share is multiplied by (chance of the order under the "
    "model) x n!, deck after deck; 1/(t+1) is not bet yet after deck t. Where every order is equally likely it ever "
    "reaches 1/a with a chance of at most a.",
    "Ville 1939; models: Bayer, Diaconis 1992; Diaconis, Fulman, Holmes 2013; shuffles left out, neighbours that stick",
    f"{OF_EVIDENCE:.3g}",
)


def tests_of(verdict: AuditVerdict) -> Iterator[tuple[str, ...]]:
    """Yield each test with how its chance is found, its source, and its part of the level."""
    for one in verdict.findings:
        yield one.id, FORMULAS[one.id], one.source, f"{SHARES[one.id] * OF_PROCEDURES:.3g}"
    if verdict.evidence is not None:
        yield EVIDENCE


TEMPLATE: Final = Path(__file__).with_name("report.html")


def page_of(report: AuditReport, orders: Stored) -> str:
    """Return the page. `orders` are those of the examined decks. Names of files are escaped."""
    plots: defaultdict[str, list[Plot]] = defaultdict(list)
    for part, plot in plots_of(orders, report.result, np.random.default_rng(report.seed)):
        plots[part].append(plot)
    files_first = sorted(parts(report), key=lambda part: part.id != "files")
    return rendered(
        TEMPLATE, report=report, word=VERDICTS[report.result.verdict], plainly=plainly(report.result),
        meaning=MEANING[report.result.verdict], examined=list(examined(report)),
        parts_of=files_first, plots=plots,
        tests=list(tests_of(report.result)), sums=SUMS,
    )  # fmt: skip
