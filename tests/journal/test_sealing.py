"""Nobody learns a concealed card from the journal without the key, not even from sizes."""

from __future__ import annotations

import hashlib
import pickle
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.journal import JournalError
from controller.journal.packing import Packing
from controller.journal.sealing import (
    NONCE_BYTES,
    FileKeys,
    JournalKeys,
    commitment,
    create_key_file,
    load_key_file,
)
from firmware_bridge.cards import DECK, Card, Concealed, Evidence
from tests.journal.vocabulary import LOCAL_KEY, TYPES, Cards, append, open_journal

KEYS = JournalKeys(LOCAL_KEY, "ab")
FILE = FileKeys(LOCAL_KEY, "f1")
NONCE = bytes(NONCE_BYTES)
ROW = b"decision"
COMMITMENT = re.compile(r'"commitment":"[^"]*"')


def seal(*items: Concealed | Evidence) -> bytes:
    return FILE.seal(9, items, NONCE, ROW)


def test_sizes_reveal_no_card() -> None:
    assert {len(seal(Concealed(card, 7, 1))) for card in DECK} == {12 + 4 + 7 + 16}
    assert {len(KEYS.commitment(1, Concealed(card, 7, 1))) for card in DECK} == {64}


@given(st.binary(max_size=60))
def test_short_evidence_has_one_size(data: bytes) -> None:
    assert len(seal(Evidence(data))) == 12 + 4 + 64 + 16


items = st.one_of(
    st.builds(Concealed, st.sampled_from(DECK), st.integers(0, 2**32 - 1), st.integers(0, 2**16 - 1)),
    st.builds(Evidence, st.binary(max_size=300), st.integers(0, 300)),
)


@given(st.integers(0, 2**63), st.lists(items, min_size=1, max_size=6), st.binary(min_size=12, max_size=12))
def test_sealed_data_can_be_opened(number: int, sealed: list[Concealed | Evidence], nonce: bytes) -> None:
    assert FILE.open(number, FILE.seal(number, sealed, nonce, ROW), ROW) == sealed


def test_empty_sealed_data_opens_to_nothing() -> None:
    assert FILE.open(9, b"", ROW) == []


def test_it_opens_nowhere_else() -> None:
    sealed = seal(Concealed(DECK[0], 7, 1))
    elsewhere = [
        (FILE, 8, sealed, ROW),
        (FILE, 9, sealed, b"checkpoint"),
        (FILE, 9, sealed[:-1] + bytes([sealed[-1] ^ 1]), ROW),
        (FILE, 9, bytes([sealed[0] ^ 1]) + sealed[1:], ROW),
        (FILE, 9, sealed[:-1], ROW),
        *((FILE, 9, sealed[:length], ROW) for length in (1, 11, 12, 27)),
        (FileKeys(LOCAL_KEY, "f2"), 9, sealed, ROW),
        (FileKeys(bytes(32), "f1"), 9, sealed, ROW),
    ]
    for keys, number, data, of in elsewhere:
        with pytest.raises(ValueError, match="the sealed row"):
            keys.open(number, data, of)


def test_commitments_as_written_down() -> None:
    salt = KEYS.salt(3, 7, 1)
    assert KEYS.commitment(3, Concealed(Card.parse("KD"), 7, 1)) == hashlib.sha256(salt + b"KD").hexdigest()
    assert commitment(salt, Card.parse("KD")).hex() == KEYS.commitment(3, Concealed(Card.parse("KD"), 7, 1))


def test_no_two_places_share_a_salt() -> None:
    keys = [KEYS, JournalKeys(LOCAL_KEY, "abc"), JournalKeys(bytes(32), "ab")]
    salts = [each.salt(*place) for each in keys for place in [(1, 2, 3), (1, 3, 2), (2, 1, 3), (1, 0, 2), (-1, 2, 3)]]
    assert len(set(salts)) == len(salts)


def test_many_commitments_stay_right() -> None:
    places = [Concealed(DECK[ordinal % 52], 7, ordinal) for ordinal in range(1200)]
    assert [KEYS.commitment(1, card) for card in places] == [
        commitment(KEYS.salt(1, 7, card.ordinal), card.expose()).hex() for card in places
    ]


@pytest.mark.parametrize(("shuffle", "ordinal"), [(-1, 1), (2**32, 1), (1, -1), (1, 65536)])
def test_places_that_no_device_has_are_refused(shuffle: int, ordinal: int) -> None:
    concealed = Concealed(DECK[0], shuffle, ordinal)
    with pytest.raises(ValueError, match="not a place in a deck"):
        seal(concealed)
    with pytest.raises(ValueError, match="not a place in a deck"):
        KEYS.commitment(1, concealed)


Rows = list[tuple[bytes, bytes]]


def rows_and_files(folder: Path, cards: list[Card]) -> tuple[Rows, dict[str, int], bytes]:
    """Return all content of a journal of one deal: sealed data, inputs and events, file sizes and bytes."""
    with closing(open_journal(folder)) as journal:
        dealt = [Concealed(card, 7, place) for place, card in enumerate(cards, 1)]
        append(journal, 1, *dealt)
        journal.save(Cards(tuple(dealt), 1))
        with closing(sqlite3.connect(journal.path)) as connection:
            rows: Rows = connection.execute("SELECT sealed, body FROM decision").fetchall()
            rows += connection.execute("SELECT sealed, state FROM checkpoint").fetchall()
        files = {each.name: each.read_bytes() for each in folder.iterdir()}
    files["closed"] = journal.path.read_bytes()
    return rows, {name: len(data) for name, data in files.items()}, b"".join(files.values())


def test_two_decks_leave_the_same_journal_except_sealed_data(tmp_path: Path) -> None:
    one, one_sizes, one_bytes = rows_and_files(tmp_path / "one", list(DECK[:3]))
    other, other_sizes, _ = rows_and_files(tmp_path / "other", list(DECK[49:]))
    assert one != other
    assert one_sizes == other_sizes
    assert [(len(sealed), len(packed)) for sealed, packed in one] == [
        (len(sealed), len(packed)) for sealed, packed in other
    ]
    unpack = Packing(TYPES.words).unpack
    public, public_of_other = (
        [COMMITMENT.sub("", unpack(packed).decode()) for _, packed in rows] for rows in (one, other)
    )
    assert public == public_of_other
    for card in DECK[:3]:
        assert not any(card.code in text for text in public)
        assert f'"{card.code}"'.encode() not in one_bytes
    assert b"report 1" not in one_bytes
    assert public[0].startswith('{"type":"dispensed","number":1,"cards":[0,1,2],"evidence":3}\n[')


@pytest.mark.parametrize("room", [0, 128, 4096])
def test_evidence_survives_and_fills_its_room(room: int) -> None:
    """Where a length would reveal a card, the driver names the room that every report of its kind takes."""
    sizes = set()
    for length in (0, 6, 59, 60, 61, 128):
        data = bytes([0, 7, 0]) * 43
        sealed = seal(Evidence(data[:length], room))
        (opened,) = FILE.open(9, sealed, ROW)
        assert isinstance(opened, Evidence)
        assert opened.open() == data[:length]
        assert len(seal(opened)) == len(sealed), "as long when it is sealed again, in a state"
        sizes.add(len(sealed))
    assert (len(sizes) == 1) is (room >= 128)


def test_keys_are_not_shown_and_not_pickled() -> None:
    assert repr(KEYS) == "<journal keys>"
    assert repr(FILE) == "<file keys>"
    for keys in (KEYS, FILE):
        with pytest.raises(TypeError):
            pickle.dumps(keys)


def test_a_key_file_is_made_once_and_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "journal.key"
    key = create_key_file(path)
    assert load_key_file(path) == key
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(JournalError, match="exists already") as refused:
        create_key_file(path)
    assert refused.value.code == "journal-key"
    assert load_key_file(path) == key


@pytest.mark.parametrize("content", ["", "ab" * 31, "zz" * 32, "ab" * 33, "é" * 32])
def test_an_invalid_key_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "journal.key"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(JournalError, match="does not contain a key") as refused:
        load_key_file(path)
    assert refused.value.code == "journal-key"


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.key"
    create_key_file(path)
    path.chmod(0o644)
    with pytest.raises(JournalError, match="Users other than the owner"):
        load_key_file(path)


def test_a_key_file_that_is_missing_or_cannot_be_made_is_reported(tmp_path: Path) -> None:
    for use in (load_key_file, create_key_file):
        with pytest.raises(JournalError, match="cannot be used") as refused:
            use(tmp_path / "missing" / "journal.key")
        assert refused.value.code == "journal-key"


def test_a_key_file_that_could_not_be_finished_is_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(JournalError, match="no room left") as full:
        create_key_file(tmp_path / "journal.key")
    assert full.value.code == "journal-full"
    assert list(tmp_path.iterdir()) == []
