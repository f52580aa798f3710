"""The expectations of a scenario. Each checks the table and returns what it finds instead, or None."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias, TypeVar

from controller.api.view import LinkView, moves_shown, view_of
from controller.games.specification import Disposition, Row
from controller.people_words.tokens import FACTS, ROLES, Tokens, UnreadableLineError
from controller.roles import Role
from controller.table import events
from controller.table.model import CORRECTED, Hand, Pile, Stage
from controller.table.next_step import next_step, next_steps
from controller.table.phases import Phase, Service
from simulators.scenarios.course import Course

Look: TypeAlias = Callable[[Course], str | None]
EventT = TypeVar("EventT", bound=events.Event)
CELL: Final = re.compile(r"I\d\d[ab]?|-", re.ASCII)
DISPOSITIONS: Final = {disposition.value: disposition for disposition in Disposition}
STAGES: Final[Mapping[str, Stage | None]] = {**{stage.value: stage for stage in Stage}, "over": None}
PHASES: Final = {phase.value.replace("_", " "): phase for phase in Phase}
SERVICES: Final = {service.value.replace("_", " "): service for service in Service}
OUTCOMES: Final = {word: word for word in (*DISPOSITIONS, "ruling", "denied", "overtaken", CORRECTED)}
VERDICTS: Final = {word: word for word in ("won", "lost", "returned", "held")}
NO_CLAUSE: Final = "no clause"


class Expectation(NamedTuple):
    """An expectation. `read` takes the rest of its line; the result returns what is true instead, if anything."""

    form: str
    meaning: str
    read: Callable[[Tokens], Look]


def say_row(row: Row) -> str:
    """Return a row in the form in which an expectation writes it.

    >>> from controller.games import game
    >>> say_row(game("NC").irregularities[0])
    'I01 NC 5.5.1 void'
    """
    return " ".join(filter(None, (row.id, named(row), row.disposition.value)))


def named(row: Row) -> str:
    """Return the row's clause, or the authority if the rule is not the document's, or ""."""
    return row.clause or row.authority


def read_row(tokens: Tokens) -> Look:
    """Read cell, clause (none if the document is silent) and disposition."""
    cell = tokens.take("a cell like I12")
    rest = tokens.rest()
    if not CELL.fullmatch(cell) or not rest:
        raise UnreadableLineError(f"'{' '.join((cell, *rest))}' is neither an expectation nor CELL CLAUSE DISPOSITION")
    if rest[-1] not in DISPOSITIONS:
        raise UnreadableLineError(f"'{rest[-1]}' is not a disposition; known: {', '.join(DISPOSITIONS)}")
    wanted = " ".join((cell, *rest))

    def look(course: Course) -> str | None:
        row = course.rows.get(course.subject)
        return _differs(wanted, "no irregularity" if row is None else say_row(row))

    return look


def _differs(wanted: str, found: str) -> str | None:
    return None if wanted == found else found


def _last(course: Course, event_type: type[EventT]) -> EventT | None:
    return next((event for event in reversed(course.history) if isinstance(event, event_type)), None)


def _clause(tokens: Tokens) -> str:
    """Read a clause as it is cited; "" if the file says that there is none."""
    if tokens.maybe(NO_CLAUSE):
        return ""
    return f"{tokens.take('a clause')} {' '.join(tokens.rest())}".strip()


def _listed(values: tuple[str, ...]) -> str:
    return " ".join(values) or "nothing"


def _read_asks(tokens: Tokens) -> Look:
    tokens.maybe("nothing")
    wanted: tuple[str, ...] = ()
    while tokens.left:
        wanted = (*wanted, tokens.one_of(dict(zip(FACTS, FACTS, strict=True)), "a fact"))

    def look(course: Course) -> str | None:
        found = course.state.find_open(course.subject)
        return _differs(_listed(wanted), _listed(found.asks if found else ()))

    return look


def _read_stage(tokens: Tokens) -> Look:
    wanted = tokens.one_of(STAGES, "a stage")

    def look(course: Course) -> str | None:
        found = course.state.find_open(course.subject)
        return _differs(wanted or "over", found.stage if found else "over")

    return look


def _read_alert(tokens: Tokens) -> Look:
    """Read the rank of the person called for a ruling."""
    wanted = tokens.one_of(ROLES, "a rank")

    def look(course: Course) -> str | None:
        found = course.state.find_open(course.subject)
        called: Role | None = found.row.decides if found and found.stage is Stage.RULING else None
        return _differs(wanted.word, called.word if called else "nobody")

    return look


def _held(course: Course) -> str | None:
    if not course.state.held:
        return "not held"
    return None if course.device.exit_held else "held, but the exit is open"


def _free(course: Course) -> str | None:
    return "held" if course.state.held else None


def _read_phase(tokens: Tokens) -> Look:
    wanted = tokens.one_of(PHASES, "a phase")
    return lambda course: _differs(wanted.replace("_", " "), course.state.phase.replace("_", " "))


def _read_next(tokens: Tokens) -> Look:
    wanted = " ".join(tokens.rest())
    if not wanted:
        raise UnreadableLineError("the first words of what comes next are missing")

    def look(course: Course) -> str | None:
        said = str(next_step(course.state))
        return None if said.startswith(wanted) else said

    return look


def _read_says(tokens: Tokens) -> Look:
    wanted = " ".join(tokens.rest())
    if not wanted:
        raise UnreadableLineError("the first words of a sentence are missing")

    def look(course: Course) -> str | None:
        said = [str(one) for one in next_steps(course.state)]
        return None if any(one.startswith(wanted) for one in said) else " ".join(said)

    return look


def _read_service(tokens: Tokens) -> Look:
    wanted = tokens.one_of(SERVICES, "a service")
    return lambda course: _differs(wanted.replace("_", " "), course.state.service.replace("_", " "))


def _read_refused(tokens: Tokens) -> Look:
    wanted = tokens.take("the code of a refusal")

    def look(course: Course) -> str | None:
        refusal, course.refusal = course.refusal, None
        return _differs(wanted, "not refused" if refusal is None else refusal.code)

    return look


def _read_resolved(tokens: Tokens) -> Look:
    outcome, clause = tokens.one_of(OUTCOMES, "an outcome"), _clause(tokens)

    def look(course: Course) -> str | None:
        last = _last(course, events.IrregularityResolved)
        found = "nothing resolved" if last is None else f"{last.outcome} {last.clause or NO_CLAUSE}"
        return _differs(f"{outcome} {clause or NO_CLAUSE}", found)

    return look


def _read_voided(tokens: Tokens) -> Look:
    """Read a clause, a ruling, or a ruling to which a clause refers."""
    role = tokens.tail("by")
    authority = Tokens(role).one_of(ROLES, "a rank").word if role else ""
    clause = _clause(tokens) if tokens.left else ""

    def look(course: Course) -> str | None:
        last = _last(course, events.RoundVoided)
        if last is None:
            return "not voided"
        if not last.of_round and course.state.phase is not Phase.VOIDED:
            return f"{course.state.phase.replace('_', ' ')}"
        return _differs(_void(clause, authority), _void(last.clause, last.authority))

    return look


def _void(clause: str, authority: str) -> str:
    return f"voided {clause or NO_CLAUSE}" + (f" by {authority}" if authority else "")


def _read_removed(tokens: Tokens) -> Look:
    place, clause = tokens.place(), _clause(tokens)

    def look(course: Course) -> str | None:
        found = {
            event.place: event.clause or NO_CLAUSE for event in course.history if isinstance(event, events.HandRemoved)
        }
        return _differs(clause or NO_CLAUSE, found.get(place, "not removed"))

    return look


def _read_options(tokens: Tokens) -> Look:
    wanted = tuple(clause.strip() for clause in " ".join(tokens.rest()).split(","))

    def look(course: Course) -> str | None:
        row = course.rows.get(course.subject)
        return _differs(", ".join(wanted), ", ".join(option.clause for option in row.options) if row else "none")

    return look


def _read_in_play(tokens: Tokens) -> Look:
    wanted = tokens.places() if tokens.left else ()
    return lambda course: _differs(_listed(wanted), _listed(course.state.round.live_places))


def _read_cards(tokens: Tokens) -> Look:
    place, wanted = tokens.place(), tokens.number("how many cards")
    return lambda course: _differs(str(wanted), str(course.state.round.hands.get(place, Hand()).size))


def _read_at(tokens: Tokens) -> Look:
    place, wanted = tokens.place(), tokens.numbers("the number of a card")

    def look(course: Course) -> str | None:
        found = tuple(card.ordinal for card in course.state.round.hands.get(place, Hand()).cards)
        return _differs(_listed(tuple(map(str, wanted))), _listed(tuple(map(str, found))))

    return look


def _read_moves(tokens: Tokens) -> Look:
    """Read a move for which the screen draws an arrow, between two places or piles; the same one twice means turned
    face down.
    """
    wanted = "nothing" if tokens.maybe("nothing") else " ".join(tokens.rest())

    def look(course: Course) -> str | None:
        found = [f"{move.source} to {move.place}" for move in moves_shown(view_of(course.state, LinkView()))]
        return None if wanted in (found or ["nothing"]) else ", ".join(found) or "nothing"

    return look


def _read_bet(tokens: Tokens) -> Look:
    number, verdict = tokens.number("the number of a bet"), tokens.one_of(VERDICTS, "a verdict")
    clause = _clause(tokens)

    def look(course: Course) -> str | None:
        found = {bet.number: f"{bet.verdict} {bet.clause or NO_CLAUSE}" for bet in course.state.round.settlement}
        return _differs(f"{verdict} {clause or NO_CLAUSE}", found.get(number, "not settled"))

    return look


def _read_round(tokens: Tokens) -> Look:
    wanted = tokens.number("which round")
    return lambda course: _differs(str(wanted), str(course.state.round.number))


def _read_out_of_use(tokens: Tokens) -> Look:
    """Read the name of a recorded deck. If there is no name, the unrecorded deck in the device is meant."""
    name = tokens.take("the name of a deck") if tokens.left else ""

    def look(course: Course) -> str | None:
        record = course.state.decks.record(name)
        why = record.quarantined if record is not None else course.state.decks.in_play.quarantined
        return None if why else "no quarantine"

    return look


def _read_on_pile(tokens: Tokens) -> Look:
    pile, wanted = tokens.one_of({pile.value: pile for pile in Pile}, "a pile"), tokens.number("how many cards")
    return lambda course: _differs(str(wanted), str(course.state.round.pile_size(pile)))


def _read_on_duty(tokens: Tokens) -> Look:
    """Read a rank, since people in a scenario do not have names."""
    wanted = tokens.one_of({**{word: word for word in ROLES}, "nobody": "nobody"}, "a rank")
    return lambda course: _differs(wanted, course.state.duty.dealer.replace("-", " ") or "nobody")


def _no_irregularity(course: Course) -> str | None:
    return f"{say_row(course.state.open[-1].row)} is open" if course.state.open else None


EXPECTATIONS: Final[Mapping[str, Expectation]] = {
    "asks": Expectation("expect asks FACTS|nothing", "what is to be answered before it can be confirmed", _read_asks),
    "stage": Expectation("expect stage STAGE|over", "what the irregularity waits for", _read_stage),
    "alert": Expectation("expect alert ROLE", "a person of this rank or above is called for a ruling", _read_alert),
    "held": Expectation("expect held", "nothing may be dealt, and the exit is locked", lambda tokens: _held),
    "free": Expectation("expect free", "nothing stands in the way", lambda tokens: _free),
    "phase": Expectation("expect phase PHASE", "how far the round has come", _read_phase),
    "next": Expectation("expect next WORDS", "what the screen says comes next, from its first word on", _read_next),
    "says": Expectation("expect says WORDS", "a sentence beside it on the screen, from its first word on", _read_says),
    "moves": Expectation(
        "expect moves FROM to PLACE|nothing", "a move that the screen draws an arrow for", _read_moves
    ),
    "service": Expectation("expect service SERVICE", "whether table and device may be used together", _read_service),
    "refused": Expectation("expect refused CODE", "the step before was refused, and why", _read_refused),
    "resolved": Expectation(
        "expect resolved OUTCOME CLAUSE|no clause",
        "how the last irregularity ended, by which clause",
        _read_resolved,
    ),
    "voided": Expectation("expect voided CLAUSE [by ROLE]", "the round is void, by a clause or a ruling", _read_voided),
    "removed": Expectation(
        "expect removed PLACE CLAUSE|no clause", "the hand is out, its bets returned", _read_removed
    ),
    "options": Expectation("expect options CLAUSE, CLAUSE", "the clauses that let bettors choose", _read_options),
    "in play": Expectation("expect in play PLACES", "the Players' hands that are not out", _read_in_play),
    "cards": Expectation("expect cards PLACE NUMBER", "how many cards lie there", _read_cards),
    "at": Expectation("expect at PLACE NUMBERS", "which cards lie there, by the order of leaving the device", _read_at),
    "bet": Expectation(
        "expect bet NUMBER VERDICT CLAUSE|no clause", "what a bet came to, and by which clause", _read_bet
    ),
    "round": Expectation("expect round NUMBER", "which round it is", _read_round),
    "out of use": Expectation("expect out of use [NAME]", "a deck is in quarantine", _read_out_of_use),
    "pile": Expectation("expect pile PILE NUMBER", "how many cards lie on a pile", _read_on_pile),
    "on duty": Expectation("expect on duty ROLE|nobody", "who deals", _read_on_duty),
    "no irregularity": Expectation("expect no irregularity", "none is open", lambda tokens: _no_irregularity),
}
ROW_FORM: Final = "expect CELL [CLAUSE] DISPOSITION"
ROW_MEANING: Final = "what the irregularity is and what is proposed; without a clause where the document is silent"
