"""Lift the time limits of transports and captures, which a machine under load exceeds without being at fault.

A test of a limit sets its own.
"""

from __future__ import annotations

import pytest

from firmware_bridge.captures import recorder
from firmware_bridge.transports import tcp, usb, usb_lookup

from .parts import PATIENCE


@pytest.fixture(autouse=True)
def no_time_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp, "CONNECT_WITHIN", PATIENCE)
    monkeypatch.setattr(usb, "OPEN_WITHIN", PATIENCE)
    monkeypatch.setattr(usb, "TURN_MS", 5)  # a test waits for each thread of a device to end
    monkeypatch.setattr(usb, "monotonic", lambda: 0.0)  # a turn ends after its transfer
    monkeypatch.setattr(usb_lookup, "CLAIM_ATTEMPTS", int(PATIENCE / usb_lookup.CLAIM_EVERY))
    monkeypatch.setattr(recorder, "CLOSES_WITHIN", PATIENCE)
