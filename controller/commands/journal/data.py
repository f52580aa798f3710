"""Rounds and accounts as plain values, for `--json`. Keys never change; more may be added."""

from __future__ import annotations

from typing import Any

import msgspec

from controller.api.narration import with_messages
from controller.commands.journal.account import Account
from controller.commands.journal.decisions import EventLine, telling
from controller.commands.journal.rounds import JournaledIrregularity, JournaledRound
from controller.commands.journal.source import Source
from controller.commands.journal.words import course
from controller.table.round_summary import HandSummary


def changed_in(source: Source) -> dict[str, Any]:
    """Return the ranges of changed entries and the breaks between files; empty if everything is as written."""
    found: dict[str, Any] = {"changed": source.changed} if source.changed else {}
    return found | ({"misplaced": [str(said) for said in source.misplaced]} if source.misplaced else {})


def row_of(round_: JournaledRound) -> dict[str, Any]:
    """Return a round in a list. Times are nanoseconds since 1970 in UTC; `ended_ns` is 0 while it is in progress."""
    return {
        "round": round_.number,
        "began_ns": round_.began_ns,
        "ended_ns": round_.ended_ns,
        "first": round_.first,
        "last": round_.last,
        "ending": round_.ending,
        "dealt": len(round_.dealt),
        "void": None if round_.void is None else _void(round_.void),
        "irregularities": [_irregularity(found) for found in round_.irregularities],
        "people": sorted(round_.people),
    }


def whole(round_: JournaledRound) -> dict[str, Any]:
    """Return a round with its hands, bets and course."""
    return {
        **row_of(round_),
        "table": round_.table,
        "game": round_.game,
        "dealer": round_.dealer,
        "device": round_.device,
        "deck": round_.deck,
        "boxes": round_.boxes,
        "unit": "" if round_.deal is None else round_.deal.unit,
        "order": "" if round_.deal is None else round_.deal.order,
        "first_card": round_.first_card,
        "hands": [_hand(hand) for hand in round_.dealt],
        "bets": round_.settlement or round_.bets,
        "house": round_.house,
        "chips": round_.chips,
        "people": round_.people,
        "refused": round_.refused,
        "course": [{**_line(line), "words": str(said)} for line, said in course(round_)],
    }


def account_as_data(account: Account, source: Source) -> dict[str, Any]:
    """Return a report. `head` is the signed head that covers it, or the last one before its end."""
    signed = source.signed_head(account.last)
    return {
        "table": account.table.name,
        "simulated": account.table.simulated,
        "journal_id": source.journal_id,
        "start_ns": account.span.start,
        "end_ns": account.span.end,
        "first": account.first,
        "last": account.last,
        "rounds": account.endings,
        "hands": account.hands,
        "dealers_hands": account.dealers_hands,
        "outcomes": account.outcomes,
        "removed": account.removed,
        "refused": account.refused,
        "house": account.house,
        "lengths_s": account.lengths,
        "not_in_service_ns": account.not_in_service_ns,
        "voids": [{"round": one.number, **_void(one.void)} for one in account.voids if one.void is not None],
        "irregularities": account.groups,
        "deciders": {f"{person} ({role})": ended for (person, role), ended in account.deciders.items()},
        "undecided": [_irregularity(found) for found in account.undecided],
        "faults": [_line(line) for line in account.faults],
        "noted": [_line(line) for line in account.noted],
        "people": account.people,
        "head": None if signed is None else {"head": signed.text, "key": signed.fingerprint, "good": signed.good},
    }


def _hand(hand: HandSummary) -> dict[str, Any]:
    texts = {"dead": str(hand.dead), "name": str(hand.name), "against": str(hand.against)}
    return msgspec.structs.asdict(hand) | texts


def _irregularity(found: JournaledIrregularity) -> dict[str, Any]:
    with telling(found.id):
        return _of_irregularity(found)


def _of_irregularity(found: JournaledIrregularity) -> dict[str, Any]:
    person, role = found.decided_by if found.outcome else ("", "")
    return {
        "id": found.id,
        "round": found.of_round,
        "row": found.row["id"],
        "kind": found.kind,
        "clause": found.row["clause"],
        "authority": found.row.get("authority", ""),
        "proposes": found.row["disposition"],
        "place": found.place,
        "raised": _line(found.raised),
        "steps": [_line(line) for line in found.steps],
        "outcome": found.outcome,
        "decided_by": person,
        "decided_role": role,
    }


def _void(line: EventLine) -> dict[str, Any]:
    event = line.event
    return {
        "clause": event["clause"],
        "authority": event.get("authority", ""),
        "text": str(with_messages(event["text"])),
        **_who(line),
    }


def _line(line: EventLine) -> dict[str, Any]:
    return {**_who(line), "event": line.event}


def _who(line: EventLine) -> dict[str, Any]:
    return {"entry": line.entry, "utc_ns": line.utc_ns, "by": line.by, "role": line.role}
