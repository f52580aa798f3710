"""The bench's tests on a simulated shuffler behind a pseudo-terminal; `--device URL` tests a real device.

`test_promises` always runs them in memory; here they run in real time, on request.
"""

import pytest

from simulators.bench.conformance import TestCardlinkDevice, TestEveryDevice
from simulators.bench.promises import cards, handshake, life, operator, orders, reports, sealing

__all__ = ["TestCardlinkDevice", "TestEveryDevice"]


@pytest.mark.soak
class TestHandshakePromises(handshake.TestHandshakePromises):
    pass


@pytest.mark.soak
class TestSealingPromises(sealing.TestSealingPromises):
    pass


@pytest.mark.soak
class TestReportPromises(reports.TestReportPromises):
    pass


@pytest.mark.soak
class TestLifePromises(life.TestLifePromises):
    pass


@pytest.mark.soak
class TestCommandPromises(orders.TestCommandPromises):
    pass


@pytest.mark.soak
class TestOperatorPromises(operator.TestOperatorPromises):
    pass


@pytest.mark.soak
class TestCardPromises(cards.TestCardPromises):
    pass
