"""Which chips people move, in sentences: by the results, and again where a settlement has changed after it was paid.

Where no bets are entered they are the main bets at each box.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from controller.games.own_words import DEALER
from controller.rules.dealing_order import Place
from controller.rules.payouts import Cards, Settled, Verdict, settle
from controller.table.model import Hand, PaidBox, SettledBet
from controller.table.phases import Phase
from controller.table.state import TableState


def payments(state: TableState) -> tuple[str, ...]:
    """Until the round is ended, a sentence for the boxes of each result; none where every bet is entered."""
    due = state.phase is Phase.SETTLING and not state.round.bets_to_return
    dealer = state.round.hands.get(DEALER, Hand()).shown
    if not due or not dealer or state.layout.bets:
        return ()
    found: dict[tuple[str, Settled | None], list[Place]] = {}
    for place, hand in sorted(state.round.hands.items()):
        if place != DEALER and (hand.size or hand.dead):
            for result in _results(state, hand, dealer):
                found.setdefault(result, []).append(place)
    order = sorted(found, key=lambda result: (_rank(result[1]), result[0]))
    return tuple(_sentence(*result, str(state.game.words.of_all(found[result]))) for result in order)


def _results(state: TableState, hand: Hand, dealer: Cards) -> tuple[tuple[str, Settled | None], ...]:
    """Each main wager's title with what it comes to; once and without, where all come to the same; None: it is out."""
    if hand.dead:
        return (("", None),)
    if not hand.shown:
        return ()
    mains = [wager for wager in state.law.wagers if wager.main]
    results = [(wager.title, _plain(settle(state.law, wager, hand.shown, dealer))) for wager in mains]
    if len({result for _, result in results}) == 1:
        return (("", results[0][1]),)
    return tuple(results)


def _plain(settled: Settled) -> Settled:
    """Without its clause and fact: only what is done counts."""
    return Settled(settled.verdict, settled.net, "", "")


def _rank(settled: Settled | None) -> Fraction:
    """What is paid first, the most before."""
    return Fraction(2) if settled is None else -settled.net


def _sentence(title: str, settled: Settled | None, boxes: str) -> str:
    if settled is None:
        return f"Out of play, give back what still lies there: {boxes}."
    if settled.verdict is Verdict.RETURNED:
        return f"Tie, give back the bets: {boxes}."
    if settled.verdict is Verdict.LOST:
        return f"Take {title}: {boxes}." if title else f"Take the bets: {boxes}."
    won, staked = settled.net.numerator, settled.net.denominator
    return f"Pay {title} {won} to {staked}: {boxes}." if title else f"Pay {won} to {staked}: {boxes}."


def paid_boxes(state: TableState) -> tuple[PaidBox, ...]:
    """How the main bets at each box are paid now, where no bets are entered."""
    if state.layout.bets:
        return ()
    dealer = state.round.hands.get(DEALER, Hand()).shown
    void = state.round.voided_from is not None
    return tuple(
        PaidBox(place, title, *(("returned", "0") if void else _verdict(settled)))
        for place, hand in sorted(state.round.hands.items())
        if place != DEALER and (hand.size or hand.dead) and dealer
        for title, settled in _results(state, hand, dealer)
    )


def _verdict(settled: Settled | None) -> tuple[str, str]:
    return ("out", "0") if settled is None else (str(settled.verdict), str(settled.net))


def difference_due(state: TableState) -> bool:
    """Whether what was paid is not what the round comes to any more, and the difference is not recorded yet."""
    if state.round.bets_to_return or state.phase not in (Phase.SETTLING, Phase.CONCLUDED):
        return False
    return state.round.difference_due or (bool(state.round.paid_boxes) and bool(differences(state)))


def differences(state: TableState) -> tuple[str, ...]:
    """Each bet that moves because the round comes to something else than was paid: where, whose, in which direction."""
    if state.layout.bets:
        return tuple(_bets_moved(state)) if state.round.paid_as and state.round.settlement else ()
    return tuple(_boxes_moved(state)) if state.round.paid_boxes else ()


def _bets_moved(state: TableState) -> Iterator[str]:
    was, now = ({one.number: one for one in settled} for settled in (state.round.paid_as, state.round.settlement))
    every = sorted({**was, **now}.values(), key=lambda one: (one.box, one.number))
    for bet in every:
        before, after = was.get(bet.number), now.get(bet.number)
        at, title = _at(str(state.game.words.spot(bet.box))), state.law.wager(bet.wager).title
        paid = _part(after, "paid") - _part(before, "paid")
        taken = _part(after, "collected") - _part(before, "collected")
        if paid > 0:
            yield f"{at}: pay {paid} to {bet.bettor} ({title})."
        elif paid:
            yield f"{at}: take back {-paid} from {bet.bettor} ({title})."
        if taken > 0:
            yield f"{at}: take {taken} from {bet.bettor} ({title})."
        elif taken:
            yield f"{at}: return {-taken} to {bet.bettor} ({title})."


def _at(where: str, title: str = "") -> str:
    """Where chips move, at the beginning of a line; `title`: of which wager, where it makes a difference."""
    return " ".join(filter(None, (f"{where[:1].upper()}{where[1:]}", title)))


def _part(settled: SettledBet | None, name: str) -> Fraction:
    return Fraction(0) if settled is None else Fraction(getattr(settled, name))


def _boxes_moved(state: TableState) -> Iterator[str]:
    was = {(one.place, one.title): one for one in state.round.paid_boxes}
    for after in paid_boxes(state):
        before = was.get((after.place, after.title)) or was.get((after.place, ""))
        if before is None or (before.verdict, before.net) == (after.verdict, after.net):
            continue
        at = _at(str(state.game.words.of(after.place)), after.title)
        if before.verdict == "won":
            yield f"{at}: take back what was paid."
        if after.verdict == "won":
            won = Fraction(after.net)
            yield f"{at}: pay {won.numerator} to {won.denominator}."
        if after.verdict == "lost":
            yield f"{at}: take the bet."
        elif before.verdict == "lost":
            yield f"{at}: give the bet back."
        if after.verdict == "out":
            yield f"{at}: out of play, give back every bet."
