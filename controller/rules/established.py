"""Established outcomes of an interrupted round (RTP 5.13, NC 5.4), judged by the known cards.

A wager is won if it wins however its hands are completed from the unknown cards. That is decided exactly, by ranks:
nothing is sampled, and equivalent completions are checked once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from controller.games.wager_specification import Looks, Wager
from controller.rules import dealing_order
from controller.rules.hands import HAND_SIZE
from controller.rules.law import Law
from controller.rules.outcomes import Outlook, Table, Unknown, table_of
from controller.rules.payouts import Verdict
from firmware_bridge.cards import DECK, Card

ESTABLISHED_BY: Final = "established_by"  # the setting of reading 42
COMPLETE_HANDS: Final = "complete_hands"  # the option by which part of a hand decides nothing


class WagerStatus(StrEnum):
    """The state of a wager as far as the known cards decide it."""

    WON = "won"
    LOST = "lost"
    STANDOFF = "standoff"  # returned however the hands are completed: decided, but no outcome (RTP 1.1.5, reading 30)
    UNDECIDED = "undecided"


_STATUS_OF: Final = {
    Verdict.WON: WagerStatus.WON,
    Verdict.LOST: WagerStatus.LOST,
    Verdict.RETURNED: WagerStatus.STANDOFF,
}
ESTABLISHING: Final = frozenset({WagerStatus.WON, WagerStatus.LOST})


class Sight(StrEnum):
    """A level of knowledge of a card; the setting `known_cards` names the level from which a card counts as known."""

    RECOGNISED = "recognised"  # the device read it
    SEEN = "seen"  # also viewed by a Player
    EXPOSED = "exposed"  # its face was also shown to the table

    def reaches(self, needed: Sight) -> bool:
        """Return whether a card known to this level counts where `needed` is required.

        >>> Sight.EXPOSED.reaches(Sight.SEEN), Sight.RECOGNISED.reaches(Sight.SEEN)
        (True, False)
        """
        order = list(Sight)
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True)
class KnownCards:
    """The known cards, by place (`B1` for box 1, `D`), and those in no hand that is asked about.

    The `repr` shows no card. Raises `ValueError` for a hand of more than three cards and for a repeated card.
    """

    hands: Mapping[str, tuple[Card, ...]] = field(default_factory=dict, repr=False)
    elsewhere: frozenset[Card] = field(default=frozenset(), repr=False)

    def __post_init__(self) -> None:
        for place, cards in self.hands.items():
            if len(cards) > HAND_SIZE:
                raise ValueError(
                    f"{place} has {len(cards)} known cards and a hand has {HAND_SIZE}: resolve the wrong count first"
                )
        if len(self.cards) < sum(len(cards) for cards in self.hands.values()) + len(self.elsewhere):
            raise ValueError("one card is known at two places at once: correct the entry that is wrong, then ask again")

    @property
    def cards(self) -> frozenset[Card]:
        return self.elsewhere.union(*self.hands.values())

    def at(self, place: str) -> tuple[Card, ...]:
        return self.hands.get(place, ())


Sighting: TypeAlias = tuple[str | None, Card, Sight]
"""The place of a card (None if it is in no hand that is asked about), the card, and how well it is known."""


def known_under(basis: str, sightings: Iterable[Sighting]) -> KnownCards:
    """Return the cards that count as known. `basis` is an option of the setting `known_cards`: the value of a `Sight`.

    Raises `ValueError` for any other value, and as `Known` does.
    """
    if basis not in list(Sight):
        raise ValueError(f"what counts as known is {' or '.join(Sight)}, not {basis!r}")
    needed = Sight(basis)
    hands: dict[str, tuple[Card, ...]] = {}
    elsewhere: list[Card] = []
    for place, card, sight in sightings:
        if not sight.reaches(needed):
            continue
        if place is None:
            elsewhere.append(card)
        else:
            hands[place] = (*hands.get(place, ()), card)
    if len(set(elsewhere)) < len(elsewhere):
        raise ValueError("one card is known twice outside the hands: correct the entry that is wrong, then ask again")
    return KnownCards(hands, frozenset(elsewhere))


class Standing(NamedTuple):
    """A placed wager and its state by the known cards."""

    box: int
    wager: str
    status: WagerStatus


@dataclass(frozen=True)
class Established:
    """The answer for a round, with the state of each placed wager. One decided wager on one box is enough."""

    is_established: bool
    standings: tuple[Standing, ...]


def standing(law: Law, wager: Wager, box: int, known: KnownCards, deck: Sequence[Card] = DECK) -> WagerStatus:
    """Judge one wager on a box by the known cards. For a wager on the Dealer's hand alone any box may be given.

    Raises `SettingError` where the wager depends on a reading that has not been chosen, and `ValueError` where a known
    card is not in the deck or too few cards are left to complete the hands.
    """
    return _Inquiry(law, known, deck).status(wager, box)


def established(
    law: Law, placed: Iterable[tuple[int, str]], known: KnownCards, deck: Sequence[Card] = DECK
) -> Established | None:
    """Judge the placed wagers, given as (box, wager id); None if no wager was entered (reading 29).

    Raises as `standing` does, and `UnknownWagerError`.
    """
    asked = tuple(placed)
    if not asked:
        return None
    inquiry = _Inquiry(law, known, deck)
    standings = tuple(Standing(box, name, inquiry.status(law.wager(name), box)) for box, name in asked)
    return Established(any(standing.status in ESTABLISHING for standing in standings), standings)


class _Inquiry:
    """One set of known cards, asked about many wagers. Boxes with the same known cards share an answer."""

    def __init__(self, law: Law, known: KnownCards, deck: Sequence[Card]) -> None:
        taken = known.cards
        if not taken.issubset(deck):
            raise ValueError("a known card does not belong to this deck: resolve the foreign card first")
        self._law, self._known = law, known
        self._whole_only = _complete_hands_only(law)
        self._unknown = Unknown(card for card in deck if card not in taken)
        self._tables: dict[str, Table] = {}
        self._outlooks: dict[tuple[int, ...], Outlook] = {}
        self._answers: dict[tuple[object, ...], WagerStatus] = {}

    def status(self, wager: Wager, box: int) -> WagerStatus:
        table = self._tables.get(wager.id)
        if table is None:
            table = self._tables[wager.id] = table_of(self._law, wager)
        hands = [self._known.at(place) for place in _places(wager, box)]
        missing = sum(HAND_SIZE - len(hand) for hand in hands)
        if missing and self._whole_only:
            return WagerStatus.UNDECIDED
        if missing > self._unknown.count:
            raise ValueError("fewer cards are unknown than the hands still lack: correct what is known, then ask again")
        outlooks = [self._outlook(hand) for hand in hands]
        question = (wager.id, *(outlook.known for outlook in outlooks), *(hands if table.minds_suits else ()))
        if question not in self._answers:
            verdicts = table.possible(outlooks, hands, self._unknown)
            self._answers[question] = _STATUS_OF[verdicts.pop()] if len(verdicts) == 1 else WagerStatus.UNDECIDED
        return self._answers[question]

    def _outlook(self, hand: tuple[Card, ...]) -> Outlook:
        ranks = tuple(sorted(card.rank for card in hand))
        if ranks not in self._outlooks:
            self._outlooks[ranks] = Outlook(ranks, self._unknown.possible(ranks))
        return self._outlooks[ranks]


def _places(wager: Wager, box: int) -> tuple[str, ...]:
    """Return the places of the hands that the wager looks at, the box's first."""
    places = {
        Looks.BOX: (dealing_order.box(box),),
        Looks.DEALER: (dealing_order.DEALER,),
        Looks.BOTH: (dealing_order.box(box), dealing_order.DEALER),
    }
    return places[wager.looks]


def _complete_hands_only(law: Law) -> bool:
    """Return whether part of a hand decides nothing (reading 42). In documents without that setting it does decide."""
    has_setting = any(setting.id == ESTABLISHED_BY for setting in law.game.settings)
    return has_setting and law.option(ESTABLISHED_BY) == COMPLETE_HANDS
