"""The skeleton of docs/a_new_driver.md does what every driver must."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from random import Random
from types import ModuleType

from firmware_bridge.drivers.base import Driver
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.observations import AnyObservation, CardDrawn
from simulators.devices.one_way import OneWayDevice

from .driver_conformance import Clock, OneWayConformance, Shoe


def skeleton() -> ModuleType:
    path = Path(__file__).parents[2] / "docs" / "skeleton_driver.py"
    found = importlib.util.spec_from_file_location("skeleton_driver", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


SKELETON = skeleton()


class SkeletonDevice(OneWayDevice):
    """The invented shoe."""

    baud = 9600

    def encode(self, observation: AnyObservation) -> bytes:
        if not isinstance(observation, CardDrawn) or observation.card is None:
            return b""
        number = observation.card.expose().number
        return f"{number}:{sum(map(int, str(number)))}\n".encode()


class TestSkeleton(OneWayConformance):
    @staticmethod
    def make_driver(setting: DriverSetting, now: float) -> Driver:
        driver: Driver = SKELETON.DRIVER.load()(setting, now)
        return driver

    noise = b"~~\xff\n"

    def make_device(self, clock: Clock) -> Shoe:
        return SkeletonDevice(random=Random(1))

    def hiss(self, data: bytes) -> bytes:
        return data + b"\n"

    def damage(self, data: bytes) -> bytes:
        return data.replace(b":", b";")

    def is_lawful(self, drawn: list[str], heard: list[str]) -> bool:
        """Its sum lets through digits that change places, and a line end that is changed joins two lines."""
        return sum(card not in drawn for card in heard) <= 1 and len(heard) <= len(drawn) + 1
