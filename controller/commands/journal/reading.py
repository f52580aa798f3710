"""Rounds and decisions of a journal by number or by time, reading no more of its files than is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta

from controller.commands.journal.account import Account, Accountant
from controller.commands.journal.days import SECOND, Clock, Span
from controller.commands.journal.decisions import Decided, read
from controller.commands.journal.rounds import Round, Rounds
from controller.commands.journal.source import File, Source
from controller.commands.journal.table import Table

EARLIER = round(timedelta(hours=1).total_seconds()) * SECOND
"""So much before a span is read too: what was played and who dealt when it began."""


def find_round(source: Source, number: int) -> Round | None:
    """That round with what was said of it later; None: the journal has none."""
    after, table = _before(source, lambda file: source.first_round(file) < number)
    rounds = Rounds(table)
    for stored in source.decisions(after):
        found = [one for one in rounds.take(read(stored)) if one.number == number]
        if found:
            return found[0]
        if stored.round > number and not rounds.knows(number):
            return None
    return next((one for one in rounds.rest() if one.number == number), None)


def rounds_in(source: Source, span: Span) -> Iterator[Round]:
    """The rounds that began in a span, each once it is complete."""
    after, table = _before(source, lambda file: file.header.created_utc_ns <= span.start - EARLIER)
    rounds = Rounds(table)
    for stored in source.decisions(after):
        yield from (one for one in rounds.take(read(stored)) if span.start <= one.began_ns < span.end)
        if stored.utc_ns >= span.end and not rounds.began_in(span):
            return
    yield from (one for one in rounds.rest() if span.start <= one.began_ns < span.end)


def account_of(source: Source, span: Span, clock: Clock) -> Account:
    """What happened in a span. A round counts where it began."""
    after, table = _before(source, lambda file: file.header.created_utc_ns <= span.start - EARLIER)
    rounds, accountant, begun = Rounds(table), Accountant(table, span), []

    def add(complete: Iterable[Round]) -> None:
        for one in complete:
            if span.start <= one.began_ns < span.end:
                accountant.add(one)
                begun.append(one.began_ns)

    for stored in source.decisions(after):
        decided = read(stored)
        add(rounds.take(decided))
        accountant.take(decided)
        if stored.utc_ns >= span.end and not rounds.began_in(span):
            break
    add(rounds.rest())
    return accountant.result(clock, begun)


def decided_in(source: Source, span: Span, after: int = 0) -> Iterator[Decided]:
    """The decisions of a span and after an entry. The clock of a PC may be set back: one within may follow a later."""
    begin, _ = _before(source, lambda file: file.header.created_utc_ns <= span.start - EARLIER)
    for stored in source.decisions(max(begin, after)):
        if span.start <= stored.utc_ns < span.end:
            yield read(stored)
        elif stored.utc_ns >= span.end + EARLIER:
            return


def last_day(source: Source, clock: Clock) -> Span | None:
    """The gaming day of the last decision; None: there is none."""
    last = source.last()
    return None if last is None else clock.day(clock.day_of(last.utc_ns))


def _before(source: Source, begins_before: Callable[[File], bool]) -> tuple[int, Table]:
    """The entry after which to read: the start of the last file that begins before what is wanted; and its opening."""
    file = source.last_file_where(begins_before)
    return file.before, source.opening(file)
