"""Shuffles by their names."""

from __future__ import annotations

import numpy as np
import pytest

from shuffle_audit.models.named import named

NAMES = [
    "uniform", "riffle:7", "shelves:10", "shelves:10x2", "shelves:10:top", "shelves:10x2:top", "sticking:0.02",
    "not-always:0.05", "cut", "overhand:3:0.2", "strip:4", "wash:30", "favoured:0.2:1:52",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("uniform", "a uniform shuffle"),
        ("riffle:7", "7 riffles"),
        ("shelves:10x2", "a shelf shuffler with 10 shelves, 2 passes"),
        (" overhand:3:0.2 ", "3 overhand shuffles, 20% breaks"),
        ("strip:4", "4 strip cuts, 14% breaks"),
        ("favoured:0.2:1:52", "a uniform shuffle in which card 1 comes to place 52 with 20%"),
    ],
)
def test_a_name_says_which_shuffle(text: str, words: str) -> None:
    assert named(text).words == words


def test_a_machine_takes_its_cards_from_the_bottom_unless_said_otherwise() -> None:
    orders = [named(text).shuffle(np.random.default_rng(1), 1, 52).tolist() for text in NAMES[2:6:2]]
    assert orders[0] != orders[1]


@pytest.mark.parametrize("text", NAMES)
def test_every_named_shuffle_can_be_made(text: str) -> None:
    assert sorted(named(text).shuffle(np.random.default_rng(1), 1, 52)[0].tolist()) == list(range(52))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "'' is no shuffle; there are uniform, riffle:PASSES, "),
        ("riffles:7", "'riffles:7' is no shuffle; there are uniform, riffle:PASSES, "),
        ("riffle", "'riffle' is no shuffle; write riffle:PASSES."),
        ("cut:3", "'cut:3' is no shuffle; write cut."),
        ("riffle:0", "'riffle:0' is no shuffle: '0' is no whole number from 1 to 50; write riffle:PASSES."),
        ("riffle:7.5", "'riffle:7.5' is no shuffle: '7.5' is no whole number"),
        ("riffle:²", "'riffle:²' is no shuffle: '²' is no whole number"),
        ("shelves:10x", "'shelves:10x' is no shuffle: '' is no whole number from 1 to 2"),
        ("shelves:10:left", "'shelves:10:left' is no shuffle: cards are taken from the top or the bottom, not 'left'"),
        ("sticking:2", "'sticking:2' is no shuffle: '2' is no number from 0 to 1; write sticking:CHANCE."),
        ("sticking:nan", "'sticking:nan' is no shuffle: 'nan' is no number from 0 to 1"),
        ("wash:x", "'wash:x' is no shuffle: 'x' is no number from 0 to 3600"),
        ("favoured:0.2:0:52", "'favoured:0.2:0:52' is no shuffle: '0' is no whole number from 1 to 52"),
    ],
)
def test_what_names_no_shuffle_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match="is no shuffle") as refused:
        named(text)
    assert str(refused.value).startswith(sentence)
