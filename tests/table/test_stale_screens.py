"""Entries from an outdated screen are refused, and the refusal says who did what. A double tap does not end a round."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import replace

from controller.games.specification import Facts, Kind, RulingAction
from controller.roles import Role
from controller.table import events, operations
from controller.table.feature import REPEATED_WITHIN_NS
from controller.table.inputs import PersonActed
from controller.table.model import Answer, Screen
from controller.table.offers import offers, signed_before
from controller.table.operations import AnyOperation
from controller.table.permissions import PERMISSIONS
from controller.table.phases import Phase
from controller.table.record import ConfigurationRecord, DeviceRecord, PersonRecord
from tests.table.harness import TableHarness

SECOND = 10**9


class Screens(TableHarness):
    """A table with a fixed clock. `screen` is the screen at which the next operation is entered."""

    screen = "left"
    utc_ns = 1_000 * SECOND

    def __init__(self) -> None:
        super().__init__()
        self.state = replace(self.state, screens=tuple(Screen(name, name, "") for name in ("left", "right")))

    def enter(
        self,
        operation: AnyOperation,
        person: str = "dealer",
        role: Role = Role.DEALER,
        *,
        as_of: int = 0,
        repeats: int = 0,
    ) -> Answer:
        self._operations += 1
        id_ = f"screen-{self._operations}"
        given = PersonActed(
            id_, person, role, self.state.round.number, operation,
            screen=self.screen, as_of=as_of, repeats=repeats, utc_ns=self.utc_ns,
        )  # fmt: skip
        self.give(given)
        return next(answer for answer in self.state.answers if answer.operation_id == id_)


@pytest.fixture
def table() -> Screens:
    table = Screens()
    table.start().to_betting()
    people = (PersonRecord("sam", "Sam", Role.PIT_SUPERVISOR),)
    table.state = replace(table.state, configuration=ConfigurationRecord("1", DeviceRecord("pty"), people))
    return table


def test_an_entry_from_before_the_close_is_refused_with_its_author(table: Screens) -> None:
    drawn = table.state.entry
    assert table.enter(operations.NoMoreBets(), "sam", Role.PIT_SUPERVISOR, as_of=drawn).code == ""
    before = table.state
    answer = table.enter(operations.OccupyBoxes((2,)), as_of=drawn)
    assert (answer.code, str(answer.sentence)) == (
        "changed", "Sam (left) closed bets. Nothing was done. Read the screen and enter it again."
    )  # fmt: skip
    assert table.state == replace(before, entry=table.state.entry, answers=table.state.answers)


def test_a_card_that_is_dealt_turns_nothing(table: Screens) -> None:
    table.enter(operations.NoMoreBets())
    drawn = table.state.entry
    table.take(2)
    assert table.state.turn.entry <= drawn < table.state.entry
    assert table.enter(operations.HandleCards("B1"), as_of=drawn).code == ""


def test_reports_and_pauses_are_never_stale(table: Screens) -> None:
    drawn = table.state.entry
    table.enter(operations.NoMoreBets())
    assert table.enter(operations.ReportIrregularity(Kind.UNSHUFFLED), as_of=drawn).code == ""
    assert table.enter(operations.PauseTable("dispute"), as_of=drawn).code == ""
    assert table.enter(operations.ResumeTable(), as_of=drawn).code == "changed"


def test_a_program_only_has_to_name_the_round(table: Screens) -> None:
    table.enter(operations.NoMoreBets())
    assert table.enter(operations.ReopenBets()).code == ""


def test_a_change_made_by_the_device_names_no_person(table: Screens) -> None:
    table.enter(operations.NoMoreBets())
    drawn = table.state.entry
    table.lose_link()
    answer = table.enter(operations.ReopenBets(), as_of=drawn)
    assert answer.code == "changed"
    assert str(answer.sentence).startswith("The device has come, gone or been compared. Nothing was done")


def test_a_screen_that_shows_another_round_learns_what_happened(table: Screens) -> None:
    table.enter(operations.CancelStart(announced=True))
    table.enter(operations.PlaceYourBets(), "sam", Role.PIT_SUPERVISOR)
    given = PersonActed("late", "dealer", Role.DEALER, 0, operations.CancelStart(), screen="left", as_of=1)
    table.give(replace(given, round=table.state.round.number - 2))
    answer = table.state.answers[-1]
    assert (answer.code, str(answer.sentence).split(". ")[0]) == ("stale", "Sam (left) opened bets")


def test_every_operation_has_a_sentence_for_once_it_is_done() -> None:
    assert set(PERMISSIONS) == set(get_args(AnyOperation))
    assert all(row.done.id.startswith("{who} ") and row.done.id.endswith(".") for row in PERMISSIONS.values())


def test_every_change_of_meaning_is_an_event_with_a_sentence() -> None:
    said = [event.outdates for event in events.ALL if event.outdates is not None]
    assert said
    assert all(sentence.id.endswith(".") for sentence in said)


# -- second requests


def void(table: Screens, **given: Any) -> Answer:
    found = table.open
    confirm = operations.ConfirmIrregularity(found.id, found.revision)
    return table.enter(confirm, "sam", Role.PIT_SUPERVISOR, **given)


def abandon(table: Screens, **given: Any) -> Answer:
    return table.enter(operations.AbandonRound("shift manager", "fire"), "li", Role.SHIFT_MANAGER, **given)


def conclude(table: Screens, **given: Any) -> Answer:
    return table.enter(operations.ConcludeRound(), **given)


def rule(table: Screens, **given: Any) -> Answer:
    found = table.open
    ruling = operations.Rule(found.id, found.revision, RulingAction.VOID, "shift manager", "so decided")
    return table.enter(ruling, "li", Role.SHIFT_MANAGER, **given)


def prepared(what: str) -> Screens:
    table = Screens()
    table.start().to_dealing()
    if what == "conclude":
        table.deal().expose_all().settle()
    elif what == "void":
        table.report(Kind.UNSHUFFLED)
    elif what == "rule":
        table.report(Kind.BEFORE_NO_MORE_BETS)
    elif what == "answers":
        table.report(Kind.WRONG_DISTRIBUTION)
    return table


def answers(table: Screens, **given: Any) -> Answer:
    """Return a confirmation that answers two questions (NC 5.5.4)."""
    found = table.open
    confirm = operations.ConfirmIrregularity(found.id, found.revision, Facts(handled=False, curable=False))
    return table.enter(confirm, "sam", Role.PIT_SUPERVISOR, **given)


ASKS = {"void": void, "abandon": abandon, "conclude": conclude, "rule": rule, "answers": answers}
SIGNS = {
    "conclude": ("dealer", Role.DEALER),
    **dict.fromkeys(("void", "answers"), ("sam", Role.PIT_SUPERVISOR)),
    **dict.fromkeys(("abandon", "rule"), ("li", Role.SHIFT_MANAGER)),
}
EACH = pytest.mark.parametrize("what", ASKS)


def asked(table: Screens) -> int:
    """Return the entry of the first request."""
    names = ("void_asked", "abandon_asked", "conclusion_asked")
    assert table.state.turn.what in names
    return table.state.turn.entry


def is_over(table: Screens) -> bool:
    return table.state.phase in (Phase.VOIDED, Phase.CONCLUDED)


@EACH
def test_the_second_request_names_the_first(what: str) -> None:
    table = prepared(what)
    ASKS[what](table)
    assert not is_over(table)
    table.utc_ns += REPEATED_WITHIN_NS
    ASKS[what](table, repeats=asked(table), as_of=table.state.entry)
    assert is_over(table)


@EACH
def test_the_second_request_is_offered_in_the_words_of_the_first(what: str) -> None:
    """The screen asks for nothing but the signature."""
    table = prepared(what)
    ASKS[what](table)
    (offer,) = [one for one in offers(table.state) if one.asked]
    assert (offer.asked, offer.needs) == (asked(table), ())
    operation = msgspec.convert({"operation": offer.operation, **msgspec.to_builtins(offer.arguments)}, AnyOperation)
    table.enter(operation, *SIGNS[what], repeats=offer.asked)
    assert is_over(table)


@EACH
def test_a_double_tap_ends_no_round(what: str) -> None:
    table = prepared(what)
    drawn = table.state.entry
    for as_of in (drawn, drawn, 0, 0):
        ASKS[what](table, as_of=as_of)
    assert not is_over(table)


@EACH
@pytest.mark.parametrize("other", ["later", "elsewhere", "first"])
def test_a_second_request_that_lapsed_is_a_first_one_again(what: str, other: str) -> None:
    table = prepared(what)
    ASKS[what](table)
    first = asked(table)
    if other == "later":
        table.utc_ns += REPEATED_WITHIN_NS + 1
    elif other == "elsewhere":
        table.screen = "right"
    ASKS[what](table, repeats=first if other != "first" else first - 1)
    assert not is_over(table)
    assert asked(table) > first
    ASKS[what](table, repeats=asked(table))
    assert is_over(table)


@EACH
def test_a_request_of_a_program_is_repeated_as_before(what: str) -> None:
    table = prepared(what)
    table.screen = ""
    ASKS[what](table)
    assert not is_over(table)
    ASKS[what](table)
    assert is_over(table)


def test_another_person_at_the_screen_does_not_repeat() -> None:
    table = prepared("void")
    void(table)
    first, found = asked(table), table.open
    confirm = operations.ConfirmIrregularity(found.id, found.revision)
    table.enter(confirm, "li", Role.SHIFT_MANAGER, repeats=first)
    assert not is_over(table)


@EACH
def test_one_signature_serves_both_requests_in_the_same_words(what: str) -> None:
    table = prepared(what)
    ASKS[what](table)
    first = asked(table)
    (offer,) = [one for one in offers(table.state) if one.asked]
    words = {"operation": offer.operation, **msgspec.to_builtins(offer.arguments)}
    operation = msgspec.convert(words, AnyOperation)
    person = SIGNS[what][0]

    def signed(**other: Any) -> str:
        given: dict[str, Any] = {"operation": operation, "screen": "left", "repeats": first, "utc_ns": table.utc_ns}
        return signed_before(table.state, **(given | other))

    assert signed() == person
    assert signed(utc_ns=table.utc_ns + REPEATED_WITHIN_NS) == person
    assert signed(utc_ns=table.utc_ns + REPEATED_WITHIN_NS + 1) == ""
    assert signed(screen="right") == signed(screen="") == ""
    assert signed(repeats=first - 1) == signed(repeats=0) == ""
    assert signed(operation=operations.PauseTable("Dispute")) == ""
    if what != "conclude":
        other = words | ({"irregularity": 1} if "irregularity" in words else {"text": "another reason"})
        assert signed(operation=msgspec.convert(other, AnyOperation)) == "", "other words are another request"
