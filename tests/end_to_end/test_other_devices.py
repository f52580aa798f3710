"""`cardshoe simulate --driver`: another maker's shoe in a separate process, under the daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware_bridge.card_table import read_card_table
from firmware_bridge.drivers.base import Reported
from firmware_bridge.observations import CardDrawn
from simulators.bench.bench import open_bench
from simulators.devices.one_way_shoes import ONE_WAY_SHOES

from .processes import Child
from .stage import Stage, short_folder


@pytest.mark.parametrize("driver", ONE_WAY_SHOES)
async def test_a_simulated_shoe_is_drawn_from(driver: str, tmp_path: Path) -> None:
    table = tmp_path / "cards.csv"
    child = Child(
        "controller", "simulate", "--driver", driver, "--link", str(tmp_path / "shoe"), "--draw-every", "0.05",
        "--card-table", str(table),
    )  # fmt: skip
    try:
        await child.until(lambda: child.out)
        (url,) = child.out
        cards = read_card_table(table) if driver == "line_reader" else {}
        async with open_bench(url, {}, cards) as bench:
            await bench.ready()
            await bench.wait_for(Reported, lambda one: one.number >= 5 and isinstance(one.observation, CardDrawn))
    finally:
        code = await child.end()
    assert code == 0, child.err


async def test_simulated_people_play_with_cardlink_only(tmp_path: Path) -> None:
    child = Child("controller", "simulate", "--driver", "bee_tek", "--dealer", str(tmp_path / "api.sock"))
    assert await child.ended() == 2
    assert "Leave --dealer or --driver out." in "\n".join(child.err)


@pytest.mark.parametrize(("table", "words"), [(None, "cannot be read"), ("X,4Z\n", "'4Z' is not a card")])
async def test_a_card_table_that_cannot_be_used_keeps_the_daemon_from_starting(table: str | None, words: str) -> None:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            text = stage.configuration.read_text()
            url, key_file = f'url = "serial://{stage.port}"', 'key_file = "device.keys"\n[journal]'
            assert url in text
            assert key_file in text
            text = text.replace(url, f'url = "serial://{stage.port}?driver=line_reader"')
            stage.configuration.write_text(text.replace(key_file, 'card_table = "cards.csv"\n[journal]'))
            if table is not None:
                (folder / "cards.csv").write_text(table)
            daemon = stage.spawn_daemon()
            assert await daemon.ended() == 78, daemon.err
            assert words in daemon.err[0]
