"""The search works: each check can fail, and equal states have one key."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.games.specification import Unit
from controller.table import events, operations
from controller.table.evolve import fold
from controller.table.model import HeldCard, SettledBet
from controller.table.state import TableState
from tests.search.device import draw
from tests.search.explore import Found, Node, Search, after, begin
from tests.search.invariants import BrokenError, check_answer, check_state, check_step
from tests.search.key import key_of
from tests.search.moves import Scope, acted, moves

SCOPE = Scope((1,), wagers=False)


def played(*names: str, unit: Unit = Unit.SETS) -> Node:
    """Return a game of NC with one box after these moves."""
    node = begin("NC", unit, SCOPE, irregularities=1)
    for name in names:
        node = after(node, next(move for move in moves(node.state, node.device, SCOPE, node.left) if move.name == name))
    return node


DEALT = ("place your bets", "boxes", "no more bets", "lift")


def decided(state: TableState, event: events.AnyEvent) -> None:
    """Check one event in the state, as if a person's operation had caused it."""
    numbered = ((state.entry + 2, event),)
    check_step(state, acted(state, operations.ResumeTable()), numbered, fold(state, numbered))


def test_a_card_in_two_places_is_found() -> None:
    node = played(*DEALT)
    twice = replace(node.state, decks=replace(node.state.decks, aside=node.state.round.hands["B1"].cards[:1]))
    with pytest.raises(BrokenError, match="two places"):
        check_state(twice, node.device, frozenset())


def test_a_fourth_card_in_a_hand_is_found() -> None:
    node = played(*DEALT)
    hand = node.state.round.hands["B1"]
    fourth = replace(hand, cards=(*hand.cards, HeldCard(9, 1, None)))
    with pytest.raises(BrokenError, match="4 cards at B1"):
        check_state(
            replace(node.state, round=replace(node.state.round, hands={"B1": fourth})), node.device, frozenset()
        )


def test_an_incomplete_deck_is_found() -> None:
    node = played(*DEALT)
    with pytest.raises(BrokenError, match="52"):
        check_state(node.state, node.device._replace(inside=node.device.inside - 1), frozenset())


def test_a_card_that_the_table_loses_is_found() -> None:
    """The table takes the report of a card and gives the card no place."""
    node = played(*DEALT[:-1], unit=Unit.SINGLES)
    (given,) = draw(node.device).sent
    taken = ((node.state.entry + 2, events.ReportTaken(1, 9, 0, "card_drawn")),)
    with pytest.raises(BrokenError, match="lost"):
        check_step(node.state, given, taken, fold(node.state, taken))


def test_events_that_do_not_fold_to_the_decided_state_are_found() -> None:
    node = played(*DEALT)
    with pytest.raises(BrokenError, match="fold"):
        check_step(
            node.state,
            acted(node.state, operations.ResumeTable()),
            (),
            replace(node.state, duty=replace(node.state.duty, paused="so")),
        )


@pytest.mark.parametrize("clause", ["", "a clause of no document"])
def test_a_round_voided_without_a_clause_is_found(clause: str) -> None:
    state = played(*DEALT, "report foreign_card ").state
    with pytest.raises(BrokenError, match="without a clause"):
        decided(state, events.RoundVoided(clause, state.open[0].id, "so"))


def test_a_hand_removed_without_an_irregularity_is_found() -> None:
    with pytest.raises(BrokenError, match="without an irregularity"):
        decided(played(*DEALT).state, events.HandRemoved("B1", "NC 5.6", 7))


@pytest.mark.parametrize(
    ("parts", "seen"),
    [
        (("1", "0", "0", "0"), "comes to 1"),
        (("2", "0", "0", "0"), "without a clause or authority"),
        (("0", "2", "0", "2"), "house"),
    ],
)
def test_a_settlement_that_does_not_balance_is_found(parts: tuple[str, str, str, str], seen: str) -> None:
    verdict = "returned" if parts[0] == "2" else "lost"
    bet = SettledBet(1, "b1", "main", 1, 2, verdict, "", "", *parts)
    with pytest.raises(BrokenError, match=seen):
        decided(played(*DEALT).state, events.WagersSettled((bet,), "9"))


def test_a_refusal_of_a_permitted_operation_is_found() -> None:
    with pytest.raises(BrokenError, match="permitted, and refused"):
        check_answer(((1, events.OperationRefused("op", "resume_table", "p", "phase", "No.")),), "resume")


def test_a_state_without_a_way_out_is_found_with_its_path() -> None:
    states = [Found(0, "", 0, ""), Found(0, "deal", 1, ""), Found(0, "break", 1, "broken"), Found(1, "next", 2, "")]
    search = Search(states, edges=[[1], [3], [2], []], goals={3})
    assert search.without_way_out() == [2]
    assert search.wrong() == ["no way out of broken -- after: break"]


def test_entry_numbers_do_not_distinguish_states() -> None:
    """A pause that has ended used entry numbers and changed nothing else."""
    at_once = played(*DEALT)
    later = played(*DEALT, "pause", "resume")
    assert at_once.state.entry != later.state.entry
    assert key_of(at_once.state, at_once.device, 0) == key_of(later.state, later.device, 0)
    assert key_of(at_once.state, at_once.device, 0) != key_of(at_once.state, at_once.device, 1)
