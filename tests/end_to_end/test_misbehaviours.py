"""Devices that misbehave while a round is dealt, at a real daemon: no card is lost, doubled or unseen in silence.

Each case follows from its number. What the device physically gave out is compared with the table. The table may stop
and say why; then people look. Otherwise the round ends, and every face and the stub are where they really are.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Final

import pytest

from controller.api.view import TableView
from controller.games.specification import Unit
from controller.table import operations
from firmware_bridge.cards import Card
from tests.end_to_end.misbehaviours import MISBEHAVIOURS
from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.silent_device import SilentTable, silent_table
from tests.end_to_end.stage import Stage, short_folder
from tests.support import long_forms

CASES: Final = 200
SHORT: Final = (2, 60)  # the cases of the default tests
DUE_WITHIN: Final = 0.5  # seconds
PLACES: Final = ("B1", "B3", "D")
GONE: Final = ("device-no-answer", "device-garbage", "device-rejects-host")  # why a lost device does not come back
LINKS: Final = 4  # a device that makes more of them does not come back to stay


class DealtRound:
    """A round at a device that begins to misbehave before some of its acts. `given` are the cards physically given out,
    for each act of the dealer.
    """

    def __init__(self, table: SilentTable, unit: Unit, planned: list[tuple[int, str]], random: Random) -> None:
        self.table = table
        self.unit = unit
        self.given: list[list[Card]] = []
        self._planned = planned
        self._random = random

    def misbehave(self) -> None:
        """Begin the misbehaviours that are planned for the next act."""
        mechanism = self.table.device.mechanism
        for name in [name for act, name in self._planned if act == len(self.given)]:
            before = list(mechanism.inside)
            MISBEHAVIOURS[name](self.table, self._random)
            self.table.device.changed()
            left = len(before) - len(mechanism.inside)
            if self.unit is Unit.SINGLES and left:
                self.given.append(before[:left])

    async def until(self, so: Callable[[TableView], bool]) -> TableView:
        """Wait until the view satisfies the condition, or the table has stopped."""
        return await self.wait(lambda view: so(view) or has_stopped(view))

    async def wait(self, so: Callable[[TableView], bool]) -> TableView:
        """Wait until the view satisfies the condition, checked whenever the host has sent something."""
        found: list[TableView] = []

        async def check() -> bool:
            found[:] = [await self.table.state()]
            return so(found[0])

        async with asyncio.timeout(PATIENCE):
            await self.table.until_so(check)
        return found[0]

    async def act(self, operation: operations.AnyOperation) -> TableView:
        """Do something at the table, which refuses it only if it has stopped."""
        accepted = await self.table.is_accepted(operation)
        view = await self.table.state()
        assert accepted or has_stopped(view), operation
        return view

    async def until_back(self) -> bool:
        """Wait until the lost device is back. Return False if the table says more than that, or it does not come.

        The dealer who then compares the table with the screen finds no other card.
        """
        view = await self.wait(
            lambda view: (
                view.device.status_agrees
                or bool(view.irregularities or view.device.stopped)
                or view.service == "out_of_service"
                or view.device.code in GONE
                or view.device.links > LINKS
            )
        )
        if not view.device.status_agrees or view.irregularities or view.device.stopped:
            return False
        mechanism = self.table.device.mechanism
        assert view.dealt == sum(map(len, self.given)), "a card was taken unseen"
        assert view.tray == len(mechanism.tray)
        return await self.table.is_accepted(operations.ContinueRound())

    async def begin(self) -> None:
        table, mechanism = self.table, self.table.device.mechanism
        await table.until(lambda: "in_service" in [event["service"] for event in table.of("service_changed")])
        await table.do(operations.OpenTable())
        mechanism.load(mechanism.next_deck(), deck=1)
        await table.until(lambda: table.count("deck_arrived"))
        if self.unit is Unit.SINGLES:
            await table.do(operations.ShuffledOutside("batch shuffler"))
        await table.until(lambda: table.count("deck_shuffled"))
        await table.settled()
        await table.do(operations.PlaceYourBets())
        await table.do(operations.OccupyBoxes((1, 3)))

    async def deal(self) -> TableView:
        """Deal until the deal is over or the table stops. Return the last view."""
        self.misbehave()
        view = await self.act(operations.NoMoreBets())
        mechanism = self.table.device.mechanism
        while True:
            view = await self.until(lambda view: self._can_act() or view.dealt == view.to_deal)
            if has_stopped(view):
                if not (view.service == "reconciling" and await self.until_back()):
                    return await self.table.state()
                continue
            if view.dealt == view.to_deal:
                return view
            self.given.append(mechanism.lift_set() if self.unit is Unit.SETS else mechanism.draw())
            dealt = view.dealt
            self.misbehave()
            await self.until(lambda view, dealt=dealt: view.dealt > dealt)  # type: ignore[misc]  # bound now

    def _can_act(self) -> bool:
        mechanism = self.table.device.mechanism
        return bool(mechanism.tray) if self.unit is Unit.SETS else not mechanism.exit_held

    def lying(self) -> dict[str, list[str]]:
        """Return the cards that people dealt to each place, one act after the other."""
        found: dict[str, list[str]] = {place: [] for place in PLACES}
        for turn, cards in enumerate(self.given):
            found[PLACES[turn % len(PLACES)]] += [card.code for card in cards]
        return found

    async def end(self) -> TableView:
        """Turn over all hands, count the stub and see the exit held, unless the table stops. Return the last view."""
        mechanism = self.table.device.mechanism
        counted = operations.CountCards("stub", len(mechanism.inside), "a witness")
        acts = [operations.ExposeHand(place) for place in ("D", "B1", "B3")]
        for operation in (*acts, *([counted] if self.unit is Unit.SINGLES else [])):
            view = await self.act(operation)
            if has_stopped(view):
                return view
        return await self.until(lambda view: view.deck.stub is not None and mechanism.exit_held)


def has_stopped(view: TableView) -> bool:
    """Return whether the table has stopped and says why."""
    return bool(view.irregularities or view.device.stopped) or view.service != "in_service"


@asynccontextmanager
async def dealt_round(number: int) -> AsyncIterator[DealtRound]:
    random = Random(number)
    unit = random.choice(list(Unit))
    acts = 3 if unit is Unit.SETS else 9
    names = random.sample(sorted(MISBEHAVIOURS), random.choice((1, 1, 2)))
    planned = [(random.randrange(acts), name) for name in names]
    with short_folder() as folder:
        stage = Stage(folder, unit=unit, rounds=1, seed=number)
        async with stage, silent_table(stage, DUE_WITHIN) as table:
            yield DealtRound(table, unit, planned, random)


def assert_nothing_is_doubled(view: TableView) -> None:
    ordinals = [ordinal for hand in view.hands for ordinal in hand.ordinals]
    assert len(ordinals) == len(set(ordinals)), view.hands


@pytest.mark.parametrize(
    "number",
    [
        *SHORT,
        *(pytest.param(case, marks=pytest.mark.soak) for case in long_forms.some(range(CASES)) if case not in SHORT),
    ],
)
async def test_no_card_is_lost_in_silence(number: int) -> None:
    async with dealt_round(number) as dealt:
        await dealt.begin()
        view = await dealt.deal()
        assert_nothing_is_doubled(view)
        if has_stopped(view):
            return
        view = await dealt.end()
        assert_nothing_is_doubled(view)
        if has_stopped(view):
            return
        assert {str(hand.place): list(hand.cards) for hand in view.hands} == dealt.lying()
        assert view.ledger is not None
        assert (view.ledger.total, view.deck.stub) == (52, len(dealt.table.device.mechanism.inside))
