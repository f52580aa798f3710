"""Decks that arrive at the table, are put in and leave it, by clicks at a real daemon."""

from __future__ import annotations

import pytest

from controller.games.specification import Unit
from tests.console.clicking import DEALER, SUPERVISOR, Console, opened

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]


async def write(console: Console, text: str) -> None:
    await console.page.locator("#panel .input").wait_for()
    await console.page.locator("#panel input").fill(text)
    await console.click(console.page.locator("#panel .input button"))


async def bring(console: Console, deck: str, back: str) -> None:
    await console.choose_in_menu("bring_deck/")
    for question, answer in (("called", deck), ("colour", back), ("seal", f"{deck}-77")):
        await console.says(question)
        await write(console, answer)
    await console.says("How many cards were counted?")
    for digit in "52":
        await console.press(digit)
    await console.press("ok")
    await console.says("Who counted with you?")
    offered = await console.page.locator("#panel .list button").all_inner_texts()
    assert DEALER.name not in offered
    await console.press(SUPERVISOR.id)
    await console.says("First record which of the table's decks was put in.")


async def test_a_new_deck_is_recorded_named_shuffled_cut_and_dealt_from() -> None:
    async with opened(Unit.SINGLES) as console:
        await bring(console, "blue-1", "blue")
        await bring(console, "red-1", "red")
        await console.press("load_deck/")
        await console.says("Which deck?")
        assert await console.page.locator("#panel .list button").all_inner_texts() == ["blue-1 (blue)", "red-1 (red)"]
        await console.press("red-1")
        await console.press("shuffled_outside/")
        await console.press(DEALER.id)
        await console.press("cut_deck/")
        await console.says("Place your bets")
        await console.to_dealing(2)
        await console.deal_singles(6)
        cards = [card for (card,) in console.table.dealt()]
        await console.turn_over({"B2": cards[:3], "D": cards[3:]})
        await console.end_round()
        await console.choose_in_menu("take_deck_out/")
        await console.click(console.page.locator("#panel .list button", has_text="blue-1"))
        await console.says("why")
        await console.click(console.page.locator("#panel .answers button").first)
        for digit in "52":
            await console.press(digit)
        await console.press("ok")
        await console.press(SUPERVISOR.id)
        await console.answered()
        assert [deck["label"] for deck in (await console.state())["decks"]] == ["red-1"]
