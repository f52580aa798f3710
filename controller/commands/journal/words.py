"""A round in words: how it ended, the hands, what went wrong and who decided, then its course."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from controller.api.narration import tell, with_messages
from controller.commands.journal.days import CasinoClock, device_clock, lasted
from controller.commands.journal.decisions import DEVICE, PROGRAM, EventLine, telling
from controller.commands.journal.rounds import CONCLUDED, NOT_BEGUN, VOID, JournaledIrregularity, JournaledRound
from controller.commands.text import Page, many
from controller.commands.vocabulary import DECIDED_BY_PEOPLE, FOLLOWS, ORDERS, UNITS, facts_in_words, words_of
from controller.games import GAMES
from controller.games.own_words import OwnWords
from controller.games.specification import KINDS, Disposition, Facts, Kind
from controller.table.round_summary import FACE_DOWN, FACE_UP, RETURNED, HandSummary

OUTCOMES: Final = {
    "denied": "it proved not to be so",
    "ruling": "by the ruling",
    "corrected": "withdrawn: the entry with which it was noticed was wrong",
    "overtaken": "without an effect: the round was void before",
}
NOTICED_BY: Final = {"device": "the device", "inference": "the program, which inferred it"}


def words_for(round_: JournaledRound) -> OwnWords:
    return words_of(round_.game if round_.game in GAMES else "")


def named(by: str, role: str) -> str:
    """Return who did it, with the rank."""
    return f"{by} ({role})" if role else by


def ending(round_: JournaledRound) -> str:
    """Return how it ended, in a word or two."""
    return {NOT_BEGUN: "did not begin", VOID: "VOID", CONCLUDED: "concluded"}.get(round_.ending, "in progress")


def ended(round_: JournaledRound) -> str:
    """Return how it ended, in a sentence."""
    if round_.ending == NOT_BEGUN:
        return "The round did not begin: its start was cancelled, and no card was dealt."
    if round_.void is not None:
        event = round_.void.event
        why = event["clause"] or f"by {event.get('authority') or 'a ruling'}"
        back = "all bets were returned" if round_.chips == RETURNED else "it is not recorded that bets were returned"
        by = named(round_.void.by, round_.void.role)
        return f"The round is VOID ({why}): {with_messages(event['text'])}. Entered by {by}; {back}."
    if round_.ending == CONCLUDED:
        return f"The round was played to its end{_open(round_)}."
    return f"The round had not ended when the journal was read{_open(round_)}."


def _open(round_: JournaledRound) -> str:
    count = sum(not found.outcome for found in round_.irregularities)
    return f"; {many(count, 'irregularity is', 'irregularities are')} not decided" if count else ""


# -- hands and bets ------------------------------------------------------------------------------------------------


def hand_rows(round_: JournaledRound) -> Iterator[tuple[str, str, str]]:
    """Yield place, cards, and the result of each hand."""
    words = words_for(round_)
    for hand in round_.dealt:
        yield str(words.of(hand.place)), " ".join(hand.cards), _became(hand, words)


def _became(hand: HandSummary, words: OwnWords) -> str:
    if hand.dead:
        return f"out of play, bets returned ({hand.dead})"
    if hand.outcome:
        half = ", pays half" if hand.half else ""
        return f"{hand.name}, {hand.outcome.upper()} against {hand.against}{half}"
    if hand.shown:
        return "turned over"
    if FACE_DOWN in hand.cards or FACE_UP in hand.cards:
        seen = any(card not in (FACE_DOWN, FACE_UP) for card in hand.cards)
        return "not turned over" + ("; some faces were seen" if seen else "")
    return "seen, not turned over"


def bet_rows(round_: JournaledRound) -> Iterator[tuple[str, str, str, str]]:
    """Yield bettor, place and wager, amount, and result of each bet."""
    words = words_for(round_)
    wagers = {wager.id: wager.title for wager in GAMES[round_.game].wagers} if round_.game in GAMES else {}
    for bet in round_.settlement or round_.bets:
        where = f"{words.spot(bet['box'])}, {wagers.get(bet['wager'], bet['wager'])}"
        yield bet["bettor"], where, str(bet["amount"]), _result(bet)


def house(round_: JournaledRound) -> str:
    """Return the house's gain or loss from the settlement, or "" before it."""
    if not round_.house:
        return ""
    lost = round_.house.startswith("-")
    return f": the house {'loses' if lost else 'gains'} {round_.house.lstrip('-')}"


def _result(bet: dict[str, Any]) -> str:
    if "verdict" not in bet:
        return "not settled"
    paid = f", pays {bet['paid']}" if bet["verdict"] == "won" else ""
    clause = f" ({bet['clause']})" if bet["clause"] else ""
    return f"{bet['verdict']}{paid}: {with_messages(bet['because'])}{clause}"


# -- irregularities ------------------------------------------------------------------------------------------------


def title(found: JournaledIrregularity, words: OwnWords) -> str:
    """Return number, place, kind and clause."""
    row = found.row
    where = f", {words.of(found.place)}" if _is_place(found.place) else ""
    clause = row["clause"] or ("no clause" if not row.get("authority") else row["authority"])
    return f"{row['id']}{where}: {words.own(KINDS[Kind(found.kind)])} ({clause})"


def _is_place(place: str) -> bool:
    return place == "D" or (place[:1] == "B" and place[1:].isdigit())


def follows(found: JournaledIrregularity) -> str:
    """Return what the row proposes."""
    row = found.row
    disposition = Disposition(row["disposition"])
    if disposition not in DECIDED_BY_PEOPLE:
        return str(FOLLOWS[disposition])
    what = "the rules are silent" if disposition is Disposition.SILENT else FOLLOWS[disposition]
    return f"{what}; a {str(row['decides']).replace('_', ' ')} or above decides"


def evidence(found: JournaledIrregularity) -> str:
    """Return how it was noticed."""
    event = found.raised.event
    noticed = event["noticed_by"]
    parts = [f"noticed by {NOTICED_BY.get(noticed, named(noticed, found.raised.role))}"]
    if event.get("report") is not None:
        clock = "" if event.get("device_ms") is None else f", {device_clock(event['device_ms'])} by its clock"
        parts.append(f"report {event['report']} of the device's start {event['boot']}{clock}")
    if event.get("ordinals"):
        listed = ", ".join(map(str, event["ordinals"]))
        parts.append(f"dealt by the device as number {listed}")
    if event.get("faces_seen") is not None:
        parts.append("a face lay open" if event["faces_seen"] else "no face lay open")
    if event.get("of_deck"):
        parts.append(f"deck {event['of_deck']}")
    if event.get("note"):
        parts.append(str(with_messages(event["note"])))
    if event["round"] != found.of_round:
        parts.append(f"found in round {event['round']}")
    return "; ".join([*parts, f"journal entry {found.id}"])


def resolution(found: JournaledIrregularity) -> str:
    """Return how it ended."""
    if not found.outcome:
        return "not decided"
    what = OUTCOMES.get(found.outcome) or FOLLOWS[Disposition(found.outcome)]
    reason = found.resolved.operation.get("reason", "") if found.resolved is not None else ""
    because = f": {reason}" if reason else ""
    return f"{what}{because}; by {named(found.resolved_by, found.resolved_role)}"


def step(line: EventLine, words: OwnWords) -> str | None:
    """Return a step in the decision, as `watch` says it, with details. Raise `UnreadableEntryError`."""
    with telling(line.entry):
        return _step(line, words)


def _step(line: EventLine, words: OwnWords) -> str | None:
    text = tell(line.event, words)
    if text is None:
        return None
    match line.event["event"]:
        case "irregularity_resolved":
            reason = line.operation.get("reason", "") if line.event["outcome"] == "denied" else ""
            return f"{text}: {reason}" if reason else text
        case "irregularity_confirmed":
            stated = facts_in_words(msgspec.convert(line.operation.get("facts", {}), Facts))
            return f"{text}; stated: {', '.join(stated)}" if stated else text
    return text


# -- the whole -----------------------------------------------------------------------------------------------------


def course(round_: JournaledRound) -> Iterator[tuple[EventLine, str]]:
    """Yield the events that are shown, each with its words."""
    words = words_for(round_)
    for line in round_.course:
        if text := step(line, words):
            yield line, text


def who(line: EventLine) -> str:
    """Return the author of the input, short enough for a column."""
    return "" if line.by in (DEVICE, PROGRAM) else line.by


def tell_round(round_: JournaledRound, clock: CasinoClock, page: Page, *, simulated: bool, short: bool = False) -> None:
    """Print the whole account, with `short` without its course."""
    words = words_for(round_)
    marked = " (SIMULATED)" if simulated else ""
    page.heading(f"Round {round_.number} of table {round_.table}{marked}: {ending(round_)}")
    for line in (*_head(round_, clock), ended(round_)):
        page.entry(line)
    _tell_hands(round_, page)
    if round_.irregularities:
        page.heading("Irregularities")
    for found in round_.irregularities:
        _tell_irregularity(found, clock, page, words)
    _tell_rows(f"Bets{house(round_)}", list(bet_rows(round_)), page)
    _tell_rows("Recalled cards", [_row_of(line, f"{tell(line.event, words)} ({line.role})", clock)
                                  for line in round_.recalls], page)  # fmt: skip
    if not short:
        _tell_rows("Course", [_row_of(line, text, clock) for line, text in course(round_)], page)
    _tell_rows("People", [(person, ", ".join(ranks)) for person, ranks in sorted(round_.people.items())], page)
    if round_.refused:
        page.entry(f"{many(round_.refused, 'operation', 'operations')} refused")


def _row_of(line: EventLine, text: str, clock: CasinoClock) -> tuple[str, ...]:
    return clock.hour(line.utc_ns), str(line.entry), who(line), text


def _tell_hands(round_: JournaledRound, page: Page) -> None:
    rows = list(hand_rows(round_))
    if round_.first_card:
        rows = [("First Card", round_.first_card, ""), *rows]
    _tell_rows("Hands", rows, page)


def _tell_rows(title: str, rows: Sequence[tuple[str, ...]], page: Page) -> None:
    """Print a part in columns, if there is any."""
    if rows:
        page.heading(title)
        page.rows(rows)


def _head(round_: JournaledRound, clock: CasinoClock) -> Iterator[str]:
    until = (
        f" to {clock.hour(round_.ended_ns)} ({lasted(round_.ended_ns - round_.began_ns)})" if round_.ended_ns else ""
    )
    yield (
        f"{clock.day_and_hour(round_.began_ns)}{until}, {clock.zone_name}; "
        f"journal entries {round_.first} to {round_.last}"
    )
    dealer = f"dealer {round_.dealer}" if round_.dealer else "no dealer was on duty"
    yield f"{round_.title} ({round_.game}); {dealer}; {round_.device or 'no device'}"
    if (deal := round_.deal) is not None:
        clause = f" ({deal.clause})" if deal.clause else ""
        yield f"dealt in {UNITS[deal.unit]}, {ORDERS[deal.order]}{clause}"
    if (shuffle := round_.shuffle) is not None:
        yield (
            f"deck {round_.deck}: {shuffle.event['count']} cards, shuffled by {shuffle.event['by']} "
            f"at {clock.hour(shuffle.utc_ns)} (entry {shuffle.entry})"
        )


def _tell_irregularity(found: JournaledIrregularity, clock: CasinoClock, page: Page, words: OwnWords) -> None:
    with telling(found.id):
        page.entry(f"{title(found, words)}: {follows(found)}")
        page.entry(evidence(found), (clock.hour(found.raised.utc_ns), 8), indent=4)
    for line in found.steps:
        if line is not found.resolved and (text := step(line, words)):
            by = f"; by {named(line.by, line.role)}" if line.role and f"by {line.by}" not in text else ""
            page.entry(f"{text}{by}", (clock.hour(line.utc_ns), 8), indent=4)
    if found.resolved is not None:
        page.entry(f"decided: {resolution(found)}", (clock.hour(found.resolved.utc_ns), 8), indent=4)
    else:
        page.entry("not decided", indent=4)


def cell_of(round_: JournaledRound) -> str:
    """Return the irregularities of a round in one line of a list."""
    words = words_for(round_)
    return "; ".join(_cell(found, words) for found in round_.irregularities)


def _cell(found: JournaledIrregularity, words: OwnWords) -> str:
    with telling(found.id):
        place = f" {words.of(found.place)}" if _is_place(found.place) else ""
        outcome = found.outcome.replace("_", " ") or "not decided"
        return f"{found.row['id']}{place} ({found.row['clause'] or 'no clause'}): {outcome}"
