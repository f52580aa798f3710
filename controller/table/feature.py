"""The parts of a feature of the table: a row for each operation that people can enter.

A feature is a module: what refuses an operation (`verify_...`), what follows from it, and `FEATURE`, its rows. A row
says who may enter the operation and when, and what people are offered. `permissions` gathers the rows of all features;
`perform` applies them, `offers` tries them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import fields

from controller.roles import Role
from controller.table.decision import Decision
from controller.table.inputs import PersonActed
from controller.table.model import Asking
from controller.table.operations import Operation
from controller.table.phases import BETWEEN_ROUNDS, DEALING, WINDOW_OPEN, Phase, Service
from controller.table.state import TableState
from firmware_bridge.messages import Message


class When(NamedTuple):
    """The services of the table that permit an operation, and whether it is also permitted while the table is held."""

    services: frozenset[Service]
    held: bool


RUNNING: Final = When(frozenset({Service.IN_SERVICE}), held=False)
NOT_HELD: Final = When(frozenset(Service), held=False)
ALWAYS: Final = When(frozenset(Service), held=True)  # irregularities, decks and counts do not wait for play
RECONCILING: Final = When(frozenset({Service.RECONCILING}), held=True)


ANY_PHASE: Final = frozenset(Phase)
BETTORS_COME: Final = frozenset(Phase) - {Phase.CLOSED}
REPORTED: Final = WINDOW_OPEN | {Phase.IDLE}  # after an announced start that was cancelled
BETS_LIE: Final = WINDOW_OPEN - {Phase.VOIDED}
CARDS_LIE: Final = DEALING | {Phase.EXAMINING, Phase.EXPOSING, Phase.SETTLING, Phase.CONCLUDED}
CARDS_ON_TABLE: Final = DEALING | {Phase.EXAMINING, Phase.EXPOSING}
UNDER_MAINTENANCE: Final = frozenset({Phase.MAINTENANCE})
CLOSED: Final = frozenset({Phase.CLOSED})
BETTING: Final = frozenset({Phase.BETTING})
FIRST_CARD: Final = frozenset({Phase.FIRST_CARD})
SHOWING: Final = frozenset({Phase.EXAMINING, Phase.EXPOSING})
SETTLING: Final = frozenset({Phase.SETTLING})
TO_PAY: Final = SETTLING | BETWEEN_ROUNDS  # bets are returned, or a settlement was repeated


WORDS: Final = "as entered"
"""Sample text for a field in which a person enters text."""
UNKNOWN: Final = "\N{BULLET}"
"""A name that no deck, back or bettor of a table has."""
MOST_TRIED: Final = 8  # samples of many possible ones: bets, bettors


class Group(NamedTuple):
    """One offer. `samples`: at least one has to be permitted; all share the known arguments.

    `untried`: the contents of the operation are not tried, but rank, phase, service and hold are.
    """

    samples: tuple[Operation, ...]
    known: Mapping[str, Any] = MappingProxyType({})
    needs: tuple[str, ...] = ()
    twice: bool = False
    asking: Asking | None = None
    role: Role = Role.DEALER
    untried: bool = False


def group(
    *samples: Operation,
    known: Iterable[str] = (),
    needs: Iterable[str] = (),
    twice: bool = False,
    asking: Asking | None = None,
    role: Role = Role.DEALER,
    untried: bool = False,
) -> Group:
    """Build a group. `known`: fields whose value the samples have. The other required fields are needed from people."""
    first = samples[0]
    values = {name: msgspec.to_builtins(getattr(first, name)) for name in known}
    required = (name for name in _required(type(first)) if name not in values)
    return Group(samples, values, tuple(dict.fromkeys((*required, *needs))), twice, asking, role, untried)


@cache
def _required(operation: type[Operation]) -> tuple[str, ...]:
    """Return the fields without a default. msgspec finds them from the annotations, at each call."""
    return tuple(field.name for field in fields(operation) if field.required)


def nothing(state: TableState) -> Iterable[Group]:
    """Offer nothing."""
    return ()


def always(state: TableState) -> bool:
    """Return True: the operation makes sense whenever its phase permits it."""
    return True


def just(operation: Operation) -> Callable[[TableState], Iterable[Group]]:
    """Return one offer that does not depend on the state."""
    return lambda state: (group(operation),)


def untried(operation: Operation) -> Callable[[TableState], Iterable[Group]]:
    """Return one offer whose contents are almost entirely entered by people, or that depends on the screen."""
    return lambda state: (group(operation, untried=True),)


class OperationRow(NamedTuple):
    """One operation that people can enter. `phrase`: what it does, after "may" and "cannot".

    `done`: the sentence once it is done, with the person's name in `{who}`. `verify` raises `RefusedError` for what
    phase, service and hold do not cover; `act` decides what follows. `role`: the lowest rank. `first`: what comes first
    in any other phase, if it is not what that phase waits for. `off_duty`: permitted also to a dealer who is not on
    duty while another one is. Such a dealer may take over the table, report what he noticed, and pause the table. The
    last two only hold the deal until others decide; preventing them would do more harm. `though_held`: when an
    irregularity that holds the table does not prevent this operation. `offers`: what people are offered in these phases
    if `where` holds; the steps of an open irregularity are offered by `offers.decisions` instead.
    """

    operation: type[Operation]
    phrase: Message
    done: Message
    verify: Callable[[TableState, PersonActed, Any], None]
    act: Callable[[Decision, PersonActed, Any], None]
    phases: frozenset[Phase]
    when: When = RUNNING
    role: Role = Role.DEALER
    first: Message | None = None
    off_duty: bool = False
    though_held: Callable[[TableState], bool] | None = None
    offers: Callable[[TableState], Iterable[Group]] = nothing
    where: Callable[[TableState], bool] = always


REPEATED_WITHIN_NS: Final = 30 * 10**9  # at a screen; afterwards a second request counts as a first one


def repeats(given: PersonActed, first: Asking | None) -> bool:
    """Return whether this is the second request, with which an operation that is entered twice takes effect.

    At a screen it must come soon, from the same person and screen, and name the first one: a double touch, or a button
    drawn before the first request, must not end a round. A program's requests are taken as intended.
    """
    if not given.screen:
        return True
    if first is None or given.repeats != first.entry or given.utc_ns - first.utc_ns > REPEATED_WITHIN_NS:
        return False
    return (given.person, given.screen) == (first.person, first.screen)
