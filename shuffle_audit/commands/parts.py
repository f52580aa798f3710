"""The parts of a report, as sentences and tables, which both the printed text and the page show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Final, NamedTuple

from controller.commands.text import Page, many
from shuffle_audit import games_dealt
from shuffle_audit.commands.figures import chance, of_stake, percent, small, times, units
from shuffle_audit.commands.report import NO_MONEY, AuditReport, MachineFound
from shuffle_audit.edges import Change, Money
from shuffle_audit.evidence import Suspect, best_fit
from shuffle_audit.games_dealt import Dealt
from shuffle_audit.kinds import CARDS, LEVEL, UNSEEN
from shuffle_audit.procedures import SHARES
from shuffle_audit.regulators import AUDITS, BAD, CONFIDENCES, ENOUGH, ChiSquare, Of
from shuffle_audit.verdict import OF_PROCEDURES, AuditVerdict, Gathered, ProcedureFinding

CLOSE: Final = 1.0  # difference of decimal logarithms within which models cannot be told apart
LISTED: Final = 5  # lines of excluded decks that are listed
LOOKS_LIKE: Final = "Which shuffle it looks like (likelihood ratio to a uniform one)"
IN_PART: Final = (
    "Decks are known in part, so no model is named: the first cards of a shelf shuffle look like one with fewer "
    "shelves. "
    "To learn which shuffle it is, record whole decks."
)
MEANING: Final = {
    "bad": "What to do: take the shuffler out of service, keep the decks and the files, and call its technician. A "
    "person decides what follows.",
    "nothing "
    "found": "This does not prove that the shuffle is good. See below what would have been found, and how surely.",
    "no verdict": "Nothing follows from this report, neither that the shuffler is good nor that it is bad.",
}
VERDICTS: Final = {
    "bad": "BAD: this shuffler does not shuffle well",
    "nothing found": "NOTHING FOUND",
    "no verdict": "NO VERDICT",
}
"""The verdict in words, for its box on the page."""
PASSES: Final = {True: "passes", False: "FAILS", None: "not tested"}
OF: Final[dict[Of, str]] = {"card": "Card by name", "place in": "Place in the order in"}
BY: Final = {"naive": "by the chi-square distribution", "exact": "by simulated sets of decks"}


HERE: Final = {
    0.95: "95 % or more", 0.8: "80 to 95 %", 0.5: "50 to 80 %", 0.0: "less than 50 %", None: "not known",
}  # fmt: skip
NOT_ALIKE: Final = (
    "It is not known how surely a kind is found if these are not such decks, the level is lower, more decks were "
    "examined than simulated, or the kind shows only in faces and the names are not those of the 52 cards."
)


class Part(NamedTuple):
    """A part. The printed text has `in_text` rows, the page all of them."""

    id: str
    title: str
    sentences: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()
    in_text: int = 40


def headline(report: AuditReport) -> str:
    return f"{report.result.verdict.upper()}: {report.result.sentence}"


def plainly(verdict: AuditVerdict) -> str:
    """Return the verdict in a sentence that a manager can repeat; empty if nothing was examined."""
    if verdict.chance is None:
        return ""
    decks = many(verdict.decks or verdict.by_cards, "deck", "decks")
    if verdict.verdict == "bad":
        often = chance(verdict.chance)
        from_good = f"{often} audits" if often.startswith("one") else often
        after = f"A good shuffler would give decks as suspicious as these {decks} in {from_good}"
        if often.startswith("less"):
            after = f"The chance that a good shuffler gives decks as suspicious as these {decks} is {often}"
        return f"{after}.{_advantage(verdict)}"
    if verdict.verdict == "nothing found":
        return f"No fault was found in these {decks}. A fault that so many decks do not show may be there."
    return f"{decks[:1].upper()}{decks[1:]} cannot show whether this shuffler is good or bad."


def _advantage(verdict: AuditVerdict) -> str:
    if verdict.guesses is None:
        return ""
    found, expected = f"{verdict.guesses:.1f}", f"{verdict.guesses_expected:.1f}"
    return f" A player who knows the old order guesses {found} cards of a deck; after a good shuffle, {expected}."


def parts(report: AuditReport) -> Iterator[Part]:
    """Yield the non-empty parts, in order."""
    verdict = report.result
    if verdict.guesses is not None:
        yield _effect(verdict, verdict.guesses)
    if verdict.findings:
        yield _findings(verdict)
    if verdict.evidence is not None:
        yield _evidence(verdict, verdict.evidence)
    if report.suspects and verdict.partial:
        yield Part("suspects", LOOKS_LIKE, (IN_PART,))
    elif report.suspects:
        yield _suspects(report.suspects, verdict.level, bad=verdict.verdict == "bad")
    if report.regulators:
        yield _regulators(report.regulators, verdict.cards)
    if report.dealt is not None:
        yield _dealt(report.dealt, verdict)
    if report.money is not None:
        yield _money(report.money, report.seed)
    elif report.no_money in NO_MONEY:
        yield Part("money", "What it costs", (NO_MONEY[report.no_money],))
    if report.power:
        yield _power(report)
    if report.kinds:
        yield _kinds(report)
    yield Part("unseen", "What this audit cannot see", UNSEEN)
    yield Part(
        "files", "Files", (), ("decks", "SHA-256", "file"),
        [(f"{one.decks:,}", one.sha256 or f"last entry {one.head}", one.file) for one in report.files],
    )  # fmt: skip


def write(paper: Page, report: AuditReport) -> None:
    """Write the whole report."""
    paper.heading(headline(report))
    paper.entry(MEANING[report.result.verdict])
    for words, what in examined(report):
        paper.entry(f"{words}: {what}")
    for part in parts(report):
        paper.heading(part.title)
        for sentence in part.sentences:
            paper.entry(sentence)
        if part.rows:
            paper.rows([part.columns, *part.rows[: part.in_text]])
        if (more := len(part.rows) - part.in_text) > 0:
            paper.entry(f"{more:,} more are on the page (--html) and in the JSON.")


def examined(report: AuditReport) -> Iterator[tuple[str, str]]:
    """Yield what was examined and what was left out, each with a label."""
    verdict = report.result
    decks = f"{many(verdict.decks, 'deck', 'decks')} of {verdict.cards} cards" if verdict.decks else "no deck"
    for one in report.about:
        yield "about", one
    yield "examined", f"{decks}, from {', '.join(one.file for one in report.files)}"
    if report.power and verdict.verdict == "nothing found":
        yield "would have been found", "; ".join(_share(one, verdict) for one in report.power)
        for label, reached in (("would be found in 95 % of audits", True), ("would be found less surely", False)):
            if kinds := [one.words for one in report.kinds if one.here is not None and (one.here >= 0.95) is reached]:
                yield label, "; ".join(kinds)
    if verdict.by_cards > verdict.decks:
        yield "examined by cards", f"{many(verdict.by_cards, 'deck', 'decks')}, which needs no order in"
    if verdict.partial:
        yield (
            "known in part",
            f"{many(verdict.partial, 'deck', 'decks')}, each with {verdict.least_known} cards or more",
        )
    if verdict.few_known:
        few = many(verdict.few_known, "deck", "decks")
        yield "left out", f"{few} with too few known cards{_at_lines('few_known', report)}"
    if verdict.not_known:
        yield (
            "left out",
            f"{many(verdict.not_known, 'deck', 'decks')} without the order in{_at_lines('not_known', report)}",
        )
    if unknown := sum(len(one.unknown_boxes) for one in report.files):
        hands = f"hands at boxes that the journal does not know, of {many(unknown, 'round', 'rounds')}"
        yield "left out", f"{hands}{_at_lines('unknown_boxes', report)}"
    if report.continued:
        yield "order in", f"in {many(report.continued, 'deck', 'decks')} as the previous deck came out"
    for missing in verdict.not_run:
        yield "not run", f"{', '.join(missing.ids)}: {missing.why}"
    made = f"cardshoe {report.version} with numpy {report.numpy}; everything simulated with seed {report.seed}"
    yield "level", f"{verdict.level:g}, the chance of a false alarm over all procedures and the evidence"
    yield "made by", made


def _at_lines(which: str, report: AuditReport) -> str:
    """Return the first lines of the files concerned."""
    lines = [
        f"{one.file}, {'round' if one.head else 'line'} {line}"
        for one in report.files for line in getattr(one, which)
    ]  # fmt: skip
    more = f"; and {len(lines) - LISTED:,} more" if len(lines) > LISTED else ""
    return f": {'; '.join(lines[:LISTED])}{more}" if lines else ""


def _effect(verdict: AuditVerdict, guesses: float) -> Part:
    sentence = (
        f"A player who knows the order in and sees each card after his guess is right {guesses:.2f} times a deck; "
        f"where every order is equally likely, {verdict.guesses_expected:.2f} times."
    )
    return Part("effect", "Effect", (sentence,))


def _findings(verdict: AuditVerdict) -> Part:
    level = f"{verdict.level * OF_PROCEDURES:g} raises an alarm"
    rows = [
        (
            "ALARM" if one.alarm else "-",
            one.id,
            f"{one.statistic:,.10g}" if one.statistic == round(one.statistic) else f"{one.statistic:,.1f}",
            f"{one.expected:,.1f}",
            f"± {one.deviation:,.1f}",
            small(one.adjusted),
            *([f"{one.decks:,}"] if verdict.partial else []),
            f"{one.words}{f': {one.where}' if one.where else ''} ({one.source})",
        )
        for one in verdict.findings
    ]
    columns = ("", "procedure", "counted", "expected", "", "p", *(["decks"] if verdict.partial else []), "what")
    title = f"Counted over all decks (p: adjusted for all procedures; {level})"
    p_is = (
        "p is the chance that a shuffle which makes every order equally likely looks as bad to this procedure, or "
        "worse, adjusted for the number of procedures. The procedures together have nine tenths of the "
        f"level of {verdict.level:g}; the evidence has the rest."
    )
    return Part("counted", title, (p_is, *_sampling_limits(verdict)), columns, rows)


def _sampling_limits(verdict: AuditVerdict) -> Iterator[str]:
    """Yield the findings that are impossible with this number of samples."""
    if silent := [one for one in verdict.findings if one.silent]:
        least = max(1 / (1 + one.samples) / SHARES[one.id] for one in silent)
        yield (
            f"{_ids(silent)} cannot raise an alarm at this level with their {silent[0].samples:,} samples, which "
            f"cannot show a p below {small(least)}. Only the bound can, where cards come out nearly as they went in, "
            "or "
            f"all move by the same number of places. Use a level of {ceil(least / OF_PROCEDURES * 1e4) / 1e4:g} or "
            "more for them."
        )
    if beyond := [one for one in verdict.findings if one.beyond]:
        yield f"Beyond all {beyond[0].samples:,} samples: {_ids(beyond)}. p is an upper bound there."


def _ids(found: Sequence[ProcedureFinding]) -> str:
    return " and ".join(one.id for one in found)


def _evidence(verdict: AuditVerdict, gathered: Gathered) -> Part:
    most = f"had {units(gathered.most_log10)} at best, after deck {gathered.after_deck:,} of {verdict.decks:,}"
    if not gathered.after_deck:
        most = "never had more than that"
    sentence = f"A bettor against the shuffle who begins with 1 unit {most}; {gathered.limit:,.0f} raise an alarm."
    if not gathered.alarm or not gathered.likeliest:
        return Part("evidence", "Evidence, deck after deck", (sentence,))
    looks = f"Of the suspected machines, these decks look most like {gathered.likeliest}."
    return Part("evidence", "Evidence, deck after deck", (sentence, looks))


def _suspects(suspects: Sequence[Suspect], level: float, *, bad: bool) -> Part:
    best = best_fit(suspects, level)
    if not bad:
        sentence = (
            "There is no alarm, so this table says nothing about the shuffle: among so many models, one fits best by "
            "chance."
        )
    elif best is None or best.log10 is None:
        sentence = (
            "None of these models fits all decks together clearly better than a shuffle that makes every order equally "
            "likely: the alarm has another cause, or the fault has passed."
        )
    else:
        close = sum(one.log10 is not None and one.log10 > best.log10 - CLOSE for one in suspects) - 1
        others = (
            f"; {close} more {'fits' if close == 1 else 'fit'} almost as well (log10 less than 1 below)"
            if close
            else ""
        )
        sentence = (
            f"Of these models the one that fits best is {best.words}{others}: all decks together are "
            f"{times(best.log10)} under it as where every order is equally likely. "
            "A shuffle that is not in the table may fit better still."
        )
    rows = [
        (one.model, f"{round(one.log10, 1) + 0:.1f}", times(one.log10), one.words)  # + 0 turns -0.0 into 0.0
        for one in suspects
        if one.log10 is not None
    ]
    never = ", ".join(one.model for one in suspects if one.log10 is None)
    sentences = (sentence, f"Some of these decks are impossible under {never}.") if never else (sentence,)
    return Part("suspects", LOOKS_LIKE, sentences, ("model", "log10", "these decks are", "a deck after"), rows, 6)


def _regulators(tested: Sequence[ChiSquare], cards: int) -> Part:
    sentences = [
        "The first form compares the cards by their names with their places, as a rule for shufflers means it; the "
        "second the places in the order in with those in the order out. They agree if all decks go in with the same "
        "order. The verdict above does not depend on these lines: it includes both questions in exact forms, with a "
        "share of its level."
    ]
    for found in tested:
        sentences.append(
            f"{OF[found.of]}: chi-square is {found.statistic:,.1f} with {found.freedom:,} degrees of freedom; "
            f"{found.each:,.3g} decks are expected in each cell."
        )
        if None in found.forms[0].passes:
            sentences.append("For one deck chi-square is always the same, so nothing is tested.")
        if found.finds is not None:
            little = "With this few decks this test sees little: it"
            sentences.append(
                f"{little if found.finds < 0.5 else 'With this many decks this test'} fails {BAD.words}, in its exact "
                f"form at 95 %, in {percent(found.finds)} of {AUDITS} simulated audits."
            )
    if any(found.each < ENOUGH for found in tested):
        sentences.append(f"The naive form is not meant for fewer than {ENOUGH * cards:,.0f} decks.")
    rows = [
        (
            OF[found.of], one.form, "-" if one.p is None else small(one.p), *(PASSES[each] for each in one.passes),
            BY[one.form],
        )
        for found in tested for one in found.forms
    ]  # fmt: skip
    confidences = (f"{confidence:.0%}".replace("%", " %") for confidence in CONFIDENCES)
    columns = ("compared with the place out", "form", "p", *confidences, "p is found")
    return Part("regulators", "As regulators ask: chi-square of card against position", tuple(sentences), columns, rows)


def _dealt(dealt: Dealt, verdict: AuditVerdict) -> Part:
    shown = dealt.beyond or [one for one in dealt.rarest if one.adjusted < 1]
    beyond = f"{len(dealt.beyond) or 'none'} {'is' if len(dealt.beyond) == 1 else 'are'}"
    sentence = (
        f"{dealt.compared:,} counts of hands and outcomes, in all games, were compared with the exact odds; {beyond} "
        f"beyond chance at {verdict.level:g}, which all of them share. The verdict has the rarest as {games_dealt.ID}, "
        "with a share of its level."
    )
    if shown:
        sentence += f" {'They are' if dealt.beyond else 'The least likely of each game are'} below."
    rows = [
        (
            one.game, one.unit, one.place, f"{one.found:,}", f"{one.expected:,.1f}", f"± {one.deviation:,.1f}",
            small(one.adjusted), one.what,
        )
        for one in shown
    ]  # fmt: skip
    columns = ("game", "dealt in", "place", "found", "expected", "", "p", "what")
    return Part("dealt", "Hands dealt from these decks", (sentence,), columns, rows, 10)


def _money(money: Money, seed: int) -> Part:
    others = money.compared - len(money.beyond)
    sentences = (
        f"The change of the house edge, in parts of the stake, after {money.words}: above 0 the house gains, below 0 "
        f"the player. {money.rounds:,} rounds were dealt of each game, in sets and in singles (once where these deal "
        "alike), from a new deck each time and from cards as they are collected, with one unit on every box, by "
        "players who do not choose. The last column has the boxes on which a player fares worst and best.",
        f"{others} of {money.compared} changes are no larger than noise ({money.limit:.1f} standard errors, which are "
        f"at most {money.most_error * 100:.2f} %).",
        "± is the standard error of the simulation alone. It does not allow for another model being the right one.",
    )
    wagers: dict[tuple[str, ...], list[Change]] = {}
    for one in money.beyond:
        wagers.setdefault((one.game, one.unit, one.start, one.title), []).append(one)
    rows = [(*_change(found), *wager, _by_box(found)) for wager, found in wagers.items()]
    columns = ("change", "", "exact edge", "game", "dealt in", "goes in", "wager", "by box")
    return Part("money", f"What it costs (simulated, seed {seed})", sentences, columns, rows, 20)


def _change(found: Sequence[Change]) -> tuple[str, str, str]:
    """Return the change on all boxes together, its error and the exact edge. Only a box may have changed."""
    edge = f"{found[0].exact * 100:.2f} %"
    whole = next((one for one in found if not one.box), None)
    return (of_stake(whole.change), f"± {whole.error * 100:.2f} %", edge) if whole else ("noise", "", edge)


def _by_box(found: Sequence[Change]) -> str:
    """Return the changes of the house edge on the boxes where it changes most in either direction."""
    boxes = sorted((one for one in found if one.box), key=lambda one: -one.change)
    said = [f"{of_stake(one.change)} at box {one.box}" for one in boxes]
    return " to ".join(dict.fromkeys((said[0], said[-1]))) if said else "-"


def _power(report: AuditReport) -> Part:
    verdict = report.result
    sentences = tuple(
        f"With {_decks_of(one, verdict)}{_seen(one, verdict)} {one.words} would have been found in "
        f"{percent(one.share)} of audits ({one.found:,} of {one.audits:,} simulated ones)."
        for one in report.power
    )
    if verdict.not_run:
        ids = ", ".join(name for one in verdict.not_run for name in one.ids)
        sentences += (f"A fault that only {ids} would show is not found by these decks: they did not run.",)
    return Part("power", f"What an audit can find (simulated, seed {report.seed})", sentences)


def _kinds(report: AuditReport) -> Part:
    decks = many(report.result.decks, "deck", "decks")
    sentences = [
        f"How many whole decks of {CARDS} cards, with the order in, find each kind of machine in 95 % of audits at a "
        f"chance of a false alarm of {LEVEL:g}, and how surely {decks} find it. A machine of another kind, or with a "
        "smaller fault, may be found less often."
    ]
    here = [one.here for one in report.kinds]
    if here.count(None) == len(here):
        sentences = [sentences[0].replace(f", and how surely {decks} find it", "")]
    if None in here:
        sentences.append(NOT_ALIKE)
    rows = [
        (f"over {one.at_most:,}" if one.decks[-1] is None else f"{one.decks[-1]:,}", HERE[one.here], one.words)
        for one in sorted(report.kinds, key=lambda one: (one.decks[-1] is None, one.decks[-1] or 0))
    ]
    return Part("kinds", "Kinds of machines", tuple(sentences), ("decks", "found here", "kind"), rows)


def _share(one: MachineFound, verdict: AuditVerdict) -> str:
    by = f" by {_decks_of(one, verdict)}" if one.decks < verdict.decks else ""
    return f"{one.words}: {percent(one.share)}{by}"


def _decks_of(one: MachineFound, verdict: AuditVerdict) -> str:
    return f"{many(one.decks, 'deck', 'decks')}{' alone' if one.decks < verdict.decks else ''}"


def _seen(one: MachineFound, verdict: AuditVerdict) -> str:
    return f", {one.known} cards of each," if one.known < verdict.cards else ","
