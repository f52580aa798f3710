"""The live view of a table in a terminal: boxes, the next place, the device with its age, irregularities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from controller.api.irregularity_view import IrregularityView
from controller.api.screen_lines import face
from controller.api.view import DeckView, EntryView, HandView, TableView, WaitingDeckView
from controller.commands.text import shown
from controller.commands.vocabulary import LINKS, OPTIONS, words_of
from controller.games.own_words import OwnWords
from controller.games.specification import FOLLOWS, KINDS, Disposition, Kind
from controller.language import ENGLISH, Speaker
from controller.rules.dealing_order import DEALER
from controller.table.irregularities.questions import COUNT_BY_HAND
from controller.table.phases import DEALING, IN_ROUND, SERVICE_WORDS, Phase, Service
from controller.table.round_summary import FACE_UP
from firmware_bridge.link import LinkState
from firmware_bridge.messages import ENDS, Message, message
from firmware_bridge.plain_text import whole_number

OUTCOME_STYLE = {"win": "bold green", "lose": "red", "tie": "yellow"}
LINK_STYLE = {"ready": "green", "stale": "yellow", "authenticating": "yellow", "connecting": "yellow"}
LINES = 8
BORDERS = 2  # lines of a frame
ROUND: Final = frozenset(phase.value for phase in IN_ROUND)
ENTRIES = 4  # the number of newest entries for correction
BESIDE: Final = ("first_card", "burnt", "aside", "dropped", "discards")  # piles other than stub, tray and hands
VOID_ASKED: Final = message("THE ROUND BECOMES VOID: repeat to confirm")


def render(view: TableView, lines: Sequence[str], height: int = 0, language: str = ENGLISH) -> RenderableType:
    """Return one screen. `lines` are the newest events as sentences, the last one last. `height` 0 means unlimited.

    `language` is that of the sentences of `view` and of `lines`.
    """
    return _Screen(shown(view), lines, height, Speaker(language))


class _Screen:
    """The table in as much detail as fits: details are dropped first, irregularities never."""

    def __init__(self, view: TableView, lines: Sequence[str], height: int, say: Speaker) -> None:
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
            yield Panel(tail, title=self._say(message("events")), height=count + BORDERS)
        elif tail:
            yield tail

    def _versions(self) -> list[list[RenderableType]]:
        """Return versions of the screen, each with less detail."""
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


def _head(view: TableView, say: Speaker) -> RenderableType:
    head = Text()
    if view.simulated:
        head.append(f" {say.keyed('bar.simulated')} ", "black on yellow")
        head.append(" ")
    head.append(f"{say(view.title)} · {say(message('table {table}', table=view.table))}", "bold")
    _standing(head, view, say)
    phase = say.keyed(f"phase.{view.phase}")
    head.append(f" · {say(message('round {number}', number=view.round))} · {phase}")
    if view.maintenance:
        head.append(f": {say(view.maintenance)}", "yellow")
    if view.dealer:
        head.append(f" · {say(message('dealt by {dealer}', dealer=view.dealer))}")
    if view.abandon_asked:
        head.append(f" · {say(message('VOID THE ROUND? repeat to confirm'))}", "bold red")
    for warning in view.warnings:
        head.append(f" · {say(warning)}", "yellow")
    return head


def _standing(head: Text, view: TableView, say: Speaker) -> None:
    """Say that play has stopped, early in the line, because its end may be cut off."""
    if view.service != "in_service":
        head.append(f" · {say(SERVICE_WORDS[Service(view.service)])}: {say(view.service_cause)}", "bold red")
    elif view.paused:
        head.append(f" · {say(message('paused: {reason}', reason=view.paused))}", "bold yellow")
    elif view.held:
        head.append(f" · {say(message('HELD'))}", "bold red")


def _layout(view: TableView, say: Speaker, *, framed: bool = True) -> RenderableType:
    grid = Table(expand=True, title=Text(_next(view, say, brief=not framed), "bold cyan"), title_justify="left")
    grid.box = grid.box if framed else None
    for title, share in ((message("place"), 2), (message("cards"), 3), (message("class"), 5), (message("outcome"), 3)):
        grid.add_column(say(title), ratio=share, no_wrap=True)
    hands, words = {hand.place: hand for hand in view.hands}, words_of(view.game)
    for place in (*(f"B{number}" for number in view.boxes), DEALER):
        hand = hands.get(place)
        style = "reverse" if place == view.next_place else "dim" if hand and hand.dead else ""
        name = say(words.of(place))
        void = view.phase == Phase.VOIDED
        grid.add_row(f"{name[:1].upper()}{name[1:]}", *_hand_cells(hand, say, void=void), style=style)
    return grid


def _next(view: TableView, say: Speaker, *, brief: bool) -> str:
    """Return the next step, then the progress of the deal. With `brief`, leave out the question that is shown below."""
    dealing = view.phase in DEALING and bool(view.to_deal)
    step = say(view.next_step)
    for found in view.irregularities[:1] if brief else ():
        step = step.replace(say(found.question), say(message("Decide {row} below.", row=found.row)))
    counted = view.deck.stub if view.phase in ROUND else None
    of_stub = dealing and (view.by_hand or view.deck.stub_out)
    parts = (
        message("next: {step}", step=step.rstrip("".join(ENDS))) if step else None,
        message("{dealt} of {due} dealt ({clause})", dealt=view.dealt, due=view.to_deal, clause=view.clause)
        if dealing
        else None,
        message("{count} in the tray", count=view.tray) if view.tray else None,
        message("{count} set aside", count=view.aside) if view.aside else None,
        message("First Card {card}", card=face(view.first_card)) if view.first_card else None,
        None if counted is None else message("stub: {count} counted", count=counted),
        message("dealt by hand, from the stub that was taken out") if of_stub else None,
    )
    return " · ".join(say(part) for part in parts if part is not None) or " "


def _cards(view: TableView, say: Speaker) -> list[RenderableType]:
    """Return where the cards are, if some are outside stub, tray and hands, or do not add up to 52."""
    lines: list[RenderableType] = []
    ledger = view.ledger
    if ledger is not None and (not ledger.whole or any(getattr(ledger, pile) for pile in BESIDE)):
        piles = {"stub": ledger.stub, "tray": ledger.tray, "dealt": ledger.hands + ledger.first_card}
        piles |= {pile: n for pile in BESIDE if pile != "first_card" and (n := getattr(ledger, pile))}
        device = say.keyed(f"device.{view.device.kind or 'device'}").lower()
        counted = [say.keyed(f"ledger.{pile}", n=n, device=device) for pile, n in piles.items()]
        line = message("cards: {cards} = {total}", cards=" · ".join(counted), total=ledger.total)
        lines.append(Text(say(line), "" if ledger.whole else "bold red"))
    if view.deck.deck and view.phase not in ROUND:
        lines.append(Text(_deck(view.deck, say), "bold red" if view.deck.quarantined else ""))
    if view.next_deck is not None:
        lines.append(Text(_waiting_deck(view.next_deck, say), "" if view.next_deck.fit else "bold red"))
    return lines


def _deck(deck: DeckView, say: Speaker) -> str:
    """Return the deck in the device between rounds, and whether a round may begin with it."""
    if deck.quarantined:
        stands = message("OUT OF USE: {reason}", reason=deck.quarantined)
    else:
        stands = message("dealt from" if deck.used else "shuffled" if deck.shuffled else "not shuffled yet")
    return say(message("deck: {deck} · {stands}", deck=deck.label or deck.deck, stands=stands))


def _entries(view: TableView, say: Speaker) -> list[RenderableType]:
    """List the newest entries that a supervisor may correct, with the numbers that a correction uses."""
    if not view.entries:
        return []
    newest = {_entry_words(one, say): one for one in view.entries}  # an operation that was entered twice is listed once
    last = sorted(newest.items(), key=lambda item: item[1].entry)[-ENTRIES:]
    listed = " · ".join(
        say(message("{entry} {said} ({person})", entry=one.entry, said=said, person=one.person)) for said, one in last
    )
    more = "… " if len(newest) > ENTRIES else ""
    return [Text(say(message("may be corrected: {listed}", listed=f"{more}{listed}")), "dim")]


def _entry_words(one: EntryView, say: Speaker) -> str:
    """Return an operation in a few words: its name, and the place, pile or kind that it is about."""
    kind, pile, place, number = (getattr(one.said, name, None) for name in ("kind", "pile", "place", "number"))
    about = (
        say(KINDS[Kind(kind)]) if kind else "",
        _named(say, pile or ""),
        _named(say, place or ""),
        "" if number is None else str(number),
    )
    return " ".join(filter(None, (say.keyed(f"op.{one.operation}"), *about)))


def _named(say: Speaker, what: str) -> str:
    """Return the name of a pile or a place, or "" if it is neither."""
    place = what == DEALER or whole_number(what[1:], 99) is not None
    return say(OwnWords().of(what)) if place else say.keyed(f"pile.{what}") if what else ""


def _waiting_deck(deck: WaitingDeckView, say: Speaker) -> str:
    stands = message("shuffled" if deck.shuffled else "not shuffled yet")
    if not deck.fit:
        stands = message("out of use, load another one")
    return say(message("next deck: {deck} · {stands}", deck=deck.label or deck.deck, stands=stands))


def _hand_cells(
    hand: HandView | None, say: Speaker, *, void: bool
) -> tuple[RenderableType, RenderableType, RenderableType]:
    """Return the cells of a hand. `void` means that the hands of the round no longer have an outcome."""
    if hand is None:
        return "", "", ""
    cards = Text(" ".join(map(face, hand.cards)).replace(FACE_UP, "[up]"))
    if hand.dead:
        return cards, say(message("out of play")), say(message("bets returned"))
    viewer = say(message("{viewer} looks", viewer=hand.viewer)) if hand.viewer else ""
    looks = say(message("the Dealer turns it over")) if hand.dealer_opens else viewer
    handled = say.keyed("stage.hand") if hand.handled else ""
    note = say(hand.class_name) or " · ".join(filter(None, (handled, looks)))
    if void or not hand.outcome:
        return cards, Text(note), ""
    outcome = say.keyed(f"stage.{'half' if hand.half else hand.outcome}")
    return cards, Text(note), Text(outcome, OUTCOME_STYLE.get(hand.outcome, ""))


def _device(view: TableView, say: Speaker) -> RenderableType:
    device = view.device
    line = Text(f"{say(message('device'))} ")
    line.append(say(LINKS[LinkState(device.link)]), LINK_STYLE.get(device.link, "bold red"))
    line.append(f" {device.serial}" if device.serial else "")
    age = message("no report yet")
    if device.age is not None:
        age = message("last report {age} s ago", age=f"{device.age:.1f}")
    line.append(f" · {say(age)} · {say(message('exit locked' if device.exit_held else 'exit open'))}")
    if device.stopped:
        line.append(f" · {say(message('stopped: {cause}', cause=device.stopped))}", "bold red")
    if device.code:
        line.append(f"\n{say(device.sentence)} {say(device.hint)}", "red")
    return line


def _irregularity(found: IrregularityView, words: OwnWords, say: Speaker) -> RenderableType:
    body = Text(f"{say(found.because)}\n")
    if found.place:
        body.append(say(message("at {place}; ", place=words.of(found.place))))
    proposal = FOLLOWS[Disposition(found.proposes)]
    if found.authority or found.clause:
        whose = found.authority or message("the clause")
        proposal = message("{whose} proposes: {follows}", whose=whose, follows=proposal)
    body.append(f"{say(proposal)}\n")
    body.append(f"{say(found.question)}\n", "cyan")
    for fact, asked in list(zip(found.asks, found.questions, strict=True))[1:]:
        if fact != COUNT_BY_HAND:
            body.append(f"{say(message('then: {asked}', asked=words.own(say(asked))))}\n", "cyan")
    body.append(_options(found, say), "bold")
    if found.moves:
        body.append(f"\n  {_moves(found, words, say)}", "cyan")
    if found.choices_due:
        places = tuple(words.of(place) for place in found.choices_due)
        due = tuple(f"{one.bettor} · {say(words.of(one.place))}" for one in found.bettors_due) or places
        body.append(f"   {say(message('still to choose: {due:list}', due=due))}")
    if found.void_asked:
        body.append(f"\n{say(VOID_ASKED)}", "bold red")
    return Panel(body, title=Text(_title(found, words, say).plain), border_style="red", title_align="left")


def _options(found: IrregularityView, say: Speaker) -> str:
    named = (say(OPTIONS.get(one, one)) for one in found.options)
    return say(message("options: {options}", options=" | ".join(named)))


def _title(found: IrregularityView, words: OwnWords, say: Speaker) -> Text:
    kind = say(words.own(KINDS[Kind(found.kind)]))
    return Text(" · ".join(filter(None, (found.row, kind, found.clause))), "bold red")


def _moves(found: IrregularityView, words: OwnWords, say: Speaker) -> str:
    """List the cards to be moved, in the order in which they left, grouped by their way; 0 means that the card is
    unknown.
    """
    ways: dict[tuple[str, str], list[int | Message]] = {}
    for move in found.moves:
        ways.setdefault((move.source, move.place), []).append(move.ordinal or message("one card"))
    return "; ".join(
        say(
            message(
                "move {cards:list} from {source} to {place}",
                cards=tuple(cards),
                source=_place_named(source, words, say),
                place=_place_named(place, words, say),
            )
        )
        for (source, place), cards in ways.items()
    )


def _place_named(place: str, words: OwnWords, say: Speaker) -> Message | str:
    if place == DEALER or whole_number(place[1:], 99) is not None:
        return words.of(place)
    return say.keyed(f"pile.{place}")


def _short(found: IrregularityView, words: OwnWords, say: Speaker) -> RenderableType:
    """Return what the irregularity is, what is asked and who may answer, without the reasons."""
    body = _title(found, words, say)
    at = f" · {say(words.of(found.place))}" if found.place else ""
    who = say.keyed(f"role.{found.who.replace(' ', '_')}")
    body.append(f"{at} · {say(message('{who} or above', who=who))}\n", "red")
    body.append(f"  {say(found.question)}\n", "cyan")
    if found.moves:
        body.append(f"  {_moves(found, words, say)}\n", "cyan")
    body.append(f"  {_options(found, say)}", "bold")
    if found.void_asked:
        body.append(f"\n  {say(VOID_ASKED)}", "bold red")
    return body
