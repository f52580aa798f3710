"""Two decks that differ only in cards that lie face down look the same from outside, but for the commitments."""

from __future__ import annotations

import re
from random import Random

from controller.api.messages import encode
from controller.api.view import LinkView, view_of
from controller.games.specification import Role, Unit
from controller.journal.codec import JournalCodec
from controller.journal.sealing import JournalKeys
from controller.table import operations
from controller.table.decide import decide
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput, DaemonStarted, DeviceConnected, DeviceReported, PersonActed
from controller.table.operations import AnyOperation
from controller.table.settings import Settings
from controller.table.state import TableState
from firmware_bridge.cards import DECK, Card, Concealed, Evidence
from firmware_bridge.observations import CardDrawn, DeckLoaded, DeviceIdentity, DeviceStatus
from simulators.simulate import capabilities_of

IDENTITY = DeviceIdentity(
    "shoe", "singles", "maker", "model", "CARDSHOE-1", "1", "0" * 64, capabilities_of("shoe"), True, 52, 9
)
STATUS = DeviceStatus(9, 0, 0, 0, 0, 0, 0, 0, False, True, False, 0)


def outputs_of_a_deal(deck: list[Card]) -> tuple[list[bytes], list[bytes]]:
    """Everything published and every view of a deal before a hand is exposed, and the journal's entries."""
    codec: JournalCodec[AnyInput, AnyEvent] = JournalCodec(AnyInput, AnyEvent, JournalKeys(bytes(32), "00"))
    state = TableState()
    public: list[bytes] = []
    kept: list[bytes] = []

    def take(given: AnyInput) -> None:
        nonlocal state
        decided = decide(state, given)
        state = decided.state
        public.extend(codec.public_encode(event, state.round) for event in decided.events)
        public.append(encode(view_of(state, LinkView())))
        kept.extend(codec.encode(state.entry, value) for value in (given, *decided.events))

    def act(operation: AnyOperation) -> None:
        take(PersonActed(f"op{state.entry}", "dealer", Role.DEALER, state.round, operation))

    take(DaemonStarted("T", True, Settings("NC", Unit.SINGLES, 7), "start"))
    take(DeviceConnected(IDENTITY, STATUS))
    take(DeviceReported(9, 1, 0, DeckLoaded(1, 52, 1), Evidence(bytes(20))))
    act(operations.OpenTable())
    act(operations.ShuffledOutside("machine"))
    act(operations.PlaceYourBets())
    act(operations.OccupyBoxes((2, 5)))
    act(operations.NoMoreBets())
    for ordinal, card in enumerate(deck[:9], start=1):
        seen = CardDrawn(1, ordinal, 52 - ordinal, 1, Concealed(card, 1, ordinal), False)
        take(DeviceReported(9, ordinal + 1, ordinal, seen, Evidence(bytes([card.number]) * 40)))
    assert state.next_place is None
    return public, kept


def without_commitments(outputs: list[bytes]) -> list[bytes]:
    return [re.sub(rb'"commitment":"[0-9a-f]{64}"', b"", output) for output in outputs]


def test_what_lies_face_down_shows_nowhere() -> None:
    one = list(DECK)
    two = list(DECK)
    Random(5).shuffle(two)
    (public_one, kept_one), (public_two, kept_two) = outputs_of_a_deal(one), outputs_of_a_deal(two)
    assert without_commitments(public_one) == without_commitments(public_two)
    assert public_one != public_two
    assert [len(entry) for entry in kept_one] == [len(entry) for entry in kept_two]
