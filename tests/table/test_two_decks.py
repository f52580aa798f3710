"""A deck that waits in the device while another is dealt from: it affects no round before its own."""

from __future__ import annotations

import pytest

from controller.api.view import LinkView, view_of
from controller.games.specification import Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.model import Pile, Stage
from controller.table.phases import Phase
from firmware_bridge.cards import DECK, Concealed
from firmware_bridge.commands import Shuffle
from firmware_bridge.observations import (
    CardDrawn,
    DeckLoaded,
    FaceUpFound,
    SetDispensed,
    SetRemoved,
    ShuffleAborted,
    ShuffleFinished,
    ShuffleStarted,
    StubUnloaded,
)
from tests.table.deck_hands import (
    ORDER,
    OTHER,
    begin_with,
    load_beside,
    next_deck,
    shuffle_beside,
    turn_to_other,
    with_two,
)
from tests.table.harness import TableHarness

# -- two decks in the device


@pytest.mark.parametrize("unit", Unit)
def test_a_second_deck_put_in_does_not_disturb_the_round(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing()
    table.take(2)
    before = table.state
    load_beside(table)
    shuffle_beside(table)
    after = table.state
    assert not after.open
    assert (after.decks.in_play, after.decks.tray) == (before.decks.in_play, before.decks.tray)
    assert (after.round.hands, after.round.dealt) == (before.round.hands, before.round.dealt)
    assert (next_deck(table).deck, next_deck(table).shuffled) == (OTHER, True)
    table.finish()
    assert table.state.decks.in_play.deck == 1


@pytest.mark.parametrize("unit", Unit)
def test_the_waiting_deck_comes_into_play_when_the_next_round_begins(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing()
    load_beside(table)
    shuffle_beside(table)
    table.finish()
    assert table.state.decks.in_play.deck == 1, "the round can still be looked at"
    table.do(operations.PlaceYourBets())
    turn_to_other(table)
    assert (table.state.round.deck, table.state.decks.in_play.deck, table.state.decks.waiting) == (OTHER, OTHER, None)
    table.do(operations.OccupyBoxes(table.boxes))
    table.do(operations.NoMoreBets())
    table.finish()
    assert table.last(events.StubCounted).due == 40


def test_a_third_deck_waits_behind_the_second() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    load_beside(table)
    table.finish()
    table.device.report(DeckLoaded(3, 52, 888))
    assert (table.state.decks.in_play.deck, next_deck(table).deck) == (OTHER, 3)
    table.do(operations.ShuffledOutside("by hand"))
    table.do(operations.PlaceYourBets())
    assert (table.state.round.deck, next_deck(table).deck) == (OTHER, 3)


def test_a_waiting_deck_of_a_shuffler_is_shuffled_when_the_round_is_over() -> None:
    table = TableHarness().start().to_dealing()
    load_beside(table)
    assert not [command for _, command in table.device.received[3:] if isinstance(command, Shuffle)]
    table.deal().expose_all().settle()
    before = len(table.device.received)
    table.device.ignores_commands = True
    table.conclude()
    assert len(table.device.received) == before
    assert isinstance(table.last(events.CommandIssued).command, Shuffle)


def test_the_number_of_the_deck_in_play_reported_again_puts_the_count_in_doubt() -> None:
    for seen in (DeckLoaded(1, 52), ShuffleStarted(1), ShuffleFinished(1, 9, 52), ShuffleAborted(1, 9)):
        table = TableHarness(Unit.SINGLES).start().to_dealing()
        table.device.report(seen)
        assert table.open.kind is Kind.COUNT_IN_DOUBT


def test_a_report_without_a_deck_number_puts_the_count_in_doubt() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.device.report(ShuffleStarted(0))
    assert table.open.kind is Kind.COUNT_IN_DOUBT


def test_a_waiting_deck_with_an_aborted_shuffle_or_taken_out_begins_no_round() -> None:
    for seen in (ShuffleAborted(OTHER, 20), StubUnloaded(OTHER, 52)):
        table = TableHarness(Unit.SINGLES).start().to_dealing()
        load_beside(table)
        shuffle_beside(table)
        table.device.report(seen)
        assert not table.state.open
        table.finish()
        assert table.refused(operations.PlaceYourBets())[0] == "deck-used"
        table.fresh_deck()
        table.do(operations.PlaceYourBets())


def test_a_face_up_card_in_the_waiting_deck_is_not_an_irregularity_of_the_round() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    load_beside(table)
    shuffle_beside(table)
    table.device.report(FaceUpFound(ORDER, 9, OTHER))
    table.finish()
    assert table.refused(operations.PlaceYourBets())[0] == "face-up"


# -- faults of the waiting deck


@pytest.mark.parametrize("wrong", [{"missing": 1}, {"extra": 1}, {"foreign": 1}])
def test_nc_5_5_wrong_cards_in_the_waiting_deck_do_not_hold_the_round(wrong: dict[str, int]) -> None:
    table = TableHarness().start().to_dealing()
    load_beside(table)
    shuffle_beside(table, **wrong)
    found = table.open
    assert (found.waiting, found.blocks, found.row.id) == (True, False, "I01" if "foreign" in wrong else "I02")
    assert not table.is_held()
    if found.asks:
        table.do(operations.CountCards("deck", 51, "a witness"))
    table.confirm()
    assert not table.state.open
    assert not table.events_of(events.RoundVoided)
    assert next_deck(table).quarantined
    table.finish()
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"
    table.to_dealing().finish()


def test_nc_5_5_2_the_deck_in_play_and_the_waiting_deck_are_in_doubt_independently() -> None:
    table = TableHarness().start().to_dealing()
    load_beside(table)
    shuffle_beside(table, missing=1)
    table.device.miscount = -1
    table.deal()
    waiting, own = table.state.open
    assert (waiting.waiting, own.waiting) == (True, False)
    table.count(39)
    assert table.state.open[0].asks == waiting.asks, "a count of the stub says nothing of the other deck"
    table.confirm(found=table.state.open[1])
    assert table.at(Phase.VOIDED)
    assert [found.waiting for found in table.state.open] == [True], "it is not overtaken"


def test_a_ruling_about_the_waiting_deck_cannot_touch_the_round() -> None:
    table = TableHarness(game_id="F3").start().to_dealing()
    load_beside(table)
    shuffle_beside(table, foreign=1)
    found = table.open
    void = operations.Rule(found.id, found.revision, RulingAction.VOID, "shift manager", "so decided")
    assert table.refused(void, Role.SHIFT_MANAGER)[0] == "next-deck"
    table.rule(RulingAction.CONTINUE)
    assert next_deck(table).quarantined


def test_a_recorded_waiting_deck_is_named_and_put_out_of_use_by_its_name() -> None:
    table = begin_with(with_two(), "A")
    load_beside(table)
    assert table.refused(operations.LoadDeck("A"))[0] == "in-device"
    table.do(operations.LoadDeck("B"))
    assert next_deck(table).label == "B"
    shuffle_beside(table, foreign=1)
    table.confirm()
    assert table.last(events.DeckQuarantined).deck == "B"
    table.finish()
    assert table.refused(operations.PlaceYourBets())[0] == "quarantined"


def test_two_recorded_decks_alternate() -> None:
    table = begin_with(with_two(), "A")
    table.do(operations.ShuffledOutside("batch shuffler", "B"))
    load_beside(table)
    table.do(operations.LoadDeck("B"))
    assert next_deck(table).shuffled
    table.finish()
    table.do(operations.PlaceYourBets())
    assert table.state.round.label == "B"
    assert table.state.earlier is not None
    assert table.state.earlier.label == "A"


# -- its cards in the round


@pytest.mark.parametrize("unit", Unit)
def test_nc_5_5_1_a_card_of_the_waiting_deck_is_a_stray_and_is_not_dealt(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing()
    load_beside(table)
    shuffle_beside(table)
    before = table.state
    faces = tuple(Concealed(card, ORDER, number) for number, card in enumerate(DECK[:3], start=1))
    if unit is Unit.SINGLES:
        table.device.report(CardDrawn(ORDER, 1, 51, OTHER, faces[0]))
    else:
        table.device.report(SetDispensed(ORDER, 1, 49, OTHER, faces))
        table.device.report(SetRemoved(ORDER, 1))
    assert (table.open.row.id, table.is_held()) == ("I01", True)
    after = table.state
    assert (after.decks.in_play, after.decks.tray) == (before.decks.in_play, before.decks.tray)
    assert (after.round.hands, after.decks.aside) == (before.round.hands, before.decks.aside)
    assert len(after.round.piles[Pile.STRAYS]) == (1 if unit is Unit.SINGLES else 3)
    assert after.stub_due == before.stub_due, "they are none of the 52"
    table.deny()
    table.finish()
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"


def test_the_face_of_a_stray_card_is_not_shown() -> None:
    shown = []
    for card in (DECK[0], DECK[1]):
        table = TableHarness(Unit.SINGLES).start().to_dealing()
        load_beside(table)
        table.device.report(CardDrawn(ORDER, 1, 51, OTHER, Concealed(card, ORDER, 1)))
        shown.append(view_of(table.state, LinkView()))
    assert shown[0] == shown[1]


# -- counts


def test_in_a_round_a_whole_deck_is_counted_only_where_one_waits() -> None:
    table = TableHarness().start().to_dealing()
    load_beside(table)
    table.do(operations.CountCards("deck", 52, "a witness"))
    assert not table.state.open
    table.do(operations.CountCards("deck", 53, "a witness"))
    assert (table.open.waiting, table.open.asks, table.is_held()) == (True, (), False)
    table.confirm()
    assert next_deck(table).quarantined
    assert not table.events_of(events.RoundVoided)


@pytest.mark.parametrize("game_id", ["F3", "NC", "P3", "RTP", "TP"])
@pytest.mark.parametrize("named", [True, False])
def test_a_count_of_the_next_deck_after_a_round_does_not_touch_that_round(game_id: str, *, named: bool) -> None:
    """The deck has a different name or, if no decks are recorded, a different number assigned by the device."""
    table = begin_with(with_two(), "A") if named else TableHarness(Unit.SINGLES, game_id=game_id).start().to_dealing()
    table.finish()
    if named:
        table.device.load()
        table.do(operations.LoadDeck("B"))
    else:
        table.device.report(DeckLoaded(OTHER, 52, ORDER))
    table.do(operations.CountCards("deck", 51, "a witness"))
    assert (table.open.waiting, table.is_held()) == (True, False)
    assert table.refused(operations.PlaceYourBets())[0] == "open"
    if table.open.stage is Stage.RULING:
        table.rule(RulingAction.CONTINUE)
    else:
        table.confirm()
    assert table.at(Phase.CONCLUDED)
    assert not table.events_of(events.RoundVoided)
    assert table.last(events.DeckQuarantined).deck == ("B" if named else "")
    assert table.refused(operations.PlaceYourBets())[0] == ("quarantined" if named else "deck-used")


def test_after_a_void_a_count_of_the_next_deck_puts_that_deck_out_of_use() -> None:
    table = begin_with(with_two(), "A")
    table.take()
    table.do(operations.AbandonRound("shift manager", "the lights went out"), Role.SHIFT_MANAGER)
    table.do(operations.AbandonRound("shift manager", "the lights went out"), Role.SHIFT_MANAGER)
    assert table.at(Phase.VOIDED)
    table.device.load()
    table.do(operations.LoadDeck("B"))
    table.do(operations.CountCards("deck", 51, "a witness"))
    assert (str(table.open.note), table.open.of_deck) == ("51 cards were counted in deck B", "B")
    table.confirm()
    assert [record.label for record in table.state.decks.recorded if record.quarantined] == ["B"]


# -- the screen


def test_the_view_shows_which_deck_waits_and_whether_it_may_be_dealt_from() -> None:
    table = begin_with(with_two(), "A")
    load_beside(table)
    table.do(operations.LoadDeck("B"))
    view = view_of(table.state, LinkView())
    assert view.deck.label == "A"
    assert view.next_deck is not None
    assert (view.next_deck.label, view.next_deck.fit) == ("B", True)
    table.do(operations.QuarantineDeck("B", "a mark"))
    marked = view_of(table.state, LinkView()).next_deck
    assert marked is not None
    assert (marked.fit, marked.quarantined) == (False, "a mark")


@pytest.mark.parametrize("wrong", [{"face_up": 1}, {"foreign": 1}, {"count": 51}])
def test_the_view_shows_a_waiting_deck_that_must_not_be_dealt_from(wrong: dict[str, int]) -> None:
    table = TableHarness(Unit.SETS).start().to_dealing()
    load_beside(table)
    shuffle_beside(table, **wrong)
    shown = view_of(table.state, LinkView()).next_deck
    assert shown is not None
    assert not shown.fit


def test_only_possible_rulings_are_offered() -> None:
    table = TableHarness(Unit.SETS, game_id="F3").start().to_dealing()
    load_beside(table)
    shuffle_beside(table, foreign=1)
    (shown,) = view_of(table.state, LinkView()).irregularities
    assert (shown.stage, shown.options) == ("ruling", ("continue",))
