"""Rounds of every game: the deal, the order in which hands are shown, and cases without a clause."""

from __future__ import annotations

from itertools import product

import pytest

from controller.games import GAMES
from controller.games.specification import Disposition, Facts, Kind, Order, RulingAction, StepKind, Unit
from controller.roles import Role
from controller.rules.dealing_order import DEALER
from controller.rules.hands import Outcome
from controller.rules.law import find_row, read_law
from controller.table import events, operations
from controller.table.model import Stage
from controller.table.phases import Phase
from tests.table.harness import TableHarness

HANDS = ("KD QC JS", "9D 8C KS", "2D 3C TS")  # they win, tie and lose against the Dealer
DEALERS_HAND = "KH 7S TD"
every_table = pytest.mark.parametrize(("game_id", "unit"), list(product(GAMES, Unit)))
returning = pytest.mark.parametrize(
    "game_id", [game_id for game_id, rules in GAMES.items() if rules.step(StepKind.RETURNING)]
)
SILENT_ON_SHUFFLING = [
    game_id
    for game_id, rules in GAMES.items()
    if find_row(read_law(rules), Kind.UNSHUFFLED, Facts()).row.disposition is Disposition.SILENT
]


def table_of(game_id: str, unit: Unit = Unit.SETS, **more: object) -> TableHarness:
    return TableHarness(unit, game_id=game_id, **more).start()  # type: ignore[arg-type]  # options of the harness


@every_table
def test_e1_a_round_is_dealt_in_the_documents_order(game_id: str, unit: Unit) -> None:
    table = table_of(game_id, unit).to_dealing()
    order = table.state.grammar.order
    table.deal()
    assert {len(hand.cards) for hand in table.state.round.hands.values()} == {3}
    dealt = [place for event in table.events_of(events.CardsDealt) for place in event.places]
    whole = len(table.state.round.hands)
    if order is Order.BY_HAND:
        assert all(len(set(dealt[first : first + 3])) == 1 for first in range(0, 3 * whole, 3))
    else:
        assert all(len(set(dealt[first : first + whole])) == whole for first in range(0, 3 * whole, whole))
    table.expose_all().settle().conclude()
    assert len(table.events_of(events.HandJudged)) == len(table.state.round.live_places)
    assert not table.events_of(events.IrregularityRaised)
    counted = table.last(events.StubCounted)
    shown = 0 if table.state.game.first_card is None else 1
    assert counted.count == counted.due == 52 - 3 * whole - shown


@returning
def test_tp_3_6_rtp_3_15_p3_3_7_the_dealers_hand_waits_for_the_others(game_id: str) -> None:
    places = table_of(game_id).to_dealing().state.round.live_places
    hands = {**dict(zip(places, HANDS, strict=False)), DEALER: DEALERS_HAND}
    table = table_of(game_id, hands=hands).to_dealing().deal()
    returning = table.state.game.step(StepKind.RETURNING)
    assert returning is not None
    for place in places:
        code, sentence = table.refused(operations.ExposeHand(DEALER))
        assert (code, returning.clause in sentence) == ("hands-first", True)
        table.expose(place)
    assert table.at(Phase.EXAMINING)
    table.expose(DEALER)
    assert table.at(Phase.SETTLING)
    outcomes = [table.state.round.hands[place].outcome for place in places[: len(HANDS)]]
    assert outcomes == [Outcome.WIN, Outcome.TIE, Outcome.LOSE][: len(outcomes)]


@pytest.mark.parametrize("game_id", SILENT_ON_SHUFFLING)
def test_where_the_document_is_silent_a_ruling_names_its_authority(game_id: str) -> None:
    table = table_of(game_id).to_dealing()
    table.report(Kind.UNSHUFFLED)
    assert (table.open.stage, table.open.row.clause) == (Stage.RULING, "")
    assert table.is_held()
    ruling = operations.Rule(table.open.id, table.open.revision, RulingAction.VOID, "gaming manager", "start again")
    assert table.refused(ruling, Role.PIT_MANAGER)[0] == "role"
    table.decide(ruling, Role.SHIFT_MANAGER)
    voided = table.last(events.RoundVoided)
    assert (voided.clause, voided.authority, voided.text) == ("", "gaming manager", "start again")
    assert table.at(Phase.VOIDED)
