"""Times the check whether an outcome is established (RTP 5.13, NC 5.4), compared with settling as many whole hands.

    python -m benchmarks.established [--deals 5]

Every wager is placed on every box (eight; F3 has three), and the question is asked after every card of a deal. It is
also asked at the worst positions found: each box has a different known card, the Dealer none, and one picture of each
rank is left, so that the proof must find that hardly any two hands can be drawn together. Floor: `settle` for each
wager with whole hands. The first question about a wager also builds its table, once in a process; that is shown
separately.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from controller.games import GAMES
from controller.games.specification import Unit
from controller.rules.dealing_order import box, dealing_order
from controller.rules.established import KnownCards, established
from controller.rules.law import Law, read_law
from controller.rules.payouts import settle
from firmware_bridge.cards import DECK, Card

BOXES: Final = 8
PICTURES_LEFT: Final = {"KC", "QC", "JC"}


def boxes_of(law: Law) -> range:
    return range(1, min(BOXES, law.game.boxes[1]) + 1)


def all_wagers(law: Law) -> list[tuple[int, str]]:
    return [(number, wager.id) for wager in law.wagers for number in ((0,) if wager.on_dealer else boxes_of(law))]


def positions(law: Law, random: Random) -> list[KnownCards]:
    """Return the known cards before the first card of a deal and after each card, if all cards are known."""
    cards = random.sample(DECK, len(DECK))
    hands: dict[str, tuple[Card, ...]] = {}
    found = [KnownCards()]
    for place, card in zip(dealing_order(law.game.grammar(Unit.SINGLES), boxes_of(law)), cards, strict=False):
        hands = {**hands, place: (*hands.get(place, ()), card)}
        found.append(KnownCards(hands))
    return found


def worst_position(law: Law) -> KnownCards:
    low = [card for card in DECK if card.rank <= 10]
    hands = {box(number): (low[number],) for number in boxes_of(law)}
    return KnownCards(hands, frozenset(card for card in DECK if card.rank > 10 and card.code not in PICTURES_LEFT))


def settle_all(law: Law, placed: Sequence[tuple[int, str]]) -> Callable[[], None]:
    """Floor: call `settle` once for each wager, with whole hands."""
    hands = {number: DECK[3 * number : 3 * number + 3] for number in range(BOXES + 2)}
    asked = [(law.wager(name), hands[number], hands[BOXES + 1]) for number, name in placed]

    def take() -> None:
        for wager, ours, dealer in asked:
            settle(law, wager, ours, dealer)

    return take


def milliseconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1e3


def ask(law: Law, placed: Sequence[tuple[int, str]], known: KnownCards) -> float:
    return milliseconds(lambda: established(law, placed, known))


def measure(law: Law, deals: int) -> None:
    placed = all_wagers(law)
    first = ask(law, placed, KnownCards())
    floor = statistics.median(milliseconds(settle_all(law, placed)) for _ in range(max(deals, 5)))
    random = Random(1)
    played = [positions(law, random) for _ in range(deals)]
    each = [statistics.median(ask(law, placed, known) for _ in range(5)) for deal in played for known in deal]
    worst = statistics.median(ask(law, placed, worst_position(law)) for _ in range(max(deals, 5)))
    usual, longest = statistics.median(each), max(each)
    took = " ".join(f"{value:8.3f}" for value in (floor, usual, longest, worst))
    ratios = " ".join(f"{value / floor:8.2f}" for value in (usual, longest, worst))
    print(f"{law.game.id:<4} {len(placed):>6} {took} {ratios} {first:>8.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Established outcomes: time for each question")
    parser.add_argument("--deals", type=int, default=5)
    given = parser.parse_args()
    cards = {law_id: 3 * (min(BOXES, game.boxes[1]) + 1) for law_id, game in GAMES.items()}
    asks = ", ".join(f"{game_id} {count} cards" for game_id, count in cards.items())
    print(f"ms a question, after every card of {given.deals} deals ({asks}); medians of 5 or more")
    print("                          deal                       / floor                    first")
    print("game wagers    floor   median  longest    worst   median  longest    worst question")
    for game in GAMES.values():
        must = {setting.id: setting.words[0] for setting in game.settings if setting.must_be_chosen}
        measure(read_law(game, must), given.deals)
    print("Two thirds of a question are the hands that each place can still become, and which verdicts these allow;")
    print("settled hands have one each. The worst one proves that no two completions of a kind can be drawn together.")


if __name__ == "__main__":
    main()
