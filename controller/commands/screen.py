"""The live view of a table in a terminal: boxes, the next place, the device with its age, irregularities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from controller.api.irregularity_view import IrregularityView
from controller.api.view import FACE_UP, DeckView, EntryView, HandView, TableView, WaitingDeckView
from controller.commands.language import Terminal, console_word
from controller.commands.text import shown
from controller.commands.vocabulary import FOLLOWS, words_of
from controller.games.kind_words import KINDS
from controller.games.own_words import OwnWords
from controller.games.specification import Disposition, Kind
from controller.language import ENGLISH
from controller.rules.dealing_order import DEALER
from controller.table.irregularities.questions import COUNT_BY_HAND
from controller.table.phases import DEALING, IN_ROUND, Phase
from firmware_bridge.plain_text import whole_number

OUTCOME_STYLE = {"win": "bold green", "lose": "red", "tie": "yellow"}
LINK_STYLE = {"ready": "green", "stale": "yellow", "authenticating": "yellow", "connecting": "yellow"}
LINES = 8
BORDERS = 2  # lines of a frame
ROUND: Final = frozenset(phase.value for phase in IN_ROUND)
ENTRIES = 4  # the number of newest entries for correction


def render(view: TableView, lines: Sequence[str], height: int = 0, language: str = ENGLISH) -> RenderableType:
    """Return one screen. `lines`: the newest events as sentences, the last one last. `height` 0: unlimited.

    `language`: that of the sentences of `view` and of `lines`.
    """
    return _Screen(shown(view), lines, height, Terminal(language))


class _Screen:
    """The table in as much detail as fits: details are left out first, irregularities never."""

    def __init__(self, view: TableView, lines: Sequence[str], height: int, say: Terminal) -> None:
        self._view = view
        self._say = say
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
            yield Panel(tail, title=self._say("events"), height=count + BORDERS)
        elif tail:
            yield tail

    def _versions(self) -> list[list[RenderableType]]:
        """Return versions of the screen, each with less."""
        view, words, say = self._view, words_of(self._view.game), self._say
        found = view.irregularities
        bare = [_head(view, say), _layout(view, say, framed=False)]
        short: list[RenderableType] = [_short(one, words, say) for one in found]
        device, cards = _device(view, say), _cards(view, say)
        return [
            [_head(view, say), _layout(view, say), *cards, *_entries(view, say), device]
            + [_irregularity(one, words, say) for one in found],
            [*bare, *cards, device, *short],
            [*bare, device, *short],
            [*bare, device, *short[:1], *(_title(one, words, say) for one in found[1:])],
        ]


def _lines_of(parts: Sequence[RenderableType], console: Console, options: ConsoleOptions) -> int:
    return len(console.render_lines(Group(*parts), options.update(height=None), pad=False))


def _head(view: TableView, say: Terminal) -> RenderableType:
    head = Text()
    if view.simulated:
        head.append(say(" SIMULATED "), "black on yellow")
        head.append(" ")
    table = say("table {table}", table=view.table)
    head.append(f"{say.of_table(view.title)} · {table}", "bold")
    _standing(head, view, say)
    phase = say.of_console(f"phase.{view.phase}", view.phase.replace("_", " "))
    head.append(f" · {say('round {number}', number=view.round)} · {phase}")
    if view.maintenance:
        head.append(f": {view.maintenance}", "yellow")
    if view.dealer:
        head.append(f" · {say('dealt by {dealer}', dealer=view.dealer)}")
    if view.abandon_asked:
        head.append(f" · {say('VOID THE ROUND? repeat to confirm')}", "bold red")
    for warning in view.warnings:
        head.append(f" · {warning}", "yellow")
    return head


def _standing(head: Text, view: TableView, say: Terminal) -> None:
    """Say that play stands still, early in the line, because its end may be cut off."""
    if view.service != "in_service":
        head.append(f" · {say(view.service.replace('_', ' '))}: {view.service_cause}", "bold red")
    elif view.paused:
        head.append(f" · {say('paused: {reason}', reason=view.paused)}", "bold yellow")
    elif view.held:
        head.append(f" · {say('HELD')}", "bold red")


def _layout(view: TableView, say: Terminal, *, framed: bool = True) -> RenderableType:
    grid = Table(expand=True, title=Text(_next(view, say, brief=not framed), "bold cyan"), title_justify="left")
    grid.box = grid.box if framed else None
    for name, share in (("place", 2), ("cards", 3), ("hand", 5), ("outcome", 3)):
        grid.add_column(say(name), ratio=share, no_wrap=True)
    hands, words = {hand.place: hand for hand in view.hands}, words_of(view.game)
    for place in (*(f"B{number}" for number in view.boxes), DEALER):
        hand = hands.get(place)
        style = "reverse" if place == view.next_place else "dim" if hand and hand.dead else ""
        name = say.of_table(words.dealer if place == DEALER else words.of(place))
        void = view.phase == Phase.VOIDED
        grid.add_row(f"{name[:1].upper()}{name[1:]}", *_hand_cells(hand, say, void=void), style=style)
    return grid


def _next(view: TableView, say: Terminal, *, brief: bool) -> str:
    """Say what comes next, then the progress of the deal. `brief`: without the question that stands below."""
    dealing = view.phase in DEALING and bool(view.to_deal)
    step = str(view.next_step)
    for found in view.irregularities[:1] if brief else ():
        step = step.replace(str(found.question), f"Decide {found.row} below.")
    counted = view.deck.stub is not None and view.phase in ROUND
    of_stub = dealing and (view.by_hand or view.deck.stub_out)
    parts = (
        say("next: {step}", step=step.rstrip(".。")) if step else "",
        say("{dealt} of {due} dealt ({clause})", dealt=view.dealt, due=view.to_deal, clause=view.clause)
        if dealing
        else "",
        say("{count} in the tray", count=view.tray) if view.tray else "",
        say("{count} set aside", count=view.aside) if view.aside else "",
        say("First Card {card}", card=view.first_card) if view.first_card else "",
        say("stub: {count} counted", count=view.deck.stub) if counted else "",
        say("dealt by hand, from the stub that was taken out") if of_stub else "",
    )
    return " · ".join(filter(None, parts)) or " "


def _cards(view: TableView, say: Terminal) -> list[RenderableType]:
    """Say where the cards are, if some lie outside stub, tray and hands, or do not add up to 52."""
    lines: list[RenderableType] = []
    ledger = view.ledger
    if ledger is not None:
        beside = [
            f"{count} {say(name)}" if say.language == ENGLISH else f"{say(name)} {count}"
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
            stub, tray = say("stub {count}", count=ledger.stub), say("tray {count}", count=ledger.tray)
            parts = " · ".join([stub, tray, say("hands {count}", count=ledger.hands), *beside])
            line = say("cards: {cards} = {total}", cards=parts, total=ledger.total)
            lines.append(Text(line, "" if ledger.whole else "bold red"))
    if view.deck.deck and view.phase not in ROUND:
        lines.append(Text(_deck(view.deck, say), "bold red" if view.deck.quarantined else ""))
    if view.next_deck is not None:
        lines.append(Text(_waiting_deck(view.next_deck, say), "" if view.next_deck.fit else "bold red"))
    return lines


def _deck(deck: DeckView, say: Terminal) -> str:
    """Return the deck in the device between rounds, and whether a round may begin with it."""
    if deck.quarantined:
        stands = f"{say('OUT OF USE')}: {deck.quarantined}"
    else:
        stands = say("dealt from" if deck.used else "shuffled" if deck.shuffled else "not shuffled yet")
    return say("deck: {deck} · {stands}", deck=deck.label or deck.deck, stands=stands)


def _entries(view: TableView, say: Terminal) -> list[RenderableType]:
    """List the newest entries that a supervisor may correct, with the numbers that a correction uses."""
    if not view.entries:
        return []
    newest = {_entry_words(one, say): one for one in view.entries}  # an operation that was entered twice is listed once
    last = sorted(newest.items(), key=lambda item: item[1].entry)[-ENTRIES:]
    listed = " · ".join(f"{one.entry} {said} {say.in_brackets(one.person)}" for said, one in last)
    more = "… " if len(newest) > ENTRIES else ""
    return [Text(say("may be corrected: {listed}", listed=f"{more}{listed}"), "dim")]


def _entry_words(one: EntryView, say: Terminal) -> str:
    """Return an operation in a few words: its name, and the place, pile or kind that it is about."""
    about = [str(getattr(one.said, name, None) or "").replace("_", " ") for name in ("kind", "pile", "place")]
    if say.language != ENGLISH:
        kind = getattr(one.said, "kind", None)
        about = [say.of_table(KINDS[Kind(kind)]) if kind else "", *map(partial(_named, say), about[1:])]
    number = getattr(one.said, "number", None)
    name = say.of_console(f"op.{one.operation}", one.operation.replace("_", " "))
    return " ".join(filter(None, (name, *about, "" if number is None else str(number))))


def _named(say: Terminal, what: str) -> str:
    """Return the name of a pile or a place."""
    place = what == DEALER or whole_number(what[1:], 99) is not None
    return say.of_table(OwnWords().of(what)) if place else console_word(f"pile.{what}", say.language) if what else ""


def _waiting_deck(deck: WaitingDeckView, say: Terminal) -> str:
    stands = "shuffled" if deck.shuffled else "not shuffled yet"
    stands = say(stands if deck.fit else "out of use, load another one")
    return say("next deck: {deck} · {stands}", deck=deck.label or deck.deck, stands=stands)


def _hand_cells(
    hand: HandView | None, say: Terminal, *, void: bool
) -> tuple[RenderableType, RenderableType, RenderableType]:
    """Return the cells of a hand. `void`: the hands of the round no longer have an outcome."""
    if hand is None:
        return "", "", ""
    cards = Text(" ".join(hand.cards).replace(FACE_UP, "[up]"))
    if hand.dead:
        return cards, say("out of play"), say("bets returned")
    viewer = say("{viewer} looks", viewer=hand.viewer) if hand.viewer else ""
    looks = say("the Dealer opens it") if hand.dealer_opens else viewer
    note = str(hand.class_name) or " · ".join(filter(None, (say("handled") if hand.handled else "", looks)))
    if void or not hand.outcome:
        return cards, Text(note), ""
    outcome = say.of_console(f"stage.{hand.outcome}", hand.outcome.upper())
    return cards, Text(note), Text(outcome, OUTCOME_STYLE.get(hand.outcome, ""))


def _device(view: TableView, say: Terminal) -> RenderableType:
    device = view.device
    line = Text(f"{say('device')} ")
    line.append(say.of_table(device.link), LINK_STYLE.get(device.link, "bold red"))
    line.append(f" {device.serial}" if device.serial else "")
    age = say("no report yet") if device.age is None else say("last report {age:.1f} s ago", age=device.age)
    line.append(f" · {age} · {say('exit locked' if device.exit_held else 'exit open')}")
    if device.stopped:
        line.append(f" · {say('stopped: {cause}', cause=device.stopped)}", "bold red")
    if device.code:
        line.append(f"\n{device.sentence} {device.hint}", "red")
    return line


def _irregularity(found: IrregularityView, words: OwnWords, say: Terminal) -> RenderableType:
    body = Text(f"{found.because}\n")
    if found.place:
        body.append(say("at {place}; ", place=say.of_table(words.of(found.place))))
    follows = say.of_table(FOLLOWS[Disposition(found.proposes)])
    whose = say.of_table(found.authority) if found.authority else say("the clause") if found.clause else ""
    proposal = say("{whose} proposes: {follows}", whose=whose, follows=follows) if whose else follows
    body.append(f"{proposal}\n")
    body.append(f"{found.question}\n", "cyan")
    for fact, asked in list(zip(found.asks, found.questions, strict=True))[1:]:
        if fact != COUNT_BY_HAND:
            body.append(f"{say('then: {asked}', asked=words.own(str(asked)))}\n", "cyan")
    body.append(_options(found, say), "bold")
    if found.moves:
        body.append(f"\n  {_moves(found, words, say)}", "cyan")
    if found.choices_due:
        places = [say.of_table(words.of(place)) for place in found.choices_due]
        due = [f"{one.bettor} · {say.of_table(words.of(one.place))}" for one in found.bettors_due] or places
        body.append(f"   {say('still to choose: {due}', due=', '.join(due))}")
    if found.void_asked:
        body.append(f"\n{say('THE ROUND BECOMES VOID: repeat to confirm')}", "bold red")
    return Panel(body, title=Text(_title(found, words, say).plain), border_style="red", title_align="left")


def _options(found: IrregularityView, say: Terminal) -> str:
    return say("options: {options}", options=" | ".join(say.of_table(one) for one in found.options))


def _title(found: IrregularityView, words: OwnWords, say: Terminal) -> Text:
    kind = say.of_table(words.own(KINDS[Kind(found.kind)]))
    return Text(" · ".join(filter(None, (found.row, kind, found.clause))), "bold red")


def _moves(found: IrregularityView, words: OwnWords, say: Terminal) -> str:
    """List the cards to be moved, by the order in which they left, grouped by their way; 0: which is not known."""
    ways: dict[tuple[str, str], list[str]] = {}
    for move in found.moves:
        ways.setdefault((move.source, move.place), []).append(str(move.ordinal) if move.ordinal else say("a card"))
    return "; ".join(
        say(
            "move {cards} from {source} to {place}",
            cards=", ".join(cards),
            source=_place_named(source, words, say),
            place=_place_named(place, words, say),
        )
        for (source, place), cards in ways.items()
    )


def _place_named(place: str, words: OwnWords, say: Terminal) -> str:
    return say.of_table(words.of(place)) if place == DEALER or whole_number(place[1:], 99) is not None else place


def _short(found: IrregularityView, words: OwnWords, say: Terminal) -> RenderableType:
    """Say what it is, what is asked and who may answer, without the reasons."""
    body = _title(found, words, say)
    at = f" · {say.of_table(words.of(found.place))}" if found.place else ""
    body.append(f"{at} · {say('{who} or above', who=say.of_table(found.who))}\n", "red")
    body.append(f"  {found.question}\n", "cyan")
    if found.moves:
        body.append(f"  {_moves(found, words, say)}\n", "cyan")
    body.append(f"  {_options(found, say)}", "bold")
    if found.void_asked:
        body.append(f"\n  {say('THE ROUND BECOMES VOID: repeat to confirm')}", "bold red")
    return body
