"""The program with the real libusb, and with its serial port, at a device attached in umockdev's testbed."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import AsyncIterator

import pytest

from simulators.devices.faults import parse_fault
from simulators.usb.descriptors import BULK_IN, BULK_OUT, INTERRUPT_IN, UsbDescription
from tests.link.rigs import SERIAL_NUMBER

from .testbed import BULK_URL, SERIAL_URL, Testbed, attached

pytestmark = pytest.mark.tool("umockdev-wrapper")


@pytest.fixture
async def testbed() -> AsyncIterator[Testbed]:
    async with attached() as testbed:
        yield testbed


async def reported(testbed: Testbed, since: int = 0) -> None:
    """Draw a card, and check that its report reaches the program."""
    await testbed.heard(since, reported="CardDrawn", number=testbed.shoe.draw())


# -- discovery and data -------------------------------------------------------------------------------------------


async def test_it_is_found_both_ways_with_the_driver_that_fits(testbed: Testbed) -> None:
    code, said = await testbed.output(sys.executable, "-m", "controller", "devices", "--json")
    assert code == 0
    found = {one["way"]: one for one in json.loads(said)["devices"]}
    assert {one["serial"] for one in found.values()} == {SERIAL_NUMBER}
    assert {one["driver"] for one in found.values()} == {"cardlink"}
    assert {one["url"] for one in found.values()} == {BULK_URL, SERIAL_URL}


@pytest.mark.parametrize("url", [BULK_URL, SERIAL_URL])
async def test_reports_come_over_usb_and_the_serial_port(testbed: Testbed, url: str) -> None:
    testbed.probe(url)
    await testbed.heard(state="ready")
    for _ in range(20):
        testbed.shoe.draw()
    await reported(testbed)
    numbers = [json.loads(one["out"])["number"] for one in testbed.said if '"reported"' in one.get("out", "")]
    assert numbers == list(range(1, testbed.shoe.device.link.last_number + 1))


async def test_statuses_come_on_the_interrupt_endpoint(testbed: Testbed) -> None:
    """The device's signs of life come by that endpoint alone, and the link stays up."""
    testbed.probe(BULK_URL)
    await testbed.heard(state="ready")
    await testbed.wait(lambda: INTERRUPT_IN in testbed.shoe.usb.sent)
    await reported(testbed)
    assert not testbed.shoe.usb.waiting(INTERRUPT_IN), "it was read"
    assert set(testbed.shoe.usb.sent) == {BULK_IN, INTERRUPT_IN}


async def test_a_change_from_one_way_to_the_other(testbed: Testbed) -> None:
    for url in (BULK_URL, SERIAL_URL, BULK_URL):
        seen = len(testbed.said)
        testbed.probe(url)
        await testbed.heard(seen, state="ready")
        await reported(testbed, seen)
        await testbed.stop()


# -- unplugged ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("url", "how"), [(BULK_URL, "system"), (SERIAL_URL, "")])
async def test_unplugged_in_mid_transfer_and_found_under_another_node(testbed: Testbed, url: str, how: str) -> None:
    testbed.probe(url, how)
    await testbed.heard(state="ready")
    for turn in range(2):
        seen = len(testbed.said)
        number = testbed.shoe.draw()
        await testbed.shoe.server.unplug()
        await testbed.heard(seen, state="lost", code="transport-lost")
        await testbed.until(lambda one: "detached" in one, seen)
        await testbed.shoe.server.plug()
        assert await testbed.attach() == 3 + turn
        await testbed.heard(seen, state="ready")
        await testbed.heard(reported="CardDrawn", number=number)
        await reported(testbed, seen)


async def test_the_cable_is_pulled_at_several_places_and_a_later_link_works(testbed: Testbed) -> None:
    """`tests.link.test_hang_up` does it at every byte of a link."""
    for count in (1, 60, 150, 400):
        testbed.shoe.usb.faults.unplug_after = testbed.shoe.usb.moved + count
        seen = len(testbed.said)
        testbed.probe(BULK_URL)
        await testbed.heard(seen, state="connecting")
        testbed.shoe.draw()
        await testbed.wait(lambda: not testbed.shoe.usb.plugged)
        await testbed.shoe.server.unplug()
        await testbed.until(lambda one: "detached" in one, seen)
        await testbed.stop(at_once=True)  # it may have opened the node again, which umockdev does not survive
        await testbed.shoe.server.plug()
        await testbed.attach()
    testbed.probe(BULK_URL)
    await testbed.heard(len(testbed.said), state="ready")


# -- stall, short packet, babble, time-out ------------------------------------------------------------------------


@pytest.mark.parametrize("endpoint", [BULK_IN, BULK_OUT, INTERRUPT_IN])
async def test_a_stall_is_cleared_and_the_link_stays_up(testbed: Testbed, endpoint: int) -> None:
    testbed.probe(BULK_URL)
    await testbed.heard(state="ready")
    seen = len(testbed.said)
    testbed.shoe.usb.halt(endpoint)
    await reported(testbed)
    await testbed.settles()
    assert endpoint not in testbed.shoe.usb.halted
    assert not any('"state"' in one.get("out", "") for one in testbed.said[seen:])


async def test_an_endpoint_that_stalls_again_and_again_ends_the_link(testbed: Testbed) -> None:
    testbed.probe(BULK_URL)
    await testbed.heard(state="ready")
    testbed.shoe.usb.halt(BULK_IN)
    testbed.shoe.usb.halt(BULK_IN)
    lost = await testbed.heard(state="lost", code="transport-lost")
    assert os.strerror(errno.EPIPE) in lost["out"]


async def test_a_packet_that_is_too_long_ends_the_link(testbed: Testbed) -> None:
    """`test_faults_over_usb` has what follows: umockdev 0.17 breaks a program that opens the same node twice."""
    testbed.probe(BULK_URL)
    await testbed.heard(state="ready")
    testbed.shoe.injector.arm(parse_fault("babble@1"))
    testbed.shoe.draw()
    lost = await testbed.heard(state="lost", code="transport-lost")
    assert os.strerror(errno.EOVERFLOW) in lost["out"]


async def test_packets_that_are_shorter_than_they_need_be(testbed: Testbed) -> None:
    testbed.probe(BULK_URL)
    await testbed.heard(state="ready")
    testbed.shoe.injector.arm(parse_fault("short-packets=7"))
    await reported(testbed)


async def test_a_device_that_does_not_read_for_some_time(testbed: Testbed) -> None:
    """Writes time out in libusb, and are tried again."""
    testbed.probe(BULK_URL)
    await testbed.heard(state="ready")
    testbed.shoe.usb.faults.takes_nothing = True
    number = testbed.shoe.draw()
    await testbed.heard(reported="CardDrawn", number=number)
    testbed.shoe.usb.faults.takes_nothing = False
    testbed.shoe.usb.go_on()
    await testbed.settles()


async def test_a_device_without_an_interface_for_this_program() -> None:
    async with attached(UsbDescription(SERIAL_NUMBER, interface_class=3, serial_port=False)) as testbed:
        testbed.probe(BULK_URL)
        await testbed.heard(state="absent", code="usb-interface")
