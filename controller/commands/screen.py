"""The live view of a table in a terminal: boxes, the next place, the device with its age, irregularities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from controller.api.irregularity_view import IrregularityView
from controller.api.view import FACE_UP, DeckView, EntryView, HandView, TableView, WaitingDeckView
from controller.commands.text import shown
from controller.commands.vocabulary import FOLLOWS, words_of
from controller.games.kind_words import KINDS
from controller.games.own_words import OwnWords
from controller.games.specification import Disposition, Kind
from controller.rules.dealing_order import DEALER
from controller.table.irregularities.questions import COUNT_BY_HAND
from controller.table.phases import DEALING, IN_ROUND
from firmware_bridge.plain_text import whole_number

OUTCOME_STYLE = {"win": "bold green", "lose": "red", "tie": "yellow"}
LINK_STYLE = {"ready": "green", "stale": "yellow", "authenticating": "yellow", "connecting": "yellow"}
LINES = 8
BORDERS = 2  # lines of a frame
ROUND: Final = frozenset(phase.value for phase in IN_ROUND)
ENTRIES = 4  # of those that may be corrected, the newest


def render(view: TableView, lines: Sequence[str], height: int = 0) -> RenderableType:
    """One screen. `lines`: the newest events as sentences, the last one last. `height`: 0 for as much as it takes."""
    return _Screen(shown(view), lines, height)


class _Screen:
    """The table in as much detail as fits: details are left out first, irregularities never."""

    def __init__(self, view: TableView, lines: Sequence[str], height: int) -> None:
        self._view = view
        self._lines = lines
        self._height = height

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        roomy, *tighter = self._versions()
        fixed, room = roomy, LINES + BORDERS
        if self._height:
            room = self._height - _lines_of(roomy, console, options)
            while room < (BORDERS + 1 if fixed is roomy else 0) and tighter:
                fixed = tighter.pop(0)
                room = self._height - _lines_of(fixed, console, options)
        yield from fixed
        framed = fixed is roomy
        count = min(room - BORDERS if framed else room, LINES)
        tail = Text("\n".join(self._lines[-count:] if count > 0 else ()), overflow="ellipsis", no_wrap=True)
        if framed:
            yield Panel(tail, title="events", height=count + BORDERS)
        elif tail:
            yield tail

    def _versions(self) -> list[list[RenderableType]]:
        """The same screen, each time with less."""
        view, words = self._view, words_of(self._view.game)
        found = view.irregularities
        bare = [_head(view), _layout(view, framed=False)]
        short: list[RenderableType] = [_short(one, words) for one in found]
        return [
            [_head(view), _layout(view), *_cards(view), *_entries(view), _device(view)]
            + [_irregularity(one, words) for one in found],
            [*bare, *_cards(view), _device(view), *short],
            [*bare, _device(view), *short],
            [*bare, _device(view), *short[:1], *(_title(one, words) for one in found[1:])],
        ]


def _lines_of(parts: Sequence[RenderableType], console: Console, options: ConsoleOptions) -> int:
    return len(console.render_lines(Group(*parts), options.update(height=None), pad=False))


def _head(view: TableView) -> RenderableType:
    head = Text()
    if view.simulated:
        head.append(" SIMULATED ", "black on yellow")
        head.append(" ")
    head.append(f"{view.title} · table {view.table}", "bold")
    _standing(head, view)
    head.append(f" · round {view.round} · {view.phase.replace('_', ' ')}")
    if view.maintenance:
        head.append(f": {view.maintenance}", "yellow")
    if view.dealer:
        head.append(f" · dealt by {view.dealer}")
    if view.abandon_asked:
        head.append(" · ABANDON THE ROUND? repeat to confirm", "bold red")
    for warning in view.warnings:
        head.append(f" · {warning}", "yellow")
    return head


def _standing(head: Text, view: TableView) -> None:
    """Whether play stands still; it comes early in the line, whose end may be cut off."""
    if view.service != "in_service":
        head.append(f" · {view.service.replace('_', ' ')}: {view.service_cause}", "bold red")
    elif view.paused:
        head.append(f" · paused: {view.paused}", "bold yellow")
    elif view.held:
        head.append(" · HELD", "bold red")


def _layout(view: TableView, *, framed: bool = True) -> RenderableType:
    grid = Table(expand=True, title=Text(_next(view, brief=not framed), "bold cyan"), title_justify="left")
    grid.box = grid.box if framed else None
    for name, share in (("place", 2), ("cards", 3), ("hand", 5), ("outcome", 3)):
        grid.add_column(name, ratio=share, no_wrap=True)
    hands, words = {hand.place: hand for hand in view.hands}, words_of(view.game)
    for place in (*(f"B{number}" for number in view.boxes), DEALER):
        hand = hands.get(place)
        style = "reverse" if place == view.next_place else "dim" if hand and hand.dead else ""
        name = words.dealer if place == DEALER else words.of(place)
        grid.add_row(f"{name[:1].upper()}{name[1:]}", *_hand_cells(hand), style=style)
    return grid


def _next(view: TableView, *, brief: bool) -> str:
    """What comes next; then how far the deal is. `brief`: without the question that stands below."""
    dealing = view.phase in DEALING and bool(view.to_deal)
    step = view.next_step
    for found in view.irregularities[:1] if brief else ():
        step = step.replace(found.question, f"Decide {found.row} below.")
    parts = (
        f"next: {step.rstrip('.')}" if step else "",
        f"{view.dealt} of {view.to_deal} dealt ({view.clause})" if dealing else "",
        f"{view.tray} in the tray" if view.tray else "",
        f"{view.aside} set aside" if view.aside else "",
        f"First Card {view.first_card}" if view.first_card else "",
        f"stub: {view.deck.stub} counted" if view.deck.stub is not None and view.phase in ROUND else "",
        "dealt by hand, from the stub that was taken out" if dealing and (view.by_hand or view.deck.stub_out) else "",
    )
    return " · ".join(filter(None, parts)) or " "


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
            parts = [f"stub {ledger.stub}", f"tray {ledger.tray}", f"hands {ledger.hands}", *beside]
            lines.append(Text(f"cards: {' · '.join(parts)} = {ledger.total}", "" if ledger.whole else "bold red"))
    if view.deck.deck and view.phase not in ROUND:
        lines.append(Text(_deck(view.deck), "bold red" if view.deck.quarantined else ""))
    if view.next_deck is not None:
        lines.append(Text(_waiting_deck(view.next_deck), "" if view.next_deck.fit else "bold red"))
    return lines


def _deck(deck: DeckView) -> str:
    """Between rounds: the deck in the device, and whether a round may begin with it."""
    if deck.quarantined:
        stands = f"OUT OF USE: {deck.quarantined}"
    else:
        stands = "dealt from" if deck.used else "shuffled" if deck.shuffled else "not shuffled yet"
    return f"deck: {deck.label or deck.deck} · {stands}"


def _entries(view: TableView) -> list[RenderableType]:
    """The newest entries that a supervisor may correct, with the numbers by which a correction names them."""
    if not view.entries:
        return []
    newest = {_said(one): one for one in view.entries}  # an operation that was asked twice is listed once
    last = sorted(newest.items(), key=lambda item: item[1].entry)[-ENTRIES:]
    listed = " · ".join(f"{one.entry} {said} ({one.person})" for said, one in last)
    return [Text(f"may be corrected: {'… ' if len(newest) > ENTRIES else ''}{listed}", "dim")]


def _said(one: EntryView) -> str:
    """An operation in a few words: its name, and what it is about where that is a place, a pile or a kind."""
    about = (str(getattr(one.said, name, None) or "") for name in ("kind", "pile", "place"))
    number = getattr(one.said, "number", None)
    return " ".join(filter(None, (one.operation, *about, "" if number is None else str(number)))).replace("_", " ")


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
    return cards, Text(note), Text(hand.outcome.upper(), OUTCOME_STYLE.get(hand.outcome, ""))


def _device(view: TableView) -> RenderableType:
    device = view.device
    line = Text("device ")
    line.append(device.link, LINK_STYLE.get(device.link, "bold red"))
    line.append(f" {device.serial}" if device.serial else "")
    line.append(" · no report yet" if device.age is None else f" · last report {device.age:.1f} s ago")
    line.append(f" · exit {'locked' if device.exit_held else 'open'}")
    if device.stopped:
        line.append(f" · stopped: {device.stopped}", "bold red")
    if device.code:
        line.append(f"\n{device.sentence} {device.hint}", "red")
    return line


def _irregularity(found: IrregularityView, words: OwnWords) -> RenderableType:
    body = Text(f"{found.because}\n")
    if found.place:
        body.append(f"at {words.of(found.place)}; ")
    follows = FOLLOWS[Disposition(found.proposes)]
    whose = found.authority or ("the clause" if found.clause else "")
    body.append(f"{whose} proposes: {follows}\n" if whose else f"{follows}\n")
    body.append(f"{found.question}\n", "cyan")
    for fact, asked in list(zip(found.asks, found.questions, strict=True))[1:]:
        if fact != COUNT_BY_HAND:
            body.append(f"then: {words.own(asked)}\n", "cyan")
    body.append("options: " + " | ".join(found.options), "bold")
    if found.moves:
        body.append(f"\n  {_moves(found, words)}", "cyan")
    if found.choices_due:
        due = [f"{one.bettor} at {words.of(one.place)}" for one in found.bettors_due]
        due = due or [words.of(place) for place in found.choices_due]
        body.append(f"   still to choose: {', '.join(due)}")
    if found.void_asked:
        body.append("\nTHE ROUND BECOMES VOID: repeat to confirm", "bold red")
    return Panel(body, title=Text(_title(found, words).plain), border_style="red", title_align="left")


def _title(found: IrregularityView, words: OwnWords) -> Text:
    return Text(" · ".join(filter(None, (found.row, words.own(KINDS[Kind(found.kind)]), found.clause))), "bold red")


def _moves(found: IrregularityView, words: OwnWords) -> str:
    """The cards to be moved, by the numbers under which they left, together where they go the same way."""
    ways: dict[tuple[str, str], list[str]] = {}
    for move in found.moves:
        ways.setdefault((move.source, move.place), []).append(str(move.ordinal))
    return "; ".join(
        f"move {', '.join(cards)} from {_place_named(source, words)} to {_place_named(place, words)}"
        for (source, place), cards in ways.items()
    )


def _place_named(place: str, words: OwnWords) -> str:
    return words.of(place) if place == DEALER or whole_number(place[1:], 99) is not None else place


def _short(found: IrregularityView, words: OwnWords) -> RenderableType:
    """What it is, what is asked and who may answer, without the reasons."""
    body = _title(found, words)
    at = f" at {words.of(found.place)}" if found.place else ""
    body.append(f"{at} · {found.who} or above\n", "red")
    body.append(f"  {found.question}\n", "cyan")
    if found.moves:
        body.append(f"  {_moves(found, words)}\n", "cyan")
    body.append("  options: " + " | ".join(found.options), "bold")
    if found.void_asked:
        body.append("\n  THE ROUND BECOMES VOID: repeat to confirm", "bold red")
    return body
