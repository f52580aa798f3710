"""Describes each event in a line, for people who follow a table without a screen.

A line is a message: a text whose arguments are the event's fields, or a function that makes it. An event without a line
is only named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from controller.games import GAMES
from controller.games.own_words import PLAYER, OwnWords
from controller.games.specification import FACT_QUESTIONS, KINDS, Disposition, Kind
from controller.roles import Role
from controller.table.events import DISPENSED_OF_NEXT
from controller.table.model import ASIDE, CORRECTED, DECK, DEVICE_WORDS, STUB
from controller.table.permissions import PERMISSIONS
from controller.table.phases import SERVICE_WORDS, Service
from controller.table.stop_causes import in_words
from firmware_bridge.messages import SLOT, AnyText, Argument, Message, counted, message, sentences
from firmware_bridge.plain_text import with_plain_texts

USUAL: Final = OwnWords()  # without a named game
LONGEST_SHOWN: Final = 1000  # characters of one text; the program's own sentences are shorter

MESSAGE_FIELDS: Final = frozenset(Message.__struct_fields__)
PLACE: Final = re.compile(r"B[1-9][0-9]?|D")
PLACE_FIELDS: Final = frozenset({"pile", "place", "places", "source"})

ENDS: Final = {
    "continue": message("play goes on"),
    "denied": message("a false report"),
    "name_order": message("the order is set"),
    "next_card": message("the card counts as the one that was due"),
    "options": message("every bettor has chosen"),
    "overtaken": message("nothing is left to decide"),
    "reconstruct": message("the cards are corrected"),
    "refuse": message(
        'the bets stay as they were at "No more bets": return what was added and put back what was removed'
    ),
    "remove_hand": message("the hand is removed"),
    "reshuffle": message("the deck is shuffled again"),
    "return_bet": message("the bet is returned"),
    "ruling": message("by a ruling"),
    "stands": message("the results stand"),
    "void": message("the round is void"),
    "withdrawals": message("every bettor has chosen"),
}
"""The ends of an irregularity."""

OUTCOMES: Final = {"win": message("WON"), "lose": message("LOST"), "tie": message("TIE")}
"""The results of a hand against the Dealer's, as on the screen."""

NOTED: Final = {
    "self_test_finished": message("self-test"),
    "tampered": message("tampered with"),
    "doubt": message("in doubt"),
}
"""A device's notes that people wait for or must look into."""

SIGNED_OFF: Final = {
    "locked": message("the screen was locked"),
    "handed_over": message("another dealer deals"),
    "off_duty": message("off duty"),
}
"""Reasons for the end of a dealer's sign-on at a screen."""

AT_THE_DOOR: Final = {
    "accept-failed": message("a connection that could not be accepted"),
    "connections": message("too many connections"),
    "content-type": message("a request that is not JSON"),
    "display": message("a request from a display-only screen"),
    "header": message("a request without the header X-Cardshoe"),
    "host": message("a request for another host name"),
    "not-admitted": message("a user who is not admitted"),
    "not-enrolled": message("an operation from a screen that is not enrolled"),
    "not-signed-on": message("an operation from a screen without a dealer signed on"),
    "origin": message("a request from another site's page"),
    "person": message("an unknown person"),
    "pin": message("an operation without the correct PIN"),
    "reader": message("an operation by a user who may only read"),
    "refused-often": message("operations that were refused too often"),
    "role": message("an operation by a person whose rank is too low"),
    "streams": message("too many streams"),
}
"""Refusals before the table, by code."""

DIFFERS: Final = {
    "shuffle": message("the shuffle's number"),
    "dispensed": message("the number of cards that left the device"),
    "tray": message("the number of cards in the tray"),
    DISPENSED_OF_NEXT: message("the number of cards that left the next deck"),
}

PILES: Final = {
    STUB: message("stub"),
    DECK: message("whole deck"),
    ASIDE: message("set-aside cards"),
    "burnt": message("burnt cards"),
    "dropped": message("dropped cards"),
    "discards": message("discards"),
    "tray": message("tray"),
}
"""Names of counted piles, besides hands."""

NOTICED_BY: Final = {"device": message("the device"), "inference": message("inference")}
"""Who notices an irregularity, besides people."""

VERDICTS: Final = {
    "won": message("won"),
    "lost": message("lost"),
    "returned": message("returned"),
    "held": message("held for a ruling"),
}
"""Verdicts about bets."""

CHOICES: Final = {"continue": message("continue"), "withdraw": message("withdraw")}

RULED: Final = {
    "void": message("void the round"),
    "continue": message("play goes on"),
    "reconstruct": message("correct the cards"),
    "remove_hands": message("remove hands"),
    "return_bets": message("return bets"),
    "name_order": message("set the order"),
}
"""Phrases for the actions of a ruling."""

PHRASES: Final = {str(kind.__struct_config__.tag): row.phrase for kind, row in PERMISSIONS.items()}
"""Phrases for what people do, by the operation's tag."""

ONLY_FOR_MACHINES: Final = frozenset(
    {
        "reports_passed",
        "report_taken",
        "card_to_turn_down",  # the screen draws the move if the hand is still in play; `cards_turned_down` is shown
        "clock_ran_backwards",  # its consequences are shown
        "command_issued",
        "command_done",
        "command_lapsed",
        "set_in_tray",  # the screen shows how many cards lie at the place
    }
)
"""Events that are not shown."""


class Cases(NamedTuple):
    """A line that depends on fields of the event: the first message whose field is set, else `otherwise`."""

    fields: Mapping[str, Message]
    otherwise: Message | None = None

    def of(self, event: Event) -> Message | None:
        return next((said for field, said in self.fields.items() if event.get(field)), self.otherwise)


Event: TypeAlias = dict[str, Any]
Line: TypeAlias = Message | Cases | Callable[[Event], Message | None]
LineOfPlaces: TypeAlias = Callable[[Event, OwnWords], Message | None]


def _as_written(name: str) -> Message:
    """Return a name from the journal unchanged, because another version wrote it and this version does not have words
    for it.
    """
    return message("{name}", name=name.replace("_", " ").replace("-", " "))


def _under(said: Message, clause: str) -> Message:
    """Return the text with its clause appended. The clause is empty if the document is silent."""
    return message("{said} ({clause})", said=said, clause=clause) if clause else said


def _because(said: Message, note: str | Message) -> Message:
    return message("{said}: {note}", said=said, note=note) if note else said


def _for_next(said: Message, event: Event) -> Message:
    return message("{said}, for the next round", said=said) if event.get("waiting") else said


def _listed(parts: Iterable[Argument]) -> Message:
    return Message("{parts:list}", {"parts": tuple(dict.fromkeys(parts))})  # type: ignore[arg-type]  # no tuple in it


def _clauses(parts: Iterable[Message]) -> Message:
    return Message("{parts:clauses}", {"parts": tuple(parts)})


def with_messages(value: Any) -> Any:
    """Return a value of an event with its messages, which the journal has as objects."""
    if isinstance(value, dict):
        if isinstance(value.get("id"), str) and value.keys() <= MESSAGE_FIELDS:
            return msgspec.convert(value, Message)
        return {key: with_messages(one) for key, one in value.items()}
    return [with_messages(one) for one in value] if isinstance(value, list) else value


def _sentence(said: AnyText) -> Message:
    """Return a sentence of the journal: a message, or English in an older entry."""
    return said if isinstance(said, Message) else Message("{sentence}", {"sentence": said})


# -- cards


def _many(event: Event) -> Message:
    return counted("a card", "{count} cards", len(event["cards"]))


def _dealt(event: Event) -> Message:
    """Return the line for dealt cards: those set aside are moved now, others were just dealt."""
    places = _listed(event["places"])
    if event["source"] == ASIDE:
        return counted(
            "move 1 set-aside card to {places}",
            "move {count} set-aside cards to {places}",
            len(event["cards"]),
            places=places,
        )
    return message("{cards} to {places}", cards=_many(event), places=places)


def _ordered(event: Event) -> Message:
    """Return the cards as people count them: the first of those that came together is card 1."""
    ordinals = event["ordinals"]
    named = _listed(sorted(ordinals).index(one) + 1 for one in ordinals)
    return _because(message("order set"), named if ordinals else "")


def _ways(event: Event) -> dict[tuple[Message, Message], list[int]]:
    """Return the numbers of the cards for each way, from one place to another."""
    together: dict[tuple[Message, Message], list[int]] = {}
    for card in event["cards"]:
        way = (PILES.get(card["source"]) or card["source"], PILES.get(card["place"]) or card["place"])
        together.setdefault(way, []).append(card["ordinal"])
    return together


def _found_elsewhere(event: Event) -> Message:
    """Return the cards by their numbers, in one phrase if they went the same way."""
    return _clauses(
        counted(
            "card {numbers:list} is at {place}, not at {source}",
            "cards {numbers:list} are at {place}, not at {source}",
            len(numbers),
            numbers=tuple(numbers),
            place=place,
            source=source,
        )
        for (source, place), numbers in _ways(event).items()
    )


def _moved(event: Event) -> Message:
    """Return the cards by their numbers, in one phrase if they went the same way."""
    return _clauses(
        counted(
            "card {numbers:list} from {source} to {place}",
            "cards {numbers:list} from {source} to {place}",
            len(numbers),
            numbers=tuple(numbers),
            place=place,
            source=source,
        )
        for (source, place), numbers in _ways(event).items()
    )


def _moved_hands(event: Event) -> Message:
    """Return hands by how many cards they have, since the people who move them do not know the cards' numbers."""
    return _clauses(
        counted(
            "1 card from {source} to {place}",
            "{count} cards from {source} to {place}",
            len(numbers),
            source=source,
            place=place,
        )
        for (source, place), numbers in _ways(event).items()
    )


def _reconstructed(event: Event) -> Message:
    whole = event["whole_hands"]
    said = _under(message("hands were corrected") if whole else message("cards were corrected"), event["clause"])
    if event["cards"]:
        said = _because(said, _moved_hands(event) if whole else _moved(event))
    back = event["taken_back"]
    if back <= 0:
        return said
    taken = counted(
        "1 excess card removed from {place}",
        "{count} excess cards removed from {place}",
        back,
        place=event["place"],
    )
    return _because(said, taken)


def _recalled(event: Event) -> Message:
    which = message("the cards of {place}", place=event["place"]) if event["place"] else message("all cards")
    said = message("{by} recalls {which} from round {round}", by=event["by"], which=which, round=event["of_round"])
    return _because(said, event["reason"])


def _witness(event: Event) -> Argument:
    """Return the configured person, or the name of a witness who is not configured."""
    named = event.get("witness_id")
    return str(named) if named else message("{name} (not in the configuration)", name=event["witness"])


def _pile(event: Event) -> Message:
    """Return what was counted: a pile, or a hand by the name of its place."""
    pile = event["pile"]
    return pile if isinstance(pile, Message) else PILES.get(pile) or _as_written(pile)


def _count_taken_back(event: Event) -> Message:
    pile = _pile(event)
    if event["pile"] == STUB and event["account"]["stub"] is None:
        return message("the count is withdrawn ({pile}); count again", pile=pile)
    return message("the count is withdrawn ({pile})", pile=pile)


# -- decks and the device


def _named(event: Event) -> Message:
    if event["deck"]:
        return message("deck {deck}", deck=event["deck"])
    return _for_next(message("the deck in the device"), event)


def _shuffle_failed(event: Event) -> Message:
    deck = _for_next(message("deck {deck}", deck=event["deck"]), event)
    return message("shuffle {deck} again before dealing from it", deck=deck)


def _ready(event: Event) -> Message:
    serial, kind = event["identity"]["serial"], DEVICE_WORDS[event["identity"]["kind"]]
    if event.get("unfit"):
        return message("device {serial} is connected ({kind})", serial=serial, kind=kind)
    return message("device {serial} is ready ({kind})", serial=serial, kind=kind)


def _another_device(event: Event) -> Message:
    if event["what"] == "serial":
        return message("the device has changed from {before} to {now}", now=event["now"], before=event["before"])
    now = event["now"][:16] or message("no digest")
    return message("the firmware has changed from {before} to {now}", now=now, before=event["before"][:16])


def _lost(event: Event) -> Message:
    """Return the line for an ended link, which was not lost if a person asked to reopen it."""
    said = _sentence(event["sentence"])
    return said if event["code"] == "returned-to-service" else message("device lost: {cause}", cause=said)


def _differs(event: Event) -> Message:
    what = DIFFERS.get(event["what"], _as_written(event["what"]))
    return message(
        "{what} differs: {device} in the device, {journal} in the journal",
        what=what, device=event["device"], journal=event["journal"],
    )  # fmt: skip


def _noted(event: Event) -> Message | None:
    """Return the line of a note that people wait for or have to look into; other notes are only for the journal."""
    named = NOTED.get(event["what"])
    return named and message("device: {what}: {detail}", what=named, detail=event["detail"])


def _noted_in_maintenance(event: Event, words: OwnWords) -> Message:
    what = words.own(KINDS[Kind(event["kind"])])
    return _because(message("noted during maintenance: {kind}", kind=what), event["note"])


# -- the table and its people


def _game(event: Event) -> Message:
    said = message("game: {title}", title=_title(event))
    if event["version"]:
        said = message("{said}, version {version}", said=said, version=event["version"])
    return message("{said}, dated {date}", said=said, date=event["effective"]) if event["effective"] else said


def _title(event: Event) -> AnyText:
    """Return the title of the game, which another version or an older entry may have as any text."""
    game = GAMES.get(event["settings"]["game"]) if event.get("settings") else None
    return game.title if game is not None and str(game.title) == event["title"] else str(event["title"])


def _deferred(event: Event) -> Message:
    settings = event["settings"]
    if not settings:
        return message("the game's settings stay as they are")
    said = message("the game's settings change with the next round")
    return _because(said, GAMES[settings["game"]].title if settings["game"] in GAMES else "")


def _service(event: Event) -> Message:
    cause = _sentence(event["cause"])
    return message("table {service}: {cause}", service=SERVICE_WORDS[Service(event["service"])], cause=cause)


def _configuration(event: Event) -> Message:
    """Return people with their uids, and the device: what an auditor compares first."""
    found = event["configuration"]
    people = tuple(
        message("{person} ({role})", person=one["id"], role=Role(one["role"]).named) for one in found["people"]
    )
    return message(
        "version {version}; device {url}; people: {people:list}",
        version=found["program"], url=found["device"]["url"], people=people or message("none"),
    )  # fmt: skip


def _signed_off(event: Event) -> Message:
    why = SIGNED_OFF.get(event["why"]) or str(event["why"])
    return message(
        "{dealer} signed off at screen {screen}: {why}", dealer=event["dealer"], screen=event["screen"], why=why
    )


def _handed_over(event: Event) -> Message:
    still = tuple(event["open"]) or message("nothing")
    if not event["from_dealer"]:
        return message("{dealer} takes over the table; open: {open:list}", dealer=event["to_dealer"], open=still)
    return message(
        "{dealer} takes over the table from {from_dealer}; open: {open:list}",
        dealer=event["to_dealer"], from_dealer=event["from_dealer"], open=still,
    )  # fmt: skip


def _of_user(said: Message, event: Event) -> Message:
    if event.get("screen"):
        return message("{said} at screen {screen}", said=said, screen=event["screen"])
    return said if event["uid"] is None else message("{said} by user {uid}", said=said, uid=event["uid"])


def _pin_refused(event: Event) -> Message:
    said = _of_user(message("wrong PIN for {person}", person=event["person"]), event)
    return message("{said}; no PIN is accepted there for now", said=said) if event["locked_until_utc_ns"] else said


def _at_door(event: Event) -> Message:
    what = AT_THE_DOOR.get(event["what"], _as_written(event["what"]))
    said = _of_user(message("access refused: {what}", what=what), event)
    return message("{said}, {count} times", said=said, count=event["count"]) if event["count"] > 1 else said


# -- the round


def _phase(event: Event) -> Message | None:
    if event.get("returns_bets"):
        return message("the round does not start; return all bets")
    return _concluded(event) if event["phase"] == "concluded" else None


def _concluded(event: Event) -> Message:
    """Return the line for the end of a round, with the clauses by which a later error still changes the result."""
    number, clauses = event["round"], event.get("errors_count")
    if clauses is None:
        return message("round {number} concluded", number=number)
    if not clauses:
        return message("round {number} concluded; the result is final", number=number)
    return message(
        'round {number} concluded; errors found before "Place your bets" may still change the result ({clauses:list})',
        number=number, clauses=tuple(clauses),
    )  # fmt: skip


def _operation(event: Event) -> Message | None:
    return message("no more bets") if event["operation"] == "no_more_bets" else None


def _judged(event: Event) -> Message:
    said = message(
        "{place}: {outcome}, {hand} against {dealer_hand}",
        place=event["place"], outcome=OUTCOMES[event["outcome"]], hand=event["hand"],
        dealer_hand=event["dealer_hand"],
    )  # fmt: skip
    return message("{said}, pays half", said=said) if event["half"] else said


def _judged_again(event: Event) -> Message | None:
    places = event["places"]
    return message("the results of {places} are decided again", places=_listed(places)) if places else None


def _turned_down(event: Event) -> Message:
    places = tuple(dict.fromkeys(place for place, *_ in event["cards"] if place))
    if not places:
        return message("the exposed card is face down")
    return message("cards were turned face down at {places:list}", places=places)


def _voided(event: Event) -> Message:
    by = _under(message("ROUND VOID"), event["clause"] or event["authority"])
    return message("{void}: {text}; return all bets", void=by, text=event["text"])


def _void_asked(event: Event) -> Message:
    said = _because(_under(message("this makes the round void"), event["clause"]), event["because"])
    return message("{said}; repeat to confirm", said=said)


def _entered(event: Event, words: OwnWords) -> Message:
    if event["seat"] is None:
        return message("{bettor} joins the table, standing", bettor=event["bettor"])
    return message("{bettor} joins the table at {box}", bettor=event["bettor"], box=words.box(event["seat"]))


def _boxes(event: Event, words: OwnWords) -> Message:
    numbers = tuple(event["boxes"])
    if words.place == PLAYER:
        return message("Players in play: {numbers:list}", numbers=numbers)
    return message("boxes in play: {numbers:list}", numbers=numbers)


def _laid(event: Event) -> Message:
    """Return how many bets are on the layout, and what was handed back; the event itself has the whole layout."""
    bets = event["bets"]
    said = counted(
        "1 bet on the layout, {amount} in total",
        "{count} bets on the layout, {amount} in total",
        len(bets),
        amount=sum(bet["amount"] for bet in bets),
    )
    back = [
        _under(message("{amount} returned to {bettor}", amount=one["amount"], bettor=one["bettor"]), one["clause"])
        for one in event["handed_back"]
    ]
    return _clauses([said, *back])


def _restricted(event: Event, words: OwnWords) -> Message:
    listed = [
        *(message("{spot} is closed to bets", spot=words.spot(box)) for box in event["closed_boxes"]),
        *(
            message("{spot} accepts at most {most} wagers", spot=words.spot(box), most=most)
            for box, most in event["fewer_wagers"]
        ),
        *(
            message(
                "{bettor} bets on one Player only" if words.place == PLAYER else "{bettor} bets on one box only",
                bettor=bettor,
            )
            for bettor in event["one_box"]
        ),
    ]
    if not listed:
        return message("the restrictions on betting are lifted")
    return message("restricted: {listed}", listed=_clauses(listed))


def _settled(event: Event) -> Message:
    verdicts = Counter(bet["verdict"] for bet in event["bets"])
    listed = tuple(
        message("{count} {verdict}", count=count, verdict=VERDICTS[verdict])
        for verdict, count in sorted(verdicts.items())
    )
    return message(
        "wagers settled: {listed:list}; house result: {house}",
        listed=listed or message("none"), house=event["house"],
    )  # fmt: skip


# -- irregularities


def _row(row: Mapping[str, Any]) -> Message:
    return _under(_sentence(row["because"]), row["clause"])


def _asked(asks: list[str], words: OwnWords) -> Message | None:
    if not asks:
        return None
    questions = sentences(*(words.own(FACT_QUESTIONS[name]) for name in asks))
    return message("To answer: {questions}", questions=questions)


def _raised(event: Event, words: OwnWords) -> Message:
    """Return the line of a raised irregularity: only its kind while a question is open, as its row is not known yet."""
    row, asks = event["row"], event["asks"]
    what = words.own(KINDS[Kind(event["kind"])])
    if not asks:
        what = _because(what, _row(row)) if row["disposition"] in (Disposition.REFER, Disposition.SILENT) else _row(row)
    if event["place"]:
        said = message("irregularity at {place}: {what}", place=event["place"], what=what)
    else:
        said = message("irregularity: {what}", what=what)
    if event["noticed_by"]:
        noticed_by = NOTICED_BY.get(event["noticed_by"]) or event["noticed_by"]
        said = message("{said}, noticed by {noticed_by}", said=said, noticed_by=noticed_by)
    if event["note"]:
        said = message("{said}; {note}", said=said, note=event["note"])
    asked = _asked(asks, words)
    return said if asked is None else Message("{parts:points}", {"parts": (said, asked)})


def _answered(said: Message, event: Event, words: OwnWords) -> Message:
    asked = _asked(event["asks"], words)
    if asked is not None:
        return Message("{parts:points}", {"parts": (said, asked)})
    return _because(said, _row(event["row"]))


def _joined(event: Event) -> Message:
    return _because(message("{by} reports a matter that is already open", by=event["by"]), event["note"])


def _ruled(event: Event) -> Message:
    action = RULED.get(event["action"], _as_written(event["action"]))
    if named := event["places"] or event["ordinals"] or event["bets"]:
        action = message("{action} ({named})", action=action, named=_listed(named))
    said = message("ruling: {action}, by {authority}", action=action, authority=event["authority"])
    return message("{said}: {text}", said=said, text=event["text"])


def _chosen(event: Event) -> Message:
    who: Argument = event["place"]
    if event["bettor"]:
        who = message("{bettor} at {place}", bettor=event["bettor"], place=event["place"])
    if event["absent"]:
        return _under(message("{who} is away: the bets stand", who=who), event["clause"])
    return _under(message("{who} chooses to {choice}", who=who, choice=CHOICES[event["choice"]]), event["clause"])


def _resolved(event: Event) -> Message:
    if event["outcome"] == CORRECTED:
        return message("withdrawn by {by}: the entry behind it was wrong", by=event["by"])
    ended = _under(ENDS.get(event["outcome"], _as_written(event["outcome"])), event["clause"])
    return message("resolved: {outcome}, by {by}", outcome=ended, by=event["by"])


def _corrected(event: Event) -> Message:
    tag = event["was"]["operation"]
    what = PHRASES.get(tag, _as_written(tag))
    if not event["reason"]:  # `count_again` asks for none
        return message(
            "entry {entry} ({what}) is counted again by {by}", entry=event["corrected"], what=what, by=event["by"]
        )
    return message(
        "entry {entry} ({what}) is struck out by {by}: {reason}"
        if event["instead"] is None
        else "entry {entry} ({what}) is corrected by {by}: {reason}",
        entry=event["corrected"],
        what=what,
        by=event["by"],
        reason=event["reason"],
    )


def _handled(event: Event) -> Message:
    place = event["place"]
    if not event["viewed"]:
        return message("the cards of {place} are handled", place=place)
    return message(
        "{bettor} looks at the cards of {place}", bettor=event["bettor"] or message("the player"), place=place
    )


ARGUMENTS: Final[dict[str, Callable[[Event], Argument]]] = {
    "bets_count": lambda event: len(event["bets"]),
    "cause_named": lambda event: in_words(event["cause"]),
    "causes_named": lambda event: tuple(map(in_words, event["causes"])),
    "files_named": lambda event: tuple(one["name"] for one in event["files"]),
    "first_place": lambda event: event["places"][0],
    "many_cards": _many,
    "named_deck": _named,
    "pile_named": _pile,
    "places_listed": lambda event: _listed(event["places"]),
    "reason_named": lambda event: in_words(event["reason"]),
    "seal_named": lambda event: event["seal"] or message("none"),
    "seen_cards": lambda event: " ".join(event["cards"]) or message("no card"),
    "spoken": lambda event: _sentence(event["sentence"]),
    "witnessed_by": _witness,
}
"""Arguments of lines that are not fields of their event, by slot."""

WITH_CLAUSE: Final = frozenset(
    {"bettor_withdrew", "deal_began", "first_card_shown", "hand_removed", "order_corrected", "settlement_reversed"}
)
"""Events whose line ends with their clause."""

OF_NEXT_DECK: Final = frozenset({"deck_named", "deck_shuffled", "shuffle_began"})
"""Events that may concern the deck of the next round, which their line says."""

LINES: Final[dict[str, Line]] = {
    "abandon_asked": message("{person} asks to void the round: {text}; repeat to confirm"),
    "all_chosen": message("every bettor has chosen; move the cards before play continues"),
    "bettor_left": message("{bettor} leaves"),
    "card_found_face_up": message("card {ordinal} lies face up in the device"),
    "cards_burnt": message("{many_cards} burnt"),
    "cards_counted": message("{by} counted {number} cards ({pile_named}), {due} expected; witness: {witnessed_by}"),
    "cards_dealt": _dealt,
    "cards_found_elsewhere": _found_elsewhere,
    "cards_handled": _handled,
    "cards_recalled": _recalled,
    "cards_reconstructed": _reconstructed,
    "cards_set_aside": message("set {many_cards} aside: {because}"),
    "cards_strayed": message("{many_cards} from deck {deck}, which is not in play this round"),
    "cards_turned_down": _turned_down,
    "chips_paid": Cases({"returned": message("all bets are returned")}, message("chips are paid")),
    "closing_taken_back": Cases(
        {
            "returned": message("the bets are returned after all"),
            "chips": message("the round is settled again"),
        },
        message("the round is open again"),
    ),
    "command_refused": message("the device refused a command: {reason_named}"),
    "command_unanswered": message("the device did not answer a command"),
    "conclusion_asked": message("the end of the round was requested; repeat to confirm"),
    "configuration_recorded": _configuration,
    "count_taken_back": _count_taken_back,
    "deal_began": message("dealing starts at {first_place}"),
    "dealer_came": message("{dealer} deals from now on"),
    "dealer_left": message("{dealer} leaves the table; no dealer is on duty"),
    "dealt_by_hand": message("dealt by hand from now on: {because}"),
    "deck_arrived": Cases({"waiting": message("deck {deck} waits for the next round")}),
    "deck_brought": message(
        "deck {deck} is brought to the table: back {back}, seal {seal_named}, {count} cards counted by {by} and "
        "{witnessed_by}"
    ),
    "deck_comes_into_play": message("the waiting deck is in play"),
    "deck_counted_whole": message("the deck is complete, counted by {by}"),
    "deck_cut": message("the deck was cut by {by}"),
    "deck_named": message("deck {deck} is in the device"),
    "deck_quarantined": message("{named_deck} is OUT OF USE: {reason}"),
    "deck_released": message("{named_deck} may be used again: {reason}; witness: {witnessed_by}"),
    "deck_shuffled": message("deck {deck} shuffled, {count} cards, by {by}"),
    "deck_shuffled_outside": message("deck {deck} shuffled outside the device by {by}"),
    "deck_taken_out": message("deck {deck} leaves the table with {count} cards: {reason}; witness: {witnessed_by}"),
    "device_differs": _another_device,
    "device_freed": message("device freed: {cause_named}"),
    "device_lost": _lost,
    "device_noted": _noted,
    "device_ready": _ready,
    "device_stopped": message("device stopped: {cause_named}"),
    "device_took_back": message("the device reports as cleared: {causes_named:clauses}"),
    "door_refused": _at_door,
    "entry_corrected": _corrected,
    "faces_named": message("{by} saw {seen_cards} at {place}"),
    "exit_differs": message("the device's exit is not as ordered"),
    "files_deleted": message("journal files deleted because of their age: {files_named:list}"),
    "first_card_drawn": message("the First Card leaves the device"),
    "first_card_shown": message("the First Card is {card}"),
    "game_chosen": _game,
    "hand_counted": message("{place} has {count} cards"),
    "hand_exposed": message("{place} shows {seen_cards}"),
    "hand_judged": _judged,
    "hand_removed": message("{place} is out of play; its bets are returned"),
    "hand_taken_back": message("enter the cards of {place} again"),
    "handed_over": _handed_over,
    "handling_corrected": Cases(
        {
            "viewed": message("correction: the cards of {place} were looked at"),
            "handled": message("correction: the cards of {place} were handled, not looked at"),
        },
        message("correction: the cards of {place} were not handled"),
    ),
    "hands_examined": message("the players have examined their cards (entered by {by})"),
    "irregularity_confirmed": lambda event: _because(message("confirmed"), _row(event["row"])),
    "irregularity_resolved": _resolved,
    "journal_doubted": message("the journal integrity check failed: {spoken}"),
    "judgement_taken_back": _judged_again,
    "layout_changed": _laid,
    "layout_corrected": message("{by} corrects the bets: {reason}"),
    "maintenance_began": message("maintenance: {reason}"),
    "maintenance_ended": message("maintenance is over; load, shuffle and count the deck"),
    "operation_refused": message("refused: {spoken}"),
    "operation_taken": _operation,
    "option_chosen": _chosen,
    "order_corrected": message("the order of the deal is {places_listed}"),
    "order_named": _ordered,
    "phase_entered": _phase,
    "pin_accepted": message("{person} enters the correct PIN after wrong ones"),
    "pin_refused": _pin_refused,
    "report_joined": _joined,
    "round_began": message("round {round} begins"),
    "round_voided": _voided,
    "ruled": _ruled,
    "screen_enrolled": message("screen enrolled: {name}"),
    "screen_removed": message("screen {screen} removed"),
    "service_changed": _service,
    "settings_deferred": _deferred,
    "settlement_reversed": message("settlement reversed for {bets_count} bets"),
    "shuffle_began": message("deck {deck} is being shuffled"),
    "shuffle_failed": _shuffle_failed,
    "signed_off": _signed_off,
    "signed_on": message("{dealer} signed on at screen {screen}"),
    "start_taken_back": message("round {taken_back} did not start; errors in round {open_again} may still be reported"),
    "status_agrees": Cases(
        {"stub_out": message("the device holds the next deck; the rest of this round's deck was removed from it")}
    ),
    "status_differs": _differs,
    "stub_counted": message("stub: {count} cards, {due} expected"),
    "table_began": Cases({"simulated": message("table {table} started (SIMULATED)")}, message("table {table} started")),
    "table_paused": message("paused: {reason}"),
    "table_resumed": message("table resumed"),
    "void_asked": _void_asked,
    "void_lifted": Cases(
        {"returned": message("the void is withdrawn; put the bets back")}, message("the void is withdrawn")
    ),
    "wagers_settled": _settled,
}

LINES_OF_PLACES: Final[dict[str, LineOfPlaces]] = {
    "betting_restricted": _restricted,
    "bettor_entered": _entered,
    "bettor_withdrew": lambda event, words: message(
        "{bettor} takes back all bets on {box}", bettor=event["bettor"], box=words.box(event["box"])
    ),
    "boxes_occupied": _boxes,
    "fact_stated": lambda event, words: _answered(message("answered"), event, words),
    "irregularity_raised": _raised,
    "irregularity_reopened": lambda event, words: _answered(message("to be decided again"), event, words),
    "maintenance_noted": _noted_in_maintenance,
}
"""Lines in the words of the game."""


def tell(event: Event, words: OwnWords = USUAL) -> str | None:
    """Return the line of an event in English, or None if it is not shown. `words`: those of the game in play."""
    said = line_of(event, words)
    return None if said is None else str(said)


def line_of(event: Event, words: OwnWords = USUAL) -> Message | None:
    """Return the line of an event, or None if it is not shown. `words`: those of the game in play."""
    event = with_plain_texts(event, LONGEST_SHOWN)
    try:
        return _line(with_messages(event), words)
    except (KeyError, TypeError, ValueError):  # a daemon of another version has other fields
        return _as_written(str(event["event"]))


def _line(event: Event, words: OwnWords) -> Message | None:
    name = str(event["event"])
    if name in ONLY_FOR_MACHINES:
        return None
    named = _with_places_named(event, words)
    line = LINES.get(name)
    if isinstance(line, Cases) and (line := line.of(event)) is None:
        return None
    if of_places := LINES_OF_PLACES.get(name):
        said = of_places(named, words)
    elif isinstance(line, Message):
        said = replace(line, args={slot: _argument(named, slot) for slot, _ in SLOT.findall(line.id)})
    else:
        said = _as_written(name) if line is None else line(named)
    if said is not None and name in WITH_CLAUSE:
        return _under(said, event["clause"])
    return _for_next(said, event) if said is not None and name in OF_NEXT_DECK else said


def _argument(event: Event, slot: str) -> Argument:
    value = ARGUMENTS[slot](event) if slot in ARGUMENTS else event[slot]
    return tuple(value) if isinstance(value, list) else value


def _with_places_named(event: Event, words: OwnWords) -> Event:
    """Return the event with its places, and those of its cards, in the words of the game."""
    named = {key: _place_named(value, words) if key in PLACE_FIELDS else value for key, value in event.items()}
    cards = event.get("cards")
    if isinstance(cards, list) and cards and isinstance(cards[0], dict):
        named["cards"] = [_with_places_named(card, words) for card in cards]
    elif isinstance(cards, list) and cards and isinstance(cards[0], list):
        named["cards"] = _place_named(cards, words)
    return named


def _place_named(value: Any, words: OwnWords) -> Any:
    if isinstance(value, list):
        return [_place_named(one, words) for one in value]
    return words.of(value) if isinstance(value, str) and PLACE.fullmatch(value) else value
