"""The report of an audit: as text for people, and the struct that is its JSON."""

from __future__ import annotations

from math import floor

import msgspec

from controller.commands.text import Page, many
from shuffle_audit.verdict import OF_PROCEDURES, SMALLEST, Gathered, Verdict


class Found(msgspec.Struct, frozen=True):
    """How often a machine would have been found: in `found` of so many simulated `audits` of so many `decks`."""

    model: str
    words: str
    decks: int
    found: int
    audits: int
    share: float


class Report(msgspec.Struct, frozen=True):
    """`power` is empty where there is no verdict. `seed`: of the simulated audits."""

    result: Verdict
    power: tuple[Found, ...]
    files: tuple[str, ...]
    seed: int


def write(paper: Page, report: Report) -> None:
    """The whole report, in lines."""
    verdict = report.result
    paper.heading(f"{verdict.verdict.upper()}: {verdict.sentence}")
    examined = f"{many(verdict.decks, 'deck')} of {verdict.cards} cards" if verdict.decks else "no deck"
    paper.entry(f"examined: {examined}, from {', '.join(report.files)}")
    if verdict.partial:
        paper.entry(f"known in part: {many(verdict.partial, 'deck')}, each with {verdict.least_known} cards or more")
    if verdict.few_known:
        paper.entry(f"left out: {many(verdict.few_known, 'deck')} of which too few cards are known")
    if verdict.not_known:
        paper.entry(f"left out: {many(verdict.not_known, 'deck')} without the order in")
    if verdict.guesses is not None:
        _write_effect(paper, verdict)
    if verdict.findings:
        _write_findings(paper, verdict)
    if verdict.evidence is not None:
        _write_evidence(paper, verdict, verdict.evidence)
    if report.power:
        _write_power(paper, report)


def _write_effect(paper: Page, verdict: Verdict) -> None:
    paper.heading("Effect")
    paper.entry(
        f"A player who knows the order in and sees each card after his guess is right {verdict.guesses:.2f} times a "
        f"deck; where every order is equally likely, {verdict.guesses_expected:.2f} times."
    )


def _write_findings(paper: Page, verdict: Verdict) -> None:
    paper.heading(
        f"Counted over all decks (p: adjusted for all procedures; {verdict.level * OF_PROCEDURES:g} raises an alarm)"
    )
    header = ("", "procedure", "counted", "expected", "", "p", "what")
    rows = [
        (
            "ALARM" if one.alarm else "-",
            one.id,
            f"{one.statistic:,.10g}",
            f"{one.expected:,.1f}",
            f"± {one.deviation:,.1f}",
            small(one.adjusted),
            f"{one.words} ({one.source})",
        )
        for one in verdict.findings
    ]
    paper.rows([header, *rows])


def _write_evidence(paper: Page, verdict: Verdict, gathered: Gathered) -> None:
    paper.heading("Evidence, deck after deck")
    most = f"had at most {units(gathered.most_log10)}, after deck {gathered.after_deck:,} of {verdict.decks:,}"
    if not gathered.after_deck:
        most = "never had more than that"
    paper.entry(f"A bettor against the shuffle who begins with 1 unit {most}; {gathered.limit:,.0f} raise an alarm.")
    if gathered.alarm:
        paper.entry(f"Of the machines that he suspects these decks look most like {gathered.likeliest}.")


def _write_power(paper: Page, report: Report) -> None:
    decks, verdict = report.power[0].decks, report.result
    seen = f", {verdict.least_known} cards of each," if verdict.partial else ","
    already = " already" if decks < verdict.decks else ""
    paper.heading(f"What an audit can find (simulated, seed {report.seed})")
    for one in report.power:
        counted = f"{one.found:,} of {one.audits:,} simulated audits"
        paper.entry(
            f"With {many(decks, 'deck')}{already}{seen} {one.words} would have been found with {percent(one.share)} "
            f"({counted})."
        )


def small(chance: float) -> str:
    """A chance as short as it can be read.

    >>> small(0.01234), small(3.14e-12), small(0.0)
    ('0.012', '3.1e-12', 'below 1e-300')
    """
    return f"{chance:.2g}" if chance >= SMALLEST else f"below {SMALLEST:g}"


def units(log10: float) -> str:
    """A sum of money by its decimal logarithm.

    >>> units(0.0), units(2.5), units(400.3)
    ('1.00 units', '316.23 units', '2.0e+400 units')
    """
    if log10 < 6:
        return f"{10**log10:,.2f} units"
    return f"{10 ** (log10 - floor(log10)):.1f}e+{floor(log10)} units"


def percent(share: float) -> str:
    """Never rounded up to all.

    >>> percent(1.0), percent(0.9996), percent(0.123)
    ('100 %', '99.9 %', '12.3 %')
    """
    return f"{floor(share * 1000 + 1e-9) / 10:g} %"
