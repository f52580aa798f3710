"""Decisions after which people handle a card: the card is drawn as a move, holds the table, and is acknowledged.

`CARDS_OF` and `BROUGHT_BY` list for each kind of irregularity and each disposition whether a card is handled. A new one
has to be added there, and is then played in every game.
"""

from __future__ import annotations

import itertools
from typing import Final, NamedTuple

import pytest

from controller.api.preview import preview
from controller.api.view import LinkView, moves_shown, view_of
from controller.games.specification import Choice, Disposition, Facts, Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import operations
from controller.table.model import Stage
from controller.table.phases import Phase
from controller.table.settings import ChosenReading, Settings
from tests.rules.irregularity_cells import GAME_IDS
from tests.table.harness import TableHarness
from tests.table.said import next_step

K, D, R = Kind, Disposition, RulingAction
NONE = ""
CARDS_OF: Final[dict[Kind, str]] = {
    K.EXPOSED_CARD: "turned face down",
    K.PLAYER_EXPOSED: "turned face down",
    K.DEALER_EXPOSED_EARLY: "turned face down",
    K.FACE_UP_IN_DEVICE: "turned face down where it is dealt",
    K.DROPPED_CARD: "put back",
    K.SIMULTANEOUS: "laid from aside to the places",  # test_simultaneous_cards
    K.BEFORE_NO_MORE_BETS: "laid from aside to the places",  # test_before_no_more_bets
    K.OTHER_DEALING_ERROR: "laid from aside, or moved to their places",
    K.WRONG_DISTRIBUTION: "moved to their places",
    K.WRONG_COUNT: "taken out of a hand, or given to it",
    K.FOREIGN_CARD: NONE,  # it voids the round, or was denied
    K.DECK_COUNT: NONE,  # a count moves no card
    K.COUNT_IN_DOUBT: NONE,
    K.UNSHUFFLED: NONE,
    K.POWER_FAILURE: NONE,
    K.TECHNICAL_STOP: NONE,
    K.CARD_IN_SHUFFLING: NONE,  # the whole deck is shuffled again
    K.LATE_BET: NONE,  # chips
    K.SIDE_WITHOUT_MAIN: NONE,
    K.OUTSIDE_LIMITS: NONE,
    K.WRONG_VIEWER: NONE,  # it was looked at and not moved
}
BROUGHT_BY: Final[dict[Disposition | RulingAction, str]] = {
    D.VOID: NONE,  # the cards are collected
    D.RESHUFFLE: NONE,
    D.STANDS: NONE,  # they were collected already
    D.REMOVE_HAND: NONE,  # a dead hand stays in place (reading 36)
    D.REFUSE: NONE,
    D.RETURN_BET: NONE,
    D.WITHDRAWALS: NONE,
    D.CONTINUE: "by kind",
    D.NEXT_CARD: "by kind",
    D.OPTIONS: "by kind",
    D.REFER: "by the ruling",
    D.SILENT: "by the ruling",
    D.RECONSTRUCT: "moved to their places",
    D.NAME_ORDER: "laid from aside to the places",
    R.VOID: NONE,
    R.CONTINUE: "by kind",
    R.RETURN_BETS: "by kind",
    R.REMOVE_HANDS: "by kind",
    R.RECONSTRUCT: "moved to their places",
    R.NAME_ORDER: "laid from aside to the places",
}
FACES: Final = (K.EXPOSED_CARD, K.PLAYER_EXPOSED, K.DEALER_EXPOSED_EARLY, K.DROPPED_CARD)
GOES_ON: Final = {R.CONTINUE: (), R.RETURN_BETS: (), R.REMOVE_HANDS: ("B1",)}


class Way(NamedTuple):
    """A person's answers to whatever is asked."""

    handled: bool
    reconstructable: bool
    face_seen: bool

    def facts(self, asks: tuple[str, ...]) -> Facts:
        said = {
            "dropped": False,
            "misplaced": False,
            "curable": False,
            "shuffling": False,
            "first_card": False,
            **self._asdict(),
        }
        return Facts(**{name: said[name] for name in asks})


WAYS: Final = tuple(Way(*answers) for answers in itertools.product((False, True), repeat=3))


def test_every_kind_and_every_disposition_is_known_here() -> None:
    assert set(CARDS_OF) == set(Kind)
    assert set(BROUGHT_BY) == {*Disposition, *RulingAction}


def table_of(game_id: str, unit: Unit, *readings: ChosenReading) -> TableHarness:
    settings = Settings(game_id, unit, 3 if game_id == "F3" else 7, count_stub_by_hand=True, readings=readings)
    return TableHarness(unit, game_id=game_id, settings=settings).start().to_dealing()


def said_of(table: TableHarness, operation: operations.Operation) -> str:
    """Return what the page shows before a person confirms or rules: the question and its consequences."""
    told = preview(table.state, operation)
    return " ".join(map(str, (next_step(table.state), told.next_step, told.becomes, *told.sentences))).lower()


def decided(table: TableHarness, way: Way, action: RulingAction = R.CONTINUE) -> str:
    """Decide everything that is open so that play continues if the rules let it. Return what was shown before that."""
    said = ""
    for _ in range(12):
        if not table.state.open:
            return said
        found = table.open
        if found.stage is Stage.CLAIMED:
            confirm = operations.ConfirmIrregularity(found.id, found.revision, way.facts(found.asks))
            said += said_of(table, confirm)
            table.decide(confirm, Role.SHIFT_MANAGER)
        elif found.stage is Stage.CHOOSING:
            said += next_step(table.state).lower()
            table.choose(**dict.fromkeys(table.state.round.live_places, Choice.CONTINUE))
        elif found.stage is Stage.RULING:
            places = GOES_ON[action]
            bets = (1,) if action is R.RETURN_BETS else ()
            ruling = operations.Rule(found.id, found.revision, action, "shift manager", "so decided", places, (), bets)
            said += said_of(table, ruling)
            table.decide(ruling, Role.SHIFT_MANAGER)
        elif found.stage is Stage.MOVING:
            assert_moved(table)
        else:
            raise AssertionError(f"{found.stage} of {found.kind}")
    raise AssertionError("it does not end")


def assert_moved(table: TableHarness) -> tuple[tuple[str, str], ...]:
    """Check that the move is drawn, named in the headline and the one button, holds the deal, and ends once
    acknowledged.
    """
    view = view_of(table.state, LinkView())
    moves = moves_shown(view)
    assert moves, "nothing is drawn"
    assert (view.held, table.exit_is_held()) == (True, True)
    act = "Turned face down" if all(one.source == one.place for one in moves) else "Cards are moved"
    assert f'press "{act}"' in str(view.next_step)
    found = next((one for one in table.state.open if one.stage is Stage.MOVING), None)
    about = (found.id, found.revision) if found else (0, 0)
    table.do(operations.Reconstruct(*about))
    assert not set(moves) & set(moves_shown(view_of(table.state, LinkView())))
    return tuple((move.source, move.place) for move in moves)


REPORTED: Final = tuple(itertools.product(GAME_IDS, Unit, FACES, (False, True)))


@pytest.mark.parametrize(("game_id", "unit", "kind", "whole"), REPORTED)
@pytest.mark.parametrize("named", [True, False], ids=["card 1", "some card"])
def test_a_card_reported_by_people_is_moved_wherever_play_continues(
    game_id: str, unit: Unit, kind: Kind, whole: bool, named: bool
) -> None:
    """Played during the deal and after it, with every answer. F3 X2 voids the round of every dropped card."""
    went_on = 0
    for way in WAYS:
        table = table_of(game_id, unit)
        place = "D" if kind is K.DEALER_EXPOSED_EARLY else "B3"
        while place not in table.state.round.hands:
            table.take()
        if whole:
            table.deal()
        table.report(kind, place, card=1 if named else None)
        said = decided(table, way)
        if table.at(Phase.VOIDED):
            assert not table.state.moves_due
            continue
        source = "dropped" if kind is K.DROPPED_CARD else place
        assert ("the dropped card" if source == "dropped" else "face down") in said
        assert assert_moved(table) == ((source, place),)
        assert not table.is_held()
        went_on += 1
    assert bool(went_on) is not ((game_id, kind) == ("F3", K.DROPPED_CARD))


@pytest.mark.parametrize("game_id", GAME_IDS)
def test_a_card_is_turned_down_after_a_ruling_that_removes_another_hand(game_id: str) -> None:
    table = table_of(game_id, Unit.SINGLES if game_id == "F3" else Unit.SETS).deal()
    table.report(K.PLAYER_EXPOSED, "B3", card=2)
    decided(table, WAYS[0], R.REMOVE_HANDS)
    assert assert_moved(table) == (("B3", "B3"),)


@pytest.mark.parametrize("game_id", GAME_IDS)
@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("announced", [True, False], ids=["sensed", "seen by people"])
def test_nc_5_10_a_face_up_card_is_named_in_the_device_and_turned_where_it_lies(
    game_id: str, unit: Unit, announced: bool
) -> None:
    went_on = 0
    for way in WAYS:
        table = table_of(game_id, unit)
        table.take()
        if announced:
            table.device.find_face_up(table.device.dispensed + 1)
        else:
            table.report(K.FACE_UP_IN_DEVICE)
        said = decided(table, way)
        if not table.state.in_round:
            continue
        assert "face-up card" in said
        assert not table.is_held()
        (goes, _), *_ = table.state.face_up_ahead
        assert "face up" in next_step(table.state) or "The face-up card goes to" in next_step(table.state)
        while not table.state.moves_due:
            table.take()
        assert assert_moved(table) == ((goes, goes),)
        assert not table.state.face_up_ahead
        went_on += 1
    assert went_on


@pytest.mark.parametrize("game_id", [game for game in GAME_IDS if game != "F3"])
@pytest.mark.parametrize("kind", [K.EXPOSED_CARD, K.PLAYER_EXPOSED, K.DEALER_EXPOSED_EARLY])
def test_where_a_card_may_lie_face_up_only_rtp_5_8_moves_it(game_id: str, kind: Kind) -> None:
    """Reading 55."""
    table = table_of(game_id, Unit.SETS, ChosenReading("exposed_card", "up")).deal()
    table.report(kind, "D" if kind is K.DEALER_EXPOSED_EARLY else "B3", card=1)
    said = decided(table, WAYS[0])
    by_clause = (game_id, kind) == ("RTP", K.EXPOSED_CARD)
    assert ("the exposed card stays face up" in said) is not by_clause
    assert bool(table.state.moves_due) is by_clause


@pytest.mark.parametrize("game_id", ["NC", "P3"])
@pytest.mark.parametrize(("counted", "way"), [(4, ("D", "aside")), (2, ("stub", "D"))])
def test_a_wrong_number_of_cards_is_put_right_by_a_move(game_id: str, counted: int, way: tuple[str, str]) -> None:
    """NC 5.5.5, P3 5.4."""
    table = table_of(game_id, Unit.SINGLES).deal()
    table.handle("B1")
    table.report(K.WRONG_COUNT, "D", counted=counted)
    table.confirm(reconstructable=True)
    assert assert_moved(table) == (way,)


def test_a_report_that_was_denied_moves_nothing() -> None:
    table = table_of("NC", Unit.SETS).deal()
    table.report(K.EXPOSED_CARD, "B3", card=1)
    table.deny()
    assert not table.state.moves_due


def test_a_hand_that_is_out_of_play_is_left_as_it_lies() -> None:
    table = table_of("NC", Unit.SETS).deal()
    table.report(K.EXPOSED_CARD, "B3", card=1)
    table.confirm()
    table.choose(B1=Choice.CONTINUE, B3=Choice.WITHDRAW, B6=Choice.CONTINUE)
    assert not table.state.moves_due
