"""A concealed card cannot be disclosed by accident, and only a few named modules expose it."""

from __future__ import annotations

import copy
import json
import logging
import pickle

import msgspec
import pytest

from controller.table.model import HeldCard
from firmware_bridge.cards import Card, Concealed, ConcealedCardError, Evidence
from tests.architecture.sources import PACKAGES, called, modules

FACES = {"KD", "13", "26"}  # code, rank and number of the card below
SECRET = Concealed(Card.parse("KD"), shuffle=4, ordinal=7)
MAY_EXPOSE = {
    "controller.journal.sealing",  # seals it, and commits to it
    "controller.commands.capture.report",  # in a capture, for a user who has its key and asks for faces
    "controller.table.exposing",  # when a hand is opened
    "controller.table.first_card",  # when the First Card is shown
    "controller.table.inference",  # adds the numbers that its device does not give; the card stays concealed
    "controller.table.recall",  # for the answer to a journaled request of a pit manager
    "controller.table.established_outcome",  # as far as the casino chose (setting known_cards)
    "simulators.bench.conformance",  # compares cards with the order that a person gave, of decks of no game
    "simulators.bench.deck_recording",  # decks on a bench, which do not belong to a game
}
OF_A_SIMULATION = (
    "simulators.devices.",  # a simulated device knows its own cards
    "simulators.driver_conformance.",  # compares what a driver heard with what its simulated device sent
)
MAY_OPEN_EVIDENCE = {
    "controller.journal.sealing",
    "firmware_bridge.drivers.angel_eye",  # compares a telegram with the last one of an earlier link
    "simulators.driver_conformance.every_driver",
}


def test_only_named_modules_expose_a_card() -> None:
    found = {module.name for module in modules(*PACKAGES) for _, name in called(module) if name == ".expose"}
    assert {name for name in found if not name.startswith(OF_A_SIMULATION)} == MAY_EXPOSE


def test_no_module_reads_the_face_directly() -> None:
    reaching = {module.name for module in modules(*PACKAGES) if "._card" in module.text}
    assert reaching == {"firmware_bridge.cards"}


@pytest.mark.parametrize(
    "show",
    [
        str,
        lambda card: f"{card}",
        lambda card: f"{card:>9}",
        "{}".format,
        lambda card: "%s" % card,  # noqa: UP031  # this way of formatting is forbidden here
        print,
        pickle.dumps,
        copy.copy,
        copy.deepcopy,
        lambda card: pickle.dumps([card]),
        lambda card: copy.deepcopy({"card": card}),
    ],
)
def test_a_concealed_card_cannot_be_printed_formatted_copied_or_pickled(show: object) -> None:
    assert callable(show)
    with pytest.raises(ConcealedCardError):
        show(SECRET)


@pytest.mark.parametrize("encode", [json.dumps, msgspec.json.encode, msgspec.msgpack.encode, msgspec.to_builtins])
def test_a_concealed_card_cannot_be_serialised(encode: object) -> None:
    assert callable(encode)
    for value in (SECRET, [SECRET], HeldCard(4, 7, SECRET)):
        with pytest.raises(TypeError):
            encode(value)


def test_a_concealed_card_has_no_attributes_to_be_dumped() -> None:
    with pytest.raises(TypeError):
        vars(SECRET)


def test_its_representation_shows_the_ordinal_and_not_the_face(caplog: pytest.LogCaptureFixture) -> None:
    held = HeldCard(4, 7, SECRET)
    logging.getLogger("test").warning("%r %s", SECRET, held)
    assert "card 7 of shuffle 4" in caplog.text
    assert not any(face in repr(held) + caplog.messages[0] for face in FACES)


def test_neither_hash_nor_order_discloses_the_face() -> None:
    assert hash(SECRET) == hash(Concealed(Card.parse("2C"), shuffle=4, ordinal=7))
    assert Concealed(Card.parse("2C"), 4, 7) != SECRET
    with pytest.raises(TypeError):
        sorted([SECRET, SECRET])  # type: ignore[type-var]  # under test


def test_evidence_of_a_report_is_concealed_too() -> None:
    evidence = Evidence(b"\x1a KD")
    assert "KD" not in repr(evidence) + str(evidence) + f"{evidence}"
    with pytest.raises(ConcealedCardError):
        pickle.dumps(evidence)
    with pytest.raises(TypeError):
        msgspec.json.encode(evidence)
    opening = {module.name for module in modules(*PACKAGES) if "evidence.open()" in module.text}
    assert opening <= MAY_OPEN_EVIDENCE
