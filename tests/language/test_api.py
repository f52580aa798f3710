"""The language of an answer: the request's, for states of screens, offers, previews, refusals and rounds."""

from __future__ import annotations

import json

import pytest

from controller.api.bodies import OperationAnswer
from controller.api.feed import ProcessorShare
from controller.api.in_language import in_language
from controller.api.preview import preview
from controller.api.round_events import with_lines
from controller.api.screen_state import LastView, MessageKind, table_message
from controller.api.screen_stream import ScreenStates
from controller.api.view import LinkView, view_of
from controller.games.own_words import OwnWords
from controller.language import Speaker
from controller.table import operations
from controller.table.offers import offers
from firmware_bridge.messages import Message, message
from tests.end_to_end.stage import short_folder
from tests.interfaces.test_screen_stream import Table
from tests.interfaces.test_screens_port import Served
from tests.table.harness import TableHarness

CHINESE = "zh-Hans"
EXAMPLES = {"en": "Mark the boxes with bets.", CHINESE: "\u8bf7\u6807\u8bb0\u6709\u6ce8\u7684\u6ce8\u4f4d\u3002"}


def test_a_screen_is_given_the_state_in_its_language_and_nothing_else_differs() -> None:
    states = ScreenStates(Table(), clock=lambda: 0.0)
    english = json.loads(states.shared(MessageKind(operates=True)))
    chinese = json.loads(states.shared(MessageKind(operates=True, language=CHINESE)))
    assert (english["language"], chinese["language"]) == ("en", CHINESE)
    assert chinese["view"]["next_step"] != english["view"]["next_step"]
    assert chinese["view"]["title"] != english["view"]["title"]
    assert list(chinese["layout"]["labels"]) == list(english["layout"]["labels"])
    assert [one["operation"] for one in chinese["offers"]] == [one["operation"] for one in english["offers"]]
    assert [one["arguments"] for one in chinese["offers"]] == [one["arguments"] for one in english["offers"]]
    refused = [one["sentence"] for one in chinese["offers"] if not one["allowed"]]
    assert refused
    assert all(not sentence.isascii() for sentence in refused)


def test_a_translation_depends_on_the_english_message_only() -> None:
    """Otherwise concealed faces could show in it."""
    state = TableHarness().start().to_betting().state
    message = table_message(state, view_of(state, LinkView()), offers(state), LastView(), MessageKind(operates=True))
    assert in_language(message, Speaker(CHINESE)) == in_language(message, Speaker(CHINESE))
    english = in_language(message, Speaker("en"))
    assert in_language(english, Speaker("en")) == english


@pytest.mark.parametrize("language", ["en", CHINESE])
async def test_refusals_previews_and_lines_are_translated(language: str) -> None:
    state = TableHarness().start().to_betting().state
    refusal = OperationAnswer(False, code="boxes", sentence=message("Mark the boxes with bets."))
    assert in_language(refusal, Speaker(language)).sentence == EXAMPLES[language]
    tried = preview(state, operations.AbandonRound("so decided", "house"))
    assert str(in_language(tried, Speaker(language)).next_step).isascii() is (language == "en")
    event = b'{"entry":1,"utc_ns":9,"round":1,"event":"table_resumed"}'
    (told,) = await with_lines([event], ProcessorShare(), OwnWords(), {}, Speaker(language))
    assert json.loads(told)["line"].isascii() is (language == "en")


async def test_each_request_of_a_connection_is_answered_in_its_own_language() -> None:
    with short_folder() as folder:
        served = Served(folder)
        await served.server.start()
        try:
            caller = await served.call()
            said = []
            for path in (b"/v1/nothing?language=zh-Hans", b"/v1/nothing", b"/v1/nothing?language=fr"):
                status, body = await served.ask(caller, path=path)
                said.append(json.loads(body)["sentence"])
                assert status == 404
            assert [sentence.isascii() for sentence in said] == [False, True, True]
            await caller.close()
        finally:
            await served.server.close()


def test_a_client_with_its_own_texts_gets_each_id_with_its_arguments() -> None:
    said = message("Turn over {hands}.", hands=OwnWords().of_all(["B1"]))
    answer = OperationAnswer.to_operation(0, "hands", said)
    whole = in_language(answer, Speaker(CHINESE, whole=True)).sentence
    assert isinstance(whole, Message)
    assert (whole.id, whole.args, whole.text) == (said.id, said.args, in_language(answer, Speaker(CHINESE)).sentence)
