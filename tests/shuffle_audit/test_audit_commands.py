"""The output and exit codes of `cardshoe audit run` and `plan`. The same seed gives the same output."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from io import BufferedReader
from pathlib import Path
from random import Random
from typing import Any

import click
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result

from controller.commands.main import SUMMARIES as OF_ALL
from controller.commands.man import contexts, page_of
from controller.commands.text import Page
from shuffle_audit.commands import making
from shuffle_audit.commands.command import FAILED, FOUND_IN, SUMMARIES, audit
from shuffle_audit.commands.figures import of_stake, percent, small, times, units
from shuffle_audit.commands.making import report_of
from shuffle_audit.commands.parts import write
from shuffle_audit.commands.plan import MOST_DRAWN, Plan
from shuffle_audit.commands.report import AuditReport, KindFound, MachineFound, ReadFile
from shuffle_audit.commands.run import Digests
from shuffle_audit.evidence import Suspect
from shuffle_audit.kinds import MACHINE_KINDS, UNSEEN
from shuffle_audit.order_files import write_decks
from shuffle_audit.orders import DeckOrders
from shuffle_audit.verdict import AuditVerdict, Gathered, ProcedureFinding
from tests.architecture.sources import ROOT
from tests.shuffle_audit import waiting
from tests.shuffle_audit.decks import NEW_DECK, first_seen, from_random_orders, shuffled, without_the_order_in
from tests.shuffle_audit.document import (
    EXAMPLE,
    OBJECTS,
    PAGE,
    codes,
    fields_of,
    first_column,
    make_files,
    other_codes,
    printed,
    table_of_fields,
)

DOCUMENT = PAGE.read_text(encoding="utf-8")
GOLDEN = """\
BAD: So it is.
  What to do: take the shuffler out of service, keep the decks and the files, and call its technician. A \
person decides what follows.
  about: machine 7
  about: bench 2, 2026-11-20
  examined: 1,200 decks of 52 cards, from a.csv, b.jsonl
  left out: 1 deck without the order in
  level: 0.01, the chance of a false alarm over all procedures and the evidence
  made by: cardshoe 1.0 with numpy 2.9; everything simulated with seed 3

Effect
  A player who knows the order in and sees each card after his guess is right 9.30 times a deck; where every order is \
equally likely, 4.54 times.

Counted over all decks (p: adjusted for all procedures; 0.009 raises an alarm)
  p is the chance that a shuffle which makes every order equally likely looks as bad to this procedure, or worse, \
adjusted for the number of procedures. The procedures together have nine tenths of the level of 0.01; the \
evidence has the rest.
        procedure counted expected        p                      what
  ALARM valleys   12,345  19,999.9 ± 53.1 below one in a billion Cards that lie low (A 1999)
  -     new       0.2     0.3      ± 0.1  0.71                   A number (B 2000)

Evidence, deck after deck
  A bettor against the shuffle who begins with 1 unit had more than a billion units at best, after deck 1,100 of \
1,200; 1,000 raise an alarm.
  Of the suspected machines, these decks look most like a machine.

Which shuffle it looks like (likelihood ratio to a uniform one)
  Of these models the one that fits best is a machine; 1 more fits almost as well (log10 less than 1 below): all decks \
together are more than a billion times as likely under it as where every order is equally likely. A shuffle that \
is not in the table may fit better still.
  Some of these decks are impossible under c.
  model log10 these decks are                     a deck after
  a     12.3  more than a billion times as likely a machine
  b     11.5  more than a billion times as likely another
  u     0.0   as likely                           a good one

What it costs
  The games are dealt from decks of 52 cards, and these have another number.

What an audit can find (simulated, seed 3)
  With 1,000 decks alone, a machine would have been found in 99 % of audits (99 of 100 simulated ones).

Kinds of machines
  How many whole decks of 52 cards, with the order in, find each kind of machine in 95 % of audits at a chance of a \
false alarm of 0.01, and how surely 1,200 decks find it. A machine of another kind, or with a smaller fault, may be \
found less often.
  It is not known how surely a kind is found if these are not such decks, the level is lower, more decks were examined \
than simulated, or the kind shows only in faces and the names are not those of the 52 cards.
  decks    found here   kind
  9        95 % or more a kind
  over 512 not known    another kind

What this audit cannot see
{unseen}

Files
  decks SHA-256 file
  1,100 0a      a.csv
  101   0b      b.jsonl"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def few_audits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the number of simulated audits to save time. Other tests check what is printed about them."""
    monkeypatch.setattr(making, "AUDITS", (20, 50))


def call(*arguments: str) -> Result:
    return CliRunner().invoke(audit, arguments, prog_name="cardshoe audit")


def read(done: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_report_as_text() -> None:
    verdict = AuditVerdict(
        "bad", "", "So it is.", 0.01, 1e-9, 1_200, 1, 52, 9.3, 4.538,
        (
            ProcedureFinding("valleys", "Cards that lie low", "A 1999", 12_345, 19_999.9, 53.1, 0.0, 0.0, True),
            ProcedureFinding("new", "A number", "B 2000", 0.25, 0.3, 0.1, 0.6, 0.71, False),
        ),
        Gathered(12.3, 1_100, 1_000.0, True, "a machine"),
    )  # fmt: skip
    paper = Page(None)
    suspects = (Suspect("a", "a machine", 12.3), Suspect("b", "another", 11.5), Suspect("u", "a good one", 0.0),
                Suspect("c", "a third", None))  # fmt: skip
    files = (ReadFile("a.csv", 1_100, "0a"), ReadFile("b.jsonl", 101, "0b"))
    power = (MachineFound("m", "a machine", 1_000, 52, 99, 100, 0.99),)
    about = ("machine 7", "bench 2, 2026-11-20")
    kinds = (
        KindFound("b", "another kind", (90, None, None), 512, None),
        KindFound("a", "a kind", (1, 5, 9), 256, 0.95),
    )
    write(paper, AuditReport(verdict, power, files, 3, "1.0", "2.9", about, suspects, no_money="other-cards",
                             kinds=kinds))  # fmt: skip
    assert click.unstyle(str(paper)) == GOLDEN.format(unseen="\n".join(f"  {one}" for one in UNSEEN))


def test_a_bad_machine() -> None:
    write_decks(Path("bad.csv"), shuffled("shelves:10", 20))
    done = call("run", "bad.csv")
    assert (done.exit_code, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith(
        "BAD: A shuffle that makes every order equally likely gives decks that look this bad with"
    )
    assert lines[2] == "  examined: 20 decks of 52 cards, from bad.csv"
    assert re.search(
        r"^  ALARM valleys +173 +333.3 +± 6.9 +below one in a billion +Cards between two", done.stdout, re.M
    )
    assert "  Of the suspected machines, these decks look most like a shelf shuffler with 10 shelves." in lines
    found = "would have been found in"
    assert (
        f"  With 20 decks, a shelf shuffler with 10 shelves {found} 100 % of audits (1,000 of 1,000 simulated ones)."
        in lines
    )
    assert sum(found in line for line in lines) == 3


@pytest.mark.usefixtures("few_audits")
def test_a_good_one_from_two_files() -> None:
    decks = shuffled("uniform", 20)
    write_decks(Path("a.csv"), decks[:5])
    write_decks(Path("b.jsonl"), [*decks[5:], *without_the_order_in(decks[:2])])
    done = call("run", "a.csv", "b.jsonl")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("NOTHING FOUND: Nothing raises an alarm; the chance of a false one is 0.01 over all")
    assert lines[2] == "  examined: 20 decks of 52 cards, from a.csv, b.jsonl"
    assert lines[3].startswith(
        "  would have been found: a shelf shuffler with 10 shelves: 100 %; a shelf shuffler with 20"
    )
    assert lines[4].startswith(
        "  would be found in 95 % of audits: a cut and nothing else; three overhand shuffles; ten shelves;"
    )
    assert lines[5].startswith("  would be found less surely: fifty shelves; seven riffles; ")
    assert lines[6:8] == [
        "  examined by cards: 22 decks, which needs no order in",
        "  left out: 2 decks without the order in: b.jsonl, line 16; b.jsonl, line 17",
    ]
    assert "ALARM" not in done.stdout


@pytest.mark.usefixtures("few_audits")
def test_a_deck_that_goes_in_as_the_last_one_came_out() -> None:
    first, second, third = shuffled("uniform", 3)
    write_decks(
        Path("a.jsonl"), [first, DeckOrders(first.after, second.after), third, *without_the_order_in([first] * 7)]
    )
    done = call("run", "a.jsonl")
    assert "  order in: in 1 deck as the previous deck came out\n" in done.stdout
    at = "; ".join(f"a.jsonl, line {line}" for line in range(4, 9))
    assert f"  left out: 7 decks without the order in: {at}; and 2 more\n" in done.stdout
    report = read(call("run", "a.jsonl", "--json"))
    assert (report["continued"], report["files"][0]["not_known"]) == (1, [4, 5, 6, 7, 8, 9, 10])


@pytest.mark.usefixtures("few_audits")
@pytest.mark.parametrize(("decks", "cards"), [(1, 6), (1, 52), (4, 52), (199, 3), (200, 3), (201, 3)])
def test_a_test_that_would_miss_a_compared_machine_allows_no_verdict(decks: int, cards: int) -> None:
    write_decks(Path("small.csv"), shuffled("uniform", decks, cards=cards))
    done = call("run", "small.csv")
    assert done.exit_code == 2
    some = "One deck allows" if decks == 1 else f"{decks} decks allow"
    assert re.match(
        rf"NO VERDICT: {some} no verdict: nothing was found, but .* would have been found "
        r"in only [\d.]+ % of audits\.", done.stdout,
    )  # fmt: skip


def test_more_decks_are_simulated_where_few_would_miss_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "AUDITS", (20, 50))
    monkeypatch.setattr(making, "MOST_DECKS", 4)
    monkeypatch.setattr(making, "MOST_FOR_A_HALF", 64)
    write_decks(Path("decks.csv"), shuffled("uniform", 40))
    report = read(call("run", "decks.csv", "--json"))
    assert report["result"]["verdict"] == "nothing found"
    seldom = report["power"][-1]
    assert (seldom["model"], seldom["share"] >= 0.5) == ("riffle:7", True)
    assert 4 < seldom["decks"] <= 32
    monkeypatch.setattr(making, "MOST_FOR_A_HALF", 5)
    done = call("run", "decks.csv")
    assert done.exit_code == 2
    assert re.match(
        r"NO VERDICT: .* 7 riffles would have been found in only \d+ % of audits, by 5 decks\.", done.stdout
    )


@pytest.mark.usefixtures("few_audits")
def test_the_power_is_stated_for_whole_decks_only() -> None:
    write_decks(Path("mixed.csv"), [*shuffled("uniform", 20), *first_seen(shuffled("uniform", 1, seed=2), 6)])
    report = read(call("run", "mixed.csv", "--json"))
    assert [(one["decks"], one["known"]) for one in report["power"]] == [(20, 52)] * 3
    assert report["power"][1]["share"] > 0.9
    write_decks(Path("part.csv"), [*first_seen(shuffled("uniform", 99), 30), *first_seen(shuffled("uniform", 1, 2), 6)])
    done = call("run", "part.csv")
    assert done.exit_code == 0
    assert "  would have been found: a shelf shuffler with 10 shelves: 100 % by 99 decks alone; " in done.stdout


def here(decks: list[DeckOrders]) -> dict[str, float | None]:
    report, _ = report_of(decks, (), 0.01, 1, with_money=False)
    return {one.kind: one.here for one in report.kinds}


@pytest.mark.usefixtures("few_audits")
def test_no_kind_is_promised_or_denied_beyond_its_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 1,000 decks, more than were simulated, many find a machine that 256 decks do not. Without faces, none of the
    machines that show only in faces is promised.
    """
    monkeypatch.setattr(making, "MOST_DECKS", 20)
    decks = shuffled("uniform", 1_000)
    many, few = here(decks), here(decks[:100])
    open_kinds = {"box-sometimes", "swapped", "wash:30", "shelves:100", "shelves:10x2"}
    assert {kind for kind, found in many.items() if found is None} == open_kinds
    assert {found for kind, found in many.items() if kind not in open_kinds} == {0.95}
    assert {kind for kind, found in few.items() if found == 0.0} == {*open_kinds, "good-at-first"}
    name = {card: f"c{at}" for at, card in enumerate(NEW_DECK)}
    renamed = [DeckOrders(*(tuple(map(name.__getitem__, side)) for side in (one.before, one.after)))
               for one in decks[:100]]  # fmt: skip
    of_faces = {one.id for one in MACHINE_KINDS if one.needs_faces}
    assert {"picture-first", "box-without-pictures", "rank-after-rank"} < of_faces
    assert here(renamed) == {kind: None if kind in of_faces else found for kind, found in few.items()}
    write_decks(Path("renamed.csv"), renamed)
    promised = re.search("^  would be found in 95 % of audits: (.*)$", call("run", "renamed.csv").stdout, re.M)
    assert promised is not None
    assert not {one.words for one in MACHINE_KINDS if one.needs_faces} & set(promised[1].split("; "))


@pytest.mark.usefixtures("few_audits")
def test_a_person_states_what_was_examined() -> None:
    write_decks(Path("decks.csv"), shuffled("uniform", 4))
    report = read(call("run", "decks.csv", "--json", "--about", "machine 7", "--about", "2026-11-20"))
    assert report["about"] == ["machine 7", "2026-11-20"]
    assert report["numpy"] == np.__version__


def test_large_decks_with_few_known_cards_can_be_planned() -> None:
    asked = ("plan", "shelves:10", "--cards", "416", "--audits", "2000", "--at-most", "1")
    done = call(*asked)
    assert (done.exit_code, done.stderr.splitlines()[0]) == (
        2, "cardshoe: 2,000 audits of decks of 416 cards are too many: the limit is 1,155.",
    )  # fmt: skip
    assert call(*asked, "--known", "24").exit_code == 0


def test_a_pipe_is_not_a_file() -> None:
    os.mkfifo("decks.jsonl")
    done = call("run", "decks.jsonl")
    assert (done.exit_code, done.stderr.splitlines()[0]) == (2, "cardshoe: decks.jsonl is not a file.")


@pytest.mark.usefixtures("few_audits")
def test_the_level_decides() -> None:
    write_decks(Path("decks.csv"), shuffled("shelves:30", 3))
    chance = read(call("run", "decks.csv", "--json"))["result"]["chance"]
    assert 1e-9 < chance < 0.4
    assert call("run", "decks.csv", "--level", str(chance * 1.01)).exit_code == 1
    done = call("run", "decks.csv", "--level", str(chance * 0.99))
    assert (done.exit_code, done.stdout.splitlines()[0].partition(" no verdict")[0]) == (2, "NO VERDICT: 3 decks allow")


def test_an_impossible_verdict_does_not_look_like_a_pass() -> None:
    write_decks(Path("unknown.csv"), without_the_order_in(from_random_orders("cut", 30)))
    done = call("run", "unknown.csv")
    assert done.exit_code == 2
    assert done.stdout.startswith("NO VERDICT: The order in is not known for any of the 30 decks. If the order in was")
    assert "would have been found" not in done.stdout
    report = read(call("run", "unknown.csv", "--json"))
    assert (report["result"]["code"], report["power"]) == ("order-in-not-known", [])
    write_decks(Path("few.csv"), [DeckOrders(NEW_DECK[:3], NEW_DECK[:3])])
    done = call("run", "few.csv")
    assert (done.exit_code, done.stdout[:33]) == (2, "NO VERDICT: One deck is too few: ")


def test_files_that_cannot_be_used() -> None:
    Path("a.csv").write_text("before,after\nAS KS,AS AS\n")
    Path("b.jsonl").write_text("{\n")
    done = call("run", "a.csv", "b.jsonl", "gone.csv")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "cardshoe: a.csv, line 2: In the order out there is more than one of AS. (card-twice)\n"
        "b.jsonl, line 1: This is not JSON: input data was truncated. (not-json)\n"
        "gone.csv: The file cannot be read: No such file or directory. (file-unreadable)\n"
        "  Nothing was concluded. Correct that, or remove those decks.\n"
    )


def test_an_unexpected_error_is_not_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    write_decks(Path("a.csv"), shuffled("uniform", 2))
    monkeypatch.setattr(making, "COMPARED", ("no-such-model",))
    done = call("run", "a.csv")
    assert (done.exit_code, done.stdout) == (FAILED, "")
    assert "Traceback" in done.stderr
    assert "\ncardshoe: An unexpected error occurred: ModelNameError: " in done.stderr
    assert done.stderr.endswith("\n  Nothing was concluded. Report this error with the lines above.\n")


@pytest.mark.usefixtures("few_audits")
def test_eight_decks_in_one_are_examined_and_more_are_refused() -> None:
    cards = tuple(f"c{n}" for n in range(417))
    random = Random(3)
    write_decks(Path("large.jsonl"), [DeckOrders(cards[1:], tuple(random.sample(cards[1:], 416))) for _ in range(2)])
    assert call("run", "large.jsonl").exit_code == 0
    write_decks(Path("larger.jsonl"), [DeckOrders(cards, cards)])
    done = call("run", "larger.jsonl")
    assert done.exit_code == 2
    assert "There are 417 cards in 'after': a deck has at most 416. (too-many-cards)" in done.stderr


def test_a_deck_counts_once() -> None:
    write_decks(Path("a.csv"), shuffled("cut", 2))
    done = call("run", "a.csv", "./a.csv")
    assert done.exit_code == 2
    assert done.stderr == "cardshoe: a.csv is named twice.\n  Each deck counts once.\n"
    write_decks(Path("b.csv"), shuffled("cut", 2))
    done = call("run", "a.csv", "b.csv")
    assert done.exit_code == 2
    assert done.stderr == (
        "cardshoe: b.csv has the same bytes as a.csv.\n  Each deck counts once. Name only one of them.\n"
    )


def test_each_file_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    write_decks(Path("a.csv"), shuffled("uniform", 3))
    opened: list[str] = []
    whole = Digests.opened

    def noted(digests: Digests, path: Path) -> BufferedReader:
        opened.append(path.name)
        return whole(digests, path)

    monkeypatch.setattr(Digests, "opened", noted)
    assert call("run", "a.csv", "--level", "0.5").exit_code in (0, 1)
    assert opened.count("a.csv") == 1


@pytest.mark.parametrize("level", ["0", "0.6", "nan", "much"])
def test_an_invalid_level(level: str) -> None:
    for arguments in (("run", "a.csv", "--level", level), ("plan", "cut", "--level", level)):
        done = call(*arguments)
        assert done.exit_code == 2
        assert "Invalid value for '--level'" in done.stderr


@pytest.mark.usefixtures("few_audits")
def test_the_same_seed_prints_the_same_to_the_byte() -> None:
    write_decks(Path("decks.jsonl"), shuffled("uniform", 7))
    for command, drawn in ((("run", "decks.jsonl"), "power"), (("plan", "riffle:6", "--audits", "100"), "cells")):
        five, six = (read(call(*command, "--json", "--seed", seed)) for seed in ("5", "6"))
        assert (five["seed"], six["seed"]) == (5, 6)
        assert five[drawn] != six[drawn]
        for form in ((), ("--json",)):
            first = call(*command, *form, "--seed", "5").stdout_bytes
            assert first == call(*command, *form, "--seed", "5").stdout_bytes


def test_many_decks_are_not_all_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "MOST_DECKS", 8)
    monkeypatch.setattr(making, "DRAWN", 1_600)
    write_decks(Path("decks.csv"), shuffled("uniform", 9))
    report = read(call("run", "decks.csv", "--json"))
    assert [(one["model"], one["decks"], one["audits"]) for one in report["power"]] == [
        ("shelves:10", 8, 200), ("shelves:20", 8, 200), ("riffle:7", 9, 100),
    ]  # fmt: skip
    printed = call("run", "decks.csv").stdout
    assert "  With 8 decks alone, a shelf shuffler with 20 shelves would have been found in" in printed
    assert "  With 9 decks, 7 riffles would have been found in" in printed


def test_a_plan() -> None:
    asked = ("plan", "shelves:20", "--level", "0.01", "--level", "0.05", "--power", "0.5", "--power", "0.95",
             "--audits", "400", "--seed", "2")  # fmt: skip
    plan = msgspec.json.decode(call(*asked, "--json").stdout, type=Plan)
    assert (plan.model, plan.words, plan.cards, plan.audits, plan.seed, plan.at_most) == (
        "shelves:20", "a shelf shuffler with 20 shelves", 52, 400, 2, 512,
    )  # fmt: skip
    assert [(cell.level, cell.power) for cell in plan.cells] == [(0.05, 0.5), (0.05, 0.95), (0.01, 0.5), (0.01, 0.95)]
    decks = [cell.decks for cell in plan.cells]
    assert [1 <= (number or 0) <= 8 for number in decks] == [True] * 4
    assert all(cell.share is not None and cell.share >= cell.power for cell in plan.cells)
    done = call(*asked)
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        "Decks of 52 cards, order in known, that find a shelf shuffler with 20 shelves (shelves:20)",
        "  false alarms 50 % 95 %",
    ]
    assert [line.split() for line in lines[2:4]] == [
        ["0.05", str(decks[0]), str(decks[1])],
        ["0.01", str(decks[2]), str(decks[3])],
    ]
    assert lines[4].startswith("By 400 simulated audits, seed 2; the power at each number is known to ± ")


def test_a_plan_that_ends_before_it_finds() -> None:
    asked = ("plan", "riffle:8", "--at-most", "3", "--audits", "100", "--level", "0.001", "--power", "0.9")
    assert call(*asked).stdout.splitlines()[1:] == [
        "  false alarms 90 %",
        "  0.001        over 3",
        "By 100 simulated audits, seed 1.",
    ]
    assert read(call(*asked, "--json"))["cells"] == [
        {"level": 0.001, "power": 0.9, "decks": None, "share": None, "error": None}
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("riffel:7",), "'riffel:7' names no model: there is no model 'riffel'. The forms are uniform, riffle:7, "),
        (("favoured:0.2:1:52", "--cards", "51"), "the place is a whole number from 1 to 51, not '52'"),
        (("uniform",), "A uniform shuffle is a good one: no number of decks finds it."),
        (("cut", "--at-most", "10000"), f"1,000 audits of 10,000 decks are too many: at most {MOST_DRAWN:,} decks"),
    ],
)
def test_an_impossible_plan(arguments: tuple[str, ...], sentence: str) -> None:
    done = call("plan", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert sentence in done.stderr


def test_without_numpy_a_sentence_names_the_extra() -> None:
    """The help works without numpy; a command names the package to install."""
    program = "import sys; sys.modules['numpy'] = None; from shuffle_audit.commands.command import audit; audit()"
    for arguments in (["run", "decks.csv"], ["plan", "cut"], ["monitor", "decks.jsonl"]):
        done = subprocess.run([sys.executable, "-c", program, *arguments], cwd=ROOT, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (FAILED, "")
        assert done.stderr.startswith("cardshoe: numpy cannot be used: ")
        assert "\n  Install its packages: `" in done.stderr
        assert done.stderr.endswith("/requirements-report.txt`.\n")
        helped = subprocess.run([sys.executable, "-c", program, arguments[0], "--help"], cwd=ROOT, capture_output=True)
        assert helped.returncode == 0


def test_the_commands_have_their_summaries_and_man_pages() -> None:
    assert list(FOUND_IN) == list(SUMMARIES)
    assert "audit" in OF_ALL
    pages = {context.command_path: page_of(context) for context in contexts(audit, None, "cardshoe audit")}
    assert list(pages) == ["cardshoe audit", "cardshoe audit run", "cardshoe audit plan", "cardshoe audit monitor"]
    assert "--at-most" in pages["cardshoe audit plan"].replace("\\", "")


def test_numbers_for_people() -> None:
    assert (small(0.0123), small(2e-8), small(0.0)) == ("0.012", "below one in a million", "below one in a billion")
    assert (units(0.0), units(2.5), units(400.3)) == ("1.00 units", "316.23 units", "more than a billion units")
    assert units(6.5) == "3,162,278 units"
    assert (times(0.02), times(-0.1)) == ("as likely", "1.3 times less likely")
    assert (times(2.0), times(0.0)) == ("100 times as likely", "as likely")
    assert times(-400.3) == "more than a billion times less likely"
    assert (of_stake(-0.0312), of_stake(0.5)) == ("-3.12 %", "+50.00 %")
    assert (percent(1.0), percent(0.9996), percent(0.995), percent(0.0)) == ("100 %", "99.9 %", "99.5 %", "0 %")


@pytest.mark.parametrize(
    ("written", "expected"), EXAMPLE.findall(DOCUMENT), ids=[written for written, _ in EXAMPLE.findall(DOCUMENT)]
)
def test_an_example_of_the_page_prints_what_it_shows(written: str, expected: str) -> None:
    """`python -m tests.shuffle_audit.document` writes them again."""
    make_files(Path.cwd())
    assert printed(written) == expected


def test_the_table_of_the_monitor_is_the_measured_one() -> None:
    assert waiting.table() in DOCUMENT


def test_the_fields_on_the_page_are_all_those_of_the_json() -> None:
    """`python -m tests.shuffle_audit.document` writes the table. Those that are explained are among them."""
    assert table_of_fields() in DOCUMENT
    every = {field for _, fields in fields_of("run", AuditReport) for field in fields}
    explained = {field.rpartition(".")[2] for field in first_column(DOCUMENT, "field")}
    assert len(explained) > 10
    assert explained <= every


@pytest.mark.usefixtures("few_audits")
@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("run", "machine-7.csv --money"),
        ("run", "unknown.csv"),
        ("plan", "riffle:4 --audits 100"),
        ("monitor", "table-7.jsonl --once"),
    ],
)
def test_the_fields_of_each_command_are_its_keys(command: str, arguments: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "ROUNDS", 200)
    make_files(Path.cwd())
    keys = set(re.findall(r'"(\w+)":', printed(f"{command} {arguments} --json")))
    of = [OBJECTS[command], *([OBJECTS["alarm"]] if command == "monitor" else [])]
    assert keys
    assert keys <= {field for one in of for _, fields in fields_of(command, one) for field in fields}


def test_the_page_names_every_code_of_files_and_no_other() -> None:
    assert len(first_column(DOCUMENT, "code")) > 5
    assert first_column(DOCUMENT, "code") <= codes()
    assert other_codes(DOCUMENT) in DOCUMENT
