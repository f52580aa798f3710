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
from controller.commands.language import terminal
from controller.commands.rules_report import (
    NEEDED,
    OptionReading,
    PriceReading,
    RowReading,
    Say,
    SettingReading,
    TableReading,
    WagerReading,
    WholeReading,
    reading_of_table,
    whole_reading,
)
from controller.commands.table_options import CONFIGURATION
from controller.commands.text import Page, longest, page
from controller.commands.vocabulary import ROUNDINGS, UNITS, words_of
from controller.games import GAMES
from controller.games.own_words import OwnWords
from controller.games.specification import KINDS, Unit
from controller.games.wager_specification import Needs
from controller.problems import BadInputError, ConfigurationProblemError
from controller.rules.layout import DEALERS_SPOT
from controller.table.events.irregularity_events import CHOICES
from controller.table.events.lines import clauses, under, with_reason
from controller.table.model import DEVICE_WORDS
from firmware_bridge.messages import AnyText, Message, message

HOUSE: Final = message("(house)")  # in place of a clause, for a rule of the house
UNSAID: Final = message("(unsaid)")  # in place of a clause, for a step that the document does not mention


def write_game(paper: Page, reading: WholeReading) -> None:
    """Write identity and boxes."""
    title = message("{title} ({id})", title=reading.title, id=reading.game)
    if reading.table is not None:
        title = message("{title} at table {table}", title=title, table=reading.table.name)
    paper.heading(title)
    words = words_of(reading.game)
    facts: list[tuple[Message, AnyText]] = [
        (message("operator"), reading.operator or message("none named")),
        (message("version"), reading.version or message("none given")),
        (message("effective"), reading.effective or message("no date given")),
        (words.places, _boxes(reading, words)),
        (message("tie"), message("equal rankings are called {word}", word=repr(reading.tie_word))),
    ]
    if reading.table is not None:
        facts.append((message("this table"), _table(reading.table, words)))
    for name, text in facts:
        paper.entry(text, (name, 10))


def _table(table: TableReading, words: OwnWords) -> Message:
    return clauses(
        [
            message("{count} {places}", count=table.boxes, places=words.places),
            message("the device yields {units}", units=UNITS[Unit(table.unit)]),
            *([message("the dealer counts the stub by hand")] if table.count_stub_by_hand else []),
        ]
    )


def _boxes(reading: WholeReading, words: OwnWords) -> Message:
    number = message(
        "{number}" if reading.fewest_boxes == reading.most_boxes else "{fewest} to {number}, {default} by default",
        number=reading.most_boxes,
        fewest=reading.fewest_boxes,
        default=reading.default_boxes,
    )
    return clauses(
        [
            number,
            message("cards are dealt to every place")
            if reading.every_hand
            else message("cards are dealt to {places} with a wager", places=words.places),
        ]
    )


def write_round(paper: Page, reading: WholeReading) -> None:
    paper.heading(message("The round, step by step"))
    width = _clause_width(paper, reading)
    for number, step in enumerate(reading.round, start=1):
        paper.entry(step.what, (f"{number}.", 3), (step.clause or UNSAID, width))


def write_dealing(paper: Page, reading: WholeReading) -> None:
    paper.heading(message("Dealing, by the way cards leave the device"))
    width = _clause_width(paper, reading)
    for dealing in reading.dealing:
        words: AnyText = dealing.words
        if dealing.device:
            device = DEVICE_WORDS[dealing.device]
            words = message("{words}, from a {device} only", words=words, device=device)
        paper.entry(words, (dealing.clause, width))
    first = reading.first_card
    if first is not None:
        paper.entry(message("the First Card says who is served first:"), (first.clause, width))
        called = words_of(reading.game).of
        for place, ranks in first.starts.items():
            paper.entry(message("{place} first", place=called(place)), ("", width), (" ".join(ranks), 8))
        order = tuple(called(place) for place in first.order)
        paper.entry(message("from there in the order {places:list}", places=order), ("", width))


def write_wagers(paper: Page, reading: WholeReading) -> None:
    paper.heading(message("Wagers: odds are net, to one staked"))
    returned = message("returned")
    for wager in reading.wagers:
        title = message("{title} ({id}, {clause})", title=wager.title, id=wager.wager, clause=wager.clause)
        if (lies := _where_it_lies(wager, reading.game, paper.say(NEEDED[Needs.NOTHING]))) is not None:
            title = with_reason(title, lies)
        paper.entry(_under(title, _readings(wager)))
        prices = [(odds_text(price.net), price.called, price.clause, _readings(price)) for price in wager.prices]
        prices += [(returned, hands, clause, "") for hands, clause in wager.returned_by.items()]
        if wager.returned_on:
            prices.append((returned, wager.returned_on, wager.returned_clause, ""))
        for odds, pays_on, clause, readings in prices:
            paper.entry(_under(under(message("{hands}", hands=pays_on), clause), readings), (odds, 10), indent=4)
        paper.entry(under(message("otherwise"), wager.lost_clause), (message("loses"), 10), indent=4)


def _where_it_lies(wager: WagerReading, game_id: str, nothing: str) -> Message | None:
    if wager.on_dealer:
        return message("lies once, on {spot}", spot=words_of(game_id).spot(DEALERS_SPOT))
    if wager.main:
        return message("a main wager")
    return message("needs {wager}", wager=wager.needs) if wager.needs != nothing else None


def _under(said: Message, readings: str) -> Message:
    return message("{said} [{readings}]", said=said, readings=readings) if readings else said


def _readings(part: WagerReading | PriceReading) -> str:
    """Return the options under which it is in force."""
    return _options(part.under, part.open)


def _options(chosen: Mapping[str, str], waits: Mapping[str, str]) -> str:
    return ", ".join(f"{'if ' if setting in waits else ''}{setting}={option}" for setting, option in chosen.items())


def write_limits(paper: Page, reading: WholeReading) -> None:
    paper.heading(message("Placing and counting wagers"))
    width = _clause_width(paper, reading)
    for limit in reading.limits:
        paper.entry(limit.words, (limit.clause, width))
    if not reading.limits:
        paper.entry(message("the document does not regulate limits, late bets and the viewer of a hand"))
    if reading.table is not None:
        _write_limits_of_table(paper, reading.table, width)


def _write_limits_of_table(paper: Page, table: TableReading, width: int) -> None:
    for limit in table.limits:
        most = message("at most {amount}", amount=limit.maximum) if limit.maximum else message("no maximum")
        least = message("at least {amount}", amount=limit.minimum)
        paper.entry(
            message("{wager}: {least}, {most}, in the smallest unit", wager=limit.wager, least=least, most=most),
            (HOUSE, width),
        )
    others = message("no other wager has a minimum or a maximum") if table.limits else message("no wager has a limit")
    paper.entry(others, (HOUSE, width))
    paper.entry(ROUNDINGS[table.rounding], (HOUSE, width))


def write_settings(paper: Page, reading: WholeReading) -> None:
    paper.heading(
        message("Settings: readings that the casino chose")
        if reading.table
        else message("Settings: readings that the casino chooses (--reading ID=OPTION)")
    )
    for setting in reading.settings:
        said = message(
            "{setting} (reading {number}, {clause}): {question}",
            setting=setting.setting,
            number=setting.reading,
            clause=setting.clause,
            question=setting.question,
        )
        paper.entry(_with_mandatory_mark(said, setting))
        for option, meaning in setting.options.items():
            meaning = meaning.removeprefix(f"{option}: ")
            paper.entry(
                message("{meaning} (default)", meaning=meaning) if option == setting.default else meaning,
                ("*" if option == setting.chosen else " ", 1),
                (option, longest(list(setting.options))),
                indent=4,
            )
        if setting.configured:
            paper.entry(_who_chose(setting), indent=4)
    paper.entry(message("* in force here"))


def _who_chose(setting: SettingReading) -> Message:
    chosen = (
        message("chosen by {person}", person=setting.chosen_by)
        if setting.chosen_by
        else message("chosen in the configuration")
    )
    return message("{chosen} on {date}", chosen=chosen, date=setting.chosen_on) if setting.chosen_on else chosen


def _with_mandatory_mark(said: Message, setting: SettingReading) -> Message:
    if not setting.must_be_chosen:
        return said
    return message("{said} MUST BE CHOSEN" if setting.chosen else "{said} MUST BE CHOSEN, and is not", said=said)


def write_irregularities(paper: Page, reading: WholeReading) -> None:
    """Write the table in force, in the order of its numbers."""
    paper.heading(message("Irregularities: under each number the first row that fits applies"))
    paper.entry(message("The table shows an irregularity under the same number."))
    if any(row.authority and row.clause for row in reading.irregularities):
        paper.entry(message("A row of the house applies before all others of its kind."))
    paper.entry(
        message("In brackets: the lowest rank that may confirm the fact, and decide what the clause leaves open.")
    )
    cited = [paper.say(_clause(row)) for row in reading.irregularities]
    width = max(_clause_width(paper, reading), longest(cited))
    for row in merge_kinds(reading.irregularities, paper.say):
        paper.entry(
            message("{facts:clauses}", facts=(row.what, *row.when, row.noticed)),
            (row.number, 5),
            (_clause(row), width),
            then=_under(_consequence(row), _options(row.under, {})),
        )
    decides = message(
        "If no row fits, a {role} or above decides ({clause}). The deal is held until then."
        if reading.silent_clause
        else "If no row fits, a {role} or above decides, for the document names no one. The deal is held until then.",
        role=reading.silent_decides,
        clause=reading.silent_clause,
    )
    paper.entry(decides)
    if reading.unprovided:
        paper.entry(message("The document has no row for these in a round: {kinds:list}.", kinds=reading.unprovided))


def _consequence(row: RowReading) -> Message:
    said = message("-> {follows}", follows=row.follows)
    said = under(said, row.reason) if row.reason else said
    return message(
        "{said}{options} [{people}]", said=said, options=_options_of_bettors(row.options), people=_people(row)
    )


def _clause(row: RowReading) -> AnyText:
    """Return the clause; for a rule of the house, its mark and its own number."""
    if not row.authority:
        return row.clause
    return message("{house} {number}", house=HOUSE, number=row.clause) if row.clause else HOUSE


def merge_kinds(rows: Sequence[RowReading], say: Say = str) -> list[RowReading]:
    """Merge consecutive rows that differ only in their kind."""
    merged: list[RowReading] = []
    for row, group in groupby(rows, key=lambda row: replace(row, kind="", what="")):
        kinds = tuple(member.what for member in group)
        what = message("whatever it was") if len(kinds) == len(KINDS) else message("{kinds:or}", kinds=kinds)
        merged.append(replace(row, what=say(what)))
    return merged


def _options_of_bettors(options: Sequence[OptionReading]) -> AnyText:
    if not options:
        return ""
    offered = [
        message(
            "{choice} ({clause}: {because})",
            choice=CHOICES[option.choice],
            clause=option.clause,
            because=option.because,
        )
        for option in options
    ]
    permits = next((option.permitted_by for option in options if option.permitted_by is not None), None)
    if permits is None:
        return message(". Bettors may {choices:or}", choices=tuple(offered))
    asked = tuple(words for words, option in zip(offered, options, strict=True) if option.permitted_by is not None)
    return message(
        "; if permitted by the {role} or above, a bettor may {choices:or}", role=permits.named, choices=asked
    )


def _people(row: RowReading) -> Message:
    people = [message("{role} confirms", role=row.confirms)]
    if row.decides:
        people.append(message("{role} decides", role=row.decides))
    if row.authority:
        people.append(message("by {authority}", authority=row.authority))
    return clauses(people)


def write_clauses(paper: Page, reading: WholeReading) -> None:
    paper.heading(message("Clauses, and what the program makes of each"))
    width = _clause_width(paper, reading)
    for provision in reading.clauses:
        outside = message("outside: {reason}", reason=provision.outside)
        paper.entry(provision.reading or outside, (provision.clause, width))


def _clause_width(paper: Page, reading: WholeReading) -> int:
    cited = (*(step.clause for step in reading.round), *(part.clause for part in reading.clauses))
    return longest([*cited, paper.say(UNSAID)])


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
    type=CONFIGURATION,
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
    reading = _reading(game_id, readings, path, str if as_json else terminal())
    if as_json:
        print_json(reading)
        return
    paper = page()
    for name, write in SECTIONS.items():
        if not sections or name in sections:
            write(paper, reading)
    paper.show()


def _reading(game_id: str | None, readings: tuple[str, ...], path: Path | None, say: Say) -> WholeReading:
    """Read a game, or the table of that configuration. Raise `BadInputError`, `ConfigurationProblemError`."""
    if path is None:
        if game_id is None:
            raise BadInputError(
                message("GAME is missing."),
                message("Name one of {games:list}, or a table's configuration after --config.", games=tuple(GAMES)),
            )
        return whole_reading(find_law(game_id, readings), say)
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
    return reading_of_table(table.name, configuration.settings, say)
