"""`cardshoe rules`: the whole reading of a game's document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

import click
from msgspec.structs import replace

from controller.commands.game_options import (
    find_game,
    find_law,
    odds_text,
    print_json,
    reading_options,
    shortened,
)
from controller.commands.rules_report import (
    NEEDED,
    OptionReading,
    PriceReading,
    RowReading,
    SettingReading,
    TableReading,
    WagerReading,
    WholeReading,
    reading_of_table,
    whole_reading,
)
from controller.commands.text import Page, longest, page
from controller.commands.vocabulary import ROUNDINGS, UNITS, words_of
from controller.games import GAMES
from controller.games.own_words import OwnWords
from controller.games.specification import KINDS, Unit
from controller.games.wager_specification import Needs
from controller.problems import BadInputError, ConfigurationProblemError
from firmware_bridge.messages import message

HOUSE: Final = "(house)"  # in place of a clause, for a rule of the house
ANYTHING: Final = "whatever it was"  # for a row that every kind of irregularity has


def write_game(paper: Page, reading: WholeReading) -> None:
    """Write identity and boxes."""
    at_table = f" at table {reading.table.name}" if reading.table else ""
    paper.heading(f"{reading.title} ({reading.game}){at_table}")
    words = words_of(reading.game)
    facts = (
        ("operator", reading.operator or "none named"),
        ("version", reading.version or "none given"),
        ("effective", reading.effective or "no date given"),
        (str(words.places), _boxes(reading, words)),
        ("tie", f"equal rankings are called {reading.tie_word!r}"),
    )
    for name, text in (*facts, *_at_table(reading.table, words)):
        paper.entry(text, (name, 10))


def _at_table(table: TableReading | None, words: OwnWords) -> tuple[tuple[str, str], ...]:
    if table is None:
        return ()
    by_hand = " the dealer counts the stub by hand;" if table.count_stub_by_hand else ""
    described = f"{table.boxes} {words.places}; the device yields {UNITS[Unit(table.unit)]};{by_hand}"
    return (("this table", described.removesuffix(";")),)


def _boxes(reading: WholeReading, words: OwnWords) -> str:
    if reading.fewest_boxes == reading.most_boxes:
        number = str(reading.most_boxes)
    else:
        number = f"{reading.fewest_boxes} to {reading.most_boxes}, {reading.default_boxes} by default"
    return (
        f"{number}; {'every place is dealt to' if reading.every_hand else f'{words.places} with a wager are dealt to'}"
    )


def write_round(paper: Page, reading: WholeReading) -> None:
    paper.heading("The round, step by step")
    for number, step in enumerate(reading.round, start=1):
        paper.entry(step.what, (f"{number}.", 3), (step.clause or "(unsaid)", _clause_width(reading)))


def write_dealing(paper: Page, reading: WholeReading) -> None:
    paper.heading("Dealing, by what leaves the device")
    width = _clause_width(reading)
    for dealing in reading.dealing:
        device = f", from a {dealing.device} only" if dealing.device else ""
        paper.entry(f"{dealing.words}{device}", (dealing.clause, width))
    first = reading.first_card
    if first is not None:
        paper.entry("the First Card says who is served first:", (first.clause, width))
        called = words_of(reading.game).of
        for place, ranks in first.starts.items():
            paper.entry(f"{called(place)} first", ("", width), (" ".join(ranks), 8))
        paper.entry(f"from there in the order {', '.join(str(called(place)) for place in first.order)}", ("", width))


def write_wagers(paper: Page, reading: WholeReading) -> None:
    paper.heading("Wagers: odds are net, to one staked")
    for wager in reading.wagers:
        paper.entry(
            f"{wager.title} ({wager.wager}, {wager.clause}){_where_it_lies(wager, reading.game)}{_readings(wager)}"
        )
        prices = [(odds_text(price.net), price.called, price.clause, _readings(price)) for price in wager.prices]
        prices += [("returned", hands, clause, "") for hands, clause in wager.returned_by.items()]
        if wager.returned_on:
            prices.append(("returned", wager.returned_on, wager.returned_clause, ""))
        for odds, pays_on, clause, readings in prices:
            paper.entry(f"{pays_on} ({clause}){readings}", (odds, 10), indent=4)
        paper.entry(f"otherwise ({wager.lost_clause})", ("loses", 10), indent=4)


def _where_it_lies(wager: WagerReading, game_id: str) -> str:
    if wager.on_dealer:
        return f": lies once, on the {words_of(game_id).dealer}'s spot"
    if wager.main:
        return ": a main wager"
    return f": needs {wager.needs}" if wager.needs != NEEDED[Needs.NOTHING] else ""


def _readings(part: WagerReading | PriceReading) -> str:
    """Return the options under which it is in force."""
    return _options(part.under, part.open)


def _options(under: Mapping[str, str], waits: Mapping[str, str]) -> str:
    parts = [f"{'if ' if setting in waits else ''}{setting}={option}" for setting, option in under.items()]
    return f" [{', '.join(parts)}]" if parts else ""


def write_limits(paper: Page, reading: WholeReading) -> None:
    paper.heading("Placing and counting wagers")
    for limit in reading.limits:
        paper.entry(limit.words, (limit.clause, _clause_width(reading)))
    if not reading.limits:
        paper.entry("the document does not regulate limits, late bets and the viewer of a hand")
    if reading.table is not None:
        _write_limits_of_table(paper, reading.table, _clause_width(reading))


def _write_limits_of_table(paper: Page, table: TableReading, width: int) -> None:
    for limit in table.limits:
        most = f"at most {limit.maximum}" if limit.maximum else "no maximum"
        paper.entry(f"{limit.wager}: at least {limit.minimum}, {most}, in the smallest unit", (HOUSE, width))
    paper.entry("no other wager has a minimum or a maximum" if table.limits else "no wager has a limit", (HOUSE, width))
    paper.entry(ROUNDINGS[table.rounding], (HOUSE, width))


def write_settings(paper: Page, reading: WholeReading) -> None:
    how = (
        "readings that the casino chose" if reading.table else "readings that the casino chooses (--reading ID=OPTION)"
    )
    paper.heading(f"Settings: {how}")
    for setting in reading.settings:
        number = f"reading {setting.reading}, {setting.clause}"
        paper.entry(f"{setting.setting} ({number}): {setting.question}{_mandatory_mark(setting)}")
        for option, meaning in setting.options.items():
            mark = "*" if option == setting.chosen else " "
            standing = " (default)" if option == setting.default else ""
            paper.entry(
                f"{meaning.removeprefix(f'{option}: ')}{standing}",
                (mark, 1),
                (option, longest(list(setting.options))),
                indent=4,
            )
        if setting.configured:
            paper.entry(_who_chose(setting), indent=4)
    paper.entry("* in force here")


def _who_chose(setting: SettingReading) -> str:
    on = f" on {setting.chosen_on}" if setting.chosen_on else ""
    return f"chosen by {setting.chosen_by}{on}" if setting.chosen_by else f"chosen in the configuration{on}"


def _mandatory_mark(setting: SettingReading) -> str:
    if not setting.must_be_chosen:
        return ""
    return f" MUST BE CHOSEN{'' if setting.chosen else ', and is not'}"


def write_irregularities(paper: Page, reading: WholeReading) -> None:
    """Write the table in force, in the order of its numbers."""
    paper.heading("Irregularities: under each number the first row that fits applies")
    paper.entry("The table shows an irregularity under the same number.")
    if any(row.authority and row.clause for row in reading.irregularities):
        paper.entry("A row of the house applies before all others of its kind.")
    paper.entry("In brackets stands the lowest rank that may confirm the fact, and decide what the clause leaves open.")
    width = max(_clause_width(reading), longest([_clause(row) for row in reading.irregularities]))
    for row in merge_kinds(reading.irregularities):
        when = "; ".join((row.what, *row.when, row.noticed))
        reason = f" ({row.reason})" if row.reason else ""
        readings = _options(row.under, {})
        paper.entry(
            when,
            (row.number, 5),
            (_clause(row), width),
            then=f"-> {row.follows}{reason}{_options_of_bettors(row.options)} [{_people(row)}]{readings}",
        )
    clause = f" ({reading.silent_clause})" if reading.silent_clause else ", for the document names no one"
    paper.entry(
        f"Whatever no row fits: a {reading.silent_decides} or above decides{clause}. The deal is held until then."
    )
    if reading.unprovided:
        paper.entry(f"In a round no row of the document is about: {', '.join(reading.unprovided)}.")


def _clause(row: RowReading) -> str:
    """Return the clause; for a rule of the house, its mark and its own number."""
    return f"{HOUSE} {row.clause}".rstrip() if row.authority else row.clause


def merge_kinds(rows: Sequence[RowReading]) -> list[RowReading]:
    """Merge consecutive rows that differ only in their kind."""
    merged: list[RowReading] = []
    for row, group in groupby(rows, key=lambda row: replace(row, kind="", what="")):
        kinds = [member.what for member in group]
        what = ANYTHING if len(kinds) == len(KINDS) else " or ".join(kinds)
        merged.append(replace(row, what=what))
    return merged


def _options_of_bettors(options: Sequence[OptionReading]) -> str:
    if not options:
        return ""
    offered = [f"{option.choice.value} ({option.clause}: {option.because})" for option in options]
    permits = next((option.permitted_by for option in options if option.permitted_by is not None), None)
    if permits is None:
        return f". Bettors may {' or '.join(offered)}"
    asked = [words for words, option in zip(offered, options, strict=True) if option.permitted_by is not None]
    return f"; if permitted by the {permits.word} or above, a bettor may {' or '.join(asked)}"


def _people(row: RowReading) -> str:
    decides = f"; {row.decides} decides" if row.decides else ""
    authority = f"; by {row.authority}" if row.authority else ""
    return f"{row.confirms} confirms{decides}{authority}"


def write_clauses(paper: Page, reading: WholeReading) -> None:
    paper.heading("Clauses, and what the program makes of each")
    for provision in reading.clauses:
        text = provision.reading or f"outside: {provision.outside}"
        paper.entry(text, (provision.clause, _clause_width(reading)))


def _clause_width(reading: WholeReading) -> int:
    return longest([*(step.clause for step in reading.round), *(part.clause for part in reading.clauses), "(unsaid)"])


SECTIONS: Final[dict[str, Callable[[Page, WholeReading], None]]] = {
    "game": write_game,
    "round": write_round,
    "dealing": write_dealing,
    "wagers": write_wagers,
    "limits": write_limits,
    "settings": write_settings,
    "irregularities": write_irregularities,
    "clauses": write_clauses,
}


class SectionName(click.Choice[str]):
    """The name of one of `SECTIONS`. A refusal quotes a wrong name shortened."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(shortened(value), param, ctx)


@click.command()
@click.argument("game_id", metavar="[GAME]", required=False)
@reading_options
@click.option(
    "--config",
    "path",
    type=click.Path(path_type=Path),
    help="Show the law of the table with this configuration (TOML); it names the game.",
)
@click.option(
    "--section", "sections", type=SectionName(list(SECTIONS)), multiple=True, help="Only this part; may be repeated."
)
def rules(
    game_id: str | None, readings: tuple[str, ...], as_json: bool, path: Path | None, sections: tuple[str, ...]
) -> None:
    """Show the whole reading of a game: the round, wagers, settings, the irregularity table, every clause.

    With --config, show that of one table: the readings that its casino chose, the house's rows, its limits.
    In a terminal lines are wrapped; elsewhere each entry is one line, for grep. --json prints every part.
    """
    reading = _reading(game_id, readings, path)
    if as_json:
        print_json(reading)
        return
    paper = page()
    for name, write in SECTIONS.items():
        if not sections or name in sections:
            write(paper, reading)
    paper.show()


def _reading(game_id: str | None, readings: tuple[str, ...], path: Path | None) -> WholeReading:
    """Read a game, or the table of that configuration. Raise `BadInputError`, `ConfigurationProblemError`."""
    if path is None:
        if game_id is None:
            raise BadInputError(
                message("GAME is missing."),
                message("Name one of {games:list}, or a table's configuration after --config.", games=tuple(GAMES)),
            )
        return whole_reading(find_law(game_id, readings))
    from controller.daemon.configuration import ConfigurationError, read_configuration

    try:
        configuration = read_configuration(path)
    except ConfigurationError as error:
        raise ConfigurationProblemError(error) from error
    table = configuration.table
    if game_id is not None and find_game(game_id).id != table.game:
        raise BadInputError(
            message(
                "{path} belongs to a table that plays {game}, not {other}.",
                path=str(path),
                game=table.game,
                other=find_game(game_id).id,
            ),
            message("Leave GAME out."),
        )
    if readings:
        raise BadInputError(
            message("--reading cannot be added to --config."),
            message("The configuration chooses the readings of its table."),
        )
    return reading_of_table(table.name, configuration.settings)
