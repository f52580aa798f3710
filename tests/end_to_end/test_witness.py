"""A daemon whose journal has a witness, and one whose witness cannot be reached."""

from __future__ import annotations

from pathlib import Path

from controller.api.client import ApiClient
from controller.journal.witness import read_witness
from tests.end_to_end.child import Orders
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.stage import Stage, short_folder


def name_witness(stage: Stage, folder: Path) -> None:
    text = stage.configuration.read_text()
    stage.configuration.write_text(text.replace("[journal]\n", f'[journal]\nwitness = "{folder}"\n'))


async def test_the_heads_of_a_running_table_are_at_the_witness() -> None:
    with short_folder() as folder, short_folder() as beside:
        async with Stage(folder) as stage:
            name_witness(stage, beside)
            await stage.start_daemon(Orders())
            await stage.daemon.until(lambda: stage.daemon.logged("journal.witness_whole"))
            (path,) = beside.iterdir()
            (head, *_) = read_witness(path)
            async with ApiClient(stage.socket) as client:
                state = await client.state()
            assert (head.journal, state.warnings) == (state.journal, ())
            assert await stage.daemon.end() == 0
            verify = stage.start("journal", "verify", "--journal", str(stage.journal), "--witness", str(path))
            assert await verify.ended() == 0, verify.out


async def test_the_last_head_is_at_the_witness_when_the_daemon_has_stopped() -> None:
    with short_folder() as folder, short_folder() as beside:
        async with Stage(folder) as stage:
            name_witness(stage, beside)
            for _ in range(2):
                await stage.start_daemon(Orders())
                await stage.daemon.until(lambda: stage.daemon.logged("journal.witness_whole"))
                assert await stage.daemon.end() == 0
                (path,) = beside.iterdir()
                assert list(read_witness(path))[-1].head == Evidence(stage).head


async def test_a_table_deals_without_its_witness() -> None:
    with short_folder() as folder:
        async with Stage(folder, rounds=1) as stage:
            name_witness(stage, folder / "not mounted")
            await stage.start_device()
            await stage.start_daemon(Orders())
            await stage.played()
            assert await stage.daemon.end() == 0
            assert not stage.daemon.logged("journal.witness_whole")
