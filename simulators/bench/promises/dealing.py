"""One deck, shuffled, dealt and unloaded, recorded once and judged by many tests.

One deck is therefore enough, and nobody has to put in another between two tests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import msgspec

from firmware_bridge.drivers.cardlink import messages
from simulators.bench.attempt import FrameCame
from simulators.bench.frames import FrameHost
from simulators.bench.promise import PAGE, BrokenPromiseError, Measurement, check

SET_SIZE = 3
MOST_SETS = 20
DECK_SIZE = 52


class DealStep(msgspec.Struct, frozen=True):
    """A command with its answer and the status after it; `seconds` until the answer."""

    order: messages.AnyOrder
    command_id: int
    answer: messages.AnswerBody
    status: messages.StatusBody
    seconds: float


class DeckRecord(msgspec.Struct):
    """Reports and steps in order; forming a set is a step. `beside` is the answer to a second command that moves cards,
    sent during the shuffle; `overlapped` tells whether the shuffle was still running then.
    """

    said: messages.IdentityBody
    boot: int
    began: messages.StatusBody
    reports: list[FrameCame] = []
    steps: list[DealStep] = []
    beside: messages.AnswerBody | None = None
    overlapped: bool = False
    measurements: list[Measurement] = []

    def measure(self, measured: Measurement) -> None:
        """Keep a measurement. Fail the device if it exceeds its limit."""
        self.measurements.append(measured)
        check(measured.within, str(measured))

    def run(self, test: Coroutine[Any, Any, None]) -> None:
        asyncio.run(test)

    def found(self, kind: type[messages.ReportBody]) -> list[Any]:
        """Return the reports of a kind, each once."""
        return [one.body for one in self.reports if isinstance(one.body, kind)]

    def of(self, kind: type[messages.Body]) -> list[DealStep]:
        return [step for step in self.steps if isinstance(step.order, kind)]

    @property
    def shuffled(self) -> bool:
        return any(step.answer.done for step in self.of(messages.ShuffleOrder))


class DeckDealer:
    """Deals one deck, asking a person to put one in and to lift sets if the host has an operator."""

    def __init__(self, host: FrameHost) -> None:
        self._host = host
        self._place = 0

    async def deal(self) -> DeckRecord:
        """Deal the deck. Raise `BrokenPromiseError` if the device does not even answer."""
        try:
            return await self._deal()
        except AssertionError as error:
            raise BrokenPromiseError(f'{PAGE}, "Commands": while a deck was dealt: {error}') from error

    async def _deal(self) -> DeckRecord:
        host = self._host
        begins = await host.settle()
        assert host.active is not None
        self._place = len(host.came)
        dealt = DeckRecord(host.active.said, host.active.boot, begins)
        words = dealt.said.capabilities
        if dealt.said.kind == "shuffler" and await self._shuffle(dealt):
            await self._step(dealt, messages.HoldExitOrder())
            await self._step(dealt, messages.DispenseOrder(SET_SIZE))
            await self._step(dealt, messages.ReleaseExitOrder())
            if "dispenses_on_command" in words:
                await self._form_sets(dealt)
                await self._step(dealt, messages.ShuffleOrder())  # the deck is no longer fresh
            await self._step(dealt, messages.HoldExitOrder())
            if "unloads_stub" in words:
                await self._step(dealt, messages.UnloadStubOrder())
        seen: dict[tuple[int, int], FrameCame] = {}
        for one in host.reports(self._place):
            seen.setdefault((one.frame.boot, one.frame.number), one)
        dealt.reports = list(seen.values())
        return dealt

    async def _shuffle(self, dealt: DeckRecord) -> bool:
        """Shuffle a fresh deck. If there is no fresh deck, unload the rest first, or ask a person for a deck."""
        if (await self._first_shuffle(dealt)).answer.done:
            return True
        if "unloads_stub" in dealt.said.capabilities:
            await self._step(dealt, messages.UnloadStubOrder())
            if (await self._first_shuffle(dealt)).answer.done:
                return True
        if not await self._host.ask_person("Put a full deck into the device", lambda: self._loaded() or None):
            return False
        return (await self._first_shuffle(dealt)).answer.done

    def _loaded(self) -> bool:
        return any(isinstance(one.body, messages.DeckLoadedReport) for one in self._host.reports(self._place))

    async def _first_shuffle(self, dealt: DeckRecord) -> DealStep:
        """Shuffle, and send another command that moves cards meanwhile."""
        host = self._host
        begun = host.now
        place = len(host.came)
        shuffle = host.command(messages.ShuffleOrder())
        beside = host.command(messages.RunSelfTestOrder())
        answer = await host.answer(shuffle, place)
        seconds = host.now - begun
        second = await host.answer(beside, place)
        if answer.done:
            dealt.beside = second
            at = {
                one.body.command_id: n for n, one in enumerate(host.came) if isinstance(one.body, messages.AnswerBody)
            }
            dealt.overlapped = seconds > 1.0 or at[beside] < at[shuffle]
        status = await host.status()
        last = beside if second.done else shuffle
        step = DealStep(messages.ShuffleOrder(), last if answer.done else shuffle, answer, status, seconds)
        dealt.steps.append(step)
        return step

    async def _form_sets(self, dealt: DeckRecord) -> None:
        """Form sets until the deck is empty, or a set is in the tray and nobody lifts it."""
        for _ in range(MOST_SETS):
            step = await self._step(dealt, messages.DispenseOrder(SET_SIZE))
            if step.answer.done or step.answer.reason != "tray":
                if not step.answer.done:
                    return
                continue
            if not await self._lifted():
                return

    async def _lifted(self) -> bool:
        """Ask a person to lift the set, and return whether it was lifted."""
        place = len(self._host.came)

        def gone() -> bool | None:
            for one in self._host.came[place:]:
                if isinstance(one.body, messages.SetRemovedReport):
                    return True
            return None

        return await self._host.ask_person("Lift the set out of the tray", gone)

    async def _step(self, dealt: DeckRecord, order: messages.AnyOrder) -> DealStep:
        host = self._host
        begun = host.now
        command_id = host.command(order)
        answer = await host.answer(command_id)
        seconds = host.now - begun
        step = DealStep(order, command_id, answer, await host.status(), seconds)
        dealt.steps.append(step)
        return step
