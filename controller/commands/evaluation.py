"""The hands and stakes that a person wrote, and what every wager on them comes to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import msgspec

from controller.commands.law_options import require_chosen
from controller.commands.main import BadInputError
from controller.games.specification import Game
from controller.games.wagers import Shape, Wager
from controller.rules.hands import HAND_SIZE, Outcome, hand_name, outcome, pictures, points
from controller.rules.law import Law, UnknownWagerError
from controller.rules.settlement import Settled, Verdict, settle
from firmware_bridge.cards import Card, UnknownCardError

_NUMBERED: Final = re.compile(r"\s*([+-]?\d{1,9})\s*:(.*)", re.ASCII | re.DOTALL)
_WHOLE: Final = re.compile(r"[0-9]{1,15}", re.ASCII)
DEALERS_HAND: Final = "the Dealer's hand"
DEALERS_BOX: Final = 0  # where a wager lies that belongs to no box


class HandResult(msgspec.Struct, frozen=True):
    """A hand as the document calls it."""

    cards: tuple[str, ...]
    name: str
    points: int
    pictures: int


class WagerResult(msgspec.Struct, frozen=True):
    """What a wager comes to. `net` for each unit staked, `gain` for the stake; both exact, negative where lost.

    `odds` are those of the price that it won; `stake` 0 where nothing was staked. `note`: what the document says
    beside it.
    """

    wager: str
    title: str
    verdict: Verdict
    odds: Fraction | None
    net: Fraction
    clause: str
    because: str
    stake: int
    gain: Fraction
    note: str


class BoxResult(msgspec.Struct, frozen=True):
    """A box against the Dealer. `word` is the document's where both rank the same."""

    box: int
    hand: HandResult
    outcome: Outcome
    word: str
    wagers: tuple[WagerResult, ...]


class Evaluation(msgspec.Struct, frozen=True):
    """A whole layout. `on_dealer` are the wagers that lie once, beside the boxes; `gain` is the sum of all gains."""

    game: str
    readings: dict[str, str]
    dealer: HandResult
    boxes: tuple[BoxResult, ...]
    on_dealer: tuple[WagerResult, ...]
    staked: int
    gain: Fraction


@dataclass(frozen=True)
class Layout:
    """Hands by box, and stakes by (box, wager id). Without any stake every wager is told for each unit."""

    hands: dict[int, tuple[Card, ...]]
    dealer: tuple[Card, ...]
    stakes: dict[tuple[int, str], int]


def read_layout(law: Law, players: Sequence[str], dealer: str, wagers: Sequence[str]) -> Layout:
    """What a person wrote. Raises `BadInputError` with what is wrong and where it stands."""
    hands: dict[int, tuple[Card, ...]] = {}
    following = 1
    for written in players:
        box, cards = _numbered(written)
        box = following if box is None else box
        _check_box(law.game, box, f"--player {written!r}")
        if box in hands:
            raise BadInputError(f"--player {written!r}: box {box} has a hand already.", "One --player a box.")
        hands[box] = read_hand(cards, f"box {box}")
        following = box + 1
    theirs = read_hand(dealer, DEALERS_HAND)
    _check_no_card_twice([*((f"box {box}", hand) for box, hand in hands.items()), (DEALERS_HAND, theirs)])
    return Layout(dict(sorted(hands.items())), theirs, _read_stakes(law, wagers, sorted(hands)))


def _numbered(written: str) -> tuple[int | None, str]:
    """The box before a colon, and what follows."""
    found = _NUMBERED.fullmatch(written)
    if found is None:
        return None, written
    return int(found[1]), found[2]


def _check_box(game: Game, box: int, where: str) -> None:
    most = game.boxes[1]
    if not 1 <= box <= most:
        raise BadInputError(f"{where}: there is no box {box}; {game.id} has boxes 1 to {most}.")


def read_hand(written: str, where: str) -> tuple[Card, ...]:
    """Three cards with blanks or commas between them. Raises `BadInputError`."""
    try:
        cards = tuple(Card.parse(text) for text in written.replace(",", " ").split())
    except UnknownCardError as error:
        raise BadInputError(f"In {where}: {error}.") from error
    if len(cards) != HAND_SIZE:
        number = f"{len(cards)} card" + "s" * (len(cards) != 1)
        raise BadInputError(f"In {where}: {number} in {written.strip()!r}; a hand has {HAND_SIZE}.")
    return cards


def _check_no_card_twice(hands: Sequence[tuple[str, tuple[Card, ...]]]) -> None:
    seen: dict[Card, str] = {}
    for where, cards in hands:
        for card in cards:
            if card in seen:
                both = f"twice in {where}" if seen[card] == where else f"in {seen[card]} and in {where}"
                raise BadInputError(f"{card.code} stands {both}; a deck has it once.")
            seen[card] = where


def _read_stakes(law: Law, wagers: Sequence[str], boxes: Sequence[int]) -> dict[tuple[int, str], int]:
    stakes: dict[tuple[int, str], int] = {}
    for written in wagers:
        where = f"--wager {written!r}"
        named, rest = _numbered(written)
        wager_id, separator, amount = (part.strip() for part in rest.partition("="))
        if not separator:
            raise BadInputError(f"{where} is not written as WAGER=STAKE.", "For example tie=5, or 3: tie=5 for box 3.")
        wager = _find_wager(law, wager_id.lower(), where)
        stake = _read_stake(amount, where)
        for box in _boxes_of(law.game, wager, named, boxes, where):
            if (box, wager.id) in stakes:
                place = f"box {box}" if box else "the Dealer's spot"
                raise BadInputError(f"{where}: {wager.id} is staked twice on {place}.", "Add the stakes up.")
            stakes[box, wager.id] = stake
    return stakes


def _find_wager(law: Law, wager_id: str, where: str) -> Wager:
    try:
        return law.wager(wager_id)
    except UnknownWagerError as error:
        raise BadInputError(f"{where}: {error}.") from error


def _read_stake(amount: str, where: str) -> int:
    stake = int(amount) if _WHOLE.fullmatch(amount) else 0
    if stake == 0:
        raise BadInputError(
            f"{where}: the stake {amount!r} is no positive whole number.",
            "Stakes are counted in the smallest unit, in at most 15 digits.",
        )
    return stake


def _boxes_of(game: Game, wager: Wager, named: int | None, boxes: Sequence[int], where: str) -> Sequence[int]:
    """Where a stake lies: on the box that it names, else on every box; on the Dealer's spot where that is its place."""
    if wager.on_dealer:
        if named is not None:
            raise BadInputError(f"{where}: {wager.id} lies on the Dealer's spot and belongs to no box.")
        return (DEALERS_BOX,)
    if named is None:
        return boxes
    _check_box(game, named, where)
    if named not in boxes:
        raise BadInputError(f"{where}: box {named} has no hand.", f'Give one with --player "{named}: ...".')
    return (named,)


def evaluate_layout(law: Law, layout: Layout) -> Evaluation:
    """What everything comes to. Raises `BadInputError` where a wager depends on a reading that is not chosen."""
    staked = {wager_id for _, wager_id in layout.stakes}
    require_chosen(law, [wager for wager in law.wagers if not layout.stakes or wager.id in staked])
    boxes = tuple(_box(law, layout, box, hand) for box, hand in layout.hands.items())
    on_dealer = _wagers(law, layout, DEALERS_BOX, ())
    results = (*on_dealer, *(result for box in boxes for result in box.wagers))
    return Evaluation(
        game=law.game.id,
        readings=dict(law.chosen),
        dealer=_hand(law.game, layout.dealer),
        boxes=boxes,
        on_dealer=on_dealer,
        staked=sum(result.stake for result in results),
        gain=sum((result.gain for result in results), Fraction(0)),
    )


def _hand(game: Game, cards: Sequence[Card]) -> HandResult:
    codes = tuple(card.code for card in cards)
    return HandResult(codes, hand_name(cards, game.names), points(cards), pictures(cards))


def _box(law: Law, layout: Layout, box: int, hand: tuple[Card, ...]) -> BoxResult:
    result = outcome(hand, layout.dealer)
    word = {Outcome.WIN: "wins", Outcome.LOSE: "loses", Outcome.TIE: law.game.tie_word}[result]
    return BoxResult(box, _hand(law.game, hand), result, word, _wagers(law, layout, box, hand))


def _wagers(law: Law, layout: Layout, box: int, hand: tuple[Card, ...]) -> tuple[WagerResult, ...]:
    return tuple(
        _wager(law, layout, wager, box, hand)
        for wager in law.wagers
        if wager.on_dealer == (box == DEALERS_BOX) and (not layout.stakes or (box, wager.id) in layout.stakes)
    )


def _wager(law: Law, layout: Layout, wager: Wager, box: int, hand: tuple[Card, ...]) -> WagerResult:
    settled = settle(law, wager, hand, layout.dealer)
    stake = layout.stakes.get((box, wager.id), 0)
    return WagerResult(
        wager=wager.id,
        title=wager.title,
        verdict=settled.verdict,
        odds=settled.net if settled.verdict is Verdict.WON else None,
        net=settled.net,
        clause=settled.clause,
        because=_because(settled, wager, hand, layout.dealer),
        stake=stake,
        gain=stake * settled.net,
        note=_note(law, layout, wager, box) if stake else "",
    )


def _because(settled: Settled, wager: Wager, hand: Sequence[Card], dealer: Sequence[Card]) -> str:
    """Why; of a main wager that is lost, whose hand ranks higher."""
    if settled.verdict is not Verdict.LOST or not wager.main:
        return settled.because
    return (Shape.HIGHER if outcome(hand, dealer) is Outcome.WIN else Shape.LOWER).value


def _note(law: Law, layout: Layout, wager: Wager, box: int) -> str:
    """That a side wager lies where the document wants a main one first."""
    betting = law.game.betting
    mains = [other.id for other in law.wagers if other.main]
    if wager.main or wager.on_dealer or not betting.without_main or any((box, m) in layout.stakes for m in mains):
        return ""
    returned = betting.without_main_returned
    follows = f"; without it the stake is returned ({returned})" if returned else ""
    return f"it needs {wager.needs.value} ({betting.without_main}){follows}"
