"""`cardshoe operate --script` at a real daemon: scripted rounds, refusals, PINs, a killed daemon."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.api.bodies import EventId
from controller.api.client import ApiClient
from controller.commands.main import main
from controller.games.specification import Unit
from simulators.people.crew import CREW
from tests.end_to_end.processes import PATIENCE
from tests.operate.bench_table import BenchTable, bench_table

PEOPLE = ("--person", "pit supervisor=supervisor", "--person", "shift manager=manager")
NC_WITH_SETS = """
open table
boxes 1 3            # kept until bets open
begin
deal 1
report exposed card B1 card 2
confirm by supervisor
choose all continue
put right            # the exposed card is turned face down
deal all             # the set of the Dealer has a card that lies face up
confirm
deal all
put right
open all
count 43 witness supervisor
settle
conclude
"""
TP_WITH_SINGLES = """
open table
boxes 1 2
begin
deal 2               # two cards come together
confirm handled no misplaced no by supervisor
rule name order 3 2 by manager because the left one was first
put right            # both cards lie at box 1
deal 3
rule continue because it is turned down     # card 6 lies face up inside
report exposed_card B1 card 2
rule continue because it is turned down
put right
deal 1
put right            # card 6 as well, where it lies
deal all
open all
count 43 in stub witness supervisor
settle
conclude
"""


async def raised(table: BenchTable) -> list[str]:
    """Return the irregularities of the journal up to the table's state, in order."""
    newest = (await table.state()).entry
    rows = []
    async with ApiClient(table.socket) as client:
        stream = client.events(EventId())
        async for event in stream:
            if event is not None and event["event"] == "irregularity_raised":
                rows.append(event["kind"])
            if event is None or event["entry"] >= newest:
                break
        await stream.aclose()
    return rows


async def test_nc_with_sets_is_dealt_by_a_script_with_an_exposed_card_and_one_face_up() -> None:
    async with bench_table() as table:
        await table.move("load")
        await table.move("face-up 9")
        script = table.script(NC_WITH_SETS, "--pin-file", str(table.pins))
        await table.deal(script, {"deal 1": 1, "deal all": 1})
        await script.until(lambda: script.out.count("> deal all") == 2)
        await table.give_out("lift")
        assert await script.ended() == 0, script.err
        view = await table.state()
        assert (view.phase, view.round, view.irregularities) == ("concluded", 1, ())
        assert await raised(table) == ["exposed_card", "face_up_in_device"]
        assert script.err == []


async def test_a_script_deals_tp_with_singles_and_all_three_headlines() -> None:
    async with bench_table(unit=Unit.SINGLES, game="TP") as table:
        await table.move("load")
        await table.move("double-draw 2")
        await table.move("face-up 6")
        script = table.script(TP_WITH_SINGLES, "--pin-file", str(table.pins), *PEOPLE)
        await table.deal(script, {"deal 2": 2, "deal 3": 2, "deal 1": 1, "deal all": 3})
        assert await script.ended() == 0, script.err + script.out
        view = await table.state()
        assert (view.phase, view.irregularities) == ("concluded", ())
        assert await raised(table) == ["simultaneous", "face_up_in_device", "exposed_card"]


async def test_cards_that_come_before_a_line_is_read_count_for_it() -> None:
    async with bench_table(unit=Unit.SINGLES) as table:
        await table.move("load")
        script = table.operate("--script", "-", "--json")  # which says when a line is over
        for line in ("open table", "boxes 1", "begin"):
            script.tell(line)
        await script.until(lambda: any('"words":"begin","accepted":true' in one for one in script.out))
        await table.give_out("draw")
        async with ApiClient(table.socket) as client, asyncio.timeout(PATIENCE):
            while not (await client.state()).dealt:  # noqa: ASYNC110  # another process
                await asyncio.sleep(0.05)
        script.tell("deal 1")
        script.tell("pause")
        await script.until(lambda: any('"words":"pause"' in one for one in script.out))
        assert (await table.state()).dealt == 1


RARE_WORDS = """
open table
restrict close box 7 wagers at box 3 1 by manager
restrict nothing by manager
begin
deal all
open all
count 37 witness supervisor
settle
conclude
recall 1 B3 by manager because a dispute over the cards of box 3
bring deck red-1 red witness supervisor
take deck out red-1 witness supervisor because a card is bent
remove screen 5e5e5e5e5e5e by supervisor
"""


@pytest.mark.parametrize("options", [(), ("--json",)])
async def test_rarely_used_commands(options: tuple[str, ...]) -> None:
    """Recalled cards are shown only to the person who asked, and the journal's events have no faces."""
    async with bench_table() as table:
        await table.move("load")
        script = table.script("boxes 1 3 5 6" + RARE_WORDS, "--pin-file", str(table.pins), *options)
        dealing = '"words":"begin"' if options else "> deal all"
        await script.until(lambda: [line for line in script.out if dealing in line])
        for _ in range(5):
            await table.give_out("lift")
        assert await script.ended() == 1
        assert "`remove screen 5e5e5e5e5e5e by supervisor` was refused (screen): " in script.err[-1]
        shown = {hand.place: hand.cards for hand in (await table.state()).hands}["B3"]
        if options:
            said = next(line for line in map(json.loads, script.out) if line["words"].startswith("recall"))
            recalled = said["recalled"]
            assert [(one["place"], one["card"]) for one in recalled] == [("B3", card) for card in shown]
        else:
            lines = [line for line in script.out if line.startswith("B3: card ")]
            assert [line.rpartition(" ")[2] for line in lines] == list(shown)


async def test_a_script_stops_at_the_first_refusal_with_file_and_line() -> None:
    async with bench_table() as table:
        script = table.script("open table\n\n# nobody has bet\nno more bets\nclose table\n")
        assert await script.ended() == 1
        (line,) = script.err
        assert f"{table.folder}/lines, line 4: `no more bets` was refused (phase): " in line
        assert (await table.state()).phase == "idle", "the last line was not entered"


async def test_a_script_does_not_wait_for_a_deck_in_a_deal() -> None:
    async with bench_table() as table:
        await table.move("load")
        text = "open table\nboxes 1\nbegin\nload\nnext round\nbegin\n"
        script = table.script(text, "--keep-going", "--json")
        assert await script.ended() == 1
        said = [json.loads(line) for line in script.out]
        assert [(one["words"], one["code"]) for one in said if not one["accepted"]] == [
            ("load", "nothing-done"), ("next round", "phase"), ("begin", "phase"),
        ]  # fmt: skip
        assert said[3]["sentence"] == "a round is in progress; put the deck in when the round is over."


async def test_keep_going_continues_and_still_fails() -> None:
    async with bench_table() as table:
        script = table.script("open table\nno more bets\nconfirm\nclose table\n", "--keep-going", "--json")
        assert await script.ended() == 1
        said = [json.loads(line) for line in script.out]
        assert [(one["line"], one["accepted"], one["code"]) for one in said] == [
            (1, True, ""), (2, False, "phase"), (3, False, "nothing-done"), (4, True, ""),
        ]  # fmt: skip
        assert said[2]["sentence"] == "no irregularity is open."
        assert said[0]["entries"][0] < said[3]["entries"][0]
        assert (await table.state()).phase == "closed"


async def test_a_file_with_a_line_that_cannot_be_read_enters_nothing() -> None:
    async with bench_table() as table:
        script = table.script("open table\nsing a song\nreport nothing\n")
        assert await script.ended() == 2
        assert any("line 2: 'sing a' does not begin a line; `help` lists all" in line for line in script.err)
        assert any("line 3: 'nothing' is not a kind of irregularity; known: " in line for line in script.err)
        assert (await table.state()).phase == "closed"


async def test_standard_input_is_taken_line_by_line() -> None:
    async with bench_table() as table:
        script = table.operate("--script", "-", "--json")
        script.tell("open table")
        await script.until(lambda: script.out)
        script.tell("sing")
        assert await script.ended() == 2
        assert script.err[0].startswith(
            "cardshoe: Standard input, line 2: 'sing' does not begin a line; `help` lists all"
        )
        assert (await table.state()).phase == "idle"


async def test_pins_come_only_from_a_file_of_their_owner() -> None:
    async with bench_table() as table:
        lines = "open table by supervisor\nclose table by dealer\n"
        script = table.script(lines, "--pin-file", str(table.pins))
        assert await script.ended() == 0, script.err
        table.pins.write_text("supervisor 000000\n")
        wrong = table.script("open table by supervisor\n", "--pin-file", str(table.pins))
        assert await wrong.ended() == 1
        assert "was refused (pin): " in wrong.err[0]
        without = table.script("open table by supervisor\n")
        assert await without.ended() == 1
        assert "was refused (pin): " in without.err[0]
        table.pins.chmod(0o644)
        seen = table.script(lines, "--pin-file", str(table.pins))
        assert await seen.ended() == 2
        assert "Other users than its owner may read" in seen.err[0]
        said = "".join([*script.out, *script.err, *wrong.out, *wrong.err, *seen.err, *table.daemon.err])
        assert not [member.pin for member in CREW if member.pin in said]
        assert "000000" not in said


async def test_a_pin_file_with_a_line_too_long_is_not_quoted(tmp_path: Path) -> None:
    pins = tmp_path / "pins"
    pins.write_text("sam 123456 123456\n")
    pins.chmod(0o600)
    done = CliRunner().invoke(main, ["operate", "--socket", "s", "--script", "-", "--pin-file", str(pins)])
    assert done.exit_code == 2
    assert "line 1 does not have a person and a PIN" in done.output
    assert "123456" not in done.output


async def test_a_rank_needs_a_person_and_a_count_a_witness() -> None:
    async with bench_table() as table:
        await table.move("load")
        text = "open table\nmaintenance begins by pit supervisor\ncount 52 in deck\n"
        script = table.script(text, "--keep-going", "--json", "--pin-file", str(table.pins))
        assert await script.ended() == 1
        said = [json.loads(line)["sentence"] for line in script.out]
        assert said[1] == (
            "which pit supervisor it is must be named: write `by NAME`, or give --person 'pit supervisor=NAME'."
        )
        assert said[2] == "a count needs a witness; end the line with `witness NAME`."


async def test_a_script_waits_for_a_killed_daemon_and_repeats_nothing() -> None:
    async with bench_table() as table:
        script = table.operate("--script", "-", "--json")
        script.tell("open table")
        await script.until(lambda: script.out)
        await table.kill_daemon()
        await script.until(lambda: [line for line in script.err if "does not answer" in line])
        script.tell("close table")
        await table.start_daemon()
        await script.until(lambda: len(script.out) == 2)
        script.close_input()
        assert await script.ended() == 0, script.err
        assert any("The daemon runs again." in line for line in script.err)
        async with ApiClient(table.socket) as client:
            newest = (await client.state()).entry
            taken = []
            stream = client.events(EventId())
            async for event in stream:
                if event is not None and event["event"] == "operation_taken":
                    taken.append(event["operation"])
                if event is None or event["entry"] >= newest:
                    break
            await stream.aclose()
        assert taken == ["open_table", "close_table"]


async def test_a_daemon_that_stays_away_ends_a_script_with_a_sentence() -> None:
    async with bench_table() as table:
        script = table.operate("--script", "-", "--wait", "0.2", "--json")
        script.tell("open table")
        await script.until(lambda: script.out)
        await table.kill_daemon()
        await script.until(lambda: [line for line in script.err if "does not answer" in line])
        script.tell("close table")
        assert await script.ended() == 1
        assert "it is not known whether the line was done" in script.err[-1]


async def test_another_table_at_the_socket_gets_no_line() -> None:
    async with bench_table() as table:
        script = table.operate("--script", "-", "--json")
        script.tell("open table")
        await script.until(lambda: script.out)
        table.daemon.signal(signal.SIGTERM)
        await table.daemon.ended()
        table.configuration.write_text(
            table.configuration.read_text().replace('"T-1"', '"T-2"').replace('folder = "journal"', 'folder = "other"')
        )
        await table.start_daemon()
        await script.until(lambda: [line for line in script.err if "Another table answers" in line])
        script.tell("open table")
        assert await script.ended() == 1
        assert "T-2 answers here instead of T-1" in script.err[-1]
        assert (await table.state()).phase == "closed"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--keep-going"], "--keep-going and --json are for scripts."),
        ([], "The prompt needs a terminal."),
        (["--script", "-", "--person", "king=sam"], "does not name a rank and a person"),
        (["--script", "-", "--pin-file", "/nowhere"], "/nowhere cannot be read"),
    ],
)
def test_unusable_options_are_refused(options: list[str], sentence: str) -> None:
    done = CliRunner().invoke(main, ["operate", "--socket", "nowhere", *options])
    assert done.exit_code == 2
    assert sentence in done.output


def test_no_daemon_is_a_sentence() -> None:
    done = CliRunner().invoke(main, ["operate", "--socket", "nowhere", "--script", os.devnull])
    assert done.exit_code == 1
    assert "No daemon answers at nowhere." in done.output
