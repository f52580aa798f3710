"""Entries survive a round trip, published events do not contain concealed cards, and people write cards as they usually
do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.journal import JournalError
from controller.journal.codec import CHECKPOINT, OPENING, JournalCodec, PackedState, StateForm, Types
from controller.journal.packing import Packing
from controller.journal.sealing import FileKeys, JournalKeys, commitment
from firmware_bridge.cards import DECK, Card, Concealed, Evidence, Exposed
from tests.journal.vocabulary import (
    LOCAL_KEY,
    TYPES,
    AnyEvent,
    AnyInput,
    Assigned,
    Cards,
    Dispensed,
    Noted,
    Said,
    Shown,
    TestJournal,
    entries,
    moment,
    open_journal,
)

Codec = JournalCodec[Any, Any]
PACKING = Packing(b"")
KEYS = JournalKeys(LOCAL_KEY, "ab")
FILE_KEYS = FileKeys(LOCAL_KEY, "f1")
cards = st.sampled_from(DECK)
places = {"shuffle": st.integers(0, 2**32 - 1), "ordinal": st.integers(0, 2**16 - 1)}
concealed = st.none() | st.builds(Concealed, cards, **places)
exposed = st.builds(Exposed, cards, **places)
evidence = st.builds(Evidence, st.binary(max_size=200))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
inputs = st.builds(Dispensed, st.integers(0, 2**53), st.lists(concealed, max_size=4).map(tuple), evidence) | st.builds(
    Said, texts, st.none() | cards
)
events = (
    st.builds(Assigned, texts, concealed, st.lists(concealed, max_size=4).map(tuple))
    | st.builds(Shown, st.lists(exposed, max_size=4).map(tuple), st.none() | cards)
    | st.builds(Noted, texts)
)
times = st.integers(-(2**63), 2**63 - 1)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestJournal]:
    with closing(open_journal(tmp_path_factory.mktemp("codec"))) as journal:
        entries(journal)  # SQLite keeps a reader's descriptor for the next reader while it appends to the same file
        yield journal


def codec_of(types: Types) -> Codec:
    return JournalCodec(types, KEYS, FILE_KEYS, PACKING, lambda count: bytes(count))


@pytest.fixture
def codec() -> Codec:
    return codec_of(TYPES)


@given(given_=inputs, caused=st.lists(events, max_size=5), round_number=times, utc=times, boottime=times)
@settings(deadline=None)
def test_entries_survive_a_round_trip(
    shared: TestJournal, given_: AnyInput, caused: list[AnyEvent], round_number: int, utc: int, boottime: int
) -> None:
    before = shared.head.number
    at = msgspec.structs.replace(moment(), utc_ns=utc, boottime_ns=boottime)
    committed = shared.append(given_, caused, round=round_number, moment=at)
    assert (committed.first, list(committed.events)) == (before + 1, list(range(before + 2, before + 2 + len(caused))))
    read = entries(shared, after=before)
    assert [entry.value for entry in read] == [given_, *caused]
    assert [entry.kind for entry in read] == ["input"] + ["event"] * len(caused)
    assert [entry.number for entry in read] == [committed.first, *committed.events]
    assert {(each.utc_ns, each.boottime_ns, each.round) for each in read} == {(utc, boottime, round_number)}
    (decision,) = shared.files().decisions(before)
    assert (decision.first, decision.last) == (committed.first, shared.head.number)
    assert decision.events == committed.published


def test_all_cards_and_all_sizes(codec: Codec) -> None:
    rows = []
    for card in DECK:
        event = Assigned("box 1", Concealed(card, 7, 1), (None, Concealed(card, 7, 2)))
        rows.append(codec.encode(9, Dispensed(1, (Concealed(card, 7, 1),), Evidence(b"")), [event], 1))
    assert len({(len(row.input), *map(len, row.events), len(row.sealed)) for row in rows}) == 1
    assert len({row.input for row in rows}) == 1
    assert len({row.sealed for row in rows}) == 52
    assert len({row.events[0] for row in rows}) == 52


def test_a_repeated_card_is_sealed_once_and_a_different_one_is_kept(codec: Codec) -> None:
    card, other = Concealed(DECK[0], 7, 1), Concealed(DECK[1], 7, 1)
    given_ = Dispensed(1, (card, card, None, other), Evidence(b""))
    row = codec.encode(9, given_, [Assigned("box 1", card, (other,))], 1)
    assert json.loads(row.input)["cards"] == [0, 0, None, 1]
    assert len(FILE_KEYS.open(9, row.sealed, b"decision")) == 3
    assert codec.decode_input(9, row.input, row.sealed) == given_
    assert codec.decode_events(9, row.events, row.sealed, 1) == [Assigned("box 1", card, (other,))]


def test_a_card_that_only_an_event_has_is_kept(codec: Codec) -> None:
    event = Assigned("box 1", Concealed(DECK[9], 7, 1))
    row = codec.encode(9, Said("manual"), [event], 3)
    assert codec.decode_events(9, row.events, row.sealed, 3) == [event]


def test_an_unknown_field_leaves_the_others_readable(codec: Codec) -> None:
    class Older(msgspec.Struct, tag="assigned"):
        place: str
        gone: Concealed
        card: Concealed

    older = Older("box 1", Concealed(DECK[5], 7, 1), Concealed(DECK[6], 7, 2))
    row = codec.encode(9, Said(""), [older], 1)
    assert codec.decode_events(9, row.events, row.sealed, 1) == [Assigned("box 1", Concealed(DECK[6], 7, 2))]


def test_a_shown_card_proves_its_commitment(codec: Codec) -> None:
    king = Concealed(Card.parse("KD"), 7, 1)
    before = json.loads(codec.encode(9, Said(""), [Assigned("box 1", king)], 3).events[0])
    assert before == {"type": "assigned", "place": "box 1", "card": before["card"], "others": []}
    assert list(before["card"]) == ["commitment"]
    shown = Shown((Exposed(Card.parse("KD"), 7, 1),), Card.parse("AS"))
    after = json.loads(codec.encode(12, Said(""), [shown], 3).events[0])
    (exposed,) = after["cards"]
    assert (exposed["card"], exposed["shuffle"], exposed["ordinal"], after["face_up"]) == ("KD", 7, 1, "AS")
    proof = commitment(bytes.fromhex(exposed["salt"]), Card.parse(exposed["card"]))
    assert proof.hex() == before["card"]["commitment"]
    in_another_round = json.loads(codec.encode(9, Said(""), [Assigned("box 1", king)], 4).events[0])
    assert in_another_round["card"] != before["card"]


def test_evidence_has_no_place_in_an_event() -> None:
    class Told(msgspec.Struct):
        evidence: Evidence

    with pytest.raises(NotImplementedError, match="Evidence has no place"):
        codec_of(TYPES).encode(9, Said(""), [Told(Evidence(b"KD"))], 1)


DAMAGED_EVENTS = [
    "",
    "{",
    "{}",
    '{"type":"unheard"}',
    '{"type":"assigned","place":"box 1"}',
    '{"type":"assigned","place":"box 1","card":"KD"}',
    '{"type":"assigned","place":"box 1","card":{}}',
    '{"type":"assigned","place":"box 1","card":0}',
    '{"type":"assigned","place":"box 1","card":{"commitment":7}}',
    '{"type":"assigned","place":"box 1","card":{"commitment":[]}}',
    '{"type":"assigned","place":"box 1","card":{"commitment":"00"}}',
    '{"type":"shown","cards":[{"card":"KD","shuffle":1}]}',
    '{"type":"shown","cards":[{"card":"XX","shuffle":1,"ordinal":1}]}',
    '{"type":"shown","cards":[{"card":1,"shuffle":1,"ordinal":1}]}',
    '{"type":"shown","cards":[],"face_up":"XX"}',
    '{"type":"shown","cards":[],"face_up":1}',
]
DAMAGED_INPUTS = [
    "[" * 5000,
    '{"type":"dispensed","number":1,"cards":["KD"],"evidence":1}',
    '{"type":"dispensed","number":1,"cards":[{"commitment":"00"}],"evidence":1}',
    '{"type":"dispensed","number":1,"cards":[2],"evidence":1}',
    '{"type":"dispensed","number":1,"cards":[-1],"evidence":1}',
    '{"type":"dispensed","number":1,"cards":[true],"evidence":1}',
    '{"type":"dispensed","number":1,"cards":[1],"evidence":1}',
    '{"type":"dispensed","number":1,"cards":[0],"evidence":0}',
]


@pytest.fixture
def sealed(codec: Codec) -> bytes:
    return codec.encode(9, Dispensed(1, (Concealed(DECK[0], 7, 1),), Evidence(b"")), [], 1).sealed


@pytest.mark.parametrize("text", DAMAGED_EVENTS)
def test_an_event_that_cannot_be_read_is_damage(codec: Codec, sealed: bytes, text: str) -> None:
    with pytest.raises(JournalError, match="up to entry 9") as damaged:
        codec.decode_events(9, [text.encode()], sealed, 1)
    assert damaged.value.code == "journal-damaged"


@pytest.mark.parametrize("text", DAMAGED_INPUTS)
def test_an_input_that_cannot_be_read_is_damage(codec: Codec, sealed: bytes, text: str) -> None:
    with pytest.raises(JournalError, match="up to entry 9") as damaged:
        codec.decode_input(9, text, sealed)
    assert damaged.value.code == "journal-damaged"


def test_a_sealed_card_of_another_row_is_damage(codec: Codec) -> None:
    row = codec.encode(9, Dispensed(1, (), Evidence(b"")), [], 1)
    for number, sealed in [(12, row.sealed), (9, row.sealed[:-1])]:
        with pytest.raises(JournalError, match=f"up to entry {number}: the sealed row"):
            codec.decode_input(number, row.input, sealed)


def test_types_that_no_journal_holds() -> None:
    class Odd(msgspec.Struct):
        value: complex

    codec = codec_of(Types(Odd, Odd, TYPES.state))
    for given_, caused in [(Odd(1j), []), (Said(""), [Odd(1j)])]:
        with pytest.raises(NotImplementedError, match="complex has no place"):
            codec.encode(1, given_, caused, 1)
    with pytest.raises(NotImplementedError, match="complex"):
        codec.decode_input(1, '{"value":1}', b"")


def test_a_saved_state_opens_only_at_its_place(codec: Codec) -> None:
    state = Cards((Concealed(DECK[0], 7, 1), Concealed(DECK[1], 7, 2)), 5)
    saved = codec.save(9, state, OPENING)
    assert (saved.version, saved.digest) == (1, b"digest of cards")
    assert PACKING.unpack(saved.state) == b'{"cards":[0,1],"inputs":5}'
    assert codec.restore(9, saved, OPENING) == state
    for number, of in [(8, OPENING), (9, CHECKPOINT)]:
        with pytest.raises(JournalError, match="the sealed row") as damaged:
            codec.restore(number, saved, of)
        assert damaged.value.code == "journal-damaged"


def test_a_state_of_an_earlier_version_is_upgraded_and_of_a_later_one_refused() -> None:
    def upgrade(version: int, saved: dict[str, Any]) -> dict[str, Any]:
        return {**saved, "inputs": saved["count"] + version}

    codec = codec_of(Types(AnyInput, AnyEvent, StateForm(Cards, 2, b"", upgrade)))
    assert codec.restore(9, PackedState(1, b"", PACKING.pack(b'{"cards":[],"count":4}'), b""), OPENING) == Cards((), 5)
    with pytest.raises(JournalError, match="version 3") as refused:
        codec.restore(9, PackedState(3, b"", PACKING.pack(b"{}"), b""), OPENING)
    assert refused.value.code == "journal-format"
