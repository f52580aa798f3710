"""A message in English and other languages: slots, lists, numbers, capitals, and what a catalogue lacks."""

from __future__ import annotations

import msgspec
import pytest

from controller.api.narration import line_of
from controller.games.own_words import OwnWords
from controller.language import Speaker
from firmware_bridge.messages import LONGEST, Message, counted, message, sentences

CHINESE = "zh-Hans"
PLACES = OwnWords().of_all(["B1", "B3", "B4", "D"])


@pytest.mark.parametrize(
    ("said", "english"),
    [
        (message("Turn over {hands}.", hands=PLACES), "Turn over boxes 1, 3 and 4 and the Dealer's hand."),
        (message("{boxes:or}", boxes=(1, 3, 5)), "1, 3 or 5"),
        (message("{boxes:list}", boxes=(1, 3)), "1, 3"),
        (message("{causes:clauses}", causes=(message("jam"), "a note")), "jam; a note"),
        (message("{boxes}", boxes=()), ""),
        (counted("1 card", "{count} cards", 1), "1 card"),
        (counted("1 card", "{count} cards", 0), "0 cards"),
        (message("{place} is out of play.", place=message("the Dealer")), "The Dealer is out of play."),
        (message("{question}.", question=message("Is it so?")), "Is it so?"),
        (sentences(message("One."), None, message("Two.")), "One. Two."),
        (message("{name} looks.", name="{name}"), "{name} looks."),
        (message("{missing} and {more:list}"), "{missing} and {more:list}"),
    ],
)
def test_a_message_in_english(said: Message, english: str) -> None:
    assert str(said) == english


def test_a_translation_chooses_how_a_list_is_joined() -> None:
    assert Speaker(CHINESE)(OwnWords().of_all(["B1", "B3"])) == "1\u30013\u53f7\u4f4d"


def test_text_that_people_wrote_is_not_translated() -> None:
    said = message("paused: {reason}", reason="the hand of box 2 was wet")
    assert Speaker(CHINESE)(said).endswith("the hand of box 2 was wet")


def test_a_message_that_no_catalogue_has_is_shown_in_english_with_its_arguments() -> None:
    said = message("A text of {year} that no catalogue has.", year=2031)
    assert Speaker(CHINESE)(said) == "A text of 2031 that no catalogue has."


def test_a_message_is_journaled_as_its_text_and_arguments() -> None:
    said = message("Turn over {hands}.", hands=OwnWords().of_all(["B1", "D"]))
    body = msgspec.json.encode(said)
    assert msgspec.json.decode(body, type=Message) == said
    assert msgspec.json.decode(body, type=str | Message) == said
    assert msgspec.json.decode(body)["id"] == "Turn over {hands}."


@pytest.mark.parametrize("language", ["en", CHINESE])
@pytest.mark.parametrize("slots", [1, 2, 200])
@pytest.mark.parametrize("deep", [5, 20, 300])
def test_an_endless_message_is_cut(deep: int, slots: int, language: str) -> None:
    """A journal that was written elsewhere may hold any message."""
    said = Message("{a}", {"a": "x"})
    for _ in range(deep):
        said = Message("{a} " * slots, {"a": said})
    assert len(Speaker(language)(said)) <= LONGEST


def test_a_number_chooses_the_text_in_each_language() -> None:
    for count, english, chinese in ((1, "1 card lies at D", "D有1张牌"), (2, "2 cards lie at D", "D有2张牌")):
        said = counted("1 card lies at {place}", "{count} cards lie at {place}", count, place="D")
        assert (str(said), Speaker(CHINESE)(said)) == (english, chinese)


def test_a_path_or_name_at_the_beginning_keeps_its_spelling_in_messages_within_too() -> None:
    assert str(message("{path} is not a journal.", path="folder")) == "folder is not a journal."
    assert str(message("{line}.", line=message("{person} opens the table", person="lee"))) == "lee opens the table."
    assert str(message("{who} opened the table.", who=message("the dealer"))) == "The dealer opened the table."


def test_settled_bets_are_counted_in_the_order_of_each_language() -> None:
    bets = [{"verdict": verdict} for verdict in ("won", "lost", "won")]
    said = line_of({"event": "wagers_settled", "bets": bets, "house": "-10"})
    assert said is not None
    assert str(said) == "wagers settled: 1 lost, 2 won; house result: -10"
    assert "\u8f931\u6ce8\u3001\u8d622\u6ce8" in Speaker(CHINESE)(said)
