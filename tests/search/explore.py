"""Finds every reachable state, breadth first, and from each of them a path to the next round."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from msgspec.structs import replace

from controller.games import game
from controller.games.specification import Unit
from controller.table import events, operations
from controller.table.decide import decide
from controller.table.inputs import AnyInput, DaemonStarted, PersonActed
from controller.table.phases import Phase
from controller.table.settings import Settings
from controller.table.state import TableState
from firmware_bridge.cards import DECK, Card
from tests.search import device as devices
from tests.search.device import Device
from tests.search.invariants import ELSEWHERE, BrokenError, check_answer, check_state, check_step
from tests.search.key import Key, key_of
from tests.search.moves import LATE, Move, Scope, acted, moves

ENDLESS: Final = 100  # inputs that follow from one move


class Node(NamedTuple):
    """One state, with the kinds of irregularity raised on the first path to it."""

    state: TableState
    device: Device
    left: int
    raised: frozenset[str] = frozenset()


class Found(NamedTuple):
    """The first path to a state: its predecessor, the last move, the number of moves; and its description."""

    before: int
    name: str
    depth: int
    stands: str


@dataclass
class Search:
    """The result of one search. `edges`: for each state the states to which regular moves lead."""

    states: list[Found] = field(default_factory=list)
    edges: list[list[int]] = field(default_factory=list)
    goals: set[int] = field(default_factory=set)
    transitions: int = 0
    seconds: float = 0.0
    broken: list[str] = field(default_factory=list)

    def path(self, number: int) -> list[str]:
        """Return the moves that led there."""
        names: list[str] = []
        while (found := self.states[number]).depth:
            names.append(found.name)
            number = found.before
        return names[::-1]

    @property
    def deepest(self) -> int:
        return max(range(len(self.states)), key=lambda number: self.states[number].depth)

    def wrong(self) -> list[str]:
        """Return violations, and states without a path to the next round. The nearest come first,
        each with its path.
        """
        stuck = [
            f"no way out of {self.states[number].stands} -- after: {' / '.join(self.path(number))}"
            for number in self.without_way_out()
        ]
        return [*self.broken, *(stuck if not self.broken else stuck[:1])]

    def without_way_out(self) -> list[int]:
        """Return the states from which regular moves do not lead to the next round. The first is one of the nearest."""
        into: list[list[int]] = [[] for _ in self.states]
        for source, targets in enumerate(self.edges):
            for target in targets:
                into[target].append(source)
        led, queue = set(self.goals), deque(self.goals)
        while queue:
            for source in into[queue.popleft()]:
                if source not in led:
                    led.add(source)
                    queue.append(source)
        return [number for number in range(len(self.states)) if number not in led]


def begin(game_id: str, unit: Unit, scope: Scope, irregularities: int, first: str = "") -> Node:
    """Return an idle table with a shuffled deck, and the bettors. `first`: the top card."""
    rules = game(game_id)
    order: tuple[Card, ...] = DECK
    if first:
        shown = Card.parse(first)
        order = (shown, *(card for card in DECK if card is not shown))
    node = Node(TableState(), Device(unit, order, deck=0), irregularities)
    settings = Settings(game_id, unit, rules.boxes[2], count_stub_by_hand=True, hands_by_device=True)
    node = after(
        node,
        Move("", (DaemonStarted("T1", True, settings, "start-1"), *devices.connect(node.device).sent), node.device),
    )
    bettors = scope.boxes if scope.wagers else ()
    opening: list[operations.AnyOperation] = [operations.OpenTable()]
    opening += [operations.EnterBettor(f"b{box}", box) for box in bettors]
    if scope.corrections:
        opening.append(operations.EnterBettor(LATE))
    for operation in opening:
        node = after(node, Move("", (acted(node.state, operation),), node.device))
    loaded = devices.load(node.device)
    node = after(node, Move("", loaded.sent, loaded.device))
    if unit is Unit.SINGLES:
        node = after(node, Move("", (acted(node.state, operations.ShuffledOutside("hand")),), node.device))
    return Node(node.state, node.device, irregularities)


def after(node: Node, move: Move) -> Node:
    """Return the state after a move and all that follows from it. Raise `BrokenError` for a violation."""
    state, device, raised = node.state, move.device, node.raised
    queue = deque(move.inputs)
    for _ in range(ENDLESS):
        if not queue:
            check_state(state, device, raised)
            return Node(state, device, node.left - (move.irregular and not move.free), raised)
        given = queue.popleft()
        state, device, kinds, sent = _take(state, device, given)
        raised |= kinds
        queue += sent
    raise BrokenError("table and device react to each other without end")


def _take(
    before: TableState, device: Device, given: AnyInput
) -> tuple[TableState, Device, frozenset[str], list[AnyInput]]:
    decided = decide(before, given)
    numbered = tuple(enumerate(decided.events, start=before.entry + 2))
    check_step(before, given, numbered, decided.state)
    if isinstance(given, PersonActed):
        check_answer(numbered, type(given.operation).__name__)
    kinds: set[str] = set()
    sent: list[AnyInput] = []
    for entry, event in numbered:
        match event:
            case events.CommandIssued():
                moved = devices.obey(device, entry, event.command)
                device = moved.device
                sent += moved.sent
            case events.DeviceLost():
                device = device._replace(linked=False)
            case events.IrregularityRaised():
                kinds.add(event.kind)
            case events.CardsFoundElsewhere() | events.OrderCorrected():
                kinds.add(ELSEWHERE)
    return replace(decided.state, answers=()), device, frozenset(kinds), sent


def explore(starts: list[Node], scope: Scope, most: int = 0) -> Search:
    """Find every state reachable from these. `most` limits the number of states; 0 means no limit."""
    began = time.perf_counter()
    search = Search()
    known: dict[Key, int] = {}
    queue: deque[tuple[int, Node]] = deque()

    def reach(node: Node, before: int, name: str, depth: int) -> int:
        key = key_of(node.state, node.device, node.left, corrections=scope.corrections)
        number = known.setdefault(key, len(search.states))
        if number == len(search.states):
            search.states.append(Found(before, name, depth, f"{node.state.phase}, {node.state.service}"))
            search.edges.append([])
            if node.state.phase is Phase.BETTING and node.state.round.number > starts[0].state.round.number + 1:
                search.goals.add(number)
            else:
                queue.append((number, node))
        return number

    for start in starts:
        reach(start, 0, "", 0)
    while queue and (not most or len(search.states) < most):
        number, node = queue.popleft()
        for move in moves(node.state, node.device, scope, node.left):
            search.transitions += 1
            try:
                reached = reach(after(node, move), number, move.name, search.states[number].depth + 1)
            except Exception as broken:  # any error is a violation, reported with its path
                way = " / ".join([*search.path(number), move.name])
                search.broken.append(f"{type(broken).__name__}: {broken} -- after: {way}")
                continue
            if not move.irregular:
                search.edges[number].append(reached)
    search.seconds = time.perf_counter() - began
    return search
