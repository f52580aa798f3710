"""States of a table: every phase and service, with every reason for a hold. Played where possible, else constructed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Final

from msgspec.structs import replace

from controller.games import GAMES
from controller.games.specification import Choice, Kind, Unit
from controller.roles import Role
from controller.rules.dealing_order import DEALER
from controller.table import operations
from controller.table.inputs import DeviceConnected
from controller.table.phases import BEFORE_CLOSE, IN_ROUND, WINDOW_OPEN, Phase, Service
from controller.table.settings import Settings
from controller.table.state import TableState
from tests.table.deck_hands import begin_with, load_beside, shuffle_beside, take_out, with_two
from tests.table.harness import TableHarness
from tests.table.way_out import step

NC: Final = "NC"
OTHER_GAMES: Final = tuple(game_id for game_id in GAMES if game_id != NC)
ROUND: Final = 24  # steps of a crew: a round dealt in sets, or half a round dealt in single cards
HOLDS: Final = ("free", "paused", "claimed", "ordering", "choosing", "ruling", "two open")
HANDS: Final = {"B1": "KD QC JS", "B3": "9D 8C KS", "B6": "2D 3C TS", "D": "KH 7S TD"}


def to_phase(unit: Unit, phase: Phase) -> TableHarness:
    """Play a round up to a phase. In the middle of a deal half of the cards are out."""
    if phase is Phase.FIRST_CARD:
        return to_first_card(unit)
    table = TableHarness(unit, hands=HANDS).start()
    if phase is Phase.CLOSED:
        return table
    if phase is Phase.IDLE:
        table.do(operations.OpenTable())
        table.fresh_deck()
        return table
    if phase is Phase.MAINTENANCE:
        return to_maintenance(table)
    table.to_betting()
    if phase is Phase.BETTING:
        return table
    table.do(operations.NoMoreBets())
    table.take(2)
    if phase in (Phase.DEALING_SETS, Phase.DEALING_SINGLES):
        return table
    if phase is Phase.VOIDED:
        table.report(Kind.UNSHUFFLED)
        table.confirm()
        return table
    table.deal()
    if phase is Phase.EXAMINING:
        return table
    table.expose(DEALER)
    if phase is Phase.EXPOSING:
        return table
    for place in table.state.round.live_places:
        table.expose(place)
    table.settle()
    if phase is Phase.CONCLUDED:
        table.conclude()
    return table


def to_maintenance(table: TableHarness) -> TableHarness:
    """Begin maintenance with a used deck, and let a card leave the device."""
    table.to_dealing().finish()
    table.do(operations.BeginMaintenance("cleaning"), Role.PIT_SUPERVISOR)
    if table.device.inside:
        table.take()
    return table


def to_first_card(unit: Unit) -> TableHarness:
    """Play up to a phase that NC does not have: a First Card is due."""
    table = TableHarness(unit, game_id="F3").start().to_betting()
    table.do(operations.NoMoreBets())
    return table


def phases_of(unit: Unit) -> list[Phase]:
    other = Phase.DEALING_SINGLES if unit is Unit.SETS else Phase.DEALING_SETS
    return [phase for phase in Phase if phase is not other]


def hold(table: TableHarness, how: str) -> bool:
    """Hold the table for that reason. Return False if this is not possible in its phase."""
    if how == "free":
        return True
    if how == "paused":
        table.do(operations.PauseTable("dispute"))
        return True
    if table.state.phase not in WINDOW_OPEN or table.state.phase is Phase.VOIDED:
        return False
    settled = table.state.phase is Phase.CONCLUDED or table.state.round.chips_paid
    gives_options = table.state.game.id == "NC" and not settled  # NC 1.14, 5.6
    if how in ("ordering", "choosing") and not gives_options:
        return False
    kind = {
        "claimed": Kind.OTHER_DEALING_ERROR,
        "ordering": Kind.SIMULTANEOUS,
        "choosing": Kind.EXPOSED_CARD,
        "ruling": Kind.BEFORE_NO_MORE_BETS,
        "two open": Kind.DECK_COUNT,
    }[how]
    table.report(kind)
    if how == "ordering":
        table.confirm(order_known=False)
    elif how == "choosing":
        table.confirm()
        found = table.open
        table.do(operations.ChooseOption(found.id, found.revision, "B1", Choice.WITHDRAW))
    elif how == "two open":
        dealt = table.state.phase not in BEFORE_CLOSE
        table.report(Kind.WRONG_COUNT if dealt else Kind.FOREIGN_CARD, "B1", counted=4)
    return True


def bring_to(table: TableHarness, service: Service) -> bool:
    """Bring the table into a service state. Return False if this is not possible in its phase."""
    in_round = table.state.phase in IN_ROUND
    if service is Service.RECONCILING:
        if not in_round:
            moving = replace(table.device.status, moving=True)
            table.give(DeviceConnected(table.device.identity, moving))
        else:
            table.lose_link()
            table.connect()
    elif service is Service.OUT_OF_SERVICE:
        table.refuse_device()
    return table.state.service is service


PARTS: Final = (*((NC, unit) for unit in Unit), *product(OTHER_GAMES, Unit))
"""A game and a unit: what is reached with one does not depend on the others."""


def reached(game_id: str, unit: Unit) -> Iterator[tuple[str, TableHarness]]:
    """Yield the played states with their names, and each state of a round again with the device disconnected."""
    if game_id != NC:
        yield from _of_game(game_id, unit)
        return
    for phase in phases_of(unit):
        for how in HOLDS:
            for service in Service:
                table = to_phase(unit, phase)
                if hold(table, how) and bring_to(table, service):
                    yield f"{unit} {phase} {how} {service}", table
            if phase in IN_ROUND:
                table = to_phase(unit, phase)
                hold(table, how)
                table.lose_link()
                yield f"{unit} {phase} {how} away", table
    yield from _odd_states(unit)


def _of_game(game_id: str, unit: Unit) -> Iterator[tuple[str, TableHarness]]:
    """Yield the states of a round of another game: each step, with a foreign card reported, and with the link lost."""
    for steps, how in product(range(ROUND), ("free", "claimed", "away")):
        table = TableHarness(unit, game_id=game_id).start()
        for _ in range(steps):
            step(table)
        if how == "claimed" and table.state.phase in WINDOW_OPEN - {Phase.VOIDED}:
            table.report(Kind.FOREIGN_CARD)
        elif how == "away":
            table.lose_link()
        yield f"{game_id} {unit} after {steps} steps {how}", table


def _odd_states(unit: Unit) -> Iterator[tuple[str, TableHarness]]:
    """Yield rare states: cards drawn together, an open command, a stated count, no hand in play."""
    dealing = Phase.DEALING_SETS if unit is Unit.SETS else Phase.DEALING_SINGLES
    for asked in (False, True):
        table = to_phase(unit, dealing)
        if unit is Unit.SETS:
            table.device.form_set(2)
        else:
            table.device.draw_together(2)
        if asked:
            table.confirm()
        yield f"{unit} cards together, order asked {asked}", table
    table = to_phase(unit, dealing)
    table.device.answers = False
    table.do(operations.PauseTable("drop"))
    table.device.answers = True
    yield f"{unit} command open", table
    table = to_phase(unit, dealing)
    table.report(Kind.DECK_COUNT)
    table.count(3)
    yield f"{unit} counted", table
    yield from _with_decks(unit)
    for dealt in (False, True):
        table = to_phase(unit, dealing)
        table.report(Kind.EXPOSED_CARD)
        table.confirm()
        table.choose(B1=Choice.WITHDRAW, B3=Choice.WITHDRAW, B6=Choice.WITHDRAW)
        if dealt:
            table.deal()
        yield f"{unit} no hand in play, dealt {dealt}", table


def _with_decks(unit: Unit) -> Iterator[tuple[str, TableHarness]]:
    """Yield states with decks: one waits (complete or not), one is recorded, a card is on the floor, cards are to be
    burnt.
    """
    for missing, phase in product((0, 1), (Phase.EXAMINING, Phase.CONCLUDED)):
        table = to_phase(unit, Phase.EXAMINING)
        load_beside(table)
        shuffle_beside(table, missing=missing)
        if phase is Phase.CONCLUDED:
            table.finish()
        yield f"{unit} {phase}, a deck waits, {missing} missing", table
    yield f"{unit} decks on record", with_two(unit)
    table = with_two(unit)
    table.do(operations.QuarantineDeck("A", "a mark on the back"))
    table.do(take_out("A"))
    yield f"{unit} a deck out of use taken away", table
    table = with_two(unit)
    begin_with(table, "A")
    yield f"{unit} dealt from a deck on record", table
    table = to_phase(unit, Phase.EXAMINING)
    table.do(operations.PlaceCards((operations.CardAt(2, "dropped"),)))
    yield f"{unit} a card on the floor", table
    for game_id in ("NC", "F3"):
        settings = Settings(game_id, unit, 3, burn=2)
        table = TableHarness(unit, (1, 3), settings=settings, game_id=game_id).start().to_betting()
        table.do(operations.NoMoreBets())
        yield f"{unit} {game_id} to be burnt", table


@cache
def every_state() -> tuple[tuple[str, TableState], ...]:
    """Return all played states; for combinations not reached, replace phase and service in the nearest one."""
    return tuple(_every_state())


def _every_state() -> Iterator[tuple[str, TableState]]:
    seen: dict[tuple[Unit, Phase, Service, bool], TableState] = {}
    for name, table in (found for part in PARTS for found in reached(*part)):
        state = table.state
        assert state.settings is not None
        seen.setdefault((state.settings.unit, state.phase, state.service, state.held), state)
        yield name, state
    for unit in Unit:
        for phase in Phase:
            for service in Service:
                for held in (False, True):
                    if (unit, phase, service, held) not in seen:
                        yield f"constructed: {unit} {phase} {service} {held}", _constructed(unit, phase, service, held)


def _constructed(unit: Unit, phase: Phase, service: Service, held: bool) -> TableState:
    possible = phase if phase in phases_of(unit) else Phase.EXAMINING
    state = to_phase(unit, possible).state
    return replace(state, phase=phase, service=service, duty=replace(state.duty, paused="dispute" if held else ""))
