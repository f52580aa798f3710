"""The part of a verification that needs the local key: sealed items, commitments and saved states."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from controller.journal import JournalError
from controller.journal.chain import Head
from controller.journal.codec import CHECKPOINT, DECISION, OPENING, JournalCodec, PackedState, Types
from controller.journal.file import Header, SqliteConnection
from controller.journal.packing import Packing
from controller.journal.reader import over_state
from controller.journal.sealing import FileKeys, JournalKeys
from firmware_bridge.cards import Card, Concealed
from firmware_bridge.messages import AnyText, Message, message

Find: TypeAlias = Callable[[str, AnyText, int], None]

_STATES: Final = "SELECT number, version, digest, state, sealed, mac FROM checkpoint"
_OPENING_OF: Final = frozenset({"card", "salt", "shuffle", "ordinal"})


class Fold(Protocol):
    """The fold of a table, which is passed in because this package does not know tables."""

    def begin(self, state: Any) -> None:
        """Begin with this state, or with that of an empty table if it is None."""

    def take(self, number: int, given: Any, events: Sequence[Any]) -> None:
        """Take a decision; `number` is that of its input."""

    def is_at(self, state: Any) -> bool:
        """Return whether the decisions taken fold to this state."""


class DeepCheck:
    """Checks a whole journal, file after file. Without a fold it checks the saved states but not the entries."""

    def __init__(self, local_key: bytes, types: Types, fold: Fold | None, find: Find) -> None:
        self._local_key, self._types, self._fold, self._find = local_key, types, fold, find
        self._begun = False
        self._dealt: dict[tuple[int, int], Concealed] = {}  # cards of this round, by shuffle and ordinal
        self._round = 0

    def begin(self, header: Header, connection: SqliteConnection) -> None:
        """Begin a file."""
        self._keys = JournalKeys(self._local_key, header.identity.id)
        self._file_keys = FileKeys(self._local_key, header.file_id)
        self._codec: JournalCodec[Any, Any] = JournalCodec(
            self._types, self._keys, self._file_keys, Packing(header.words), secrets.token_bytes
        )
        self._states = {row[0]: row for row in connection.execute(_STATES)}
        number, opening = header.previous.number, header.opening
        if not header.is_authentic(self._file_keys):
            self._find("not-authentic", message("The file was not begun by a holder of the local key."), number)
        try:
            state = self._codec.restore(number, opening, OPENING)
        except JournalError as error:
            self._find(
                "opening-state",
                message("The state at the beginning of the file cannot be opened: {problem}", problem=error.message),
                number,
            )
            return
        self._compare(state, "opening-state", message("The state at the beginning of the file"), number)
        self._begun = True

    def row(self, row: Sequence[Any], given: bytes, texts: Sequence[bytes]) -> None:
        """Check a row of the chain. `given` is its input, `texts` are its events."""
        last, _, _, _, round_number, _, sealed, hash_, mac = row
        if not self._file_keys.authenticates(mac, DECISION, hash_):
            self._find(
                "not-authentic",
                message("The entries up to {entry} were not written by a holder of the local key.", entry=last),
                last,
            )
        if self._fold is not None:
            try:
                self._entries(last, round_number, given, texts, sealed)
            except JournalError as error:
                self._find(
                    "sealed",
                    message(
                        "Entries up to {entry} cannot be read, sealed or not: {problem}",
                        entry=last,
                        problem=error.message,
                    ),
                    last,
                )
            except Exception as error:  # the rules may fail on events that they never produced
                self._find(
                    "fold",
                    message(
                        "The entries up to {entry} cannot be folded: {problem}.",
                        entry=last,
                        problem=type(error).__name__,
                    ),
                    last,
                )
        if last in self._states:
            self._checkpoint(self._states.pop(last), Head(last, hash_))

    def end(self) -> None:
        """End a file."""
        for number in self._states:
            self._find("checkpoint", message("A state is saved where no decision ends."), number)

    def _entries(self, last: int, round_number: int, given: bytes, texts: Sequence[bytes], sealed: bytes) -> None:
        if round_number != self._round:
            self._round, self._dealt = round_number, {}
        value = self._codec.decode_input(last, given, sealed)
        events = self._codec.decode_events(last, texts, sealed, round_number)
        for item in self._file_keys.open(last, sealed, DECISION):
            if isinstance(item, Concealed):
                self._deal(item, last)
        for text in texts:
            if b'"salt":' in text:
                for opened in _openings(msgspec.json.decode(text)):
                    self._open(round_number, opened, last)
        assert self._fold is not None
        self._fold.take(last - len(texts), value, events)

    def _deal(self, card: Concealed, entry: int) -> None:
        known = self._dealt.setdefault((card.shuffle, card.ordinal), card)
        if known != card:
            self._find(
                "sealed",
                message(
                    "Card {card} of shuffle {shuffle} is sealed with two faces.",
                    card=card.ordinal,
                    shuffle=card.shuffle,
                ),
                entry,
            )

    def _open(self, round_number: int, opened: dict[str, Any], entry: int) -> None:
        shuffle, ordinal = opened["shuffle"], opened["ordinal"]
        shown = Concealed(Card.parse(opened["card"]), shuffle, ordinal)
        salt = self._keys.salt(round_number, shuffle, ordinal).hex()
        if not hmac.compare_digest(salt.encode(), str(opened["salt"]).encode()) or shown != self._dealt.get(
            (shuffle, ordinal), shown
        ):
            self._find(
                "opening",
                message(
                    "Card {card} of shuffle {shuffle} was opened as a different card from the one dealt.",
                    card=ordinal,
                    shuffle=shuffle,
                ),
                entry,
            )

    def _checkpoint(self, row: Sequence[Any], head: Head) -> None:
        number, version, digest, state, sealed, mac = row
        saved = PackedState(version, digest, state, sealed)
        if not self._file_keys.authenticates(mac, CHECKPOINT, over_state(head, saved)):
            self._find("checkpoint", message("A saved state is not what the daemon saved."), number)
        elif self._fold is not None and (version, digest) == (self._types.state.version, self._types.state.digest):
            try:
                state = self._codec.restore(number, saved, CHECKPOINT)
            except JournalError as error:
                self._find(
                    "checkpoint", message("A saved state cannot be opened: {problem}", problem=error.message), number
                )
            else:
                self._compare(state, "checkpoint", message("A saved state"), number)

    def _compare(self, state: Any, code: str, what: Message, number: int) -> None:
        if self._fold is None:
            return
        if self._begun and not self._fold.is_at(state):
            self._find(
                code,
                message("{what} is not what the entries up to {number} fold to.", what=what, number=number),
                number,
            )
        self._fold.begin(state)


def _openings(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if value.keys() == _OPENING_OF:
            yield value
        else:
            for one in value.values():
                yield from _openings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _openings(one)
