"""The views agree with the journal's own commands about every scenario's rounds, and rounds of simulated people."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from controller.api.narration import with_messages
from controller.commands.journal.account import Account, Accountant
from controller.commands.journal.days import CasinoClock, Span
from controller.commands.journal.decisions import name_of, read
from controller.commands.journal.rounds import JournaledRound, Rounds
from controller.commands.journal.table import Table
from controller.floor.store.alarms import KINDS
from controller.floor.store.database import Database
from controller.floor.store.meters import DEFINITIONS, EVIDENCE_KINDS, StoreMeters
from controller.floor.store.writing import Writer
from controller.floor.topics import TopicSubject
from controller.games import GAMES
from controller.games.specification import Unit
from controller.journal.outbox import DecisionMade, FileBegan, Record
from controller.table.state import TableState
from firmware_bridge.messages import AnyText, Message, counted, message, sentences
from simulators.scenarios import names
from tests.floor.postgres import TOOL, Postgres
from tests.floor.stored import PLACE, Rows, heard
from tests.journal_commands.played import BEGAN, SECOND, Step, played
from tests.support.played_rounds import play_rounds

pytestmark = pytest.mark.tool(TOOL)
ALL = Span(0, 2**63 - 1)
TAKES_BACK = frozenset(
    {"hand_taken_back", "irregularity_confirmed", "irregularity_reopened", "judgement_taken_back",
     "settlement_reversed", "start_taken_back", "void_lifted"}
)  # fmt: skip
"""Events after which a scenario is also examined, because later ones may repeat the same."""


@cache
def cases() -> dict[str, tuple[Step, ...]]:
    """Return the decisions by the name of their journal: every scenario, whole and cut off after each event of
    `TAKES_BACK`, and a run of simulated people in every game.
    """
    found: dict[str, tuple[Step, ...]] = {}
    for name in names():
        steps = played(name)
        found[name] = steps
        for end, (decision, _) in enumerate(steps, start=1):
            if any(name_of(event) in TAKES_BACK for event in decision.events):
                found[f"{name} to {decision.last}"] = steps[:end]
    for game_id, unit in zip(GAMES, cycle(Unit), strict=False):
        found[f"people at {game_id}"] = asyncio.run(played_by_people(game_id, unit))
    return found


async def played_by_people(game_id: str, unit: Unit) -> tuple[Step, ...]:
    """Return rounds of simulated people with a real daemon and device, with the times of scenarios."""
    played = await play_rounds(game_id, unit, 6, 11, wagers=True)
    timed = (msgspec.structs.replace(one, utc_ns=BEGAN + one.last * SECOND) for one in played.decisions)
    return tuple(Step(one, TableState()) for one in timed)


@pytest.fixture(scope="module")
def everything(server: Postgres) -> Iterator[Rows]:
    """Yield the store with a journal for each case, which has its name."""
    address = server.make("scenarios")
    with closing(Database(address)) as database:
        writer = Writer(database)
        whole = [one for name in cases() for one in heard(records_of(name), topic_of(name))]
        for start in range(0, len(whole), 2000):
            writer.write(whole[start : start + 2000])
    with closing(Rows(address)) as found:
        found.do("ANALYZE")
        yield found
    server.drop("scenarios")


@cache
def table_of(name: str) -> str:
    """Return a separate table for each: the journals of a table are limited."""
    return f"T-{list(cases()).index(name)}"


def topic_of(name: str) -> str:
    return PLACE._replace(table=table_of(name)).topic(TopicSubject.JOURNAL)


def records_of(name: str) -> list[Record]:
    """Return the records as the publisher sends them, with made-up hashes that follow each other."""
    hash_ = hashlib.sha256(name.encode()).hexdigest()
    steps = cases()[name]
    began = steps[0].decision.utc_ns
    found: list[Record] = [FileBegan(name, "1", 0, hash_, began, table_of(name), True, "00" * 32, "", "", "00" * 32)]
    for decision, _ in steps:
        before, hash_ = hash_, hashlib.sha256(hash_.encode()).hexdigest()
        events = tuple(map(msgspec.Raw, decision.events))
        found.append(
            DecisionMade(
                name, "1", decision.first, decision.last, hash_, before, decision.utc_ns, decision.round, events
            )
        )
    return found


class Told(NamedTuple):
    """The output of the journal's own commands."""

    rounds: list[JournaledRound]
    account: Account


@cache
def told(name: str) -> Told:
    rounds, accountant = Rounds(), Accountant(Table(), ALL)
    done: list[JournaledRound] = []
    for decision, _ in cases()[name]:
        decided = read(decision)
        accountant.take(decided)
        done += rounds.take(decided)
    done += rounds.rest()
    for one in done:
        accountant.add(one)
    return Told(sorted(done, key=lambda one: one.number), accountant.result(CasinoClock(UTC, "UTC"), []))


def rows_of(rows: Rows, view: str, where: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows by journal."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in cases()}
    for (row,) in rows.ask(f"SELECT to_jsonb(v) FROM cardshoe.{view} v WHERE {where}"):
        found[row["journal"]].append(row)
    return found


def moment(utc_ns: int) -> str | None:
    """Return a time in the form of a row; 0 means never."""
    return datetime.fromtimestamp(utc_ns // 10**9, UTC).isoformat() if utc_ns else None


def money(written: object) -> float | None:
    return None if written in (None, "") else float(Fraction(str(written)))


def check(
    rows: Rows,
    view: str,
    got: Callable[[dict[str, Any]], Any],
    expected: Callable[[str], list[Any]],
    where: str = "true",
) -> int:
    """Check that the rows of each scenario are the expected ones, in any order. Return the number of rows."""
    count = 0
    for name, found in rows_of(rows, view, where).items():
        wanted = expected(name)
        assert sorted(map(repr, map(got, found))) == sorted(map(repr, wanted)), name
        count += len(wanted)
    return count


def test_rounds(everything: Rows) -> None:
    def got(row: dict[str, Any]) -> Any:
        return (
            row["round"], row["entry"], row["ending"], row["began_at"], row["ended_at"], row["game"] or "",
            row["boxes"] or [], row["dealt_by_clause"] or "", row["deck"], row["refused"], row["void_by"],
            money(row["house_gains"]),
        )  # fmt: skip

    def expected(name: str) -> list[Any]:
        return [
            (
                one.number, next(line.entry for line in one.course if line.event["event"] == "round_began"), one.ending,
                moment(one.began_ns), moment(one.ended_ns), one.game, one.boxes,
                "" if one.deal is None else one.deal.clause, str(one.deck), one.refused, void_by(one), money(one.house),
            )
            for one in told(name).rounds
        ]  # fmt: skip

    assert check(everything, "rounds", got, expected) > 300


def void_by(one: JournaledRound) -> str | None:
    if one.void is None:
        return None
    return one.void.event["clause"] or one.void.event.get("authority") or "abandoned"


def test_hands(everything: Rows) -> None:
    """The view has hands that got cards or were turned over, but none that got cards only by a correction."""

    def got(row: dict[str, Any]) -> Any:
        judged = (row["outcome"], row["hand"], row["dealer_hand"], row["half"]) if row["outcome"] else None
        return row["round"], row["place"], row["cards"] or [], judged, row["removed_by"] or ""

    def expected(name: str) -> list[Any]:
        return [
            (
                one.number, hand.place, hand.cards if hand.shown else [],
                (hand.outcome, str(hand.name), str(hand.against), hand.half) if hand.outcome else None, str(hand.dead),
            )
            for one in told(name).rounds
            for hand in one.hands.values()
            if hand.shown or _was_dealt(one, hand.place)
        ]  # fmt: skip

    assert check(everything, "hands", got, expected) > 900


def _was_dealt(one: JournaledRound, place: str) -> bool:
    return any(line.event["event"] == "cards_dealt" and place in line.event["places"] for line in one.course)


def said_of(value: Any) -> Any:
    """Return a message of an event in English, and any other value as it is."""
    found = with_messages(value)
    return str(found) if isinstance(found, Message) else found


def test_wagers(everything: Rows) -> None:
    amounts = ("returned", "collected", "held", "paid")
    named = ("number", "bettor", "wager", "box", "amount", "verdict", "clause", "because")

    def got(row: dict[str, Any]) -> Any:
        return row["round"], [row[one] for one in named], [money(row[one]) for one in amounts]

    def expected(name: str) -> list[Any]:
        return [
            (one.number, [said_of(bet[key]) for key in named], [money(bet[key]) for key in amounts])
            for one in told(name).rounds
            for bet in one.settlement
        ]

    assert check(everything, "wagers", got, expected, where="stands") > 80


def test_irregularities(everything: Rows) -> None:
    def got(row: dict[str, Any]) -> Any:
        by = (row["decided_by"] or "", (row["decided_role"] or "").replace("_", " "))
        return (
            row["id"], row["round"], row["raised_at"], row["kind"], row["number"], row["clause"],
            row["authority"] or "", row["place"], row["proposes"], row["noticed_by"], row["outcome"] or "",
            row["closed_at"], *by,
        )  # fmt: skip

    def expected(name: str) -> list[Any]:
        return [
            (
                one.id, one.of_round, moment(one.raised.utc_ns), one.kind, one.row["id"], one.row["clause"],
                one.row.get("authority") or "", one.place, one.row["disposition"], one.raised.event["noticed_by"],
                one.outcome, moment(one.resolved.utc_ns) if one.resolved is not None and one.outcome else None,
                *(one.decided_by if one.outcome else ("", "")),
            )
            for of in told(name).rounds
            for one in of.irregularities
        ]  # fmt: skip

    assert check(everything, "irregularities", got, expected) > 250


SAID: tuple[AnyText, ...] = (
    "as it was written",
    message("The {place} lies {here}.", place=message("the Dealer's hand"), here="{place}"),
    message("{what}: {reason}", what=message("it happened"), reason=message("for {a} and {b}", a=1, b="x")),
    message("{hands}, {hands:or}, {hands:list}; {one:clauses}", hands=(1, message("box {n}", n=2), 3), one=("a",)),
    counted("1 card", "{count} cards", 1),
    counted("1 card", "{count} cards", 3),
    sentences(message("One."), message("Is it {so}?", so="so")),
    message("{question}.", question=message("Is it so?")),
    message("{missing} is not given"),
    message("{nothing}", nothing=()),
)


def test_a_message_is_shown_as_the_program_shows_it(rows: Rows) -> None:
    for said in SAID:
        body = msgspec.json.encode(said).decode()
        assert rows.ask("SELECT cardshoe.said(%s::jsonb)", body) == [(str(said),)], body


def test_any_value_is_shown_and_a_message_that_grows_without_end_is_cut(rows: Rows) -> None:
    for body in ("null", "3", "[]", "{}", '{"id": 3}', '{"id": "{a}", "args": 3}', '{"id": "x", "many": []}'):
        rows.ask("SELECT cardshoe.said(%s::jsonb)", body)
    said = Message("{a}", {"a": "x"})
    for _ in range(20):
        said = Message("{a} " * 50, {"a": said})
    ((shown,),) = rows.ask("SELECT cardshoe.said(%s::jsonb)", msgspec.json.encode(said).decode())
    assert len(shown) <= 10_000


def test_device_faults(everything: Rows) -> None:
    def expected(name: str) -> list[Any]:
        return [(line.entry, line.event["event"]) for line in told(name).account.faults]

    assert check(everything, "device_faults", lambda row: (row["entry"], row["what"]), expected) > 20


def test_people(everything: Rows) -> None:
    """All rounds of a scenario belong to one day."""
    acts = ("operations", "refused", "corrections", "recalls", "misread", "wrong_pins")

    def got(row: dict[str, Any]) -> Any:
        roles = [role.replace("_", " ") for role in row["roles"] or ()]
        return row["day"], row["person"], sorted(roles), [row[act] for act in acts], row["decided"]

    def expected(name: str) -> list[Any]:
        day = str(datetime.fromtimestamp(cases()[name][0].decision.utc_ns // 10**9, UTC).date())
        return [
            (day, one.id, sorted(one.roles), [getattr(one, act) for act in acts], one.decided)
            for one in told(name).account.people
            if any(getattr(one, act) for act in acts)
        ]

    assert check(everything, "people", got, expected) > 500
    assert everything.ask("SELECT sum(misread) > 0 FROM cardshoe.people") == [(True,)]


def test_every_journal_is_whole(everything: Rows) -> None:
    assert everything.ask("SELECT count(*) FROM cardshoe.tables WHERE verified_up_to = stored_up_to") == [
        (len(cases()),)
    ]
    assert everything.alarms() == {}


def test_a_count_of_rounds_reads_only_the_rounds(everything: Rows) -> None:
    """Unrequested columns are not looked up: dashboards over all tables stay fast."""
    plan = everything.ask("EXPLAIN SELECT count(*) FROM cardshoe.rounds WHERE began_at > now() - interval '1 day'")
    text = "\n".join(line for (line,) in plan)
    assert "SubPlan" not in text
    assert "event_2026_10" not in text, "only the months of that time are read"


# -- the page


PAGE = (Path(__file__).parents[2] / "docs/floor_store.md").read_text("utf-8")


def table_under(heading: str) -> dict[str, str]:
    """Return the rows of the first table there: the names in the first cell, and the rest."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([^`]+)`[^|]*\|(.*)\|$", section, re.MULTILINE))


def test_the_page_has_every_column_of_every_view(everything: Rows) -> None:
    query = """SELECT v.viewname, array_agg(c.column_name::text) FROM pg_views v JOIN information_schema.columns c
        ON c.table_schema = v.schemaname AND c.table_name = v.viewname WHERE v.schemaname = 'cardshoe' GROUP BY 1"""
    of_all = {"site", "pit", "table_name", "journal"}
    written = table_under("Views")
    found = {view: set(columns) for view, columns in everything.ask(query)}
    assert found.keys() == written.keys()
    for view, columns in found.items():
        assert of_all <= columns
        assert columns - of_all == set(re.findall(r"`(\w+)`", written[view])), view


def test_the_page_has_every_kind_of_alarm() -> None:
    assert set(table_under("Alarms")) == set(KINDS)


def test_every_metric_is_defined_and_every_kind_of_alarm_raises_an_alert() -> None:
    page = StoreMeters().page().decode()
    names_of_page = re.findall(r"^# HELP (\w+) ", page, re.MULTILINE)
    served = {name.removesuffix("_total") for name in names_of_page if not name.endswith("_created")}
    assert served == {one.name.removesuffix("_total") for one in DEFINITIONS}
    assert set(EVIDENCE_KINDS.split("|")) < set(KINDS)
