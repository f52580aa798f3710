"""One deck, shuffled, dealt and unloaded, recorded once and judged by many tests.

One deck is therefore enough, and nobody has to put in another between two tests.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from typing import Any

import msgspec

from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.messages import FrameKind
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
    sent during the shuffle; `overlapped` tells whether the shuffle was still running then. `silence` is the longest
    time without a status during the shuffle, in seconds. `held_early` tells whether a hold was answered before the set
    in motion was reported. `finished_late` tells whether the unloading came to its end although another link was made
    meanwhile, and `answered_late` whether it was answered there.
    """

    said: messages.IdentityBody
    boot: int
    began: messages.StatusBody
    reports: list[FrameCame] = []
    steps: list[DealStep] = []
    beside: messages.AnswerBody | None = None
    overlapped: bool = False
    silence: float = 0.0
    held_early: bool | None = None
    finished_late: bool | None = None
    answered_late: bool | None = None
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
                await self._unload_over_a_new_link(dealt)
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
            times = [begun, *(one.at for one in host.came[place:] if one.frame.kind == FrameKind.STATUS)]
            during = [at for at in times if at <= begun + seconds]
            dealt.silence = max(after - before for before, after in itertools.pairwise([*during, begun + seconds]))
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
        for number in range(MOST_SETS):
            forming = self._step(dealt, messages.DispenseOrder(SET_SIZE)) if number else self._hold_meanwhile(dealt)
            step = await forming
            if step.answer.done or step.answer.reason != "tray":
                if not step.answer.done:
                    return
                continue
            if not await self._lifted():
                return

    async def _hold_meanwhile(self, dealt: DeckRecord) -> DealStep:
        """Order a set and, while it is formed, a hold; then release the exit."""
        host = self._host
        begun, place = host.now, len(host.came)
        order = messages.DispenseOrder(SET_SIZE)
        dispense, hold = host.command(order), host.command(messages.HoldExitOrder())
        answer = await host.answer(dispense, place)
        seconds = host.now - begun
        await host.answer(hold, place)
        if answer.done:
            held_at = host.came.index(host.answers(hold, place)[0])
            sets = [one for one in host.came[place:held_at] if isinstance(one.body, messages.SetDispensedReport)]
            dealt.held_early = not sets
        step = DealStep(order, dispense, answer, await host.status(), seconds)
        dealt.steps.append(step)
        await self._step(dealt, messages.ReleaseExitOrder())
        return step

    async def _unload_over_a_new_link(self, dealt: DeckRecord) -> None:
        """Order the stub and make another link at once; the status then tells what became of the order. An order that
        was neither answered nor done is no step.
        """
        host = self._host
        begun, place = host.now, len(host.came)
        order = messages.UnloadStubOrder()
        command_id = host.command(order)
        status = await host.link()
        linked_at = host.linked_at
        while status.moving:
            status = await host.status()
        answers = host.answers(command_id, place)
        dealt.finished_late = bool(answers) or status.last_command == command_id
        dealt.answered_late = bool(host.answers(command_id, linked_at))
        if dealt.finished_late:
            answer = answers[0].body if answers else messages.AnswerBody(command_id, True)
            dealt.steps.append(DealStep(order, command_id, answer, status, host.now - begun))

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
