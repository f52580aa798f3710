"""Rounds and decisions of a journal by number or by time, reading only the necessary part of its files.

The clock of a PC may be wrong and be corrected. So a time is first looked up by the files, which begin with the table's
days; then each decision is judged by its own time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from controller.commands.journal.account import Account, Accountant
from controller.commands.journal.days import SECOND, CasinoClock, Span
from controller.commands.journal.decisions import DecisionInRound, name_of, read
from controller.commands.journal.rounds import JournaledRound, Rounds
from controller.commands.journal.source import File, Source
from controller.commands.journal.table import OF_THE_TABLE, Table
from controller.journal.reader import JournaledDecision

HOUR = 3600 * SECOND
"""The margin around a span, for rounds in progress and a clock that was a little wrong."""


def find_round(source: Source, number: int) -> JournaledRound | None:
    """Return a round with everything that the journal says of it until its errors could no longer be reported, if it
    exists.
    """
    after, table = _before(source, lambda file: source.first_round(file) < number)
    rounds = Rounds(table)
    for decided in _read(source, after, lambda stored: stored.round >= number - 1):
        found = [one for one in rounds.take(decided) if one.number == number]
        if found:
            return found[0]
        if decided.round > number and not rounds.knows(number):
            return None
    return next((one for one in rounds.rest() if one.number == number), None)


def rounds_in(
    source: Source, span: Span, each: Callable[[DecisionInRound], object] = lambda decided: None
) -> Iterator[JournaledRound]:
    """Yield the rounds that began in a span, each once it is complete. `each` is called with every decision that is
    read.
    """
    after, table = _before(source, lambda file: file.header.created_utc_ns <= span.start)
    rounds, until = Rounds(table), _until(source, span)
    for decided in _read(source, after, lambda stored: stored.utc_ns >= span.start - HOUR):
        each(decided)
        yield from (one for one in rounds.take(decided) if span.start <= one.began_ns < span.end)
        if decided.entry > until and not rounds.began_in(span):
            return
    yield from (one for one in rounds.rest() if span.start <= one.began_ns < span.end)


def account_of(source: Source, span: Span, clock: CasinoClock) -> Account:
    """Return the account of a span. A round counts where it began."""
    _, table = _before(source, lambda file: file.header.created_utc_ns <= span.start)
    accountant, begun = Accountant(table, span), []

    def take(decided: DecisionInRound) -> None:
        for happened in decided.events:
            table.take(decided, happened)
        accountant.take(decided)

    for one in rounds_in(source, span, take):
        accountant.add(one)
        begun.append(one.began_ns)
    return accountant.result(clock, begun)


def decided_in(source: Source, span: Span, after: int = 0) -> Iterator[DecisionInRound]:
    """Yield the decisions of a span that end after an entry."""
    begin, _ = _before(source, lambda file: file.header.created_utc_ns <= span.start)
    until = _until(source, span)
    for stored in source.decisions(max(begin, after)):
        if stored.first > until:
            return
        if span.start <= stored.utc_ns < span.end:
            yield read(stored)


def last_day(source: Source, clock: CasinoClock) -> Span | None:
    """Return the gaming day of the last decision, if any."""
    last = source.last()
    return None if last is None else clock.day(clock.day_of(last.utc_ns))


def _read(source: Source, after: int, wanted: Callable[[JournaledDecision], bool]) -> Iterator[DecisionInRound]:
    """Yield the decisions from the first wanted one on, after earlier ones that give facts about the table."""
    begun = False
    for stored in source.decisions(after):
        begun = begun or wanted(stored)
        if begun or not OF_THE_TABLE.isdisjoint(map(name_of, stored.events)):
            yield read(stored)


def _before(source: Source, begins_before: Callable[[File], bool]) -> tuple[int, Table]:
    """Return the entry after which to read and the opening state, from the last file that begins before it."""
    file = source.last_file_where(begins_before)
    return file.before, source.opening(file)


def _until(source: Source, span: Span) -> int:
    """Return the last entry of the files that may contain part of the span."""
    following: Iterable[File] = source.files_after(lambda file: file.header.created_utc_ns < span.end + HOUR)
    return next((file.before for file in following), 2**63 - 1)
