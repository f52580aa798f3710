"""The prompt for lines that a person types, with history, completion, and the events of the table."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.shortcuts import CompleteStyle

from controller.commands.language import chosen_language, terminal
from controller.commands.operate.completion import candidates, unfinished
from controller.commands.operate.help_text import lawful_words, write_about, write_help
from controller.commands.operate.operator import Line, Operator, RefusedLineError, lines_of_answer
from controller.commands.operate.running_table import RunningTable
from controller.commands.operate.signing import LineSigner
from controller.commands.table_display import how_it_stands
from controller.commands.text import page, write_out
from controller.people_words.table_of_words import NothingDoneError
from controller.people_words.tokens import UnreadableLineError
from firmware_bridge.messages import Message, message

ENDS: Final = frozenset({"quit", "exit"})


class Words(Completer):
    def __init__(self, table: RunningTable, signer: LineSigner) -> None:
        self._table = table
        self._signer = signer

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        view = self._table.view
        people = sorted(self._table.people or self._signer.given | ({view.dealer} - {""}))
        for one in candidates(text, view, people, lawful_words(view, None)):
            yield Completion(one, start_position=-unfinished(text, one))


class Prompt:
    """A person's prompt at a table. `signer` and `again` ask their questions at it."""

    def __init__(self, table: RunningTable, signer: LineSigner) -> None:
        self._table = table
        self.operator: Operator
        self._session: PromptSession[str] = PromptSession(
            history=_history(),
            completer=Words(table, signer),
            complete_while_typing=False,
            complete_style=CompleteStyle.READLINE_LIKE,
            reserve_space_for_menu=0,
        )
        table.changed = self._session.app.invalidate

    def run(self) -> None:
        """Read lines until `quit` or Ctrl-D. Ctrl-C clears the line, or ends the waiting."""
        click.echo(how_it_stands(self._table.view, chosen_language()))
        write_out(message("`help` lists the allowed lines; Ctrl-D ends."))
        while True:
            try:
                text = self._session.prompt(self._asked)
                if text.strip() in ENDS:
                    return
                self._do(text.partition("#")[0].split())
            except KeyboardInterrupt:
                continue
            except EOFError:
                return

    def _asked(self) -> FormattedText:
        view, say = self._table.view, terminal()
        open_ = next((one.row for one in view.irregularities if one.id == self.operator.subject), "")
        open_ = open_ or (view.irregularities[0].row if view.irregularities else "")
        about = f", {open_}" if open_ else ""
        lost = f", {say(message('no daemon'))}" if self._table.lost else ""
        round_ = say(message("round {number}", number=view.round))
        line = f"{view.table}, {round_}, {say.keyed(f'phase.{view.phase}')}{about}{lost}> "
        width = self._session.output.get_size().columns  # a longer line would be cut
        step = "".join(f"{line}\n" for line in textwrap.wrap(str(view.next_step), width))
        return FormattedText([("italic", step), ("bold", line)])

    def _do(self, words: list[str]) -> None:
        match words:
            case []:
                return
            case ["help"]:
                paper = page()
                write_help(paper, self._table.view, self._table.lawful())
                paper.show()
            case ["help", *rest]:
                paper = page()
                asked = tuple(fact for one in self._table.view.irregularities for fact in one.asks)
                write_about(paper, " ".join(rest), asked)
                paper.show()
            case ["table"]:
                click.echo(how_it_stands(self._table.view, chosen_language()))
            case _:
                self._enter(words)

    def _enter(self, words: list[str]) -> None:
        try:
            self.operator.do(Line(words, terminal()))
            for line in lines_of_answer(self.operator):
                write_out(line)
        except RefusedLineError as refused:
            write_out(message("Refused: {why}", why=refused.message))
        except (UnreadableLineError, NothingDoneError) as error:
            write_out(message("{what}.", what=error.message))


def ask_person(role: str) -> str:
    """Ask who acts; the answer is not kept in the history."""
    return PromptSession[str](history=InMemoryHistory()).prompt(terminal()(message("Who is the {role}? ", role=role)))


def ask_pin(person: str) -> str:
    """Ask for a PIN without echo, and do not keep it."""
    session = PromptSession[str](history=InMemoryHistory())
    return session.prompt(terminal()(message("PIN for {person}, without echo: ", person=person)), is_password=True)


def ask_again(said: Message) -> bool:
    session = PromptSession[str](history=InMemoryHistory())
    question = terminal()(message("{what} Enter it again? Write yes: ", what=said))
    return session.prompt(question).strip().lower() == "yes"


def at_prompt(run: Callable[[], Any]) -> None:
    """Run with other output printed above the line that is being typed."""
    with patch_stdout():
        run()


def _history() -> History:
    """Return a history that only the user may read, in the user's state folder, or in memory if that fails."""
    home = os.environ.get("XDG_STATE_HOME", "")
    folder = (Path(home) if Path(home).is_absolute() else Path("~/.local/state").expanduser()) / "cardshoe"
    path = folder / "operate.history"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))
