"""The prompt of `cardshoe operate` on a real terminal at a real daemon."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from simulators.people.crew import CREW
from tests.operate.bench_table import BenchTable, bench_table
from tests.operate.terminal import OperateTerminal

PINS = {member.id: member.pin for member in CREW}


@asynccontextmanager
async def at_prompt(table: BenchTable, *options: str) -> AsyncIterator[OperateTerminal]:
    terminal = OperateTerminal(table.socket, table.folder, *options)
    try:
        await terminal.until(">")
        yield terminal
    finally:
        terminal.close()


async def test_a_round_is_begun_and_an_exposed_card_decided_by_a_person_with_a_pin() -> None:
    async with bench_table() as table, at_prompt(table) as terminal:
        assert "T-1, round 0, Closed>" in terminal.shown
        await table.move("load")
        terminal.enter("open table")
        await terminal.until("T-1, round 0, Ready>")
        terminal.enter("boxes 1 3")
        terminal.enter("begin")
        await terminal.until("dealing starts at box 1")
        await terminal.until("T-1, round 1, Dealing>")
        terminal.press("report exposed ca")
        await terminal.until("report exposed ca")
        await table.give_out("lift")
        await terminal.until("3 cards to box 1")
        await terminal.until("report exposed ca")  # the unfinished line is shown below
        terminal.press("rd B1\r")
        await terminal.until("irregularity at box 1")
        await terminal.until("Dealing, I12>")
        terminal.enter("confirm by supervisor")
        await terminal.until("PIN for supervisor, without echo:")
        terminal.enter("000000")
        await terminal.until("Refused: ")
        await terminal.until("I12>")
        terminal.press("\x1b[A")  # the previous line, from the history
        await terminal.until("confirm by supervisor")
        terminal.press("\r")
        await terminal.until("PIN for supervisor, without echo:")
        terminal.enter(PINS["supervisor"])
        await terminal.until("confirmed: a card was exposed")
        await terminal.until(">")
        terminal.press("\x04")
        assert await terminal.ended() == 0
        assert not [pin for pin in (*PINS.values(), "000000") if pin in terminal.shown]
        history = (table.folder / "cardshoe/operate.history").read_text()
        assert "+confirm by supervisor" in history
        assert not [pin for pin in (*PINS.values(), "000000") if pin in history]
        assert (table.folder / "cardshoe/operate.history").stat().st_mode & 0o077 == 0


async def test_tab_completes_words_kinds_and_places() -> None:
    async with bench_table() as table, at_prompt(table) as terminal:
        terminal.press("open ta\t")
        await terminal.until("open table")
        terminal.press("\r")
        await terminal.until("Ready>")
        terminal.press("report exp\t")
        await terminal.until("exposed card")
        terminal.press("\x03")
        await terminal.until("Ready>")
        terminal.enter("quit")
        assert await terminal.ended() == 0


async def test_only_people_of_the_table_are_completed() -> None:
    """A refused name is not offered later, no PIN is requested for it, and a bettor is not offered as a person who
    acts.
    """
    async with bench_table() as table, at_prompt(table) as terminal:
        await table.move("load")
        terminal.enter("open table")
        await terminal.until("Ready>")
        terminal.enter("restrict nothing by mana")
        said = await terminal.until("This table has no person mana; write one of dealer, manager, supervisor.")
        assert "PIN for mana" not in said
        terminal.enter("next round")
        await terminal.until("Betting>")
        terminal.enter("wager sue main 1 10")
        await terminal.until("Betting>")
        terminal.press("restrict nothing by ma\t")
        await terminal.until("restrict nothing by manager")
        terminal.press("\x03")
        await terminal.until("Betting>")
        terminal.press("restrict nothing by su\t")
        await terminal.until("restrict nothing by supervisor")


async def test_events_are_shown_with_the_names_of_people() -> None:
    async with bench_table() as table, at_prompt(table, "--pin-file", str(table.pins)) as terminal:
        terminal.enter("dealer on")
        await terminal.until("Dana deals from now on")


async def test_help_lists_possible_commands_and_explains_each() -> None:
    async with bench_table() as table, at_prompt(table) as terminal:
        terminal.enter("help")
        listed = await terminal.until("`help WORD` explains one.")
        assert "open table " in listed
        assert "no more bets" not in listed
        terminal.enter("help report")
        told = await terminal.until("KIND: ")
        assert "report KIND [PLACE]" in told
        terminal.enter("sing")
        await terminal.until("'sing' does not begin a line; `help` lists all.")
        terminal.enter("setle")
        await terminal.until("'setle' does not begin a line; nearest: settle; `help` lists all.")
        terminal.enter("open the door")
        await terminal.until("write `open PLACE [CARDS]` or `open all`.")
        terminal.enter("help sing")
        await terminal.until("'sing' is not a word.")


async def test_a_round_that_may_not_begin_is_refused_without_waiting() -> None:
    async with bench_table() as table, at_prompt(table) as terminal:
        terminal.enter("begin")
        shown = await terminal.until("Refused: ")
        assert "Waiting" not in shown
        assert "refused: " not in shown, "it is said once"
        await terminal.until("Closed>")
        await table.move("load")
        terminal.enter("open table")
        await terminal.until("Ready>")
        terminal.enter("deal all")
        await terminal.until("No card is dealt now")
        terminal.enter("begin")
        await terminal.until("write `boxes 1 3` for the boxes with a bet")


async def test_an_unintended_end_asks_for_a_repeat() -> None:
    """After this first request at the table, the next one would end the round."""
    async with bench_table() as table, at_prompt(table, "--pin-file", str(table.pins)) as terminal:
        await table.move("load")
        terminal.enter("open table")
        await terminal.until("Ready>")
        terminal.enter("boxes 1")
        terminal.enter("begin")
        await terminal.until("Dealing>")
        for _ in range(2):
            terminal.enter("abandon by manager because the lamp went out")
            await terminal.until("Write yes:")
            terminal.enter("no")
            await terminal.until("Nothing was done; enter the line again if it is meant.")
            assert (await table.state()).phase == "dealing_sets"
        terminal.enter("abandon by manager because the lamp went out")
        await terminal.until("Write yes:")
        terminal.enter("yes")
        await terminal.until("round void (")


async def test_ctrl_c_empties_the_line_and_ends_waiting_but_not_the_prompt() -> None:
    async with bench_table() as table, at_prompt(table) as terminal:
        terminal.press("no more b\x03")
        await terminal.until("Closed>")
        await table.move("load")
        terminal.enter("open table")
        await terminal.until("Ready>")
        terminal.enter("boxes 1")
        terminal.enter("begin")
        await terminal.until("Dealing>")
        terminal.enter("deal all")
        await terminal.until("Waiting; press Ctrl-C to stop.")
        terminal.press("\x03")
        await terminal.until("Dealing>")
        terminal.enter("table")
        await terminal.until("Table T-1: Dealing.")


async def test_ctrl_c_delivered_to_another_thread_ends_waiting() -> None:
    async with bench_table() as table, at_prompt(table) as terminal:
        terminal.enter("load")
        await terminal.until("Waiting; press Ctrl-C to stop.")
        terminal.interrupt_another_thread()
        await terminal.until("Closed>")


async def test_a_daemon_that_is_killed_in_mid_round_comes_back_and_play_continues() -> None:
    async with bench_table() as table, at_prompt(table) as terminal:
        await table.move("load")
        terminal.enter("open table")
        await terminal.until("Ready>")
        terminal.enter("boxes 1")
        terminal.enter("begin")
        await terminal.until("Dealing>")
        terminal.press("pause the lam")
        await terminal.until("pause the lam")
        await table.kill_daemon()
        await terminal.until("The daemon does not answer.")
        await table.start_daemon()
        await terminal.until("The daemon runs again.")
        await terminal.until("pause the lam")
        terminal.press("\x03")
        await terminal.until(">")
