"""The question of an open irregularity: its subject, the required act, and the consequences."""

from __future__ import annotations

import msgspec
import pytest

from controller.games import GAMES, game
from controller.games.specification import FACT_QUESTIONS, Facts, Kind, RulingAction, StepKind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.irregularities.questions import CLAIMS, claims, question
from controller.table.model import Hand
from controller.table.offers import offers
from firmware_bridge.cards import DECK
from simulators.devices.scripted_device import faces_of
from tests.rules.irregularity_cells import facts_of
from tests.table.deck_hands import begin_with, load_beside, with_two
from tests.table.harness import TableHarness
from tests.table.said import next_step

SUPERVISOR = "Call the pit supervisor. "
MANAGER = "Call the shift manager. "


def asked(table: TableHarness) -> str:
    return str(question(table.state, table.open))


def claimed(table: TableHarness) -> list[str]:
    return [str(one.question) for one in claims(table.state, table.open)]


# -- counts of the deck


@pytest.mark.parametrize(
    ("game_id", "clause"), [("TP", "TP 5.2"), ("RTP", "RTP 5.1.1"), ("NC", "NC 5.5.2"), ("P3", "P3 5.2")]
)
def test_the_question_shows_the_last_count_and_its_effect(game_id: str, clause: str) -> None:
    table = TableHarness(game_id=game_id).start().to_dealing().deal()
    table.count(39)
    assert asked(table) == (
        f"{SUPERVISOR}By the last count, 39 cards are left; there should be 40. "
        f'If so, press "Confirm": the round becomes void ({clause}).'
    )
    table.count(40)
    whole = 'According to the last count, the deck is complete: 40 cards are left. Press "Play goes on".'
    assert asked(table) == f"{SUPERVISOR}{whole}"
    table.confirm()
    assert not table.state.open


def test_a_doubt_is_not_asked_again_once_the_cards_were_counted() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.report(Kind.COUNT_IN_DOUBT, note="the door was open")
    assert asked(table) == "The door was open. Count the stub by hand, with a witness, and enter the count."
    table.count(40)
    assert "door" not in asked(table)
    assert "the deck is complete" in asked(table)


def test_the_count_of_the_waiting_deck_does_not_concern_the_stub() -> None:
    table = with_two(Unit.SINGLES)
    begin_with(table, "A")
    load_beside(table)
    table.do(operations.CountCards("deck", 51, "a witness"))
    assert table.open.waiting
    assert asked(table) == (
        f"{SUPERVISOR}By the last count, 51 cards are in the deck; there should be 52. "
        'If so, press "Confirm": the deck stays out of use.'
    )
    table.do(operations.CountCards("deck", 52, "a witness"))
    assert asked(table) == (f'{SUPERVISOR}According to the last count, the deck is complete. If so, press "Confirm".')


def test_a_matter_for_a_ruling_shows_the_last_count() -> None:
    table = TableHarness(game_id="F3").start().to_dealing().deal()
    table.count(38)
    assert asked(table) == (
        f"{MANAGER}By the last count, 38 cards are left; there should be 39. The rules are silent. What is the ruling?"
    )
    table.count(39)
    assert asked(table) == (
        f"{MANAGER}According to the last count, the deck is complete: 39 cards are left. The rules are silent. "
        "What is the ruling?"
    )


# -- matters for a ruling


def test_two_matters_without_a_clause_have_different_questions() -> None:
    table = TableHarness(game_id="TP").start().to_dealing().deal()
    table.report(Kind.UNSHUFFLED)
    table.report(Kind.PLAYER_EXPOSED, "B3")
    first, second = (str(question(table.state, found)) for found in table.state.open)
    assert first == f"{MANAGER}Were the cards dealt without a shuffle? The rules are silent. What is the ruling?"
    asked = f"{MANAGER}At box 3: a card that a Player exposed or dropped. The rules are silent. What is the ruling?"
    assert second == f"{asked} If play goes on, it is turned face down."
    _, sentence = table.refused(operations.ExposeHand("B1"))
    assert sentence.endswith(first)


@pytest.mark.parametrize(("game_id", "clause"), [("RTP", "RTP 6.1"), ("NC", "NC 5.17")])
def test_a_document_that_refers_the_case_is_not_silent(game_id: str, clause: str) -> None:
    table = TableHarness(game_id=game_id).start().to_dealing().deal()
    table.report(Kind.WRONG_VIEWER, "B3")
    assert asked(table) == (
        f"{MANAGER}Did the wrong person see box 3's cards? "
        f"No clause covers it; the shift manager decides ({clause}). What is the ruling?"
    )


def test_a_referred_matter_begins_with_the_observation() -> None:
    table = TableHarness(game_id="RTP").start().to_dealing().deal()
    table.handle("B3")
    table.report(Kind.WRONG_COUNT, "D", counted=4)
    assert asked(table).startswith(f"{MANAGER}Does the Dealer have 4 cards? The Dealer's hand has a wrong number")


def test_a_question_names_its_subject() -> None:
    table = TableHarness(game_id="RTP").start().to_dealing().deal()
    table.report(Kind.DROPPED_CARD, "B1")
    table.report(Kind.DROPPED_CARD, "B3")
    said = [str(question(table.state, found)) for found in table.state.open]
    assert [text.partition("? ")[0] for text in said] == ["Was a card of box 1 dropped", "Was a card of box 3 dropped"]


# -- the previous round


def _second_round(game_id: str) -> TableHarness:
    table = TableHarness(game_id=game_id).start().to_dealing().finish()
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    return table


@pytest.mark.parametrize("game_id", ["NC", "RTP", "TP", "P3", "F3"])
def test_an_irregularity_of_an_earlier_round_begins_with_the_round(game_id: str) -> None:
    table = _second_round(game_id)
    table.report(Kind.WRONG_COUNT, "B1", earlier=True)
    assert asked(table).startswith("Round 1: ")
    assert "None" not in asked(table)


@pytest.mark.parametrize("kind", [Kind.FOREIGN_CARD, Kind.DECK_COUNT])
def test_a_wrong_deck_may_concern_the_round_before_too(kind: Kind) -> None:
    table = _second_round("NC")
    table.report(kind)
    also = " If it may concern round 1 too, report it for that round as well."
    assert asked(table).endswith(also)
    found = table.open
    table.report(kind, earlier=True)
    assert also not in str(question(table.state, next(one for one in table.state.open if one.id == found.id)))


@pytest.mark.parametrize(("deck", "may"), [("A", True), ("B", False)])
def test_a_round_from_another_deck_is_not_concerned(deck: str, may: bool) -> None:
    table = with_two(Unit.SETS)
    begin_with(table, "A").finish()
    begin_with(table, deck)
    table.report(Kind.FOREIGN_CARD)
    assert ("round 1 too" in asked(table)) is may


# -- choices, moves, orders


def test_choices_show_with_which_hand_play_continues() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.handle("B1")
    table.report(Kind.WRONG_DISTRIBUTION)
    table.confirm(reconstructable=True)
    assert next_step(table.state) == (
        "Ask boxes 1, 3 and 6: continue (NC 5.7.2: the hand goes on as reconstructed) or withdraw the bets (NC 5.7.3)?"
    )


def test_choices_show_who_permits_a_withdrawal() -> None:
    table = TableHarness(game_id="RTP").start().to_dealing().deal()
    table.handle("B1")
    table.report(Kind.WRONG_DISTRIBUTION)
    table.confirm(Role.SHIFT_MANAGER)
    assert next_step(table.state) == (
        "Ask boxes 1, 3 and 6: continue (RTP 5.7: the wager stays) "
        "or withdraw the bets (RTP 5.7, if a shift manager or above permits it)?"
    )


@pytest.mark.parametrize(
    ("counted", "said"),
    [
        (4, 'Take 1 card out of the hand of the Dealer, which has 4. Then press "Cards are moved".'),
        (5, 'Take 2 cards out of the hand of the Dealer, which has 5. Then press "Cards are moved".'),
        (2, 'Give 1 card to the hand of the Dealer, which has 2. Then press "Cards are moved".'),
    ],
)
def test_a_wrong_number_of_cards_is_put_right_in_the_hand(counted: int, said: str) -> None:
    table = TableHarness().start().to_dealing().deal()
    table.handle("B1")
    table.report(Kind.WRONG_COUNT, "D", counted=counted)
    table.confirm(reconstructable=True)
    assert next_step(table.state) == said
    table.put_right()
    assert not table.state.open


def test_an_order_without_known_cards_is_asked_at_the_table() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.SIMULTANEOUS)
    table.confirm(wrong_number=False, order_known=False)
    assert next_step(table.state) == (
        f'{SUPERVISOR}Announce which card counts as the first and which as the next. Then press "Set card order".'
    )
    table.name_order()
    assert table.open.stage == "choosing"


# -- a void that was requested once


def test_nc_5_5_4_a_void_is_asked_for_with_the_reason_of_the_row_that_voids() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.swap("B1", "B3")
    table.confirm(handled=False)
    impossible = operations.ConfirmIrregularity(table.open.id, table.open.revision, Facts(curable=False))
    table.do(impossible, Role.PIT_SUPERVISOR)
    assert next_step(table.state) == (
        "Cards were dealt wrongly, no Player has handled cards, and moving complete hands does not correct it: "
        "the round becomes void. Repeat to confirm, or decide otherwise."
    )


def test_a_void_by_ruling_is_requested_with_the_decision() -> None:
    table = TableHarness(game_id="TP").start().to_dealing()
    table.report(Kind.UNSHUFFLED)
    ruling = operations.Rule(table.open.id, table.open.revision, RulingAction.VOID, "shift manager", "start again")
    table.do(ruling, Role.SHIFT_MANAGER)
    assert asked(table).startswith("Start again: the round becomes void.")


# -- the claim, before anything that follows


def test_whether_the_irregularity_occurred_is_a_separate_question() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.report(Kind.WRONG_COUNT, "D", counted=4)
    assert claimed(table) == ["Does the Dealer have 4 cards?"]
    assert asked(table) not in claimed(table), "the first fact is asked after it"
    table = TableHarness().start().to_dealing().deal()
    table.report(Kind.COUNT_IN_DOUBT, note="the door was open")
    assert not claimed(table), "only a count shows it"
    table.count(39)
    assert claimed(table) == ["Do you count 39 cards in the stub?"]


def test_a_decided_fact_is_not_claimed() -> None:
    table = TableHarness(game_id="TP").start().to_dealing().deal()
    table.report(Kind.UNSHUFFLED)
    assert not claimed(table)


# -- faces that people enter


def opens_first(table: TableHarness) -> str:
    """Return the place whose hand is turned over first."""
    examined_first = table.state.game.step(StepKind.RETURNING) is None and table.state.game.examining
    return "D" if examined_first else table.state.round.live_places[0]


@pytest.mark.parametrize("game_id", ["TP", "RTP", "NC", "P3", "F3"])
@pytest.mark.parametrize("by_device", [True, False])
def test_differing_faces_are_first_checked_by_their_author(game_id: str, by_device: bool) -> None:
    unit = Unit.SINGLES if game_id == "F3" else Unit.SETS
    table = TableHarness(unit, game_id=game_id, by_device=by_device).start().to_dealing().deal()
    place = opens_first(table)
    read = faces_of(table.state.round.hands[place].cards)
    entered = (*read[:2], next(card for card in reversed(DECK) if card not in read))
    table.expose(place, " ".join(card.code for card in entered))
    said = asked(table)
    assert said.startswith("Is your entry of ")
    assert " ".join(card.code for card in entered) in said
    assert read[2].code not in said, "it may lie face down at another place"
    assert claimed(table)[0].endswith(" right?")
    table.deny(by=Role.DEALER)
    assert not table.state.open
    assert not table.state.round.hands[place].shown, "it is entered again"
    table.expose(place, " ".join(card.code for card in read))
    assert not table.state.open


def test_a_card_entered_twice_is_checked_before_cards_are_counted() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.expose("D")
    dealers = table.state.round.hands["D"].shown
    own = faces_of(table.state.round.hands["B1"].cards)
    table.expose("B1", " ".join(card.code for card in (*own[:2], dealers[0])))
    assert table.open.kind is Kind.DECK_COUNT
    assert asked(table).startswith("Is your entry of box 1 right? ")
    table.deny(by=Role.DEALER)
    assert not table.state.round.hands["B1"].shown
    assert not table.state.open


def test_an_entry_that_is_right_leads_to_the_error() -> None:
    table = TableHarness().start().to_dealing().deal()
    read = faces_of(table.state.round.hands["D"].cards)
    entered = (*read[:2], next(card for card in reversed(DECK) if card not in read))
    table.expose("D", " ".join(card.code for card in entered))
    table.confirm(handled=False)
    assert "Is your entry" not in asked(table)
    assert table.refused(operations.DenyIrregularity(table.open.id, table.open.revision, "no"))[0] == "role"


def four_came(game_id: str, unit: Unit = Unit.SETS) -> TableHarness:
    table = TableHarness(unit, game_id=game_id).start().to_betting()
    if unit is Unit.SETS:
        table.device.next_set = 4
        table.close_bets()
    else:
        table.close_bets()
        table.take(3)
        table.device.draw_together(2)
    return table


@pytest.mark.parametrize("game_id", ["TP", "RTP", "NC", "P3"])
def test_people_at_the_table_are_asked_about_what_they_can_see(game_id: str) -> None:
    assert claimed(four_came(game_id)) == ["Do you see 4 cards for box 1?"]
    assert claimed(four_came(game_id, Unit.SINGLES)) == ["Did 2 cards come out together?"]


FOUR_IN_BOX_1 = {"TP": "TP 5.3", "RTP": "RTP 5.4", "P3": "P3 5.3", "F3": "F3 X2"}


@pytest.mark.parametrize("game_id", FOUR_IN_BOX_1)
@pytest.mark.parametrize("unit", Unit)
def test_after_four_cards_for_a_hand_it_is_asked_which_hand_has_how_many(game_id: str, unit: Unit) -> None:
    if game_id == "F3":
        unit = Unit.SINGLES
    table = four_came(game_id, unit)
    place = table.open.place or ""
    assert asked(table).endswith("Does a hand have a wrong number of cards?")
    assert " or " not in asked(table)
    table.confirm(wrong_number=True, by=Role.DEALER)
    assert asked(table) == "Count the hand that has too many or too few cards, with a witness, and enter the count."
    assert [one.operation for one in offers(table.state) if one.primary] == ["count_cards"]
    counted = table.state.round.hands.get(place, Hand()).size + len(table.open.ordinals)
    table.do(operations.CountCards(place, counted, "a witness"))
    while table.state.open:
        answers = msgspec.convert(dict.fromkeys(table.open.asks, False), Facts)
        confirmed = operations.ConfirmIrregularity(table.open.id, table.open.revision, answers)
        table.decide(confirmed, Role.PIT_SUPERVISOR)
    assert table.last(events.RoundVoided).clause == FOUR_IN_BOX_1[game_id]


@pytest.mark.parametrize("game_id", FOUR_IN_BOX_1)
def test_four_cards_without_an_overfull_hand_void_nothing(game_id: str) -> None:
    """The cards are in no hand yet, so no place, order or number of a deal is wrong."""
    table = four_came(game_id, Unit.SINGLES)
    table.confirm(wrong_number=False, by=Role.DEALER)
    assert asked(table).endswith("Does a card lie in the wrong place?")
    table.confirm(misplaced=False, by=Role.SHIFT_MANAGER)
    assert table.open.stage == "ruling"
    assert not table.events_of(events.RoundVoided)
    table.rule(RulingAction.CONTINUE)
    assert table.state.moves_due, "the screen shows where each of them goes"


# -- one question asks one thing


@pytest.mark.parametrize("kind", Kind)
def test_each_claim_asks_one_thing_and_no_two_the_same(kind: Kind) -> None:
    texts = [str(one.question) for one in CLAIMS[kind]]
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert text.count("?") == 1, text
        assert not {" or ", " and ", ",", ";"} & {part for part in (" or ", " and ", ",", ";") if part in text}, text


@pytest.mark.parametrize("game_id", GAMES)
@pytest.mark.parametrize("kind", Kind)
def test_no_claim_merges_cases_that_the_rows_of_a_game_distinguish(kind: Kind, game_id: str) -> None:
    """If a kind has several claims, confirming each of them decides every fact that distinguishes them."""
    every = CLAIMS[kind]
    named = {name for one in every for name, value in facts_of(one.states).items()}
    for one in every:
        assert set(facts_of(one.states)) == named, f"{one.question} leaves open {named}"
    if len(every) == 1:
        assert not named
        return
    told_apart = {name for row in game(game_id).irregularities if row.kind is kind for name in facts_of(row.when)}
    assert told_apart - named <= {"counted_wrong", "between_rounds"}, "a yes to one claim leaves this open"


@pytest.mark.parametrize("name", FACT_QUESTIONS)
def test_each_question_of_fact_asks_one_thing(name: str) -> None:
    text = FACT_QUESTIONS[name].id
    assert text.count("?") == 1
    assert text.endswith("?")
    assert " or " not in text


def test_f3_pm5_a_mistyped_first_card_is_checked_first() -> None:
    """The order of the deal follows from it, so the entry is corrected, not denied."""
    table = TableHarness(Unit.SINGLES, game_id="F3", by_device=False).start().to_betting()
    table.do(operations.NoMoreBets())
    table.take()
    drawn = table.state.round.first_card
    assert drawn is not None
    (read,) = faces_of((drawn,))
    mistyped = next(card for card in DECK if card.rank is not read.rank)
    table.do(operations.ShowFirstCard(mistyped))
    assert claimed(table) == ["Is your entry of the First Card right?"]
    assert asked(table) == (
        f"Is your entry of the First Card right? {mistyped.code} was entered; the shoe read another card."
    )
    denial = operations.DenyIrregularity(table.open.id, table.open.revision, "mistyped")
    assert table.refused(denial)[0] == "entry"
    entry = next(one.entry for one in table.state.round.entered if isinstance(one.operation, operations.ShowFirstCard))
    right = operations.CorrectEntry(entry, "mistyped", operations.ShowFirstCard(read))
    table.do(right, Role.PIT_SUPERVISOR)
    assert not table.state.open
    table.deal().expose_all()
    assert not table.state.open
