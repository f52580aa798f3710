"""Reads scenarios: a header that describes the table, then one step a line; `#` begins a comment.

    # A card is exposed in dealing; every bettor chooses.
    game NC
    cell I12
    clause NC 5.7

    begin
    deal 2
    report exposed_card B3
    expect I12 NC 5.7 options

`cardshoe demo --scenario words` prints every word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from controller.games import GAMES
from controller.games.specification import Game, Unit
from controller.people_words.reading import find_word, read_form, read_line
from controller.people_words.supervisor_words import CORRECTABLE, STRUCK_OUT
from controller.people_words.tokens import ACTIONS, FACTS, INSTRUCTIONS, KINDS, ROLES, Tokens, UnreadableLineError
from controller.table.settings import ChosenReading
from simulators.scenarios.course import ABILITIES, FIRST_CARD, Course, HandsError, TableSetting
from simulators.scenarios.device_steps import STEPS
from simulators.scenarios.expectations import CELL, EXPECTATIONS, ROW_FORM, ROW_MEANING, Look, read_row

EXPECT: Final = "expect"
NAMES: Final = {
    "KIND": KINDS, "FACT": FACTS, "ACTION": ACTIONS, "ROLE": ROLES, "ENTRY to strike out": STRUCK_OUT,
    "ENTRY to correct": CORRECTABLE, "INSTRUCTION": INSTRUCTIONS,
}  # fmt: skip
SILENT: Final = "silent"
UNITS: Final = {unit.value: unit for unit in Unit}


class BadScenarioError(Exception):
    """Raised for a text that is not a scenario. The sentence has the file, the line, and what is known."""


class ScenarioStep(NamedTuple):
    """One line: an act or a check."""

    line: int
    text: str
    act: Callable[[Course], None] | None = None
    look: Look | None = None


class Scenario(NamedTuple):
    """A file. `about` is the comment at its head. `cell` is the situation of docs/scenarios.md that it shows, if any.
    `seen_as` is the number that the table gives it; it differs where the distinction has no effect, so that nobody is
    asked. `clause` is the one that the table must apply, or "" if the file does not say. `silent` means that the
    document does not say what follows.
    """

    name: str
    about: str = ""
    cell: str = ""
    seen_as: str = ""
    clause: str = ""
    silent: bool = False
    setting: TableSetting = TableSetting("")
    steps: tuple[ScenarioStep, ...] = ()


class HeaderWord(NamedTuple):
    """A word of the header. `read` takes the scenario so far and the rest of the line."""

    form: str
    meaning: str
    read: Callable[[Scenario, Tokens], Scenario]


def read_scenario(name: str, text: str) -> Scenario:
    """Read a scenario from text. Raise `BadScenarioError` if it is malformed."""
    scenario = Scenario(name)
    steps: list[ScenarioStep] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#") and scenario == Scenario(name, scenario.about) and not steps:
            scenario = scenario._replace(about=f"{scenario.about} {line.lstrip('#').strip()}".strip())
        words = line.partition("#")[0].split()
        try:
            if words and words[0] in HEADER and not steps:
                reading = Tokens(words[1:])
                scenario = HEADER[words[0]].read(scenario, reading)
                reading.done()
            elif words:
                steps.append(_step(number, words))
        except UnreadableLineError as error:
            header = (
                "" if steps or words[0] in (*HEADER, EXPECT) else f"; before the first step also {', '.join(HEADER)}"
            )
            raise BadScenarioError(f"{name}, line {number}: {error}{header}.") from error
    if not scenario.setting.game:
        raise BadScenarioError(f"{name}: the header lacks `{HEADER['game'].form}`.")
    try:
        scenario.setting.deck()
    except HandsError as error:
        raise BadScenarioError(f"{name}: {error}.") from error
    if not steps:
        raise BadScenarioError(f"{name}: no step follows the header; most begin with `begin`.")
    return scenario._replace(steps=tuple(steps))


def _step(number: int, words: list[str]) -> ScenarioStep:
    text = " ".join(words)
    if words[0] != EXPECT:
        return ScenarioStep(number, text, act=read_line(words, STEPS))
    if len(words) > 1 and CELL.fullmatch(words[1]):
        return ScenarioStep(number, text, look=read_form(ROW_FORM, read_row, Tokens(words[1:])))
    named = words[1] if len(words) > 1 else ""
    word, reading = find_word(words[1:], EXPECTATIONS, f"'{named}' cannot be expected")
    return ScenarioStep(number, text, look=read_form(EXPECTATIONS[word].form, EXPECTATIONS[word].read, reading))


def vocabulary() -> Iterator[str]:
    """Yield a line for every word of a scenario, with its meaning, and then the names that words take."""
    expected = ((ROW_FORM, ROW_MEANING), *((word.form, word.meaning) for word in EXPECTATIONS.values()))
    parts: tuple[tuple[str, Iterable[tuple[str, object]]], ...] = (
        ("The header", ((word.form, word.meaning) for word in HEADER.values())),
        ("Steps", ((word.form, word.meaning) for word in STEPS.values())),
        ("Expectations", expected),
        ("Names", ((name, ", ".join(names)) for name, names in NAMES.items())),
    )
    for title, words in parts:
        yield f"{title}:"
        for form, meaning in words:
            yield f"  {form}"
            yield f"      {meaning}"


# -- the header


def _setting(scenario: Scenario, **changes: Any) -> Scenario:
    return scenario._replace(setting=replace(scenario.setting, **changes))


def _game_of(scenario: Scenario) -> Game:
    if not scenario.setting.game:
        raise UnreadableLineError("say the game first, as `game NC`")
    return GAMES[scenario.setting.game]


def _read_game(scenario: Scenario, tokens: Tokens) -> Scenario:
    if scenario.setting.game:
        raise UnreadableLineError(f"the game is already {scenario.setting.game}")
    word = tokens.take("the id of a game")
    if word.upper() not in GAMES:
        raise UnreadableLineError(f"'{word}' is not a game; known: {', '.join(GAMES)}")
    return _setting(scenario, game=word.upper())


def _read_device(scenario: Scenario, tokens: Tokens) -> Scenario:
    unit = tokens.one_of(UNITS, "a unit")
    able: list[str] = []
    while tokens.left:
        able.append(tokens.one_of({name: name for name in ABILITIES}, "an ability"))
    return _setting(scenario, unit=unit, abilities=tuple(able))


def _read_boxes(scenario: Scenario, tokens: Tokens) -> Scenario:
    boxes = tokens.numbers("a box")
    most = _game_of(scenario).boxes[1]
    if wrong := [box for box in boxes if not 1 <= box <= most]:
        raise UnreadableLineError(f"there is no box {wrong[0]}; a layout has boxes 1 to {most}")
    return _setting(scenario, boxes=boxes)


def _read_reading(scenario: Scenario, tokens: Tokens) -> Scenario:
    settings = {setting.id: setting for setting in _game_of(scenario).settings}
    setting = tokens.one_of(settings, "a setting of this game")
    option = tokens.one_of({name: name for name, _ in setting.options}, f"an option of {setting.id}")
    return _setting(scenario, readings=(*scenario.setting.readings, ChosenReading(setting.id, option)))


def _read_hand(scenario: Scenario, tokens: Tokens) -> Scenario:
    place = FIRST_CARD if tokens.maybe(FIRST_CARD) else tokens.place()
    if place in dict(scenario.setting.hands):
        raise UnreadableLineError(f"the cards of {place} are already named")
    if not tokens.left:
        raise UnreadableLineError("the code of a card is missing at the end")
    return _setting(scenario, hands=(*scenario.setting.hands, (place, tokens.cards())))


def _read_wager(scenario: Scenario, tokens: Tokens) -> Scenario:
    wager, rules = tokens.wager(), _game_of(scenario)
    known = {one.id: one for one in rules.wagers}
    if wager.wager not in known:
        raise UnreadableLineError(f"'{wager.wager}' is not a wager of {rules.id}; known: {', '.join(known)}")
    return _setting(scenario, wagers=(*scenario.setting.wagers, wager))


def _read_cell(scenario: Scenario, tokens: Tokens) -> Scenario:
    cell = tokens.take("a cell like I12")
    seen_as = tokens.take("a cell like I12") if tokens.maybe("seen as") else cell
    for named in (cell, seen_as):
        if not CELL.fullmatch(named):
            raise UnreadableLineError(f"'{named}' is not a cell; cells are I01 to I28, I08a and I08b")
    return scenario._replace(cell=cell, seen_as=seen_as)


def _read_clause(scenario: Scenario, tokens: Tokens) -> Scenario:
    silent = tokens.maybe(SILENT)
    clause = " ".join(tokens.rest())
    if not silent and not clause:
        raise UnreadableLineError(f"a clause is missing; write `clause {SILENT}` where the document says nothing")
    return scenario._replace(silent=silent, clause=clause)


HEADER: Final[Mapping[str, HeaderWord]] = {
    "game": HeaderWord("game NC", f"the document: {', '.join(GAMES)}", _read_game),
    "device": HeaderWord(
        "device sets", f"what leaves the device: sets or singles; besides: {', '.join(ABILITIES)}", _read_device
    ),
    "boxes": HeaderWord(
        "boxes 1 3 6",
        "the boxes that take part where no `wager` lines say it; these by default, all in F3",
        _read_boxes,
    ),
    "reading": HeaderWord("reading wrong_count specific", "a setting and the option that was chosen", _read_reading),
    "hand": HeaderWord(
        "hand B1 KD QC JS", "the cards that a place is to get in the first round; F: the First Card", _read_hand
    ),
    "wager": HeaderWord(
        "wager ann main 1 10 [overlooked]", "a bet laid in every round: bettor, wager, box, amount", _read_wager
    ),
    "cell": HeaderWord(
        "cell I12 [seen as I12]",
        "what it shows, in a file of this page; the table may count it under another number",
        _read_cell,
    ),
    "clause": HeaderWord(
        "clause NC 5.7 or clause silent [TP 3.3]",
        "what the table must come to by the end; without it the steps alone are judged",
        _read_clause,
    ),
}
"""The words of the header. `device` also begins steps, so the header ends with the first other line."""
