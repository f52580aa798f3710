"""Makes the pictures of docs/floor_watch.md from the real page and a real broker; one of its tables is a real daemon.

    python -m tests.floor.pictures_for_docs

writes docs/pictures/floor*.png. Chromium and mosquitto are required. The clock in the pictures shows the current time.
"""

from __future__ import annotations

import asyncio
import io
import tempfile
import time
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.async_api import Page

from tests.console.pictures_for_docs import COLOURS, PICTURES
from tests.end_to_end.stage import short_folder
from tests.floor.many_tables import floor_of, place_of_number, tell
from tests.floor.test_floor_browser import Eyes, looking
from tests.floor.test_real_floor import DEALT, FloorTable

NUMBER: Final = 6  # the number of the real table


async def take(page: Page, name: str) -> None:
    await page.evaluate("() => document.fonts.ready")
    picture = Image.open(io.BytesIO(await page.screenshot()))
    picture.quantize(COLOURS).save(PICTURES / f"{name}.png", optimize=True)


async def deal(eyes: Eyes, folder: Path) -> None:
    """Play a round at a real table, up to a card that is reported as exposed."""
    _, pit, name = place_of_number(NUMBER)
    async with FloorTable(folder) as table:
        table.report_to(eyes.broker, name, pit)
        await table.start_console()
        await table.start_daemon()
        await table.move("load")
        script = table.script(DEALT)
        await table.deal(script, {"deal 1": 1})
        assert await script.ended() == 0, script.err
        await eyes.open(NUMBER)
        await eyes.page.locator("#story .matter").wait_for()
        await eyes.page.locator("#story .lines p", has_text="exposed").first.wait_for()
        await take(eyes.page, "floor_story")
        await eyes.page.keyboard.press("Escape")


async def main() -> None:
    others = [told for told in floor_of(48, time.time_ns()) if told.place != place_of_number(NUMBER)]
    with tempfile.TemporaryDirectory() as folder, short_folder() as table:
        async with looking(Path(folder), *others) as eyes:
            await eyes.sees(len(others))
            await deal(eyes, table)
            await eyes.sees(48)
            await take(eyes.page, "floor")
            await tell(eyes.tables, floor_of(500, time.time_ns()))
            await eyes.sees(500)
            await take(eyes.page, "floor_hundreds")


if __name__ == "__main__":
    asyncio.run(main())
