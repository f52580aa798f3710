"""The parts of an audit's report: likelihoods, the regulators' test, hands, money, and the page with its plots."""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_mock
from click.testing import CliRunner, Result

from shuffle_audit import edges
from shuffle_audit.commands import making
from shuffle_audit.commands.command import FAILED, audit
from shuffle_audit.commands.making import report_of
from shuffle_audit.commands.parts import parts
from shuffle_audit.commands.report_page import FORMULAS
from shuffle_audit.commands.report_plots import (
    DRAWN_POINTS,
    _cells,
    _chance_of_deviation,
    _drawn_points,
    positions,
)
from shuffle_audit.edges import money, simulated
from shuffle_audit.evidence import SUSPECTED, ShuffleEvidence, Suspect, best_fit, suspects
from shuffle_audit.faces import NEW_DECK as FACES
from shuffle_audit.faces import faces_out
from shuffle_audit.games_dealt import deal_games
from shuffle_audit.models.named import model_named
from shuffle_audit.models.shelf import Shelves
from shuffle_audit.models.shuffle_model import UNIFORM
from shuffle_audit.order_files import write_decks
from shuffle_audit.orders import DeckOrders, Orders, orders_of_decks, unshuffled
from shuffle_audit.patterns import guessed, right_guesses
from shuffle_audit.procedures import PROCEDURES, SHARES
from shuffle_audit.regulators import chi_square
from shuffle_audit.sampled import Nulls, card_position, upper_tail
from tests.architecture.sources import ROOT
from tests.shuffle_audit.decks import first_seen, shuffled, without_the_order_in

pytestmark = pytest.mark.usefixtures("fonts")
SVG = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')


@pytest.fixture(autouse=True)
def _small_and_in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(making, "AUDITS", (20, 50))
    monkeypatch.setattr(making, "ROUNDS", 2_000)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(audit, ["run", *arguments], prog_name="cardshoe audit")


def texts_of(decks: list[DeckOrders], *, with_money: bool = False) -> dict[str, str]:
    """Return the sentences of each part."""
    report, _ = report_of(decks, (), 0.01, 1, with_money=with_money)
    return {part.id: " ".join(part.sentences) for part in parts(report)}


def test_likelihoods_are_those_of_the_models() -> None:
    orders = orders_of_decks(shuffled("shelves:10", 6))
    found = suspects(orders)
    assert {one.model for one in found} == {"uniform", *(model.name for model in SUSPECTED)}
    assert all(model_named(model.name).words == model.words for model in SUSPECTED)
    by_name = {one.model: one.log10 for one in found}
    ten = Shelves(10).log_ratios(orders).sum() / np.log(10)
    assert by_name["uniform"] == 0.0
    assert by_name["shelves:10"] == pytest.approx(ten)
    assert by_name["riffle:1"] is None
    assert found[0].model == "shelves:10"
    evidence = ShuffleEvidence()
    evidence.add(orders)
    assert evidence.likeliest.words == found[0].words
    figures = [-np.inf if one.log10 is None else one.log10 for one in found]
    assert figures == sorted(figures, reverse=True)


def test_a_model_fits_only_where_that_is_rare_by_chance() -> None:
    needed = float(np.log10(2 / (0.01 * 0.1)))
    least, others = Suspect("a", "a", needed + 1e-9), Suspect("u", "u", 0.0)
    assert best_fit((least, others), 0.01) is least
    assert best_fit((Suspect("a", "a", needed - 1e-9), others), 0.01) is None
    for seed in range(30):
        ranked = suspects(UNIFORM.shuffle(np.random.default_rng(seed), 10, 52))
        assert best_fit(ranked, 0.01) is None


def test_the_meaning_of_the_likelihoods_is_explained() -> None:
    good = texts_of(shuffled("uniform", 10))
    assert good["suspects"].startswith("There is no alarm, so this table says nothing about the shuffle")
    assert texts_of(shuffled("riffle:6", 20))["suspects"].startswith(
        "Of these models the one that fits best is 6 riffles"
    )
    of_another_kind = texts_of(shuffled("favoured:0.9:1:52", 40))
    assert of_another_kind["suspects"].startswith("None of these models fits all decks together clearly better")


def test_the_regulators_test_in_both_forms() -> None:
    orders = orders_of_decks(shuffled("favoured:0.3:1:52", 300))
    nulls = Nulls(np.random.default_rng(1), 199)
    found = chi_square("place in", orders, nulls, np.random.default_rng(2))
    same = card_position(orders, nulls)
    assert (found.statistic, found.freedom, found.each) == (same.statistic, 51**2, same.each)
    assert [(one.form, one.p, one.passes) for one in found.forms] == [
        ("naive", upper_tail(found.statistic, 51**2), (False, False)),
        ("exact", 1 / 200, (False, False)),
    ]
    text = texts_of(shuffled("uniform", 10))["regulators"]
    assert "The naive form is not meant for fewer than 260 decks." in text
    assert "The verdict above does not depend on these lines" in text


def test_one_deck_is_not_tested_by_chi_square() -> None:
    report, _ = report_of(shuffled("uniform", 1), (), 0.01, 1, with_money=False)
    assert [one.of for one in report.regulators] == ["card", "place in"]
    assert [(one.p, one.passes) for each in report.regulators for one in each.forms] == [(None, (None, None))] * 4
    part = next(part for part in parts(report) if part.id == "regulators")
    assert [row[2:5] for row in part.rows] == [("-", "not tested", "not tested")] * 4
    assert "card-position" not in {one.id for one in report.result.findings}


def test_a_procedure_with_too_few_samples_is_named() -> None:
    decks = shuffled("favoured:0.3:1:52", 300)
    for level, alarm in ((0.01, True), (0.005, False)):
        report, _ = report_of(decks, (), level, 1, with_money=False)
        found = {one.id: one for one in report.result.findings}
        said = next(" ".join(part.sentences) for part in parts(report) if part.id == "counted")
        assert (found["card-position"].alarm, found["card-position"].beyond) == (alarm, True)
        assert {one.id for one in report.result.findings if one.silent} == (
            set() if alarm else {"card-position", "shifts"}
        )
        named = "card-position and shifts cannot raise an alarm at this level with their 9,999 samples"
        assert (named in said) is not alarm
        assert ("Use a level of 0.0075 or more for them." in said) is not alarm
        assert "Beyond all 9,999 samples: card-position. p is an upper bound there." in said


def test_counts_of_whole_decks_only_are_marked() -> None:
    decks = shuffled("uniform", 9)
    report, _ = report_of([*decks[:3], *first_seen(decks[3:], 24)], (), 0.01, 1, with_money=False)
    counted = next(part for part in parts(report) if part.id == "counted")
    of_decks = {row[1]: row[counted.columns.index("decks")] for row in counted.rows}
    assert (of_decks["valleys"], of_decks["shifts"], of_decks["runs-of-suit"]) == ("9", "3", "3")
    report, _ = report_of(first_seen(decks, 24), (), 0.01, 1, with_money=False)
    by_cards = {"faces-at-places", "hands-dealt", "earlier-decks"}
    assert {one.id for one in report.result.findings} == {*(one.id for one in PROCEDURES), "repeated-orders", *by_cards}


def test_hands_of_all_games_are_compared_together() -> None:
    good = deal_games(faces_out(UNIFORM.shuffle(np.random.default_rng(4), 200, 52), FACES), 0.01)
    assert good.beyond == ()
    assert [(one.game, one.unit) for one in good.rarest] == [
        ("F3", "sets or singles"), ("NC", "sets"), ("NC", "singles"), ("P3", "sets or singles"),
        ("RTP", "sets"), ("RTP", "singles"), ("TP", "sets or singles"),
    ]  # fmt: skip
    bad = deal_games(faces_out(unshuffled(30, 52), FACES), 0.01)
    assert bad.compared == good.compared
    assert bad.beyond[0].p * bad.compared == pytest.approx(bad.beyond[0].adjusted)
    assert all(one.adjusted <= 0.01 for one in bad.beyond)
    six = next(one for one in bad.beyond if (one.game, one.place, one.what) == ("TP", "B1", "Six"))
    assert six.found == 30


@cache
def of_ten_shelves() -> edges.Money:
    return money(Shelves(10), np.random.SeedSequence(5), 2_000)


def test_the_cost_of_ten_shelves() -> None:
    found = of_ten_shelves()
    assert (found.model, found.rounds, found.compared) == ("shelves:10", 2_000, 360)
    assert 4 < found.limit < 4.5
    beyond = {(one.wager, one.start): one for one in found.beyond}
    assert beyond["pair_plus", "new deck"].change < -0.15
    assert all(abs(one.change) > found.limit * one.error for one in found.beyond)
    assert [abs(one.change) for one in found.beyond] == sorted((abs(one.change) for one in found.beyond), reverse=True)


def test_money_is_repeatable_and_a_uniform_shuffle_costs_nothing() -> None:
    advanced: list[int] = []
    again = money(Shelves(10), np.random.SeedSequence(5), 2_000, advanced.append)
    assert again == of_ten_shelves()
    assert sum(advanced) == len(simulated())
    assert money(UNIFORM, np.random.SeedSequence(5), 2_000).beyond == ()


def test_an_impossible_simulation_has_its_reason() -> None:
    assert "money" not in texts_of(shuffled("shelves:10", 10))
    assert texts_of(shuffled("uniform", 10), with_money=True)["money"].startswith("There is no alarm")
    assert texts_of(shuffled("shelves:2", 9, cards=20), with_money=True)["money"].startswith("The games are dealt from")
    assert texts_of(shuffled("favoured:0.9:1:52", 40), with_money=True)["money"].startswith("No known model fits")
    seen = first_seen(shuffled("shelves:20", 40), 24)
    in_part = texts_of(seen, with_money=True)
    assert in_part["money"].startswith("Decks are known in part")
    assert "10 shelves" not in in_part["evidence"] + in_part["suspects"]
    assert "raise an alarm." in in_part["evidence"]
    report, _ = report_of(seen, (), 0.01, 1, with_money=True)
    assert (report.result.verdict, report.no_money) == ("bad", "known-in-part")
    assert "not allow for" in texts_of(shuffled("shelves:10", 10), with_money=True)["money"]
    costs = texts_of(shuffled("shelves:10", 10), with_money=True)["money"]
    assert "after a shelf shuffler with 10 shelves" in costs
    assert re.search(r"\d+ of 360 changes are no larger than noise \(4\.2 standard errors", costs)


def test_guesses_by_place_are_the_guesses() -> None:
    orders = UNIFORM.shuffle(np.random.default_rng(2), 40, 52)
    marks = guessed(orders)
    assert (marks.sum(axis=1) == right_guesses(orders)).all()
    assert marks[:, -1].all()
    assert guessed(unshuffled(3, 9)).all()


@pytest.mark.parametrize(("decks", "size"), [(3, 10), (100, 2), (400, 1)])
def test_cells_of_the_map(decks: int, size: int) -> None:
    """Cells are in standard deviations: their squares are 1 on average after a good shuffle."""
    squares = []
    for seed in range(30):
        at, far = _cells(UNIFORM.shuffle(np.random.default_rng(seed), decks, 52))
        assert (at[1], len(at), far.shape) == (size, 52 // size, (52 // size, 52 // size))
        squares.append((far**2).mean())
    assert np.mean(squares) == pytest.approx(1, abs=0.1)
    _, far = _cells(unshuffled(400, 52))
    assert (far.argmax(axis=1) == np.arange(52)).all()
    turned = np.roll(unshuffled(400, 52), 1, axis=1)  # the last card comes to the first place
    assert _cells(turned)[1][0].argmax() == 51


def test_plots_of_very_many_decks_take_few_steps() -> None:
    """Sets of a billion decks would not fit into memory. The highest evidence is always drawn."""
    assert 0 < _chance_of_deviation(4.5, 10**9, 52, np.random.default_rng(1)) < 0.2
    course = np.sin(np.arange(123_456) / 10_000)
    drawn = _drawn_points(course)
    assert (len(drawn), drawn[-1]) == (DRAWN_POINTS, 123_455)
    assert course.argmax() in drawn
    assert _drawn_points(course[:30]).tolist() == list(range(30))


def test_the_map_states_how_often_a_good_shuffle_has_such_a_cell() -> None:
    """The stated probability is tiny for a bad shuffle and moderate for good ones."""
    said = re.compile(r"lies (\S+) standard deviations off; in .* so far off with a chance of (\S+)\. The")

    def found(orders: Orders) -> tuple[float, float]:
        match = said.search(positions(orders, np.random.default_rng(1)).caption)
        assert match is not None
        return float(match[1]), float(match[2])

    assert found(unshuffled(25, 52))[1] == 0.001  # 1 in 1,001
    assert found(model_named("favoured:0.3:1:52").shuffle(np.random.default_rng(2), 120, 52))[1] < 0.01
    good = [found(UNIFORM.shuffle(np.random.default_rng(seed), 25, 52)) for seed in range(12)]
    assert 0.05 < np.mean([chance for _, chance in good]) < 0.95
    ranked = sorted(good)
    assert [chance for _, chance in ranked] == sorted((chance for _, chance in good), reverse=True)


def written(decks: list[DeckOrders], *options: str) -> tuple[str, Result]:
    write_decks(Path("<b>decks.csv"), decks)
    done = call("<b>decks.csv", "--html", "page.html", *options)
    return Path("page.html").read_text(encoding="utf-8"), done


def test_a_page() -> None:
    text, done = written(shuffled("shelves:10", 20))
    assert (done.exit_code, done.stderr) == (1, "")
    assert done.stdout.startswith("BAD: ")
    assert done.stdout.endswith(" Written to page.html.\n")
    digest = hashlib.sha256(Path("<b>decks.csv").read_bytes()).hexdigest()
    for needed in (digest, "&lt;b&gt;decks.csv", "cardshoe 0.", "everything simulated with seed 1", *SHARES,
                   "What this audit cannot see", "How it was examined", "Bonferroni"):  # fmt: skip
        assert needed in text
    assert "<b>" not in text
    assert '<p class="framed bad">BAD: this shuffler does not shuffle well</p>' in text
    assert "The chance that a good shuffler gives decks as suspicious as these 20 decks is less than one in a " in text
    assert [title for title in re.findall(r"<h2>(.*?)</h2>", text) if "simulated" not in title] == [
        "Files", "Effect", "Counted over all decks (p: adjusted for all procedures; 0.009 raises an alarm)",
        "Evidence, deck after deck", "Which shuffle it looks like (likelihood ratio to a uniform one)",
        "As regulators ask: chi-square of card against position", "Hands dealt from these decks", "Kinds of machines",
        "What this audit cannot see", "How it was examined",
    ]  # fmt: skip
    again, _ = written(shuffled("shelves:10", 20))
    assert again == text


def test_the_plots_need_nothing_from_elsewhere_and_have_words() -> None:
    text, _ = written(shuffled("uniform", 20))
    assert "default-src 'none'" in text
    assert "<script" not in text
    drawings = [base64.b64decode(svg).decode() for svg in SVG.findall(text)]
    assert len(drawings) == len(re.findall("<img", text)) == 4
    for svg in drawings:
        assert not re.findall(r'(?:href|src)="(?!#|data:image/png;base64,)', svg)
        assert "<dc:date>" not in svg
    assert "No fault was found in these 20 decks. A fault that so many decks do not show may be there." in text
    assert "50 %" in drawings[0]  # of right guesses, at the end of the deck
    assert "rising sequences 26.50 a deck, 26.50 expected" in text
    assert re.search(r'alt="Of 169 cells the furthest lies \d\.\d standard deviations from what is expected."', text)
    assert len(re.findall("fter a good shuffle", text)) >= 4


def test_a_page_without_a_verdict() -> None:
    text, done = written(without_the_order_in(shuffled("uniform", 4)))
    assert done.exit_code == 2
    assert '<p class="framed no-verdict">NO VERDICT</p>' in text
    assert "The order in is not known for any of the 4 decks." in text
    assert SVG.findall(text) == []
    text, _ = written(shuffled("uniform", 1, cards=3))
    assert "One deck is too few" in text


def test_the_page_and_the_json_together() -> None:
    _, done = written(shuffled("uniform", 4), "--json", "--seed", "7")
    report: dict[str, Any] = json.loads(done.stdout)
    assert (report["seed"], report["no_money"], report["files"][0]["decks"]) == (7, "not-asked", 4)


def test_a_place_that_cannot_be_written() -> None:
    write_decks(Path("decks.csv"), shuffled("uniform", 4))
    done = call("decks.csv", "--html", "no/page.html")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("cardshoe: no/page.html cannot be written: ")


def test_a_name_that_is_too_long_and_bytes_that_are_not_text() -> None:
    write_decks(Path("decks.csv"), shuffled("uniform", 4))
    done = call("decks.csv", "--html", "x" * 300 + ".html")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "cannot be written: File name too long." in done.stderr
    done = call("decks.csv", "--html", "page.html", "--about", "\udcff\x1b[2J")
    assert (done.exit_code, done.stdout[:10]) == (2, "NO VERDICT")
    assert "About: \N{REPLACEMENT CHARACTER}" in Path("page.html").read_text()


def test_a_page_is_written_where_a_link_points() -> None:
    write_decks(Path("decks.csv"), shuffled("uniform", 4))
    Path("link.html").symlink_to("real.html")
    assert call("decks.csv", "--html", "link.html").stdout.startswith("NO VERDICT")
    assert Path("link.html").is_symlink()
    assert Path("real.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("name", ["decks.csv", "other.jsonl", "folder.html", "page", "null.html"])
def test_a_page_replaces_no_other_file(name: str) -> None:
    write_decks(Path("decks.csv"), shuffled("uniform", 4))
    Path("other.jsonl").write_text("decks of another audit")
    Path("folder.html").mkdir()
    Path("null.html").symlink_to("/dev/null")
    before = Path("decks.csv").read_bytes()
    done = call("decks.csv", "--html", name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert (Path("decks.csv").read_bytes(), Path("other.jsonl").read_text()) == (before, "decks of another audit")
    assert Path("null.html").is_symlink()


def test_an_old_page_stays_until_the_new_one_is_complete(mocker: pytest_mock.MockerFixture) -> None:
    """The disk is full."""
    write_decks(Path("decks.csv"), shuffled("uniform", 4))
    Path("page.html").write_text("the old one")
    mocker.patch.object(Path, "write_bytes", side_effect=OSError(errno.ENOSPC, "No space left on device"))
    done = call("decks.csv", "--html", "page.html")
    assert (done.exit_code, done.stderr.splitlines()[0]) == (
        2, "cardshoe: page.html cannot be written: No space left on device.",
    )  # fmt: skip
    assert Path("page.html").read_text() == "the old one"
    assert sorted(path.name for path in Path().iterdir()) == ["decks.csv", "page.html"]


def test_without_matplotlib_a_sentence_names_the_extra_and_the_text_remains() -> None:
    write_decks(Path("decks.csv"), shuffled("cut", 4))
    program = "import sys; sys.modules['matplotlib'] = None; from shuffle_audit.commands.command import audit; audit()"
    for options, code in (["--html", "page.html"], FAILED), ([], 1):
        command = [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT)!r}); {program}",
            "run",
            "decks.csv",
        ]
        done = subprocess.run([*command, *options], capture_output=True, text=True)
        assert done.returncode == code
        if options:
            assert done.stderr.startswith("cardshoe: A page cannot be made: ")
            assert done.stderr.endswith("/requirements-report.txt`.\n")
        else:
            assert done.stdout.startswith("BAD: ")


def test_every_test_has_its_formula() -> None:
    assert FORMULAS.keys() == SHARES.keys()
