"""People's text is limited in length and free of unprintable characters in every operation.

Text in old journals and from devices is cleaned before it reaches terminals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import click
import msgspec
import pytest
from click.testing import CliRunner
from rich.console import Console

from controller.api.bodies import OperationRequest, decode_request, encode
from controller.api.narration import line_of
from controller.api.view import LinkView, view_of
from controller.commands.screen import render
from controller.commands.text import LONGEST_SHOWN, Page
from controller.problems import ProblemError
from controller.table import events, operations
from controller.table.state import TableState
from firmware_bridge.plain_text import LONGEST
from tests.table.every_input import every_operation
from tests.table.harness import TableHarness

ESCAPE = "\x1b[2J\x1b[31m"
UNSHOWN = {
    "escape": ESCAPE,
    "nul": "a\x00b",
    "line end": "a\nb",
    "C1 control": "a\x9b2Jb",
    "direction mark": "a\u202eb",
    "no width": "a\u200bb",
    "private use": "a\ue000b",
}
LONG = "x" * 60_000


def request(operation: Any, **others: str) -> dict[str, Any]:
    """Return a request as it is sent."""
    sent = {"id": "d2719b3e-9d6d-4d3c-8f0e-3f2a5b6c7d8e", "round": 1, "person": "dana", "pin": "1234"} | others
    made: dict[str, Any] = msgspec.json.decode(encode(operation))
    return sent | {"operation": made}


def examples() -> dict[str, dict[str, Any]]:
    """Return one request for each operation."""
    found: dict[str, dict[str, Any]] = {}
    for operation in every_operation(TableHarness().start().to_dealing().state):
        found.setdefault(type(operation).__name__, request(operation))
    return found


EXAMPLES = examples()


def holds_text(kind: Any) -> bool:
    return kind is str or any(map(holds_text, get_args(kind)))


def with_text(kind: Any, text: str) -> Any:
    """Return a value of that type that contains the text."""
    return [text] if getattr(kind, "__origin__", None) is tuple else text


def text_fields() -> Iterator[tuple[str, str, Any]]:
    """Yield operation, field and the field's type, of all fields that hold text."""
    for operation in get_args(operations.AnyOperation):
        for field in msgspec.structs.fields(operation):
            if holds_text(field.type):
                yield operation.__name__, field.name, field.type


FIELDS = list(text_fields())


def test_every_operation_has_an_example_that_is_taken() -> None:
    assert set(EXAMPLES) == {operation.__name__ for operation in get_args(operations.AnyOperation)}
    for example in EXAMPLES.values():
        assert isinstance(decode_request(encode(example)), OperationRequest)
    assert {("PauseTable", "reason"), ("Rule", "text"), ("Rule", "places"), ("RestrictBetting", "one_box")} <= {
        (operation, field) for operation, field, _ in FIELDS
    }


@pytest.mark.parametrize("text", [*UNSHOWN.values(), LONG], ids=[*UNSHOWN, "60,000 characters"])
def test_in_no_field_of_any_operation_is_such_a_text_taken(text: str) -> None:
    for operation, field, kind in FIELDS:
        sent = EXAMPLES[operation]
        sent = sent | {"operation": sent["operation"] | {field: with_text(kind, text)}}
        with pytest.raises(ValueError, match=rf"^operation\.{field} (contains a character|has 60000 char)") as refused:
            decode_request(encode(sent))
        assert str(refused.value).isprintable(), "the refusal itself is shown"
        assert len(str(refused.value)) < 200


@pytest.mark.parametrize("name", ["id", "person", "pin"])
@pytest.mark.parametrize("text", [*UNSHOWN.values(), LONG], ids=[*UNSHOWN, "60,000 characters"])
def test_unprintable_text_is_refused_in_the_request_around_it(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} "):
        decode_request(encode(EXAMPLES["OpenTable"] | {name: text}))


def test_unprintable_text_is_refused_in_a_correction() -> None:
    note = EXAMPLES["ReportIrregularity"]["operation"] | {"note": ESCAPE}
    sent = request(operations.CorrectEntry(1, "a mistake")) | {}
    sent["operation"]["instead"] = note
    with pytest.raises(ValueError, match=r"^operation\.instead\.note contains"):
        decode_request(encode(sent))


@pytest.mark.parametrize("text", [ESCAPE, "\u202e", LONG])
def test_an_unknown_field_is_refused_in_a_printable_line(text: str) -> None:
    with pytest.raises(ValueError, match="unknown") as refused:
        decode_request(encode(EXAMPLES["OpenTable"] | {text: 1}))
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) <= LONGEST


def test_the_longest_text_and_other_scripts_are_accepted() -> None:
    for text in ("x" * LONGEST, "Kärtchen, Größe 10 €", "牌靴卡住了", "المزود"):
        asked = decode_request(encode(request(operations.PauseTable(text))))
        assert asked.operation == operations.PauseTable(text)


# -- text in old journals ---------------------------------------------------------------------------------------------


def screen(state: TableState) -> str:
    console = Console(width=160, color_system=None)
    with console.capture() as captured:
        console.print(render(view_of(state, LinkView(sentence=ESCAPE, code="x")), [], 40))
    return captured.get()


def paused(reason: str) -> TableState:
    return events.TablePaused(reason).apply(TableHarness().start().to_dealing().state, 1)


@pytest.mark.parametrize("text", UNSHOWN.values(), ids=UNSHOWN)
def test_unprintable_text_reaches_no_terminal_unchanged(text: str) -> None:
    shown = screen(paused(f"[red]{text}"))
    assert text not in shown
    assert "paused: [red]" in shown, "what looks like a style is shown as it stands"
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert screen(paused("")).count("\n") == shown.count("\n")
    line = str(line_of(msgspec.to_builtins(events.TablePaused(text))))
    assert line is not None
    assert line.isprintable()


def test_long_text_reaches_no_terminal_in_full() -> None:
    line = str(line_of(msgspec.to_builtins(events.TablePaused(LONG))))
    assert line is not None
    assert len(line) < LONGEST_SHOWN + 100
    assert "x" * (LONGEST_SHOWN + 1) not in screen(paused(LONG)).replace("\n", "")


def test_a_devices_name_reaches_no_terminal_unchanged() -> None:
    page = Page(80)
    page.heading(f"Asked: {ESCAPE}")
    page.entry(f"/dev/ttyACM0: {ESCAPE}\u202e", (ESCAPE, 10), then=ESCAPE)
    assert ESCAPE not in str(page)
    assert "\x1b[2J" not in str(page)
    assert "\u202e" not in str(page)


def test_an_error_is_shown_line_by_line_without_what_no_screen_shows() -> None:
    @click.command()
    def fails() -> None:
        raise ProblemError(f"It is\n  {ESCAPE}.", "Try\u202e it again.")

    assert CliRunner().invoke(fails).output == "cardshoe: It is\n  �[2J�[31m.\n  Try� it again.\n"


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [("TERM", "dumb", "Table\n"), ("NO_COLOR", "1", "Table\n"), ("TERM", "xterm", "\x1b[1mTable\x1b[0m\n")],
)
def test_a_terminal_gets_no_styles_that_it_does_not_want(name: str, value: str, shown: str) -> None:
    @click.command()
    def show() -> None:
        paper = Page(40)
        paper.heading("Table")
        paper.show()

    environment = {"TERM": "xterm", "NO_COLOR": None, name: value}
    assert CliRunner(env=environment).invoke(show, color=True).stdout == shown
