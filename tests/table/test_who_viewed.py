"""Permission to look at a hand when wagers are entered; a look by anyone without permission is I26."""

from __future__ import annotations

import pytest

from controller.api.view import HandView, LinkView, view_of
from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.offers import primary_act
from controller.table.settings import ChosenReading, Settings
from tests.table.harness import TableHarness
from tests.table.said import next_step


def dealt(game_id: str = "NC") -> TableHarness:
    """Return a dealt round: Ann sits at box 1, Bob at box 2 and bets on both, Cy stands and bets on box 3 alone."""
    table = TableHarness(game_id=game_id, settings=Settings(game_id, Unit.SETS, 3, True)).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    for bettor, seat in (("ann", 1), ("bob", 2), ("cy", None)):
        table.do(operations.EnterBettor(bettor, seat))
    for bettor, box in (("ann", 1), ("bob", 1), ("bob", 2), ("cy", 3)):
        table.do(operations.PlaceWager(bettor, "main", box, 10))
    table.do(operations.NoMoreBets())
    return table.deal()


def looks(table: TableHarness, bettor: str, place: str) -> None:
    table.do(operations.HandleCards(place, viewed=True, bettor=bettor))


def shown(table: TableHarness, place: str) -> HandView:
    return next(hand for hand in view_of(table.state, LinkView()).hands if hand.place == place)


def test_a_bettor_who_may_look_at_the_hand_raises_nothing() -> None:
    table = dealt()
    looks(table, "ann", "B1")
    looks(table, "bob", "B2")
    assert not table.state.open
    assert table.events_of(events.CardsHandled) == [
        events.CardsHandled("B1", True, "ann"),
        events.CardsHandled("B2", True, "bob"),
    ]
    assert table.state.round.hands["B1"].viewed


@pytest.mark.parametrize(
    ("bettor", "place", "clause"),
    [("bob", "B1", "NC 1.15"), ("cy", "B2", "NC 1.15")],
    ids=["another sits at that box", "no bet of his lies there"],
)
def test_nc_1_15_the_wrong_viewer_is_recorded_and_is_i26(bettor: str, place: str, clause: str) -> None:
    table = dealt()
    looks(table, bettor, place)
    assert table.state.round.hands[place].viewed
    assert table.state.round.viewing == ((bettor, int(place[1:])),)
    raised = table.last(events.IrregularityRaised)
    assert (raised.kind, raised.row.id, raised.place) == (Kind.WRONG_VIEWER, "I26", place)
    assert clause in str(raised.note)
    assert bettor in str(raised.note)
    assert table.is_held()
    looks(table, bettor, place)
    assert len(table.state.open) == 1, "a second look at the same hand raises nothing"


def test_nc_3_10_a_bettor_may_not_look_at_a_second_hand() -> None:
    """One bettor looks at one hand."""
    table = dealt()
    looks(table, "bob", "B2")
    looks(table, "bob", "B1")
    assert "NC 3.10" in str(table.last(events.IrregularityRaised).note)
    assert table.state.round.viewed_at == {"bob": 2}


@pytest.mark.parametrize(("game_id", "clause"), [("RTP", "RTP"), ("TP", "TP"), ("P3", "P3")])
def test_a_bettor_without_a_bet_on_the_box_may_not_look_in_any_game(game_id: str, clause: str) -> None:
    table = dealt(game_id)
    looks(table, "cy", "B2")
    assert table.open.kind is Kind.WRONG_VIEWER


def test_an_unknown_bettor_is_refused() -> None:
    table = dealt()
    for viewed in (True, False):
        code, _ = table.refused(operations.HandleCards("B1", viewed, "zoe"))
        assert code == "unknown-bettor"


def test_without_a_bettor_or_without_wagers_a_look_is_not_checked() -> None:
    table = dealt()
    table.do(operations.HandleCards("B1", viewed=True))
    assert not table.state.open
    bare = TableHarness().start().to_dealing().deal()
    bare.do(operations.EnterBettor("ann", 1))
    looks(bare, "ann", "B3")
    assert not bare.state.open
    assert bare.state.round.viewing == (("ann", 3),)


def test_touching_cards_is_not_looking() -> None:
    table = dealt()
    table.do(operations.HandleCards("B1", bettor="bob"))
    assert not table.state.open
    assert not table.state.round.viewed_at
    looks(table, "ann", "B1")
    assert table.state.round.viewed_at == {"ann": 1}


def test_the_view_names_for_each_box_who_may_look() -> None:
    table = dealt()
    assert (shown(table, "B1").viewer, shown(table, "B2").viewer) == ("ann", "bob")
    assert (shown(table, "D").viewer, shown(table, "D").dealer_opens) == ("", False)
    table.expose_all()
    assert shown(table, "B1").viewer == "", "a shown hand has no viewer"


def test_rtp_3_14_the_dealer_opens_a_hand_that_no_bettor_may_look_at() -> None:
    """A standing bettor does not look."""
    table = dealt("RTP")
    assert shown(table, "B3").dealer_opens
    assert shown(table, "B1").viewer == "ann"


def test_without_wagers_the_view_names_no_viewer() -> None:
    table = TableHarness().start().to_dealing().deal()
    assert not any(hand.viewer or hand.dealer_opens for hand in view_of(table.state, LinkView()).hands)


def test_looks_do_not_count_in_the_next_round() -> None:
    table = dealt()
    looks(table, "ann", "B1")
    table.expose_all().settle().conclude()
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    assert table.state.round.viewing == ()


def test_a_corrected_entry_withdraws_a_look() -> None:
    """I26, which that entry raised, ends too."""
    table = dealt()
    looks(table, "bob", "B1")
    entry = table.state.round.entered[-1].entry
    instead = operations.HandleCards("B1", viewed=True, bettor="ann")
    table.do(operations.CorrectEntry(entry, "it was Ann", instead), Role.PIT_SUPERVISOR)
    assert table.state.round.viewed_at == {"ann": 1}
    assert not table.state.open
    looks(table, "bob", "B2")
    assert not table.state.open


# -- the entry that Players have examined their cards


def examining(option: str) -> TableHarness:
    settings = Settings("NC", Unit.SETS, 7, True, (ChosenReading("examining_entered", option),))
    return TableHarness(settings=settings).start().to_dealing().deal()


def test_nc_3_13_reading_53_the_optional_entry_does_not_hold_the_dealers_hand() -> None:
    table = examining("offered")
    table.expose("D")
    assert not table.state.round.examined
    table = examining("offered")
    table.do(operations.PlayersExamined())
    assert next_step(table.state) == "Turn over the Dealer's hand."
    table.expose_all().settle().conclude()


def test_nc_3_13_reading_53_the_required_entry_holds_the_dealers_hand() -> None:
    table = examining("required")
    assert next_step(table.state) == 'When the players have looked at their hands, press "Players have looked".'
    assert primary_act(table.state) == (operations.PlayersExamined, {})
    code, sentence = table.refused(operations.ExposeHand("D"))
    assert code == "not-examined"
    assert "NC 3.13" in sentence
    table.do(operations.PlayersExamined())
    assert primary_act(table.state) == (operations.ExposeHand, {"place": "D"})
    table.expose_all().settle().conclude()


def test_nc_3_13_the_entry_does_not_record_who_handled_or_viewed() -> None:
    """NC 3.10: a bettor on several hands examines only one of them."""
    table = examining("required")
    table.do(operations.PlayersExamined())
    assert table.state.round.viewed_at == {}
    table.report(Kind.WRONG_COUNT, "B1", counted=4)
    assert table.open.facts.handled is None
    assert table.open.facts.viewed is None


def test_nc_3_13_the_entry_is_made_once_and_begins_again_with_each_round() -> None:
    table = examining("required")
    table.do(operations.PlayersExamined())
    assert table.refused(operations.PlayersExamined())[0] == "examined"
    table.expose_all().settle().conclude()
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    assert not table.state.round.examined


def test_nc_3_13_with_no_hand_in_play_nobody_has_to_look() -> None:
    table = examining("required")
    for place in table.state.round.live_places:
        table.report(Kind.WRONG_COUNT, place, counted=4)
        table.confirm(handled=True, reconstructable=False)
    table.expose("D")


@pytest.mark.parametrize("game_id", ["TP", "RTP", "P3"])
def test_where_hands_are_returned_first_there_is_no_such_entry(game_id: str) -> None:
    """TP 3.6, RTP 3.15, P3 3.7: the Dealer's hand waits for the others."""
    table = TableHarness(game_id=game_id).start().to_dealing().deal()
    assert table.refused(operations.PlayersExamined())[0] == "returned"
