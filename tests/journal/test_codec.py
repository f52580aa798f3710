"""Entries come back as they were given; what is published tells no concealed card; people write cards as they do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.journal import JournalError
from controller.journal.codec import JournalCodec
from controller.journal.sealing import JournalKeys, commitment
from firmware_bridge.cards import DECK, Card, Concealed, Evidence, Exposed
from tests.journal.vocabulary import (
    LOCAL_KEY,
    START,
    AnyEvent,
    AnyInput,
    Assigned,
    Dispensed,
    Kept,
    Noted,
    Said,
    Shown,
    TestJournal,
    moment,
    open_journal,
)

KEYS = JournalKeys(LOCAL_KEY, "ab")
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
    | st.builds(Kept, st.none() | evidence)
    | st.builds(Noted, texts)
)
times = st.integers(-(2**63), 2**63 - 1)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestJournal]:
    with closing(open_journal(tmp_path_factory.mktemp("codec") / "table.journal")) as journal:
        yield journal


@pytest.fixture
def codec() -> JournalCodec[AnyInput, AnyEvent]:
    return JournalCodec(AnyInput, AnyEvent, KEYS)


@given(given_=inputs, caused=st.lists(events, max_size=5), round_number=times, utc=times, boottime=times)
@settings(deadline=None)
def test_entries_come_back_as_they_were_given(
    shared: TestJournal, given_: AnyInput, caused: list[AnyEvent], round_number: int, utc: int, boottime: int
) -> None:
    before = shared.head.number
    at = msgspec.structs.replace(moment(), utc_ns=utc, boottime_ns=boottime)
    committed = shared.append(given_, caused, round=round_number, moment=at)
    assert (committed.first, list(committed.events)) == (before + 1, list(range(before + 2, before + 2 + len(caused))))
    read = list(shared.entries(after=before))
    assert [entry.value for entry in read] == [given_, *caused]
    assert [entry.kind for entry in read] == ["input"] + ["event"] * len(caused)
    assert [entry.number for entry in read] == [committed.first, *committed.events]
    assert {(each.utc_ns, each.boottime_ns, each.round, each.start) for each in read} == {
        (utc, boottime, round_number, START)
    }


def test_all_cards_and_all_sizes(codec: JournalCodec[AnyInput, AnyEvent]) -> None:
    codec.aim(1, moment(), START)
    bodies = [codec.encode(9, Assigned("box 1", Concealed(card, 7, 1), (None, Concealed(card, 7, 2)))) for card in DECK]
    assert len({len(body) for body in bodies}) == 1
    assert len(set(bodies)) == 52
    published = [codec.public_encode(Assigned("box 1", Concealed(card, 7, 1)), 1) for card in DECK]
    assert len({len(body) for body in published}) == 1


def test_each_sealed_value_of_an_entry_has_its_own_index(codec: JournalCodec[AnyInput, AnyEvent]) -> None:
    card = Concealed(DECK[0], 7, 1)
    codec.aim(1, moment(), START)
    body = json.loads(codec.encode(9, Dispensed(1, (card, card, None), Evidence(b""))))
    sealed = [body["cards"][0]["sealed"], body["cards"][1]["sealed"], body["evidence"]["sealed"]]
    assert len({each[:6] for each in sealed}) == 3
    assert body["cards"][0]["commitment"] == body["cards"][1]["commitment"]


def test_a_field_that_is_no_longer_known_leaves_the_others_readable(codec: JournalCodec[AnyInput, AnyEvent]) -> None:
    class Older(msgspec.Struct, tag="assigned"):
        place: str
        gone: Concealed
        card: Concealed

    older = Older("box 1", Concealed(DECK[5], 7, 1), Concealed(DECK[6], 7, 2))
    codec.aim(1, moment(), START)
    body = codec.encode(9, older).decode()
    assert codec.decode(9, "event", body) == Assigned("box 1", Concealed(DECK[6], 7, 2))


def test_what_is_shown_proves_what_was_published(codec: JournalCodec[AnyInput, AnyEvent]) -> None:
    before = json.loads(codec.public_encode(Assigned("box 1", Concealed(Card.parse("KD"), 7, 1)), 3))
    assert before == {"type": "assigned", "place": "box 1", "card": before["card"], "others": []}
    assert list(before["card"]) == ["commitment"]
    after = json.loads(codec.public_encode(Shown((Exposed(Card.parse("KD"), 7, 1),), Card.parse("AS")), 3))
    (shown,) = after["cards"]
    assert (shown["card"], shown["shuffle"], shown["ordinal"], after["face_up"]) == ("KD", 7, 1, "AS")
    proof = commitment(bytes.fromhex(shown["salt"]), Card.parse(shown["card"]))
    assert proof.hex() == before["card"]["commitment"]


def test_the_journal_holds_the_commitment_that_is_published(codec: JournalCodec[AnyInput, AnyEvent]) -> None:
    event = Assigned("box 1", Concealed(DECK[9], 7, 1))
    codec.aim(3, moment(), START)
    kept = json.loads(codec.encode(9, event))["card"]["commitment"]
    assert kept == json.loads(codec.public_encode(event, 3))["card"]["commitment"]
    assert kept != json.loads(codec.public_encode(event, 4))["card"]["commitment"]


def test_evidence_is_not_published(codec: JournalCodec[AnyInput, AnyEvent]) -> None:
    assert json.loads(codec.public_encode(Kept(Evidence(b"KD")), 1)) == {"type": "kept", "evidence": None}


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "{}",
        '{"type":"unheard"}',
        '{"type":"assigned","place":"box 1"}',
        '{"type":"assigned","place":"box 1","card":"KD"}',
        '{"type":"assigned","place":"box 1","card":{}}',
        '{"type":"assigned","place":"box 1","card":{"sealed":7}}',
        '{"type":"assigned","place":"box 1","card":{"sealed":"?"}}',
        '{"type":"assigned","place":"box 1","card":{"sealed":"é"}}',
        '{"type":"assigned","place":"box 1","card":{"sealed":"AAAAAAAA"}}',
        '{"type":"shown","cards":[{"card":"KD","shuffle":1}]}',
        '{"type":"shown","cards":[{"card":"XX","shuffle":1,"ordinal":1}]}',
        '{"type":"shown","cards":[{"card":1,"shuffle":1,"ordinal":1}]}',
        '{"type":"shown","cards":[],"face_up":"XX"}',
        '{"type":"shown","cards":[],"face_up":1}',
    ],
)
def test_what_cannot_be_read_is_damage(codec: JournalCodec[AnyInput, AnyEvent], body: str) -> None:
    codec.aim(1, moment(), START)
    with pytest.raises(JournalError, match="Entry 9") as damaged:
        codec.decode(9, "event", body)
    assert damaged.value.code == "journal-damaged"


def test_an_unknown_kind_is_damage(codec: JournalCodec[AnyInput, AnyEvent]) -> None:
    with pytest.raises(JournalError, match="Entry 9"):
        codec.decode(9, "rumour", "{}")


def test_types_that_no_journal_holds() -> None:
    class Odd(msgspec.Struct):
        value: complex

    codec: JournalCodec[Odd, Odd] = JournalCodec(Odd, Odd, KEYS)
    with pytest.raises(NotImplementedError, match="complex has no place"):
        codec.encode(1, Odd(1j))
    with pytest.raises(NotImplementedError, match="complex"):
        codec.public_encode(Odd(1j), 1)
    with pytest.raises(NotImplementedError, match="complex"):
        codec.decode(1, "input", '{"value":1}')
