"""What a person in front of a table reads in another language."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import pytest_mock

from controller.api.screen_lines import line_for_screens
from controller.games.own_words import OwnWords
from controller.language import Speaker, Translator, phrase, translated, translating
from controller.language.catalogue import LANGUAGES, SLOT, catalogue, read
from controller.language.page_words import page_words
from controller.language.translating import LONGEST, MOST_TRIED, WORK_AT_ONCE, Translation
from tests.language.templates import missing

CHINESE = "zh-Hans"
EXAMPLES = json.loads(Path(__file__).with_name("examples.json").read_text("utf-8"))


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_the_catalogue_has_every_sentence_of_the_source(language: str) -> None:
    """`python -m tests.language.templates` prints what is missing."""
    assert missing(language) == {}


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_a_translation_has_the_arguments_of_its_sentence(language: str) -> None:
    words = read(language)
    assert words
    for template, said in words.items():
        assert sorted(SLOT.findall(template)) == sorted(SLOT.findall(said)), template
        assert said.strip(), template
    assert list(words) == sorted(words)


@pytest.mark.parametrize(("sentence", "said"), EXAMPLES.items())
def test_a_sentence_is_translated_with_its_arguments_and_names_of_people_stay(sentence: str, said: str) -> None:
    assert translated(sentence, CHINESE) == said
    assert translated(sentence, "en") == sentence


@pytest.mark.parametrize(("locked", "more"), [(0, ""), (9, "\uff1b\u6682\u4e0d\u518d\u63a5\u53d7")])
def test_a_wrong_pin_is_told_in_the_language_of_the_screen(locked: int, more: str) -> None:
    event = {"event": "pin_refused", "person": "Dana", "screen": "Left", "uid": None, "locked_until_utc_ns": locked}
    line = line_for_screens(event, OwnWords(), {})
    assert line is not None
    wrong = "\u8f93\u9519Dana\u7684\u5bc6\u7801\uff08\u5c4f\u5e55 Left\uff09"
    assert translated(line, CHINESE) == f"{wrong}{more}\u3002"


def test_what_no_template_fits_stays_english() -> None:
    for written in ("Ann felt unwell", "nothing of this kind, or that; not: even (this)", "", "三号位的茶"):
        assert translated(written, CHINESE) == written


@pytest.mark.parametrize("piece", [", ", "a, ", ": ", "; b", " (", "box 1 and ", "? ", "card 1 from "])
def test_a_long_note_does_not_keep_the_table_from_answering(piece: str) -> None:
    text = (piece * LONGEST)[:LONGEST]
    translation = Translation(catalogue(CHINESE))
    translation.sentence(text, 0)
    assert translation.tried < MOST_TRIED + 1000  # those of the text that was begun
    assert translated(text + piece, CHINESE) == text + piece


def test_the_phrases_of_the_console_are_read_in_the_language_of_each_screen() -> None:
    """A reason is kept in the language of the screen at which it was chosen."""
    english, chinese = map(page_words, LANGUAGES)
    phrases = [key for key in english if key.startswith("phrase.")]
    assert phrases
    for key in phrases:
        assert translated(f"paused: {english[key]}", CHINESE) == f"\u5df2\u6682\u505c\uff1a{chinese[key]}"
        assert phrase(english[key], CHINESE) == chinese[key]


@pytest.mark.parametrize("reason", ["a dispute at box 3", "the hand of box 2 was wet", "lamp over the Dealer"])
def test_what_people_wrote_stays_as_they_wrote_it(reason: str) -> None:
    assert phrase(reason, CHINESE) == reason
    assert reason in translated(f"Resume when it can go on: the table is paused ({reason}).", CHINESE)


def test_sentences_beyond_the_budget_of_work_stay_english(mocker: pytest_mock.MockerFixture) -> None:
    search = mocker.spy(translating, "_search")
    seconds = [0.0]
    speaker = Speaker(Translator(lambda: seconds[0]), CHINESE)
    for number in range(1000):
        speaker.sentence(f"Cannot close the table yet. box {number} and card {number} from {'a, ' * 200}")
    assert sum(tried for _, tried in search.spy_return_list) < WORK_AT_ONCE + MOST_TRIED
    assert search.call_count < 1000
    assert speaker.sentence("Turn over box 1.") == "Turn over box 1."
    seconds[0] = 10.0
    assert speaker.sentence("Turn over box 1.") == "请翻开1号位。"


def test_who_spends_the_budget_leaves_the_others_theirs() -> None:
    translator = Translator(lambda: 0.0)
    attacker, dealer = (Speaker(translator, CHINESE, payer) for payer in ("attacker", "dealer"))
    for number in range(1000):
        attacker.sentence(f"There is no person 'box {number} and card {number} from {'a, ' * 200}'.")
    assert attacker.sentence("Turn over box 1.") == "Turn over box 1."
    assert dealer.sentence("Turn over box 1.") == "请翻开1号位。"


def test_a_sentence_that_is_known_takes_nothing_of_the_budget(mocker: pytest_mock.MockerFixture) -> None:
    search = mocker.spy(translating, "_search")
    speaker = Speaker(Translator(lambda: 0.0), CHINESE)
    assert {speaker.sentence("Turn over box 1.") for _ in range(1000)} == {"请翻开1号位。"}
    assert search.call_count == 1
