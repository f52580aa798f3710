"""People at a real daemon's table, who act through its API and wait for changes that it shows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

from controller.api.bodies import EventId, OperationAnswer
from controller.api.client import ApiClient
from controller.api.view import TableView
from controller.table.operations import AnyOperation
from simulators.people.crew import CREW, CrewClient, CrewMember
from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.stage import Stage

DEALER, SUPERVISOR, _ = CREW


class PeopleAtTable:
    """A person at the table: the dealer unless another member is named."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._random = Random(5)

    async def view(self) -> TableView:
        return await self.stage.state()

    async def until(self, so: Callable[[TableView], bool]) -> TableView:
        """Wait for the first view that satisfies the condition, checked after every event."""
        async with ApiClient(self.stage.socket) as client, asyncio.timeout(PATIENCE):
            view = await client.state()
            stream = client.events(EventId(entry=view.entry))
            try:
                while not so(view):
                    await anext(stream)
                    view = await client.state()
            finally:
                await stream.aclose()
            return view

    async def say(self, operation: AnyOperation, member: CrewMember = DEALER) -> OperationAnswer:
        async with ApiClient(self.stage.socket) as client:
            voice = CrewClient(client, self._random)
            return await voice.send(voice.request(member, (await client.state()).round, operation))

    async def do(self, operation: AnyOperation, member: CrewMember = DEALER) -> None:
        answer = await self.say(operation, member)
        assert answer.accepted, answer.sentence
