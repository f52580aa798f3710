"""Makes the pictures of docs/for_dealers.md and docs/for_supervisors.md from the real page of a real daemon.

    python -m tests.console.pictures_for_docs

writes docs/pictures/. Chromium is required. The clock in the pictures shows the current time.
"""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.async_api import FloatRect

from tests.console.clicking import SUPERVISOR, Console, opened

ROOT: Final = Path(__file__).parents[2]
PICTURES: Final = ROOT / "docs" / "pictures"
READY: Final = "() => document.fonts.ready"
SIZE: Final[FloatRect] = {"x": 0, "y": 0, "width": 1280, "height": 800}
ABOVE_E: Final = 752
COLOURS: Final = 48  # the page has few, and the files stay small


async def take(console: Console, name: str, height: int = 800) -> None:
    await console.let_pass(1200)
    await console.page.locator("#bar .device", has_not_text="silent").wait_for()
    await console.page.evaluate(READY)
    picture = Image.open(io.BytesIO(await console.page.screenshot(clip=SIZE | {"height": height})))
    picture.quantize(COLOURS).save(PICTURES / f"{name}.png", optimize=True)


async def a_round() -> None:
    async with opened() as console:
        await console.page.locator('#panel .primary[data-act="place_your_bets/"]:not(.off)').wait_for()
        await take(console, "ready")
        await console.press("place_your_bets/")
        await console.tap("B1")
        await console.page.locator('.place.lit[data-place="B1"]').wait_for()
        await console.tap("B3")
        await console.page.locator('.place.lit[data-place="B3"]').wait_for()
        await take(console, "bets")
        await console.press("no_more_bets/")
        await console.deal(1)
        await console.says("3 cards to Box 3")
        await take(console, "dealing")
        await console.press("report_irregularity")
        await take(console, "problem")
        await console.press("exposed_card")
        await console.tap("B1")
        await console.press("unknown")
        await console.page.locator("#sentence.red").wait_for()
        await take(console, "exposed")
        await console.press("confirm")
        await console.press(SUPERVISOR.id)
        await take(console, "signature")
        await console.press("back")
        await console.confirm(SUPERVISOR)
        await console.page.locator("#panel .row").first.wait_for()
        await take(console, "choices")
        await console.press("others")
        await console.says("3 cards to Box 3")
        await console.deal(2)
        one, three, dealer = console.table.dealt()
        await console.press("expose_hand/D")
        await console.press(dealer[0])
        await take(console, "faces")
        await console.press("undo")
        await console.press("back")
        await console.turn_over({"D": dealer, "B1": one, "B3": three})
        await take(console, "results")
        await console.press("record_settled/")
        await console.press("conclude_round/")


async def moves() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.press("place_cards/")
        await console.tap("B1")
        await console.press("all")
        await console.tap("B2")
        await console.press("no")
        await console.confirm(SUPERVISOR)
        await console.reads("1. Cards at Box 2 to Box 1")
        await take(console, "moves")


async def away() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.says("3 cards to Box 3")
        await console.at_device("unplug", "unplugged")
        await console.reads("1. Waiting for the device.")
        await take(console, "away", ABOVE_E)  # region E names the port


async def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    for scene in (a_round, moves, away):
        await scene()


if __name__ == "__main__":
    asyncio.run(main())
