"""The casino's additions to a document: the readings that it chose (`[readings]`) and a house table (`[[house]]`)."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final

import msgspec

from controller.daemon.section_reader import Mistake, described
from controller.games import GAMES, game
from controller.games.specification import FACT_QUESTIONS, Disposition, Facts, Kind, Noticed, Row
from controller.roles import Role
from controller.rules.law import SettingError, not_chosen, read_law
from controller.rules.row_validation import HAND_KINDS
from controller.table.settings import ChosenReading
from firmware_bridge.messages import message

EFFECTS: Final = (
    Disposition.VOID,
    Disposition.CONTINUE,
    Disposition.REMOVE_HAND,
    Disposition.REFER,
    Disposition.RESHUFFLE,
)
"""The effects that a house row may have. Only a document gives options to players and decides single bets."""

CITES_A_DOCUMENT: Final = re.compile(rf"({'|'.join(GAMES)})\s+\S*\d", re.ASCII)


class ReadingSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One key of `[readings]`: the option of a setting, who chose it and on which day."""

    option: str
    chosen_by: str = ""
    chosen_on: datetime.date | None = None


class HouseRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of `[[house]]`, which takes precedence over the document's.

    `rule` is the house's own number for it, shown in place of a clause; `authority` says whose rule it is. `when` holds
    the facts that must be true, by the names that `cardshoe rules` shows.
    """

    rule: str
    authority: str
    kind: Kind
    disposition: Annotated[Disposition, described(message("one of {choices:list}", choices=EFFECTS))]
    because: str
    when: dict[str, bool] = {}
    noticed: tuple[Noticed, ...] = (Noticed.IN_ROUND,)
    confirms: Role = Role.PIT_SUPERVISOR
    decides: Role = Role.SHIFT_MANAGER


def chosen_readings(readings: Mapping[str, ReadingSection]) -> tuple[ChosenReading, ...]:
    """Return the readings in the form that enters the journal with the game."""
    return tuple(
        ChosenReading(
            setting, chosen.option, chosen.chosen_by, chosen.chosen_on.isoformat() if chosen.chosen_on else ""
        )
        for setting, chosen in sorted(readings.items())
    )


def house_rows(rows: Sequence[HouseRow]) -> tuple[Row, ...]:
    """Return the rows in the form that enters the journal with the game; they are numbered H1, H2 in order."""
    return tuple(
        Row(
            id=f"H{number}",
            kind=row.kind,
            clause=row.rule,
            disposition=row.disposition,
            because=row.because,
            when=msgspec.convert(row.when, Facts),
            confirms=row.confirms,
            decides=row.decides,
            noticed=row.noticed,
            authority=row.authority,
        )
        for number, row in enumerate(rows, start=1)
    )


def mistakes_of_law(
    game_id: str, readings: Mapping[str, ReadingSection], rows: Sequence[HouseRow], *, simulated: bool
) -> Iterator[Mistake]:
    """Yield all mistakes. A real table must choose every setting without a default, with the person and the date."""
    options = {setting: chosen.option for setting, chosen in readings.items()}
    for setting_id, option in list(options.items()):
        try:
            read_law(game(game_id), {setting_id: option})
        except SettingError as error:
            del options[setting_id]
            yield Mistake(
                message("[readings]: {why}.", why=error.message),
                message("`cardshoe rules {game_id}` lists the settings.", game_id=game_id),
            )
    for row in rows:
        yield from _mistakes_of_row(row)
    said = [(row.kind, tuple(sorted(row.when.items())), noticed) for row in rows for noticed in row.noticed]
    for kind in dict.fromkeys(one[0] for one in said if said.count(one) > 1):
        yield Mistake(
            message("[[house]]: two rows decide {kind}.", kind=kind), message("The second would never apply.")
        )
    if simulated:
        return
    law = read_law(game(game_id), options)
    for setting in law.unchosen:
        if setting.id not in readings:
            example = f'{setting.id} = {{ option = "{setting.words[0]}", chosen_by = "...", chosen_on = 2026-01-31 }}'
            yield Mistake(
                message("[readings]: {why}.", why=not_chosen(setting)),
                message("A line of this form: {example}", example=example),
            )
    for setting in law.game.settings:
        chosen = readings.get(setting.id)
        if setting.must_be_chosen and chosen and not (chosen.chosen_by.strip() and chosen.chosen_on):
            yield Mistake(
                message("[readings]: {id} does not say who chose it and when.", id=setting.id),
                message("Add chosen_by and chosen_on to it."),
            )


def _mistakes_of_row(row: HouseRow) -> Iterator[Mistake]:
    for key in ("rule", "authority", "because"):
        if not getattr(row, key).strip():
            yield Mistake(
                message("[[house]] {rule}: {key} is empty.", rule=row.rule, key=key),
                message("A house rule has a number, an authority, a reason."),
            )
    if CITES_A_DOCUMENT.match(row.rule.strip()):
        yield Mistake(
            message("[[house]] {rule}: that is a clause of a document.", rule=row.rule),
            message("Give the house's rule its own number."),
        )
    if not row.noticed:
        yield Mistake(
            message("[[house]] {rule}: noticed is empty.", rule=row.rule),
            message("Leave it out, or say when it must be noticed."),
        )
    if row.disposition in (Disposition.VOID, Disposition.REMOVE_HAND) and row.confirms is Role.DEALER:
        yield Mistake(
            message("[[house]] {rule}: a dealer cannot confirm what voids a round or removes a hand.", rule=row.rule),
            message("Name a pit_supervisor or above in confirms."),
        )
    if row.disposition is Disposition.REMOVE_HAND and row.kind not in HAND_KINDS:
        yield Mistake(
            message(
                "[[house]] {rule}: {kind} does not name a hand that could be removed.", rule=row.rule, kind=row.kind
            ),
            message("The rule can apply to {kinds:list}.", kinds=tuple(sorted(HAND_KINDS))),
        )
    if row.disposition is Disposition.REMOVE_HAND and row.when.get("dealer_hand") is not False:
        yield Mistake(
            message(
                "[[house]] {rule}: it could remove the Dealer's hand, without which no round is settled.", rule=row.rule
            ),
            message("Add dealer_hand = false to its when."),
        )
    for name in row.when:
        if name not in FACT_QUESTIONS:
            yield Mistake(
                message("[[house]] {rule}: there is no fact {name}.", rule=row.rule, name=repr(name)),
                message("A condition is one of {known:list}.", known=tuple(FACT_QUESTIONS)),
            )
    if row.disposition not in EFFECTS:
        yield Mistake(
            message(
                "[[house]] {rule}: a house rule cannot say {disposition}.", rule=row.rule, disposition=row.disposition
            ),
            message("It may say {effects:list}.", effects=tuple(sorted(EFFECTS))),
        )
