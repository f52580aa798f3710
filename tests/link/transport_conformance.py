"""Conformance tests for every transport. A transport subclasses this with a `rig`."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from firmware_bridge.errors import TransportUnavailableError
from firmware_bridge.transports.base import UNSENT_LIMIT

from .rigs import Rig, StallingRig

EVERY_BYTE = bytes(range(256))


async def let_it_happen() -> None:
    """Give the loop every chance to do what it must not do."""
    for _ in range(20):
        await asyncio.sleep(0)


class TransportConformance:
    """Bytes arrive complete and in order. A loss is reported once; after that, and after `close`,
    nothing is reported.
    """

    async def test_bytes_pass_unchanged_both_ways(self, rig: Rig) -> None:
        transport = await rig.open()
        transport.write(EVERY_BYTE)
        await rig.until_received(256)
        rig.send(EVERY_BYTE)
        await rig.wire.until(256)
        assert rig.received == rig.wire.data == EVERY_BYTE
        transport.close()

    async def test_one_byte_at_a_time(self, rig: Rig) -> None:
        transport = await rig.open()
        for byte in EVERY_BYTE:
            transport.write(bytes([byte]))
            rig.send(bytes([byte]))
        await rig.until_received(256)
        await rig.wire.until(256)
        assert rig.received == rig.wire.data == EVERY_BYTE
        transport.close()

    async def test_much_data_in_one_call(self, rig: Rig) -> None:
        transport = await rig.open()
        out, back = Random(1).randbytes(UNSENT_LIMIT - 1), Random(2).randbytes(100_000)
        transport.write(out[:60_000])
        transport.write(b"")
        transport.write(out[60_000:])
        await rig.until_received(len(out))
        await rig.send_all(back)
        assert rig.received == out
        assert rig.wire.data == back
        transport.close()

    async def test_no_callback_before_the_transport_is_handed_over(self, rig: Rig) -> None:
        transport = await rig.open()
        assert not rig.wire.data
        assert not rig.wire.losses
        rig.send(b"now")
        assert not rig.wire.data, "called from within the far end's own call"
        await rig.wire.until(3)
        transport.close()

    async def test_nothing_is_written_to_a_one_way_transport(self, rig: Rig) -> None:
        transport = await rig.open(listen=True)
        transport.write(b"never")
        rig.send(b"heard")
        await rig.wire.until(5)
        transport.write(bytes(UNSENT_LIMIT + 1))
        await let_it_happen()
        assert rig.wire.data == b"heard"
        assert not rig.received
        assert not rig.wire.losses
        transport.close()

    async def test_a_loss_is_reported_once_and_releases_everything(self, rig: Rig) -> None:
        before = rig.held()
        transport = await rig.open()
        rig.unplug()
        await rig.changes.until(lambda: bool(rig.wire.losses))
        transport.write(b"too late")
        transport.close()
        await let_it_happen()
        await rig.released()
        assert [loss.code for loss in rig.wire.losses] == ["transport-lost"]
        assert rig.held() == before

    async def test_data_before_a_loss_is_delivered_first(self, rig: Rig) -> None:
        await rig.open()
        rig.send(b"last words")
        await rig.wire.until(10)
        rig.unplug()
        await rig.changes.until(lambda: bool(rig.wire.losses))
        assert rig.wire.data == b"last words"

    async def test_writing_to_a_lost_connection_is_a_loss_and_no_exception(self, rig: Rig) -> None:
        transport = await rig.open()
        rig.unplug()
        for _ in range(3):
            transport.write(b"too late")
        await rig.changes.until(lambda: bool(rig.wire.losses))
        await let_it_happen()
        assert len(rig.wire.losses) == 1

    async def test_after_close_nothing_is_called(self, rig: Rig) -> None:
        before = rig.held()
        transport = await rig.open()
        rig.send(b"unread")
        transport.close()
        transport.close()
        transport.write(b"unsent")
        await let_it_happen()
        rig.unplug()
        await let_it_happen()
        await rig.released()
        await let_it_happen()
        assert not rig.wire.data
        assert not rig.wire.losses
        assert b"unsent" not in rig.received
        assert rig.held() == before

    async def test_opened_again_and_again(self, rig: Rig) -> None:
        before = rig.held()
        for turn in range(1, 6):
            transport = await rig.open()
            transport.write(b"x")
            await rig.until_received(turn)
            transport.close()
            await rig.released()
        assert rig.held() == before

    async def test_a_failed_open_leaves_nothing_behind_and_may_be_repeated(self, rig: Rig) -> None:
        rig.unplug()
        before = rig.held()
        for _ in range(3):
            with pytest.raises(TransportUnavailableError) as refused:
                await rig.open()
            assert refused.value.hint
            await rig.released()
            assert rig.held() == before
        await rig.plug()
        (await rig.open()).close()


class BoundedTransportConformance(TransportConformance):
    """For a transport that can be full: the queue is limited, and never blocks the loop."""

    async def test_a_device_that_reads_nothing_is_lost_without_a_wait(self, rig: StallingRig) -> None:
        before = rig.held()
        transport = await rig.open()
        rig.stall()
        for _ in range(2000):
            transport.write(bytes(UNSENT_LIMIT // 2))
        assert [loss.code for loss in rig.wire.losses] == ["transport-stalled"]
        transport.close()
        rig.unplug()
        await rig.released()
        assert rig.held() == before

    async def test_a_device_that_reads_nothing_is_still_heard(self, rig: StallingRig) -> None:
        transport = await rig.open()
        rig.stall()
        transport.write(bytes(UNSENT_LIMIT // 2))
        rig.send(b"jam")
        await rig.wire.until(3)
        assert rig.wire.data == b"jam"
        transport.close()
