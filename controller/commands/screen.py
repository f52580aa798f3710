"""The live view of a table in a terminal: boxes, the next place, the device with its age, irregularities."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from controller.api.view import FACE_UP, HandView, IrregularityView, TableView, WaitingDeckView
from controller.commands.own_words import OwnWords, words_of
from controller.commands.rule_words import FOLLOWS
from controller.games.specification import Disposition
from controller.rules.dealing import DEALER

OUTCOME_STYLE = {"win": "bold green", "lose": "red", "tie": "yellow"}
LINK_STYLE = {"ready": "green", "stale": "yellow", "authenticating": "yellow", "connecting": "yellow"}
LINES = 8
WAITS_FOR = {
    "claimed": "the fact to be confirmed or denied",
    "ordering": "the order to be named",
    "choosing": "every bettor's choice",
    "moving": "the cards to be put where they belong",
    "ruling": "a ruling",
}


def render(view: TableView, lines: Sequence[str]) -> RenderableType:
    """One screen. `lines` are the newest events, told; the last come last."""
    parts: list[RenderableType] = [_head(view), _layout(view), *_cards(view), _device(view)]
    parts += [_irregularity(found, words_of(view.game)) for found in view.irregularities]
    tail = "\n".join(lines[-LINES:])
    parts.append(Panel(Text(tail, overflow="ellipsis", no_wrap=True), title="what happened", height=LINES + 2))
    return Group(*parts)


def _head(view: TableView) -> RenderableType:
    head = Text()
    if view.simulated:
        head.append(" SIMULATED ", "black on yellow")
        head.append(" ")
    head.append(f"{view.title} · table {view.table}", "bold")
    head.append(f" · round {view.round} · {view.phase.replace('_', ' ')}")
    if view.maintenance:
        head.append(f": {view.maintenance}", "yellow")
    if view.dealer:
        head.append(f" · dealt by {view.dealer}")
    if view.service != "in_service":
        head.append(f" · {view.service.replace('_', ' ')}: {view.service_cause}", "bold red")
    elif view.paused:
        head.append(f" · paused: {view.paused}", "bold yellow")
    elif view.held:
        head.append(" · HELD", "bold red")
    if view.abandon_asked:
        head.append(" · ABANDON THE ROUND? say it again", "bold red")
    return head


def _layout(view: TableView) -> RenderableType:
    grid = Table(expand=True, title=_next(view), title_justify="left", title_style="bold cyan")
    for name, share in (("place", 2), ("cards", 3), ("hand", 5), ("outcome", 3)):
        grid.add_column(name, ratio=share, no_wrap=True)
    hands, words = {hand.place: hand for hand in view.hands}, words_of(view.game)
    for place in (*(f"B{number}" for number in view.boxes), DEALER):
        hand = hands.get(place)
        style = "reverse" if place == view.next_place else "dim" if hand and hand.dead else ""
        name = words.dealer if place == DEALER else words.of(place)
        grid.add_row(f"{name[:1].upper()}{name[1:]}", *_hand_cells(hand), style=style)
    return grid


def _next(view: TableView) -> str:
    if view.burn_due:
        return f"next: {view.burn_due} to be burnt"
    if view.phase == "first_card":
        return "next: the First Card" if not view.first_card else "the First Card waits to be shown"
    shown = f" · First Card {view.first_card}" if view.first_card else ""
    if view.next_place is None or view.phase == "voided":
        return f"stub: {view.deck.stub} counted{shown}" if view.deck.stub is not None else shown or " "
    whose = words_of(view.game).of(view.next_place)
    waits = f" · {view.tray} in the tray" if view.tray else ""
    aside = f" · {view.aside} set aside" if view.aside else ""
    if view.by_hand or view.deck.stub_out:
        aside += " · dealt by hand, from the stub that was taken out"
    return (
        f"next: {view.cards_due} to {whose} · {view.dealt} of {view.to_deal} dealt ({view.clause}){waits}{aside}{shown}"
    )


def _cards(view: TableView) -> list[RenderableType]:
    """One line of where the cards are, when some lie elsewhere than in stub, tray and hands, or do not make 52."""
    lines: list[RenderableType] = []
    ledger = view.ledger
    if ledger is not None:
        beside = [
            f"{count} {name}"
            for name, count in (
                ("First Card", ledger.first_card),
                ("burnt", ledger.burnt),
                ("set aside", ledger.aside),
                ("dropped", ledger.dropped),
                ("in the discards", ledger.discards),
            )
            if count
        ]
        if beside or not ledger.whole:
            told = [f"stub {ledger.stub}", f"tray {ledger.tray}", f"hands {ledger.hands}", *beside]
            lines.append(Text(f"cards: {' · '.join(told)} = {ledger.total}", "" if ledger.whole else "bold red"))
    if view.next_deck is not None:
        lines.append(Text(_waiting_deck(view.next_deck), "" if view.next_deck.fit else "bold red"))
    return lines


def _waiting_deck(deck: WaitingDeckView) -> str:
    stands = "shuffled" if deck.shuffled else "not shuffled yet"
    return f"next deck: {deck.label or deck.deck} · {stands if deck.fit else 'out of use, load another one'}"


def _hand_cells(hand: HandView | None) -> tuple[RenderableType, RenderableType, RenderableType]:
    if hand is None:
        return "", "", ""
    cards = Text(" ".join(hand.cards).replace(FACE_UP, "[up]"))
    if hand.dead:
        return cards, "out of play", "bets returned"
    looks = "the Dealer opens it" if hand.dealer_opens else f"{hand.viewer} looks" if hand.viewer else ""
    note = hand.class_name or " · ".join(filter(None, ("handled" if hand.handled else "", looks)))
    return cards, note, Text(hand.outcome.upper(), OUTCOME_STYLE.get(hand.outcome, ""))


def _device(view: TableView) -> RenderableType:
    device = view.device
    line = Text("device ")
    line.append(device.link, LINK_STYLE.get(device.link, "bold red"))
    line.append(f" {device.serial}" if device.serial else "")
    line.append(" · never heard" if device.age is None else f" · heard {device.age:.1f} s ago")
    line.append(f" · exit {'held' if device.exit_held else 'open'}")
    if device.stopped:
        line.append(f" · stopped: {device.stopped}", "bold red")
    if device.code:
        line.append(f"\n{device.sentence} {device.hint}", "red")
    return line


def _irregularity(found: IrregularityView, words: OwnWords) -> RenderableType:
    body = Text(f"{found.because}\n")
    if found.place:
        body.append(f"at {found.place}; ")
    follows = FOLLOWS[Disposition(found.proposes)]
    whose = found.authority or ("the clause" if found.clause else "")
    body.append(f"{whose} proposes: {follows}\n" if whose else f"{follows}\n")
    body.append(f"waits for {WAITS_FOR[found.stage]}: {found.who} or above\n")
    for question in found.questions:
        body.append(f"  {words.own(question)}\n", "cyan")
    body.append("options: " + " | ".join(found.options), "bold")
    for move in found.moves:
        body.append(f"\n  card {move.ordinal}: {move.source} to {move.place}", "cyan")
    if found.choices_due:
        body.append(f"   still to choose: {', '.join(found.choices_due)}")
    return Panel(
        body, title=" · ".join(filter(None, (found.row, found.clause))), border_style="red", title_align="left"
    )
