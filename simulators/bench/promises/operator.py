"""Tests that need a person to draw cards, pull the cable or switch power off; only with `--operator`."""

from __future__ import annotations

from typing import Final

import msgspec

from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.errors import BridgeError
from simulators.bench.attempt import FrameCame
from simulators.bench.frames import FrameHost
from simulators.bench.promise import check, promise
from simulators.bench.promises.cards import CARDS, cards_of
from simulators.bench.promises.sealing import check_shortest

DRAWN: Final = 3  # cards
GIVEN_UP: Final = 5.0  # seconds after which a device has given up on a lost host


class TestOperatorPromises:
    """The device behaves when a person does what the bench asks for."""

    @promise("Bodies", "Reports", "cards that are drawn are reported, each at its place, with what remains")
    @promise("Sealed frames", "Lengths", "reports of single cards have one length, whatever the card")
    async def test_cards_that_are_drawn_are_reported(self, host: FrameHost) -> None:
        await host.settle()
        assert host.active is not None
        needs_person(host)
        if host.active.said.unit == "sets":
            host.cannot("no single cards are drawn from this device")
        await host.order(messages.ReleaseExitOrder())
        place = len(host.came)
        before = await host.status()

        def drawn() -> list[FrameCame]:
            return [one for one in host.reports(place) if cards_of(one.body)]

        enough = await host.ask_person(
            f"Draw {DRAWN} cards", lambda: sum(len(cards_of(one.body)) for one in drawn()) >= DRAWN or None
        )
        check(enough, f"{DRAWN} cards were drawn, or should have been, and not all of them were reported")
        sizes: dict[tuple[int, ...], set[int]] = {}
        for one in drawn():
            check(all(card in CARDS for card in cards_of(one.body)), "a reserved card number was sent")
            check_shortest(one.plain)
            if isinstance(one.body, messages.CardDrawnReport):
                seen = one.body
                others = (seen.uptime_ms, seen.shuffle, seen.ordinal, seen.remaining, seen.deck)
                key = tuple(len(msgspec.msgpack.encode(number)) for number in others)
                sizes.setdefault(key, set()).add(len(one.plain))
        check(all(len(found) == 1 for found in sizes.values()), "the length of a report tells cards apart")
        status = await host.status()
        out = sum(len(cards_of(one.body)) for one in {one.frame.number: one for one in drawn()}.values())
        counted = status.dispensed - before.dispensed
        check(counted == out, f"`dispensed` rose by {counted} while {out} cards were drawn")
        await host.order(messages.HoldExitOrder())

    @promise("Commands", "hold exit", "a shoe locks its exit")
    async def test_no_card_can_be_drawn_while_the_exit_is_held(self, host: FrameHost) -> None:
        await host.settle()
        needs_person(host)
        if not (await host.order(messages.HoldExitOrder())).done:
            host.cannot("the device does not hold its exit")
        place = len(host.came)
        await host.ask_person("Try to draw a card; the exit is held", lambda: bool(host.reports(place)) or None)
        check(not [one for one in host.reports(place) if cards_of(one.body)], "a card left while the exit was held")

    @promise("Transport", "", "nothing is lost when the cable is pulled, and the exit is held")
    async def test_a_pulled_cable_loses_nothing(self, host: FrameHost) -> None:
        await host.settle()
        needs_person(host)
        await host.order(messages.ReleaseExitOrder())
        host.acknowledges = False
        await host.cause(2)
        due, boot = host.held[1] + 1, host.active.boot if host.active else 0
        pulled = await host.ask_person("Pull the cable out", lambda: (not host.is_open) or None)
        check(pulled, "the connection did not end when the cable was pulled")
        status = await self._again(host, "Put the cable in again")
        check(host.active is not None and host.active.boot == boot, "the device restarted when its cable was pulled")
        check(status.exit_held, "the exit is not held after the cable was pulled")
        first = await host.wait_for(lambda: next(iter(host.reports(self._place)), None), "the reports are gone")
        check(
            first.frame.number == due, f"report {first.frame.number} came first after the cable was pulled, not {due}"
        )

    @promise("Signs of life", "Host lost", "the device holds its exit when it starts")
    @promise("Bodies", "Reports", "*started* is the first report of each boot")
    async def test_it_starts_with_its_exit_held(self, host: FrameHost) -> None:
        await host.settle()
        needs_person(host)
        await host.order(messages.ReleaseExitOrder())
        assert host.active is not None
        boot, nonce = host.active.boot, host.active.said.nonce
        host.acknowledges = True
        await host.ask_person("Switch the device off", lambda: (not host.is_open) or None)
        status = await self._again(host, "Switch the device on again")
        check(host.active.boot != boot, "the boot number has not changed")
        check(host.active.said.nonce != nonce, "a nonce was used again after a start")
        check(status.exit_held, "the exit is not held after a start")
        first = await host.wait_for(
            lambda: next((one for one in host.reports(self._place) if one.frame.boot != boot), None), "nothing came"
        )
        check(isinstance(first.body, messages.StartedReport), "the first report after a start is not *started*")

    _place = 0

    async def _again(self, host: FrameHost, what: str) -> messages.StatusBody:
        """Open the connection as soon as possible, and make a link."""
        host.close()
        host.active = None
        host.acknowledges = False
        await host.listen(GIVEN_UP)
        host.say(f"{what}.")
        until = host.now + host.operator
        while True:
            try:
                await host.open()
                break
            except BridgeError as error:
                check(host.now < until, f"the device cannot be reached again: {error}")
                await host.listen(1.0)
        status = await host.link()
        self._place = host.linked_at
        return status


def needs_person(host: FrameHost) -> None:
    if not host.operator:
        host.cannot("a person has to help: --operator")
