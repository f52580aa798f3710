"""The decks of a table: recorded or unrecorded, in quarantine, shuffled outside."""

from __future__ import annotations

import pytest

from controller.games.specification import Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.decks import MOST
from controller.table.phases import Phase
from firmware_bridge.observations import DeckLoaded, ShuffleFinished
from tests.table.deck_hands import begin_with, bring, opened, release, take_out, with_two
from tests.table.harness import TableHarness

# -- recording and removal


def test_a_recorded_deck_has_a_name_a_back_a_witness_and_52_cards() -> None:
    table = with_two()
    assert [record.back for record in table.state.decks.recorded] == ["red", "blue"]
    assert table.refused(bring("A", "green"))[0] == "recorded"
    assert table.refused(bring("C", " Red "))[0] == "back"
    assert table.refused(bring("C", ""))[0] == "back"
    assert table.refused(bring("", "green"))[0] == "name"
    assert table.refused(bring("C", "green", 51))[0] == "count"
    assert table.refused(bring("C", "green", witness="dealer"))[0] == "witness"


def test_a_table_records_a_limited_number_of_decks() -> None:
    """Every requested state contains all of them."""
    table = opened()
    for number in range(MOST):
        table.do(bring(f"deck {number}", f"back {number}"))
    assert table.refused(bring("one more", "green"))[0] == "too-many"
    table.do(take_out("deck 0"))
    table.do(bring("one more", "green"))


def test_a_deck_with_any_count_leaves_the_table_but_not_during_its_round() -> None:
    table = begin_with(with_two(), "A")
    assert table.refused(take_out("A"))[0] == "in-play"
    assert table.refused(take_out("B", reason=" "))[0] == "reason"
    assert table.refused(take_out("C"))[0] == "no-deck"
    table.do(take_out("B", 50))
    assert [record.label for record in table.state.decks.recorded] == ["A"]
    assert table.last(events.DeckTakenOut).count == 50
    assert not table.state.open, "no round was dealt from it"


def test_nc_5_5_2_a_deck_that_goes_out_short_puts_its_round_in_doubt() -> None:
    table = begin_with(with_two(), "A").finish()
    table.do(take_out("A", 51))
    assert (table.open.kind, table.open.of_deck) == (Kind.DECK_COUNT, "A")
    table.confirm()
    assert table.at(Phase.VOIDED)


def test_nc_5_6_a_short_deck_taken_away_a_round_later_concerns_the_round_before() -> None:
    table = begin_with(with_two(), "A").finish()
    begin_with(table, "B")
    table.do(take_out("A", 51))
    assert table.open.round == 1
    assert not table.is_held()


# -- decks in play


def test_a_table_without_recorded_decks_asks_for_none() -> None:
    table = opened()
    table.fresh_deck()
    table.do(operations.PlaceYourBets())


def test_bets_are_not_opened_on_an_unnamed_deck() -> None:
    table = with_two()
    table.fresh_deck()
    assert table.refused(operations.PlaceYourBets())[0] == "unnamed"
    table.do(operations.LoadDeck("A"))
    table.do(operations.PlaceYourBets())
    assert table.last(events.RoundBegan).label == "A"


def test_a_deck_is_named_each_time_it_is_put_in() -> None:
    table = begin_with(with_two(), "A").finish()
    table.fresh_deck()
    assert table.refused(operations.PlaceYourBets())[0] == "unnamed"


def test_bets_are_not_opened_on_a_deck_that_was_taken_out() -> None:
    table = with_two()
    table.fresh_deck()
    table.do(operations.LoadDeck("A"))
    table.do(take_out("A"))
    assert table.refused(operations.PlaceYourBets())[0] == "taken-out"
    table.do(take_out("B"))
    assert table.refused(operations.PlaceYourBets())[0] == "taken-out"


def test_only_a_recorded_deck_in_the_device_is_named() -> None:
    table = with_two()
    assert table.refused(operations.LoadDeck("A"))[0] == "not-loaded"
    table.fresh_deck()
    assert table.refused(operations.LoadDeck("C"))[0] == "no-deck"
    begin_with(table, "A")
    assert table.refused(operations.LoadDeck("B"))[0] == "not-loaded"


# -- quarantine


def test_a_deck_in_quarantine_begins_no_round_before_it_is_released() -> None:
    table = with_two()
    table.fresh_deck()
    table.do(operations.LoadDeck("A"))
    table.do(operations.QuarantineDeck("", "a mark on the back"))
    assert table.refused(operations.QuarantineDeck("A", "again"))[0] == "quarantined"
    assert table.refused(operations.PlaceYourBets())[0] == "quarantined"
    assert table.refused(release("A"))[0] == "role"
    assert table.refused(release("A", 51), Role.PIT_SUPERVISOR)[0] == "count"
    assert table.refused(release("B"), Role.PIT_SUPERVISOR)[0] == "not-quarantined"
    table.do(release("A"), Role.PIT_SUPERVISOR)
    table.do(operations.PlaceYourBets())


def test_an_unrecorded_deck_in_quarantine_is_replaced_or_released() -> None:
    table = opened()
    table.fresh_deck()
    table.do(operations.QuarantineDeck("", "a mark on the back"))
    assert table.refused(operations.PlaceYourBets())[0] == "quarantined"
    table.do(release(""), Role.PIT_SUPERVISOR)
    table.do(operations.QuarantineDeck("", "another mark"))
    table.fresh_deck()
    table.do(operations.PlaceYourBets())


def test_a_quarantine_has_its_reason_and_deck() -> None:
    table = opened()
    assert table.refused(operations.QuarantineDeck("", "why"))[0] == "no-deck"
    table.fresh_deck()
    assert table.refused(operations.QuarantineDeck("", " "))[0] == "reason"
    assert table.refused(operations.QuarantineDeck("A", "why"))[0] == "no-deck"


@pytest.mark.parametrize("kind", [Kind.FOREIGN_CARD, Kind.DECK_COUNT])
def test_nc_5_5_1_and_5_5_2_the_deck_is_out_of_use_once_the_fact_is_confirmed(kind: Kind) -> None:
    table = begin_with(with_two(), "A")
    table.report(kind)
    irregularity = table.open.id
    if table.open.asks:
        table.count(51)
    assert not table.events_of(events.DeckQuarantined)
    table.confirm()
    quarantined = table.last(events.DeckQuarantined)
    assert (quarantined.deck, quarantined.irregularity) == ("A", irregularity)
    table.device.load()
    table.do(operations.LoadDeck("A"))
    assert table.refused(operations.PlaceYourBets())[0] == "quarantined"
    begin_with(table, "B").finish()


def test_a_denied_irregularity_leaves_the_deck_in_use() -> None:
    table = begin_with(with_two(), "A")
    table.report(Kind.FOREIGN_CARD)
    table.deny()
    assert not table.events_of(events.DeckQuarantined)


def test_nc_5_5_2_a_count_that_finds_the_deck_whole_leaves_it_in_use() -> None:
    table = TableHarness().start().to_dealing()
    table.device.miscount = 1
    table.deal()
    table.count(40)
    table.confirm()
    assert not table.events_of(events.DeckQuarantined)


def test_nc_5_5_2_a_doubt_that_a_count_confirms_puts_the_deck_out_of_use() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.COUNT_IN_DOUBT)
    table.count(table.state.stub_due - 1)
    table.confirm()
    assert table.last(events.DeckQuarantined).deck == ""


def test_where_the_document_is_silent_the_ruling_puts_it_out_of_use() -> None:
    table = TableHarness(game_id="F3").start().to_dealing()
    table.report(Kind.FOREIGN_CARD)
    assert not table.events_of(events.DeckQuarantined)
    table.rule(RulingAction.VOID)
    assert table.state.decks.in_play.quarantined
    table.fresh_deck()
    table.do(operations.PlaceYourBets())


def test_nc_5_6_a_foreign_card_of_the_round_before_concerns_the_deck_of_that_round() -> None:
    table = begin_with(with_two(), "A").finish()
    begin_with(table, "B")
    table.report(Kind.FOREIGN_CARD, earlier=True)
    table.confirm()
    assert table.last(events.DeckQuarantined).deck == "A"
    assert not table.state.decks.quarantine_of(table.state.decks.in_play)


# -- shuffled outside


def test_a_deck_that_was_shuffled_outside_counts_as_shuffled_when_it_is_loaded() -> None:
    table = begin_with(with_two(), "A")
    table.do(operations.ShuffledOutside("batch shuffler 2", "B"))
    table.finish()
    table.device.load()
    table.do(operations.LoadDeck("B"))
    assert table.last(events.DeckShuffled).by == "batch shuffler 2"
    table.do(operations.PlaceYourBets())


def test_a_deck_that_was_dealt_from_no_longer_counts_as_shuffled() -> None:
    table = with_two()
    table.do(operations.ShuffledOutside("batch shuffler 2", "A"))
    table.device.load()
    table.do(operations.LoadDeck("A"))
    table.do(operations.PlaceYourBets())
    table.do(operations.OccupyBoxes(table.boxes))
    table.do(operations.NoMoreBets())
    table.finish()
    table.device.load()
    table.do(operations.LoadDeck("A"))
    assert table.refused(operations.PlaceYourBets())[0] == "not-shuffled"


def test_only_a_recorded_deck_not_in_play_is_shuffled_outside() -> None:
    table = begin_with(with_two(), "A")
    assert table.refused(operations.ShuffledOutside("a helper", "C"))[0] == "no-deck"
    assert table.refused(operations.ShuffledOutside("a helper", "A"))[0] == "in-play"
    assert table.refused(operations.ShuffledOutside("a helper"))[0] == "phase"
    assert with_two(Unit.SETS).refused(operations.ShuffledOutside("a helper", "A"))[0] == "shuffler"


def test_a_claim_overtaken_by_a_void_puts_the_deck_out_of_use() -> None:
    """It was never decided whether the deck has a foreign card."""
    table = begin_with(with_two(), "A")
    table.report(Kind.FOREIGN_CARD)
    table.report(Kind.UNSHUFFLED)
    table.confirm(found=next(found for found in table.state.open if found.kind is Kind.UNSHUFFLED))
    assert table.at(Phase.VOIDED)
    record = table.state.decks.record("A")
    assert record is not None
    assert record.quarantined


def test_nc_5_5_1_a_void_round_leaves_the_next_deck_usable() -> None:
    table = begin_with(with_two(), "A").finish()
    table.device.load()
    table.do(operations.LoadDeck("B"))
    table.do(operations.ShuffledOutside("batch shuffler", "B"))
    table.report(Kind.FOREIGN_CARD)
    table.confirm()
    assert table.at(Phase.VOIDED)
    table.do(operations.RecordSettled())
    table.do(operations.PlaceYourBets())
    assert table.state.round.label == "B"


def test_nc_5_5_1_a_foreign_card_in_another_deck_does_not_void_the_last_round() -> None:
    """Only the deck in play concerns the round."""
    table = begin_with(with_two(Unit.SETS), "A").finish()
    table.device.ignores_commands = True  # the test gives its reports itself
    table.device.report(DeckLoaded(2, 52))
    table.do(operations.LoadDeck("B"))
    table.device.report(ShuffleFinished(2, 777, 52, foreign=1))
    assert table.open.waiting
    table.confirm()
    assert table.at(Phase.CONCLUDED)
    assert [record.label for record in table.state.decks.recorded if record.quarantined] == ["B"]


def test_a_deck_whose_cards_are_on_the_table_cannot_have_been_examined() -> None:
    table = begin_with(with_two(), "A")
    table.take()
    table.do(operations.QuarantineDeck("A", "a mark on a back"))
    code, sentence = table.refused(release("A"), Role.PIT_SUPERVISOR)
    assert (code, "finish the round" in sentence) == ("in-play", True)


def test_nc_5_6_a_cancelled_start_does_not_count_as_a_round() -> None:
    table = TableHarness().start().to_dealing().finish()
    played = table.state.round.number
    table.fresh_deck()
    for _ in range(2):
        table.do(operations.PlaceYourBets())
        table.do(operations.CancelStart())
    table.do(operations.PlaceYourBets())
    table.do(operations.ReportIrregularity(Kind.FOREIGN_CARD, earlier=True))
    assert table.open.round == played


def test_nc_5_6_a_cancelled_start_does_not_count_after_the_table_was_closed_either() -> None:
    table = TableHarness().start().to_dealing().finish()
    played = table.state.round.number
    table.fresh_deck()
    for done in (operations.PlaceYourBets(), operations.CancelStart(), operations.CloseTable(), operations.OpenTable()):
        table.do(done)
    table.do(operations.PlaceYourBets())
    table.do(operations.ReportIrregularity(Kind.FOREIGN_CARD, earlier=True))
    assert table.open.round == played


def test_before_the_first_round_there_is_no_earlier_round() -> None:
    table = TableHarness().start().to_betting()
    table.do(operations.CancelStart())
    table.do(operations.PlaceYourBets())
    assert table.refused(operations.ReportIrregularity(Kind.FOREIGN_CARD, earlier=True))[0] == "round"
