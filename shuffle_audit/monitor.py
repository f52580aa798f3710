"""Watches the shuffler of a live table: evidence after each deck, and one alarm, for a person to judge.

DeckCame ──> Monitor ──> DeckWatched, each time
                     └─> ShuffleAlarm, once, when the evidence reaches the limit

The evidence may be checked after every deck: the chance that a good shuffler ever raises the alarm is at most `level`.
Nine tenths of the first unit are bet on the orders, the rest on faces at places (`face_evidence`), for which each deck
counts whose cards are shown, also if its order in is not known or too few cards are known on both sides. The evidence
also finds a machine that becomes bad after many good decks. No round depends on the monitor.
"""

from __future__ import annotations

from math import log, log10
from typing import Final

import msgspec
import numpy as np

from firmware_bridge.cards import DECK
from shuffle_audit.evidence import ShuffleEvidence
from shuffle_audit.face_evidence import FaceEvidence
from shuffle_audit.faces import Faces
from shuffle_audit.following import DeckCame
from shuffle_audit.models.shelf import Shelves
from shuffle_audit.order_files import MIXED, TWICE, comes_twice_by_chance, difference, is_another, may_be_alike
from shuffle_audit.orders import UNKNOWN, DeckOrders, OrderError
from shuffle_audit.partial_orders import LEAST_KNOWN, order_in_part
from shuffle_audit.shown import ShownFaces, shown_of

LEVEL: Final = 0.001
OF_FACES: Final = 0.1
"""The part of the first unit that is bet on faces; the rest is bet on orders."""
NOT_KNOWN: Final = "order-in-not-known"
FEW_KNOWN: Final = "too-few-cards"
SKIPPED: Final = "skipped"
SOME_SHELVES: Final = "a shelf shuffler"
WHY: Final = {
    NOT_KNOWN: "the order in is not known, so only the faces of the order out can count",
    FEW_KNOWN: f"fewer than {LEAST_KNOWN} cards are known both before and after, so only the faces of the order out "
    "can count",
    SKIPPED: "it came before the watched decks",
    TWICE: "its orders in and out are those of an earlier deck, which does not happen by chance: either the line was "
    "copied, "
    "or the machine repeats itself and is to be taken out of service. With a number of its own ('deck') it counts",
}


class DeckWatched(msgspec.Struct, frozen=True, tag_field="event", tag="deck_watched"):
    """A deck that arrived. `deck` is its number in the source, from 1; `where` its line or round. `known` of its
    `cards` are known on both sides. `left_out` is a code, empty if the deck counts; `why` says it in words.
    `evidence_log10`, `highest_log10` and `limit_log10` are decimal logarithms: the present evidence, its highest value
    so far, and the limit. `by_faces`: the deck is left out, but its cards count as evidence on faces.
    """

    source: str
    deck: int
    where: str
    known: int
    cards: int
    left_out: str
    why: str
    evidence_log10: float
    highest_log10: float
    limit_log10: float
    by_faces: bool = False


class ShuffleAlarm(msgspec.Struct, frozen=True, tag_field="event", tag="shuffle_alarm"):
    """The evidence has reached the limit with this deck. `utc_ns` is when that was noticed. `counted` decks counted
    until then, `in_part` of them known in part; the last `lately` give the most evidence against the shuffle. `skip` is
    the monitor's. `likeliest` is the suspected model that fits best, without a number of shelves if decks are known in
    part. `text` is for people. `again` means that the same alarm was found and kept before.
    """

    source: str
    utc_ns: int
    deck: int
    where: str
    counted: int
    lately: int
    in_part: int
    skip: int
    level: float
    evidence_log10: float
    limit_log10: float
    likeliest: str
    text: str
    again: bool = False


class Monitor:
    """The monitor of one source. The first `skip` decks do not count, such as those of a machine that was replaced.

    `decks`, `counted` and `left_out` count decks that came, counted, and were left out (by code); `in_part` those that
    counted and are known in part. `last_ns` is when the last counted deck was shuffled, or else came.
    """

    def __init__(self, source: str, level: float = LEVEL, skip: int = 0) -> None:
        self.source = source
        self.level = level
        self.skip = skip
        self.decks = 0
        self.counted = 0
        self.in_part = 0
        self.left_out = dict.fromkeys((NOT_KNOWN, FEW_KNOWN), 0)
        self.last_ns = 0
        self.highest = 0.0
        self.alarm: ShuffleAlarm | None = None
        self._evidence = ShuffleEvidence()
        self._faces = FaceEvidence()
        self._numbers: dict[int, set[str]] = {}  # of the decks with the same orders, by their hash
        self._accepted: tuple[str, DeckOrders] | None = None  # its place, and the last deck that counted
        self._last: tuple[str, DeckOrders] | None = None

    @property
    def evidence_log10(self) -> float:
        nothing = not (self.counted or self.by_faces)
        return 0.0 if nothing else float(np.logaddexp(self._of_orders, self._of_faces)) / log(10)

    @property
    def by_faces(self) -> int:
        """The number of decks whose cards count as evidence on faces."""
        return self._faces.decks

    @property
    def _of_orders(self) -> float:
        return log(1 - OF_FACES) + (self._evidence.log if self.counted else 0.0)

    @property
    def _of_faces(self) -> float:
        return log(OF_FACES) + self._faces.log

    @property
    def limit_log10(self) -> float:
        return -log10(self.level)

    def take(self, came: DeckCame, now_ns: int) -> tuple[DeckWatched, ShuffleAlarm | None]:
        """Take the next deck. Return what it shows, and the alarm if it raises an alarm. `now_ns` is UTC."""
        self.decks += 1
        by_faces = self._faces.decks
        code, why, known = self._add(came, now_ns)
        by_faces = self._faces.decks - by_faces
        self.highest = max(self.highest, self.evidence_log10)
        if code:
            self.left_out[code] = self.left_out.get(code, 0) + 1
        cards = len(came.deck.after) if came.deck is not None else 0
        raised = self._raised(came, now_ns)
        return DeckWatched(
            self.source, self.decks, came.where, known, cards, code, why,
            self.evidence_log10, self.highest, self.limit_log10, bool(code and by_faces),
        ), raised  # fmt: skip

    def _add(self, came: DeckCame, now_ns: int) -> tuple[str, str, int]:
        """Add a deck. Return why it is left out, as a code and in words, and how many of its cards are known."""
        if came.deck is None:
            return came.code, came.fault, 0
        if not came.deck.before:
            shown = len(came.deck.after) - came.deck.after.count(UNKNOWN)
            if self.decks > self.skip:
                self._add_faces(came.deck)
            return NOT_KNOWN, WHY[NOT_KNOWN], shown
        try:
            order = order_in_part(came.deck)
        except OrderError as error:
            return error.code, str(error), 0
        if len(order) < min(LEAST_KNOWN, len(came.deck.after)):
            if self.decks > self.skip and not self._is_repeat(came.deck, came.number):
                self._add_faces(came.deck)
            return FEW_KNOWN, WHY[FEW_KNOWN], len(order)
        if self.decks <= self.skip:
            return SKIPPED, WHY[SKIPPED], len(order)
        if self._is_repeat(came.deck, came.number):
            return TWICE, WHY[TWICE], len(order)
        if fault := self._other_cards_fault(came.where, came.deck):
            return MIXED, fault, len(order)
        self._accepted = self._last
        self._evidence.add(order[None])
        self._add_faces(came.deck)
        self.counted += 1
        self.in_part += len(order) < len(came.deck.after)
        self.last_ns = came.utc_ns or now_ns
        return "", "", len(order)

    def _add_faces(self, deck: DeckOrders) -> None:
        """Add a deck of the 52 cards to the evidence on faces, as far as it is shown."""
        out = _faces_shown(deck)
        if out is not None:
            self._faces.add(out)

    def _is_repeat(self, deck: DeckOrders, number: str) -> bool:
        """Return whether the deck has the same orders as an earlier deck, and no number that distinguishes them."""
        return not comes_twice_by_chance(deck) and not is_another(self._numbers.setdefault(hash(deck), set()), number)

    def _other_cards_fault(self, where: str, deck: DeckOrders) -> str:
        """Return why a deck is left out that has other cards than both the last deck that counted and the one just
        before it, so that one odd deck does not exclude all that follow.
        """
        last, self._last = self._last, (where, deck)
        if self._accepted is None or last is None or may_be_alike(deck, last[1]):
            return ""
        at, other = self._accepted
        return "" if may_be_alike(deck, other) else difference(deck, other, at)

    def _raised(self, came: DeckCame, now_ns: int) -> ShuffleAlarm | None:
        if self.alarm is not None or self.highest < self.limit_log10:
            return None
        model, lately, counted = self._evidence.likeliest, self._evidence.lately, self.counted
        likeliest = SOME_SHELVES if self.in_part and isinstance(model, Shelves) else model.words
        if self._of_faces > self._of_orders:
            likeliest = f"a machine that looks at faces ({self._faces.likeliest})"
            counted = lately = self.by_faces
        text = alarm_text(self.source, counted, lately, self.level, likeliest)
        self.alarm = ShuffleAlarm(
            self.source, now_ns, self.decks, came.where, counted, lately, self.in_part, self.skip, self.level,
            self.evidence_log10, self.limit_log10, likeliest, text,
        )  # fmt: skip
        return self.alarm


def _faces_shown(deck: DeckOrders) -> Faces | None:
    """Return the face at each place of the order out, or -1, or None if the deck does not have the 52 cards."""
    shown = shown_of([DeckOrders((), deck.after)])
    return (
        shown.out[0] if isinstance(shown, ShownFaces) and shown.is_whole_deck and len(deck.after) == len(DECK) else None
    )


def alarm_text(source: str, counted: int, lately: int, level: float, likeliest: str) -> str:
    """Return what the alarm means, how certain it is, and what to do."""
    if lately < counted:
        last = "last deck speaks" if lately == 1 else f"last {lately:,} decks speak"
        decks = f"Of {counted:,} decks of {source} that counted, the {last} most against the shuffle"
    else:
        decks = f"One deck of {source} speaks" if counted == 1 else f"{counted:,} decks of {source} speak"
        decks += " against the shuffle"
    shelves = " (partly known decks do not show how many shelves)" if likeliest == SOME_SHELVES else ""
    return (
        f"{decks}. A shuffle that makes every order equally likely ever raises this alarm with a chance of at most "
        f"{level:g}, however often one looks: a false alarm is possible. Of the suspected shuffles, {likeliest} fits "
        f"best{shelves}; another one, which is not among them, may fit better still. The round in "
        "progress is not touched: play it to its end. Then take the shuffler out of service, call its technician, and "
        "keep the decks and these records. A person decides whether the shuffler is bad."
    )
