"""Checks of the irregularity rows of a game; part of `controller.rules.validation`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from msgspec.structs import replace

from controller.games.common import PROCEDURE
from controller.games.specification import STATED, Choice, Disposition, Facts, Game, Kind, Noticed, Row, number
from controller.rules.established import ESTABLISHED_BY
from controller.rules.law import Law, find_row, read_law

KNOWN_CARDS: Final = "known_cards"
HAND_KINDS: Final = frozenset({Kind.WRONG_COUNT})  # the kinds that name a hand which could be removed


def may_remove_the_dealers_hand(row: Row) -> bool:
    """Return whether a row that removes a hand may apply to the Dealer's, without which no round can be settled."""
    return row.disposition is Disposition.REMOVE_HAND and row.when.dealer_hand is not False


def rows_are_right(game: Game) -> Iterator[str]:
    """Yield the problems in each row, and the facts that rows need but the game does not have."""
    seen: set[object] = set()
    for row in game.irregularities:
        yield from (f"{_place(row)}: {problem}" for problem in _row(row))
        same = (row.kind, row.when, row.noticed, row.under)
        if same in seen:
            yield f"{_place(row)}: another row before it has the same facts"
        seen.add(same)
    yield from _rows_needed(game)


def _place(row: Row) -> str:
    return f"row {row.id} of {row.kind} ({row.clause or 'no clause'})"


def _row(row: Row) -> Iterator[str]:
    if not row.noticed:
        yield "`noticed` is empty; name when it must have been noticed"
        return
    if row.id != number(row.kind, replace(row.when, noticed=row.noticed[0])):
        yield "its number is written by hand; leave `id` out, it is found by kind and facts"
    procedure = row.authority == PROCEDURE and row.disposition is Disposition.CONTINUE
    if row.authority and not procedure:
        yield "a row of the document has no other authority; leave `authority` empty"
    if not str(row.because):
        yield "`because` is empty; say in a few words what happened"
    if not row.clause and row.disposition is not Disposition.SILENT and not procedure:
        yield "its clause is empty; only what the document is silent about has none"
    names_hand = row.kind in HAND_KINDS or row.when.wrong_number  # a wrong count names its hand
    if row.disposition is Disposition.REMOVE_HAND and not names_hand:
        yield f"it removes a hand, and {row.kind} names none; such a row is about {', '.join(HAND_KINDS)}"
    if may_remove_the_dealers_hand(row):
        yield "it may remove the Dealer's hand, which no round can do without; add when=Facts(dealer_hand=False)"
    chooses = row.disposition in (Disposition.OPTIONS, Disposition.WITHDRAWALS)
    if chooses and {option.choice for option in row.options} != set(Choice):
        yield "every bettor chooses; give one option to continue and one to withdraw"
    if row.options and len({option.choice for option in row.options}) != len(row.options):
        yield "two options are the same choice; give each once"
    if any(not option.clause for option in row.options):
        yield "an option has no clause"
    if row.disposition is Disposition.STANDS and Noticed.IN_ROUND in row.noticed:
        yield "results stand only once there are any; add noticed=(Noticed.NEXT_ROUND,)"


def _rows_needed(game: Game) -> Iterator[str]:
    """Yield what a row depends on that the table can only know from a setting or another row."""
    settings = {setting.id for setting in game.settings}
    for place, row in enumerate(game.irregularities):
        if row.when.established is not None:
            for missing in sorted({ESTABLISHED_BY, KNOWN_CARDS} - settings):
                yield f"{_place(row)}: it asks whether an outcome is established; add the setting {missing}"
            before = game.irregularities[:place]
            if not any(one.kind is row.kind and one.when.cannot_tell for one in before):
                yield f"{_place(row)}: put a row with cannot_tell before it, for rounds whose wagers are not entered"
        if row.when.counted_wrong is not None and not any(
            one.kind is row.kind and one.when.counted_wrong is (not row.when.counted_wrong)
            for one in game.irregularities
        ):
            other = "right" if row.when.counted_wrong else "wrong"
            yield f"{_place(row)}: a count may come out {other} as well; add the row for that"


def rows_are_reached(game: Game) -> Iterator[str]:
    """Yield rows that no facts lead to under a reading that puts them in force."""
    for law in every_law(game):
        for row in law.rows:
            if not row.authority and not is_reached(law, row):
                yield f"{_place(row)}: no facts lead to it under {readings_of(law)}: rows before it take them all"


def is_reached(law: Law, row: Row) -> bool:
    """Return whether some facts lead to the row: those that it states, with any answers to what its kind asks."""
    stated = _stated(row)
    asked = {name for other in law.rows if other.kind is row.kind for name in _stated(other)}
    free = sorted(asked - set(stated))
    return any(
        replace(find_row(law, row.kind, Facts(**stated, **facts, noticed=noticed)).row, id=row.id) == row
        for noticed in row.noticed
        for answers in product((False, True), repeat=len(free))
        for facts in [dict(zip(free, answers, strict=True))]
    )


def _stated(row: Row) -> dict[str, bool]:
    return {name: value for name in STATED if (value := getattr(row.when, name)) is not None}


def every_law(game: Game) -> Iterator[Law]:
    """Yield the law with every setting at its default, then with each option that something depends on."""
    must = {setting.id: setting.words[0] for setting in game.settings if setting.must_be_chosen}
    each = [{setting.id: option} for setting in game.settings for option in setting.words]
    together = [dict(under) for under in dict.fromkeys(conditions(game)) if len(under) > 1]
    return (read_law(game, {**must, **chosen}) for chosen in ({}, *each, *together))


def conditions(game: Game) -> Iterator[tuple[tuple[str, str], ...]]:
    """Yield every `under` of the data."""
    yield from (row.under for row in game.irregularities)
    for wager in game.wagers:
        yield wager.under
        yield from (price.under for price in wager.prices)


def readings_of(law: Law) -> str:
    """Return the chosen readings in words."""
    return ", ".join(f"{setting}={option}" for setting, option in law.chosen.items() if option) or "its only reading"
