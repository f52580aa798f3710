"""The sections of a report, each a table of texts, for the printed text and the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from controller.api.narration import line_of, with_messages
from controller.commands.journal.account import Account
from controller.commands.journal.days import CasinoClock, lasted
from controller.commands.journal.decisions import EventLine, telling
from controller.commands.journal.source import Source
from controller.commands.journal.words import (
    ENDINGS,
    NO_CLAUSE,
    named,
    outcome_named,
    rank_named,
    title,
)
from controller.games.specification import KINDS, Kind
from controller.table.events.lines import as_sentence, clauses, listed
from controller.table.round_summary import A_RULING
from firmware_bridge.messages import AnyText, Message, counted, message

MOST_FAULTS: Final = 40  # lines; further ones of the same kind are counted

NOTHING: Final = message("None.")
OUTCOMES: Final = {"win": message("won"), "lose": message("lost"), "tie": message("tied")}
ROUND, TIME, WHAT, TIMES = message("round"), message("time"), message("what"), message("times")


class ReportSection(NamedTuple):
    """A section. `columns` are the heads of its columns; it may have none."""

    title: Message
    columns: tuple[Message, ...]
    rows: Sequence[tuple[AnyText, ...]]


def sections(account: Account, source: Source, clock: CasinoClock) -> list[ReportSection]:
    """Return all sections, including empty ones, since "nothing happened" is an answer."""

    def section(title: Message, rows: Iterable[tuple[AnyText, ...]], *columns: Message) -> ReportSection:
        return ReportSection(title, columns, list(rows))

    return [
        section(message("Rounds"), _rounds(account)),
        section(
            message("Void rounds"), _voids(account, clock),
            ROUND, TIME, message("by"), message("entered by"), message("why"),
        ),
        section(
            message("Irregularities by clause"), _groups(account),
            message("number"), message("clause"), WHAT, TIMES, message("seen by device"), message("ended"),
            message("rounds"),
        ),
        section(
            message("Irregularities by the person who decided"), _deciders(account),
            message("person"), message("decisions"),
        ),
        section(message("Not decided"), _undecided(account, clock), TIME, WHAT),
        section(
            message("Faults of the device"), _faults(account, clock),
            TIMES, message("first"), message("last"), WHAT,
        ),
        section(
            message("Corrections, recalled cards, decks, journal, the program in the device"), _noted(account, clock),
            TIME, ROUND, message("entry"), message("entered by"), WHAT,
        ),
        section(
            message("People"), _people(account),
            message("id"), message("name"), message("rank"), message("operations"), message("refused"),
            message("decided"), message("corrected"), message("recalled"), message("misread"), message("wrong PINs"),
        ),
        section(message("Where the journal stood"), _heads(account, source, clock)),
    ]  # fmt: skip


def summary(account: Account) -> Message:
    """Return the report in a sentence."""
    voids, undecided = len(account.voids), len(account.undecided)
    found = counted("1 irregularity", "{count} irregularities", account.irregularities)
    return message(
        "{rounds}, {voids}; {hands}; {irregularities}.",
        rounds=counted("1 round", "{count} rounds", account.rounds),
        voids=message("{number} void", number=voids) if voids else message("none void"),
        hands=counted("1 hand", "{count} hands", account.hands),
        irregularities=message("{found}, {number} of them not decided", found=found, number=undecided)
        if undecided
        else found,
    )


def _part(of: Message) -> Message:
    return Message("  {part}", {"part": of})


def _rounds(account: Account) -> Iterator[tuple[AnyText, ...]]:
    yield message("rounds"), str(account.rounds)
    for ending, count in sorted(account.endings.items()):
        yield _part(ENDINGS[ending]), str(count)
    if account.lengths:
        average = lasted(sum(account.lengths) * 1_000_000_000 // len(account.lengths))
        yield message("a round lasted on average"), average
    yield message("hands of players"), str(account.hands)
    for outcome, word in OUTCOMES.items():
        yield _part(word), str(account.outcomes.get(outcome, 0))
    yield _part(message("removed from play")), str(account.removed)
    yield message("hands of the dealer"), str(account.dealers_hands)
    if account.house is not None:
        lost = account.house.startswith("-")
        what = (
            message("the house lost by the settled wagers")
            if lost
            else message("the house gained by the settled wagers")
        )
        yield what, account.house.lstrip("-")
    yield message("operations refused"), str(account.refused)
    yield message("not in service"), lasted(account.not_in_service_ns)


def _signed(account: Account, by: str, role: str) -> AnyText:
    """Return the name of the person who signed, with the rank."""
    return named(account.table.people.get(by, by), role)


def _voids(account: Account, clock: CasinoClock) -> Iterator[tuple[AnyText, ...]]:
    for one in account.voids:
        assert one.void is not None, "it is among them for that"
        event, line = one.void.event, one.void
        by = event["clause"] or event.get("authority") or A_RULING
        text = as_sentence(with_messages(event["text"]))
        yield str(one.number), clock.hour(line.utc_ns), by, _signed(account, line.by, line.role), text


def _groups(account: Account) -> Iterator[tuple[AnyText, ...]]:
    words = account.table.words
    for group in account.groups:
        yield (
            group.row,
            group.clause or group.authority or NO_CLAUSE,
            words.own(KINDS[Kind(group.kind)]),
            str(len(group.rounds)),
            str(group.by_device),
            _outcomes(group.outcomes),
            ", ".join(map(str, group.rounds)),
        )


def _outcomes(outcomes: dict[str, int]) -> Message:
    return clauses(
        message("{number} {outcome}", number=count, outcome=outcome_named(outcome))
        for outcome, count in sorted(outcomes.items())
    )


def _deciders(account: Account) -> Iterator[tuple[AnyText, ...]]:
    for (person, role), outcomes in sorted(account.deciders.items()):
        yield _signed(account, person, role), _outcomes(outcomes)


def _undecided(account: Account, clock: CasinoClock) -> Iterator[tuple[AnyText, ...]]:
    for found in account.undecided:
        what = message("round {round}: {what}", round=found.of_round, what=title(found, account.table.words))
        yield clock.hour(found.raised.utc_ns), what


FAULT_WORDS: Final[dict[str, Callable[[EventLine], Message]]] = {
    "command_unanswered": lambda line: message("a command was not answered"),
    "exit_differs": lambda line: message("its exit was not in the ordered state"),
    "reports_passed": lambda line: message("reports are lost: {note}", note=with_messages(line.event["note"])),
    "clock_ran_backwards": lambda line: message("its clock ran backwards"),
}


def _faults(account: Account, clock: CasinoClock) -> Iterator[tuple[AnyText, ...]]:
    """Yield each kind of fault once, with its count."""
    moments_of: dict[Message | None, list[int]] = {}
    for line in account.faults:
        words = FAULT_WORDS.get(line.event["event"])
        with telling(line.entry):
            said = words(line) if words is not None else line_of(line.event, account.table.words)
        moments_of.setdefault(said, []).append(line.utc_ns)
    often = sorted(moments_of.items(), key=lambda one: -len(one[1]))
    for said, moments in often[:MOST_FAULTS]:
        yield str(len(moments)), clock.hour(min(moments)), clock.hour(max(moments)), said or ""
    if more := often[MOST_FAULTS:]:
        yield str(sum(len(moments) for _, moments in more)), "", "", message("{number} other kinds", number=len(more))


def _noted(account: Account, clock: CasinoClock) -> Iterator[tuple[AnyText, ...]]:
    for line in account.noted:
        with telling(line.entry):
            said = line_of(line.event, account.table.words)
        who = _signed(account, line.by, line.role)
        yield clock.hour(line.utc_ns), str(line.event["round"]), str(line.entry), who, said or ""


def _people(account: Account) -> Iterator[tuple[AnyText, ...]]:
    for one in account.people:
        counts = (one.operations, one.refused, one.decided, one.corrections, one.recalls, one.misread, one.wrong_pins)
        yield one.id, one.name, listed(map(rank_named, one.roles)), *map(str, counts)


def _heads(account: Account, source: Source, clock: CasinoClock) -> Iterator[tuple[AnyText, ...]]:
    yield message("journal"), source.journal_id
    yield message("entries"), message("{first} to {last}", first=account.first, last=account.last)
    signed = source.signed_head(account.last)
    if signed is None:
        yield message("signed head"), message("none: this journal is not signed")
        return
    covers = message("all of these entries")
    if signed.head.number < account.last:
        covers = message("entries up to {entry}", entry=signed.head.number)
    yield message("signed head"), signed.text
    yield message("covers"), covers if signed.good else message("nothing: THE SIGNATURE WAS NOT MADE WITH THIS KEY")
    yield (
        message("signed"),
        message("{when}, with the key {key}", when=clock.day_and_hour(signed.utc_ns), key=signed.fingerprint),
    )
