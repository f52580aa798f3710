"""Events as lines for people who follow a table without a screen.

An event without a line of its own is shown by its name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import msgspec

from controller.api.door_lines import at_door, pin_refused
from controller.api.narration_words import ENDS, NOTED, ONLY_FOR_MACHINES, OUTCOMES, SIGNED_OFF, concluded
from controller.games import GAMES
from controller.games.kind_words import KINDS
from controller.games.own_words import OwnWords
from controller.games.specification import FACT_QUESTIONS, Disposition, Kind
from controller.messages import Message
from controller.table.events import DISPENSED_OF_NEXT
from controller.table.model import CORRECTED, STUB
from firmware_bridge.plain_text import with_plain_texts


def _sentence(said: Any) -> str:
    return str(msgspec.convert(said, str | Message))


USUAL: Final = OwnWords()  # without a named game
LONGEST_SHOWN: Final = 1000  # characters of one text; the program's own sentences are shorter

PLACE: Final = re.compile(r"B[1-9][0-9]?|D")
PLACE_FIELDS: Final = frozenset({"place", "places", "source"})

Line = Callable[[dict[str, Any]], str | None]
LineOfPlaces = Callable[[dict[str, Any], OwnWords], str | None]


def _cards(event: dict[str, Any]) -> str:
    return " ".join(event["cards"])


def _many(event: dict[str, Any]) -> str:
    count = len(event["cards"])
    return "a card" if count == 1 else f"{count} cards"


def _dealt(event: dict[str, Any]) -> str:
    """Tell of dealt cards: cards set aside are to be moved now; others the dealer has just dealt."""
    places = _listed(event["places"])
    return (
        f"move {_many(event)} from aside to {places}" if event["source"] == "aside" else f"{_many(event)} to {places}"
    )


def _ordered(event: dict[str, Any]) -> str:
    """Tell the order by the cards' places among those that came together; the first is card 1."""
    ordinals = event["ordinals"]
    return "order named" + _because(", ".join(str(sorted(ordinals).index(one) + 1) for one in ordinals))


def _with_places_named(event: dict[str, Any], words: OwnWords) -> dict[str, Any]:
    """Return the event with its places, and those of its cards, in the words of the game."""
    named = {key: _place_named(value, words) if key in PLACE_FIELDS else value for key, value in event.items()}
    cards = event.get("cards")
    if isinstance(cards, list) and cards and isinstance(cards[0], dict):
        named["cards"] = [_with_places_named(card, words) for card in cards]
    return named


def _place_named(value: Any, words: OwnWords) -> Any:
    if isinstance(value, list):
        return [_place_named(one, words) for one in value]
    return str(words.of(value)) if isinstance(value, str) and PLACE.fullmatch(value) else value


def _listed(places: list[str]) -> str:
    return ", ".join(dict.fromkeys(places))


def _under(clause: str) -> str:
    """Return a clause in brackets; empty where the document is silent."""
    return f" ({clause})" if clause else ""


def _raised(event: dict[str, Any], words: OwnWords) -> str:
    """Tell of a new irregularity, only by its kind while a question is open: the row that fits is not known yet."""
    row, asks = event["row"], event["asks"]
    at = f" at {event['place']}" if event["place"] else ""
    kind = words.own(KINDS[Kind(event["kind"])])
    if asks:
        line = f"irregularity{at}: {kind}"
    elif row["disposition"] in (Disposition.REFER, Disposition.SILENT):
        line = f"irregularity{at}: {kind}: {row['because']}{_under(row['clause'])}"
    else:
        line = f"irregularity{at}: {row['because']}{_under(row['clause'])}"
    noticed = f", noticed by {event['noticed_by']}" if event["noticed_by"] else ""
    return ". ".join(filter(None, (f"{line}{noticed}", _capital(event["note"]), _asked(asks, words))))


def _asked(asks: list[str], words: OwnWords) -> str:
    return f"Asked: {' '.join(words.own(FACT_QUESTIONS[name]) for name in asks)}" if asks else ""


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _stated(event: dict[str, Any], words: OwnWords) -> str:
    row = event["row"]
    if event["asks"]:
        return f"answered. {_asked(event['asks'], words)}"
    return f"answered: {row['because']}{_under(row['clause'])}"


def _confirmed(event: dict[str, Any]) -> str:
    row = event["row"]
    return f"confirmed: {row['because']}{_under(row['clause'])}"


def _moved(event: dict[str, Any], words: str) -> str:
    """List cards by the order in which they left the device, grouped by their way."""
    together: dict[tuple[str, str], list[str]] = {}
    for card in event["cards"]:
        together.setdefault((card["source"], card["place"]), []).append(str(card["ordinal"]))
    return "; ".join(
        f"card{'s' if len(numbers) > 1 else ''} {', '.join(numbers)} {words.format(source=source, place=place)}"
        for (source, place), numbers in together.items()
    )


def _moved_hands(event: dict[str, Any]) -> str:
    """List hands by their number of cards, because the people who move them do not know the cards' numbers."""
    ways = Counter((card["source"], card["place"]) for card in event["cards"])
    return "; ".join(
        f"{count} card{'s' if count > 1 else ''} from {source} to {place}" for (source, place), count in ways.items()
    )


def _because(note: str) -> str:
    return f": {note}" if note else ""


def _reconstructed(event: dict[str, Any]) -> str:
    what = "hands were" if event["whole_hands"] else "cards were"
    moved = _moved_hands(event) if event["whole_hands"] else _moved(event, "from {source} to {place}")
    back = event["taken_back"]
    taken = f"{back} card{'s' if back > 1 else ''} too many taken out of {event['place']}" if back > 0 else ""
    return ": ".join(filter(None, (f"{what} put right{_under(event['clause'])}", moved, taken)))


def _recalled(event: dict[str, Any]) -> str:
    which = f"the cards of {event['place']}" if event["place"] else "all cards"
    return f"{event['by']} recalls {which} in round {event['of_round']}{_because(event['reason'])}"


def _game(event: dict[str, Any]) -> str:
    version = f", version {event['version']}" if event["version"] else ""
    since = f", of {event['effective']}" if event["effective"] else ""
    return f"game: {event['title']}{version}{since}"


def _new_game(settings: dict[str, Any]) -> str:
    return f": {GAMES[settings['game']].title}" if settings["game"] in GAMES else ""


def _phase(event: dict[str, Any]) -> str | None:
    if event.get("returns_bets"):
        return "the round does not begin; return all bets"
    return concluded(event) if event["phase"] == "concluded" else None


def _witness(event: dict[str, Any]) -> str:
    """Return the witness's id, or a name that is nobody's id here."""
    return str(event.get("witness_id") or f"{event['witness']} (a name only)")


def _configuration(event: dict[str, Any]) -> str:
    """List people and device, which an auditor compares first. The event also has the uids."""
    found = event["configuration"]
    people = ", ".join(f"{one['id']} ({one['role'].replace('_', ' ')})" for one in found["people"])
    return f"version {found['program']}; device {found['device']['url']}; people: {people or 'none'}"


def _operation(event: dict[str, Any]) -> str | None:
    return "no more bets" if event["operation"] == "no_more_bets" else None


def _ruled(event: dict[str, Any]) -> str:
    whose = f" {_listed(event['places'])}" if event["places"] else ""
    numbers = f" {', '.join(map(str, event['ordinals']))}" if event["ordinals"] else ""
    bets = f" of bets {', '.join(map(str, event['bets']))}" if event["bets"] else ""
    action = event["action"].replace("_", " ")
    return f"ruling: {action}{whose}{numbers}{bets}, by {event['authority']}: {event['text']}"


def _chosen(event: dict[str, Any]) -> str:
    who = f"{event['bettor']} at {event['place']}" if event["bettor"] else event["place"]
    if event["absent"]:
        return f"{who} is away: the bets stand{_under(event['clause'])}"
    return f"{who} chooses to {event['choice']}{_under(event['clause'])}"


def _entered(event: dict[str, Any], words: OwnWords) -> str:
    where = "stands" if event["seat"] is None else f"sits at {words.box(event['seat'])}"
    return f"{event['bettor']} bets here and {where}"


def _laid(event: dict[str, Any]) -> str:
    """Tell how many bets lie there, and what was handed back. The event itself has the whole layout."""
    bets = event["bets"]
    line = f"{len(bets)} bet{'' if len(bets) == 1 else 's'} on the layout, {sum(bet['amount'] for bet in bets)} in all"
    back = [f"{one['amount']} back to {one['bettor']}{_under(one['clause'])}" for one in event["handed_back"]]
    return "; ".join([line, *back])


def _restricted(event: dict[str, Any], words: OwnWords) -> str:
    listed = [
        *(f"{words.spot(box)} takes no bets" for box in event["closed_boxes"]),
        *(f"{words.spot(box)} takes {most} wagers at most" for box, most in event["fewer_wagers"]),
        *(f"{bettor} bets on one {words.place} only" for bettor in event["one_box"]),
    ]
    return f"restricted: {'; '.join(listed)}" if listed else "no restrictions on betting any more"


def _settled(event: dict[str, Any]) -> str:
    verdicts = Counter(bet["verdict"] for bet in event["bets"])
    listed = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    return f"wagers settled: {listed or 'none lay there'}; the house gains {event['house']}"


def _voided(event: dict[str, Any]) -> str:
    by = _under(event["clause"] or event["authority"])
    return f"ROUND VOID{by}: {event['text']}; return all bets"


def _corrected(event: dict[str, Any]) -> str:
    what = event["was"]["operation"].replace("_", " ")
    done = "is struck out" if event["instead"] is None else "is corrected"
    return f"entry {event['corrected']} ({what}) {done} by {event['by']}: {event['reason']}"


def _reopened(event: dict[str, Any], words: OwnWords) -> str:
    row = event["row"]
    if event["asks"]:
        return f"to be decided again. {_asked(event['asks'], words)}"
    return f"to be decided again: {row['because']}{_under(row['clause'])}"


def _handled(event: dict[str, Any]) -> str:
    if not event["viewed"]:
        return f"cards of {event['place']} are handled"
    return f"{event['bettor'] or 'the player'} looks at {event['place']}"


def _handling_corrected(event: dict[str, Any]) -> str:
    so = "looked at" if event["viewed"] else "handled, not looked at" if event["handled"] else "not handled"
    return f"the cards of {event['place']} are {so} after all"


def _resolved(event: dict[str, Any]) -> str:
    if event["outcome"] == CORRECTED:
        return f"withdrawn by {event['by']}: it was noticed with the entry that was wrong"
    outcome = ENDS.get(event["outcome"], event["outcome"].replace("_", " "))
    return f"resolved: {outcome}{_under(event['clause'])}, by {event['by']}"


def _count_taken_back(event: dict[str, Any]) -> str:
    again = ": it is to be counted again" if event["pile"] == STUB and event["account"]["stub"] is None else ""
    return f"the count does not stand ({event['pile']}){again}"


def _void_lifted(event: dict[str, Any]) -> str:
    return "the round is not void after all" + ("; put the bets back" if event.get("returned") else "")


def _closing_taken_back(event: dict[str, Any]) -> str:
    if event.get("returned"):
        return "the bets are to be returned after all"
    return "the round is to be settled again" if event["chips"] else "the round is not concluded after all"


DIFFERS: Final = {DISPENSED_OF_NEXT: "the number of cards that left the next deck"}
STUB_IS_OUT: Final = "the device holds the next deck: the rest of the deck of this round was taken out of it"


def _differs(event: dict[str, Any]) -> str:
    what = DIFFERS.get(event["what"], event["what"])
    return f"{what} differs: {event['device']} in the device, {event['journal']} in the journal"


def _handed_over(event: dict[str, Any]) -> str:
    whose = f" from {event['from_dealer']}" if event["from_dealer"] else ""
    what = ", ".join(map(str, event["open"])) or "nothing"
    return f"{event['to_dealer']} takes the table over{whose}; open: {what}"


def _noted(event: dict[str, Any]) -> str | None:
    """Tell what a person waits for or must look into. Other notes of a device are for readers of the journal."""
    named = NOTED.get(event["what"])
    return f"device: {named}: {event['detail']}" if named else None


def _noted_in_maintenance(event: dict[str, Any]) -> str:
    note = f": {event['note']}" if event["note"] else ""
    return f"noted under maintenance: {KINDS[Kind(event['kind'])]}{note}"


def _judged(event: dict[str, Any]) -> str:
    half = ", pays half" if event["half"] else ""
    outcome = OUTCOMES[event["outcome"]]
    return f"{event['place']}: {outcome}, {event['hand']} against {event['dealer_hand']}{half}"


def _next(event: dict[str, Any]) -> str:
    return ", for the next round" if event.get("waiting") else ""


def _named(event: dict[str, Any]) -> str:
    return f"deck {event['deck']}" if event["deck"] else f"the deck in the device{_next(event)}"


def _arrived(event: dict[str, Any]) -> str | None:
    return f"deck {event['deck']} waits for the next round" if event.get("waiting") else None


def _another_device(event: dict[str, Any]) -> str:
    if event["what"] == "serial":
        return f"another device: {event['now']}, before it was {event['before']}"
    return f"other firmware: {event['now'][:16] or 'no digest'}, before it was {event['before'][:16]}"


def _lost(event: dict[str, Any]) -> str:
    """Tell of a lost link, except one that is made again because a person asked for it."""
    return str(event["sentence"] if event["code"] == "returned-to-service" else f"device lost: {event['sentence']}")


LINES: Final[dict[str, Line]] = {
    "screen_enrolled": lambda event: f"screen enrolled: {event['name']}",
    "screen_removed": lambda event: f"screen {event['screen']} removed",
    "signed_on": lambda event: f"{event['dealer']} signed on at screen {event['screen']}",
    "signed_off": lambda event: (
        f"{event['dealer']} signed off at screen {event['screen']}: {SIGNED_OFF.get(event['why'], event['why'])}"
    ),
    "table_began": lambda event: f"table {event['table']} began" + (" (SIMULATED)" if event["simulated"] else ""),
    "game_chosen": _game,
    "settings_deferred": lambda event: (
        f"the game's settings change with the next round{_new_game(event['settings'])}"
        if event["settings"]
        else "the game's settings stay as they are"
    ),
    "device_ready": lambda event: (
        f"device {event['identity']['serial']} is {'there' if event.get('unfit') else 'ready'}"
        f" ({event['identity']['kind']})"
    ),
    "device_differs": _another_device,
    "device_lost": _lost,
    "service_changed": lambda event: f"table {event['service'].replace('_', ' ')}: {event['cause']}",
    "deck_shuffled": lambda event: (
        f"deck {event['deck']} shuffled, {event['count']} cards, by {event['by']}{_next(event)}"
    ),
    "shuffle_began": lambda event: f"deck {event['deck']} is being shuffled{_next(event)}",
    "shuffle_failed": lambda event: (
        f"deck {event['deck']}{_next(event)} must not be dealt from until it is shuffled again"
    ),
    "status_differs": _differs,
    "status_agrees": lambda event: STUB_IS_OUT if event.get("stub_out") else None,
    "command_refused": lambda event: f"the device refused a command: {event['reason']}",
    "device_noted": _noted,
    "chips_paid": lambda event: "all bets are returned" if event.get("returned") else "chips are paid",
    "conclusion_asked": lambda event: "the end of the round was requested; repeat to confirm",
    "start_taken_back": lambda event: (
        f"round {event['taken_back']} did not begin; an error of round {event['open_again']} may still be reported"
    ),
    "round_began": lambda event: f"round {event['round']} begins",
    "operation_taken": _operation,
    "phase_entered": _phase,
    "first_card_drawn": lambda event: "the First Card leaves the device",
    "first_card_shown": lambda event: f"the First Card is {event['card']}{_under(event['clause'])}",
    "deal_began": lambda event: f"dealing starts at {event['places'][0]}{_under(event['clause'])}",
    "cards_dealt": _dealt,
    "cards_set_aside": lambda event: f"lay {_many(event)} aside: {event['because']}",
    "card_found_face_up": lambda event: f"card {event['ordinal']} lies face up in the device",
    "cards_found_elsewhere": lambda event: _moved(event, "at {place}, not at {source}"),
    "cards_reconstructed": _reconstructed,
    "dealt_by_hand": lambda event: f"from here on dealt by hand: {event['because']}",
    "hand_counted": lambda event: f"{event['place']} has {event['count']} cards",
    "hand_taken_back": lambda event: f"the cards of {event['place']} are to be entered again",
    "stub_counted": lambda event: f"stub: {event['count']} cards, {event['due']} due",
    "cards_counted": lambda event: (
        f"{event['by']} counted {event['number']} cards ({event['pile']}), {event['due']} due; "
        f"witness: {_witness(event)}"
    ),
    "cards_burnt": lambda event: f"{_many(event)} burnt",
    "cards_strayed": lambda event: f"{_many(event)} of deck {event['deck']}, which is not dealt in this round",
    "deck_arrived": _arrived,
    "configuration_recorded": _configuration,
    "deck_brought": lambda event: (
        f"deck {event['deck']} comes to the table: back {event['back']}, seal {event['seal'] or 'none'}, "
        f"{event['count']} cards counted by {event['by']} and {_witness(event)}"
    ),
    "deck_taken_out": lambda event: (
        f"deck {event['deck']} leaves the table with {event['count']} cards: {event['reason']}; "
        f"witness: {_witness(event)}"
    ),
    "deck_named": lambda event: f"deck {event['deck']} lies in the device{_next(event)}",
    "deck_shuffled_outside": lambda event: f"deck {event['deck']} shuffled outside, by {event['by']}",
    "deck_comes_into_play": lambda event: "the deck that waited is in play",
    "deck_quarantined": lambda event: f"{_named(event)} is OUT OF USE: {event['reason']}",
    "deck_released": lambda event: f"{_named(event)} may be used again: {event['reason']}; witness: {_witness(event)}",
    "deck_cut": lambda event: f"the deck was cut by {event['by']}",
    "cards_recalled": _recalled,
    "hand_exposed": lambda event: f"{event['place']} shows {_cards(event)}",
    "hand_judged": _judged,
    "hand_removed": lambda event: f"{event['place']} is out of play, bets returned{_under(event['clause'])}",
    "round_voided": _voided,
    "irregularity_confirmed": _confirmed,
    "order_named": _ordered,
    "option_chosen": _chosen,
    "all_chosen": lambda event: "every bettor has chosen: the cards are moved before play goes on",
    "report_joined": lambda event: f"{event['by']} reports what is open already" + _because(event["note"]),
    "faces_named": lambda event: f"{event['by']} saw {' '.join(event['cards']) or 'no card'} at {event['place']}",
    "void_asked": lambda event: (
        f"this makes the round void{_under(event['clause'])}{_because(event['because'])}; it is asked once more"
    ),
    "ruled": _ruled,
    "irregularity_resolved": _resolved,
    "count_taken_back": _count_taken_back,
    "entry_corrected": _corrected,
    "handling_corrected": _handling_corrected,
    "judgement_taken_back": lambda event: f"{_listed(event['places'])} to be judged again" if event["places"] else None,
    "closing_taken_back": _closing_taken_back,
    "void_lifted": _void_lifted,
    "order_corrected": lambda event: f"the order of the deal is {_listed(event['places'])}{_under(event['clause'])}",
    "layout_corrected": lambda event: f"{event['by']} corrects the bets: {event['reason']}",
    "bettor_left": lambda event: f"{event['bettor']} leaves",
    "layout_changed": _laid,
    "wagers_settled": _settled,
    "settlement_reversed": lambda event: (
        f"settlement taken back for {len(event['bets'])} bets{_under(event['clause'])}"
    ),
    "operation_refused": lambda event: f"refused: {_sentence(event['sentence'])}",
    "pin_refused": pin_refused,
    "pin_accepted": lambda event: f"{event['person']} enters the right PIN, after wrong ones",
    "door_refused": at_door,
    "journal_doubted": lambda event: f"the journal is not as it was left: {event['sentence']}",
    "files_deleted": lambda event: (
        f"files of the journal deleted by age: {', '.join(one['name'] for one in event['files'])}"
    ),
    "cards_handled": _handled,
    "hands_examined": lambda event: f"the players have examined their cards, entered by {event['by']}",
    "abandon_asked": lambda event: (
        f"{event['person']} asks for the round to be void: {event['text']}; it is asked once more"
    ),
    "dealer_came": lambda event: f"{event['dealer']} deals from now on",
    "dealer_left": lambda event: f"{event['dealer']} leaves the table; no dealer is on duty",
    "handed_over": _handed_over,
    "maintenance_began": lambda event: f"maintenance: {event['reason']}",
    "maintenance_noted": _noted_in_maintenance,
    "maintenance_ended": lambda event: "maintenance is over; the deck is to be loaded, shuffled and counted",
    "deck_counted_whole": lambda event: f"the deck is whole, counted by {event['by']}",
    "device_stopped": lambda event: f"device stopped: {event['cause']}",
    "device_freed": lambda event: f"device freed: {event['cause']}",
    "device_took_back": lambda event: f"device says it is over: {'; '.join(event['causes'])}",
    "table_paused": lambda event: f"paused: {event['reason']}",
}


LINES_OF_PLACES: Final[dict[str, LineOfPlaces]] = {
    "boxes_occupied": lambda event, words: f"{words.places} in play: {', '.join(map(str, event['boxes']))}",
    "irregularity_raised": _raised,
    "irregularity_reopened": _reopened,
    "fact_stated": _stated,
    "bettor_entered": _entered,
    "betting_restricted": _restricted,
    "bettor_withdrew": lambda event, words: (
        f"{event['bettor']} takes back all bets on {words.box(event['box'])}{_under(event['clause'])}"
    ),
}
"""Lines in the words of the game (`controller.commands.vocabulary`)."""


def tell(event: dict[str, Any], words: OwnWords = USUAL) -> str | None:
    """Return a line for an event, None for one that is not shown. `words`: those of the game in play."""
    event = with_plain_texts(event, LONGEST_SHOWN)
    try:
        return _line(event, words)
    except (KeyError, TypeError, ValueError):  # a daemon of another version has other fields
        return _by_name(event)


def _line(event: dict[str, Any], words: OwnWords) -> str | None:
    name = event["event"]
    if name in ONLY_FOR_MACHINES:
        return None
    if of_places := LINES_OF_PLACES.get(name):
        return of_places(_with_places_named(event, words), words)
    line = LINES.get(name)
    return line(_with_places_named(event, words)) if line else _by_name(event)


def _by_name(event: dict[str, Any]) -> str:
    return str(event["event"]).replace("_", " ")
