"""A simulated shuffler that shuffles by a model: `cardshoe simulate --shuffle`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
import pytest_mock

from controller.problems import BadInputError, ProblemError
from firmware_bridge.cards import DECK, Card
from firmware_bridge.commands import Shuffle
from shuffle_audit.models.named import FORMS
from shuffle_audit.orders import order_of
from simulators.cli.device_options import read_shuffle
from simulators.cli.simulate import simulate
from simulators.devices.mechanism import Mechanism, Profile, full_capabilities

ROOT = Path(__file__).parents[2]
NAMES = [example for form in FORMS.values() for example in form.examples]


def shuffler(name: str, seed: int = 7) -> Mechanism:
    profile = Profile("shuffler", "S-1", full_capabilities("shuffler"))
    return Mechanism(profile, random=Random(seed), emit=lambda seen: None, boot=1, shuffles=read_shuffle(name))


def shuffled(mechanism: Mechanism, cards: list[Card] | None = None) -> list[Card]:
    mechanism.load(mechanism.next_deck() if cards is None else cards)
    assert mechanism.carry_out(1, Shuffle()).done
    return list(mechanism.inside)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_decks(name: str) -> None:
    one, other = shuffler(name), shuffler(name)
    decks = [shuffled(one) for _ in range(3)]
    assert decks == [shuffled(other) for _ in range(3)]
    assert decks != [shuffled(shuffler(name, seed=8)) for _ in range(3)]
    assert all(sorted(deck, key=DECK.index) == list(DECK) for deck in decks)


def test_the_default_is_made_without_numpy_as_ever() -> None:
    expected = list(DECK)
    random = Random(7)
    random.shuffle(expected)
    mechanism = shuffler("uniform")
    assert shuffled(mechanism) == expected
    assert mechanism.next_deck() == list(DECK)
    program = "import sys, simulators.cli.simulate, simulators.bench.command; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_a_deck_goes_in_as_the_last_one_came_out() -> None:
    """A cut keeps the deck's cyclic order, over any number of decks."""
    mechanism = shuffler("cut")
    for _ in range(5):
        before = mechanism.next_deck()
        order = order_of(before, shuffled(mechanism)).tolist()
        assert [(place - order[0]) % 52 for place in order] == list(range(52))
    assert mechanism.next_deck() == mechanism.inside
    assert order[0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cards", [[], [DECK[3]], list(DECK[:51]), [*DECK, DECK[0]]], ids=[0, 1, 51, 53])
def test_a_deck_that_is_not_whole_is_shuffled_and_then_replaced(name: str, cards: list[Card]) -> None:
    shuffle = read_shuffle(name)(Random(1))
    deck = list(cards)
    shuffle.shuffle(deck)
    assert sorted(deck, key=DECK.index) == sorted(cards, key=DECK.index)
    assert shuffle.next_deck() == list(DECK)


def test_a_missing_numpy_is_one_sentence(mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.dict(sys.modules, {"simulators.devices.modelled_shuffle": None})
    read_shuffle("uniform")
    with pytest.raises(ProblemError, match="The shuffle riffle:7 cannot be simulated: ") as missing:
        read_shuffle("riffle:7")
    assert str(missing.value.hint).endswith("/requirements-report.txt`.")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--shuffle", "shelf:10"], "'shelf:10' names no model"),
        (["--shuffle", "riffle:7", "--kind", "shoe"], "--shuffle is only for a shuffler that speaks cardlink."),
        (["--person", "--driver", "bee_tek"], "--person is only for a shuffler that speaks cardlink."),
        (["--person", "--dealer", "socket"], "The simulated people of --dealer lift the sets themselves."),
    ],
)
def test_incompatible_options_are_refused(words: list[str], sentence: str, tmp_path: Path) -> None:
    files = ["--link", str(tmp_path / "device"), "--key-file", str(tmp_path / "keys"), "--no-console"]
    with pytest.raises(BadInputError) as refused:
        simulate.main([*files, *words], standalone_mode=False)
    assert str(refused.value).startswith(sentence)
    assert refused.value.hint
