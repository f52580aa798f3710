"""The sections of a report, each a table of texts, for the printed text and the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from controller.api.narration import tell, with_messages
from controller.commands.journal.account import Account
from controller.commands.journal.days import CasinoClock, lasted
from controller.commands.journal.decisions import EventLine, telling
from controller.commands.journal.source import Source
from controller.commands.journal.words import OUTCOMES, title
from controller.commands.text import many
from controller.commands.vocabulary import FOLLOWS
from controller.games.specification import KINDS, Disposition, Kind

MOST_FAULTS: Final = 40  # lines; further ones of the same kind are counted


NOTHING: Final = "None."
COLUMNS: Final = {
    "Void rounds": ("round", "time", "by", "entered by", "why"),
    "Irregularities by clause": ("no.", "clause", "what", "times", "seen by device", "ended", "rounds"),
    "Irregularities by the person who decided": ("person", "decisions"),
    "Not decided": ("time", "what"),
    "Faults of the device": ("times", "first", "last", "what"),
    "Corrections, recalled cards, decks and journal": ("time", "round", "entry", "what"),
    "People": (
        "id",
        "name",
        "rank",
        "operations",
        "refused",
        "decided",
        "corrected",
        "recalled",
        "misread",
        "wrong PINs",
    ),
}
"""Column heads by section; a section that is not listed has none."""


class ReportSection(NamedTuple):
    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def sections(account: Account, source: Source, clock: CasinoClock) -> list[ReportSection]:
    """Return all sections, including empty ones, since "nothing happened" is an answer."""
    made = {
        "Rounds": _rounds(account),
        "Void rounds": _voids(account, clock),
        "Irregularities by clause": _groups(account),
        "Irregularities by the person who decided": _deciders(account),
        "Not decided": _undecided(account, clock),
        "Faults of the device": _faults(account, clock),
        "Corrections, recalled cards, decks and journal": _noted(account, clock),
        "People": _people(account),
        "Where the journal stood": _heads(account, source, clock),
    }
    return [ReportSection(title, COLUMNS.get(title, ()), list(rows)) for title, rows in made.items()]


def summary(account: Account) -> str:
    """Return the report in a sentence."""
    voids, found = len(account.voids), account.irregularities
    void = f"{voids} void" if voids else "none void"
    irregular = many(found, "irregularity", "irregularities")
    open_ = f", {len(account.undecided)} of them not decided" if account.undecided else ""
    rounds, hands = many(account.rounds, "round", "rounds"), many(account.hands, "hand", "hands")
    return f"{rounds}, {void}; {hands}; {irregular}{open_}."


def _rounds(account: Account) -> Iterator[tuple[str, str]]:
    yield "rounds", str(account.rounds)
    for ending, count in sorted(account.endings.items()):
        yield f"  {ending}", str(count)
    if account.lengths:
        yield "a round lasted on average", lasted(sum(account.lengths) * 1_000_000_000 // len(account.lengths))
    yield "hands of players", str(account.hands)
    yield "  removed from play", str(account.removed)
    yield "hands of the dealer", str(account.dealers_hands)
    if account.house is not None:
        lost = account.house.startswith("-")
        yield f"the house {'lost' if lost else 'gained'} by the settled wagers", account.house.lstrip("-")
    yield "operations refused", str(account.refused)
    yield "not in service", lasted(account.not_in_service_ns)


def _voids(account: Account, clock: CasinoClock) -> Iterator[tuple[str, ...]]:
    for one in account.voids:
        assert one.void is not None, "it is among them for that"
        event, line = one.void.event, one.void
        by = event["clause"] or event.get("authority") or "a ruling"
        yield (
            str(one.number),
            clock.hour(line.utc_ns),
            by,
            f"{line.by} ({line.role})",
            str(with_messages(event["text"])),
        )


def _groups(account: Account) -> Iterator[tuple[str, ...]]:
    words = account.table.words
    for group in account.groups:
        numbers = ", ".join(map(str, group.rounds))
        clause = group.clause or group.authority or "no clause"
        what = str(words.own(KINDS[Kind(group.kind)]))
        yield group.row, clause, what, str(len(group.rounds)), str(group.by_device), _outcomes(group.outcomes), numbers


def _outcomes(outcomes: dict[str, int]) -> str:
    return "; ".join(f"{count} {outcome_word(outcome)}" for outcome, count in sorted(outcomes.items()))


def outcome_word(outcome: str) -> str:
    return OUTCOMES.get(outcome) or str(FOLLOWS[Disposition(outcome)])


def _deciders(account: Account) -> Iterator[tuple[str, str]]:
    for who, outcomes in sorted(account.deciders.items()):
        yield who, _outcomes(outcomes)


def _undecided(account: Account, clock: CasinoClock) -> Iterator[tuple[str, str]]:
    for found in account.undecided:
        yield clock.hour(found.raised.utc_ns), f"round {found.of_round}: {title(found, account.table.words)}"


FAULT_WORDS: Final[dict[str, Callable[[EventLine], str]]] = {
    "command_unanswered": lambda line: "a command was not answered",
    "exit_differs": lambda line: "its exit was not in the ordered state",
    "reports_passed": lambda line: f"reports are lost: {with_messages(line.event['note'])}",
    "clock_ran_backwards": lambda line: "its clock ran backwards",
}


def _faults(account: Account, clock: CasinoClock) -> Iterator[tuple[str, ...]]:
    """Yield each kind of fault once, with its count."""
    moments_of: dict[str, list[int]] = {}
    for line in account.faults:
        words = FAULT_WORDS.get(line.event["event"])
        with telling(line.entry):
            text = words(line) if words is not None else tell(line.event, account.table.words) or ""
        moments_of.setdefault(text, []).append(line.utc_ns)
    often = sorted(moments_of.items(), key=lambda one: -len(one[1]))
    for text, moments in often[:MOST_FAULTS]:
        yield str(len(moments)), clock.hour(min(moments)), clock.hour(max(moments)), text
    if more := often[MOST_FAULTS:]:
        yield str(sum(len(moments) for _, moments in more)), "", "", f"{len(more)} other kinds"


def _noted(account: Account, clock: CasinoClock) -> Iterator[tuple[str, ...]]:
    for line in account.noted:
        with telling(line.entry):
            text = tell(line.event, account.table.words) or ""
        yield clock.hour(line.utc_ns), str(line.event["round"]), str(line.entry), text


def _people(account: Account) -> Iterator[tuple[str, ...]]:
    for one in account.people:
        counts = (one.operations, one.refused, one.decided, one.corrections, one.recalls, one.misread, one.wrong_pins)
        yield one.id, one.name, ", ".join(one.roles), *map(str, counts)


def _heads(account: Account, source: Source, clock: CasinoClock) -> Iterator[tuple[str, str]]:
    yield "journal", source.journal_id
    yield "entries", f"{account.first} to {account.last}"
    signed = source.signed_head(account.last)
    if signed is None:
        yield "signed head", "none: this journal is not signed"
        return
    covers = "all of these entries" if signed.head.number >= account.last else f"entries up to {signed.head.number}"
    yield "signed head", signed.text
    yield "covers", covers if signed.good else "nothing: THE SIGNATURE WAS NOT MADE WITH THIS KEY"
    yield "signed", f"{clock.day_and_hour(signed.utc_ns)}, with the key {signed.fingerprint}"
