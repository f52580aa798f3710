"""A round in words: how it ended, the hands, what went wrong and who decided, then its course."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from controller.api.narration import PLACE, line_of, with_messages
from controller.commands.journal.days import CasinoClock, device_clock, lasted
from controller.commands.journal.decisions import DEVICE, PROGRAM, EventLine, telling
from controller.commands.journal.rounds import (
    CONCLUDED,
    IN_PROGRESS,
    NOT_BEGUN,
    PROVEN_BY_PIN,
    VOID,
    JournaledIrregularity,
    JournaledRound,
)
from controller.commands.text import Page
from controller.commands.vocabulary import ORDERS, UNITS, facts_in_words, words_of
from controller.games import GAMES
from controller.games.own_words import OwnWords
from controller.games.specification import DECIDED_BY_PEOPLE, FOLLOWS, KINDS, Disposition, Facts, Kind
from controller.roles import Role
from controller.table.events.irregularity_events import ENDS
from controller.table.events.lines import BESIDES_PEOPLE, as_sentence, as_written, clauses, listed, under, with_reason
from controller.table.events.round_events import OUTCOMES
from controller.table.events.wager_events import VERDICTS
from controller.table.model import CORRECTED, DEVICE_WORDS
from controller.table.round_summary import A_RULING, FACE_DOWN, FACE_UP, RETURNED, HandSummary
from firmware_bridge.messages import AnyText, Message, counted, message

ENDINGS: Final = {
    NOT_BEGUN: message("did not begin"),
    VOID: message("VOID"),
    CONCLUDED: message("concluded"),
    IN_PROGRESS: message("in progress"),
}
RANKS: Final[dict[str, AnyText]] = {role.word: role.named for role in Role}
NOT_DECIDED: Final = message("not decided")
NO_CLAUSE: Final = message("no clause")


def rank_named(rank: str) -> AnyText:
    """Return the rank that an entry records, with the kind of proof."""
    word, by_pin, _ = rank.partition(PROVEN_BY_PIN)
    named = RANKS.get(word, word)
    return message("{rank}, by PIN", rank=named) if by_pin else named


def named(by: AnyText, role: str) -> AnyText:
    """Return who did it, with the rank."""
    return message("{by} ({role})", by=by, role=rank_named(role)) if role else by


def ended(round_: JournaledRound) -> Message:
    """Return how it ended, in a sentence."""
    if round_.ending == NOT_BEGUN:
        return message("The round did not begin: its start was cancelled, and no card was dealt.")
    if round_.void is not None:
        event = round_.void.event
        return message(
            "The round is VOID ({why}): {text}. Entered by {by}; {bets}.",
            why=why_void(event),
            text=as_sentence(with_messages(event["text"])),
            by=named(round_.void.by, round_.void.role),
            bets=message("all bets were returned")
            if round_.chips == RETURNED
            else message("it is not recorded that bets were returned"),
        )
    left = _left(round_)
    if round_.ending == CONCLUDED:
        return message("The round was played to its end{left}.", left=left)
    return message("The round had not ended when the journal was read{left}.", left=left)


def why_void(event: dict[str, Any]) -> AnyText:
    """Return the clause by which a round is void, else whose decision it was."""
    return str(event["clause"]) or message("by {authority}", authority=event.get("authority") or A_RULING)


def _left(round_: JournaledRound) -> AnyText:
    count = sum(not found.outcome for found in round_.irregularities)
    return (
        counted("; 1 irregularity is not decided", "; {count} irregularities are not decided", count) if count else ""
    )


# -- hands and bets ------------------------------------------------------------------------------------------------


def hand_rows(round_: JournaledRound) -> Iterator[tuple[AnyText, ...]]:
    """Yield the First Card, then the place, the cards and the result of each hand."""
    words = words_of(round_.game)
    if round_.first_card:
        yield message("First Card"), round_.first_card, ""
    for hand in round_.dealt:
        yield words.of(hand.place), " ".join(hand.cards), _became(hand)


def _became(hand: HandSummary) -> Message:
    if hand.dead:
        return under(message("out of play, bets returned"), hand.dead)
    if hand.outcome:
        said = message(
            "{hand}, {outcome} against {dealer_hand}",
            hand=hand.name, outcome=OUTCOMES[hand.outcome], dealer_hand=hand.against,
        )  # fmt: skip
        return message("{said}, pays half", said=said) if hand.half else said
    if hand.shown:
        return message("turned over")
    if FACE_DOWN in hand.cards or FACE_UP in hand.cards:
        seen = any(card not in (FACE_DOWN, FACE_UP) for card in hand.cards)
        return message("not turned over; some faces were seen") if seen else message("not turned over")
    return message("seen, not turned over")


def bet_rows(round_: JournaledRound) -> Iterator[tuple[AnyText, ...]]:
    """Yield bettor, place and wager, amount, and result of each bet."""
    words = words_of(round_.game)
    wagers = {wager.id: wager.title for wager in GAMES[round_.game].wagers} if round_.game in GAMES else {}
    for bet in round_.settlement or round_.bets:
        where = listed([words.spot(bet["box"]), wagers.get(bet["wager"], bet["wager"])])
        yield bet["bettor"], where, str(bet["amount"]), _result(bet)


def house(round_: JournaledRound) -> Message:
    """Return the heading of the bets, with the house's gain or loss after the settlement."""
    amount = round_.house.lstrip("-")
    if not amount:
        return message("Bets")
    if round_.house.startswith("-"):
        return message("Bets: the house loses {amount}", amount=amount)
    return message("Bets: the house gains {amount}", amount=amount)


def _result(bet: dict[str, Any]) -> Message:
    if "verdict" not in bet:
        return message("not settled")
    verdict = VERDICTS.get(bet["verdict"]) or as_written(bet["verdict"])
    if bet["verdict"] == "won":
        verdict = message("{verdict}, pays {amount}", verdict=verdict, amount=bet["paid"])
    return under(with_reason(verdict, with_messages(bet["because"])), bet["clause"])


# -- irregularities ------------------------------------------------------------------------------------------------


def title(found: JournaledIrregularity, words: OwnWords) -> Message:
    """Return the number, place, kind and clause."""
    row = found.row
    kind = words.own(KINDS[Kind(found.kind)])
    clause = row["clause"] or row.get("authority") or NO_CLAUSE
    if PLACE.fullmatch(found.place):
        return message(
            "{row}, {place}: {kind} ({clause})", row=row["id"], place=words.of(found.place), kind=kind, clause=clause
        )
    return message("{row}: {kind} ({clause})", row=row["id"], kind=kind, clause=clause)


def follows(found: JournaledIrregularity) -> Message:
    """Return what the row proposes."""
    row = found.row
    disposition = Disposition(row["disposition"])
    if disposition not in DECIDED_BY_PEOPLE:
        return FOLLOWS[disposition]
    what = message("the rules are silent") if disposition is Disposition.SILENT else FOLLOWS[disposition]
    return message("{what}; a {role} or above decides", what=what, role=Role(row["decides"]).named)


def evidence(found: JournaledIrregularity) -> Message:
    """Return how it was noticed."""
    event = found.raised.event
    noticed = event["noticed_by"]
    by = BESIDES_PEOPLE.get(noticed) or named(noticed, found.raised.role)
    parts: list[Message] = [message("noticed by {by}", by=by)]
    if event.get("report") is not None:
        report = message("report {number} of the device's start {boot}", number=event["report"], boot=event["boot"])
        if event.get("device_ms") is not None:
            report = message("{report}, {time} by its clock", report=report, time=device_clock(event["device_ms"]))
        parts.append(report)
    if event.get("ordinals"):
        parts.append(message("dealt by the device as number {numbers:list}", numbers=tuple(event["ordinals"])))
    if event.get("faces_seen") is not None:
        parts.append(message("a face lay open") if event["faces_seen"] else message("no face lay open"))
    if event.get("of_deck"):
        parts.append(message("deck {deck}", deck=event["of_deck"]))
    if event.get("note"):
        parts.append(as_sentence(with_messages(event["note"])))
    if event["round"] != found.of_round:
        parts.append(message("found in round {round}", round=event["round"]))
    return clauses([*parts, message("journal entry {entry}", entry=found.id)])


def outcome_named(outcome: str) -> Message:
    """Return how an irregularity ended. The outcome is empty while it is open."""
    if outcome == CORRECTED:
        return message("withdrawn: the entry behind it was wrong")
    return ENDS.get(outcome) or as_written(outcome) if outcome else NOT_DECIDED


def resolution(found: JournaledIrregularity) -> Message:
    """Return how it ended, and who decided."""
    reason = found.resolved.operation.get("reason", "") if found.resolved is not None else ""
    what = with_reason(outcome_named(found.outcome), reason)
    return message("decided: {what}; by {by}", what=what, by=named(found.resolved_by, found.resolved_role))


def step(line: EventLine, words: OwnWords) -> Message | None:
    """Return a step in the decision, as `watch` says it, with details. Raise `UnreadableEntryError`."""
    with telling(line.entry):
        said = line_of(line.event, words)
        match line.event["event"]:
            case "irregularity_resolved" if said and line.event["outcome"] == "denied":
                return with_reason(said, line.operation.get("reason", ""))
            case "irregularity_confirmed" if stated := line.operation.get("facts"):
                facts = facts_in_words(msgspec.convert(stated, Facts))
                return message("{said}; stated: {facts:list}", said=said, facts=facts) if said and facts else said
        return said


# -- the whole -----------------------------------------------------------------------------------------------------


def course(round_: JournaledRound) -> Iterator[tuple[EventLine, Message]]:
    """Yield the events that are shown, each with its words."""
    words = words_of(round_.game)
    for line in round_.course:
        if said := step(line, words):
            yield line, said


def who(line: EventLine) -> str:
    """Return the author of the input, short enough for a column."""
    return "" if line.by in (DEVICE, PROGRAM) else line.by


def tell_round(round_: JournaledRound, clock: CasinoClock, page: Page, *, simulated: bool, short: bool = False) -> None:
    """Print the whole account, with `short` without its course."""
    words = words_of(round_.game)
    page.heading(
        message(
            "Round {round} of table {table} (SIMULATED): {ending}"
            if simulated
            else "Round {round} of table {table}: {ending}",
            round=round_.number,
            table=round_.table,
            ending=ENDINGS[round_.ending],
        )
    )
    for line in (*_head(round_, clock), ended(round_)):
        page.entry(line)
    _tell_rows(message("Hands"), list(hand_rows(round_)), page)
    if round_.irregularities:
        page.heading(message("Irregularities"))
    for found in round_.irregularities:
        _tell_irregularity(found, clock, page, words)
    _tell_rows(house(round_), list(bet_rows(round_)), page)
    recalls = [_row_of(line, named(line_of(line.event, words) or "", line.role), clock) for line in round_.recalls]
    _tell_rows(message("Recalled cards"), recalls, page)
    if not short:
        _tell_rows(message("Course"), [_row_of(line, said, clock) for line, said in course(round_)], page)
    people = [(person, listed(map(rank_named, ranks))) for person, ranks in sorted(round_.people.items())]
    _tell_rows(message("People"), people, page)
    if round_.refused:
        page.entry(counted("1 operation refused", "{count} operations refused", round_.refused))


def _row_of(line: EventLine, said: AnyText, clock: CasinoClock) -> tuple[AnyText, ...]:
    return clock.hour(line.utc_ns), str(line.entry), who(line), said


def _tell_rows(heading: Message, rows: Sequence[tuple[AnyText, ...]], page: Page) -> None:
    """Print a part in columns, if there is any."""
    if rows:
        page.heading(heading)
        page.rows(rows)


def _head(round_: JournaledRound, clock: CasinoClock) -> Iterator[Message]:
    when = clock.day_and_hour(round_.began_ns)
    if round_.ended_ns:
        length = lasted(round_.ended_ns - round_.began_ns)
        when = message("{begin} to {end} ({length})", begin=when, end=clock.hour(round_.ended_ns), length=length)
    yield message(
        "{when}, {zone}; journal entries {first} to {last}",
        when=when, zone=clock.zone_name, first=round_.first, last=round_.last,
    )  # fmt: skip
    game: AnyText = GAMES[round_.game].title if round_.game in GAMES else round_.title
    yield message(
        "{game} ({id}); {dealer}; {device}",
        game=game, id=round_.game,
        dealer=message("dealer {dealer}", dealer=round_.dealer) if round_.dealer else message("no dealer was on duty"),
        device=_device(round_.device),
    )  # fmt: skip
    if (deal := round_.deal) is not None:
        yield under(message("dealt in {unit}, {order}", unit=UNITS[deal.unit], order=ORDERS[deal.order]), deal.clause)
    if (shuffle := round_.shuffle) is not None:
        by = shuffle.event["by"]
        yield message(
            "deck {deck}: {count} cards, shuffled by {by} at {time} (entry {entry})",
            deck=round_.deck, count=shuffle.event["count"], by=BESIDES_PEOPLE.get(by) or by,
            time=clock.hour(shuffle.utc_ns), entry=shuffle.entry,
        )  # fmt: skip


def _device(device: str) -> Message:
    """Return the kind of a device in words, with its serial number."""
    kind, _, serial = device.partition(" ")
    if not kind:
        return message("no device")
    return Message("{kind} {serial}", {"kind": DEVICE_WORDS.get(kind) or kind, "serial": serial})


def _tell_irregularity(found: JournaledIrregularity, clock: CasinoClock, page: Page, words: OwnWords) -> None:
    with telling(found.id):
        page.entry(message("{what}: {follows}", what=title(found, words), follows=follows(found)))
        page.entry(evidence(found), (clock.hour(found.raised.utc_ns), 8), indent=4)
    for line in found.steps:
        if line is not found.resolved and (said := step(line, words)):
            if line.role and f"by {line.by}" not in str(said):
                said = message("{said}; by {by}", said=said, by=named(line.by, line.role))
            page.entry(said, (clock.hour(line.utc_ns), 8), indent=4)
    if found.resolved is not None:
        page.entry(resolution(found), (clock.hour(found.resolved.utc_ns), 8), indent=4)
    else:
        page.entry(NOT_DECIDED, indent=4)


def cell_of(round_: JournaledRound) -> Message:
    """Return the irregularities of a round in one line of a list."""
    words = words_of(round_.game)
    return clauses(_cell(found, words) for found in round_.irregularities)


def _cell(found: JournaledIrregularity, words: OwnWords) -> Message:
    with telling(found.id):
        place: AnyText = words.of(found.place) if PLACE.fullmatch(found.place) else ""
        return message(
            "{row} {place} ({clause}): {outcome}" if place else "{row} ({clause}): {outcome}",
            row=found.row["id"],
            place=place,
            clause=found.row["clause"] or NO_CLAUSE,
            outcome=outcome_named(found.outcome),
        )
