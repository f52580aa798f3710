"""`cardshoe operate`: operates a running table by commands in words."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from controller.api.client import NoTableError, TableUnreachableError
from controller.api.narration import line_of
from controller.api.screen_lines import with_names
from controller.commands.language import chosen_language, terminal
from controller.commands.operate.operator import Operator
from controller.commands.operate.running_table import RunningTable
from controller.commands.operate.script import run_script
from controller.commands.operate.signing import LineSigner, read_people, read_pins
from controller.commands.table_options import table_options
from controller.commands.text import in_terminal, say, write_out
from controller.commands.vocabulary import words_of
from controller.language import ENGLISH
from controller.problems import BadInputError, ProblemError
from firmware_bridge.messages import message


@click.command()
@table_options
@click.option("--script", metavar="FILE", help="Enter the lines of this file, or of standard input (-).")
@click.option("--keep-going", is_flag=True, help="Continue after a refused line of the script.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each line of the script.")
@click.option(
    "--pin-file",
    type=click.Path(path_type=Path),
    help="A file with a person and the PIN on each line, readable only by its owner, or a descriptor (/dev/fd/3).",
)
@click.option(
    "--person",
    "people",
    metavar="ROLE=ID",
    multiple=True,
    help="The person who acts if a line names a rank, as in 'pit supervisor=sam'; may be repeated.",
)
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a line waits for a daemon that has ended.",
)
def operate(
    socket: Path,
    script: str | None,
    keep_going: bool,
    as_json: bool,
    pin_file: Path | None,
    people: tuple[str, ...],
    wait: float,
) -> None:
    """Operate a running table in words: at a prompt, or by the lines of a script.

    The words are those of scenarios: begin, report exposed card B1, confirm by sam. `help` lists the allowed lines.
    Exit codes of a script: 0 every line was done, 1 a line was refused or had no effect, 2 a line cannot be read.
    """
    if script is None and (keep_going or as_json):
        raise BadInputError(
            message("--keep-going and --json are for scripts."), message("Add --script FILE, or leave them out.")
        )
    if script is None and not (in_terminal() and sys.stdin is not None and sys.stdin.isatty()):
        raise BadInputError(
            message("The prompt needs a terminal."), message("Give the lines with --script FILE, or --script -.")
        )
    chosen, pins = read_people(people), read_pins(pin_file)
    try:
        if script is None:
            _at_a_prompt(socket, LineSigner(chosen, pins, **_asking()), wait)
        else:
            _by_script(socket, LineSigner(chosen, pins), wait, script, keep_going=keep_going, as_json=as_json)
    except (TableUnreachableError, NoTableError) as error:
        raise ProblemError(error) from error


def _asking() -> dict[str, Any]:
    from controller.commands.operate.prompt import ask_person, ask_pin

    return {"ask_person": ask_person, "ask_pin": ask_pin}


class _Listener:
    """Prints what happens, and gives the operator each irregularity that is raised."""

    operator: Operator | None = None
    table: RunningTable

    def __init__(self, *, silent: bool) -> None:
        self._silent = silent
        self._say = terminal()  # here, because events are heard in another thread

    def heard(self, event: dict[str, Any]) -> None:
        if event["event"] == "irregularity_raised" and self.operator is not None:
            self.operator.raised(event["entry"])
        refused = event["event"] == "operation_refused"
        if refused and self.operator is not None and event["operation_id"] == self.operator.answered:
            return  # printed as the answer to the line
        line = None if self._silent else line_of(with_names(event, self.table.people), words_of(self.table.view.game))
        if line:
            click.echo(self._say(line))


def _at_a_prompt(socket: Path, signer: LineSigner, wait: float) -> None:
    from controller.commands.operate.prompt import Prompt, ask_again, at_prompt

    listener = _Listener(silent=False)

    def run() -> None:
        with RunningTable(socket, listener.heard, click.echo, patience=wait, language=chosen_language()) as table:
            listener.table = table
            prompt = Prompt(table, signer)
            prompt.operator = listener.operator = Operator(table, signer, ask_again, steady=True, waits=write_out)
            prompt.run()

    at_prompt(run)


def _by_script(socket: Path, signer: LineSigner, wait: float, script: str, *, keep_going: bool, as_json: bool) -> None:
    listener, language = _Listener(silent=as_json), ENGLISH if as_json else chosen_language()

    with RunningTable(socket, listener.heard, say, patience=wait, language=language) as table:
        listener.table = table
        listener.operator = Operator(table, signer, lambda said: True)
        run_script(script, listener.operator, keep_going=keep_going, as_json=as_json)
