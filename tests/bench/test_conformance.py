"""The bench's tests, on a simulated shuffler behind a pseudo-terminal; `--device URL` asks a real device."""

from simulators.bench.conformance import TestCardlinkDevice, TestEveryDevice

__all__ = ["TestCardlinkDevice", "TestEveryDevice"]
