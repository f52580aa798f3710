"""Every transport passes the conformance tests for transports."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from .rigs import MemoryRig, PtyRig, Rig, TcpRig, UsbRig
from .transport_conformance import BoundedTransportConformance, TransportConformance


async def using(rig: Rig) -> AsyncIterator[Rig]:
    await rig.begin()
    yield rig
    await rig.end()


class TestMemory(TransportConformance):
    @pytest.fixture
    async def rig(self) -> AsyncIterator[Rig]:
        async for rig in using(MemoryRig()):
            yield rig


class TestSerialPort(BoundedTransportConformance):
    @pytest.fixture
    async def rig(self, tmp_path: Path) -> AsyncIterator[Rig]:
        async for rig in using(PtyRig(tmp_path)):
            yield rig


class TestTcp(BoundedTransportConformance):
    @pytest.fixture
    async def rig(self) -> AsyncIterator[Rig]:
        async for rig in using(TcpRig()):
            yield rig


class TestUsb(BoundedTransportConformance):
    @pytest.fixture
    async def rig(self) -> AsyncIterator[Rig]:
        async for rig in using(UsbRig()):
            yield rig
