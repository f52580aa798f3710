"""Headlines: one verb in at most 45 characters, in Chinese 20, so that they never shrink on the smallest screen."""

from __future__ import annotations

import re
from typing import Final

import pytest

from controller.games.own_words import BANKER, PLAYER, OwnWords
from controller.games.specification import FACT_QUESTIONS
from controller.language import Speaker, languages
from controller.roles import Role
from controller.table.headline import SHORTER, headline, headline_of
from controller.table.irregularities.questions import CLAIMS, claims
from controller.table.next_step import next_step, next_steps
from firmware_bridge.messages import SLOT, Message, message
from tests.table.every_state import every_state
from tools.catalogue import texts

MOST: Final = {"en": 45, "zh-Hans": 20}
WORDS: Final = OwnWords(BANKER, PLAYER)
LONGEST: Final = {
    "dealer": BANKER,
    "place": WORDS.box(3),
    "device": message("shuffler"),
    "dealers_hand": WORDS.dealers_hand,
}
"""The longest words for the slots of a question."""


def too_long(said: Message) -> dict[str, str]:
    found = {language: Speaker(language)(said) for language in MOST}
    return {language: text for language, text in found.items() if len(text) > MOST[language]}


def test_the_languages_are_all_measured() -> None:
    assert set(languages()) == set(MOST)


def test_the_headline_of_every_state_is_short_and_ends_as_a_sentence() -> None:
    found: dict[str, str] = {}
    for name, state in every_state():
        if state.settings is None:
            continue
        said = headline(state, next_steps(state))
        assert str(said).endswith((".", "?")), f"{name}: {said}"
        found |= dict.fromkeys(too_long(said).values(), name)
        for matter in state.open:
            asked = (headline_of(state, matter), *(claim.question for claim in claims(state, matter)))
            found |= {text: name for one in asked for text in too_long(one).values()}
    assert found == {}


def test_every_question_about_a_matter_is_short() -> None:
    asked = [*FACT_QUESTIONS.values(), *(claim.question for kind in CLAIMS.values() for claim in kind)]
    filled = [Message(one.id, {slot: LONGEST[slot] for slot, _ in SLOT.findall(one.id)}, one.many) for one in asked]
    assert {str(one): too_long(one) for one in filled if too_long(one)} == {}


def test_every_headline_of_a_step_belongs_to_a_step_that_the_program_says() -> None:
    said = {text.id for text in texts()}
    assert set(SHORTER) <= said
    for step, short in SHORTER.items():
        slots = {slot for slot, _ in SLOT.findall(short.id)}
        assert slots <= {slot for slot, _ in SLOT.findall(step)}, step


@pytest.mark.parametrize("role", [Role.PIT_SUPERVISOR, Role.SHIFT_MANAGER])
def test_a_ruling_calls_the_person_who_rules(role: Role) -> None:
    said = message("Call the {role} for a ruling.", role=role.named)
    assert not too_long(said)


def test_a_headline_keeps_the_words_of_the_step_it_shortens() -> None:
    for _, state in every_state():
        if state.settings is not None and not any(found.blocks for found in state.open):
            numbers = re.findall(r"\d+", str(headline(state, next_steps(state))))
            assert set(numbers) <= set(re.findall(r"\d+", str(next_step(state))))
