"""Balance of any bets and hands, in every game: every unit is accounted for, and money is neither made nor lost."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.rules.dealing_order import box as place_of
from controller.rules.layout import Bet, Layout, TableRules, as_it_lies, without_main
from controller.rules.payouts import Verdict, settle
from controller.rules.settlement import (
    BetAction,
    BetRuling,
    Rounding,
    Settlement,
    return_every_bet,
    settle_round,
)
from tests.rules.laid_bets import LAWS, Hands, boxes_of, breakage, dealt, gains, held_by, layouts, table_rules

GAME_IDS = st.sampled_from(tuple(LAWS))


def settled(data: st.DataObject, game_id: str, layout: Layout, rules: TableRules, hands: Hands) -> Settlement:
    """Settle with any removed hands, withdrawals, rulings, memory and rounding."""
    numbers = st.sampled_from([bet.number for bet in layout.bets])
    ruling = st.builds(BetRuling, st.sampled_from(BetAction), st.just("shift manager Tan"))
    pairs = sorted({(bet.bettor, bet.box) for bet in layout.bets})
    return settle_round(
        LAWS[game_id],
        rules,
        layout,
        hands,
        removed=data.draw(st.dictionaries(st.sampled_from([1, 2, 3]), st.just("a clause"), max_size=1)),
        withdrawn=data.draw(st.dictionaries(st.sampled_from(pairs), st.just("a clause"), max_size=2)),
        rulings=data.draw(st.dictionaries(numbers, ruling, max_size=3)),
        settled_under_minimum=data.draw(st.frozensets(st.sampled_from(["ann", "bob", "cy"]))),
        rounding=data.draw(st.sampled_from(Rounding)),
    )


@given(st.data(), GAME_IDS, dealt())
def test_every_unit_is_accounted_for_and_all_gains_sum_to_zero(data: st.DataObject, game_id: str, hands: Hands) -> None:
    layout = data.draw(layouts(game_id))
    settlement = settled(data, game_id, layout, data.draw(table_rules(game_id)), hands)
    assert [entry.bet for entry in settlement.entries] == list(layout.bets)
    for entry in settlement.entries:
        assert entry.bet.amount == entry.returned + entry.collected + entry.held
        assert min(entry.returned, entry.collected, entry.held, entry.paid) >= 0
        assert not (entry.paid and entry.collected)
        assert not entry.held or (entry.verdict is None and not entry.paid)
        assert 0 <= entry.counted <= entry.bet.amount
        assert entry.clause or "ruling" in str(entry.because)
        assert entry.verdict is not Verdict.WON or entry.returned == entry.bet.amount
    assert settlement.house + sum(gains(settlement).values()) == 0


@given(st.data(), GAME_IDS, dealt())
def test_without_limits_and_reasons_a_bet_gains_what_its_wager_pays(
    data: st.DataObject, game_id: str, hands: Hands
) -> None:
    law, layout = LAWS[game_id], data.draw(layouts(game_id))
    side_alone = without_main(law, layout)
    for entry in settle_round(law, boxes_of(game_id), layout, hands).entries:
        bet = entry.bet
        if bet not in side_alone:
            net = settle(law, law.wager(bet.wager), hands[place_of(bet.box)], hands["D"]).net
            assert entry.paid - entry.collected == bet.amount * net


@given(st.data(), GAME_IDS, dealt())
def test_the_order_of_placing_does_not_change_anyones_money(data: st.DataObject, game_id: str, hands: Hands) -> None:
    """Clauses on settling do not ask who placed first. NC 5.1 does, but only while bets are open."""
    law, rules, layout = LAWS[game_id], data.draw(table_rules(game_id)), data.draw(layouts(game_id))
    numbers = data.draw(st.permutations([bet.number for bet in layout.bets]))
    shuffled = [replace(bet, number=number) for bet, number in zip(layout.bets, numbers, strict=True)]
    other = as_it_lies(law, boxes_of(game_id), layout.bettors, shuffled)
    assert by_stack(settle_round(law, rules, layout, hands)) == by_stack(settle_round(law, rules, other, hands))


def by_stack(settlement: Settlement) -> dict[tuple[str, str, int], tuple[Fraction, ...]]:
    def stack(bet: Bet) -> tuple[str, str, int]:
        return bet.bettor, bet.wager, bet.box

    return {
        stack(entry.bet): (entry.counted, entry.returned, entry.collected, entry.held, entry.paid)
        for entry in settlement.entries
    }


@given(st.data(), GAME_IDS, dealt())
def test_a_void_round_returns_everybodys_money(data: st.DataObject, game_id: str, hands: Hands) -> None:
    """NC 5.15, F3 X2, reading 33."""
    layout = data.draw(layouts(game_id))
    void = return_every_bet(LAWS[game_id], layout, "a clause")
    assert void.house == held_by(void) == 0
    assert not any(gains(void).values())
    assert [entry.returned for entry in void.entries] == [bet.amount for bet in layout.bets]


@given(st.data(), GAME_IDS, dealt())
def test_rounding_moves_less_than_a_unit_a_bet_and_shows_it(data: st.DataObject, game_id: str, hands: Hands) -> None:
    """Shares of a maximum are whole units too, so that only rounding changes what is paid on a share."""
    law, rules, layout = LAWS[game_id], data.draw(table_rules(game_id)), data.draw(layouts(game_id))
    exact = settle_round(law, rules, layout, hands)
    for rounding, sign in ((Rounding.DOWN, 1), (Rounding.UP, -1)):
        rounded = settle_round(law, rules, layout, hands, rounding=rounding)
        for entry, whole in zip(exact.entries, rounded.entries, strict=True):
            for amount in (whole.counted, whole.returned, whole.collected, whole.held, whole.paid):
                assert amount.denominator == 1
            assert abs(whole.counted - entry.counted) < 1
            net = entry.paid / entry.counted if entry.counted else 0
            assert whole.paid + whole.breakage == whole.counted * net
            assert 0 <= sign * whole.breakage < 1
        if [entry.counted for entry in exact.entries] == [entry.counted for entry in rounded.entries]:
            assert rounded.house - exact.house == breakage(rounded)
