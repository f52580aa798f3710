"""`cardshoe rules`: nothing of a game's data is left out, everything has words, and it fits any width."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec import structs

from controller.commands.main import main
from controller.commands.rules import SECTIONS, merge_kinds
from controller.commands.rules_report import whole_reading
from controller.commands.text import Page
from controller.commands.vocabulary import (
    EXCESS,
    NOTICED,
    ORDERS,
    SHORTFALL,
    UNITS,
    VIEWERS,
    facts_in_words,
    limits_in_words,
)
from controller.games import GAMES, game
from controller.games.specification import (
    FACT_WORDS,
    FOLLOWS,
    KINDS,
    NUMBERS,
    STATED,
    Disposition,
    Facts,
    Kind,
    Noticed,
    Order,
    Row,
    Unit,
)
from controller.games.wager_specification import Excess, Shortfall, Viewer
from controller.language import Speaker
from controller.rules.law import Law, conditions_of, find_row, read_law
from controller.rules.row_validation import every_law
from tests.interfaces.test_command_line import ROOT, cardshoe

EVERY_GAME = pytest.mark.parametrize("game_id", GAMES)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["rules", *arguments])


def as_json(*arguments: str) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.output)
    return found


def test_every_possible_value_has_words() -> None:
    assert set(FACT_WORDS) == set(STATED)
    for words, values in (
        (KINDS, Kind),
        (FOLLOWS, Disposition),
        (UNITS, Unit),
        (ORDERS, Order),
        (EXCESS, Excess),
        (SHORTFALL, Shortfall),
        (VIEWERS, Viewer),
    ):
        assert set(words) == set(values)


def test_no_two_facts_or_kinds_are_put_in_the_same_words() -> None:
    phrases = [phrase for pair in FACT_WORDS.values() for phrase in pair]
    assert len(set(phrases)) == len(phrases)
    assert len(set(KINDS.values())) == len(KINDS)


@EVERY_GAME
def test_json_leaves_nothing_out(game_id: str) -> None:
    known = game(game_id)
    law = read_law(known)
    found = as_json(game_id)
    assert found["title"] == str(known.title)
    assert [step["clause"] for step in found["round"]] == [step.clause for step in known.steps]
    assert {(d["unit"], d["order"], d["clause"]) for d in found["dealing"]} == {
        (grammar.unit.value, grammar.order.value, grammar.clause) for grammar in known.grammars
    }
    assert [setting["setting"] for setting in found["settings"]] == [setting.id for setting in known.settings]
    assert {(row["kind"], row["clause"], row["disposition"], row["because"]) for row in found["irregularities"]} == {
        (row.kind.value, row.clause, row.disposition.value, str(row.because)) for row in law.rows
    }
    assert [provision["clause"] for provision in found["clauses"]] == [part.clause for part in known.provisions]
    assert {wager["wager"] for wager in found["wagers"]} == {wager.id for wager in known.wagers}


@EVERY_GAME
def test_the_points_that_halve_a_win_are_those_of_the_prices(game_id: str) -> None:
    halved = {price.points for wager in game(game_id).wagers for price in wager.prices if price.odds == Fraction(1, 2)}
    assert {as_json(game_id)["half_pay_points"]} == halved
    known = game(game_id)
    even = tuple(
        structs.replace(wager, prices=tuple(price for price in wager.prices if price.odds >= 1))
        for wager in known.wagers
    )
    assert whole_reading(read_law(structs.replace(known, wagers=even))).half_pay_points is None


@EVERY_GAME
def test_the_page_cites_every_clause_that_the_data_cites(game_id: str) -> None:
    known = game(game_id)
    output = run(game_id).output
    betting = [clause for clause, _ in limits_in_words(known.betting)]
    cited = {
        *(step.clause for step in known.steps),
        *(grammar.clause for grammar in known.grammars),
        *(setting.clause for setting in known.settings),
        *(clause for wager in known.wagers for clause in (wager.clause, wager.returned_clause)),
        *(row.clause for row in read_law(known).rows),
        *(provision.clause for provision in known.provisions),
        *betting,
        known.silent_clause,
    }
    for clause in cited - {""}:
        assert re.search(rf"{re.escape(clause)}(?![\d.]*\d)", output), clause


@EVERY_GAME
def test_every_clause_that_betting_cites_has_words(game_id: str) -> None:
    """Otherwise a field of a document's betting rules without words would silently be missing."""
    betting = game(game_id).betting
    fields = [name for name, kind in type(betting).__annotations__.items() if kind == "str" and getattr(betting, name)]
    listed = limits_in_words(betting)
    assert {getattr(betting, name) for name in fields} == {clause for clause, _ in listed}
    assert all(words for _, words in listed)


@EVERY_GAME
def test_piped_each_row_and_each_clause_is_one_line(game_id: str) -> None:
    """This lets grep find all of it."""
    lines = run(game_id).output.splitlines()
    for row in merge_kinds(whole_reading(read_law(game(game_id))).irregularities):
        assert any(
            line.startswith(f"  {row.number} ") and row.follows in line and row.reason in line and row.what in line
            for line in lines
        )
    for provision in game(game_id).provisions:
        text = str(provision.reading or provision.outside)
        assert any(line.startswith(f"  {provision.clause} ") and line.endswith(text) for line in lines)


@EVERY_GAME
def test_steps_settings_and_clauses_are_in_the_readers_language(game_id: str) -> None:
    law, say = read_law(game(game_id)), Speaker("zh-Hans")
    reading, english = whole_reading(law, say), whole_reading(law)
    texts = [
        [
            *(step.what for step in one.round),
            *(setting.question for setting in one.settings),
            *(meaning for setting in one.settings for meaning in setting.options.values()),
            *(clause.reading or clause.outside for clause in one.clauses),
        ]
        for one in (reading, english)
    ]
    assert [said for said, in_english in zip(*texts, strict=True) if said == in_english] == []


@pytest.mark.parametrize("width", [70, 80, 100])
@EVERY_GAME
def test_in_a_terminal_no_line_is_wider(game_id: str, width: int) -> None:
    paper = Page(width)
    reading = whole_reading(read_law(game(game_id)))
    for write in SECTIONS.values():
        write(paper, reading)
    text = re.sub(r"\x1b\[\d+m", "", str(paper))
    assert max(len(line) for line in text.splitlines()) <= width
    assert text.count("->") == str(run(game_id).output).count("->")


def test_a_wrapped_entry_hangs_below_its_text() -> None:
    paper = Page(40)
    paper.entry("one two three four five six seven eight nine", ("NC 4.1", 7), then="-> the rest")
    assert str(paper).splitlines() == [
        "  NC 4.1  one two three four five six",
        "          seven eight nine",
        "          -> the rest",
    ]


def test_the_output_lists_open_settings_and_what_depends_on_them() -> None:
    """P3 1.1.6: reading 3."""
    output = run("p3").output
    assert "tie_on (reading 3, P3 1.1.6): What must be equal for the Tie wager to win? MUST BE CHOSEN, and is not" in (
        output
    )
    assert "10 to 1    Tie: both hands have the same ranking (P3 4.1) [if tie_on=ranking]" in output
    chosen = run("p3", "--reading", "tie_on=points").output
    assert "MUST BE CHOSEN\n" in chosen
    assert "    * points " in chosen
    assert "both hands have the same points (P3 4.1) [tie_on=points, tie_against_three_pictures=pays]" in chosen
    assert "tie_on=ranking" not in chosen


def test_a_reading_puts_other_rows_and_wagers_in_force() -> None:
    """NC 5.5.4 (reading 24), NC 1.17 (reading 13)."""
    tables = [
        as_json("NC", "--reading", f"wrong_count={option}")["irregularities"] for option in ("general", "specific")
    ]
    general, specific = ([(row["number"], row["clause"]) for row in table] for table in tables)
    assert set(general) - set(specific) == {("I08a", "NC 5.5.4"), ("I09", "NC 5.5.4")}
    either = as_json("NC", "--reading", "three_pictures_of=either")["wagers"]
    assert [w["looks"] for w in either if w["wager"] == "three_pictures"] == ["both"]


def test_the_conditions_of_a_row_are_put_in_words() -> None:
    """NC 5.5.4, 5.7 and 5.10: each of these facts, when it is true and when it is not."""
    rows = as_json("NC")["irregularities"]
    whens = {(row["number"], row["clause"], tuple(row["when"])) for row in rows}
    assert {
        ("I08a", "NC 5.5.4", ("the Dealer's hand", "no Player has handled cards")),
        ("I09", "NC 5.5.4", ("a Player's hand", "no Player has handled cards")),
        ("I07", "NC 5.7", ("cards were handled", "the intended order cannot be restored")),
        ("I07", "NC 5.7", ("cards were handled", "the intended order can be restored")),
        ("I14", "NC 5.17", ('before "No more bets"',)),
    } <= whens


def test_prices_are_as_documents_print_them() -> None:
    """NC 4.1: 1 to 2 on six points, 16 to 1 for three pictures; RTP 4.2: 188 to 1 for three kings."""
    wagers = run("NC", "--section", "wagers").output
    assert "    1 to 2     Player wins on 6 points: the box's hand ranks higher, with 6 points (NC 4.1)\n" in wagers
    assert "    16 to 1    Three Pictures (NC 4.1)" in wagers
    assert "    188 to 1   Three Kings (RTP 4.2)" in run("RTP", "--section", "wagers").output


def test_a_priced_hand_has_the_documents_own_name() -> None:
    """P3 4.2, P3 4.3, RTP 4.2, F3 O3."""
    named = {
        "P3": ("25 to 1    Three Mixed Pictures: ", "15 to 1    Any Picture Pair: ", "400 to 1   Perfect Tie: "),
        "RTP": ("1 to 1     Any King: ", "8 to 1     Any Picture Pair: ", "128 to 1   Three Queens ("),
        "F3": ("40 to 1    Straight Flush: ", "30 to 1    Three of a Kind: ", "16 to 1    3P: "),
    }
    for game_id, lines in named.items():
        wagers = run(game_id, "--section", "wagers").output
        for line in lines:
            assert f"    {line}" in wagers


@pytest.mark.parametrize("game_id", GAMES)
def test_every_price_has_a_name_and_its_fact(game_id: str) -> None:
    for wager in as_json(game_id)["wagers"]:
        for price in wager["prices"]:
            assert price["name"]
            assert price["pays_on"] in price["called"].lower() or price["called"].endswith(price["pays_on"])


def test_a_main_wager_is_headed_by_its_defining_clause() -> None:
    """NC 1.7 says what an Initial Bet is, NC 3.13.2 how it is lost."""
    headed = {"TP": "TP 2.2.1", "RTP": "RTP 3.4", "NC": "NC 1.7", "P3": "P3 2.2.1", "F3": "F3 PM4"}
    for game_id, clause in headed.items():
        mains = [wager for wager in as_json(game_id)["wagers"] if wager["main"]]
        assert {wager["clause"] for wager in mains} == {clause}
    wagers = run("NC", "--section", "wagers").output
    assert "  Initial Bet (main, NC 1.7): a main wager\n" in wagers
    assert "    loses      otherwise (NC 3.13.2)\n" in wagers


def test_p3_cites_the_clause_of_each_tie_that_returns_the_initial_wager() -> None:
    """P3 3.11.1: three pictures on both sides; P3 3.13.2: the same three ranks; P3 3.13.1: any other equal ranking."""
    wagers = run("P3", "--section", "wagers").output
    assert (
        "    returned   both hands have the same three ranks (P3 3.13.2)\n"
        "    returned   three pictures in both hands (P3 3.11.1)\n"
        "    returned   both hands have the same ranking (P3 3.13.1)\n"
    ) in wagers


def test_rtp_viewing_a_hand_cites_its_clauses() -> None:
    """RTP 3.10 says which of several Players looks, RTP 3.11 that he is seated."""
    round_ = run("RTP", "--section", "round").output
    assert "  4.  RTP 3.13      one seated Player a position looks at its cards (RTP 3.10, 3.11)\n" in round_


def test_f3_pm5_the_first_card_says_where_the_deal_begins() -> None:
    found = as_json("F3")["first_card"]
    assert found["starts"]["B1"] == ["2", "6", "10"]
    assert found["order"] == ["D", "B1", "B2", "B3"]
    assert as_json("TP")["first_card"] is None
    assert "A 5 9 K  the Banker first" in run("F3", "--section", "dealing").output


def test_a_case_without_a_row_is_reported() -> None:
    """RTP 6.1 and NC 5.17 refer the case; TP does not say to whom it goes."""
    assert "If no row fits, a shift manager or above decides (RTP 6.1)." in run("RTP").output
    assert "If no row fits, a shift manager or above decides, for the document names no one." in run("TP").output
    assert "a power failure" in as_json("TP")["unprovided"]
    assert "a power failure" not in as_json("RTP")["unprovided"]


def test_kinds_without_a_document_row_for_the_round_are_listed() -> None:
    """NC 5.6 covers every irregularity that is found a round later; house procedure covers a card that fell during
    shuffling.
    """
    kinds = (Kind.CARD_IN_SHUFFLING, Kind.WRONG_VIEWER, Kind.PLAYER_EXPOSED)
    assert as_json("NC")["unprovided"] == [str(KINDS[kind]) for kind in kinds]
    assert str(KINDS[Kind.CARD_IN_SHUFFLING]) in as_json("RTP")["unprovided"]
    assert str(KINDS[Kind.CARD_IN_SHUFFLING]) not in as_json("F3")["unprovided"]
    assert f"The document has no row for these in a round: {KINDS[Kind.CARD_IN_SHUFFLING]}, " in run("NC").output


def test_rtp_3_9_and_5_7_limits_and_options_name_their_wagers() -> None:
    """RTP 3.9, RTP 3.9.1: a playing area is one kind's; RTP 5.5 returns the wagers of the removed hand itself."""
    output = run("RTP").output
    assert "at most 3 wagers of a kind on a box" in output
    assert "a pit manager may allow fewer wagers of a kind on a box" in output
    removed = [row for row in as_json("RTP")["irregularities"] if row["disposition"] == "remove_hand"]
    assert removed
    for row in removed:
        listed = {option["choice"]: option["because"] for option in row["options"]}
        assert listed["continue"] == "a wager on another hand stays"
        assert listed["withdraw"].startswith("another dissatisfied Player")


def used(setting_id: str) -> bool:
    """Return whether the game's rows, wagers or prices depend on it, or the rest of the program uses it."""
    unders = (under for known in GAMES.values() for _, under in conditions_of(known))
    return any(setting_id == name for under in unders for name, _ in under) or setting_id in asked_in("controller")


@cache
def asked_in(folder: str) -> set[str]:
    """Return every whole string in those modules, except this list and the games' data."""
    found: set[str] = set()
    for path in (ROOT / folder).rglob("*.py"):
        if "games" not in path.relative_to(ROOT).parts and path.name != "vocabulary.py":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found |= {
                node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
    return found


def test_every_setting_is_asked_somewhere() -> None:
    first_cards = {known.first_card.setting for known in GAMES.values() if known.first_card is not None}
    settings = {setting.id for known in GAMES.values() for setting in known.settings}
    assert {one for one in settings - first_cards if not used(one)} == set()


def test_an_unknown_setting_in_the_data_ends_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    known = game("TP")
    wrong = structs.replace(known.wagers[1], under=(("tie_onn", "points"),))
    monkeypatch.setitem(GAMES, "TP", structs.replace(known, wagers=(known.wagers[0], wrong)))
    done = run("TP")
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit)
    assert "wager tie (TP 3.13.1) depends on tie_onn=points, but TP has no setting 'tie_onn'; it has " in done.output


def test_rows_that_differ_only_in_their_kind_share_a_line() -> None:
    """NC 5.6 covers every irregularity of an earlier round."""
    lines = [line for line in run("NC", "--section", "irregularities").output.splitlines() if " I24 " in line]
    assert len(lines) == 1
    assert "whatever it was; noticed when the next round had begun" in lines[0]
    assert sum(row["number"] == "I24" for row in as_json("NC")["irregularities"]) == len(Kind)


@EVERY_GAME
def test_rows_have_the_numbers_and_the_order_that_the_table_uses(game_id: str) -> None:
    """Whatever the facts are, the table applies the first row under the number that it shows."""
    for law in every_law(game(game_id)):
        rows = whole_reading(law).irregularities
        numbers = [row.number for row in rows]
        assert numbers == sorted(numbers, key=lambda number: (number == "-", number))
        for kind in Kind:
            of_kind = [(row, {*row.when, row.noticed}) for row in rows if row.kind == kind.value]
            for facts in every_fact(law, kind):
                applied = find_row(law, kind, facts).row
                words = {*map(str, facts_in_words(facts, law.game.words)), *PHRASES[facts.noticed]}
                fits = (row for row, when in of_kind if row.number == applied.id and when <= words)
                shown = next(((row.clause, row.because) for row in fits), None)
                assert shown == ((applied.clause, str(applied.because)) if applied in in_force(law, applied) else None)


@EVERY_GAME
def test_a_row_states_its_deadline_and_repeats_nothing(game_id: str) -> None:
    lines = [line for line in run(game_id, "--section", "irregularities").output.splitlines() if " -> " in line]
    assert lines
    for line in lines:
        assert "; noticed " in line
        words = re.findall(r"[\w']+", re.sub(r"(\. Bettors may|; if permitted by) .*?\)(?= \[)", "", line))
        runs = list(zip(words, words[1:], words[2:], words[3:], strict=False))
        assert len(set(runs)) == len(runs), line


@pytest.mark.parametrize("role", ["shift_manager", "dealer"])
def test_a_withdrawal_that_needs_permission_is_not_a_free_choice(role: str) -> None:
    reading = f"withdrawal_permitted_by={role}"
    output = run("RTP", "--section", "irregularities", "--reading", reading).output
    permitted = [line for line in output.splitlines() if "(RTP 5.7: " in line]
    assert permitted
    for line in permitted:
        assert f"; if permitted by the {role.replace('_', ' ')} or above, a bettor may withdraw (RTP 5.7: " in line
        assert "may continue" not in line
    assert "Bettors may continue (RTP 5.13.1: " in output  # it is their right


def test_a_count_that_finds_the_deck_whole_cites_no_clause() -> None:
    """NC 5.5.2, TP 5.2, P3 5.2, RTP 5.1.1 and 5.9 cover only a wrong count."""
    for game_id in ("TP", "RTP", "NC", "P3"):
        right = [
            row for row in as_json(game_id)["irregularities"] if "a count by hand gives the right number" in row["when"]
        ]
        assert {(row["number"], row["clause"], row["authority"]) for row in right} == {
            ("I02", "", "house procedure"),
            ("I04", "", "house procedure"),
        }


PHRASES = {moment: {str(said) for when, said in NOTICED.items() if moment in when} for moment in Noticed}


def every_fact(law: Law, kind: Kind) -> Iterator[Facts]:
    """Yield every possible answer to what rows and numbers of the kind ask."""
    whens = [row.when for row in law.rows if row.kind is kind] + [when for _, of, when in NUMBERS if of is kind]
    names = sorted({name for when in whens for name in STATED if getattr(when, name) is not None})
    for noticed, answers in product(Noticed, product((True, False), repeat=len(names))):
        facts = Facts(**dict(zip(names, answers, strict=True)), noticed=noticed)
        viewed_unhandled = facts.viewed and facts.handled is False
        if not viewed_unhandled and not (facts.cannot_tell and facts.established):
            yield facts


def in_force(law: Law, row: Row) -> list[Row]:
    """Return the law's rows under the number of that row."""
    return [structs.replace(one, id=row.id) for one in law.rows]


def test_sections_are_those_asked_for_in_the_page_s_order() -> None:
    output = run("tp", "--section", "settings", "--section", "wagers").output
    assert [line.split(":")[0] for line in output.splitlines() if line and not line.startswith(" ")] == [
        "Wagers",
        "Settings",
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["blackjack"], "GAME 'blackjack' is not a game of this program."),
        (
            ["NC", "--reading", "second_error=never"],
            "second_error is asked, offered or accepted (NC 5.7), not 'never'",
        ),
        (["NC", "--reading", "=x"], "NC has no setting ''"),
        (["NC", "--section", "poetry"], "'poetry' is not one of"),
        (["NC", "--section", "x" * 100_000], f"'{'x' * 60}...' is not one of"),
    ],
)
def test_refuses_with_a_sentence(arguments: list[str], sentence: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert sentence in done.output
    assert isinstance(done.exception, SystemExit)


@EVERY_GAME
def test_the_process_prints_plain_text_to_a_pipe(tmp_path: Path, game_id: str) -> None:
    done = cardshoe("rules", game_id.lower(), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, run(game_id).output, "")
    assert done.stdout.isascii()
