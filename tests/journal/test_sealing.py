"""Nobody learns a concealed card from the journal without the key, not even from the size of anything."""

from __future__ import annotations

import hashlib
import json
import pickle
import re
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.journal import JournalError
from controller.journal.sealing import JournalKeys, commitment, create_key_file, load_key_file
from firmware_bridge.cards import DECK, Card, Concealed, Evidence
from tests.journal.vocabulary import LOCAL_KEY, append, open_journal

KEYS = JournalKeys(LOCAL_KEY, "ab")
SEALER = KEYS.sealer(1, 2, "start")
SEALED = re.compile(r'"(sealed|commitment)":"[^"]*"')


def test_sizes_tell_no_card() -> None:
    assert {len(SEALER.seal_card(1, 0, Concealed(card, 7, 1))) for card in DECK} == {27}
    assert {len(KEYS.commitment(1, Concealed(card, 7, 1))) for card in DECK} == {64}


@given(st.binary(max_size=59))
def test_short_evidence_has_one_size(data: bytes) -> None:
    assert len(SEALER.seal_evidence(1, 0, Evidence(data))) == 64 + 20


@given(st.integers(0, 2**63), st.integers(0, 2**32 - 1), st.binary(max_size=300))
def test_what_was_sealed_opens(number: int, index: int, data: bytes) -> None:
    assert SEALER.open_evidence(number, SEALER.seal_evidence(number, index, Evidence(data))) == Evidence(data)
    for card in (DECK[0], DECK[51]):
        concealed = Concealed(card, index, index % 65536)
        assert SEALER.open_card(number, SEALER.seal_card(number, index, concealed)) == concealed


def test_it_opens_nowhere_else() -> None:
    sealed = SEALER.seal_card(1, 0, Concealed(DECK[0], 7, 1))
    elsewhere = [
        (SEALER, 2, sealed),
        (SEALER, 1, b"\0\0\0\1" + sealed[4:]),
        (SEALER, 1, sealed[:-1] + bytes([sealed[-1] ^ 1])),
        (SEALER, 1, sealed[:3]),
        (SEALER, 1, SEALER.seal_evidence(1, 0, Evidence(b""))),
        (KEYS.sealer(1, 3, "start"), 1, sealed),
        (KEYS.sealer(1, 2, "another"), 1, sealed),
        (JournalKeys(LOCAL_KEY, "abc").sealer(1, 2, "start"), 1, sealed),
        (JournalKeys(bytes(32), "ab").sealer(1, 2, "start"), 1, sealed),
    ]
    for sealer, number, data in elsewhere:
        with pytest.raises(ValueError, match="what was sealed"):
            sealer.open_card(number, data)


def test_a_number_that_is_used_again_has_another_key() -> None:
    # Two ciphertexts under one key and nonce would tell how two cards differ.
    one, other = (KEYS.sealer(utc, 2, "start").seal_card(1, 0, Concealed(DECK[0], 7, 1)) for utc in (1, 2))
    assert one[4:] != other[4:]


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
    with pytest.raises(ValueError, match="no place in a deck"):
        SEALER.seal_card(1, 0, concealed)
    with pytest.raises(ValueError, match="no place in a deck"):
        KEYS.commitment(1, concealed)


def bodies_and_files(directory: Path, cards: list[Card]) -> tuple[list[str], dict[str, int], bytes]:
    """What a journal of one deal holds: bodies, sizes of its files, and all its bytes."""
    directory.mkdir()
    path = directory / "table.journal"
    with closing(open_journal(path)) as journal:
        append(journal, 1, *(Concealed(card, 7, place) for place, card in enumerate(cards, 1)))
        files = {each.name: each.read_bytes() for each in directory.iterdir()}
        rows = journal._connection.execute("SELECT body FROM entry ORDER BY number")
        bodies = [body for (body,) in rows]
    files["closed"] = path.read_bytes()
    return bodies, {name: len(data) for name, data in files.items()}, b"".join(files.values())


def test_two_decks_leave_the_same_journal_but_for_what_is_sealed(tmp_path: Path) -> None:
    one, one_sizes, one_bytes = bodies_and_files(tmp_path / "one", list(DECK[:3]))
    other, other_sizes, _ = bodies_and_files(tmp_path / "other", list(DECK[49:]))
    assert one != other
    assert one_sizes == other_sizes
    assert [SEALED.sub(r"\1", body) for body in one] == [SEALED.sub(r"\1", body) for body in other]
    for card in DECK[:3]:
        assert not any(card.code in SEALED.sub(r"\1", body) for body in one)
        assert f'"{card.code}"'.encode() not in one_bytes
    assert b"report 1" not in one_bytes
    assert [len(json.loads(body)) for body in one] == [4, 4, 2, 2]


@pytest.mark.parametrize("room", [0, 128, 4096])
def test_evidence_comes_back_whole_and_fills_its_room(room: int) -> None:
    """Where a length tells a card, the driver names the room that every report of its kind takes."""
    sizes = set()
    for length in (0, 6, 59, 60, 61, 128):
        data = bytes([0, 7, 0]) * 43
        sealed = SEALER.seal_evidence(1, 0, Evidence(data[:length], room))
        assert SEALER.open_evidence(1, sealed).open() == data[:length]
        sizes.add(len(sealed))
    assert (len(sizes) == 1) is (room >= 128)


def test_keys_are_not_shown_and_not_pickled() -> None:
    assert repr(KEYS) == "<journal keys>"
    with pytest.raises(TypeError):
        pickle.dumps(KEYS)


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
def test_what_is_no_key_is_refused(tmp_path: Path, content: str) -> None:
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
    with pytest.raises(JournalError, match="open to others"):
        load_key_file(path)


def test_a_key_file_that_is_missing_or_cannot_be_made_is_said(tmp_path: Path) -> None:
    for use in (load_key_file, create_key_file):
        with pytest.raises(JournalError, match="cannot be used") as refused:
            use(tmp_path / "missing" / "journal.key")
        assert refused.value.code == "journal-key"


def test_a_key_file_that_could_not_be_finished_is_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(JournalError, match="No space left"):
        create_key_file(tmp_path / "journal.key")
    assert list(tmp_path.iterdir()) == []
