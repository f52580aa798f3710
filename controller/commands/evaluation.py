"""Reads the hands and stakes that a person wrote, and evaluates every wager on them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import msgspec

from controller.commands.game_options import require_chosen, shortened
from controller.commands.vocabulary import words_of
from controller.games.own_words import OwnWords
from controller.games.specification import Game
from controller.games.wager_specification import SHAPES, Shape, Wager
from controller.problems import BadInputError
from controller.rules.dealing_order import DEALER
from controller.rules.dealing_order import box as place_of
from controller.rules.hands import HAND_SIZE, Outcome, hand_name, outcome, pictures, points
from controller.rules.law import Law, UnknownWagerError, find_setting, readings_that_matter
from controller.rules.layout import DEALERS_SPOT, Bet, Bettor, TableRules, as_it_lies
from controller.rules.payouts import Verdict, settle
from controller.rules.settlement import BetResult, settle_round
from firmware_bridge.cards import Card, UnknownCardError
from firmware_bridge.messages import AnyText, Message, counted, message

_NUMBERED: Final = re.compile(r"\s*([+-]?\d+)\s*:(.*)", re.ASCII | re.DOTALL)
_WHOLE: Final = re.compile(r"0*([1-9]\d*)", re.ASCII)
MOST_DIGITS: Final = 15  # digits in a stake
HELD: Final = "held"  # until there is a ruling
_NAMED: Final = re.compile(r"\s*([^\W\d][\w.-]*)\s*:(.*)", re.DOTALL)
THE_BETTOR: Final = "the bettor"  # the owner of stakes without a name


Stakes: TypeAlias = dict[tuple[int, str, str], int]


class HandResult(msgspec.Struct, frozen=True):
    """A hand, named as the document names it."""

    cards: tuple[str, ...]
    name: Message
    points: int
    pictures: int


class WagerResult(msgspec.Struct, frozen=True):
    """The result of a wager. `net` is for each unit staked, `gain` for the stake; both are exact, and negative for a
    loss.

    `bettor` is the owner of the stake, or empty if none was named. `verdict` is won, lost, returned or held (waiting
    for a ruling). `odds` are those of the price that it won; `stake` is 0 if nothing was staked.
    """

    wager: str
    title: Message
    verdict: str
    odds: Fraction | None
    net: Fraction
    clause: str
    because: Message
    stake: int
    gain: Fraction
    bettor: str = ""


class BoxResult(msgspec.Struct, frozen=True):
    """A box against the Dealer. `word` is the document's word for the outcome."""

    box: int
    hand: HandResult
    outcome: Outcome
    word: Message
    wagers: tuple[WagerResult, ...]


class Evaluation(msgspec.Struct, frozen=True):
    """A whole layout. `on_dealer` are the wagers on the Dealer's spot; `gain` is the sum of all gains.

    `readings` are the chosen readings on which a wager shown here depends. `gains` are those of each named bettor.
    """

    game: str
    title: Message
    version: str
    readings: dict[str, str]
    dealer: HandResult
    boxes: tuple[BoxResult, ...]
    on_dealer: tuple[WagerResult, ...]
    staked: int
    gain: Fraction
    gains: dict[str, Fraction]


@dataclass(frozen=True)
class WrittenHands:
    """Hands by box, and stakes by (box, wager id, bettor). Without any stake every wager is shown for one unit."""

    hands: dict[int, tuple[Card, ...]]
    dealer: tuple[Card, ...]
    stakes: Stakes


def read_layout(law: Law, players: Sequence[str], dealers: Sequence[str], wagers: Sequence[str]) -> WrittenHands:
    """Read what a person wrote. Raise `BadInputError` with the problem and its place."""
    words = words_of(law.game.id)
    hands: dict[int, tuple[Card, ...]] = {}
    following = 1
    for written in players:
        where = f"--player {shortened(written)!r}"
        named, cards = _split_box(law.game, written, where)
        box = _check_box(law.game, following, where) if named is None else named
        if box in hands:
            raise BadInputError(
                message("{where}: {box} has a hand already.", where=where, box=words.box(box)),
                message("Give one --player for each {place}.", place=words.place),
            )
        hands[box] = read_hand(cards, words.box(box))
        following = box + 1
    theirs = _read_dealers_hand(dealers, words)
    _check_no_card_twice([*((words.box(box), hand) for box, hand in hands.items()), (words.dealers_hand, theirs)])
    return WrittenHands(dict(sorted(hands.items())), theirs, _read_stakes(law, wagers, sorted(hands)))


def _read_dealers_hand(dealers: Sequence[str], words: OwnWords) -> tuple[Card, ...]:
    if len(dealers) > 1:
        raise BadInputError(
            message(
                "The {dealer}'s hand is given {count} times; --dealer and --banker are the same.",
                dealer=words.dealer,
                count=len(dealers),
            ),
            message("Give it once."),
        )
    return read_hand(dealers[0], words.dealers_hand)


def _split_box(game: Game, written: str, where: str) -> tuple[int | None, str]:
    """Split the text into the box before a colon and the rest. Raise `BadInputError` for an unknown box."""
    found = _NUMBERED.fullmatch(written)
    if found is None:
        return None, written
    return _check_box(game, found[1], where), found[2]


def _check_box(game: Game, box: int | str, where: str) -> int:
    """Return the number of a box from a number or a name. Raise `BadInputError` if the box is unknown."""
    most, words = game.boxes[1], words_of(game.id)
    known = {str(number): number for number in range(1, most + 1)}
    figures = str(box).removeprefix("+")
    number = known.get(figures.lstrip("0") if figures.isdecimal() else figures)
    if number is None:
        nowhere = message("{place} {number}", place=words.place, number=shortened(str(box)))
        raise BadInputError(
            message(
                "{where}: there is no {nowhere}; {id} has {places} 1 to {most}.",
                where=where,
                nowhere=nowhere,
                id=game.id,
                places=words.places,
                most=most,
            )
        )
    return number


def read_hand(written: str, where: AnyText) -> tuple[Card, ...]:
    """Read three cards separated by blanks or commas. Raise `BadInputError` for any other text."""
    try:
        cards = tuple(Card.parse(shortened(text)) for text in written.replace(",", " ").split())
    except UnknownCardError as error:
        raise BadInputError(message("In {where}: {why}.", where=where, why=error.message)) from error
    if len(cards) != HAND_SIZE:
        number = counted("1 card", "{count} cards", len(cards))
        raise BadInputError(
            message(
                "In {where}: {number} in {written}; a hand has {size}.",
                where=where,
                number=number,
                written=repr(shortened(written.strip())),
                size=HAND_SIZE,
            )
        )
    return cards


def _check_no_card_twice(hands: Sequence[tuple[AnyText, tuple[Card, ...]]]) -> None:
    seen: dict[Card, AnyText] = {}
    for where, cards in hands:
        for card in cards:
            if card in seen:
                both = (
                    message("twice in {where}", where=where)
                    if seen[card] == where
                    else message("in {seen} and in {where}", seen=seen[card], where=where)
                )
                raise BadInputError(message("{code} stands {both}; a deck has it once.", code=card.code, both=both))
            seen[card] = where


def _read_stakes(law: Law, wagers: Sequence[str], boxes: Sequence[int]) -> Stakes:
    stakes: Stakes = {}
    for written in wagers:
        where = f"--wager {shortened(written)!r}"
        named, rest = _split_box(law.game, written, where)
        bettor, rest = _split_bettor(rest)
        wager_id, separator, amount = (part.strip() for part in rest.partition("="))
        if not separator:
            raise BadInputError(
                message("{where} is not written as WAGER=STAKE.", where=where),
                message("For example tie=5, or 3: tie=5 for box 3, or 3: ann: tie=5 for a stake by ann there."),
            )
        wager = _find_wager(law, shortened(wager_id.lower()), where)
        stake = _read_stake(amount, where)
        for box in _boxes_of(law.game, wager, named, boxes, where):
            if (box, wager.id, bettor) in stakes:
                place = (
                    words_of(law.game.id).box(box)
                    if box
                    else message("the {dealer}'s spot", dealer=words_of(law.game.id).dealer)
                )
                raise BadInputError(
                    message("{where}: {id} is staked twice on {place}.", where=where, id=wager.id, place=place),
                    message("Add the stakes up."),
                )
            stakes[box, wager.id, bettor] = stake
    return stakes


def _split_bettor(written: str) -> tuple[str, str]:
    """Split the text into the bettor before a colon and the rest; the bettor is `THE_BETTOR` if none is named."""
    found = _NAMED.fullmatch(written)
    return (found[1], found[2]) if found else (THE_BETTOR, written)


def _find_wager(law: Law, wager_id: str, where: str) -> Wager:
    try:
        return law.wager(wager_id)
    except UnknownWagerError as error:
        removed = _readings_without(law, wager_id)
        sentence = (
            message("{id} has no wager {wager} where {removed}", id=law.game.id, wager=repr(wager_id), removed=removed)
            if removed
            else error.message
        )
        raise BadInputError(message("{where}: {what}.", where=where, what=sentence)) from error


def _readings_without(law: Law, wager_id: str) -> tuple[Message, ...]:
    """Return the readings that leave out a wager of the document. There are none if it has no wager of that name."""
    unders = [wager.under for wager in law.game.wagers if wager.id == wager_id]
    settings = dict.fromkeys(setting for under in unders for setting, option in under if law.chosen[setting] != option)
    return tuple(
        message(
            "{setting} is {option} ({clause})",
            setting=setting,
            option=law.chosen[setting] or message("not chosen"),
            clause=find_setting(law.game, setting).clause,
        )
        for setting in settings
    )


def _read_stake(amount: str, where: str) -> int:
    hint = message("Stakes are counted in the smallest unit, in at most {most} digits.", most=MOST_DIGITS)
    found = _WHOLE.fullmatch(amount)
    if found is None:
        raise BadInputError(
            message(
                "{where}: the stake {amount} is not a positive whole number.",
                where=where,
                amount=repr(shortened(amount)),
            ),
            hint,
        )
    if len(found[1]) > MOST_DIGITS:
        raise BadInputError(
            message("{where}: the stake has {count} digits, which is too many.", where=where, count=len(found[1])), hint
        )
    return int(found[1])


def _boxes_of(game: Game, wager: Wager, named: int | None, boxes: Sequence[int], where: str) -> Sequence[int]:
    """Return the boxes of a stake: the named box, or every box; for a wager on the Dealer's spot, that spot."""
    words = words_of(game.id)
    if wager.on_dealer:
        if named is not None:
            raise BadInputError(
                message(
                    "{where}: {id} lies on the {dealer}'s spot and does not belong to a {place}.",
                    where=where,
                    id=wager.id,
                    dealer=words.dealer,
                    place=words.place,
                )
            )
        return (DEALERS_SPOT,)
    if named is None:
        return boxes
    if named not in boxes:
        raise BadInputError(
            message("{where}: {box} has no hand.", where=where, box=words.box(named)),
            message('Give one with --player "{number}: ...".', number=named),
        )
    return (named,)


def evaluate_layout(law: Law, written: WrittenHands) -> Evaluation:
    """Evaluate everything. Raise `BadInputError` if a wager depends on a reading that has not been chosen."""
    shown = {wager_id for _, wager_id, _ in written.stakes}
    wagers = [wager for wager in law.game.wagers if not shown or wager.id in shown]
    require_chosen(law, wagers)
    results = _settled_round(law, written) if written.stakes else _for_each_unit(law, written)
    boxes = tuple(
        _box(law.game, written, box, tuple(result for lies_on, result in results if lies_on == box))
        for box in written.hands
    )
    return Evaluation(
        game=law.game.id,
        title=law.game.title,
        version=law.game.version,
        readings={setting.id: law.chosen[setting.id] for setting in readings_that_matter(law.game, wagers)},
        dealer=_hand(law.game, written.dealer),
        boxes=boxes,
        on_dealer=tuple(result for lies_on, result in results if lies_on == DEALERS_SPOT),
        staked=sum(result.stake for _, result in results),
        gain=sum((result.gain for _, result in results), Fraction(0)),
        gains=_gains([result for _, result in results]),
    )


def _gains(results: Sequence[WagerResult]) -> dict[str, Fraction]:
    gains: dict[str, Fraction] = {}
    for result in results:
        if result.bettor:
            gains[result.bettor] = gains.get(result.bettor, Fraction(0)) + result.gain
    return gains


def _hand(game: Game, cards: Sequence[Card]) -> HandResult:
    codes = tuple(card.code for card in cards)
    return HandResult(codes, hand_name(cards, game.names), points(cards), pictures(cards))


def _box(game: Game, written: WrittenHands, box: int, wagers: tuple[WagerResult, ...]) -> BoxResult:
    hand = written.hands[box]
    result = outcome(hand, written.dealer)
    word = {"win": game.words.wins, "lose": game.words.loses, "tie": game.tie_word}[result]
    return BoxResult(box, _hand(game, hand), result, word, wagers)


def _for_each_unit(law: Law, written: WrittenHands) -> list[tuple[int, WagerResult]]:
    """Settle every wager by the hands alone, with the box on which it would be placed."""
    found = []
    for box, wager in _spots(law, written):
        hand = written.hands.get(box, ())
        settled = settle(law, wager, hand, written.dealer)
        result = WagerResult(
            wager=wager.id,
            title=wager.title,
            verdict=settled.verdict.value,
            odds=settled.net if settled.verdict is Verdict.WON else None,
            net=settled.net,
            clause=settled.clause,
            because=_because(law, settled.verdict, settled.because, wager, hand, written.dealer),
            stake=0,
            gain=Fraction(0),
        )
        found.append((box, result))
    return found


def _spots(law: Law, written: WrittenHands) -> list[tuple[int, Wager]]:
    """Return the places of every wager on this layout, the Dealer's spot first."""
    spots = [(box, wager) for box in (DEALERS_SPOT, *written.hands) for wager in law.wagers]
    return [(box, wager) for box, wager in spots if wager.on_dealer == (box == DEALERS_SPOT)]


def _settled_round(law: Law, written: WrittenHands) -> list[tuple[int, WagerResult]]:
    """Settle the stakes as in a round, without limits and without rulings on held bets.

    Each bettor stands somewhere, and bets count as placed in the order of the layout. Neither matters without limits.
    """
    bettors = list(dict.fromkeys(bettor for *_, bettor in written.stakes))
    stacks = [(box, wager.id, bettor) for box, wager in _spots(law, written) for bettor in bettors]
    lying = [stack for stack in stacks if stack in written.stakes]
    bets = [
        Bet(number, bettor, wager, box, written.stakes[box, wager, bettor])
        for number, (box, wager, bettor) in enumerate(lying, start=1)
    ]
    rules = TableRules(boxes=law.game.boxes[1])
    hands = {place_of(box): hand for box, hand in written.hands.items()} | {DEALER: written.dealer}
    settlement = settle_round(law, rules, as_it_lies(law, rules, [Bettor(one) for one in bettors], bets), hands)
    return [(entry.bet.box, _wager_result(law, written, entry)) for entry in settlement.entries]


def _wager_result(law: Law, written: WrittenHands, entry: BetResult) -> WagerResult:
    wager, stake = law.wager(entry.bet.wager), entry.bet.amount
    gain = entry.paid - entry.collected
    hand = written.hands.get(entry.bet.box, ())
    return WagerResult(
        wager=wager.id,
        title=wager.title,
        verdict=entry.verdict.value if entry.verdict else HELD,
        odds=gain / stake if entry.verdict is Verdict.WON else None,
        net=gain / stake,
        clause=entry.clause,
        because=_because(law, entry.verdict, entry.because, wager, hand, written.dealer),
        stake=stake,
        gain=gain,
        bettor="" if entry.bet.bettor == THE_BETTOR else entry.bet.bettor,
    )


def _because(
    law: Law, verdict: Verdict | None, because: Message, wager: Wager, hand: Sequence[Card], dealer: Sequence[Card]
) -> Message:
    """Return the reason; for a lost main wager, say which hand ranks higher."""
    if verdict is Verdict.LOST and wager.main:
        because = SHAPES[Shape.HIGHER if outcome(hand, dealer) is Outcome.WIN else Shape.LOWER]
    return law.game.words.own(because)
